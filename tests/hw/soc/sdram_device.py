"""An SDRAM for Amaranth's simulator that checks the order and the times of its commands."""

from collections import deque
from dataclasses import dataclass, field

from celosia_hw.soc.sdram_timers import SdramCommand
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["SdramDevice"]

_BANKS = 4


@dataclass
class SdramDevice:
    """Answers a controller's pins; every rule that is broken raises ``AssertionError``.

    Add :meth:`run` as a background testbench. ``pad_cycles``: cycles that pads add to the answer.
    """

    pins: object
    clock_hz: int
    timing: SdramTiming = field(default_factory=SdramTiming)
    pad_cycles: int = 0
    #: 16-bit words by their address {row, bank, column}.
    words: dict[int, int] = field(default_factory=dict)
    cycle: int = 0
    commands: list[tuple[int, SdramCommand]] = field(default_factory=list)
    refreshes: list[int] = field(default_factory=list)
    mode: int | None = None

    def __post_init__(self):
        self.rows = [None] * _BANKS
        self.opened = [-10**9] * _BANKS
        self.closed = [-10**9] * _BANKS
        self.written = [-10**9] * _BANKS
        self.last_refresh = self.last_mode = self.last_any = -10**9
        self.busy = {}  # cycle in which read data are on the wires

    def _since(self, then: int, ns: float, what: str) -> None:
        passed = (self.cycle - then) * 1e9 / self.clock_hz
        assert passed >= ns - 1e-6, f"{what}: {passed} ns, wanted {ns} ns"

    def _ready(self, what: str) -> None:
        """A command other than NOP may come."""
        self._since(self.last_refresh, self.timing.rfc, f"{what} after REFRESH")
        assert self.cycle - self.last_mode >= 2, f"{what} after MODE"

    def _close(self, bank: int) -> None:
        if self.rows[bank] is not None:
            self._since(self.opened[bank], self.timing.ras, "PRECHARGE after ACTIVATE")
            self._since(self.written[bank], self.timing.wr, "PRECHARGE after WRITE")
            assert self.cycle - self.written[bank] >= 2, "PRECHARGE after WRITE"
        self.rows[bank], self.closed[bank] = None, self.cycle

    def _column(self, command: SdramCommand, bank: int, a: int, seen: dict) -> None:
        assert self.mode is not None, f"{command} before MODE"
        assert self.rows[bank] is not None, f"{command} of a closed bank"
        assert not a & 1 << 10, f"{command} with auto precharge"
        self._since(self.opened[bank], self.timing.rcd, f"{command} after ACTIVATE")
        assert a < 1 << self.timing.column_bits, f"{command} of column {a}"
        address = ((self.rows[bank] * _BANKS + bank) << self.timing.column_bits) + a
        old = self.words.get(address, 0)
        if command is SdramCommand.READ:
            assert seen["dqm"] == 0, "READ is masked"
            self.busy[self.cycle + self.timing.cas] = old
            return
        assert seen["dq_oe"], "WRITE without data"
        assert not {self.cycle, self.cycle - 1} & set(self.busy), "WRITE onto data that are read"
        keep = (0xFF if seen["dqm"] & 1 else 0) | (0xFF00 if seen["dqm"] & 2 else 0)
        self.words[address] = old & keep | seen["dq_o"] & ~keep & 0xFFFF
        self.written[bank] = self.cycle

    def step(self, seen: dict) -> None:
        """Take the pins of a cycle."""
        if not seen["cke"] or seen["cs_n"]:
            assert self.mode is None, "not selected"
            return
        command = SdramCommand(seen["ras_n"] << 2 | seen["cas_n"] << 1 | seen["we_n"])
        bank, a = seen["ba"], seen["a"]
        if seen["dq_oe"]:
            assert command is SdramCommand.WRITE, "data without WRITE"
        if command is SdramCommand.NOP:
            return
        self._ready(str(command))
        if not self.commands:
            self._since(0, self.timing.power_up, "power up")
            assert command is SdramCommand.PRECHARGE
            assert a & 1 << 10
        self.commands.append((self.cycle, command))
        if command is SdramCommand.ACTIVATE:
            assert self.rows[bank] is None, "ACTIVATE of an open bank"
            self._since(self.closed[bank], self.timing.rp, "ACTIVATE after PRECHARGE")
            self._since(self.opened[bank], self.timing.rc, "ACTIVATE after ACTIVATE")
            self._since(max(self.opened), 15, "ACTIVATE of another bank after ACTIVATE")
            self.rows[bank], self.opened[bank] = a, self.cycle
        elif command is SdramCommand.PRECHARGE:
            for each in range(_BANKS) if a & 1 << 10 else (bank,):
                self._close(each)
        elif command in (SdramCommand.REFRESH, SdramCommand.MODE):
            assert self.rows == [None] * _BANKS, f"{command} with an open bank"
            self._since(max(self.closed), self.timing.rp, f"{command} after PRECHARGE")
            if command is SdramCommand.REFRESH:
                self.refreshes.append(self.cycle)
                self.last_refresh = self.cycle
            else:
                assert len(self.refreshes) >= 8, "MODE before 8 refreshes"
                assert (bank, a) == (0, self.timing.cas << 4)
                self.mode, self.last_mode = a, self.cycle
        else:
            self._column(command, bank, a, seen)

    async def run(self, ctx):
        """Serve the pins for ever."""
        names = ("cke", "cs_n", "ras_n", "cas_n", "we_n", "ba", "a", "dqm", "dq_o", "dq_oe")
        late = deque([0] * self.pad_cycles)
        while True:
            # The word of a READ that was on the pins in cycle t is on them in cycle t + CAS.
            late.append(self.busy.get(self.cycle, 0xDEAD))
            ctx.set(self.pins.dq_i, late.popleft())
            (_, _, *values) = await ctx.tick().sample(*(getattr(self.pins, n) for n in names))
            self.step(dict(zip(names, values, strict=True)))
            self.busy.pop(self.cycle - 3, None)
            self.cycle += 1
