"""Draws the pictures of docs/pods.md: a torus, an all-reduce of all its chips in time, rates, and
a scaling curve.

The timeline is the golden pod's clock; rates and curve are those that the page says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import log2, prod
from pathlib import Path
from unittest import mock

from celosia.arch.config import preset
from celosia.arch.messages import MessageCommand
from celosia.bench.collectives import measure_collective
from celosia.collectives import Topology
from celosia.model import control
from celosia.model.timing.estimator import Estimator
from celosia.profile.page.floorplan import COLOURS, INK, MUTED, element, svg, text
from pages.page import write_page

__all__ = ["LinkSpan", "main", "measured", "points", "rates", "scaling", "seen", "timeline",
           "torus"]

#: Chip, port, whether it is a receive, first and last cycle.
LinkSpan = tuple[int, int, bool, int, int]
_PAGE = Path(__file__).parents[2] / "docs" / "pods.md"
_ROW = re.compile(r"^all_reduce +(\d[\dx]*) +(\d+) +(\d+) +[\d.]+ +[\d.]+ +([\d.]+)% +0 ",
                  re.MULTILINE)
#: A row of `celosia bench pod --curve`: topology, percent of one chip's rate, and speedup.
_POINT = re.compile(r"^(\d+(?:x\d+)*) +\d+ +([\d.]+)% +\d+ +\d+ +([\d.]+)$", re.MULTILINE)
_TORUS, _RING, _BYTES = Topology((4, 4)), Topology((8,)), 16384
_SEND, _RECV = COLOURS["load"], COLOURS["mxu"]


def torus(topology: Topology = _TORUS) -> str:
    """Return chips and links of a torus of two dimensions."""
    down, across = topology.extents
    step, size = 110, 44
    parts = [text(20, 24, f"A torus of {topology}: port 2 d of a chip leads up dimension d, port "
                  "2 d + 1 down", font_weight="bold")]

    def corner(chip: int) -> tuple[int, int]:
        row, column = topology.coordinates(chip)
        return 60 + column * step, 60 + row * step

    for (chip, port), (other, _) in sorted(topology.links.items()):
        if port % 2:
            continue
        (x, y), (to_x, to_y) = corner(chip), corner(other)
        if port // 2:  # along a row
            ends = ([(x + size, to_x)] if to_x > x else [(x + size, x + size + 24),
                                                         (to_x - 24, to_x)])
            parts += [element("path", d=f"M{a} {y + size // 2}H{b}", stroke=_SEND, stroke_width=2)
                      for a, b in ends]
        else:
            ends = ([(y + size, to_y)] if to_y > y else [(y + size, y + size + 24),
                                                         (to_y - 24, to_y)])
            parts += [element("path", d=f"M{x + size // 2} {a}V{b}", stroke=_RECV, stroke_width=2)
                      for a, b in ends]
    for chip in range(topology.chips):
        x, y = corner(chip)
        parts += [element("rect", x=x, y=y, width=size, height=size, rx=4, fill="#ffffff",
                          stroke=INK),
                  text(x + size // 2, y + size // 2 + 5, str(chip), text_anchor="middle")]
    x = 60 + across * step + 20
    parts += [text(x, 90, "ports 2, 3: a ring of each row", _SEND),
              text(x, 110, "ports 0, 1: a ring of each column", _RECV),
              text(x, 140, "What leaves at an edge comes in", MUTED),
              text(x, 158, "at the other one.", MUTED)]
    return svg(800, 60 + down * step, parts)


@cache
def seen() -> tuple[tuple[LinkSpan, ...], int, float]:
    """Return when each port of each chip is at work in an all-reduce on a ring, all cycles, and the
    share of the links' bound.
    """
    clocks: list[Estimator] = []
    found: list[LinkSpan] = []

    class Recorder(Estimator):
        def message(self, command: MessageCommand, comes: int = 0) -> int:
            if self not in clocks:
                clocks.append(self)
            there = super().message(command, comes)
            words = command.rows.length * self._config.dim * command.fmt.nbytes
            end = self._window[-1].end
            found.append((clocks.index(self), command.port, command.op is not None,
                          end - words // self._config.link_bytes, end))
            return there

    config = replace(preset("core"), ports=_RING.ports)
    with mock.patch.object(control, "Estimator", Recorder):
        measured = measure_collective(config, "model", _RING, "all_reduce", _BYTES)
    assert not measured.wrong
    return tuple(found), measured.cycles, measured.share


def timeline() -> str:
    """Return what the ports of all chips do in an all-reduce."""
    found, cycles, share = seen()
    left, width, line = 90, 680, 34
    parts = [text(left, 24, f"all_reduce of {_BYTES:,} bytes on a ring of {_RING}: {cycles:,} "
                  f"cycles, {share:.1%} of the links' bound", font_weight="bold"),
             text(left, 44, "sent", _SEND, font_weight="bold"),
             text(left + 50, 44, "received", _RECV, font_weight="bold"),
             text(left + 130, 44, "upper half: port 0, lower half: port 1", MUTED)]
    top = 56
    for chip in range(_RING.chips):
        parts.append(text(10, top + chip * line + 18, f"chip {chip}", font_weight="bold"))
    for chip, port, receives, start, end in found:
        y = top + chip * line + 14 * port + 7 * receives
        parts.append(element(
            "rect", x=round(left + width * start / cycles, 1), y=y,
            width=round(width * (end - start) / cycles, 1), height=6,
            fill=_RECV if receives else _SEND, fill_opacity=0.6))
    bottom = top + _RING.chips * line
    for cycle in range(0, cycles + 1, 500):
        x = round(left + width * cycle / cycles, 1)
        parts += [element("path", d=f"M{x} {top - 4}V{bottom}", stroke=MUTED, stroke_opacity=0.3),
                  text(x, bottom + 16, f"{cycle:,}", MUTED, text_anchor="middle")]
    return svg(800, bottom + 30, parts)


def measured(page: str) -> dict[str, list[tuple[int, int, float]]]:
    """Return bytes, cycles and share of the bound, in percent, of all-reduces that the page says,
    by topology.
    """
    found: dict[str, list[tuple[int, int, float]]] = {}
    for topology, size, cycles, share in _ROW.findall(page):
        found.setdefault(topology, []).append((int(size), int(cycles), float(share)))
    return {topology: sorted(each) for topology, each in found.items()}


def rates(page: str) -> str:
    """Return the share of the links' bound over the payload."""
    left, top, width, height = 70, 50, 560, 220
    series = measured(page)
    sizes = [size for each in series.values() for size, _, _ in each]
    low, high = log2(min(sizes)), log2(max(sizes))

    def at(size: int, share: float) -> tuple[float, float]:
        return (round(left + width * (log2(size) - low) / (high - low), 1),
                round(top + height * (1 - share / 100), 1))

    parts = [text(left, 24, "all_reduce on RTL chips: part of the rate that the links allow",
                  font_weight="bold"), *_grid(left, top, width, height, int(low), int(high))]
    for i, (topology, points) in enumerate(series.items()):
        colour = list(COLOURS.values())[i % len(COLOURS)]
        places = [at(size, share) for size, _, share in points]
        parts.append(element("polyline", points=" ".join(f"{x},{y}" for x, y in places),
                             fill="none", stroke=colour, stroke_width=2))
        parts += [element("circle", cx=x, cy=y, r=3, fill=colour) for x, y in places]
        parts.append(text(left + width + 20, top + 20 + 22 * i, f"{topology} chips", colour,
                          font_weight="bold"))
    return svg(800, top + height + 40, parts)


def points(page: str) -> list[tuple[int, float, float]]:
    """Return of each topology in the page's scaling curve: chips, and as how many of one they
    train, with as many rows each and with as many in all.
    """
    found = []
    for topology, weak, strong in _POINT.findall(page):
        chips = prod(map(int, topology.split("x")))
        found.append((chips, chips * float(weak) / 100, float(strong)))
    return found


def scaling(page: str) -> str:
    """Return the speed of more and more chips, as how many of one."""
    left, top, side = 70, 50, 240
    found = points(page)
    most = log2(max(chips for chips, _, _ in found))

    def at(chips: float, speed: float) -> tuple[float, float]:
        return (round(left + 2 * side * log2(chips) / most, 1),
                round(top + side * (1 - log2(speed) / most), 1))

    parts = [text(left, 24, "Training on pods: how often as fast as one chip", font_weight="bold")]
    for chips, _, _ in found:
        (x, y), word = at(chips, chips), f"{chips}"
        parts += [element("path", d=f"M{left} {y}H{left + 2 * side}", stroke=MUTED,
                          stroke_opacity=0.3),
                  text(left - 8, y + 4, word, MUTED, text_anchor="end"),
                  text(x, top + side + 18, word, MUTED, text_anchor="middle")]
    parts.append(text(left + side, top + side + 38, "chips", MUTED, text_anchor="middle"))
    lines = (("as many rows each", [(chips, weak) for chips, weak, _ in found]),
             ("as many rows in all", [(chips, strong) for chips, _, strong in found]),
             ("links that cost nothing", [(chips, chips) for chips, _, _ in found]))
    for i, ((name, each), colour) in enumerate(zip(
            lines, (*list(COLOURS.values())[:2], MUTED), strict=True)):
        places = [at(*pair) for pair in each]
        parts.append(element("polyline", points=" ".join(f"{x},{y}" for x, y in places),
                             fill="none", stroke=colour, stroke_width=2))
        parts += [element("circle", cx=x, cy=y, r=3, fill=colour) for x, y in places]
        parts.append(text(left + 2 * side + 20, top + 20 + 22 * i, name, colour,
                          font_weight="bold"))
    return svg(800, top + side + 50, parts)


def _grid(left: int, top: int, width: int, height: int, low: int, high: int) -> Iterator[str]:
    """Give lines and words of the axes."""
    for percent in range(0, 101, 25):
        y = round(top + height * (1 - percent / 100), 1)
        yield element("path", d=f"M{left} {y}H{left + width}", stroke=MUTED, stroke_opacity=0.3)
        yield text(left - 8, y + 4, f"{percent} %", MUTED, text_anchor="end")
    for power in range(low, high + 1, 2):
        x = round(left + width * (power - low) / (high - low), 1)
        yield element("path", d=f"M{x} {top}V{top + height}", stroke=MUTED, stroke_opacity=0.2)
        unit = power // 10
        yield text(x, top + height + 18, f"{1 << power % 10} {('B', 'KiB', 'MiB')[unit]}", MUTED,
                   text_anchor="middle")


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write all four; arguments and result as of `pages.page.write_page`."""
    page = _PAGE.read_text(encoding="utf-8")
    return (write_page("pod-torus.svg", lambda _: torus(), argv, root)
            | write_page("pod-all-reduce.svg", lambda _: timeline(), argv, root)
            | write_page("pod-scaling.svg", lambda _: scaling(page), argv, root)
            | write_page("pod-rates.svg", lambda _: rates(page), argv, root))
