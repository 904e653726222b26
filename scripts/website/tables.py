"""What `celosia.arch` and the assembler declare, as JSON for what runs in a browser (web/)."""

from __future__ import annotations

import json

import numpy as np

from celosia.arch import faults, isa, probe, registers
from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.isa import Instruction
from celosia.arch.legality import rules
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    TABLE_LIMIT,
    Post,
    VectorOp,
    operand_names,
)
from celosia.program import DTYPES, KINDS
from celosia.program.asm.syntax import (
    FIXED_MEMORY,
    has_lane,
    is_flag,
    kind_field,
    positional,
    stride_field,
    takes_float,
)
from celosia.program.buffer import ALIGNMENT
from celosia_hw.mxu.pe import sum_bits

__all__ = ["tables"]


def _fields(instruction: Instruction) -> list[dict[str, object]]:
    return [{"name": field.name, "lsb": field.lsb, "width": field.width, "default": field.default,
             "enum": field.enum and {each.name.lower(): int(each) for each in field.enum},
             "stride": field.is_stride, "flag": is_flag(field)} for field in instruction.fields]


def _operands(instruction: Instruction) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for operand in instruction.operands:
        kind, stride = kind_field(instruction, operand), stride_field(instruction, operand)
        lanes = [int(each) for each in (kind and kind.enum or ()) if has_lane(kind, each)]
        found.append({
            "name": operand.name, "type": operand.type.name.lower(), "default": operand.default,
            "parts": [{"name": part.name, "lsb": part.lsb, "width": part.width,
                       "signed": part.signed, "default": part.default} for part in operand.parts],
            "kind": kind and kind.name, "stride": stride and stride.name,
            "fixed": FIXED_MEMORY.get(operand.type), "lanes": lanes,
            "float": takes_float(operand)})
    return found


def _instruction(instruction: Instruction) -> dict[str, object]:
    return {"mnemonic": instruction.mnemonic, "opcode": int(instruction.opcode),
            "unit": instruction.unit.name.lower(), "summary": instruction.summary,
            "fields": _fields(instruction), "operands": _operands(instruction),
            "positional": [slot.name for slot in positional(instruction)]}


def _dtypes() -> dict[str, object]:
    found: dict[str, object] = {}
    for name, dtype in DTYPES.items():
        limits = np.iinfo(dtype) if name.startswith("int") else None
        found[name] = {"bytes": dtype.itemsize,
                       "range": limits and [int(limits.min), int(limits.max)]}
    return found


def _rules(config: TpuConfig) -> dict[str, object]:
    return {each.mnemonic: [{"when": {name: sorted(values) for name, values in rule.when.items()},
                             "field": rule.field, "values": sorted(rule.values),
                             "wanted": rule.wanted} for rule in rules(config, each.opcode)]
            for each in isa.BY_MNEMONIC.values()}


def tables(config: TpuConfig) -> str:
    """Return the tables, and what the chip that is live is, as JSON."""
    return json.dumps({
        "instructionBytes": isa.INSTRUCTION_BYTES, "regmaskLsb": isa.REGMASK_LSB,
        "registers": isa.NUM_REGISTERS, "strides": isa.NUM_STRIDES, "laneLsb": LANE_BITS_LSB,
        "alignment": ALIGNMENT, "kinds": KINDS, "dtypes": _dtypes(),
        "presets": {name: each.fingerprint for name, each in PRESETS.items()},
        "instructions": [_instruction(each) for each in isa.BY_MNEMONIC.values()],
        "csr": {each.name: each.offset for each in registers.REGISTERS
                if each.offset not in registers.COUNTERS.values()
                and each.offset - 4 not in registers.COUNTERS.values()},
        "status": {each.name: int(each) for each in registers.Status},
        "control": {str(each.name): int(each) for each in registers.Control},
        "windows": registers.NUM_WINDOWS, "programAlign": registers.PROGRAM_ALIGN,
        "counters": registers.COUNTERS, "units": registers.UNIT_NAMES,
        "activities": [each.name.lower() for each in registers.Activity],
        "probe": {each.name: [each.first, each.bits] for each in probe.FIELDS},
        "probeStates": str(probe.STATES),
        "faults": {int(fault): [fault.name, *faults.FAULT_DOCS[fault]]
                   for fault in faults.FAULTS.values()},
        "indexed": sorted(INDEXED_OPS), "tableLimit": TABLE_LIMIT, "rules": _rules(config),
        "taken": {op.name.lower(): [", ".join(operand_names(op, post))
                                    for post in (Post.NONE, Post.DIV)] for op in VectorOp},
        "chip": {"name": config.name, "dim": config.dim, "ubRows": config.ub_rows,
                 "accRows": config.acc_rows, "window": config.window,
                 "fingerprint": config.fingerprint, "sumBits": sum_bits(config)},
    }, separators=(",", ":"))
