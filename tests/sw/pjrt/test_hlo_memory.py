"""What a program has of memory as ``xla.BufferAssignmentProto``, field by field."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.pjrt import hlo
from celosia.storage.protobuf import fields, message, number


def instruction(name, opcode, id):
    return message(2, message(1, name) + message(2, opcode) + number(35, id))


#: The entry computation is the second one.
MODULE = (
    message(1, "jit_f") + message(2, "main") + number(5, 9)
    + message(3, message(1, "other") + instruction("p", "parameter", 90))
    + message(3, message(1, "main") + instruction("x", "parameter", 7)
              + instruction("c", "constant", 8) + instruction("y", "parameter", 9)
              + instruction("sum", "add", 11)))


def program(arena, *sizes) -> Any:
    return SimpleNamespace(compiled=SimpleNamespace(arena_bytes=arena, inputs=[
        SimpleNamespace(type=SimpleNamespace(nbytes=size)) for size in sizes]))


def parts(data):
    """Return a message as lists of its fields by number."""
    found: dict[int, list[Any]] = {}
    for field, value in fields(data):
        found.setdefault(field, []).append(value)
    return found


@pytest.mark.parametrize(("arena", "rest"), [(1000, 660), (340, 0), (339, 0), (341, 1)])
def test_arguments_and_the_rest_are_buffers_one_behind_the_other(monkeypatch, arena, rest):
    monkeypatch.setattr(hlo, "_module", lambda _: MODULE)
    data = hlo.hlo_of(program(arena, 300, 40))
    assert data is not None
    found = parts(data)
    assert found[1] == [MODULE]
    assert set(found) == {1, 3}
    assigned = parts(found[3][0])
    assert set(assigned) == {1, 3, 4}
    # Logical buffers: number, size, instruction (its name and number), colour.
    wanted = [(1, 300, b"x", 7), (2, 40, b"y", 9), (3, rest, b"sum", 11)]
    for each, (index, size, name, id) in zip(map(parts, assigned[1]), wanted, strict=True):
        assert {key: each[key] for key in (1, 2, 4)} == {1: [index], 2: [size], 4: [0]}
        assert parts(each[3][0]) == {2: [name], 4: [id]}
    # One allocation, with the offset and size of each.
    [allocation] = map(parts, assigned[3])
    assert {key: allocation[key] for key in (1, 2, 8)} == {1: [0], 2: [340 + rest], 8: [0]}
    assert [parts(each) for each in allocation[9]] == [
        {1: [1], 2: [0], 3: [300]}, {1: [2], 2: [300], 3: [40]}, {1: [3], 2: [340], 3: [rest]}]
    # All are made (0), then all are given back (1).
    [trace] = map(parts, assigned[4])
    assert {key: trace[key] for key in (2, 3)} == {2: [1], 3: [0]}
    assert [parts(each) for each in trace[1]] == [
        {1: [kind], 2: [index], 3: [b"main"], 4: [name]}
        for kind in (0, 1) for index, _, name, _ in wanted]


def test_a_program_without_arguments_has_one_buffer(monkeypatch):
    monkeypatch.setattr(hlo, "_module", lambda _: MODULE)
    data = hlo.hlo_of(program(64))
    assert data is not None
    assigned = parts(parts(data)[3][0])
    assert [parts(each)[2] for each in assigned[1]] == [[64]]


def test_a_program_without_a_module_has_no_hlo(monkeypatch):
    monkeypatch.setattr(hlo, "_module", lambda _: None)
    assert hlo.hlo_of(program(64)) is None


def test_names_and_numbers_of_what_is_in_the_entry():
    assert hlo._entry(MODULE) == ("main", [
        ("x", "parameter", 7), ("c", "constant", 8), ("y", "parameter", 9), ("sum", "add", 11)])
    # What a later version writes otherwise is left out.
    odd = message(3, message(2, number(1, 5) + number(2, 6) + message(35, "no number"))
                  + number(1, 3) + number(2, 4))
    assert hlo._entry(odd + number(2, 1) + number(3, 1)) == ("", [("", "", 0)])
