"""Processes find each other, and nobody else."""

import json
import select
import socket
import time

import pytest
from processes_here import Store, in_threads, name, processes

from celosia.collectives.meet import address_towards, meet
from celosia.collectives.processes import ProcessError
from celosia.collectives.wire import greet


def test_four_find_each_other():
    with processes(4) as (made, said):
        assert [each.count for each in made] == [4] * 4
        assert [sorted(each._others) for each in made] == [
            [1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert said == []


def test_lines_lead_to_each_other_one():
    with processes(3, lines=True) as (made, _):
        for i, each in enumerate(made):
            assert sorted(each.lines) == sorted({0, 1, 2} - {i})
            for other, line in each.lines.items():
                line.sendall(bytes([16 * i + other]))
        for i, each in enumerate(made):
            assert all(line.recv(2) == bytes([16 * other + i])
                       for other, line in each.lines.items())
            for line in each.lines.values():
                line.close()


def test_one_that_does_not_come_is_named():
    store = Store()
    found = in_threads(2, lambda i: meet(store, name(i), 3, {}, seconds=0.3))
    assert [str(each) for each in found] == 2 * [(
        "process 2 of 3 must come within 0.3 s: all processes must use their devices, if only by "
        "jax.devices()")]


def test_one_that_never_connects_is_named():
    store = Store()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        store.put("1", json.dumps([name(1), listener.getsockname(), {}]))
        with pytest.raises(ProcessError) as raised:
            meet(store, name(0), 2, {}, seconds=0.3)
    assert str(raised.value) == "process 1 (pid 101 on here) must connect within 0.3 s"


def test_one_that_is_not_where_it_says_is_named():
    store = Store()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    store.put("0", json.dumps([name(0), address, {}]))
    store.put("token", "00" * 32)
    with pytest.raises(ProcessError) as raised:
        meet(store, name(1), 2, {}, seconds=5)
    assert str(raised.value).startswith("process 0 (pid 100 on here) must be reached at 127.0.0.1, "
                                        f"port {address[1]}: ")


def test_other_facts_are_said_in_all_processes():
    store = Store()
    found = in_threads(3, lambda i: meet(store, name(i), 3, {
        "version": "1", "CELOSIA_PRESET": "nano" if i == 2 else "core"}, seconds=5))
    assert [str(each) for each in found] == 3 * [(
        "CELOSIA_PRESET of process 2 (pid 102 on here) must be 'core', as of process 0 (pid 100 on "
        "here), not 'nano'")]


def test_strangers_do_not_come_in_and_do_not_stop_the_others():
    store, said, silent = Store(), [], []

    class Watched(Store):
        def put(self, key, value):
            store.put(key, value)
            if key == "0":  # strangers are faster than process 1
                where = tuple(json.loads(value)[1])
                silent.extend(socket.create_connection(where) for _ in range(3))
                silent[0].sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(44))
                silent[1].close()

        def get(self, key, seconds):
            return store.get(key, seconds)

    watched = Watched()

    def work(i):
        time.sleep(0.1 * i)
        return meet(watched, name(i), 2, {}, seconds=10, say=said.append)

    made = in_threads(2, work)
    assert [each.count for each in made] == [2, 2]
    for each in (*made, silent[0], silent[2]):
        each.close()
    reasons = sorted(each.rpartition(": ")[2] for each in said)
    assert all(each.startswith("refused a connection from 127.0.0.1, port ") for each in said)
    assert reasons[:2] == ["it must begin with b'celosia1', not b'GET / HT'",
                           "it must greet, but it is gone"]


def test_strangers_that_take_all_room_only_delay_the_others(monkeypatch):
    monkeypatch.setattr("celosia.collectives.meet.PATIENCE", 0.4)
    monkeypatch.setattr("celosia.collectives.meet._MOST_GUESTS", 3)
    store, said, silent = Store(), [], []

    def work(i):
        if i:
            where = tuple(json.loads(store.get("0", 10))[1])
            store.get("token", 10)
            silent.extend(socket.create_connection(where) for _ in range(3))
            time.sleep(0.1)
        return meet(store, name(i), 2, {}, seconds=10, say=said.append)

    made = in_threads(2, work)
    assert [each.count for each in made] == [2, 2]
    for each in (*made, *silent):
        each.close()
    # One that is sent away makes room.
    assert 1 <= sum("it must greet in time" in each for each in said) <= 3


def test_a_process_is_let_in_once():
    store, said = Store(), []
    for i in (1, 2):
        store.put(str(i), json.dumps([name(i), ("127.0.0.1", 9), {}]))

    def guest(index):
        token, entry = (store.get(key, 60) for key in ("token", "0"))
        sock = socket.create_connection(tuple(json.loads(entry)[1]))
        assert greet(sock, bytes.fromhex(token), index, 60) == 0
        return sock

    def guests():
        twice = [guest(1), guest(1)]
        refused, _, _ = select.select(twice, [], [], 10)  # either: they are greeted in threads
        return [each.recv(1) for each in refused], [*twice, guest(2)]

    made, (refused, socks) = in_threads(2, lambda i: guests() if i else meet(
        store, name(0), 3, {}, seconds=60, say=said.append))
    for each in socks:
        each.close()
    assert made.count == 3
    assert refused == [b""]
    assert said[0].endswith("it is process 1, which is not waited for")


@pytest.mark.parametrize("coordinator", ["127.0.0.1:8476", "localhost:1234"])
def test_the_way_to_this_machine_is_its_loopback(coordinator):
    assert address_towards(coordinator) == "127.0.0.1"


def test_a_coordinator_that_is_none_is_said():
    with pytest.raises(ProcessError, match=r"^the coordinator must be reached by host:port, not "
                                           "'nowhere': "):
        address_towards("nowhere")
