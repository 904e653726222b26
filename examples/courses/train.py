"""Train a network of the courses on the golden model, beside the same training on the host.

The first steps run on the RTL too: all that they leave must be equal, bit for bit. What is stopped
goes on when the command is given again, and ends with the same losses.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import part
import picture

NAMES = ("cnn", "fashion", "lstm", "gpt")
ROOT = Path(__file__).resolve().parents[2]
#: Clock at which times of the chip are stated.
CLOCK_HZ = 100e6
_EPILOG = """\
examples:
  scripts/train cnn --data FOLDER      MNIST's four IDX files, packed or not
  scripts/train fashion --data FOLDER  Fashion-MNIST's, or any of that shape
  scripts/train lstm --text FILE       a text, such as the plays of Shakespeare
  scripts/train gpt --text FILE
"""


def _positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, not {text}")
    return int(text)


def parsed(argv):
    """Return the arguments; wrong ones end the program with a sentence."""
    parser = argparse.ArgumentParser(prog="scripts/train", description=__doc__, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", metavar="FOLDER", help="IDX files, for cnn and fashion")
    parser.add_argument("--text", metavar="FILE", help="a text, for lstm and gpt")
    parser.add_argument("--folder", type=Path, metavar="FOLDER",
                        help="where the training is kept (default: build/train/NAME)")
    parser.add_argument("--steps", type=_positive, help="of all of it (default: some epochs)")
    parser.add_argument("--rtl-steps", type=int, default=2, metavar="N",
                        help="the first steps, on the RTL too (default: 2; 0: none)")
    parser.add_argument("--width", type=_positive, help="channels, units or d of another network")
    parser.add_argument("--batch", type=_positive, help="images or streams of a step")
    parser.add_argument("--length", type=_positive, help="characters of each stream in a step")
    args = parser.parse_args(argv)
    option = "data" if args.name in NAMES[:2] else "text"
    if getattr(args, option) is None:
        parser.error(f"{args.name} must be given --{option}, see --help")
    if args.rtl_steps < 0:
        parser.error(f"--rtl-steps must be at least 0, not {args.rtl_steps}")
    args.folder = (args.folder or ROOT / "build" / "train" / args.name).absolute()
    return args


class Parts:
    """The parts of a training, each a process of its own."""

    def __init__(self, args):
        self.args = args
        self.common = [args.name]
        for name in ("data", "text", "steps", "width", "batch", "length"):
            if getattr(args, name) is not None:
                self.common += [f"--{name}", str(getattr(args, name))]

    def run(self, name, platform, backend, *more):
        """Run one; end the program with its exit code if it fails."""
        environment = dict(os.environ, JAX_PLATFORMS=platform, CELOSIA_BACKEND=backend,
                           CELOSIA_STRICT="1")
        done = subprocess.run([sys.executable, Path(__file__).with_name("part.py"), *self.common,
                               "--file", self.args.folder / f"{name}.npz", *map(str, more)],
                              env=environment)
        if done.returncode:
            sys.exit(done.returncode)
        return self.args.folder / f"{name}.npz"

    def first(self, count):
        """Run the first steps on RTL and golden model; return whether all they leave is equal."""
        model, rtl = (self.run(f"first-{count}-{backend}", "celosia", backend, "--until", count)
                      for backend in ("model", "rtl"))
        with np.load(model) as a, np.load(rtl) as b:
            names = [name for name in a.files if name not in ("about", "seconds")]
            return [name for name in names if a[name].tobytes() != b[name].tobytes()], names

    def whole(self, name, platform):
        """Run all of it; return its file, and what was found of its quality."""
        test = self.args.folder / f"{name}.json"
        found = self.run(name, platform, "model", "--test", test)
        return found, json.loads(test.read_text())


def _table(network, chip, host, results):
    """Yield the lines of what was measured; ``chip`` and ``host`` are files that were loaded."""
    cost = json.loads(str(chip["about"]))["cost"]
    of_chip = cost["cycles"] / CLOCK_HZ
    of_host = float(np.median(host["seconds"]))
    of_model = float(np.median(chip["seconds"]))
    epoch = network.steps_per_epoch
    yield (f"a step: {network.units_per_step:,} {network.unit}, {cost['cycles']:,.0f} cycles of "
           f"the cycle model, {cost['flops'] / 2 / 256 / cost['cycles']:.1%} of them products on "
           f"an array of 16 x 16; the golden model takes {of_model:.3f} s")
    yield (f"the chip at {CLOCK_HZ / 1e6:.0f} MHz: {network.units_per_step / of_chip:,.0f} "
           f"{network.unit} a second")
    yield ""
    yield f"| epoch of {epoch * network.units_per_step:,} {network.unit} | seconds | quality |"
    yield "|---|---:|---|"
    yield f"| chip, {CLOCK_HZ / 1e6:.0f} MHz | {epoch * of_chip:,.1f} | {results[0]['text']} |"
    yield f"| this host's CPU, JAX | {epoch * of_host:,.1f} | {results[1]['text']} |"
    yield f"| host / chip | {of_host / of_chip:.2f} | |"


def main(argv=None):
    """Train; return 0, or 1 where RTL and golden model differ."""
    args = parsed(argv)
    network, steps = part.load(args)
    args.folder.mkdir(parents=True, exist_ok=True)
    parts = Parts(args)
    if args.rtl_steps:
        wrong, names = parts.first(min(args.rtl_steps, steps))
        if wrong:
            print(f"RTL and golden model must be equal after {args.rtl_steps} steps, they differ "
                  f"in {len(wrong)} of {len(names)} arrays")
            return 1
        print(f"RTL and golden model are equal, bit for bit, after {args.rtl_steps} steps: losses "
              f"and {len(names) - 1} arrays of state")
    files, results = zip(parts.whole("chip", "celosia"), parts.whole("host", "cpu"), strict=True)
    with np.load(files[0]) as chip, np.load(files[1]) as host:
        path = args.folder / "losses.svg"
        path.write_text(picture.curves(network.title, network.curve, chip["losses"],
                                       host["losses"]))
        apart = np.abs(chip["losses"] - host["losses"]).mean()
        print()
        for line in _table(network, chip, host, results):
            print(line)
    print(f"\nlosses: {path}; chip and host are {apart:.4f} apart on the mean")
    if results[0]["sample"] is not None:
        print(f"\nwritten on the chip:\n{results[0]['sample']}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        sys.exit(f"scripts/train: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
