/* Decides how many tokens to guess, and guesses them. A guess costs time and nothing else, so the
 * only question is whether it pays. The expected tokens a millisecond follow from moving averages:
 * what passes, rows and guesses cost, and how often guesses were right. Each source of guesses has
 * its own averages. Where guessing does not pay it is tried again now and then, because texts
 * change. */
#include "engine/session/speculation.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "engine/session/session.h"

#include <math.h>

/* Runs are compared up to this length. A longer one is not a better guess. */
#define RUN_MAX 8u
#define RUN_MIN 2u
/* Share of a new observation in a moving average. */
#define NEW_SHARE 0.125
/* Before anything is measured: how often guesses are right, and how many are tried. */
#define RIGHT_AT_FIRST 0.6
#define TOKENS_AT_FIRST 3u
/* When guessing does not pay, it is tried again after this many steps. */
#define SKIPPED_MAX 24u
/* The smaller model stops at a token of a lower log-probability: the rest would hardly be right. */
#define DRAFT_LOGPROB_MIN (-1.2f)
/* Vocabularies of one family differ in their padding. */
#define VOCABULARY_PADDING_MAX 1024u

/* --- how many --------------------------------------------------------------------------------- */

static void average(double *value, double seen)
{
    *value = *value > 0 ? *value + NEW_SHARE * (seen - *value) : seen;
}

/* A pass with k guesses brings 1 + a + ... + a^k tokens when each is right with probability a
 * (Leviathan et al. 2023, equation 1). */
uint32_t guess_count(const struct guess_pace *pace, uint32_t max)
{
    if (!(pace->pass_ms > 0)) /* a plain pass must be measured first */
        return 0;
    bool again = pace->skipped >= SKIPPED_MAX;
    if (again || !(pace->row_ms > 0))
        return max < TOKENS_AT_FIRST ? max : TOKENS_AT_FIRST;
    double tokens = 1, power = 1, best_rate = 1 / pace->pass_ms;
    uint32_t best = 0;
    for (uint32_t k = 1; k <= max; k++) {
        power *= pace->right;
        tokens += power;
        double rate = tokens / (pace->pass_ms + k * (pace->row_ms + pace->guess_ms));
        if (rate > best_rate) {
            best_rate = rate;
            best = k;
        }
    }
    return best;
}

static void guess_missed(struct guess_pace *pace)
{
    pace->right -= NEW_SHARE * pace->right;
    pace->skipped = 0;
}

void guess_note(struct guess_pace *pace, uint32_t guessed, uint32_t right, double pass_ms)
{
    if (guessed == 0) {
        average(&pace->pass_ms, pass_ms);
        return;
    }
    /* Never 0, which means "not known". */
    average(&pace->row_ms, fmax(1e-6, (pass_ms - pace->pass_ms) / guessed));
    for (uint32_t i = 0; i < guessed && i <= right; i++)
        pace->right += NEW_SHARE * ((i < right ? 1.0 : 0.0) - pace->right);
    pace->skipped = 0;
}

/* --- what ------------------------------------------------------------------------------------- */

uint32_t guess_from_text(const int32_t *ids, uint32_t count, int32_t last_id, uint32_t max,
                         int32_t *out)
{
    ASSERT(ids != NULL || count == 0);
    uint32_t best = RUN_MIN - 1, from = 0, made = 0;
    for (uint32_t i = count; i-- > 0 && best < RUN_MAX;) {
        if (ids[i] != last_id)
            continue;
        uint32_t run = 1; /* ids[i] = last_id; compare backwards with ids[count - 1], ... */
        while (run < RUN_MAX && run <= i && ids[i - run] == ids[count - run])
            run++;
        if (run > best) {
            best = run;
            from = i + 1;
        }
    }
    if (best < RUN_MIN)
        return 0;
    for (; made < max; made++) { /* after the end of the text come the guesses themselves */
        uint32_t at = from + made;
        out[made] = at < count ? ids[at] : at == count ? last_id : out[at - count - 1];
    }
    return made;
}

/* Lets the smaller model read the text up to its end, or a part of it. *there: it has read all. */
static enum td_status catch_up(const struct speculation *s, const struct sequence *sequence,
                               bool *there, struct td_error *err)
{
    struct td_session *draft = s->draft;
    uint32_t known = sequence_common_prefix(&draft->sequence, draft->sequence.adapters,
                                            sequence->ids, sequence->length);
    uint32_t behind = sequence->length - known;
    uint32_t count = s->catch_up_max && s->catch_up_max < behind ? s->catch_up_max : behind;
    td_session_truncate(draft, known);
    *there = count == behind;
    return count ? td_session_forward(draft, sequence->ids + known, count, NULL, 0, err) : TD_OK;
}

/* Lets the smaller model continue after `last_id`. When it fails (its context is full) there are no
 * guesses. */
static uint32_t guess_with_draft(struct speculation *s, const struct sequence *sequence,
                                 int32_t last_id, const struct sampler *sampler, uint32_t max)
{
    struct td_session *draft = s->draft;
    struct workspace *workspace = draft->workspace;
    const struct td_model *model = draft->model;
    struct td_error ignored = {0};
    uint32_t made = 0;
    if (sequence->length >= draft->sequence.context_size)
        return 0;
    double begin_ms = clock_monotonic_ms(NULL);
    bool prompt = td_session_length(draft) + SPECULATION_TOKENS_MAX < sequence->length, there;
    enum td_status status = catch_up(s, sequence, &there, &ignored);
    if (status == TD_OK && !there) /* it reads on before the next step */
        return 0;
    if (prompt) /* reading it says nothing about the cost of later guesses */
        begin_ms = clock_monotonic_ms(NULL);
    sampler_follow(&s->draft_sampler, sampler);
    for (int32_t id = last_id; status == TD_OK && made < max; made++) {
        struct sampler_choice choice;
        status = td_session_forward(draft, &id, 1, workspace->logits, 1, &ignored);
        if (status == TD_OK)
            status =
                sampler_choose(&s->draft_sampler, model->kernels, workspace->logits,
                               model->vocab_count, -1, workspace->candidates, &choice, &ignored);
        if (status != TD_OK || (uint32_t)choice.id >= sequence->model->vocab_count ||
            choice.stats.logprob < DRAFT_LOGPROB_MIN)
            break;
        id = s->batch[1 + made] = choice.id;
        sampler_accept(&s->draft_sampler, id);
    }
    struct guess_pace *pace = &s->pace[GUESS_DRAFT];
    average(&pace->guess_ms, (clock_monotonic_ms(NULL) - begin_ms) / (made ? made : 1));
    if (made == 0) /* it cost time for nothing, like a wrong guess */
        guess_missed(pace);
    return made;
}

static uint32_t wanted(struct speculation *s, enum guess_source source, uint32_t max)
{
    struct guess_pace pace = s->pace[source];
    /* A pass serves all streams, so each pays a part of it. But all wait for the guesses of
     * each. */
    if (s->streams > 1)
        pace.pass_ms /= s->streams;
    uint32_t count = s->always ? max : guess_count(&pace, max);
    s->source = source;
    s->pace[source].skipped += count == 0;
    return count;
}

void speculation_guess(struct speculation *s, const struct sequence *sequence, int32_t last_id,
                       const struct sampler *sampler, struct token_filter *filter, uint32_t max)
{
    if (s->guessed && s->batch[0] == last_id)
        return;
    max = max < s->tokens_max ? max : s->tokens_max;
    int32_t *out = s->batch + 1;
    uint32_t count = filter ? token_filter_forced(filter, out, max) : 0, most;
    if (count > 0) {
        most = wanted(s, GUESS_FORCED, max);
    } else if (s->kind == TD_SPECULATION_DRAFT) {
        bool few = s->streams <= SPECULATION_DRAFT_STREAMS_MAX;
        most = few ? wanted(s, GUESS_DRAFT, max) : 0;
        count = most ? guess_with_draft(s, sequence, last_id, sampler, most) : 0;
    } else {
        count = guess_from_text(sequence->ids, sequence->length, last_id, max, out);
        most = count ? wanted(s, GUESS_NGRAM, max) : 0;
    }
    count = count < most ? count : most;
    if (filter && count)
        count = token_filter_count_allowed(filter, out, count);
    s->batch[0] = last_id;
    s->guess_count = count;
    s->guessed = true;
}

void speculation_note(struct speculation *s, uint32_t right, double pass_ms)
{
    ASSERT(right <= s->guess_count);
    if (!s->guessed)
        return;
    if (s->guess_count)
        guess_note(&s->pace[s->source], s->guess_count, right, pass_ms);
    for (int i = 0; i < GUESS_SOURCES && s->guess_count == 0; i++)
        guess_note(&s->pace[i], 0, 0, pass_ms);
    s->guessed = false;
    s->guess_count = 0;
}

/* --- start ------------------------------------------------------------------------------------ */

enum td_status speculation_check_vocabulary(const struct td_model *model,
                                            const struct td_model *draft, struct td_error *err)
{
    uint32_t a = model->vocab_count, b = draft->vocab_count, common = a < b ? a : b;
    if (model == draft)
        return TD_OK;
    for (uint32_t id = 0; id < common; id++) {
        struct td_str x = td_token_piece(model, (int32_t)id, true);
        struct td_str y = td_token_piece(draft, (int32_t)id, true);
        if (!str_equal(x, y))
            return error_set(err, TD_INVALID,
                             "token %u is '" STR_FMT "' in the draft model %s and '" STR_FMT
                             "' in %s: speculation needs the same vocabulary",
                             id, STR_ARG(str_slice(y, 0, 40)), draft->name,
                             STR_ARG(str_slice(x, 0, 40)), model->name);
    }
    if (a - common > VOCABULARY_PADDING_MAX || b - common > VOCABULARY_PADDING_MAX)
        return error_set(err, TD_INVALID,
                         "the draft model %s has %u tokens, %s has %u, of which token %u is the "
                         "first that only one of them has: speculation needs the same vocabulary",
                         draft->name, b, model->name, a, common);
    return TD_OK;
}

enum td_status speculation_init(struct speculation *s, const struct td_model *model,
                                const struct td_generate_options *options, struct td_error *err)
{
    *s = (struct speculation){.kind = options->speculation, .tokens_max = options->draft_tokens};
    if (s->tokens_max == 0)
        s->tokens_max = SPECULATION_TOKENS_DEFAULT;
    for (int i = 0; i < GUESS_SOURCES; i++)
        s->pace[i].right = RIGHT_AT_FIRST;
    if (s->kind != TD_SPECULATION_NONE && s->kind != TD_SPECULATION_NGRAM &&
        s->kind != TD_SPECULATION_DRAFT)
        return error_set(err, TD_INVALID, "unknown kind of speculation %d", (int)s->kind);
    if (s->tokens_max > SPECULATION_TOKENS_MAX)
        return error_set(err, TD_INVALID, "draft_tokens is %u, at most %d", s->tokens_max,
                         SPECULATION_TOKENS_MAX);
    if ((s->kind == TD_SPECULATION_DRAFT) != (options->draft != NULL))
        return error_set(err, TD_INVALID,
                         "draft speculation needs a draft session, and nothing else may have one");
    if (options->draft == NULL)
        return TD_OK;
    s->draft = options->draft;
    if (s->draft->drafts_for != model) {
        enum td_status status = speculation_check_vocabulary(model, s->draft->model, err);
        if (status != TD_OK)
            return status;
    }
    struct td_sampling sampling = options->sampling;
    sampling.presence_penalty = sampling.frequency_penalty =
        0; /* they would need the counts of the answer */
    sampling.seed_set = true;
    return sampler_init(&s->draft_sampler, &sampling, err);
}

void speculation_deinit(struct speculation *s)
{
    sampler_deinit(&s->draft_sampler);
}
