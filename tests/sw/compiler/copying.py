"""Programs of copies at random, and what work leaves in memory where it runs as it is said."""

import random
from itertools import product

from celosia.arch.isa import DmaFormat
from celosia.compiler.accesses import inner
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Fill,
    Move,
    Read,
    Tensor,
    While,
    Write,
)
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, parameter

SMALL, TALL, WIDE = (4, 6), (8, 6), (4, 12)
#: What all clusters read and write, as far as a graph is concerned.
VALUE = parameter(TensorType(DType.I32, SMALL))


def tensor(name, shape=SMALL):
    return Tensor(name, shape, DType.I32, DmaFormat.W32)


def whole(of):
    return Access(of, View.contiguous(of.shape))


def part(of, start, shape=SMALL):
    """Return a box of a tensor."""
    return Access(of, View.contiguous(of.shape).slice(
        start, [at + size for at, size in zip(start, shape, strict=True)]))


def made(dst, *reads, seed=1, also=()):
    """Return a cluster that writes something that depends on all it reads."""
    return Cluster(SMALL, 1, None, None, (),
                   tuple(Read(VALUE, Extent.FULL, access) for access in reads),
                   tuple(Write(VALUE, Extent.FULL, access) for access in (dst, *also)), str(seed))


def places(access):
    """Return where the elements of an access lie in its tensor, in order."""
    view = access.view
    return [view.offset + sum(i * stride for i, stride in zip(index, view.strides, strict=True))
            for index in product(*map(range, view.shape))]


class Memory:
    """Runs work element by element; ``seen`` are the tests of loops, in order."""

    def __init__(self, given):
        self.words = {of: dict(enumerate(words)) for of, words in given.items()}
        self.seen = []

    def _get(self, access, place):
        return self.words[access.tensor][place]

    def _set(self, access, place, word):
        self.words.setdefault(access.tensor, {})[place] = word

    def run(self, works):
        for work in works:
            match work:
                case Cluster():
                    reads = [(read.access, places(read.access)) for read in work.reads]
                    writes = [(write.access, places(write.access)) for write in work.writes]
                    for i in range(24):
                        word = 7 * int(work.source) + i
                        for access, at in reads:
                            word = (word * 31 + self._get(access, at[i])) % 1000003
                        for access, at in writes:
                            self._set(access, at[i], word)
                case Move():
                    words = [self._get(work.src, at) for at in places(work.src)]
                    for at, word in zip(places(work.dst), words, strict=True):
                        self._set(work.dst, at, word)
                case Fill():
                    for at in places(work.dst):
                        self._set(work.dst, at, work.word)
                case While():
                    for _ in range(int(work.source)):
                        self._test(work)
                        self.run(work.body)
                    self._test(work)
                case Case():
                    which = self._get(work.index, 0)
                    self.run(work.branches[min(which, len(work.branches) - 1)])

    def _test(self, work):
        self.run(work.cond)
        if work.predicate is not None:
            self.seen.append(self._get(work.predicate, 0))


def flat(works):
    for work in works:
        yield work
        for inside in inner(work):
            yield from flat(inside)


class Program:
    """A program at random, as a graph is lowered to one before copies are looked at.

    What is given is ``x`` and ``index``; ``fixed`` are these and the results.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.x, self.index = tensor("x"), tensor("index", (1,))
        known = [self.x]
        self.works = self.steps(known, self.rng.randint(2, 6), 0)
        results = self.rng.sample(known, min(len(known), self.rng.randint(1, 3)))
        for i, result in enumerate(results):
            if result is self.x or self.rng.random() < 0.5:
                results[i] = self.new(result.shape)
                self.works.append(Move(whole(result), whole(results[i])))
        self.results = results
        self.fixed = [self.x, self.index, *results]

    def new(self, shape=SMALL):
        self.count += 1
        return tensor(f"t{self.count}", shape)

    def steps(self, known, count, depth):
        """Return pieces of work; ``known``: what has been written, and more as it is."""
        works = []
        for _ in range(count):
            kinds = [self.cluster] * 3 + [self.copy, self.joined, self.padded, self.cut]
            kinds += [self.loop, self.case] if depth < 2 else []
            works += self.rng.choice(kinds)(known, depth)
        return works

    def pick(self, known, *shapes):
        return self.rng.choice([each for each in known if each.shape in (shapes or (SMALL,))])

    def shown(self, known):
        """Return an access of SMALL to anything."""
        of = self.pick(known, SMALL, TALL, WIDE)
        if of.shape == SMALL:
            return whole(of)
        return part(of, [self.rng.randint(0, a - b) for a, b in zip(of.shape, SMALL, strict=True)])

    def cluster(self, known, depth):
        reads = [self.shown(known) for _ in range(self.rng.randint(0, 2))]
        results = [self.new() for _ in range(self.rng.choice((1, 1, 2)))]
        known += results
        first, *more = map(whole, results)
        return [made(first, *reads, seed=self.count, also=more)]

    def copy(self, known, depth):
        of = self.pick(known, SMALL, TALL, WIDE)
        known.append(self.new(of.shape))
        return [Move(whole(of), whole(known[-1]))]

    def joined(self, known, depth):
        made_of, shape = self.steps(known, self.rng.randint(0, 2), 2), self.rng.choice((TALL, WIDE))
        result = self.new(shape)
        starts = ((0, 0), (4, 0)) if shape == TALL else ((0, 0), (0, 6))
        works = [Move(whole(self.pick(known)), part(result, start)) for start in starts]
        known.append(result)
        return made_of + works

    def padded(self, known, depth):
        result = self.new(self.rng.choice((TALL, WIDE)))
        src = self.pick(known)
        start = (self.rng.randint(0, 4), 0) if result.shape == TALL else (0, self.rng.randint(0, 6))
        known.append(result)
        return [Fill(whole(result), self.count), Move(whole(src), part(result, start))]

    def cut(self, known, depth):
        src = self.shown(known)
        known.append(self.new())
        return [Move(src, whole(known[-1]))]

    def loop(self, known, depth):
        states = [self.new(self.rng.choice((SMALL, TALL))) for _ in range(self.rng.randint(1, 2))]
        before = []
        for state in states:
            of = [each for each in known if each.shape == state.shape]
            before.append(Move(whole(self.rng.choice(of)), whole(state)) if of else
                          Fill(whole(state), self.count))
        inside = [*known, *states]
        cond, predicate = (), None
        if self.rng.random() < 0.5:
            test = self.new()
            cond, predicate = (made(whole(test), self.shown(inside)),), part(test, (0, 0), (1, 1))
        body = self.steps(inside, self.rng.randint(1, 3), depth + 1)
        body += self.turns(states, inside)
        known += states
        return [*before, While(cond, predicate, tuple(body), source=str(self.rng.randint(0, 3)))]

    def turns(self, states, inside):
        """Return the work that carries what a body has made to the next turn."""
        works, carried = [], []
        for state in states:
            if state.shape == TALL and self.rng.random() < 0.7:
                changed = self.new(TALL)
                row = self.rng.randint(0, 4)
                works += [Move(whole(state), whole(changed)),
                          Move(whole(self.pick(inside)), part(changed, (row, 0)))]
                carried.append(changed)
                continue
            found = self.rng.choice([each for each in inside if each.shape == state.shape])
            if found in states or self.rng.random() < 0.3:
                kept = self.new(state.shape)
                works.append(Move(whole(found), whole(kept)))
                found = kept
            carried.append(found)
        return works + [Move(whole(of), whole(state))
                        for of, state in zip(carried, states, strict=True)]

    def case(self, known, depth):
        result, branches = self.new(), []
        for _ in range(self.rng.randint(1, 3)):
            inside = list(known)
            works = self.steps(inside, self.rng.randint(0, 2), depth + 1)
            branches.append((*works, Move(whole(self.pick(inside)), whole(result))))
        known.append(result)
        return [Case(whole(self.index), tuple(branches))]

    def run(self, works, index):
        """Return what is in the results in the end, and what loops have tested."""
        memory = Memory({self.x: range(100, 124), self.index: [index]})
        memory.run(works)
        words = memory.words
        assert list(words[self.x].values()) == [*range(100, 124)]
        return [sorted(words[each].items()) for each in self.results], memory.seen
