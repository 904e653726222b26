"""Random programs of several chips, whose sends and receives match: RTL pods beside golden ones.

    python -m celosia_sim.podcheck --programs 10000

compares every row of the on-chip memories of every chip, and how each chip ended.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from celosia.arch.config import TpuConfig, preset
from celosia.arch.encoding import encode
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives import Topology
from celosia.model import ModelResult, PlainMachine, Pod, PodProgram
from celosia.program.asm import assemble
from celosia_sim.pod import RtlPod

__all__ = ["JOINS", "compare", "main", "random_programs"]

#: What a chip without bf16 joins rows by.
JOINS = [op for op in RecvOp if op not in (RecvOp.SUM_F, RecvOp.MAX_F, RecvOp.MIN_F)]
#: Rows that programs use: of messages, and from there on of what chips do beside them.
_ROWS, _MORE = 390, 500
#: Programs that run one after another on the same chips.
_BATCH = 25


def random_programs(topology: Topology, seed: int, messages: int = 14) -> list[str]:
    """Return a program for each chip: matched sends and receives, and vector work between them.

    They fit 500 rows of accumulators and unified buffer, on a chip without bf16.
    """
    rng = random.Random(seed)
    texts: list[list[str]] = [[] for _ in range(topology.chips)]
    for number in range(messages):
        chip, port = rng.randrange(topology.chips), rng.randrange(topology.ports)
        peer, at = topology.peer(chip, port)
        fmt = rng.choice([DmaFormat.I8, DmaFormat.W32])
        mem = "acc" if fmt is DmaFormat.W32 else rng.choice(["acc", "ub"])
        n0, n1 = rng.choice([1, 2, 5, 16, 40]), rng.choice([1, 1, 3])
        target = "acc" if fmt is DmaFormat.W32 else rng.choice(["acc", "ub"])
        op = rng.choice(JOINS) if target == "acc" else RecvOp.SET
        last = _ROWS - n0 * n1
        texts[chip].append(f"send {mem}[{rng.randrange(last)}], fmt={fmt.name.lower()}, "
                           f"port={port}, tag={number}, n0={n0}, n1={n1}")
        texts[peer].append(f"recv {op.name.lower()}, {target}[{rng.randrange(last)}], "
                           f"fmt={fmt.name.lower()}, port={at}, tag={number}, n0={n0 * n1}")
        busy = rng.randrange(topology.chips)
        to = rng.randrange(_ROWS + 10, _MORE)
        a, b = rng.randrange(_ROWS), rng.randrange(_ROWS)
        texts[busy].append(f"vector iadd, acc[{to}], acc[{a}], acc_row[{b}], n0=8")
    return ["\n".join(lines) for lines in texts]


def compare(pod: RtlPod, topology: Topology, texts: Sequence[str],
            seed: int = 0) -> tuple[list[ModelResult], list[ModelResult]]:
    """Run programs on RTL chips and on golden ones, from the same random memories.

    Returns
    -------
    golden, found
        How the chips of each pod ended.

    Raises
    ------
    AssertionError
        If all golden chips halt, and a row of a chip differs.
    """
    rng = np.random.default_rng(seed)
    machines, programs = [], []
    for number, text in enumerate(texts):
        machine = PlainMachine(pod.config)
        machine.acc[:] = rng.integers(0, 1 << 32, machine.acc.shape, np.uint64)
        machine.ub[:] = rng.integers(0, 256, machine.ub.shape)
        insns = assemble(text + "\nhalt", pod.config).insns
        data = b"".join(map(encode, insns))
        machine.memory.write(0, data)
        pod.chips[number].write_memory(0, data)
        for name in ("ub", "acc"):
            pod.set_memory(number, name, getattr(machine, name))
        machines.append(machine)
        programs.append(PodProgram(0, len(insns)))
    golden = Pod(machines, topology.links).run(programs)
    found = pod.run(programs)
    if not any(each.cause for each in golden):
        for number, machine in enumerate(machines):
            for name in ("ub", "acc"):
                np.testing.assert_array_equal(
                    pod.memory(number, name), getattr(machine, name), f"{name} of chip {number}")
    return golden, found


def _check(config: TpuConfig, first: int, count: int, errors: float) -> None:
    """Compare programs of some seeds, on chips, a latency, a window and threads that the first one
    decides.
    """
    rng = random.Random(first)
    topology = Topology.ring(rng.choice([2, 3, 4]))
    latency = rng.randint(1, 300)
    pod = RtlPod(config, topology.chips, topology.links, latency=latency, errors=errors, seed=first,
                 window=rng.randint(1, latency), threads=rng.randint(1, 3))
    for seed in range(first, first + count):
        try:
            golden, found = compare(pod, topology, random_programs(topology, seed), seed)
            for a, b in zip(golden, found, strict=True):
                assert (a.cause, a.pc) == (b.cause, b.pc), (a, b)
                assert not a.cause, a
        except (AssertionError, TimeoutError) as error:
            error.add_note(f"program {seed}, the {seed - first}th on {topology.chips} chips: "
                           f"--first {first} --programs {seed - first + 1}")
            raise
    pod.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.podcheck", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed (default: 0)")
    parser.add_argument("--errors", type=float, default=1e-5,
                        help="chance that a bit on a line is turned (default: 1e-5)")
    parser.add_argument("--preset", default="nano", help="chip, which gets two ports")
    args = parser.parse_args(argv)
    config = replace(preset(args.preset), ports=2)
    begin, end = time.monotonic(), args.first + args.programs
    for first in range(args.first, end, _BATCH):
        _check(config, first, min(_BATCH, end - first), args.errors)
        done = min(first + _BATCH, end) - args.first
        print(f"\r{done} programs, {done / (time.monotonic() - begin):.1f} a second", end="",
              file=sys.stderr, flush=True)
    print(f"{args.programs} programs: every row of every chip equal", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
