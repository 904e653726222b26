"""What makes a model, and what it says of itself."""

import re

import numpy as np
import pytest

import celosia
from celosia.graph import parse
from celosia.serve import make_model
from serving import WEIGHTS

TIED = """graph tied(
  %0: f32[4,8] "x",
  %1: f32[4] "t"
) {
  %2 = constant() value=f32[]{0.0} : f32[]
  return %0, %1, %2
}"""


def test_metadata(model):
    assert (model.name, model.batch) == ("product", 8)
    assert model.metadata == {
        "name": "product", "platform": "celosia_core",
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 16]}],
        "outputs": [{"name": "output0", "datatype": "FP32", "shape": [-1, 8]}]}


def test_names_are_ours_to_choose(product):
    model = make_model(product, {0: WEIGHTS}, inputs={"image": "x"}, outputs=["scores"], name="m.1")
    assert model.name == "m.1"
    assert [each.name for each in (*model.inputs, *model.outputs)] == ["image", "scores"]
    assert make_model(product, {0: WEIGHTS}, inputs=[1]).inputs[0].name == "x"


@pytest.mark.parametrize(("weights", "options", "message"), [
    (None, {}, ("inputs and outputs of product must have the same batch on axis 0, but they are "
                "params['w'] f32[16,8], x f32[8,16], output0 f32[8,8]; are some of them weights?")),
    ({0: WEIGHTS}, {"axis": 1}, ("inputs and outputs of product must have the same batch on axis "
                                 "1, but they are x f32[8,16], output0 f32[8,8]")),
    ({0: WEIGHTS}, {"axis": -1}, "batch axis must be an integer of at least 0, not -1"),
    ({0: WEIGHTS, 1: np.zeros((8, 16), np.float32)}, {},
     "product must have an argument that requests bring: all 2 are weights"),
    ({0: WEIGHTS}, {"inputs": [0, 1]}, ("argument 0 of product, params['w'] f32[16,8], must be a "
                                        "weight or an input of requests, not both")),
    ({0: WEIGHTS}, {"inputs": []}, ("argument 1 of product, x f32[8,16], must be a weight or an "
                                    "input of requests, not neither")),
    ({0: WEIGHTS}, {"outputs": ["a", "b"]}, ("outputs must name 1 results of product, not be "
                                             "['a', 'b']")),
    ({0: WEIGHTS}, {"name": "a/b"}, ("name of the model must consist of letters, digits, '.', '_' "
                                     "and '-', not 'a/b'")),
])
def test_what_is_no_model(product, weights, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make_model(product, weights, **options)


def test_a_result_without_batch_is_no_output():
    with pytest.raises(ValueError, match="must have the same batch on axis 0"):
        make_model(celosia.compile(parse(TIED), "core", cache=False))
