"""What a service takes upon itself, and what it counts."""

import asyncio
import json
import threading

import numpy as np
import pytest

import celosia
from celosia.serve import Limits, Service
from celosia.serve.errors import Refusal
from serving import BATCH, request

MB = 1 << 20
#: Bytes of a row of the answer: 8 numbers of 32 bits.
ROW = 32


def service(model, limits=None):
    return Service(model, lambda: celosia.open("model", config=model.compiled.config), limits)


def infer(of, message):
    """What a service that is not open says to a request."""
    async def body():
        yield json.dumps(message).encode()

    async def talk():
        with pytest.raises(Refusal) as caught:
            await of.infer(body(), None, "here", asyncio.Event().wait)
        return caught.value.status, caught.value.message
    return asyncio.run(talk())


@pytest.mark.parametrize(("limits", "held"), [
    (None, 64 * MB),
    (Limits(), 64 * MB),
    (Limits(body=1000), 64 * MB),
    (Limits(body=16 * MB), 64 * MB),
    (Limits(body=16 * MB + ROW), 64 * MB + 4 * ROW),
    (Limits(body=40 * MB), 160 * MB),
    (Limits(held=3200), 3200),
    (Limits(held=2 * BATCH * ROW + ROW), 2 * BATCH * ROW + ROW),
    (Limits(held=1), 2 * BATCH * ROW),
])
def test_an_answer_fits_in_what_may_be_held(model, limits, held):
    """By default four of the largest bodies, at least 64 MiB; two runs' answers in any case."""
    message = request(np.zeros((1, 16), np.float32))
    found = []
    for rows in (held // ROW, held // ROW + 1):
        message["inputs"][0]["shape"] = [rows, 16]
        found.append(infer(service(model, limits), message))
    assert found[0][0] == 400  # there are too few elements
    assert found[1] == (413, (f"inputs[0].shape, of x, must have a batch of at most "
                              f"{held // ROW}, not {held // ROW + 1}"))


@pytest.mark.parametrize("batch", [1, BATCH])
def test_a_run_may_have_the_programs_batch(model, batch):
    assert not service(model, Limits(batch=batch)).ready


def test_a_run_may_have_no_more_than_the_programs_batch(model):
    with pytest.raises(ValueError, match=f"^limit of batch must be at most {BATCH}, the batch of "
                                         f"product, not {BATCH + 1}$"):
        service(model, Limits(batch=BATCH + 1))


def test_nothing_runs_in_a_service_that_is_not_open(model):
    closed = service(model)
    assert closed.ended
    assert infer(closed, request(np.zeros((1, 16), np.float32))) == (
        503, "the server is shutting down")


def test_other_threads_have_json_of_more_than_64_kib(model):
    async def talk(size):
        return await service(model)._aside(size, threading.current_thread)
    here = threading.current_thread()
    assert asyncio.run(talk(1 << 16)) is here
    assert asyncio.run(talk((1 << 16) + 1)).name.startswith("celosia json")


@pytest.mark.parametrize(("error", "status"), [
    (None, "200"), (Refusal(413, "too large"), "413"), (asyncio.CancelledError(), "499"),
    (RuntimeError("a defect"), "500"),
])
def test_requests_are_counted_by_what_became_of_them(model, monkeypatch, error, status):
    asked = service(model)

    async def answered(*_):
        if error is not None:
            raise error
        return b"answer"
    monkeypatch.setattr(asked, "_infer", answered)

    async def talk():
        try:
            return await asked.infer(None, None, "here", None)
        except type(error) as caught:
            return caught
    assert asyncio.run(talk()) is error or error is None
    text = asked.metrics.text()[0].decode()
    assert [line for line in text.splitlines() if line.startswith("celosia_requests_total")] == [
        f'celosia_requests_total{{status="{status}"}} 1.0']
    [seconds] = [float(line.split()[1]) for line in text.splitlines()
                 if line.startswith("celosia_request_seconds_sum")]
    assert 0 < seconds < 5
