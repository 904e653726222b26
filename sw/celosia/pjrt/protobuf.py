"""The two messages of XLA that go over the interface, in the encoding of protocol buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.storage.protobuf import fields, message, number, varint, varint_at

__all__ = ["CompileOptions", "device_assignment"]

#: Fields of CompileOptionsProto, of ExecutableBuildOptionsProto in it, and of
#: DeviceAssignmentProto in that.
_BUILD_OPTIONS, _OVERRIDES = 3, 7
_NUM_REPLICAS, _NUM_PARTITIONS, _DEVICE_ASSIGNMENT = 4, 5, 9
_COMPUTATION_DEVICES = 3


def device_assignment(devices: Sequence[Sequence[int]]) -> bytes:
    """Return a DeviceAssignmentProto.

    Parameters
    ----------
    devices
        For each partition the devices of its replicas.
    """
    made = number(1, len(devices[0])) + number(2, len(devices))
    for replicas in devices:
        made += message(_COMPUTATION_DEVICES, message(1, b"".join(map(varint, replicas))))
    return made


@dataclass(frozen=True)
class CompileOptions:
    """What is wanted of a program, of a serialised CompileOptionsProto.

    Attributes
    ----------
    replicas, partitions
        How many of each.
    devices
        For each partition the devices of its replicas; empty: the first ones.
    """

    replicas: int = 1
    partitions: int = 1
    devices: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def parse(cls, data: bytes) -> CompileOptions:
        """Read a message; ValueError if it is damaged, or has options that XLA has not, either.

        Those of XLA's own compilers mean nothing here, and do no harm.
        """
        replicas = partitions = 1
        devices: tuple[tuple[int, ...], ...] = ()
        try:
            for field, build in fields(data):
                if field == _OVERRIDES and isinstance(build, bytes):
                    name = next(value for inner, value in fields(build) if inner == 1)
                    if isinstance(name, bytes) and not name.startswith(b"xla_"):
                        raise ValueError(f"No such compile option: '{name.decode()}'")
                if field != _BUILD_OPTIONS or not isinstance(build, bytes):
                    continue
                for inner, value in fields(build):
                    if inner == _NUM_REPLICAS and isinstance(value, int):
                        replicas = value
                    elif inner == _NUM_PARTITIONS and isinstance(value, int):
                        partitions = value
                    elif inner == _DEVICE_ASSIGNMENT and isinstance(value, bytes):
                        devices = tuple(_computation(each) for which, each in fields(value)
                                        if which == _COMPUTATION_DEVICES
                                        and isinstance(each, bytes))
        except IndexError:
            raise ValueError("compile options must be a whole message") from None
        return cls(replicas, partitions, devices)


def _computation(data: bytes) -> tuple[int, ...]:
    found: list[int] = []
    for _, value in fields(data):
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            each, at = varint_at(value, at)
            found.append(each)
    return tuple(found)
