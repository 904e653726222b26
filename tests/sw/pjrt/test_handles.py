import ctypes
import threading

import pytest

from celosia.pjrt.handles import Handles
from celosia.pjrt.structs import ENTRIES, Api, arguments

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)


@pytest.fixture
def handles(library):
    return Handles(library)


@pytest.fixture
def destroy(library):
    """Do what jaxlib does: call the function with the structure of its arguments."""
    function = FUNCTION(library.destroy)

    def call(number):
        args = arguments("Buffer_Destroy")(buffer=number)
        return function(ctypes.addressof(args))

    return call


def test_objects_by_number(handles):
    a, b = handles.add("a"), handles.add("b")
    assert (handles[a], handles[b], len(handles)) == ("a", "b", 2)
    assert handles.drop(a) == "a"
    assert handles.drop(a) is None
    assert len(handles) == 1


def test_destroyed_objects_are_forgotten_and_their_numbers_used_again(handles, destroy):
    numbers = [handles.add(i) for i in range(5000)]
    assert len(set(numbers)) == 5000
    assert all(handles[number] == i for i, number in enumerate(numbers))
    for number in numbers[::2]:
        assert destroy(number) == 0
    assert len(handles) == 2500
    assert [handles[number] for number in numbers[1::2]] == list(range(1, 5000, 2))
    more = {handles.add("new") for _ in range(2500)}
    assert more & set(numbers[::2])
    assert not more & set(numbers[1::2])


def test_what_is_no_object_or_stays(handles, destroy):
    number = handles.add_for_good("a")
    assert [destroy(0), destroy(number), destroy(number)] == [0, 0, 0]
    assert (len(handles), handles[number]) == (1, "a")


def test_nothing_is_lost_among_threads(handles, destroy):
    numbers = [[handles.add((i, j)) for j in range(2000)] for i in range(4)]

    def work(i):
        for number in numbers[i]:
            destroy(number)
            if number % 64 == 0:
                handles.sweep()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(handles) == 0


def test_structures_begin_as_all_do():
    for entry in ENTRIES:
        struct = arguments(entry)
        assert [name for name, _ in struct._fields_[:2]] == ["struct_size", "extension_start"]


@pytest.mark.parametrize(("entry", "size"), [
    # Of pjrt_c_api.h, on a machine with pointers of 8 bytes.
    ("Error_Message", 40), ("Client_Create", 72), ("Client_Compile", 56),
    ("Client_BufferFromHostBuffer", 120), ("Buffer_ToHostBuffer", 56),
    ("LoadedExecutable_Execute", 80), ("Device_MemoryStats", 192), ("Memory_Id", 32),
    ("Event_IsReady", 32), ("LoadedExecutable_GetDeviceAssignment", 56)])
def test_sizes_of_structures(entry, size):
    assert ctypes.sizeof(arguments(entry)) == size


def test_the_table_has_all_functions_of_its_version():
    assert len(ENTRIES) == len(set(ENTRIES)) == 128
    assert ctypes.sizeof(Api) == 16 + 24 + 128 * 8
