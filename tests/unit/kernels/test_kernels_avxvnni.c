/* The panels with vpdpbusd on 256-bit registers give the bits of those with AVX2 alone. The file is
 * built here with the instruction of AVX-512 VL, which is the same operation: few machines have
 * AVX-VNNI, and those with AVX-512 check it, too. */
#include <stdlib.h>
#include <string.h>

#include "kernels/formats.h"
#include "kernels/variants.h"
#include "kernels_fixture.h"

enum { ROWS = 71, TOKENS = 37 };

/* NULL if the type has no panels. */
static const struct tensor_traits *blocks_of(uint32_t type)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    if (traits == NULL ||
        !(kernels_avx2.panel_forms & 1u << activation_form_of((enum tensor_type)type)))
        return NULL;
    return traits;
}

/* Random bits with the exponents' top bits clear: no infinity or NaN as a scale. */
static void fill(uint8_t *weights, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        weights[i] = (uint8_t)(random_u32() & 0xbf);
}

static void check_type(uint32_t type, size_t cols, size_t rows, size_t tokens)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    const enum activation_form form = activation_form_of((enum tensor_type)type);
    const size_t row_bytes = cols / traits->block_elements * traits->block_bytes;
    const size_t stride = activation_form_bytes(form, cols);
    uint8_t *weights = malloc(rows * row_bytes);
    uint8_t *panels = malloc((tokens + KERNELS_PANEL_TOKENS) * stride);
    float *x = malloc(KERNELS_PANEL_TOKENS * cols * sizeof *x);
    float *y = calloc(2 * tokens * rows, sizeof *y), *other = y + tokens * rows;
    fill(weights, rows * row_bytes);
    for (size_t t = 0; t < tokens; t += KERNELS_PANEL_TOKENS) {
        for (size_t i = 0; i < KERNELS_PANEL_TOKENS * cols; i++)
            x[i] = random_float();
        panel_prepare_avx2(form, x, cols, cols,
                           tokens - t < KERNELS_PANEL_TOKENS ? tokens - t : KERNELS_PANEL_TOKENS,
                           panels + t * stride);
    }
    matmul_panels_avx2((enum tensor_type)type, weights, row_bytes, cols, 0, rows, panels, stride,
                       tokens, y, rows);
    matmul_panels_avxvnni((enum tensor_type)type, weights, row_bytes, cols, 0, rows, panels, stride,
                          tokens, other, rows);
    CHECK(memcmp(y, other, tokens * rows * sizeof *y) == 0);
    free(weights);
    free(panels);
    free(x);
    free(y);
}

static void test_panels_with_vnni_give_the_bits_of_those_without(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vnni")) {
        SKIP("panels with vpdpbusd", "this CPU lacks AVX-512 VL and VNNI");
        return;
    }
    for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++) {
        if (blocks_of(type) == NULL)
            continue;
        const size_t block = blocks_of(type)->block_elements;
        for (size_t blocks = 1; blocks < 12; blocks += 2)
            check_type(type, block * blocks, ROWS, TOKENS);
        for (size_t tokens = 1; tokens < 10; tokens++)
            check_type(type, 3 * block, tokens + 2, tokens);
        check_type(type, 2 * block, ROWS, 280);
    }
}

int main(void)
{
    RUN(test_panels_with_vnni_give_the_bits_of_those_without);
    return test_finish();
}
