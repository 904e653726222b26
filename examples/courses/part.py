"""One part of a training: on the devices that JAX_PLATFORMS names, from a file to that file.

Run by train.py, which says on which chip and until which step.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

from loop import Training


def load(args):
    """Return a network with its data, and how many steps it has."""
    network = importlib.import_module(args.name).Network(args.width, args.batch, args.length)
    network.load(getattr(args, network.option))
    return network, args.steps or network.epochs * network.steps_per_epoch


def options(parser):
    """Declare what says which training it is."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--data", metavar="FOLDER")
    parser.add_argument("--text", metavar="FILE")
    for name in ("width", "batch", "length", "steps"):
        parser.add_argument(f"--{name}", type=int)


def main():
    """Train, and with ``--test`` say how good it is."""
    parser = argparse.ArgumentParser()
    options(parser)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--until", type=int)
    parser.add_argument("--test", type=Path)
    args = parser.parse_args()
    network, steps = load(args)
    training = Training(network, args.file, steps)
    every = max(steps // 50, 1)

    def say(step, loss):
        if step % every == 0 or step <= 2 or step == steps:
            rest = (steps - step) * training.step_seconds
            print(f"{args.file.stem}: step {step:,}/{steps:,} loss {loss:.4f}, "
                  f"{rest / 60:.1f} min to go", flush=True)

    training.run(args.until or steps, say)
    if args.test:
        parameters, carried = training.state["parameters"], training.state["carried"]
        quality, text = network.test(parameters, carried)
        args.test.write_text(json.dumps({
            "quality": quality, "text": text, "sample": network.sample(parameters, carried)}))
        print(f"{args.file.stem}: {text}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"scripts/train: {error}")
