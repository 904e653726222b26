"""What all tests need."""

import gc
import os
import signal
import sys

# A shell's background jobs begin with the signal ignored, and so would every process that a test
# starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


# What JAX computes on the CPU is run once, to be compared: most of its time was LLVM's.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Next to nothing of what is imported and collected is garbage; to look through it again and again
# took a third of the time.
gc.disable()


def pytest_collection_finish():
    """What is there now stays: the collector of garbage need not look through it again and again,
    nor often. A tenth of the time of the tests was its.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def pytest_sessionfinish():
    """Where coverage is measured, save it now: a worker that is slow to end is killed."""
    coverage = sys.modules.get("coverage")
    if coverage is not None and (current := coverage.Coverage.current()) is not None:
        current.save()
