"""Draws what pages have as text, waves and boxes with arrows, where Sphinx makes the site."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["flowchart", "setup", "wave"]

_NODE = re.compile(r'(\w+)\["([^"]+)"\]')
_ARROW = re.compile(r"(\w+) --> (\w+)")
_CHAR, _HEIGHT, _GAP = 7.6, 26, 40


#: Pixels of a cycle, of a row and of the names before it.
_CYCLE, _ROW, _NAMES = 36, 28, 8


def wave(text: str) -> str:
    """Return the picture of a diagram of signals in the form of WaveDrom.

    A signal has a name and its wave: a character for each cycle, of which ``p`` is a clock, ``0``
    and ``1`` levels, ``2`` to ``9`` and ``=`` values, named by its data in turn, ``x`` unknown,
    and ``.`` goes on.
    """
    signals = json.loads(re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', text))["signal"]
    left = max(len(each["name"]) for each in signals) * _CHAR + 2 * _NAMES
    width = left + max(len(each["wave"]) for each in signals) * _CYCLE + _NAMES
    parts = []
    for row, each in enumerate(signals):
        top = row * _ROW + 6
        parts.append(f'<text x="{left - _NAMES:.0f}" y="{top + 13}" class="name">'
                     f"{html.escape(each['name'])}</text>")
        parts += _signal(each["wave"], list(each.get("data", ())), left, top)
    names = ", ".join(each["name"] for each in signals)
    return (f'<svg viewBox="0 0 {width:.0f} {len(signals) * _ROW + 6}" style="width:{width:.0f}px" '
            f'role="img" aria-label="Levels of {html.escape(names)} by cycle">'
            + "".join(parts) + "</svg>")


def _signal(wave: str, data: list[str], left: float, top: int) -> Iterator[str]:
    """Draw one signal: runs of a level or a value, and edges between them."""
    runs = [(found[0][0], found.start(), len(found[0])) for found in re.finditer(r"[^.]\.*", wave)]
    bottom, before = top + 18, None
    for kind, first, cycles in runs:
        x, w = left + first * _CYCLE, cycles * _CYCLE
        if kind == "p":
            for at in range(cycles):
                c = x + at * _CYCLE
                yield (f'<path d="M{c:.0f} {bottom}V{top}H{c + _CYCLE / 2:.0f}V{bottom}'
                       f'H{c + _CYCLE:.0f}"/>')
        elif kind in "01":
            y = top if kind == "1" else bottom
            start = f"M{x:.0f} {before}V{y}" if before is not None else f"M{x:.0f} {y}"
            yield f'<path d="{start}H{x + w:.0f}"/>'
            before = y
            continue
        else:
            yield (f'<path class="value v{kind}" d="M{x:.0f} {top + 9}L{x + 4:.0f} {top}'
                   f'H{x + w - 4:.0f}L{x + w:.0f} {top + 9}L{x + w - 4:.0f} {bottom}'
                   f'H{x + 4:.0f}Z"/>')
            label = data.pop(0) if data and kind != "x" else ""
            yield (f'<text x="{x + w / 2:.0f}" y="{top + 13}" class="in" '
                   f'{_fitted(label, w)}>{html.escape(label)}</text>')
        before = None


def _fitted(label: str, width: float) -> str:
    """Return what squeezes a label that is too long for its run."""
    room = width - 10
    return f'textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' \
        if len(label) * 6.6 > room else ""


def _ranks(boxes: Iterable[str], arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return boxes in rows: each below all that point to it, near the middle of these."""
    above: dict[str, list[str]] = {box: [] for box in boxes}
    for upper, lower in arrows:
        above[lower].append(upper)
    rank: dict[str, int] = {}

    def depth(box: str) -> int:
        if box not in rank:
            rank[box] = 1 + max(map(depth, above[box]), default=-1)
        return rank[box]

    rows: list[list[str]] = [[] for _ in range(1 + max(map(depth, above)))]
    for box in above:
        rows[rank[box]].append(box)
    place = {box: i / len(row) for row in rows for i, box in enumerate(row)}
    for row in rows[1:]:
        middle = {box: sum(place[each] for each in above[box]) / len(above[box]) for box in row}
        row.sort(key=lambda box: middle[box])
        place |= {box: (i + 0.5) / len(row) for i, box in enumerate(row)}
    return rows


def flowchart(text: str) -> str:
    """Return the picture of a Mermaid flowchart of boxes and arrows, from the top down."""
    labels = dict(_NODE.findall(text))
    arrows = _ARROW.findall(text)
    rows = _ranks(labels, arrows)
    widths = {box: _CHAR * len(label) + 18 for box, label in labels.items()}
    widest = max(sum(widths[box] + 16 for box in row) for row in rows)
    places, parts = {}, []
    for y, row in enumerate(rows):
        gap = (widest - sum(widths[box] for box in row)) / len(row)
        x = gap / 2
        for box in row:
            places[box] = x + widths[box] / 2, (_HEIGHT + _GAP) * y + _HEIGHT
            x += widths[box] + gap
    for upper, lower in arrows:
        (x0, y0), (x1, y1) = places[upper], places[lower]
        y0, y1 = y0 + _HEIGHT / 2, y1 - _HEIGHT / 2
        bend = (y1 - y0) / 2
        parts.append(f'<path d="M{x0:.0f} {y0:.0f}C{x0:.0f} {y0 + bend:.0f} {x1:.0f} '
                     f'{y1 - bend:.0f} {x1:.0f} {y1:.0f}" marker-end="url(#tip)"/>')
    for box, (x, y) in places.items():
        parts.append(f'<rect x="{x - widths[box] / 2:.0f}" y="{y - _HEIGHT / 2:.0f}" '
                     f'width="{widths[box]:.0f}" height="{_HEIGHT}" rx="5"/>'
                     f'<text x="{x:.0f}" y="{y + 4:.0f}">{html.escape(labels[box])}</text>')
    height = len(rows) * (_HEIGHT + _GAP)
    return (f'<svg class="flowchart" viewBox="0 0 {widest:.0f} {height}" '
            'role="img" aria-label="boxes and what they rest on; the table below says the same">'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
            + "".join(parts) + "</svg>")


class _Drawing(SphinxDirective):
    has_content = True
    draw = staticmethod(wave)
    kind = "wave"

    def run(self) -> list[nodes.Node]:
        picture = self.draw("\n".join(self.content))
        return [nodes.raw("", f'<div class="drawing {self.kind}" tabindex="0">{picture}</div>',
                          format="html")]


class _Flowchart(_Drawing):
    draw = staticmethod(flowchart)
    kind = "boxes"


def setup(app: Sphinx) -> dict[str, bool]:
    """Have Sphinx know the two kinds of diagram."""
    app.add_directive("wavedrom", _Drawing)
    app.add_directive("mermaid", _Flowchart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
