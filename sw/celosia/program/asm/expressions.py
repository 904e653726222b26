"""Constant expressions: numbers, names, ``@buffer``, operators, parentheses, functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from celosia.program.asm.errors import Wrong, suggest
from celosia.program.asm.lexer import Token

__all__ = ["Names", "Parser", "AsmValue", "f32"]

#: Parentheses, signs and functions that may be inside of each other.
_MOST_NESTED = 64
#: Bits of an integer on the way to a result: more than any use has, and soon written down.
_MOST_BITS = 4096

Number = int | float


@dataclass(frozen=True)
class AsmValue:
    """A number; ``relocated``: the address of the arena is added when the program is loaded."""

    number: Number
    relocated: bool = False


@dataclass
class Names:
    """What names stand for: constants, labels, and offsets of buffers."""

    constants: dict[str, Number] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)


def _bounded(number: Number) -> Number:
    if isinstance(number, int) and number.bit_length() > _MOST_BITS:
        raise ArithmeticError(f"an integer must have at most {_MOST_BITS} bits")
    return number


def _shift_left(a: Number, b: Number) -> int:
    value, by = int(a), int(b)
    return value << min(by, _MOST_BITS + 1)


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        if a % b:
            raise ArithmeticError(f"{a} / {b} must have no remainder")
        return a // b
    return a / b


_OPERATORS: tuple[dict[str, Callable[[Number, Number], Number]], ...] = (
    {"|": lambda a, b: operator.or_(int(a), int(b))},
    {"&": lambda a, b: operator.and_(int(a), int(b))},
    {"<<": _shift_left, ">>": lambda a, b: int(a) >> int(b)},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _divide, "%": operator.mod},
)


def _pair(low: Number, high: Number) -> int:
    for value in (low, high):
        if not isinstance(value, int) or not -(1 << 15) <= value < 1 << 16:
            raise ArithmeticError(f"pair() must have two numbers of 16 bits, not {value!r}")
    return (int(low) & 0xFFFF) | (int(high) & 0xFFFF) << 16


def f32(value: Number) -> int:
    """Return the bits of a number rounded to fp32."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def _bf16(value: Number) -> int:
    return int(np.asarray(value, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16))


#: Functions by name, with their number of arguments.
_FUNCTIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "pair": (2, _pair), "f32": (1, f32), "bf16": (1, _bf16),
}


class Parser:
    """Reads expressions from tokens, the last of which is of kind "end".

    Parameters
    ----------
    tokens
        What to read.
    names
        What names stand for.
    """

    def __init__(self, tokens: list[Token], names: Names):
        self.tokens, self.names = tokens, names
        self.at = 0
        self._nested = 0

    @property
    def here(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.at]

    def take(self, text: str | None = None) -> Token:
        """Read a token, which must be ``text`` if that is given."""
        token = self.here
        if text is not None and (token.text != text or token.kind not in ("punctuation", "name")):
            raise Wrong(token.column, f"{text!r} must come here, not {token}")
        if token.kind != "end":
            self.at += 1
        return token

    def end(self) -> None:
        """Require that nothing is left."""
        if self.here.kind != "end":
            raise Wrong(self.here.column, f"the end of the argument must come here, "
                                          f"not {self.here}")

    def expression(self, level: int = 0) -> AsmValue:
        """Read an expression."""
        if level == len(_OPERATORS):
            return self._unary()
        left = self.expression(level + 1)
        while self.here.kind == "punctuation" and self.here.text in _OPERATORS[level]:
            token = self.take()
            right = self.expression(level + 1)
            left = self._apply(token, _OPERATORS[level][token.text], left, right)
        return left

    def integer(self) -> int:
        """Read an expression that must be an integer that is not relocated."""
        column = self.here.column
        value = self.expression()
        if value.relocated or not isinstance(value.number, int):
            what = "an address" if value.relocated else repr(value.number)
            raise Wrong(column, f"an integer must come here, not {what}")
        return value.number

    def _apply(self, token: Token, function: Callable[[Number, Number], Number], left: AsmValue,
               right: AsmValue) -> AsmValue:
        relocated = left.relocated or right.relocated
        if relocated and (token.text not in "+-" or right.relocated and (
                left.relocated or token.text == "-")):
            raise Wrong(token.column, f"an address must be used with + or - and a number, "
                                      f"not with {token}")
        try:
            return AsmValue(_bounded(function(left.number, right.number)), relocated)
        except ZeroDivisionError:
            raise Wrong(token.column, "a divisor must not be 0") from None
        except (ArithmeticError, ValueError) as error:
            raise Wrong(token.column, str(error)) from None

    def _unary(self) -> AsmValue:
        if self._nested > _MOST_NESTED:
            raise Wrong(self.here.column, f"parentheses, signs and functions must be nested at "
                                          f"most {_MOST_NESTED} deep")
        self._nested += 1
        value = self._operand()
        self._nested -= 1
        return value

    def _operand(self) -> AsmValue:
        token = self.take()
        if token.kind in ("int", "float"):
            assert not isinstance(token.value, str)
            try:
                return AsmValue(_bounded(token.value))
            except ArithmeticError as error:
                raise Wrong(token.column, str(error)) from None
        if token.text == "-" and token.kind == "punctuation":
            value = self._unary()
            if value.relocated:
                raise Wrong(token.column, "an address must not be negated")
            return AsmValue(-value.number)
        if token.text == "(" and token.kind == "punctuation":
            value = self.expression()
            self.take(")")
            return value
        if token.text == "@" and token.kind == "punctuation":
            return self._address()
        if token.kind == "name":
            return self._name(token)
        raise Wrong(token.column, f"a number, a name or '(' must come here, not {token}")

    def _address(self) -> AsmValue:
        token = self.here
        if token.kind in ("name", "string"):
            self.take()
            name = str(token.value)
            if name not in self.names.buffers:
                known = ", ".join(self.names.buffers) or "(there are none)"
                raise Wrong(token.column, f"buffer must be one of {known}, not {name!r}"
                                          f"{suggest(name, self.names.buffers)}")
            return AsmValue(self.names.buffers[name], True)
        value = self._unary()
        if value.relocated or not isinstance(value.number, int):
            raise Wrong(token.column, "a buffer or an offset must come after '@'")
        return AsmValue(value.number, True)

    def _name(self, token: Token) -> AsmValue:
        name = token.text
        if name in _FUNCTIONS and self.here.text == "(":
            return self._call(token)
        if name in self.names.constants:
            return AsmValue(self.names.constants[name])
        if name in self.names.labels:
            return AsmValue(self.names.labels[name])
        known = [*self.names.constants, *self.names.labels]
        raise Wrong(token.column, f"a name must be a label or a constant (.equ) from above, "
                                  f"not {name!r}{suggest(name, known)}")

    def _call(self, token: Token) -> AsmValue:
        count, function = _FUNCTIONS[token.text]
        self.take("(")
        arguments = [self.expression()]
        while self.here.text == ",":
            self.take()
            arguments.append(self.expression())
        self.take(")")
        if len(arguments) != count or any(value.relocated for value in arguments):
            raise Wrong(token.column, f"{token.text}() must have {count} numbers, "
                                      f"not {len(arguments)} arguments")
        try:
            return AsmValue(function(*(value.number for value in arguments)))
        except ArithmeticError as error:
            raise Wrong(token.column, str(error)) from None
