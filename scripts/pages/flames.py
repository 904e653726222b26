"""Sampled stacks of a process as a flame graph, and the time of a simulated chip by module."""

import html
import re
from collections import Counter
from collections.abc import Mapping

__all__ = ["by_module", "flame", "stacks"]

#: Of the picture: its width, the height of a frame, the narrowest frame, the width of a letter.
_WIDTH, _ROW, _LEAST, _LETTER = 960, 17, 5.0, 6.6
_COLOURS = ("#f6c28b", "#f4d39b", "#f0b27a", "#f7dc9f", "#eeb98a")
#: A function of the simulator that evaluates a part of a room, see `celosia_sim.idle`.
_ROOM = re.compile(r"room_\d+_(?P<modules>\w+)")
#: An instance with a number of Amaranth's.
_NUMBER = re.compile(r"__02\d+$")
#: Where functions are that say nothing of their callers or of what they call.
_BETWEEN = ("libpython", "_ctypes", "libffi")
_PLACE = re.compile(r" \((?:.*/)?(?P<file>[^/()]+?)(?::\d+)?\)$")

Stacks = Mapping[tuple[str, ...], int]


def _frames(name: str) -> tuple[str, ...]:
    """Frames for one of py-spy: none of what has no name, one for each module of a room."""
    place = _PLACE.search(name)
    plain = name[:place.start()] if place else name
    if plain.startswith("0x") or plain in ("<module>", "_run_code", "_run_module_as_main"):
        return ()
    if room := _ROOM.fullmatch(plain):
        return ("RTL", *(_NUMBER.sub("", each) for each in room["modules"].split("__DOT__")))
    file = place["file"] if place else ""
    if file.startswith(_BETWEEN):
        return ()
    if file.startswith("<frozen importlib"):
        return ("import",)
    if file == "chip.so":
        return ("RTL", "simulator")
    return (f"{plain} ({file})" if file.endswith(".py") else plain,)


def stacks(raw: str) -> dict[tuple[str, ...], int]:
    """Read what ``py-spy record --format raw`` wrote: samples of each stack, outermost first."""
    found: Counter[tuple[str, ...]] = Counter()
    for line in raw.splitlines():
        text, _, count = line.rpartition(" ")
        frames = [frame for name in text.split(";") for frame in _frames(name)]
        frames = [frame for at, frame in enumerate(frames)
                  if frame != "import" or frames[at - 1:at] != ["import"]]
        inner = frames.index("RTL") if "RTL" in frames else len(frames)
        # What the simulator's functions call of each other is its own affair.
        last = max((at for at, frame in enumerate(frames) if frame == "RTL"), default=inner)
        found[(*frames[:inner], *frames[last:])] += int(count)
    return dict(found)


def by_module(samples: Stacks) -> list[tuple[str, float]]:
    """Return the share of each module of the chip in what it is simulated in, the largest first."""
    found: Counter[str] = Counter()
    for stack, count in samples.items():
        if "RTL" in stack:
            at = stack.index("RTL") + 1
            found[".".join(stack[at:at + 2])] += count
    total = sum(found.values())
    return [(name, count / total) for name, count in found.most_common()]


def flame(samples: Stacks, title: str) -> str:
    """Return the stacks as an SVG: a frame is as wide as it has samples, and lies on its caller."""
    total = sum(samples.values())
    boxes: list[tuple[int, float, int, str]] = []  # depth, from, samples, frame

    def place(inside: Stacks, depth: int, start: float) -> None:
        groups: dict[str, dict[tuple[str, ...], int]] = {}
        for stack, count in inside.items():
            if stack:
                groups.setdefault(stack[0], {})[stack[1:]] = count
        for frame, rest in sorted(groups.items()):
            count = sum(rest.values())
            if count * _WIDTH / total >= _LEAST:
                boxes.append((depth, start, count, frame))
                place(rest, depth + 1, start)
            start += count

    place(samples, 0, 0)
    height = _ROW * (max((box[0] for box in boxes), default=0) + 2)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}">',
             f'<g font-family="monospace" font-size="11"><title>{html.escape(title)}</title>',
             f'<text x="4" y="12">{html.escape(title)}</text>']
    for depth, start, count, frame in boxes:
        x, y, width = start * _WIDTH / total, height - _ROW * (depth + 1), count * _WIDTH / total
        fits = int((width - 4) / _LETTER)
        shown = frame if len(frame) <= fits else frame[:fits - 1] + "…" if fits > 3 else ""
        colour = _COLOURS[sum(frame.encode()) % len(_COLOURS)]
        lines.append(
            f'<g><title>{html.escape(frame)}: {count / total:.1%}</title>'
            f'<rect x="{x:.1f}" y="{y}" width="{width - .5:.1f}" height="{_ROW - 1}" '
            f'fill="{colour}"/>'
            + (f'<text x="{x + 3:.1f}" y="{y + 12}">{html.escape(shown)}</text>' if shown else "")
            + "</g>")
    return "\n".join([*lines, "</g></svg>", ""])
