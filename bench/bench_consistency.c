/* Do paraphrases start on the same tier? Reads lines of USER TAB DAY TAB TOPIC TAB TEXT (numbers,
 * days in order), decides each with the program's own parts (signals, memory on disk, plan), the
 * memory closed and opened again between days, and prints one JSON object for each threshold, with
 * and without memory.
 *
 *     bench_consistency CLASSIFIER TABLE GAIN_OVER... < lines */
#include "base/core/str.h"
#include "exchange/memory/consistency.h"
#include "router/judge/classifier.h"
#include "router/plan/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { USERS = 200, TOPICS = 500, DAYS = 5, LINES = 20000, TIERS = 2 };
#define MARGIN 0.7
#define LOSS_MAX 0.02 /* the configuration's defaults */
#define DAY_MS UINT64_C(86400000)

struct line {
    unsigned user, day, topic;
    char *text;
};
struct tally {
    unsigned questions, later, same, all_same, kept, moved, above;
    double given_up;
};

static struct line lines[LINES];
static size_t line_count;
static signed char starts[USERS][TOPICS][DAYS]; /* tier, -1 = not asked */
static uint64_t wall_ms;

static uint64_t read_wall(void *ctx)
{
    (void)ctx;
    return wall_ms;
}
static const struct clock days_clock = {.wall_ms = read_wall};

static const struct tier_facts facts[TIERS] = {
    {.name = "local", .place = TD_PLACE_DEVICE, .has_key = true},
    {.name = "cloud",
     .place = TD_PLACE_CLOUD,
     .has_key = true,
     .input_usd_per_mtok = 1,
     .output_usd_per_mtok = 4},
};
static const struct tier_state states[TIERS] = {{.reachable = true, .prompt_tokens = 50},
                                                {.reachable = true, .prompt_tokens = 50}};

static bool read_lines(void)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&text, &size, stdin)) > 0 && line_count < LINES) {
        struct line *line = &lines[line_count];
        int at = 0;
        if (text[len - 1] == '\n')
            text[len - 1] = '\0';
        if (sscanf(text, "%u\t%u\t%u\t%n", &line->user, &line->day, &line->topic, &at) != 3 ||
            line->user >= USERS || line->day >= DAYS || line->topic >= TOPICS)
            break;
        line->text = strdup(text + at);
        line_count++;
    }
    bool whole = len <= 0 && line_count > 0;
    free(text);
    return whole;
}

static struct consistency *reopen(struct consistency *before, const char *path)
{
    struct consistency_options options = {
        .path = path, .entries_max = 100000, .ttl_s = 30 * 86400, .clock = &days_clock};
    struct consistency *consistency = NULL;
    struct td_error err = {0};
    consistency_close(before);
    if (consistency_open(&options, &consistency, &err) != TD_OK) {
        fprintf(stderr, "bench_consistency: %s\n", err.message);
        exit(1);
    }
    return consistency;
}

/* As part_consistency.c does it, for a request without a conversation. */
static size_t decide(struct consistency *consistency, const struct route *route,
                     const struct signals *judged, const char *user, struct tally *tally)
{
    struct signals signals = *judged;
    struct td_request request = {.user = user};
    struct consistency_person person;
    struct plan plan;
    uint64_t tier;
    if (consistency) {
        consistency_identify(consistency, CONSISTENCY_QUESTIONS, &request, route->name, &person);
        if (consistency_find(consistency, &person, signals.sketch.bits, SIMILARITY_NEAR, &tier))
            signals.remembered =
                (struct remembered){.by = REMEMBERED_SIMILAR,
                                    .tier = tier == consistency_tier_hash("local") ? 0 : 1,
                                    .margin = MARGIN,
                                    .no_loss = !consistency_may_lose(consistency, LOSS_MAX)};
    }
    plan_make(route, SIZE_MAX, &signals, facts, states, TIERS, &plan);
    tally->kept += plan.decision.keeping == KEEPING_KEPT;
    tally->moved += plan.decision.keeping == KEEPING_MOVED;
    tally->given_up += plan.decision.keeping == KEEPING_KEPT ? plan.decision.given_up : 0;
    bool kept = plan.decision.keeping == KEEPING_KEPT;
    if (consistency) {
        struct consistency_count count = {.result = kept ? CONSISTENCY_KEPT : CONSISTENCY_SAME,
                                          .gain = kept ? plan.decision.given_up : 0};
        unsigned likes = plan.decision.keeping == KEEPING_MOVED ? SIMILARITY_NEAR : 0;
        consistency_count_request(consistency);
        consistency_count(consistency, &count);
        consistency_put(consistency, &person, signals.sketch.bits, likes, user,
                        consistency_tier_hash(facts[plan.rungs[0]].name));
    }
    plan_deinit(&plan);
    return plan.rungs[0];
}

static void add_up(struct tally *tally)
{
    for (size_t u = 0; u < USERS; u++)
        for (size_t t = 0; t < TOPICS; t++) {
            const signed char *days = starts[u][t];
            bool all = true;
            if (days[0] < 0)
                continue;
            for (size_t d = 1; d < DAYS; d++) {
                tally->later += days[d] >= 0;
                tally->same += days[d] == days[0];
                all = all && (days[d] < 0 || days[d] == days[0]);
            }
            tally->questions++;
            tally->all_same += all;
        }
}

static void run(const struct signals *signals, double gain_over, bool on, const char *path)
{
    const struct route route = {.name = "auto",
                                .kind = ROUTE_HYBRID,
                                .tiers = {"local", "cloud"},
                                .tier_count = TIERS,
                                .gates = {.g0_gain_over = gain_over}};
    struct consistency *consistency = NULL;
    struct tally tally = {0};
    unsigned day = DAYS;
    memset(starts, -1, sizeof starts);
    unlink(path);
    wall_ms = UINT64_C(1800000000000);
    for (size_t i = 0; i < line_count; i++) {
        const struct line *line = &lines[i];
        char user[16];
        snprintf(user, sizeof user, "user%u", line->user);
        if (on && line->day != day)
            consistency = reopen(consistency, path);
        if (line->day != day)
            wall_ms += DAY_MS;
        day = line->day;
        starts[line->user][line->topic][day] =
            (signed char)decide(consistency, &route, &signals[i], user, &tally);
        tally.above += signals[i].gain > gain_over;
    }
    consistency_close(consistency);
    add_up(&tally);
    printf(
        "{\"gain_over\": %g, \"memory\": %s, \"questions\": %u, \"above\": %.4f, \"same\": %.4f, "
        "\"all_same\": %.4f, \"kept\": %u, \"moved\": %u, \"given_up\": %.4f}\n",
        gain_over, on ? "true" : "false", tally.questions, (double)tally.above / (double)line_count,
        (double)tally.same / tally.later, (double)tally.all_same / tally.questions, tally.kept,
        tally.moved, tally.given_up / (double)line_count);
}

int main(int argc, char **argv)
{
    struct classifier *classifier = NULL;
    struct similarity *table = NULL;
    struct td_error err = {0};
    char path[] = "/tmp/bench_consistency_XXXXXX";
    if (argc < 4) {
        fprintf(stderr, "usage: bench_consistency CLASSIFIER TABLE GAIN_OVER... < lines\n");
        return 2;
    }
    if (classifier_open(argv[1], &classifier, &err) != TD_OK ||
        similarity_open(argv[2], &table, &err) != TD_OK) {
        fprintf(stderr, "bench_consistency: %s\n", err.message);
        return 1;
    }
    int fd = mkstemp(path);
    struct signals *signals = calloc(LINES, sizeof *signals);
    if (fd < 0 || !signals || !read_lines()) {
        fprintf(stderr, "bench_consistency: line %zu is malformed\n", line_count + 1);
        return 1;
    }
    for (size_t i = 0; i < line_count; i++) {
        struct td_message message = {.role = TD_ROLE_USER, .content = str_from(lines[i].text)};
        struct td_request request = {.messages = &message, .message_count = 1};
        signals_extract(&request, classifier, table, &signals[i]);
    }
    for (int i = 3; i < argc; i++) {
        run(signals, strtod(argv[i], NULL), false, path);
        run(signals, strtod(argv[i], NULL), true, path);
    }
    unlink(path);
    close(fd);
    for (size_t i = 0; i < line_count; i++)
        free(lines[i].text);
    free(signals);
    similarity_close(table);
    classifier_close(classifier);
    return 0;
}
