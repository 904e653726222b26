// From assembly text to a program: celosia.program.asm.assembler, once more.

import { Arguments } from "./arguments.js";
import { Parser, bf16Of, f32 } from "./expressions.js";
import { Token, split, tokenise } from "./lexer.js";
import { ValueError, Wrong, number, repr, suggest } from "./text.js";

const RESERVED = /^(?:[rx]\d+|[^A-Za-z_].*)$/;
const WORD = 2n ** 32n - 1n;
const MOST_PROBLEMS = 20;

/** Assembly text that is not a program; the message is the command line's. */
export class AsmError extends Error {
  constructor(filename, problems) {
    super(problems.map(({ line, column, text, message }) => {
      const margin = [...text].slice(0, column - 1)
        .map((char) => (char === "\t" ? "\t" : " ")).join("");
      return `${filename}:${line}:${column}: ${message}\n  ${text}\n  ${margin}^`;
    }).join("\n"));
    this.problems = problems;
  }
}

function counted(token, pieces, count, what) {
  if (pieces.length !== count) {
    throw new Wrong(token.column, `${token} must have ${what}, not ${pieces.length} arguments`);
  }
  return pieces;
}

function string(piece) {
  if (piece.length !== 2 || !["name", "string"].includes(piece[0].kind)) {
    throw new Wrong(piece[0].column, `a name or a string must come here, not ${piece[0]}`);
  }
  return piece[0].value;
}

function checkName(token) {
  if (token.kind !== "name" || RESERVED.test(token.text)) {
    throw new Wrong(token.column, `a name that is no register must come here, not ${token}`);
  }
}

function tuple(values) {
  return values.length === 1 ? `(${values[0]},)` : `(${values.join(", ")})`;
}

/** The bytes of a value of a constant. */
function bytesOf(dtype, value) {
  const view = new DataView(new ArrayBuffer(dtype.bytes));
  if (dtype.range && dtype.bytes === 1) view.setInt8(0, Number(value));
  else if (dtype.range) view.setInt32(0, Number(value), true);
  else if (dtype.bytes === 4) view.setUint32(0, Number(f32(value)), true);
  else view.setUint16(0, Number(bf16Of(f32(value))), true);
  return new Uint8Array(view.buffer);
}

class Assembler {
  names = { constants: new Map(), labels: new Map(), buffers: new Map() };
  name = "";
  fingerprint = null;
  arena = null;
  buffers = [];
  data = new Map();
  insns = [];
  lines = [];
  relocations = [];
  sources = [];
  source = null;

  constructor(tables) {
    this.tables = tables;
    this.instructions = new Map(tables.instructions.map((each) => [each.mnemonic, each]));
    this.directives = new Map([
      [".chip", this.#chip], [".name", this.#named], [".equ", this.#equ],
      [".arena", this.#arenaBytes], [".buffer", this.#buffer], [".data", this.#values],
      [".bytes", this.#raw], [".source", this.#comesFrom]]);
  }

  /** Assemble one line; its labels are known already. */
  statement(line) {
    let tokens = line.tokens;
    while (tokens.length > 1 && tokens[1].text === ":") tokens = tokens.slice(2);
    const first = tokens[0];
    if (first.kind === "end") return;
    const directives = [...this.directives.keys()];
    if (first.text.startsWith(".")) {
      const directive = this.directives.get(first.text);
      if (!directive) {
        throw new Wrong(first.column, `a directive must be one of ${directives.join(", ")}, ` +
          `not ${first}${suggest(first.text, directives)}`);
      }
      directive.call(this, first, split(tokens.slice(1)));
      return;
    }
    const instruction = this.instructions.get(first.text.toLowerCase());
    if (!instruction || first.kind !== "name") {
      const close = suggest(first.text, [...this.instructions.keys(), ...directives]);
      throw new Wrong(first.column, `an instruction must come here, not ${first}${close}`);
    }
    const [insn, relocated] = new Arguments(instruction, this.names, this.tables)
      .read(first, tokens.slice(1));
    this.relocations.push(...relocated.map((operand) => [this.insns.length, operand]));
    this.insns.push(insn);
    this.lines.push(line.number);
    this.sources.push(this.source ?? "");
  }

  #chip(token, pieces) {
    const [piece] = counted(token, pieces, 1, "a preset or a fingerprint");
    const { presets } = this.tables;
    if (piece[0].kind !== "name") {
      this.fingerprint = Number(this.#integer(piece));
    } else if (Object.hasOwn(presets, piece[0].text)) {
      this.fingerprint = presets[piece[0].text];
    } else {
      const known = Object.keys(presets);
      throw new Wrong(piece[0].column, `preset must be one of ${known.join(", ")}, ` +
        `not ${piece[0]}${suggest(piece[0].text, known)}`);
    }
  }

  #named(token, pieces) {
    this.name = string(counted(token, pieces, 1, "a name")[0]);
  }

  #equ(token, pieces) {
    if (pieces.length === 1 && pieces[0].length > 2) {
      const [first, second] = pieces[0];
      pieces = [[first, new Token("end", "", second.column)], pieces[0].slice(1)];
    }
    const [name, piece] = counted(token, pieces, 2, "a name and a value");
    checkName(name[0]);
    const { labels, constants } = this.names;
    if (labels.has(name[0].text) || constants.has(name[0].text)) {
      throw new Wrong(name[0].column, `${name[0]} must be defined once`);
    }
    const parser = new Parser(piece, this.names);
    const value = parser.expression();
    parser.end();
    if (value.relocated) {
      throw new Wrong(piece[0].column, "a constant must be a number, not an address");
    }
    constants.set(name[0].text, value.number);
  }

  #arenaBytes(token, pieces) {
    this.arena = Number(this.#integer(counted(token, pieces, 1, "a number of bytes")[0]));
  }

  #buffer(token, pieces) {
    let offset;
    const { alignment, dtypes, kinds } = this.tables;
    if (pieces.length === 3) {
      const end = Math.max(0, ...this.buffers.map((buffer) => buffer.end));
      offset = Math.ceil(end / alignment) * alignment;
    } else {
      offset = Number(this.#integer(counted(token, pieces, 4, "a name, a type with its shape, a " +
        "kind and perhaps an offset")[3]));
    }
    const name = string(pieces[0]), type = pieces[1][0];
    if (!Object.hasOwn(dtypes, type.text)) {
      const known = Object.keys(dtypes);
      throw new Wrong(type.column, `type must be one of ${known.join(", ")}, ` +
        `not ${type}${suggest(type.text, known)}`);
    }
    const kind = pieces[2][0];
    if (!kinds.includes(kind.text)) {
      throw new Wrong(kind.column, `kind must be one of ${kinds.join(", ")}, ` +
        `not ${kind}${suggest(kind.text, kinds)}`);
    }
    const parser = new Parser(pieces[1].slice(1), this.names);
    const shape = [];
    parser.take("[");
    while (parser.here.text !== "]") {
      shape.push(parser.integer());
      if (parser.here.text !== "]") parser.take(",");
    }
    parser.take("]");
    parser.end();
    if (this.names.buffers.has(name)) {
      throw new Wrong(pieces[0][0].column, `buffer ${repr(name)} must be defined once`);
    }
    const { bytes } = dtypes[type.text];
    const wrong = this.#wrongBuffer(name, shape, offset, bytes);
    if (wrong) throw new Wrong(token.column, wrong);
    const end = BigInt(offset) + shape.reduce((a, b) => a * b, 1n) * BigInt(bytes);
    if (end > WORD) {
      throw new Wrong(token.column, `buffer ${name} must end at ${WORD} or before, not at ${end}`);
    }
    this.buffers.push({ name, offset, shape: shape.map(Number), dtype: type.text,
      kind: kind.text, end: Number(end), nbytes: Number(end) - offset });
    this.names.buffers.set(name, offset);
  }

  #wrongBuffer(name, shape, offset, bytes) {
    if (!name) return `Buffer.name must be a string that is not empty, not ${repr(name)}`;
    if (shape.some((size) => size < 0n)) {
      return `Buffer.shape of ${name} must hold sizes of at least 0, not ${tuple(shape)}`;
    }
    if (shape.some((size) => size > WORD)) {
      return `Buffer.shape of ${name} must hold sizes of at most ${WORD}, not ${tuple(shape)}`;
    }
    return offset % bytes === 0 ? ""
      : `Buffer.offset of ${name} must be a multiple of ${bytes} from 0 on, not ${offset}`;
  }

  #values(token, pieces) {
    if (!pieces.length) throw new Wrong(token.column, `${token} must have a name and values`);
    const buffer = this.#constant(pieces[0]);
    const dtype = this.tables.dtypes[buffer.dtype];
    const numbers = pieces.slice(1).map((piece) => {
      const parser = new Parser(piece, this.names);
      const value = parser.expression();
      parser.end();
      const given = value.number;
      if (dtype.range) {
        const [low, high] = dtype.range;
        if (value.relocated || typeof given !== "bigint" || given < low || given > high) {
          throw new Wrong(piece[0].column, `a value of ${buffer.name} must be an integer ` +
            `from ${low} to ${high}, not ${number(given)}`);
        }
      } else if (typeof given === "bigint" && !Number.isFinite(Number(given))) {
        const bits = (given < 0n ? -given : given).toString(2).length;
        throw new Wrong(piece[0].column, `a value of ${buffer.name} must fit fp64, not be an ` +
          `integer of ${bits} bits`);
      }
      return bytesOf(dtype, given);
    });
    this.data.get(buffer.name).push(...numbers);
  }

  #raw(token, pieces) {
    const [name, piece] = counted(token, pieces, 2, "a name and a string of hexadecimal digits");
    const buffer = this.#constant(name);
    const digits = string(piece);
    if (!/^(?:[ \t\n\r\f\v]*[0-9a-fA-F]{2})*[ \t\n\r\f\v]*$/.test(digits)) {
      throw new Wrong(piece[0].column, "a string of pairs of hexadecimal digits must come " +
        `here, not ${piece[0]}`);
    }
    this.data.get(buffer.name).push(
      Uint8Array.from(digits.match(/[0-9a-fA-F]{2}/g) ?? [], (pair) => parseInt(pair, 16)));
  }

  #comesFrom(token, pieces) {
    this.source = string(counted(token, pieces, 1, "a string")[0]);
  }

  #constant(piece) {
    const name = string(piece);
    const constants = this.buffers.filter((buffer) => buffer.kind === "constant");
    const found = constants.find((buffer) => buffer.name === name);
    if (!found) {
      const names = constants.map((buffer) => buffer.name);
      throw new Wrong(piece[0].column, `constant must be one of ` +
        `${names.join(", ") || "(there are none)"}, not ${repr(name)}${suggest(name, names)}`);
    }
    if (!this.data.has(name)) this.data.set(name, []);
    return found;
  }

  #integer(piece) {
    const parser = new Parser(piece, this.names);
    const value = parser.integer();
    parser.end();
    if (value < 0n || value > WORD) {
      throw new Wrong(piece[0].column,
        `a number from 0 to ${WORD} must come here, not ${value}`);
    }
    return value;
  }

  /** Return the contents of the constants, zeros where none are given. */
  constants() {
    const contents = new Map();
    for (const { name, kind, nbytes } of this.buffers) {
      if (kind !== "constant") continue;
      const parts = this.data.get(name) ?? [];
      const size = parts.reduce((sum, part) => sum + part.length, 0);
      if (size && size !== nbytes) {
        throw new ValueError(`constant ${name} must have ${nbytes} bytes, not ${size}`);
      }
      const raw = new Uint8Array(nbytes);
      let at = 0;
      for (const part of parts) {
        raw.set(part, at);
        at += part.length;
      }
      contents.set(name, raw);
    }
    return contents;
  }
}

/** Note the labels of a line; return whether an instruction follows them. */
function labelled(tokens, index, labels) {
  while (tokens.length > 1 && tokens[1].text === ":") {
    checkName(tokens[0]);
    if (labels.has(tokens[0].text)) {
      throw new Wrong(tokens[0].column, `label ${tokens[0]} must be defined once`);
    }
    labels.set(tokens[0].text, index);
    tokens = tokens.slice(2);
  }
  return tokens[0].kind !== "end" && !tokens[0].text.startsWith(".");
}

/**
 * Assemble a program.
 * @param {string} text docs/isa.md has the syntax
 * @param {object} tables isa.json
 * @param {object} options filename: what to call the text in messages; fingerprint: the chip, where
 *   the text has no `.chip`
 * @throws {AsmError} every problem with its line and a caret below the place
 */
export function assemble(text, tables, { filename = "<text>", fingerprint = null } = {}) {
  const assembler = new Assembler(tables);
  assembler.fingerprint = fingerprint;
  const problems = [], lines = [], labels = assembler.names.labels;
  const found = new Map();
  const note = (line, text, error) => {
    if (!(error instanceof Wrong)) throw error;
    const column = [...text.slice(0, error.column)].length + 1;
    problems.push({ line, column, text, message: error.message });
  };
  let index = 0;
  text.split("\n").forEach((each, i) => {
    const line = each.replace(/\r+$/, "");
    try {
      const tokens = tokenise(line);
      lines.push({ number: i + 1, text: line, tokens });
      index += labelled(tokens, index, found);
    } catch (error) {
      note(i + 1, line, error);
    }
  });
  for (const [name, place] of found) labels.set(name, place);
  for (const line of lines) {
    if (problems.length >= MOST_PROBLEMS) break;
    if (problems.some((problem) => problem.line === line.number)) continue;
    try {
      assembler.statement(line);
    } catch (error) {
      note(line.number, line.text, error);
    }
  }
  if (problems.length) {
    throw new AsmError(filename, problems.sort((a, b) => a.line - b.line));
  }
  const last = (message) => new AsmError(filename,
    [{ line: text.split("\n").length, column: 1, text: "", message }]);
  if (assembler.fingerprint === null) {
    throw last("a program must have .chip with a preset or a fingerprint, but it has none");
  }
  const { buffers, insns, lines: places, name, relocations, source, sources } = assembler;
  const arenaBytes = assembler.arena ?? Math.max(0, ...buffers.map((buffer) => buffer.end));
  try {
    const constants = assembler.constants();
    for (const buffer of buffers) {
      if (buffer.end > arenaBytes) {
        throw new ValueError(`buffer ${buffer.name} must end inside the arena of ${arenaBytes} ` +
          `bytes, not at ${buffer.end}`);
      }
    }
    return { fingerprint: assembler.fingerprint, name, insns, lines: places, buffers, constants,
      relocations, arenaBytes, sources: source === null ? [] : sources };
  } catch (error) {
    if (error instanceof ValueError) throw last(error.message);
    throw error;
  }
}
