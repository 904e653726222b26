"""Random programs and graphs beyond those of lockstep, for ``scripts/soak``.

``python tests/soak.py models --preset nano --seeds 0 100`` runs random programs on the golden model
three times: on the plain one, and on the fast one at first and replayed; of the smallest chips
also on the interpreter of one number at a time. ``graphs`` compiles random graphs and runs each
twice on a backend and on the model, beside what the graph means; a seed is a batch of them. The
first difference ends it with exit code 1; ``--save DIR`` keeps the program or the graph.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

import celosia
from celosia.arch.config import PRESETS, preset
from celosia.arch.faults import Fault
from celosia.graph import interpret
from celosia.model import Machine, PlainMachine
from celosia_sim.lockstep import save_program
from celosia_sim.randprog import random_program
from sw.compiler.exact_graphs import check_results, examples
from sw.model.test_oracle import Oracle

#: Chips whose programs the interpreter in Python ends in no time.
SMALL = ("pico", "nano")
#: Graphs of a seed; of a single one, hypothesis would make the simplest.
BATCH = 20
#: Instructions that a program may execute.
LIMIT = 10_000


def check_models(config, number):
    """Run a random program in every way that the model has; return it, and what differs."""
    program = random_program(config, number)
    plain, fast = PlainMachine(config), Machine(config)
    wanted = program.run(plain, LIMIT)
    if wanted.cause != Fault.NONE:
        return program, f"it must halt, not fault: {wanted}"
    for way in ("recorded", "replayed"):
        fast.ub[:], fast.acc[:] = 0, 0
        program.load(fast.memory)
        got = fast.run(program.program_addr, program.length, program.windows)
        if got != wanted:
            return program, f"{way}, it must end as\n{wanted}\nnot\n{got}"
        if where := different(plain, fast, program):
            return program, f"{way}, it must leave the same {where}"
    if config.name in SMALL:
        oracle = Oracle(config, program.image, program.data_addr)
        oracle.run(program.insns)
        for name in ("ub", "acc"):
            if not np.array_equal(getattr(plain, name), getattr(oracle, name)):
                return program, f"it must leave the {name} of the interpreter in Python"
        if plain.memory.read(program.data_addr, len(program.image)).tobytes() != oracle.ext:
            return program, "it must leave the memory of the interpreter in Python"
    return program, ""


def different(one, other, program):
    """Return the names of the memories in which two models differ."""
    size = len(program.image)
    found = [name for name in ("ub", "acc")
             if not np.array_equal(getattr(one, name), getattr(other, name))]
    if not np.array_equal(one.memory.read(program.data_addr, size),
                          other.memory.read(program.data_addr, size)):
        found.append("memory")
    return ", ".join(found)


def models(args):
    """Run random programs on the models."""
    config = preset(args.preset)
    for number in range(*args.seeds):
        program, wrong = check_models(config, number)
        if wrong:
            print(f"{config.name}, seed {number}: {wrong}", file=sys.stderr)
            if args.save:
                save_program(program, args.save)
            return 1
    return 0


def batch(number):
    """Return the graphs of a seed, the same each time."""
    found = []

    @seed(number)
    @settings(max_examples=BATCH, phases=[Phase.generate], database=None, deadline=None,
              suppress_health_check=list(HealthCheck))
    @given(example=examples(most=14))
    def keep(example):
        found.append(example)

    keep()
    return found


def check_graph(example, model, chip):
    """Compile a graph and run it; raise AssertionError where a result is not what it must be."""
    compiled = example.compile(model.config.name)
    wanted = compiled.run(model, *example.inputs)
    check_results(wanted, interpret(example.graph, example.inputs), example.errors)
    for device in (model, chip, chip):
        for a, b in zip(compiled.run(device, *example.inputs), wanted, strict=True):
            assert a.tobytes() == b.tobytes(), f"{device} differs from the model's first run"


def graphs(args):
    """Run random graphs, compiled."""
    refused = count = 0
    with (celosia.open("model", args.preset) as model,
          celosia.open(args.backend, args.preset) as chip):
        for number in range(*args.seeds):
            for example in batch(number):
                count += 1
                try:
                    check_graph(example, model, chip)
                except celosia.CompileError as error:
                    if args.preset == "core":
                        return failed(args, number, example, error)
                    refused += 1  # what a chip without bf16 or with little memory does not hold
                except Exception as error:
                    return failed(args, number, example, error)
    if refused == count:
        print(f"{args.preset} must hold some of {count} graphs, not none", file=sys.stderr)
        return 1
    print(f"{args.preset}, {args.backend}: {count - refused} graphs equal, {refused} not held")
    return 0


def failed(args, number, example, error):
    """Say which graph it was, and keep it."""
    print(f"{args.preset}, seed {number}: {type(error).__name__}: {error}\n{example!r}",
          file=sys.stderr)
    if args.save:
        args.save.mkdir(parents=True, exist_ok=True)
        (args.save / "graph.txt").write_text(f"{example!r}\n")
        np.savez(args.save / "inputs.npz", *(np.asarray(x).view(np.uint8) if x.dtype.kind == "V"
                                             else x for x in example.inputs))
    return 1


def main(argv=None):
    """Run from the command line; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python tests/soak.py", description=__doc__)
    parser.add_argument("what", choices=("models", "graphs"))
    parser.add_argument("--preset", choices=PRESETS, default="core")
    parser.add_argument("--backend", choices=("model", "rtl"), default="model")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), metavar=("FIRST", "END"))
    parser.add_argument("--save", type=Path, metavar="DIR")
    args = parser.parse_args(argv)
    return models(args) if args.what == "models" else graphs(args)


if __name__ == "__main__":
    sys.exit(main())
