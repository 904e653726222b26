// Tokens of a line of assembly text: celosia.program.asm.lexer, once more.

import { Wrong, repr } from "./text.js";

const PATTERN = new RegExp([
  "(?<space>[ \\t\\r]+)",
  "(?<comment>[;#].*)",
  "(?<float>\\d+(?:\\.\\d*(?:[eE][+-]?\\d+)?|[eE][+-]?\\d+))",
  "(?<int>0[xX][0-9a-fA-F_]+|0[bB][01_]+|\\d[\\d_]*)",
  "(?<name>\\.?[A-Za-z_][A-Za-z0-9_.]*)",
  '(?<string>"(?:[^"\\\\]|\\\\.)*")',
  "(?<punctuation><<|>>|[\\][(),:=+\\-*/%|&@])",
].join("|"), "uy");

/** A token: its kind (float, int, name, string, punctuation, end), text, column and value. */
export class Token {
  constructor(kind, text, column, value = "") {
    Object.assign(this, { kind, text, column, value });
  }

  toString() {
    return this.kind === "end" ? "the end of the line" : repr(this.text);
  }
}

function valueOf(kind, text, column) {
  const wrong = () => new Wrong(column, `${kind} must be well formed, not ${repr(text)}`);
  if (kind === "int") {
    const digits = /^0[xXbB]/.test(text) ? text.slice(1) : text; // behind a prefix _ may come
    if (/__|_$/.test(digits)) throw wrong();
    return BigInt(text.replaceAll("_", ""));
  }
  if (kind === "float") return Number(text);
  if (kind === "string") {
    try {
      return JSON.parse(text);
    } catch {
      throw wrong();
    }
  }
  return text;
}

/** Split a line into tokens; the last is of kind "end". Wrong where nothing fits. */
export function tokenise(line) {
  const tokens = [];
  let at = 0;
  while (at < line.length) {
    PATTERN.lastIndex = at;
    const match = PATTERN.exec(line);
    if (match === null) {
      const char = String.fromCodePoint(line.codePointAt(at));
      throw new Wrong(at, char === '"' ? "a string must end with '\"' on its line"
        : `a token must begin here, not ${repr(char)}`);
    }
    const [kind, text] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    if (kind === "comment") break;
    if (kind !== "space") tokens.push(new Token(kind, text, at, valueOf(kind, text, at)));
    at += text.length;
  }
  tokens.push(new Token("end", "", line.slice(0, at).trimEnd().length));
  return tokens;
}

/** Split at commas outside brackets; each piece ends with a token of kind "end". */
export function split(tokens) {
  if (tokens[0].kind === "end") return [];
  const pieces = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === "punctuation") {
      depth += "[(".includes(token.text) - "])".includes(token.text);
    }
    if (token.kind === "end" || (token.text === "," && depth === 0)) {
      pieces.at(-1).push(new Token("end", "", token.column));
      if (token.kind !== "end") pieces.push([]);
    } else {
      pieces.at(-1).push(token);
    }
  }
  return pieces;
}
