// From 32 bytes to an instruction, with every check that needs no register's value. The order of
// these does not show: all but that of the opcode are ILLEGAL_FIELD.

#include "execute.h"

static const uint8_t shapes[] = OPCODE_SHAPES;
static const uint32_t shape_fields[][2] = SHAPE_FIELDS;
static const uint8_t shape_operands[] = SHAPE_OPERANDS;

static bool is_zero(const struct instruction *instruction, uint32_t operand) {
    return (instruction->mask >> operand & 1) == 0 && instruction->values[operand] == 0;
}

// Of a set of all values, and those that need bf16.
#define LEGAL(all, with_bf16) ((all) & ~(HAS_BF16 ? 0 : (with_bf16)))

static bool dma_is_legal(const struct instruction *instruction) {
    uint32_t format = FIELD(instruction, DMA_FMT);
    if (HAS_BF16) {
        return format <= DMA_W32;
    }
    return format == DMA_I8 || (format == DMA_W32 && FIELD(instruction, DMA_MEM) == MEM_ACC);
}

static bool matmul_is_legal(const struct instruction *instruction) {
    if (!HAS_BF16 && FIELD(instruction, MATMUL_FMT) != MATMUL_INT8) {
        return false;
    }
    return FIELD(instruction, MATMUL_WLOAD) ||
           (execution.loaded && is_zero(instruction, MATMUL_OPERAND_W) &&
            is_zero(instruction, MATMUL_OPERAND_WROWS) && FIELD(instruction, MATMUL_XW) == 0 &&
            FIELD(instruction, MATMUL_TRANSPOSE) == 0);
}

// Whether there are as many operands as the operation takes, of kinds that it takes.
static bool operands_are_legal(const struct instruction *instruction, uint32_t op, bool divides) {
    uint32_t taken = HAS(TERNARY_OPS, op) ? 3 : HAS(UNARY_OPS, op) ? 1 : 2;
    if (HAS_BF16 && op >= OP_FADD) {
        uint32_t number = op - OP_FADD;
        taken = HAS(FLOAT_TERNARY_OPS, number) ? 3 : HAS(FLOAT_UNARY_OPS, number) ? 1 : 2;
    }
    if (divides && (taken == 3 || HAS_OP(MOVEMENT_OPS, op))) {
        return false;
    }
    uint32_t kinds = FIELD(instruction, VECTOR_KINDS);
    uint32_t strides = FIELD(instruction, VECTOR_STRIDES) >> VECTOR_STRIDE_BITS;
    uint32_t streams = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t kind = kinds & VECTOR_A_KIND_MASK;
        bool stream = HAS(STREAM_SOURCES, kind);
        bool takes = i < taken || (divides && i == 2);
        if (!HAS(LEGAL(ALL_SOURCES, BF16_SOURCES), kind) || (kind == SRC_NONE) == takes ||
            (kind == SRC_NONE && !is_zero(instruction, VECTOR_OPERAND_A + i)) ||
            (!stream && (strides & VECTOR_XA_MASK) != 0)) {
            return false;
        }
        streams += stream;
        kinds >>= VECTOR_KIND_BITS;
        strides >>= VECTOR_STRIDE_BITS;
    }
    return streams <= 2;
}

static bool movement_is_legal(const struct instruction *instruction, uint32_t op) {
    uint32_t b = FIELD(instruction, VECTOR_B_KIND);
    return HAS(STREAM_SOURCES & ~LANE_SOURCES, FIELD(instruction, VECTOR_A_KIND)) &&
           (op != OP_ROTATE || b == SRC_SCALAR) && (!HAS_OP(INDEXED_OPS, op) || b == SRC_ACC) &&
           (op != OP_GATHER || FIELD(instruction, VECTOR_XA) == 0) &&
           (op != OP_SCATTER || (FIELD(instruction, VECTOR_XDST) == 0 &&
                                 FIELD(instruction, VECTOR_REDUCE) == REDUCE_NONE));
}

static bool vector_is_legal(const struct instruction *instruction) {
    uint32_t op = FIELD(instruction, VECTOR_OP), post = FIELD(instruction, VECTOR_POST);
    uint32_t join = FIELD(instruction, VECTOR_REDUCE_OP);
    uint32_t destination = FIELD(instruction, VECTOR_DST_KIND);
    bool exists = op < OP_FADD ? HAS(INT8_OPS, op) : HAS_BF16 && op - OP_FADD < NUM_FLOAT_OPS;
    if (!exists || !HAS(LEGAL(ALL_POSTS, FLOAT_POSTS), post) ||
        !HAS(LEGAL(ALL_JOINS, FLOAT_JOINS), join) ||
        !HAS(LEGAL(ALL_DESTINATIONS, BF16_DESTINATIONS), destination) ||
        !operands_are_legal(instruction, op, HAS_BF16 && post == POST_DIV)) {
        return false;
    }
    if (HAS_OP(MOVEMENT_OPS, op) && !movement_is_legal(instruction, op)) {
        return false;
    }
    if (op == OP_REQUANT || HAS_OP(INDEXED_OPS, op)) {
        if (op == OP_REQUANT ? post != POST_NONE : HAS(PARAM_POSTS, post)) {
            return false;
        }
    } else if (!HAS(LEGAL(PARAM_POSTS, FLOAT_POSTS), post) && !is_zero(instruction, VECTOR_OPERAND_PARAM)) {
        return false;
    }
    return join == JOIN_SUM_I || FIELD(instruction, VECTOR_REDUCE) != REDUCE_NONE;
}

static bool is_legal(const struct instruction *instruction) {
    switch (instruction->opcode) {
    case OPCODE_STRIDE:
        return FIELD(instruction, SCALAR_X) != 0;
    case OPCODE_LOAD:
    case OPCODE_STORE:
        return dma_is_legal(instruction);
    case OPCODE_MATMUL:
        return matmul_is_legal(instruction);
    case OPCODE_VECTOR:
        return vector_is_legal(instruction);
    }
    return true;
}

uint32_t decode(const uint32_t *words, struct instruction *instruction) {
    uint32_t low = words[0], high = words[1];
    uint32_t opcode = low & OPCODE_MASK;
    uint32_t shape = opcode < NUM_OPCODES ? shapes[opcode] : 0;
    if (shape == 0) {
        return fault(FAULT_ILLEGAL_OPCODE, opcode);
    }
    uint32_t mask = low >> REGMASK_LSB & ((1 << NUM_OPERANDS) - 1);
    instruction->opcode = opcode;
    instruction->header = (uint64_t)high << 32 | low;
    instruction->mask = mask;
    // Bits that must be 0.
    uint32_t unused = (low >> FIELDS_LSB << FIELDS_LSB & ~shape_fields[shape][0]) |
                      (high & ~shape_fields[shape][1]);
    const uint32_t *word = &words[2], *end = word + shape_operands[shape];
    for (uint32_t *value = instruction->values; word < end; word++) {
        uint32_t operand = *word;
        if (mask & 1) {
            unused |= operand & ~(NUM_REGISTERS - 1u);
            operand = execution.registers[operand & (NUM_REGISTERS - 1)];
        }
        *value++ = operand;
        mask >>= 1;
    }
    for (unused |= mask; word < &words[2 + NUM_OPERANDS]; word++) {
        unused |= *word;
    }
    return unused == 0 && is_legal(instruction) ? FAULT_NONE : fault(FAULT_ILLEGAL_FIELD, 0);
}
