"""The cocotb test that serves `celosia_sim.cocotb_transport.CocotbTransport` from a simulator."""

import os
from multiprocessing.connection import Connection

import cocotb
from cocotb.triggers import ClockCycles, First, RisingEdge
from cocotb.utils import get_sim_time

from celosia_sim.cocotb_agents import start

__all__ = ["DESCRIPTOR", "OPTIONS", "serve"]

#: Environment: file descriptor of the connection; "read_latency,write_latency,max_outstanding".
DESCRIPTOR, OPTIONS = "CELOSIA_COCOTB_FD", "CELOSIA_COCOTB_TIMING"

_PERIOD_NS = 10


def _cycles() -> int:
    return round(get_sim_time("ns") / _PERIOD_NS)


@cocotb.test()
async def serve(dut) -> None:
    """Answer requests until the connection ends; simulated time stands still between them."""
    connection = Connection(int(os.environ[DESCRIPTOR]))
    read_latency, write_latency, most = map(int, os.environ[OPTIONS].split(","))
    registers, memory = await start(dut, read_latency=read_latency, write_latency=write_latency,
                                    max_outstanding=most)
    connection.send("ready")
    while True:
        try:
            name, *arguments = connection.recv()
        except EOFError:
            return
        if name == "read_register":
            connection.send(await registers.read(*arguments))
        elif name == "write_register":
            connection.send(await registers.write(*arguments))
        elif name == "read_memory":
            connection.send(memory.bytes.read(*arguments))
        elif name == "write_memory":
            memory.bytes.write(*arguments)
            connection.send(None)
        elif name == "run":
            if not int(dut.irq.value):
                await First(ClockCycles(dut.clk, arguments[0]), RisingEdge(dut.irq))
            connection.send((bool(int(dut.irq.value)), _cycles()))
        else:
            raise ValueError(f"request must be one that is served here, not {name!r}")
