// Constant expressions: celosia.program.asm.expressions, once more.
//
// An int of Python is a BigInt here, a float a Number.

import { Wrong, number, repr, suggest } from "./text.js";

const MOST_NESTED = 64;
const MOST_BITS = 4096n;
const TOO_LARGE = "int too large to convert to float";

class ArithmeticError extends Error {}

const isInt = (value) => typeof value === "bigint";

function float(value) {
  const made = Number(value);
  if (isInt(value) && !Number.isFinite(made)) throw new ArithmeticError(TOO_LARGE);
  return made;
}

function int(value) {
  if (isInt(value)) return value;
  if (Number.isNaN(value)) throw new ArithmeticError("cannot convert float NaN to integer");
  if (!Number.isFinite(value)) {
    throw new ArithmeticError("cannot convert float infinity to integer");
  }
  return BigInt(Math.trunc(value));
}

/** Both as ints, or both as floats. */
function alike(a, b, ints, floats) {
  return isInt(a) && isInt(b) ? ints(a, b) : floats(float(a), float(b));
}

class ZeroDivision extends Error {}

function nonzero(value) {
  if (Number(value) === 0) throw new ZeroDivision();
  return value;
}

function remainder(a, b) {
  return alike(a, nonzero(b), (x, y) => ((x % y) + y) % y, (x, y) => {
    const rest = x % y;
    if (rest === 0) return y < 0 ? -0 : 0;
    return (rest < 0) !== (y < 0) ? rest + y : rest;
  });
}

function divide(a, b) {
  return alike(a, nonzero(b), (x, y) => {
    if (x % y) throw new ArithmeticError(`${x} / ${y} must have no remainder`);
    return x / y;
  }, (x, y) => x / y);
}

function shift(a, b, left) {
  const value = int(a), by = int(b);
  if (by < 0n) throw new ArithmeticError("negative shift count");
  const most = by > MOST_BITS ? MOST_BITS + 1n : by;
  return left ? value << most : value >> most;
}

function bounded(value) {
  if (isInt(value) && (value >> MOST_BITS) !== 0n && (-value >> MOST_BITS) !== 0n) {
    throw new ArithmeticError(`an integer must have at most ${MOST_BITS} bits`);
  }
  return value;
}

const OPERATORS = [
  { "|": (a, b) => int(a) | int(b) },
  { "&": (a, b) => int(a) & int(b) },
  { "<<": (a, b) => shift(a, b, true), ">>": (a, b) => shift(a, b, false) },
  { "+": (a, b) => alike(a, b, (x, y) => x + y, (x, y) => x + y),
    "-": (a, b) => alike(a, b, (x, y) => x - y, (x, y) => x - y) },
  { "*": (a, b) => alike(a, b, (x, y) => x * y, (x, y) => x * y), "/": divide, "%": remainder },
];

function pair(low, high) {
  for (const value of [low, high]) {
    if (!isInt(value) || value < -(1n << 15n) || value >= 1n << 16n) {
      throw new ArithmeticError(`pair() must have two numbers of 16 bits, not ${number(value)}`);
    }
  }
  return (low & 0xffffn) | ((high & 0xffffn) << 16n);
}

const words = new DataView(new ArrayBuffer(4));

/** Return the bits of a number rounded to fp32. */
export function f32(value) {
  words.setFloat32(0, float(value));
  return BigInt(words.getUint32(0));
}

/** Return the upper half of an fp32's bits, rounded to nearest even. */
export function bf16Of(bits) {
  const nan = (bits & 0x7fffffffn) > 0x7f800000n;
  return nan ? (bits >> 16n) | 0x40n : (bits + 0x7fffn + ((bits >> 16n) & 1n)) >> 16n;
}

const FUNCTIONS = {
  pair: [2, pair], f32: [1, f32], bf16: [1, (value) => bf16Of(f32(value))],
};

/** Reads expressions from tokens, the last of which is of kind "end". */
export class Parser {
  /** `names`: constants (name to number), labels (name to int), buffers (name to offset). */
  constructor(tokens, names) {
    Object.assign(this, { tokens, names, at: 0, nested: 0 });
  }

  get here() {
    return this.tokens[this.at];
  }

  take(text = null) {
    const token = this.here;
    if (text !== null && (token.text !== text || !["punctuation", "name"].includes(token.kind))) {
      throw new Wrong(token.column, `${repr(text)} must come here, not ${token}`);
    }
    if (token.kind !== "end") this.at += 1;
    return token;
  }

  end() {
    if (this.here.kind !== "end") {
      throw new Wrong(this.here.column,
        `the end of the argument must come here, not ${this.here}`);
    }
  }

  expression(level = 0) {
    if (level === OPERATORS.length) return this.#unary();
    let left = this.expression(level + 1);
    while (this.here.kind === "punctuation" && Object.hasOwn(OPERATORS[level], this.here.text)) {
      const token = this.take();
      const right = this.expression(level + 1);
      left = this.#apply(token, OPERATORS[level][token.text], left, right);
    }
    return left;
  }

  integer() {
    const column = this.here.column;
    const value = this.expression();
    if (value.relocated || !isInt(value.number)) {
      throw new Wrong(column, "an integer must come here, not " +
        (value.relocated ? "an address" : number(value.number)));
    }
    return value.number;
  }

  #apply(token, operation, left, right) {
    const relocated = left.relocated || right.relocated;
    if (relocated && (!"+-".includes(token.text)
        || (right.relocated && (left.relocated || token.text === "-")))) {
      throw new Wrong(token.column, "an address must be used with + or - and a number, " +
        `not with ${token}`);
    }
    try {
      return { number: bounded(operation(left.number, right.number)), relocated };
    } catch (error) {
      if (error instanceof ZeroDivision) throw new Wrong(token.column, "a divisor must not be 0");
      if (error instanceof ArithmeticError) throw new Wrong(token.column, error.message);
      throw error;
    }
  }

  #unary() {
    if (this.nested > MOST_NESTED) {
      throw new Wrong(this.here.column, "parentheses, signs and functions must be nested at " +
        `most ${MOST_NESTED} deep`);
    }
    this.nested += 1;
    const value = this.#operand();
    this.nested -= 1;
    return value;
  }

  #operand() {
    const token = this.take();
    const is = (text) => token.text === text && token.kind === "punctuation";
    if (token.kind === "int" || token.kind === "float") {
      try {
        return { number: bounded(token.value), relocated: false };
      } catch (error) {
        throw new Wrong(token.column, error.message);
      }
    }
    if (is("-")) {
      const value = this.#unary();
      if (value.relocated) throw new Wrong(token.column, "an address must not be negated");
      return { number: -value.number, relocated: false };
    }
    if (is("(")) {
      const value = this.expression();
      this.take(")");
      return value;
    }
    if (is("@")) return this.#address();
    if (token.kind === "name") return this.#name(token);
    throw new Wrong(token.column, `a number, a name or '(' must come here, not ${token}`);
  }

  #address() {
    const token = this.here;
    const buffers = this.names.buffers;
    if (token.kind === "name" || token.kind === "string") {
      this.take();
      const name = token.value;
      if (!buffers.has(name)) {
        const known = [...buffers.keys()].join(", ") || "(there are none)";
        throw new Wrong(token.column, `buffer must be one of ${known}, not ${repr(name)}` +
          suggest(name, buffers.keys()));
      }
      return { number: BigInt(buffers.get(name)), relocated: true };
    }
    const value = this.#unary();
    if (value.relocated || !isInt(value.number)) {
      throw new Wrong(token.column, "a buffer or an offset must come after '@'");
    }
    return { number: value.number, relocated: true };
  }

  #name(token) {
    const name = token.text;
    const { constants, labels } = this.names;
    if (Object.hasOwn(FUNCTIONS, name) && this.here.text === "(") return this.#call(token);
    if (constants.has(name)) return { number: constants.get(name), relocated: false };
    if (labels.has(name)) return { number: BigInt(labels.get(name)), relocated: false };
    throw new Wrong(token.column, "a name must be a label or a constant (.equ) from above, " +
      `not ${repr(name)}${suggest(name, [...constants.keys(), ...labels.keys()])}`);
  }

  #call(token) {
    const [count, operation] = FUNCTIONS[token.text];
    this.take("(");
    const given = [this.expression()];
    while (this.here.text === ",") {
      this.take();
      given.push(this.expression());
    }
    this.take(")");
    if (given.length !== count || given.some((value) => value.relocated)) {
      throw new Wrong(token.column, `${token.text}() must have ${count} numbers, ` +
        `not ${given.length} arguments`);
    }
    try {
      return { number: operation(...given.map((value) => value.number)), relocated: false };
    } catch (error) {
      if (error instanceof ArithmeticError) throw new Wrong(token.column, error.message);
      throw error;
    }
  }
}
