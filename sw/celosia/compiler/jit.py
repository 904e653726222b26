"""``celosia.jit``: functions of JAX that run on the chip."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.compiled import Compiled, Loaded
from celosia.compiler import api
from celosia.driver import Device, DeviceError, open
from celosia.driver.errors import needs
from celosia.frontend import import_stablehlo
from celosia.graph import TensorType

__all__ = ["Jitted", "jit"]


@dataclass
class _Entry:
    """What is known of arguments of one kind: the program, and its results."""

    compiled: Compiled
    tree: Any
    results: tuple[Any, ...]


class Jitted:
    """A function of JAX that is compiled for each kind of arguments and runs on a device.

    Called as the function is, with arrays in any pytrees; results are NumPy arrays in the pytree
    that the function returns. The device is opened by the first call and stays open; a context
    manager closes it. Made by `celosia.jit`.

    Attributes
    ----------
    name
        What the program is called.
    config
        The chip.
    counters
        Performance counters of the last run; see `celosia.arch.registers.counter_names`.
    """

    def __init__(self, function: Callable[..., Any], config: TpuConfig,
                 make: Callable[[], Device], *, owner: bool, strict: bool,
                 fast: bool, static_argnums: Sequence[int], static_argnames: Sequence[str],
                 cache: bool, options: Mapping[str, object] | None):
        import jax

        # All settings that change what a function is traced to, as jax.jit has them in its keys.
        from jax._src.config import trace_context
        functools.update_wrapper(self, function)
        self.name: str = getattr(function, "__name__", "function")
        self.config = config
        self.counters: dict[str, int] = {}
        self._strict, self._fast = strict, fast
        self._cache, self._options = cache, options
        self._numbers, self._names = _static(function, static_argnums, static_argnames)
        self._jitted = jax.jit(function, static_argnums=self._numbers,
                               static_argnames=tuple(self._names), keep_unused=True)
        self._context = trace_context
        self._loaded = Loaded(make, owner=owner)
        #: By what JAX makes of arguments, a jaxpr that it keeps; and by what they look like, for
        #: asking JAX takes as long as all else that a call does on the host.
        self._traced: dict[Any, _Entry] = {}
        self._entries: dict[Any, _Entry] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the device, if it was opened here; the next call opens another one."""
        self._loaded.close()

    @property
    def device(self) -> Device:
        """The device, opened if it is not."""
        return self._loaded.device

    @property
    def cycles(self) -> int:
        """Clock cycles of the last run."""
        return self.counters["cycles"]

    def lower(self, *args: Any, **kwargs: Any) -> Compiled:
        """Return the program for arguments of this kind, without running it; it can report.

        Arguments may be `jax.ShapeDtypeStruct` instead of arrays.
        """
        leaves, key = self._key(args, kwargs)
        return self._entry(args, kwargs, leaves, key).compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on the chip.

        Raises
        ------
        FrontendError, CompileError
            If it cannot be compiled, as of `celosia.compile`.
        DeviceError
            If the run fails, as of `celosia.Device.run`; the function can be called again.
        """
        leaves, key = self._key(args, kwargs)
        entry = self._entry(args, kwargs, leaves, key)
        executable = self._loaded.get(entry.compiled)
        arrays = [_array(leaf, each.type) for leaf, each
                  in zip(leaves, entry.compiled.inputs, strict=True)]
        results = executable(*arrays)
        self.counters = dict(executable.counters)
        return entry.tree.unflatten(map(_result, results, entry.results))

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        """Return the arrays among the arguments, and all else that makes another program."""
        import jax
        if not self._numbers and not self._names:
            leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
            return leaves, (tree, tuple(map(_kind, leaves)), self._context())
        numbers = {number % len(args) for number in self._numbers
                   if -len(args) <= number < len(args)}
        # The types, too, as of jax.jit: 1 is not True.
        static = (*((number, type(args[number]), args[number]) for number in sorted(numbers)),
                  *((name, type(kwargs[name]), kwargs[name])
                    for name in sorted(kwargs.keys() & self._names)))
        dynamic = [arg for number, arg in enumerate(args) if number not in numbers]
        named = {name: value for name, value in kwargs.items() if name not in self._names}
        leaves, tree = jax.tree_util.tree_flatten((dynamic, named))
        key = (tree, tuple(map(_kind, leaves)), self._context(), static)
        try:
            hash(key)
        except TypeError as error:
            raise ValueError(f"static arguments of {self.name} must be hashable: "
                             f"{error}") from None
        return leaves, key

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any],
               key: Any) -> _Entry:
        entry = self._entries.get(key)
        if entry is None:
            traced = self._jitted.trace(*args, **kwargs)
            entry = self._traced.get(traced.jaxpr)
            if entry is None:
                entry = self._traced[traced.jaxpr] = self._compile(traced, leaves)
            self._entries[key] = entry
        return entry

    def _compile(self, traced: Any, leaves: list[Any]) -> _Entry:
        import jax
        jax.devices()  # JAX looks for platforms, and finds the rules that `celosia.pjrt` has
        module = traced.lower(lowering_platforms=("celosia",)).compiler_ir("stablehlo")
        assert module is not None
        # A copy: importing changes it, and JAX keeps it.
        graph = import_stablehlo(module.operation.clone(), filename=self.name)
        compiled = api.compile(graph, self.config, strict=self._strict, fast=self._fast,
                               name=self.name, cache=self._cache, options=self._options)
        assert len(compiled.inputs) == len(leaves), (compiled, leaves)
        results, tree = jax.tree_util.tree_flatten(traced.out_info)
        return _Entry(compiled, tree, tuple(results))


def _static(function: Callable[..., Any], numbers: Sequence[int],
            names: Sequence[str]) -> tuple[tuple[int, ...], frozenset[str]]:
    """Return static arguments by number and by name: whoever passes one may do either."""
    try:
        known = [name for name, each in inspect.signature(function).parameters.items()
                 if each.kind in (each.POSITIONAL_OR_KEYWORD, each.POSITIONAL_ONLY)]
    except (TypeError, ValueError):
        known = []
    more = {known[number] for number in numbers if -len(known) <= number < len(known)}
    places = {known.index(name) for name in names if name in known}
    return tuple(sorted({*numbers, *places})), frozenset({*names, *more})


def _kind(leaf: Any) -> Any:
    """Return what JAX makes a program of: type and shape; the type of Python's numbers."""
    if isinstance(leaf, (bool, int, float, complex)):
        return type(leaf)
    try:
        return leaf.dtype, leaf.shape, getattr(leaf, "weak_type", False)
    except AttributeError:
        raise ValueError(f"arguments must be arrays or numbers, or static, not {leaf!r}") from None


def _array(leaf: Any, type: TensorType) -> NDArray[Any]:
    """Return an argument as the program takes it: 64 bits cut to 32, as JAX does."""
    wanted = type.dtype.numpy
    if isinstance(leaf, (bool, int, float, complex)):
        return np.array(leaf, wanted)
    if isinstance(leaf, np.ndarray) and leaf.dtype == wanted:
        return leaf
    import jax
    import jax.core
    import jax.numpy as jnp
    if isinstance(leaf, jax.core.Tracer):
        raise ValueError("a function of celosia.jit must be called with arrays, not inside a "
                         "transformation of JAX: put jax.grad and the like inside it")
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf).astype(wanted, copy=False)


def _result(array: NDArray[Any], info: Any) -> Any:
    """Return a result as the function has it: an array, or a key of `jax.random`."""
    if array.dtype == info.dtype:
        return array
    import jax
    return jax.random.wrap_key_data(jax.numpy.asarray(array), impl=info.dtype._impl)


@overload
def jit(function: Callable[..., Any], config: str | TpuConfig | None = None,
        backend: str = "model", *, strict: bool = False, fast: bool = False,
        static_argnums: int | Iterable[int] = (), static_argnames: str | Iterable[str] = (),
        donate_argnums: Any = None, donate_argnames: Any = None, device: Device | None = None,
        cache: bool = True, options: Mapping[str, object] | None = None,
        **opening: Any) -> Jitted: ...


@overload
def jit(function: None = None, config: str | TpuConfig | None = None, backend: str = "model", *,
        strict: bool = False, fast: bool = False, static_argnums: int | Iterable[int] = (),
        static_argnames: str | Iterable[str] = (), donate_argnums: Any = None,
        donate_argnames: Any = None, device: Device | None = None, cache: bool = True,
        options: Mapping[str, object] | None = None,
        **opening: Any) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(function: Callable[..., Any] | None = None, config: str | TpuConfig | None = None,
        backend: str = "model", *, strict: bool = False, fast: bool = False,
        static_argnums: int | Iterable[int] = (), static_argnames: str | Iterable[str] = (),
        donate_argnums: Any = None, donate_argnames: Any = None, device: Device | None = None,
        cache: bool = True, options: Mapping[str, object] | None = None,
        **opening: Any) -> Any:
    """Make a function of JAX run on the chip; also a decorator, with arguments or without.

    Parameters
    ----------
    function
        What `jax.jit` takes.
    config
        The chip: the name of a preset, or a configuration; None: "core", or the device's.
    backend, opening
        What to run on, as of `celosia.open`: "model", "rtl", "cocotb", "serial".
    strict
        Refuse functions of which a part would run on the host.
    fast
        As of `celosia.compile`: shorter functions that are less exact.
    static_argnums, static_argnames
        As of `jax.jit`: arguments that the program is made for.
    donate_argnums, donate_argnames
        Taken for the sake of `jax.jit`'s callers; arguments are on the host and stay valid.
    device
        A device that is open already, in place of ``config`` and ``backend``; it stays open.
    cache, options
        As of `celosia.compile`.

    Raises
    ------
    ValueError
        If the configuration is none, or given with a device of another one.
    DeviceError
        If jax is not installed.

    Examples
    --------
    >>> @celosia.jit
    ... def step(w, x): return jax.nn.relu(x @ w)
    >>> print(step.lower(w, x).report())
    >>> y = step(w, x)
    """
    if function is None:
        return functools.partial(
            jit, config=config, backend=backend, strict=strict, fast=fast,
            static_argnums=static_argnums, static_argnames=static_argnames, device=device,
            cache=cache, options=options, **opening)
    try:
        import jax  # noqa: F401  said here and not by the first call
    except ModuleNotFoundError as error:
        raise needs("celosia.jit", error, "jax") from error
    if not callable(function):
        raise ValueError(f"function must be callable, not {function!r}")
    made = (device.config if device and config is None
            else api.chosen("core" if config is None else config))
    if device and device.config.fingerprint != made.fingerprint:
        raise ValueError(f"config must be that of the device, {device.config.name}, "
                         f"not {made.name}")

    def make() -> Device:
        if device is None:
            return open(backend, config=made, **opening)
        if device.closed:
            raise DeviceError("the device that celosia.jit was given must be open, it is closed")
        return device

    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(function, made, make, owner=device is None, strict=strict, fast=fast,
                  static_argnums=numbers, static_argnames=names, cache=cache, options=options)
