"""A user of the SDRAM model, cycle by cycle."""

from celosia_sim.boards.sdram import PARTS, SdramModel

PART = PARTS["W9825G6KH-6"]
PERIOD = 10_000
ALL = 1 << 10  # of PRECHARGE: every bank; of READ and WRITE: the row closes itself
CODES = {"MODE": 0b000, "REFRESH": 0b001, "PRECHARGE": 0b010, "ACTIVATE": 0b011, "WRITE": 0b100,
         "READ": 0b101, "STOP": 0b110, "NOP": 0b111}  # ras, cas, we


class User:
    """Drives a part: inputs change half a period before the clock rises."""

    def __init__(self, part=PART, period: int = PERIOD):
        self.model = SdramModel(part)
        self.period, self.now = period, 0
        self.inputs = (self._levels("NOP"), 0, 0, 3, 0, 0)
        self.words: list[int] = []  # what the bus has carried at the end of every cycle
        self.clk, self.high = 0, period // 2
        self.late = 0  # when the inputs change

    @staticmethod
    def _levels(name: str, cke: int = 1) -> int:
        code = CODES[name]
        return cke << 1 | (code >> 2) << 3 | (code >> 1 & 1) << 4 | (code & 1) << 5

    def do(self, name: str = "NOP", ba: int = 0, a: int = 0, *, dqm: int = 0, dq: int = 0,
           drive: int = 0, cke: int = 1) -> None:
        """One cycle; the clock rises in its middle."""
        inputs = (self._levels(name, cke), ba, a, dqm, dq, drive)
        for at, clk in sorted([(0, 0), (self.period // 2, 1), (self.period // 2 + self.high, 0),
                               (self.late, None)], key=lambda event: event[0]):
            if clk is None:
                self.inputs = inputs
            else:
                self.clk = clk
            self.model.pins(self.now + at, self.inputs[0] | self.clk, *self.inputs[1:])
        self.now += self.period
        self.words.append(self.model.dq(self.now + self.period // 2 - 1)[0])

    def idle(self, cycles: int) -> None:
        for _ in range(cycles):
            self.do()

    def skip(self, cycles: int, dqm: int = 0) -> None:
        """Cycles without a command whose data nobody wants, fast."""
        self.model.idle(self.now, self.period, cycles, self._levels("NOP"), dqm)
        self.now += cycles * self.period

    def begin(self, latency: int = 3, mode: int = 0, refreshes: int = 8) -> None:
        """Power-up as the data sheet wants it."""
        self.pause()
        self.do("PRECHARGE", a=ALL, dqm=3)
        self.idle(2)
        for _ in range(refreshes):
            self.do("REFRESH")
            self.idle(7)
        self.do("MODE", a=latency << 4 | mode)
        self.idle(2)

    def pause(self) -> None:
        self.skip(PART.t_init // self.period + 1, dqm=3)

    def write(self, words, ba: int = 0, column: int = 0, dqm: int = 0) -> None:
        for i, word in enumerate(words):
            self.do("WRITE" if i == 0 else "NOP", ba, column if i == 0 else 0, dqm=dqm, dq=word,
                    drive=0xFFFF)

    def read(self, count: int, latency: int, ba: int = 0, column: int = 0) -> list[int]:
        start = len(self.words)
        self.do("READ", ba, column)
        self.idle(count + latency - 1)
        return self.words[start + latency - 1:start + latency - 1 + count]

    def open(self, row: int = 0, ba: int = 0) -> None:
        self.do("ACTIVATE", ba, row)
        self.idle(1)

    def close_row(self, ba: int = 0) -> None:
        self.do("PRECHARGE", ba)
        self.idle(1)

    @property
    def rules(self) -> list[str]:
        self.model.finish(self.now)
        return [violation.rule for violation in self.model.violations]
