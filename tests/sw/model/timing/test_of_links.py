"""The clocks of chips that links connect."""

from celosia.arch.latency import link_latencies
from celosia.collectives import Topology
from celosia.model.timing import link_timings

LINKS = Topology.parse("4x4").links


def test_a_chip_has_the_clock_of_its_ports():
    found = link_latencies(LINKS, (1, 300), 5)
    timings = link_timings(16, LINKS, (1, 300), 5)
    for chip, timing in enumerate(timings):
        assert timing.link_latency == tuple(found[chip, port] for port in range(4))
    assert link_timings(1, {}, (1, 300), 5)[0].link_latency == ()
