"""``celosia serve``: a model over HTTP."""

import argparse

from celosia.arch.config import PRESETS
from celosia.driver import open
from celosia.driver.backends import SIMULATED

__all__ = ["add_arguments"]

_EPILOG = """\
MODEL is a folder that celosia.serve.save_model wrote, what celosia compile wrote (.celosia),
StableHLO with a fixed batch (.mlir), a file of Keras (.keras), or a folder with a SavedModel of
TensorFlow (or with several, named by their versions). Of .celosia and .mlir, arguments that are in
--weights stay, requests bring the others.

examples:
  celosia serve digits/                              a saved model
  celosia serve net.mlir --weights net.npz           program and weights
  celosia serve net.celosia --backend rtl --port 0   the Verilog, on any free port
  celosia serve digits.keras --batch 8               what model.save("digits.keras") wrote
  curl localhost:8080/v2/models/net                  what it takes and gives
  curl localhost:8080/v2/models/net/infer -d '{"inputs": [{"name": "x", "datatype": "FP32",
      "shape": [1, 4], "data": [1, 2, 3, 4]}]}'

Ctrl-C or SIGTERM: requests that are in the server are answered, then it ends with exit code 0.
docs/serving.md is a page about all this.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = ("Answer predictions of a model over HTTP, in the JSON form of the Open\n"
                          "Inference Protocol (KServe v2).")
    parser.epilog = _EPILOG
    parser.add_argument("model", metavar="MODEL", help="folder or file, see below")
    parser.add_argument("--weights", metavar="FILE.npz",
                        help="arguments that requests do not bring, by name or number")
    parser.add_argument("--name", help="of the model, in paths (default: that of the file)")
    parser.add_argument("--batch-axis", type=int, metavar="AXIS",
                        help="axis of the batch (default: the folder's, or 0)")
    parser.add_argument("--batch", type=int, metavar="ROWS",
                        help="rows of a run, where MODEL is of Keras or TensorFlow (default: 32)")
    parser.add_argument("--host", default="127.0.0.1", help="(default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080,
                        help="0 for any that is free (default: %(default)s)")
    parser.add_argument("--backend", choices=SIMULATED, default="model",
                        help="model: the golden model (default); rtl: Verilator; cocotb")
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help=f"chip, where MODEL is compiled now: {', '.join(PRESETS)} "
                             f"(default: core)")
    parser.add_argument("--fast", action="store_true",
                        help="functions may be shorter and less exact than docs/numerics.md "
                             "bounds them, where MODEL is compiled now")
    parser.add_argument("--max-batch", type=int, metavar="ROWS",
                        help="most rows of a run (default: the program's batch)")
    parser.add_argument("--max-queue", type=int, default=256, metavar="N",
                        help="requests in the server at once, others get 503 "
                             "(default: %(default)s)")
    parser.add_argument("--max-connections", type=int, default=16, metavar="N",
                        help="of an address on which a request has not arrived in full; the "
                             "oldest ones more get 429 (default: %(default)s)")
    parser.add_argument("--max-body", type=int, default=16 << 20, metavar="BYTES",
                        help="size of a request, larger ones get 413 (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS",
                        help="for a request, then it gets 504 (default: %(default)g)")
    parser.add_argument("--wait", type=float, default=2.0, metavar="MS",
                        help="milliseconds that a run waits to be filled (default: %(default)g)")
    parser.add_argument("--max-cycles", type=int, metavar="CYCLES",
                        help="that a run may take, then its requests get 500")
    parser.add_argument("--no-check", action="store_true",
                        help="do not try at the start whether rows depend on each other")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from celosia.driver.device import DEFAULT_TIMEOUT
    from celosia.serve import Limits, Service, load_model
    from celosia.serve.server import listen, run

    cycles = DEFAULT_TIMEOUT if args.max_cycles is None else args.max_cycles
    limits = Limits(args.max_batch, args.max_queue, args.max_body, timeout=args.timeout,
                    connections=args.max_connections, wait=args.wait / 1000, cycles=cycles)
    model = load_model(args.model, args.weights, preset=args.preset, fast=args.fast,
                       name=args.name, batch_axis=args.batch_axis, batch=args.batch)
    service = Service(model, lambda: open(args.backend, config=model.compiled.config), limits,
                      check=not args.no_check)
    made = listen(args.host, args.port)
    address = made.getsockname()
    host = f"[{address[0]}]" if ":" in address[0] else address[0]

    def started() -> None:
        takes = ", ".join(f"{each.name} {each.type}" for each in model.inputs)
        gives = ", ".join(f"{each.name} {each.type}" for each in model.outputs)
        print(f"{model.name}: takes {takes}\n{model.name}: gives {gives}\n"
              f"serving http://{host}:{address[1]}/v2/models/{model.name} on "
              f"{model.compiled.config.name} ({args.backend}); Ctrl-C ends it", flush=True)

    return run(service, made, started)
