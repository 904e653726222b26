"""Which requests are in a server: edges of each limit, without one."""

import asyncio
from contextlib import ExitStack

import pytest

from celosia.serve import Limits
from celosia.serve.admission import Admission
from celosia.serve.errors import Refusal
from celosia.serve.metrics import Metrics

BUSY = "the server is busy: bodies and answers may have at most 100 bytes together; try again"


def make(most=100, **limits):
    admission = Admission(Limits(**limits), most, Metrics("net"))
    admission.told = lambda: [line for line in admission._metrics.text()[0].decode().splitlines()
                              if line.startswith(("celosia_requests_open", "celosia_held"))]
    return admission


def counted(requests, held):
    return [f"celosia_requests_open {requests:.1f}", f"celosia_held_bytes {held:.1f}"]


def refused(function, *arguments):
    with pytest.raises(Refusal) as caught:
        function(*arguments)
    return caught.value.status, caught.value.message, caught.value.retry_after


async def pieces(*sizes):
    for size in sizes:
        yield b"x" * size


def read(admission, *sizes, length=None):
    """What is read of a body in pieces, or why it is not."""
    async def talk():
        with admission.ticket("here") as ticket:
            text = await admission.read(ticket, pieces(*sizes), length)
            assert admission.told() == counted(1, sum(sizes))
            return len(text)
    try:
        return asyncio.run(talk())
    except Refusal as refusal:
        return refusal.status, refusal.message


def test_there_are_as_many_places_as_the_queue_has():
    admission = make(queue=2)
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(admission.ticket("here"))
        second.enter_context(admission.ticket("there"))
        assert admission.told() == counted(2, 0)
        assert refused(ExitStack().enter_context, admission.ticket("here")) == (
            503, "the server is busy: at most 2 requests may be in it at once; try again", 1)
        assert admission.told() == counted(2, 0)
        first.close()
        with admission.ticket("here"):
            assert admission.told() == counted(2, 0)
    assert admission.told() == counted(0, 0)


def test_bytes_are_held_until_the_request_leaves():
    admission = make()
    with admission.ticket("here") as one:
        admission.hold(one, 60)
        with admission.ticket("here") as other:
            admission.hold(other, 40)  # that is all
            assert admission.told() == counted(2, 100)
        assert admission.told() == counted(1, 60)
        with admission.ticket("here") as other:
            assert refused(admission.hold, other, 41) == (503, BUSY, 1)
        admission.hold(one, 40)
        assert refused(admission.hold, one, 1) == (503, BUSY, 1)
    assert admission.told() == counted(0, 0)


@pytest.mark.parametrize(("sizes", "length", "found"), [
    ((), None, 0), ((50,), None, 50), ((20, 30), 50, 50),
    ((51,), None, (413, "the body must have at most 50 bytes, not 51 or more")),
    ((20, 30, 1), None, (413, "the body must have at most 50 bytes, not 51 or more")),
    ((20, 30, 1), 50, (413, "the body must have at most 50 bytes, not 51 or more")),
    ((20,), 51, (413, "the body must have at most 50 bytes, not 51 or more")),
])
def test_a_body_may_be_as_large_as_the_limit(sizes, length, found):
    admission = make(body=50)
    assert read(admission, *sizes, length=length) == found
    assert admission.told() == counted(0, 0)
    assert not admission._reading
    assert not admission.unfinished._of


@pytest.mark.parametrize("limits", [{"queue": 3}, {"most": 100}])
def test_the_body_that_was_read_for_longest_goes(limits):
    """For a place, or for memory; those that arrived stay, and the newcomer has it."""
    admission = make(**limits)
    status = {}

    async def slow():
        yield b"x" * 45
        await asyncio.Event().wait()

    async def client(name, body):
        try:
            with admission.ticket(name) as ticket:
                text = await admission.read(ticket, body, None)
                status[name] = len(text)
                await asyncio.Event().wait()
        except Refusal as refusal:
            status[name] = refusal.status, refusal.retry_after

    async def talk():
        clients = []
        for name, body in (("arrived", pieces(5)), ("old", slow()), ("young", slow()),
                           ("new", pieces(40))):
            clients.append(asyncio.ensure_future(client(name, body)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0.001)
        seen = dict(status), admission.told()
        for each in clients:
            each.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        return seen
    assert asyncio.run(talk()) == (
        {"arrived": 5, "new": 40, "old": (503, 1)}, counted(3, 5 + 45 + 40))
    assert admission.told() == counted(0, 0)
