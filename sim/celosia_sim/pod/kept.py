"""A pod whose boards stay when a program ends, as programs and commands see it: a file.

`celosia_sim.pod.keeper` writes it, anew whenever it has replaced a board. It has the pod's token,
so it is its owner's alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from celosia_sim.pod.apart import BoardLost
from celosia_sim.pod.board import PodBoardError
from celosia_sim.pod.door import Address

__all__ = ["KeptBoard", "KeptPod", "KeptStarter", "begun"]

#: Seconds that the keeper may take to replace a board, and between two looks whether it has.
_BEGIN, _NAP = 60.0, 0.05


def begun(pid: int) -> str:
    """Return what tells a process from a later one of its number; "": there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if text[0] == "Z" else text[19]


@dataclass(frozen=True)
class KeptBoard:
    """A board: which one of those that have been in its place, and where.

    Attributes
    ----------
    pid, begun
        Of its process, as of `begun`.
    """

    serial: int
    host: str
    port: int
    pid: int
    begun: str


@dataclass(frozen=True)
class KeptPod:
    """What the file says.

    Attributes
    ----------
    pid, begun
        Of the keeper.
    since
        Seconds of `time.time` at which the pod was started.
    token
        In hexadecimal.
    others
        More processes that end with the pod, as of `begun`.
    """

    pid: int
    begun: str
    since: float
    token: str
    boards: tuple[KeptBoard, ...]
    others: tuple[tuple[int, str], ...]

    @classmethod
    def read(cls, path: Path) -> KeptPod:
        """Read the file.

        Raises
        ------
        PodBoardError
            If there is none, or its keeper has ended.
        """
        try:
            found = json.loads(path.read_text())
            made = cls(**{**found, "boards": tuple(KeptBoard(**each) for each in found["boards"]),
                          "others": tuple((pid, at) for pid, at in found["others"])})
        except FileNotFoundError:
            raise PodBoardError(f"a pod must have been started, but there is no {path}: "
                                "`celosia pod start`") from None
        except (ValueError, TypeError, KeyError) as error:
            raise PodBoardError(f"{path} must be of a pod of this version, but {error}") from None
        if begun(made.pid) != made.begun:
            raise PodBoardError(f"the process {made.pid} must keep the pod of {path}, but it has "
                                "ended: `celosia pod start`")
        return made

    def write(self, path: Path) -> None:
        """Write the file, for its owner alone.

        Raises
        ------
        PodBoardError
            If it cannot be written, as on a disk that is full; the one before is as it was.
        """
        other = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            other.unlink(missing_ok=True)
            with open(os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(dataclasses.asdict(self), file)
            other.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                other.unlink(missing_ok=True)
            raise PodBoardError(f"{path} must be written, but {error.strerror}") from None


class _KeptHost:
    """A board of the pod: a `celosia_sim.pod.apart.Host`."""

    def __init__(self, path: Path, number: int, after: int):
        self._path, self._number, self._after = path, number, after
        self._found: KeptBoard | None = None
        self.name = f"board {number}"

    @property
    def serial(self) -> int:
        """Which one it is of those that have been in its place; else which it comes after."""
        return self._after if self._found is None else self._found.serial

    def address(self) -> Address:
        end = monotonic() + _BEGIN
        while self._found is None:
            board = KeptPod.read(self._path).boards[self._number]
            if board.serial > self._after:
                self._found = board
                self.name = f"board {self._number}, the process {board.pid},"
            elif monotonic() > end:
                raise BoardLost(f"board {self._number} must be replaced within {_BEGIN:g} s, but "
                                "it was not")
            else:
                sleep(_NAP)
        return self._found.host, self._found.port

    def end(self) -> str:
        return "has hung up"

    def kill(self) -> None:
        board = self._found
        if board is not None and begun(board.pid) == board.begun:
            with contextlib.suppress(OSError):
                os.kill(board.pid, signal.SIGKILL)

    def leave(self) -> None:
        pass


class KeptStarter:
    """Has a pod's keeper start boards: a `celosia_sim.pod.apart.Starter`.

    Parameters
    ----------
    path
        Of the file.
    boards
        How many are wanted.

    Raises
    ------
    PodBoardError
        If there is no such pod, or it has fewer.
    """

    def __init__(self, path: Path, boards: int):
        found = KeptPod.read(path)
        if boards > len(found.boards):
            raise PodBoardError(f"the pod must have {boards} boards, not {len(found.boards)}: "
                                f"`celosia pod stop`, then `celosia pod start --boards {boards}`")
        self.token = bytes.fromhex(found.token)
        self._path = path
        self._hosts: dict[int, _KeptHost] = {}

    @classmethod
    def of(cls, environment: Mapping[str, str], boards: int) -> KeptStarter | None:
        """Return that of CELOSIA_POD, if there is one."""
        path = environment.get("CELOSIA_POD")
        return cls(Path(path), boards) if path else None

    def start(self, number: int) -> _KeptHost:
        """Return the board that is in a place, or that comes after the one that was."""
        before = self._hosts.get(number)
        made = self._hosts[number] = _KeptHost(self._path, number,
                                               -1 if before is None else before.serial)
        return made
