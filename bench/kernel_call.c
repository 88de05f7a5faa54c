/* One product of one kernel, for tools that count its instructions: bench/count_instructions.py.
 *
 *   kernel_call TYPE ROWS COLS TOKENS      from nine tokens on, in panels */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

static void *zeros(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL)
        abort();
    return memset(memory, 0, bytes);
}

static bool find_type(const char *name, enum tensor_type *out)
{
    for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++) {
        const struct tensor_traits *traits = tensor_traits_get(type);
        if (traits != NULL && strcmp(traits->name, name) == 0) {
            *out = (enum tensor_type)type;
            return true;
        }
    }
    return false;
}

static void call(enum tensor_type type, size_t rows, size_t cols, size_t tokens)
{
    const struct kernels *kernels = kernels_get(TD_CPU_AUTO, NULL);
    const struct tensor_traits *traits = tensor_traits_get(type);
    const enum activation_form form = kernels->form_of(type);
    const size_t row_bytes = cols / traits->block_elements * traits->block_bytes;
    const size_t stride = kernels->activation_bytes(form, cols);
    const size_t in_panels = kernels_panel_tokens(kernels, form, tokens);
    uint8_t *weights = zeros(rows * row_bytes);
    uint8_t *acts = zeros((tokens + KERNELS_PANEL_TOKENS) * stride);
    float *y = zeros(rows * tokens * sizeof *y);
    if (in_panels != 0)
        kernels->matmul_panels(type, weights, row_bytes, cols, 0, rows, acts, stride, in_panels, y,
                               rows);
    if (in_panels != tokens)
        kernels->matmul(type, weights, row_bytes, cols, 0, rows, acts + in_panels * stride, stride,
                        tokens - in_panels, y + in_panels * rows, rows);
    printf("%s\n", kernels->name);
    free(weights);
    free(acts);
    free(y);
}

int main(int argc, char **argv)
{
    enum tensor_type type;
    if (argc != 5 || !find_type(argv[1], &type)) {
        fprintf(stderr, "kernel_call TYPE ROWS COLS TOKENS\n");
        return 2;
    }
    const size_t rows = strtoul(argv[2], NULL, 10), cols = strtoul(argv[3], NULL, 10),
                 tokens = strtoul(argv[4], NULL, 10);
    if (rows == 0 || rows > 4096 || tokens == 0 || tokens > 4096 || cols == 0 || cols > 16384 ||
        cols % 256 != 0) {
        fprintf(stderr, "kernel_call: 1 to 4096 rows and tokens, columns a multiple of 256\n");
        return 2;
    }
    call(type, rows, cols, tokens);
    return 0;
}
