"""`celosia.tensorflow` where TensorFlow is not installed."""

import subprocess
import sys


def test_without_tensorflow_it_says_what_to_install():
    text = "import sys; sys.modules['tensorflow'] = None; import celosia.tensorflow"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("ModuleNotFoundError: celosia.tensorflow needs the package "
                                "tensorflow: pip install 'celosia[tensorflow]'\n")
