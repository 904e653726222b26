"""The elementwise operations of a cluster as vector instructions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent, Term
from celosia.compiler.lowered import Cluster, Code
from celosia.compiler.selection.always import ALWAYS
from celosia.compiler.selection.bounded import Bounded
from celosia.compiler.selection.cover import cover
from celosia.compiler.selection.fast import SHORT_FORMS, to_bf16
from celosia.compiler.selection.pool import Pool, UseCounts, walk
from celosia.compiler.selection.rules import FAST_RULES, FIXED, FUSE, MERGED
from celosia.compiler.selection.translate import translate
from celosia.compiler.verify import enabled
from celosia.compiler.verify.code import check_code
from celosia.graph import Value

__all__ = ["SelectionOptions", "select_instructions"]

#: Rules run over all terms again until nothing changes, or so often.
_ROUNDS = 30


@dataclass(frozen=True)
class SelectionOptions:
    """How instructions are selected.

    Attributes
    ----------
    fast
        Shorter functions and merged operations, within the errors of the package's table.
        Otherwise functions keep the bounds of docs/numerics.md.
    merge
        Merge operations; without it, and without ``fast``, functions are those of
        `celosia.compiler.kernels` and operations stay as they are, bit for bit.
    """

    fast: bool = False
    merge: bool = True


def select_instructions(config: TpuConfig, cluster: Cluster,
                        options: SelectionOptions | None = None,
                        bounded: Bounded | None = None) -> Code:
    """Return the vector instructions of a cluster.

    ``bounded`` knows the graph of the cluster; without it nothing is known of who uses a value.

    Raises
    ------
    CompileError
        If an operation is none of a cluster, or has floating point on a chip without.
    """
    options = options or SelectionOptions()
    columns = cluster.space[-1] if cluster.space else 1
    pool = Pool(ceil_div(columns, config.dim))
    if options.fast:
        found = translate(pool, cluster, SHORT_FORMS, to_bf16)
    else:
        rules = (bounded or Bounded()).rules if options.merge else {}
        found = translate(pool, cluster, rules)
    outputs = {}
    for write in cluster.writes:
        if write.value not in found.stored:
            raise CompileError(f"{cluster.source}: a cluster must write what it reads or makes, "
                               f"not {write.value!r}")
        outputs[write.value] = found.stored[write.value], write.extent
    # What is rounded for another purpose need not be kept as it was.
    needed = set(walk(term for term, _ in outputs.values()))
    for write in cluster.writes:
        if found.terms[write.value] in needed:
            outputs[write.value] = found.terms[write.value], write.extent
    outputs = _shortened(pool, outputs, options)
    reads = [(read.value, read.extent) for read in cluster.reads]
    if cluster.result is not None:
        reads.append((cluster.result, Extent.FULL))
    code = cover(pool, outputs, reads, cluster.result)
    if not config.bf16:
        _refuse_floats(config, cluster, code)
    if enabled():
        check_code(config, cluster, code)
    return code


def _shortened(pool: Pool, outputs: dict[Value, tuple[Term, Extent]],
               options: SelectionOptions) -> dict[Value, tuple[Term, Extent]]:
    def exactly(term: Term, uses: UseCounts) -> Term | None:
        return ALWAYS(pool, term, uses)

    def quickly(term: Term, uses: UseCounts) -> Term | None:
        same = ALWAYS(pool, term, uses)
        fixed = term in pool.fixed
        if fixed and not options.fast:
            same = same or FIXED(pool, term, uses)
        if fixed and same is not None:
            pool.fixed.add(same)
        if same is None and options.fast:
            return FAST_RULES(pool, term, uses)
        return same if same is not None or fixed else MERGED(pool, term, uses)

    def fusing(term: Term, uses: UseCounts) -> Term | None:
        found = quickly(term, uses)
        return found if found or term in pool.fixed else FUSE(pool, term, uses)

    terms = [term for term, _ in outputs.values()]
    # Products are put in order before sums take them in.
    for rule in (quickly, fusing) if options.fast or options.merge else (exactly,):
        for _ in range(_ROUNDS):
            before, terms = terms, pool.rebuilt(terms, rule)
            if all(a is b for a, b in zip(before, terms, strict=True)):
                break
    return {value: (term, extent)
            for (value, (_, extent)), term in zip(outputs.items(), terms, strict=True)}


def _refuse_floats(config: TpuConfig, cluster: Cluster, code: Code) -> None:
    if not any(step.needs_bf16 for step in code.steps):
        return
    for node in cluster.nodes:
        if any(value.dtype.is_float for value in (*node.operands, *node.results)):
            break
    else:
        node = cluster.nodes[0]
    names = Counter(step.op.name.lower() for step in code.steps if step.needs_bf16)
    raise CompileError(f"{node.source}: {node.op} must be of integers on {config.name}, a chip "
                       f"without bf16; it takes {', '.join(names)}")
