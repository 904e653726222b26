// Instructions as objects and their 32 bytes: celosia.arch.encoding, once more.
//
// An operand is { reg: number } or { imm: 32 bits, unsigned }.

import { ValueError } from "./text.js";

export const isReg = (value) => typeof value === "object" && value !== null && "reg" in value;

/** Pack named parts into an operand word; a part left out takes its default. */
function pack(operand, parts) {
  let word = 0n;
  for (const part of operand.parts) {
    const value = parts.get(part.name) ?? (part.default === null ? null : BigInt(part.default));
    if (value === null) throw new ValueError(`${operand.name} needs ${part.name}`);
    word |= (value & ((1n << BigInt(part.width)) - 1n)) << BigInt(part.lsb);
  }
  return Number(word);
}

/** Make an instruction from values by name: ints are BigInts. */
export function insn(instruction, given) {
  const { mnemonic } = instruction;
  const fields = {};
  for (const field of instruction.fields) {
    fields[field.name] = Number(given.get(field.name) ?? field.default);
  }
  const operands = instruction.operands.map((operand) => {
    if (given.has(operand.name)) {
      const value = given.get(operand.name);
      return isReg(value) ? value : { imm: Number(BigInt.asUintN(32, value)) };
    }
    const parts = new Map(operand.parts.filter((part) => given.has(part.name))
      .map((part) => [part.name, given.get(part.name)]));
    if (parts.size || (operand.parts.length && operand.default === null)) {
      try {
        return { imm: pack(operand, parts) };
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        throw new ValueError(`${mnemonic}: ${error.message}`);
      }
    }
    if (operand.default !== null) return { imm: operand.default };
    if (mnemonic === "matmul" && operand.name === "wrows" && !fields.wload) return { imm: 0 };
    throw new ValueError(`${mnemonic} needs ${operand.name}`);
  });
  return { instruction, fields, operands };
}

/** Encode instructions into 32 bytes each; `base` is added to the operands that `relocations` name. */
export function encode(insns, tables, relocations = [], base = 0) {
  const code = new Uint8Array(insns.length * tables.instructionBytes);
  const view = new DataView(code.buffer);
  const moved = new Set(relocations.map(([index, operand]) => `${index}.${operand}`));
  insns.forEach(({ instruction, fields, operands }, index) => {
    const at = index * tables.instructionBytes;
    let header = BigInt(instruction.opcode);
    for (const field of instruction.fields) {
      header |= BigInt(fields[field.name]) << BigInt(field.lsb);
    }
    operands.forEach((operand, i) => {
      if (isReg(operand)) header |= 1n << BigInt(tables.regmaskLsb + i);
      let word = isReg(operand) ? operand.reg : operand.imm;
      if (moved.has(`${index}.${i}`)) {
        word += base;
        if (word >= 2 ** 32) {
          throw new ValueError(`operand ${i} of instruction ${index} must fit 32 bits, not ` +
            `0x${operand.imm.toString(16)} + 0x${base.toString(16)}`);
        }
      }
      view.setUint32(at + 8 + 4 * i, word, true);
    });
    view.setBigUint64(at, header, true);
  });
  return code;
}
