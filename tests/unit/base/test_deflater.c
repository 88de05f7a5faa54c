/* Texts packed with words in common come back as they were; what is damaged does not. */
#include "base/bytes/deflater.h"

#include "base/core/str.h"
#include "test.h"

#include <stdlib.h>

static const char words[] = "the quick brown fox jumps over the lazy dog and says that it was not";

static size_t pack(struct deflater *deflater, struct td_str a, struct td_str b, char **out)
{
    *out = malloc(deflater_bound(a.len + b.len));
    CHECK(*out != NULL);
    return deflater_pack(deflater, a, b, *out);
}

static void test_texts_come_back_as_they_were(void)
{
    static const char *const texts[][2] = {{"", ""},
                                           {"the lazy dog", ""},
                                           {"", "brown"},
                                           {"the quick brown fox", "over the lazy dog"}};
    struct deflater *deflater = deflater_new(STR(words));
    REQUIRE(deflater != NULL);
    for (int round = 0; round < 2; round++) /* the same streams are used again */
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct td_str a = str_from(texts[i][0]), b = str_from(texts[i][1]);
            char *packed, room[64];
            size_t len = pack(deflater, a, b, &packed);
            CHECK(len > 0);
            REQUIRE(deflater_unpack(deflater, (struct td_str){packed, len}, room, a.len + b.len));
            CHECK(memcmp(room, a.data, a.len) == 0 && memcmp(room + a.len, b.data, b.len) == 0);
            free(packed);
        }
    deflater_free(deflater);
}

static void test_known_words_cost_little_and_random_bytes_not_much_more(void)
{
    struct deflater *deflater = deflater_new(STR(words));
    char random[5000], back[5000], *packed;
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof random; i++)
        random[i] = (char)((state = state * 1664525u + 1013904223u) >> 24);
    size_t len =
        pack(deflater, STR("the quick brown fox jumps over the lazy dog"), STR(""), &packed);
    CHECK(len > 0 && len < 12);
    free(packed);
    len = pack(deflater, (struct td_str){random, sizeof random}, STR(""), &packed);
    CHECK(len > 0 && len <= deflater_bound(sizeof random));
    CHECK(deflater_unpack(deflater, (struct td_str){packed, len}, back, sizeof back) &&
          memcmp(back, random, sizeof back) == 0);
    free(packed);
    deflater_free(deflater);
}

static void test_what_is_cut_longer_or_changed_is_refused(void)
{
    struct deflater *deflater = deflater_new(STR(words));
    struct td_str text = STR("the quick brown fox jumps over nobody at all today");
    char *packed, room[256];
    size_t len = pack(deflater, text, STR(""), &packed), wrong = 0;
    for (size_t cut = 0; cut < len; cut++)
        CHECK(!deflater_unpack(deflater, (struct td_str){packed, cut}, room, text.len));
    CHECK(!deflater_unpack(deflater, (struct td_str){packed, len}, room, text.len - 1));
    CHECK(!deflater_unpack(deflater, (struct td_str){packed, len}, room, text.len + 1));
    for (size_t i = 0; i < len; i++) {
        packed[i] ^= 0x10; /* it may be another text, but never past the room */
        wrong += !deflater_unpack(deflater, (struct td_str){packed, len}, room, text.len) ||
                 memcmp(room, text.data, text.len) != 0;
        packed[i] ^= 0x10;
    }
    CHECK(wrong == len);
    CHECK(
        deflater_unpack(deflater, (struct td_str){packed, len}, room, text.len)); /* and goes on */
    free(packed);
    deflater_free(deflater);
}

int main(void)
{
    RUN(test_texts_come_back_as_they_were);
    RUN(test_known_words_cost_little_and_random_bytes_not_much_more);
    RUN(test_what_is_cut_longer_or_changed_is_refused);
    return test_finish();
}
