#include "tier/local_asked.h"

#include "base/error.h"
#include "base/str.h"
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

/* Beginnings of words, in the languages in which the model knows the task. */
static const char *const words[] = {
    "intent",
    "classif",
    "label",
    "categor",
    "kategor",
    "catégor",
    "class ",
    "class:",
    "class?",
    "klass",
    "klasyf",
    "clasific",
    "topic",
    "tag:",
    "tag this",
    "kind of request",
    "kind of message",
    "type of request",
    "type of message",
    "which of",
    "one of",
    "choose",
    "pick",
    "options",
    "route",
    "sort ",
    "absicht",
    "étiquet",
    "etiquet",
    "intención",
    "intencj",
    "intenç",
    "intenz",
    "niyet",
    "sınıfland",
    "avsikt",
    "bedoeling",
    "einordn",
    "ordne",
    "sortier",
    "department",
    "queue",
};

bool local_asked_nothing(struct td_str system_prompt)
{
    struct td_str text = str_trim(system_prompt);
    size_t stop = str_find(text, STR("."), 0);
    return text.len <= PERSONA_BYTES_MAX &&
           str_equal_nocase(str_slice(text, 0, 8), STR("You are ")) &&
           str_find(text, STR("assistant"), 0) != SIZE_MAX && stop + 1 >= text.len;
}

static bool holds_a_word(struct td_str text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct td_str word = str_from(words[i]);
        for (size_t at = 0; at + word.len <= text.len; at++)
            if (str_equal_nocase(str_slice(text, at, at + word.len), word))
                return true;
    }
    return false;
}

static bool asks(struct td_str text)
{
    if (text.len <= 2 * END_BYTES)
        return holds_a_word(text);
    return holds_a_word(str_slice(text, 0, END_BYTES)) ||
           holds_a_word(str_slice(text, text.len - END_BYTES, text.len));
}

bool local_asked_for_label(const struct td_request *request)
{
    if (request->completion || request->labels || request->format != TD_FORMAT_TEXT ||
        request->continues)
        return true;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct td_message *message = &request->messages[i];
        bool system = message->role == TD_ROLE_SYSTEM || message->role == TD_ROLE_DEVELOPER;
        if (system && !local_asked_nothing(message->content))
            return true;
        if (message->role == TD_ROLE_USER && asks(message->content))
            return true;
    }
    return false;
}

/* Intents that are answers, too. */
static bool is_answer(struct td_str label)
{
    return str_equal(label, STR("yes")) || str_equal(label, STR("no"));
}

/* Appends the tokens of a set. Some are ordinary words ("time"), but without the space that a word
 * inside an answer begins with; so only an answer that begins with such a word loses it. */
static enum td_status add_set(const struct td_model *model, const char *set,
                              struct td_logit_bias *out, size_t *count, struct td_error *err)
{
    struct td_classifier *classifier = NULL;
    enum td_status status =
        td_classifier_new(model, &(struct td_classifier_options){.set = set}, &classifier, err);
    size_t labels = status == TD_OK ? td_classifier_count(classifier) : 0;
    for (size_t i = 0; i < labels && *count < TD_LOGIT_BIASES_MAX; i++) {
        struct td_str label = td_classifier_label(classifier, i);
        int32_t id = classifier_token(model, label);
        if (id >= 0 && !is_answer(label))
            out[(*count)++] = (struct td_logit_bias){.id = id, .bias = FORBIDDEN};
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

enum td_status local_asked_new(const struct td_model *model, struct td_logit_bias **out,
                               size_t *count, struct td_error *err)
{
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!has_set(model, sets[i]))
            continue;
        if (!*out && !(*out = calloc(TD_LOGIT_BIASES_MAX, sizeof **out)))
            return error_set(err, TD_NO_MEMORY, "no memory for labels");
        enum td_status status = add_set(model, sets[i], *out, count, err);
        if (status != TD_OK) {
            free(*out);
            *out = NULL;
            *count = 0;
            return status;
        }
    }
    int32_t not_mine = td_model_get_info(model)->not_mine_id;
    if (*out && not_mine >= 0 && *count < TD_LOGIT_BIASES_MAX)
        (*out)[(*count)++] = (struct td_logit_bias){.id = not_mine, .bias = NOT_MINE};
    return TD_OK;
}
