"""``python -m celosia.tensorflow FILE [ARGUMENT ..]``: runs a file of TensorFlow as it is."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

__all__ = ["main"]


def main(argv: list[str]) -> int:
    """Run a file with its arguments; 2 if there is none."""
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: python -m celosia.tensorflow FILE [ARGUMENT ..]\n\n"
              "Run a file for TPUs as it is; CELOSIA_DEVICES, CELOSIA_PRESET, CELOSIA_BACKEND and\n"
              "CELOSIA_STRICT say on which chips.", file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    if not Path(argv[0]).is_file():
        print(f"celosia.tensorflow: there must be a file to run, not {argv[0]!r}", file=sys.stderr)
        return 2
    import celosia.tensorflow  # noqa: F401  before the file uses TensorFlow
    # Notebooks of Colab told their files so where the TPU is.
    os.environ.setdefault("COLAB_TPU_ADDR", "localhost:8470")
    sys.argv = argv
    sys.path[0] = str(Path(argv[0]).resolve().parent)
    runpy.run_path(argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
