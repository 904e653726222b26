"""Models in files."""

import json
import re

import numpy as np
import pytest

from celosia.serve import load_model, save_model
from serving import WEIGHTS

STABLEHLO = """module @net {
func.func public @main(%w: tensor<16x8xf32>, %x: tensor<8x16xf32>) -> tensor<8x8xf32> {
 %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
     : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
 return %0 : tensor<8x8xf32>
}
}"""


@pytest.fixture
def folder(product, tmp_path):
    path = tmp_path / "digits"
    save_model(path, product, {"w": WEIGHTS}, inputs={"image": "x"}, outputs=["scores"])
    return path


def test_a_folder_is_the_model_that_was_saved(folder, product):
    model = load_model(folder)
    assert (model.name, model.batch, model.axis) == ("digits", 8, 0)
    assert [each.name for each in (*model.inputs, *model.outputs)] == ["image", "scores"]
    assert model.weights[0].tobytes() == WEIGHTS.tobytes()
    assert model.compiled.to_bytes() == product.to_bytes()
    assert load_model(folder, name="other").name == "other"


def test_other_weights_may_take_the_place_of_its_own(folder, tmp_path):
    np.savez(tmp_path / "new.npz", w=WEIGHTS + 1)
    assert load_model(folder, tmp_path / "new.npz").weights[0].tolist() == (WEIGHTS + 1).tolist()


def test_a_program_alone(product, tmp_path):
    product.save(tmp_path / "net.celosia")
    np.savez(tmp_path / "net.npz", w=WEIGHTS)
    model = load_model(tmp_path / "net.celosia", tmp_path / "net.npz")
    assert (model.name, model.inputs[0].name) == ("net", "x")
    with pytest.raises(ValueError, match="^preset must be left out or core, for which .*net.celosia"
                                         " was compiled, not edge$"):
        load_model(tmp_path / "net.celosia", tmp_path / "net.npz", preset="edge")
    with pytest.raises(ValueError, match="^fast must be left out: .*net.celosia was compiled "
                                         "before$"):
        load_model(tmp_path / "net.celosia", tmp_path / "net.npz", fast=True)


def test_stablehlo(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "net.mlir"
    path.write_text(STABLEHLO)
    np.savez(tmp_path / "net.npz", WEIGHTS)
    model = load_model(path, tmp_path / "net.npz")
    assert (model.name, model.batch, list(model.weights)) == ("net", 8, [0])
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: inputs and outputs of net "
                                         f"must have the same batch on axis 0"):
        load_model(path)


def test_stablehlo_may_be_compiled_fast(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "net.mlir"
    path.write_text(STABLEHLO.replace("return %0", "%1 = stablehlo.tanh %0 : tensor<8x8xf32>\n"
                                      " return %1"))
    np.savez(tmp_path / "net.npz", WEIGHTS)
    sizes = [len(load_model(path, tmp_path / "net.npz", fast=fast).compiled.program.insns)
             for fast in (False, True)]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize(("change", "message"), [
    ({"format": "other"}, "format must be celosia-model 1, not other 1"),
    ({"version": 2}, "format must be celosia-model 1, not celosia-model 2"),
    ({"inputs": ["x"]}, "inputs must be of type dict, not ['x']"),
    ({"batch_axis": None}, "batch_axis must be of type int, not None"),
])
def test_metadata_of_another_kind(folder, change, message):
    path = folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}$"):
        load_model(folder)


@pytest.mark.parametrize(("text", "message"), [
    ("{", "metadata must be JSON "), ("[]", "metadata must be an object, not list$"),
    ("7", "metadata must be an object, not int$"), ("{}", "format must be of type str, not None$")])
def test_damaged_files(folder, text, message):
    (folder / "metadata.json").write_text(text)
    with pytest.raises(ValueError, match=f"metadata.json: {message}"):
        load_model(folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"no archive"])
def test_weights_that_are_none(folder, content):
    (folder / "weights.npz").write_bytes(content)
    with pytest.raises(ValueError, match="weights.npz: weights must be an .npz file of arrays"):
        load_model(folder)


def test_nothing_is_written_of_what_is_no_model(product, tmp_path):
    with pytest.raises(ValueError, match="must have the same batch"):
        save_model(tmp_path / "net", product)
    assert not (tmp_path / "net").exists()
