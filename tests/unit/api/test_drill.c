/* What a drill calls right and wrong: made-up ends of exchanges, of which the wrong ones have to be
 * told. */
#include "api/drill/drill.h"
#include "base/core/str.h"
#include "exchange/machine/attempt.h"
#include "test.h"

static const char *const ladder[] = {"local", "house", "cloud"};
static struct tier real[3];
static struct tier *reals[] = {&real[0], &real[1], &real[2]};
static struct route route = {.name = "auto", .tiers = {"local", "house", "cloud"}, .tier_count = 3};
static struct policy policy = {.routes = &route, .route_count = 1};
static struct exchange_services services;
static struct drill drill;
static char why[DRILL_WHY_BYTES];

static void begin(enum drill_fault fault)
{
    static const enum td_place places[] = {TD_PLACE_DEVICE, TD_PLACE_PREMISES, TD_PLACE_CLOUD};
    for (int i = 0; i < 3; i++)
        real[i].facts = (struct tier_facts){.name = ladder[i],
                                            .place = places[i],
                                            .provider = i ? "openai" : NULL,
                                            .has_key = true};
    services = (struct exchange_services){.policy = &policy, .tiers = reals, .tier_count = 3};
    CHECK(drill_init(&drill, fault, &services, NULL) == TD_OK);
}

static struct exchange_summary answer(const char *tier, enum td_data_class data_class)
{
    return (struct exchange_summary){.tier = tier, .route = "auto", .data_class = data_class};
}

static void test_an_answer_of_who_may_see_the_data_passes(void)
{
    begin(DRILL_ENGINE_KILLED);
    struct exchange_summary summary = answer("house", TD_CLASS_SENSITIVE);
    CHECK(drill_judge(&drill, &summary, NULL, why));
    summary.tier = "cloud";
    CHECK(!drill_judge(&drill, &summary, NULL, why) && strstr(why, "may not see"));
    summary.tier = "local";
    CHECK(!drill_judge(&drill, &summary, NULL, why) && strstr(why, "has failed"));
    summary.tier = NULL;
    CHECK(!drill_judge(&drill, &summary, NULL, why));
}

static void test_what_would_have_been_sent_to_the_wrong_tier_fails(void)
{
    begin(DRILL_TIMEOUT);
    struct exchange_summary summary = answer("local", TD_CLASS_SENSITIVE);
    CHECK(drill_judge(&drill, &summary, NULL, why));
    drill.breach = "cloud";
    CHECK(!drill_judge(&drill, &summary, NULL, why) && strstr(why, "cloud"));
}

static void test_a_second_best_answer_has_to_say_so(void)
{
    begin(DRILL_TIMEOUT);
    struct attempt attempt = {.fallback = true};
    const struct attempt *attempts[] = {&attempt};
    struct exchange_summary summary = answer("local", TD_CLASS_PUBLIC);
    summary.attempts = attempts;
    summary.attempt_count = 1;
    CHECK(!drill_judge(&drill, &summary, NULL, why));
    summary.degraded = true;
    CHECK(!drill_judge(&drill, &summary, NULL, why) && strstr(why, "second best"));
    summary.disclosure = "cloud did not answer";
    CHECK(drill_judge(&drill, &summary, NULL, why));
}

static void test_an_error_passes_only_when_nobody_could_have_answered(void)
{
    begin(DRILL_ENGINE_KILLED);
    struct exchange_summary summary = answer(NULL, TD_CLASS_RESTRICTED);
    struct reason reasons[] = {{REASON_REMOVED_CLASS, "house", ""},
                               {REASON_REMOVED_CLASS, "cloud", ""}};
    summary.reasons = reasons;
    summary.reason_count = 2;
    CHECK(drill_judge(&drill, &summary, "no tier may answer", why));
    CHECK(!drill_judge(&drill, &summary, "", why) && strstr(why, "says nothing"));
    summary.reason_count = 1; /* the cloud was forgotten */
    CHECK(!drill_judge(&drill, &summary, "no tier may answer", why) && strstr(why, "cloud"));
    summary.reason_count = 2; /* the class is no reason: the house may see it */
    summary.data_class = TD_CLASS_SENSITIVE;
    CHECK(!drill_judge(&drill, &summary, "no tier may answer", why) && strstr(why, "house"));
}

static void test_a_hot_device_answers_only_what_nobody_else_may(void)
{
    begin(DRILL_TOO_HOT);
    struct exchange_summary summary = answer("local", TD_CLASS_PUBLIC);
    CHECK(!drill_judge(&drill, &summary, NULL, why) && strstr(why, "although"));
    struct reason reasons[] = {{REASON_REMOVED_CLASS, "house", ""},
                               {REASON_REMOVED_CLASS, "cloud", ""}};
    summary.reasons = reasons;
    summary.reason_count = 2;
    summary.data_class = TD_CLASS_RESTRICTED;
    CHECK(drill_judge(&drill, &summary, NULL, why));
    CHECK(!drill_judge(&drill, &summary, "it is too hot", why) && strstr(why, "local"));
}

static void test_more_tiers_than_it_has_room_for_are_refused(void)
{
    static struct tier *many[DRILL_TIERS_MAX + 1];
    struct td_error err = {0};
    services = (struct exchange_services){
        .policy = &policy, .tiers = many, .tier_count = DRILL_TIERS_MAX + 1};
    CHECK(drill_init(&drill, DRILL_TIMEOUT, &services, &err) == TD_LIMIT);
}

int main(void)
{
    RUN(test_an_answer_of_who_may_see_the_data_passes);
    RUN(test_what_would_have_been_sent_to_the_wrong_tier_fails);
    RUN(test_a_second_best_answer_has_to_say_so);
    RUN(test_an_error_passes_only_when_nobody_could_have_answered);
    RUN(test_a_hot_device_answers_only_what_nobody_else_may);
    RUN(test_more_tiers_than_it_has_room_for_are_refused);
    return test_finish();
}
