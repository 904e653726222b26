"""Requests that share runs, and limits under load."""

import asyncio
import os
import re
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import celosia
from celosia.graph import parse
from celosia.serve import Limits, Service, make_model
from celosia.serve.batcher import Batcher, _Job
from serving import BATCH, WEIGHTS, Gate, serving

#: A row's answer is how far it is from the mean of all rows.
NORMALISED = """graph net(
  %0: f32[8,16] "x"
) {
  %1 = constant() value=f32[]{0.0} : f32[]
  %2 = reduce(%0, %1) dims=[0] reducer=add : f32[16]
  %3 = broadcast(%2) shape=[8,16] dims=[1] : f32[8,16]
  %4 = subtract(%0, %3) : f32[8,16]
  return %4
}"""
#: The batch is the second axis.
COLUMNS = """graph columns(
  %0: f32[16,8] "x",
  %1: f32[4,16] "w"
) {
  %2 = dot(%1, %0) dtype=f32 contract=[[1,0]] : f32[4,8]
  return %2
}"""


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def row(number):
    """A row that no other number has."""
    return np.array([[(number >> bit) & 1 for bit in range(16)]], np.float32)


def test_many_requests_share_few_runs_and_get_their_own_answers(model):
    async def talk():
        async with serving(model, Limits(wait=0.05, queue=1000)) as client:
            found = await asyncio.gather(*(client.ask(row(n)) for n in range(200)))
            return found, await client.metrics()
    found, metrics = run(talk())
    for number, (status, answer) in enumerate(found):
        assert status == 200
        assert answer.tolist() == (row(number) @ WEIGHTS).tolist()
    assert metrics["celosia_run_seconds_count"] <= 200 / BATCH + 5


def test_requests_of_several_sizes_are_split_and_put_together(model):
    rng = np.random.default_rng(3)
    arrays = [rng.integers(-50, 50, (size, 16)).astype(np.float32)
              for size in (5, 5, 5, 20, 1, 9, 8, 3)]

    async def talk():
        async with serving(model, Limits(wait=0.05)) as client:
            found = await asyncio.gather(*(client.ask(each) for each in arrays))
            return found, await client.metrics()
    found, metrics = run(talk())
    for array, (status, answer) in zip(arrays, found, strict=True):
        assert status == 200
        assert answer.tolist() == (array @ WEIGHTS).tolist()
    assert metrics["celosia_run_seconds_count"] == 56 / BATCH


@pytest.mark.parametrize(("most", "sizes", "runs"), [
    # What is left of a request comes behind the others. Parts are: whose, from, to, at.
    (8, (5, 5, 20, 1), [[(0, 0, 5, 0), (1, 0, 3, 5)], [(2, 0, 8, 0)],
                        [(3, 0, 1, 0), (1, 3, 5, 1), (2, 8, 13, 3)], [(2, 13, 20, 0)]]),
    (8, (8, 1), [[(0, 0, 8, 0)], [(1, 0, 1, 0)]]),
    (8, (7, 1, 1), [[(0, 0, 7, 0), (1, 0, 1, 7)], [(2, 0, 1, 0)]]),
    (3, (7,), [[(0, 0, 3, 0)], [(0, 3, 6, 0)], [(0, 6, 7, 0)]]),
    (1, (2, 1), [[(0, 0, 1, 0)], [(1, 0, 1, 0)], [(0, 1, 2, 0)]]),
])
def test_a_run_takes_rows_in_turn(most, sizes, runs):
    waiting = []
    shown = SimpleNamespace(waiting=SimpleNamespace(set=waiting.append))
    batches = Batcher(SimpleNamespace(model=None), shown, most, 0)
    jobs = [_Job((), [], rows, None) for rows in sizes]
    batches._jobs.extend(jobs)
    batches._count(sum(sizes))
    found = []
    while batches._jobs:
        run = batches._take()
        assert run.rows == sum(part.end - part.first for part in run.parts) <= most
        found.append([(jobs.index(part.job), part.first, part.end, part.at) for part in run.parts])
    assert found == runs
    left = [sum(sizes) - sum(end - first for run in runs[:i] for _, first, end, _ in run)
            for i in range(len(runs) + 1)]
    assert waiting == left
    assert batches._worker.close(5)


def test_a_large_request_takes_turns_with_others(model):
    gate, permits = Gate(model), threading.Semaphore(0)
    gate.open = SimpleNamespace(wait=lambda seconds: permits.acquire(timeout=seconds))

    async def talk():
        async with serving(model, Limits(wait=0), gate) as client:
            large = asyncio.create_task(client.ask(np.ones((20 * BATCH, 16), np.float32)))
            while not gate.runs:
                await asyncio.sleep(0.001)
            small = [asyncio.create_task(client.ask(row(n))) for n in range(3)]
            while (await client.metrics())["celosia_rows_waiting"] < 19 * BATCH + 3:
                await asyncio.sleep(0.001)
            # That which runs, the one before theirs, theirs, and two that began meanwhile.
            permits.release(5)
            found = await asyncio.gather(*small)
            permits.release(100)
            return found, await large
    found, large = run(talk())
    for number, (status, answer) in enumerate(found):
        assert (status, answer.tolist()) == (200, (row(number) @ WEIGHTS).tolist())
    assert large[0] == 200
    assert large[1].tolist() == 20 * BATCH * [WEIGHTS.sum(0).tolist()]


def test_fewer_rows_a_run(model):
    async def talk():
        async with serving(model, Limits(batch=2)) as client:
            answer = await client.ask(np.concatenate([row(n) for n in range(6)]))
            return answer, await client.metrics()
    (status, answer), metrics = run(talk())
    assert (status, answer.tolist()) == (
        200, (np.concatenate([row(n) for n in range(6)]) @ WEIGHTS).tolist())
    assert metrics["celosia_run_seconds_count"] == 3
    with pytest.raises(ValueError, match="^limit of batch must be at most 8, the batch of product, "
                                         "not 9$"):
        Service(model, Gate(model), Limits(batch=9))


def test_a_batch_on_another_axis():
    w = np.random.default_rng(0).integers(-9, 9, (4, 16)).astype(np.float32)
    model = make_model(celosia.compile(parse(COLUMNS), "core", cache=False), {"w": w}, axis=1)
    x = np.random.default_rng(1).integers(-9, 9, (16, 11)).astype(np.float32)

    async def talk():
        async with serving(model, check=True) as client:
            return await client.ask(x)
    status, answer = run(talk())
    assert (status, answer.tolist()) == (200, (w @ x).tolist())


def test_a_flood_is_refused_and_the_server_goes_on(model):
    gate = Gate(model)

    async def talk():
        async with serving(model, Limits(queue=20, wait=0), gate) as client:
            tasks = [asyncio.create_task(client.http.post(
                client.url, json={"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 16],
                                              "data": row(n).ravel().tolist()}]}))
                for n in range(500)]
            await asyncio.wait(tasks[20:], timeout=20)
            held = await client.metrics()
            live = (await client.http.get("/v2/health/live")).status_code
            gate.open.set()
            responses = await asyncio.gather(*tasks)
            return responses, held, live, await client.ask(row(5)), await client.metrics()
    responses, held, live, after, metrics = run(talk())
    statuses = [each.status_code for each in responses]
    assert statuses.count(200) == 20
    assert statuses.count(503) == 480
    refused = responses[statuses.index(503)]
    assert refused.headers["retry-after"] == "1"
    assert refused.json() == {"error": "the server is busy: at most 20 requests may be in it at "
                                       "once; try again"}
    for number, response in enumerate(responses):
        if response.status_code == 200:
            assert response.json()["outputs"][0]["data"] == (row(number) @ WEIGHTS)[0].tolist()
    assert held["celosia_requests_open"] == 20
    assert live == after[0] == 200
    assert metrics["celosia_requests_open"] == metrics["celosia_rows_waiting"] == 0


def test_bodies_together_are_bounded(model):
    async def half():
        yield b" " * 600
        await asyncio.sleep(0.3)
        yield b" " * 100

    async def talk():
        async with serving(model, Limits(body=1000, held=2000)) as client:
            found = await asyncio.gather(*(client.http.post(client.url, content=half())
                                           for _ in range(5)))
            return found, await client.ask(row(1)), await client.metrics()
    found, after, metrics = run(talk())
    statuses = sorted(each.status_code for each in found)
    assert statuses.count(503) >= 2
    assert set(statuses) == {400, 503}
    assert {each.json()["error"] for each in found if each.status_code == 503} == {
        "the server is busy: bodies and answers may have at most 2000 bytes together; try again"}
    assert after[0] == 200
    assert metrics["celosia_held_bytes"] == 0


def test_time_is_up(model):
    gate = Gate(model)

    async def talk():
        async with serving(model, Limits(timeout=0.3, wait=0), gate) as client:
            late = await asyncio.gather(*(client.ask(row(n)) for n in range(30)))
            gate.open.set()
            while (await client.metrics())["celosia_rows_waiting"]:
                await asyncio.sleep(0.01)
            return late, await client.ask(row(1))
    late, after = run(talk())
    assert late == 30 * [(504, ("there was no answer within 0.3 s (rows: 1); the server is busy, "
                                "or the model too slow for so many"))]
    assert after[0] == 200
    assert gate.runs == 2  # nothing ran for those who had gone


def test_the_end_waits_for_answers(model):
    gate = Gate(model)

    async def talk():
        async with serving(model, make=gate) as client:
            tasks = [asyncio.create_task(client.ask(row(n))) for n in range(20)]
            while (await client.metrics())["celosia_rows_waiting"] != 12:
                await asyncio.sleep(0.01)
            threading.Timer(0.3, gate.open.set).start()
        return await asyncio.gather(*tasks), client.service.ended
    found, ended = run(talk())
    assert ended
    for number, (status, answer) in enumerate(found):
        assert status == 200
        assert answer.tolist() == (row(number) @ WEIGHTS).tolist()


def test_an_end_that_does_not_come_is_given_up(model):
    gate = Gate(model)

    async def talk():
        async with serving(model, Limits(timeout=0.2), gate) as client:
            task = asyncio.create_task(client.ask(row(9)))
            while not gate.runs:
                await asyncio.sleep(0.01)
            start = time.monotonic()
        took = time.monotonic() - start
        gate.open.set()
        return await task, client.service.ended, took
    (status, _), ended, took = run(talk())
    assert (status, ended) == (504, False)
    assert took < 5


@pytest.mark.parametrize("rows", [2, 8])
def test_rows_that_depend_on_each_other_are_no_model(rows):
    text = NORMALISED.replace("[8,", f"[{rows},")
    model = make_model(celosia.compile(parse(text), "core", cache=False))

    async def start(check):
        async with serving(model, check=check):
            pass
    message = ("every row of output0 of net must depend on its own row of the inputs alone, since "
               "requests of several clients share a run, but it changes with the other rows (a "
               "batch normalisation that trains?)")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        run(start(True))
    run(start(False))


@pytest.mark.parametrize(("limits", "message"), [
    ({"queue": 0}, "limit of queue must be an integer of at least 1, not 0"),
    ({"body": 1.5}, "limit of body must be an integer of at least 1, not 1.5"),
    ({"batch": True}, "limit of batch must be an integer of at least 1, not True"),
    ({"connections": 0}, "limit of connections must be an integer of at least 1, not 0"),
    ({"idle": 1.5}, "limit of idle must be an integer of at least 1, not 1.5"),
    ({"headers": 0}, "limit of headers must be at least 0.001 seconds, not 0"),
    ({"stall": -1}, "limit of stall must be at least 0.001 seconds, not -1"),
    ({"timeout": 0}, "limit of timeout must be at least 0.001 seconds, not 0"),
    ({"wait": float("nan")}, "limit of wait must be at least 0 seconds, not nan"),
])
def test_limits_that_are_none(limits, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Limits(**limits)


def test_prometheus_is_told_what_smi_shows(model, tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path))

    async def talk():
        async with serving(model, Limits(wait=0)) as client:
            for number in range(7):
                await client.ask(row(number))
            await asyncio.sleep(0.3)  # a device writes five times a second
            await client.ask(row(7))
            return await client.metrics()
    mine = f'pid="{os.getpid()}"'
    chips = {name: value for name, value in run(talk()).items()
             if "celosia_device_" in name and mine in name}
    kinds = {name.split("{")[0] for name in chips}
    assert kinds == {f"celosia_device_{name}" for name in (
        "busy", "memory_bytes", "runs", "total_cycles", "faults", "requests")}
    [requests] = [value for name, value in chips.items() if "_requests{" in name]
    [runs] = [value for name, value in chips.items() if "_runs{" in name]
    assert 7 <= requests <= 8
    assert requests <= runs
    assert all('backend="model"' in name for name in chips)
    assert {re.search('unit="(.*)"', name)[1] for name in chips if "_busy" in name} == {
        "load", "store", "mxu", "vpu", "scalar"}
