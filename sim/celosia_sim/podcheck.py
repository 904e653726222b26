"""Random programs of several chips, whose sends and receives match: RTL pods beside golden ones.

    python -m celosia_sim.podcheck --programs 10000

compares every row of the on-chip memories of every chip, and how each chip ended.

    python -m celosia_sim.podcheck --chips 8 --windows 1 16 64 --processes 1 2 4

runs the same programs on a pod that is simulated in each of these ways, and compares all counters
of all chips and a hash of all that was ever sent on a line, and when.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from celosia.arch.config import TpuConfig, preset
from celosia.arch.encoding import encode
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives import Topology
from celosia.model import ModelResult, PlainMachine, Pod, PodProgram
from celosia.program.asm import assemble
from celosia_sim.pod import PodOptions, RtlPod

__all__ = ["JOINS", "compare", "digest", "main", "random_programs"]

#: What a chip without bf16 joins rows by.
JOINS = [op for op in RecvOp if op not in (RecvOp.SUM_F, RecvOp.MAX_F, RecvOp.MIN_F)]
#: Rows that programs use: of messages, and from there on of what chips do beside them.
_ROWS, _MORE = 390, 500
#: Programs that run one after another on the same chips.
_BATCH = 25
#: Programs of a pod that is simulated in several ways, and the least latency of its links.
_SAME, _LATENCY = 3, 64
_MOST_LATENCY = 300


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
    """Compare programs of some seeds, on chips, latencies, a window and threads that the first one
    decides.
    """
    rng = random.Random(first)
    topology = Topology.ring(rng.choice([2, 3, 4]))
    least = rng.randint(1, _MOST_LATENCY)
    latency = rng.choice([least, (least, rng.randint(least, _MOST_LATENCY))])
    pod = RtlPod(config, topology.chips, topology.links, latency=latency, errors=errors, seed=first,
                 window=rng.randint(1, least), threads=rng.randint(1, 3))
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


def digest(config: TpuConfig, topology: Topology, first: int, count: int,
           **options: Any) -> str:
    """Run programs of some seeds beside golden chips; return a hash of all counters of all chips
    and of all that was sent, and when.
    """
    pod = RtlPod(config, topology.chips, topology.links, **options)
    found = hashlib.sha256()
    try:
        for seed in range(first, first + count):
            compare(pod, topology, random_programs(topology, seed), seed)
            found.update(repr(pod.counters()).encode())
        found.update(pod.sent().tobytes())
    finally:
        pod.close()
    return found.hexdigest()


def _ways(config: TpuConfig, args: argparse.Namespace) -> int:
    """Simulate a pod in several ways; return 1 where they differ."""
    topology = Topology.ring(args.chips)
    count = _SAME if args.programs is None else args.programs
    least = max(_LATENCY, *args.windows)
    latency = least, max(least, _MOST_LATENCY)
    for window in args.windows:
        for processes in args.processes:
            PodOptions(latency=latency, window=window, processes=processes)
    found = set()
    for window in args.windows:
        for processes in args.processes:
            begin = time.monotonic()
            found.add(hashed := digest(config, topology, args.first, count, window=window,
                                       processes=processes, latency=latency, errors=args.errors))
            print(f"window {window:3}, processes {processes}: {hashed[:32]}, "
                  f"{time.monotonic() - begin:.1f} s", flush=True)
    ways = len(args.windows) * len(args.processes)
    print(f"{args.chips} chips, {count} programs: counters of all chips and all that was sent, and "
          f"when, are " + (f"the same in all {ways}" if len(found) == 1 else "DIFFERENT"))
    return int(len(found) != 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 1 where a pod depends on how it is simulated, else 0."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.podcheck", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, help="how many (default: 1000; with --chips 3)")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed (default: 0)")
    parser.add_argument("--errors", type=float, default=1e-5,
                        help="chance that a bit on a line is turned (default: 1e-5)")
    parser.add_argument("--preset", default="nano", help="chip, which gets two ports")
    parser.add_argument("--chips", type=int, help="of one ring that is simulated in several ways")
    parser.add_argument("--windows", type=int, nargs="+", default=[64], metavar="CYCLES",
                        help="with --chips: of a chip's turn (default: 64)")
    parser.add_argument("--processes", type=int, nargs="+", default=[1], metavar="N",
                        help="with --chips: that have chips (default: 1)")
    args = parser.parse_args(argv)
    config = replace(preset(args.preset), ports=2)
    if args.chips is not None:
        return _ways(config, args)
    programs = 1000 if args.programs is None else args.programs
    begin, end = time.monotonic(), args.first + programs
    for first in range(args.first, end, _BATCH):
        _check(config, first, min(_BATCH, end - first), args.errors)
        done = min(first + _BATCH, end) - args.first
        print(f"\r{done} programs, {done / (time.monotonic() - begin):.1f} a second", end="",
              file=sys.stderr, flush=True)
    print(f"{programs} programs: every row of every chip equal", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
