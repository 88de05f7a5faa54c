#include "tier/local/local_asked.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/session/classifier.h"

#include <stdlib.h>

#define PERSONA_BYTES_MAX 80
/* Who asks for a label of a long text asks before it or behind it. */
#define END_BYTES 2000
#define FORBIDDEN (-100.0f)
/* A model that wanted to say a label has next to nothing else to say, so "not mine" wins against
 * what is up to e^1.5 times as likely. Of 180 everyday questions outside the model's jobs 8 had an
 * answer without it and 2 with it; of 120 inside, 99 and 97 are right. */
#define NOT_MINE 1.5f

/* The sets whose labels look like answers to those who did not ask. Those of languages and moods
 * are words that people ask for in many ways. */
static const char *const sets[] = {"intents", "banking"};

/* Beginnings of words and phrases that ask for a label, in the languages in which the model knows
 * the task. "Pick a restaurant" and "one of my cards was lost" ask for none. */
/* clang-format off */
static const char *const words[] = {
    "intent", "classif", "label", "categor", "kategor", "catégor", "which class", "class:",
    "class?", "klass", "klasyf", "clasific", "topic:", "topic of", "tag:", "tags:", "tag this",
    "tag the", "kind of request", "kind of message", "type of request", "type of message",
    "which of the following", "which of these", "one of the following", "one of these", "one of:",
    "choose one", "choose from", "choose the", "pick one", "pick from", "pick the", "options:",
    "route this", "route the", "route it", "route to:", "sort this", "sort the", "absicht",
    "étiquet", "etiquet", "intención", "intencj", "intenç", "intenz", "niyet", "sınıfland",
    "avsikt", "bedoeling", "einordn", "ordne", "sortier", "which department", "which queue",
    "which team",
};
/* What says the same in a system prompt, which is about messages to come. */
static const char *const system_words[] = {
    "which of", "one of", "choose", "pick", "options", "route", "sort ", "topic", "class ",
    "department", "queue",
};
/* clang-format on */

bool local_asked_nothing(struct td_str system_prompt)
{
    struct td_str text = str_trim(system_prompt);
    size_t stop = str_find(text, STR("."), 0);
    return text.len <= PERSONA_BYTES_MAX &&
           str_equal_nocase(str_slice(text, 0, 8), STR("You are ")) &&
           str_find(text, STR("assistant"), 0) != SIZE_MAX && stop + 1 >= text.len;
}

static bool holds(struct td_str text, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct td_str phrase = str_from(phrases[i]);
        for (size_t at = 0; at + phrase.len <= text.len; at++)
            if (str_equal_nocase(str_slice(text, at, at + phrase.len), phrase))
                return true;
    }
    return false;
}

static bool asks_within(struct td_str text, bool system)
{
    /* "One of billing, shipping: where is my parcel?" */
    bool list = str_equal_nocase(str_slice(text, 0, 7), STR("one of ")) &&
                str_find(text, STR(":"), 0) != SIZE_MAX;
    return list || holds(text, words, sizeof words / sizeof *words) ||
           (system && holds(text, system_words, sizeof system_words / sizeof *system_words));
}

static bool asks(struct td_str text, bool system)
{
    if (text.len <= 2 * END_BYTES)
        return asks_within(text, system);
    return asks_within(str_slice(text, 0, END_BYTES), system) ||
           asks_within(str_slice(text, text.len - END_BYTES, text.len), system);
}

/* Whether what was said to a message was a label: the next message may want one without a word. */
static bool was_labelled(const struct td_request *request, size_t message)
{
    if (message + 1 >= request->message_count ||
        request->messages[message + 1].role != TD_ROLE_ASSISTANT)
        return false;
    struct td_str said = str_trim(request->messages[message + 1].content);
    return said.len > 0 && str_find(said, STR(" "), 0) == SIZE_MAX;
}

bool local_asked_for_label(const struct td_request *request)
{
    if (request->completion || request->labels || request->format != TD_FORMAT_TEXT ||
        request->continues)
        return true;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct td_message *message = &request->messages[i];
        bool system = message->role == TD_ROLE_SYSTEM || message->role == TD_ROLE_DEVELOPER;
        bool last = i + 1 == request->message_count;
        bool counts =
            system || (message->role == TD_ROLE_USER && (last || was_labelled(request, i)));
        if (counts && asks(message->content, system))
            return true;
    }
    return false;
}

/* Intents that are answers, too. */
static bool is_answer(struct td_str label)
{
    return str_equal(label, STR("yes")) || str_equal(label, STR("no"));
}

static void forbid(struct local_unasked *unasked, int32_t id, float bias)
{
    if (id >= 0 && unasked->count < TD_LOGIT_BIASES_MAX)
        unasked->biases[unasked->count++] = (struct td_logit_bias){.id = id, .bias = bias};
}

/* Appends the tokens of a set, answers or others. Some are ordinary words ("time"), but without the
 * space that a word inside an answer begins with; so only an answer that begins with such a word
 * loses it. */
static enum td_status add_set(struct local_unasked *unasked, const struct td_model *model,
                              const char *set, bool answers, struct td_error *err)
{
    struct td_classifier *classifier = NULL;
    enum td_status status =
        td_classifier_new(model, &(struct td_classifier_options){.set = set}, &classifier, err);
    size_t labels = status == TD_OK ? td_classifier_count(classifier) : 0;
    for (size_t i = 0; i < labels; i++) {
        struct td_str label = td_classifier_label(classifier, i);
        if (is_answer(label) == answers)
            forbid(unasked, classifier_token(model, label), FORBIDDEN);
    }
    td_classifier_free(classifier);
    return status;
}

static bool has_set(const struct td_model *model, const char *set)
{
    struct td_str name;
    for (size_t i = 0; (name = td_label_set(model, i)).len > 0; i++)
        if (str_equal(name, str_from(set)))
            return true;
    return false;
}

static enum td_status add_sets(struct local_unasked *unasked, const struct td_model *model,
                               bool answers, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && status == TD_OK; i++)
        if (has_set(model, sets[i]))
            status = add_set(unasked, model, sets[i], answers, err);
    return status;
}

enum td_status local_unasked_init(struct local_unasked *unasked, const struct td_model *model,
                                  struct td_error *err)
{
    bool any = false;
    *unasked = (struct local_unasked){.biases = NULL};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        any |= has_set(model, sets[i]);
    if (!any)
        return TD_OK;
    unasked->biases = calloc(TD_LOGIT_BIASES_MAX, sizeof *unasked->biases);
    if (!unasked->biases)
        return error_set(err, TD_NO_MEMORY, "no memory for labels");
    enum td_status status = add_sets(unasked, model, false, err);
    unasked->labels = unasked->count;
    forbid(unasked, td_model_get_info(model)->not_mine_id, NOT_MINE);
    unasked->without_answers = unasked->count;
    if (status == TD_OK)
        status = add_sets(unasked, model, true, err);
    if (status != TD_OK)
        local_unasked_deinit(unasked);
    return status;
}

void local_unasked_deinit(struct local_unasked *unasked)
{
    free(unasked->biases);
    *unasked = (struct local_unasked){.biases = NULL};
}

/* "that's correct" is no question, and "yes" no answer to it. */
static bool asks_a_question(const struct td_request *request)
{
    if (request->message_count == 0)
        return true;
    struct td_str last = request->messages[request->message_count - 1].content;
    return str_find(last, STR("?"), 0) != SIZE_MAX || str_find(last, STR("yes"), 0) != SIZE_MAX ||
           str_find(last, STR("true"), 0) != SIZE_MAX;
}

/* A system prompt may give a task; whether the model can do that is its own to say. */
static bool has_task(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++) {
        const struct td_message *message = &request->messages[i];
        bool system = message->role == TD_ROLE_SYSTEM || message->role == TD_ROLE_DEVELOPER;
        if (system && !local_asked_nothing(message->content))
            return true;
    }
    return false;
}

size_t local_unasked_count(const struct local_unasked *unasked, const struct td_request *request)
{
    if (local_asked_for_label(request))
        return 0;
    if (has_task(request))
        return unasked->labels;
    return asks_a_question(request) ? unasked->without_answers : unasked->count;
}
