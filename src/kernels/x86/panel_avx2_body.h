/* Products of many tokens with 256-bit registers: panel_avx2.c and panel_avxvnni.c are made of it.
 * Each defines VNNI (whether the processor has vpdpbusd), dpbusd() and PANEL_VARIANT.
 *
 * Weights stay in memory as the file has them. PANEL_ROWS rows by 256 columns at a time are
 * unpacked into bytes (panel_unpack_avx2_body.h). That costs a few per cent if a hundred tokens or
 * more use them. Each lane holds a token (panel.h), eight tokens a register. A tile of four rows
 * and sixteen tokens needs one broadcast for each four weights of a row, and no shuffle.
 *
 * Without VNNI the most that this can reach is one vpmaddubsw and one vpaddw for 32 products. Sums
 * stay in 16 bits as long as they fit: eight steps for four bits, four for five, two for six. Then
 * vpmaddwd widens them and applies the factor of a K-quant at once. Widening at every step would be
 * four instructions for 32 products. Weights of eight bits leave no room for
 * sums. Splitting them into two nibbles, or into magnitude and sign, takes more multiplications
 * than vpmaddwd on words, so they are words.
 *
 * The float sum of a row and token goes through the blocks in order, with the same operations as in
 * quants_avx2.c, so both give the same bits. */
#ifndef KERNELS_PANEL_AVX2_BODY_H
#define KERNELS_PANEL_AVX2_BODY_H

#include <immintrin.h>

#include "base/core/assertion.h"
#include "kernels/panel.h"
#include "kernels/variants.h"
#include "kernels/x86/panel_unpack_avx2_body.h"

enum {
    TOKENS_AT_ONCE = 256, /* their sums take 64 KB, which stay in the second-level cache */
    PANELS_AT_ONCE = TOKENS_AT_ONCE / KERNELS_PANEL_TOKENS,
    WIDTH = 2 /* registers of a panel's tokens */
};

/* Working memory for PANEL_ROWS rows by at most TOKENS_AT_ONCE tokens. */
struct work {
    _Alignas(64) float sums[PANELS_AT_ONCE][PANEL_ROWS][KERNELS_PANEL_TOKENS];
    _Alignas(64) uint8_t staged[PANEL_COLS / 4 * 128]; /* a panel's activations, for a kind */
    struct panel_tile tiles[PANEL_ROWS / TILE_ROWS];
};

/* What a tile multiplies: 256 columns or less of a panel. */
struct part {
    const struct panel_tile *w;
    const uint8_t *x; /* quants of the activations, in the form of the kind */
    size_t x_stride;  /* from block to block of 32 */
    const uint8_t *act;
    size_t blocks;
    float (*sums)[KERNELS_PANEL_TOKENS]; /* of the tile's rows */
};

/* Keeps a value in its register. Otherwise compilers load operands again for each use, and loads
 * are a bottleneck of the inner loop; and they compute all products of a chain before they add
 * them, and store most of them for that time. */
#define KEEP(register) __asm__("" : "+x"(register))

/* Sums stay where they are. Otherwise compilers carry them from block to block, for which there is
 * no register left: they store each sum twice and load it from the stack. With weights of 16 bits
 * and whole blocks this makes no difference. */
#define KEEP_STORED(sums) __asm__("" : "+m"(*(__m256 *)(void *)(sums)))

TILE_INLINE __m256i repeat_four(const void *at)
{
    return _mm256_set1_epi32((int32_t)load_u32(at));
}

TILE_INLINE __m256i load_tokens(const uint8_t *at, int c)
{
    return _mm256_loadu_si256((const void *)(at + 32 * c));
}

/* ---- integer products ------------------------------------------------------------------------ */

/* Adds the products of `fours` fours of columns, as numbers of 32 bits. */
TILE_INLINE void add_dots(enum panel_kind kind, int fours, const uint8_t *w, const uint8_t *x,
                          __m256i to[TILE_ROWS][WIDTH])
{
    const int parts = kind == KIND_WIDE ? 2 : 1;
#pragma GCC unroll 16
    for (int k = 0; k < fours * parts; k++) {
        __m256i tokens[WIDTH];
#pragma GCC unroll 2
        for (int c = 0; c < WIDTH; c++) {
            tokens[c] = load_tokens(x + 64 * k, c);
            KEEP(tokens[c]);
        }
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            __m256i weights = repeat_four(w + 16 * k + 4 * r);
#pragma GCC unroll 2
            for (int c = 0; c < WIDTH; c++) {
                to[r][c] = kind == KIND_WIDE
                               ? _mm256_add_epi32(to[r][c], _mm256_madd_epi16(weights, tokens[c]))
                           : kind == KIND_SIGNED ? dpbusd(to[r][c], tokens[c], weights)
                                                 : dpbusd(to[r][c], weights, tokens[c]);
                KEEP(to[r][c]);
            }
        }
    }
}

/* The products of `chain` fours of columns, as numbers of 16 bits. */
TILE_INLINE void multiply_words(enum panel_kind kind, int chain, const uint8_t *w, const uint8_t *x,
                                __m256i words[TILE_ROWS][WIDTH])
{
#pragma GCC unroll 8
    for (int k = 0; k < chain; k++) {
        __m256i tokens[WIDTH];
#pragma GCC unroll 2
        for (int c = 0; c < WIDTH; c++) {
            tokens[c] = load_tokens(x + 64 * k, c);
            KEEP(tokens[c]);
        }
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            __m256i weights = repeat_four(w + 16 * k + 4 * r);
#pragma GCC unroll 2
            for (int c = 0; c < WIDTH; c++) {
                __m256i product = kind == KIND_SIGNED ? _mm256_maddubs_epi16(tokens[c], weights)
                                                      : _mm256_maddubs_epi16(weights, tokens[c]);
                words[r][c] = k == 0 ? product : _mm256_add_epi16(words[r][c], product);
                KEEP(words[r][c]);
            }
        }
    }
}

/* Adds the products of `fours` fours of columns. `chain` of them fit 16 bits. factors: [rows],
 * int16 twice; NULL = 1. */
TILE_INLINE void add_words(enum panel_kind kind, int fours, int chain, const uint8_t *w,
                           const uint8_t *x, const int32_t *factors, __m256i to[TILE_ROWS][WIDTH])
{
#pragma GCC unroll 4
    for (int k = 0; k < fours; k += chain) {
        __m256i words[TILE_ROWS][WIDTH];
        multiply_words(kind, chain, w + 16 * k, x + 64 * k, words);
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            __m256i factor = factors ? _mm256_set1_epi32(factors[r]) : _mm256_set1_epi16(1);
#pragma GCC unroll 2
            for (int c = 0; c < WIDTH; c++)
                to[r][c] = _mm256_add_epi32(to[r][c], _mm256_madd_epi16(words[r][c], factor));
        }
    }
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* What the types of blocks of 32 differ in. */
struct traits_32 {
    enum panel_kind kind;
    int chain; /* fours of columns whose sums fit 16 bits */
    int shift; /* of the activations' bias, to subtract the offset; -1 = no offset */
    bool has_minimum;
};

TILE_INLINE void block_32(struct traits_32 traits, const struct panel_tile *w, size_t block,
                          const uint8_t *act, const uint8_t *x, float (*sums)[KERNELS_PANEL_TOKENS])
{
    const uint8_t *quants = w->quants + 8 * block * four_bytes(traits.kind);
    __m256i dots[TILE_ROWS][WIDTH];
#pragma GCC unroll 2
    for (int c = 0; c < WIDTH; c++) {
        __m256i start = _mm256_setzero_si256();
        if (traits.shift >= 0)
            start = _mm256_slli_epi32(load_tokens(act + PANEL32_BIAS_AT, c), traits.shift);
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++)
            dots[r][c] =
                traits.kind == KIND_SIGNED ? _mm256_set1_epi32(w->w32.start[block][r]) : start;
    }
    if (is_scaled_later(traits.kind))
        add_dots(traits.kind, 8, quants, x, dots);
    else
        add_words(traits.kind, 8, traits.chain, quants, x, NULL, dots);
#pragma GCC unroll 2
    for (int c = 0; c < WIDTH; c++) {
        __m256 scale =
            _mm256_loadu_ps((const float *)(const void *)(act + PANEL32_SCALE_AT) + 8 * c);
        __m256 bias = _mm256_cvtepi32_ps(load_tokens(act + PANEL32_BIAS_AT, c));
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            float *to = sums[r] + 8 * c;
            if (traits.kind != KIND_WIDE)
                KEEP_STORED(to);
            __m256 factor = _mm256_mul_ps(_mm256_broadcast_ss(&w->w32.scale[block][r]), scale);
            __m256 sum =
                _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[r][c]), factor, _mm256_load_ps(to));
            if (traits.has_minimum) {
                factor = _mm256_mul_ps(_mm256_broadcast_ss(&w->w32.minimum[block][r]), scale);
                sum = _mm256_fmadd_ps(bias, factor, sum);
            }
            _mm256_store_ps(to, sum);
        }
    }
}

/* Types of blocks_low.h that have a scale for sixteen weights: one sixteen after the other. */
static void multiply_low(const struct part *part)
{
    const enum panel_kind kind = VNNI ? KIND_SIGNED : KIND_WIDE;
    const size_t half_bytes = 4 * four_bytes(kind);
#pragma GCC unroll 1
    for (size_t i = 0; i < 2 * part->blocks; i++) {
        const uint8_t *x = part->x + i / 2 * part->x_stride + i % 2 * 4 * half_bytes;
        const uint8_t *act = part->act + i / 2 * PANEL32_BYTES + PANEL32_SCALE_AT;
        __m256i dots[TILE_ROWS][WIDTH];
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++)
            dots[r][0] = dots[r][1] = kind == KIND_SIGNED
                                          ? _mm256_set1_epi32(part->w->w16.start[i][r])
                                          : _mm256_setzero_si256();
        add_dots(kind, 4, part->w->quants + i * half_bytes, x, dots);
#pragma GCC unroll 2
        for (int c = 0; c < WIDTH; c++) {
            __m256 scale = _mm256_loadu_ps((const float *)(const void *)act + 8 * c);
#pragma GCC unroll 4
            for (int r = 0; r < TILE_ROWS; r++) {
                float *to = part->sums[r] + 8 * c;
                KEEP_STORED(to);
                __m256 factor =
                    _mm256_mul_ps(_mm256_broadcast_ss(&part->w->w16.scale[i][r]), scale);
                _mm256_store_ps(to, _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[r][c]), factor,
                                                    _mm256_load_ps(to)));
            }
        }
    }
}

TILE_INLINE void multiply_32(const struct part *part, struct traits_32 traits)
{
    const struct panel_tile *w = part->w;
    const uint8_t *act = part->act, *x = part->x;
    const size_t blocks = part->blocks, x_stride = part->x_stride;
    float(*sums)[KERNELS_PANEL_TOKENS] = part->sums;
#pragma GCC unroll 1
    for (size_t b = 0; b < blocks; b++, act += PANEL32_BYTES, x += x_stride)
        block_32(traits, w, b, act, x, sums);
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Fours of columns whose sums fit 16 bits. Largest magnitudes: Q4_K 8 * 2 * 15 * 127 = 30480, Q5_K
 * 4 * 2 * 31 * 127 = 31496, Q6_K 2 * 2 * 32 * 255 = 32640; a factor of Q2_K and Q3_K is for
 * four. */
TILE_INLINE int chain_256(enum tensor_type type)
{
    return type == TENSOR_Q4_K ? 8 : type == TENSOR_Q6_K ? 2 : 4;
}

/* The scaled sum of all products of a super-block. */
TILE_INLINE void products_256(const struct part *part, enum tensor_type type,
                              __m256i totals[TILE_ROWS][WIDTH])
{
    const enum panel_kind kind = panel_kind(type);
    const int fours = has_sixteen_factors(type) ? 4 : 8;
    const int32_t(*factors)[TILE_ROWS] = part->w->w256.factor;
#pragma GCC unroll 1
    for (size_t k = 0; k < PANEL_COLS / 4; k += (size_t)fours, factors++) {
        const uint8_t *w = part->w->quants + k * four_bytes(kind);
        const uint8_t *x = part->x + k * 4 * four_bytes(kind);
        if (!is_scaled_later(kind)) {
            add_words(kind, fours, chain_256(type), w, x, *factors, totals);
            continue;
        }
        __m256i dots[TILE_ROWS][WIDTH] = {0};
        add_dots(kind, fours, w, x, dots);
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            __m256i factor = _mm256_set1_epi32((*factors)[r]);
#pragma GCC unroll 2
            for (int c = 0; c < WIDTH; c++)
                totals[r][c] =
                    _mm256_add_epi32(totals[r][c], _mm256_mullo_epi32(dots[r][c], factor));
        }
    }
}

/* The activations' sums, `pairs` registers of them at `at`, times the minimums of the rows. */
TILE_INLINE void minimums_256(const struct part *part, size_t at, int pairs,
                              __m256i totals[TILE_ROWS][WIDTH])
{
#pragma GCC unroll 8
    for (int i = 0; i < pairs; i++)
#pragma GCC unroll 2
        for (int c = 0; c < WIDTH; c++) {
            __m256i sums = load_tokens(part->act + at + 64 * (size_t)i, c);
#pragma GCC unroll 4
            for (int r = 0; r < TILE_ROWS; r++)
                totals[r][c] = _mm256_add_epi32(
                    totals[r][c],
                    _mm256_madd_epi16(sums, _mm256_set1_epi32(part->w->w256.taken[i][r])));
        }
}

/* sums += or -= total * factor * scale, factors those of the rows. */
TILE_INLINE void add_scaled_totals(const struct part *part, bool subtract, const float *factors,
                                   __m256i totals[TILE_ROWS][WIDTH])
{
#pragma GCC unroll 2
    for (int c = 0; c < WIDTH; c++) {
        __m256 scale =
            _mm256_loadu_ps((const float *)(const void *)(part->act + PANEL256_SCALE_AT) + 8 * c);
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            float *to = part->sums[r] + 8 * c;
            __m256 total = _mm256_cvtepi32_ps(totals[r][c]);
            __m256 factor = _mm256_mul_ps(_mm256_broadcast_ss(&factors[r]), scale);
            __m256 sum = _mm256_load_ps(to);
            _mm256_store_ps(to, subtract ? _mm256_fnmadd_ps(total, factor, sum)
                                         : _mm256_fmadd_ps(total, factor, sum));
        }
    }
}

TILE_INLINE void multiply_256(const struct part *part, enum tensor_type type)
{
    __m256i totals[TILE_ROWS][WIDTH];
#pragma GCC unroll 4
    for (int r = 0; r < TILE_ROWS; r++)
        totals[r][0] = totals[r][1] = panel_kind(type) == KIND_SIGNED
                                          ? _mm256_set1_epi32(part->w->w256.start[r])
                                          : _mm256_setzero_si256();
    products_256(part, type, totals);
    add_scaled_totals(part, false, part->w->w256.scale, totals);
    if (!tile_has_minimum(type))
        return;
#pragma GCC unroll 4
    for (int r = 0; r < TILE_ROWS; r++)
        totals[r][0] = totals[r][1] = _mm256_setzero_si256();
    if (type == TENSOR_Q2_K)
        minimums_256(part, PANEL256_TOTALS_AT, 8, totals);
    else
        minimums_256(part, PANEL256_TOTALS32_AT, 4, totals);
    add_scaled_totals(part, true, part->w->w256.minimum, totals);
}

/* ---- one function a type --------------------------------------------------------------------- */

typedef void multiply_fn(const struct part *part);
typedef void unpack_fn(const uint8_t *const rows[TILE_ROWS], size_t blocks, struct panel_tile *out);

#define UNPACK_32(type)                                                            \
    static void unpack_##type(const uint8_t *const rows[TILE_ROWS], size_t blocks, \
                              struct panel_tile *out)                              \
    {                                                                              \
        unpack_tile_32(type, rows, blocks, out);                                   \
    }
#define PANEL_256(type)                                                            \
    static void unpack_##type(const uint8_t *const rows[TILE_ROWS], size_t blocks, \
                              struct panel_tile *out)                              \
    {                                                                              \
        (void)blocks;                                                              \
        unpack_tile_256(type, rows, out);                                          \
    }                                                                              \
    static void multiply_##type(const struct part *part)                           \
    {                                                                              \
        multiply_256(part, type);                                                  \
    }
#define MULTIPLY_32(name, ...)                              \
    static void multiply_##name(const struct part *part)    \
    {                                                       \
        multiply_32(part, (struct traits_32){__VA_ARGS__}); \
    }
UNPACK_32(TENSOR_Q4_0)
UNPACK_32(TENSOR_Q4_1)
UNPACK_32(TENSOR_Q5_0)
UNPACK_32(TENSOR_Q5_1)
UNPACK_32(TENSOR_Q8_0)
UNPACK_32(TENSOR_IQ4_NL)
UNPACK_32(TENSOR_MXFP4)
PANEL_256(TENSOR_Q2_K)
PANEL_256(TENSOR_Q3_K)
PANEL_256(TENSOR_Q4_K)
PANEL_256(TENSOR_Q5_K)
PANEL_256(TENSOR_Q6_K)
PANEL_256(TENSOR_IQ4_XS)
/* Largest sums: 8 * 2 * 15 * 127 = 30480; of five bits 4 * 2 * 31 * 127 = 31496. */
MULTIPLY_32(four_bits, KIND_UNSIGNED, 8, 0, false)
MULTIPLY_32(four_bits_minimum, KIND_UNSIGNED, 8, -1, true)
MULTIPLY_32(five_bits, KIND_UNSIGNED, 4, 1, false)
MULTIPLY_32(five_bits_minimum, KIND_UNSIGNED, 4, -1, true)
MULTIPLY_32(eight_bits, VNNI ? KIND_SIGNED : KIND_WIDE, 1, -1, false)

#define TYPE(type, multiply) [type] = {unpack_##type, multiply}
static const struct panel_type {
    unpack_fn *unpack;
    multiply_fn *multiply;
} panel_types[TENSOR_TYPE_COUNT] = {
    TYPE(TENSOR_Q4_0, multiply_four_bits),       TYPE(TENSOR_Q4_1, multiply_four_bits_minimum),
    TYPE(TENSOR_Q5_0, multiply_five_bits),       TYPE(TENSOR_Q5_1, multiply_five_bits_minimum),
    TYPE(TENSOR_Q8_0, multiply_eight_bits),      TYPE(TENSOR_IQ4_NL, multiply_eight_bits),
    TYPE(TENSOR_MXFP4, multiply_five_bits),      TYPE(TENSOR_Q2_K, multiply_TENSOR_Q2_K),
    TYPE(TENSOR_Q3_K, multiply_TENSOR_Q3_K),     TYPE(TENSOR_Q4_K, multiply_TENSOR_Q4_K),
    TYPE(TENSOR_Q5_K, multiply_TENSOR_Q5_K),     TYPE(TENSOR_Q6_K, multiply_TENSOR_Q6_K),
    TYPE(TENSOR_IQ4_XS, multiply_TENSOR_IQ4_XS),
};

/* ---- the whole ------------------------------------------------------------------------------- */

/* A product of up to PANEL_ROWS rows. */
struct product {
    enum tensor_type type;
    const uint8_t *weights; /* the first row */
    size_t row_bytes, cols, rows;
};

/* Where 256 columns of a tile's rows begin. After the last row it is the last one again; its sums
 * are not read. */
static void tile_rows(const struct product *product, size_t row, size_t offset,
                      const uint8_t *out[TILE_ROWS])
{
    for (size_t r = 0; r < TILE_ROWS; r++) {
        size_t at = row + r < product->rows ? row + r : product->rows - 1;
        out[r] = product->weights + at * product->row_bytes + offset;
    }
}

/* Prefetches the weights that are unpacked next, while these are multiplied: unpacking would wait
 * for the memory, which is idle during products. They go to the second-level cache, because the
 * first is full of current data. After the last rows the prefetch is useless. */
static void prefetch_tile(const struct product *product, size_t row, size_t offset, size_t bytes)
{
    size_t next = offset + bytes;
    if (next >= product->row_bytes) {
        next = 0;
        row += product->rows;
    }
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t line = 0; line < bytes; line += 64)
            _mm_prefetch(
                (const char *)(product->weights + (row + r) * product->row_bytes + next + line),
                _MM_HINT_T1);
}

/* A panel's activations of `blocks` blocks of 32, plus 128. */
static void stage_signed(const uint8_t *x, size_t stride, size_t blocks, uint8_t *out)
{
    const __m256i sign = _mm256_set1_epi8(-128);
    for (size_t b = 0; b < blocks; b++, x += stride, out += 512)
#pragma GCC unroll 16
        for (int k = 0; k < 16; k++)
            _mm256_store_si256((void *)(out + 32 * k), _mm256_xor_si256(load_tokens(x, k), sign));
}

/* The same as words: even columns of a four, then odd ones. */
static void stage_wide(const uint8_t *x, size_t stride, size_t blocks, uint8_t *out)
{
    for (size_t b = 0; b < blocks; b++, x += stride, out += 1024)
#pragma GCC unroll 16
        for (int k = 0; k < 16; k++) {
            __m256i bytes = load_tokens(x, k);
            uint8_t *to = out + 128 * (k / 2) + 32 * (k % 2);
            _mm256_store_si256((void *)to, _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8));
            _mm256_store_si256((void *)(to + 64), _mm256_srai_epi16(bytes, 8));
        }
}

/* Columns [c, c + cols) of all rows, with all panels. */
static void multiply_columns(const struct product *product, size_t c, size_t cols,
                             const uint8_t *panels, size_t panel_bytes, size_t panel_count,
                             struct work *work)
{
    const struct panel_type *functions = &panel_types[product->type];
    multiply_fn *multiply = functions->multiply != NULL        ? functions->multiply
                            : tile_has_sixteens(product->type) ? multiply_low
                                                               : multiply_eight_bits;
    const enum panel_kind kind = panel_kind(product->type);
    const bool small = activation_form_of(product->type) == ACTIVATION_Q8_32;
    const size_t at = c / PANEL_COLS * (small ? 8 * PANEL32_BYTES : PANEL256_BYTES);
    const size_t offset = product->row_bytes * c / product->cols;
    const size_t bytes = product->row_bytes * cols / product->cols;
    struct part part = {.blocks = cols / (small ? BLOCK_32 : SUPER_BLOCK)};
    for (size_t row = 0; row < product->rows; row += TILE_ROWS) {
        const uint8_t *rows[TILE_ROWS];
        tile_rows(product, row, offset, rows);
        if (functions->unpack != NULL)
            functions->unpack(rows, part.blocks, &work->tiles[row / TILE_ROWS]);
        else
            unpack_tile_low(product->type, rows, part.blocks, &work->tiles[row / TILE_ROWS]);
    }
    for (size_t p = 0; p < panel_count; p++) {
        part.act = panels + p * panel_bytes + at;
        part.x = part.act;
        part.x_stride = small ? PANEL32_BYTES : 512;
        if (kind != KIND_UNSIGNED) {
            (kind == KIND_WIDE ? stage_wide : stage_signed)(part.act, part.x_stride,
                                                            cols / BLOCK_32, work->staged);
            part.x = work->staged;
            part.x_stride = kind == KIND_WIDE ? 1024 : 512;
        }
        for (size_t row = 0; row < product->rows; row += TILE_ROWS) {
            if (p == 0)
                prefetch_tile(product, row, offset, bytes);
            part.w = &work->tiles[row / TILE_ROWS];
            part.sums = &work->sums[p][row];
            multiply(&part);
        }
    }
}

/* Sums of up to eight rows and tokens, to y[token][row]. */
static void store_square(const float *sums, size_t rows, size_t tokens, float *y, size_t y_stride)
{
    __m256i in[8], first[4], second[4];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++)
        in[r] = _mm256_load_si256((const void *)(sums + r * KERNELS_PANEL_TOKENS));
    transpose_in_quads(in, first);
    transpose_in_quads(in + 4, second);
    for (size_t t = 0; t < tokens; t++) {
        _Alignas(32) float all[8];
        __m256i of_token = join_halves(first[t % 4], second[t % 4], t < 4 ? 0 : 1);
        _mm256_store_si256((void *)all, of_token);
        memcpy(y + t * y_stride, all, rows * sizeof *y);
    }
}

static void store_all(const struct work *work, size_t rows, size_t tokens, float *y,
                      size_t y_stride)
{
    for (size_t t = 0; t < tokens; t += 8)
        for (size_t r = 0; r < rows; r += 8)
            store_square(&work->sums[t / KERNELS_PANEL_TOKENS][r][t % KERNELS_PANEL_TOKENS],
                         rows - r < 8 ? rows - r : 8, tokens - t < 8 ? tokens - t : 8,
                         y + t * y_stride + r, y_stride);
}

/* All columns times up to TOKENS_AT_ONCE tokens, into work->sums. */
static void multiply_all(const struct product *product, const uint8_t *panels, size_t panel_bytes,
                         size_t tokens, struct work *work)
{
    const size_t panel_count = (tokens + KERNELS_PANEL_TOKENS - 1) / KERNELS_PANEL_TOKENS;
    const size_t rows_up = (product->rows + 7) / 8 * 8; /* store_square() reads eight */
    for (size_t p = 0; p < panel_count; p++)
        memset(work->sums[p], 0, rows_up * sizeof work->sums[p][0]);
    for (size_t c = 0; c < product->cols; c += PANEL_COLS) {
        size_t left = product->cols - c;
        multiply_columns(product, c, left < PANEL_COLS ? left : PANEL_COLS, panels, panel_bytes,
                         panel_count, work);
    }
}

void PANEL_VARIANT(matmul_panels)(enum tensor_type type, const void *weights, size_t row_bytes,
                                  size_t cols, size_t row_begin, size_t row_end, const void *panels,
                                  size_t act_stride, size_t tokens, float *y, size_t y_stride)
{
    ASSERT((unsigned)type < TENSOR_TYPE_COUNT);
    ASSERT(panel_types[type].unpack != NULL || block_low_has(type));
    struct work work;
    block_low_prepare();
    for (size_t row = row_begin; row < row_end; row += PANEL_ROWS) {
        struct product product = {.type = type,
                                  .weights = (const uint8_t *)weights + row * row_bytes,
                                  .row_bytes = row_bytes,
                                  .cols = cols,
                                  .rows = row_end - row < PANEL_ROWS ? row_end - row : PANEL_ROWS};
        for (size_t t = 0; t < tokens; t += TOKENS_AT_ONCE) {
            size_t count = tokens - t < TOKENS_AT_ONCE ? tokens - t : TOKENS_AT_ONCE;
            multiply_all(&product, (const uint8_t *)panels + t * act_stride,
                         KERNELS_PANEL_TOKENS * act_stride, count, &work);
            store_all(&work, product.rows, count, y + t * y_stride + row, y_stride);
        }
    }
}

#endif
