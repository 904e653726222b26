// The array: the matrix engine (celosia_hw.compact.matrix_engine), or on a host, loops.

#include "execute.h"

#ifdef CELOSIA_HOST

static int8_t tile[MAX_DIM][MAX_DIM];  // [n][k]: weights that make lane n of the sums

static void set_weight(uint32_t k, uint32_t n, int8_t weight) { tile[n][k] = weight; }

static void set_tile(void) {}

static void run(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                uint32_t rows, bool accumulate) {
    uint32_t dim = config.dim;
    for (; rows > 0; rows--) {
        const int8_t *acts = &unified_buffer[acts_row << config.log2_dim];
        int32_t *sums = &accumulators[acc_row << config.log2_dim];
        for (uint32_t n = 0; n < dim; n++) {
            int32_t sum = accumulate ? sums[n] : 0;
            for (uint32_t k = 0; k < dim; k++) {
                sum = (int32_t)((uint32_t)sum + (uint32_t)(acts[k] * tile[n][k]));
            }
            sums[n] = sum;
        }
        acts_row += acts_step;
        acc_row += acc_step;
    }
}

#else

// Words of a row of the tile.
static inline uint32_t log2_words(void) { return config.log2_dim > 2 ? config.log2_dim - 2 : 0; }

static union {
    int8_t lanes[4];
    uint32_t word;
} weights[MAX_DIM * MAX_DIM / 4];  // words of the engine: see celosia_hw.compact.memory_map

static void set_weight(uint32_t k, uint32_t n, int8_t weight) {
    weights[(k << log2_words()) + (n >> 2)].lanes[n & 3] = weight;
}

static void set_tile(void) {
    uint32_t words = config.dim << log2_words();
    for (uint32_t i = 0; i < words; i++) {
        REGISTER(ENGINE_WEIGHTS + 4 * i) = weights[i].word;
    }
}

static void run(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                uint32_t rows, bool accumulate) {
    REGISTER(ENGINE_ACTS_ROW) = acts_row;
    REGISTER(ENGINE_ACTS_STEP) = acts_step;
    REGISTER(ENGINE_ACC_ROW) = acc_row;
    REGISTER(ENGINE_ACC_STEP) = acc_step;
    REGISTER(ENGINE_START) = rows | (uint32_t)accumulate << ENGINE_ACCUMULATE_BIT;
    // Any access to the engine waits for it: so its cycles are those of the instruction.
    (void)REGISTER(ENGINE_START);
}

#endif

void matrix_load_weights(uint32_t row, uint32_t step, uint32_t rows, bool transpose) {
    uint32_t dim = config.dim;
    for (uint32_t i = 0; i < dim; i++) {
        const int8_t *stored = &unified_buffer[row << config.log2_dim];
        for (uint32_t j = 0; j < dim; j++) {
            int8_t weight = i < rows ? stored[j] : 0;
            set_weight(transpose ? j : i, transpose ? i : j, weight);
        }
        row += step;
    }
    set_tile();
}

bool matrix_rows(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                 uint32_t rows, bool accumulate) {
    if (!accumulate || acc_step != 0) {
        run(acts_row, acts_step, acc_row, acc_step, rows, accumulate);
        return service();
    }
    // The engine reads a row of the accumulators before it has written the one before.
    for (; rows > 0; rows--) {
        run(acts_row, 0, acc_row, 0, 1, true);
        acts_row += acts_step;
        if (service()) {
            return true;
        }
    }
    return false;
}
