"""Errors as they go over the PJRT interface: a code and a message."""

from __future__ import annotations

from enum import IntEnum

from celosia.collectives.processes import ProcessError
from celosia.compiler.errors import CompileError, MemoryTooSmall
from celosia.driver import DeviceError, OutOfDeviceMemory
from celosia.frontend import FrontendError

__all__ = ["ErrorCode", "PjrtError", "as_error"]


class ErrorCode(IntEnum):
    """What kind of error it is, as abseil counts them."""

    CANCELLED = 1
    INVALID_ARGUMENT = 3
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    UNIMPLEMENTED = 12
    INTERNAL = 13


class PjrtError(RuntimeError):
    """An error with a code; its text is what the user of JAX reads."""

    def __init__(self, code: ErrorCode, message: str):
        super().__init__(message)
        self.code, self.message = code, message


def as_error(error: BaseException) -> PjrtError:
    """Return any exception as one that can go over the interface."""
    if isinstance(error, PjrtError):
        return error
    message = str(error) or type(error).__name__
    if isinstance(error, OutOfDeviceMemory | MemoryTooSmall | MemoryError):
        return PjrtError(ErrorCode.RESOURCE_EXHAUSTED, message)
    if isinstance(error, FrontendError | CompileError):
        return PjrtError(ErrorCode.UNIMPLEMENTED, message)
    if isinstance(error, KeyboardInterrupt):
        return PjrtError(ErrorCode.CANCELLED, "interrupted")
    if isinstance(error, DeviceError | ProcessError):
        return PjrtError(ErrorCode.INTERNAL, message)
    if isinstance(error, ValueError):
        return PjrtError(ErrorCode.INVALID_ARGUMENT, message)
    return PjrtError(ErrorCode.INTERNAL, f"{type(error).__name__}: {message}")
