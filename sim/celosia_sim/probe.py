"""What the probe of a simulated chip has shown of a run."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from celosia.arch.probe import BY_NAME, FIELDS
from celosia.arch.registers import PORTS, UNIT_NAMES, Activity

__all__ = ["MOST_EVENTS", "Probe"]

#: Instructions of which a run's cycles are kept, for each unit: 32 MiB of them.
MOST_EVENTS = 1 << 22

_EVENTS = tuple(f"{unit}_{kind}" for unit in UNIT_NAMES[:-1] for kind in ("take", "done"))


class Probe:
    """The last run of a chip, from its probe; memory is bounded.

    Parameters
    ----------
    bus_bytes
        Of a beat.
    most
        Instructions of each unit of which the cycles are kept: the first ones.

    Attributes
    ----------
    dropped
        Events beyond ``most`` that are not in `events`.
    """

    def __init__(self, bus_bytes: int, most: int = MOST_EVENTS):
        self._bus_bytes, self._most = bus_bytes, most
        self._last: tuple[int, int] | None = None
        self._was_running = False
        self._clear(0)

    def _clear(self, first: int) -> None:
        self._first, self.dropped = first, 0
        self._sums: Counter[str] = Counter()
        self._events: dict[str, list[NDArray[np.int64]]] = {
            name: [] for name in (*_EVENTS, "mxu_busy_from", "mxu_busy_to")}
        self._kept: Counter[str] = Counter()

    def add(self, records: NDArray[np.uint64], now: int) -> None:
        """Take in what a chip has noted up to the cycle before ``now``.

        Parameters
        ----------
        records
            Shape (n, 2): a cycle, and the word from it on.
        """
        cycles, words = records[:, 0].astype(np.int64), records[:, 1]
        if self._last is not None:
            cycles = np.concatenate(([self._last[0]], cycles))
            words = np.concatenate((np.array([self._last[1]], np.uint64), words))
        if not len(cycles):
            return
        self._last = now, int(words[-1])
        lengths = np.diff(np.append(cycles, now))
        running = _set(words, "running")
        begins = np.flatnonzero(running & ~np.concatenate(([self._was_running], running[:-1])))
        self._was_running = bool(running[-1])
        start = 0
        if len(begins):  # what is before the last run is of no interest any more
            start = int(begins[-1])
            self._clear(int(cycles[start]))
        kept = np.flatnonzero(running[start:]) + start
        if len(kept):
            self._sum(words[kept], lengths[kept])
            self._note(words[kept], cycles[kept], lengths[kept])

    def _sum(self, words: NDArray[np.uint64], lengths: NDArray[np.int64]) -> None:
        for field in FIELDS:
            if field.name == "pc":
                continue
            if field.bits == 1:
                self._sums[field.name] += int(lengths[_set(words, field.name)].sum())
            else:
                for state, count in enumerate(np.bincount(_bits(words, field.name), lengths)):
                    self._sums[f"{field.name} {state}"] += int(count)

    def _note(self, words: NDArray[np.uint64], cycles: NDArray[np.int64],
              lengths: NDArray[np.int64]) -> None:
        """Keep the cycles of events: one in each cycle in which their bit is set."""
        at = np.flatnonzero(_bits(words, "mxu_activity") == Activity.BUSY)
        # The probe has the activity of the cycle before.
        first = cycles[at] - self._first - 1
        self._keep("mxu_busy_from", first)
        self._keep("mxu_busy_to", first + lengths[at])
        for name in _EVENTS:
            at = np.flatnonzero(_set(words, name))
            first, times = cycles[at] - self._first, lengths[at]
            each = np.repeat(first - np.concatenate(([0], np.cumsum(times)[:-1])), times)
            self._keep(name, each + np.arange(len(each)))

    def _keep(self, name: str, cycles: NDArray[np.int64]) -> None:
        """Keep some cycles, as far as there is room."""
        room = max(self._most - self._kept[name], 0)
        self.dropped += max(len(cycles) - room, 0)
        self._kept[name] += len(cycles[:room])
        if len(cycles[:room]):
            self._events[name].append(cycles[:room])

    @property
    def counters(self) -> dict[str, int]:
        """The performance counters of the run, as the probe has seen it."""
        sums, found = self._sums, {}
        for name, of in (("cycles", "running"), ("instructions", "retired")):
            found[name] = sums[of]
        for name, of in (("bytes_read", "read_beat"), ("bytes_written", "write_beat")):
            found[name] = sums[of] * self._bus_bytes
        for unit in UNIT_NAMES:
            for state in Activity:
                found[f"{unit}_{state.name.lower()}"] = sums[f"{unit}_activity {state.value}"]
        return found | {f"conflicts_{port}": sums[f"conflicts_{port}"] for port in PORTS}

    @property
    def events(self) -> dict[str, NDArray[np.int64]]:
        """Cycles of the run in which a unit took or was done with its instructions, in their order.

        Names are "load_take", "load_done" and so on; cycle 0 is the first that is counted. From
        "mxu_busy_from" to "mxu_busy_to", the latter not, rows went into the array.
        """
        return {name: np.concatenate(found) if found else np.zeros(0, np.int64)
                for name, found in self._events.items()}


def _set(words: NDArray[np.uint64], name: str) -> NDArray[np.bool_]:
    return (words & np.uint64(BY_NAME[name].mask)) != 0


def _bits(words: NDArray[np.uint64], name: str) -> NDArray[np.int64]:
    field = BY_NAME[name]
    return ((words >> np.uint64(field.first)) & np.uint64((1 << field.bits) - 1)).astype(np.int64)
