/* The exchange as the ledger keeps it: one row, and one for each attempt.
 *
 * Texts are stored only where the policy says so, and never of contractual or restricted data. What
 * a tier's server wrote is not stored at all: it may repeat what it was sent. */
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/machine/recording.h"
#include "exchange/parts/ledger_json.h"

#include <stdlib.h>

/* A request's own limit. */
#define PROMPT_BYTES_MAX (4 * 1024 * 1024)

static char *prompt_text(const struct exchange *ex)
{
    struct buf text;
    buf_init(&text, PROMPT_BYTES_MAX);
    for (size_t i = 0; i < ex->request.message_count; i++) {
        if (i)
            buf_append_char(&text, '\n');
        buf_append_str(&text, ex->request.messages[i].content);
    }
    char *taken = buf_take(&text);
    buf_deinit(&text);
    return taken;
}

/* The texts that the attempts of a record point to. */
struct attempt_texts {
    char causes[ATTEMPTS_MAX][REASON_TEXT_BYTES];
    char versions[ATTEMPTS_MAX][LEDGER_VERSION_BYTES];
};

static void fill_attempts(const struct exchange *ex, struct ledger_attempt out[ATTEMPTS_MAX],
                          struct attempt_texts *texts)
{
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct attempt *attempt = ex->attempts[i];
        const struct tier_facts *facts = &ex->facts[attempt->tier];
        if (attempt->status != TD_OK)
            disclosure_cause(ex, attempt, texts->causes[i], REASON_TEXT_BYTES);
        out[i] = (struct ledger_attempt){
            .tier = facts->name,
            .model = facts->model,
            .place = names_place(facts->place),
            .outcome = attempt->outcome,
            .error = attempt->status != TD_OK ? texts->causes[i] : NULL,
            .confidence = attempt->confidence,
            .prompt_tokens = attempt->usage.prompt_tokens,
            .completion_tokens = attempt->usage.completion_tokens,
            .cached_tokens = attempt->usage.cached_tokens,
            .exact = attempt->usage.exact,
            .prompt_estimate = attempt->prompt_estimate,
            .answer_bytes = attempt->answer_bytes,
            .start_ms = attempt->start_ms,
            .first_ms = attempt->first_ms,
            .total_ms = attempt->total_ms,
            .cost_usd = attempt->cost_usd,
            .estimated = attempt->estimated,
            .egress_bytes = attempt->egress_bytes,
            .span_id = ex->request.keep_nothing ? NULL : attempt->span,
            .model_version =
                ledger_json_version(facts, attempt->server_identity, texts->versions[i]),
        };
    }
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)state;
    if (!ex->services->ledger)
        return;
    const struct exchange_summary *summary = &ex->answer.summary;
    struct ledger_attempt attempts[ATTEMPTS_MAX];
    struct attempt_texts texts;
    fill_attempts(ex, attempts, &texts);
    /* Restricted and contractual text is not stored even where the policy stores prompts: its place
     * is its source. */
    bool store = ex->services->store_prompts && !ex->request.keep_nothing &&
                 summary->data_class < TD_CLASS_CONTRACTUAL;
    /* Whoever called may be known by them elsewhere. */
    const struct trace *trace = ex->request.keep_nothing ? NULL : &ex->trace;
    char *signals = ledger_json_signals(ex, store), *reasons = ledger_json_reasons(ex);
    char *prompt = store ? prompt_text(ex) : NULL;
    struct ledger_exchange record = {
        .id = ex->id,
        .wall_ms = clock_wall_ms(ex->services->clock),
        .user = ex->request.keep_nothing ? NULL : ex->request.user,
        .tenant = ex->request.tenant,
        .route = summary->route,
        .policy_version = ex->services->policy->version,
        .requested_model = ex->requested_model,
        .tier = summary->tier,
        .model = summary->model,
        .place = summary->tier ? names_place(summary->place) : NULL,
        .data_class = names_class(summary->data_class),
        .status = how,
        .finish = how == ENDED_OK ? names_finish(summary->finish) : NULL,
        .confidence = summary->confidence,
        .prompt_tokens = summary->usage.prompt_tokens,
        .completion_tokens = summary->usage.completion_tokens,
        .ttft_ms = summary->ttft_ms,
        .total_ms = summary->total_ms,
        .cost_usd = summary->cost_usd,
        .all_cloud_cost_usd = summary->all_cloud_cost_usd,
        .all_cloud_basis = summary->all_cloud_basis,
        .standing = summary->standing,
        .degraded = summary->degraded,
        .streamed = ex->request.streamed,
        .disclosure = summary->disclosure,
        .trace_id = trace ? trace->id : NULL,
        .span_id = trace ? trace->span : NULL,
        .parent_span_id = trace && *trace->parent ? trace->parent : NULL,
        .request_id = trace ? ex->request.request_id : NULL,
        .signals_json = signals,
        .reasons_json = reasons,
        .prompt_text = prompt,
        .answer_text = store && ex->answer.text.len ? ex->answer.text.data : NULL,
        .attempts = attempts,
        .attempt_count = ex->attempt_count,
    };
    struct td_error err = {0};
    struct recording *awaited = NULL;
    if (how != ENDED_CANCELLED && ledger_is_durable(ex->services->ledger) &&
        (awaited = answer_await_record(ex))) {
        record.recorded = recording_told;
        record.recorded_ctx = awaited;
    }
    if (ledger_put(ex->services->ledger, &record, &err) != TD_OK) {
        log_event(LOG_LEVEL_WARN, "ledger_put_failed", "exchange=%s error=\"%s\"", ex->id,
                  err.message);
        if (awaited)
            recording_told(awaited, TD_BUSY);
    }
    free(signals);
    free(reasons);
    free(prompt);
}

const struct exchange_part part_ledger = {.name = "ledger", .ended = ended};
