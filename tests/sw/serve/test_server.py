"""A server in a process of its own, on loopback."""

import errno
import os
import signal
import socket
import sys
import threading
import time

import numpy as np
import pytest

from celosia.cli.main import main
from celosia.serve import save_model
from serving import PATH, WEIGHTS, Process

CLIENTS = 32


@pytest.fixture(scope="module")
def folder(product, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "digits"
    save_model(path, product, {"w": WEIGHTS})
    return path


@pytest.fixture
def server(folder):
    made = Process(folder, "--max-body", "2000000", "--max-queue", "64")
    try:
        yield made
    finally:
        made.kill()


def load(server, seconds):
    """Ask from many threads; return the number of requests and what went wrong."""
    wrong, counts, end = [], [0] * CLIENTS, time.monotonic() + seconds

    def client(number):
        rng = np.random.default_rng(number)
        connection = server.connect()
        try:
            while time.monotonic() < end:
                array = rng.integers(-99, 99, (rng.integers(1, 12), 16)).astype(np.float32)
                status, answer = server.ask(connection, array)
                wanted = (array @ WEIGHTS).ravel().tolist()
                if status != 200 or answer["outputs"][0]["data"] != wanted:
                    wrong.append((number, status, answer))
                    return
                counts[number] += 1
        except Exception as error:  # a thread has nobody to raise to
            wrong.append((number, repr(error)))
        finally:
            connection.close()
    threads = [threading.Thread(target=client, args=(number,), daemon=True)
               for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
        assert not thread.is_alive(), "a client waits for its answer"
    return counts, wrong


def held_under_load(server, seconds):
    counts, wrong = load(server, seconds)
    assert not wrong, wrong[0]
    assert min(counts) > 0
    assert server.metric('celosia_requests_total{status="200"}') == sum(counts)
    assert server.metric("celosia_run_seconds_count") < sum(counts)  # they share runs
    assert server.end() == (0, "")


def test_clients_at_once(server):
    held_under_load(server, 3)


@pytest.mark.slow
def test_clients_for_ten_minutes(server):
    load(server, 20)
    before = server.memory()
    counts, wrong = load(server, 600)
    print(f"{sum(counts)} answers, {server.metric('celosia_run_seconds_count'):.0f} runs, memory "
          f"{before} bytes before, {server.memory()} after")
    assert not wrong, wrong[0]
    assert min(counts) > 0
    assert server.memory() < before + 50e6
    assert server.end() == (0, "")


def test_a_flood_of_large_and_bad_requests(server):
    """Far more connections than the queue, each with a body of the largest size or nonsense."""
    before = server.memory()
    statuses, most = [], []

    def client(number):
        connection = server.connect()
        body = (b"x" * 1_999_999, b" " * 3_000_000, b"[" * 1_000_000, b"{}")[number % 4]
        for _ in range(4):
            try:
                connection.request("POST", PATH, body)
                response = connection.getresponse()
                response.read()
                statuses.append(response.status)
            except OSError:  # refused before the body was sent
                statuses.append(0)
                connection.close()
        connection.close()
        most.append(server.memory())
    threads = [threading.Thread(target=client, args=(number,), daemon=True)
               for number in range(150)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert set(statuses) <= {400, 413, 429, 503, 0}
    assert statuses.count(0) < 30
    assert {400, 413} <= set(statuses)
    assert max(most) < before + 300e6
    held_under_load(server, 0.5)


def test_connections_that_say_nothing_or_nonsense(server):
    idle = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in range(100)]
    for number, each in enumerate(idle):
        if number % 2:
            each.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
        else:
            each.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n"
                         .encode() if number % 4 else b"GET /v2")
    connection = server.connect()
    assert server.ask(connection, np.ones((1, 16), np.float32))[0] == 200
    connection.close()
    for each in idle:
        each.close()
    assert server.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_answers_what_is_in_the_server(folder, number):
    server = Process(folder, "--wait", "700")
    try:
        connection = server.connect()
        answers = []
        thread = threading.Thread(daemon=True, target=lambda: answers.append(
            server.ask(connection, np.ones((1, 16), np.float32))))
        thread.start()
        while not server.metric("celosia_rows_waiting"):
            time.sleep(0.01)
        assert server.end(number) == (0, "")
        thread.join(10)
        assert answers[0][0] == 200
        assert answers[0][1]["outputs"][0]["data"] == WEIGHTS.sum(0).tolist()
        connection.close()
    finally:
        server.kill()


def test_wrong_arguments(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(folder), "--port", str(port)]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: 127.0.0.1:{port} must be an address that is free: "
        f"{os.strerror(errno.EADDRINUSE)}\n")
    for options, message in (
            (["--port", "70000"], "port must be from 0 to 65535, not 70000"),
            (["--max-batch", "9"], "limit of batch must be at most 8, the batch of digits, not 9"),
            (["--max-queue", "0"], "limit of queue must be an integer of at least 1, not 0"),
            (["--max-connections", "0"],
             "limit of connections must be an integer of at least 1, not 0"),
            (["--preset", "edge"], (f"preset must be left out or core, for which {folder} was "
                                    f"compiled, not edge"))):
        assert main(["serve", str(folder), *options]) == 1
        assert capsys.readouterr().err == f"celosia: error: {message}\n"
    assert main(["serve", str(folder / "nothing")]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["prometheus_client", "starlette.applications", "uvicorn"])
def test_a_package_that_is_not_installed(folder, capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "celosia.serve.routes", raising=False)
    assert main(["serve", str(folder), "--port", "0"]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: celosia serve needs the package {package}: "
        f"pip install 'celosia[serve]'\n")


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["serve", "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: celosia serve")
    assert "examples" in text
    assert max(map(len, text.splitlines())) <= 100
