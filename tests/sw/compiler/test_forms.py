"""The forms of one dense layer, and of one instruction of it, from `jit` to the array.

A new form is a new type here: then docs/architecture.md has a line too much or too few.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

from celosia.arch import encoding
from celosia.arch.config import preset
from celosia.arch.registers import MOST_MEMORY
from celosia.compiler.api import compile
from celosia.compiler.build import emitted
from celosia.compiler.codegen.generate import generate
from celosia.compiler.fusion import fuse
from celosia.compiler.groups import Roots
from celosia.compiler.lowering import lower
from celosia.compiler.lowering.again import again
from celosia.compiler.memory import plan_arena
from celosia.compiler.pipeline import canonical, prepared
from celosia.compiler.residency import plan_on_chip
from celosia.compiler.selection import SelectionOptions, select_instructions
from celosia.compiler.spmd import partition
from celosia.frontend import import_stablehlo
from celosia.model.decode import decode_checked

CONFIG = preset("core")
PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


def dense(x, w, b):
    return jnp.maximum(x @ w + b, 0)


def kinds(*forms):
    return [type(form).__name__ for form in forms]


def test_a_dense_layer_and_an_instruction_of_it():
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((64, 48), (48, 32), (32,))]
    traced = jax.jit(dense).trace(*shapes)
    module = traced.lower(lowering_platforms=("cpu",)).compiler_ir("stablehlo")
    graph = import_stablehlo(module.operation.clone())
    tiles = partition(graph).graph  # of one device: the same
    level = prepared(canonical(tiles), CONFIG)
    [group] = fuse(CONFIG, level, Roots(level, {})).groups
    lowered = lower(CONFIG, *again(CONFIG, level))
    fixed = [*lowered.inputs, *lowered.outputs, *lowered.constants]
    placed = plan_on_chip(CONFIG, lowered.works, fixed)
    plan_arena(lowered.works, fixed, MOST_MEMORY)
    [work] = lowered.works
    code = select_instructions(CONFIG, work, SelectionOptions())
    [term] = code.steps  # bias and relu
    [blocks] = emitted(CONFIG, lowered.works, placed)
    run, *_ = blocks.runs
    [op] = {each.command: each for each in blocks.written
            if getattr(each.command, "op", None) is term.op}.values()
    assembled = generate(CONFIG, [blocks])
    compiled = compile(graph, CONFIG, cache=False)
    [step] = compiled.steps
    insn = next(each for each in step.program.insns if each.fields.get("op") == term.op)
    code_bytes = encoding.encode(insn)
    decoded = decode_checked(CONFIG, code_bytes)
    command = op.command.at(op.varying)
    forms = kinds(traced.jaxpr, module, graph, tiles, level, group, work, code, blocks, run,
                  assembled, compiled, step, step.program)
    assert forms == [
        "ClosedJaxpr", "Module", "Graph", "Graph", "Graph", "Group", "Cluster", "Code", "Emitted",
        "BlockRun", "Assembled", "Compiled", "ChipStep", "Program"]
    # What the compiler schedules and what the model executes are one type.
    instruction = kinds(graph.outputs[0].node, term, op, command, insn, code_bytes, decoded)
    assert instruction == [
        "Node", "Term", "CodeOp", "Vector", "Insn", "bytes", "Decoded"]
    assert type(command).__module__ == "celosia.arch.commands"
    walk = PAGE.read_text(encoding="utf-8").partition("\n## One dense layer")[2]
    assert not [name for name in {*forms, *instruction} if f"`{name}`" not in walk]
