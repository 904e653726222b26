"""``celosia pod start``, ``status``, ``run`` and ``stop``: boards that stay when a program ends."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from celosia.driver.backends import missing_package
from celosia.driver.errors import needs
from celosia.driver.status import status_folder

__all__ = ["add_parsers"]

_EPILOG = """\
examples:
  celosia pod start --boards 4
  celosia pod start --boards 4 --cluster local    by Ray
  celosia pod run -- python train.py      with CELOSIA_DEVICES=16 CELOSIA_TOPOLOGY=4x4
  celosia pod status
  celosia pod stop

A board is a process that simulates some chips of RTL. The boards are idle until a program connects
with them, one at a time, and again when it has ended; one that is killed is replaced. Where they
are is in a file of $CELOSIA_STATUS, else $XDG_RUNTIME_DIR/celosia, with a log beside it.
"""
#: Seconds that boards may take to start, to say what they do, and to end.
_START, _LOOK, _STOP = 120.0, 30.0, 15.0
_NAP = 0.05


def add_parsers(inner: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    def add(name: str, text: str) -> argparse.ArgumentParser:
        return inner.add_parser(name, help=text, epilog=_EPILOG,
                                description=f"{text[0].upper()}{text[1:]}.",
                                formatter_class=argparse.RawDescriptionHelpFormatter)

    start = add("start", "start boards that stay")
    start.add_argument("--boards", type=int, default=2, metavar="N", help="(default: 2)")
    start.add_argument("--cluster", metavar="ADDRESS", help="have Ray start them: \"local\": on a "
                       "cluster of this machine; else on that at an address (default: processes "
                       "of this machine, without Ray)")
    start.set_defaults(run=_start)
    status = add("status", "show what the boards do: chips, links, frames, runs")
    status.add_argument("--json", action="store_true", help="write JSON")
    status.set_defaults(run=_status)
    run = add("run", "run a program on the boards")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND",
                     help="the program and its arguments")
    run.set_defaults(run=_run)
    add("stop", "end the boards").set_defaults(run=_stop)


def _path() -> Path:
    return Path(os.environ.get("CELOSIA_POD") or status_folder() / "pod.json")


def _pod() -> Any:
    """Return the `celosia_sim.pod.kept.KeptPod` that is there; errors as of its `read`."""
    if package := missing_package("rtl"):
        raise needs("a pod of boards", package, "sim")
    from celosia_sim.pod.kept import KeptPod
    return KeptPod.read(_path())


def _start(args: argparse.Namespace) -> int:
    if not 1 <= args.boards <= 64:
        raise ValueError(f"--boards must be from 1 to 64, not {args.boards}")
    with contextlib.suppress(RuntimeError):
        found = _pod()
        raise ValueError(f"a pod must be stopped before another one is started, but the process "
                         f"{found.pid} keeps one of {len(found.boards)} boards: "
                         "`celosia pod stop`")
    if args.cluster and importlib.util.find_spec("ray") is None:
        raise needs("--cluster", "ray", "ray")
    path = _path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = path.with_suffix(".log")
    with log.open("w") as said, subprocess.Popen(
            [sys.executable, "-m", "celosia_sim.pod.keeper", str(path), str(args.boards),
             *([args.cluster] if args.cluster else [])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
            start_new_session=True) as keeper:
        output = keeper.stdout
        assert output is not None
        ready = select.select([output], [], [], _START)[0] and output.readline() == b"ready\n"
        if not ready:
            how = "have not" if keeper.poll() is None else "cannot"
            keeper.kill()
            raise RuntimeError(f"boards must start within {_START:g} s, but they {how}; the end "
                               f"of {log}: {log.read_text()[-500:].strip() or '(empty)'}")
        keeper.returncode = 0  # it goes on: nobody waits for it
    print(_table(_looks(_pod())))
    print("they stay until `celosia pod stop`; a program runs on them by "
          "`celosia pod run -- python train.py`")
    return 0


def _looks(pod: Any) -> list[dict[str, Any]]:
    """Ask each board what it is doing; one that does not answer has an "error"."""
    from celosia.collectives.wire import receive
    from celosia_sim.pod import PodBoardError
    from celosia_sim.pod.door import Hello, Role, enter

    found: list[dict[str, Any]] = []
    for number, board in enumerate(pod.boards):
        try:
            with enter((board.host, board.port), bytes.fromhex(pod.token), Hello(Role.LOOK),
                       _LOOK) as connection:
                connection.settimeout(_LOOK)
                said = receive(connection)[0]
        except (PodBoardError, OSError, EOFError) as error:
            said = {"error": str(error), "board": None}
        found.append({"number": number, "pid": board.pid, "replaced": board.serial,
                      "address": f"{board.host}:{board.port}", **said})
    return found


def _since(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def _kept(board: dict[str, Any]) -> str:
    """Say of which chips a board has states: its own first ones, and those of boards before it."""
    states = board["states"]
    size = sum(states.values()) / (1 << 20)
    return f"{','.join(sorted(states, key=int))} ({size:.1f} MiB)" if states else "none yet"


def _table(looks: list[dict[str, Any]]) -> str:
    rows: list[tuple[str, ...]] = [("board", "process", "address", "since", "replaced", "chips",
                                    "of", "links up", "frames", "again", "garbled", "runs",
                                    "states of", "program since")]
    for each in looks:
        board = each["board"]
        row = (str(each["number"]), str(each["pid"]), each["address"],
               "error" in each and each["error"] or _since(each["since"]), str(each["replaced"]))
        rows.append((*row, *("-" for _ in range(9))) if board is None else (
            *row, f"{board['chips'][0]}..{board['chips'][1] - 1}", board["config"],
            f"{board['up']} of {board['links']}", f"{board['sent']:,}", f"{board['resent']:,}",
            f"{board['garbled']:,}", f"{board['runs']:,}", _kept(board), _since(board["since"])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
                               ).rstrip() for row in rows)


def _status(args: argparse.Namespace) -> int:
    pod = _pod()
    looks = _looks(pod)
    if args.json:
        print(json.dumps({"pid": pod.pid, "since": pod.since, "boards": looks}, indent=2))
    else:
        print(f"kept by the process {pod.pid} since {_since(pod.since)}\n{_table(looks)}")
    return int(any("error" in each for each in looks))


def _run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise ValueError("a command must follow, as in `celosia pod run -- python train.py`")
    pod = _pod()
    environment = {"CELOSIA_BACKEND": "rtl", "CELOSIA_BOARDS": str(len(pod.boards)), **os.environ,
                   "CELOSIA_POD": str(_path().absolute())}
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        raise ValueError(f"the command must be a program, but {command[0]!r} is none: "
                         f"{error.strerror}") from None


def _stop(_: argparse.Namespace) -> int:
    from celosia_sim.pod.kept import begun

    pod = _pod()
    left = {pod.pid: pod.begun, **dict(pod.others),
            **{each.pid: each.begun for each in pod.boards}}
    os.kill(pod.pid, signal.SIGTERM)
    end = time.monotonic() + _STOP
    while left := {pid: at for pid, at in left.items() if begun(pid) == at}:
        if time.monotonic() > end:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            _path().unlink(missing_ok=True)
            break
        time.sleep(_NAP)
    print(f"{len(pod.boards)} boards have ended")
    return 0
