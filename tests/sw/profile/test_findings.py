"""What is wrong is found first, and the what-if run says what mending it gives."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from celosia.model.timing import Timing
from celosia.profile import profile
from profiled import CORE, dense, profiled

pytestmark = pytest.mark.extra(name="jax", default=True)


def strided(x, w):
    return jnp.maximum(x[:, ::2], 0) @ w


def dense_columns(x, w):
    return jnp.maximum(x, 0) @ w


def on_host(x, w):
    return jnp.sort(x) * 3 + w


ROWS = np.zeros((128, 512), np.float32), np.zeros((256, 64), np.float32)
HALF = np.zeros((128, 256), np.float32), ROWS[1]


def test_nothing_is_found_where_nothing_is_wrong(clean):
    assert all(each.gain <= 0.02 * clean.cycles for each in clean.findings)


@pytest.mark.parametrize("field", ["bus_bytes", "window"])
def test_a_chip_with_too_little(field, clean):
    small = {"bus_bytes": 4, "window": 2}[field]
    found = profiled(*dense(), replace(CORE, **{field: small}))
    first = found.findings[0]
    assert first.kind == field
    assert first.attempt == f"{field}={getattr(CORE, field)}"
    assert first.cycles == clean.cycles == found.cycles - first.gain
    assert found.what_if(**{field: getattr(CORE, field)}) == clean.cycles


def test_slow_memory(clean):
    found = profiled(*dense(), timing=Timing(read_latency=800))
    first = found.findings[0]
    assert (first.kind, first.cycles) == ("read_latency", clean.cycles)


@pytest.mark.parametrize(("kind", "planted", "mended", "times"), [
    ("weights", dense(16, weights=jnp.float32), None, 1),
    ("batch", dense(4), dense(128), 32),
    ("layout", (strided, ROWS), (dense_columns, HALF), 1),
], ids=["weights", "batch", "layout"])
def test_a_program_that_could_be_better(kind, planted, mended, times):
    config = replace(CORE, bus_bytes=8) if kind == "weights" else CORE
    found = profiled(*planted, config)
    finding = next(each for each in found.findings if each.kind == kind)
    if kind == "weights":  # they come as bf16, and all else is as it was
        x, *ws = planted[1]

        def forward(x, *ws):
            return planted[0](x, *(w.astype(jnp.float32) for w in ws))

        mended = forward, [x, *(w.astype(jnp.bfloat16) for w in ws)]
    else:
        assert finding is found.findings[0]
    wanted = profiled(*mended, config).cycles / times
    assert finding.cycles == pytest.approx(wanted, rel=0.02)
    assert finding.gain == found.cycles - finding.cycles > 0.02 * found.cycles


def test_what_the_host_does_comes_first():
    found = profiled(on_host, (np.zeros(5000, np.float32),) * 2)
    assert found.hosts == 1
    first = found.findings[0]
    assert first.kind == "host"
    assert "sort runs on the host" in first.what
    assert "test_findings.py:" in first.place


def test_a_program_without_its_graph_is_tried_on_other_chips(clean):
    found = profile(profiled(*dense(), replace(CORE, bus_bytes=4)).compiled)
    assert found.graph is None
    assert found.findings[0].kind == "bus_bytes"
    assert clean.cycles <= found.findings[0].cycles < 0.9 * found.cycles


@pytest.mark.parametrize(("changes", "said"), [
    ({"speed": 3}, "a what-if must change one of acc_rows, ahead, bank_conflicts, .*, not speed"),
    ({"bus_bytes": 33}, "bus_bytes must be a power of two from 4 to 128, not 33"),
    ({"read_latency": 0}, "read_latency must be 1 at least, not 0"),
])
def test_what_cannot_be_tried(clean, changes, said):
    with pytest.raises(ValueError, match=said):
        clean.what_if(**changes)
