"""Each mistake is named, with its place and what is close."""

import pytest

from celosia.arch.config import preset
from celosia.arch.vector import Src, VectorOp
from celosia.program.asm import AsmError, assemble

CASES = [
    ("mathmul acc[0]", 1, "an instruction must come here, not 'mathmul'; did you mean 'matmul'?"),
    ("5", 1, "an instruction must come here, not '5'"),
    ("load ubb[0], 5, rows=4", 6, "mem must be one of ub, acc, not 'ubb'; did you mean 'ub'?"),
    ("load ub[0], 5, row=4", 16, "row must be given once"),
    ("load ub[0], 5, rwos=4", 16,
     ("load takes mem, fmt, row, addr, shape, rows, cols, pitch, steps, row_step, group_step, not "
     "'rwos'; did you mean 'rows'?")),
    ("load ub[0], 5, fmt=i16", 20, "fmt must be one of i8, bf16, w32, not 'i16'"),
    ("load ub[0], 5, fmt=4", 20, "fmt must be from 0 to 3, not 4"),
    ("load ub[0], 5, rows=r4", 21, ("rows must be a number, not 'r4'; a register holds the "
                                    "whole of shape")),
    ("load ub[0], 5, cols=65536", 21, "cols must be from 0 to 65535, not 65536"),
    ("load ub[0], 5, shape=r1, cols=4", 26, "cols is a part of shape, which is given already"),
    ("load ub[0], 5, cols=4, shape=r1", 24, "cols is a part of shape, which is given already"),
    ("load ub[0], 5, cols=4", 1, "load: shape needs rows"),
    ("load ub[0, x1], 5", 12, "row has no stride register, ']' must come here, not 'x1'"),
    ("load ub[0], 1.5, rows=1", 13, "addr must be an integer, not 1.5"),
    ("load ub[0], 0x100000000", 13, "addr must be from -2147483648 to 4294967295, not 4294967296"),
    ("load ub[0, 5", 12, "row has no stride register, ']' must come here, not '5'"),
    ("load ub[0", 10, "']' must come here, not the end of the line"),
    ("add r1, r32, 5", 9, "a register r0..r31 must come here, not 'r32'"),
    ("add x1, r2, 5", 5, "a register r0..r31 must come here, not 'x1'"),
    ("add r1, r2", 1, "add needs b"),
    ("add r1, r2, 3, 4", 16, "add takes name=value here (), not '4'"),
    ("halt 5", 6, "halt must end here, not go on with '5'"),
    ("stride x8, 1", 8, "a register x0..x7 must come here, not 'x8'"),
    ("matmul acc[0], acc[0], n0=4", 16, "acts must be ub[row], not 'acc'"),
    ("matmul acc[0, r1], ub[0]", 15, "a register x0..x7 must come here, not 'r1'"),
    ("matmul acc[0], acumulate, ub[0]", 16, ("a flag must be one of accumulate, wload, transpose, "
                                            "not 'acumulate'; did you mean 'accumulate'?")),
    ("matmul acc[0], ub[0], ub[4], trasnpose", 30,
     ("matmul takes name=value here (fmt, accumulate, wload, transpose, xacc, xacts, xw, counts, "
     "n0, n1, n2, wrows), not 'trasnpose'; did you mean 'transpose'?")),
    ("matmul acc[0], ub[0], accumulate, accumulate", 35, "accumulate must be given once"),
    ("matmul acc[0], ub[0], n0=4, wrows=", 35, ("a number, a name or '(' must come here, not the "
                                               "end of the line")),
    ("vector fad, acc[0], acc[4]", 8,
     (f"op must be one of {', '.join(op.name.lower() for op in VectorOp)}, not 'fad'; did you mean "
      "'fadd'?")),
    ("vector fadd, acc[0], 5", 22,
     (f"a must be one of {', '.join(f'{src.name.lower()}[...]' for src in Src)}, not '5'")),
    ("vector mov, acc[0], acc[0], n0=1, n2=1024", 38, "n2 must be from 0 to 1023, not 1024"),
    ("vector mov, acc[0], acc[0], reduce=row", 36, ("reduce must be one of none, rows, lanes, "
                                                    "collect, not 'row'; did you mean 'rows'?")),
    ("vector mov, acc[0], acc_lane[0, lane=256]", 38, "lane must be from 0 to 255, not 256"),
    ("vector mov, acc[0], acc_lane[1 << 24, lane=1]", 39,
     "a must be from 0 to 16777215, not 16777216"),
    ("vector mov, acc[0], acc_lane[r1, lane=1]", 34,
     "lane must come after a row that is a number, not after a register"),
    ("vector mov, acc[0], acc_lane_row[@x, lane=1]", 38,
     "lane must come after a row that is a number, not after an address"),
    ("vector mov, acc[0], acc[1, lane=1]", 28, "a register x0..x7 must come here, not 'lane'"),
    ("vector mov, acc[0], acc_lane[1, lane=1, x1]", 39, "']' must come here, not ','"),
    ("read r1, 5, acc[3]", 13, "lane must be a number or a register, not 'acc'"),
    ("vector mov, acc[0], acc[0], n2=x1", 32, "n2 must be a number, not 'x1'"),
    ("vector mov, acc[0], acc[0], zp=-129", 32, "zp must be from -128 to 127, not -129"),
    ("jump strat", 6, ("a name must be a label or a constant (.equ) from above, not 'strat'; did "
                      "you mean 'start'?")),
    ('mov r1, "x', 9, "a string must end with '\"' on its line"),
    ("mov r1, $5", 9, "a token must begin here, not '$'"),
    ("mov r1, 0x_", 9, "int must be well formed, not '0x_'"),
    ("add r1, 5 + , 4", 13, "a number, a name or '(' must come here, not the end of the line"),
    ("add r1, (5, 4", 11, "')' must come here, not ','"),
    ("add r1, 5 6, 4", 11, "the end of the argument must come here, not '6'"),
    ("add r1, 5/3, 4", 10, "5 / 3 must have no remainder"),
    ("add r1, 5/0, 4", 10, "a divisor must not be 0"),
    ("add r1, 1 << -1, 4", 11, "negative shift count"),
    ("add r1, 1 << 70000, 4", 11, "an integer must have at most 4096 bits"),
    ("add r1, 1 << 99999999999999999999, 4", 11, "an integer must have at most 4096 bits"),
    ("load ub[0], 5, fmt=@4", 20, "an integer must come here, not an address"),
    ("add r1, @y, 4", 10, "buffer must be one of x, w, not 'y'"),
    ("add r1, @x * 2, 4", 12, "an address must be used with + or - and a number, not with '*'"),
    ("add r1, -@x, 4", 9, "an address must not be negated"),
    ("add r1, @x - 1 - 1, 4", 9, "a must be from 0 to 4294967295, not -2"),
    ("add r1, @@x, 4", 10, "a buffer or an offset must come after '@'"),
    ("mov r1, pair(1)", 9, "pair() must have 2 numbers, not 1 arguments"),
    ("mov r1, pair(1, 65536)", 9, "pair() must have two numbers of 16 bits, not 65536"),
    (".foo 5", 1, ("a directive must be one of .chip, .name, .equ, .arena, .buffer, .data, .bytes, "
                  ".source, not '.foo'")),
    (".chip cor", 7, ("preset must be one of pico, nano, edge, core4, core, v2, v1, not 'cor'; did "
                     "you mean 'core'?")),
    (".chip core, 5", 1, "'.chip' must have a preset or a fingerprint, not 2 arguments"),
    (".chip -1", 7, "a number from 0 to 4294967295 must come here, not -1"),
    (".name 5", 7, "a name or a string must come here, not '5'"),
    (".equ r1 5", 6, "a name that is no register must come here, not 'r1'"),
    (".equ start 5", 6, "'start' must be defined once"),
    (".equ M @x", 8, "a constant must be a number, not an address"),
    (".arena 1.5", 8, "an integer must come here, not 1.5"),
    (".buffer y, int16[4], input", 12, ("type must be one of int8, int32, float32, bfloat16, not "
                                       "'int16'; did you mean 'int8'?")),
    (".buffer y, int8[4], inptu", 21, ("kind must be one of input, output, constant, scratch, not "
                                      "'inptu'; did you mean 'input'?")),
    (".buffer y, int8[4 4], input", 19, "',' must come here, not '4'"),
    (".buffer y, int32[4], input, 2", 1, ("Buffer.offset of y must be a multiple of 4 from 0 on, "
                                         "not 2")),
    (".buffer y, int8[99999999999999999999], input", 1,
     "Buffer.shape of y must hold sizes of at most 4294967295, not (99999999999999999999,)"),
    (".buffer y, int8[65536, 65536], constant", 1,
     "buffer y must end at 4294967295 or before, not at 4294967424"),
    (".buffer x, int8[4], input", 9, "buffer 'x' must be defined once"),
    (".buffer y", 1, ("'.buffer' must have a name, a type with its shape, a kind and perhaps an "
                     "offset, not 1 arguments")),
    (".data x, 1", 7, "constant must be one of w, not 'x'"),
    (".data w, 128", 10, "a value of w must be an integer from -128 to 127, not 128"),
    (".data", 1, "'.data' must have a name and values"),
    ('.bytes w, "0"', 11, "a string of pairs of hexadecimal digits must come here, not '\"0\"'"),
    ("start: nop", 1, "label 'start' must be defined once"),
    ("r5: nop", 1, "a name that is no register must come here, not 'r5'"),
]
HEAD = "start: .buffer x, int8[4], input\n.buffer w, int8[2], constant\n"


@pytest.mark.parametrize(("line", "column", "message"), CASES, ids=[case[0] for case in CASES])
def test_mistake(line, column, message):
    with pytest.raises(AsmError) as caught:
        assemble(HEAD + line + "\n", preset("core"), filename="a.s")
    assert str(caught.value) == f"a.s:3:{column}: {message}\n  {line}\n  {' ' * (column - 1)}^"
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.text) == (3, column, line)


@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("-", ""), ("@", ""), ("f32(", ")")])
def test_nesting_has_a_limit(before, after):
    def text(deep):
        return f".chip core\n.equ deep, {before * deep}1{after * deep}"

    column = 12 + 65 * len(before)
    with pytest.raises(AsmError) as caught:
        assemble(text(5000), filename="a.s")
    assert str(caught.value).splitlines()[0] == (
        f"a.s:2:{column}: parentheses, signs and functions must be nested at most 64 deep")
    if before in "(-":
        assert assemble(text(64) + "\nhalt").insns


def test_integer_that_no_float_holds():
    line = f".data f, 1{'0' * 400}"
    with pytest.raises(AsmError) as caught:
        assemble(f".buffer f, float32[1], constant\n{line}\n", preset("core"), filename="a.s")
    assert str(caught.value) == (f"a.s:2:10: a value of f must fit fp64, not be an integer of 1329 "
                                 f"bits\n  {line}\n           ^")


def test_every_mistake_is_reported_up_to_twenty():
    with pytest.raises(AsmError) as caught:
        assemble("nop\nfoo\n\tbar 1 ; comment\n" + "baz\n" * 30, preset("core"))
    assert len(caught.value.problems) == 20
    assert str(caught.value).startswith(
        "<text>:2:1: an instruction must come here, not 'foo'\n  foo\n  ^\n"
        "<text>:3:2: an instruction must come here, not 'bar'; did you mean 'sar'?\n"
        "  \tbar 1 ; comment\n  \t^\n")


def test_program_as_a_whole():
    with pytest.raises(AsmError) as caught:
        assemble("halt")
    assert str(caught.value) == ("<text>:1:1: a program must have .chip with a preset or a "
                                 "fingerprint, but it has none\n  \n  ^")
    with pytest.raises(AsmError) as caught:
        assemble(".chip core\n.buffer w, int8[2], constant\n.data w, 1")
    assert str(caught.value) == "<text>:3:1: constant w must have 2 bytes, not 1\n  \n  ^"


def test_a_literal_of_too_many_digits():
    with pytest.raises(AsmError, match="an integer must have at most 4096 bits"):
        assemble(f"add r1, 0x{'f' * 2000}, 4", preset("core"))
