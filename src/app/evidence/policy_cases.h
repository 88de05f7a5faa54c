/* An operator's tests of a policy: what is known of a request and of the moment, and where the
 * request must start. For one thread. */
#ifndef APP_POLICY_CASES_H
#define APP_POLICY_CASES_H

#include "app/setup/policy/policy_build.h"

#define POLICY_CASES_MAX 1000

struct privacy_scanner;

struct policy_measured {
    uint32_t line;
    const char *tier;
    double ttft_p95_ms, total_p50_ms, total_p95_ms;
};

struct policy_case {
    uint32_t line;
    const char *name;
    struct {
        const char *text, *route, *user, *app, *task;
        struct config_texts tags, down;
        int data_class, mode, network, language, priority, day;          /* -1 = not given */
        double tokens, answer_tokens, messages, gain, p_local, p_strong; /* NAN = from the text */
        double slo_ms, slo_ttft_ms, battery, budget_used, day_tokens, hour;
        int on_battery, media;
        struct config_weights weights;
        struct policy_measured *measured;
        size_t measured_count;
    } given;
    struct {
        const char *tier, *rule, *by, *reason; /* NULL = whatever; "none" */
        int denied, reduced;                   /* -1 = whatever */
        struct config_texts removed;
    } expect;
};

struct policy_cases {
    const char *config; /* file that it is about, from the file's folder; NULL = not named */
    struct policy_case *cases;
    size_t count;
};

struct policy_outcome {
    const char *tier, *rule, *by; /* "none" where there is none; borrowed from the configuration */
    bool denied, reduced;
    struct plan plan;
    char mismatch[512]; /* "" = as expected; else "tier: expected a, got b; ..." */
};

/* TD_INVALID with file, line and reason. Everything lies in the arena. */
TD_MUST_CHECK enum td_status policy_cases_read(const char *label, struct td_str text,
                                               struct arena *arena, struct policy_cases *out,
                                               struct td_error *err);

/* What the tests are about. */
struct policy_subject {
    const struct config *config;
    const struct policy *policy;
    const struct classifier *classifier; /* NULL = prompts are not judged */
    const struct privacy_scanner *scanner;
};

/* Decides as a server would, without models and without a network. TD_INVALID when the case
 * names an unknown tier or route. */
TD_MUST_CHECK enum td_status policy_case_run(const struct policy_subject *subject,
                                             const struct policy_case *given,
                                             struct policy_outcome *out, struct td_error *err);

#endif
