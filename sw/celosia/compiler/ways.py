"""Ways out for programs that need more external memory than there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from celosia.compiler.changes import (
    batches,
    donating,
    named,
    narrowable,
    narrowed,
    resized,
    sharded,
)
from celosia.graph import Graph

__all__ = ["Way", "ways_out"]

#: Ways that are said; more are not looked for.
_ENOUGH = 2
#: Devices that a program is tried on.
_DEVICES = (2, 4, 8)
#: Bytes that the program with a change needs; None if it does not fit.
Trial = Callable[[Graph], int | None]


@dataclass(frozen=True)
class Way:
    """A change, the program with it, the bytes that this needs, and the kinds of the change."""

    what: str
    graph: Graph
    nbytes: int
    kinds: frozenset[str]

    def __str__(self) -> str:
        return f"it fits with {self.what}: {self.nbytes} bytes"


def ways_out(graph: Graph, trial: Trial, *, more_devices: bool = True) -> list[Way]:
    """Return changes of a program with which it fits.

    What leaves the results as they are comes first, a donation; then arguments in bf16, both of
    these, a smaller batch; then, with ``more_devices``, several of them.
    """
    known: dict[Graph, int | None] = {}

    def once(changed: Graph) -> int | None:
        if changed not in known:
            known[changed] = trial(changed)
        return known[changed]

    found: list[Way] = []
    for kinds, what, changed in _ways(graph, once, more_devices):
        # Less does it, if some of it does.
        if any(way.kinds <= kinds for way in found):
            continue
        nbytes = once(changed)
        if nbytes is not None:
            found.append(Way(what, changed, nbytes, kinds))
        if len(found) == _ENOUGH:
            break
    return found


def _ways(graph: Graph, trial: Trial, more_devices: bool
          ) -> Iterator[tuple[frozenset[str], str, Graph]]:
    donated, narrow = _donated(graph), _narrow(graph)
    if donated:
        yield frozenset({"donated"}), *donated
    if narrow:
        yield frozenset({"bf16"}), *narrow
    best = donated or narrow
    if donated and (both := _narrow(donated[1])):
        best = f"{donated[0]}, {both[0]}", both[1]
        yield frozenset({"donated", "bf16"}), *best
    for way in _smaller(graph, "", trial):
        yield frozenset({"batch"}), *way
    if more_devices:
        for way in _devices(graph, trial):
            yield frozenset({"devices"}), *way
    if best:
        for way in _smaller(best[1], f", {best[0]}", trial):
            yield frozenset({"batch", "donated", "bf16"}), *way


def _donated(graph: Graph) -> tuple[str, Graph] | None:
    values, changed = donating(graph)
    if not values or changed is None:
        return None
    numbers = ", ".join(str(graph.params.index(value)) for value in values)
    return f"{named(graph, values)} donated (arguments {numbers})", changed


def _narrow(graph: Graph) -> tuple[str, Graph] | None:
    values = [value for values in narrowable(graph).values() for value in values]
    changed = narrowed(graph, values) if values else None
    return None if changed is None else (f"{named(graph, values)} in bf16", changed)


def _smaller(graph: Graph, more: str, trial: Trial) -> Iterator[tuple[str, Graph]]:
    """Yield the first half, quarter and so on of a batch that fits."""
    for size, _ in batches(graph):
        count = size // 2
        while count and (changed := resized(graph, size, count)) is not None:
            if trial(changed) is not None:
                yield f"a batch of {count} in place of {size}{more}", changed
                break
            count //= 2


def _devices(graph: Graph, trial: Trial) -> Iterator[tuple[str, Graph]]:
    """Yield the fewest devices that arguments can be cut over so that each part fits."""
    for batch in (*(size for size, _ in batches(graph)), 0):
        for devices in _DEVICES:
            values, changed = sharded(graph, devices, batch)
            if changed is None:
                break
            if trial(changed) is not None:
                cut = "each along its largest dimension" if not batch else "along the batch"
                yield (f"{named(graph, values)} cut over {devices} devices {cut} "
                       f"(jax.sharding.NamedSharding)"), changed
                break
