"""The table of the README: every figure with the command that makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from celosia.bench.measure import Measurement

__all__ = ["ROWS", "Row", "markdown", "rows"]


@dataclass(frozen=True)
class Row:
    """A line of the table: arguments of ``celosia bench``."""

    arguments: str

    @property
    def command(self) -> str:
        """The command that makes the line."""
        return f"celosia bench {self.arguments}"


def _rows() -> Iterator[Row]:
    for fmt in ("int8", "bf16"):
        for size in (64, 100, 128, 256, 512):
            yield Row(f"gemm --preset core --format {fmt} --m {size} --k {size} --n {size}")
        for option in ("--transpose-b", "--transpose-a"):
            yield Row(f"gemm --preset core --format {fmt} --m 256 --k 256 --n 256 {option}")
        yield Row(f"mlp --preset core --format {fmt} --batch 128")
        yield Row(f"gemm --preset core --format {fmt} --m 512 --k 512 --n 512 --epilogue")
    yield Row("gemm --preset core --format int8 --m 256 --k 256 --n 256 --output int8")
    yield Row("gemm --preset edge --format int8 --m 256 --k 256 --n 256")
    yield Row("mlp --preset edge --format int8 --batch 64")
    yield Row("gemm --preset nano --format int8 --m 64 --k 64 --n 64")
    yield Row("mlp --preset nano --format int8 --batch 16")


ROWS: tuple[Row, ...] = tuple(_rows())


def rows(presets: Iterable[str] | None = None) -> list[Row]:
    """Return the lines for some presets; all for None."""
    wanted = None if presets is None else set(presets)
    return [row for row in ROWS
            if wanted is None or row.arguments.split("--preset ")[1].split()[0] in wanted]


def markdown(measured: Iterable[tuple[Row, Measurement]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, as they are measured."""
    yield ("| chip | format | workload | cycles | ideal | utilisation | bit for bit "
           "| simulated cycles/s | command |")
    yield "|---|---|---|---:|---:|---:|---|---:|---|"
    for row, m in measured:
        exact = {True: "yes", False: "**NO**", None: "not checked"}[m.bit_exact]
        yield (f"| {m.preset} | {m.format} | {m.workload} | {m.cycles:,} | {m.ideal_cycles:,} "
               f"| {m.utilisation:.1%} | {exact} | {m.cycles_per_second:,.0f} "
               f"| `{row.command}` |")
