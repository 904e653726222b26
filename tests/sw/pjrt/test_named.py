"""Values with names in memory, as the other side reads them."""

import ctypes
import struct

from celosia.pjrt.named import NamedValues
from celosia.pjrt.structs import structure


def test_each_type():
    made = NamedValues({"n": -3, "many": [1, 2, 1 << 40], "x": 1.5, "yes": True})
    found = (structure("NamedValue") * made.count).from_address(made.address)
    names = [ctypes.string_at(each.name, each.name_size).decode() for each in found]
    assert names == ["n", "many", "x", "yes"]
    assert [each.type for each in found] == [1, 2, 3, 4]
    assert [each.value_size for each in found] == [1, 3, 1, 1]
    assert found[0].value == -3
    assert list((ctypes.c_int64 * 3).from_address(found[1].value)) == [1, 2, 1 << 40]
    assert struct.pack("<i", found[2].value) == struct.pack("<f", 1.5)
    assert found[3].value == 1


def test_none():
    assert NamedValues({}).count == 0
