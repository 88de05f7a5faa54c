/* What is known of providers' models: prices, limits, abilities. It is a table with a date
 * (model_cards.txt) and fills in what neither the configuration nor the server says. Constant; any
 * thread. */
#ifndef TIER_MODEL_CARDS_H
#define TIER_MODEL_CARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum card_ability {
    CARD_TOOLS = 1,
    CARD_IMAGE = 2,
    CARD_AUDIO = 4,
    CARD_FILE = 8,
    CARD_SCHEMA = 16,    /* answers held to a JSON schema */
    CARD_REASONING = 32, /* it thinks before it answers */
    CARD_ADAPTIVE = 64,  /* Anthropic: it decides how much; a budget is refused */
    CARD_FIXED = 128,    /* it takes no temperature and the like */
    CARD_LOGPROBS = 256, /* said by lists alone (model_listed.h) */
};

struct model_card {
    const char *kind, *model;                 /* kind as in tier/servers.h */
    uint32_t context_tokens, output_tokens;   /* 0 = not known */
    double input_usd, output_usd, cached_usd; /* for a million tokens; NAN = not known */
    uint32_t until;                           /* 20270114: retired on that day; 0 = not known */
    unsigned abilities;                       /* of enum card_ability */
};

/* NULL when nothing is known of the model at that kind of server. */
const struct model_card *model_card_find(const char *kind, const char *model);
/* The day for which the table holds, "2026-11-27", and where it comes from. */
const char *model_cards_day(void);
const char *model_cards_source(void);
size_t model_cards_count(void);

/* How long before it a retirement is told: who pins models needs some weeks to try the next. */
#define MODEL_CARD_SOON_DAYS 90
#define MODEL_CARD_END_BYTES 96
/* Whether the provider has retired the model or will within those days, and the words for it. */
bool model_card_ends(const struct model_card *card, uint64_t wall_ms,
                     char words[static MODEL_CARD_END_BYTES]);

#endif
