"""Links between chips as data: words on the line, frames, the head of a message.

Each direction of a link carries a word of ``TpuConfig.link_bytes`` and its kind in every cycle. A
frame is a HEAD, up to FRAME_WORDS words of data and an END; its words may have pauses between them.
What is not data is in the low 32 bits of its word. END has the CRC-32 of all bytes before it, which
is zlib's.

Frames with data are numbered and are sent again from the first one on that has not arrived. Every
HEAD, also that of a frame without data, tells the other direction how far it has come.
"""

import enum
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from celosia.arch.isa import DmaFormat

__all__ = ["BEAT_CYCLES", "FRAME_WORDS", "HEAD_FIELDS", "LONG_MESSAGE", "QUIET_CYCLES",
           "RESEND_CYCLES", "SEQUENCE_BITS", "SHORT_FRAMES", "FrameFlag", "LineWord", "LinkFrame",
           "WordKind", "frames", "line_words", "link_cycles", "message_head"]

#: Words of data in a frame, at most.
FRAME_WORDS = 128
#: Words of data in a frame of a short message, at most, by the words of rows that it has fewer
#: than: what waits for its CRC is less. A longer message is hidden behind the next one.
SHORT_FRAMES = {24: 9, 72: 34, 192: 44}
#: Frames are numbered modulo 2**SEQUENCE_BITS.
SEQUENCE_BITS = 8
#: Fields of HEAD and their first bits, of SEQUENCE_BITS each: the frame's number; up to which one
#: frames have arrived; how many have left the receiver; `FrameFlag`.
HEAD_FIELDS = {"sequence": 0, "expected": 8, "freed": 16, "flags": 24}
#: Cycles after which a HEAD comes even if there is nothing to say.
BEAT_CYCLES = 1024
#: Cycles without news of frames that were sent, after which they are sent again.
RESEND_CYCLES = 2048
#: Cycles without a whole frame after which a link is down.
QUIET_CYCLES = 1 << 16
#: Bit of a message's first word: a second one has the upper bits of the number of rows.
LONG_MESSAGE = 14


class WordKind(enum.IntEnum):
    """What a word on the line is."""

    IDLE = 0
    HEAD = 1
    DATA = 2
    END = 3


class FrameFlag(enum.IntFlag):
    """Flags of HEAD."""

    #: Data follows.
    DATA = 1
    #: Frames from ``expected`` on are to be sent again.
    AGAIN = 2


class LineWord(NamedTuple):
    """A word on the line."""

    kind: WordKind
    word: int


class LinkFrame(NamedTuple):
    """A frame: the fields of its HEAD, and its words."""

    sequence: int
    expected: int
    freed: int
    flags: FrameFlag
    words: tuple[int, ...]


def link_cycles(words: int) -> tuple[int, int]:
    """Return how many cycles a message of some words, with those that it begins with, keeps a link
    busy, and how many of its words leave the receiver when the last one has come.
    """
    frame = next((size for most, size in SHORT_FRAMES.items() if words <= most), FRAME_WORDS)
    return words + 2 * -(-words // frame), min(words, frame)


def message_head(tag: int, fmt: DmaFormat, rows: int) -> tuple[int, ...]:
    """Return the words that a message begins with: one, or of 65,536 rows and more two.

    Tag, format and rows mod 65,536 are where a LINK_MISMATCH has them.
    """
    first = tag | fmt << 12 | (rows & 0xFFFF) << 16
    return (first | 1 << LONG_MESSAGE, rows >> 16) if rows >> 16 else (first,)


def line_words(frame: LinkFrame, link_bytes: int) -> Iterator[LineWord]:
    """Return a frame as it is on the line."""
    head = sum(getattr(frame, name) << lsb for name, lsb in HEAD_FIELDS.items())
    yield LineWord(WordKind.HEAD, head)
    for word in frame.words:
        yield LineWord(WordKind.DATA, word)
    yield LineWord(WordKind.END, _crc((head, *frame.words), link_bytes))


def frames(line: Iterable[LineWord], link_bytes: int) -> Iterator[LinkFrame]:
    """Return the whole frames among words on a line, without those that were garbled."""
    inside: list[int] | None = None
    for kind, word in line:
        if kind == WordKind.HEAD:
            inside = [word]
        elif kind == WordKind.DATA and inside is not None:
            inside.append(word)
        elif kind == WordKind.END and inside is not None:
            head, *words = inside
            if word == _crc(inside, link_bytes) and len(words) <= FRAME_WORDS:
                sequence, expected, freed, flags = (
                    head >> lsb & (1 << SEQUENCE_BITS) - 1 for lsb in HEAD_FIELDS.values())
                yield LinkFrame(sequence, expected, freed, FrameFlag(flags), tuple(words))
            inside = None


def _crc(words: Sequence[int], link_bytes: int) -> int:
    return zlib.crc32(b"".join(word.to_bytes(link_bytes, "little") for word in words))
