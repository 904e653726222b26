"""The chips of this process as TensorFlow's cores, and errors as TensorFlow has them."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from celosia.compiler.errors import CompileError
from celosia.frontend import FrontendError
from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.chips import PjrtChip
from celosia.pjrt.client import Client, LoadedExecutable
from celosia.pjrt.errors import ErrorCode, PjrtError, as_error
from celosia.pjrt.settings import Settings

__all__ = ["client", "errors", "first_hand", "noted", "run", "settings", "upload"]

_ERRORS = {
    ErrorCode.CANCELLED: tf.errors.CancelledError,
    ErrorCode.INVALID_ARGUMENT: tf.errors.InvalidArgumentError,
    ErrorCode.NOT_FOUND: tf.errors.NotFoundError,
    ErrorCode.RESOURCE_EXHAUSTED: tf.errors.ResourceExhaustedError,
    ErrorCode.FAILED_PRECONDITION: tf.errors.FailedPreconditionError,
    ErrorCode.UNIMPLEMENTED: tf.errors.UnimplementedError,
    ErrorCode.INTERNAL: tf.errors.InternalError,
}

#: What programs have raised within functions of TensorFlow that run now.
_RAISED: list[tf.errors.OpError] = []


@cache
def settings() -> Settings:
    """Return what the environment says of the chips; ValueError if that is wrong."""
    try:
        return Settings.read()
    except PjrtError as error:
        raise ValueError(str(error)) from None


@cache
def client() -> Client:
    """Return the chips."""
    made = Client(settings())
    atexit.register(_close, made)
    return made


def _close(made: Client) -> None:
    made.close()
    made.report()


@contextmanager
def errors() -> Iterator[None]:
    """Raise errors of the chips and of the compiler as those of TensorFlow."""
    try:
        yield
    except (PjrtError, FrontendError, CompileError) as error:
        raise _ERRORS[as_error(error).code](None, None, str(error)) from error


@contextmanager
def noted() -> Iterator[None]:
    """As `errors`, within a function of TensorFlow that runs: for `first_hand` around it."""
    try:
        with errors():
            yield
    except tf.errors.OpError as error:
        _RAISED.append(error)
        raise


@contextmanager
def first_hand() -> Iterator[None]:
    """Raise what programs have raised within a function of TensorFlow as they did.

    TensorFlow makes an UnknownError of it, with all of the stack in its message.
    """
    try:
        yield
    except tf.errors.OpError as error:
        own = [each for each in _RAISED if each.message in error.message]
        _RAISED.clear()
        if own:
            raise own[0].with_traceback(None) from None
        raise


def upload(chip: PjrtChip, array: NDArray, name: str) -> PjrtBuffer:
    """Return an array, which must not change, for a chip: 64-bit elements in 32 bits.

    Raises
    ------
    tf.errors.InvalidArgumentError
        If an integer needs more bits.
    """
    array = np.asarray(array)
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)  # as its program takes it (`celosia.frontend.narrow`)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        if array.size and (narrow != array).any():
            worst = array[narrow != array].reshape(-1)[0]
            raise tf.errors.InvalidArgumentError(
                None, None, f"numbers of {name} must fit 32 bits on the chip, not {worst}")
        array = narrow
    return PjrtBuffer.of(chip, np.ascontiguousarray(array).reshape(array.shape))


def run(executables: Sequence[LoadedExecutable], arguments: Sequence[Sequence[PjrtBuffer]]
        ) -> list[list[PjrtBuffer]]:
    """Run a program on all chips, on each for its own shapes, and wait for the results of each.

    Raises
    ------
    PjrtError
        Of the first chip that has one.
    """
    first = executables[0]
    results, ends = client().execute(first, arguments, (), first.chips,
                                     [each.program for each in executables])
    for end in ends:
        end.wait()
    for end in ends:
        if end.error is not None:
            raise end.error
    return results
