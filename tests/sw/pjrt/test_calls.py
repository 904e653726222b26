"""The table of functions as a C program meets it: addresses and structures, no JAX."""

import ctypes

import numpy as np
import pytest

from celosia.pjrt import (  # noqa: F401  the calls fill the table
    calls_buffers,
    calls_client,
    calls_devices,
    calls_executables,
)
from celosia.pjrt.handles import HANDLES
from celosia.pjrt.structs import ElementType, MemoryLayout, arguments, structure
from celosia.pjrt.table import make_table

#: Codes of errors, of absl::Status.
INVALID, UNIMPLEMENTED = 3, 12
MODULE = b"""module @pair {
func.func public @main(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4xi32>) {
 %two = stablehlo.constant dense<2.0> : tensor<3x4xf32>
 %y = stablehlo.multiply %x, %two : tensor<3x4xf32>
 %i = stablehlo.iota dim = 0 : tensor<4xi32>
 return %y, %i : tensor<3x4xf32>, tensor<4xi32>
}
}"""


class Refused(Exception):
    """An error object of the interface; ``code`` is absl's."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Plugin:
    """Calls functions by name: ``plugin("Client_Devices", client=..)`` returns the structure."""

    def __init__(self):
        self.table = make_table()

    def raw(self, name, args):
        """Call with a structure; return the error's number."""
        function = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(getattr(self.table, name))
        return function(ctypes.addressof(args))

    def __call__(self, name, **members):
        args = arguments(name)(struct_size=ctypes.sizeof(arguments(name)))
        for member, value in members.items():
            setattr(args, member, value)
        error = self.raw(name, args)
        if error:
            message = self("Error_Message", error=error)
            text = ctypes.string_at(message.message, message.message_size).decode()
            code = self("Error_GetCode", error=error).code
            self.raw("Error_Destroy", arguments("Error_Destroy")(error=error))
            raise Refused(code, text)
        return args

    def text(self, name, **members):
        """Call a function that returns a text."""
        found = self(name, **members)
        return ctypes.string_at(found.text, found.text_size).decode()

    def wait(self, event):
        """Wait for an event; Refused if it carries an error."""
        self("Event_Await", event=event)
        assert self("Event_IsReady", event=event).is_ready
        self("Event_Error", event=event)
        self.raw("Event_Destroy", arguments("Event_Destroy")(event=event))


@pytest.fixture(scope="module")
def plugin():
    return Plugin()


@pytest.fixture
def client(plugin, monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    monkeypatch.setenv("CELOSIA_DEVICES", "2")
    made = plugin("Client_Create").client
    yield made
    plugin("Client_Destroy", client=made)
    plugin("Client_Destroy", client=made)  # a second time is no harm


def pointers_at(address, count):
    return list((ctypes.c_size_t * count).from_address(address))


def devices_of(plugin, client):
    found = plugin("Client_Devices", client=client)
    return pointers_at(found.devices, found.num_devices)


def put(plugin, client, array, device, strides=(), type=None):
    """Hand an array over, and return its buffer."""
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    steps = (ctypes.c_int64 * max(len(strides), 1))(*strides)
    made = plugin("Client_BufferFromHostBuffer", client=client, data=array.ctypes.data,
                  type=type or ElementType.NUMBERS[array.dtype.name],
                  dims=ctypes.addressof(dims), num_dims=array.ndim,
                  byte_strides=ctypes.addressof(steps), num_byte_strides=len(strides),
                  device=device)
    plugin.wait(made.done_with_host_buffer)
    return made.buffer


def get(plugin, buffer, like, layout=None):
    """Return the contents of a buffer."""
    found = np.empty_like(like)
    size = plugin("Buffer_ToHostBuffer", buffer=buffer).dst_size
    assert size == found.nbytes
    copied = plugin("Buffer_ToHostBuffer", buffer=buffer, dst=found.ctypes.data, dst_size=size,
                    host_layout=ctypes.addressof(layout) if layout else 0)
    plugin.wait(copied.event)
    return found


def compiled(plugin, client, code=MODULE, form=b"mlir", options=b""):
    texts = [ctypes.create_string_buffer(each, len(each) + 1) for each in (code, form, options)]
    addresses = [ctypes.addressof(each) for each in texts]
    program = structure("Program")(code=addresses[0], code_size=len(code), format=addresses[1],
                                   format_size=len(form))
    return plugin("Client_Compile", client=client, program=ctypes.addressof(program),
                  compile_options=addresses[2], compile_options_size=len(options)).executable


X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_client_devices_and_memories(plugin, client):
    name = plugin("Client_PlatformName", client=client)
    assert ctypes.string_at(name.platform_name, name.platform_name_size) == b"celosia"
    version = plugin("Client_PlatformVersion", client=client)
    assert ctypes.string_at(version.platform_version,
                            version.platform_version_size).startswith(b"celosia ")
    assert plugin("Client_ProcessIndex", client=client).process_index == 0
    first, second = devices_of(plugin, client)
    assert plugin("Client_LookupDevice", client=client, id=1).device == second
    with pytest.raises(Refused, match="device"):
        plugin("Client_LookupDevice", client=client, id=2)
    found = plugin("Client_AddressableMemories", client=client)
    memories = pointers_at(found.memories, found.num_memories)
    assert [plugin("Device_DefaultMemory", device=each).memory
            for each in (first, second)] == memories
    for number, (device, memory) in enumerate(zip((first, second), memories, strict=True)):
        description = plugin("Device_GetDescription", device=device).description
        assert plugin("DeviceDescription_Id", device=description).id == number
        assert plugin("Device_LocalHardwareId", device=device).id == number
        assert plugin("Device_IsAddressable", device=device).is_addressable
        assert plugin("Memory_Id", memory=memory).id == number
        assert plugin.text("Memory_Kind", memory=memory) == "device"
        assert plugin("Memory_Kind_Id", memory=memory).kind_id == 0
        assert f"id={number}" in plugin.text("Memory_ToString", memory=memory)
        owners = plugin("Memory_AddressableByDevices", memory=memory)
        assert pointers_at(owners.devices, owners.num_devices) == [device]
        assert plugin("Device_MemoryStats", device=device).bytes_in_use == 0
        none = plugin("DeviceDescription_Attributes", device=description)
        assert (none.attributes, none.num_attributes) == (0, 0)


def test_topology_is_the_clients(plugin, client):
    topology = plugin("Client_TopologyDescription", client=client).topology
    assert plugin.text("TopologyDescription_PlatformName", topology=topology) == "celosia"
    assert plugin.text("TopologyDescription_PlatformVersion",
                       topology=topology).startswith("celosia ")
    found = plugin("TopologyDescription_GetDeviceDescriptions", topology=topology)
    assert found.num_devices == 2
    plugin("TopologyDescription_Destroy", topology=topology)
    with pytest.raises(Refused, match="PJRT_TopologyDescription_Serialize") as refused:
        plugin("TopologyDescription_Serialize", topology=topology)
    assert refused.value.code == UNIMPLEMENTED


def test_default_assignment_is_the_devices_in_order(plugin, client):
    numbers = (ctypes.c_int32 * 2)(7, 7)
    plugin("Client_DefaultDeviceAssignment", client=client, num_replicas=1, num_partitions=2,
           default_assignment_size=2, default_assignment=ctypes.addressof(numbers))
    assert list(numbers) == [0, 1]
    with pytest.raises(Refused, match="device"):
        plugin("Client_DefaultDeviceAssignment", client=client, num_replicas=3,
               num_partitions=1, default_assignment_size=3,
               default_assignment=ctypes.addressof(numbers))


def test_arrays_go_and_come_in_any_strides(plugin, client):
    device = devices_of(plugin, client)[0]
    turned = put(plugin, client, np.ascontiguousarray(X.T), device, strides=(4, 12))
    # (4, 3) of memory that holds X's transpose, read column by column.
    assert plugin("Buffer_OnDeviceSizeInBytes", buffer=turned).size == X.nbytes
    dims = plugin("Buffer_Dimensions", buffer=turned)
    assert list((ctypes.c_int64 * 2).from_address(dims.dims)) == [4, 3]
    straight = put(plugin, client, X, device)
    back = put(plugin, client, X[::-1], device, strides=X[::-1].strides)
    nothing = put(plugin, client, np.empty((0, 4), np.float32), device)
    np.testing.assert_array_equal(get(plugin, straight, X), X)
    np.testing.assert_array_equal(get(plugin, back, X), X[::-1])
    assert get(plugin, nothing, np.empty((0, 4), np.float32)).shape == (0, 4)
    assert not plugin("Buffer_IsOnCpu", buffer=straight).is_on_cpu
    assert plugin("Buffer_Device", buffer=straight).device == device
    assert plugin("Buffer_ElementType", buffer=straight).type == ElementType.NUMBERS["float32"]
    assert plugin("Buffer_DynamicDimensionIndices", buffer=straight).count == 0
    plugin("Buffer_IncreaseExternalReferenceCount", buffer=straight)
    plugin("Buffer_DecreaseExternalReferenceCount", buffer=straight)


@pytest.mark.parametrize(("name", "wanted"), [("F", X.T), ("C", X), ("strides", X.T)])
def test_the_layout_on_the_host_is_the_callers(plugin, client, name, wanted):
    buffer = put(plugin, client, X, devices_of(plugin, client)[0])
    if name == "strides":
        steps = (ctypes.c_int64 * 2)(4, 12)
        layout = MemoryLayout(type=MemoryLayout.STRIDES)
        layout.strides = structure("Strides")(byte_strides=ctypes.addressof(steps),
                                              num_byte_strides=2)
    else:
        order = (ctypes.c_int64 * 2)(*((0, 1) if name == "F" else (1, 0)))
        layout = MemoryLayout(type=MemoryLayout.TILED)
        layout.tiled = structure("Tiled")(minor_to_major=ctypes.addressof(order),
                                          minor_to_major_size=2)
    found = get(plugin, buffer, X, layout)
    np.testing.assert_array_equal(found.ravel(), wanted.ravel())


def test_a_layout_of_tiles_is_refused(plugin, client):
    buffer = put(plugin, client, X, devices_of(plugin, client)[0])
    layout = MemoryLayout(type=MemoryLayout.TILED)
    layout.tiled = structure("Tiled")(num_tiles=1)
    with pytest.raises(Refused, match="no tiles") as refused:
        get(plugin, buffer, X, layout)
    assert refused.value.code == UNIMPLEMENTED


def test_part_of_an_array_and_no_more(plugin, client):
    buffer = put(plugin, client, X, devices_of(plugin, client)[0])
    part = np.empty(3, np.float32)
    copied = plugin("Buffer_CopyRawToHost", buffer=buffer, dst=part.ctypes.data, offset=8,
                    transfer_size=12)
    plugin.wait(copied.event)
    np.testing.assert_array_equal(part, X.ravel()[2:5])
    for offset, size in ((-4, 8), (0, -1), (40, 12)):
        with pytest.raises(Refused, match=f"inside 48 bytes, not {offset} and {size}"):
            plugin("Buffer_CopyRawToHost", buffer=buffer, dst=part.ctypes.data, offset=offset,
                   transfer_size=size)
    with pytest.raises(Refused, match="dst must have 48 bytes, not 12"):
        plugin("Buffer_ToHostBuffer", buffer=buffer, dst=part.ctypes.data, dst_size=12)


def test_a_type_that_nobody_has_is_refused(plugin, client):
    with pytest.raises(Refused, match="not of PJRT's type 99") as refused:
        put(plugin, client, X, devices_of(plugin, client)[0], type=99)
    assert refused.value.code == UNIMPLEMENTED


def test_copies_on_another_device_outlive_the_array(plugin, client):
    first, second = devices_of(plugin, client)
    memory = plugin("Device_DefaultMemory", device=second).memory
    buffer = put(plugin, client, X, first)
    copies = [plugin("Buffer_CopyToDevice", buffer=buffer, device=second).copy,
              plugin("Buffer_CopyToMemory", buffer=buffer, memory=memory).copy]
    plugin("Buffer_Delete", buffer=buffer)
    assert plugin("Buffer_IsDeleted", buffer=buffer).is_deleted
    for copy in copies:
        np.testing.assert_array_equal(get(plugin, copy, X), X)
        assert plugin("Buffer_Device", buffer=copy).device == second
        assert plugin("Buffer_Memory", buffer=copy).memory == memory
    for name, more in (("Buffer_ToHostBuffer", {"dst": X.ctypes.data, "dst_size": 48}),
                       ("Buffer_CopyToDevice", {"device": second})):
        with pytest.raises(Refused, match="deleted or donated") as refused:
            plugin(name, buffer=buffer, **more)
        assert refused.value.code == INVALID


def run(plugin, executable, lists, **more):
    """Execute; return the buffers of each device and its event."""
    count = len(lists[0])
    rows = [(ctypes.c_size_t * max(count, 1))(*row) for row in lists]
    results = [(ctypes.c_size_t * 2)() for _ in lists]
    pointers = [(ctypes.c_size_t * len(lists))(*map(ctypes.addressof, each))
                for each in (rows, results)]
    events = (ctypes.c_size_t * len(lists))()
    options = structure("ExecuteOptions")()
    plugin("LoadedExecutable_Execute", executable=executable,
           options=ctypes.addressof(options), argument_lists=ctypes.addressof(pointers[0]),
           num_devices=len(lists), num_args=count, output_lists=ctypes.addressof(pointers[1]),
           device_complete_events=ctypes.addressof(events), **more)
    return [list(each) for each in results], list(events)


def test_a_program_runs_and_says_what_it_is(plugin, client):
    device = devices_of(plugin, client)[0]
    loaded = compiled(plugin, client)
    program = plugin("LoadedExecutable_GetExecutable", loaded=loaded).executable
    assert plugin.text("Executable_Name", executable=program) == "pair"
    assert plugin("Executable_NumReplicas", executable=program).count == 1
    assert plugin("Executable_NumPartitions", executable=program).count == 1
    assert plugin("Executable_NumOutputs", executable=program).count == 2
    assert plugin("Executable_SizeOfGeneratedCodeInBytes", executable=program).size > 0
    types = plugin("Executable_OutputElementTypes", executable=program)
    assert list((ctypes.c_int32 * types.num_types).from_address(types.types)) == [
        ElementType.NUMBERS["float32"], ElementType.NUMBERS["int32"]]
    dims = plugin("Executable_OutputDimensions", executable=program)
    assert pointers_at(dims.dim_sizes, dims.num_outputs) == [2, 1]
    assert pointers_at(dims.dims, 3) == [3, 4, 4]
    kinds = plugin("Executable_OutputMemoryKinds", executable=program)
    assert [ctypes.string_at(at, size) for at, size in zip(
        pointers_at(kinds.kinds, 2), pointers_at(kinds.kind_sizes, 2), strict=True)] == [
            b"device", b"device"]
    assert (plugin.text("Executable_Fingerprint", executable=program)
            == plugin.text("LoadedExecutable_Fingerprint", executable=loaded) != "")
    where = plugin("LoadedExecutable_AddressableDevices", executable=loaded)
    assert pointers_at(where.devices, where.num_devices) == [device]
    assignment = plugin("LoadedExecutable_GetDeviceAssignment", executable=loaded)
    assert ctypes.string_at(assignment.bytes, assignment.bytes_size)

    ((y, i),), (event,) = run(plugin, loaded, [[put(plugin, client, X, device)]])
    plugin.wait(event)
    np.testing.assert_array_equal(get(plugin, y, X), 2 * X)
    np.testing.assert_array_equal(get(plugin, i, np.empty(4, np.int32)), np.arange(4))
    ready = plugin("Buffer_ReadyEvent", buffer=y).event
    seen = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)(
        lambda error, argument: seen.append((error, argument)))
    plugin("Event_OnReady", event=ready, user_arg=7,
           callback=ctypes.cast(callback, ctypes.c_void_p).value)
    plugin.wait(ready)
    assert seen == [(0, 7)]
    # The device may be named, as who runs one replica of many does.
    ((y, _),), (event,) = run(plugin, loaded, [[put(plugin, client, X, device)]],
                              execute_device=device)
    plugin.wait(event)
    np.testing.assert_array_equal(get(plugin, y, X), 2 * X)


def test_the_text_of_a_program_wants_room(plugin, client):
    loaded = compiled(plugin, client)
    asked = structure("Program")()
    plugin("Executable_OptimizedProgram", executable=loaded, program=ctypes.addressof(asked))
    assert ctypes.string_at(asked.format, asked.format_size) == b"mlir"
    text = ctypes.create_string_buffer(asked.code_size)
    asked.code = ctypes.addressof(text)
    plugin("Executable_OptimizedProgram", executable=loaded, program=ctypes.addressof(asked))
    assert b"module" in text.raw
    asked.code_size = 3
    with pytest.raises(Refused, match="room for .* bytes, not 3"):
        plugin("Executable_OptimizedProgram", executable=loaded, program=ctypes.addressof(asked))


def test_a_program_wants_the_arguments_of_its_devices(plugin, client):
    first, second = devices_of(plugin, client)
    loaded = compiled(plugin, client)
    lists = [[put(plugin, client, X, device)] for device in (first, second)]
    with pytest.raises(Refused, match="pair must be given the arguments of 1 devices, not of 2"):
        run(plugin, loaded, lists)


def test_what_is_no_program_is_refused(plugin, client):
    with pytest.raises(Refused, match="format mlir, not 'hlo'") as refused:
        compiled(plugin, client, form=b"hlo")
    assert refused.value.code == INVALID
    with pytest.raises(Refused):
        compiled(plugin, client, code=b"module { this is none }")
    with pytest.raises(Refused, match="compile options must be a whole message"):
        compiled(plugin, client, options=b"\x1a\x80")


def test_a_deleted_program_runs_no_more(plugin, client):
    device = devices_of(plugin, client)[0]
    loaded = compiled(plugin, client)
    assert not plugin("LoadedExecutable_IsDeleted", executable=loaded).is_deleted
    plugin("LoadedExecutable_Delete", executable=loaded)
    assert plugin("LoadedExecutable_IsDeleted", executable=loaded).is_deleted
    with pytest.raises(Refused, match="deleted"):
        run(plugin, loaded, [[put(plugin, client, X, device)]])


def test_nothing_of_a_program_stays(plugin, client):
    before = len(HANDLES)
    device = devices_of(plugin, client)[0]
    loaded = compiled(plugin, client)
    x = put(plugin, client, X, device)
    ((y, i),), (event,) = run(plugin, loaded, [[x]])
    plugin.wait(event)
    for name, member, number in (("Buffer_Destroy", "buffer", x), ("Buffer_Destroy", "buffer", y),
                                 ("Buffer_Destroy", "buffer", i),
                                 ("LoadedExecutable_Destroy", "executable", loaded)):
        plugin(name, **{member: number})
    assert len(HANDLES) == before


def test_what_is_not_implemented_says_so(plugin, client):
    with pytest.raises(Refused, match="PJRT_Client_DmaMap is not implemented") as refused:
        plugin("Client_DmaMap")
    assert refused.value.code == UNIMPLEMENTED
