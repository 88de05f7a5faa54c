/* Makes the signals of a request, the router's whole view of it.
 *
 * Facts that the request states (needs, limits, sizes) are copied. The rest is measured on the
 * user's own words (utterance.h), so that quoted text cannot choose a tier. The moment (hour,
 * battery, budgets) stays unknown here: the exchange fills it in, and this file needs no clock. */
#include "router/plan/signals.h"

#include "router/judge/classifier.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

_Static_assert(SIGNALS_TASK_BYTES == CLASSIFIER_TASK_BYTES, "a task's name fits");

static unsigned media_needs(unsigned kinds)
{
    return (kinds & REQUEST_IMAGE ? CAPABILITY_IMAGE : 0u) |
           (kinds & REQUEST_AUDIO ? CAPABILITY_AUDIO : 0u) |
           (kinds & REQUEST_FILE ? CAPABILITY_FILE : 0u);
}

static unsigned capabilities_needed(const struct td_request *request)
{
    unsigned needs = media_needs(request->media.kinds);
    if (request->tool_count > 0 || request->old_functions)
        needs |= CAPABILITY_TOOLS;
    if (request->old_functions || request->foreign_tools)
        needs |= CAPABILITY_FOREIGN_TOOLS;
    if (request->tool_count > 0 && request->tool_choice != TOOL_CHOICE_NONE &&
        !request->call_grammar &&
        (request->format != TD_FORMAT_GRAMMAR || request->tool_choice == TOOL_CHOICE_FORCED))
        needs |= CAPABILITY_WHOLE_TOOLS;
    if (request->format == TD_FORMAT_JSON && !request->format_is_guessed)
        needs |= CAPABILITY_SCHEMA | (request->grammar ? 0 : CAPABILITY_WHOLE_SCHEMA);
    if (request->format == TD_FORMAT_GRAMMAR)
        needs |= CAPABILITY_GRAMMAR;
    if (request->adapter_count > 0)
        needs |= CAPABILITY_ADAPTERS;
    if (request->completion)
        needs |= CAPABILITY_COMPLETION | (request->completion->ids ? CAPABILITY_PROMPT_IDS : 0);
    if (request->infill_member)
        needs |= CAPABILITY_INFILL;
    if (request->foreign_sampling)
        needs |= CAPABILITY_SAMPLING;
    return needs | (request->no_train ? CAPABILITY_NO_TRAIN : 0u) |
           (request->no_retention ? CAPABILITY_NO_RETENTION : 0u);
}

/* The language with the most of its commonest words. */
static enum rule_language language_of(const struct features *features)
{
    static const enum rule_language languages[] = {LANGUAGE_ENGLISH, LANGUAGE_GERMAN,
                                                   LANGUAGE_FRENCH, LANGUAGE_SPANISH};
    static const enum marker markers[] = {MARKER_ENGLISH, MARKER_GERMAN, MARKER_FRENCH,
                                          MARKER_SPANISH};
    enum rule_language found = LANGUAGE_OTHER;
    float most = 0;
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        float count = features->value[FEATURE_MARKERS + markers[i]];
        if (count > most) {
            most = count;
            found = languages[i];
        }
    }
    return found;
}

static void judge(const struct classifier *classifier, const struct utterance *utterance,
                  const struct features *features, struct signals *out)
{
    struct classifier_work work;
    struct verdict verdict;
    classifier_judge(classifier, utterance, features, &work, &verdict);
    out->judged = true;
    out->gain = (double)verdict.gain;
    out->gain_whole = (double)verdict.gain_whole;
    out->p_local = (double)verdict.p_local;
    out->p_strong = (double)verdict.p_strong;
    out->task_p = (double)verdict.task_p;
    if (verdict.task != SIZE_MAX)
        memcpy(out->task, classifier_task_name(classifier, verdict.task), sizeof out->task);
}

void signals_extract(const struct td_request *request, const struct classifier *classifier,
                     const struct similarity *similarity, struct signals *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < request->message_count; i++) {
        size_t len = request->messages[i].content.len;
        bytes = len > SIZE_MAX - bytes ? SIZE_MAX : bytes + len;
    }
    struct utterance utterance;
    struct features features;
    utterance_read(request, &utterance);
    features_read(&utterance, &features);
    *out = (struct signals){
        .data_class = request->data_class,
        .mode = request->mode,
        .prompt_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
        .message_count =
            request->message_count > UINT32_MAX ? UINT32_MAX : (uint32_t)request->message_count,
        .tokens_max = request->tokens_max,
        .prompt_only = request->completion && request->completion->prompt_only,
        .needs = capabilities_needed(request),
        .regions = request->regions,
        .sampling = request->foreign_sampling,
        .infill_member = request->infill_member,
        .format_member = request->format_member,
        .call_fault = request->call_fault,
        .code = features.code,
        .maths = features.maths,
        .question = features.question,
        .multi_step = features.multi_step,
        .fresh = features.fresh,
        .jailbreak = features.jailbreak,
        .language = language_of(&features),
        .user = request->user,
        .tags = request->tags,
        .tag_count = request->tag_count,
        .batch = request->priority == TD_PRIORITY_BATCH,
        .draw = 1,
        .slo_ttft_ms = request->slo_ttft_ms,
        .slo_ms = request->slo_ms,
        .moment = {.hour = -1,
                   .weekday = -1,
                   .battery = (double)NAN,
                   .network = request->network,
                   .day_tokens = (double)NAN},
        .budget_used = (double)NAN,
    };
    if (classifier)
        judge(classifier, &utterance, &features, out);
    if (similarity)
        similarity_sketch(similarity, &utterance, &out->sketch);
}
