// Numbers of the architecture. Made by celosia_hw.soc.compact.arch_header from
// celosia.arch: change those tables, not this file.

#ifndef CELOSIA_ARCH_H
#define CELOSIA_ARCH_H

// Instructions.
#define INSTRUCTION_BYTES 32
#define NUM_OPERANDS 6
#define NUM_REGISTERS 32
#define NUM_STRIDES 8
#define LOOP_DEPTH 4
#define OPCODE_MASK 63
#define REGMASK_LSB 6
#define FIELDS_LSB 12
#define OPCODE_HALT 1
#define OPCODE_NOP 2
#define OPCODE_FENCE 3
#define OPCODE_MOV 4
#define OPCODE_ADD 5
#define OPCODE_SUB 6
#define OPCODE_MUL 7
#define OPCODE_AND 8
#define OPCODE_OR 9
#define OPCODE_XOR 10
#define OPCODE_SHL 11
#define OPCODE_SHR 12
#define OPCODE_SAR 13
#define OPCODE_SLT 14
#define OPCODE_SLTU 15
#define OPCODE_JUMP 16
#define OPCODE_BEQ 17
#define OPCODE_BNE 18
#define OPCODE_BLT 19
#define OPCODE_BGE 20
#define OPCODE_BLTU 21
#define OPCODE_BGEU 22
#define OPCODE_LOOP 24
#define OPCODE_STRIDE 25
#define OPCODE_READ 26
#define OPCODE_LOAD 32
#define OPCODE_STORE 33
#define OPCODE_MATMUL 36
#define OPCODE_VECTOR 40
#define UNIT_LOAD 0
#define UNIT_STORE 1
#define UNIT_MXU 2
#define UNIT_VPU 3
#define UNIT_SCALAR 4
#define NUM_UNITS 4  // tensor units
#define MEM_UB 0
#define MEM_ACC 1
#define DMA_I8 0
#define DMA_BF16 1
#define DMA_W32 2
#define MATMUL_INT8 0
#define MATMUL_BF16 1
#define FLOAT_NAN 0x7fc00000
#define FLOAT_INF 0x7f800000

// Shape of each opcode, 0 where there is none; of each shape: the bits of its fields
// in the two words of the header, and the number of its operands.
#define NUM_OPCODES 41  // the highest, and one
#define OPCODE_SHAPES {0, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5, 5, 5, 0, 6, \
    7, 3, 0, 0, 0, 0, 0, 8, 8, 0, 0, 9, 0, 0, 0, 10}
#define SHAPE_FIELDS {{0, 0}, {0x0, 0x0}, {0x1f000, 0x0}, {0x1f000, 0x0}, {0x0, 0x0}, {0x0, 0x0}, \
    {0x0, 0x0}, {0x7000, 0x0}, {0x7000, 0x0}, {0x1fff000, 0x0}, {0xfffff000, 0xffffffff}}
#define SHAPE_OPERANDS {0, 0, 1, 2, 1, 3, 2, 3, 5, 6, 6}

// Fields of the header, words 0 and 1 as one number: first bit, mask once shifted.
#define SCALAR_RD_LSB 12
#define SCALAR_RD_MASK 31
#define SCALAR_X_LSB 12
#define SCALAR_X_MASK 7
#define DMA_MEM_LSB 12
#define DMA_MEM_MASK 1
#define DMA_FMT_LSB 13
#define DMA_FMT_MASK 3
#define MATMUL_FMT_LSB 12
#define MATMUL_FMT_MASK 1
#define MATMUL_ACCUMULATE_LSB 13
#define MATMUL_ACCUMULATE_MASK 1
#define MATMUL_WLOAD_LSB 14
#define MATMUL_WLOAD_MASK 1
#define MATMUL_TRANSPOSE_LSB 15
#define MATMUL_TRANSPOSE_MASK 1
#define MATMUL_XACC_LSB 16
#define MATMUL_XACC_MASK 7
#define MATMUL_XACTS_LSB 19
#define MATMUL_XACTS_MASK 7
#define MATMUL_XW_LSB 22
#define MATMUL_XW_MASK 7
#define VECTOR_OP_LSB 12
#define VECTOR_OP_MASK 63
#define VECTOR_POST_LSB 18
#define VECTOR_POST_MASK 15
#define VECTOR_DST_KIND_LSB 22
#define VECTOR_DST_KIND_MASK 7
#define VECTOR_A_KIND_LSB 25
#define VECTOR_A_KIND_MASK 15
#define VECTOR_B_KIND_LSB 29
#define VECTOR_B_KIND_MASK 15
#define VECTOR_C_KIND_LSB 33
#define VECTOR_C_KIND_MASK 15
#define VECTOR_XDST_LSB 37
#define VECTOR_XDST_MASK 7
#define VECTOR_XA_LSB 40
#define VECTOR_XA_MASK 7
#define VECTOR_XB_LSB 43
#define VECTOR_XB_MASK 7
#define VECTOR_XC_LSB 46
#define VECTOR_XC_MASK 7
#define VECTOR_N2_LSB 49
#define VECTOR_N2_MASK 1023
#define VECTOR_REDUCE_LSB 59
#define VECTOR_REDUCE_MASK 3
#define VECTOR_REDUCE_OP_LSB 61
#define VECTOR_REDUCE_OP_MASK 7
#define VECTOR_KINDS_LSB 25
#define VECTOR_KINDS_MASK 4095
#define VECTOR_KIND_BITS 4
#define VECTOR_STRIDES_LSB 37
#define VECTOR_STRIDES_MASK 4095
#define VECTOR_STRIDE_BITS 3
#define DMA_OPERAND_ROW 0
#define DMA_OPERAND_ADDR 1
#define DMA_OPERAND_SHAPE 2
#define DMA_OPERAND_PITCH 3
#define DMA_OPERAND_STEPS 4
#define MATMUL_OPERAND_ACC 0
#define MATMUL_OPERAND_ACTS 1
#define MATMUL_OPERAND_W 2
#define MATMUL_OPERAND_COUNTS 3
#define MATMUL_OPERAND_N2 4
#define MATMUL_OPERAND_WROWS 5
#define VECTOR_OPERAND_DST 0
#define VECTOR_OPERAND_A 1
#define VECTOR_OPERAND_B 2
#define VECTOR_OPERAND_C 3
#define VECTOR_OPERAND_COUNTS 4
#define VECTOR_OPERAND_PARAM 5

// Names of the vector unit.
#define OP_MOV 0
#define OP_IADD 1
#define OP_ISUB 2
#define OP_IMUL 3
#define OP_IMAX 4
#define OP_IMIN 5
#define OP_REQUANT 6
#define OP_AND 8
#define OP_OR 9
#define OP_XOR 10
#define OP_NOT 11
#define OP_SHL 12
#define OP_SHR 13
#define OP_SAR 14
#define OP_SELECT 15
#define OP_IEQ 16
#define OP_INE 17
#define OP_ILT 18
#define OP_ILE 19
#define OP_IGT 20
#define OP_IGE 21
#define OP_TRANSPOSE 24
#define OP_ROTATE 25
#define OP_GATHER 26
#define OP_SCATTER 27
#define OP_FADD 32
#define OP_FSUB 33
#define OP_FMUL 34
#define OP_FFMA 35
#define OP_FMAX 36
#define OP_FMIN 37
#define OP_FABS 38
#define OP_FNEG 39
#define OP_FEQ 40
#define OP_FNE 41
#define OP_FLT 42
#define OP_FLE 43
#define OP_FGT 44
#define OP_FGE 45
#define OP_ISFINITE 46
#define OP_I2F 47
#define OP_FMULC 48
#define POST_NONE 0
#define POST_RELU_I 1
#define POST_CLAMP_I 2
#define POST_RELU_F 3
#define POST_CLAMP_F 4
#define POST_SQUARE 5
#define POST_EXP2 6
#define POST_LOG2 7
#define POST_RECIP 8
#define POST_RSQRT 9
#define POST_F2I 10
#define POST_F2I_FLOOR 11
#define POST_F2I_TRUNC 12
#define POST_SQRT 13
#define POST_DIV 14
#define REDUCE_NONE 0
#define REDUCE_ROWS 1
#define REDUCE_LANES 2
#define REDUCE_COLLECT 3
#define JOIN_SUM_I 0
#define JOIN_MAX_I 1
#define JOIN_MIN_I 2
#define JOIN_AND 3
#define JOIN_OR 4
#define JOIN_SUM_F 5
#define JOIN_MAX_F 6
#define JOIN_MIN_F 7
#define SRC_NONE 0
#define SRC_ACC 1
#define SRC_UB_I8 2
#define SRC_UB_BF16 3
#define SRC_ACC_ROW 4
#define SRC_UB_I8_ROW 5
#define SRC_UB_BF16_ROW 6
#define SRC_SCALAR 7
#define SRC_LANE_INDEX 8
#define SRC_ACC_LANE 9
#define SRC_UB_I8_LANE 10
#define SRC_UB_BF16_LANE 11
#define SRC_ACC_LANE_ROW 12
#define SRC_UB_I8_LANE_ROW 13
#define SRC_UB_BF16_LANE_ROW 14
#define SRC_ROW_INDEX 15
#define DST_ACC 0
#define DST_UB_I8 1
#define DST_UB_BF16 2
#define LANE_LSB 24
#define TABLE_LIMIT 65535

// Sets of names, a bit for each; those of operations with fp32 numbers begin with
// the first of these.
#define INT8_OPS 0xf3fff7fu
#define NUM_FLOAT_OPS 17
#define FLOAT_UNARY_OPS 0xc0c0u
#define FLOAT_TERNARY_OPS 0x8u
#define ALL_POSTS 0x7fffu
#define FLOAT_POSTS 0x7ff8u
#define ALL_JOINS 0xffu
#define FLOAT_JOINS 0xe0u
#define ALL_SOURCES 0xffffu
#define BF16_SOURCES 0x4848u
#define ALL_DESTINATIONS 0x7u
#define BF16_DESTINATIONS 0x4u
#define UNARY_OPS 0x1000801u
#define TERNARY_OPS 0x8040u
#define MOVEMENT_OPS 0xf000000u
#define INDEXED_OPS 0xc000000u
#define PARAM_POSTS 0x14u
#define STREAM_SOURCES 0xe0eu
#define ROW_SOURCES 0x7070u
#define LANE_SOURCES 0x7e00u
#define ACC_SOURCES 0x1212u

// Causes of faults.
#define FAULT_NONE 0
#define FAULT_ILLEGAL_OPCODE 1
#define FAULT_ILLEGAL_FIELD 2
#define FAULT_ILLEGAL_COUNT 3
#define FAULT_UB_RANGE 4
#define FAULT_ACC_RANGE 5
#define FAULT_WINDOW 6
#define FAULT_MISALIGNED 7
#define FAULT_OVERLAP 8
#define FAULT_PC_RANGE 9
#define FAULT_LOOP_DEPTH 10
#define FAULT_BUS_READ 11
#define FAULT_BUS_WRITE 12
#define FAULT_BUS_FETCH 13
#define FAULT_WATCHDOG 14
#define FAULT_INDEX_RANGE 15

// Registers: offsets, and values of some.
#define REGISTER_MAGIC 0
#define REGISTER_VERSION 4
#define REGISTER_FINGERPRINT 8
#define REGISTER_DIM 12
#define REGISTER_FORMATS 16
#define REGISTER_UB_ROWS 20
#define REGISTER_ACC_ROWS 24
#define REGISTER_BUS_BYTES 28
#define REGISTER_WINDOW 32
#define REGISTER_IBUF 36
#define REGISTER_CONTROL 64
#define REGISTER_STATUS 68
#define REGISTER_IRQ_ENABLE 72
#define REGISTER_IRQ_STATUS 76
#define REGISTER_PROGRAM 80
#define REGISTER_LENGTH 84
#define REGISTER_WATCHDOG 88
#define REGISTER_FAULT_CAUSE 96
#define REGISTER_FAULT_PC 100
#define REGISTER_FAULT_ADDR 104
#define REGISTER_PC 108
#define REGISTER_WINDOW0_BASE 128
#define REGISTER_WINDOW0_LAST 132
#define REGISTER_WINDOW1_BASE 136
#define REGISTER_WINDOW1_LAST 140
#define REGISTER_WINDOW2_BASE 144
#define REGISTER_WINDOW2_LAST 148
#define REGISTER_WINDOW3_BASE 152
#define REGISTER_WINDOW3_LAST 156
#define REGISTER_WINDOWS 128  // base and last of each, in order
#define NUM_WINDOWS 4
#define MAGIC 0x41534c43
#define ISA_VERSION 2
#define ADDRESS_BITS 12
#define PROGRAM_ALIGN 128
#define COUNTER_BITS 48
#define CONTROL_START 1
#define CONTROL_RESET 2
#define STATUS_IDLE 0
#define STATUS_RUNNING 1
#define STATUS_DONE 2
#define STATUS_FAULTED 3
#define STATUS_RESETTING 4
// A bit for each of the first 64 words: whether it is a register, and whether the
// host may write it.
#define READABLE_WORDS {0xf7f03ffu, 0xffu}
#define WRITABLE_WORDS {0x7d0000u, 0xffu}

// Counters: the low word of counter i is at COUNTERS + 8 * i, the high one behind.
#define COUNTERS 512
#define NUM_COUNTERS 46
#define COUNTER_CYCLES 0
#define COUNTER_INSTRUCTIONS 1
#define COUNTER_BYTES_READ 2
#define COUNTER_BYTES_WRITTEN 3
#define COUNTER_UNITS 4  // of unit u: NUM_ACTIVITIES from COUNTER_UNITS + u * NUM_ACTIVITIES on
#define NUM_ACTIVITIES 6
#define ACTIVITY_IDLE 0
#define ACTIVITY_BUSY 1
#define ACTIVITY_WAIT_DEPS 2
#define ACTIVITY_WAIT_MEMORY 3
#define ACTIVITY_WAIT_BUS 4
#define ACTIVITY_WAIT_UNIT 5

// The host link; fields of headers and identity: the first of their bytes.
#define LINK_PROTOCOL_VERSION 1
#define LINK_MAGIC 0x4b4e4c43
#define LINK_CRC_BYTES 4
#define LINK_SEQUENCE_BITS 8
#define LINK_WINDOW 8
#define LINK_MAX_PAYLOAD 512
#define LINK_WORD_BYTES 4
#define LINK_PAGE_BYTES 4096
#define LINK_REPLY 128
#define LINK_FLAG 126
#define LINK_ESCAPE 125
#define LINK_ESCAPE_XOR 32
#define LINK_REQUEST_BYTES 8  // of its header
#define LINK_REPLY_BYTES 2  // of its header
#define LINK_IDENTITY_BYTES 24
#define REQUEST_SEQUENCE 0  // bytes: 1
#define REQUEST_KIND 1  // bytes: 1
#define REQUEST_COUNT 2  // bytes: 2
#define REQUEST_ADDRESS 4  // bytes: 4
#define REPLY_SEQUENCE 0  // bytes: 1
#define REPLY_KIND 1  // bytes: 1
#define IDENTITY_MAGIC 0  // bytes: 4
#define IDENTITY_VERSION 4  // bytes: 2
#define IDENTITY_BUS_BYTES 6  // bytes: 2
#define IDENTITY_BUFFER_BYTES 8  // bytes: 4
#define IDENTITY_MEMORY_PAGES 12  // bytes: 4
#define IDENTITY_FINGERPRINT 16  // bytes: 4
#define IDENTITY_SESSION 20  // bytes: 4
#define KIND_HELLO 1
#define KIND_POLL 2
#define KIND_READ_REGISTER 3
#define KIND_WRITE_REGISTER 4
#define KIND_READ_MEMORY 5
#define KIND_WRITE_MEMORY 6
#define KIND_AGAIN 7
#define LINK_STATUS_REFUSED 4
#define LINK_STATUS_NO_SESSION 8
#define LINK_STATUS_INTERRUPT 128
#define RESPONSE_OKAY 0
#define RESPONSE_SLVERR 2
#define RESPONSE_DECERR 3
// CRC-32/ISO-HDLC: reflected; begins with ones, and is inverted at the end.
#define CRC_POLYNOMIAL 0xedb88320u
#define CRC_RESIDUE 0xdebb20e3u

// The sequencer's addresses.
#define FIRMWARE_BASE 0
#define UNIFIED_BUFFER_BASE 0x10000000
#define ACCUMULATORS_BASE 0x20000000
#define EXTERNAL_BASE 0x30000000
#define DEVICES_BASE 0x40000000
#define BOOT_BASE 0x50000000
#define DEVICE_UART_RECEIVE 0x40000000
#define DEVICE_UART_SEND 0x40000004
#define DEVICE_CYCLES_LOW 0x40000008
#define DEVICE_CYCLES_HIGH 0x4000000c
#define DEVICE_LIGHTS 0x40000010
#define DEVICE_FLASH 0x40000014
#define ENGINE_START 0x40000080
#define ENGINE_ACTS_ROW 0x40000084
#define ENGINE_ACTS_STEP 0x40000088
#define ENGINE_ACC_ROW 0x4000008c
#define ENGINE_ACC_STEP 0x40000090
#define ENGINE_WEIGHTS 0x400000c0
#define ENGINE_ACCUMULATE_BIT 16
#define ENGINE_FORMAT_BIT 17

#endif
