"""The one configuration object that hardware, model, compiler and driver share."""

import dataclasses
import hashlib
from dataclasses import dataclass

__all__ = ["MOST_PORTS", "PRESETS", "TpuConfig", "preset"]

#: Bits of a row count or stride in an instruction; no stream is longer in one dimension.
COUNT_BITS = 16
COUNT_MAX = (1 << COUNT_BITS) - 1

#: Ports of links of a chip.
MOST_PORTS = 6

#: Unified-buffer and accumulator banks where a chip has all of them, interleaved by the low bits of
#: the row address.
BANKS = 4
#: Beats that loads have asked for and not received at which they ask for no more: more than
#: a memory's latency, and few enough that an instruction fetch does not wait long behind them.
BEATS_AHEAD = 128


def _require(ok: bool, name: str, wanted: str, value: object) -> None:
    if not ok:
        raise ValueError(f"TpuConfig.{name} must be {wanted}, not {value!r}")


def _is_power_of_two(value: object) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


@dataclass(frozen=True)
class TpuConfig:
    """Geometry and options of one chip. Frozen; every value is checked when it is made.

    Parameters
    ----------
    name
        Name of the preset, or a name of your own.
    dim
        Side D of the D x D systolic array and the number of lanes of a row: a power of two, 2..256.
    int8, bf16
        Operand formats of the array. At least one; a chip without bf16 has no floating-point logic.
    ub_rows
        Rows of the unified buffer, each of D operands; a multiple of 4.
    acc_rows
        Rows of the accumulators, each of D 32-bit words; a multiple of 4.
    bus_bytes
        Bytes a beat of the AXI4 memory port: a power of two, 4..128.
    window
        Instructions that the scoreboard holds at once: a power of two, 2..32.
    ibuf
        Instructions that the instruction buffer holds: a power of two, 16..1024.
    lanes
        Lanes of the vector unit: ``dim``, or ``dim // 2`` or ``dim // 4``, through which a row
        passes in 2 or 4 beats; fp32 sums take as many cycles. Programs do not see it. 0: ``dim``.
    ports
        Ports of links to other chips: 0..6.
    link_bytes
        Bytes a cycle of each direction of a link: 4, 8 or 16, and no more than the shortest row
        has. Programs do not see it.
    link_frames
        Frames that a port's receiver holds: 2..64. Programs do not see it.
    banks
        Banks of each on-chip memory: 1, 2 or 4. In a cycle a bank reads a row for one of those that
        ask, and writes one. Programs do not see it. With 1 the chip is ``small``, too.

    Raises
    ------
    ValueError
        If a value is out of its range; the message names the field.
    """

    name: str
    dim: int
    int8: bool
    bf16: bool
    ub_rows: int
    acc_rows: int
    bus_bytes: int
    window: int = 8
    ibuf: int = 64
    lanes: int = 0
    ports: int = 0
    link_bytes: int = 4
    link_frames: int = 8
    banks: int = BANKS

    def __post_init__(self) -> None:
        """Check every field against its range."""
        _require(isinstance(self.name, str) and self.name.isidentifier(), "name",
                 "an identifier", self.name)
        _require(_is_power_of_two(self.dim) and 2 <= self.dim <= 256, "dim",
                 "a power of two from 2 to 256", self.dim)
        _require(isinstance(self.int8, bool), "int8", "a bool", self.int8)
        _require(isinstance(self.bf16, bool), "bf16", "a bool", self.bf16)
        _require(self.int8 or self.bf16, "int8", "True where bf16 is False", self.int8)
        for name, top in (("ub_rows", 1 << 20), ("acc_rows", 1 << 16)):
            rows = getattr(self, name)
            _require(isinstance(rows, int) and 4 * self.dim <= rows <= top and rows % BANKS == 0,
                     name, f"a multiple of {BANKS} from {4 * self.dim} to {top}", rows)
        _require(_is_power_of_two(self.bus_bytes) and 4 <= self.bus_bytes <= 128, "bus_bytes",
                 "a power of two from 4 to 128", self.bus_bytes)
        _require(_is_power_of_two(self.window) and 2 <= self.window <= 32, "window",
                 "a power of two from 2 to 32", self.window)
        _require(_is_power_of_two(self.ibuf) and 16 <= self.ibuf <= 1024, "ibuf",
                 "a power of two from 16 to 1024", self.ibuf)
        if self.lanes == 0:
            object.__setattr__(self, "lanes", self.dim)
        widths = [self.dim // fold for fold in (1, 2, 4) if fold <= self.dim]
        _require(isinstance(self.lanes, int) and self.lanes in widths, "lanes",
                 f"one of {', '.join(map(str, widths))}", self.lanes)
        for name, values, wanted in (("ports", range(MOST_PORTS + 1), f"from 0 to {MOST_PORTS}"),
                                     ("link_bytes", (4, 8, 16), "one of 4, 8, 16"),
                                     ("link_frames", range(2, 65), "from 2 to 64"),
                                     ("banks", (1, 2, 4), "one of 1, 2, 4")):
            value = getattr(self, name)
            _require(type(value) is int and value in values, name, wanted, value)
        least = self.dim if self.int8 else 2 * self.dim
        _require(not self.ports or self.link_bytes <= least, "link_bytes",
                 f"at most {least}, the bytes of the shortest row", self.link_bytes)

    @property
    def fold(self) -> int:
        """Beats in which a row passes the vector unit: 1, 2 or 4."""
        return self.dim // self.lanes

    @property
    def small(self) -> bool:
        """Whether the chip is for a device with hardly enough flip-flops: it has one bank.

        Then registers are left out that only make its clock faster, or let a unit run ahead by
        one more.
        """
        return self.banks == 1

    @property
    def cut(self) -> bool:
        """Whether registers cut the paths between parts of units, for the clock of a board."""
        return self.fold > 1 and not self.small

    @property
    def sum_cycles(self) -> int:
        """Cycles of an fp32 sum in the array, onto accumulators and in joins: 1, 2 or 4.

        As many as a row has beats: so many lie between a word of a row and that of the next one,
        onto which its sum goes.
        """
        return self.fold if self.bf16 else 1

    @property
    def product_cycles(self) -> int:
        """Cycles of a product in the array: where sums take several, bf16's is made in two."""
        return 1 + (self.sum_cycles > 1)

    @property
    def lane_bits(self) -> int:
        """Bits of one unified-buffer lane: 16 on a chip with bf16, else 8."""
        return 16 if self.bf16 else 8

    @property
    def ub_row_bits(self) -> int:
        """Bits of a unified-buffer row."""
        return self.dim * self.lane_bits

    @property
    def acc_row_bits(self) -> int:
        """Bits of an accumulator row."""
        return self.dim * 32

    @property
    def ub_bytes(self) -> int:
        """Bytes of the unified buffer."""
        return self.ub_rows * self.ub_row_bits // 8

    @property
    def acc_bytes(self) -> int:
        """Bytes of the accumulators."""
        return self.acc_rows * self.acc_row_bits // 8

    @property
    def pes(self) -> int:
        """Processing elements of the array."""
        return self.dim * self.dim

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the operand formats, ``int8`` first."""
        return tuple(name for name in ("int8", "bf16") if getattr(self, name))

    @property
    def visible(self) -> dict[str, int]:
        """Fields that programs can see, by name; ``ports`` only where there are some."""
        hidden = {"name", "lanes", "link_bytes", "link_frames", "banks"} | (
            set() if self.ports else {"ports"})
        return {name: value for name, value in dataclasses.asdict(self).items()
                if name not in hidden}

    def differences(self, here: "TpuConfig") -> str:
        """Say what programs see of this chip that they see otherwise of another one."""
        mine, other = ({"ports": 0} | each.visible for each in (self, here))
        return ", ".join(f"{name} {value} (here {other[name]})"
                         for name, value in mine.items() if value != other[name])

    @property
    def fingerprint(self) -> int:
        """32 bits that two chips share only if all that programs can see of them is equal."""
        text = ";".join(f"{key}={value}" for key, value in sorted(self.visible.items()))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


#: The named chips, smallest first.
PRESETS: dict[str, TpuConfig] = {
    config.name: config
    for config in (
        TpuConfig("pico", dim=2, int8=True, bf16=False, ub_rows=1024, acc_rows=512,
                  bus_bytes=4, window=2, ibuf=16),
        TpuConfig("nano", dim=4, int8=True, bf16=False, ub_rows=2048, acc_rows=512,
                  bus_bytes=4, window=4, ibuf=32),
        TpuConfig("edge", dim=8, int8=True, bf16=False, ub_rows=8192, acc_rows=1024,
                  bus_bytes=8, window=8, ibuf=64),
        TpuConfig("core4", dim=4, int8=True, bf16=True, ub_rows=8192, acc_rows=2048,
                  bus_bytes=8, window=8, ibuf=64),
        TpuConfig("core", dim=16, int8=True, bf16=True, ub_rows=16384, acc_rows=2048,
                  bus_bytes=32, window=16, ibuf=128),
        TpuConfig("v2", dim=128, int8=False, bf16=True, ub_rows=65536, acc_rows=8192,
                  bus_bytes=128, window=16, ibuf=256),
        TpuConfig("v1", dim=256, int8=True, bf16=False, ub_rows=98304, acc_rows=4096,
                  bus_bytes=64, window=16, ibuf=256),
    )
}


def preset(name: str) -> TpuConfig:
    """Return the preset called ``name``.

    Raises
    ------
    ValueError
        If there is none; the message lists those that there are.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}") from None
