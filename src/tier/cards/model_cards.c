#include "tier/cards/model_cards.h"

#include "base/bytes/packed.h"
#include "base/core/assertion.h"
#include "base/core/str.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tier/model_cards_table.h"

/* By kind, then by model. Numbers are read when a card is asked for: most never are. */
static struct row {
    struct model_card card;
    const char *numbers; /* NULL: read */
} rows[MODEL_CARDS_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of numbers */

/* The string at *at, and *at behind it. */
static struct td_str take(const char **at)
{
    struct td_str word = str_from(*at);
    *at = packed_next(*at);
    return word;
}

static uint32_t take_count(const char **at)
{
    uint64_t count = 0;
    bool read = str_to_u64(take(at), &count);
    ASSERT(read && count <= UINT32_MAX);
    return (uint32_t)count;
}

static double take_usd(const char **at)
{
    double usd = (double)NAN;
    return str_to_double(take(at), &usd) ? usd : (double)NAN;
}

static void find_rows(void)
{
    const char *at = packed_open(&cards_packed);
    for (size_t i = 0; i < MODEL_CARDS_COUNT; i++) {
        rows[i].card.kind = take(&at).data;
        rows[i].card.model = take(&at).data;
        rows[i].numbers = at;
        for (int word = 0; word < MODEL_CARDS_NUMBERS; word++)
            at = packed_next(at);
    }
}

/* The build has checked them. */
static void read_numbers_locked(struct row *row)
{
    struct model_card *card = &row->card;
    const char *at = row->numbers;
    card->context_tokens = take_count(&at);
    card->output_tokens = take_count(&at);
    card->input_usd = take_usd(&at);
    card->output_usd = take_usd(&at);
    card->cached_usd = take_usd(&at);
    card->until = take_count(&at);
    card->abilities = take_count(&at);
    row->numbers = NULL;
}

struct wanted {
    const char *kind, *model;
};

static int compare(const void *key, const void *element)
{
    const struct wanted *wanted = key;
    const struct model_card *card = &((const struct row *)element)->card;
    int order = strcmp(wanted->kind, card->kind);
    return order ? order : strcmp(wanted->model, card->model);
}

const struct model_card *model_card_find(const char *kind, const char *model)
{
    ASSERT(kind != NULL && model != NULL);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_rows);
    const struct wanted wanted = {kind, model};
    struct row *row = bsearch(&wanted, rows, MODEL_CARDS_COUNT, sizeof *rows, compare);
    if (!row)
        return NULL;
    pthread_mutex_lock(&lock);
    if (row->numbers)
        read_numbers_locked(row);
    pthread_mutex_unlock(&lock);
    return &row->card;
}

const char *model_cards_day(void)
{
    return MODEL_CARDS_AS_OF;
}

const char *model_cards_source(void)
{
    return MODEL_CARDS_SOURCE;
}

size_t model_cards_count(void)
{
    return MODEL_CARDS_COUNT;
}

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

bool model_card_ends(const struct model_card *card, uint64_t wall_ms,
                     char words[static MODEL_CARD_END_BYTES])
{
    if (!card || card->until == 0)
        return false;
    unsigned year = card->until / 10000, month = card->until / 100 % 100, day = card->until % 100;
    struct tm date = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    int64_t left = (int64_t)timegm(&date) * 1000 / DAY_MS - (int64_t)wall_ms / DAY_MS;
    if (left <= 0)
        snprintf(words, MODEL_CARD_END_BYTES, "the provider has retired it (%u-%02u-%02u)", year,
                 month, day);
    else
        snprintf(words, MODEL_CARD_END_BYTES, "the provider retires it in %lld days (%u-%02u-%02u)",
                 (long long)left, year, month, day);
    return left <= MODEL_CARD_SOON_DAYS;
}
