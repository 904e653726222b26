"""``celosia smi`` and ``celosia top``: what the chips of all processes do."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from celosia.driver.status import statuses

__all__ = ["add_smi_arguments", "add_top_arguments"]

_DESCRIPTION = """\
Show the chips of all processes: backend, program, memory, use of each
unit."""
_EPILOG = """\
examples:
  celosia smi               once
  celosia smi --json        for a program to read
  celosia top               every second, until Ctrl-C

A process writes what its devices do into a file, five times a second at most, in
$CELOSIA_STATUS, else $XDG_RUNTIME_DIR/celosia: no device is opened or asked. Shares are of the
cycles of the last run that ended. Of RTL chips that links connect there is a line for each port:
frames with data that were sent, those of them sent again, those that came, and came garbled (with
a wrong CRC), every ten seconds at most.
"""


def add_smi_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``smi``."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=_once)


def add_top_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``top``."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS", help="(default: 1)")
    parser.set_defaults(run=_always)


def _once(args: argparse.Namespace) -> int:
    found = list(statuses())
    print(json.dumps(found, indent=2) if args.json else _table(found))
    return 0


def _always(args: argparse.Namespace) -> int:
    if not 0.1 <= args.every <= 3600:
        raise ValueError(f"--every must be from 0.1 to 3600 seconds, not {args.every:g}")
    clear = "\x1b[H\x1b[J" if sys.stdout.isatty() else ""
    while True:
        print(f"{clear}{time.strftime('%H:%M:%S')}\n{_table(list(statuses()))}", flush=True)
        time.sleep(args.every)


def _table(found: list[dict[str, Any]]) -> str:
    if not found:
        return "no process has a chip open that has run anything"
    rows: list[tuple[str, ...]] = [("pid", "device", "chip", "backend", "memory", "array",
                                    "vector", "load", "store", "runs", "cycles", "requests",
                                    "state", "program", "process")]
    notes = []
    for each in found:
        memory, busy = each["memory"], each["busy"]
        place = f" {each['place']}" if each["place"] else ""
        rows.append((
            str(each["pid"]), str(each["device"]), each["preset"], each["backend"],
            f"{memory['used'] >> 10:,} / {memory['limit'] >> 10:,} KiB",
            *(f"{busy[unit]:.0%}" for unit in ("mxu", "vpu", "load", "store")),
            f"{each['runs']:,}", f"{each['cycles']:,}", f"{each['requests']:,}", each["state"],
            f"{each['program']}{place}", each["process"]))
        if each["fault"]:
            notes.append(f"{each['pid']} device {each['device']}: {each['faults']} faults, the "
                         f"last {each['fault']}")
    links = [(str(each["pid"]), str(each["device"]), str(port),
              "down" if of["down"] else "up" if of["up"] else "none",
              *(f"{of[name]:,}" for name in ("sent", "resent", "received", "garbled")))
             for each in found for port, of in enumerate(each["links"])]
    if links:
        notes += ["", *_lines([("pid", "device", "port", "link", "frames", "again", "received",
                                "garbled"), *links], (3,))]
    return "\n".join((*_lines(rows, (2, 3, 12, 13, 14)), *notes))


def _lines(rows: Sequence[tuple[str, ...]], left: Sequence[int]) -> list[str]:
    """Return rows as lines; columns are set to the right but for some."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" if i in left else f"{cell:>{width}}"
                      for i, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
            for row in rows]
