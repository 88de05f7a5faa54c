/* Pairs of value and surrogate. A pair is found by its value, by what the value has in common with
 * its other spellings (its family), and by its surrogate. Three maps of 64-bit hashes serve that.
 * Two values with one hash would be a fault, so there the bytes are compared. Two surrogates with
 * one hash cost only another draw, so there they are not.
 *
 * A new surrogate is drawn until it is free: no word of the request's texts, no word of any value
 * in the vault, and not another value's surrogate. When a kind has run out of surrogates, a word of
 * random letters stands for the value. Each pair has one block for its strings, so that views of
 * them stay valid while pairs are added. */
#include "privacy/pseudonym/vault.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "privacy/pseudonym/draw.h"
#include "privacy/pseudonym/vault_internal.h"
#include "privacy/text/spell.h"

#include <stdlib.h>

/* Most of a list of fifty names is tried before a word is invented. */
#define TRIES_MAX 48u
/* Of a kind that ran out once: addresses of machines have three short ranges. */
#define TRIES_SCARCE 4u
/* What malloc adds to a pair's block, rounded up. */
#define BLOCK_BYTES 24u

struct pair {
    struct vault_entry entry;
    const char *space;
    char *block;
    uint64_t family;     /* hash of what the value's spellings have in common */
    uint32_t next_alike; /* an earlier pair with the same letters and digits in its surrogate */
};

struct vault {
    uint8_t key[KEYED_KEY_BYTES];
    struct pair *pairs;
    size_t count, capacity, bytes;
    struct vault_map by_original, by_family, by_surrogate;
    struct word_set originals;
    bool scarce[PRIVACY_KIND_COUNT]; /* the kind has run out of surrogates */
};

/* --- hashes --- */

/* The maps have no key 0. */
static uint64_t nonzero(uint64_t hash)
{
    hash = hash_mix64(hash);
    return hash ? hash : 1;
}

static uint64_t key_of(const char *space, struct td_str text)
{
    uint64_t hash = hash_fnv1a64(space, strlen(space) + 1, HASH_FNV1A64_BASIS);
    return nonzero(text.len ? hash_fnv1a64(text.data, text.len, hash) : hash);
}

/* --- life --- */

struct vault *vault_with_key(const uint8_t key[static KEYED_KEY_BYTES])
{
    struct vault *vault = calloc(1, sizeof *vault);
    if (vault)
        memcpy(vault->key, key, sizeof vault->key);
    return vault;
}

enum td_status vault_new(struct vault **out, struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    enum td_status status = crypto_random(key, sizeof key, err);
    if (status != TD_OK)
        return status;
    *out = vault_with_key(key);
    crypto_wipe(key, sizeof key);
    return *out ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a vault");
}

static void drop_pairs(struct vault *vault)
{
    if (vault->pairs)
        crypto_wipe(vault->pairs, vault->capacity * sizeof *vault->pairs);
    free(vault->pairs);
}

void vault_free(struct vault *vault)
{
    if (vault == NULL)
        return;
    for (size_t i = 0; i < vault->count; i++) {
        const struct vault_entry *entry = &vault->pairs[i].entry;
        crypto_wipe(vault->pairs[i].block, entry->surrogate.len + entry->original.len + 2);
        free(vault->pairs[i].block);
    }
    drop_pairs(vault);
    vault_map_deinit(&vault->by_original);
    vault_map_deinit(&vault->by_family);
    vault_map_deinit(&vault->by_surrogate);
    word_set_deinit(&vault->originals);
    crypto_wipe(vault->key, sizeof vault->key);
    free(vault);
}

const uint8_t *vault_key(const struct vault *vault)
{
    return vault->key;
}

void vault_retire(struct vault *vault, uint32_t index)
{
    ASSERT(index < vault->count);
    vault->pairs[index].entry.retired = true;
}

size_t vault_count(const struct vault *vault)
{
    return vault->count;
}

size_t vault_bytes(const struct vault *vault)
{
    const struct vault_map *const maps[] = {&vault->by_original, &vault->by_family,
                                            &vault->by_surrogate};
    size_t texts = vault->bytes - vault->count * sizeof *vault->pairs;
    size_t bytes = sizeof *vault + texts + vault->count * BLOCK_BYTES +
                   vault->capacity * sizeof *vault->pairs +
                   vault->originals.capacity * sizeof *vault->originals.hashes;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        bytes += maps[i]->capacity * (sizeof *maps[i]->keys + sizeof *maps[i]->values);
    return bytes;
}

struct vault_entry vault_at(const struct vault *vault, uint32_t index)
{
    ASSERT(index < vault->count);
    return vault->pairs[index].entry;
}

void vault_uses_deinit(struct vault_uses *uses)
{
    free(uses->entries);
    *uses = (struct vault_uses){0};
}

void vault_uses_clear(struct vault_uses *uses)
{
    uses->count = 0;
    memset(uses->seen, 0, sizeof uses->seen);
}

size_t vault_uses_count(const struct vault *vault, const struct vault_uses *uses,
                        enum privacy_kind kind, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < uses->count && count < most; i++)
        count += vault_at(vault, uses->entries[i]).kind == kind;
    return count;
}

enum td_status vault_use(const struct vault_job *job, uint32_t index)
{
    struct vault_uses *uses = job->uses;
    ASSERT(index < VAULT_ENTRIES_MAX);
    if (uses != NULL)
        uses->last = index;
    if (uses == NULL || (uses->seen[index / 8] >> (index % 8) & 1))
        return TD_OK;
    if (uses->count == uses->capacity) {
        size_t capacity = uses->capacity ? 2 * uses->capacity : 16;
        uint32_t *entries = realloc(uses->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return error_set(job->err, TD_NO_MEMORY, "no memory for surrogates");
        uses->entries = entries;
        uses->capacity = capacity;
    }
    uses->seen[index / 8] |= (uint8_t)(1u << (index % 8));
    uses->entries[uses->count++] = index;
    return TD_OK;
}

enum td_status vault_uses_all(const struct vault *vault, struct vault_uses *uses,
                              struct td_error *err)
{
    const struct vault_job job = {.uses = uses, .err = err};
    enum td_status status = TD_OK;
    for (uint32_t i = 0; i < vault->count && status == TD_OK; i++)
        status = vault_use(&job, i);
    return status;
}

/* --- finding --- */

uint32_t vault_find(const struct vault_job *job, const char *space, struct td_str original)
{
    uint32_t index = vault_map_get(&job->vault->by_original, key_of(space, original));
    if (index == VAULT_NONE)
        return VAULT_NONE;
    struct pair *pair = &job->vault->pairs[index];
    if (pair->entry.retired || strcmp(pair->space, space) != 0 ||
        !str_equal(pair->entry.original, original))
        return VAULT_NONE;
    if (job->taken && word_set_may_hold(job->taken, pair->entry.surrogate)) {
        pair->entry.retired = true;
        return VAULT_NONE;
    }
    return index;
}

uint32_t vault_salt(const struct vault_job *job, const char *space, struct td_str original)
{
    uint32_t index = vault_map_get(&job->vault->by_original, key_of(space, original));
    return index != VAULT_NONE && job->vault->pairs[index].entry.retired
               ? (uint32_t)job->vault->count
               : 0;
}

bool vault_is_free(const struct vault_job *job, struct td_str surrogate)
{
    return spell_count(surrogate) > 0 &&
           !(job->taken && word_set_may_hold(job->taken, surrogate)) &&
           !word_set_may_hold(&job->vault->originals, surrogate) &&
           vault_map_get(&job->vault->by_surrogate, nonzero(spell_hash(surrogate))) == VAULT_NONE;
}

/* --- adding --- */

static bool reserve(struct vault *vault)
{
    if (vault->count < vault->capacity)
        return true;
    size_t capacity = vault->capacity ? 2 * vault->capacity : 16;
    struct pair *pairs = calloc(capacity, sizeof *pairs);
    if (pairs == NULL)
        return false;
    if (vault->count)
        memcpy(pairs, vault->pairs, vault->count * sizeof *pairs);
    drop_pairs(vault);
    vault->pairs = pairs;
    vault->capacity = capacity;
    return true;
}

static char *copy_pair(struct td_str surrogate, struct td_str original)
{
    char *block = calloc(1, surrogate.len + original.len + 2);
    if (block == NULL)
        return NULL;
    if (surrogate.len)
        memcpy(block, surrogate.data, surrogate.len);
    if (original.len)
        memcpy(block + surrogate.len + 1, original.data, original.len);
    return block;
}

static enum td_status add_pair(const struct vault_job *job, const char *space,
                               const struct vault_entry *entry, uint64_t family)
{
    struct vault *vault = job->vault;
    size_t bytes = entry->surrogate.len + entry->original.len + sizeof(struct pair);
    if (vault->count >= VAULT_ENTRIES_MAX || vault->bytes + bytes > VAULT_BYTES_MAX)
        return error_set(job->err, TD_LIMIT,
                         "the conversation has more private values than a vault holds (%u)",
                         VAULT_ENTRIES_MAX);
    char *block = reserve(vault) ? copy_pair(entry->surrogate, entry->original) : NULL;
    uint32_t index = (uint32_t)vault->count;
    uint64_t alike = nonzero(spell_hash(entry->surrogate));
    struct pair pair = {.entry = *entry,
                        .space = space,
                        .block = block,
                        .family = family,
                        .next_alike = vault_map_get(&vault->by_surrogate, alike)};
    if (block) {
        pair.entry.surrogate.data = block;
        pair.entry.original.data = block + entry->surrogate.len + 1;
        vault->pairs[vault->count++] = pair;
        vault->bytes += bytes;
        word_set_add(&vault->originals, entry->original);
        word_set_add_joined(&vault->originals, entry->original);
    }
    if (!block || vault->originals.failed ||
        !vault_map_put(&vault->by_original, key_of(space, entry->original), index) ||
        !vault_map_put(&vault->by_family, family, index) ||
        !vault_map_put(&vault->by_surrogate, alike, index)) {
        if (block) /* it cannot be found: the value gets another one when there is memory again */
            vault_retire(vault, index);
        vault->originals.failed = false;
        return error_set(job->err, TD_NO_MEMORY, "no memory for a vault");
    }
    return vault_use(job, index);
}

enum td_status vault_add(const struct vault_job *job, const char *space,
                         const struct vault_entry *entry)
{
    return add_pair(job, space, entry, key_of(space, entry->original));
}

/* Has another value exactly this surrogate? */
static bool belongs_to_other(const struct vault *vault, uint32_t index, struct td_str surrogate,
                             struct td_str original)
{
    for (; index != VAULT_NONE; index = vault->pairs[index].next_alike)
        if (str_equal(vault->pairs[index].entry.surrogate, surrogate) &&
            !str_equal(vault->pairs[index].entry.original, original))
            return true;
    return false;
}

/* SPELLED_ALIKE: it is the surrogate of another value of the family, so that an answer could not
 * tell the two apart. */
enum try_result { TRY_TAKEN, TRY_FREE, TRY_SPELLED_ALIKE };

static enum try_result judge(const struct vault_job *job, uint64_t family, struct td_str surrogate,
                             struct td_str original)
{
    const struct vault *vault = job->vault;
    if (surrogate.len == 0 || str_equal(surrogate, original))
        return TRY_TAKEN;
    uint32_t alike = vault_map_get(&vault->by_surrogate, nonzero(spell_hash(surrogate)));
    if (alike == VAULT_NONE)
        return vault_is_free(job, surrogate) ? TRY_FREE : TRY_TAKEN;
    if (vault->pairs[alike].family != family || vault->pairs[alike].entry.retired ||
        (job->taken && word_set_may_hold(job->taken, surrogate)))
        return TRY_TAKEN;
    return belongs_to_other(vault, alike, surrogate, original) ? TRY_SPELLED_ALIKE : TRY_FREE;
}

#define WORD_LETTERS 12 /* of 26^12 no two are alike */

static bool is_word(struct td_str surrogate)
{
    for (size_t i = 0; i < surrogate.len; i++)
        if (surrogate.data[i] < 'a' || surrogate.data[i] > 'z')
            return false;
    return surrogate.len == WORD_LETTERS;
}

/* A word of random letters: nothing that stands next to it changes how it is read. */
static enum td_status add_word(const struct vault_job *job, const char *space,
                               enum privacy_kind kind, struct td_str value, struct buf *out)
{
    char letters[WORD_LETTERS];
    const struct vault_entry entry = {.kind = kind,
                                      .form = SURROGATE_STRICT,
                                      .surrogate = {letters, WORD_LETTERS},
                                      .original = value};
    struct draw draw;
    draw_init(&draw, job->vault->key, space, value, UINT32_MAX);
    for (uint32_t tries = 0; tries < TRIES_MAX; tries++) {
        for (int i = 0; i < WORD_LETTERS; i++)
            letters[i] = (char)('a' + (char)draw_below(&draw, 26));
        if (!vault_is_free(job, entry.surrogate))
            continue;
        buf_append_str(out, entry.surrogate);
        return add_pair(job, space, &entry, key_of(space, value));
    }
    return error_set(job->err, TD_LIMIT, "no surrogate is left for another %s",
                     privacy_kind_name(kind));
}

/* The draws for one value: of its family, or of its own spelling when the family's are taken. */
struct drawing {
    const struct vault_job *job;
    const struct vault_question *question;
    struct td_str canonical;
    uint64_t family;
    uint32_t salt;
};

static struct drawing drawing_of(const struct vault_job *job, const struct vault_question *question)
{
    uint64_t family = key_of(question->space, question->canonical);
    uint32_t relative = vault_map_get(&job->vault->by_family, family);
    return (struct drawing){.job = job,
                            .question = question,
                            .canonical = question->canonical,
                            .family = family,
                            .salt = relative != VAULT_NONE ? job->vault->pairs[relative].entry.salt
                                                           : 0};
}

/* Draws until a surrogate is free. False: none was within the tries. */
static bool draw_free(struct drawing *drawing, uint32_t tries_max, struct buf *surrogate)
{
    const struct vault_question *question = drawing->question;
    for (uint32_t tries = 0; tries < tries_max; tries++, drawing->salt++) {
        buf_clear(surrogate);
        question->write(question, drawing->job->vault->key, drawing->canonical, drawing->salt,
                        surrogate);
        if (surrogate->failed)
            return false;
        enum try_result result =
            judge(drawing->job, drawing->family, buf_view(surrogate), question->value);
        if (result == TRY_FREE)
            return true;
        if (result == TRY_SPELLED_ALIKE) { /* then it is a value of its own */
            drawing->canonical = question->value;
            drawing->family = key_of("own spelling", drawing->canonical);
            drawing->salt = UINT32_MAX / 2; /* other draws than the relatives' */
        }
    }
    return false;
}

enum td_status vault_pair(const struct vault_job *job, const struct vault_question *question,
                          struct buf *out)
{
    struct vault *vault = job->vault;
    uint32_t known = vault_find(job, question->space, question->value);
    if (known != VAULT_NONE) {
        buf_append_str(out, vault->pairs[known].entry.surrogate);
        return vault_use(job, known);
    }
    bool *scarce = &vault->scarce[question->kind];
    struct drawing drawing = drawing_of(job, question);
    enum td_status status = TD_OK;
    struct buf surrogate;
    buf_init(&surrogate, VAULT_VALUE_BYTES_MAX * 2);
    bool found = draw_free(&drawing, *scarce ? TRIES_SCARCE : TRIES_MAX, &surrogate);
    if (found) {
        struct vault_entry entry = {.kind = question->kind,
                                    .form = question->form,
                                    .surrogate = buf_view(&surrogate),
                                    .original = question->value,
                                    .salt = drawing.salt};
        status = add_pair(job, question->space, &entry, drawing.family);
        buf_append_str(out, buf_view(&surrogate));
    }
    buf_deinit(&surrogate);
    *scarce |= !found;
    return found ? status : add_word(job, question->space, question->kind, question->value, out);
}

static void write_kind(const struct vault_question *question, const uint8_t *key,
                       struct td_str canonical, uint32_t salt, struct buf *out)
{
    const struct surrogate_request request = {.kind = question->kind,
                                              .value = question->value,
                                              .canonical = canonical,
                                              .key = key,
                                              .salt = salt};
    surrogate_write(&request, out);
}

static enum td_status check_length(struct td_str value, struct td_error *err)
{
    return value.len <= VAULT_VALUE_BYTES_MAX
               ? TD_OK
               : error_set(err, TD_LIMIT,
                           "a private value of %zu bytes is over the %u that are replaced",
                           value.len, VAULT_VALUE_BYTES_MAX);
}

static const char *space_of(enum privacy_kind kind)
{
    return surrogate_is_worded(kind) ? VAULT_SPACE_PHRASE : privacy_kind_name(kind);
}

enum td_status vault_replace(struct vault *vault, enum privacy_kind kind, struct td_str value,
                             const struct word_set *taken, struct vault_uses *uses, struct buf *out,
                             struct td_error *err)
{
    struct vault_job job = {vault, taken, uses, err};
    enum td_status status = check_length(value, err);
    if (status != TD_OK)
        return status;
    if (surrogate_is_worded(kind))
        return vault_replace_words(&job, kind, value, out);
    struct buf canonical;
    buf_init(&canonical, VAULT_VALUE_BYTES_MAX * 4);
    surrogate_canonical(kind, value, &canonical);
    struct vault_question question = {.space = space_of(kind),
                                      .kind = kind,
                                      .form = surrogate_form_of(kind),
                                      .value = value,
                                      .canonical = buf_view(&canonical),
                                      .write = write_kind};
    status = vault_pair(&job, &question, out);
    crypto_wipe(canonical.data, canonical.len);
    buf_deinit(&canonical);
    return status;
}

enum td_status vault_replace_by_word(struct vault *vault, enum privacy_kind kind,
                                     struct td_str value, const struct word_set *taken,
                                     struct vault_uses *uses, struct buf *out, struct td_error *err)
{
    struct vault_job job = {vault, taken, uses, err};
    enum td_status status = check_length(value, err);
    if (status != TD_OK)
        return status;
    uint32_t known = vault_find(&job, space_of(kind), value);
    if (known != VAULT_NONE && is_word(vault->pairs[known].entry.surrogate)) {
        buf_append_str(out, vault->pairs[known].entry.surrogate);
        return vault_use(&job, known);
    }
    if (known != VAULT_NONE)
        vault_retire(vault, known);
    return add_word(&job, space_of(kind), kind, value, out);
}

enum td_status vault_put(struct vault *vault, const struct vault_entry *entry, struct td_error *err)
{
    struct vault_job job = {vault, NULL, NULL, err};
    uint32_t alike = vault_map_get(&vault->by_surrogate, nonzero(spell_hash(entry->surrogate)));
    if (belongs_to_other(vault, alike, entry->surrogate, entry->original))
        return error_set(err, TD_CORRUPT, "two values have the same surrogate");
    struct buf canonical;
    buf_init(&canonical, VAULT_VALUE_BYTES_MAX * 4);
    const char *space = entry->form == SURROGATE_WORD ? VAULT_SPACE_WORD : space_of(entry->kind);
    if (entry->form == SURROGATE_WORD)
        spell_fold(entry->original, &canonical);
    else
        surrogate_canonical(entry->kind, entry->original, &canonical);
    enum td_status status = add_pair(&job, space, entry, key_of(space, buf_view(&canonical)));
    buf_deinit(&canonical);
    return status;
}
