/* A vault as JSON: read again it gives every value its surrogate, and a file that was changed is
 * refused. */
#include "privacy/pseudonym/vault_json.h"

#include "base/core/str.h"
#include "test.h"

#include <stdbool.h>

static const uint8_t key[KEYED_KEY_BYTES] = {0xab, 3};

struct value {
    enum privacy_kind kind;
    const char *text;
};

static const struct value values[] = {{PRIVACY_PERSON, "John Smith"},
                                      {PRIVACY_PERSON, "Dr. Smith"},
                                      {PRIVACY_PERSON, "SMITH"},
                                      {PRIVACY_EMAIL, "j.smith@acme-corp.com"},
                                      {PRIVACY_PHONE, "(415) 867-5309"},
                                      {PRIVACY_PHONE, "415-867-5309"},
                                      {PRIVACY_ADDRESS, "Lindenstraße 12"},
                                      {PRIVACY_ORGANIZATION, "Contoso Insurance GmbH"},
                                      {PRIVACY_DATE, "1984-05-17"},
                                      {PRIVACY_CUSTOM, "ID-0000007"},
                                      {PRIVACY_CARD, "4539 5787 6362 1486"},
                                      {PRIVACY_IP, "81.2.69.142"}};
enum { VALUES = sizeof values / sizeof *values };

static bool replace(struct vault *vault, const struct value *value, struct vault_uses *uses,
                    struct buf *out)
{
    buf_clear(out);
    return vault_replace(vault, value->kind, str_from(value->text), NULL, uses, out, NULL) == TD_OK;
}

/* The vault that its JSON is. */
static struct vault *again(const struct vault *vault)
{
    struct json *json = vault_json_write(vault);
    struct vault *out = NULL;
    CHECK(vault_json_read(json, &out, NULL) == TD_OK);
    json_free(json);
    return out;
}

static void test_a_vault_that_was_kept_gives_the_same_surrogates(void)
{
    for (size_t first = 0; first < VALUES; first++) { /* each of them is once the first */
        struct vault *vault = vault_with_key(key);
        struct buf one, two;
        buf_init(&one, 1 << 16);
        buf_init(&two, 1 << 16);
        for (size_t i = 0; i < VALUES / 2; i++)
            CHECK(replace(vault, &values[(first + i) % VALUES], NULL, &one));
        struct vault *kept = again(vault);
        REQUIRE(kept != NULL);
        CHECK(vault_count(kept) == vault_count(vault));
        CHECK(memcmp(vault_key(kept), key, sizeof key) == 0);
        for (size_t i = 0; i < VALUES / 2; i++) { /* what is known, without another entry */
            const struct value *value = &values[(first + i) % VALUES];
            CHECK(replace(vault, value, NULL, &one) && replace(kept, value, NULL, &two));
            CHECK(str_equal(buf_view(&one), buf_view(&two)));
        }
        CHECK(vault_count(kept) == vault_count(vault));
        for (size_t i = VALUES / 2; i < VALUES; i++) { /* and other spellings of it */
            const struct value *value = &values[(first + i) % VALUES];
            CHECK(replace(vault, value, NULL, &one) && replace(kept, value, NULL, &two));
            CHECK(str_equal(buf_view(&one), buf_view(&two)));
        }
        buf_deinit(&one);
        buf_deinit(&two);
        vault_free(kept);
        vault_free(vault);
    }
}

static void test_every_entry_is_kept_whole_and_a_retired_one_is_not(void)
{
    struct vault *vault = vault_with_key(key);
    struct buf out;
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < VALUES; i++)
        CHECK(replace(vault, &values[i], NULL, &out));
    vault_retire(vault, 1);
    struct vault *kept = again(vault);
    REQUIRE(kept != NULL && vault_count(kept) == vault_count(vault) - 1);
    for (uint32_t i = 0; i < vault_count(kept); i++) {
        struct vault_entry own = vault_at(vault, i < 1 ? i : i + 1), other = vault_at(kept, i);
        CHECK(own.kind == other.kind && own.form == other.form && own.salt == other.salt);
        CHECK(str_equal(own.surrogate, other.surrogate) && str_equal(own.original, other.original));
        CHECK(!other.retired);
    }
    vault_free(kept);
    vault_free(vault);
    buf_deinit(&out);
}

/* A value that had to become a word stays that word, and its old surrogate is not its any more. */
static void test_a_value_that_became_a_word_stays_it(void)
{
    struct vault *vault = vault_with_key(key);
    struct buf one, two;
    buf_init(&one, 1 << 16);
    buf_init(&two, 1 << 16);
    CHECK(replace(vault, &values[3], NULL, &one));
    for (int round = 0; round < 3; round++) {
        buf_clear(&two);
        CHECK(vault_replace_by_word(vault, values[3].kind, str_from(values[3].text), NULL, NULL,
                                    &two, NULL) == TD_OK);
        CHECK(two.len == 12 && vault_count(vault) == 2 && vault_at(vault, 0).retired);
        CHECK(replace(vault, &values[3], NULL, &one));
        CHECK(str_equal(buf_view(&one), buf_view(&two)) && !vault_at(vault, 1).retired);
        struct vault *kept = again(vault);
        REQUIRE(kept != NULL && vault_count(kept) == 1);
        CHECK(replace(kept, &values[3], NULL, &one));
        CHECK(str_equal(buf_view(&one), buf_view(&two)) && vault_count(kept) == 1);
        vault_free(kept);
    }
    vault_free(vault);
    buf_deinit(&one);
    buf_deinit(&two);
}

/* Lengths of value and surrogate, and what else a file may say, on both sides of each limit. */
static void test_a_file_that_was_changed_is_refused(void)
{
#define KEY "\"key\":\"ab03000000000000000000000000000000000000000000000000000000000000\""
#define HEAD "{\"version\":2," KEY ",\"pairs\":["
#define PAIR(type, form, surrogate, value, salt)                                    \
    "{\"type\":\"" type "\",\"form\":\"" form "\",\"surrogate\":\"" surrogate "\"," \
    "\"value\":\"" value "\",\"salt\":" salt "}"
#define ONE PAIR("PERSON", "word", "Miller", "Smith", "0")
    static const struct {
        const char *text;
        size_t pairs; /* SIZE_MAX: refused */
    } cases[] = {
        {HEAD "]}", 0},
        {HEAD ONE "]}", 1},
        {HEAD ONE "," PAIR("PERSON", "loose", "Anna", "Eva", "4294967295") "]}", 2},
        {HEAD PAIR("PERSON", "strict", "Anna", "Eva", "4294967296") "]}", SIZE_MAX},
        {HEAD PAIR("PERSON", "word", "Anna", "Eva", "-1") "]}", SIZE_MAX},
        {HEAD PAIR("PERSON", "word", "Anna", "Eva", "\"1\"") "]}", SIZE_MAX},
        {HEAD PAIR("NOTHING", "word", "Anna", "Eva", "1") "]}", SIZE_MAX},
        {HEAD PAIR("PERSON", "words", "Anna", "Eva", "1") "]}", SIZE_MAX},
        {HEAD PAIR("PERSON", "word", "", "Eva", "1") "]}", SIZE_MAX},
        {HEAD PAIR("PERSON", "word", "Anna", "", "1") "]}", SIZE_MAX},
        {HEAD ONE "," PAIR("PERSON", "word", "Miller", "Jones", "0") "]}", SIZE_MAX},
        {HEAD ONE "," ONE "]}", 2},
        {HEAD ONE ",7]}", SIZE_MAX},
        {"{\"version\":2," KEY ",\"pairs\":{}}", SIZE_MAX},
        {"{\"version\":2," KEY "}", SIZE_MAX},
        {"{\"version\":3," KEY ",\"pairs\":[]}", SIZE_MAX},
        {"{\"version\":1," KEY ",\"pairs\":[]}", SIZE_MAX},
        {"{" KEY ",\"pairs\":[]}", SIZE_MAX},
        {"{\"version\":2,\"pairs\":[]}", SIZE_MAX},
        {"{\"version\":2,\"key\":\"ab03\",\"pairs\":[]}", SIZE_MAX},
        {"[]", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *json = NULL;
        struct vault *vault = NULL;
        REQUIRE(json_parse(str_from(cases[i].text), &json, NULL) == TD_OK);
        enum td_status status = vault_json_read(json, &vault, NULL);
        bool right = cases[i].pairs == SIZE_MAX
                         ? status == TD_CORRUPT && vault == NULL
                         : status == TD_OK && vault_count(vault) == cases[i].pairs;
        if (!right)
            fprintf(stderr, "%s\n", cases[i].text);
        CHECK(right);
        vault_free(vault);
        json_free(json);
    }
}

static void test_lengths_of_a_kept_pair_have_limits(void)
{
    static const struct {
        size_t surrogate, value;
        bool read;
    } cases[] = {{1, VAULT_VALUE_BYTES_MAX, true},
                 {1, VAULT_VALUE_BYTES_MAX + 1, false},
                 {VAULT_VALUE_BYTES_MAX * 4, 1, true},
                 {VAULT_VALUE_BYTES_MAX * 4 + 1, 1, false}};
    static char letters[VAULT_VALUE_BYTES_MAX * 4 + 1];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *json = NULL;
        struct vault *vault = NULL;
        struct buf text;
        buf_init(&text, 1 << 20);
        buf_printf(&text, HEAD PAIR("CUSTOM", "strict", "%.*s", "%.*s", "0") "]}",
                   (int)cases[i].surrogate, letters, (int)cases[i].value, letters);
        REQUIRE(json_parse(buf_view(&text), &json, NULL) == TD_OK);
        CHECK(vault_json_read(json, &vault, NULL) == (cases[i].read ? TD_OK : TD_CORRUPT));
        vault_free(vault);
        json_free(json);
        buf_deinit(&text);
    }
}

int main(void)
{
    RUN(test_a_vault_that_was_kept_gives_the_same_surrogates);
    RUN(test_every_entry_is_kept_whole_and_a_retired_one_is_not);
    RUN(test_a_value_that_became_a_word_stays_it);
    RUN(test_a_file_that_was_changed_is_refused);
    RUN(test_lengths_of_a_kept_pair_have_limits);
    return test_finish();
}
