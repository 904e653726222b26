"""Python programs in processes of their own that have TensorFlow imported when they begin.

Importing it takes longer than what most programs do then. A server, which is this file as a
program, has done it once, and each program runs in a fork of that: as ``python FILE ..`` would run
it, but for what is read from the environment while TensorFlow is imported.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path

__all__ = ["run_forked"]

#: What programs with chips and without import.
_IMPORTED = ("tensorflow", "keras", "sklearn.datasets", "jaxlib.mlir.ir", "celosia.pjrt.client",
             "celosia.frontend.tensorflow")

_INPUTS = str(Path(__file__).parents[2] / "sw/celosia/tensorflow/inputs.py")


def run_forked(words, module, cwd, env):
    """Return what ``subprocess.run([sys.executable, "-m", module, *words])`` returns."""
    server = _server()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"words": [str(word) for word in words], "module": module,
                          "cwd": str(cwd), "env": env, "folder": folder}),
              file=server.stdin, flush=True)
        code = server.stdout.readline()
        assert code, f"the server has ended with code {server.wait()}"
        out, err = (Path(folder, name).read_text() for name in ("out", "err"))
    return subprocess.CompletedProcess(words, int(code), out, err)


@cache
def _server():
    server = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    atexit.register(server.communicate)
    return server


def _serve():
    """Fork for each line of the standard input, and answer with the exit code."""
    # Nothing that programs run prints there, nor reads the lines.
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for name in _IMPORTED:
        importlib.import_module(name)
    importlib.import_module("tensorflow").keras.layers  # noqa: B018  it is imported late
    gc.collect()
    gc.freeze()
    for line in iter(lines.readline, ""):
        child = os.fork()
        if not child:
            _work(**json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _work(words, module, cwd, env, folder):
    """Be the program until it ends."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
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
    _serve()
