"""What docs/isa.md says beside the tables of `celosia.arch`: examples, and meanings in words."""

from celosia.arch.isa import DmaFormat
from celosia.arch.vector import OPERATIONS, Dst, Post, Reduce, ReduceOp, Src, VectorOp

__all__ = ["DIRECTIVES", "DMA", "DSTS", "EXAMPLES", "JOINS", "OPS", "POSTS", "PROGRAM", "REDUCES",
           "SRCS", "VECTORS"]

#: A whole program: y = x w.
PROGRAM = """\
        .chip   core
        .equ    M, 64
        .buffer x, int8[M, 64], input
        .buffer w, int8[64, 16], input
        .buffer y, int32[M, 16], output
        load    ub[0], @x, fmt=i8, rows=M, cols=64, pitch=64, group_step=M
        load    ub[256], @w, fmt=i8, rows=64, cols=16, pitch=16
        matmul  acc[0], ub[0], ub[256], fmt=int8, n0=M, wrows=16
        mov     r1, M                       ; row of the next 16 columns of x
        mov     r2, 256 + 16                # row of the next weight tile
        loop    3, done
        matmul  acc[0], ub[r1], ub[r2], fmt=int8, accumulate, n0=M, wrows=16
        add     r1, r1, M
        add     r2, r2, 16
done:   store   acc[0], @y, fmt=w32, rows=M, cols=16, pitch=16*4
        halt
"""

#: Assembly of each instruction, with what it does.
EXAMPLES: dict[str, tuple[str, str]] = {
    "halt": ("halt", "the end"),
    "nop": ("nop", "nothing"),
    "fence": ("fence", "all before has finished when the next one starts"),
    "mov": ("mov r1, 1.0", "r1 = 0x3f800000, the bits of an fp32"),
    "add": ("add r1, r1, -16", "r1 -= 16"),
    "sub": ("sub r1, 0, r2", "r1 = -r2"),
    "mul": ("mul r3, r1, 64", "r3 = 64 * r1"),
    "and": ("and r1, r1, 0xff", "r1 = its lowest byte"),
    "or": ("or r1, r1, r2", "r1 |= r2"),
    "xor": ("xor r1, r1, -1", "r1 = ~r1"),
    "shl": ("shl r1, r1, 4", "r1 *= 16"),
    "shr": ("shr r1, r1, 4", "r1 /= 16, unsigned"),
    "sar": ("sar r1, r1, 4", "r1 /= 16, signed, towards minus infinity"),
    "slt": ("slt r1, r2, 0", "r1 = r2 is negative"),
    "sltu": ("sltu r1, r2, 64", "r1 = r2 is below 64"),
    "jump": ("jump 0", "once more from the first instruction"),
    "beq": ("beq r1, 0, 5", "to instruction 5 if r1 is 0"),
    "bne": ("bne r1, r2, 5", "to instruction 5 if they differ"),
    "blt": ("blt r1, -1, 5", "to instruction 5 if r1 is below -1"),
    "bge": ("bge r1, r2, 5", "to instruction 5 if r1 is not below r2"),
    "bltu": ("bltu r1, 64, 5", "to instruction 5 if r1 is below 64"),
    "bgeu": ("bgeu r1, r2, 5", "to instruction 5 if r1 is not below r2"),
    "loop": ("loop 8, 3", "what lies between here and instruction 3, eight times"),
    "stride": ("stride x1, 2, 64", "x1: every second row, 64 rows from one run to the next"),
    "read": ("read r1, acc[r2], 3", "r1 = lane 3 of the accumulator row that r2 holds"),
    "load": ("load ub[0], 0x1000, fmt=i8, rows=64, cols=32, pitch=32, group_step=64",
             "an int8 matrix 64 x 32 at 0x1000; columns 16 to 31 go to row 64 on (D = 16)"),
    "store": ("store acc[0], 0x4000, fmt=w32, rows=64, cols=16, pitch=64",
              "64 rows of 16 words to 0x4000"),
    "chip": ("chip r1", "r1 = the number of this chip"),
    "send": ("send acc[0, x1], fmt=w32, port=2, tag=7, n0=16",
             "16 rows, x1 apart, as words to the chip at port 2"),
    "recv": ("recv sum_f, acc[64], fmt=w32, port=3, tag=7, n0=16",
             "what the chip at port 3 sends is added to rows 64 to 79"),
    "matmul": ("matmul acc[0], ub[r1], ub[256], fmt=int8, accumulate, n0=64, wrows=16",
               "64 rows from row r1 times the tile at row 256, added to the accumulators"),
    "vector": ("vector fmul, acc[0], acc[0], scalar[0.5], post=relu_f, n0=64",
               "halve 64 rows, then cut off what is negative"),
}

#: More vector instructions, with what they do.
VECTORS: tuple[tuple[str, str], ...] = (
    ("vector ffma, ub_bf16[0], acc[0], acc_row[96], acc_row[97], post=relu_f, n0=64",
     "scale and shift each column, cut off, round to bf16"),
    ("vector fmul, acc[0], acc[0], acc_lane[64, lane=3], n0=8",
     "each row times lane 3 of its row from 64 on"),
    ("vector select, acc[0], acc[64], acc[0], scalar[-1e30], n0=8",
     "keep what the mask at row 64 marks"),
    ("vector fsub, acc[64], acc[0], acc_row[40], post=exp2, reduce=rows, reduce_op=sum_f, n0=16",
     "row 64 = the sum of 16 rows of 2**(a - b)"),
    ("vector mov, acc[64], acc[0], reduce=lanes, reduce_op=max_f, n0=16",
     "every lane of row 64 + i = the largest lane of row i"),
    ("vector mov, acc[64], acc[0], reduce=collect, reduce_op=sum_i, n0=16, n1=4",
     "lane i of row 64 + k = the sum of the lanes of row 16k + i (D = 16)"),
    ("vector transpose, ub_bf16[0], ub_bf16[64], n0=16, n1=4", "four tiles, D = 16"),
    ("vector rotate, acc[0], acc[0], scalar[1], n0=4", "every lane gets that of the next one"),
    ("vector gather, acc[0], ub_bf16[100], acc[60], n0=16, n1=2, param=256",
     "32 rows of a table of 256, which the lanes of rows 60 and 61 name"),
    ("vector scatter, acc[0], acc[200], acc[160], n0=16, n1=2, param=100",
     "32 rows to places in rows 0 to 99"),
    ("vector ieq, acc[0], lane_index[0], acc_lane[60], n0=16",
     "a mask where the number of the lane is that in lane 0: one-hot"),
)

#: What each operation, second stage, reduction, source and destination of the vector unit does.
OPS: dict[VectorOp, str] = {op: each.means for op, each in OPERATIONS.items()}
POSTS: dict[Post, str] = {
    Post.NONE: "t",
    Post.RELU_I: "max(t, 0), signed",
    Post.CLAMP_I: "min(max(t, lo), hi), signed; lo and hi int16 in param",
    Post.RELU_F: "max(t, +0); NaN stays NaN",
    Post.CLAMP_F: "min(max(t, lo), hi); lo and hi bf16 in param",
    Post.SQUARE: "t * t",
    Post.EXP2: "2**t",
    Post.LOG2: "logarithm of t to base 2; NaN below zero, -inf of a zero",
    Post.RECIP: "1 / t; infinity with the sign of a zero",
    Post.RSQRT: "1 / sqrt(t); NaN below zero, infinity with the sign of a zero",
    Post.F2I: "fp32 t as int32: nearest even, saturating; NaN gives 0",
    Post.F2I_FLOOR: "likewise, rounded towards minus infinity",
    Post.F2I_TRUNC: "likewise, rounded towards zero",
    Post.SQRT: "sqrt(t); NaN below zero, a zero of its sign",
    Post.DIV: "c / t; infinity where t is a zero, NaN of two zeros or infinities",
}
REDUCES: dict[Reduce, str] = {
    Reduce.NONE: "nothing; `reduce_op` must be 0",
    Reduce.ROWS: "each group of n0 rows becomes one row: ((r0 op r1) op r2) .., lane by lane; the "
                 "destination walks n1 and n2 alone",
    Reduce.LANES: "every lane of a row gets the lanes of the row joined: lanes 2i and 2i + 1, then "
                  "neighbours of those, and so on",
    Reduce.COLLECT: "the lanes of a row joined likewise; that of row i0 of a group of n0 <= D rows "
                    "goes to lane i0 of the group's one row, the lanes from n0 on are 0; the "
                    "destination walks n1 and n2 alone",
}
JOINS: dict[ReduceOp, str] = {
    ReduceOp.SUM_I: "a + b mod 2**32",
    ReduceOp.MAX_I: "the larger, signed",
    ReduceOp.MIN_I: "the smaller, signed",
    ReduceOp.AND: "a & b",
    ReduceOp.OR: "a | b",
    ReduceOp.SUM_F: "a + b as fadd; the earlier row or lower lane is a",
    ReduceOp.MAX_F: "as fmax",
    ReduceOp.MIN_F: "as fmin",
}
SRCS: dict[Src, str] = {
    Src.NONE: "no operand",
    Src.ACC: "accumulators, 32 bits as they are",
    Src.UB_I8: "unified buffer, int8 extended to int32 by its sign",
    Src.UB_BF16: "unified buffer, bf16 widened to fp32 (exactly, subnormals too)",
    Src.ACC_ROW: "as acc, the same row for every row of the walk",
    Src.UB_I8_ROW: "as ub_i8, the same row for every row of the walk",
    Src.UB_BF16_ROW: "as ub_bf16, the same row for every row of the walk",
    Src.SCALAR: "the operand word itself, for every lane of every row",
    Src.LANE_INDEX: "the operand word plus the number of the lane, mod 2**32",
    Src.ACC_LANE: "as acc, one lane of each row for all its lanes",
    Src.UB_I8_LANE: "as ub_i8, one lane of each row for all its lanes",
    Src.UB_BF16_LANE: "as ub_bf16, one lane of each row for all its lanes",
    Src.ACC_LANE_ROW: "as acc_row, one lane of it for all lanes",
    Src.UB_I8_LANE_ROW: "as ub_i8_row, one lane of it for all lanes",
    Src.UB_BF16_LANE_ROW: "as ub_bf16_row, one lane of it for all lanes",
    Src.ROW_INDEX: "the operand word plus the number of the row of the walk (0, 1, ..), mod 2**32",
}
DSTS: dict[Dst, str] = {
    Dst.ACC: "accumulators, 32 bits as they are",
    Dst.UB_I8: "unified buffer: int32 saturated to int8",
    Dst.UB_BF16: "unified buffer: fp32 rounded to bf16, nearest even; subnormals become zero",
}
#: For each format: bytes of an element, what it is in the unified buffer, in the accumulators.
DMA: dict[DmaFormat, tuple[int, str, str]] = {
    DmaFormat.I8: (1, "the int8 itself", "int32; store saturates"),
    DmaFormat.BF16: (2, "the 16 bits themselves", ("fp32, exactly; store rounds to nearest even, "
                                                   "subnormals become zero")),
    DmaFormat.W32: (4, "fp32, rounded to bf16 by load and widened by store",
                    "the 32 bits themselves"),
}
#: Directives of the assembler, with what they do.
DIRECTIVES = (
    (".chip core", "preset, or fingerprint, that the program is for"),
    (".name mlp", "name of the program, for messages"),
    (".equ M, 64", "a constant; used after this line"),
    (".buffer x, int8[M, 16], input",
     ("tensor in the arena: name, type (int8, int32, float32, bfloat16) with its shape, kind "
      "(input, output, constant, scratch) and perhaps its offset (else the next multiple of 64)")),
    (".arena 8192", "bytes of the arena (else up to the end of the last buffer)"),
    (".data w, 1, -2", "goes on with the contents of a constant (else zeros)"),
    ('.bytes w, "00ff"', "likewise, bytes in hexadecimal"),
    ('.source "dot mlp.py:3"', "what the instructions from here on come from, for faults"),
)
