"""Makes the waves and the moving picture of the array in docs/tutorials/how-it-works.md, of a
record of Amaranth's simulation of it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from amaranth.sim import Simulator

from celosia.arch.config import preset
from celosia_hw.mxu.array import SystolicArray
from pages.page import between, write_page

__all__ = ["ACTS", "CYCLES", "WEIGHTS", "main", "moving", "record", "waves"]

_MARKS = ("<!-- waves: written by scripts/docs -->\n", "<!-- end of waves -->\n")
#: A tile of weights, W[k][n], and rows of activations that follow it.
WEIGHTS = np.arange(1, 17).reshape(4, 4)
ACTS = np.array([[1, 2, 3, 4], [10, 20, 30, 40], [-1, 0, 1, 0]])
CYCLES = 18
#: The cycle of the swap, and with it of the first row.
_SWAP = 4
_CELL, _EDGE, _SECONDS = 96, 34, 1.2


def _lanes(values: Sequence[int] | np.ndarray, bits: int) -> int:
    return sum((int(value) & (1 << bits) - 1) << bits * i for i, value in enumerate(values))


def record() -> dict[str, list[int]]:
    """Return the values of signals in each cycle: pins of the array, and registers of its elements,
    ``element_k_n.act`` and so on.
    """
    config = preset("nano")
    array = SystolicArray(config)

    async def bench(ctx):
        for cycle in range(CYCLES):
            row = 3 - cycle  # the last row of the tile first: any order will do
            ctx.set(array.i_weights_valid, 0 <= row)
            ctx.set(array.i_weights, _lanes(WEIGHTS[row], 8) if row >= 0 else 0)
            ctx.set(array.i_weights_row, max(row, 0))
            ctx.set(array.i_swap, cycle == _SWAP)
            at = cycle - _SWAP
            ctx.set(array.i_acts, _lanes(ACTS[at], 8) if 0 <= at < len(ACTS) else 0)
            await ctx.tick()

    simulator = Simulator(array)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    file = io.StringIO()
    with simulator.write_vcd(file):
        simulator.run()
    return _parsed(file.getvalue())


def _parsed(text: str) -> dict[str, list[int]]:
    """Return the value of each signal at the end of each cycle, of a VCD file."""
    names: dict[str, list[str]] = {}
    scope: list[str] = []
    values: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    head, _, body = text.partition("$enddefinitions")
    for line in head.splitlines():
        words = line.split()
        if words[:1] == ["$scope"]:
            scope.append(words[2])
        elif words[:1] == ["$upscope"]:
            scope.pop()
        elif words[:1] == ["$var"]:
            path = [part for part in scope if part not in ("bench", "top")]
            names.setdefault(words[3], []).append(".".join([*path, words[4]]))
    for line in body.splitlines():
        match = re.fullmatch(r"b([01]+) (\S+)|([01])(\S+)", line)
        if not match:
            continue
        value, changed = int(match[1] or match[3], 2), names.get(match[2] or match[4], [])
        if "clk" in changed and value:  # what a cycle has settled to, just before its end
            for name, before in values.items():
                found.setdefault(name, []).append(before)
        values |= dict.fromkeys(changed, value)
    return {name: each[-CYCLES:] for name, each in found.items()}


def _signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


def _runs(values: Sequence[str]) -> tuple[str, list[str]]:
    """Return the wave and the data of words, "" where there is nothing to show."""
    wave, data, before = "", [], None
    for value in values:
        wave += "." if value == before else "x" if not value else "3"
        if value and value != before:
            data.append(value)
        before = value
    return wave, data


def waves(seen: dict[str, list[int]]) -> str:
    """Return the pins of the array, cycle by cycle, as WaveDrom."""
    rows = []
    for at in range(CYCLES):
        k = 3 - at
        rows.append(f"W[{k}]" if k >= 0 else "")
    acts = [f"a{at - _SWAP}" if 0 <= at - _SWAP < len(ACTS) else "" for at in range(CYCLES)]
    sums, exact = [], ACTS @ WEIGHTS
    for at in range(CYCLES):
        made = [_signed(seen["o_sums"][at] >> n * _sum_bits(seen) & (1 << _sum_bits(seen))
                        - 1, _sum_bits(seen)) for n in range(4)]
        row = next((i for i, each in enumerate(exact) if list(each) == made), None)
        sums.append("" if row is None else f"a{row} W")
    swap = "".join("1" if at == _SWAP else "0" if at in (0, _SWAP + 1) else "."
                   for at in range(CYCLES))
    lines = [("i_weights", *_runs(rows)), ("i_swap", swap, []), ("i_acts", *_runs(acts)),
             ("o_sums", *_runs(sums))]
    text = ['{signal: [', f'  {{name: "clk", wave: "p{"." * (CYCLES - 1)}"}},']
    for name, wave, data in lines:
        labels = f', data: [{", ".join(f"{chr(34)}{each}{chr(34)}" for each in data)}]'
        text.append(f'  {{name: "{name}", wave: "{wave}"{labels if data else ""}}},')
    text[-1] = text[-1].rstrip(",")
    return "\n".join(["```wavedrom", *text, "]}", "```"]) + "\n"


def _sum_bits(seen: dict[str, list[int]]) -> int:
    from celosia_hw.mxu.pe import sum_bits

    return sum_bits(preset("nano"))


def moving(seen: dict[str, list[int]]) -> str:
    """Return the elements with their weight, activation and sum, one cycle after another."""
    size, total = 4 * _CELL + 2 * _EDGE, CYCLES * _SECONDS
    parts = [('<svg xmlns="http://www.w3.org/2000/svg" font-family="monospace" font-size="15" '
              f'role="img" viewBox="0 0 {size} {size}" width="{size}">'),
             '<title>Weights go down and stay, activations go right, sums go down</title>',
             f'<rect width="{size}" height="{size}" fill="#fff"/>']
    for k in range(4):
        for n in range(4):
            parts.append(f'<rect x="{_EDGE + n * _CELL}" y="{_EDGE + k * _CELL}" '
                         f'width="{_CELL - 8}" height="{_CELL - 8}" rx="6" fill="#eef3f0" '
                         'stroke="#1a7f4b"/>')
    for cycle in range(CYCLES):
        start, end = cycle / CYCLES, (cycle + 1) / CYCLES
        shown = "visible" if cycle == CYCLES - 1 else "hidden"
        parts.append(f'<g visibility="{shown}"><animate attributeName="visibility" '
                     f'values="hidden;visible;hidden" keyTimes="0;{start:.4f};{end:.4f}" '
                     f'dur="{total:.1f}s" calcMode="discrete" repeatCount="indefinite"/>')
        parts.append(f'<text x="{_EDGE}" y="22">cycle {cycle}</text>')
        for k in range(4):
            for n in range(4):
                x, y = _EDGE + n * _CELL + 8, _EDGE + k * _CELL + 24
                for i, (name, bits, colour) in enumerate((
                        ("current", 8, "#333"), ("act_o", 8, "#2c63c9"),
                        ("sum_o", _sum_bits(seen), "#1a7f4b"))):
                    value = _signed(seen[f"elements.element_{k}_{n}.{name}"][cycle], bits)
                    weight = ' font-weight="bold"' if value else ""
                    parts.append(f'<text x="{x}" y="{y + 24 * i}" fill="{colour}"{weight}>{value}'
                                 '</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write both; arguments and result as of `pages.page.write_page`."""
    seen = record()
    return (write_page("tutorials/how-it-works.md",
                       lambda page: between(page, _MARKS, waves(seen)), argv, root)
            | write_page("tutorials/array.svg", lambda page: moving(seen), argv, root))
