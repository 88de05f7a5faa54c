/* Products of many tokens with AVX-512 VNNI: one integer product for every quantised type.
 *
 * Weights stay in memory as the file has them. PANEL_ROWS rows by 256 columns at a time are
 * unpacked into signed bytes (panel_unpack_avx512.h). That costs a few per cent if a hundred tokens
 * or more use them. Each lane holds a token (panel.h), so a register tile of rows by panels needs
 * one broadcast for each four weights and no shuffle. Rejected: copies of the weights in this
 * layout, made at load. They would save those per cent, but cost a second copy in memory, start-up
 * time, and the sharing of the mapped file.
 *
 * The float sum of a row and token goes through the blocks in order, with the same operations as in
 * quants_avx512.c, so both give the same bits. */
#include "base/core/assertion.h"
#include "kernels/panel.h"
#include "kernels/variants.h"
#include "kernels/x86/panel_unpack_avx512.h"

enum {
    TOKENS_AT_ONCE = 512, /* their sums take 128 KB, which stay in the second-level cache */
    SUMS_STRIDE = TOKENS_AT_ONCE + 16, /* at a stride of 1 KiB they would share few cache sets */
    WIDTH_MAX = 4                      /* panels of a register tile */
};

/* Working memory for PANEL_ROWS rows by at most TOKENS_AT_ONCE tokens. */
struct work {
    _Alignas(64) float sums[PANEL_ROWS][SUMS_STRIDE];
    union {
        struct panel_weights_32 w32;
        struct panel_weights_256 w256;
    };
};

/* What a tile multiplies. `sums` and `act` are of its first panel and of the current columns. */
struct part {
    struct work *work;
    size_t rows; /* a multiple of the tile's */
    size_t blocks;
    const uint8_t *act;
    size_t panel_bytes;   /* from panel to panel */
    size_t token;         /* index in work->sums */
    const uint8_t *ahead; /* weights that are unpacked next, to prefetch */
    size_t ahead_bytes;   /* of them, for each row and block of this part; 0 = none */
};

/* Prefetches the next weights while these are multiplied. Otherwise unpacking would wait for the
 * memory, which is idle during products. They go to the second-level cache, because the first is
 * full of current data. After the last rows the prefetch may be useless. */
TILE_INLINE void prefetch_ahead(const uint8_t *ahead, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += 64)
        _mm_prefetch((const char *)(ahead + line), _MM_HINT_T1);
}

TILE_INLINE __m512i repeat_four(const int8_t *at)
{
    return _mm512_set1_epi32((int32_t)load_u32(at));
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* Keeps a value in its register. Otherwise compilers load it again for each use, and loads are the
 * bottleneck of the inner loop. */
#define KEEP(register) __asm__("" : "+v"(register))

enum kind_32 { PLAIN, MINIMUM, SIXTEENS }; /* SIXTEENS: see tile_has_sixteens() */

/* Adds one block to a register tile of `height` rows from `row` on by `width` panels; of SIXTEENS
 * the half `half` of a block. */
TILE_INLINE void block_32(const struct part *part, enum kind_32 kind, int height, int width,
                          size_t row, size_t block, size_t half, __m512 sums[][WIDTH_MAX])
{
    const struct panel_weights_32 *w = &part->work->w32;
    const uint8_t *act = part->act + block * PANEL32_BYTES;
    const int8_t *quants = w->quants[row] + 16 * block + 64 * (block / 4) + 64 * half;
    const size_t scales_at = row / 4 * 32 + row % 4 + 4 * block + 8 * PANEL_ROWS * half;
    const size_t fours = kind == SIXTEENS ? 4 : 8;
    __m512i dots[8][WIDTH_MAX];
#pragma GCC unroll 8
    for (size_t r = 0; r < (size_t)height; r++) {
        __m512i start = _mm512_set1_epi32(w->start[scales_at + r / 4 * 32 + r % 4]);
#pragma GCC unroll 4
        for (int c = 0; c < width; c++)
            dots[r][c] = start;
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < fours; k++) {
        __m512i x[WIDTH_MAX];
#pragma GCC unroll 4
        for (int c = 0; c < width; c++) {
            x[c] = _mm512_loadu_si512(act + (size_t)c * part->panel_bytes + 64 * k + 256 * half);
            KEEP(x[c]);
        }
#pragma GCC unroll 8
        for (size_t r = 0; r < (size_t)height; r++) {
            __m512i weights = repeat_four(quants + r * PANEL_COLS + 64 * (k / 4) + 4 * (k % 4));
#pragma GCC unroll 4
            for (int c = 0; c < width; c++)
                dots[r][c] = _mm512_dpbusd_epi32(dots[r][c], x[c], weights);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < width; c++) {
        const uint8_t *a = act + (size_t)c * part->panel_bytes;
        __m512 scale = _mm512_loadu_ps(a + PANEL32_SCALE_AT);
#pragma GCC unroll 8
        for (size_t r = 0; r < (size_t)height; r++) {
            size_t at = scales_at + r / 4 * 32 + r % 4;
            sums[r][c] =
                _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[r][c]),
                                _mm512_mul_ps(_mm512_set1_ps(w->scale[at]), scale), sums[r][c]);
            if (kind == MINIMUM)
                sums[r][c] = _mm512_fmadd_ps(_mm512_loadu_ps(a + PANEL32_BIAS_AT),
                                             _mm512_mul_ps(_mm512_set1_ps(w->minimum[at]), scale),
                                             sums[r][c]);
        }
    }
}

TILE_INLINE void multiply_32(const struct part *part, enum kind_32 kind, int height, int width)
{
    const size_t halves = kind == SIXTEENS ? 2 : 1;
    const size_t ahead_bytes = (size_t)height * part->ahead_bytes;
    const uint8_t *ahead = part->ahead;
    for (size_t row = 0; row < part->rows; row += (size_t)height) {
        __m512 sums[8][WIDTH_MAX];
#pragma GCC unroll 8
        for (int r = 0; r < height; r++)
#pragma GCC unroll 4
            for (int c = 0; c < width; c++)
                sums[r][c] = _mm512_load_ps(part->work->sums[row + (size_t)r] + part->token +
                                            KERNELS_PANEL_TOKENS * c);
#pragma GCC unroll 1
        for (size_t i = 0; i < halves * part->blocks; i++) {
            if (i % halves == 0) {
                prefetch_ahead(ahead, ahead_bytes);
                ahead += ahead_bytes;
            }
            block_32(part, kind, height, width, row, i / halves, i % halves, sums);
        }
#pragma GCC unroll 8
        for (int r = 0; r < height; r++)
#pragma GCC unroll 4
            for (int c = 0; c < width; c++)
                _mm512_store_ps(part->work->sums[row + (size_t)r] + part->token +
                                    KERNELS_PANEL_TOKENS * c,
                                sums[r][c]);
    }
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* The scaled sum of all dots of a super-block. */
TILE_INLINE void dots_256(const struct part *part, enum tensor_type type, int height, int width,
                          size_t row, __m512i totals[][WIDTH_MAX])
{
    const struct panel_weights_256 *w = &part->work->w256;
    const size_t cols = (size_t)dot_cols_256(type);
    const size_t ahead_bytes = (size_t)height * part->ahead_bytes * cols / SUPER_BLOCK;
    const uint8_t *ahead = part->ahead + row * part->ahead_bytes;
#pragma GCC unroll 1
    for (size_t at = 0; at < SUPER_BLOCK; at += cols, ahead += ahead_bytes) {
        prefetch_ahead(ahead, ahead_bytes);
        __m512i dots[8][WIDTH_MAX];
#pragma GCC unroll 8
        for (int r = 0; r < height; r++) {
            __m512i start = _mm512_set1_epi32(w->start[row + (size_t)r][at / 4]);
#pragma GCC unroll 4
            for (int c = 0; c < width; c++)
                dots[r][c] = start;
        }
#pragma GCC unroll 8
        for (size_t k = 0; k < cols / 4; k++) {
            __m512i x[WIDTH_MAX];
#pragma GCC unroll 4
            for (int c = 0; c < width; c++) {
                x[c] = _mm512_loadu_si512(part->act + (size_t)c * part->panel_bytes + 16 * at +
                                          64 * k);
                KEEP(x[c]);
            }
#pragma GCC unroll 8
            for (int r = 0; r < height; r++) {
                __m512i weights = repeat_four(w->quants[row + (size_t)r] + at + 4 * k);
#pragma GCC unroll 4
                for (int c = 0; c < width; c++)
                    dots[r][c] = _mm512_dpbusd_epi32(dots[r][c], x[c], weights);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < height; r++) {
            __m512i factor = _mm512_set1_epi32(w->factor[row + (size_t)r][at / 16]);
#pragma GCC unroll 4
            for (int c = 0; c < width; c++)
                totals[r][c] =
                    has_wide_dots_256(type)
                        ? _mm512_add_epi32(totals[r][c], _mm512_mullo_epi32(dots[r][c], factor))
                        : _mm512_dpwssd_epi32(totals[r][c], dots[r][c], factor);
        }
    }
}

/* Adds the activations' sums, `pairs` registers of them at `at`, times int16 factors of the
 * rows. */
TILE_INLINE void add_totals(const struct part *part, size_t at, int pairs, const int32_t *factors,
                            size_t factors_stride, int height, int width,
                            __m512i totals[][WIDTH_MAX])
{
#pragma GCC unroll 8
    for (int i = 0; i < pairs; i++)
#pragma GCC unroll 4
        for (int c = 0; c < width; c++) {
            __m512i sums =
                _mm512_loadu_si512(part->act + (size_t)c * part->panel_bytes + at + 64 * (size_t)i);
#pragma GCC unroll 8
            for (int r = 0; r < height; r++)
                totals[r][c] = _mm512_dpwssd_epi32(
                    totals[r][c], sums,
                    _mm512_set1_epi32(factors[(size_t)r * factors_stride + (size_t)i]));
        }
}

TILE_INLINE void zero_totals(int height, int width, __m512i totals[][WIDTH_MAX])
{
#pragma GCC unroll 8
    for (int r = 0; r < height; r++)
#pragma GCC unroll 4
        for (int c = 0; c < width; c++)
            totals[r][c] = _mm512_setzero_si512();
}

/* sums += sign * total * factor * scale, factors those of the rows. */
TILE_INLINE void add_scaled_totals(const struct part *part, bool subtract, const float *factors,
                                   size_t row, int height, int width, __m512i totals[][WIDTH_MAX])
{
#pragma GCC unroll 4
    for (int c = 0; c < width; c++) {
        __m512 scale =
            _mm512_loadu_ps(part->act + (size_t)c * part->panel_bytes + PANEL256_SCALE_AT);
#pragma GCC unroll 8
        for (int r = 0; r < height; r++) {
            float *to = part->work->sums[row + (size_t)r] + part->token + KERNELS_PANEL_TOKENS * c;
            __m512 total = _mm512_cvtepi32_ps(totals[r][c]);
            __m512 factor = _mm512_mul_ps(_mm512_set1_ps(factors[r]), scale);
            __m512 sum = _mm512_load_ps(to);
            sum = subtract ? _mm512_fnmadd_ps(total, factor, sum)
                           : _mm512_fmadd_ps(total, factor, sum);
            _mm512_store_ps(to, sum);
        }
    }
}

TILE_INLINE void multiply_256(const struct part *part, enum tensor_type type, int height, int width)
{
    const struct panel_weights_256 *w = &part->work->w256;
    for (size_t row = 0; row < part->rows; row += (size_t)height) {
        __m512i totals[8][WIDTH_MAX];
        zero_totals(height, width, totals);
        dots_256(part, type, height, width, row, totals);
        if (center_256(type) != 0)
            add_totals(part, PANEL256_TOTALS32_AT, 4, w->center[row], 4, height, width, totals);
        add_scaled_totals(part, false, w->scale + row, row, height, width, totals);
        if (!tile_has_minimum(type))
            continue;
        zero_totals(height, width, totals);
        if (type == TENSOR_Q2_K)
            add_totals(part, PANEL256_TOTALS_AT, 8, w->taken[row], 8, height, width, totals);
        else
            add_totals(part, PANEL256_TOTALS32_AT, 4, w->taken[row], 8, height, width, totals);
        add_scaled_totals(part, true, w->minimum + row, row, height, width, totals);
    }
}

/* ---- one function a type and width ----------------------------------------------------------- */

typedef void multiply_fn(const struct part *part);
/* Columns from column block `block` on, `blocks` blocks of the type, of `rows` rows. */
typedef void unpack_fn(const uint8_t *weights, size_t row_bytes, size_t rows, size_t block,
                       size_t blocks, struct work *work);

/* Rows after the last one repeat the last row. Their sums are not read. */
TILE_INLINE void unpack_part_32(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                                size_t rows, size_t block, size_t blocks, struct work *work)
{
    for (size_t row = 0; row < rows; row += 4)
        for (size_t b = 0; b < blocks; b += 4) {
            const uint8_t *at[4];
            for (size_t r = 0; r < 4; r++)
                at[r] = weights + (row + r < rows ? row + r : rows - 1) * row_bytes +
                        (block + b) * tile_block_bytes(type);
            if (blocks - b >= 4)
                panel_unpack_quad(type, at, b / 4, 4, row / 4, &work->w32);
            else
                panel_unpack_quad(type, at, b / 4, blocks - b, row / 4, &work->w32);
        }
}

static void unpack_part_low(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                            size_t rows, size_t cols, struct work *work)
{
    for (size_t row = 0; row < rows; row += 4) {
        const uint8_t *at[4];
#pragma GCC unroll 1
        for (size_t r = 0; r < 4; r++)
            at[r] = weights + (row + r < rows ? row + r : rows - 1) * row_bytes;
        panel_unpack_low(type, at, cols, row / 4, &work->w32);
    }
}

TILE_INLINE void unpack_part_256(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                                 size_t rows, size_t block, struct work *work)
{
    for (size_t row = 0; row < rows; row++)
        panel_unpack_256(type, weights + row * row_bytes + block * tile_block_bytes(type), row,
                         &work->w256);
}

#define UNPACK_32(type)                                                                            \
    static void unpack_##type(const uint8_t *weights, size_t row_bytes, size_t rows, size_t block, \
                              size_t blocks, struct work *work)                                    \
    {                                                                                              \
        unpack_part_32(type, weights, row_bytes, rows, block, blocks, work);                       \
    }
#define UNPACK_256(type)                                                                           \
    static void unpack_##type(const uint8_t *weights, size_t row_bytes, size_t rows, size_t block, \
                              size_t blocks, struct work *work)                                    \
    {                                                                                              \
        (void)blocks;                                                                              \
        unpack_part_256(type, weights, row_bytes, rows, block, work);                              \
    }
UNPACK_32(TENSOR_Q4_0)
UNPACK_32(TENSOR_Q4_1)
UNPACK_32(TENSOR_Q5_0)
UNPACK_32(TENSOR_Q5_1)
UNPACK_32(TENSOR_Q8_0)
UNPACK_32(TENSOR_IQ4_NL)
UNPACK_32(TENSOR_MXFP4)
UNPACK_256(TENSOR_Q2_K)
UNPACK_256(TENSOR_Q3_K)
UNPACK_256(TENSOR_Q4_K)
UNPACK_256(TENSOR_Q5_K)
UNPACK_256(TENSOR_Q6_K)
UNPACK_256(TENSOR_IQ4_XS)

/* Rows of a register tile, by its width in panels. Eight products or more hide their latency.
 * Sixteen need fewer loads each and are 5 to 10 % faster with four panels, although the sums then
 * go through memory. All divide PANEL_ROWS. */
enum { HEIGHT_1 = 8, HEIGHT_2 = 4, HEIGHT_4 = 4, HEIGHT_MAX = 8 };

#define MULTIPLY(body, kind, width)                              \
    static void body##_##kind##_##width(const struct part *part) \
    {                                                            \
        body(part, kind, HEIGHT_##width, width);                 \
    }
#define MULTIPLIES(body, kind) \
    MULTIPLY(body, kind, 1)    \
    MULTIPLY(body, kind, 2)    \
    MULTIPLY(body, kind, 4)
/* Rarer types have no function for two panels: that would take 2.5 KB of code for each type. */
#define MULTIPLIES_SMALL(body, kind)                       \
    MULTIPLY(body, kind, 1)                                \
    MULTIPLY(body, kind, 4)                                \
    static void body##_##kind##_2(const struct part *part) \
    {                                                      \
        struct part single = *part;                        \
        body##_##kind##_1(&single);                        \
        single.act += single.panel_bytes;                  \
        single.token += KERNELS_PANEL_TOKENS;              \
        body##_##kind##_1(&single);                        \
    }
MULTIPLIES(multiply_32, PLAIN)
MULTIPLIES(multiply_32, MINIMUM)
MULTIPLIES_SMALL(multiply_32, SIXTEENS)
MULTIPLIES_SMALL(multiply_256, TENSOR_Q2_K)
MULTIPLIES_SMALL(multiply_256, TENSOR_Q3_K)
MULTIPLIES(multiply_256, TENSOR_Q4_K)
MULTIPLIES_SMALL(multiply_256, TENSOR_Q5_K)
MULTIPLIES(multiply_256, TENSOR_Q6_K)
MULTIPLIES_SMALL(multiply_256, TENSOR_IQ4_XS)

struct panel_type {
    unpack_fn *unpack;
    multiply_fn *multiply[3]; /* 1, 2 and 4 panels */
};

#define WIDTHS(body, kind)                                      \
    {                                                           \
        body##_##kind##_1, body##_##kind##_2, body##_##kind##_4 \
    }
static const struct panel_type panel_types[TENSOR_TYPE_COUNT] = {
    [TENSOR_Q4_0] = {unpack_TENSOR_Q4_0, WIDTHS(multiply_32, PLAIN)},
    [TENSOR_Q4_1] = {unpack_TENSOR_Q4_1, WIDTHS(multiply_32, MINIMUM)},
    [TENSOR_Q5_0] = {unpack_TENSOR_Q5_0, WIDTHS(multiply_32, PLAIN)},
    [TENSOR_Q5_1] = {unpack_TENSOR_Q5_1, WIDTHS(multiply_32, MINIMUM)},
    [TENSOR_Q8_0] = {unpack_TENSOR_Q8_0, WIDTHS(multiply_32, PLAIN)},
    [TENSOR_IQ4_NL] = {unpack_TENSOR_IQ4_NL, WIDTHS(multiply_32, PLAIN)},
    [TENSOR_MXFP4] = {unpack_TENSOR_MXFP4, WIDTHS(multiply_32, PLAIN)},
    [TENSOR_Q2_K] = {unpack_TENSOR_Q2_K, WIDTHS(multiply_256, TENSOR_Q2_K)},
    [TENSOR_Q3_K] = {unpack_TENSOR_Q3_K, WIDTHS(multiply_256, TENSOR_Q3_K)},
    [TENSOR_Q4_K] = {unpack_TENSOR_Q4_K, WIDTHS(multiply_256, TENSOR_Q4_K)},
    [TENSOR_Q5_K] = {unpack_TENSOR_Q5_K, WIDTHS(multiply_256, TENSOR_Q5_K)},
    [TENSOR_Q6_K] = {unpack_TENSOR_Q6_K, WIDTHS(multiply_256, TENSOR_Q6_K)},
    [TENSOR_IQ4_XS] = {unpack_TENSOR_IQ4_XS, WIDTHS(multiply_256, TENSOR_IQ4_XS)},
};

/* Of the types of blocks_low.h, by tile_has_sixteens(); unpack_part_low() unpacks them. */
static const struct panel_type low_types[2] = {{NULL, WIDTHS(multiply_32, PLAIN)},
                                               {NULL, WIDTHS(multiply_32, SIXTEENS)}};

/* ---- the whole ------------------------------------------------------------------------------- */

/* Sums of up to sixteen rows and tokens, rows in work->sums, to y[token][row]. */
static void store_square(const struct work *work, size_t row, size_t rows, size_t token,
                         size_t tokens, float *y, size_t y_stride)
{
    __m512i quads[4][4]; /* [4-rows][token % 4], 128-bit lanes: token / 4 */
    for (size_t q = 0; q < 4; q++) {
        __m512i in[4];
        for (size_t r = 0; r < 4; r++)
            in[r] = _mm512_load_si512(work->sums[row + 4 * q + r] + token);
        transpose_in_quads(in, quads[q]);
    }
    __mmask16 mask = (__mmask16)(0xffffu >> (16 - rows));
    for (size_t g = 0; g < 4; g++) {
        __m512i in[4] = {quads[0][g], quads[1][g], quads[2][g], quads[3][g]}, out[4];
        transpose_quads(in, out);
        for (size_t lane = 0; lane < 4; lane++)
            if (4 * lane + g < tokens)
                _mm512_mask_storeu_ps(y + (4 * lane + g) * y_stride, mask,
                                      _mm512_castsi512_ps(out[lane]));
    }
}

static void store_all(const struct work *work, size_t rows, size_t tokens, float *y,
                      size_t y_stride)
{
    for (size_t t = 0; t < tokens; t += KERNELS_PANEL_TOKENS)
        for (size_t r = 0; r < rows; r += 16)
            store_square(work, r, rows - r < 16 ? rows - r : 16, t,
                         tokens - t < KERNELS_PANEL_TOKENS ? tokens - t : KERNELS_PANEL_TOKENS,
                         y + t * y_stride + r, y_stride);
}

/* All columns of up to PANEL_ROWS rows times up to TOKENS_AT_ONCE tokens, into work->sums. */
static void multiply_all(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                         size_t cols, size_t rows, const uint8_t *panels, size_t panel_bytes,
                         size_t tokens, struct work *work)
{
    const struct panel_type *functions =
        block_low_has(type) ? &low_types[tile_has_sixteens(type)] : &panel_types[type];
    const size_t block_cols = activation_form_of(type) == ACTIVATION_Q8_32 ? BLOCK_32 : SUPER_BLOCK;
    const size_t block_bytes = block_cols == BLOCK_32 ? PANEL32_BYTES : PANEL256_BYTES;
    const size_t panel_count = (tokens + KERNELS_PANEL_TOKENS - 1) / KERNELS_PANEL_TOKENS;
    const size_t rows_up = (rows + HEIGHT_MAX - 1) / HEIGHT_MAX * HEIGHT_MAX;
    const size_t weight_bytes = row_bytes * block_cols / cols;
    const uint8_t *ahead = weights + rows * row_bytes;
    for (size_t r = 0; r < rows_up; r++)
        for (size_t t = 0; t < tokens; t += KERNELS_PANEL_TOKENS)
            _mm512_store_ps(work->sums[r] + t, _mm512_setzero_ps());
    for (size_t c = 0; c < cols; c += PANEL_COLS) {
        size_t left = cols - c < PANEL_COLS ? cols - c : PANEL_COLS;
        if (functions->unpack != NULL)
            functions->unpack(weights, row_bytes, rows, c / block_cols, left / block_cols, work);
        else
            unpack_part_low(type, weights + row_bytes * c / cols, row_bytes, rows, left, work);
        for (size_t p = 0, width; p < panel_count; p += width) {
            width = panel_count - p >= 4 ? 4 : panel_count - p >= 2 ? 2 : 1;
            struct part part = {
                .work = work,
                .rows = rows_up,
                .blocks = left / block_cols,
                .act = panels + p * panel_bytes + c / block_cols * block_bytes,
                .panel_bytes = panel_bytes,
                .token = p * KERNELS_PANEL_TOKENS,
                .ahead = ahead + rows_up * weight_bytes * (c / block_cols),
                .ahead_bytes = p == 0 ? weight_bytes : 0,
            };
            functions->multiply[width / 2](&part);
        }
    }
}

void matmul_panels_avx512(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                          size_t row_begin, size_t row_end, const void *panels, size_t act_stride,
                          size_t tokens, float *y, size_t y_stride)
{
    ASSERT((unsigned)type < TENSOR_TYPE_COUNT);
    ASSERT(panel_types[type].unpack != NULL || block_low_has(type));
    const size_t panel_bytes = KERNELS_PANEL_TOKENS * act_stride;
    struct work work;
    block_low_prepare();
    if ((row_end - row_begin) % HEIGHT_MAX != 0) /* missing rows are read, though not stored */
        memset(&work.w256, 0, sizeof work.w256);
    for (size_t row = row_begin; row < row_end; row += PANEL_ROWS) {
        size_t rows = row_end - row < PANEL_ROWS ? row_end - row : PANEL_ROWS;
        for (size_t t = 0; t < tokens; t += TOKENS_AT_ONCE) {
            size_t count = tokens - t < TOKENS_AT_ONCE ? tokens - t : TOKENS_AT_ONCE;
            multiply_all(type, (const uint8_t *)weights + row * row_bytes, row_bytes, cols, rows,
                         (const uint8_t *)panels + t * act_stride, panel_bytes, count, &work);
            store_all(&work, rows, count, y + t * y_stride + row, y_stride);
        }
    }
}
