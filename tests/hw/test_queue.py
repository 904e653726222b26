# amaranth: UnusedElaboratable=no
import pytest

from celosia_hw.queue import Queue
from hw.stream_bench import pass_through

RATES = [(1, 1), (0.3, 1), (1, 0.3), (0.5, 0.5)]


@pytest.mark.parametrize("depth", [2, 8])
@pytest.mark.parametrize(("offer", "take"), RATES)
def test_order_and_rate(depth, offer, take):
    most, cycles = pass_through(Queue(16, depth), offer, take)
    assert most <= depth
    if take < offer:
        assert most == depth
    if offer == take == 1:
        assert cycles == 101


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_depth_is_checked(depth):
    message = f"^depth must be a power of two, at least 2, not {depth}$"
    with pytest.raises(ValueError, match=message):
        Queue(8, depth)
