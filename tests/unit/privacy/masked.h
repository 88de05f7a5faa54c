/* A text masked by a vault of its own, and its answers. Shared by the tests of masking and
 * restoring. */
#ifndef TESTS_MASKED_H
#define TESTS_MASKED_H

#include "scanners.h"
#include "test.h"

#include "base/core/str.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/restore.h"

#include <stdbool.h>

static const uint8_t key[KEYED_KEY_BYTES] = {7, 7, 7};
static const struct mask_rules rules = {
    .classes = {[TD_CLASS_SENSITIVE] = true, [TD_CLASS_RESTRICTED] = true},
    .kinds = {[PRIVACY_PERSON] = true, [PRIVACY_ORGANIZATION] = true}};

static inline struct td_str view(const char *text)
{
    return (struct td_str){text, strlen(text)};
}

/* One text masked by a vault of its own. */
struct world {
    struct vault *vault;
    struct vault_uses *uses;
    struct restore_table *table;
    struct buf masked;
    enum td_data_class rest;
};

/* What finds the values; NULL: the built-in detectors alone. */
static const struct privacy_scanner *scanner;

static inline struct mask *world_mask(const struct world *world, struct mask_rules by)
{
    by.scanner = scanner ? scanner : plain_scanner();
    return mask_new(world->vault, &by, world->uses);
}

static inline bool mask_text(struct world *world, const char *text)
{
    struct td_error err = {0};
    struct mask *mask = world_mask(world, rules);
    buf_clear(&world->masked);
    world->rest = TD_CLASS_PUBLIC;
    bool ok = mask_one(mask, view(text), &world->masked, &world->rest, &err) == TD_OK;
    if (!ok)
        printf("%s\n", err.message);
    mask_free(mask);
    restore_table_free(world->table);
    world->table = restore_table_new(world->vault, world->uses);
    return ok && world->table;
}

static inline bool world_init(struct world *world, const char *text)
{
    *world = (struct world){.vault = vault_with_key(key), .uses = calloc(1, sizeof *world->uses)};
    buf_init(&world->masked, 1 << 24);
    return mask_text(world, text);
}

static inline void world_deinit(struct world *world)
{
    restore_table_free(world->table);
    vault_uses_deinit(world->uses);
    free(world->uses);
    vault_free(world->vault);
    buf_deinit(&world->masked);
}

/* Restored in pieces of `step` bytes; SIZE_MAX: in one. Borrowed until the next call. */
static inline const char *restore(const struct world *world, struct td_str answer, size_t step,
                                  bool json, struct restore_counts *counts)
{
    static struct buf out;
    struct restorer restorer;
    buf_deinit(&out);
    buf_init(&out, 1 << 26);
    if (!restorer_init(&restorer, world->table, json))
        return "";
    for (size_t at = 0; at < answer.len; at += step < answer.len - at ? step : answer.len - at)
        restorer_feed(&restorer,
                      str_slice(answer, at, step < answer.len - at ? at + step : answer.len), &out);
    restorer_end(&restorer, &out);
    if (counts)
        *counts = restorer.counts;
    restorer_deinit(&restorer);
    return out.data ? out.data : "";
}

/* The surrogate of a value that was replaced in this world. */
static inline const char *surrogate_of(const struct world *world, const char *value)
{
    static char copies[8][256];
    static size_t next;
    char *copy = copies[next++ % 8];
    copy[0] = '\0';
    for (uint32_t i = 0; i < vault_count(world->vault); i++) {
        struct vault_entry entry = vault_at(world->vault, i);
        if (str_equal(entry.original, view(value)))
            snprintf(copy, sizeof copies[0], STR_FMT, STR_ARG(entry.surrogate));
    }
    return copy;
}

static inline void check_answer(const struct world *world, const char *answer, const char *expected,
                                bool json)
{
    for (size_t step = 1; step <= 3; step++) {
        const char *restored =
            restore(world, view(answer), step == 3 ? SIZE_MAX : step, json, NULL);
        if (strcmp(restored, expected) != 0)
            printf("%s\n  gave     %s\n  expected %s\n", answer, restored, expected);
        CHECK(strcmp(restored, expected) == 0);
    }
}

#endif
