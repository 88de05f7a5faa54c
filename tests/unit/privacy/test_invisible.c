/* Hiding a value by an invisible character: detectors, tagger and restorer read as if it were not
 * there, for every character of the one set (base/text/unicode.h). */
#include "base/text/unicode.h"

#include "base/text/utf8.h"
#include "masked.h"
#include "privacy/scan/privacy.h"

#include <stdio.h>

static struct privacy_scanner *with_names;

/* The text with the character after its first `at` bytes. Borrowed until the next call. */
static struct td_str hide(const char *text, size_t at, uint32_t c)
{
    static char out[256];
    size_t len = strlen(text), used = utf8_encode(c, out + at);
    memcpy(out, text, at);
    memcpy(out + at + used, text + at, len - at);
    return (struct td_str){out, len + used};
}

/* Is the whole value found, which begins at `begin` and ends `after` bytes before the text's end?
 */
static bool is_found(struct td_str text, enum privacy_kind kind, size_t begin, size_t after)
{
    struct privacy_span spans[8];
    size_t count = privacy_scan(with_names, text, spans, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        if (spans[i].kind == kind && spans[i].begin == begin && spans[i].end == text.len - after)
            return true;
    return false;
}

/* Calls `check` for each invisible character, and says which it fails for. */
static void each(bool (*check)(uint32_t c))
{
    size_t count = 0;
    for (uint32_t c = 0x80; c <= 0x10FFFF; c++) {
        if (!unicode_is_invisible(c))
            continue;
        bool seen = check(c);
        count++;
        CHECK(seen);
        if (!seen)
            fprintf(stderr, "  hidden by U+%04X\n", (unsigned)c);
    }
    CHECK(count > 4000); /* with tags and variation selectors */
}

static bool detectors_see(uint32_t c)
{
    return is_found(hide("card 4111111111111111.", 8, c), PRIVACY_CARD, 5, 1) &&
           is_found(hide("to ann@acmeltd.com now", 5, c), PRIVACY_EMAIL, 3, 4) &&
           is_found(hide("DE89370400440532013000", 1, c), PRIVACY_IBAN, 0, 0) &&
           is_found(hide("bsn 111222333 ok", 6, c), PRIVACY_NL_BSN, 4, 3) &&
           is_found(hide("ip 84.57.12.33 up", 6, c), PRIVACY_IP, 3, 3);
}

static void test_detectors_see_what_any_of_them_hides(void)
{
    each(detectors_see);
}

static bool tagger_sees(uint32_t c)
{
    return is_found(hide("I met Anna Kowalska.", 13, c), PRIVACY_PERSON, 6, 1);
}

static void test_the_tagger_sees_what_any_of_them_hides(void)
{
    each(tagger_sees);
}

/* An answer that writes the surrogate with the character inside means it all the same. */
static struct world world;

static bool restorer_sees(uint32_t c)
{
    char hidden[256];
    struct restore_counts counts = {0};
    struct td_str answer = hide(surrogate_of(&world, "Kowalska"), 2, c);
    snprintf(hidden, sizeof hidden, STR_FMT " said so.", STR_ARG(answer));
    const char *restored = restore(&world, view(hidden), SIZE_MAX, false, &counts);
    return counts.restored == 1 && strstr(restored, "Kowalska said so.") != NULL;
}

static void test_the_restorer_sees_what_any_of_them_hides(void)
{
    REQUIRE(world_init(&world, "I met Anna Kowalska."));
    each(restorer_sees);
    world_deinit(&world);
}

int main(void)
{
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    if (tagger_open(NAMES_FILE, &tagger, &err) != TD_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    with_names = scanner_with(NULL, tagger);
    scanner = with_names;
    RUN(test_detectors_see_what_any_of_them_hides);
    RUN(test_the_tagger_sees_what_any_of_them_hides);
    RUN(test_the_restorer_sees_what_any_of_them_hides);
    privacy_scanner_free(with_names);
    return test_finish();
}
