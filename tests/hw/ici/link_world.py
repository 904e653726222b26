"""Two ends of a link, what is between them, and a user at each."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.ici import SHORT_FRAMES, LineWord, WordKind
from celosia_hw.ici.layer import LinkLayer
from hw.simulation import World

__all__ = ["Line", "LinkWorld"]


class _Ends(wiring.Component):
    """Two link layers that nothing connects."""

    def __init__(self, config: TpuConfig):
        self.ends = [LinkLayer(config) for _ in range(2)]
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        for number, end in enumerate(self.ends):
            m.submodules[f"end{number}"] = end
        return m


@dataclass
class Line:
    """What is between two ends: cycles of latency, and the chance that a bit is turned."""

    latency: int = 1
    errors: float = 0
    #: Everything that was put on the line, by direction.
    seen: list[list[LineWord]] = field(default_factory=lambda: [[], []])


class LinkWorld(World):
    """Two ends of a link of a chip's configuration.

    Parameters
    ----------
    config
        Its link's words and frames count.
    """

    def __init__(self, config: TpuConfig):
        self.config = config
        super().__init__(_Ends(config))

    def exchange(self, sent: list[list[list[int]]], line: Line, *, seed: int = 0,
                 offer: float = 1, take: float = 1, size: int = len(SHORT_FRAMES),
                 most: int = 20_000) -> list[list[int]]:
        """Send messages from each end; return the words that come out at each, and set `cycles`.

        Parameters
        ----------
        sent
            Of each end, messages.
        offer, take
            Chance of a word to be offered, of one to be taken, in a cycle.
        size
            Of the messages' frames: which of SHORT_FRAMES, or FRAME_WORDS.
        most
            Cycles after which it is given up.
        """
        ends = self.component.ends
        rng = random.Random(seed)
        words = [deque((word, at == len(message) - 1) for message in each
                       for at, word in enumerate(message)) for each in sent]
        wanted = [sum(map(len, sent[1 - end])) for end in range(2)]
        found: list[list[int]] = [[], []]
        # A bit is turned every so often: not a draw for each.
        bits = 2 + 8 * self.config.link_bytes

        def garbled(value: int) -> int:
            bit = -1
            while line.errors and (bit := bit + 1 + int(rng.expovariate(line.errors))) < bits:
                value ^= 1 << bit
            return value

        async def bench(ctx):
            under_way = [deque([0] * line.latency) for _ in range(2)]
            offering = [False, False]
            taking = [False, False]
            self.cycles = 0
            while any(len(found[end]) < wanted[end] for end in range(2)):
                for end in range(2):
                    layer = ends[end]
                    offering[end] = offering[end] or bool(words[end] and rng.random() < offer)
                    ctx.set(layer.i.valid, offering[end])
                    if offering[end]:
                        word, last = words[end][0]
                        ctx.set(layer.i.payload, {"data": word, "last": last, "size": size})
                    taking[end] = rng.random() < take
                    ctx.set(layer.o.ready, taking[end])
                    ctx.set(layer.rx.as_value(), garbled(under_way[end].popleft()))
                _, _, *values = await ctx.tick().sample(*(
                    value for layer in ends for value in (
                        layer.i.ready, layer.o.valid, layer.o.payload, layer.tx.as_value())))
                for end in range(2):
                    ready, valid, payload, tx = values[4 * end:4 * end + 4]
                    if offering[end] and ready:
                        words[end].popleft()
                        offering[end] = False
                    if taking[end] and valid:
                        found[end].append(payload)
                    under_way[1 - end].append(tx)
                    line.seen[end].append(LineWord(WordKind(tx & 3), tx >> 2))
                self.cycles += 1
                assert self.cycles < most, [list(map(len, found)), wanted]

        self.run(bench)
        return found
