// Arrays of integers with the meaning that NumPy gives them: types, wrapping, broadcasting.
//
// What is not an array is an integer of Python's, a BigInt, whose type is that of what it meets.

/** What NumPy would not do, or what is not known here. */
export class NumpyError extends Error {}

/** Bits of the types of elements, the narrow ones first. */
export const DTYPES = { bool: 1, int8: 8, int16: 16, int32: 32, int64: 64 };
const ORDER = Object.keys(DTYPES);

export const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
export const isArray = (value) => value instanceof NumpyArray;

/** What an integer becomes in a type: it wraps. */
function wrapped(dtype, value) {
  return dtype === "bool" ? BigInt(value !== 0n) : BigInt.asIntN(DTYPES[dtype], value);
}

export class NumpyArray {
  /** `data`: a BigInt for each element, in the order of C. */
  constructor(dtype, shape, data) {
    Object.assign(this, { dtype, shape, data: data.map((value) => wrapped(dtype, value)) });
  }

  astype(dtype) {
    return new NumpyArray(dtype, this.shape, this.data);
  }

  /** The same elements in another shape; -1: what is left. */
  reshape(shape) {
    const left = this.data.length / product(shape.filter((size) => size !== -1));
    const sizes = shape.map((size) => size === -1 ? left : size);
    if (product(sizes) !== this.data.length || sizes.some((size) => size < 0)) {
      throw new NumpyError(`cannot reshape array of size ${this.data.length} into ${told(shape)}`);
    }
    return new NumpyArray(this.dtype, sizes, this.data);
  }

  get T() {
    const shape = [...this.shape].reverse();
    return generated(this.dtype, shape, (at) => this.at([...at].reverse()));
  }

  at(index) {
    return this.data[index.reduce((sum, i, axis) => sum * this.shape[axis] + i, 0)];
  }
}

export const told = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** An array of what a function makes of each index. */
export function generated(dtype, shape, make) {
  const data = Array(product(shape)), index = shape.map(() => 0);
  for (let i = 0; i < data.length; i++) {
    data[i] = make(index);
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) {
      index[axis] = 0;
    }
  }
  return new NumpyArray(dtype, shape, data);
}

/** An array of a value: of no axes, of the type `like`, or of what NumPy takes for an integer. */
export function array(value, like = "int64") {
  if (isArray(value)) return value;
  const dtype = like === "bool" ? "int64" : like;
  if (BigInt.asIntN(DTYPES[dtype], value) !== value) {
    throw new NumpyError(`Python integer ${value} out of bounds for ${dtype}`);
  }
  return new NumpyArray(dtype, [], [value]);
}

/** Two values as arrays of the type in which they meet. */
function met(a, b) {
  const x = array(a, isArray(b) ? b.dtype : undefined), y = array(b, x.dtype);
  const dtype = ORDER[Math.max(ORDER.indexOf(x.dtype), ORDER.indexOf(y.dtype))];
  return [dtype, x.astype(dtype), y.astype(dtype)];
}

function broadcast(...shapes) {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, axis) => shapes.reduce((size, shape) => {
    const own = shape[shape.length - rank + axis] ?? 1;
    if (own !== 1 && size !== 1 && own !== size) {
      throw new NumpyError("operands could not be broadcast together with shapes " +
        shapes.map(told).join(" "));
    }
    return size === 1 ? own : size;
  }, 1));
}

/** An element of an array at an index of the shape that it is broadcast to. */
function spread(from, index) {
  const skipped = index.length - from.shape.length;
  return from.at(from.shape.map((size, axis) => size === 1 ? 0 : index[skipped + axis]));
}

const floorDivided = (a, b) => {
  if (b === 0n) return 0n;
  const quotient = a / b;
  return quotient * b !== a && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
};
const counted = (bits, count, shifted, far) => {
  if (count < 0n) throw new NumpyError("a shift must be by 0 or more: C has no meaning for others");
  return count < BigInt(bits) ? shifted() : far;
};
/** Operators on elements of one type. */
const OPERATORS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b,
  "//": floorDivided, "%": (a, b) => b === 0n ? 0n : a - floorDivided(a, b) * b,
  "&": (a, b) => a & b, "|": (a, b) => a | b, "^": (a, b) => a ^ b,
  "<<": (a, b, bits) => counted(bits, b, () => a << b, 0n),
  ">>": (a, b, bits) => counted(bits, b, () => a >> b, a < 0n ? -1n : 0n),
  maximum: (a, b) => a > b ? a : b, minimum: (a, b) => a < b ? a : b,
};
const COMPARISONS = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
  "==": (a, b) => a === b, "!=": (a, b) => a !== b,
};
/** Those that bool has none of its own for: NumPy takes int8. */
const OF_NUMBERS = ["//", "%", "<<", ">>"];

/** An operator on two values, of which at least one is an array. */
export function elementwise(name, a, b) {
  const compare = COMPARISONS[name];
  let [dtype, x, y] = compare ? met(array(a), array(b)) : met(a, b);
  if (dtype === "bool" && name === "-") {
    throw new NumpyError("numpy boolean subtract, the `-` operator, is not supported");
  }
  if (dtype === "bool" && OF_NUMBERS.includes(name)) dtype = "int8";
  const shape = broadcast(x.shape, y.shape);
  return compare
    ? generated("bool", shape, (at) => BigInt(compare(spread(x, at), spread(y, at))))
    : generated(dtype, shape, (at) =>
      OPERATORS[name](spread(x, at), spread(y, at), DTYPES[dtype]));
}

export function where(condition, a, b) {
  const [dtype, x, y] = met(a, b), chosen = array(condition);
  return generated(dtype, broadcast(chosen.shape, x.shape, y.shape),
    (at) => spread(chosen, at) ? spread(x, at) : spread(y, at));
}

export function matmul(a, b) {
  if (![a, b].every((each) => isArray(each) && [1, 2].includes(each.shape.length))) {
    throw new NumpyError("matmul: operands must be arrays of one or two axes");
  }
  const [dtype, x, y] = met(a, b);
  const left = a.shape.length === 1 ? x.reshape([1, -1]) : x;
  const right = b.shape.length === 1 ? y.reshape([-1, 1]) : y;
  const [rows, depth] = left.shape, [other, columns] = right.shape;
  if (depth !== other) {
    throw new NumpyError(`matmul: ${told(a.shape)} @ ${told(b.shape)}: the last size of the first ` +
      `must be the first of the second (${depth} is different from ${other})`);
  }
  const made = generated(dtype, [rows, columns], ([i, j]) => {
    let sum = 0n;
    for (let k = 0; k < depth; k++) sum += left.data[i * depth + k] * right.data[k * columns + j];
    return sum;
  });
  return made.reshape([...a.shape.slice(0, -1), ...b.shape.slice(1)]);
}

/** The number of an axis, which may be counted from the end. */
export function axisOf(from, axis) {
  const rank = from.shape.length, number = Number(axis);
  if (number < -rank || number >= rank) {
    throw new NumpyError(`axis ${number} is out of bounds for array of dimension ${rank}`);
  }
  return number < 0 ? number + rank : number;
}

/** Of each line of elements along an axis what `make` makes of it: one element, or a line. */
export function along(from, axis, dtype, make) {
  const shape = [...from.shape], size = shape[axis];
  const [outer, inner] = [product(shape.slice(0, axis)), product(shape.slice(axis + 1))];
  const lines = Array.from({ length: outer * inner }, (_, i) => make(Array.from({ length: size },
    (_, k) => from.data[(Math.floor(i / inner) * size + k) * inner + i % inner])));
  const length = Array.isArray(lines[0]) ? size : 1;
  const data = Array(outer * inner * length);
  lines.forEach((line, i) => [].concat(line).forEach((value, k) => {
    data[(Math.floor(i / inner) * length + k) * inner + i % inner] = value;
  }));
  const rest = length === 1 && !Array.isArray(lines[0]) ? [] : [size];
  return new NumpyArray(dtype, [...shape.slice(0, axis), ...rest, ...shape.slice(axis + 1)], data);
}
