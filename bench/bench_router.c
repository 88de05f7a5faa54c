/* The time of one decision with everything on: canonical text, features, n-grams and the
 * classifier's outputs for a prompt of 500 tokens, its sketch, a look among a person's 128
 * remembered questions of 100,000, 48 rules of which the last matches, constraints, measured tails,
 * weights and the plan with its sentences; alone and while the engine generates on one thread.
 *
 *     bench_router CLASSIFIER TABLE MODEL */
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "exchange/memory/consistency.h"
#include "router/judge/classifier.h"
#include "router/plan/signals.h"
#include "tandem/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DECISIONS = 4000, PROMPTS = 32, PROMPT_TOKENS = 500, BYTES_A_TOKEN = 4 };
enum { REMEMBERED_MAX = 100000 };

static atomic_bool stop;

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Different texts of English words, so that every decision meets other n-grams. */
static void write_prompt(char *out, size_t bytes, unsigned number)
{
    static const char *const words[] = {
        "the",     "contract", "derive",  "between", "kitchen", "summer",  "however", "of",
        "train",   "probable", "because", "and",     "seventh", "market",  "explain", "to",
        "several", "without",  "patient", "is",      "number",  "quickly", "history", "a",
        "engine",  "question", "which",   "in",      "answers", "careful", "balance", "?"};
    uint32_t state = number * 2654435761u + 1;
    size_t len = 0;
    while (len + 16 < bytes) {
        state = state * 1664525u + 1013904223u;
        len += (size_t)snprintf(out + len, bytes - len, "%s%s ", words[state >> 27],
                                state >> 20 & 1 ? "" : "s");
    }
}

static bool keep_going(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)ctx;
    (void)token;
    (void)text;
    return !atomic_load(&stop);
}

static void *generate(void *ctx)
{
    struct td_session *session = ctx;
    struct td_generate_options options = {
        .sampling = {.temperature = 1, .top_p = 1, .repetition_penalty = 1}, .tokens_max = 200};
    while (!atomic_load(&stop)) {
        struct td_generate_result result;
        int32_t prompt[] = {5, 6, 7, 8};
        td_session_truncate(session, 0);
        if (td_generate(session, prompt, 4, &options, keep_going, NULL, &result, NULL) != TD_OK)
            break;
    }
    return NULL;
}

/* --- the policy around it --- */

enum { RULES = 48, TIERS = 3 };

static const struct tier_facts facts[TIERS] = {
    {.name = "local", .place = TD_PLACE_DEVICE, .context_tokens = 4096, .has_key = true},
    {.name = "office",
     .place = TD_PLACE_PREMISES,
     .context_tokens = 8192,
     .has_key = true,
     .input_usd_per_mtok = 0.1,
     .output_usd_per_mtok = 0.4},
    {.name = "cloud",
     .place = TD_PLACE_CLOUD,
     .has_key = true,
     .input_usd_per_mtok = 1,
     .output_usd_per_mtok = 4},
};
static const struct tier_state states[TIERS] = {
    {.reachable = true,
     .prompt_tokens = 500,
     .ttft_p95_ms = 90,
     .total_p50_ms = 1500,
     .total_p95_ms = 2500},
    {.reachable = true,
     .prompt_tokens = 500,
     .ttft_p95_ms = 200,
     .total_p50_ms = 900,
     .total_p95_ms = 1500},
    {.reachable = true,
     .prompt_tokens = 500,
     .ttft_p95_ms = 500,
     .total_p50_ms = 700,
     .total_p95_ms = 1900},
};
static const struct route route = {.name = "auto",
                                   .kind = ROUTE_HYBRID,
                                   .tiers = {"local", "office", "cloud"},
                                   .tier_count = TIERS,
                                   .gates = {.g0_gain_over = 0.3, .g0_p_local_under = 0.2}};

/* Each but the last asks for all kinds of things and misses by one. */
static void write_rules(struct routing_rule rules[RULES], struct routing_rules *set)
{
    for (size_t i = 0; i < RULES; i++) {
        struct routing_rule *rule = &rules[i];
        *rule = (struct routing_rule){.name = "rule", .start = RULE_START_NONE, .data_class = -1};
        for (size_t c = 0; c < RULE_CHOICE_COUNT; c++)
            rule->any[c] = RULE_WHATEVER;
        if (i + 1 == RULES)
            break;
        rule->asked = 1u << RULE_TOKENS | 1u << RULE_DAY_TOKENS;
        rule->range[RULE_TOKENS] = (struct rule_range){10, 10000};
        rule->range[RULE_DAY_TOKENS] = (struct rule_range){1e6 + (double)i, 1e7};
    }
    rules[RULES - 1].weights = (struct td_weights){0.3, 0.3, 0.4, true};
    *set = (struct routing_rules){.rules = rules, .count = RULES};
    for (size_t i = 0; i < 30; i++) {
        static char names[30][16];
        snprintf(names[i], sizeof names[i], "user%zu", i);
        routing_rules_add_name(set, RULE_USER, names[i]);
    }
}

/* What a decision is made with. */
struct parts {
    struct classifier *classifier;
    struct similarity *table;
    struct consistency *memory;
};

/* The person who asks here has as many as a person may have, the others fill it up. */
static void fill_memory(struct consistency *memory)
{
    struct rng rng;
    rng_init(&rng, 1);
    for (size_t i = 0; i < REMEMBERED_MAX; i++) {
        char user[24];
        struct consistency_person person;
        snprintf(user, sizeof user, "user%zu", i / CONSISTENCY_PERSON_MAX);
        struct td_request request = {.user = user};
        uint64_t bits[2] = {rng_u64(&rng), rng_u64(&rng)};
        consistency_identify(memory, CONSISTENCY_QUESTIONS, &request, route.name, &person);
        consistency_put(memory, &person, bits, 0, user, consistency_tier_hash("office"));
    }
}

static void remember(struct consistency *memory, struct td_request *request,
                     struct signals *signals)
{
    struct consistency_person person;
    uint64_t tier;
    consistency_identify(memory, CONSISTENCY_QUESTIONS, request, route.name, &person);
    if (consistency_find(memory, &person, signals->sketch.bits, SIMILARITY_NEAR, &tier))
        signals->remembered =
            (struct remembered){.by = REMEMBERED_SIMILAR, .tier = 1, .margin = 0.7};
}

static void decide(const struct parts *parts, const struct policy *policy,
                   struct td_request *request)
{
    static struct plan plan;
    static struct signals signals;
    signals_extract(request, parts->classifier, parts->table, &signals);
    remember(parts->memory, request, &signals);
    signals.user = request->user;
    signals.prompt_tokens = 500;
    signals.moment.day_tokens = 1000;
    signals.slo_ms = 2000;
    policy_apply_rules(policy, &route, NULL, NULL, &signals);
    plan_make(&route, SIZE_MAX, &signals, facts, states, TIERS, &plan);
    if (plan.rung_count == 0)
        abort();
    plan_deinit(&plan);
}

static void measure(const struct parts *parts, const char *when)
{
    static char prompts[PROMPTS][PROMPT_TOKENS * BYTES_A_TOKEN];
    static double times[DECISIONS];
    static struct routing_rule rules[RULES];
    struct routing_rules set;
    write_rules(rules, &set);
    const struct policy policy = {
        .routes = &route,
        .route_count = 1,
        .rules = &set,
        .worth = {.second_usd = 0.001, .exposure_usd = 0.001, .error_usd = 0.01}};
    for (unsigned i = 0; i < PROMPTS; i++)
        write_prompt(prompts[i], sizeof prompts[i], i);
    for (size_t i = 0; i < DECISIONS; i++) {
        struct td_message message = {.role = TD_ROLE_USER,
                                     .content = str_from(prompts[i % PROMPTS])};
        struct td_request request = {.messages = &message, .message_count = 1, .user = "user7"};
        double begin = now_us();
        decide(parts, &policy, &request);
        times[i] = now_us() - begin;
        if (i % 64 == 0) /* requests do not come without a pause */
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    qsort(times, DECISIONS, sizeof *times, compare_doubles);
    double p50 = times[DECISIONS / 2], p99 = times[DECISIONS * 99 / 100];
    printf("%-34s p50 %6.1f us (goal <= 50)%s   p99 %6.1f us (goal <= 300)%s\n", when, p50,
           p50 <= 50 ? "  met" : "  MISSED", p99, p99 <= 300 ? "  met" : "  MISSED");
}

static enum td_status open_parts(char **argv, struct parts *parts, struct td_error *err)
{
    struct consistency_options memory = {.entries_max = REMEMBERED_MAX, .ttl_s = 30 * 86400};
    enum td_status status = classifier_open(argv[1], &parts->classifier, err);
    if (status == TD_OK)
        status = similarity_open(argv[2], &parts->table, err);
    if (status == TD_OK)
        status = consistency_open(&memory, &parts->memory, err);
    return status;
}

int main(int argc, char **argv)
{
    struct td_error err = {0};
    struct parts parts = {0};
    struct td_model *model = NULL;
    struct td_session *session = NULL;
    pthread_t thread;
    if (argc != 4) {
        fprintf(stderr, "usage: bench_router CLASSIFIER TABLE MODEL\n");
        return 2;
    }
    if (open_parts(argv, &parts, &err) != TD_OK ||
        td_model_open(argv[3], NULL, &model, &err) != TD_OK ||
        td_session_new(model, &(struct td_session_options){.thread_count = 1}, &session, &err) !=
            TD_OK) {
        fprintf(stderr, "bench_router: %s\n", err.message);
        return 1;
    }
    fill_memory(parts.memory);
    measure(&parts, "alone");
    if (pthread_create(&thread, NULL, generate, session) != 0)
        return 1;
    measure(&parts, "while the engine generates");
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    td_session_free(session);
    td_model_close(model);
    consistency_close(parts.memory);
    similarity_close(parts.table);
    classifier_close(parts.classifier);
    return 0;
}
