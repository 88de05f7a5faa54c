/* How fast the scan is: MB/s on prose, code and other scripts; microseconds for a prompt;
 * milliseconds for a megabyte made to be slow. Structured kinds alone, and with a file of names
 * that is given as argument. The best of some passes each. */
#include "base/core/error.h"
#include "base/time/clock.h"
#include "privacy/names/tagger.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/scanner.h"
#include "row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEGABYTE ((size_t)1 << 20)
#define FLOWING (8 * MEGABYTE)
#define LARGE (10 * MEGABYTE)
#define HOSTILE_PASSES 9 /* other load makes single ones twice as slow */
#define PROSE_MIN_MB_S 200
#define PROMPT_MAX_US 20
#define HOSTILE_MAX_MS 50 /* a megabyte */

struct text {
    const char *name, *unit;
};

/* Ordinary sentences without anything private. */
static const char prose[] =
    "The committee met again in the old library, although nobody had lit the stove and the windows "
    "would not close. They spoke at length about the harvest, the price of timber and the bridge "
    "that had been promised for years. One of the younger members asked whether the money was "
    "still "
    "there; nobody answered at once. It is easy to promise a bridge, said the oldest of them, and "
    "much harder to say who will walk across it when it stands. After that they drank tea, "
    "complained about the weather and decided nothing, which was what most of them had expected.\n"
    "A good explanation begins with what the reader already knows. If you describe how a machine "
    "works, start with the part that everybody has seen, then go inward step by step. Avoid long "
    "chains of clauses, because the reader has to keep all of them in mind until the verb arrives. "
    "Where a picture helps, draw one, and say in the text what should be seen in it. When "
    "something "
    "is uncertain, say so plainly instead of hiding it behind careful words. Most mistakes in "
    "writing come from the wish to look clever, and most of the rest from haste.\n"
    "Water boils at a lower temperature in the mountains, therefore beans take longer to cook "
    "there. "
    "The dough should rest under a cloth until it has doubled its size; this takes about an hour "
    "in "
    "a warm kitchen and almost three in a cold one. Mix the flour with salt, then add the oil "
    "slowly while stirring. Taste often, and trust your tongue more than the recipe, for no two "
    "tomatoes are alike and every oven lies about its heat. ";

static const struct text flowing[] = {
    {"prose", prose},
    {"prose with numbers",
     "On 2024-05-01 at 10:30 we shipped 1,204 units (order 20240501-17) for 99.90 EUR; see "
     "section 3.2.1, tel. on page 12, and mail max@example.com or 192.168.0.1 for more. "},
    {"cyrillic", "\xd0\x91\xd1\x8b\xd1\x81\xd1\x82\xd1\x80\xd0\xb0\xd1\x8f "
                 "\xd0\xbb\xd0\xb8\xd1\x81\xd0\xb0 \xd0\xb1\xd0\xb5\xd0\xb6\xd0\xb8\xd1\x82. "},
    {"source code", "static int find(const char *key, size_t len) { for (size_t i = 0; i < len; "
                    "i++) if (table[i] == "
                    "key[0]) return (int)i; token = next(token); return -1; } /* x: y */\n"},
};

static const struct text hostile[] = {
    {"beginnings of all kinds", "4111 1111 +1 a@b DE89 sk-a1 password: 12:3 1.2.3 -----BEGIN "},
    {"digits, one each", "1 "},
    {"digits in threes", "415 "},
    {"digits in fours", "4111 "},
    {"digits with dots", "10.1."},
    {"digits with dashes", "12-34-"},
    {"brackets", "(0)1/"},
    {"one number", "7"},
    {"prices", "99.90, "},
    {"times", "10:30 "},
    {"announced numbers", "phone 555 "},
    {"addresses", "12 Oak "},
    {"capitals", "A B1 "},
    {"at signs", "a@"},
    {"dots", "a.b."},
    {"spelled addresses", "at dot "},
    {"escapes", "%41%"},
    {"base64", "QUFBQUFBQUFB/"},
    {"e-mails", "a@b.cc "},
    {"colons", "ab:12:"},
    {"plus signs", "+1"},
    {"invalid UTF-8", "\xff\xc3 \xe2\x80"},
    {"invisible", "1\xe2\x80\x8b"},
    {"full width", "\xef\xbc\x94\xef\xbc\x91 "},
    {"long numbers", "12345678901 "},
    {"numbers like cards", "4111111111111117 "},
    {"dates", "May 1 "},
    {"French streets", "Rue 5, "},
    {"doses", "12 mg "},
    {"capital words", "Xi Yu "},
    {"IBANs begun", "DE 1 "},
    {"IBANs in groups", "is 12 at 12 "},
    {"tokens begun", "eyJ-"},
    {"keys begun", "sk-"},
    {"URLs in a path", "http://a.bc/"},
    {"accents", "e\xcc\x81"},
    {"occupations", "nurse "},
    {"firms", "A Ltd "},
    {"escapes of text", "%41%42%43 "},
    {"escapes in escapes", "\\\\u0041"},
    {"numbers with a letter", "1a "},
    {"codes", "A-1 "},
    {"names with numbers", "Xi 5 "},
    {"initials", "A. "},
    {"Greek", "\xce\x91\xce\xb8\xce\xae "},
    {"seed words", "abandon ability "},
};

/* Words that nobody has seen, of so many letters, with a capital or without. */
static const struct made {
    const char *name;
    unsigned letters_min, letters_max;
    char first;
} made[] = {
    {"made-up names of two letters", 2, 2, 'A'},
    {"made-up names", 2, 8, 'A'},
    {"made-up words", 2, 8, 'a'},
};

static struct privacy_scanner *scanner;

/* Milliseconds of the best of so many passes; *found: findings. */
static double best_ms(const char *text, size_t len, int passes, size_t *found)
{
    double best = 1e30;
    for (int pass = 0; pass < passes; pass++) {
        double begin = clock_monotonic_ms(NULL);
        *found = privacy_scan(scanner, (struct td_str){text, len}, NULL, 0);
        double ms = clock_monotonic_ms(NULL) - begin;
        best = ms < best ? ms : best;
    }
    return best;
}

static void fill(char *text, size_t len, const char *unit)
{
    size_t unit_len = strlen(unit);
    for (size_t i = 0; i < len; i++)
        text[i] = unit[i % unit_len];
}

static uint32_t draw(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's MMIX */
    return (uint32_t)(*state >> 40);
}

static void make_words(char *text, size_t len, const struct made *kind)
{
    uint64_t state = 1;
    for (size_t i = 0; i < len;) {
        unsigned letters =
            kind->letters_min + draw(&state) % (kind->letters_max - kind->letters_min + 1);
        for (unsigned k = 0; k < letters && i < len; k++)
            text[i++] = (char)((k == 0 ? kind->first : 'a') + (char)(draw(&state) % 26));
        if (i < len)
            text[i++] = ' ';
    }
}

static void print_hostile(const char *kinds, const char *name, const char *text)
{
    size_t found;
    char what[96];
    double ms = best_ms(text, MEGABYTE, HOSTILE_PASSES, &found);
    snprintf(what, sizeof what, "%s, 1 MB of %s", kinds, name);
    row_print_most(what, ms, "ms", HOSTILE_MAX_MS);
}

/* structured: without names, for which there is a goal. */
static void print_flowing(const char *kinds, char *text, bool structured)
{
    size_t found;
    char what[96];
    for (size_t t = 0; t < sizeof flowing / sizeof *flowing; t++) {
        fill(text, FLOWING, flowing[t].unit);
        double mb_s = (double)FLOWING / 1e3 / best_ms(text, FLOWING, 5, &found);
        snprintf(what, sizeof what, "%s, %s (%zu findings)", kinds, flowing[t].name, found);
        if (structured && flowing[t].unit == prose)
            row_print_least(what, mb_s, "MB/s", PROSE_MIN_MB_S);
        else
            row_print_plain(what, mb_s, "MB/s");
    }
    fill(text, 2048, prose);
    snprintf(what, sizeof what, "%s, prompt of 2 KB", kinds);
    row_print_most(what, best_ms(text, 2048, 2000, &found) * 1e3, "us", PROMPT_MAX_US);
}

static void print_large(const char *kinds, char *text)
{
    size_t found, len = 0;
    char what[96];
    for (int i = 0; i < 100000; i++)
        len += (size_t)sprintf(text + len, "user%d.name@mail%d.example.org\n", i, i % 97);
    double ms = best_ms(text, len, 3, &found);
    snprintf(what, sizeof what, "%s, 100,000 e-mails (%zu findings)", kinds, found);
    row_print_plain(what, ms, "ms");
    fill(text, LARGE, prose);
    snprintf(what, sizeof what, "%s, prompt of 10 MB", kinds);
    row_print_plain(what, best_ms(text, LARGE, 2, &found), "ms");
}

static void run_all(const char *kinds, char *text, bool structured)
{
    print_flowing(kinds, text, structured);
    for (size_t t = 0; t < sizeof hostile / sizeof *hostile; t++) {
        fill(text, MEGABYTE, hostile[t].unit);
        print_hostile(kinds, hostile[t].name, text);
    }
    for (size_t t = 0; t < sizeof made / sizeof *made; t++) {
        make_words(text, MEGABYTE, &made[t]);
        print_hostile(kinds, made[t].name, text);
    }
    print_large(kinds, text);
}

int main(int argc, char **argv)
{
    char *text = malloc(LARGE);
    struct tagger *tagger;
    struct td_error err = {0};
    scanner = privacy_scanner_new(&(struct privacy_scanner_parts){0});
    if (text == NULL || scanner == NULL)
        return 1;
    run_all("structured", text, true);
    privacy_scanner_free(scanner);
    if (argc > 1) {
        if (tagger_open(argv[1], &tagger, &err) != TD_OK) {
            fprintf(stderr, "bench_privacy: %s\n", err.message);
            return 1;
        }
        scanner = privacy_scanner_new(
            &(struct privacy_scanner_parts){.tagger = tagger, .name_min_score = 0.5f});
        if (scanner == NULL)
            return 1;
        run_all("with names", text, false);
        privacy_scanner_free(scanner);
    }
    free(text);
    return 0;
}
