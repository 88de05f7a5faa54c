#include "tier/cards/model_cards.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
