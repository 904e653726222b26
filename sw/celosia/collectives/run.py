"""A program on all devices at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from celosia.collectives.interconnect import Cancelled, HostInterconnect, InterconnectPeer
from celosia.compiled.executable import Executable
from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.graph import Graph, interpret

__all__ = ["interpret_spmd", "on_all", "run_spmd"]

Result = TypeVar("Result")
#: Seconds between looks whether the threads have ended; Ctrl-C comes through then.
_NAP = 0.05


def run_spmd(executables: Sequence[Executable], arguments: Sequence[Sequence[Any]], *,
             timeout: float = 3600.0, cycles: int | None = DEFAULT_TIMEOUT,
             ) -> list[tuple[Any, ...]]:
    """Run a program on all devices and return the results of each, on the host.

    Parameters
    ----------
    executables
        The program, loaded on each device; number i is the device of that number for the
        program's collectives.
    arguments
        Those of each device, as of `celosia.compiled.Executable.run`.
    timeout
        Seconds that a device waits for the others at one collective.
    cycles
        That each part of the program on a chip may take; None: no limit.

    Raises
    ------
    BaseException
        Of the device that failed first; the others do not go on. It has a note which it was.
    ValueError
        If the number of devices is wrong.
    """
    if len(executables) != len(arguments) or not executables:
        raise ValueError(f"there must be arguments for each of {len(executables)} devices, not "
                         f"for {len(arguments)}")

    def one(number: int, peer: InterconnectPeer) -> tuple[Any, ...]:
        return executables[number](*arguments[number], timeout=cycles, peer=peer)

    return on_all(HostInterconnect(len(executables), timeout), one)


def interpret_spmd(graph: Graph, arguments: Sequence[Sequence[Any]], *,
                   timeout: float = 600.0, precision: str | None = None) -> list[list[Any]]:
    """Return the outputs of a graph for each device: what `run_spmd` gives, by definition.

    Parameters
    ----------
    graph
        What all devices run.
    arguments
        Those of each device.
    timeout, precision
        As of `run_spmd` and `celosia.graph.interpret`.
    """
    return on_all(HostInterconnect(len(arguments), timeout), lambda number, peer: interpret(
        graph, arguments[number], precision=precision, peer=peer))


def on_all(interconnect: HostInterconnect,
           function: Callable[[int, InterconnectPeer], Result]) -> list[Result]:
    """Call a function for every device, each in a thread, and return what it returns.

    Raises
    ------
    BaseException
        The first that it raised; all others have ended when this is raised.
    """
    results: dict[int, Result] = {}
    errors: list[tuple[int, BaseException]] = []

    def run(number: int) -> None:
        try:
            with interconnect.device(number) as peer:
                results[number] = function(number, peer)
        except BaseException as error:
            errors.append((number, error))

    threads = [threading.Thread(target=run, args=(number,), name=f"celosia-spmd-{number}",
                                daemon=True) for number in range(interconnect.count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(_NAP)
    except BaseException as error:  # Ctrl-C
        interconnect.cancel(error)
        raise
    if errors:
        number, first = next((each for each in errors if not isinstance(each[1], Cancelled)),
                             errors[0])
        first.add_note(f"on device {number} of {interconnect.count}")
        raise first
    return [results[number] for number in range(interconnect.count)]
