"""Requests that have not arrived in full, as time goes by."""

import heapq
from types import SimpleNamespace

import pytest

from celosia.serve import unfinished
from celosia.serve.unfinished import Unfinished


class Clock:
    """A loop's time, which goes on when a test says so."""

    def __init__(self):
        self.now, self._calls = 0.0, []

    def time(self):
        return self.now

    def call_later(self, seconds, function, *arguments):
        heapq.heappush(self._calls, (self.now + seconds, len(self._calls), function, arguments))

    def go_on(self, until):
        while self._calls and self._calls[0][0] <= until:
            self.now, _, function, arguments = heapq.heappop(self._calls)
            function(*arguments)
        self.now = until


class Address:
    """Requests by letter, and which of them were refused."""

    def __init__(self, waited, name):
        self.waited, self.name, self.refused, self.why, self._calls = waited, name, "", [], {}

    def add(self, letters):
        for letter in letters:
            def refuse(refusal, letter=letter):
                self.refused += letter
                self.why.append(refusal)
            self._calls[letter] = refuse
            self.waited.add(self.name, refuse)

    def arrived(self, letter):
        self.waited.discard(self.name, self._calls[letter])


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(unfinished, "asyncio", SimpleNamespace(get_running_loop=lambda: made))
    return made


def test_the_oldest_goes_when_the_one_too_many_has_had_its_grace(clock):
    here = Address(Unfinished(2, 1.0), "here")
    for at, letter in ((0.0, "a"), (0.25, "b"), (0.5, "c")):
        clock.go_on(at)
        here.add(letter)
    clock.go_on(1.4375)
    assert here.refused == ""
    clock.go_on(1.5)
    assert here.refused == "a"
    clock.go_on(9)
    assert here.refused == "a"
    [refusal] = here.why
    assert (refusal.status, refusal.message) == (429, (
        "an address may have at most 2 connections on which a request has not arrived in full, "
        "and this was the oldest; try again"))


def test_a_second_is_what_requests_are_given(clock):
    here = Address(Unfinished(1), "here")
    here.add("ab")
    clock.go_on(0.9375)
    assert here.refused == ""
    clock.go_on(1)
    assert here.refused == "a"


def test_nobody_goes_where_the_one_too_many_arrives(clock):
    here = Address(Unfinished(1, 1.0), "here")
    here.add("a")
    clock.go_on(0.5)
    here.add("b")
    clock.go_on(1.25)
    here.arrived("b")
    clock.go_on(9)
    assert here.refused == ""


def test_of_many_at_once_the_last_stay(clock):
    here = Address(Unfinished(2, 1.0), "here")
    here.add("abcd")
    clock.go_on(1)
    assert here.refused == "ab"


def test_what_is_new_has_its_place_and_its_grace(clock):
    here = Address(Unfinished(1, 1.0), "here")
    here.add("ab")
    clock.go_on(0.75)
    here.add("c")
    clock.go_on(1.5)
    assert here.refused == "ab"
    clock.go_on(9)
    assert here.refused == "ab"


def test_addresses_do_not_count_for_each_other(clock):
    waited = Unfinished(1, 1.0)
    here, there = Address(waited, "here"), Address(waited, "there")
    here.add("a")
    there.add("xy")
    clock.go_on(9)
    assert (here.refused, there.refused) == ("", "x")


def test_an_address_for_which_nothing_waits_is_forgotten(clock):
    waited = Unfinished(1, 1.0)
    here = Address(waited, "here")
    here.add("abc")
    clock.go_on(1)
    here.arrived("c")
    here.arrived("c")  # is none that is waited for
    assert here.refused == "ab"
    assert not waited._of
