"""A program as HLO: for viewers of its graph and memory."""

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.pjrt.hlo import _entry, hlo_of
from celosia.pjrt.programs import Programs
from celosia.pjrt.settings import Settings
from celosia.storage.protobuf import fields, message, number

pytestmark = pytest.mark.extra(name="jax", default=True)


def program(module):
    from io import BytesIO
    data = BytesIO()
    module.operation.write_bytecode(data)
    return Programs(Settings("model", preset("core"), False, False, 1)).get(data.getvalue())


def test_the_module_and_what_it_has_of_memory():
    import jax
    x = np.ones((32, 64), np.float32)
    made = program(jax.jit(lambda a, b: (a @ b) @ b).lower(x, np.ones((64, 64))).compiler_ir())
    found = dict(fields(hlo_of(made)))
    assert dict(fields(found[1]))[1].decode().startswith("jit")
    assignment = list(fields(found[3]))
    sizes = [dict(fields(each))[2] for which, each in assignment if which == 1]
    assert sizes[:2] == [32 * 64 * 4, 64 * 64 * 4]
    assert sum(sizes) == made.compiled.arena_bytes
    [allocation] = [dict(fields(each)) for which, each in assignment if which == 3]
    assert allocation[2] == sum(sizes)


def test_buffers_where_they_lie_and_how_long_they_live():
    """Of XLA's hlo.proto: LogicalBufferProto, BufferAllocationProto and HeapSimulatorTrace."""
    import jax
    made = program(jax.jit(lambda a: a @ a).lower(np.ones((32, 32), np.float32)).compiler_ir())
    found = dict(fields(hlo_of(made)))
    entry, instructions = _entry(found[1])
    (x, _, x_id), *_, (root, _, root_id) = instructions
    size, rest = 32 * 32 * 4, made.compiled.arena_bytes - 32 * 32 * 4
    parts = [(which, data) for which, data in fields(found[3])]
    assert [which for which, _ in parts] == [1, 1, 3, 4]
    # id, size, where it is defined (name and id of an instruction), colour.
    assert [[*fields(data)] for _, data in parts[:2]] == [
        [(1, index), (2, each), (3, message(2, name) + number(4, id)), (4, 0)]
        for index, each, name, id in ((1, size, x, x_id), (2, rest, root, root_id))]
    # index, size, colour; of each buffer in it id, offset, size.
    assert [*fields(parts[2][1])] == [(1, 0), (2, size + rest), (8, 0), *(
        (9, number(1, index) + number(2, at) + number(3, each))
        for index, at, each in ((1, 0, size), (2, size, rest)))]
    # Events: what (0 an allocation, 1 a release), buffer, computation, instruction.
    trace = [*fields(parts[3][1])]
    assert trace == [*((1, number(1, kind) + number(2, index) + message(3, entry)
                        + message(4, name))
                       for kind in (0, 1) for index, name in ((1, x), (2, root))),
                     (2, 1), (3, 0)]


def test_what_xla_cannot_make_hlo_of_has_none():
    import jax
    made = program(jax.jit(lambda a: a + 1).lower(np.ones(4, np.float32)).compiler_ir())
    made.module = b"no module"
    assert hlo_of(made) is None
