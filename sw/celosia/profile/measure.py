"""The chip's own cycles of a program, and the model's beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.compiled.steps import ChipStep
from celosia.driver import Device
from celosia.driver.transport import Transport
from celosia.profile.lines import by_line
from celosia.profile.profile import Profile, compare
from celosia.profile.record import Record

__all__ = ["ProbedTransport", "against", "measure"]

#: A duration is as the model says if it is off by no more than this.
NEAR = 0.05
_MOST = 5


class _Probe(Protocol):
    @property
    def dropped(self) -> int: ...

    @property
    def events(self) -> dict[str, NDArray[np.int64]]: ...


class ProbedTransport(Transport, Protocol):
    """A way to a chip with a probe: `celosia_sim.rtl.RtlTransport` with ``SimOptions.probe``."""

    @property
    def probe(self) -> Any:
        """What the units did in the last run."""
        ...


class _Watched(Device):
    """A device that keeps what was seen of the last run of each program."""

    def __init__(self, transport: ProbedTransport):
        super().__init__(transport, "rtl")
        self._probed = transport
        self.seen: dict[int, tuple[dict[str, NDArray[np.int64]], Mapping[str, int]]] = {}

    def run(self, program: Any, *args: Any, **options: Any) -> Any:
        """Run, and look."""
        result = super().run(program, *args, **options)
        probe: _Probe = self._probed.probe
        if probe.dropped:
            raise ValueError(f"program {program.program.name} must have fewer instructions to be "
                             f"measured: {probe.dropped} of its events were dropped")
        self.seen[id(program.program)] = probe.events, result.counters
        return result


def measure(profile: Profile, transport: ProbedTransport, arguments: Sequence[Any]) -> Profile:
    """Return the profile of a run on a probed chip, which is closed after it.

    Parameters
    ----------
    profile
        Of what is expected.
    transport
        To the chip.
    arguments
        As of `celosia.compiled.Executable.run`.

    Raises
    ------
    ValueError
        As of `Record.measured`.
    DeviceError
        As of the run.
    """
    with _Watched(transport) as device, profile.compiled.load(device) as executable:
        executable.run(*arguments, timeout=None)
        steps = [step for step in profile.compiled.steps if isinstance(step, ChipStep)]
        records = [expected.measured(*device.seen[id(step.program)])
                   for step, expected in zip(steps, profile.expected, strict=True)]
    return Profile(profile.compiled, profile.graph, profile.timing, profile.options, records)


def against(profile: Profile) -> dict[str, Any]:
    """Return where a measured profile and the model differ, for the module ``json`` to write.

    ``near`` is the share of instructions whose duration (`Record.durations`) is within 5 % of the
    model's; ``lines`` and ``instructions`` have the largest differences first.
    """
    count = near = 0
    lines: list[dict[str, int]] = [{}, {}]
    off: list[tuple[int, int, int, Record]] = []
    for model, chip in zip(profile.expected, profile.records, strict=True):
        mine, theirs = model.durations, chip.durations
        difference = theirs - mine
        count += len(mine)
        near += int((np.abs(difference) <= NEAR * mine).sum())
        off += [(int(difference[i]), int(mine[i]), i, chip)
                for i in np.argsort(-np.abs(difference), kind="stable")[:_MOST]]
        for found, record in zip(lines, (model, chip), strict=True):
            for line in by_line(record):
                found[line.place] = found.get(line.place, 0) + line.cycles
    off.sort(key=lambda each: -abs(each[0]))
    return {
        "model": sum(record.cycles for record in profile.expected), "rtl": profile.cycles,
        "instructions_compared": count, "near": near / count if count else 1.0,
        "lines": [{"place": place, "model": a, "rtl": b} for place, a, b in compare(*lines)],
        "instructions": [
            {"pc": int(chip.pc[i]), "text": chip.text(int(chip.pc[i])),
             "place": chip.source(int(chip.pc[i]))[1].place, "model": cycles,
             "rtl": cycles + difference}
            for difference, cycles, i, chip in off[:_MOST] if difference]}
