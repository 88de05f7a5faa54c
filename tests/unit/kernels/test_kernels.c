/* The checker of quantisation and products: every variant that this CPU has against the reference.
 *
 * Bound of a product. Reference and variant read the same prepared activations. Integer block sums
 * are exact in both, so the variant differs by its float roundings, u = 2^-24 each: a chain of at
 * most `steps` fused additions into one lane, each term with at most three roundings of its own
 * (scale product, offset, scaled 16-sum), four additions over the lanes, and the reference's
 * rounding to float. To first order |error| <= (steps + 12) u M, where M is the sum of the
 * magnitudes of all terms (Higham 2002, section 3.1); terms below the smallest normal float add at
 * most 2^-126 each. */
#include <math.h>
#include <time.h>

#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/blocks_ref.h"
#include "kernels/formats.h"
#include "kernels_fixture.h"

enum { ROWS = 9, TOKENS = 33 };

static const enum tensor_type types[] = {
    TENSOR_F32,     TENSOR_F16,    TENSOR_BF16,   TENSOR_Q8_0,    TENSOR_Q4_0,  TENSOR_Q4_1,
    TENSOR_Q5_0,    TENSOR_Q5_1,   TENSOR_IQ4_NL, TENSOR_MXFP4,   TENSOR_Q2_K,  TENSOR_Q3_K,
    TENSOR_Q4_K,    TENSOR_Q5_K,   TENSOR_Q6_K,   TENSOR_IQ4_XS,  TENSOR_IQ1_S, TENSOR_IQ1_M,
    TENSOR_IQ2_XXS, TENSOR_IQ2_XS, TENSOR_IQ2_S,  TENSOR_IQ3_XXS, TENSOR_IQ3_S, TENSOR_TQ1_0,
    TENSOR_TQ2_0,   TENSOR_NVFP4,  TENSOR_Q1_0,   TENSOR_Q2_0};
enum { TYPES = sizeof types / sizeof *types };

static void *exact(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory == NULL)
        abort();
    return memory;
}

enum fill { FILL_RANDOM, FILL_ZERO, FILL_ONES, FILL_LOWEST, FILL_SUBNORMAL, FILLS };

static void put_u16(uint8_t *at, uint16_t value)
{
    memcpy(at, &value, sizeof value);
}

/* A scale: finite whatever the fill; the largest half where all is at its largest. */
static uint16_t fill_scale(enum fill fill)
{
    switch (fill) {
    case FILL_RANDOM:
        return f32_to_f16(random_float() * 0.1f);
    case FILL_ZERO:
        return 0;
    case FILL_SUBNORMAL:
        return (uint16_t)(1 + random_u32() % 0x3ff);
    default:
        return 0x7bff;
    }
}

static void fill_element(enum tensor_type type, enum fill fill, uint8_t *at)
{
    float value = fill == FILL_ZERO        ? 0.0f
                  : fill == FILL_ONES      ? 65504.0f
                  : fill == FILL_LOWEST    ? -65504.0f
                  : fill == FILL_SUBNORMAL ? random_float() * 0x1p-14f
                                           : random_float();
    if (type == TENSOR_F32)
        memcpy(at, &value, sizeof value);
    else if (type == TENSOR_F16)
        put_u16(at, f32_to_f16(value));
    else
        put_u16(at, (uint16_t)(float_to_bits(value) >> 16));
}

/* Where a type's halves are; a minimum at 0 is none. */
static size_t scale_at(enum tensor_type type)
{
    return type == TENSOR_Q2_K    ? Q2_K_SCALE_AT
           : type == TENSOR_Q3_K  ? Q3_K_SCALE_AT
           : type == TENSOR_Q6_K  ? Q6_K_SCALE_AT
           : type == TENSOR_TQ1_0 ? TQ1_0_SCALE_AT
           : type == TENSOR_TQ2_0 ? TQ2_0_SCALE_AT
                                  : 0;
}

static size_t minimum_at(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_1:
    case TENSOR_Q5_1:
        return MIN_32_AT;
    case TENSOR_Q2_K:
        return Q2_K_MIN_AT;
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        return Q4_K_MIN_AT;
    default:
        return 0;
    }
}

/* The exponent of an MXFP4 block: subnormal, about one, or so large that sums still are finite. */
static uint8_t fill_exponent(enum fill fill)
{
    return fill == FILL_ZERO || fill == FILL_SUBNORMAL ? (uint8_t)(random_u32() % 3)
           : fill == FILL_RANDOM                       ? (uint8_t)(120 + random_u32() % 8)
                                                       : 200;
}

/* The half of an IQ1_M block is in the upper nibbles of four words. */
static void fill_scale_in_nibbles(uint16_t half, uint8_t *words)
{
    for (size_t i = 0; i < 4; i++)
        words[2 * i + 1] = (uint8_t)((words[2 * i + 1] & 15) | (half >> 4 * i & 15) << 4);
}

/* Sets the fields that make the weights smallest, unless that is a block of zeros. */
static void fill_lowest(enum tensor_type type, uint8_t *block)
{
    if (type == TENSOR_Q6_K)
        memset(block + Q6_K_SCALES_AT, 0x80, 16);
    if (type == TENSOR_Q4_K || type == TENSOR_Q5_K)
        memset(block + Q4_K_SCALES_AT, 0xff, 12);
    if (type == TENSOR_Q2_K)
        memset(block, 0xff, 16);
    if (type == TENSOR_MXFP4)
        memset(block + MXFP4_QUANTS_AT, 0x77, 16); /* the largest; all ones are the smallest */
}

static void fill_block(enum tensor_type type, enum fill fill, uint8_t *block)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    if (traits->block_elements == 1) {
        fill_element(type, fill, block);
        return;
    }
    for (size_t i = 0; i < traits->block_bytes; i++)
        block[i] = fill == FILL_ZERO     ? 0
                   : fill == FILL_ONES   ? (type == TENSOR_Q8_0 ? 0x7f : 0xff)
                   : fill == FILL_LOWEST ? (type == TENSOR_Q8_0 ? 0x80 : 0)
                                         : (uint8_t)random_u32();
    if (fill == FILL_LOWEST)
        fill_lowest(type, block);
    if (type == TENSOR_MXFP4)
        block[0] = fill_exponent(fill);
    else if (type == TENSOR_IQ1_M)
        fill_scale_in_nibbles(fill_scale(fill), block + IQ1_M_SCALES_AT);
    else if (type != TENSOR_NVFP4) /* any byte is a scale */
        put_u16(block + scale_at(type), fill_scale(fill));
    if (minimum_at(type) != 0)
        put_u16(block + minimum_at(type), fill_scale(fill));
}

struct matrix {
    enum tensor_type type;
    size_t rows, cols, row_bytes;
    uint8_t *weights;
    size_t tokens, act_stride;
    enum activation_form form;
    uint8_t *acts;
    float *x; /* [tokens, cols]: what acts were prepared from */
};

static void fill_activation(enum fill fill, float *x, size_t cols)
{
    for (size_t c = 0; c < cols; c++)
        x[c] = fill == FILL_ZERO        ? 0.0f
               : fill == FILL_ONES      ? 1e4f
               : fill == FILL_LOWEST    ? -1e4f
               : fill == FILL_SUBNORMAL ? random_float() * 1e-39f
                                        : random_float() * 3;
}

static struct matrix matrix_new(enum tensor_type type, size_t rows, size_t cols, size_t tokens,
                                enum fill weights, enum fill activations)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    struct matrix m = {.type = type, .rows = rows, .cols = cols, .tokens = tokens};
    size_t blocks = cols / traits->block_elements;
    m.row_bytes = blocks * traits->block_bytes;
    m.weights = exact(rows * m.row_bytes);
    for (size_t i = 0; i < rows * blocks; i++)
        fill_block(type, weights, m.weights + i * traits->block_bytes);
    m.form = reference()->form_of(type);
    m.act_stride = reference()->activation_bytes(m.form, cols);
    m.acts = exact(tokens * m.act_stride);
    m.x = exact(tokens * cols * sizeof *m.x);
    for (size_t t = 0; t < tokens; t++) {
        fill_activation(activations, m.x + t * cols, cols);
        reference()->activation_prepare(m.form, m.x + t * cols, cols, m.acts + t * m.act_stride);
    }
    return m;
}

static void matrix_free(struct matrix *m)
{
    free(m->weights);
    free(m->acts);
    free(m->x);
}

/* What an activation stands for. */
static double activation_value(const struct matrix *m, const uint8_t *act, size_t c)
{
    if (m->form == ACTIVATION_F32)
        return (double)load_f32(act + 4 * c);
    if (m->form == ACTIVATION_Q8_256) {
        act += c / SUPER_BLOCK * ACT256_BYTES;
        return (double)load_f32(act + ACT256_SCALE_AT) * (int8_t)act[c % SUPER_BLOCK];
    }
    act += c / ACT32_GROUP * ACT32_BYTES;
    size_t at = c % ACT32_GROUP / BLOCK_32 * 16, i = c % BLOCK_32;
    return (double)load_f32(act + ACT32_SCALE_AT + at) *
           (int8_t)act[(i < 16 ? 0 : ACT32_HIGH_AT) + at + i % 16];
}

/* Of weight i of a block: what variants add to make it unsigned and take off again as a float term
 * of its own, and the minimum, which is one too. (Offsets of blocks of 32 are taken off as whole
 * numbers.) */
static double float_offset(enum tensor_type type, const struct block_ref *block, size_t i)
{
    int offset = type == TENSOR_Q6_K ? 32 : type == TENSOR_Q3_K ? 4 : 0;
    return fabs((double)block->d * block->factors[i / 16] * offset) +
           fabs((double)block->d_min * block->minimums[i / 16]);
}

/* Sum of the magnitudes of the terms that a product consists of: the unsigned product is (weight +
 * offset) a; the offset a goes in again as a sum. */
static double magnitude(const struct matrix *m, size_t r, size_t t)
{
    const struct tensor_traits *traits = tensor_traits_get(m->type);
    const uint8_t *row = m->weights + r * m->row_bytes, *act = m->acts + t * m->act_stride;
    struct block_ref block;
    double total = 0;
    float *weights = exact(m->cols * sizeof *weights);
    reference()->dequantize(m->type, row, m->cols, weights);
    for (size_t c = 0; c < m->cols; c++) {
        double offset = 0;
        if (m->form != ACTIVATION_F32 && !block_low_has(m->type)) {
            size_t i = c % traits->block_elements;
            if (i == 0)
                block_ref_unpack(m->type, row + c / traits->block_elements * traits->block_bytes,
                                 &block);
            offset = float_offset(m->type, &block, i);
        }
        total += fabs(activation_value(m, act, c)) * (fabs((double)weights[c]) + 2 * offset);
    }
    free(weights);
    return total;
}

/* Fused additions into one lane. A block adds its products and its minimum, or its two
 * sixteens. */
static size_t additions(const struct kernels *kernels, const struct matrix *m)
{
    const size_t lanes = variant_lanes(kernels);
    switch (m->form) {
    case ACTIVATION_Q8_256:
        return 2 * (m->cols / 256);
    case ACTIVATION_Q8_32:
        return 2 * (m->cols / 32);
    default:
        return (m->cols + lanes - 1) / lanes;
    }
}

static double product_bound(const struct kernels *kernels, const struct matrix *m, size_t r,
                            size_t t)
{
    double steps = (double)additions(kernels, m);
    return (steps + 12) * (0x1p-24 * magnitude(m, r, t) + 0x1p-126);
}

/* All results by one variant, one row and one token at a time, checked against the reference; then
 * every other way of asking must give the same bits. **returns new** (free) [tokens, rows]. */
static float *check_single(const struct kernels *kernels, const struct matrix *m)
{
    float *y = exact(m->tokens * m->rows * sizeof *y);
    float *expected = exact(m->tokens * m->rows * sizeof *expected);
    reference()->matmul(m->type, m->weights, m->row_bytes, m->cols, 0, m->rows, m->acts,
                        m->act_stride, m->tokens, expected, m->rows);
    for (size_t t = 0; t < m->tokens; t++)
        for (size_t r = 0; r < m->rows; r++) {
            size_t at = t * m->rows + r;
            kernels->matmul(m->type, m->weights, m->row_bytes, m->cols, r, r + 1,
                            m->acts + t * m->act_stride, m->act_stride, 1, y + t * m->rows,
                            m->rows);
            double error = fabs((double)y[at] - (double)expected[at]);
            bool close = error <= product_bound(kernels, m, r, t);
            CHECK(close);
            if (!close)
                fprintf(stderr, "%s %s cols %zu row %zu token %zu: %g, expected %g\n",
                        kernels->name, tensor_traits_get(m->type)->name, m->cols, r, t,
                        (double)y[at], (double)expected[at]);
        }
    free(expected);
    return y;
}

/* Rows [begin, end) and the first `tokens` tokens: the bits of `single`, and nothing else
 * written. */
static void check_part(const struct kernels *kernels, const struct matrix *m, const float *single,
                       size_t begin, size_t end, size_t tokens)
{
    const float untouched = -12345.0f;
    size_t stride = m->rows + 3, count = (tokens - 1) * stride + m->rows;
    float *y = exact(count * sizeof *y);
    for (size_t i = 0; i < count; i++)
        y[i] = untouched;
    kernels->matmul(m->type, m->weights, m->row_bytes, m->cols, begin, end, m->acts, m->act_stride,
                    tokens, y, stride);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        size_t t = i / stride, r = i % stride;
        bool inside = r >= begin && r < end;
        wrong += memcmp(&y[i], inside ? &single[t * m->rows + r] : &untouched, sizeof *y) != 0;
    }
    CHECK(wrong == 0);
    free(y);
}

/* The same through panels, made anew from x. */
static void check_panels(const struct kernels *kernels, const struct matrix *m, const float *single,
                         size_t begin, size_t end, size_t tokens)
{
    const float untouched = -12345.0f;
    size_t stride = m->rows + 3, count = (tokens - 1) * stride + m->rows;
    size_t groups = (tokens + KERNELS_PANEL_TOKENS - 1) / KERNELS_PANEL_TOKENS;
    size_t panel_bytes = KERNELS_PANEL_TOKENS * m->act_stride;
    uint8_t *panels = exact(groups * panel_bytes);
    for (size_t g = 0; g < groups; g++) {
        size_t at = g * KERNELS_PANEL_TOKENS, left = tokens - at;
        kernels->panel_prepare(m->form, m->x + at * m->cols, m->cols, m->cols,
                               left < KERNELS_PANEL_TOKENS ? left : KERNELS_PANEL_TOKENS,
                               panels + g * panel_bytes);
    }
    float *y = exact(count * sizeof *y);
    for (size_t i = 0; i < count; i++)
        y[i] = untouched;
    kernels->matmul_panels(m->type, m->weights, m->row_bytes, m->cols, begin, end, panels,
                           m->act_stride, tokens, y, stride);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        size_t t = i / stride, r = i % stride;
        bool inside = r >= begin && r < end;
        wrong += memcmp(&y[i], inside ? &single[t * m->rows + r] : &untouched, sizeof *y) != 0;
    }
    CHECK(wrong == 0);
    if (wrong != 0)
        fprintf(stderr, "%s panels %s cols %zu rows %zu..%zu tokens %zu: %zu wrong\n",
                kernels->name, tensor_traits_get(m->type)->name, m->cols, begin, end, tokens,
                wrong);
    free(y);
    free(panels);
}

static void check_matrix(const struct kernels *kernels, const struct matrix *m)
{
    static const size_t token_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 17, 33};
    static const size_t ranges[][2] = {{0, 9}, {0, 1}, {1, 4}, {3, 9}, {2, 7}, {5, 5}, {8, 9}};
    float *single = check_single(kernels, m);
    for (size_t i = 0; i < sizeof token_counts / sizeof *token_counts; i++)
        for (size_t j = 0; j < sizeof ranges / sizeof *ranges; j++)
            if (token_counts[i] <= m->tokens) {
                check_part(kernels, m, single, ranges[j][0], ranges[j][1], token_counts[i]);
                if (kernels->panel_forms & 1u << m->form)
                    check_panels(kernels, m, single, ranges[j][0], ranges[j][1], token_counts[i]);
            }
    free(single);
}

static void check_lengths(const struct kernels *kernels)
{
    static const size_t of_1[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 172, 257};
    static const size_t of_blocks[] = {1, 2, 3, 4, 5, 7, 9, 18};
    for (size_t i = 0; i < TYPES; i++) {
        size_t block = tensor_traits_get(types[i])->block_elements;
        size_t lengths = block == 1 ? 11 : block < 256 ? 8 : 4;
        for (size_t j = 0; j < lengths; j++) {
            struct matrix m =
                matrix_new(types[i], ROWS, block == 1 ? of_1[j] : block * of_blocks[j], TOKENS,
                           FILL_RANDOM, FILL_RANDOM);
            check_matrix(kernels, &m);
            matrix_free(&m);
        }
    }
}

static void test_products_agree_with_the_reference_for_every_length_and_shape(void)
{
    with_variants(check_lengths);
}

static void check_extremes(const struct kernels *kernels)
{
    for (size_t i = 0; i < TYPES; i++)
        for (int weights = 0; weights < FILLS; weights++)
            for (int activations = 0; activations < FILLS; activations++) {
                size_t block = tensor_traits_get(types[i])->block_elements;
                size_t cols = block == 256 ? 512 : block <= 32 ? 160 : 3 * block;
                struct matrix m =
                    matrix_new(types[i], ROWS, cols, 5, (enum fill)weights, (enum fill)activations);
                check_matrix(kernels, &m);
                matrix_free(&m);
            }
}

static void test_products_agree_on_extreme_values(void)
{
    with_variants(check_extremes);
}

static void check_many_rows(const struct kernels *kernels)
{
    for (size_t i = 0; i < TYPES; i++) {
        struct matrix m = matrix_new(types[i], 131, 256, 9, FILL_RANDOM, FILL_RANDOM);
        float *single = check_single(kernels, &m);
        check_part(kernels, &m, single, 0, 131, 9);
        check_part(kernels, &m, single, 3, 130, 9);
        free(single);
        matrix_free(&m);
    }
}

/* More rows and tokens than are worked on at once, and every width of a register tile. */
static void check_wide_panels(const struct kernels *kernels)
{
    static const size_t token_counts[] = {16, 40, 48, 64, 79, 280};
    for (size_t i = 0; i < TYPES; i++) {
        struct matrix m = matrix_new(types[i], 77, 768, 280, FILL_RANDOM, FILL_RANDOM);
        if (!(kernels->panel_forms & 1u << m.form)) {
            matrix_free(&m);
            continue;
        }
        float *y = exact(m.tokens * m.rows * sizeof *y);
        kernels->matmul(m.type, m.weights, m.row_bytes, m.cols, 0, m.rows, m.acts, m.act_stride,
                        m.tokens, y, m.rows);
        for (size_t j = 0; j < sizeof token_counts / sizeof *token_counts; j++)
            check_panels(kernels, &m, y, j % 2 ? 0 : 5, m.rows - j, token_counts[j]);
        free(y);
        matrix_free(&m);
    }
}

static void test_wide_panels_give_the_bits_of_rows(void)
{
    with_variants(check_wide_panels);
}

static void test_results_do_not_depend_on_row_blocks(void)
{
    with_variants(check_many_rows);
}

static void check_prepare(const struct kernels *kernels)
{
    static const enum activation_form forms[] = {ACTIVATION_F32, ACTIVATION_Q8_32,
                                                 ACTIVATION_Q8_256};
    static const size_t lengths[] = {256, 512, 768, 1024 + 256};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t j = 0; j < 4; j++)
            for (int fill = 0; fill <= FILLS; fill++) {
                size_t cols =
                    forms[f] == ACTIVATION_Q8_256 ? lengths[j] : lengths[j] + 96 * (j % 2);
                size_t bytes = kernels->activation_bytes(forms[f], cols);
                CHECK(bytes % 64 == 0);
                float *x = exact(cols * sizeof *x);
                uint8_t *expected = exact(bytes), *got = exact(bytes);
                fill_activation(fill == FILLS ? FILL_RANDOM : (enum fill)fill, x, cols);
                if (fill == FILLS) { /* huge beside small: nothing overflows */
                    x[3] = 3e38f;
                    x[cols - 1] = -3.4e38f;
                    x[70] = 1e-45f;
                }
                memset(got, 0xee, bytes);
                reference()->activation_prepare(forms[f], x, cols, expected);
                kernels->activation_prepare(forms[f], x, cols, got);
                CHECK(memcmp(expected, got, bytes) == 0);
                free(x);
                free(expected);
                free(got);
            }
}

static void test_prepared_activations_are_the_reference_s_bits(void)
{
    with_variants(check_prepare);
}

static void check_not_finite(const struct kernels *kernels)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < TYPES; i++)
        for (size_t b = 0; b < 3; b++) {
            struct matrix m = matrix_new(types[i], ROWS, 512, 3, FILL_RANDOM, FILL_RANDOM);
            float x[512], y[3 * ROWS];
            fill_activation(FILL_RANDOM, x, 512);
            x[300] = bad[b];
            kernels->activation_prepare(m.form, x, 512, m.acts + m.act_stride);
            kernels->matmul(m.type, m.weights, m.row_bytes, 512, 0, ROWS, m.acts, m.act_stride, 3,
                            y, ROWS);
            for (size_t r = 0; r < ROWS; r++) {
                CHECK(isfinite(y[r]) && !isfinite(y[ROWS + r]) && isfinite(y[2 * ROWS + r]));
            }
            matrix_free(&m);
        }
}

static void test_a_non_finite_activation_spoils_its_own_token_and_no_other(void)
{
    check_not_finite(reference());
    with_variants(check_not_finite);
}

/* Sets the scale of the last block of a row to a half that is no number, if the type has halves. */
static bool spoil_row(const struct matrix *m, size_t row, uint16_t half)
{
    const struct tensor_traits *traits = tensor_traits_get(m->type);
    uint8_t *block = m->weights + (row + 1) * m->row_bytes - traits->block_bytes;
    if (traits->block_elements == 1 || m->type == TENSOR_MXFP4 || m->type == TENSOR_NVFP4)
        return false;
    if (m->type == TENSOR_IQ1_M)
        fill_scale_in_nibbles(half, block + IQ1_M_SCALES_AT);
    else
        put_u16(block + scale_at(m->type), half);
    return true;
}

/* Of rows and, where there are any, of panels: what is not in row `spoiled` are the bits of y. */
static void check_other_rows(const struct kernels *kernels, const struct matrix *m, const float *y,
                             size_t spoiled, size_t tokens)
{
    for (int panels = 0; panels < 2; panels++) {
        float *other = exact(m->rows * tokens * sizeof *other);
        uint8_t *panel = exact(KERNELS_PANEL_TOKENS * m->act_stride);
        bool can = !panels || kernels->panel_forms & 1u << m->form;
        if (can && panels) {
            kernels->panel_prepare(m->form, m->x, m->cols, m->cols, tokens, panel);
            kernels->matmul_panels(m->type, m->weights, m->row_bytes, m->cols, 0, m->rows, panel,
                                   m->act_stride, tokens, other, m->rows);
        } else if (can) {
            kernels->matmul(m->type, m->weights, m->row_bytes, m->cols, 0, m->rows, m->acts,
                            m->act_stride, tokens, other, m->rows);
        }
        for (size_t i = 0; can && i < m->rows * tokens; i++)
            if (i % m->rows == spoiled)
                CHECK(!isfinite(other[i]));
            else
                CHECK(memcmp(&other[i], &y[i], sizeof *y) == 0);
        free(panel);
        free(other);
    }
}

static void check_bad_scales(const struct kernels *kernels)
{
    static const uint16_t bad[] = {0x7c00, 0xfc00, 0x7e00, 0xffff}; /* infinities, NaNs */
    static const size_t counts[] = {1, 2, 3, 9};
    float y[9 * ROWS];
    for (size_t i = 0; i < TYPES; i++) {
        size_t block = tensor_traits_get(types[i])->block_elements;
        struct matrix m =
            matrix_new(types[i], ROWS, 3 * (block < 32 ? 32 : block), 9, FILL_RANDOM, FILL_RANDOM);
        kernels->matmul(m.type, m.weights, m.row_bytes, m.cols, 0, m.rows, m.acts, m.act_stride,
                        m.tokens, y, m.rows);
        size_t row = i % ROWS;
        for (size_t b = 0; b < 4 && spoil_row(&m, row, bad[b]); b++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                check_other_rows(kernels, &m, y, row, counts[c]);
        matrix_free(&m);
    }
}

static void test_a_scale_that_is_no_number_spoils_its_own_row_and_no_other(void)
{
    check_bad_scales(reference());
    with_variants(check_bad_scales);
}

/* The reference product against plain dequantised weights times what the activations stand for. */
static void test_reference_products_are_those_of_dequantised_weights(void)
{
    for (size_t i = 0; i < TYPES; i++) {
        struct matrix m = matrix_new(types[i], ROWS, 512, 1, FILL_RANDOM, FILL_RANDOM);
        float weights[512], y[ROWS], x[512];
        fill_activation(FILL_RANDOM, x, 512);
        reference()->activation_prepare(m.form, x, 512, m.acts);
        reference()->matmul(m.type, m.weights, m.row_bytes, 512, 0, ROWS, m.acts, m.act_stride, 1,
                            y, ROWS);
        for (size_t r = 0; r < ROWS; r++) {
            double sum = 0, size = 0;
            reference()->dequantize(m.type, m.weights + r * m.row_bytes, 512, weights);
            for (size_t c = 0; c < 512; c++) {
                sum += (double)weights[c] * (double)x[c];
                size += fabs((double)weights[c]);
            }
            /* A quantised activation is off by at most half a step of max / 127, max <= 3. */
            double step = m.form == ACTIVATION_F32 ? 0 : 0.5 * 3.0 / 127;
            CHECK(fabs((double)y[r] - sum) <= size * (step + 1e-6));
        }
        matrix_free(&m);
    }
}

static void test_variant_names_are_parsed_and_wrong_ones_refused(void)
{
    enum td_cpu cpu = TD_CPU_AUTO;
    CHECK(kernels_cpu_parse("ref", &cpu) && cpu == TD_CPU_REF);
    CHECK(kernels_cpu_parse("avx2", &cpu) && cpu == TD_CPU_AVX2);
    CHECK(kernels_cpu_parse("avx512", &cpu) && cpu == TD_CPU_AVX512);
    CHECK(kernels_cpu_parse("neon", &cpu) && cpu == TD_CPU_NEON);
    CHECK(kernels_cpu_parse("auto", &cpu) && cpu == TD_CPU_AUTO);
    CHECK(!kernels_cpu_parse("AVX2", &cpu) && !kernels_cpu_parse("", &cpu));
    CHECK(!kernels_cpu_parse(NULL, &cpu));
    CHECK(strcmp(reference()->name, "ref") == 0);
    CHECK(kernels_get(TD_CPU_AUTO, NULL) != NULL);
    struct td_error err = {0};
    CHECK(kernels_get((enum td_cpu)77, &err) == NULL && err.status == TD_UNSUPPORTED);
}

/* A virtual machine answers cpuid in microseconds: quantising asked for each row, and that took up
 * to two thirds of its time. */
static void test_the_best_kernels_are_looked_for_once(void)
{
    const struct kernels *best = kernels_get(TD_CPU_AUTO, NULL);
    clock_t begin = clock();
    for (int i = 0; i < 200000; i++)
        CHECK(kernels_get(TD_CPU_AUTO, NULL) == best);
    CHECK(clock() - begin < CLOCKS_PER_SEC / 2);
}

static void test_unknown_tensor_types_have_no_traits(void)
{
    CHECK(tensor_traits_get(1000) == NULL && tensor_traits_get(9) == NULL);
    CHECK(tensor_traits_get(TENSOR_Q6_K)->block_bytes == 210);
}

int main(void)
{
    RUN(test_products_agree_with_the_reference_for_every_length_and_shape);
    RUN(test_products_agree_on_extreme_values);
    RUN(test_results_do_not_depend_on_row_blocks);
    RUN(test_wide_panels_give_the_bits_of_rows);
    RUN(test_prepared_activations_are_the_reference_s_bits);
    RUN(test_a_non_finite_activation_spoils_its_own_token_and_no_other);
    RUN(test_a_scale_that_is_no_number_spoils_its_own_row_and_no_other);
    RUN(test_reference_products_are_those_of_dequantised_weights);
    RUN(test_variant_names_are_parsed_and_wrong_ones_refused);
    RUN(test_the_best_kernels_are_looked_for_once);
    RUN(test_unknown_tensor_types_have_no_traits);
    return test_finish();
}
