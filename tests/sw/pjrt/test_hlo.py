"""A program as HLO: for viewers of its graph and memory."""

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.pjrt.hlo import hlo_of
from celosia.pjrt.programs import Programs
from celosia.pjrt.settings import Settings
from celosia.storage.protobuf import fields

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


def test_what_xla_cannot_make_hlo_of_has_none():
    import jax
    made = program(jax.jit(lambda a: a + 1).lower(np.ones(4, np.float32)).compiler_ir())
    made.module = b"no module"
    assert hlo_of(made) is None
