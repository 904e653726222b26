from pages import array

from celosia.arch.config import preset
from celosia_hw.mxu.array import SystolicArray


def test_the_record_is_of_a_product():
    seen = array.record()
    text = array.waves(seen)
    latency = SystolicArray.latency(preset("nano"))
    assert f'"x{"." * (3 + latency)}333x' in text  # the sums of three rows, one after another
    assert all(f'"a{i} W"' in text for i in range(len(array.ACTS)))
    picture = array.moving(seen)
    assert picture.count("<g visibility") == array.CYCLES
    last = (array.ACTS @ array.WEIGHTS)[0]
    assert all(f">{value}</text>" in picture for value in last)
