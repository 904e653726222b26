"""No test of a unit runs for ever, whatever the unit does."""

import pytest

from hw.limits import processor_time

#: Seconds of the processor, many times what any of them needs.
SECONDS = 60


@pytest.fixture(autouse=True)
def _ends():
    with processor_time(SECONDS):
        yield
