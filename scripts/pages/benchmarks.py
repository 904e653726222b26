"""Keeps docs/benchmarks.json, figures of docs/performance.md by commit; draws docs/benchmarks.md.

``python -m pages.benchmarks`` in scripts/ reads the history of the page from git and writes both;
`scripts/docs` draws the page anew, and adds what the page of today says.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pages.page import write_page

__all__ = ["benchmarks_page", "figures", "history", "main", "picture",
           "read"]

_ROOT = Path(__file__).parents[2]
_PAGE, _KEPT = "docs/performance.md", "docs/benchmarks.json"
_PROGRAM = re.compile(r"^\| ([a-z0-9-]+): [^|]*\| ([\d,]+) \|", re.MULTILINE)
_SPEED = re.compile(r"^\| (core|nano) \| int8 \| (512x512 \* 512x512|64x64 \* 64x64) \|.*?"
                    r"\| yes \| ([\d,]+) \|", re.MULTILINE)
_BOARD = re.compile(r"^\| ([^|]+) \| `(\w+)` \| [\d.]+ \| ([\d.]+?)(?:\.\.[\d.]+)? "
                    r"\(\d+\) \| ([\d,]+) \(", re.MULTILINE)
_WIDTH, _LEFT, _ROW = 820, 300, 46


def figures(page: str) -> dict[str, float]:
    """Return the figures of a version of the page: cycles of programs, speeds of simulation, LUTs
    and clocks of boards.
    """
    found: dict[str, float] = {f"{name}, cycles": int(value.replace(",", ""))
             for name, value in _PROGRAM.findall(page)}
    for chip, product, value in _SPEED.findall(page):
        if (chip == "core") == product.startswith("512"):
            found[f"simulation of {chip}, cycles/s"] = int(value.replace(",", ""))
    for board, preset, clock, luts in _BOARD.findall(page):
        found[f"{board}, {preset}: LUTs"] = int(luts.replace(",", ""))
        found[f"{board}, {preset}: MHz"] = float(clock)
    return found


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True,
                          check=True).stdout


def history() -> list[dict[str, object]]:
    """Return the figures of each commit that changed one, the oldest first."""
    found: list[dict[str, object]] = []
    for line in _git("log", "--reverse", "--format=%h %cs", "--", _PAGE).splitlines():
        commit, date = line.split()
        try:
            made = figures(_git("show", f"{commit}:{_PAGE}"))
        except subprocess.CalledProcessError:
            continue  # it was removed
        if made and (not found or made != found[-1]["figures"]):
            found.append({"commit": commit, "date": date, "figures": made})
    return found


def _points(kept: Sequence[dict]) -> dict[str, list[tuple[int, float]]]:
    """Return each figure over the commits."""
    names = dict.fromkeys(name for each in kept for name in each["figures"])
    return {name: [(at, each["figures"][name]) for at, each in enumerate(kept)
                   if name in each["figures"]] for name in names}


def picture(kept: Sequence[dict]) -> str:
    """Return all figures over the commits, a line each, from its least to its largest."""
    parts, count = [], len(kept)
    for row, (name, points) in enumerate(_points(kept).items()):
        values = [value for _, value in points]
        low, span = min(values), max(values) - min(values) or 1
        y = 30 + row * _ROW
        places = [(_LEFT + at * (_WIDTH - _LEFT - 90) / max(count - 1, 1),
                   y + (low + span - value) / span * (_ROW - 22)) for at, value in points]
        parts.append(f'<text x="10" y="{y + 16}">{name}</text>'
                     f'<text x="{_WIDTH - 80}" y="{y + 16}" font-weight="bold">{values[-1]:,}'
                     '</text>'
                     f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" '
                     'fill="none" stroke="#1a7f4b" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1a7f4b"/>' for x, y in places]
    height = 40 + len(_points(kept)) * _ROW
    for at, each in enumerate(kept):
        x = _LEFT + at * (_WIDTH - _LEFT - 90) / max(count - 1, 1)
        parts.append(f'<text x="{x:.1f}" y="16" text-anchor="middle" font-size="10">'
                     f"{each['commit']}</text>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" font-family="sans-serif" font-size="12" role="img">'
            f'<title>Figures by commit</title><rect width="{_WIDTH}" height="{height}" '
            f'fill="#fff"/>' + "".join(parts) + "</svg>\n")


def benchmarks_page(kept: Sequence[dict]) -> str:
    """Return docs/benchmarks.md of the history."""
    lines = ["# Benchmarks by commit", "", (
        "Made by `scripts/docs` from `docs/benchmarks.json`: the figures of "
        "[performance.md](performance.md) in each commit that changed one, of which that page has "
        "the commands. Speeds of simulation are of one thread of a shared machine."), "",
        "![Each figure over the commits, from its least to its largest](benchmarks.svg)", "",
        "| figure | at first | now | | least | largest |", "|---|---:|---:|---:|---:|---:|"]
    for name, points in _points(kept).items():
        values = [value for _, value in points]
        lines.append(f"| {name} | {values[0]:,} | {values[-1]:,} | "
                     f"{values[-1] / values[0] - 1:+.1%} | {min(values):,} | {max(values):,} |")
    lines += ["", "| commit | day | what changed |", "|---|---|---|"]
    before: dict[str, float] = {}
    for each in kept:
        changed = ", ".join(f"{name.removesuffix(', cycles')} {value:,}"
                            for name, value in each["figures"].items()
                            if before.get(name) != value)
        before = each["figures"]
        lines.append(f"| {each['commit']} | {each['date']} | {changed} |")
    return "\n".join(lines) + "\n"


def read(root: Path = _ROOT) -> list[dict]:
    """Return the history, and what the page of today says where that is in no commit of it."""
    kept = json.loads((root / _KEPT).read_text(encoding="utf-8"))
    made = figures((root / _PAGE).read_text(encoding="utf-8"))
    return kept if made == kept[-1]["figures"] else [
        *kept, {"commit": "next", "date": "", "figures": made}]


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/benchmarks.md; arguments and result as of `pages.page.write_page`."""
    kept = read(root or _ROOT)
    return (write_page("benchmarks.md", lambda page: benchmarks_page(kept), argv, root)
            | write_page("benchmarks.svg", lambda page: picture(kept), argv, root))


if __name__ == "__main__":
    (_ROOT / _KEPT).write_text(json.dumps(history(), indent=1) + "\n", encoding="utf-8")
    sys.exit(main([]))
