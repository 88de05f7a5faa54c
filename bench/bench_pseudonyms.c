/* What pseudonyms cost: masking a prompt, restoring a streamed answer (how much is held back and
 * how long a piece takes), and megabytes made to be slow. The best of some passes each. */
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "privacy/names/tagger.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/restore.h"
#include "privacy/scan/scanner.h"
#include "row.h"

#include <stdio.h>
#include <stdlib.h>

#define MEGABYTE ((size_t)1 << 20)
#define PASSES 5
#define PIECES_MAX 4096
#define HOSTILE_MAX_MS 50 /* a megabyte */
#define RESTORED_MIN 98   /* per cent */
#define HELD_MAX 1        /* tokens, median */
#define TOKEN_MAX_US 2000 /* 99th percentile */

static struct mask_rules rules = {
    .classes = {[TD_CLASS_SENSITIVE] = true, [TD_CLASS_RESTRICTED] = true},
    .kinds = {[PRIVACY_PERSON] = true}};
static const uint8_t key[KEYED_KEY_BYTES] = {1};

static const char letter[] =
    "Dear Ms. Mary Smith, your card 4111 1111 1111 1111 was charged from 81.2.69.160; we wrote to "
    "mary.smith@acme-corp.com and called +1 415-867-5309. The IBAN is DE89 3704 0044 0532 0130 00. "
    "The committee met again in the old library, although nobody had lit the stove and the windows "
    "would "
    "not close. They spoke at length about the harvest, the price of timber and the bridge that "
    "had been "
    "promised for years. Regards, John Smith. ";

struct world {
    struct vault *vault;
    struct vault_uses *uses;
    struct restore_table *table;
    struct buf masked;
};

static bool make(struct world *world, struct td_str text)
{
    struct td_error err = {0};
    enum td_data_class rest = TD_CLASS_PUBLIC;
    *world = (struct world){.vault = vault_with_key(key), .uses = calloc(1, sizeof *world->uses)};
    buf_init(&world->masked, 64 * MEGABYTE);
    struct mask *mask = mask_new(world->vault, &rules, world->uses);
    bool ok = mask_one(mask, text, &world->masked, &rest, &err) == TD_OK;
    mask_free(mask);
    world->table = ok ? restore_table_new(world->vault, world->uses) : NULL;
    return ok;
}

static void unmake(struct world *world)
{
    restore_table_free(world->table);
    vault_uses_deinit(world->uses);
    free(world->uses);
    vault_free(world->vault);
    buf_deinit(&world->masked);
}

/* *masked: false when the text has more values than can be replaced, and was refused. */
static double mask_ms(struct td_str text, bool *masked)
{
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        struct world world;
        double begin = clock_monotonic_ms(NULL);
        *masked = make(&world, text);
        double took = clock_monotonic_ms(NULL) - begin;
        best = took < best ? took : best;
        unmake(&world);
    }
    return best;
}

static double restore_ms(const struct world *world, struct td_str answer, size_t step)
{
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        struct restorer restorer;
        struct buf out;
        buf_init(&out, 64 * MEGABYTE);
        if (!restorer_init(&restorer, world->table, false))
            return -1;
        double begin = clock_monotonic_ms(NULL);
        for (size_t at = 0; at < answer.len; at += step)
            restorer_feed(&restorer, str_slice(answer, at, at + step), &out);
        restorer_end(&restorer, &out);
        double took = clock_monotonic_ms(NULL) - begin;
        best = took < best ? took : best;
        restorer_deinit(&restorer);
        buf_deinit(&out);
    }
    return best;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An echo in tokens (about four characters, at word edges where there are some): tokens that wait
 * when the next comes, and how long a piece takes. */
static void stream(const struct world *world)
{
    static double held[PIECES_MAX], took[PIECES_MAX];
    struct td_str text = buf_view(&world->masked);
    struct restorer restorer;
    struct buf out;
    size_t count = 0, waiting = 0;
    buf_init(&out, MEGABYTE);
    if (!restorer_init(&restorer, world->table, false))
        return;
    for (size_t at = 0; at < text.len && count < PIECES_MAX; count++) {
        size_t end = at + 1;
        while (end < text.len && end - at < 5 && text.data[end] != ' ')
            end++;
        double begin = clock_monotonic_ms(NULL);
        restorer_feed(&restorer, str_slice(text, at, end), &out);
        took[count] = clock_monotonic_ms(NULL) - begin;
        waiting = restorer_held(&restorer) > 0 ? waiting + 1 : 0;
        held[count] = (double)waiting;
        at = end;
    }
    qsort(held, count, sizeof *held, by_size);
    qsort(took, count, sizeof *took, by_size);
    printf("a streamed echo of %zu tokens: held back p90 %.0f tokens, most %.0f; a token takes "
           "median %.1f us\n",
           count, held[count * 9 / 10], held[count - 1], took[count / 2] * 1e3);
    row_print_most("a streamed echo is held back, median", held[count / 2], "tokens", HELD_MAX);
    row_print_most("a token of it takes, p99", took[count * 99 / 100] * 1e3, "us", TOKEN_MAX_US);
    restorer_deinit(&restorer);
    buf_deinit(&out);
}

/* The text as a JSON string, without its quotes. */
static struct buf escaped(struct td_str text)
{
    struct buf out;
    buf_init(&out, MEGABYTE);
    json_write_text(text, &out);
    buf_consume(&out, 1);
    out.len--;
    return out;
}

/* An echo in two pieces, cut at every byte: surrogates that got their value back, and echoes that
 * are the text again byte for byte. json: as the arguments of a tool call. */
static void every_cut(const struct world *world, struct td_str text, bool json)
{
    struct buf answer = json ? escaped(buf_view(&world->masked)) : world->masked;
    struct buf wanted = json ? escaped(text) : (struct buf){0};
    struct restore_counts sum = {0};
    size_t whole = 0;
    for (size_t cut = 0; cut <= answer.len; cut++) {
        struct restorer restorer;
        struct buf out;
        buf_init(&out, MEGABYTE);
        if (!restorer_init(&restorer, world->table, json))
            return;
        restorer_feed(&restorer, str_slice(buf_view(&answer), 0, cut), &out);
        restorer_feed(&restorer, str_slice(buf_view(&answer), cut, answer.len), &out);
        restorer_end(&restorer, &out);
        sum.seen += restorer.counts.seen;
        sum.restored += restorer.counts.restored;
        whole += str_equal(buf_view(&out), json ? buf_view(&wanted) : text);
        restorer_deinit(&restorer);
        buf_deinit(&out);
    }
    const char *where = json ? "a tool call's arguments" : "an echo";
    printf("%s cut at each of %zu places: %llu of %llu surrogates restored, %zu echoes whole\n",
           where, answer.len + 1, (unsigned long long)sum.restored, (unsigned long long)sum.seen,
           whole);
    char what[96];
    snprintf(what, sizeof what, "surrogates restored in %s", where);
    row_print_least(what, 100.0 * (double)sum.restored / (double)(sum.seen ? sum.seen : 1), "%",
                    RESTORED_MIN);
    if (json) {
        buf_deinit(&answer);
        buf_deinit(&wanted);
    }
}

static struct td_str repeated(struct td_str unit, size_t bytes)
{
    char *data = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        data[i] = unit.data[i % unit.len];
    data[bytes] = '\0';
    return (struct td_str){data, bytes};
}

/* Answers of a megabyte that are full of beginnings. */
static void hostile_answers(const struct world *world)
{
    struct td_str masked = buf_view(&world->masked);
    struct vault_entry entry = vault_at(world->vault, world->uses->entries[1]);
    const struct {
        const char *name;
        struct td_str unit;
    } cases[] = {
        {"the echo, over and over", masked},
        {"one surrogate, over and over", entry.surrogate},
        {"its beginning, over and over",
         str_slice(entry.surrogate, 0, entry.surrogate.len > 2 ? entry.surrogate.len - 1 : 1)},
        {"ordinary prose", STR("The committee met again in the old library, and nobody spoke. ")},
        {"backslashes", STR("\\u0041\\\\u00e9\\")},
        {"digits", STR("4111 1111 ")},
        {"spaces", STR(" ")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_str answer = repeated(cases[i].unit, MEGABYTE);
        char what[96];
        snprintf(what, sizeof what, "restoring 1 MB, %s", cases[i].name);
        row_print_most(what, restore_ms(world, answer, MEGABYTE), "ms", HOSTILE_MAX_MS);
        row_print_most("  in pieces of 4 bytes", restore_ms(world, answer, 4), "ms",
                       HOSTILE_MAX_MS);
        free((void *)(uintptr_t)answer.data);
    }
}

/* What grows faster than the text shows here. */
static void growth(void)
{
    static const char *const units[] = {"4111 1111 1111 1111 ",
                                        "-----BEGIN RSA PRIVATE KEY--- ",
                                        "{\"to\":\"a\\u0040b.com\"}",
                                        "\\n",
                                        "%4",
                                        "am9obkBhY21lLmNvbSBpcyBtZSBhbmQgbW9yZSB0ZXh0",
                                        "%7QOIZVSAPFG2W9ysenub2pnu01prapkra "};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        printf("masking and restoring \"%.32s\" over and over:", units[i]);
        for (size_t bytes = MEGABYTE / 4; bytes <= MEGABYTE; bytes *= 2) {
            struct td_str text = repeated(str_from(units[i]), bytes);
            struct world world;
            bool masked;
            double ms = mask_ms(text, &masked);
            printf("%s %zu KB %.0f", bytes > MEGABYTE / 4 ? "," : "", bytes / 1024, ms);
            if (make(&world, text))
                printf(" and %.0f ms", restore_ms(&world, buf_view(&world.masked), bytes));
            else
                printf(" ms (refused)");
            unmake(&world);
            free((void *)(uintptr_t)text.data);
        }
        printf("\n");
    }
}

static void hostile_requests(void)
{
    bool masked;
    static const char *const units[] = {"the old library and nobody spoke ",
                                        "a@b.com ",
                                        "4111 1111 ",
                                        "John Smith ",
                                        "-----BEGIN ",
                                        "\\u0041\\u0042 "};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct td_str text = repeated(str_from(units[i]), MEGABYTE);
        double ms = mask_ms(text, &masked);
        char what[96];
        snprintf(what, sizeof what, "%s 1 MB of \"%s\"", masked ? "masking" : "refusing", units[i]);
        row_print_most(what, ms, "ms", HOSTILE_MAX_MS);
        free((void *)(uintptr_t)text.data);
    }
    struct buf many;
    buf_init(&many, 8 * MEGABYTE);
    for (int i = 0; i < 10000; i++)
        buf_printf(&many, "user%d@firm%d.com and ", i, i % 97);
    double ms = mask_ms(buf_view(&many), &masked);
    printf("masking 10,000 different addresses (%zu KB): %.0f ms\n", many.len / 1024, ms);
    buf_deinit(&many);
}

int main(int argc, char **argv)
{
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    struct world world;
    if (argc > 1 && tagger_open(argv[1], &tagger, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    struct privacy_scanner *scanner = privacy_scanner_new(
        &(struct privacy_scanner_parts){.tagger = tagger, .name_min_score = 0.5f});
    if (scanner == NULL)
        return 1;
    rules.scanner = scanner;
    bool masked;
    double ms = mask_ms(str_from(letter), &masked);
    printf("masking a letter of %zu bytes with 9 values: %.2f ms\n", sizeof letter - 1, ms);
    if (make(&world, str_from(letter))) {
        stream(&world);
        every_cut(&world, str_from(letter), false);
        every_cut(&world, str_from(letter), true);
        hostile_answers(&world);
    }
    unmake(&world);
    hostile_requests();
    growth();
    privacy_scanner_free(scanner);
    return 0;
}
