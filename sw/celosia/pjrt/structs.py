"""Structures of the PJRT C API, as data: what `pjrt_c_api.h` of OpenXLA declares.

Every function takes one structure of arguments, which begins with its size and a list of
extensions; the rest is here, a letter for each type. Members are read and written by name, and
only those of the version that `MINOR` says: a caller's structure may be longer.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

__all__ = ["ENTRIES", "MAJOR", "MINOR", "Api", "ElementType", "MemoryLayout", "arguments",
           "structure"]

#: Version of the API. jaxlib asks plugins for what came later by the number that they state.
MAJOR, MINOR = 0, 90

_TYPES = {
    "p": ctypes.c_size_t,  # a pointer, as a number
    "z": ctypes.c_size_t,
    "i": ctypes.c_int32,
    "q": ctypes.c_int64,
    "b": ctypes.c_bool,
}
_COMMON = "struct_size:z extension_start:p "

#: Arguments of the functions that are called with more than an object.
_ARGUMENTS = {
    "Error_Destroy": "error:p",
    "Error_Message": "error:p message:p message_size:z",
    "Error_GetCode": "error:p code:i",
    "Plugin_Initialize": "",
    "Plugin_Attributes": "attributes:p num_attributes:z",
    "Event_Destroy": "event:p",
    "Event_IsReady": "event:p is_ready:b",
    "Event_Error": "event:p",
    "Event_Await": "event:p",
    "Executable_GetCostAnalysis": "executable:p num_properties:z properties:p",
    "Executable_GetCompiledMemoryStats":
        "executable:p code:q arguments:q outputs:q aliased:q temporaries:q host_code:q "
        "host_arguments:q host_outputs:q host_aliased:q host_temporaries:q peak:q",
    "Event_OnReady": "event:p callback:p user_arg:p",
    "Client_Create": "create_options:p num_options:z kv_get_callback:p kv_get_user_arg:p "
                     "kv_put_callback:p kv_put_user_arg:p client:p",
    "Client_Destroy": "client:p",
    "Client_PlatformName": "client:p platform_name:p platform_name_size:z",
    "Client_ProcessIndex": "client:p process_index:i",
    "Client_PlatformVersion": "client:p platform_version:p platform_version_size:z",
    "Client_TopologyDescription": "client:p topology:p",
    "Client_Devices": "client:p devices:p num_devices:z",
    "Client_AddressableDevices": "client:p devices:p num_devices:z",
    "Client_UpdateGlobalProcessInfo": "client:p process_infos:p num_process_infos:z",
    "Client_LookupDevice": "client:p id:i device:p",
    "Client_LookupAddressableDevice": "client:p id:i device:p",
    "Client_AddressableMemories": "client:p memories:p num_memories:z",
    "Client_Compile": "client:p program:p compile_options:p compile_options_size:z executable:p",
    "Client_DefaultDeviceAssignment": "client:p num_replicas:i num_partitions:i "
                                      "default_assignment_size:z default_assignment:p",
    "Client_BufferFromHostBuffer": "client:p data:p type:i dims:p num_dims:z byte_strides:p "
                                   "num_byte_strides:z host_buffer_semantics:i device:p memory:p "
                                   "device_layout:p done_with_host_buffer:p buffer:p",
    "DeviceDescription_Id": "device:p id:i",
    "DeviceDescription_ProcessIndex": "device:p process_index:i",
    "DeviceDescription_Attributes": "device:p num_attributes:z attributes:p",
    "DeviceDescription_Kind": "device:p text:p text_size:z",
    "DeviceDescription_DebugString": "device:p text:p text_size:z",
    "DeviceDescription_ToString": "device:p text:p text_size:z",
    "Device_GetDescription": "device:p description:p",
    "Device_IsAddressable": "device:p is_addressable:b",
    "Device_LocalHardwareId": "device:p id:i",
    "Device_AddressableMemories": "device:p memories:p num_memories:z",
    "Device_DefaultMemory": "device:p memory:p",
    "Device_MemoryStats": "device:p bytes_in_use:q peak_bytes_in_use:q "
                          "peak_bytes_in_use_is_set:b num_allocs:q num_allocs_is_set:b "
                          "largest_alloc_size:q largest_alloc_size_is_set:b bytes_limit:q "
                          "bytes_limit_is_set:b bytes_reserved:q bytes_reserved_is_set:b "
                          "peak_bytes_reserved:q peak_bytes_reserved_is_set:b "
                          "bytes_reservable_limit:q bytes_reservable_limit_is_set:b "
                          "largest_free_block_bytes:q largest_free_block_bytes_is_set:b "
                          "pool_bytes:q pool_bytes_is_set:b peak_pool_bytes:q "
                          "peak_pool_bytes_is_set:b",
    "Memory_Id": "memory:p id:i",
    "Memory_Kind": "memory:p text:p text_size:z",
    "Memory_Kind_Id": "memory:p kind_id:i",
    "Memory_DebugString": "memory:p text:p text_size:z",
    "Memory_ToString": "memory:p text:p text_size:z",
    "Memory_AddressableByDevices": "memory:p devices:p num_devices:z",
    "ExecuteContext_Create": "context:p",
    "ExecuteContext_Destroy": "context:p",
    "Executable_Destroy": "executable:p",
    "Executable_Name": "executable:p text:p text_size:z",
    "Executable_NumReplicas": "executable:p count:z",
    "Executable_NumPartitions": "executable:p count:z",
    "Executable_NumOutputs": "executable:p count:z",
    "Executable_SizeOfGeneratedCodeInBytes": "executable:p size:q",
    "Executable_Fingerprint": "executable:p text:p text_size:z",
    "Executable_OutputElementTypes": "executable:p types:p num_types:z",
    "Executable_OutputDimensions": "executable:p num_outputs:z dims:p dim_sizes:p",
    "Executable_OutputMemoryKinds": "executable:p num_outputs:z kinds:p kind_sizes:p",
    "Executable_OptimizedProgram": "executable:p program:p",
    "Executable_Serialize": "executable:p bytes:p bytes_size:z owner:p deleter:p",
    "Executable_DeserializeAndLoad": "client:p bytes:p bytes_size:z executable:p",
    "LoadedExecutable_Destroy": "executable:p",
    "LoadedExecutable_GetExecutable": "loaded:p executable:p",
    "LoadedExecutable_GetDeviceAssignment": "executable:p bytes:p bytes_size:z owner:p deleter:p",
    "LoadedExecutable_AddressableDevices": "executable:p devices:p num_devices:z",
    "LoadedExecutable_Delete": "executable:p",
    "LoadedExecutable_IsDeleted": "executable:p is_deleted:b",
    "LoadedExecutable_Execute": "executable:p options:p argument_lists:p num_devices:z "
                                "num_args:z output_lists:p device_complete_events:p "
                                "execute_device:p",
    "LoadedExecutable_Fingerprint": "executable:p text:p text_size:z",
    "Buffer_Destroy": "buffer:p",
    "Buffer_ElementType": "buffer:p type:i",
    "Buffer_Dimensions": "buffer:p dims:p num_dims:z",
    "Buffer_UnpaddedDimensions": "buffer:p dims:p num_dims:z",
    "Buffer_DynamicDimensionIndices": "buffer:p indices:p count:z",
    "Buffer_ToHostBuffer": "buffer:p host_layout:p dst:p dst_size:z event:p",
    "Buffer_OnDeviceSizeInBytes": "buffer:p size:z",
    "Buffer_Delete": "buffer:p",
    "Buffer_IsDeleted": "buffer:p is_deleted:b",
    "Buffer_CopyRawToHost": "buffer:p dst:p offset:q transfer_size:q event:p",
    "Buffer_CopyToDevice": "buffer:p device:p copy:p",
    "Buffer_CopyToMemory": "buffer:p memory:p copy:p",
    "Buffer_IsOnCpu": "buffer:p is_on_cpu:b",
    "Buffer_Device": "buffer:p device:p",
    "Buffer_Memory": "buffer:p memory:p",
    "Buffer_ReadyEvent": "buffer:p event:p",
    "Buffer_UnsafePointer": "buffer:p pointer:p",
    "Buffer_OpaqueDeviceMemoryDataPointer": "buffer:p pointer:p",
    "Buffer_IncreaseExternalReferenceCount": "buffer:p",
    "Buffer_DecreaseExternalReferenceCount": "buffer:p",
    "TopologyDescription_PlatformName": "topology:p text:p text_size:z",
    "TopologyDescription_PlatformVersion": "topology:p text:p text_size:z",
    "TopologyDescription_GetDeviceDescriptions": "topology:p devices:p num_devices:z",
    "TopologyDescription_Serialize": "topology:p bytes:p bytes_size:z owner:p deleter:p",
    "TopologyDescription_Attributes": "topology:p attributes:p num_attributes:z",
    "TopologyDescription_Destroy": "topology:p",
}

#: Other structures.
_STRUCTURES = {
    "Program": "code:p code_size:z format:p format_size:z",
    "ExecuteOptions": "send_callbacks:p recv_callbacks:p num_send_ops:z num_recv_ops:z "
                      "launch_id:i kept:p num_kept:z",
    "NamedValue": "name:p name_size:z type:i value:q value_size:z",
    "Tiled": "minor_to_major:p minor_to_major_size:z tile_dims:p tile_dim_sizes:p num_tiles:z",
    "Strides": "byte_strides:p num_byte_strides:z",
    "KeyValuePut": "key:p key_size:z value:p value_size:z callback_error:p user_arg:p",
    "KeyValueGet": "key:p key_size:z timeout_in_ms:i callback_error:p user_arg:p value:p "
                   "value_size:z deleter:p",
}

#: Functions in the order of the table. What came with a version after `MINOR` is left out.
ENTRIES = tuple("""
    Error_Destroy Error_Message Error_GetCode Plugin_Initialize Plugin_Attributes Event_Destroy
    Event_IsReady Event_Error Event_Await Event_OnReady Client_Create Client_Destroy
    Client_PlatformName Client_ProcessIndex Client_PlatformVersion Client_Devices
    Client_AddressableDevices Client_LookupDevice Client_LookupAddressableDevice
    Client_AddressableMemories Client_Compile Client_DefaultDeviceAssignment
    Client_BufferFromHostBuffer DeviceDescription_Id DeviceDescription_ProcessIndex
    DeviceDescription_Attributes DeviceDescription_Kind DeviceDescription_DebugString
    DeviceDescription_ToString Device_GetDescription Device_IsAddressable Device_LocalHardwareId
    Device_AddressableMemories Device_DefaultMemory Device_MemoryStats Memory_Id Memory_Kind
    Memory_DebugString Memory_ToString Memory_AddressableByDevices Executable_Destroy
    Executable_Name Executable_NumReplicas Executable_NumPartitions Executable_NumOutputs
    Executable_SizeOfGeneratedCodeInBytes Executable_GetCostAnalysis Executable_OutputMemoryKinds
    Executable_OptimizedProgram Executable_Serialize LoadedExecutable_Destroy
    LoadedExecutable_GetExecutable LoadedExecutable_AddressableDevices LoadedExecutable_Delete
    LoadedExecutable_IsDeleted LoadedExecutable_Execute Executable_DeserializeAndLoad
    LoadedExecutable_Fingerprint Buffer_Destroy Buffer_ElementType Buffer_Dimensions
    Buffer_UnpaddedDimensions Buffer_DynamicDimensionIndices Buffer_GetMemoryLayout
    Buffer_OnDeviceSizeInBytes Buffer_Device Buffer_Memory Buffer_Delete Buffer_IsDeleted
    Buffer_CopyToDevice Buffer_ToHostBuffer Buffer_IsOnCpu Buffer_ReadyEvent Buffer_UnsafePointer
    Buffer_IncreaseExternalReferenceCount Buffer_DecreaseExternalReferenceCount
    Buffer_OpaqueDeviceMemoryDataPointer CopyToDeviceStream_Destroy CopyToDeviceStream_AddChunk
    CopyToDeviceStream_TotalBytes CopyToDeviceStream_GranuleSize CopyToDeviceStream_CurrentBytes
    TopologyDescription_Create TopologyDescription_Destroy TopologyDescription_PlatformName
    TopologyDescription_PlatformVersion TopologyDescription_GetDeviceDescriptions
    TopologyDescription_Serialize TopologyDescription_Attributes Compile
    Executable_OutputElementTypes Executable_OutputDimensions Buffer_CopyToMemory
    Client_CreateViewOfDeviceBuffer Executable_Fingerprint Client_TopologyDescription
    Executable_GetCompiledMemoryStats Memory_Kind_Id ExecuteContext_Create ExecuteContext_Destroy
    Buffer_CopyRawToHost AsyncHostToDeviceTransferManager_Destroy
    AsyncHostToDeviceTransferManager_TransferData Client_CreateBuffersForAsyncHostToDevice
    AsyncHostToDeviceTransferManager_RetrieveBuffer AsyncHostToDeviceTransferManager_Device
    AsyncHostToDeviceTransferManager_BufferCount AsyncHostToDeviceTransferManager_BufferSize
    AsyncHostToDeviceTransferManager_SetBufferError AsyncHostToDeviceTransferManager_AddMetadata
    Client_DmaMap Client_DmaUnmap Client_CreateUninitializedBuffer
    Client_UpdateGlobalProcessInfo TopologyDescription_Deserialize Client_CreateAliasBuffer
    Client_FulfillAliasBuffer LoadedExecutable_GetDeviceAssignment Client_CreateErrorBuffer
    AsyncHostToDeviceTransferManager_TransferLiteral Buffer_CopyRawToHostFuture
    Device_PoisonExecution Device_CreateAsyncTrackingEvent AsyncTrackingEvent_Destroy
    Executable_GetCompileOptions Buffer_DonateWithControlDependency Event_Create Event_Set
""".split())


def _fields(text: str) -> list[tuple[str, type]]:
    pairs = (each.split(":") for each in (_COMMON + text).split())
    return [(name, _TYPES[letter]) for name, letter in pairs]


@cache
def arguments(entry: str) -> type[ctypes.Structure]:
    """Return the structure of a function's arguments; of an unknown one, what all begin with."""
    text = _ARGUMENTS.get(entry, "")
    return type(f"{entry}_Args", (ctypes.Structure,), {"_fields_": _fields(text)})


@cache
def structure(name: str) -> type[ctypes.Structure]:
    """Return another structure, by name."""
    return type(name, (ctypes.Structure,), {"_fields_": _fields(_STRUCTURES[name])})


class MemoryLayout(ctypes.Structure):
    """How an array lies in memory; which member of the union holds depends on ``type``."""

    class _Union(ctypes.Union):
        _fields_ = [("tiled", structure("Tiled")), ("strides", structure("Strides"))]

    _anonymous_ = ("either",)
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_size_t),
                ("either", _Union), ("type", ctypes.c_int32)]
    TILED, STRIDES = 0, 1


class Api(ctypes.Structure):
    """The table of functions."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_size_t),
                ("version_size", ctypes.c_size_t), ("version_extension", ctypes.c_size_t),
                ("major", ctypes.c_int32), ("minor", ctypes.c_int32),
                *((entry, ctypes.c_size_t) for entry in ENTRIES)]


class ElementType:
    """Numbers of the types of elements, by the names that NumPy and ml_dtypes have for them."""

    NUMBERS = {
        "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7,
        "uint32": 8, "uint64": 9, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 13,
        "complex64": 14, "complex128": 15, "float8_e5m2": 16, "float8_e4m3fn": 17,
        "float8_e4m3b11fnuz": 18, "float8_e5m2fnuz": 19, "float8_e4m3fnuz": 20, "int4": 21,
        "uint4": 22, "int2": 24, "uint2": 25, "float8_e4m3": 26, "float8_e3m4": 27,
        "float8_e8m0fnu": 28, "float4_e2m1fn": 29,
    }
    NAMES = {number: name for name, number in NUMBERS.items()}

    @staticmethod
    @cache
    def of(dtype: np.dtype) -> int:
        """Return the number of a type; NumPy makes its name anew whenever it is asked."""
        return ElementType.NUMBERS[dtype.name]
