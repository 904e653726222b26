"""What to do about each class of error: data of `pages.errors`."""

from __future__ import annotations

__all__ = ["CURES"]

#: What to do about each error that users of the package can meet, by its class.
CURES: dict[str, str] = {
    "AsmError": "go to the line and the caret; what is close to a misspelt name is said",
    "BusError": (
        "use offsets of docs/isa.md and addresses below the memory's end; a board that "
        "answers so may hold another bitstream (`celosia info --port`)"),
    "CallError": "see the error that it comes with: the function of the host raised it",
    "Cancelled": (
        "see the first error of the group: another device failed, and this one was stopped"),
    "ChipFault": "the table above, by the name of the fault",
    "CompileError": (
        "change what the message names: operation, type or shape; without `strict=True` the "
        "host runs what the chip cannot"),
    "DeviceError": "see which of those below it is",
    "DeviceLost": (
        "open the device anew; look at cable, port and baud rate, and who else has the port "
        "open"),
    "Divergence": (
        "report it: chip and model must be equal. `celosia debug diverge` has the "
        "instruction, and `--save` a program that shows it"),
    "FpgaError": "see the log that is named",
    "FrontendError": (
        "the list has each operation that cannot be read, with its line: rewrite it, or let "
        "the framework lower it to others (docs/coverage.md)"),
    "GraphError": (
        "the operation that is named breaks the grammar of docs/graph.md: sizes, types or "
        "attributes; of a graph that the frontend made, report it"),
    "IllFormed": "report it, with the program: a pass of the compiler made something illegal",
    "MemoryTooSmall": (
        "`celosia debug oom FILE` tries the ways out: a smaller batch, donated arguments, "
        "bf16, `jax.checkpoint`"),
    "MissingBokeh": "`pip install 'celosia[profile]'`",
    "OutOfDeviceMemory": (
        "free arrays and programs that are not used, or share an arena among programs"),
    "PjrtError": (
        "JAX shows it as an XlaRuntimeError; the code before the text says whose mistake it "
        "is (RESOURCE_EXHAUSTED: `celosia debug oom`)"),
    "PodEnded": "see the chip that is named: it ended while others waited for it",
    "PodStopped": "likewise, on the golden model",
    "ProcessError": (
        "see what is said of the process that is named; start all of them anew "
        "(docs/pods.md#several-processes)"),
    "Refusal": "the status says it: 4xx is the request's mistake, 503 come again later",
    "RunTimeout": "raise `timeout=`; if the program never ends, `celosia debug run --break`",
    "ScheduleError": "report it: a schedule of a collective is not what it should do",
    "StaleHandle": (
        "put the array, or load the program, again: its device was reset or closed, or it "
        "was freed"),
    "ToolFailed": "the first errors of the tool are said, and where its log is",
    "ToolMissing": "`pip install 'celosia[fpga]'`",
    "ToolchainError": (
        "`pip install 'celosia[sim]'`, or set CELOSIA_CC or CELOSIA_CXX to a compiler"),
    "UnevenSharding": "pad the dimension to a multiple of the devices, or shard another one",
    "WorkTooLarge": "split the operation that is named: it does not fit the chip's memories",
}
