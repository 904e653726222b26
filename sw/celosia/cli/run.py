"""``celosia run``: a program on a chip."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import PRESETS, preset
from celosia.arch.registers import UNIT_NAMES, Activity
from celosia.cli.files import read_program
from celosia.cli.inputs import pairs, random_array, read_array
from celosia.cli.port import add_port, chosen_backend, open_chosen
from celosia.driver import Device, RunResult
from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.program import DTYPES, Program
from celosia.storage.destination import check_file

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia run add.s --random 0 --dump y          inputs of random numbers, golden model
  celosia run add.s --input x=x.npy --save y=y.npy
  celosia run add.bin --backend rtl --random 0   the Verilog, under Verilator
  celosia run f.celosia --random 0               what celosia compile wrote
  celosia run add.s --random 0 --port /dev/ttyUSB0    a board
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = "Run a program and show its cycles, counters and buffers."
    parser.epilog = _EPILOG
    parser.add_argument("program", metavar="FILE",
                        help="program file, compiled program or assembly text; - for standard "
                             "input")
    add_port(parser, "model", "model: the golden model (default); rtl: Verilator; twin: both, "
                            "compared; cocotb")
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help=f"chip: {', '.join(PRESETS)} (default: the program's)")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy",
                        help="contents of an input buffer; may be repeated")
    parser.add_argument("--random", type=int, metavar="SEED",
                        help="fill the other inputs with random numbers")
    parser.add_argument("--dump", action="append", default=[], metavar="NAME",
                        help="show a buffer after the run; may be repeated")
    parser.add_argument("--save", action="append", default=[], metavar="NAME=FILE.npy",
                        help="write a buffer into a file after the run; may be repeated")
    parser.add_argument("--reserve", type=lambda text: int(text, 0), default=0, metavar="BYTES",
                        help="memory from address 0 on, for a program with absolute addresses")
    parser.add_argument("--timeout", type=int, default=DEFAULT_TIMEOUT, metavar="CYCLES",
                        help="stop the run after so many cycles (default: %(default)s)")
    parser.add_argument("--trace", metavar="FILE",
                        help="write a waveform (.vcd or .fst; backends rtl and cocotb)")
    parser.add_argument("--json", action="store_true", help="write JSON: counters and dumps")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    backend = chosen_backend(args)
    chosen = preset(args.preset) if args.preset else None
    program = read_program(args.program, chosen)
    config = chosen or next(
        (known for known in PRESETS.values() if known.fingerprint == program.fingerprint), None)
    if config is None:
        raise ValueError(f"--preset must be given: the program is for a chip with fingerprint "
                         f"{program.fingerprint:#010x}, which no preset has")
    saves = pairs("--save", args.save)
    for name, path in saves.items():
        check_file(f"--save {name}: FILE", path)
    inputs: dict[str, NDArray] = {
        name: read_array(name, path, DTYPES[program.buffer(name).dtype])
        for name, path in pairs("--input", args.input).items()}
    for name in (*args.dump, *saves):
        program.buffer(name)
    with open_chosen(args, config, **_options(args, backend)) as device:
        result = _on(device, program, inputs, args, [*args.dump, *saves])
    for name, path in saves.items():
        with Path(path).open("wb") as file:  # given the name, NumPy would add .npy to it
            np.save(file, result[name])
    if args.json:
        print(json.dumps({
            "program": program.name, "preset": config.name, "backend": backend,
            "status": "done", "counters": dict(result.counters),
            "buffers": {name: result[name].astype(
                np.float64 if "float" in program.buffer(name).dtype else np.int64).tolist()
                for name in args.dump}}))
        return 0
    print(f"program       {program.name or args.program}, {len(program.insns)} instructions, "
          f"for {config.name}")
    print(f"backend       {backend}{f' at {args.port}' if args.port else ''}")
    print("status        done")
    _show_counters(result.counters, estimate=backend == "model")
    for name in args.dump:
        buffer = program.buffer(name)
        print(f"\n{name}: {buffer.dtype}{list(buffer.shape)}\n{result[name]}")
    return 0


def _options(args: argparse.Namespace, backend: str) -> dict[str, Any]:
    """Return the options of the transport."""
    if args.trace is None:
        return {}
    if backend in ("model", "serial"):
        raise ValueError(f"--trace must be used with --backend rtl or cocotb, not {backend!r}")
    check_file("--trace", args.trace)
    from celosia_sim.rtl import SimOptions
    return {"options": SimOptions(trace=args.trace)}


def _on(device: Device, program: Program, inputs: Mapping[str, NDArray],
        args: argparse.Namespace, outputs: list[str]) -> RunResult:
    share = [device.alloc(args.reserve, "int8")] if args.reserve else []
    loaded = device.load(program)  # what does not fit is refused before its contents are made
    if args.random is not None:
        rng = np.random.default_rng(args.random)
        inputs = {**inputs, **{buffer.name: random_array(buffer.shape, DTYPES[buffer.dtype], rng)
                               for buffer in program.inputs
                               if buffer.name not in inputs}}
    return device.run(loaded, inputs, outputs=outputs, share=share, timeout=args.timeout)


def _show_counters(counters: Mapping[str, int], *, estimate: bool) -> None:
    cycles = counters["cycles"]
    print(f"cycles        {cycles}{' (an estimate)' if estimate else ''}")
    print(f"instructions  {counters['instructions']}")
    print(f"memory        {counters['bytes_read']} bytes read, "
          f"{counters['bytes_written']} bytes written")
    states = [state.name.lower() for state in Activity if state is not Activity.IDLE]
    print(f"\n{'cycles of':10}" + "".join(f"{state:>13}" for state in states))
    for unit in UNIT_NAMES:
        print(f"{unit:10}" + "".join(f"{counters[f'{unit}_{state}']:13}" for state in states))
    conflicts = {name.removeprefix("conflicts_"): count for name, count in counters.items()
                 if name.startswith("conflicts_") and count}
    if conflicts:
        print("\nlost to bank conflicts: "
              + ", ".join(f"{name} {count}" for name, count in conflicts.items()))
