// Programs: fetch, the scalar unit, and how a run begins and ends.

#include "execute.h"

struct execution execution;

void chip_start(void) {
    execution = (struct execution){0};
    chip.fault_cause = chip.fault_pc = chip.fault_addr = 0;
    chip.pc = 0;
    chip.instructions = chip.bytes_read = chip.bytes_written = 0;
    for (uint32_t i = 0; i < NUM_UNITS; i++) {
        chip.busy[i] = 0;
    }
    chip.busy_unit = NUM_UNITS;
    chip.started = cycle_counter();
    chip.status = STATUS_RUNNING;
}

void chip_reset(void) {
    end_run(STATUS_IDLE);
    chip.fault_cause = chip.fault_pc = chip.fault_addr = 0;
    chip.irq_status = 0;
    chip.pc = 0;
    chip.reset = false;
}

static uint32_t fetch(struct instruction *instruction) {
    uint64_t addr = chip.program + (uint64_t)chip.pc * INSTRUCTION_BYTES;
    if (chip.pc >= chip.length) {
        return fault(FAULT_PC_RANGE, chip.pc);
    }
    if (addr + INSTRUCTION_BYTES > config.memory_bytes) {
        set_fault_light();
        return fault(FAULT_BUS_FETCH, chip.pc);
    }
    return decode((const uint32_t *)(const void *)(external_memory + (uint32_t)addr), instruction);
}

// What an instruction that is neither a branch nor for a unit puts into its register.
static uint32_t compute(uint32_t opcode, uint32_t a, uint32_t b) {
    switch (opcode) {
    case OPCODE_ADD:
        return a + b;
    case OPCODE_SUB:
        return a - b;
    case OPCODE_MUL:
        return a * b;
    case OPCODE_AND:
        return a & b;
    case OPCODE_OR:
        return a | b;
    case OPCODE_XOR:
        return a ^ b;
    case OPCODE_SHL:
        return a << (b & 31);
    case OPCODE_SHR:
        return a >> (b & 31);
    case OPCODE_SAR:
        return (uint32_t)((int32_t)a >> (b & 31));
    case OPCODE_SLT:
        return (int32_t)a < (int32_t)b;
    case OPCODE_SLTU:
        return a < b;
    }
    return a;  // mov
}

static bool branches(uint32_t opcode, uint32_t a, uint32_t b) {
    switch (opcode) {
    case OPCODE_BEQ:
        return a == b;
    case OPCODE_BNE:
        return a != b;
    case OPCODE_BLT:
        return (int32_t)a < (int32_t)b;
    case OPCODE_BGE:
        return (int32_t)a >= (int32_t)b;
    case OPCODE_BLTU:
        return a < b;
    }
    return a >= b;
}

// Begins a loop whose body begins at `start`; sets where the program goes on.
static uint32_t begin_loop(uint32_t count, uint32_t end, uint32_t start, uint32_t *target) {
    if (count == 0) {
        *target = end;
    } else if (end != start) {
        if (execution.depth == LOOP_DEPTH) {
            return fault(FAULT_LOOP_DEPTH, 0);
        }
        execution.loops[execution.depth++] = (struct loop){start, end, count};
    }
    return FAULT_NONE;
}

// The next pc, where the program goes on at `target` unless that is the end of a loop.
static uint32_t after_loops(uint32_t target) {
    while (execution.depth > 0) {
        struct loop *loop = &execution.loops[execution.depth - 1];
        if (loop->end != target) {
            break;
        }
        if (--loop->left > 0) {
            return loop->start;
        }
        execution.depth--;
    }
    return target;
}

static uint32_t execute_tensor(const struct instruction *instruction) {
    uint32_t cause;
    chip.busy_since = cycle_counter();
    switch (instruction->opcode) {
    case OPCODE_MATMUL:
        chip.busy_unit = UNIT_MXU;
        cause = multiply(instruction);
        break;
    case OPCODE_VECTOR:
        chip.busy_unit = UNIT_VPU;
        cause = vector(instruction);
        break;
    default:
        chip.busy_unit = instruction->opcode == OPCODE_LOAD ? UNIT_LOAD : UNIT_STORE;
        cause = transfer(instruction);
    }
    if (cause != STOPPED) {
        chip.busy[chip.busy_unit] += cycle_counter() - chip.busy_since;
        chip.busy_unit = NUM_UNITS;
    }
    return cause;
}

static uint32_t execute(const struct instruction *instruction) {
    const uint32_t *values = instruction->values;
    uint32_t opcode = instruction->opcode, target = chip.pc + 1, cause = FAULT_NONE;
    uint32_t *rd = &execution.registers[FIELD(instruction, SCALAR_RD)];
    switch (opcode) {
    case OPCODE_HALT:
        chip.instructions++;
        end_run(STATUS_DONE);
        return STOPPED;
    case OPCODE_NOP:
    case OPCODE_FENCE:
        break;
    case OPCODE_JUMP:
        target = values[0];
        break;
    case OPCODE_BEQ:
    case OPCODE_BNE:
    case OPCODE_BLT:
    case OPCODE_BGE:
    case OPCODE_BLTU:
    case OPCODE_BGEU:
        if (branches(opcode, values[0], values[1])) {
            target = values[2];
        }
        break;
    case OPCODE_LOOP:
        cause = begin_loop(values[0], values[1], target, &target);
        break;
    case OPCODE_STRIDE:
        for (uint32_t i = 0; i < NUM_COUNTS; i++) {
            execution.strides[FIELD(instruction, SCALAR_X)][i] = (uint16_t)values[i];
        }
        break;
    case OPCODE_READ:
        if (values[0] >= config.acc_rows) {
            return fault(FAULT_ACC_RANGE, values[0]);
        }
        if (values[1] >= config.dim) {
            return fault(FAULT_INDEX_RANGE, values[1]);
        }
        *rd = (uint32_t)accumulators[(values[0] << config.log2_dim) + values[1]];
        break;
    case OPCODE_LOAD:
    case OPCODE_STORE:
    case OPCODE_MATMUL:
    case OPCODE_VECTOR:
        cause = execute_tensor(instruction);
        break;
    default:
        *rd = compute(opcode, values[0], values[1]);
    }
    if (cause == FAULT_NONE) {
        chip.instructions++;
        chip.pc = after_loops(target);
    }
    return cause;
}

void chip_step(void) {
    struct instruction instruction;
    uint32_t cause = fetch(&instruction);
    if (cause == FAULT_NONE) {
        cause = execute(&instruction);
    }
    if (cause != FAULT_NONE && cause != STOPPED) {
        chip.fault_cause = cause;
        chip.fault_pc = chip.pc;
        end_run(STATUS_FAULTED);
    }
}
