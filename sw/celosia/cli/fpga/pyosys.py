"""Yosys of the package ``pyosys`` as a program, which it does not bring.

``python -m celosia.cli.fpga.pyosys`` takes those arguments of ``yosys`` that `build` gives.
"""

import argparse
import os
import signal
import sys

from pyosys import libyosys  # type: ignore[attr-defined]

__all__ = ["main"]


def main() -> None:
    """Run a script. Errors end the process with code 1: Yosys does that itself."""
    parser = argparse.ArgumentParser(prog="pyosys", description="Yosys of the package pyosys.")
    parser.add_argument("-V", action="store_true", help="print the version")
    parser.add_argument("-q", action="store_true", help="print warnings and errors only")
    parser.add_argument("-l", metavar="FILE", help="write the log to FILE")
    parser.add_argument("-p", metavar="SCRIPT", default="", help="commands to run")
    arguments = parser.parse_args()
    if arguments.V:
        print(libyosys.yosys_maybe_version())
        return
    # Python would note the signal only after the last command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    log = arguments.l or (os.devnull if arguments.q else "")
    if log:
        # Yosys prints its log on standard output, but errors beside it.
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), sys.stdout.fileno())
    libyosys.run_pass(arguments.p, libyosys.Design())


if __name__ == "__main__":
    main()
