"""Find the loops in a sequence of operations."""

from __future__ import annotations

from celosia.arch import isa
from celosia.ops.nodes import Loop, Node

__all__ = ["roll"]

#: Longest body, in nodes, that is looked for.
MAX_PERIOD = 64
#: A body that runs fewer times than this is left as it is.
MIN_COUNT = 3


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Loop) else 0


def _registers(body: tuple[Node, ...], steps: tuple[int, ...]) -> int:
    """Registers that a loop and the loops in it hold at once."""
    values = tuple(value for node in body for value in node.varying)
    own = len({pair for pair in zip(values, steps, strict=True) if pair[1]})
    return own + max((_registers(node.body, node.steps) for node in body
                      if isinstance(node, Loop)), default=0)


def _pass(nodes: list[Node]) -> list[Node]:
    """Replace the runs of one level: at each place, the period that saves the most."""
    ids: dict[tuple, int] = {}
    keys = [ids.setdefault(node.shape, len(ids)) for node in nodes]
    values = [node.varying for node in nodes]
    open_to_loops = [_depth(node) < isa.LOOP_DEPTH for node in nodes]

    def steps_at(at: int, period: int) -> tuple[int, ...]:
        return tuple(after - before for i in range(at, at + period)
                     for before, after in zip(values[i], values[i + period], strict=True))

    def count_at(at: int, period: int) -> int:
        """How many turns of ``period`` nodes there are from ``at`` on."""
        if not all(open_to_loops[at:at + period]):
            return 1
        count, steps = 1, None
        while at + (count + 1) * period <= len(nodes):
            start = at + (count - 1) * period
            if keys[start:start + period] != keys[start + period:start + 2 * period]:
                break
            found = steps_at(start, period)
            if steps is None:
                steps = found
                if _registers(tuple(nodes[at:at + period]), steps) > isa.NUM_REGISTERS:
                    break
            elif found != steps:
                break
            count += 1
        return count

    out: list[Node] = []
    at = 0
    while at < len(nodes):
        best, best_period, best_count = 0, 1, 1
        for period in range(1, min(MAX_PERIOD, (len(nodes) - at) // MIN_COUNT) + 1):
            if keys[at] != keys[at + period]:
                continue
            count = count_at(at, period)
            if count >= MIN_COUNT and (count - 1) * period > best:
                best, best_period, best_count = (count - 1) * period, period, count
        body = tuple(nodes[at:at + best_period])
        if best:
            out.append(Loop(best_count, body, steps_at(at, best_period)))
        else:
            out += body
        at += best_period * best_count
    return out


def roll(nodes: list[Node]) -> list[Node]:
    """Return nodes that stand for the same operations in the same order, fewer where they repeat.

    Operations repeat where they differ in nothing but their rows and addresses, and those by the
    same amount from turn to turn. Loops nest at most as deep as the chip allows.
    """
    while True:
        shorter = _pass(nodes)
        if len(shorter) == len(nodes):
            return nodes
        nodes = shorter
