/* Which earlier turns the last message is about is judged by its rarer words: a word counts more,
 * the fewer of the earlier turns have it. No model is asked, so that the choice costs nothing and
 * can be explained. */
#include "exchange/private/minimise.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "privacy/text/word_set.h"

#include <stdlib.h>
#include <string.h>

#define TURNS_MAX 512u /* of longer conversations the first turns are one */
#define QUESTION_WORDS_MAX 64u
#define WORD_LETTERS_MIN 4 /* shorter ones are mostly grammar */

struct turn {
    size_t begin, end; /* messages; system messages between them are not the turn's */
    double score;
    bool kept;
};

struct minimised {
    struct td_request request;
    struct td_message *messages;
    struct request_parts *parts;
    struct request_member *members;
    struct json *list; /* of the messages that are left, as a member */
    struct left_out left_out;
};

static bool always_stays(enum td_role role)
{
    return role == TD_ROLE_SYSTEM || role == TD_ROLE_DEVELOPER;
}

static size_t read_turns(const struct td_request *request, struct turn turns[static TURNS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < request->message_count; i++) {
        if (always_stays(request->messages[i].role))
            continue;
        bool begins = count == 0 || request->messages[i].role == TD_ROLE_USER;
        if (begins && count < TURNS_MAX)
            turns[count++] = (struct turn){.begin = i};
        turns[count - 1].end = i + 1;
    }
    return count;
}

/* --- relevance --- */

/* A word that half of the earlier turns have says nothing. */
static void score_turns(const struct td_request *request, struct turn *turns, size_t earlier)
{
    uint64_t words[QUESTION_WORDS_MAX];
    struct word_set *sets = calloc(earlier, sizeof *sets);
    if (!sets)
        return; /* then the last turns are all that is kept */
    const struct td_message *last = &request->messages[request->message_count - 1];
    size_t count = word_set_list(last->content, WORD_LETTERS_MIN, words, QUESTION_WORDS_MAX);
    for (size_t t = 0; t < earlier; t++)
        for (size_t i = turns[t].begin; i < turns[t].end; i++)
            word_set_add(&sets[t], request->messages[i].content);
    for (size_t w = 0; w < count; w++) {
        size_t found = 0;
        for (size_t t = 0; t < earlier; t++)
            found += word_set_has_key(&sets[t], words[w]);
        if (found == 0 || (earlier >= 4 && 2 * found >= earlier))
            continue;
        for (size_t t = 0; t < earlier; t++)
            if (word_set_has_key(&sets[t], words[w]))
                turns[t].score += 1.0 / (double)found;
    }
    for (size_t t = 0; t < earlier; t++)
        word_set_deinit(&sets[t]);
    free(sets);
}

static void keep_relevant(struct turn *turns, size_t earlier, uint32_t wanted)
{
    for (; wanted > 0; wanted--) {
        struct turn *best = NULL;
        for (size_t t = 0; t < earlier; t++)
            if (!turns[t].kept && turns[t].score > 0 && (!best || turns[t].score >= best->score))
                best = &turns[t];
        if (!best)
            return;
        best->kept = true;
    }
}

/* --- the smaller request --- */

static struct json *smaller_list(const struct json *messages, const bool *kept)
{
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < json_count(messages); i++)
        if (kept[i])
            json_push(list, json_clone(json_at(messages, i)));
    return list;
}

/* The same members, except the list of messages. */
static bool copy_members(struct minimised *minimised, const struct td_request *request,
                         const bool *kept)
{
    minimised->members = calloc(request->member_count + 1, sizeof *minimised->members);
    for (size_t i = 0; minimised->members && i < request->member_count; i++) {
        struct request_member *member = &minimised->members[i];
        *member = request->members[i];
        if (member->kind != REQUEST_MESSAGES)
            continue;
        member->value = minimised->list = smaller_list(member->value, kept);
        if (!member->value)
            return false;
    }
    minimised->request.members = minimised->members;
    return minimised->members != NULL;
}

static bool copy_messages(struct minimised *minimised, const struct td_request *request,
                          const bool *kept)
{
    size_t count = 0;
    minimised->messages = calloc(request->message_count + 1, sizeof *minimised->messages);
    minimised->parts = calloc(request->message_count + 1, sizeof *minimised->parts);
    if (!minimised->messages || !minimised->parts)
        return false;
    for (size_t i = 0; i < request->message_count; i++) {
        if (!kept[i]) {
            minimised->left_out.bytes += request->messages[i].content.len;
            continue;
        }
        if (request->parts)
            minimised->parts[count] = request->parts[i];
        minimised->messages[count++] = request->messages[i];
    }
    minimised->left_out.messages = (uint32_t)(request->message_count - count);
    minimised->request.messages = minimised->messages;
    minimised->request.message_count = count;
    minimised->request.parts = minimised->parts;
    return true;
}

static enum td_status build(const struct td_request *request, const bool *kept,
                            struct minimised **out, struct td_error *err)
{
    struct minimised *minimised = calloc(1, sizeof *minimised);
    if (minimised)
        minimised->request = *request;
    if (!minimised || !copy_messages(minimised, request, kept) ||
        !copy_members(minimised, request, kept)) {
        minimised_free(minimised);
        return error_set(err, TD_NO_MEMORY, "no memory for a smaller request");
    }
    *out = minimised;
    return TD_OK;
}

/* Where a list of messages is sent, it must be the one that is made smaller. */
static bool can_be_smaller(const struct td_request *request)
{
    return !request->completion &&
           (request->member_count == 0 ||
            json_count(request_value(request, REQUEST_MESSAGES)) == request->message_count);
}

enum td_status minimised_new(const struct td_request *request,
                             const struct minimise_settings *settings, struct minimised **out,
                             struct td_error *err)
{
    struct turn turns[TURNS_MAX];
    ASSERT(request && settings && out);
    *out = NULL;
    if (settings->turns == 0 || !can_be_smaller(request))
        return TD_OK;
    size_t count = read_turns(request, turns);
    if (count <= settings->turns)
        return TD_OK;
    size_t earlier = count - settings->turns;
    if (settings->relevant > 0) {
        score_turns(request, turns, earlier);
        keep_relevant(turns, earlier, settings->relevant);
    }
    bool *kept = calloc(request->message_count, sizeof *kept);
    if (!kept)
        return error_set(err, TD_NO_MEMORY, "no memory for a smaller request");
    uint32_t left_out = 0;
    for (size_t i = 0; i < request->message_count; i++)
        kept[i] = i >= turns[earlier].begin || always_stays(request->messages[i].role);
    for (size_t t = 0; t < earlier; t++) {
        left_out += !turns[t].kept;
        for (size_t i = turns[t].begin; i < turns[t].end; i++)
            kept[i] |= turns[t].kept;
    }
    enum td_status status = left_out > 0 ? build(request, kept, out, err) : TD_OK;
    if (*out)
        (*out)->left_out.turns = left_out;
    free(kept);
    return status;
}

void minimised_free(struct minimised *minimised)
{
    if (!minimised)
        return;
    json_free(minimised->list);
    free(minimised->members);
    free(minimised->parts);
    free(minimised->messages);
    free(minimised);
}

const struct td_request *minimised_request(const struct minimised *minimised)
{
    return &minimised->request;
}

struct left_out minimised_left_out(const struct minimised *minimised)
{
    return minimised->left_out;
}
