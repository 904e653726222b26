"""Chips that links connect, each behind a transport: they begin a run together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Mapping, Sequence
from time import monotonic

from celosia.arch.config import TpuConfig
from celosia.arch.latency import Latency
from celosia.driver.errors import DeviceError
from celosia.driver.model import ModelTransport
from celosia.driver.transport import PodChip
from celosia.model import ModelResult, Pod, PodProgram, PodStopped, Timing
from celosia.model.timing import link_timings

__all__ = ["Meeting", "ModelPod", "PodEnded", "where"]

#: Seconds between looks whether a chip still waits for the others.
_NAP = 0.25
#: Seconds in which all chips of a run must come to it: others may have something to end before.
_PATIENCE = 300.0


class PodEnded(DeviceError):
    """A run of several chips cannot go on; the message says why, and where each one is."""


def where(message: str, at: Mapping[int, int], chips: Mapping[int, PodChip]) -> str:
    """Return a message with a line for each known chip of the instruction at which it is."""
    lines = [f"\n  chip {chip}, instruction {pc}: {chips[chip].sources[pc]}"
             for chip, pc in sorted(at.items())
             if chip in chips and pc < len(chips[chip].sources)]
    return message + "".join(lines)


def _missing(chip: int, members: Sequence[int], here: Container[int]) -> str:
    absent = [str(each) for each in members if each not in here]
    return (f"chip {chip} must begin its run together with all {len(members)} chips within "
            f"{_PATIENCE:g} s, but of chip{'s' if len(absent) > 1 else ''} {', '.join(absent)} "
            f"nobody has run such a program: one without send and recv is run alone")


class Meeting:
    """Threads of chips that begin a run together; the last one that comes does it for all.

    Parameters
    ----------
    run
        Called with what each chip brought, by its number; returns what each one gets.
    """

    def __init__(self, run: Callable[[Mapping[int, object]], Mapping[int, object]]):
        self._run = run
        self._changed = threading.Condition()
        self._open: dict[tuple[int, ...], dict[int, object]] = {}
        self._ended: dict[int, object] = {}

    def come(self, chip: int, members: Sequence[int], brought: object,
             look: Callable[[], None]) -> object:
        """Take part; return what the chip gets.

        Parameters
        ----------
        chip
            Who comes.
        members
            Who must; all say the same.
        brought
            For the run.
        look
            Called now and then while the chip waits: what it raises ends that.

        Raises
        ------
        PodEnded
            If some do not come.
        BaseException
            Of the run, for each of its chips.
        """
        key, end = tuple(members), monotonic() + _PATIENCE
        with self._changed:
            here = self._open.setdefault(key, {})
            here[chip] = brought
            if len(here) < len(key):
                try:
                    while chip not in self._ended:
                        look()
                        if key in self._open and monotonic() > end:
                            raise PodEnded(_missing(chip, key, here))
                        self._changed.wait(_NAP)
                except BaseException:
                    here.pop(chip, None)
                    raise
                ended = self._ended.pop(chip)
                if isinstance(ended, PodEnded):
                    raise PodEnded(str(ended)) from ended
                if isinstance(ended, BaseException):
                    raise PodEnded(f"chip {chip} cannot go on: another one ended: "
                                   f"{str(ended) or type(ended).__name__}") from ended
                return ended
            del self._open[key]
        found: Mapping[int, object]
        try:
            found = self._run(here)
        except BaseException as error:
            found = dict.fromkeys(here, error)
            raise
        finally:
            with self._changed:
                self._ended |= {each: what for each, what in found.items() if each != chip}
                self._changed.notify_all()
        own = found[chip]
        if isinstance(own, BaseException):
            raise own
        return own


class _ModelChip(ModelTransport):
    """A golden chip of a pod."""

    def __init__(self, pod: ModelPod, config: TpuConfig, chip: int, timing: Timing):
        super().__init__(config, timing=timing)
        self.chip, self.meets = chip, False
        self.members: Sequence[int] = pod.chips
        self.sources: Sequence[str] = ()
        self._pod = pod

    def links(self) -> Sequence[Mapping[str, int]]:
        return ()

    def _run(self, program: int, length: int, windows: Sequence[tuple[int, int]], watchdog: int,
             progress: Callable[[int], None] | None) -> ModelResult:
        if not self.meets:
            return super()._run(program, length, windows, watchdog, progress)

        def look() -> None:
            if progress is not None:
                progress(0)

        found = self._pod.meeting.come(self.chip, self.members,
                                       (PodProgram(program, length, windows), look), look)
        assert isinstance(found, ModelResult)
        return found


class ModelPod:
    """Golden chips and the links between them.

    Parameters
    ----------
    config
        Of each chip.
    chips
        How many.
    links
        As of `celosia.model.Pod`.
    latency, seed
        Cycles of links, for the clock, as of `celosia.arch.latency.link_latencies`.

    Attributes
    ----------
    chips
        Their numbers.
    transports
        The way to each one.
    """

    def __init__(self, config: TpuConfig, chips: int,
                 links: Mapping[tuple[int, int], tuple[int, int]], latency: Latency = 64,
                 seed: int = 0):
        self.chips = range(chips)
        self.meeting = Meeting(self._run)
        self.transports = [_ModelChip(self, config, chip, timing) for chip, timing in enumerate(
            link_timings(chips, links, latency, seed))]
        self._links = links
        self._machines = [each.machine for each in self.transports]
        #: Of the chips that have run together.
        self._pods = {tuple(self.chips): Pod(self._machines, links)}

    def _run(self, brought: Mapping[int, object]) -> Mapping[int, ModelResult]:
        programs: dict[int, PodProgram] = {}
        looks: list[Callable[[], None]] = []
        for chip, each in sorted(brought.items()):
            assert isinstance(each, tuple)
            programs[chip] = each[0]
            looks.append(each[1])
        try:
            results = self._pod(tuple(programs)).run(list(programs.values()), look=looks[0])
        except PodStopped as error:
            chips = list(programs)
            raise PodEnded(where(str(error), error.waits, {
                i: self.transports[chip] for i, chip in enumerate(chips)})) from error
        return dict(zip(programs, results, strict=True))

    def _pod(self, chips: tuple[int, ...]) -> Pod:
        """Return some of the chips, with the links between them."""
        if chips not in self._pods:
            numbers = {chip: i for i, chip in enumerate(chips)}
            links = {(numbers[a], port): (numbers[b], at)
                     for (a, port), (b, at) in self._links.items()
                     if a in numbers and b in numbers}
            self._pods[chips] = Pod([self._machines[chip] for chip in chips], links)
        return self._pods[chips]
