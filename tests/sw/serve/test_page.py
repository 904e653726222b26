"""docs/serving.md does what it says."""

import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest

from celosia.serve import load_model
from serving import serving

PAGE = Path(__file__).parents[3] / "docs" / "serving.md"


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    weights = {"w1": rng.normal(size=(64, 32)), "b1": rng.normal(size=32),
               "w2": rng.normal(size=(32, 10)), "b2": rng.normal(size=10)}
    np.savez("weights.npz", **{name: each.astype(np.float32) for name, each in weights.items()})
    return weights


def test_the_page(trained):
    page = PAGE.read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    command = re.search(r"curl .*? -d \"(.*?)\"\n```", page, re.DOTALL)
    body = command[1].replace("\\", "").replace("$(seq -s, 64)", ", ".join(map(str, range(1, 65))))
    image = np.arange(1, 65, dtype=np.float32)[None]
    wanted = names["predict"](trained, image)

    async def ask(model, body):
        async with serving(model, check=True) as client:
            return await client.post(body)
    program = load_model("digits.mlir", "weights.npz")
    lines = [f"{program.name}: takes {program.inputs[0].name} {program.inputs[0].type}",
             f"{program.name}: gives {program.outputs[0].name} {program.outputs[0].type}"]
    assert "\n".join(lines) in page
    for model, message in ((program, body), (load_model("digits"), body.replace('"x"', '"image"'))):
        status, answer = asyncio.run(asyncio.wait_for(ask(model, message), 60))
        assert status == 200, answer
        np.testing.assert_allclose(answer["outputs"][0]["data"], wanted[0], atol=1e-2)
    assert answer["outputs"][0]["name"] == "probabilities"
    assert json.loads(Path("digits/metadata.json").read_text())["inputs"] == {"image": 4}
