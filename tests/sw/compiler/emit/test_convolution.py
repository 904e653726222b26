"""Convolutions on the golden model."""

import pytest
from moving import CORE, NANO, SMALL
from multiplying import Multiplying

from celosia.compiler.lowered import Region


@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize(("x", "w", "stride", "dilation"), [
    ((1, 8, 9, 16), (3, 3, 16, 20), (1, 1), (1, 1)),
    ((2, 9, 8, 20), (3, 2, 20, 19), (2, 1), (1, 2)),
    ((3, 9, 9, 37), (2, 3, 37, 8), (3, 2), (2, 1)),
    ((1, 3, 3, 5), (3, 3, 5, 7), (1, 1), (1, 1)),
    ((2, 5, 1, 16), (2, 1, 16, 16), (1, 1), (1, 1))], ids=str)
def test_bits(x, w, stride, dilation, kind):
    # Taps that merge in the lanes give sums in another order.
    small = x[3] < 16 or x[3] % 16 > 0
    Multiplying(CORE, kind, small=small).convolution(x, w, stride, dilation)


@pytest.mark.parametrize("config", [NANO, SMALL], ids=lambda config: config.name)
@pytest.mark.parametrize("stride", [(1, 1), (2, 1)], ids=str)
def test_int8(config, stride):
    region = Region(range(5, config.ub_rows - 3), range(2, 250))
    Multiplying(config, "i8", relu=True).convolution((2, 8, 7, 6), (3, 2, 6, 5), stride, (1, 2),
                                                     region=region)


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)], ids=str)
def test_taps_side_by_side_in_lanes(stride):
    for channels, taps in ((1, 5), (3, 3), (20, 3)):
        Multiplying(CORE, "f32", small=True).convolution((2, 11, 12, channels),
                                                         (taps, taps, channels, 10), stride)


@pytest.mark.parametrize("channels", [3, 16])
def test_taps_backwards(channels):
    Multiplying(CORE).convolution((2, 7, 8, channels), (3, 2, channels, 17), flip=True)


@pytest.mark.parametrize("region", [
    Region(range(50, 900), range(10, 200)), Region(range(300), range(64)),
    Region(range(260), range(24))], ids=str)
def test_images_that_do_not_fit(region):
    Multiplying(CORE).convolution((3, 9, 15, 32), (2, 3, 32, 40), region=region)


@pytest.mark.parametrize("stride", [(1, 1), (2, 2)], ids=str)
def test_images_on_chip(stride):
    Multiplying(CORE).convolution((2, 9, 8, 20), (3, 3, 20, 33), stride, on_chip=True)
