"""Times of an SDRAM, and the clock cycles they are."""

import math
from dataclasses import dataclass

__all__ = ["SdramCycles", "SdramTiming"]

#: A refresh that is due waits for at most so many cycles: for the beat that is under way (4 words
#: of the buses that boards have, 32 of one of 64 bytes), for which a row may have to be opened, and
#: until that row may be closed. Within the time of all rows it counts once.
_MOST_WAIT = 64


@dataclass(frozen=True)
class SdramCycles:
    """`SdramTiming` in cycles of a clock: at least so many from one command to the next."""

    power_up: int
    activate_to_column: int
    activate_to_precharge: int
    precharge: int
    refresh: int
    mode: int
    write_recovery: int
    #: At most so many from one refresh to the next, on average.
    interval: int
    cas: int


@dataclass(frozen=True)
class SdramTiming:
    """Geometry and times, in ns, of a 16-bit single data rate SDRAM.

    The defaults are the slowest of the parts that ULX3S boards carry: Winbond W9825G6KH-6, ISSI
    IS42S16160G-7, Micron MT48LC16M16A2-75 (all 4 banks of 8192 rows of 512 words).

    Parameters
    ----------
    row_bits, column_bits, bank_bits
        Of an address.
    cas
        Clock cycles from a read to its data, 2 or 3. All of the parts take 3 up to 133 MHz.
    power_up
        From a stable clock to the first command.
    rcd, ras, rp, rc, rfc, wr
        ACTIVATE to READ or WRITE, ACTIVATE to PRECHARGE, PRECHARGE to ACTIVATE, ACTIVATE to
        ACTIVATE of a bank, REFRESH to any command, last data written to PRECHARGE (2 cycles at
        least).
    refresh
        All rows are refreshed in this time.
    ac, oh
        A word is there at most ``ac`` after the clock edge before that which takes it, and until
        ``oh`` after the latter.
    """

    row_bits: int = 13
    column_bits: int = 9
    bank_bits: int = 2
    cas: int = 3
    power_up: float = 200_000
    rcd: float = 20
    ras: float = 45
    rp: float = 20
    rc: float = 67.5
    rfc: float = 70
    wr: float = 15
    refresh: float = 64_000_000
    ac: float = 5.4
    oh: float = 2.7

    def __post_init__(self) -> None:
        """Check the CAS latency."""
        if self.cas not in (2, 3):
            raise ValueError(f"SdramTiming.cas must be 2 or 3, not {self.cas!r}")

    @property
    def bytes(self) -> int:
        """Size of the device."""
        return 2 << (self.row_bits + self.column_bits + self.bank_bits)

    def cycles(self, clock_hz: int) -> SdramCycles:
        """Times in cycles of a clock, rounded to the safe side; at least 2 where commands differ.

        Raises
        ------
        ValueError
            If the clock is not from 2 to 133 MHz.
        """
        if not 2_000_000 <= clock_hz <= 133_000_000:
            raise ValueError(f"clock_hz of an SDRAM must be from 2000000 to 133000000, not "
                             f"{clock_hz!r}")

        def least(ns: float, floor: int = 2) -> int:
            return max(floor, math.ceil(ns * clock_hz / 1e9 - 1e-9))

        precharge = least(self.rp)
        within = self.refresh * clock_hz / 1e9 - _MOST_WAIT
        return SdramCycles(
            power_up=least(self.power_up), activate_to_column=least(self.rcd),
            activate_to_precharge=max(least(self.ras), least(self.rc) - precharge),
            precharge=precharge, refresh=least(self.rfc), mode=3,
            write_recovery=least(self.wr),
            interval=math.floor(within / (1 << self.row_bits)),
            cas=self.cas)
