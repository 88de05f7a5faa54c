#include "tier/cards/model_cards.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tier/model_cards_table.h"

struct wanted {
    const char *kind, *model;
};

static int compare(const void *key, const void *element)
{
    const struct wanted *wanted = key;
    const struct model_card *card = element;
    int order = strcmp(wanted->kind, card->kind);
    return order ? order : strcmp(wanted->model, card->model);
}

const struct model_card *model_card_find(const char *kind, const char *model)
{
    assert(kind != NULL && model != NULL);
    const struct wanted wanted = {kind, model};
    return bsearch(&wanted, cards, sizeof cards / sizeof *cards, sizeof *cards, compare);
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
    return sizeof cards / sizeof *cards;
}

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

bool model_card_ends(const struct model_card *card, uint64_t wall_ms,
                     char words[static MODEL_CARD_END_BYTES])
{
    struct tm date = {0};
    const char *end = card && card->until ? strptime(card->until, "%Y-%m-%d", &date) : NULL;
    if (!end || *end)
        return false;
    int64_t left = (int64_t)timegm(&date) * 1000 / DAY_MS - (int64_t)wall_ms / DAY_MS;
    if (left <= 0)
        snprintf(words, MODEL_CARD_END_BYTES, "the provider has retired it (%s)", card->until);
    else
        snprintf(words, MODEL_CARD_END_BYTES, "the provider retires it in %lld days (%s)",
                 (long long)left, card->until);
    return left <= MODEL_CARD_SOON_DAYS;
}
