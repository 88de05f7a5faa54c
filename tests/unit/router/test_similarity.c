/* Sketches: the same question in other words lies near, another far; a table is read whole or
 * refused. */
#include "router/judge/similarity.h"

#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/crypto/rng.h"
#include "test.h"

#include <stdlib.h>

static struct sketch sketch_of(const struct similarity *table, const char *text)
{
    struct utterance utterance;
    struct sketch sketch;
    utterance_read_text(str_from(text), &utterance);
    similarity_sketch(table, &utterance, &sketch);
    return sketch;
}

static unsigned distance(const struct similarity *table, const char *a, const char *b)
{
    struct sketch left = sketch_of(table, a), right = sketch_of(table, b);
    CHECK(left.known && right.known);
    return similarity_distance(left.bits, right.bits);
}

static void test_case_order_marks_and_numbers_do_not_count(void)
{
    const struct similarity *plain = &similarity_plain;
    CHECK(distance(plain, "What is 3 plus 5?", "what is   17 PLUS 4") == 0);
    CHECK(distance(plain, "don't go, there!", "There: dont go") == 0);
    CHECK(distance(plain, "bank bank bank", "bank") == 0);
    CHECK(distance(plain, "Größe der Straße", "größe DER strasse") == 0);
    CHECK(!sketch_of(plain, " ?!... ''").known && !sketch_of(plain, "").known);
}

static void test_without_a_table_shared_words_bring_texts_together(void)
{
    const struct similarity *plain = &similarity_plain;
    unsigned near = distance(plain, "please transfer the money to my savings account today",
                             "please transfer the money to my checking account today");
    unsigned far = distance(plain, "please transfer the money to my savings account today",
                            "which films about penguins won prizes in nineteen eighty");
    CHECK(near < 40 && far > 44);
    CHECK(near > 0);
}

/* --- tables --- */

enum { WORDS = 2, SLOTS = 4, FILE_BYTES = 64 + SLOTS * 8 + WORDS * SIMILARITY_BITS };

static void put_u32(char *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static void seal(char file[FILE_BYTES])
{
    uint64_t hash = hash_words64(file + 24, FILE_BYTES - 24);
    memcpy(file + 16, &hash, sizeof hash);
}

/* "big" and "large" point the same way. */
static void make_table(char file[FILE_BYTES])
{
    static const char *const words[WORDS] = {"big", "large"};
    memset(file, 0, FILE_BYTES);
    memcpy(file, "TDSIMILR", 8);
    put_u32(file + 8, 1);
    put_u32(file + 12, 3);
    put_u32(file + 24, WORDS);
    put_u32(file + 28, SLOTS);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t hash = hash_fnv1a64(words[i], strlen(words[i]), HASH_FNV1A64_BASIS);
        uint32_t slot = (uint32_t)hash & (SLOTS - 1), tag;
        while (memcpy(&tag, file + 64 + 8 * slot, 4), tag)
            slot = (slot + 1) % SLOTS;
        put_u32(file + 64 + 8 * slot, (uint32_t)(hash >> 32));
        put_u32(file + 64 + 8 * slot + 4, i);
        for (int b = 0; b < SIMILARITY_BITS; b++)
            file[64 + SLOTS * 8 + i * SIMILARITY_BITS + b] = b % 3 ? 40 : -40;
    }
    seal(file);
}

static enum td_status read_file(const char *file, size_t len, struct similarity **out,
                                struct td_error *err)
{
    char *exact = malloc(len + !len); /* so that a sanitizer sees a byte too many */
    if (!exact)
        abort();
    memcpy(exact, file, len);
    enum td_status status = similarity_read((struct td_str){exact, len}, out, err);
    free(exact);
    return status;
}

static void test_learnt_words_take_the_place_of_one_another(void)
{
    char file[FILE_BYTES];
    struct similarity *table = NULL;
    make_table(file);
    REQUIRE(read_file(file, sizeof file, &table, NULL) == TD_OK);
    CHECK(distance(table, "big", "large") == 0);
    CHECK(distance(table, "big zoo", "large zoo") == 0);
    CHECK(distance(table, "big", "small") > 30);
    CHECK(similarity_hash(table) != 0 && similarity_hash(&similarity_plain) == 0);
    similarity_close(table);
}

static void test_broken_tables_are_refused_with_the_reason(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *says;
    } cases[] = {
        {0, 0x41414141, "does not begin"},
        {8, 2, "version 2"},
        {12, 0, "header"},
        {12, 128, "header"},
        {28, 3, "header"},
        {28, 0, "header"},
        {24, 4, "header"},
        {24, 1, "its header says"},
        {28, 0x80000000, "its header says"},
    };
    char file[FILE_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct similarity *table = NULL;
        struct td_error err = {0};
        make_table(file);
        put_u32(file + cases[i].at, cases[i].value);
        seal(file);
        CHECK(read_file(file, sizeof file, &table, &err) == TD_INVALID && !table);
        CHECK(strstr(err.message, cases[i].says) != NULL);
    }
    struct similarity *table = NULL;
    struct td_error err = {0};
    make_table(file);
    for (uint32_t slot = 0; slot < SLOTS; slot++) /* a word beyond the last row */
        put_u32(file + 64 + 8 * slot + 4, WORDS);
    seal(file);
    CHECK(read_file(file, sizeof file, &table, &err) == TD_INVALID);
    make_table(file);
    for (uint32_t slot = 0; slot < SLOTS; slot++) { /* no slot is empty: a search would not end */
        put_u32(file + 64 + 8 * slot, 7 + slot);
        put_u32(file + 64 + 8 * slot + 4, 0);
    }
    seal(file);
    CHECK(read_file(file, sizeof file, &table, &err) == TD_INVALID);
}

static void test_every_cut_and_every_flipped_bit_is_refused(void)
{
    char file[FILE_BYTES];
    struct similarity *table = NULL;
    struct td_error err = {0};
    make_table(file);
    for (size_t len = 0; len < sizeof file; len++)
        CHECK(read_file(file, len, &table, &err) == TD_INVALID);
    for (size_t bit = 0; bit < 8 * sizeof file; bit++) {
        file[bit / 8] = (char)(file[bit / 8] ^ 1 << bit % 8);
        enum td_status status = read_file(file, sizeof file, &table, &err);
        /* of the header only "unknown" is outside of the hash: another number from 1 to 127 is
         * one */
        if (status == TD_OK) {
            CHECK(bit / 8 >= 12 && bit / 8 < 16);
            similarity_close(table);
        }
        file[bit / 8] = (char)(file[bit / 8] ^ 1 << bit % 8);
    }
}

int main(void)
{
    RUN(test_case_order_marks_and_numbers_do_not_count);
    RUN(test_without_a_table_shared_words_bring_texts_together);
    RUN(test_learnt_words_take_the_place_of_one_another);
    RUN(test_broken_tables_are_refused_with_the_reason);
    RUN(test_every_cut_and_every_flipped_bit_is_refused);
    return test_finish();
}
