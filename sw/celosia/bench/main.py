"""Arguments of ``celosia bench``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.latency import Latency, parse_latency
from celosia.bench.boards import BoardMeasurement, board_mlp, board_table, board_training
from celosia.bench.boards import lines as board_lines
from celosia.bench.boards import report as board_report
from celosia.bench.collectives import OPS, measure_collective
from celosia.bench.collectives import lines as collective_lines
from celosia.bench.compiled import PROGRAMS, CompiledMeasurement, lines, measure_compiled
from celosia.bench.measure import Measurement, Workload, gemm, measure, mlp
from celosia.bench.plan import Rates, measure_rates, plan, plan_lines
from celosia.bench.pod import curve, curve_lines, measure_pod
from celosia.bench.pod import report as pod_report
from celosia.bench.simulation import measure_simulation, simulation_lines
from celosia.bench.speed import (
    FEWEST_RUNS,
    JOBS,
    measure_speed,
    other_commit,
    speed_lines,
    this_checkout,
)
from celosia.bench.table import Row, markdown, rows
from celosia.bench.training import TrainingMeasurement, report, training
from celosia.bench.vector import VectorMeasurement, vector_unit
from celosia.bench.vector import lines as vector_lines
from celosia.collectives import Topology
from celosia.driver.backends import SIMULATED
from celosia.ops.formats import OUTPUTS
from celosia.storage.destination import check_file
from celosia.train import Classifier

__all__ = ["add_arguments"]

_T = TypeVar("_T")
#: What a board can be measured at.
_ON_BOARDS = ("mlp", "train", "table")

_EPILOG = """\
examples:
  celosia bench gemm --preset core --format bf16 --m 256 --k 256 --n 256
  celosia bench mlp --preset core --format int8 --batch 128 --json
  celosia bench train --preset core --batch 128  a step of training, and where its cycles go
  celosia bench mlp --board ulx3s                images/s of a board, simulated at its pins
  celosia bench vector --preset core             rows a cycle of every operation
  celosia bench compiled --name convolution      programs compiled from JAX
  celosia bench collectives --topology 8 --bytes 65536 262144
  celosia bench pod --topology 4x4 --net 784-512-10 --batch 128
  celosia bench pod --curve --backend model                a scaling curve: 1 to 64 chips
  celosia bench pod --plan --topology 64x64 --boards 256   what 4,096 chips would need
  celosia bench simulation --topology 8x8        how fast chips are simulated
  celosia bench speed --against HEAD~10          this checkout beside another commit of it
  celosia bench table                            every line of docs/performance.md's table

Operands and results lie in external memory; cycles count from the doorbell to the interrupt.
"""


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, not {text}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be an integer of at least 0, not {text}")
    return int(text)


def _sizes(text: str) -> tuple[int, ...]:
    values = tuple(_positive(part) for part in text.split("-"))
    if len(values) < 2:
        raise argparse.ArgumentTypeError(f"must be sizes such as 784-512-10, not {text!r}")
    return values


def _chance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to below 1, not {text}")
    return value


def _latency(text: str) -> Latency:
    try:
        return parse_latency(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _topology(text: str) -> Topology:
    try:
        return Topology.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("topology ")) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = _EPILOG
    parser.set_defaults(run=_main)
    parser.add_argument("what", choices=("gemm", "mlp", "train", "vector", "compiled",
                                         "collectives", "pod", "simulation", "speed", "table"),
                        help="a matrix product, a network of dense layers, a training step in "
                             "bf16, every instruction of the vector unit, programs compiled from "
                             "JAX, collective operations of chips that links connect, a "
                             "training step of them beside that of one, how fast they are "
                             "simulated, how long everything takes beside another commit, or "
                             "docs/performance.md's table")
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help=f"chip: {', '.join(PRESETS)} (default: core; table: all)")
    parser.add_argument("--backend", choices=SIMULATED, default="rtl",
                        help="rtl: Verilator (default); model: cycles are an estimate; cocotb")
    parser.add_argument("--board", metavar="BOARD",
                        help="mlp, train, table: a board such as ulx3s, simulated at its pins, the "
                             "driver behind its serial line (default: a chip by itself)")
    parser.add_argument("--format", choices=list(OUTPUTS),
                        help="of the operands (default: the chip's first)")
    for name in "mkn":
        parser.add_argument(f"--{name}", type=_positive, default=256, metavar="SIZE",
                            help=f"gemm: {name.upper()} (default: 256)")
    parser.add_argument("--transpose-a", action="store_true", help="gemm: a is stored (k, m)")
    parser.add_argument("--transpose-b", action="store_true", help="gemm: b is stored (n, k)")
    parser.add_argument("--epilogue", action="store_true",
                        help="gemm: scale, bias and relu, results of the operands' type")
    parser.add_argument("--output", choices=("int32", "int8", "float32", "bfloat16"),
                        help="gemm: type of the result (default: the raw sums)")
    parser.add_argument("--layers", "--net", type=_sizes, default=(784, 512, 10), metavar="N-N-N",
                        help="mlp, train, pod: sizes of the layers (default: 784-512-10)")
    parser.add_argument("--batch", type=_positive, default=128, metavar="ROWS",
                        help="mlp, train, pod: rows, of each chip (default: 128)")
    parser.add_argument("--rows", type=_positive, default=1024, metavar="ROWS",
                        help="vector: rows of each instruction (default: 1024)")
    parser.add_argument("--name", action="append", choices=list(PROGRAMS), metavar="NAME",
                        help=f"compiled: one of {', '.join(PROGRAMS)}; may be repeated "
                             f"(default: all)")
    parser.add_argument("--topology", type=_topology, default="8", metavar="NxN",
                        help="collectives, pod, simulation: chips in a ring or torus, such as "
                             "4x4 (default: 8)")
    parser.add_argument("--op", nargs="+", choices=list(OPS), default=["all_reduce"], metavar="OP",
                        help=f"collectives: some of {', '.join(OPS)} (default: all_reduce)")
    parser.add_argument("--bytes", nargs="+", type=_positive, default=[65536], metavar="BYTES",
                        help="collectives: payloads of a chip (default: 65536)")
    parser.add_argument("--latency", type=_latency, default=64, metavar="CYCLES",
                        help="collectives, pod: of each link, such as 64, or 1..300: each has some "
                             "of these, by the seed (default: 64)")
    parser.add_argument("--ber", type=_chance, default=0.0, metavar="CHANCE",
                        help="collectives, pod: of a bit on a line to be turned (default: 0)")
    parser.add_argument("--curve", action="store_true",
                        help="pod: of 1 to 64 chips, with --batch rows of each, and with 16 times "
                             "as many of all")
    parser.add_argument("--plan", action="store_true",
                        help="pod: what one of --topology would need on --boards processors, from "
                             "what small ones are measured to need")
    parser.add_argument("--boards", type=_positive, default=1, metavar="N",
                        help="pod: of a --plan, each a processor (default: 1)")
    parser.add_argument("--against", metavar="REV",
                        help="speed: a git revision of this checkout, which is cloned into a "
                             "temporary folder")
    parser.add_argument("--row", action="append", choices=list(JOBS), metavar="ROW",
                        help=f"speed: one of {', '.join(JOBS)}; may be repeated (default: all)")
    parser.add_argument("--runs", type=_positive, default=FEWEST_RUNS, metavar="N",
                        help="speed: of each row on each side, by turns, whose medians are "
                             f"compared (default: {FEWEST_RUNS}, the fewest)")
    parser.add_argument("--fast", action="store_true",
                        help="compiled: functions may be shorter and less exact than "
                             "docs/numerics.md bounds them")
    parser.add_argument("--seed", type=_seed, default=0, help="of the random operands (default: 0)")
    parser.add_argument("--no-check", action="store_true",
                        help="do not compare with NumPy and the golden model")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", type=Path, metavar="FILE", help="table: write JSON here too")


def _workload(args: argparse.Namespace, config: TpuConfig) -> Workload:
    fmt = args.format or config.formats[0]
    if args.what == "mlp":
        return mlp(config, args.layers, args.batch, fmt, args.seed)
    return gemm(config, args.m, args.k, args.n, fmt, transpose_a=args.transpose_a,
                transpose_b=args.transpose_b, epilogue=args.epilogue, output=args.output,
                seed=args.seed)


def _measure(args: argparse.Namespace) -> Measurement:
    config = preset(args.preset or "core")
    return measure(config, args.backend, _workload(args, config), check=not args.no_check)


def _show(m: Measurement | TrainingMeasurement) -> None:
    estimate = " (an estimate)" if m.backend == "model" else ""
    if isinstance(m, Measurement):
        others = "NumPy and to the golden model", "NumPy or the golden model"
        more = (("ideal", f"{m.ideal_cycles:,} cycles"),
                ("utilisation", (f"{m.utilisation:.2%} of the ideal, {m.mac_utilisation:.2%} of "
                                 f"the array's multipliers")))
    else:
        others = "the golden model", "the golden model"
        more = (("MXU busy", f"{m.mxu_busy:.2%} of all cycles"), ("loss", f"{m.loss:.4f}"))
    exact = {True: f"equal, bit for bit, to {others[0]}, on-chip memories too",
             False: f"DIFFERENT from {others[1]}", None: "not checked"}[m.bit_exact]
    for name, text in (
        ("workload", f"{m.workload}, {m.format}, on {m.preset} ({m.backend})"),
        ("cycles", f"{m.cycles:,}{estimate}, {m.instructions:,} instructions"),
        *more,
        ("result", exact),
        ("host", f"{m.host_seconds:.2f} s, {m.cycles_per_second:,.0f} cycles/s"),
    ):
        print(f"{name:12}{text}")


def _classifier(args: argparse.Namespace) -> Classifier:
    if len(args.layers) != 3:
        raise ValueError(f"--layers must be three sizes to train, such as 784-512-10, not "
                         f"{'-'.join(map(str, args.layers))}")
    if args.format not in (None, "bf16"):
        raise ValueError(f"--format must be bf16 to train, not {args.format}")
    inputs, hidden, classes = args.layers
    return Classifier(inputs, hidden, classes, args.batch)


def _plan(args: argparse.Namespace) -> int:
    if not isinstance(args.latency, int):
        raise ValueError(f"--latency of a --plan must be one number, not {args.latency!r}")
    plan(Rates(1, 0, 0, 0, 0, 1, 1), args.topology, args.boards)  # what is wrong is said at once
    rates = measure_rates(preset(args.preset or "core"), _classifier(args), seed=args.seed,
                          latency=args.latency)
    found = plan(rates, args.topology, args.boards, args.latency)
    for line in ([json.dumps(dataclasses.asdict(rates) | dataclasses.asdict(found))] if args.json
                 else plan_lines(rates, found)):
        print(line)
    return 0


def _pod(args: argparse.Namespace) -> int:
    if args.plan:
        return _plan(args)
    if args.curve:
        points = curve(preset(args.preset or "core"), args.backend, _classifier(args),
                       seed=args.seed, latency=args.latency, errors=args.ber)
        for line in ([json.dumps([*map(dataclasses.asdict, points)], indent=1)] if args.json
                     else curve_lines(points)):
            print(line, flush=True)
        return 0
    m = measure_pod(preset(args.preset or "core"), args.backend, args.topology, _classifier(args),
                    seed=args.seed, latency=args.latency, errors=args.ber,
                    check=not args.no_check)
    for line in [json.dumps(dataclasses.asdict(m))] if args.json else pod_report(m):
        print(line)
    return int(m.bit_exact is False)


def _train(args: argparse.Namespace) -> int:
    m = training(preset(args.preset or "core"), args.backend, _classifier(args), seed=args.seed,
                 check=not args.no_check)
    if args.json:
        print(json.dumps(dataclasses.asdict(m)))
    else:
        _show(m)
        print()
        for line in report(m):
            print(line)
    return int(m.bit_exact is False)


def _printed(args: argparse.Namespace, found: Iterable[_T],
             table: Callable[[Iterator[_T]], Iterable[str]]) -> list[_T]:
    """Return what is measured; each line of its table is printed as soon as it is known."""
    measured: list[_T] = []

    def run() -> Iterator[_T]:
        for each in found:
            measured.append(each)
            yield each

    for line in table(run()):
        if not args.json:
            print(line, flush=True)
    return measured


def _listed(args: argparse.Namespace,
            measured: Sequence[VectorMeasurement | CompiledMeasurement]) -> int:
    if args.json:
        print(json.dumps([dataclasses.asdict(m) for m in measured], indent=1))
    return int(any(m.bit_exact is False for m in measured))


def _vector(args: argparse.Namespace) -> int:
    found = vector_unit(preset(args.preset or "core"), args.backend, args.rows, args.seed)
    return _listed(args, _printed(args, found, vector_lines))


def _compiled(args: argparse.Namespace) -> int:
    found = (measure_compiled(preset(args.preset or "core"), args.backend, PROGRAMS[name],
                              seed=args.seed, check=not args.no_check, fast=args.fast)
             for name in args.name or PROGRAMS)
    return _listed(args, _printed(args, found, lines))


def _collectives(args: argparse.Namespace) -> int:
    found = (measure_collective(preset(args.preset or "core"), args.backend, args.topology, op,
                                nbytes, args.seed, latency=args.latency, errors=args.ber)
             for op in args.op for nbytes in args.bytes)
    measured = _printed(args, found, collective_lines)
    if args.json:
        print(json.dumps([dataclasses.asdict(m) for m in measured], indent=1))
    return int(any(m.wrong for m in measured))


def _simulation(args: argparse.Namespace) -> int:
    found = measure_simulation(preset(args.preset or "core"), args.topology)
    measured = _printed(args, found, simulation_lines)
    if args.json:
        print(json.dumps([dataclasses.asdict(m) for m in measured], indent=1))
    return 0


def _speed(args: argparse.Namespace) -> int:
    if args.against is None:
        raise ValueError("bench speed must be given --against, a git revision such as HEAD~1")
    with other_commit(this_checkout(), args.against) as sides:
        measured = _printed(args, measure_speed(sides, args.row or list(JOBS), args.runs),
                            speed_lines)
    if args.json:
        print(json.dumps([dataclasses.asdict(m) for m in measured], indent=1))
    return 0


def _board(args: argparse.Namespace) -> int:
    if args.backend != "rtl":
        raise ValueError(f"--backend must be left out with --board, not {args.backend}")
    found: Iterable[BoardMeasurement]
    if args.what == "table":
        found = _printed(args, board_table(args.board), board_lines)
    else:
        found = [board_mlp(args.board, args.preset, args.layers, args.batch, args.format, args.seed)
                 if args.what == "mlp" else
                 board_training(args.board, args.preset, _classifier(args), args.seed)]
        if not args.json:
            print(*board_report(found[0]), sep="\n")
    text = json.dumps([dataclasses.asdict(m) for m in found], indent=1)
    if args.json:
        print(text)
    if args.save:
        args.save.write_text(text + "\n")
    return int(any(m.broken or not m.bit_exact for m in found))


def _table(args: argparse.Namespace) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    def run() -> Iterator[tuple[Row, Measurement]]:
        for row in rows(args.preset and [args.preset]):
            own = parser.parse_args(shlex.split(row.arguments))
            own.backend, own.no_check = args.backend, args.no_check
            yield row, _measure(own)

    measured = _printed(args, run(), markdown)
    text = json.dumps([{"command": row.command, **dataclasses.asdict(m)} for row, m in measured],
                      indent=1)
    if args.json:
        print(text)
    if args.save:
        args.save.write_text(text + "\n")
    return int(any(m.bit_exact is False for _, m in measured))


def _main(args: argparse.Namespace) -> int:
    """Measure; return 1 where a result is not what it must be, else 0.

    Raises
    ------
    ValueError
        If the chip cannot do what is asked for.
    celosia.driver.DeviceError
        If the backend cannot be opened, or a run fails.
    """
    if args.save:
        check_file("--save", args.save)
    if args.board is not None:
        if args.what not in _ON_BOARDS:
            raise ValueError(f"--board must be used with {', '.join(_ON_BOARDS)}, not {args.what}")
        return _board(args)
    if args.what == "table":
        return _table(args)
    if args.what == "train":
        return _train(args)
    if args.what == "pod":
        return _pod(args)
    if args.what == "vector":
        return _vector(args)
    if args.what == "compiled":
        return _compiled(args)
    if args.what == "collectives":
        return _collectives(args)
    if args.what == "simulation":
        return _simulation(args)
    if args.what == "speed":
        return _speed(args)
    measured = _measure(args)
    if args.json:
        print(json.dumps(dataclasses.asdict(measured)))
    else:
        _show(measured)
    return int(measured.bit_exact is False)
