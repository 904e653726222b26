// From an instruction to assembly text: celosia.program.asm.disassembler, once more.

import { isReg } from "./encoding.js";
import { number } from "./text.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const hex = (value) => "0x" + value.toString(16);

/** An offset into the arena as text: from the beginning of a buffer if it is in one. */
export function formatAddress(program, offset) {
  const inside = program.buffers.filter((buffer) => buffer.offset === offset
    || (buffer.offset < offset && offset < buffer.end));
  if (!inside.length) return `@${hex(offset)}`;
  const buffer = inside.reduce((best, each) => (each.offset > best.offset ? each : best));
  const rest = offset === buffer.offset ? "" : ` + ${hex(offset - buffer.offset)}`;
  return `@${NAME.test(buffer.name) ? buffer.name : JSON.stringify(buffer.name)}${rest}`;
}

function word(value, operand) {
  if (operand.type === "address") return hex(value);
  if (operand.type === "value" && value >= 0xffff8000) return String(value - 2 ** 32);
  return value < 1 << 16 ? String(value) : hex(value);
}

function enumerated(field, value) {
  const found = Object.entries(field.enum).find(([, each]) => each === value);
  return found ? found[0] : String(value);
}

/** A bf16 as the shortest text that is it. */
function bf16(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits);
  const value = view.getFloat32(0);
  if (!Number.isFinite(value)) return null;
  let digits = 1;
  while (Math.fround(Number(value.toPrecision(digits))) !== value) digits += 1;
  return number(Number(value.toPrecision(digits)));
}

/** One instruction on its way to text. */
class Formatter {
  #used = new Set();

  constructor(insn, tables, special) {
    const { instruction, fields, operands } = insn;
    Object.assign(this, { instruction, fields, operands, tables, special });
    this.fieldOf = new Map(instruction.fields.map((field) => [field.name, field]));
    this.indexOf = new Map(instruction.operands.map((operand, i) => [operand.name, i]));
  }

  text() {
    const slots = [...this.instruction.positional];
    while (slots.length && this.indexOf.has(slots.at(-1)) && this.#nothing(slots.at(-1))) {
      const name = slots.pop();
      const { kind, stride } = this.instruction.operands[this.indexOf.get(name)];
      [name, kind, stride].forEach((each) => each && this.#used.add(each));
    }
    const given = [...slots.map((slot) => this.#positional(slot)), ...this.#named(),
      ...this.#words()];
    return `${this.instruction.mnemonic.padEnd(8)}${given.join(", ")}`.trimEnd();
  }

  /** Whether a positional operand is left out where nothing but the like follows. */
  #nothing(name) {
    const index = this.indexOf.get(name), operand = this.instruction.operands[index];
    const value = this.operands[index];
    if (isReg(value) || value.imm !== (operand.default ?? 0) || this.special(index)) return false;
    if (operand.stride && this.fields[operand.stride]) return false;
    if (operand.kind) {
      return enumerated(this.fieldOf.get(operand.kind), this.fields[operand.kind]) === "none";
    }
    if (this.instruction.unit === "scalar") return operand.default !== null;
    return operand.default !== null && !(this.fields.wload ?? 1);
  }

  #word(index) {
    const value = this.operands[index];
    if (isReg(value)) return `r${value.reg}`;
    return this.special(index) ?? word(value.imm, this.instruction.operands[index]);
  }

  #rowAndLane(index, operand) {
    const value = this.operands[index];
    if (!operand.lanes.includes(this.fields[operand.kind]) || isReg(value)
        || this.special(index)) {
      return [this.#word(index), ""];
    }
    const lane = Math.floor(value.imm / 2 ** this.tables.laneLsb);
    const row = value.imm % 2 ** this.tables.laneLsb;
    return [word(row, operand), lane ? `, lane=${lane}` : ""];
  }

  #positional(name) {
    this.#used.add(name);
    if (this.fieldOf.has(name)) {
      const field = this.fieldOf.get(name), value = this.fields[name];
      return field.enum ? enumerated(field, value) : `${name === "rd" ? "r" : "x"}${value}`;
    }
    const index = this.indexOf.get(name), operand = this.instruction.operands[index];
    const [row, lane] = this.#rowAndLane(index, operand);
    let memory = operand.fixed;
    if (operand.kind) {
      this.#used.add(operand.kind);
      memory = enumerated(this.fieldOf.get(operand.kind), this.fields[operand.kind]);
    }
    if (!memory) return row;
    if (operand.stride) {
      this.#used.add(operand.stride);
      const stride = this.fields[operand.stride];
      if (stride) return `${memory}[${row}, x${stride}${lane}]`;
    }
    return memory === "none" && row === "0" ? memory : `${memory}[${row}${lane}]`;
  }

  #named() {
    const found = [];
    for (const field of this.instruction.fields) {
      const value = this.fields[field.name];
      if (this.#used.has(field.name)) continue;
      if (field.enum) {
        const idle = field.name === "reduce_op" && this.fields.reduce === 0;
        const text = enumerated(field, value);
        if (text !== "none" && !(idle && value === field.default)) {
          found.push(`${field.name}=${text}`);
        }
      } else if (value !== field.default) {
        found.push(field.flag ? (value ? field.name : `${field.name}=0`)
          : `${field.name}=${field.stride ? "x" : ""}${value}`);
      }
    }
    return found;
  }

  #parameter(value) {
    const post = enumerated(this.fieldOf.get("post"), this.fields.post);
    if (this.tables.indexed.includes(this.fields.op) && value < 1 << 16) return String(value);
    const low = value & 0xffff, high = value >>> 16;
    if (post === "clamp_i") return `pair(${(low << 16) >> 16}, ${(high << 16) >> 16})`;
    const [first, second] = [bf16(low), bf16(high)];
    if (post === "clamp_f" && first !== null && second !== null) {
      return `pair(bf16(${first}), bf16(${second}))`;
    }
    return hex(value);
  }

  #words() {
    const found = [];
    this.instruction.operands.forEach((operand, index) => {
      if (this.#used.has(operand.name)) return;
      const value = this.operands[index];
      if (isReg(value) || this.special(index)) {
        found.push(`${operand.name}=${this.#word(index)}`);
      } else if (!operand.parts.length) {
        const optional = operand.default ?? ((this.fields.wload ?? 1) ? null : 0);
        if (value.imm !== optional) found.push(`${operand.name}=${this.#word(index)}`);
      } else if (value.imm !== operand.default) {
        found.push(...this.#parts(operand, value.imm));
      }
    });
    return found;
  }

  #parts(operand, value) {
    let whole = 0n;
    const said = [];
    for (const part of operand.parts) {
      const bits = (BigInt(value) >> BigInt(part.lsb)) & ((1n << BigInt(part.width)) - 1n);
      whole |= bits << BigInt(part.lsb);
      const each = Number(part.signed ? BigInt.asIntN(part.width, bits) : bits);
      if (each !== part.default) said.push(`${part.name}=${each}`);
    }
    const unsaid = operand.name === "param"
      && enumerated(this.fieldOf.get("op"), this.fields.op) !== "requant";
    if (unsaid || Number(whole) !== value) return [`${operand.name}=${this.#parameter(value)}`];
    return said;
  }
}

/** An instruction of a program as text, its addresses by the names of buffers. */
export function formatAt(program, index, tables) {
  const relocated = new Set(program.relocations.filter(([at]) => at === index)
    .map(([, operand]) => operand));
  const insn = program.insns[index];
  const special = (i) => (relocated.has(i) && !isReg(insn.operands[i])
    ? formatAddress(program, insn.operands[i].imm) : null);
  return new Formatter(insn, tables, special).text();
}
