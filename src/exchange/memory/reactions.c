/* Answers lie in a table of buckets of eight places by what was said before their question, so that
 * a question that was changed is found beside the old one. The oldest makes room.
 *
 * The first question of a conversation has nothing before it but the caller's system message. Two
 * such questions need not belong together, so only an exact repetition counts there. */
#include "exchange/memory/reactions.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/crypto/rng.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERS_MAX 4096
#define BUCKET 8

struct answer_seen {
    struct reaction_place place;
    char id[REACTIONS_ID_BYTES]; /* "" = free */
    uint64_t wall_ms;
    bool went_on; /* the conversation continued: that is said once */
};

struct reactions {
    const struct clock *clock;
    uint64_t seed;
    pthread_mutex_t lock;
    struct answer_seen answers[ANSWERS_MAX];
};

struct reactions *reactions_new(const struct clock *clock)
{
    struct reactions *reactions = calloc(1, sizeof *reactions);
    if (!reactions || rng_system_seed(&reactions->seed, NULL) != TD_OK) {
        free(reactions);
        return NULL;
    }
    reactions->clock = clock;
    pthread_mutex_init(&reactions->lock, NULL);
    return reactions;
}

void reactions_free(struct reactions *reactions)
{
    if (!reactions)
        return;
    pthread_mutex_destroy(&reactions->lock);
    free(reactions);
}

static uint64_t add(uint64_t hash, struct td_str text, uint64_t role)
{
    uint64_t own = text.len ? hash_words64(text.data, text.len) : 0;
    return hash_mix64(hash_mix64(hash ^ own) + text.len * 8 + role);
}

void reactions_look(const struct reactions *reactions, const struct td_request *request,
                    struct reaction_view *out)
{
    *out = (struct reaction_view){.asks = false};
    if (request->completion || request->message_count == 0 ||
        request->messages[request->message_count - 1].role != TD_ROLE_USER)
        return;
    uint64_t hash = add(reactions->seed, str_from(request->caller), 0);
    hash = add(hash, str_from(request->user), 1);
    bool asked = false;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct td_message *message = &request->messages[i];
        if (message->role == TD_ROLE_USER) {
            if (asked)
                out->earlier = out->now;
            out->now.before = hash;
            out->now.question = add(reactions->seed, message->content, 2);
            asked = true;
        } else if (message->role == TD_ROLE_ASSISTANT && asked) {
            out->continues = true;
        }
        hash = add(hash, message->content, (uint64_t)message->role + 3);
    }
    out->asks = true;
}

static struct answer_seen *bucket_of(struct reactions *reactions, uint64_t before)
{
    return &reactions->answers[before % (ANSWERS_MAX / BUCKET) * BUCKET];
}

/* The newest answer there. question NULL: to any question. */
static struct answer_seen *find_locked(struct reactions *reactions, uint64_t before,
                                       const uint64_t *question)
{
    struct answer_seen *bucket = bucket_of(reactions, before), *found = NULL;
    uint64_t now = clock_wall_ms(reactions->clock);
    for (size_t i = 0; i < BUCKET; i++) {
        struct answer_seen *seen = &bucket[i];
        if (!*seen->id || seen->place.before != before || seen->wall_ms > now ||
            now - seen->wall_ms > REACTIONS_TTL_MS ||
            (question && seen->place.question != *question))
            continue;
        if (!found || seen->wall_ms > found->wall_ms)
            found = seen;
    }
    return found;
}

/* The question is asked once more, or another one in its place. */
static struct answer_seen *find_repeated_locked(struct reactions *reactions,
                                                const struct reaction_view *view,
                                                enum reaction *kind)
{
    struct answer_seen *same = find_locked(reactions, view->now.before, &view->now.question);
    *kind = same ? REACTION_REGENERATED : REACTION_EDITED;
    if (!same && view->continues)
        same = find_locked(reactions, view->now.before, NULL);
    bool at_once = same && clock_wall_ms(reactions->clock) - same->wall_ms < REACTIONS_REPEAT_MS;
    return at_once ? NULL : same;
}

enum reaction reactions_judge(struct reactions *reactions, const struct reaction_view *view,
                              char id[static REACTIONS_ID_BYTES])
{
    enum reaction kind = REACTION_NONE;
    if (!view->asks)
        return REACTION_NONE;
    pthread_mutex_lock(&reactions->lock);
    struct answer_seen *seen = find_repeated_locked(reactions, view, &kind);
    if (seen) {
        memcpy(id, seen->id, sizeof seen->id);
        *seen->id = '\0'; /* its successor takes the place */
    } else if (view->continues &&
               (seen = find_locked(reactions, view->earlier.before, &view->earlier.question)) &&
               !seen->went_on) {
        kind = REACTION_CONTINUED;
        memcpy(id, seen->id, sizeof seen->id);
        seen->went_on = true;
    } else {
        kind = REACTION_NONE;
    }
    pthread_mutex_unlock(&reactions->lock);
    return kind;
}

void reactions_remember(struct reactions *reactions, const struct reaction_view *view,
                        const char *id)
{
    ASSERT(strlen(id) < REACTIONS_ID_BYTES);
    if (!view->asks)
        return;
    pthread_mutex_lock(&reactions->lock);
    struct answer_seen *bucket = bucket_of(reactions, view->now.before), *oldest = bucket;
    for (size_t i = 1; i < BUCKET; i++)
        if (*oldest->id && (!*bucket[i].id || bucket[i].wall_ms < oldest->wall_ms))
            oldest = &bucket[i];
    *oldest = (struct answer_seen){.place = view->now, .wall_ms = clock_wall_ms(reactions->clock)};
    memcpy(oldest->id, id, strlen(id) + 1);
    pthread_mutex_unlock(&reactions->lock);
}

void reactions_clear(struct reactions *reactions)
{
    pthread_mutex_lock(&reactions->lock);
    memset(reactions->answers, 0, sizeof reactions->answers);
    pthread_mutex_unlock(&reactions->lock);
}
