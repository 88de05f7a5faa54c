/* Dequantisation against golden vectors, exact to the bit, in every variant; conversion of halves.
 *
 * The vectors come with a work environment, not with the repository: $TANDEM_SHARED/golden, or
 * ../shared/golden beside the source tree. Without them the cases are skipped by name. */
#include <math.h>
#include <strings.h>

#include "base/bytes/buf.h"
#include "base/json/json.h"
#include "kernels/formats.h"
#include "shared_data.h"
#include "variants.h"

static const char *current_name;
static const struct json *current_case;

/* Reads exactly `bytes` bytes. **returns new** (free), NULL when the file is absent or shorter. */
static void *read_exactly(const char *relative, size_t bytes)
{
    char path[4300], name[300];
    snprintf(name, sizeof name, "golden/%s", relative);
    FILE *file = shared_path(path, sizeof path, name) ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return NULL;
    void *data = malloc(bytes);
    if (data != NULL && fread(data, 1, bytes, file) != bytes) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

/* The type whose name is that of "dequant/q4_k" or "dequant/extra-iq1_s", in any case of letters;
 * NULL when not supported. */
static const struct tensor_traits *traits_by_case(const char *name, enum tensor_type *type)
{
    const char *slash = strchr(name, '/');
    if (slash != NULL && strncmp(slash + 1, "extra-", 6) == 0)
        slash += 6;
    for (uint32_t i = 0; slash != NULL && i < TENSOR_TYPE_COUNT; i++) {
        const struct tensor_traits *traits = tensor_traits_get(i);
        if (traits != NULL && strcasecmp(traits->name, slash + 1) == 0) {
            *type = (enum tensor_type)i;
            return traits;
        }
    }
    return NULL;
}

static void test_golden_blocks_dequantize_to_the_bit(void)
{
    enum tensor_type type;
    const struct tensor_traits *traits = traits_by_case(current_name, &type);
    REQUIRE(traits != NULL);
    int64_t count = json_int(json_at(json_get(current_case, "shape"), 0), 0);
    REQUIRE(count > 0 && count <= 1 << 20);
    CHECK(json_int(json_get(current_case, "block"), 0) == traits->block_elements);
    CHECK(json_int(json_get(current_case, "block_bytes"), 0) == traits->block_bytes);
    size_t n = (size_t)count, raw_bytes = n / traits->block_elements * traits->block_bytes;
    uint8_t *raw = read_exactly(json_cstr(json_get(current_case, "raw")), raw_bytes);
    float *expected = read_exactly(json_cstr(json_get(current_case, "golden")), n * sizeof(float));
    float *got = malloc(n * sizeof *got);
    CHECK(raw != NULL && expected != NULL && got != NULL);
    for (const struct variant *v = NULL;
         !test_case_failed && (v = variant_next(v, current_name)) != NULL;) {
        memset(got, 0xee, n * sizeof *got);
        kernels_get(v->cpu, NULL)->dequantize(type, raw, n, got);
        CHECK(memcmp(got, expected, n * sizeof *got) == 0);
    }
    free(raw);
    free(expected);
    free(got);
}

static void run_golden_cases(void)
{
    char path[4300];
    struct json *index = NULL;
    struct buf text;
    buf_init(&text, (size_t)64 << 20);
    bool found = shared_path(path, sizeof path, "golden/index.json") &&
                 buf_read_file(&text, path, NULL) == TD_OK &&
                 json_parse(buf_view(&text), &index, NULL) == TD_OK;
    buf_deinit(&text);
    if (!found) {
        SKIP("golden dequantisation", "no golden/index.json; set TANDEM_SHARED");
        return;
    }
    const struct json *cases = json_get(index, "cases");
    for (size_t i = 0; i < json_count(cases); i++) {
        current_case = json_at(cases, i);
        const char *kind = json_cstr(json_get(current_case, "kind"));
        current_name = json_cstr(json_get(current_case, "name"));
        if (kind == NULL || current_name == NULL || strncmp(kind, "dequant", 7) != 0)
            continue;
        int failed = test_failures();
        RUN(test_golden_blocks_dequantize_to_the_bit);
        if (test_failures() != failed)
            fprintf(stderr, "  in %s\n", current_name);
    }
    json_free(index);
}

static void test_halves_convert_exactly_both_ways(void)
{
    size_t wrong = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
        double magnitude = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                           : exponent == 0 ? ldexp(fraction, -24)
                                           : ldexp(1024 + fraction, (int)exponent - 25);
        double expected = bits & 0x8000 ? -magnitude : magnitude;
        double got = (double)f16_to_f32((uint16_t)bits);
        if (isnan(expected)) {
            uint16_t back = f32_to_f16((float)got);
            wrong += !isnan(got) || (back & 0x7c00) != 0x7c00 || (back & 0x3ff) == 0;
        } else {
            wrong += got != expected || f32_to_f16((float)got) != bits;
        }
    }
    CHECK(wrong == 0);
}

static void test_floats_round_to_the_nearest_half_ties_to_even(void)
{
    CHECK(f32_to_f16(65519.0f) == 0x7bff && f32_to_f16(65520.0f) == 0x7c00);
    CHECK(f32_to_f16(1.0f + 0x1p-11f) == 0x3c00 && f32_to_f16(1.0f + 0x1.8p-10f) == 0x3c02);
    CHECK(f32_to_f16(0x1p-25f) == 0 && f32_to_f16(0x1.000002p-25f) == 1);
    CHECK(f32_to_f16(0x1.8p-24f) == 2 && f32_to_f16(-0x1p-24f) == 0x8001);
    CHECK(f32_to_f16(1e-30f) == 0 && f32_to_f16(-INFINITY) == 0xfc00);
}

static void test_exponents_of_mxfp4_are_halved_powers_of_two(void)
{
    for (int e = 0; e < 256; e++)
        CHECK((double)e8m0_half((uint8_t)e) == ldexp(1.0, e - 128));
}

/* One block, by hand: scale 2^(130 - 127), weights 6, -0.5 and 1.5. */
static void test_mxfp4_weights_are_four_bit_floats(void)
{
    uint8_t block[MXFP4_BYTES] = {130, 0x97, 0x30};
    float out[BLOCK_32];
    kernels_get(TD_CPU_REF, NULL)->dequantize(TENSOR_MXFP4, block, BLOCK_32, out);
    CHECK((double)out[0] == 48 && (double)out[16] == -4);
    CHECK((double)out[1] == 0 && (double)out[17] == 12);
}

int main(void)
{
    RUN(test_exponents_of_mxfp4_are_halved_powers_of_two);
    RUN(test_mxfp4_weights_are_four_bit_floats);
    RUN(test_halves_convert_exactly_both_ways);
    RUN(test_floats_round_to_the_nearest_half_ties_to_even);
    run_golden_cases();
    return test_finish();
}
