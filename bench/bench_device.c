/* Half an hour with each of two hot phones (tests/unit/device/fake_phone.h), with and without what
 * the device does about its heat. Prints one JSON object a phone; bench_device.py compares. */
#include "fake_phone.h"

#include <math.h>
#include <stdio.h>

static struct fake_phone_result result;

static void print_answers(void)
{
    for (size_t i = 0; i < result.answer_count; i++)
        printf("%s[%.3f,%.3f,%.3f,%.3f]", i ? "," : "", result.answers[i].begin_s,
               result.answers[i].took_s, result.answers[i].forecast_s, result.answers[i].peak_s);
}

static bool run(const struct fake_phone_kind *kind, const char *how,
                const struct fake_phone_use *use)
{
    if (!fake_phone_run(kind, use, &result)) {
        fprintf(stderr, "phone %s cannot be made in /tmp\n", kind->name);
        return false;
    }
    printf("{\"phone\":\"%s\",\"how\":\"%s\",\"below\":%.4f,\"p95_ms\":%.1f,\"p50_ms\":%.1f,"
           "\"switches\":%llu,\"minutes\":%.1f,\"shortest_s\":%.1f,\"tokens\":%.0f,"
           "\"cloud_tokens\":%.0f,\"joules\":%.0f,\"hottest_c\":%.2f,\"tau_s\":%.1f,"
           "\"sustained\":%.3f,\"answers\":[",
           kind->name, how, result.below_share, result.p95_token_ms, result.p50_token_ms,
           (unsigned long long)result.switches, use->minutes,
           isfinite(result.shortest_level_s) ? result.shortest_level_s : -1.0, result.tokens,
           result.cloud_tokens, result.joules, result.hottest_c, result.tau_s, result.sustained);
    print_answers();
    printf("]}\n");
    return true;
}

int main(void)
{
    const struct fake_phone_kind *const kinds[] = {&fake_phone_a, &fake_phone_b};
    struct fake_phone_use use = {
        .minutes = 30, .answer_tokens = 256, .pause_s = 1, .cloud_tokens_s = 40};
    for (size_t i = 0; i < 2; i++) {
        struct fake_phone_use eased = use, alone = use;
        eased.eases = alone.eases = true;
        alone.cloud_tokens_s = 0;
        if (!run(kinds[i], "plain", &use) || !run(kinds[i], "eased", &eased) ||
            !run(kinds[i], "alone", &alone))
            return 1;
    }
    return 0;
}
