/* The list of models that can be had by name: a file of JSON beside the program, or the one that
 * models.catalog names. It says when it was checked, because such a list grows old. One thread;
 * what is given out is **borrowed** until catalog_free. */
#ifndef APP_CATALOG_H
#define APP_CATALOG_H

#include "base/core/error.h"

#define CATALOG_MODELS_MAX 64
#define CATALOG_OLD_DAYS 120 /* new small models come every few months */

struct config;

struct catalog_model {
    const char *name, *source, *sha256, *licence, *good_at;
    bool codes;                /* it is for code, not for chats */
    uint64_t bytes;            /* of the file */
    double parameters, active; /* in 1e9; those that one token needs */
    uint32_t context;          /* tokens */
};

struct catalog;

/* **returns new** (catalog_free). The message of a failure names file and entry. */
TD_MUST_CHECK enum td_status catalog_open(const struct config *config, struct catalog **out,
                                          struct td_error *err);
/* The same of a text; `label` is its name in messages. */
TD_MUST_CHECK enum td_status catalog_parse(const char *label, struct td_str text,
                                           struct catalog **out, struct td_error *err);
void catalog_free(struct catalog *catalog);

/* In the file's order: from the weakest to the strongest. */
size_t catalog_count(const struct catalog *catalog);
const struct catalog_model *catalog_at(const struct catalog *catalog, size_t i);
/* By its name or one that it has elsewhere, such as qwen3:4b, in either case; NULL = none. */
const struct catalog_model *catalog_find(const struct catalog *catalog, const char *name);
/* The name that is nearest, for messages. */
struct error_suggestion catalog_suggest(const struct catalog *catalog, const char *name);

const char *catalog_day(const struct catalog *catalog);              /* "2026-11-28" */
double catalog_days(const struct catalog *catalog, uint64_t now_ms); /* whole ones since then */

#endif
