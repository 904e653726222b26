"""Products and networks on the RTL, against NumPy and the golden model."""

import ml_dtypes
import numpy as np
import pytest

from celosia import driver, ops
from celosia.arch.config import preset
from celosia.bench.measure import gemm, measure, mlp
from celosia.ops.formats import OUTPUTS

CASES = [(name, fmt) for name in ("nano", "core") for fmt in preset(name).formats]


@pytest.fixture(scope="module", params=["nano", "core"])
def device(request):
    with driver.open("rtl", request.param, quiet=True) as device:
        yield device


@pytest.mark.parametrize("seed", range(6))
def test_random_products_on_the_chip_equal_numpy(device, seed):
    config = device.config
    rng = np.random.default_rng((seed, config.dim))
    fmt = str(rng.choice(config.formats))
    m, k, n = (int(size) for size in rng.integers(1, 5 * config.dim, 3))
    options = {"transpose_a": bool(rng.integers(2)), "transpose_b": bool(rng.integers(2))}
    relu, output = bool(rng.integers(2)), str(rng.choice(OUTPUTS[fmt]))
    if fmt == "int8":
        a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((m, k), (k, n)))
        bias = rng.integers(-999, 999, n).astype(np.int32)
    else:
        a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
        bias = rng.standard_normal(n).astype(np.float32)
    scale = rng.uniform(1e-3, 1e-2, n) if output == "int8" else None
    words = None if scale is None else ops.scale_words(scale, n)
    c, _ = ops.run_matmul(
        device, a.T.copy() if options["transpose_a"] else a,
        b.T.copy() if options["transpose_b"] else b,
        bias=bias, scale=scale, relu=relu, output=output, **options)
    wanted = ops.reference_matmul(a, b, config.dim, bias=bias, scale=words, relu=relu,
                                  output=output)
    np.testing.assert_array_equal(c.view(np.uint8), wanted.view(np.uint8))


@pytest.mark.parametrize(("name", "fmt"), CASES)
def test_network_leaves_the_chip_as_it_leaves_the_model(name, fmt):
    config = preset(name)
    result = measure(config, "rtl", mlp(config, (60, 37, 10), 21, fmt))
    assert result.bit_exact is True


@pytest.mark.parametrize("fmt", ["int8", "bf16"])
@pytest.mark.parametrize(("size", "share"), [(64, 0.60), (100, 0.70), (128, 0.90)])
def test_products_use_the_array_of_core_well(fmt, size, share):
    config = preset("core")
    result = measure(config, "rtl", gemm(config, size, size, size, fmt))
    assert result.bit_exact is True
    assert result.utilisation >= share


@pytest.mark.parametrize("fmt", ["int8", "bf16"])
@pytest.mark.parametrize(("size", "share"), [(256, 0.95), (512, 0.98)])
def test_large_products_use_the_array_of_core_almost_always(fmt, size, share):
    config = preset("core")
    result = measure(config, "rtl", gemm(config, size, size, size, fmt))
    assert result.bit_exact is True
    assert result.utilisation >= share


@pytest.mark.parametrize("fmt", ["int8", "bf16"])
def test_epilogue_runs_beside_the_next_tile(fmt):
    config = preset("core")
    raw, fused = (measure(config, "rtl", gemm(config, 512, 512, 512, fmt, epilogue=epilogue),
                          check=epilogue) for epilogue in (False, True))
    assert fused.bit_exact is True
    assert fused.utilisation >= 0.99 * raw.utilisation


def test_mnist_network_takes_few_cycles():
    config = preset("core")
    result = measure(config, "rtl", mlp(config, (784, 512, 10), 128, "int8"))
    assert result.bit_exact is True
    assert result.cycles <= 215_675
