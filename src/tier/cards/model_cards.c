#include "tier/cards/model_cards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assertion.h"
#include "tier/model_cards_table.h"

struct wanted {
    const char *kind, *model;
};

static int compare(const void *key, const void *element)
{
    const struct wanted *wanted = key;
    const struct model_card *card = element;
    int order = strcmp(wanted->kind, card_kinds[card->kind]);
    return order ? order : strcmp(wanted->model, card->model);
}

const struct model_card *model_card_find(const char *kind, const char *model)
{
    ASSERT(kind != NULL && model != NULL);
    const struct wanted wanted = {kind, model};
    return bsearch(&wanted, cards, sizeof cards / sizeof *cards, sizeof *cards, compare);
}

struct model_price model_card_price(const struct model_card *card)
{
    return (struct model_price){.input_usd = card_prices[card->input],
                                .output_usd = card_prices[card->output],
                                .cached_usd = card_prices[card->cached]};
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
