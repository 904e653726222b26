// The array: the matrix engine (celosia_hw.soc.compact.matrix_engine), or on a host, loops.

#include "execute.h"
#include "float.h"

#ifdef CELOSIA_HOST

static ub_lane tile[MAX_DIM][MAX_DIM];  // [n][k]: weights that make lane n of the sums

static void set_weight(uint32_t k, uint32_t n, ub_lane weight) { tile[n][k] = weight; }

static void set_tile(void) {}

static uint32_t sum_of(const ub_lane *acts, const ub_lane *weights, uint32_t sum) {
    for (uint32_t k = 0; k < config.dim; k++) {
        sum += (uint32_t)((int8_t)acts[k] * (int8_t)weights[k]);
    }
    return sum;
}

#if HAS_BF16
// The sum of products is rounded at each depth, and is then added.
static uint32_t float_sum_of(const ub_lane *acts, const ub_lane *weights, uint32_t sum) {
    uint32_t own = 0;
    for (uint32_t k = 0; k < config.dim; k++) {
        own = float_add(own, float_multiply((uint32_t)acts[k] << 16, (uint32_t)weights[k] << 16));
    }
    return float_add(sum, own);
}
#else
#define float_sum_of sum_of
#endif

static void run(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                uint32_t rows, bool accumulate, uint32_t format) {
    uint32_t dim = config.dim;
    for (; rows > 0; rows--) {
        const ub_lane *acts = &unified_buffer[acts_row << config.log2_dim];
        int32_t *sums = &accumulators[acc_row << config.log2_dim];
        for (uint32_t n = 0; n < dim; n++) {
            uint32_t sum = accumulate ? (uint32_t)sums[n] : 0;
            sums[n] = (int32_t)(format == MATMUL_INT8 ? sum_of(acts, tile[n], sum)
                                                      : float_sum_of(acts, tile[n], sum));
        }
        acts_row += acts_step;
        acc_row += acc_step;
    }
}

#else

// Log2 of the lanes of a word, and of the words of a row of the tile.
#define LOG2_LANES (3 - sizeof(ub_lane))
static inline uint32_t log2_words(void) {
    return config.log2_dim > LOG2_LANES ? config.log2_dim - LOG2_LANES : 0;
}

static union {
    ub_lane lanes[1 << LOG2_LANES];
    uint32_t word;
} weights[(MAX_DIM * MAX_DIM) >> LOG2_LANES];  // as celosia_hw.soc.compact.memory_map has them

static void set_weight(uint32_t k, uint32_t n, ub_lane weight) {
    weights[(k << log2_words()) + (n >> LOG2_LANES)].lanes[n & ((1 << LOG2_LANES) - 1)] = weight;
}

static void set_tile(void) {
    uint32_t words = config.dim << log2_words();
    for (uint32_t i = 0; i < words; i++) {
        REGISTER(ENGINE_WEIGHTS + 4 * i) = weights[i].word;
    }
}

static void run(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                uint32_t rows, bool accumulate, uint32_t format) {
    REGISTER(ENGINE_ACTS_ROW) = acts_row;
    REGISTER(ENGINE_ACTS_STEP) = acts_step;
    REGISTER(ENGINE_ACC_ROW) = acc_row;
    REGISTER(ENGINE_ACC_STEP) = acc_step;
    uint32_t start = rows | (uint32_t)accumulate << ENGINE_ACCUMULATE_BIT;
    if (HAS_BF16) {
        start |= format << ENGINE_FORMAT_BIT;
    }
    REGISTER(ENGINE_START) = start;
    // Any access to the engine waits for it: so its cycles are those of the instruction.
    (void)REGISTER(ENGINE_START);
}

#endif

void matrix_load_weights(uint32_t row, uint32_t step, uint32_t rows, bool transpose) {
    uint32_t dim = config.dim;
    for (uint32_t i = 0; i < dim; i++) {
        const ub_lane *stored = &unified_buffer[row << config.log2_dim];
        for (uint32_t j = 0; j < dim; j++) {
            ub_lane weight = i < rows ? stored[j] : 0;
            set_weight(transpose ? j : i, transpose ? i : j, weight);
        }
        row += step;
    }
    set_tile();
}

bool matrix_rows(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                 uint32_t rows, bool accumulate, uint32_t format) {
    if (!accumulate || acc_step != 0) {
        run(acts_row, acts_step, acc_row, acc_step, rows, accumulate, format);
        return service();
    }
    // The engine reads a row of the accumulators before it has written the one before.
    for (; rows > 0; rows--) {
        run(acts_row, 0, acc_row, 0, 1, true, format);
        acts_row += acts_step;
        if (service()) {
            return true;
        }
    }
    return false;
}
