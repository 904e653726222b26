"""docs/tensorflow.md begins with a file, and with what that prints."""

import re

import numpy as np
import pytest

from e2e.tensorflow_files import ROOT, losses, process

pytestmark = pytest.mark.extra(name="tensorflow")

#: What differs from run to run: seconds, and the digits of losses and accuracies.
_VARIES = re.compile(r" - [\d.]+m?s - [\d.]+m?s/step|(?<=: )\d\.\d+")


def test_the_file_prints_what_the_page_says(tmp_path):
    page = (ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    [file, printed] = re.search(r"```python\n(.*?)```.*?It prints.*?```\n(.*?)```", page,
                                re.DOTALL).groups()
    [devices] = re.findall(r"CELOSIA_DEVICES=(\d+) python -m celosia.tensorflow train.py", page)
    (tmp_path / "train.py").write_text(file, encoding="utf-8")
    done = process(["train.py"], int(devices), cwd=tmp_path)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    lines = [_VARIES.sub("", line) for line in printed.splitlines()]
    came = [_VARIES.sub("", line) for line in text.splitlines()]
    assert [line for line in came if line in lines] == lines, text
    np.testing.assert_allclose(losses(text), losses(printed), rtol=0.02)
    assert len(losses(printed)) == 6
    assert (tmp_path / "digits.keras").is_file()
