"""The device of a server, and the thread that owns it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.compiled import Executable, Loaded
from celosia.driver import ChipFault, Device, DeviceError, RunTimeout
from celosia.graph import TensorType
from celosia.serve.model import Model

__all__ = ["Runner", "Worker"]

_T = TypeVar("_T")


class Runner:
    """A model on a device. To be used from one thread.

    After a fault of the chip the device has been reset, and the program is still on it; after any
    other error of the driver, the device is opened anew by the next run.

    Parameters
    ----------
    model
        What to run.
    make
        Opens the device.
    timeout
        Cycles that a run may take.

    Attributes
    ----------
    cycles
        Of the last run.
    opened
        Times that the device was opened.
    """

    def __init__(self, model: Model, make: Callable[[], Device], timeout: int):
        self.model, self.timeout = model, timeout
        self.cycles = self.opened = 0
        self._make = make
        self._loaded = Loaded(self._open)

    def _open(self) -> Device:
        self.opened += 1
        return self._make()

    @property
    def ready(self) -> bool:
        """Whether the program is on the device."""
        return self.model.compiled in self._loaded

    def open(self) -> Executable:
        """Have the program on the device; errors as of the driver's."""
        if not self.ready:
            self.close()
        return self._loaded.get(self.model.compiled)

    def close(self) -> None:
        """Close the device."""
        self._loaded.close()

    def run(self, inputs: Sequence[NDArray[Any]], requests: int = 0) -> list[NDArray[Any]]:
        """Run once.

        Parameters
        ----------
        inputs
            Of the model, in its order, with exactly its batch.
        requests
            How many requests it answers, for ``celosia smi``.

        Returns
        -------
        list
            Its outputs.

        Raises
        ------
        DeviceError
            If the run fails. The next one may be well.
        """
        executable = self.open()
        arguments: list[Any] = [self.model.weights.get(number) for number
                                in range(len(self.model.compiled.inputs))]
        for tensor, array in zip(self.model.inputs, inputs, strict=True):
            arguments[tensor.number] = array
        try:
            results = executable(*arguments, timeout=self.timeout)
        except (ChipFault, RunTimeout):
            raise
        except DeviceError:
            self.close()
            raise
        self.cycles = executable.cycles
        self._loaded.device.answered(requests)
        return [results[each.number] for each in self.model.outputs]

    def check_rows(self) -> None:
        """Raise ValueError if a row's answer depends on the other rows of its run.

        Requests are put together into runs, so it must not. Tried with random numbers, in two
        runs: the same rows, in another order and beside others.
        """
        model = self.model
        if model.batch < 2:
            return
        rng = np.random.default_rng(0)
        axis, half = model.axis, model.batch // 2
        first = [_random(each.type, rng) for each in model.inputs]
        second = [_random(each.type, rng) for each in model.inputs]
        rows = np.arange(half)
        for one, other in zip(first, second, strict=True):
            _rows(other, axis)[model.batch - 1 - rows] = _rows(one, axis)[rows]
        for tensor, one, other in zip(model.outputs, self.run(first), self.run(second),
                                      strict=True):
            came = _rows(other, axis)[model.batch - 1 - rows].astype(np.float64)
            wanted = _rows(one, axis)[rows].astype(np.float64)
            scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-30)
            if not np.allclose(came, wanted, rtol=0, atol=1e-2 * scale, equal_nan=True):
                raise ValueError(
                    f"every row of {tensor.name} of {model.name} must depend on its own row of the "
                    f"inputs alone, since requests of several clients share a run, but it changes "
                    f"with the other rows (a batch normalisation that trains?)")


def _rows(array: NDArray[Any], axis: int) -> NDArray[Any]:
    return np.moveaxis(array, axis, 0)


def _random(type: TensorType, rng: np.random.Generator) -> NDArray[Any]:
    if type.dtype.is_float:
        return rng.standard_normal(type.shape).astype(type.dtype.numpy)
    return rng.integers(0, 2, type.shape).astype(type.dtype.numpy)


class Worker:
    """A thread that does one thing after another for an event loop.

    A daemon: a simulation that does not end cannot keep the process from ending.
    """

    def __init__(self, name: str):
        self._tasks: queue.SimpleQueue[tuple[Callable[[], Any], Callable[..., None]] | None]
        self._tasks = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            function, tell = task
            try:
                result, error = function(), None
            except BaseException as caught:  # whoever waits must hear of it, whatever it is
                result, error = None, caught
            try:
                tell(result, error)
            except RuntimeError:  # the loop is closed, nobody waits
                pass
            del task, function, tell, result, error

    async def call(self, function: Callable[[], _T]) -> _T:
        """Return what a function returns, or raises, in the thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()

        def settle(result: Any, error: BaseException | None) -> None:
            if future.done():  # nobody waits any more
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        def tell(result: Any, error: BaseException | None) -> None:
            loop.call_soon_threadsafe(settle, result, error)

        self._tasks.put((function, tell))
        return await future

    def close(self, timeout: float) -> bool:
        """End the thread after what it has to do; return whether it ended in ``timeout`` s."""
        self._tasks.put(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()
