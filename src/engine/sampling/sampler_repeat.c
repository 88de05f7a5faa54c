/* Penalties for repetition: CTRL's for tokens that were there, DRY's for tokens that would continue
 * a repetition. Both look at the same ring of the last tokens. DRY finds all repetitions of the
 * last tokens in one linear pass (the Z function), so a long history costs microseconds. */
#include "engine/sampling/sampler_repeat.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "engine/tokenizer/tokenizer.h"

#include <math.h>
#include <string.h>

/* The texts that break a repetition by default, as the author of DRY chose them. They are common in
 * texts that repeat themselves for good reasons, such as lists and dialogues. */
static const char default_breakers[] = "\n\0:\0\"\0*\0";

#define DRY_BASE_DEFAULT 1.75
#define DRY_ALLOWED_DEFAULT 2u
/* A penalty of this size leaves no probability. A larger one would only overflow. */
#define DRY_PENALTY_MAX 1e6

/* Index of the token `back` places before the last one; back < history_count. */
static uint32_t place(const struct sampler *sampler, uint32_t back)
{
    return (sampler->recent_count - 1 - back) % SAMPLER_HISTORY_MAX;
}

static uint32_t history_count(const struct sampler *sampler, uint32_t most)
{
    return sampler->recent_count < most ? sampler->recent_count : most;
}

static void change(struct repeat_changes *changes, float *logits, int32_t id, float logit)
{
    changes->ids[changes->count] = id;
    changes->logits[changes->count++] = logits[id];
    logits[id] = logit;
}

/* A set of ids that were seen. */
struct seen {
    int32_t ids[2 * SAMPLER_HISTORY_MAX];
    uint32_t mask;
};

static void seen_init(struct seen *seen, uint32_t count)
{
    seen->mask = 15;
    while (seen->mask + 1 < 2 * count)
        seen->mask = seen->mask * 2 + 1;
    memset(seen->ids, 0xff, ((size_t)seen->mask + 1) * sizeof *seen->ids); /* -1 */
}

/* Adds `id` to the set; true if it was not in it. */
static bool see(struct seen *seen, int32_t id)
{
    uint32_t at = (uint32_t)hash_mix64((uint32_t)id);
    for (; seen->ids[at & seen->mask] >= 0; at++)
        if (seen->ids[at & seen->mask] == id)
            return false;
    seen->ids[at & seen->mask] = id;
    return true;
}

/* CTRL (Keskar et al. 2019, section 4.1): positive logits of recent tokens are divided by the
 * penalty, negative ones are multiplied by it, each token once. */
static void penalise_recent(const struct sampler *sampler, float *logits, uint32_t vocab_count,
                            struct repeat_changes *changes)
{
    float penalty = sampler->sampling.repetition_penalty;
    uint32_t window = sampler->sampling.repetition_window;
    uint32_t count = history_count(sampler, window ? window : SAMPLER_RECENT_TOKENS);
    struct seen seen;
    seen_init(&seen, count);
    for (uint32_t back = 0; back < count; back++) {
        int32_t id = sampler->recent[place(sampler, back)];
        if (id >= 0 && (uint32_t)id < vocab_count && see(&seen, id))
            change(changes, logits, id,
                   logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty);
    }
}

/* lengths[b] = how many tokens, ending `b` places back, are the same as the last tokens, with no
 * breaker among them. It is the Z function of the history read backwards (Gusfield 1997,
 * "Algorithms on Strings, Trees and Sequences", section 1.4), cut at the first breaker. */
static void match_lengths(const struct sampler *sampler, uint32_t count, uint16_t *lengths)
{
    uint32_t most = 0, left = 0, right = 0;
    while (most < count && !sampler->recent_breaks[place(sampler, most)])
        most++;
    lengths[0] = 0;
    for (uint32_t b = 1; b < count; b++) {
        uint32_t len = 0;
        if (b < right)
            len = lengths[b - left] < right - b ? lengths[b - left] : right - b;
        while (len < most && b + len < count &&
               sampler->recent[place(sampler, len)] == sampler->recent[place(sampler, b + len)])
            len++;
        lengths[b] = (uint16_t)len;
        if (b + len > right) {
            left = b;
            right = b + len;
        }
    }
}

/* DRY, "don't repeat yourself" (its author's description, p-e-w, text-generation-webui pull request
 * 5677): a token that followed the same tokens before loses multiplier * base^(length - allowed),
 * where length is that of the longest such repetition. */
static void penalise_continuations(const struct sampler *sampler, float *logits,
                                   uint32_t vocab_count, struct repeat_changes *changes)
{
    const struct td_sampling *sampling = &sampler->sampling;
    double multiplier = (double)sampling->dry_multiplier;
    double base = sampling->dry_base > 0 ? (double)sampling->dry_base : DRY_BASE_DEFAULT;
    uint32_t allowed = sampling->dry_allowed ? sampling->dry_allowed : DRY_ALLOWED_DEFAULT;
    uint32_t window =
        sampler->dry.window - 1 < SAMPLER_HISTORY_MAX ? sampler->dry.window : SAMPLER_HISTORY_MAX;
    uint32_t count = history_count(sampler, window), first = changes->count;
    uint16_t lengths[SAMPLER_HISTORY_MAX];
    if (count < 2)
        return;
    match_lengths(sampler, count, lengths);
    for (uint32_t b = 1; b < count; b++) {
        uint32_t next = place(sampler, b - 1), at = first;
        int32_t id = sampler->recent[next];
        if (lengths[b] < allowed || sampler->recent_breaks[next] || id < 0 ||
            (uint32_t)id >= vocab_count)
            continue;
        double penalty = fmin(multiplier * pow(base, lengths[b] - allowed), DRY_PENALTY_MAX);
        while (at < changes->count && changes->ids[at] != id)
            at++; /* a linear search: few tokens follow a repetition */
        float before = at < changes->count ? changes->logits[at] : logits[id];
        float after = (float)((double)before - penalty);
        if (at == changes->count)
            change(changes, logits, id, after);
        else
            logits[id] = after < logits[id] ? after : logits[id];
    }
}

void repeat_apply(const struct sampler *sampler, float *logits, uint32_t vocab_count,
                  struct repeat_changes *changes)
{
    changes->count = 0;
    if (sampler->sampling.repetition_penalty != 1.0f)
        penalise_recent(sampler, logits, vocab_count, changes);
    if (sampler->sampling.dry_multiplier > 0)
        penalise_continuations(sampler, logits, vocab_count, changes);
}

void repeat_restore(float *logits, const struct repeat_changes *changes)
{
    for (uint32_t i = changes->count; i-- > 0;)
        logits[changes->ids[i]] = changes->logits[i];
}

/* Whether a breaker ends inside the last piece of the text. */
static bool ends_in(struct td_str breaker, struct td_str tail, struct td_str piece)
{
    if (str_find(piece, breaker, 0) != SIZE_MAX)
        return true;
    for (size_t before = 1; before < breaker.len && before <= tail.len; before++)
        if (str_ends_with(tail, str_slice(breaker, 0, before)) &&
            str_starts_with(piece, str_slice(breaker, before, breaker.len)))
            return true;
    return false;
}

static void keep_tail(struct sampler *sampler, struct td_str piece)
{
    size_t taken = piece.len < sizeof sampler->tail ? piece.len : sizeof sampler->tail;
    size_t room = sizeof sampler->tail - taken;
    size_t kept = sampler->tail_len < room ? sampler->tail_len : room;
    memmove(sampler->tail, sampler->tail + sampler->tail_len - kept, kept);
    memcpy(sampler->tail + kept, piece.data + piece.len - taken, taken);
    sampler->tail_len = (uint32_t)(kept + taken);
}

bool repeat_is_broken_by(struct sampler *sampler, int32_t id)
{
    ASSERT(sampler->tokenizer != NULL);
    struct td_str piece = tokenizer_piece(sampler->tokenizer, id, false);
    struct td_str tail = {sampler->tail, sampler->tail_len};
    const char *breaker = sampler->dry.breakers;
    bool found = false;
    if (piece.len == 0) {
        sampler->tail_len = 0;
        return true;
    }
    if (*breaker == '\0')
        breaker = default_breakers;
    for (; *breaker && !found; breaker += strlen(breaker) + 1)
        found = ends_in(str_from(breaker), tail, piece);
    keep_tail(sampler, piece);
    return found;
}
