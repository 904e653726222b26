// Text as Python writes it, so that messages here are those of the command line.

/** What is wrong in the line at hand, at a column counted from 0. */
export class Wrong extends Error {
  constructor(column, message) {
    super(message);
    this.column = column;
  }
}

/** What a ValueError is to the assembler. */
export class ValueError extends Error {}

const ESCAPES = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

function escaped(char) {
  if (ESCAPES[char]) return ESCAPES[char];
  if (!UNPRINTABLE.test(char)) return char;
  const code = char.codePointAt(0);
  const digits = code.toString(16);
  return code < 0x100 ? "\\x" + digits.padStart(2, "0")
    : code < 0x10000 ? "\\u" + digits.padStart(4, "0") : "\\U" + digits.padStart(8, "0");
}

/** A string as Python's repr has it. */
export function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = [...text].map((char) => (char === quote ? "\\" + char : escaped(char)));
  return quote + inside.join("") + quote;
}

/** A number as Python prints it: a BigInt is an int, a Number a float. */
export function number(value) {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const [digits, exponent] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const said = Object.is(value, -0) ? "-0" : String(value);
  return said.includes(".") ? said : said + ".0";
}

/** Twice the characters of two texts that difflib's SequenceMatcher finds in common, in order. */
function common(a, b) {
  const places = new Map();
  b.forEach((char, j) => places.set(char, [...(places.get(char) ?? []), j]));
  const longest = (alo, ahi, blo, bhi) => {
    let besti = alo, bestj = blo, size = 0, lengths = new Map();
    for (let i = alo; i < ahi; i++) {
      const next = new Map();
      for (const j of places.get(a[i]) ?? []) {
        if (j < blo) continue;
        if (j >= bhi) break;
        const length = (lengths.get(j - 1) ?? 0) + 1;
        next.set(j, length);
        if (length > size) [besti, bestj, size] = [i - length + 1, j - length + 1, length];
      }
      lengths = next;
    }
    return [besti, bestj, size];
  };
  const count = (alo, ahi, blo, bhi) => {
    if (alo >= ahi || blo >= bhi) return 0;
    const [i, j, size] = longest(alo, ahi, blo, bhi);
    return size && size + count(alo, i, blo, j) + count(i + size, ahi, j + size, bhi);
  };
  return 2 * count(0, a.length, 0, b.length);
}

/** "; did you mean 'x'?" for the name that is closest, as difflib counts, or "" if none is. */
export function suggest(name, names) {
  const word = [...name.toLowerCase()];
  let best = null;
  for (const each of names) {
    const chars = [...each];
    const length = chars.length + word.length;
    const ratio = length ? common(chars, word) / length : 1;
    if (ratio >= 0.6 && (best === null || ratio > best.ratio
        || (ratio === best.ratio && each > best.each))) {
      best = { ratio, each };
    }
  }
  return best === null ? "" : `; did you mean ${repr(best.each)}?`;
}
