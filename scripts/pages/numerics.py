"""Makes docs/numerics.md: how the chip rounds, and the measured errors of its functions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pages import accuracy
from pages.accuracy.kernels import HARDWARE, LIBRARY, POINTS, Case, measure
from pages.page import write_page

__all__ = ["is_fresh", "main", "numerics_page"]

_ROOT = Path(__file__).parents[2]
#: What the numbers on the page depend on; of a folder all modules.
_SOURCES = (
    "scripts/pages/accuracy", "scripts/pages/numerics.py", *(f"sw/celosia/{name}" for name in (
        "arch/numerics.py", "arch/special.py", "arch/vector.py", "compiler/kernels",
        "compiler/levels.py", "compiler/passes/elementwise.py", "compiler/selection",
        "frontend/stablehlo/elementwise.py", "model/fast/lanes.py", "model/fast/numerics.py",
        "model/fast/special.py", "model/lanes.py")))
#: Elements of each function of a program.
_ELEMENTS = 1 << 16
_DIGEST = "Digest of the sources and of this page: "

_INTRO = """\
# Numerics

Made by `scripts/docs`, which measures everything below in about two minutes and needs jax; edit
`numerics.py` and `accuracy/` in `scripts/pages/`, not this page. `scripts/docs --check` compares
the digest at the end with the sources, and the slow tests measure again.

## Rounding

The chip's arithmetic, exactly, is `sw/celosia/arch/numerics.py` and `special.py` there; the RTL
equals them bit for bit.

- fp32 results round to nearest, ties to even, once: the product of a multiply-add is exact.
- Subnormal numbers are zeros of their sign, on the way in and on the way out. A result is flushed
  when, rounded to 24 bits with an unbounded exponent, it is below 2\\*\\*-126.
- Every NaN that an operation makes is 0x7fc00000. `mov`, `fabs`, `fneg`, `select` and the
  operations on bits change no bit but those that they name.
- Comparisons are those of IEEE 754: with NaN only `fne` holds, and -0 equals +0. `fmax` and
  `fmin` give NaN if either operand is one, and put -0 below +0.
- bf16 is the upper half of an fp32; fp32 rounds to it to nearest even. fp32 becomes int32 by
  rounding to nearest even, down or towards zero, saturating, NaN becomes 0; int32 becomes fp32 to
  nearest even. int32 becomes int8 by saturation. int32 sums and products wrap.
- Sums over rows add in order; sums over lanes add lanes 2i and 2i + 1, then pairs of those, and
  so on. Matrix products add in order of depth.
"""

_ERRORS = """\
Errors are against float64 (`sin`, `cos` and `power`: against the machine's long double) in units
in the last place of fp32, the largest of all arguments tried; results that are subnormal or
overflow have no error. "All of" is every fp32 from the one number to the other; a sample is
{points:,} arguments, seed 0, evenly spread over a range that is given as one, over all binades
from 2\\*\\*-126 where it says "all" or "about 0". Instructions are cycles per row of D elements.
Stated is the bound that the tests hold.
"""

_LIBRARY = """\
`celosia.compiler.kernels.functions`, `inverses` and `error_functions`. Zeros, infinities and NaN
give what IEEE 754 and C say (and NumPy does) for float32. Subnormal arguments are zeros (so `log`
of one is -inf, and division by one infinite), and subnormal results are zeros. Beyond 1e4, `sin`
and `cos` lose digits; beyond 1e7 they are some number from -1 to 1.
"""

_PROGRAMS = """\
What compiled programs compute: operations of graphs ([graph.md](graph.md)) and functions of JAX,
each compiled alone by `celosia.jit` (`scripts/pages/accuracy/`); through JAX's plugin they hold the
same bounds. The default holds the stated bounds; of the other columns is the option `fast=True`.
Each has {elements:,} arguments, seed 0: zeros, infinities, NaN,
the ends of the range; all binades of both signs; numbers about 1 and -1 and where the function is
hard. The reference is long double, or float64 where that is enough.

An error is in ULP of the exact result. Zeros, infinities and NaN, and their signs, are held too:
they are what IEEE 754 and C say (and for a composed function, what its formula gives) wherever the
bound is stated. Subnormal arguments are zeros, subnormal results are zeros of their sign, and what
rounds beyond the range is infinite; a finite result is infinite or a zero only where it is as close
to the end of the range as the bound. Where a bound is wide, JAX composes the function of others
that round, and is as far off on a CPU; the note says how. What `fast` gives up: the share of
these arguments that are off by more than the bound that is stated for the default, the worst of
them, and a zero, infinity or NaN that is wrong.

Operations that are made together round less often than one by one (`merge=False` among the options
makes them so, bit for bit those of the graph):

- a sum takes a product in, which then is not rounded; constants that are multiplied one after the
  other are one, and constants that are added where their sum is exact;
- c * x\\*\\*2 for a constant c is (sqrt(c) * x)\\*\\*2: off by 2.5 ULP, not by 1;
- a quotient is multiplied by one number of its numerator last where a sum takes that product in,
  as in w - rate * m / (sqrt(v) + eps): the step overflows, or vanishes, where
  m / (sqrt(v) + eps) does, and is NaN where that is infinite and the rate 0;
- `tanh` is 1 - 2 / (e\\*\\*(2 x) + 1), off by 2\\*\\*-22 of 1, where all that uses it are sums
  with constants from 0.5 on, as in GELU.

`celosia report` says of each such short form why it was taken. Zeros may lose their sign in a sum
or difference that was merged.
"""


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("*", "\\*") for cell in row) + " |"
    yield ""


def _up(value: float, digits: int = 4) -> str:
    """Return a number rounded up."""
    return f"{math.ceil(value * 10**digits) / 10**digits:.{digits}f}"


def _row(case: Case) -> Sequence[object]:
    worst = measure(case)
    where = ", ".join(f"{name} = {value:.9g}" for name, value in zip(
        (taken.source for taken in case.kernel.inputs), worst.arguments, strict=True))
    return (f"`{case.name}`", case.domain, _up(worst.error), f"<= {case.bound:g}", where,
            case.kernel.cost, case.how)


def _ulp(error: float) -> str:
    """Return an error as the page has it."""
    return "> 1e6" if error > 1e6 else f"{error:.3g}" if error > 1e4 else _up(error)


def _at(arguments: Iterable[float]) -> str:
    return ", ".join(f"{value:.9g}" for value in arguments)


def _result(point: accuracy.Point) -> str:
    exact = point.exact
    if abs(exact) >= 2.0**128:  # as float32 has it
        exact = math.copysign(math.inf, exact)
    return f"of {_at(point.arguments)} it is {point.result:.9g}, not {exact:.9g}"


def _program(case: accuracy.Case) -> Sequence[object]:
    found, fast = (accuracy.measure(case, _ELEMENTS, options={"fast": fast})
                   for fast in (False, True))
    notes = [case.notes] if case.notes else []
    if found.wrong:
        notes.append(f"wrong: {_result(found.wrong)}")
    lost = []
    if fast.error > case.bound:
        lost.append(f"{_up(100 * fast.beyond, 2)} %")
    if fast.worst.error > case.bound:
        lost.append(_result(fast.worst))
    if fast.wrong:
        lost.append(_result(fast.wrong))
    return (f"`{case.name}`", _ulp(found.worst.error), f"<= {case.bound:g}",
            _at(found.worst.arguments) if found.worst.error else "", "; ".join(notes),
            _ulp(fast.worst.error), "; ".join(lost))


_PROGRAM_HEAD = ("function", "max ULP", "stated", "at", "where, and why", "fast: max ULP",
                 "fast gives up")
_HEAD = ("function", "domain", "max ULP", "stated", "at", "instructions", "measured over")


def _lines() -> Iterator[str]:
    yield _INTRO
    yield "## Functions of the hardware"
    yield ""
    yield ("Second stages of a vector instruction: a quadratic in each of 128 segments, one "
           "rounding at the end.")
    yield ""
    yield from _ERRORS.format(points=POINTS).splitlines()
    yield ""
    yield from _table(_HEAD, map(_row, HARDWARE))
    yield "## Functions of the library"
    yield ""
    yield _LIBRARY
    yield from _table(_HEAD, map(_row, LIBRARY))
    yield "## Functions as programs have them"
    yield ""
    yield from _PROGRAMS.format(elements=_ELEMENTS).splitlines()
    yield ""
    yield from _table(_PROGRAM_HEAD, map(_program, accuracy.CASES))


def _digest(page: str) -> str:
    """Return the digest of the sources and of a page up to its last line."""
    made = hashlib.sha256(page.encode())
    for name in _SOURCES:
        path = _ROOT / name
        for source in sorted(path.glob("*.py")) if path.is_dir() else (path,):
            made.update(source.read_text(encoding="utf-8").encode())
    return made.hexdigest()[:16]


def numerics_page() -> str:
    """Measure, and return docs/numerics.md."""
    page = "\n".join(_lines()).rstrip() + "\n\n"
    return f"{page}{_DIGEST}`{_digest(page)}`.\n"


def is_fresh(page: str) -> bool:
    """Whether a page is as it was made, and from the sources that there are."""
    body, _, rest = page.partition(_DIGEST)
    return rest == f"`{_digest(body)}`.\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/numerics.md; arguments and result are those of `pages.page.write_page`."""
    return write_page("numerics.md", lambda _: numerics_page(), argv, root, is_fresh)
