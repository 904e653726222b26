"""One simulator for many runs of one component: to make it takes longer than most runs."""

from collections.abc import Awaitable, Callable

from hw.engine import CYCLES, Simulator

__all__ = ["Testbench", "World"]

Testbench = Callable[..., Awaitable[None]]


class World:
    """A component and its simulator.

    Parameters
    ----------
    component
        What is simulated.
    """

    def __init__(self, component):
        self.component = component
        self._testbenches: list[Testbench] = []
        self._slots = 0
        self._simulator = Simulator(component)
        self._simulator.add_clock(1e-6, if_exists=True)

    def _slot(self, number: int) -> Testbench:
        async def testbench(ctx):
            # The main one is the last, wherever that is: no slot is critical but for its time.
            if number == len(self._testbenches) - 1:
                with ctx.critical():
                    await self._testbenches[number](ctx)
            elif number < len(self._testbenches):
                await self._testbenches[number](ctx)

        return testbench

    def run(self, main: Testbench, *background: Testbench, cycles: int = CYCLES) -> None:
        """Run from reset until ``main`` returns; WaitedTooLong if that takes more ``cycles``.

        In each cycle the background comes first, in its order, and ``main`` last.
        """
        self._testbenches = [*background, main]
        if self._slots:  # a coroutine that has not begun must not be thrown away
            self._simulator.reset()
        for number in range(self._slots, len(self._testbenches)):
            self._simulator.add_testbench(self._slot(number), background=True)
        self._slots = max(self._slots, len(self._testbenches))
        self._simulator.run(cycles)
