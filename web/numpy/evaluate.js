// Lines of Python that say with NumPy what a program computes: `c = a.astype(int32) @ b`.
//
// A line is parsed and computed at once. Names are those of buffers and of lines before; functions
// are NumPy's, with `np.` before them or without. There are integers alone, as on the chip.

import {
  DTYPES, NumpyArray, NumpyError, along, array, axisOf, elementwise, generated, isArray, matmul, told,
  where,
} from "./array.js";

const TOKEN = /\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|(\/\/|<<|>>|<=|>=|==|!=|[-+*@%&|^~<>()[\],:.=]))/y;
/** Operators of two operands, those that bind least first. */
const LEVELS = [["<", "<=", ">", ">=", "==", "!="], ["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"],
  ["*", "@", "//", "%"]];

const wide = (from, dtype) => dtype ?? "int64";
const best = (values, better) => values.reduce((at, value, i) => better(value, values[at]) ? i : at, 0);
const running = (values) => {
  let sum = 0n;
  return values.map((value) => sum += value);
};
/** Of a line of elements: the type that NumPy gives it, and what it makes. */
const REDUCTIONS = {
  sum: [wide, (values) => values.reduce((a, b) => a + b, 0n)],
  cumsum: [wide, running],
  max: [(from) => from, (values) => values[best(values, (a, b) => a > b)]],
  min: [(from) => from, (values) => values[best(values, (a, b) => a < b)]],
  argmax: [() => "int64", (values) => BigInt(best(values, (a, b) => a > b))],
  argmin: [() => "int64", (values) => BigInt(best(values, (a, b) => a < b))],
};

function reduced(name, from, { axis, dtype }) {
  const [type, make] = REDUCTIONS[name];
  if (!from.data.length && name !== "sum" && name !== "cumsum") {
    throw new NumpyError(`${name} of no elements`);
  }
  const line = axis === undefined ? from.reshape([-1]) : from;
  return along(line, axisOf(line, axis ?? 0), type(from.dtype, dtype), make);
}

const number = (value, what) => {
  const one = isArray(value) && !value.shape.length ? value.data[0] : value;
  if (typeof one !== "bigint") throw new NumpyError(`${what} must be an integer`);
  return Number(one);
};
const both = (name) => (a, b) => elementwise(name, a, b);
const clip = (from, low, high) =>
  elementwise("minimum", elementwise("maximum", array(from), low), high);
const absolute = (from) => where(elementwise("<", array(from), 0n), negated(array(from)), from);
const negated = (from) => isArray(from)
  ? new NumpyArray(from.dtype, from.shape, from.data.map((value) => -value)) : -from;

const FUNCTIONS = {
  abs: absolute, absolute, clip, where, matmul, maximum: both("maximum"), minimum: both("minimum"),
  append: (a, b) => {
    const [x, y] = [array(a).reshape([-1]), array(b).reshape([-1])];
    const { dtype } = elementwise("maximum", x.reshape([-1, 1]), y);
    return new NumpyArray(dtype, [x.data.length + y.data.length], [...x.data, ...y.data]);
  },
  arange: (count) => generated("int64", [number(count, "the size of arange")], ([i]) => BigInt(i)),
  transpose: (from) => array(from).T,
};
const METHODS = {
  astype: (from, dtype) => from.astype(dtype),
  reshape: (from, ...sizes) => from.reshape(sizes.map((size) => number(size, "a size"))),
  transpose: (from) => from.T, clip,
};
const KEYWORDS = ["axis", "dtype"];

function sliced(from, parts) {
  if (parts.length > from.shape.length) {
    throw new NumpyError(`too many indices for array: array is ${from.shape.length}-dimensional, ` +
      `but ${parts.length} were indexed`);
  }
  const chosen = from.shape.map((size, axis) => {
    const part = parts[axis] ?? {};
    const place = (value) => value < 0 ? value + size : value;
    if (typeof part === "number") {
      if (place(part) < 0 || place(part) >= size) {
        throw new NumpyError(`index ${part} is out of bounds for axis ${axis} with size ${size}`);
      }
      return { first: place(part), step: 0, count: 1, gone: true };
    }
    const { step = 1 } = part, [low, high] = step > 0 ? [0, size] : [-1, size - 1];
    if (!step) throw new NumpyError("slice step cannot be zero");
    const bound = (value, other) =>
      value === undefined ? other : Math.min(Math.max(place(value), low), high);
    const first = bound(part.start, step > 0 ? low : high), end = bound(part.stop, step > 0 ? high : low);
    return { first, step, count: Math.max(0, Math.ceil((end - first) / step)) };
  });
  const made = generated(from.dtype, chosen.map(({ count }) => count),
    (at) => from.at(at.map((i, axis) => chosen[axis].first + i * chosen[axis].step)));
  return new NumpyArray(made.dtype, made.shape.filter((_, axis) => !chosen[axis].gone), made.data);
}

/** One line: its tokens, and what has been read of them. */
class Line {
  constructor(text, names) {
    Object.assign(this, { tokens: [], at: 0, names });
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const place = TOKEN.lastIndex, found = TOKEN.exec(text);
      if (!found) throw new NumpyError(`a name, a number or an operator must come at '${text.slice(place).trim()}'`);
      this.tokens.push({ number: found[1], name: found[2], mark: found[3] });
    }
  }

  get next() {
    return this.tokens[this.at] ?? {};
  }

  take(mark) {
    const found = this.next.mark === mark;
    if (found) this.at++;
    return found;
  }

  want(mark) {
    if (this.take(mark)) return;
    const { number, name, mark: other } = this.next;
    throw new NumpyError(`${mark} must come here, not ${number ?? name ?? other ?? "the end of the line"}`);
  }

  /** NAME = EXPRESSION. */
  assignment() {
    const { name } = this.next;
    this.at++;
    if (!name) throw new NumpyError("a line must begin with the name of what it computes");
    this.want("=");
    const value = this.expression();
    if (this.at < this.tokens.length) this.want("the end of the line");
    return [name, value];
  }

  expression(level = 0) {
    if (level === LEVELS.length) return this.unary();
    let left = this.expression(level + 1);
    while (LEVELS[level].includes(this.next.mark)) {
      const { mark } = this.next;
      this.at++;
      const right = this.expression(level + 1);
      left = this.operated(mark, left, right);
      if (level === 0 && LEVELS[0].includes(this.next.mark)) {
        throw new NumpyError("comparisons of arrays cannot be chained");
      }
    }
    return left;
  }

  operated(mark, left, right) {
    if (mark === "@") return matmul(left, right);
    if (isArray(left) || isArray(right)) return elementwise(mark, left, right);
    const wider = elementwise(mark, array(left), array(right)); // integers of Python's remain so
    return wider.dtype === "bool" ? wider : wider.data[0];
  }

  unary() {
    if (this.take("-")) return negated(this.unary());
    if (this.take("+")) return this.unary();
    if (this.take("~")) {
      const value = this.unary();
      return !isArray(value) ? ~value : new NumpyArray(value.dtype, value.shape,
        value.data.map((each) => value.dtype === "bool" ? 1n - each : ~each));
    }
    let value = this.atom();
    for (;;) {
      if (this.take("[")) value = sliced(array(value), this.indices());
      else if (this.take(".")) value = this.attribute(array(value));
      else return value;
    }
  }

  atom() {
    const { number: digits, name } = this.next;
    if (digits) {
      this.at++;
      return BigInt(digits);
    }
    if (this.take("(")) {
      const value = this.expression();
      this.want(")");
      return value;
    }
    if (!name) this.want("a value");
    this.at++;
    if (["np", "numpy"].includes(name) && this.take(".")) return this.atom();
    if (name === "True" || name === "False") return new NumpyArray("bool", [], [BigInt(name === "True")]);
    if (this.next.mark === "(" && !this.names.has(name)) return this.called(name);
    if (!this.names.has(name)) {
      throw new NumpyError(`name '${name}' is not defined: there are ${[...this.names.keys()].join(", ")}`);
    }
    return this.names.get(name);
  }

  called(name) {
    const { values, given } = this.inBrackets();
    if (name in REDUCTIONS) {
      const [from, axis] = values;
      return reduced(name, array(from), { axis, ...given });
    }
    if (!Object.hasOwn(FUNCTIONS, name)) {
      throw new NumpyError(`function ${name} is not known here; there are ` +
        [...Object.keys(FUNCTIONS), ...Object.keys(REDUCTIONS)].sort().join(", "));
    }
    this.counted(name, FUNCTIONS[name], values);
    return FUNCTIONS[name](...values);
  }

  attribute(value) {
    const { name } = this.next;
    this.at++;
    if (name === "T") return value.T;
    if (!(name in REDUCTIONS || Object.hasOwn(METHODS, name))) {
      throw new NumpyError(`an array has no ${name} here; there are T, ` +
        [...Object.keys(METHODS), ...Object.keys(REDUCTIONS)].sort().join(", "));
    }
    const { values, given } = this.inBrackets();
    if (name in REDUCTIONS) return reduced(name, value, { axis: values[0], ...given });
    if (name === "astype" && !(values[0] in DTYPES)) {
      throw new NumpyError(`a type must be ${Object.keys(DTYPES).join(", ")}`);
    }
    this.counted(name, METHODS[name], [value, ...values]);
    return METHODS[name](value, ...values);
  }

  counted(name, { length }, values) {
    if (values.length < length || values.some((value) => typeof value === "string" && name !== "astype")) {
      throw new NumpyError(`${name} must be called with ${length} value${length === 1 ? "" : "s"}, ` +
        `not ${values.length}`);
    }
  }

  /** Arguments by place and by name. */
  inBrackets() {
    const values = [], given = {};
    this.want("(");
    while (!this.take(")")) {
      const { name } = this.next;
      if (KEYWORDS.includes(name) && this.tokens[this.at + 1]?.mark === "=") {
        this.at += 2;
        given[name] = this.argument();
      } else values.push(this.argument());
      if (this.next.mark !== ")") this.want(",");
    }
    return { values, given };
  }

  argument() {
    const prefixed = ["np", "numpy"].includes(this.next.name) && this.tokens[this.at + 1]?.mark === ".";
    const name = this.tokens[this.at + (prefixed ? 2 : 0)]?.name;
    if (!(name in DTYPES)) return this.expression();
    this.at += prefixed ? 3 : 1;
    return name;
  }

  indices() {
    const parts = [];
    const bound = () => [":", ",", "]"].includes(this.next.mark) ? undefined
      : number(this.expression(), "an index");
    while (!this.take("]")) {
      const start = bound();
      if (this.take(":")) {
        const stop = bound();
        parts.push({ start, stop, step: this.take(":") ? bound() : undefined });
      } else parts.push(start);
      if (this.next.mark !== "]") this.want(",");
    }
    return parts;
  }
}

/**
 * Compute lines.
 * @param {string} text lines of NAME = EXPRESSION, apart by ends of lines or semicolons; # begins a remark
 * @param {Map<string, NumpyArray>} inputs arrays by name
 * @returns {Map<string, NumpyArray>} these, and what the lines have computed
 */
export function evaluate(text, inputs) {
  const names = new Map(inputs);
  for (const line of text.split(/[\n;]/).map((each) => each.replace(/#.*/, "").trim())) {
    if (!line) continue;
    try {
      const [name, value] = new Line(line, names).assignment();
      names.set(name, value);
    } catch (error) {
      throw error instanceof NumpyError ? new NumpyError(`${line}: ${error.message}`) : error;
    }
  }
  return names;
}

/** What the lines give for an array of a type and a shape; NumpyError where they do not fit. */
export function answer(text, inputs, { name, dtype, shape }) {
  const names = evaluate(text, inputs);
  if (inputs.has(name) || !names.has(name)) {
    throw new NumpyError(`no line computes ${name}`);
  }
  const made = array(names.get(name));
  if (told(made.shape) !== told(shape)) {
    throw new NumpyError(`${name} has the shape ${told(made.shape)}, in the program ${told(shape)}`);
  }
  if (made.dtype !== dtype) {
    throw new NumpyError(`${name} is ${made.dtype}, in the program ${dtype}: ` +
      (dtype in DTYPES ? `say .astype(${dtype})` : "only integers are computed here"));
  }
  return made;
}
