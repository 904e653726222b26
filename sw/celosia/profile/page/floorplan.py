"""The chip as a picture: the boxes of docs/chip.md, which are the folders of hw/celosia_hw."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["ARROWS", "BOXES", "COLOURS", "INK", "MUTED", "chip", "element", "svg", "text"]

INK, MUTED = "#24292f", "#6e7781"
COLOURS = {"load": "#2d6ac2", "store": "#6a4fb3", "mxu": "#c2542d", "vpu": "#2f8f5b"}
#: Boxes of the block diagram: name, what it is, x, y, width, height, colour.
BOXES = (
    ("host/", "registers, run control, counters", 20, 60, 240, 60, MUTED),
    ("bus/", "memory port", 540, 60, 240, 60, MUTED),
    ("scalar/", "fetch, operands, execute; check, scoreboard", 20, 160, 690, 60, INK),
    ("mxu/", "D x D systolic array", 20, 270, 240, 60, COLOURS["mxu"]),
    ("vpu/", "D lanes of 32 bits", 280, 270, 240, 60, COLOURS["vpu"]),
    ("dma/", "load and store engine", 540, 270, 240, 60, COLOURS["load"]),
    ("memory/", "unified buffer: rows of D operands; accumulators: rows of D x 32 bits",
     20, 380, 760, 60, INK),
)
#: Arrows: from x, y to x, y, and a word beside it.
ARROWS = (
    (140, 20, 140, 60, "AXI4-Lite, interrupt"), (600, 60, 600, 20, "AXI4: external memory"),
    (140, 120, 140, 160, "start, windows"), (600, 120, 600, 160, "instructions"),
    (740, 120, 740, 270, ""), (760, 270, 760, 120, ""), (140, 220, 140, 270, "commands"),
    (400, 220, 400, 270, "commands"), (640, 220, 640, 270, "commands"),
    (80, 380, 80, 330, "acts, weights"), (200, 330, 200, 380, "sums"),
    (340, 380, 340, 330, "rows"), (460, 330, 460, 380, "rows"),
    (600, 330, 600, 380, "rows"), (720, 380, 720, 330, "rows"),
)


def element(tag: str, *inside: str, **attributes: object) -> str:
    """Return an element of SVG; underscores of names are dashes."""
    named = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag} {named}>{''.join(inside)}</{tag}>" if inside else f"<{tag} {named}/>"


def svg(width: int, height: int, parts: Iterable[str]) -> str:
    """Return a picture on white, for pages of any colour."""
    head = element("marker", element("path", d="M0 0L8 4L0 8z", fill=MUTED), id="head",
                   viewBox="0 0 8 8", refX=7, refY=4, markerWidth=7, markerHeight=7, orient="auto")
    return element(
        "svg", "\n", element("defs", head), "\n",
        element("rect", width=width, height=height, fill="white"), "\n", "\n".join(parts), "\n",
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}",
        font_family="sans-serif", font_size=13) + "\n"


def text(x: float, y: float, what: str, colour: str = INK, **more: object) -> str:
    """Return a line of text."""
    return element("text", escape(what), x=x, y=y, fill=colour, **more)


def chip() -> str:
    """Return the block diagram."""
    parts = []
    for name, what, x, y, width, height, colour in BOXES:
        parts += [element("rect", x=x, y=y, width=width, height=height, rx=6, fill=colour,
                          fill_opacity=0.08, stroke=colour, stroke_width=1.5),
                  text(x + 12, y + 24, name, colour, font_weight="bold"),
                  text(x + 12, y + 44, what)]
    for x, y, to_x, to_y, word in ARROWS:
        parts.append(element("path", d=f"M{x} {y}L{to_x} {to_y}", stroke=MUTED, stroke_width=1.5,
                             marker_end="url(#head)"))
        if word:
            parts.append(text((x + to_x) / 2 + 8, (y + to_y) / 2 + 4, word, MUTED))
    return svg(800, 460, parts)
