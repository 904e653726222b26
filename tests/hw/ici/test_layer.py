"""Links against their model: what is on the line are frames, and all of them arrive."""

import random
from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.ici import FRAME_WORDS, SHORT_FRAMES, FrameFlag, frames, line_words
from hw.ici.link_world import Line, LinkWorld

CHIP = replace(PRESETS["nano"], ports=1)


@pytest.fixture(scope="module")
def world():
    return LinkWorld(CHIP)


def messages(rng, sizes, nbytes=4):
    return [[rng.getrandbits(8 * nbytes) for _ in range(size)] for size in sizes]


def flat(each):
    return [word for message in each for word in message]


def test_frames_on_the_line_are_those_of_the_model(world):
    rng, line = random.Random(1), Line(latency=5)
    sent = [messages(rng, [1, FRAME_WORDS, FRAME_WORDS + 1, 3]), []]
    assert world.exchange(sent, line) == [[], flat(sent[0])]
    found = [frame for frame in frames(line.seen[0], 4) if frame.flags & FrameFlag.DATA]
    # Messages follow one another within a frame; the last one's end closes it.
    words = flat(sent[0])
    assert [list(frame.words) for frame in found] == [
        words[:FRAME_WORDS], words[FRAME_WORDS:2 * FRAME_WORDS], words[2 * FRAME_WORDS:]]
    assert [frame.sequence for frame in found] == [0, 1, 2]
    # And word by word.
    words = [each for each in line.seen[0] if each.kind]
    modelled = [word for frame in frames(line.seen[0], 4) for word in line_words(frame, 4)]
    assert words[:len(modelled)] == modelled
    # The other direction says what has arrived, and that there is room again.
    answers = list(frames(line.seen[1], 4))
    assert not any(frame.flags for frame in answers)
    assert answers[-1].expected == 3


def test_a_full_link_loses_a_head_and_an_end_of_each_frame():
    size, latency = 12 * FRAME_WORDS, 64
    world = LinkWorld(CHIP)
    sent = [messages(random.Random(end), [size]) for end in range(2)]
    assert world.exchange(sent, Line(latency)) == [flat(sent[1]), flat(sent[0])]
    # Into the sender, over the line, out of the receiver, whose last frame comes after its END.
    assert world.cycles <= 12 * (FRAME_WORDS + 2) + latency + FRAME_WORDS + 16


@pytest.mark.parametrize(("size", "most"), list(enumerate(SHORT_FRAMES.values())))
def test_the_last_words_of_a_short_message_wait_for_few_others(world, size, most):
    words, line = 4 * most + 1, Line(latency=64)
    sent = [messages(random.Random(5), [words]), []]
    assert world.exchange(sent, line, size=size) == [[], flat(sent[0])]
    assert [len(frame.words) for frame in frames(line.seen[0], 4)
            if frame.flags & FrameFlag.DATA] == [most] * 4 + [1]
    assert world.cycles <= words + 2 * 5 + line.latency + most + 16


@pytest.mark.parametrize(("seed", "latency", "errors", "offer", "take", "sizes"), [
    (1, 1, 1e-3, .3, 1, [1, 2, 3, 5] * 4), (2, 40, 2e-4, 1, 1, [130, 200]),
    (3, 7, 5e-4, .3, .8, [1, 30, 2, 20]), (4, 3, 0, .9, .2, [1, 130, 100, 7]),
])
def test_words_arrive_once_and_in_order(world, seed, latency, errors, offer, take, sizes):
    sent = [messages(random.Random(2 * seed + end), sizes) for end in range(2)]
    line = Line(latency, errors)
    assert world.exchange(sent, line, seed=seed, offer=offer, take=take) == [
        flat(sent[1]), flat(sent[0])]
    for each in line.seen:
        numbers = [frame.sequence for frame in frames(each, 4) if frame.flags & FrameFlag.DATA]
        assert (len(numbers) > len(set(numbers))) == bool(errors)


@pytest.mark.parametrize(("nbytes", "count"), [(8, 2), (16, 6)])
def test_wider_words_and_other_buffers(nbytes, count):
    world = LinkWorld(replace(PRESETS["core"], ports=1, link_bytes=nbytes, link_frames=count))
    sent = [messages(random.Random(end), [1, 300], nbytes) for end in range(2)]
    assert world.exchange(sent, Line(9, 2e-5)) == [flat(sent[1]), flat(sent[0])]
