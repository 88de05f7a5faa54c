/* What becomes of findings that overlap: which kind stays, what it covers, and in which order they
 * come out. Each pair is given in both orders, because it must not matter which detector ran first.
 */
#include "privacy/scan/settle.h"

#include "base/core/str.h"
#include "test.h"

#define FOUND_MAX 256

struct output {
    struct privacy_span spans[FOUND_MAX];
    size_t count;
};

static void keep(void *ctx, const struct privacy_span *span)
{
    struct output *out = ctx;
    if (out->count < FOUND_MAX)
        out->spans[out->count++] = *span;
}

static const struct output *settled(struct td_str text, const struct privacy_span *spans,
                                    size_t count)
{
    static struct output out;
    static struct settle settle;
    out.count = 0;
    settle = (struct settle){.text = text, .emit = keep, .ctx = &out};
    for (size_t i = 0; i < count; i++)
        settle_add(&settle, &spans[i]);
    settle_finish(&settle);
    return &out;
}

/* At most 64 letters: findings may lie anywhere. */
#define LETTERS STR("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl")

static struct privacy_span span(enum privacy_kind kind, size_t begin, size_t end, float score)
{
    return (struct privacy_span){.kind = kind, .begin = begin, .end = end, .score = score};
}

static void test_of_two_that_overlap_one_stays_and_covers_both(void)
{
    static const struct {
        struct {
            enum privacy_kind kind;
            size_t begin, end;
            float score;
        } a, b;            /* `a` stays */
        size_t begin, end; /* covered */
    } rows[] = {
        /* the higher class, however short and unsure */
        {{PRIVACY_CARD, 10, 12, 0.3f}, {PRIVACY_PHONE, 0, 30, 1.0f}, 0, 30},
        {{PRIVACY_CARD, 10, 20, 0.3f}, {PRIVACY_PHONE, 19, 30, 1.0f}, 10, 30},
        {{PRIVACY_CARD, 10, 20, 0.3f}, {PRIVACY_PHONE, 5, 11, 1.0f}, 5, 20},
        /* of one class the surer, where more than a quarter lies between */
        {{PRIVACY_PHONE, 10, 12, 0.76f}, {PRIVACY_IP, 5, 30, 0.5f}, 5, 30},
        {{PRIVACY_IP, 5, 30, 0.5f}, {PRIVACY_PHONE, 10, 12, 0.75f}, 5, 30},
        {{PRIVACY_IP, 5, 30, 0.5f}, {PRIVACY_PHONE, 10, 12, 0.5f}, 5, 30},
        /* of one length the surer */
        {{PRIVACY_PHONE, 10, 20, 0.6f}, {PRIVACY_IP, 15, 25, 0.5f}, 10, 25},
        {{PRIVACY_PHONE, 10, 20, 0.6f}, {PRIVACY_IP, 10, 20, 0.5f}, 10, 20},
        /* what is public and does not stay need not be covered */
        {{PRIVACY_CARD, 10, 20, 0.9f}, {PRIVACY_DATE, 5, 30, 1.0f}, 10, 20},
        {{PRIVACY_EMAIL, 10, 20, 0.9f}, {PRIVACY_DOMAIN, 15, 30, 1.0f}, 10, 20},
        {{PRIVACY_DATE, 10, 20, 0.9f}, {PRIVACY_AGE, 15, 17, 0.9f}, 10, 20},
        /* a bank's code is no name, and no street lies within a sure date */
        {{PRIVACY_SWIFT, 10, 18, 0.5f}, {PRIVACY_PERSON, 5, 18, 1.0f}, 10, 18},
        {{PRIVACY_SWIFT, 10, 18, 0.5f}, {PRIVACY_PLACE, 5, 18, 1.0f}, 10, 18},
        {{PRIVACY_SWIFT, 10, 18, 0.5f}, {PRIVACY_ORGANIZATION, 5, 30, 1.0f}, 10, 18},
        {{PRIVACY_ADDRESS, 5, 18, 0.5f}, {PRIVACY_SWIFT, 10, 18, 1.0f}, 5, 18},
        {{PRIVACY_DATE, 10, 20, 0.8f}, {PRIVACY_ADDRESS, 10, 20, 0.9f}, 10, 20},
        {{PRIVACY_DATE, 10, 20, 0.8f}, {PRIVACY_ADDRESS, 12, 18, 0.9f}, 10, 20},
        {{PRIVACY_ADDRESS, 10, 20, 0.9f}, {PRIVACY_DATE, 10, 20, 0.79f}, 10, 20},
        {{PRIVACY_ADDRESS, 10, 21, 0.9f}, {PRIVACY_DATE, 10, 20, 0.9f}, 10, 21},
        {{PRIVACY_ADDRESS, 9, 20, 0.9f}, {PRIVACY_DATE, 10, 20, 0.9f}, 9, 20},
        {{PRIVACY_PHONE, 12, 18, 0.9f}, {PRIVACY_DATE, 10, 20, 0.9f}, 12, 18},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int order = 0; order < 2; order++) {
            struct privacy_span both[2];
            both[order] = span(rows[i].a.kind, rows[i].a.begin, rows[i].a.end, rows[i].a.score);
            both[!order] = span(rows[i].b.kind, rows[i].b.begin, rows[i].b.end, rows[i].b.score);
            const struct output *out = settled(LETTERS, both, 2);
            bool right = out->count == 1 && out->spans[0].kind == rows[i].a.kind &&
                         out->spans[0].begin == rows[i].begin && out->spans[0].end == rows[i].end;
            CHECK(right);
            if (!right)
                fprintf(stderr, "  row %zu, order %d: %zu found, %s %zu to %zu\n", i, order,
                        out->count, out->count ? privacy_kind_name(out->spans[0].kind) : "-",
                        out->count ? out->spans[0].begin : 0, out->count ? out->spans[0].end : 0);
        }
}

/* What two detectors see, of whom one knows, is known. */
static void test_a_guess_that_joins_what_is_sure_is_no_guess(void)
{
    static const struct {
        enum privacy_kind kind;
        bool other_guessed;
        bool guessed;
    } rows[] = {{PRIVACY_PHONE, false, false}, /* of one class: the guess is longer and stays */
                {PRIVACY_PHONE, true, true},
                {PRIVACY_CARD, false, false},
                {PRIVACY_DATE, false, true}}; /* public: it gives no class that could be lost */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int order = 0; order < 2; order++) {
            struct privacy_span both[2];
            both[order] = span(PRIVACY_ADDRESS, 5, 30, 0.9f);
            both[order].guessed = true;
            both[!order] = span(rows[i].kind, 10, 20, 0.9f);
            both[!order].guessed = rows[i].other_guessed;
            if (rows[i].kind == PRIVACY_DATE)
                both[!order].end = 31;
            const struct output *out = settled(LETTERS, both, 2);
            CHECK(out->count == 1 && out->spans[0].guessed == rows[i].guessed);
        }
}

/* The second reaches from `begin` to `end`; the first from 10 to 20, the third from 30 to 40. */
static void test_what_touches_stays_apart_and_what_overlaps_joins_all(void)
{
    static const struct {
        size_t begin, end, count;
    } rows[] = {{20, 30, 3}, {21, 29, 3}, {0, 10, 3},  {40, 50, 3}, {19, 30, 2}, {20, 31, 2},
                {9, 11, 2},  {39, 41, 2}, {19, 31, 1}, {5, 50, 1},  {12, 18, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t place = 0; place < 3; place++) {
            struct privacy_span spans[3] = {span(PRIVACY_CARD, 10, 20, 0.9f)};
            size_t count = 0, covered = 0;
            for (size_t k = 0; k < 3; k++)
                spans[k] = k == place ? span(PRIVACY_PHONE, rows[i].begin, rows[i].end, 0.9f)
                           : count++  ? span(PRIVACY_IP, 30, 40, 0.9f)
                                      : span(PRIVACY_CARD, 10, 20, 0.9f);
            const struct output *out = settled(LETTERS, spans, 3);
            CHECK(out->count == rows[i].count);
            for (size_t k = 0; k < out->count; k++) {
                CHECK(k == 0 || out->spans[k - 1].end <= out->spans[k].begin);
                covered += out->spans[k].end - out->spans[k].begin;
            }
            bool seen[64] = {false};
            for (size_t k = 0; k < 3; k++)
                for (size_t at = spans[k].begin; at < spans[k].end; at++) {
                    covered -= !seen[at];
                    seen[at] = true;
                }
            CHECK(covered == 0); /* each byte of theirs, and no other */
        }
}

static void test_a_finding_has_at_least_the_class_of_its_kind(void)
{
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++)
        for (int given = TD_CLASS_PUBLIC; given <= TD_CLASS_RESTRICTED; given++) {
            struct privacy_span one = span((enum privacy_kind)kind, 3, 9, 0.5f);
            one.data_class = (enum td_data_class)given;
            const struct output *out = settled(LETTERS, &one, 1);
            REQUIRE(out->count == 1);
            CHECK(out->spans[0].data_class >= one.data_class);
            CHECK(out->spans[0].data_class >= privacy_kind_class(one.kind));
            CHECK(out->spans[0].data_class == one.data_class ||
                  out->spans[0].data_class == privacy_kind_class(one.kind));
        }
}

/* Two bytes a character, and escapes of a text within a text. */
static void test_a_finding_begins_and_ends_with_a_character_and_no_escape(void)
{
    static const struct {
        const char *text;
        size_t begin, end;           /* as found */
        size_t real_begin, real_end; /* equal: nothing is left */
    } rows[] = {
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 0, 6, 0, 6},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 1, 6, 2, 6},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 0, 5, 0, 4},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 1, 3, 2, 2},
        {"\xe2\x82\xac\xc3\xa9", 1, 5, 3, 5}, /* three bytes */
        {"\xa9\xa9\xa9", 1, 2, 1, 2},         /* no character */
        {"\\nAnn Lee", 1, 9, 2, 9},
        {"\\tAnn Lee", 1, 9, 2, 9},
        {"\\nAnn Lee", 2, 9, 2, 9},
        {"\\\\nAnn Lee", 2, 10, 3, 10},
        {"nAnn Lee", 0, 8, 0, 8},
        {"/nAnn Lee", 1, 9, 1, 9},
        {"\\Ann Lee", 1, 8, 1, 8},
        {"\\u00e9nn Lee", 1, 12, 6, 12},
        {"x\\u00e9nn Lee", 2, 13, 7, 13},
        {"\\u00e9", 1, 6, 6, 6},
        {"\\u00e", 1, 5, 1, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct privacy_span one = span(PRIVACY_EMAIL, rows[i].begin, rows[i].end, 0.9f);
        const struct output *out = settled(str_from(rows[i].text), &one, 1);
        bool left = rows[i].real_begin < rows[i].real_end;
        CHECK(out->count == left);
        bool right = out->count == left && (!left || (out->spans[0].begin == rows[i].real_begin &&
                                                      out->spans[0].end == rows[i].real_end));
        CHECK(right);
        if (!right)
            fprintf(stderr, "  row %zu: %zu to %zu\n", i, out->count ? out->spans[0].begin : 0,
                    out->count ? out->spans[0].end : 0);
    }
}

/* A mail address is found at its '@', after what stands in its local part: it goes back over what
 * has not gone out yet, however many findings came before. */
static void test_one_that_goes_back_joins_the_latest_however_many_came(void)
{
    static char letters[4 * FOUND_MAX];
    memset(letters, 'a', sizeof letters);
    const struct td_str text = {letters, sizeof letters};
    for (size_t before = 0; before + 2 < FOUND_MAX; before++)
        for (size_t back = 0; back <= SETTLE_KEPT && back <= before; back++) {
            static struct privacy_span spans[FOUND_MAX];
            size_t begin = 4 * (before - back);
            for (size_t i = 0; i < before; i++)
                spans[i] = span(PRIVACY_IP, 4 * i, 4 * i + 2, 0.9f);
            spans[before] = span(PRIVACY_EMAIL, begin, 4 * before + 3, 0.9f);
            const struct output *out = settled(text, spans, before + 1);
            REQUIRE(out->count == before - back + 1);
            CHECK(out->spans[before - back].kind == PRIVACY_EMAIL);
            CHECK(out->spans[before - back].begin == begin);
            CHECK(out->spans[before - back].end == 4 * before + 3);
        }
    /* over what has gone out it begins where that ends */
    static struct privacy_span spans[FOUND_MAX];
    for (size_t i = 0; i < 200; i++)
        spans[i] = span(PRIVACY_IP, 4 * i, 4 * i + 2, 0.9f);
    spans[200] = span(PRIVACY_EMAIL, 0, 803, 0.9f);
    const struct output *out = settled(text, spans, 201);
    REQUIRE(out->count > 1 && out->spans[out->count - 1].end == 803);
    CHECK(out->spans[out->count - 1].begin == out->spans[out->count - 2].end);
}

int main(void)
{
    RUN(test_of_two_that_overlap_one_stays_and_covers_both);
    RUN(test_a_guess_that_joins_what_is_sure_is_no_guess);
    RUN(test_what_touches_stays_apart_and_what_overlaps_joins_all);
    RUN(test_a_finding_has_at_least_the_class_of_its_kind);
    RUN(test_a_finding_begins_and_ends_with_a_character_and_no_escape);
    RUN(test_one_that_goes_back_joins_the_latest_however_many_came);
    return test_finish();
}
