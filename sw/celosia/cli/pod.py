"""``celosia pod train``: data-parallel training on chips that links connect."""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celosia.arch.config import PRESETS, preset
from celosia.arch.latency import parse_latency
from celosia.cli import boards
from celosia.collectives import Topology

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia pod train digits --topology 2x2 --steps 20
  celosia pod train digits --topology 8x8 --steps 100 --backend rtl   64 chips of RTL
  celosia pod train digits --topology 4x4 --backend rtl --boards 2    in two processes
  celosia pod train digits --backend rtl --ber 1e-6 --latency 1..300  the same bits, other cycles

Each chip has a part of each batch and a share of the weights; a step is one program of each chip,
and weights and gradients go by the links. Printed are the loss of each step, and at the end a hash
of the weights that each chip has gathered, read from its own memory, and of those of golden chips
that have done the same steps.
"""
#: Learning rate of Adam.
_RATE = 4e-3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = "Programs of chips that links connect, and boards."
    inner = parser.add_subparsers(metavar="WHAT", required=True)
    train = inner.add_parser(
        "train", help="train a network, data parallel", epilog=_EPILOG,
        description="Train a network of two layers, data parallel.",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    train.add_argument("data", choices=("digits",), help="scikit-learn's digits")
    train.add_argument("--topology", default="2x2", metavar="NxN",
                       help="chips in a ring or torus (default: 2x2)")
    train.add_argument("--steps", type=int, default=100, metavar="N", help="(default: 100)")
    train.add_argument("--batch", type=int, default=16, metavar="ROWS",
                       help="rows of each chip (default: 16)")
    train.add_argument("--hidden", type=int, default=128, metavar="N",
                       help="outputs of the first layer (default: 128)")
    train.add_argument("--backend", choices=("rtl", "model"), default="model",
                       help="model: golden chips (default); rtl: the Verilog")
    train.add_argument("--boards", type=int, default=1, metavar="N",
                       help="processes over which RTL chips are spread (default: 1, this one)")
    train.add_argument("--preset", choices=list(PRESETS), default="core", metavar="PRESET",
                       help="chip (default: core)")
    train.add_argument("--latency", default="64", metavar="CYCLES",
                       help="of each link, such as 64, or 1..300: each has some of these, by the "
                            "seed (default: 64)")
    train.add_argument("--ber", type=float, default=0.0, metavar="CHANCE",
                       help="of a bit on a line of RTL chips to be turned (default: 0)")
    train.add_argument("--seed", type=int, default=0,
                       help="of the first weights and the links (default: 0)")
    train.add_argument("--json", action="store_true", help="print JSON")
    train.set_defaults(run=_train)
    boards.add_parsers(inner)


def _checked(args: argparse.Namespace) -> Topology:
    for name, least in (("steps", 1), ("batch", 1), ("hidden", 1), ("seed", 0)):
        if getattr(args, name) < least:
            raise ValueError(f"--{name} must be at least {least}, not {getattr(args, name)}")
    if not 0 <= args.ber < 1:
        raise ValueError(f"--ber must be a number from 0 to below 1, not {args.ber}")
    if args.ber and args.backend != "rtl":
        raise ValueError("--ber must be 0 without --backend rtl: golden chips have no lines")
    topology = Topology.parse(args.topology)
    if topology.chips < 2:
        raise ValueError(f"--topology must be of 2 or more chips, not {args.topology}")
    if not 1 <= args.boards <= topology.chips:
        raise ValueError(f"--boards must be from 1 to the {topology.chips} chips of --topology, "
                         f"not {args.boards}")
    if args.boards > 1 and args.backend != "rtl":
        raise ValueError(f"--boards must be 1 without --backend rtl, not {args.boards}: golden "
                         "chips are in this process")
    return topology


def _train(args: argparse.Namespace) -> int:
    from celosia.cli.demo.data import digits
    from celosia.train import Classifier, PodTrainer, accuracy, batches, initial_parameters

    topology = _checked(args)
    data = digits()
    config = preset(args.preset)
    net = Classifier(data.train_x.shape[1], args.hidden, 10, args.batch)
    rows = args.batch * topology.chips
    if rows > len(data.train_x):
        raise ValueError(f"--batch must be at most {len(data.train_x) // topology.chips} for each "
                         f"of {topology.chips} chips: there are {len(data.train_x):,} images, "
                         f"not {rows:,}")
    order = batches(len(data.train_x), rows, args.seed)
    first = initial_parameters(net, args.seed)

    def say(text: str) -> None:
        if not args.json:
            print(text, flush=True)

    lines: dict[str, Any] = ({"errors": args.ber, "processes": args.boards}
                             if args.backend == "rtl" else {})
    begin = time.perf_counter()
    pod = PodTrainer(args.backend, config, net, topology, first,
                     latency=parse_latency(args.latency), seed=args.seed, **lines)
    golden = (PodTrainer("model", config, net, topology, first)
              if args.backend == "rtl" else None)
    say(f"{topology.chips} chips of {args.preset} ({args.backend}) as {topology}, "
        f"{net}, {rows} rows a step")
    steps: list[dict[str, Any]] = []
    same = True
    beside = ThreadPoolExecutor(1)  # golden chips compute while RTL chips are simulated
    try:
        for number in range(1, args.steps + 1):
            chosen = next(order)
            x, labels = data.train_x[chosen], data.train_y[chosen]
            expected = None if golden is None else beside.submit(golden.step, x, labels, _RATE)
            loss, cycles = pod.step(x, labels, _RATE), max(pod.cycles)
            steps.append({"loss": loss, "cycles": cycles})
            text = f"step {number}: loss {loss:.6f}, {cycles:,} cycles"
            if expected is not None:
                other = expected.result()
                same &= other == loss
                text += ", golden chips: " + ("the same" if other == loss else f"{other:.9g}")
            say(text)
        hashes = pod.hashes()
        wanted = [] if golden is None else golden.hashes()
        right = accuracy(pod.parameters(), data.test_x, data.test_y)
        meetings = pod.meetings
    finally:
        beside.shutdown()
        pod.close()
        if golden is not None:
            golden.close()
    same &= len({*hashes, *wanted}) == 1
    seconds = time.perf_counter() - begin
    if args.json:
        print(json.dumps({"topology": str(topology), "steps": steps, "hashes": hashes,
                          "golden": wanted, "equal": same, "accuracy": right, "meetings": meetings,
                          "seconds": seconds}))
        return int(not same)
    for chip, text in enumerate(hashes):
        say(f"weights of chip {chip:4}  {text}")
    if golden is not None:
        say(f"weights of golden chips  {' '.join(sorted(set(wanted)))}")
    say(f"accuracy {right:.2%} of images that the network has not seen; "
        f"the host brought {meetings} arrays from chip to chip; {seconds:.0f} s")
    say("all chips have the same weights" if same else "weights are DIFFERENT")
    return int(not same)
