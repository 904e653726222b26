// A chip as its user sees it: programs and arrays, runs and their faults. What celosia.driver does
// for one program at a time, with the same places in memory and the same words for what goes wrong.

import { encode, isReg } from "./asm/encoding.js";
import { formatAddress, formatAt } from "./asm/disassembler.js";

const MOST_MEMORY = 2 ** 32 - 4096;
const HEXADECIMAL = ["ILLEGAL_OPCODE", "WINDOW", "MISALIGNED"];

/** A run that ended early; the message is the command line's. */
export class RunError extends Error {}

const ceil = (value, step) => Math.ceil(value / step) * step;

/** Say what makes an instruction an ILLEGAL_FIELD: a sentence of the rules of the architecture. */
function flaw(insn, tables) {
  const { instruction, fields, operands } = insn;
  const named = instruction.fields.filter((field) => field.enum);
  for (const field of named) {
    if (!Object.values(field.enum).includes(fields[field.name])) {
      return `${field.name} must name one of its values, not be ${fields[field.name]}`;
    }
  }
  const nameOf = (field) => Object.entries(field.enum)
    .find(([, value]) => value === fields[field.name])[0];
  for (const rule of tables.rules[instruction.mnemonic] ?? []) {
    const holds = Object.entries(rule.when).every(([name, each]) => each.includes(fields[name]));
    if (!holds) continue;
    const operand = operands[instruction.operands.findIndex(({ name }) => name === rule.field)];
    const broken = rule.field in fields ? !rule.values.includes(fields[rule.field])
      : isReg(operand) || operand.imm !== 0;
    if (!broken) continue;
    const words = { ...fields };
    for (const field of named) words[field.name] = nameOf(field);
    if (instruction.mnemonic === "vector") {
      const divides = words.post === "div";
      words.taken = tables.taken[words.op][divides ? 1 : 0];
      words.what = words.op + (divides ? " post div" : "");
    }
    return rule.wanted.replace(/\{(\w+)\}/g, (whole, name) => words[name]);
  }
  return "";
}

/** Say what the counts of an instruction must be: celosia.model.checks, of immediates alone. */
function count(insn, tables) {
  const { instruction, fields, operands } = insn;
  if (operands.some(isReg)) return "";
  const word = (name) => operands[instruction.operands.findIndex((each) => each.name === name)].imm;
  const part = (name, partName) => {
    const { lsb, width } = instruction.operands.find((each) => each.name === name).parts
      .find((each) => each.name === partName);
    return Math.floor(word(name) / 2 ** lsb) % 2 ** width;
  };
  const { dim } = tables.chip;
  if (["load", "store"].includes(instruction.mnemonic)) {
    const rows = part("shape", "rows"), cols = part("shape", "cols");
    return rows && cols ? "" : `rows and cols must be 1 to 65535, not ${rows}, ${cols}`;
  }
  if (!["matmul", "vector"].includes(instruction.mnemonic)) return "";
  const counts = [part("counts", "n0"), part("counts", "n1"),
    instruction.mnemonic === "vector" ? fields.n2 : word("n2")];
  if (counts.includes(0) || counts[2] > 65535) {
    return `n0, n1 and n2 must be 1 to 65535, not ${counts.join(", ")}`;
  }
  if (instruction.mnemonic === "matmul") {
    const rows = word("wrows");
    return fields.wload && (rows < 1 || rows > dim)
      ? `wrows must be 1 to ${dim}, not ${rows}` : "";
  }
  const member = (name) => Object.entries(instruction.fields.find((each) => each.name === name)
    .enum).find(([, value]) => value === fields[name])[0];
  const indexed = tables.indexed.includes(fields.op), param = word("param");
  if (member("op") === "transpose" && counts[0] % dim) {
    return `n0 of transpose must be a multiple of ${dim}, not ${counts[0]}`;
  }
  if ((indexed || member("reduce") === "collect") && counts[0] > dim) {
    return `n0 of gather, scatter and collect must be at most ${dim}, not ${counts[0]}`;
  }
  return indexed && (param < 1 || param > tables.tableLimit)
    ? `param, the rows of the table, must be 1 to ${tables.tableLimit}, not ${param}` : "";
}

/** One program at a time on a chip. */
export class Device {
  constructor(chip, tables) {
    Object.assign(this, { chip, tables, program: null });
  }

  read(name) {
    return this.chip.readRegister(this.tables.csr[name]);
  }

  write(name, value) {
    this.chip.writeRegister(this.tables.csr[name], value);
  }

  /** Soft-reset the chip, and return when it is idle. */
  reset() {
    this.write("CONTROL", this.tables.control.RESET);
    for (let i = 0; i < 100_000; i++) {
      if (this.read("STATUS") === this.tables.status.IDLE) return;
    }
    throw new Error("register STATUS must become 0 (idle) after a soft reset, but it does not");
  }

  /** Place a program, assembled or as its code: that, its constants, zeros in the rest of its arena. */
  load(program) {
    if (program.fingerprint !== this.tables.chip.fingerprint) {
      throw new Error(`program ${program.name || "without a name"} must be for this chip, ` +
        `${this.tables.chip.name}, not for the one with fingerprint ` +
        `0x${program.fingerprint.toString(16).padStart(8, "0")}`);
    }
    if (!program.insns.length && !program.code) {
      throw new Error(`program ${program.name || "without a name"} must have an instruction`);
    }
    const align = this.tables.programAlign;
    const code = program.code ?? encode(program.insns, this.tables, program.relocations, 0);
    this.program = program;
    this.length = code.length / this.tables.instructionBytes;
    this.code = Math.floor(MOST_MEMORY / align) * align - ceil(code.length, align);
    this.chip.writeMemory(0, new Uint8Array(program.arenaBytes));
    for (const buffer of program.buffers) {
      const contents = program.constants.get(buffer.name);
      if (contents) this.chip.writeMemory(buffer.offset, contents);
    }
    this.chip.writeMemory(this.code, code);
  }

  #buffer(name) {
    return this.program.buffers.find((buffer) => buffer.name === name);
  }

  /** Write the bytes of a buffer. */
  put(name, bytes) {
    this.chip.writeMemory(this.#buffer(name).offset, bytes);
  }

  /** Return the bytes of a buffer. */
  get(name) {
    const { offset, nbytes } = this.#buffer(name);
    return this.chip.readMemory(offset, nbytes);
  }

  /** Start the program; `watchdog`: cycles that it may take, 0 without limit. */
  start(watchdog = 0) {
    const { arenaBytes } = this.program;
    this.write("PROGRAM", this.code);
    this.write("LENGTH", this.length);
    for (let i = 0; i < this.tables.windows; i++) {
      const open = i === 0;
      this.write(`WINDOW${i}_BASE`, open ? 0 : 1);
      this.write(`WINDOW${i}_LAST`, open ? Math.max(arenaBytes, 1) - 1 : 0);
    }
    this.write("WATCHDOG", watchdog);
    this.write("IRQ_STATUS", 1);
    this.write("IRQ_ENABLE", 1);
    this.write("CONTROL", this.tables.control.START);
  }

  /** The chip's counters of the last run. */
  counters() {
    return Object.fromEntries(Object.entries(this.tables.counters).map(([name, offset]) =>
      [name, this.chip.readRegister(offset) + this.chip.readRegister(offset + 4) * 2 ** 32]));
  }

  /** What a run has come to, which has ended: its counters. */
  finish(watchdog = 0) {
    const status = this.read("STATUS");
    const error = status === this.tables.status.FAULTED ? this.#fault(watchdog) : null;
    const counters = this.counters();
    this.write("IRQ_STATUS", 1);
    if (error) {
      this.reset();
      throw error;
    }
    return counters;
  }

  /** Run the program to its end; return the counters. */
  run(watchdog = 1_000_000_000) {
    this.start(watchdog);
    this.chip.run(watchdog + 10_000);
    return this.finish(watchdog);
  }

  #where(pc) {
    const { insns, name, sources } = this.program;
    const text = pc < insns.length ? formatAt(this.program, pc, this.tables)
      : "(outside the program)";
    const source = sources[pc] ? `\n  from ${sources[pc]}` : "";
    return `instruction ${pc} of ${name || "the program"}: ${text}${source}`;
  }

  #fault(watchdog) {
    const number = this.read("FAULT_CAUSE"), pc = this.read("FAULT_PC");
    const address = this.read("FAULT_ADDR");
    const [cause, what, meaning] = this.tables.faults[number];
    if (cause === "WATCHDOG") {
      return new RunError(`timeout: the run took more than ${watchdog} cycles\n` +
        `  at ${this.#where(pc)}`);
    }
    const where = HEXADECIMAL.includes(cause) ? "0x" + address.toString(16) : String(address);
    const place = this.#place(cause, pc, address);
    const detail = meaning === "0" ? ""
      : ` (${meaning}: ${where}${place && `, ${place}`})`;
    const insn = this.program.insns[pc];
    const reason = !insn ? "" : cause === "ILLEGAL_FIELD" ? flaw(insn, this.tables)
      : cause === "ILLEGAL_COUNT" && !flaw(insn, this.tables) ? count(insn, this.tables) : "";
    return new RunError(`fault ${cause}: ${reason || what}${detail}\n  at ${this.#where(pc)}`);
  }

  /** Say what FAULT_ADDR lies in, or how many rows or lanes there are. */
  #place(cause, pc, address) {
    const { accRows, dim, ubRows } = this.tables.chip;
    if (cause === "UB_RANGE") return `of ${ubRows} rows`;
    if (cause === "ACC_RANGE") return `of ${accRows} rows`;
    if (cause === "INDEX_RANGE") {
      const insn = this.program.insns[pc];
      if (!insn || !this.tables.indexed.includes(insn.fields.op)) return `of ${dim} lanes`;
      const i = insn.instruction.operands.findIndex(({ name }) => name === "param");
      const rows = insn.operands[i];
      return `of ${isReg(rows) ? `r${rows.reg}` : rows.imm} rows of the table`;
    }
    const inside = address < this.program.arenaBytes;
    return ["WINDOW", "MISALIGNED"].includes(cause) && inside
      ? `which is ${formatAddress(this.program, address)}` : "";
  }
}
