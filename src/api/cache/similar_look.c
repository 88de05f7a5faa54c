/* Nobody waits long for it: a hit saves a call of a second, and a model of embeddings that is busy
 * with others' texts may take longer than that. What then comes is an answer like without a cache.
 *
 * Of the kept questions, the nearest one that has the same numbers, negations, quotations and names
 * is taken. A search tree was rejected: a thousand products of 384 bytes take a third of a
 * millisecond, and a scope rarely has a hundred questions. */
#include "api/cache/similar_look.h"

#include "engine/embedding/embedding_service.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 500

struct similar_look {
    struct similar_wish wish;
    uint8_t scope[CRYPTO_SHA256_BYTES];
    struct question_marks marks;
    struct embedding_job *job; /* NULL once it ended */
    struct loop_timer *patience;
};

static void look_free(struct similar_look *look)
{
    if (look->patience)
        loop_timer_free(look->wish.loop, look->patience);
    free(look);
}

void similar_look_cancel(struct similar_look *look)
{
    if (!look)
        return;
    if (look->job)
        embedding_cancel(look->job);
    look_free(look);
}

/* --- the comparison --- */

struct nearest {
    struct kept *like; /* NULL = none */
    float likeness, unlikeness;
    enum question_mark differs_in; /* of the nearest one that differs */
};

static void compare(const struct similar_look *look, const struct similar_question *question,
                    struct kept *kept, struct nearest *nearest)
{
    float cosine = similar_question_compare(question, kept->question);
    enum question_mark mark = question_marks_differ(&look->marks, &kept->question->marks);
    if (cosine < look->wish.settings->threshold)
        return;
    if (mark == MARK_COUNT && cosine > nearest->likeness) {
        nearest->like = kept;
        nearest->likeness = cosine;
    } else if (mark != MARK_COUNT && cosine > nearest->unlikeness) {
        nearest->differs_in = mark;
        nearest->unlikeness = cosine;
    }
}

static void search(struct similar_look *look, struct similar_result *result)
{
    struct kept *some[SIMILAR_LOOKED_MAX];
    struct nearest nearest = {.like = NULL, .likeness = -1, .unlikeness = -1};
    struct answer_cache *cache = look->wish.cache;
    size_t count = answer_cache_similar(cache, look->scope, &look->wish.wish, some,
                                        sizeof some / sizeof *some);
    for (size_t i = 0; i < count; i++)
        compare(look, result->question, some[i], &nearest);
    if (nearest.like) {
        result->kept = nearest.like;
        result->facts.similarity = nearest.likeness;
        answer_cache_use_similar(cache, nearest.like);
    } else if (nearest.unlikeness >= look->wish.settings->threshold) {
        result->facts.unlike = question_mark_name(nearest.differs_in);
        result->facts.similarity = nearest.unlikeness;
        answer_cache_count_unlike(cache, nearest.differs_in);
    }
    for (size_t i = 0; i < count; i++)
        if (some[i] != result->kept)
            kept_drop(some[i]);
}

static void finish(struct similar_look *look, struct similar_result *result)
{
    struct similar_wish wish = look->wish;
    look_free(look);
    wish.on_done(wish.ctx, result);
}

static void on_vector(void *ctx, enum td_status status, const struct embedding_answer *answer,
                      const struct td_error *err)
{
    struct similar_look *look = ctx;
    struct similar_result result = {.kept = NULL};
    (void)err; /* the answer is had without it */
    look->job = NULL;
    if (status == TD_OK && answer->count == 1)
        result.question =
            similar_question_new(look->scope, &look->marks, answer->vectors, answer->size);
    if (result.question && !look->wish.only_keeps)
        search(look, &result);
    finish(look, &result);
}

static void on_impatience(void *ctx)
{
    struct similar_look *look = ctx;
    struct similar_result result = {.kept = NULL};
    embedding_cancel(look->job);
    look->job = NULL;
    finish(look, &result);
}

/* --- the beginning --- */

static bool begin(struct similar_look *look, struct td_str text)
{
    const struct similar_wish *wish = &look->wish;
    const struct embedding_input input = {.text = text};
    const struct embedding_request request = {.inputs = &input,
                                              .input_count = 1,
                                              .caller = wish->question->request->caller,
                                              .loop = wish->loop,
                                              .on_done = on_vector,
                                              .ctx = look};
    look->patience = loop_timer_new(wish->loop, on_impatience, look);
    if (!look->patience ||
        embedding_submit(wish->settings->service, &request, &look->job, NULL) != TD_OK)
        return false;
    loop_timer_start(wish->loop, look->patience, PATIENCE_MS);
    look->wish.question = NULL;
    return true;
}

struct similar_look *similar_look_begin(const struct similar_wish *wish)
{
    const struct similar_settings *settings = wish->settings;
    struct td_str text;
    struct question_marks marks;
    uint8_t scope[CRYPTO_SHA256_BYTES];
    if (!settings->service || !cache_key_question(wish->question->request, &text) ||
        !question_marks_read(settings->scanner, text, &marks) ||
        !cache_key_scope(wish->question, settings->model, scope))
        return NULL;
    struct similar_look *look = calloc(1, sizeof *look);
    if (!look)
        return NULL;
    look->wish = *wish;
    look->marks = marks;
    memcpy(look->scope, scope, sizeof look->scope);
    if (begin(look, text))
        return look;
    look_free(look);
    return NULL;
}
