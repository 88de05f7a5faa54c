/* The checker of attention and of the pages that it reads: every variant that this CPU has against
 * the reference, which computes in double.
 *
 * Bounds, u = 2^-24. The exponential of the variants is within 2e-7 of the true one, relative
 * (simd_math_body.h). */
#include <math.h>

#include "kernels/formats.h"
#include "kernels/kv_page.h"
#include "kernels_fixture.h"

#define ULP 0x1p-24

static const size_t head_sizes[] = {5, 8, 16, 24, 32, 40, 64, 72, 80, 96, 128, 136, 256, 512};
enum { HEAD_SIZES = sizeof head_sizes / sizeof *head_sizes, HEAD_MAX = 512, ROWS = 13 };

/* The first READ_DIRECTLY are those that attend() reads as stored. */
static const enum td_kv_type kv_types[] = {
    TD_KV_F16,      TD_KV_F32,      TD_KV_Q8_0,      TD_KV_Q4_0,     TD_KV_F16_Q8_0,
    TD_KV_F16_Q4_0, TD_KV_Q8_0_F16, TD_KV_Q8_0_Q4_0, TD_KV_Q4_0_F16, TD_KV_Q4_0_Q8_0};
enum { KV_TYPES = sizeof kv_types / sizeof *kv_types, READ_DIRECTLY = 3 };

/* One page and its rows, in buffers of the exact size. */
struct page {
    size_t head_size, columns;
    enum td_kv_type kv_type;
    void *keys, *values;
};

static void *exact(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes) != 0)
        abort();
    memset(memory, 0xff, bytes); /* NaN: what is not written must not matter */
    return memory;
}

static struct page open_page(size_t head_size, enum td_kv_type kv_type)
{
    return (struct page){head_size, kv_value_columns(head_size), kv_type,
                         exact(kv_keys_bytes(kv_type, head_size)),
                         exact(kv_values_bytes(kv_type, head_size))};
}

static void close_page(struct page *page)
{
    free(page->keys);
    free(page->values);
}

/* Positions [begin, end), keys of about key_size, values of at most 1. */
static void fill_page(const struct kernels *kernels, struct page *page, size_t begin, size_t end,
                      float key_size)
{
    for (size_t at = begin; at < end; at++) {
        float key[HEAD_MAX], value[HEAD_MAX];
        for (size_t i = 0; i < page->head_size; i++) {
            key[i] = random_float() * key_size;
            value[i] = random_float();
        }
        kernels->kv_store(key, value, page->head_size, page->kv_type, at, page->keys, page->values);
    }
}

static void check_store(const struct kernels *kernels)
{
    for (size_t h = 0; h < HEAD_SIZES; h++)
        for (size_t t = 0; t < KV_TYPES; t++) {
            size_t size = head_sizes[h];
            struct page expected = open_page(size, kv_types[t]), got = open_page(size, kv_types[t]);
            for (size_t at = 0; at < KV_PAGE_TOKENS; at += 1 + at % 3) {
                float key[HEAD_MAX], value[HEAD_MAX];
                for (size_t i = 0; i < size; i++) {
                    key[i] = random_float() * (at % 2 ? 1e-6f : 70000.0f);
                    value[i] = random_float() * (at % 5 ? 1 : 1e30f);
                }
                key[0] = at % 7 ? 0x1p-25f : -INFINITY;
                value[size - 1] = at % 7 ? 1.0f + 0x1p-11f : NAN;
                reference()->kv_store(key, value, size, kv_types[t], at, expected.keys,
                                      expected.values);
                kernels->kv_store(key, value, size, kv_types[t], at, got.keys, got.values);
            }
            CHECK(memcmp(got.keys, expected.keys, kv_keys_bytes(kv_types[t], size)) == 0);
            CHECK(memcmp(got.values, expected.values, kv_values_bytes(kv_types[t], size)) == 0);
            close_page(&expected);
            close_page(&got);
        }
}

static void test_stored_pages_are_the_reference_s_bits(void)
{
    with_variants(check_store);
}

static void check_load(const struct kernels *kernels)
{
    for (size_t h = 0; h < HEAD_SIZES; h++)
        for (size_t t = 0; t < KV_TYPES; t++) {
            size_t size = head_sizes[h], columns = kv_value_columns(size), wrong = 0;
            struct page page = open_page(size, kv_types[t]);
            fill_page(reference(), &page, 0, KV_PAGE_TOKENS, 3);
            for (size_t count = 1; count <= KV_PAGE_TOKENS; count += 1 + count / 2) {
                struct page a = open_page(size, TD_KV_F32), b = open_page(size, TD_KV_F32);
                reference()->kv_load(kv_types[t], page.keys, page.values, size, count, a.keys,
                                     a.values);
                kernels->kv_load(kv_types[t], page.keys, page.values, size, count, b.keys,
                                 b.values);
                for (size_t at = 0; at < count; at++)
                    for (size_t i = 0; i < size; i++) {
                        size_t k = i * KV_PAGE_TOKENS + at, v = at * columns + i;
                        wrong += ((float *)a.keys)[k] != ((float *)b.keys)[k];
                        wrong += ((float *)a.values)[v] != ((float *)b.values)[v];
                    }
                close_page(&a);
                close_page(&b);
            }
            CHECK(wrong == 0);
            close_page(&page);
        }
}

static void test_loaded_pages_are_exact(void)
{
    with_variants(check_load);
}

/* A stored element of Q8_0 is within half a step of the true one: 1/254 of the largest of its
 * block, and the rounding of the scale (2^-11 of it). One of Q4_0 is within half a step, an eighth,
 * but for those that the largest number of the other sign clips: a whole one. Small and large
 * blocks side by side keep their own. */
static void check_scaled(const struct kernels *kernels, enum td_kv_type kv_type, float bound)
{
    enum { SIZE = 80 };
    float key[SIZE], value[SIZE], keys[SIZE * KV_PAGE_TOKENS], values[SIZE * KV_PAGE_TOKENS];
    struct page page = open_page(SIZE, kv_type);
    size_t wrong = 0;
    for (size_t i = 0; i < SIZE; i++) {
        key[i] = random_float() * (i < 32 ? 1e-3f : i < 64 ? 1 : 100);
        value[i] = random_float() * (i < 32 ? 50 : 0.01f);
    }
    kernels->kv_store(key, value, SIZE, kv_type, 9, page.keys, page.values);
    kernels->kv_load(kv_type, page.keys, page.values, SIZE, KV_PAGE_TOKENS, keys, values);
    for (size_t i = 0; i < SIZE; i++) {
        float most_key = 0, most_value = 0;
        for (size_t j = i / 32 * 32; j < SIZE && j < i / 32 * 32 + 32; j++) {
            most_key = fmaxf(most_key, fabsf(key[j]));
            most_value = fmaxf(most_value, fabsf(value[j]));
        }
        wrong += fabsf(keys[i * KV_PAGE_TOKENS + 9] - key[i]) > most_key * bound;
        wrong += fabsf(values[9 * SIZE + i] - value[i]) > most_value * bound;
    }
    CHECK(wrong == 0);
    close_page(&page);
}

static void check_q8_0(const struct kernels *kernels)
{
    check_scaled(kernels, TD_KV_Q8_0, 0.0046f);
}

static void check_q4_0(const struct kernels *kernels)
{
    check_scaled(kernels, TD_KV_Q4_0, 0.1255f);
}

/* The largest of a block is kept but for the scale's rounding, whatever its sign; nibbles of
 * neighbours do not mix. */
static void check_extremes(const struct kernels *kernels)
{
    enum { SIZE = 40 };
    float key[SIZE], value[SIZE], keys[SIZE * KV_PAGE_TOKENS], values[48 * KV_PAGE_TOKENS];
    struct page page = open_page(SIZE, TD_KV_Q4_0);
    for (size_t at = 0; at < KV_PAGE_TOKENS; at++) {
        for (size_t i = 0; i < SIZE; i++)
            key[i] = value[i] = i == at % SIZE ? at % 2 ? 3.0f : -5.0f : 0;
        kernels->kv_store(key, value, SIZE, TD_KV_Q4_0, at, page.keys, page.values);
    }
    kernels->kv_load(TD_KV_Q4_0, page.keys, page.values, SIZE, KV_PAGE_TOKENS, keys, values);
    size_t wrong = 0;
    for (size_t at = 0; at < KV_PAGE_TOKENS; at++)
        for (size_t i = 0; i < 48; i++) {
            float expected = i == at % SIZE ? at % 2 ? 3.0f : -5.0f : 0;
            wrong += i < SIZE && keys[i * KV_PAGE_TOKENS + at] != expected;
            wrong += values[at * 48 + i] != expected;
        }
    CHECK(wrong == 0);
    close_page(&page);
}

static void test_quantised_positions_keep_two_digits(void)
{
    check_q8_0(reference());
    with_variants(check_q8_0);
}

static void test_positions_of_four_bits_keep_the_largest_and_an_eighth(void)
{
    check_q4_0(reference());
    with_variants(check_q4_0);
    check_extremes(reference());
    with_variants(check_extremes);
}

/* A row's attention over several pages. */
struct rows {
    struct attend_state states[ROWS];
    float *q, *sums;
};

static struct rows open_rows(size_t head_size)
{
    struct rows rows = {.q = exact(ROWS * head_size * sizeof(float)),
                        .sums = exact(ROWS * kv_value_columns(head_size) * sizeof(float))};
    for (size_t i = 0; i < ROWS * head_size; i++)
        rows.q[i] = random_float();
    return rows;
}

static void clear_rows(struct rows *rows, size_t head_size)
{
    for (size_t i = 0; i < ROWS; i++)
        rows->states[i] = (struct attend_state){-INFINITY, 0};
    memset(rows->sums, 0, ROWS * kv_value_columns(head_size) * sizeof(float));
}

static void run_task(const struct kernels *kernels, const struct page *page, struct rows *rows,
                     size_t first, size_t count, size_t begin, size_t end, float cap)
{
    struct attend_task task = {.keys = page->keys,
                               .values = page->values,
                               .kv_type = page->kv_type,
                               .head_size = page->head_size,
                               .begin = begin,
                               .end = end,
                               .scale = 0.125f,
                               .cap = cap,
                               .q = rows->q + first * page->head_size,
                               .rows = count,
                               .states = rows->states + first,
                               .sums = rows->sums + first * page->columns};
    kernels->attend(&task);
}

/* Two pages, the first only in part. A score is off by (head_size + 8) u of its magnitude sum S, a
 * weight by that plus 2e-7 relative; the weighted mean of values of at most 1 then by twice that
 * (numerator and denominator) and by the roundings of the sums over 128 positions. A cap moves a
 * score by at most 9e-7 of itself more. */
static void check_pages(const struct kernels *kernels, size_t head_size, enum td_kv_type kv_type,
                        size_t begin, size_t end, float key_size, float cap)
{
    struct page first = open_page(head_size, kv_type), second = open_page(head_size, kv_type);
    fill_page(reference(), &first, begin, KV_PAGE_TOKENS, key_size);
    fill_page(reference(), &second, 0, end, key_size);
    struct rows expected = open_rows(head_size), got = expected;
    got.sums = exact(ROWS * first.columns * sizeof(float));
    clear_rows(&expected, head_size);
    clear_rows(&got, head_size);
    run_task(reference(), &first, &expected, 0, ROWS, begin, KV_PAGE_TOKENS, cap);
    run_task(reference(), &second, &expected, 0, ROWS, 0, end, cap);
    run_task(kernels, &first, &got, 0, ROWS, begin, KV_PAGE_TOKENS, cap);
    run_task(kernels, &second, &got, 0, ROWS, 0, end, cap);
    double sum = (double)head_size * (double)key_size * 0.125;
    double bound =
        2 * (((double)head_size + 10) * ULP * sum + 2e-7) + 2 * 192 * ULP + 2 * 9e-7 * (double)cap;
    size_t wrong = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < head_size; i++) {
            size_t at = row * first.columns + i;
            double a = (double)expected.sums[at] / (double)expected.states[row].total;
            double b = (double)got.sums[at] / (double)got.states[row].total;
            wrong += !(fabs(a - b) <= bound);
        }
    CHECK(wrong == 0);
    if (wrong)
        fprintf(stderr, "%s head %zu type %d [%zu, %zu)\n", kernels->name, head_size, (int)kv_type,
                begin, end);
    close_page(&first);
    close_page(&second);
    free(expected.q);
    free(expected.sums);
    free(got.sums);
}

/* The reference reads all types as stored, the variants those that they must. */
static void check_attention(const struct kernels *kernels)
{
    static const size_t begins[] = {0, 1, 31, 63}, ends[] = {1, 15, 16, 17, 33, 64};
    for (size_t h = 0; h < HEAD_SIZES; h++)
        for (size_t t = 0; t < READ_DIRECTLY; t++)
            for (size_t e = 0; e < 6; e++) {
                size_t begin = begins[(h + e) % 4];
                float key_size = e % 2 ? 1 : 30, cap = (h + e) % 3 ? 0 : h % 2 ? 2.5f : 50;
                check_pages(kernels, head_sizes[h], kv_types[t], begin, ends[e], key_size, cap);
            }
}

static void test_attention_agrees_for_head_sizes_types_parts_and_caps(void)
{
    with_variants(check_attention);
}

/* Rows alone, in twos, all together, from the stored page and from the loaded one: the same
 * bits. */
static void check_company_of(const struct kernels *kernels, enum td_kv_type kv_type)
{
    for (size_t h = 0; h < HEAD_SIZES; h++)
        for (size_t end = 7; end <= KV_PAGE_TOKENS; end += 19) {
            size_t size = head_sizes[h];
            struct page page = open_page(size, kv_type), loaded = open_page(size, TD_KV_F32);
            fill_page(kernels, &page, 0, KV_PAGE_TOKENS, 2);
            kernels->kv_load(kv_type, page.keys, page.values, size, KV_PAGE_TOKENS, loaded.keys,
                             loaded.values);
            struct rows all = open_rows(size), some = all;
            some.sums = exact(ROWS * page.columns * sizeof(float));
            clear_rows(&all, size);
            run_task(kernels, &page, &all, 0, ROWS, 3, end, 0);
            run_task(kernels, &loaded, &all, 0, ROWS, 0, end, 0);
            for (size_t step = 1; step < ROWS; step++) {
                clear_rows(&some, size);
                for (size_t row = 0; row < ROWS; row += step) {
                    size_t count = ROWS - row < step ? ROWS - row : step;
                    const struct page *other = step % 2 ? &loaded : &page;
                    run_task(kernels, other, &some, row, count, 3, end, 0);
                    run_task(kernels, &page, &some, row, count, 0, end, 0);
                }
                CHECK(memcmp(all.sums, some.sums, ROWS * page.columns * sizeof(float)) == 0);
                CHECK(memcmp(all.states, some.states, sizeof all.states) == 0);
            }
            close_page(&page);
            close_page(&loaded);
            free(all.q);
            free(all.sums);
            free(some.sums);
        }
}

static void check_company(const struct kernels *kernels)
{
    check_company_of(kernels, TD_KV_F16);
    check_company_of(kernels, TD_KV_Q8_0);
}

static void test_rows_come_to_the_same_bits_alone_and_in_company(void)
{
    check_company(reference());
    check_company_of(reference(), TD_KV_Q4_0);
    check_company_of(reference(), TD_KV_Q8_0_Q4_0);
    with_variants(check_company);
}

/* What lies outside the positions may be anything. */
static void check_outside(const struct kernels *kernels)
{
    enum { SIZE = 64 };
    struct page page = open_page(SIZE, TD_KV_F16);
    struct rows rows = open_rows(SIZE);
    fill_page(kernels, &page, 10, 20, 1);
    clear_rows(&rows, SIZE);
    run_task(kernels, &page, &rows, 0, ROWS, 10, 20, 0);
    for (size_t i = 0; i < ROWS * SIZE; i++)
        CHECK(isfinite(rows.sums[i]));
    for (size_t i = 0; i < ROWS; i++)
        CHECK(rows.states[i].total >= 1 && rows.states[i].total <= 10);
    close_page(&page);
    free(rows.q);
    free(rows.sums);
}

static void test_positions_that_are_not_seen_cannot_matter(void)
{
    check_outside(reference());
    with_variants(check_outside);
}

int main(void)
{
    RUN(test_stored_pages_are_the_reference_s_bits);
    RUN(test_loaded_pages_are_exact);
    RUN(test_quantised_positions_keep_two_digits);
    RUN(test_positions_of_four_bits_keep_the_largest_and_an_eighth);
    RUN(test_attention_agrees_for_head_sizes_types_parts_and_caps);
    RUN(test_rows_come_to_the_same_bits_alone_and_in_company);
    RUN(test_positions_that_are_not_seen_cannot_matter);
    return test_finish();
}
