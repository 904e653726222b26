"""Modules that the tests here share; JAX, if it is there, on the CPU."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "graph"), str(HERE.parent / "frontend")]
