/* Fills a ledger by its own writer with exchanges as a server records them: what each costs, and
 * how large the file is. bench_ledger.py does the rest on that file.
 *
 *   bench_ledger FILE COUNT DAYS     the exchanges are spread over so many days up to now */
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "ledger/record/ledger.h"
#include "row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MS UINT64_C(86400000)
#define BYTES_MOST 1000 /* an exchange */

/* As a request of an application with its own key, of a user, makes them. */
static const char signals_form[] =
    "{\"data_class\":\"public\",\"mode\":\"auto\",\"prompt_bytes\":%u,\"prompt_tokens\":{\"local\":"
    "%u,"
    "\"cloud\":%u},\"message_count\":%u,\"tokens_max\":256,\"slo_ttft_ms\":0,\"slo_ms\":0,"
    "\"first_deadline_ms\":0,\"deadline_ms\":600000,\"code\":%s,\"maths\":false,\"question\":true,"
    "\"multi_step\":false,\"fresh\":false,\"jailbreak\":false,\"gain\":%.15g,\"p_local\":%.15g,"
    "\"p_strong\":null,\"task\":\"%s\",\"task_p\":%.15g,\"probe\":%.15g,\"not_mine\":1.0,"
    "\"network\":\"online\",\"hour\":%u,\"weekday\":%u,\"language\":1,\"day_tokens\":%u.0,"
    "\"plan\":{\"class\":\"public\",\"mode\":\"auto\",\"prompt_tokens\":%u,\"remembered\":{\"by\":"
    "1,"
    "\"tier\":\"local\",\"margin\":0.7},\"tiers\":{\"local\":{\"tokens\":%u,\"context\":2048,"
    "\"lacks\":31780,\"ttft_p95_ms\":%.15g,\"total_p50_ms\":%.15g,\"total_p95_ms\":%.15g,"
    "\"first_ms\":%.15g,\"whole_ms\":%.15g},\"cloud\":{\"tokens\":%u,\"loopback\":true,"
    "\"ttft_p95_ms\":%.15g,\"total_p50_ms\":%.15g,\"total_p95_ms\":%.15g,\"first_ms\":%.15g,"
    "\"whole_ms\":%.15g}}},\"findings\":{\"NRP\":1},\"decision\":{\"by\":\"route\",\"rule\":null,"
    "\"start\":\"local\",\"runner_up\":\"cloud\",\"earlier\":{\"by\":\"similar\",\"result\":"
    "\"same\","
    "\"tier\":\"local\",\"margin\":0.7}},\"app\":\"app-%u\",\"key_id\":\"%016llx\"}";
static const char kept[] =
    "[{\"code\":\"chosen_start\",\"tier\":\"local\",\"text\":\"route auto starts on local\"},"
    "{\"code\":\"kept_confident\",\"tier\":\"local\",\"text\":\"confidence %.2f of the whole "
    "answer is "
    "at least 0.60\"}]";
static const char left[] =
    "[{\"code\":\"chosen_start\",\"tier\":\"local\",\"text\":\"route auto starts on local\"},"
    "{\"code\":\"left_confidence\",\"tier\":\"local\",\"text\":\"confidence %.2f of the whole "
    "answer is "
    "below 0.60\"},{\"code\":\"kept_last\",\"tier\":\"cloud\",\"text\":\"the last tier to ask\"}]";

struct texts {
    char id[32], user[16], trace[33], span[4][17], request[24], signals[2048], reasons[512];
};

static double some(struct rng *rng, double most)
{
    return rng_double(rng) * most;
}

static unsigned number(struct rng *rng, unsigned below)
{
    return (unsigned)some(rng, below);
}

static void write_signals(struct rng *rng, char *out, size_t size)
{
    static const char *const tasks[] = {"general", "maths", "chat", "code", "summary"};
    unsigned tokens = 20 + number(rng, 400);
    snprintf(out, size, signals_form, tokens * 4, tokens, tokens - 14, 1 + number(rng, 6),
             number(rng, 5) ? "false" : "true", some(rng, 1), some(rng, 1), tasks[number(rng, 5)],
             some(rng, 1), some(rng, 0.001), number(rng, 24), number(rng, 7), number(rng, 100000),
             tokens, tokens, some(rng, 50), some(rng, 50), some(rng, 500), some(rng, 50),
             some(rng, 500), tokens - 14, some(rng, 500), some(rng, 500), some(rng, 5000),
             some(rng, 500), some(rng, 5000), number(rng, 20),
             0x9e3779b97f4a7c15ull * (1 + number(rng, 50)));
}

static struct ledger_attempt attempt_of(struct rng *rng, bool cloud, const char *span)
{
    return (struct ledger_attempt){.tier = cloud ? "cloud" : "local",
                                   .model = cloud ? "gpt-4.1-mini" : "tandem-nano",
                                   .place = cloud ? "cloud" : "device",
                                   .span_id = span,
                                   .model_version = "0df9409fb928ca0c",
                                   .outcome = ATTEMPT_ANSWERED,
                                   .confidence = cloud ? (double)NAN : some(rng, 1),
                                   .prompt_tokens = 20 + number(rng, 400),
                                   .completion_tokens = 1 + number(rng, 256),
                                   .exact = cloud,
                                   .prompt_estimate = 20 + number(rng, 400),
                                   .answer_bytes = number(rng, 1024),
                                   .start_ms = some(rng, 1),
                                   .first_ms = some(rng, 500),
                                   .total_ms = some(rng, 5000),
                                   .cost_usd = cloud ? some(rng, 0.001) : 0,
                                   .egress_bytes = cloud ? number(rng, 2000) : 0};
}

/* As trace_mark_time, of another time than now. */
static void mark_time(char *digits, uint64_t wall_ms)
{
    char text[6];
    snprintf(text, sizeof text, "%05x", (unsigned)(wall_ms >> 16 & 0xfffff));
    memcpy(digits, text, 5);
}

static void put_one(struct ledger *ledger, struct rng *rng, uint64_t i, uint64_t wall_ms)
{
    struct texts t;
    bool cloud = number(rng, 10) < 4; /* six of ten are answered here */
    double confidence = some(rng, 1);
    snprintf(t.id, sizeof t.id, "ex_%016llx%08x", (unsigned long long)rng_u64(rng), (unsigned)i);
    mark_time(t.id + 3, wall_ms);
    snprintf(t.user, sizeof t.user, "user-%u", number(rng, 1000));
    snprintf(t.trace, sizeof t.trace, "%016llx%016llx", (unsigned long long)rng_u64(rng),
             (unsigned long long)rng_u64(rng));
    if (number(rng, 2)) /* else it is the client's own */
        mark_time(t.trace, wall_ms);
    snprintf(t.request, sizeof t.request, "req_%016llx", (unsigned long long)rng_u64(rng));
    mark_time(t.request + 4, wall_ms);
    for (int s = 0; s < 4; s++)
        snprintf(t.span[s], sizeof t.span[s], "%016llx", (unsigned long long)rng_u64(rng));
    write_signals(rng, t.signals, sizeof t.signals);
    snprintf(t.reasons, sizeof t.reasons, cloud ? left : kept, confidence);
    struct ledger_attempt attempts[2] = {attempt_of(rng, false, t.span[1])};
    if (cloud) {
        attempts[0].outcome = ATTEMPT_ESCALATED;
        attempts[1] = attempt_of(rng, true, t.span[2]);
    }
    const struct ledger_attempt *last = &attempts[cloud];
    const struct ledger_exchange exchange = {.id = t.id,
                                             .wall_ms = wall_ms,
                                             .tenant = number(rng, 2) ? "5f2a9c0d11e4b873" : NULL,
                                             .user = t.user,
                                             .route = "auto",
                                             .policy_version = "f23be21715443378",
                                             .requested_model = "auto",
                                             .tier = last->tier,
                                             .model = last->model,
                                             .place = last->place,
                                             .data_class = number(rng, 4) ? "public" : "sensitive",
                                             .finish = "stop",
                                             .status = ENDED_OK,
                                             .confidence = confidence,
                                             .prompt_tokens = last->prompt_tokens,
                                             .completion_tokens = last->completion_tokens,
                                             .ttft_ms = last->first_ms,
                                             .total_ms = last->total_ms,
                                             .cost_usd = last->cost_usd,
                                             .all_cloud_cost_usd = some(rng, 0.001),
                                             .all_cloud_basis = BASIS_RATIO,
                                             .standing = ANSWER_FULL,
                                             .streamed = number(rng, 2),
                                             .trace_id = t.trace,
                                             .span_id = t.span[0],
                                             .request_id = t.request,
                                             .signals_json = t.signals,
                                             .reasons_json = t.reasons,
                                             .attempts = attempts,
                                             .attempt_count = 1 + cloud};
    struct td_error err;
    enum td_status status;
    while ((status = ledger_put(ledger, &exchange, &err)) == TD_BUSY)
        usleep(1000);
    if (status != TD_OK) {
        fprintf(stderr, "bench_ledger: %s\n", err.message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct ledger *ledger = NULL;
    struct td_error err;
    struct stat info;
    struct rng rng;
    uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t days = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (count == 0 || days == 0) {
        fprintf(stderr, "usage: bench_ledger FILE COUNT DAYS\n");
        return 2;
    }
    if (ledger_open(argv[1], &ledger, &err) != TD_OK) {
        fprintf(stderr, "bench_ledger: %s\n", err.message);
        return 1;
    }
    rng_init(&rng, 22);
    uint64_t now_ms = clock_wall_ms(NULL), first_ms = now_ms - days * DAY_MS;
    for (uint64_t i = 0; i < count; i++)
        put_one(ledger, &rng, i, first_ms + (now_ms - first_ms) / count * i);
    if (ledger_flush(ledger, 600000, &err) != TD_OK)
        fprintf(stderr, "bench_ledger: %s\n", err.message);
    ledger_close(ledger);
    if (stat(argv[1], &info) != 0)
        return 1;
    double bytes = (double)info.st_size / (double)count;
    row_print_most("an exchange in the ledger's file", bytes, "bytes", BYTES_MOST);
    return 0;
}
