"""How fast this checkout is beside another commit of it, on one machine, run by turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from celosia.bench.compiled import PROGRAMS

__all__ = ["FEWEST_RUNS", "JOBS", "BenchJob", "Side", "SpeedMeasurement", "command",
           "measure_speed", "other_commit", "speed_lines", "this_checkout"]

#: A median of fewer runs is none.
FEWEST_RUNS = 5
#: Seconds after which a run has hung.
_TIMEOUT = 1800
_MEASURED = Path(__file__).with_name("measured.py")


@dataclass(frozen=True)
class Side:
    """A checkout that is measured.

    Attributes
    ----------
    commit
        Short, with " and changes" where files differ from it.
    root
        Its folder.
    cache
        A folder for what it compiles: not that of the user, and not that of the other side.
    """

    commit: str
    root: Path
    cache: Path


@dataclass(frozen=True)
class BenchJob:
    """A process that measures, and what it prints as JSON.

    Attributes
    ----------
    what
        For people.
    words
        Arguments of ``celosia``, or of measured.py where the first one is ``measured``.
    units
        Of the figures that are taken of it, by their names there.
    once
        What it counts is always the same: one run is enough.
    cold
        Each run begins with nothing compiled, and the figure is its own seconds.
    needs
        A package that it cannot do without.
    """

    what: str
    words: tuple[str, ...]
    units: Mapping[str, str]
    once: bool = False
    cold: bool = False
    needs: str = ""


def _bench(*words: str) -> tuple[str, ...]:
    return ("bench", *words, "--json", "--no-check")


def _compiled(name: str, backend: str) -> tuple[str, ...]:
    return _bench("compiled", "--backend", backend, "--name", name)


def _jobs() -> Iterator[tuple[str, BenchJob]]:
    seconds = {"seconds": "s"}
    for name in ("mlp-adam", "mlp-forward"):
        yield f"rtl-{name}", BenchJob(f"RTL of core, {name}", _compiled(name, "rtl"),
                                      {"rate": "cycles/s"})
    yield "rtl-wait", BenchJob(
        "RTL of core, all units wait for memory, against the same chip computing",
        ("measured", "waits"), {"share": "of its rate"})
    for preset in ("edge", "nano"):
        size = ("--m", "128", "--k", "128", "--n", "128")
        yield f"rtl-{preset}", BenchJob(
            f"RTL of {preset}, a product of 128 x 128 x 128",
            _bench("gemm", "--preset", preset, *size), {"cycles_per_second": "cycles/s"})
    yield "build", BenchJob(
        "first build of core's simulator, cold, and a small run",
        _bench("gemm", "--m", "16", "--k", "16", "--n", "16"), seconds, cold=True)
    for name in ("mlp-adam", "convolution", "int8-forward"):
        yield f"model-{name}", BenchJob(
            f"golden model, {name}", ("measured", "model", str(PROGRAMS[name].path)),
            {"first": "s, first run", "again": "s, again"}, needs="jaxlib")
    yield "keras", BenchJob("a training step of 784-512-10 in Keras on the golden model",
                            ("measured", "keras"), seconds, needs="keras")
    yield "info", BenchJob("celosia info", ("info", "--json"), seconds)
    yield "import", BenchJob("import celosia", ("measured", "import"), seconds)
    for name in ("transformer-sgd", "mlp-adam"):
        yield f"compile-{name}", BenchJob(
            f"compile {name}", ("measured", "compile", str(PROGRAMS[name].path)), seconds,
            needs="jaxlib")
    yield "layers", BenchJob("compile 2, 4, 8, 16 layers: the dearest doubling",
                             ("measured", "layers"), {"doubling": "times"}, needs="jaxlib")
    yield "jit", BenchJob("jax.jit of a product of 64 x 64 on the golden model, a call",
                          ("measured", "jit"), seconds, needs="jax")
    for name in ("transformer-sgd", "lstm-sgd", "convolution"):
        yield f"cycles-{name}", BenchJob(
            f"{name} on the RTL", _compiled(name, "rtl"),
            {"cycles": "cycles", "utilisation": "of the array"}, once=True)


#: Runs a job on a side and returns its figures.
BenchRun = Callable[[BenchJob, Side], dict[str, float]]
#: By name, in the order in which they run.
JOBS: dict[str, BenchJob] = dict(_jobs())


@dataclass(frozen=True)
class SpeedMeasurement:
    """A figure of both sides.

    Attributes
    ----------
    name
        Of `JOBS`.
    here, there
        Medians, of this checkout and of the other commit; None where a side cannot say it.
    ratio
        here / there.
    here_runs, there_runs
        Each run, in their order: they took turns.
    note
        Why a side cannot say it.
    """

    name: str
    what: str
    unit: str
    here: float | None
    there: float | None
    ratio: float | None
    here_commit: str
    there_commit: str
    here_runs: list[float] = field(default_factory=list)
    there_runs: list[float] = field(default_factory=list)
    note: str = ""


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True,
                              timeout=_TIMEOUT)
    except FileNotFoundError:
        raise ValueError("bench speed must have git on PATH, there is none") from None


def this_checkout() -> Path:
    """Return the folder of the git checkout that this file is in.

    Raises
    ------
    ValueError
        If it is in none, as where the package was installed.
    """
    root = Path(__file__).resolve().parents[3]
    found = _git(root, "rev-parse", "--show-toplevel")
    if found.returncode or Path(found.stdout.strip()).resolve() != root:
        raise ValueError(f"bench speed must be run in a git checkout of the project, {root} is "
                         f"none")
    return root


@contextmanager
def other_commit(root: Path, revision: str) -> Iterator[tuple[Side, Side]]:
    """Yield this checkout as it is and a clone at ``revision``, in a folder that is removed.

    Raises
    ------
    ValueError
        If the revision is none of the checkout's, or cannot be cloned.
    """
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                 f"{revision}^{{commit}}")
    if found.returncode:
        raise ValueError(f"--against must be a revision of the checkout {root}, not {revision!r}")
    commit = found.stdout.strip()
    head = _git(root, "rev-parse", "--short", "HEAD").stdout.strip()
    changes = bool(_git(root, "status", "--porcelain", "--untracked-files=no").stdout.strip())
    with tempfile.TemporaryDirectory(prefix="celosia-speed-") as name:
        folder = Path(name)
        clone = folder / "there"
        for words in (("clone", "--quiet", "--shared", "--no-checkout", str(root), str(clone)),
                      ("-C", str(clone), "checkout", "--quiet", "--detach", commit)):
            made = _git(root, *words)
            if made.returncode:
                raise ValueError(f"--against must be a revision that git can clone, but "
                                 f"{revision}: {made.stderr.strip()}")
        if not (clone / "sw" / "celosia").is_dir():
            raise ValueError(f"--against must be a revision with sw/celosia, {revision} has none")
        short = _git(clone, "rev-parse", "--short", "HEAD").stdout.strip()
        yield (Side(head + " and changes" * changes, root, folder / "cache-here"),
               Side(short, clone, folder / "cache-there"))


def command(job: BenchJob) -> list[str]:
    """Return the command of a job's process."""
    # -P: the modules of the bench that lie beside measured.py are nobody else's.
    return [sys.executable, "-P"] + ([str(_MEASURED), *job.words[1:]]
                                     if job.words[0] == "measured"
                                     else ["-m", "celosia", *job.words])


def run_job(job: BenchJob, side: Side) -> dict[str, float]:
    """Run a job on a side; return its figures.

    Raises
    ------
    RuntimeError
        If it fails, or prints no such figures: the last line of what it says.
    """
    paths = [str(side.root / name) for name in ("sw", "hw", "sim")]
    with tempfile.TemporaryDirectory(prefix="celosia-cold-") as cold:
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths),
                           CELOSIA_CACHE=cold if job.cold else str(side.cache))
        begin = time.perf_counter()
        try:
            done = subprocess.run(command(job), env=environment, capture_output=True, text=True,
                                  timeout=_TIMEOUT, cwd=side.root)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"a run must end within {_TIMEOUT} s, it did not") from None
        seconds = time.perf_counter() - begin
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(said[-1])
    if set(job.units) == {"seconds"} and job.words[0] != "measured":
        return {"seconds": seconds}
    found = json.loads(done.stdout)
    found = found[0] if isinstance(found, list) else found
    if "rate" in job.units:
        found["rate"] = found["cycles"] / found["host_seconds"]
    return {key: float(found[key]) for key in job.units}


def _runs(job: BenchJob, sides: Sequence[Side], runs: int, run: BenchRun
          ) -> tuple[list[list[dict[str, float]]], str]:
    """Run a job on both sides by turns; which is first changes from turn to turn."""
    found: list[list[dict[str, float]]] = [[], []]
    failed: dict[int, str] = {}
    for turn in range(1 if job.once else runs):
        for i in ((0, 1) if turn % 2 == 0 else (1, 0)):
            if i in failed:
                continue
            try:
                found[i].append(run(job, sides[i]))
            except (RuntimeError, KeyError, ValueError) as error:
                failed[i] = f"{sides[i].commit}: {error}"
                found[i] = []
    return found, "; ".join(failed.values())


def measure_speed(sides: tuple[Side, Side], names: Sequence[str], runs: int,
                  run: BenchRun = run_job) -> Iterator[SpeedMeasurement]:
    """Measure jobs on both sides; yield each figure as soon as it is known.

    Raises
    ------
    ValueError
        If there are too few runs for a median.
    """
    if runs < FEWEST_RUNS:
        raise ValueError(f"--runs must be at least {FEWEST_RUNS}, not {runs}")
    for name in names:
        job = JOBS[name]
        if job.needs and find_spec(job.needs) is None:
            found, note = [[], []], f"{job.needs} is not installed"
        else:
            found, note = _runs(job, sides, runs, run)
        for key, unit in job.units.items():
            values = [[each[key] for each in side] for side in found]
            here, there = (statistics.median(side) if side else None for side in values)
            yield SpeedMeasurement(
                name, job.what, unit, here, there,
                here / there if here is not None and there else None,
                sides[0].commit, sides[1].commit, values[0], values[1], note)


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def speed_lines(measured: Iterator[SpeedMeasurement]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, as they are measured."""
    first = True
    for m in measured:
        if first:
            yield (f"| | unit | {m.here_commit} | {m.there_commit} | ratio | runs, lowest to "
                   f"highest | row |")
            yield "|---|---|---:|---:|---:|---|---|"
            first = False
        spread = "; ".join(f"{_shown(min(runs))}..{_shown(max(runs))}" if runs else "-"
                           for runs in (m.here_runs, m.there_runs))
        ratio = "-" if m.ratio is None else f"{m.ratio:.3f}"
        count = max(len(m.here_runs), len(m.there_runs))
        yield (f"| {m.what} | {m.unit} | {_shown(m.here)} | {_shown(m.there)} | {ratio} "
               f"| {m.note or f'{count}: {spread}'} | `{m.name}` |")
