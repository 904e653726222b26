"""Python programs in processes of their own that have a framework imported when they begin.

Importing it takes longer than what most programs do then. A server, which is this file as a
program, has done it once, and each program runs in a fork of that: as Python would run it, but for
what is read from the environment while the framework is imported.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from functools import cache
from pathlib import Path

__all__ = ["run_code", "run_forked"]

#: What programs with chips and without import, of each framework.
_IMPORTED = {
    "tensorflow": ("tensorflow", "keras", "sklearn.datasets", "jaxlib.mlir.ir",
                   "celosia.pjrt.client", "celosia.frontend.tensorflow"),
    "jax": ("jax", "jax.numpy", "numpy", "jaxlib.mlir.dialects.mhlo", "celosia.pjrt.linalg",
            "celosia.pjrt.special", "celosia.pjrt.table", "celosia.pjrt.exchange",
            "celosia.frontend.stablehlo.importer", "celosia.driver.model"),
}

_INPUTS = str(Path(__file__).parents[2] / "sw/celosia/tensorflow/inputs.py")


def run_forked(words, module, cwd, env):
    """Return what ``subprocess.run([sys.executable, "-m", module, *words])`` returns, of
    TensorFlow.
    """
    return _run("tensorflow", words, words=[str(word) for word in words], module=module,
                cwd=str(cwd), env=env)


def run_code(text, env, timeout):
    """Return what ``subprocess.run([sys.executable, "-c", text])`` returns, of JAX."""
    return _run("jax", ["-c", text], timeout, text=text, env=env)


def _run(framework, command, timeout=None, /, **request):
    server = _server(framework)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({**request, "folder": folder}), file=server.stdin, flush=True)
        child = server.stdout.readline()
        assert child, f"the server has ended with code {server.wait()}"
        alarm = threading.Timer(timeout or threading.TIMEOUT_MAX, os.kill,
                                (int(child), signal.SIGKILL))
        alarm.daemon = True
        alarm.start()
        code = server.stdout.readline()
        over = alarm.finished.is_set()
        alarm.cancel()
        assert code, f"the server has ended with code {server.wait()}"
        out, err = (Path(folder, name).read_text() for name in ("out", "err"))
    if over:
        raise subprocess.TimeoutExpired(command, timeout, out, err)
    return subprocess.CompletedProcess(command, int(code), out, err)


@cache
def _server(framework):
    server = subprocess.Popen([sys.executable, "-X", "faulthandler", __file__, framework],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    atexit.register(server.communicate)
    return server


def _serve(framework):
    """Fork for each line of the standard input; answer with the process and its exit code."""
    # Nothing that programs run prints there, nor reads the lines.
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for name in _IMPORTED[framework]:
        importlib.import_module(name)
    if framework == "tensorflow":
        importlib.import_module("tensorflow").keras.layers  # noqa: B018  it is imported late
    gc.collect()
    gc.freeze()
    for line in iter(lines.readline, ""):
        child = os.fork()
        if not child:
            return json.loads(line)
        print(child, file=answers, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    return None


def _begin(env, folder):
    """Have what a new process has."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)


def _be_code(text, env, folder):
    """Be what ``python -c`` would be, and end as that does."""
    _begin(env, folder)
    importlib.import_module("jax").config.update("jax_platforms", env["JAX_PLATFORMS"])
    sys.argv, sys.path[0] = ["-c"], ""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(text, "<string>", "exec"), vars(main))


def _be_program(words, module, cwd, env, folder):
    """Be the program until it ends."""
    _begin(env, folder)
    os.chdir(cwd)
    code = 0
    try:
        if module:
            sys.argv, sys.path[0] = [module, *words], cwd
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = words, str(Path(words[0]).parent)
            runpy.run_path(_INPUTS)["share_iterators"]()  # else most of the time is waited
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if (request := _serve(sys.argv[1])) is not None:
        _be_code(**request) if "text" in request else _be_program(**request)
