"""Why a message is said and what to do, where its class does not say it: data of `pages.errors`."""

from __future__ import annotations

from pages.cause import Cause
from pages.cause import cause as _cause

__all__ = ["CAUSES"]


_HELP = "`celosia COMMAND --help` has the options of a command and what each takes"
_REPORT = "report it, with the program and the command"
#: The first that holds is the cause of a message.
CAUSES: tuple[Cause, ...] = (
    _cause("celosia. celosia_hw. celosia_sim.",
           (r"pip install|must be installed|is not installed|^backend |^celosia serve|"
            r"^celosia\.jit|^the picture|^a simulation$|^--backend rtl$|^--board$|^serving "),
           "What does this is in an extra that is not installed",
           "install the extra that is named, as in `pip install 'celosia[sim]'`"),
    _cause("celosia. celosia_sim.",
           (r"must be open|is closed|was closed|was deleted|been freed|was reset after|"
            r"deleted or donated|must be used before the next run"),
           "It was used after it, or its device, was closed, freed, reset or donated",
           ("keep the device open (`with celosia.open(..)`) as long as its arrays and programs "
            "are used; make them anew after a reset; do not use what was donated")),
    _cause("celosia.arch.config",
           r"must be",
           "A parameter of the chip is outside of what the hardware is built for",
           ("docs/configuration.md has the bounds of each; `celosia info core` shows a "
            "set that works")),
    _cause("celosia.arch.encoding",
           r"must|has |needs|is not|cannot be|names register|are set|unused|<error>",
           ("An instruction was made of a field, an operand or bytes that the instruction set "
            "does not have"),
           ("docs/isa.md has the card of each instruction; bytes that cannot be read are of "
            "another version: assemble the program again")),
    _cause("celosia.arch.link",
           r"must be",
           "A parameter of the link between host and board is out of its bounds",
           ("give the value that the message names; the other end must have the same "
            "(docs/link.md)")),
    _cause("celosia.arch.numerics",
           r"requantise scale",
           "A scale brings sums to int8 by a multiplication and a shift, which have bounds",
           "scale the weights, so that the factor lies between these bounds"),
    _cause("celosia.bench.collectives",
           r"must halt",
           "A program of the bench has stopped at a fault: the chip or the schedule is wrong",
           _REPORT),
    _cause("celosia.bench.",
           r"must be|must halt",
           "An option of `celosia bench` is not one that the benchmark can take",
           _HELP),
    _cause("celosia.bench.speed",
           r"must have git|must end within",
           "Two commits are compared that git has; one of them hangs, or there is no git",
           "install git; leave out the row that hangs, by `--row`"),
    _cause("celosia.cli.compile celosia.serve.folder",
           r"left out|must be given",
           "An option contradicts what the file has in itself, or a destination is missing",
           ("leave the option out for a file that was compiled before; give `-o FILE` where the "
            "source has no name")),
    _cause("celosia.cli.data celosia.cli.idx celosia.cli.demo.data celosia.tensorflow.datasets",
           r"must",
           "The files of a data set are missing, cut off, or of another kind",
           "fetch the file that is named again; `celosia data mnist DIR` checks those of MNIST"),
    _cause("celosia.cli.debug.run celosia.cli.debug.stepping",
           r"must",
           ("A command of `celosia debug run` asks for a place, rows or a register that there is "
            "none of"),
           "type `help` for the commands; `list` shows the instructions with their lines"),
    _cause("celosia.cli.debug.runs celosia.cli.run",
           r"fingerprint",
           "The program is for a chip that is none of the presets",
           "name the preset, or run it on the chip of its own"),
    _cause("celosia.cli.debug.",
           r"must",
           "An option of `celosia debug` does not go with the others, or has no such value",
           _HELP),
    _cause("celosia.cli.demo.main",
           r"images",
           "The demo wants more memory than the device has",
           "`--images` with fewer"),
    _cause("celosia.cli.files celosia.storage.destination",
           r"must|<error>",
           "A file cannot be read as what it should be, or cannot be written where it should be",
           ("look at its name and the folder's permissions; a program file begins with its mark, "
            "a text is UTF-8")),
    _cause("celosia.cli.inputs",
           r"must be",
           "An array for an input is not a file of NumPy",
           "write it with `numpy.save(FILE, array)` and give `--input NAME=FILE`"),
    _cause("celosia.cli.fpga.tools",
           r"must|failed",
           "A program of the FPGA flow is missing, too old, or has failed",
           ("`pip install 'celosia[fpga]'`, or name the program in the variable that is said; "
            "the log has all that it printed")),
    _cause("celosia.cli.fpga celosia.cli.fpga.",
           r"must",
           "An option of `celosia fpga`, a report or a netlist is not one that the flow can use",
           ("`celosia fpga --help`; build the report again with this version; the log in the "
            "build folder has the rest")),
    _cause("celosia.cli.profile celosia.profile.mends",
           r"must",
           ("An option of `celosia profile`, or what is to be tried with `--what-if`, is none "
            "that there is"),
           ("docs/profiling.md has the fields of `--what-if`; `celosia profile --help` the "
            "options")),
    _cause("celosia.cli.boards",
           r"a pod (must be stopped|of boards)|boards must start|--cluster",
           "Boards are there already, cannot start, or need the extra sim",
           "`celosia pod stop`; the log that is named; `pip install 'celosia[sim]'`"),
    _cause(("celosia.cli.port celosia.cli.smi celosia.cli.verilog celosia.cli.pod "
            "celosia.cli.boards "
            "celosia.cli.demo.main celosia.cli.run"),
           r"must",
           "An option has a value outside of its bounds, or does not go with another one",
           _HELP),
    _cause("celosia.collectives.schedule.check",
           r"must",
           "A schedule of a collective sends what it should not: a bug",
           _REPORT),
    _cause("celosia.collectives.schedule.",
           r"must",
           "The arrays or the chip do not fit the schedule of this collective",
           ("pad the array to a multiple of the chips, cut it into smaller ones, or take a "
            "preset with more accumulators (docs/pods.md)")),
    _cause("celosia.collectives.topology celosia.collectives.group",
           r"must",
           "The chips, their links or a group of them are none of this topology",
           ("write the chips along each dimension, as 8 or 4x4, for as many devices as there "
            "are; groups are whole dimensions (docs/pods.md)")),
    _cause("celosia.collectives.wire celosia.collectives.meet",
           "^it |^a message must have|^the other end is gone",
           "Somebody has connected who is none of the processes that run programs together",
           ("if it should be one: start all of them anew, with one coordinator; else keep others "
            "away from the port")),
    _cause("celosia.collectives.meet celosia.collectives.processes celosia.pjrt.nodes", "",
           "A process has ended or is not reached, or is not started as the others are",
           ("look at what the process said that is named; start all of them with the same program, "
            "version and settings (docs/pods.md#several-processes)")),
    _cause("celosia.collectives.interconnect",
           r"ended without|must come within",
           "A device of the group ended, or came too late for the others",
           ("see the first error: it is of the device that ended; a slow device wants a longer "
            "`timeout`")),
    _cause("celosia.collectives.",
           r"must|<error>",
           "Devices, groups or arguments of a program for several devices do not agree",
           ("give each device its arguments, all devices the same program, and as many devices "
            "as it was compiled for")),
    _cause("celosia.compiled.executable",
           r"largest_tensors",
           "External memory has no room for the program's tensors",
           ("`celosia debug oom FILE` tries the ways out: a smaller batch, donated arguments, "
            "bf16")),
    _cause("celosia.compiled.reader celosia.program.file",
           r"must|<error>",
           "A file of a program is cut off, changed, or of another version",
           "make it again with this version: `celosia compile`, `celosia asm`"),
    _cause("celosia.compiled. celosia.driver.device",
           r"must be for|must run on|must be for this chip",
           "A program runs on the chip alone that it was made for",
           "compile it for this preset, or open the device with the program's"),
    _cause("celosia.compiled.",
           r"must|values",
           "A call gives other arguments than the program takes",
           ("the signature is in `compiled.inputs`, and in `celosia report FILE`; convert type "
            "and shape with NumPy before the call")),
    _cause("celosia.compiler.api celosia.compiler.build celosia.compiler.jit",
           r"must",
           ("`celosia.compile` or `celosia.jit` was given a source, a chip, an option or "
            "arguments that it does not take"),
           "docs/compiler.md has what both take; read a file with `Path(..)`"),
    _cause(("celosia.compiler.emit. celosia.compiler.layout celosia.compiler.codegen. "
            "celosia.compiler.selection. celosia.compiler.passes. "
            "celosia.compiler.lowering.clusters"),
           r"must|needs|has no|count",
           ("An operation cannot be made of this chip's instructions as it stands: its type, its "
            "layout, or its size"),
           ("take a preset that has the format; make the size smaller or the array contiguous; "
            "without `strict=True` the host runs it")),
    _cause("celosia.compiler.lowering.",
           r"would run on the host|must have been",
           "In a strict program an operation runs where it was asked not to: on the host",
           "the reason is in the message: rewrite it, or compile without `strict=True`"),
    _cause("celosia.compiler.changes celosia.compiler.kernels. celosia.compiler.placement",
           r"must|has elements",
           "A change of a program, or a kernel, is not well formed",
           ("of a kernel of your own: the message names the operand; of one of the compiler, "
            "report it")),
    _cause("celosia.driver.allocator",
           r"must",
           "Memory was asked for in a size, or given back at an address, that there is none of",
           "free what is not used; give back what was allocated, once"),
    _cause("celosia.driver.backends",
           r"must",
           "`celosia.open` was given a backend or a chip that there is none of",
           '`celosia.open("model", preset="core")`; `preset` or `config`, not both'),
    _cause("celosia.driver.device",
           r"must|is a buffer",
           ("An array, a program or its inputs do not have the type, the shape or the name that "
            "the call takes"),
           "the message has both; `program.buffers` lists names, types and shapes"),
    _cause("celosia.driver.discovery celosia.driver.chip",
           r"must",
           "What answers is no chip of this version, or does not come out of its reset",
           ("build the bitstream with this version, and look at port and baud rate "
            "(docs/fpga.md)")),
    _cause("celosia.driver.link.serial_transport celosia.driver.link.transport",
           r"port|baud|must hold",
           "A serial port, or the chip behind it, is not the one that was named",
           ("`celosia info --port PORT` says what is there; name the port and its baud rate, and "
            "be allowed to open it")),
    _cause("celosia.driver.link.host",
           r"must",
           "The board, or the line to it, does not answer as this version of the protocol does",
           ("open it anew; look at cable, port and baud rate; program the bitstream again "
            "(docs/link.md)")),
    _cause(("celosia.driver.model celosia.driver.link.transport celosia_sim.rtl "
            "celosia_sim.cocotb_transport"),
           r"must",
           ("A register or an address was used that there is none of, or in a way that it does "
            "not allow"),
           ("docs/isa.md has the registers and when each may be written; addresses end with the "
            "memory")),
    _cause("celosia_sim.pod_chips",
           "all processes",
           "A process has ended, or was interrupted, while all of them ran a program",
           "start all of them anew (docs/pods.md#several-processes)"),
    _cause("celosia.driver.pod",
           r"cannot go on",
           "Another chip of the pod has ended",
           "see the error of the chip that is named"),
    _cause("celosia.frontend.stablehlo.reader",
           r"must be StableHLO",
           "The text is not StableHLO, or of a newer version",
           "write it with `jax.jit(f).lower(..).as_text()`"),
    _cause("celosia.frontend.",
           r"must|needs elements|cannot|what",
           "The program has an operation, a type or a form of it that has no translation",
           ("docs/coverage.md has what there is: rewrite the line that is named; 64-bit integers "
            "come from JAX with `jax_enable_x64` alone")),
    _cause("celosia.graph.calls",
           r"function of the host",
           ("A function of the host that the program calls is gone, raised an error, or gave "
            "another type"),
           ("see the error that follows; keep the process that made it; return what was promised "
            "to `jax.pure_callback`")),
    _cause("celosia.graph.deviation celosia.graph.interpreter.",
           r"must|manual",
           "A graph was run in a way that its operations do not allow",
           ("run programs of several devices with `celosia.collectives`; give the inputs that "
            "`graph.params` has")),
    _cause("celosia.graph.",
           r"must|does not change|<message>|<error>|<problem>",
           "A graph is not well formed: a size, a type, an attribute or a name",
           ("docs/graph.md has the grammar of each operation; of a graph that the frontend made, "
            "report it")),
    _cause("celosia.model.checks",
           r"must be",
           ("A count of an instruction is 0 or larger than its unit allows: the fault "
            "ILLEGAL_COUNT"),
           "split the work into instructions within these bounds"),
    _cause("celosia.model.machine celosia.model.timing.predict",
           r"must halt|at most",
           "A program of the golden model runs on without an end",
           "find the loop with `celosia debug run`; end the program with `halt`"),
    _cause("celosia_sim.pod.fleet",
           r"must live, but all",
           "A board of a pod and all others that kept its state have ended at once",
           "run the program again from its own checkpoint (docs/pods.md#processes-that-end)"),
    _cause(("celosia_sim.pod.board celosia_sim.pod.apart celosia_sim.pod.fleet "
            "celosia_sim.pod.door celosia_sim.pod.process celosia_sim.pod.states "
            "celosia_sim.pod.kept celosia_sim.pod.keeper celosia_sim.pod.ray_starter"),
           r"must|is gone|(?:^|it )(?:has|was|cannot|says) ",
           ("A process of a simulated pod has ended, came too late, or simulates with other "
            "options than its neighbours"),
           ("see the first error of the processes; start all of them with the same version, chip, "
            "topology, latency and window")),
    _cause("celosia.arch.latency",
           r"must",
           "A latency of links was given that is none",
           "give cycles, such as 64, or the least and the most of a link, such as 1..300"),
    _cause("celosia.model. celosia_sim.pod.",
           r"must (?!end|answer)",
           "Programs, links or memories given to chips of the model do not fit each other",
           "the message names chip and port, and what it takes"),
    _cause("celosia.ops.gemm celosia.ops.run",
           r"must",
           ("A product was asked for with a size, a type or a scale that the chip's array does "
            "not take"),
           ("int8 or bf16 matrices whose inner sizes agree; int8 results need a scale, others "
            "must have none")),
    _cause("celosia.ops.network",
           r"must|<error>",
           ("A layer does not fit the one before it, or has a type that the array does not "
            "multiply"),
           ("int8 weights with int32 bias and a scale, or bf16 with float32 bias; inputs as many "
            "as the outputs before")),
    _cause("celosia.ops.quantise",
           r"must",
           "Weights or calibration data cannot be brought to int8",
           "real, finite numbers; calibrate with rows as the network gets them"),
    _cause("celosia.pjrt.register celosia.pjrt.native",
           r"must",
           "JAX, the system or the cache's folder is none that the plugin works with",
           ("install the release of JAX that is named, on Linux or macOS; let CELOSIA_CACHE be a "
            "folder from which libraries may be loaded")),
    _cause("celosia.pjrt.linalg",
           r"must",
           "LAPACK has this function on the CPU alone",
           "`JAX_PLATFORMS=celosia,cpu`, and `jax.default_device` for this call"),
    _cause(("celosia.pjrt.table celosia.pjrt.calls_buffers celosia.pjrt.calls_client "
            "celosia.pjrt.protobuf"),
           r"must|not implemented|No such",
           ("The framework asked for something of PJRT's that this plugin does not have, or in a "
            "form that it does not take"),
           "leave out the option that is named; without one, report it with the version of JAX"),
    _cause("celosia.pjrt.",
           r"must",
           "A program is used with other devices, or in another place, than it was compiled for",
           ("give it the devices of its mesh; do not run a program of the chip in a callback of "
            "the same chip")),
    _cause("celosia.profile.",
           r"must",
           "The run has left no record that a profile could be made of",
           "profile a shorter part: `--cycles A:B`; else report it"),
    _cause("celosia.program.asm.",
           r"must|takes|has no|is a part|have",
           "A line of the assembly is not one of this language",
           ("go to the line and the caret; docs/isa.md has the operands of each instruction, and "
            "names are said that are close")),
    _cause("celosia.program.",
           r"must|has none|is there twice|<error>",
           ("A program was put together of parts that do not agree: buffers, constants, "
            "instructions"),
           ("the message names the buffer or the instruction; the assembler and `Program` check "
            "the same")),
    _cause("celosia.serve.app celosia.serve.limits celosia.serve.server celosia.serve.service",
           r"must be|port|limit",
           ("A limit or the address of the server is one that it cannot have, or a request came "
            "too late"),
           ("`celosia serve --help`; take another port, or wait; clients that are slow want a "
            "longer `--timeout`")),
    _cause("celosia.serve.service",
           r"shutting down|no answer|client has gone|failed on the chip",
           "The server could not answer: it ends, is too busy, or the run failed",
           ("come again later with fewer requests at once; `/metrics` shows the queue; see the "
            "error of the run where there is one")),
    _cause("celosia.serve.routes",
           r"must|client has gone|not found|no versions|binary|BINARY|internal",
           "The path, a header or the method of a request is not one of the protocol",
           "docs/serving.md has the paths; send JSON without compression or binary extension"),
    _cause("celosia.serve.protocol celosia.serve.rows celosia.serve.tensors",
           r"must|no JSON|is axis|name",
           "The body of a request does not have the names, shapes, types or rows of the model",
           "`GET /v2/models/NAME` has inputs with shapes and types: send these"),
    _cause("celosia.serve.weights celosia.serve.model celosia.serve.runner celosia.serve.folder",
           r"must|names|one array|<error>",
           "A model and its weights, names, batch or metadata do not agree",
           ("the message has the arguments that the program takes; make the folder again with "
            "`celosia compile`")),
    _cause("celosia.serve.trained",
           r"must|model|Model",
           "A model that was saved elsewhere has something that the chip cannot serve",
           ("save it with `model.save` or `model.export`, with fixed shapes but for the batch, "
            "and numbers alone")),
    _cause("celosia.storage.cachefolder",
           r"must be",
           "The limit of the cache is no number",
           "set CELOSIA_CACHE_LIMIT to MiB, or unset it"),
    _cause("celosia.storage.compilers",
           r"compiler|failed|<wanted>",
           "The compiler for C or C++ is missing, or what it was given does not compile",
           "`pip install 'celosia[sim]'` brings one; the log has all it said"),
    _cause("celosia.storage.protobuf celosia.pjrt.",
           r"must",
           "Bytes that should be a message of protobuf are cut off or something else",
           "report it, with the version of the framework"),
    _cause(("celosia.tensorflow.contrib celosia.tensorflow.estimator "
            "celosia.tensorflow.variables"),
           r"not there|no attribute|left out",
           "A part of TensorFlow's old interface that needs a session or has been removed",
           "docs/tensorflow.md has what there is instead"),
    _cause("celosia.tensorflow.estimator",
           r"NaN loss",
           "The network has diverged",
           "lower the rate of learning; `celosia debug nan` finds the operation"),
    _cause("celosia.tensorflow.cores",
           r"32 bits",
           "The chip computes with 32 bits, and a number does not fit",
           "keep large numbers on the host, or make them smaller"),
    _cause("celosia.tensorflow.",
           r"must|Could not|Can not|not been trained",
           "An argument is one that TensorFlow takes and a chip of one core does not",
           ("the message has what it may be; docs/tensorflow.md has each interface with its "
            "bounds")),
    _cause("celosia.train.pod",
           r"one loss",
           "Chips of a pod have come to different losses: a bug",
           _REPORT),
    _cause("celosia.train.",
           r"must",
           "Data, labels or parameters do not fit the network, or the chip cannot train",
           ("float32 parameters with the shapes of `net.shapes`, integer labels below `classes`, "
            "and a preset with bf16")),
    _cause("celosia.arch.names",
           r"no attribute",
           "The package has no such name",
           "docs/frameworks.md and the page *API* have the public names"),
    _cause("celosia_hw.boards celosia_hw.boards. celosia_hw.soc. celosia_hw.verilog.chip",
           r"must|no pins|be elaborated",
           "The board, its memory or its clock cannot carry the chip that was asked for",
           ("`celosia fpga boards` has the boards, `celosia fpga budget` what fits; take the "
            "board's own preset first")),
    _cause("celosia_hw.verilog.package",
           r"must",
           ("The folder for Verilog has other things in it, or the Verilog is not as it should "
            "be"),
           "name a new or an empty folder"),
    _cause("celosia_hw.memory. celosia_hw.pipeline celosia_hw.stream celosia_hw.grid",
           r"must|takes",
           "A component was made with a parameter that it cannot be built with",
           "the docstring of the component has the bounds"),
    _cause("celosia_sim.lockstep celosia_sim.coverage celosia_sim.wasm.",
           r"must",
           ("Chip and golden model differ, or the chip was built in another way than its test "
            "knows: a bug"),
           "CONTRIBUTING.md, *Bisecting a divergence*; report it with preset and seed"),
    _cause(("celosia_sim.library celosia_sim.cocotb_agents celosia_sim.cocotb_transport "
            "celosia_sim.pod."),
           r"no answer|stayed 0|memory port|simulation ended|must answer|must end within",
           "The simulated chip broke a rule of its bus, did not answer, or did not end",
           ("write a waveform with `--trace`, and report it; of a program that does not end, "
            "raise `timeout`")),
    _cause(("celosia_sim.library celosia_sim.build celosia_sim.cocotb_build celosia_sim.rtl "
            "celosia_sim.twin celosia_sim.toggles"),
           r"must|no libpython|cannot write|no cocotb",
           "The simulation was asked for with an option, a span or a file that it cannot have",
           ("the message has what it may be; a library of an older version goes with `rm -r` of "
            "its folder in the cache")),
    _cause(("celosia_sim.idle. celosia_sim.loops. celosia_sim.boards. celosia_sim.lint "
            "celosia_sim.cocotb_server celosia_sim.lockstep"),
           r"must|failed|may write",
           ("Verilog, or what Verilator made of it, has another form than the simulator reads: "
            "of another version of a tool, or a bug"),
           "install the versions that scripts/constraints.txt names; else report it"),
)
