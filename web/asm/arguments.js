// Arguments of one instruction, from tokens to an instruction: celosia.program.asm.arguments, once
// more. What may be written where is in the tables (scripts/website/tables.py).

import { insn, isReg } from "./encoding.js";
import { Parser, f32 } from "./expressions.js";
import { split } from "./lexer.js";
import { ValueError, Wrong, number, repr, suggest } from "./text.js";

const REGISTER = /^[rx]\d+$/;

function register(token, letter, count) {
  if (!REGISTER.test(token.text) || token.text[0] !== letter
      || Number(token.text.slice(1)) >= count) {
    throw new Wrong(token.column,
      `a register ${letter}0..${letter}${count - 1} must come here, not ${token}`);
  }
  return Number(token.text.slice(1));
}

function range(name, value, low, high, column) {
  if (value < low || value > high) {
    throw new Wrong(column, `${name} must be from ${low} to ${high}, not ${value}`);
  }
}

/** Reads the arguments of one instruction. */
export class Arguments {
  #values = new Map();
  #relocated = new Set();

  constructor(instruction, names, tables) {
    Object.assign(this, { instruction, names, tables });
    this.fields = new Map(instruction.fields.map((field) => [field.name, field]));
    this.operands = new Map(instruction.operands.map((operand) => [operand.name, operand]));
  }

  /** Return the instruction, and the numbers of the operands that are to be relocated. */
  read(mnemonic, tokens) {
    const slots = [...this.instruction.positional];
    for (const piece of split(tokens)) {
      const first = piece[0];
      const flag = this.fields.get(first.text);
      if (first.kind === "name" && piece.length > 2 && piece[1].text === "=") {
        this.#keyword(first, piece.slice(2));
      } else if (piece.length === 2 && flag?.flag) {
        this.#set(flag.name, 1n, first.column);
      } else if (!slots.length) {
        throw new Wrong(first.column, this.#nothingMore(first));
      } else {
        this.#checkFlag(piece);
        this.#slot(slots.shift(), piece);
      }
    }
    try {
      const made = insn(this.instruction, this.#values);
      const names = [...this.operands.keys()];
      return [made, [...this.#relocated].map((name) => names.indexOf(name)).sort((a, b) => a - b)];
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      throw new Wrong(mnemonic.column, error.message);
    }
  }

  /** Tell a misspelt flag from an operand. */
  #checkFlag(piece) {
    const name = piece[0].text;
    const flags = this.instruction.fields.filter((field) => field.flag).map((field) => field.name);
    const known = this.names.constants.has(name) || this.names.labels.has(name);
    const close = piece.length === 2 && piece[0].kind === "name" && !known && suggest(name, flags);
    if (close) {
      throw new Wrong(piece[0].column,
        `a flag must be one of ${flags.join(", ")}, not ${piece[0]}${close}`);
    }
  }

  #nothingMore(token) {
    const names = this.#keywords();
    const { mnemonic } = this.instruction;
    if (!names.length) return `${mnemonic} must end here, not go on with ${token}`;
    const wanted = names.filter((name) => !this.#values.has(name));
    return `${mnemonic} takes name=value here (${wanted.join(", ")}), not ${token}` +
      suggest(token.text, names);
  }

  #keywords() {
    return [...this.fields.keys(), ...this.instruction.operands.flatMap(
      (operand) => [operand.name, ...operand.parts.map((part) => part.name)])];
  }

  #keyword(token, piece) {
    const name = token.text;
    if (this.fields.has(name)) return this.#field(this.fields.get(name), piece, token.column);
    for (const operand of this.instruction.operands) {
      if (operand.name === name) return this.#operand(operand, piece, token.column);
      const part = operand.parts.find((each) => each.name === name);
      if (part) return this.#part(operand, part, piece, token.column);
    }
    const known = this.#keywords();
    throw new Wrong(token.column, `${this.instruction.mnemonic} takes ${known.join(", ")}, ` +
      `not ${repr(name)}${suggest(name, known)}`);
  }

  #slot(name, piece) {
    if (this.fields.has(name)) this.#field(this.fields.get(name), piece, piece[0].column);
    else this.#operand(this.operands.get(name), piece, piece[0].column);
  }

  #set(name, value, column) {
    if (this.#values.has(name)) throw new Wrong(column, `${name} must be given once`);
    this.#values.set(name, value);
  }

  #field(field, piece, column) {
    const first = piece[0], parser = new Parser(piece, this.names);
    let value;
    if (field.name === "rd") {
      value = BigInt(register(parser.take(), "r", this.tables.registers));
    } else if (!field.enum && REGISTER.test(first.text)) {
      if (!(field.stride || field.name === "x")) {
        throw new Wrong(first.column, `${field.name} must be a number, not ${first}`);
      }
      value = BigInt(register(parser.take(), "x", this.tables.strides));
    } else if (field.enum && first.kind === "name") {
      value = this.#member(field, parser.take());
    } else {
      value = parser.integer();
      range(field.name, value, 0n, (1n << BigInt(field.width)) - 1n, first.column);
    }
    parser.end();
    this.#set(field.name, value, column);
  }

  #member(field, token) {
    const name = token.text.toLowerCase();
    if (Object.hasOwn(field.enum, name)) return BigInt(field.enum[name]);
    const value = this.names.constants.get(token.text);
    if (typeof value === "bigint") {
      range(field.name, value, 0n, (1n << BigInt(field.width)) - 1n, token.column);
      return value;
    }
    const names = Object.keys(field.enum);
    throw new Wrong(token.column, `${field.name} must be one of ${names.join(", ")}, ` +
      `not ${token}${suggest(token.text, names)}`);
  }

  #part(operand, part, piece, column) {
    if (this.#values.has(operand.name)) {
      throw new Wrong(column,
        `${part.name} is a part of ${operand.name}, which is given already`);
    }
    if (REGISTER.test(piece[0].text)) {
      throw new Wrong(piece[0].column, `${part.name} must be a number, not ${piece[0]}; a ` +
        `register holds the whole of ${operand.name}`);
    }
    const parser = new Parser(piece, this.names);
    const value = parser.integer();
    parser.end();
    const width = BigInt(part.width), low = part.signed ? -(1n << (width - 1n)) : 0n;
    range(part.name, value, low, low + (1n << width) - 1n, piece[0].column);
    this.#set(part.name, value, column);
  }

  #operand(operand, piece, column) {
    for (const part of operand.parts) {
      if (this.#values.has(part.name)) {
        throw new Wrong(column,
          `${part.name} is a part of ${operand.name}, which is given already`);
      }
    }
    const parser = new Parser(piece, this.names);
    const kind = operand.kind && this.fields.get(operand.kind);
    const first = piece[0];
    const bracket = piece.length > 2 && piece[1].text === "["
      && (first.kind === "name" || first.kind === "int");
    const bare = kind?.enum && piece.length === 2
      && Object.hasOwn(kind.enum, first.text.toLowerCase());
    if (bracket || bare) {
      this.#memory(operand, kind, parser, column);
    } else if (kind && column === first.column) {
      const names = Object.keys(kind.enum).map((name) => `${name}[...]`).join(", ");
      throw new Wrong(column, `${operand.name} must be one of ${names}, not ${first}`);
    } else {
      this.#word(operand, parser, column);
    }
    parser.end();
  }

  /** Read `memory[row, stride, lane=..]`, or the name of a memory alone: row 0. */
  #memory(operand, kind, parser, column) {
    const token = parser.take();
    let member = 0n;
    if (kind) {
      if (token.kind === "int") {
        range(kind.name, token.value, 0n, (1n << BigInt(kind.width)) - 1n, token.column);
        member = token.value;
      } else {
        member = this.#member(kind, token);
      }
      this.#set(kind.name, member, token.column);
    } else if (operand.fixed !== token.text) {
      const wanted = operand.fixed ? `${operand.fixed}[row]` : "a number or a register";
      throw new Wrong(token.column, `${operand.name} must be ${wanted}, not ${token}`);
    }
    if (parser.here.kind === "end") return this.#set(operand.name, 0n, column);
    parser.take("[");
    this.#word(operand, parser, column);
    while (parser.here.text === ",") {
      parser.take();
      if (parser.here.text === "lane" && operand.lanes.includes(Number(member))) {
        this.#lane(operand, parser);
        break;
      }
      if (!operand.stride) {
        throw new Wrong(parser.here.column, `${operand.name} has no stride register, ` +
          `']' must come here, not ${parser.here}`);
      }
      const at = parser.here.column;
      this.#set(operand.stride, BigInt(register(parser.take(), "x", this.tables.strides)), at);
    }
    parser.take("]");
  }

  /** Read `lane=..` behind a row, and put it above the row into the operand's word. */
  #lane(operand, parser) {
    const token = parser.take("lane"), row = this.#values.get(operand.name);
    parser.take("=");
    if (isReg(row) || this.#relocated.has(operand.name)) {
      throw new Wrong(token.column, "lane must come after a row that is a number, not after " +
        (isReg(row) ? "a register" : "an address"));
    }
    const lsb = BigInt(this.tables.laneLsb), at = parser.here.column;
    const lane = parser.integer();
    range("lane", lane, 0n, (1n << (32n - lsb)) - 1n, at);
    range(operand.name, row, 0n, (1n << lsb) - 1n, token.column);
    this.#values.set(operand.name, row | (lane << lsb));
  }

  /** Read the 32 bits of an operand: a register or an expression. */
  #word(operand, parser, column) {
    const token = parser.here;
    if (token.kind === "name" && REGISTER.test(token.text)) {
      parser.take();
      this.#set(operand.name, { reg: register(token, "r", this.tables.registers) }, column);
      return;
    }
    const value = parser.expression();
    let word = value.number, relocated = value.relocated;
    if (typeof word === "number") {
      if (!operand.float) {
        throw new Wrong(token.column, `${operand.name} must be an integer, not ${number(word)}`);
      }
      [word, relocated] = [f32(word), false];
    }
    range(operand.name, word, -(1n << 31n), (1n << 32n) - 1n, token.column);
    if (relocated) {
      range(operand.name, word, 0n, (1n << 32n) - 1n, token.column);
      this.#relocated.add(operand.name);
    }
    this.#set(operand.name, word, column);
  }
}
