"""What JAX gives a plugin where several processes run together: options and a key-value store."""

import ctypes
from types import SimpleNamespace

import pytest

from celosia.collectives.processes import ProcessError, ProcessName
from celosia.pjrt.chips import FarChip
from celosia.pjrt.client import Client
from celosia.pjrt.errors import PjrtError
from celosia.pjrt.handles import bytes_at
from celosia.pjrt.named import NamedValues
from celosia.pjrt.nodes import KeyValueStore, join
from celosia.pjrt.settings import Settings
from celosia.pjrt.structs import arguments, structure
from celosia.pjrt.table import CALLS

CALL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
FAIL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int32, ctypes.c_char_p, ctypes.c_size_t)
DELETE = ctypes.CFUNCTYPE(None, ctypes.c_size_t)
DEADLINE_EXCEEDED, ALREADY_EXISTS, UNAVAILABLE = 4, 6, 14


class Given:
    """A store behind functions of C, as jaxlib has it."""

    def __init__(self):
        self.values, self.kept, self.deleted, self.waited = {}, {}, [], []
        self.put, self.get, self.delete = CALL(self._put), CALL(self._get), DELETE(
            self.deleted.append)
        self.args = SimpleNamespace(
            kv_put_callback=self.address(self.put), kv_put_user_arg=11,
            kv_get_callback=self.address(self.get), kv_get_user_arg=12)

    @staticmethod
    def address(function):
        return ctypes.cast(function, ctypes.c_void_p).value

    def fail(self, args, code, message):
        function = FAIL(ctypes.c_size_t.from_address(args.callback_error).value)
        return function(code, message, len(message))

    def _put(self, address):
        args = structure("KeyValuePut").from_address(address)
        assert (args.struct_size, args.user_arg) == (ctypes.sizeof(args), 11)
        key = bytes_at(args.key, args.key_size)
        if key in self.values:
            return self.fail(args, ALREADY_EXISTS, b"there is one")
        self.values[key] = bytes_at(args.value, args.value_size)
        return 0

    def _get(self, address):
        args = structure("KeyValueGet").from_address(address)
        assert (args.struct_size, args.user_arg) == (ctypes.sizeof(args), 12)
        self.waited.append(args.timeout_in_ms)
        key = bytes_at(args.key, args.key_size)
        if key == b"jobs/gone":
            return self.fail(args, UNAVAILABLE, b"Socket closed")
        if key not in self.values:
            return self.fail(args, DEADLINE_EXCEEDED, b"too late")
        value = self.kept[key] = ctypes.create_string_buffer(self.values[key])
        args.value, args.value_size = ctypes.addressof(value), len(self.values[key])
        args.deleter = self.address(self.delete)
        return 0


def test_values_go_through_the_store_and_are_freed():
    given = Given()
    store = KeyValueStore(given.args, "jobs/")
    store.put("0", "where it is: \N{HOUSE BUILDING}")
    assert list(given.values) == [b"jobs/0"]
    assert store.get("0", 1.5) == "where it is: \N{HOUSE BUILDING}"
    assert given.deleted == [ctypes.addressof(given.kept[b"jobs/0"])]
    assert store.get("1", 0.25) is None
    assert given.waited == [1500, 250]


def test_what_the_store_says_is_passed_on():
    store = KeyValueStore(Given().args, "jobs/")
    store.put("0", "")
    with pytest.raises(ProcessError, match="^JAX's key-value store must take jobs/0: there "
                                           "is one$"):
        store.put("0", "")
    with pytest.raises(ProcessError, match="^JAX's key-value store must give jobs/gone: Socket "
                                           "closed$"):
        store.get("gone", 1)


def test_an_interrupt_ends_the_wait(monkeypatch):
    monkeypatch.setattr(CALLS, "error", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        KeyValueStore(Given().args, "jobs/").get("1", 300)


def creation(given, **options):
    """Return the arguments of the creation of a client, and what they point to."""
    values = NamedValues(options)
    args = arguments("Client_Create")(create_options=values.address, num_options=values.count)
    for name, value in vars(given.args).items():
        setattr(args, name, value)
    return args, values


@pytest.mark.parametrize("options", [{}, {"num_nodes": 1, "node_id": 0}, {"node_id": 3}])
def test_one_process_meets_nobody(options):
    given = Given()
    args, _kept = creation(given, **options)
    assert join(args) == (Settings.read(), None)
    assert given.values == {}


def test_links_between_processes_are_of_rtl_chips(monkeypatch):
    monkeypatch.setenv("CELOSIA_DEVICES", "2")
    monkeypatch.setenv("CELOSIA_TOPOLOGY", "2x2")
    monkeypatch.setenv("CELOSIA_BACKEND", "model")
    args, _kept = creation(Given(), num_nodes=2, node_id=1)
    with pytest.raises(PjrtError, match="CELOSIA_TOPOLOGY must be left out in 2 processes where"):
        join(args)


def test_a_client_knows_the_chips_of_all_processes():
    other = SimpleNamespace(name=ProcessName(1, 7, "here"), count=3)
    client = Client(Settings.read({"CELOSIA_DEVICES": "2"}), other)
    assert [chip.number for chip in client.chips] == [2, 3]
    assert [(chip.process, chip.local) for chip in client.devices] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert client.chip(1) is client.device(3) is client.chips[1]
    assert isinstance(client.device(5), FarChip)
    with pytest.raises(PjrtError, match="^device must be one of 6, not number 6$"):
        client.device(6)
    with pytest.raises(PjrtError, match="^device must be one of 2, not number 2$"):
        client.chip(2)
