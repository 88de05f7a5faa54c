/* Hill-climbing on suffixes (Shafran et al. 2025, "Rerouting LLM Routers", arXiv 2501.01818): an
 * attacker who sees every score looks for ten words that, behind any prompt, raise the gain over
 * the bar at which half of the prompts escalate. At each step a place among the ten is drawn, 32
 * words are tried there, and the best stays; 100 steps, less when 25 bring nothing. He climbs on
 * prompts of his own, and the words are then put behind others that stay local without them. He
 * does so against the gain of the whole text (undefended) and against the gain that decides
 * (classifier.h), knowing of the defence. Then his traffic meets a caller's cap of escalations an
 * hour and a day's budget.
 *
 *     bench_climb CLASSIFIER PROMPTS      prompts: each ended by a NUL */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "exchange/limits/spending.h"
#include "exchange/limits/watch.h"
#include "router/judge/classifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROMPTS_MAX = 8000,
    PROMPT_BYTES_MAX = 1500, /* longer ones are left out: suffixes matter least there */
    WORDS_MAX = 100000,
    WORD_BYTES_MAX = 15,
    GADGETS = 5,
    GADGET_WORDS = 10,
    STEPS = 100,
    STEPS_IN_VAIN = 25,
    CANDIDATES = 32,
    OWN_PROMPTS = 16,   /* that the attacker climbs on */
    OTHER_PROMPTS = 300 /* that his words are tried on */
};
#define CAP_PER_HOUR 30
#define BUDGET_USD 1.0
#define ANSWER_USD 0.02

static struct classifier *classifier;
static struct td_str prompts[PROMPTS_MAX], words[WORDS_MAX];
static size_t prompt_count, word_count;
static size_t local[PROMPTS_MAX]; /* prompts below the bar */
static size_t local_count;
static double bar;

struct gadget {
    size_t word[GADGET_WORDS];
};

static double judge(struct td_str text, bool defended)
{
    static struct classifier_work work;
    struct utterance utterance;
    struct features features;
    struct verdict verdict;
    utterance_read_text(text, &utterance);
    features_read(&utterance, &features);
    classifier_judge(classifier, &utterance, &features, &work, &verdict);
    return (double)(defended ? verdict.gain : verdict.gain_whole);
}

static double judge_with(size_t prompt, const struct gadget *gadget, bool defended)
{
    char text[PROMPT_BYTES_MAX + GADGET_WORDS * (WORD_BYTES_MAX + 1)];
    size_t len = prompts[prompt].len;
    memcpy(text, prompts[prompt].data, len);
    for (size_t i = 0; i < GADGET_WORDS; i++) {
        struct td_str word = words[gadget->word[i]];
        text[len++] = ' ';
        memcpy(text + len, word.data, word.len);
        len += word.len;
    }
    return judge((struct td_str){text, len}, defended);
}

static double mean_with(const size_t *own, const struct gadget *gadget, bool defended)
{
    double sum = 0;
    for (size_t i = 0; i < OWN_PROMPTS; i++)
        sum += judge_with(own[i], gadget, defended);
    return sum / OWN_PROMPTS;
}

static struct gadget climb(struct rng *rng, const size_t *own, bool defended)
{
    struct gadget gadget;
    for (size_t i = 0; i < GADGET_WORDS; i++)
        gadget.word[i] = rng_below(rng, (uint32_t)word_count);
    double best = mean_with(own, &gadget, defended);
    for (int step = 0, in_vain = 0; step < STEPS && in_vain < STEPS_IN_VAIN; step++, in_vain++) {
        size_t place = rng_below(rng, GADGET_WORDS), stays = gadget.word[place];
        for (int i = 0; i < CANDIDATES; i++) {
            gadget.word[place] = rng_below(rng, (uint32_t)word_count);
            double mean = mean_with(own, &gadget, defended);
            if (mean > best) {
                best = mean;
                stays = gadget.word[place];
                in_vain = -1;
            }
        }
        gadget.word[place] = stays;
    }
    return gadget;
}

/* Share of other local prompts that the words lift over the bar. */
static double lifted(const struct gadget *gadget, bool defended)
{
    size_t tried = 0, over = 0;
    for (size_t i = GADGETS * OWN_PROMPTS; i < local_count && tried < OTHER_PROMPTS; i++, tried++)
        over += judge_with(local[i], gadget, defended) > bar;
    return tried ? (double)over / (double)tried : 0;
}

/* --- caps --- */

static uint64_t standing_ns(void *ctx)
{
    (void)ctx;
    return UINT64_C(1000000000);
}

static uint64_t standing_ms(void *ctx)
{
    (void)ctx;
    return UINT64_C(1700000000000);
}

/* All local prompts with the words, within an hour, each of which he wants on the cloud: how many
 * go, by a cap an hour and by a day's budget. */
static void meet_caps(const struct gadget *gadget, bool defended)
{
    const struct clock clock = {standing_ns, standing_ms, NULL};
    struct watch *watch = watch_new(&clock);
    struct spending *spending = spending_new(&clock, 16);
    uint64_t key = spending_key("day", NULL, "attacker");
    size_t sent = 0, wanted = 0, capped = 0, paid = 0;
    if (!watch || !spending)
        exit(1);
    for (size_t i = 0; i < local_count; i++, sent++) {
        if (judge_with(local[i], gadget, defended) <= bar)
            continue;
        wanted++;
        capped += watch_reserve(watch, "attacker", CAP_PER_HOUR);
        if (spending_today(spending, key) < BUDGET_USD) { /* as part_budget.c and plan.c have it */
            spending_promise(spending, key, ANSWER_USD);
            spending_settle(spending, key, ANSWER_USD, ANSWER_USD);
            paid++;
        }
    }
    double spent = spending_today(spending, key);
    printf("  of %zu prompts in an hour %zu would leave; with a cap of %d an hour %zu do%s; with a "
           "budget of %.2f USD %.2f are spent%s\n",
           sent, wanted, CAP_PER_HOUR, capped, capped <= CAP_PER_HOUR ? "  met" : "  MISSED",
           BUDGET_USD, spent, spent <= BUDGET_USD + ANSWER_USD ? "  met" : "  MISSED");
    watch_free(watch);
    spending_free(spending);
}

/* --- the set --- */

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static bool add_words(struct td_str text)
{
    for (size_t at = 0; at < text.len && word_count < WORDS_MAX;) {
        size_t end = at;
        while (end < text.len && text.data[end] != ' ' && text.data[end] != '\n')
            end++;
        if (end > at && end - at <= WORD_BYTES_MAX)
            words[word_count++] = str_slice(text, at, end);
        at = end + 1;
    }
    return word_count > 0;
}

/* The bar, what lies below it with and without the defence, and what the defence takes from above
 * it. */
static void divide(void)
{
    static double whole[PROMPTS_MAX], sorted[PROMPTS_MAX];
    size_t above = 0, stay_above = 0;
    for (size_t i = 0; i < prompt_count; i++)
        whole[i] = sorted[i] = judge(prompts[i], false);
    qsort(sorted, prompt_count, sizeof *sorted, compare_doubles);
    bar = sorted[prompt_count / 2];
    for (size_t i = 0; i < prompt_count; i++) {
        if (whole[i] <= bar && prompts[i].len <= PROMPT_BYTES_MAX)
            local[local_count++] = i;
        above += whole[i] > bar;
        stay_above += whole[i] > bar && judge(prompts[i], true) > bar;
    }
    printf("%zu prompts, half of them over a gain of %.2f; of these %.1f %% are with the defence\n",
           prompt_count, bar, 100.0 * (double)stay_above / (double)above);
}

static bool read_prompts(const char *path, struct buf *text, struct td_error *err)
{
    if (buf_read_file(text, path, err) != TD_OK)
        return false;
    struct td_str rest = buf_view(text), prompt;
    while (prompt_count < PROMPTS_MAX && str_next(&rest, '\0', &prompt)) {
        prompts[prompt_count++] = prompt;
        add_words(prompt);
    }
    return true;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"undefended", "defended"};
    struct td_error err = {0};
    struct buf text;
    double share[2] = {0};
    buf_init(&text, 64u << 20);
    log_set_level(LOG_LEVEL_OFF); /* the cap's alarms */
    if (argc != 3) {
        fprintf(stderr, "usage: bench_climb CLASSIFIER PROMPTS\n");
        return 2;
    }
    if (classifier_open(argv[1], &classifier, &err) != TD_OK ||
        !read_prompts(argv[2], &text, &err)) {
        fprintf(stderr, "bench_climb: %s\n", err.message);
        return 1;
    }
    divide();
    if (local_count < (GADGETS + 1) * OWN_PROMPTS) {
        fprintf(stderr, "bench_climb: %zu local prompts are too few\n", local_count);
        return 1;
    }
    for (int defended = 0; defended < 2; defended++) {
        struct gadget gadget = {{0}}, strongest = {{0}};
        double most = -1;
        struct rng rng;
        rng_init(&rng, 1);
        for (size_t i = 0; i < GADGETS; i++) {
            gadget = climb(&rng, local + i * OWN_PROMPTS, defended);
            double here = lifted(&gadget, defended);
            share[defended] += here / GADGETS;
            if (here > most) {
                most = here;
                strongest = gadget;
            }
        }
        printf("%-10s %5.1f %% of other local prompts are lifted by ten words (mean of %d, at most "
               "%.1f %%)\n",
               names[defended], 100 * share[defended], GADGETS, 100 * most);
        meet_caps(&strongest, defended);
    }
    printf("hill-climbing gains %.2f of what it gains undefended, goal <= 0.50%s\n",
           share[1] / share[0], share[1] <= share[0] / 2 ? "  met" : "  MISSED");
    classifier_close(classifier);
    buf_deinit(&text);
    return 0;
}
