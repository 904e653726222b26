"""How long a message keeps a link busy; messages and frames, word for word."""

import zlib

import pytest

from celosia.arch.ici import (
    FRAME_WORDS,
    SHORT_FRAMES,
    FrameFlag,
    LineWord,
    LinkFrame,
    WordKind,
    frames,
    line_words,
    link_cycles,
    message_head,
)
from celosia.arch.isa import DmaFormat

FRAME = LinkFrame(0x12, 0x34, 0x56, FrameFlag.DATA, (1, 0xFFFFFFFF))
HEAD = 0x01563412


@pytest.mark.parametrize(("words", "busy", "behind"), [
    (1, 3, 1), (17, 17 + 4, 9), (65, 65 + 4, 34), (177, 177 + 10, 44),
    (513, 513 + 10, FRAME_WORDS)])
def test_a_message_is_cut_into_frames(words, busy, behind):
    """Each frame has a HEAD and an END; the last one's words leave the receiver behind it."""
    assert link_cycles(words) == (busy, behind)


def test_longer_messages_have_longer_frames():
    sizes = [*SHORT_FRAMES.values(), FRAME_WORDS]
    assert sizes == sorted(set(sizes))
    assert list(SHORT_FRAMES) == sorted(SHORT_FRAMES)
    for most, size in SHORT_FRAMES.items():
        assert link_cycles(most)[1] == size
        assert link_cycles(most + 1)[1] > size


@pytest.mark.parametrize(("tag", "fmt", "rows", "wanted"), [
    (0, DmaFormat.I8, 1, (0x00010000,)), (0xABC, DmaFormat.BF16, 0x1234, (0x12341ABC,)),
    (0xFFF, DmaFormat.W32, 0xFFFF, (0xFFFF2FFF,)), (1, DmaFormat.I8, 0x10000, (0x00004001, 1)),
    (1, DmaFormat.W32, 0x35678, (0x56786001, 3))])
def test_a_message_begins_with_its_tag_format_and_rows(tag, fmt, rows, wanted):
    assert message_head(tag, fmt, rows) == wanted


@pytest.mark.parametrize("nbytes", [4, 8, 16])
def test_a_frame_is_a_head_its_words_and_their_crc(nbytes):
    text = b"".join(word.to_bytes(nbytes, "little") for word in (HEAD, 1, 0xFFFFFFFF))
    line = [(WordKind.HEAD, HEAD), (WordKind.DATA, 1), (WordKind.DATA, 0xFFFFFFFF),
            (WordKind.END, zlib.crc32(text))]
    assert list(line_words(FRAME, nbytes)) == line
    assert list(frames([LineWord(*word) for word in line], nbytes)) == [FRAME]


def test_a_frame_without_data_tells_the_other_direction():
    for flags in (FrameFlag(0), FrameFlag.AGAIN, FrameFlag.DATA | FrameFlag.AGAIN):
        frame = LinkFrame(0xFF, 0xFE, 0xFD, flags, ())
        assert list(frames(line_words(frame, 4), 4)) == [frame]
        assert [word.word for word in line_words(frame, 4)][0] == flags << 24 | 0xFDFEFF


def words_of(*values):
    return list(line_words(FRAME._replace(words=values), 4))


WHOLE = words_of(1, 2)


@pytest.mark.parametrize(("line", "found"), [
    (WHOLE, [(1, 2)]), ([*WHOLE, *words_of(3)], [(1, 2), (3,)]),
    ([each for word in WHOLE for each in (word, LineWord(WordKind.IDLE, 9))], [(1, 2)]),
    (WHOLE[1:], []), ([*WHOLE[1:], *WHOLE], [(1, 2)]), (WHOLE[:-1], []),
    ([*WHOLE[:2], *WHOLE], [(1, 2)]), ([*WHOLE, WHOLE[-1]], [(1, 2)]),
    ([*WHOLE, *WHOLE[1:]], [(1, 2)]), ([WHOLE[0], WHOLE[2], WHOLE[1], WHOLE[3]], []),
    ([*WHOLE[:1], *WHOLE[2:]], []), ([*WHOLE[:1], *WHOLE[2:], *WHOLE], [(1, 2)]),
    (words_of(*range(FRAME_WORDS)), [tuple(range(FRAME_WORDS))]),
    (words_of(*range(FRAME_WORDS + 1)), [])])
def test_only_whole_frames_are_found(line, found):
    assert [frame.words for frame in frames(line, 4)] == found
