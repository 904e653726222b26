"""Calls about errors, events, the plugin, its client and the topology."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.metadata import version
from typing import Any

from celosia.pjrt.chips import PjrtChip
from celosia.pjrt.client import Client
from celosia.pjrt.errors import PjrtError
from celosia.pjrt.events import Event
from celosia.pjrt.handles import HANDLES, Text, bytes_at, pointers
from celosia.pjrt.named import NamedValues
from celosia.pjrt.nodes import join
from celosia.pjrt.protobuf import CompileOptions
from celosia.pjrt.serialised import deserialise
from celosia.pjrt.settings import PLATFORM
from celosia.pjrt.structs import structure
from celosia.pjrt.table import entry, fail

__all__ = ["clients"]

_NAME, _VERSION = Text(PLATFORM), Text(f"celosia {version('celosia')}")
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
_PROGRAM = structure("Program")
#: All clients that were made and not destroyed.
clients: list[Client] = []


class _Connection:
    """A client, and lists of its devices and memories in memory."""

    def __init__(self, client: Client):
        self.client = client
        for chip in client.devices:
            chip.handle = HANDLES.add(chip)
            if isinstance(chip, PjrtChip):
                chip.memory_handle = HANDLES.add(chip)
                chip.devices = pointers([chip.handle])
                chip.memories = pointers([chip.memory_handle])
        self.all = pointers(chip.handle for chip in client.devices)
        self.devices = pointers(chip.handle for chip in client.chips)
        self.memories = pointers(chip.memory_handle for chip in client.chips)
        self.count, self.total = len(client.chips), len(client.devices)


@entry("Error_Message")
def _error_message(args: Any) -> None:
    text = HANDLES[args.error].text
    args.message, args.message_size = text.address, text.size


@entry("Error_GetCode")
def _error_code(args: Any) -> None:
    args.code = HANDLES[args.error].code


@entry("Plugin_Initialize")
def _nothing(args: Any) -> None:
    pass


@entry("Client_UpdateGlobalProcessInfo")
def _process_info(args: Any) -> None:
    pass  # the connections to other processes say who lives


@cache
def _attributes() -> NamedValues:
    """Attributes of the plugin: what jaxlib may send, which is what it has itself."""
    from jax._src.lib.mlir.dialects import hlo
    return NamedValues({
        **{f"stablehlo_{name}_version": [int(part) for part in asked().split(".")]
           for name, asked in (("current", hlo.get_current_version),
                               ("minimum", hlo.get_minimum_version))},
        # Shardings and manual computations as they are, also where jaxlib does not know better.
        "serialize_with_sdy": True})


@entry("Plugin_Attributes")
def _plugin_attributes(args: Any) -> None:
    found = _attributes()
    args.attributes, args.num_attributes = found.address, found.count


@entry("TopologyDescription_Attributes", "DeviceDescription_Attributes")
def _no_attributes(args: Any) -> None:
    args.attributes, args.num_attributes = 0, 0


@entry("Event_IsReady")
def _event_is_ready(args: Any) -> None:
    args.is_ready = HANDLES[args.event].done


@entry("Event_Error")
def _event_error(args: Any) -> None:
    _raise(HANDLES[args.event])


@entry("Event_Await")
def _event_await(args: Any) -> None:
    event = HANDLES[args.event]
    event.wait()
    _raise(event)


def _raise(event: Event) -> None:
    if event.error is not None:
        raise PjrtError(event.error.code, event.error.message)


@entry("Event_OnReady")
def _event_on_ready(args: Any) -> None:
    callback, argument = _CALLBACK(args.callback), args.user_arg
    HANDLES[args.event].then(lambda error: callback(fail(error), argument))


@entry("Client_Create")
def _client_create(args: Any) -> None:
    client = Client(*join(args))
    clients.append(client)
    args.client = HANDLES.add(_Connection(client))


@entry("Client_Destroy")
def _client_destroy(args: Any) -> None:
    connection = HANDLES.drop(args.client)
    if connection is not None and connection.client in clients:
        clients.remove(connection.client)
        connection.client.close()
        connection.client.report()


@entry("Client_PlatformName")
def _platform_name(args: Any) -> None:
    args.platform_name, args.platform_name_size = _NAME.address, _NAME.size


@entry("Client_PlatformVersion")
def _platform_version(args: Any) -> None:
    args.platform_version, args.platform_version_size = _VERSION.address, _VERSION.size


@entry("Client_ProcessIndex")
def _process_index(args: Any) -> None:
    args.process_index = HANDLES[args.client].client.process


@entry("Client_Devices")
def _devices(args: Any) -> None:
    connection = HANDLES[args.client]
    args.devices, args.num_devices = ctypes.addressof(connection.all), connection.total


@entry("Client_AddressableDevices")
def _addressable_devices(args: Any) -> None:
    connection = HANDLES[args.client]
    args.devices, args.num_devices = ctypes.addressof(connection.devices), connection.count


@entry("Client_AddressableMemories")
def _memories(args: Any) -> None:
    connection = HANDLES[args.client]
    args.memories, args.num_memories = ctypes.addressof(connection.memories), connection.count


@entry("Client_LookupDevice")
def _lookup_device(args: Any) -> None:
    args.device = HANDLES[args.client].client.device(args.id).handle


@entry("Client_LookupAddressableDevice")
def _lookup_addressable_device(args: Any) -> None:
    args.device = HANDLES[args.client].client.chip(args.id).handle


@entry("Client_TopologyDescription")
def _topology(args: Any) -> None:
    args.topology = args.client


@entry("TopologyDescription_PlatformName")
def _topology_name(args: Any) -> None:
    args.text, args.text_size = _NAME.address, _NAME.size


@entry("TopologyDescription_PlatformVersion")
def _topology_version(args: Any) -> None:
    args.text, args.text_size = _VERSION.address, _VERSION.size


@entry("TopologyDescription_GetDeviceDescriptions")
def _topology_devices(args: Any) -> None:
    connection = HANDLES[args.topology]
    args.devices, args.num_devices = ctypes.addressof(connection.all), connection.total


@entry("TopologyDescription_Destroy")
def _topology_destroy(args: Any) -> None:
    pass  # it is the client's


@entry("ExecuteContext_Create")
def _context_create(args: Any) -> None:
    args.context = HANDLES.add(None)


@entry("Client_DefaultDeviceAssignment")
def _default_device_assignment(args: Any) -> None:
    count = args.num_replicas * args.num_partitions
    HANDLES[args.client].client.device(count - 1)
    numbers = (ctypes.c_int32 * count).from_address(args.default_assignment)
    numbers[:] = range(count)


@entry("Client_Compile")
def _compile(args: Any) -> None:
    program = _PROGRAM.from_address(args.program)
    form = bytes_at(program.format, program.format_size).decode()
    if form != "mlir":
        raise ValueError(f"program must be in the format mlir, not {form!r}")
    module = bytes_at(program.code, program.code_size)
    options = CompileOptions.parse(bytes_at(args.compile_options, args.compile_options_size))
    client = HANDLES[args.client].client
    args.executable = HANDLES.add(client.compile(module, options))


@entry("Executable_DeserializeAndLoad")
def _load(args: Any) -> None:
    client = HANDLES[args.client].client
    args.executable = HANDLES.add(deserialise(client, bytes_at(args.bytes, args.bytes_size)))


