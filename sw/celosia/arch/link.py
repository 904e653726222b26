"""The host link as data: what goes over the wire between a host and a board.

Both sides, `celosia.driver.link` and `celosia_hw.soc.link`, derive from the tables of this page.
How they fit together is in docs/link.md.

A frame is ``FLAG, stuffed bytes, FLAG``. The stuffed bytes are a body and its CRC-32 (least
significant byte first) in which ESCAPE, byte ^ ESCAPE_XOR stands for every FLAG and every ESCAPE.
So a FLAG is always the end of a frame, whatever came before it.
"""

import enum
from dataclasses import dataclass

from celosia.arch.config import TpuConfig

__all__ = [
    "CRC_BYTES", "ESCAPE", "ESCAPE_XOR", "FLAG", "IDENTITY", "LINK_MAGIC", "MAX_PAYLOAD",
    "MODULE_NAME", "PAGE_BYTES", "PROTOCOL_VERSION", "REPLY", "REPLY_HEADER", "REQUEST_HEADER",
    "SEQUENCE_BITS", "WINDOW", "WORD_BYTES", "FrameField", "LinkConfig", "ReplyStatus",
    "RequestKind", "identity", "size",
]

PROTOCOL_VERSION = 1
#: Verilog module of the link.
MODULE_NAME = "celosia_link"
#: First field of an identity: "CLNK" in ASCII, first letter in the lowest byte.
LINK_MAGIC = int.from_bytes(b"CLNK", "little")

FLAG, ESCAPE, ESCAPE_XOR = 0x7E, 0x7D, 0x20
#: CRC-32/ISO-HDLC, the one of Ethernet and zlib.
CRC_BYTES = 4

SEQUENCE_BITS = 8
#: Requests that may be unanswered at a time.
WINDOW = 8
#: Most bytes of memory that one request reads or writes.
MAX_PAYLOAD = 512
#: Bytes of a register.
WORD_BYTES = 4
#: Unit of `memory_pages`.
PAGE_BYTES = 4096
#: Set in the kind of a reply.
REPLY = 0x80


class RequestKind(enum.IntEnum):
    """What a request asks for; a reply carries the same with `REPLY` set."""

    #: Open a session, whose number is `address`; the payload of the reply is IDENTITY.
    HELLO = 1
    #: The reply has the bridge's counter of clock cycles, mod 2**32.
    POLL = 2
    #: `count` is 4; the reply has the word at offset `address`.
    READ_REGISTER = 3
    #: `count` is 4; the payload is the word for offset `address`.
    WRITE_REGISTER = 4
    #: The reply has `count` bytes from `address` on.
    READ_MEMORY = 5
    #: The payload is `count` bytes for memory from `address` on.
    WRITE_MEMORY = 6
    #: A reply without a request, when a frame was garbled or is missing: send again from this
    #: sequence number on.
    AGAIN = 7


class ReplyStatus(enum.IntFlag):
    """Last byte of a reply."""

    #: Bits 0 and 1: the worst AXI response (0 OKAY, 2 SLVERR, 3 DECERR).
    RESPONSE = 3
    #: The request has no meaning; nothing was done.
    REFUSED = 4
    #: There was no HELLO since the board was reset.
    NO_SESSION = 8
    #: The chip's interrupt is high.
    INTERRUPT = 0x80


@dataclass(frozen=True)
class FrameField:
    """An unsigned number of ``bytes`` bytes, least significant first."""

    name: str
    bytes: int
    doc: str


#: Begins the body of a request; the payload follows.
REQUEST_HEADER = (
    FrameField("sequence", 1, "one more than that of the request before, mod 256; 0 after HELLO"),
    FrameField("kind", 1, "`RequestKind`"),
    FrameField("count", 2, "bytes of the payload of the request or the reply"),
    FrameField("address", 4, "byte address, register offset, or number of the session"),
)
#: Begins the body of a reply; the payload and a byte of `ReplyStatus` follow.
REPLY_HEADER = (
    FrameField("sequence", 1, "that of the request; of AGAIN: that which the board waits for"),
    FrameField("kind", 1, "`RequestKind` | REPLY"),
)
#: Payload of the reply to HELLO.
IDENTITY = (
    FrameField("magic", 4, "LINK_MAGIC"),
    FrameField("version", 2, "PROTOCOL_VERSION"),
    FrameField("bus_bytes", 2, "bytes a beat of the board's memory bus"),
    FrameField("buffer_bytes", 4, "bytes of requests that the board holds"),
    FrameField("memory_pages", 4, "external memory, in units of PAGE_BYTES"),
    FrameField("fingerprint", 4, "that of the chip's configuration"),
    FrameField("session", 4, "number of the session that is open"),
)


def size(fields: tuple[FrameField, ...]) -> int:
    """Bytes of a group of fields."""
    return sum(field.bytes for field in fields)


#: The board's bit clock counts in fractions of its clock cycle of this many bits.
_FRACTION_BITS = 4


@dataclass(frozen=True)
class LinkConfig:
    """The wire side of a board.

    Parameters
    ----------
    clock_hz
        Clock of the bridge.
    baud
        Bits a second on the wire; a bit must last at least 4 clock cycles.
    memory_bytes
        External memory: a multiple of PAGE_BYTES up to 4 GiB.
    buffer_bytes
        Requests that the board holds before it has served them: a power of two from 1024
        to 8192, which is more than WINDOW requests take. They keep the wire busy while a reply
        is on its way.

    Raises
    ------
    ValueError
        If a value is out of its range; the message names the field.
    """

    clock_hz: int
    baud: int = 1_000_000
    memory_bytes: int = 1 << 32
    buffer_bytes: int = 8192

    def __post_init__(self) -> None:
        """Check every field against its range."""
        def require(ok: bool, name: str, wanted: str) -> None:
            if not ok:
                raise ValueError(f"LinkConfig.{name} must be {wanted}, not {getattr(self, name)!r}")

        def whole(name: str) -> bool:
            value = getattr(self, name)
            return isinstance(value, int) and not isinstance(value, bool) and value > 0

        require(whole("clock_hz"), "clock_hz", "a positive integer")
        require(whole("baud") and 4 * self.baud <= self.clock_hz, "baud",
                f"from 1 to a quarter of the clock, {self.clock_hz // 4}")
        require(self.period < 1 << 20, "baud", "at least clock_hz / 65535")
        require(whole("memory_bytes") and self.memory_bytes % PAGE_BYTES == 0
                and self.memory_bytes <= 1 << 32, "memory_bytes",
                f"a multiple of {PAGE_BYTES} up to {1 << 32}")
        require(whole("buffer_bytes") and self.buffer_bytes & (self.buffer_bytes - 1) == 0
                and 1024 <= self.buffer_bytes <= 8192, "buffer_bytes",
                "a power of two from 1024 to 8192")

    @property
    def unit(self) -> int:
        """A clock cycle in the unit of `period`."""
        return 1 << _FRACTION_BITS

    @property
    def period(self) -> int:
        """Length of a bit in sixteenths of a clock cycle."""
        return (self.clock_hz * self.unit + self.baud // 2) // self.baud

    @property
    def actual_baud(self) -> float:
        """Bits a second that the bridge sends: within 0.8 % of `baud`."""
        return self.clock_hz * self.unit / self.period


def identity(config: TpuConfig, link: LinkConfig, session: int = 0) -> bytes:
    """Return the fields of IDENTITY, of a board with this chip."""
    values = {"magic": LINK_MAGIC, "version": PROTOCOL_VERSION, "bus_bytes": config.bus_bytes,
              "buffer_bytes": link.buffer_bytes, "memory_pages": link.memory_bytes // PAGE_BYTES,
              "fingerprint": config.fingerprint, "session": session}
    return b"".join(values[field.name].to_bytes(field.bytes, "little") for field in IDENTITY)
