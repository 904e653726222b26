"""One simulator for many runs of one component: to make it takes longer than most runs."""

from collections.abc import Awaitable, Callable

from amaranth.sim import Simulator

__all__ = ["Testbench", "World"]

Testbench = Callable[..., Awaitable[None]]


class World:
    """A component and its simulator.

    Parameters
    ----------
    component
        What is simulated.
    background
        Most testbenches beside the one that a run is over with.
    """

    def __init__(self, component, background: int = 3):
        self.component = component
        self._testbenches: list[Testbench] = []
        self._used = False
        self._simulator = Simulator(component)
        self._simulator.add_clock(1e-6)
        for number in range(background + 1):
            self._simulator.add_testbench(self._slot(number), background=number > 0)

    def _slot(self, number: int) -> Testbench:
        async def testbench(ctx):
            if number < len(self._testbenches):
                await self._testbenches[number](ctx)

        return testbench

    def run(self, main: Testbench, *background: Testbench) -> None:
        """Run from reset until ``main`` returns."""
        self._testbenches = [main, *background]
        if self._used:  # a coroutine that has not begun must not be thrown away
            self._simulator.reset()
        self._used = True
        self._simulator.run()
