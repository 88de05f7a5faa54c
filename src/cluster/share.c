/* A request must not wait for a message to Redis, and no limit may be exceeded because two nodes
 * counted apart. So a node takes some of a limit at a time (a hundredth), before it is used, and
 * uses it up by itself; what it does not need it gives back a moment later. A limit of some
 * hundred a minute costs a message for each request, a larger one far less.
 *
 * While Redis is away the node has its share, by the number of nodes last seen, of what was left by
 * what it knew last of all. When Redis is back, it may have forgotten everything: each node tells
 * it what it has used in the last minute, and only after the others had time for that, too, what is
 * missing of nodes that are no more; then it is asked again.
 *
 * Rejected: counting apart and adding up now and then, which exceeds a small limit twofold in a
 * burst. */
#include "cluster/share.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "cluster/redis.h"
#include "cluster/share_scripts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request waits no longer, and only the first one: then it is away. A tenth of a millisecond is
 * usual, but a machine that is busy may take long to wake the server. */
#define ANSWER_MS 200
#define CONNECT_MS 500 /* in the thread beside */
#define TICK_MS 100
#define BEAT_MS 1000
#define RETRY_MS 250
/* All nodes find Redis again within RETRY_MS and CONNECT_MS, and have told it what they used. */
#define GRACE_MS 1500
#define GRACE_S 3 /* GRACE_MS by a clock of whole seconds */
/* Who found a limit used up asks again, and who uses one looks what others use, after so long for
 * each node: a script reads what each node has taken in each second, and all nodes ask. */
#define AGAIN_MS_PER_NODE 50
#define AGAIN_MS_MAX 1000
#define PART_OF_LIMIT 100
#define KNOWN_COUNT (1 + 2 * MINUTE_SECONDS)
#define NAME_BYTES 200

struct shared_limit {
    struct shared_limit *next;
    char requests_key[NAME_BYTES], tokens_key[NAME_BYTES], slots_key[NAME_BYTES];
    uint32_t left_requests, left_tokens; /* taken and not used yet */
    uint64_t more_tokens;                /* used and not told yet */
    uint32_t inside, slots;              /* that run; and that were taken */
    bool used_now;                       /* since the last tick */
    bool of_many; /* of one of many, who seldom come: looked at while they do */
    bool has_back;
    uint32_t back[MINUTE_SECONDS]; /* tokens to give back, by the second in which they were taken */
    double full_ms;                /* nothing is asked until then */
    enum shared_answer full;
    struct minute requests, tokens; /* that this node has used */
    /* What all nodes had taken when somebody could say it last: the answer of look_script. */
    int64_t known[KNOWN_COUNT];
    double known_ms;
    struct minute alone_requests, alone_tokens; /* that this node has used since */
};

enum script { TAKE, SETTLE, LOOK, REMIND, TELL, BACK, REACH, BEAT, LEAVE, SCRIPT_COUNT };
static const char *const scripts[SCRIPT_COUNT] = {take_script,   settle_script, look_script,
                                                  remind_script, tell_script,   back_script,
                                                  reach_script,  beat_script,   leave_script};
struct link {
    struct redis *redis;
    char sha[SCRIPT_COUNT][41];
};

struct share {
    struct shared_limits door;
    char *url, *password, *node;
    struct periodic thread; /* its lock guards what follows */
    bool told;              /* the log knows that it is away */
    struct link link;       /* redis NULL = away */
    struct shared_limit *first;
    _Atomic uint32_t nodes, losses;
    atomic_bool away;
};

#define NODES_KEY "tandem:nodes"
#define SINCE_KEY "tandem:since"

static void link_close(struct link *link)
{
    redis_close(link->redis);
    link->redis = NULL;
}

static void lost_locked(struct share *share)
{
    log_event(LOG_LEVEL_WARN, "limits_shared_away", "nodes=%u reason=\"%s\"",
              atomic_load(&share->nodes), redis_message(share->link.redis));
    share->told = true;
    atomic_store(&share->away, true);
    atomic_fetch_add(&share->losses, 1);
    link_close(&share->link);
    for (struct shared_limit *of = share->first; of; of = of->next) {
        of->left_requests = of->left_tokens = 0;
        of->alone_requests = of->alone_tokens = (struct minute){0};
    }
}

static double again_ms(struct share *share)
{
    uint32_t nodes = atomic_load(&share->nodes);
    return nodes < 2                                  ? AGAIN_MS_PER_NODE
           : nodes < AGAIN_MS_MAX / AGAIN_MS_PER_NODE ? nodes * AGAIN_MS_PER_NODE
                                                      : AGAIN_MS_MAX;
}

/* --- messages --- */

static bool run_of(struct link *link, enum script script, const struct shared_limit *of,
                   const char *const *arguments, size_t count, int64_t *out, size_t out_count)
{
    const char *all[160] = {of->requests_key, of->tokens_key, of->slots_key, NODES_KEY};
    ASSERT(count + 4 <= sizeof all / sizeof *all);
    memcpy(all + 4, arguments, count * sizeof *arguments);
    return redis_run(link->redis, link->sha[script], 4, all, count + 4, out, out_count);
}

static bool run_of_node(struct link *link, enum script script, const char *node, int64_t *out,
                        size_t out_count)
{
    const char *const arguments[] = {NODES_KEY, SINCE_KEY, node};
    return redis_run(link->redis, link->sha[script], 2, arguments, 3, out, out_count);
}

static uint32_t part_of(uint32_t limit)
{
    return limit / PART_OF_LIMIT;
}

/* What all nodes had taken when it was known last, as far as it is of the last minute still. */
static uint64_t known_locked(const struct shared_limit *of, int which, double now_ms)
{
    uint64_t sum = 0, passed = (uint64_t)((now_ms - of->known_ms) / 1000);
    const int64_t *counts = of->known + 1 + which * MINUTE_SECONDS;
    for (uint64_t i = 0; i + passed < MINUTE_SECONDS; i++)
        sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return sum;
}

/* The share of what all have left by what is known, less what this node has used of it. */
static uint32_t wait_alone_locked(struct shared_limit *of, int which, uint32_t limit,
                                  uint32_t nodes, double now_ms)
{
    struct minute *own = which ? &of->alone_tokens : &of->alone_requests;
    uint64_t known = known_locked(of, which, now_ms);
    if (limit == 0)
        return 0;
    uint32_t left = known >= limit ? 0 : limit - (uint32_t)known;
    if (left < nodes && known > 0)
        return 1000; /* what is known is forgotten second by second */
    return minute_wait_ms(own, left < nodes ? 1 : left / nodes, (uint64_t)now_ms);
}

static enum shared_answer take_alone_locked(struct share *share, struct shared_limit *of,
                                            const struct tier_limits *limits,
                                            const struct shared_use *need, double now_ms,
                                            uint32_t *wait_ms)
{
    uint32_t nodes = atomic_load(&share->nodes);
    uint32_t slots = limits->concurrent < nodes ? 1 : limits->concurrent / nodes;
    *wait_ms = 0;
    if (limits->concurrent && need->inside > slots)
        return SHARED_CONCURRENT;
    *wait_ms = wait_alone_locked(of, 0, limits->requests_per_minute, nodes, now_ms);
    if (*wait_ms)
        return SHARED_REQUESTS;
    *wait_ms = wait_alone_locked(of, 1, limits->tokens_per_minute, nodes, now_ms);
    return *wait_ms ? SHARED_TOKENS : SHARED_TAKEN;
}

/* Takes down what all nodes have taken, for when nobody can say it any more. */
static bool look_locked(struct share *share, struct link *link, struct shared_limit *of)
{
    int64_t known[KNOWN_COUNT];
    const char *const none[] = {share->node};
    if (!run_of(link, LOOK, of, none, 1, known, KNOWN_COUNT))
        return false;
    memcpy(of->known, known, sizeof known);
    of->known_ms = clock_monotonic_ms(NULL);
    return true;
}

/* False: Redis gave no answer. */
static bool ask_locked(struct share *share, struct shared_limit *of,
                       const struct tier_limits *limits, const struct shared_use *need,
                       enum shared_answer *answer, uint32_t *wait_ms)
{
    uint32_t requests = need->requests > of->left_requests ? need->requests : 0,
             tokens = need->tokens > of->left_tokens ? need->tokens - of->left_tokens : 0,
             slots = need->inside > of->slots ? need->inside : of->slots;
    const uint32_t numbers[] = {requests,
                                part_of(limits->requests_per_minute),
                                limits->requests_per_minute,
                                tokens,
                                part_of(limits->tokens_per_minute),
                                limits->tokens_per_minute,
                                slots,
                                limits->concurrent};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    char texts[COUNT][12];
    const char *arguments[1 + COUNT] = {share->node};
    int64_t got[5];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", numbers[i]);
        arguments[1 + i] = texts[i];
    }
    if (!run_of(&share->link, TAKE, of, arguments, 1 + COUNT, got, 5)) {
        lost_locked(share);
        return false;
    }
    *wait_ms = got[1] > 0 ? (uint32_t)got[1] : 0;
    *answer = got[0] > SHARED_TAKEN && got[0] <= SHARED_TOKENS ? (enum shared_answer)got[0]
                                                               : SHARED_TAKEN;
    of->full = *answer;
    of->full_ms = *answer != SHARED_TAKEN ? clock_monotonic_ms(NULL) + again_ms(share) : 0;
    if (*answer != SHARED_TAKEN) {
        if (!look_locked(share, &share->link, of))
            lost_locked(share);
        return true;
    }
    of->left_requests += (uint32_t)got[2];
    of->left_tokens += (uint32_t)got[3];
    of->slots = (uint32_t)got[4];
    return true;
}

/* Whether the node has what is needed already. What has no limit is not counted. */
static bool has_locked(const struct shared_limit *of, const struct tier_limits *limits,
                       const struct shared_use *need)
{
    return (!limits->requests_per_minute || of->left_requests >= need->requests) &&
           (!limits->tokens_per_minute || !need->tokens || of->left_tokens >= need->tokens) &&
           (!limits->concurrent || of->slots >= need->inside);
}

static enum shared_answer take(void *ctx, struct shared_limit *of, const struct tier_limits *limits,
                               const struct shared_use *need, uint32_t *wait_ms)
{
    struct share *share = ctx;
    enum shared_answer answer = SHARED_TAKEN;
    double now_ms = clock_monotonic_ms(NULL);
    pthread_mutex_lock(&share->thread.lock);
    bool is_away = atomic_load(&share->away);
    if (!is_away && !has_locked(of, limits, need)) {
        if (now_ms < of->full_ms) {
            answer = of->full;
            *wait_ms = (uint32_t)(of->full_ms - now_ms) + 1;
        } else {
            is_away = !ask_locked(share, of, limits, need, &answer, wait_ms);
        }
    }
    if (is_away)
        answer = take_alone_locked(share, of, limits, need, now_ms, wait_ms);
    if (answer == SHARED_TAKEN) {
        of->left_requests -=
            of->left_requests < need->requests ? of->left_requests : need->requests;
        of->left_tokens -= of->left_tokens < need->tokens ? of->left_tokens : need->tokens;
        of->inside = need->inside; /* now: the thread gives back what is more */
        of->used_now = true;
    }
    pthread_mutex_unlock(&share->thread.lock);
    return answer;
}

static void used(void *ctx, struct shared_limit *of, const struct shared_use *use, bool more,
                 uint64_t now_ms)
{
    struct share *share = ctx;
    pthread_mutex_lock(&share->thread.lock);
    minute_add(&of->requests, use->requests, now_ms);
    minute_add(&of->tokens, use->tokens, now_ms);
    if (atomic_load(&share->away)) {
        minute_add(&of->alone_requests, use->requests, now_ms);
        minute_add(&of->alone_tokens, use->tokens, now_ms);
    }
    of->inside = use->inside;
    if (more) {
        uint32_t paid = use->tokens < of->left_tokens ? use->tokens : of->left_tokens;
        of->left_tokens -= paid;
        of->more_tokens += use->tokens - paid;
    }
    pthread_mutex_unlock(&share->thread.lock);
}

static void give(void *ctx, struct shared_limit *of, const struct shared_use *use)
{
    struct share *share = ctx;
    pthread_mutex_lock(&share->thread.lock);
    if (!atomic_load(&share->away)) {
        of->left_requests += use->requests;
        of->left_tokens += use->tokens;
    }
    pthread_mutex_unlock(&share->thread.lock);
}

static void back(void *ctx, struct shared_limit *of, uint32_t tokens, uint64_t since_ms,
                 uint64_t now_ms)
{
    struct share *share = ctx;
    uint64_t second = since_ms / 1000;
    pthread_mutex_lock(&share->thread.lock);
    minute_take(&of->tokens, tokens, since_ms, now_ms);
    minute_take(&of->alone_tokens, tokens, since_ms, now_ms);
    if (now_ms / 1000 - second < MINUTE_SECONDS) {
        of->back[second % MINUTE_SECONDS] += tokens;
        of->has_back = true;
    }
    pthread_mutex_unlock(&share->thread.lock);
}

static void known(void *ctx, struct shared_limit *of, uint64_t *requests, uint64_t *tokens)
{
    struct share *share = ctx;
    double now_ms = clock_monotonic_ms(NULL);
    pthread_mutex_lock(&share->thread.lock);
    *requests = known_locked(of, 0, now_ms);
    *tokens = known_locked(of, 1, now_ms);
    pthread_mutex_unlock(&share->thread.lock);
}

static struct shared_limit *make(void *ctx, const char *name)
{
    struct share *share = ctx;
    struct shared_limit *of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->of_many = true;
    snprintf(of->requests_key, sizeof of->requests_key, "tandem:{%.100s}:requests", name);
    snprintf(of->tokens_key, sizeof of->tokens_key, "tandem:{%.100s}:tokens", name);
    snprintf(of->slots_key, sizeof of->slots_key, "tandem:{%.100s}:slots", name);
    pthread_mutex_lock(&share->thread.lock);
    of->next = share->first;
    share->first = of;
    pthread_mutex_unlock(&share->thread.lock);
    return of;
}

static enum shared_room reach(void *ctx, const struct shared_sum *sum, double *granted,
                              double *others)
{
    struct share *share = ctx;
    char key[NAME_BYTES], texts[5][32];
    const double numbers[] = {sum->own, sum->had, sum->more, sum->others, sum->budget};
    int64_t got[3] = {0};
    snprintf(key, sizeof key, "tandem:{%.100s}:%.20s:%.20s", sum->whom, sum->what, sum->period);
    for (size_t i = 0; i < 5; i++)
        snprintf(texts[i], sizeof texts[i], "%.0f", numbers[i]);
    const char *const arguments[] = {key,      share->node, texts[0], texts[1],
                                     texts[2], texts[3],    texts[4]};
    pthread_mutex_lock(&share->thread.lock);
    bool good = !atomic_load(&share->away);
    if (good && !redis_run(share->link.redis, share->link.sha[REACH], 1, arguments, 7, got, 3)) {
        lost_locked(share);
        good = false;
    }
    pthread_mutex_unlock(&share->thread.lock);
    if (!good)
        return SHARED_AWAY;
    *granted = (double)got[1];
    *others = (double)got[2];
    return got[0] ? SHARED_ROOM : SHARED_FULL;
}

static uint32_t losses(void *ctx)
{
    struct share *share = ctx;
    return atomic_load(&share->losses);
}

static bool away(void *ctx, uint32_t *nodes)
{
    struct share *share = ctx;
    *nodes = atomic_load(&share->nodes);
    return atomic_load(&share->away);
}

/* --- the thread --- */

/* Those of an age beyond a minute are over. */
static bool give_back_locked(struct share *share, struct shared_limit *of)
{
    char texts[2 * MINUTE_SECONDS][12];
    const char *arguments[1 + 2 * MINUTE_SECONDS] = {share->node};
    uint64_t second = (uint64_t)clock_monotonic_ms(NULL) / 1000;
    size_t count = 0;
    int64_t got;
    for (uint32_t age = 0; age < MINUTE_SECONDS && age <= second; age++) {
        uint32_t *tokens = &of->back[(second - age) % MINUTE_SECONDS];
        if (*tokens == 0)
            continue;
        snprintf(texts[count], sizeof texts[count], "%u", age);
        snprintf(texts[count + 1], sizeof texts[count], "%u", *tokens);
        count += 2;
        *tokens = 0;
    }
    of->has_back = false;
    for (size_t i = 0; i < count; i++)
        arguments[1 + i] = texts[i];
    return count == 0 || run_of(&share->link, BACK, of, arguments, 1 + count, &got, 1);
}

/* Gives back what was not needed since the last tick, and tells what answers have used. */
static bool settle_locked(struct share *share, struct shared_limit *of)
{
    uint32_t requests = of->used_now ? 0 : of->left_requests,
             tokens = of->used_now ? 0 : of->left_tokens;
    uint32_t slots = of->inside;
    double look_ms = of->of_many ? AGAIN_MS_MAX : again_ms(share);
    if (of->has_back && !give_back_locked(share, of))
        return false;
    if (of->used_now && clock_monotonic_ms(NULL) - of->known_ms >= look_ms &&
        !look_locked(share, &share->link, of))
        return false;
    of->used_now = false;
    if (requests == 0 && tokens == 0 && of->more_tokens == 0 && slots == of->slots)
        return true;
    char texts[3][24];
    const char *const arguments[] = {share->node, texts[0], texts[1], texts[2]};
    int64_t got;
    snprintf(texts[0], sizeof texts[0], "-%u", requests);
    snprintf(texts[1], sizeof texts[1], "%lld", (long long)of->more_tokens - tokens);
    snprintf(texts[2], sizeof texts[2], "%u", slots);
    if (!run_of(&share->link, SETTLE, of, arguments, 4, &got, 1))
        return false;
    of->left_requests -= requests;
    of->left_tokens -= tokens;
    of->more_tokens = 0;
    of->slots = slots;
    return true;
}

/* After all nodes that live have told what they used. */
static bool remind_locked(struct link *link, struct shared_limit *of)
{
    char texts[KNOWN_COUNT][24];
    const char *arguments[KNOWN_COUNT];
    int64_t got;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "%lld", (long long)of->known[i]);
        arguments[i] = texts[i];
    }
    return of->known[0] == 0 || run_of(link, REMIND, of, arguments, KNOWN_COUNT, &got, 1);
}

/* Of the last minute, from this second back. */
static bool tell_locked(struct share *share, struct link *link, struct shared_limit *of)
{
    char texts[1 + 2 * MINUTE_SECONDS][12];
    const char *arguments[2 + 2 * MINUTE_SECONDS] = {share->node};
    struct minute *const minutes[] = {&of->requests, &of->tokens};
    int64_t got;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(NULL);
    snprintf(texts[0], sizeof texts[0], "%u", of->inside);
    for (int m = 0; m < 2; m++) {
        minute_add(minutes[m], 0, now_ms); /* forgets what is older */
        for (uint64_t i = 0; i < MINUTE_SECONDS; i++)
            snprintf(texts[1 + m * MINUTE_SECONDS + i], sizeof texts[0], "%u",
                     minutes[m]->second >= i
                         ? minutes[m]->of[(minutes[m]->second - i) % MINUTE_SECONDS]
                         : 0);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        arguments[1 + i] = texts[i];
    if (!run_of(link, TELL, of, arguments, sizeof arguments / sizeof *arguments, &got, 1))
        return false;
    of->left_requests = of->left_tokens = 0;
    of->more_tokens = 0;
    of->slots = of->inside;
    of->full_ms = 0;
    return true;
}

/* Of many, those who have not come for a minute have nothing to tell. */
static bool is_quiet_locked(struct shared_limit *of)
{
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(NULL);
    minute_add(&of->requests, 0, now_ms);
    minute_add(&of->tokens, 0, now_ms);
    of->left_requests = of->of_many ? 0 : of->left_requests;
    of->left_tokens = of->of_many ? 0 : of->left_tokens;
    return of->of_many && of->requests.sum == 0 && of->tokens.sum == 0;
}

static bool tell_all(struct share *share, struct link *link, bool last)
{
    bool good = true;
    pthread_mutex_lock(&share->thread.lock);
    for (struct shared_limit *of = share->first; good && of; of = of->next)
        good = is_quiet_locked(of) ||
               (tell_locked(share, link, of) &&
                (!last || (remind_locked(link, of) && look_locked(share, link, of))));
    pthread_mutex_unlock(&share->thread.lock);
    return good;
}

static bool link_open(struct share *share, struct link *link, struct td_error *err)
{
    if (redis_open(share->url, share->password, CONNECT_MS, &link->redis, err) != TD_OK)
        return false;
    bool good = true;
    for (int i = 0; good && i < SCRIPT_COUNT; i++)
        good = redis_load(link->redis, scripts[i], link->sha[i]);
    if (good && redis_set_timeout(link->redis, ANSWER_MS))
        return true;
    error_set(err, TD_UNAVAILABLE, "%s", redis_message(link->redis));
    link_close(link);
    return false;
}

/* *remembers_s: for how long Redis has remembered; may be NULL. */
static bool beat(struct share *share, struct link *link, int64_t *remembers_s)
{
    int64_t got[2];
    if (!run_of_node(link, BEAT, share->node, got, 2))
        return false;
    if (got[0] > 0 && got[0] <= UINT32_MAX)
        atomic_store(&share->nodes, (uint32_t)got[0]);
    if (remembers_s)
        *remembers_s = got[1];
    return true;
}

/* Finds Redis: tells it what was used. One that has just begun to remember is told so by others,
 * too, for which there is some time, and once more by this node, because requests go on. */
static bool find(struct share *share)
{
    struct link link = {0};
    struct td_error err = {0};
    uint32_t nodes = atomic_load(&share->nodes);
    if (!link_open(share, &link, &err)) {
        if (!share->told)
            log_event(LOG_LEVEL_WARN, "limits_shared_away", "nodes=%u reason=\"%s\"", nodes,
                      err.message);
        share->told = true;
        return false;
    }
    int64_t remembers_s = 0;
    bool good = beat(share, &link, &remembers_s) && tell_all(share, &link, false);
    if (nodes > atomic_load(&share->nodes))
        atomic_store(&share->nodes, nodes); /* the others come back as well */
    if (good && remembers_s < GRACE_S)
        good = !periodic_pause(&share->thread, GRACE_MS) && beat(share, &link, NULL);
    good = good && tell_all(share, &link, true);
    if (!good) {
        link_close(&link);
        return false;
    }
    pthread_mutex_lock(&share->thread.lock);
    share->link = link;
    atomic_store(&share->away, false);
    if (share->told)
        log_event(LOG_LEVEL_INFO, "limits_shared_back", "nodes=%u", atomic_load(&share->nodes));
    share->told = false;
    pthread_mutex_unlock(&share->thread.lock);
    return true;
}

static void *keep(void *ctx)
{
    struct share *share = ctx;
    double beat_ms = 0;
    uint32_t wait_ms = 0;
    while (!periodic_pause(&share->thread, wait_ms)) {
        if (atomic_load(&share->away)) {
            wait_ms = find(share) ? TICK_MS : RETRY_MS;
            continue;
        }
        double now_ms = clock_monotonic_ms(NULL);
        pthread_mutex_lock(&share->thread.lock);
        bool good = share->link.redis != NULL;
        for (struct shared_limit *of = share->first; good && of; of = of->next)
            good = settle_locked(share, of);
        if (good && now_ms - beat_ms >= BEAT_MS) {
            good = beat(share, &share->link, NULL);
            for (struct shared_limit *of = share->first; good && of; of = of->next)
                good = of->of_many || look_locked(share, &share->link, of);
            beat_ms = now_ms;
        }
        if (!good && share->link.redis)
            lost_locked(share);
        pthread_mutex_unlock(&share->thread.lock);
        wait_ms = TICK_MS;
    }
    return NULL;
}

/* --- opening --- */

enum td_status share_open(const char *url, const char *password, const char *node,
                          struct share **out, struct td_error *err)
{
    enum td_status status = redis_check_url(url, err);
    *out = NULL;
    if (status != TD_OK)
        return status;
    struct share *share = calloc(1, sizeof *share);
    if (share)
        periodic_init(&share->thread);
    if (!share || !(share->url = strdup(url)) || !(share->node = strdup(node)) ||
        (password && !(share->password = strdup(password)))) {
        share_close(share);
        return error_set(err, TD_NO_MEMORY, "no memory for shared limits");
    }
    share->door =
        (struct shared_limits){share, take, used, give, back, known, make, reach, losses, away};
    atomic_store(&share->away, true);
    atomic_store(&share->nodes, 1);
    (void)find(share); /* the first request knows already what others have used */
    if (!periodic_start(&share->thread, keep, share)) {
        share_close(share);
        return error_set(err, TD_NO_MEMORY, "no thread for shared limits");
    }
    *out = share;
    return TD_OK;
}

void share_close(struct share *share)
{
    if (!share)
        return;
    periodic_end(&share->thread);
    int64_t got;
    if (share->link.redis)
        (void)run_of_node(&share->link, LEAVE, share->node, &got, 1);
    link_close(&share->link);
    while (share->first) {
        struct shared_limit *of = share->first;
        share->first = of->next;
        free(of);
    }
    free(share->url);
    free(share->password);
    free(share->node);
    free(share);
}

const struct shared_limits *share_limits(struct share *share)
{
    return &share->door;
}

struct shared_limit *share_of(struct share *share, const char *tier)
{
    char key[NAME_BYTES];
    if (snprintf(key, sizeof key, "tandem:{%s}:requests", tier) >= NAME_BYTES)
        return NULL;
    pthread_mutex_lock(&share->thread.lock);
    struct shared_limit *of = share->first;
    while (of && strcmp(of->requests_key, key) != 0)
        of = of->next;
    if (!of && (of = calloc(1, sizeof *of))) {
        snprintf(of->requests_key, sizeof of->requests_key, "%s", key);
        snprintf(of->tokens_key, sizeof of->tokens_key, "tandem:{%s}:tokens", tier);
        snprintf(of->slots_key, sizeof of->slots_key, "tandem:{%s}:slots", tier);
        of->next = share->first;
        share->first = of;
    }
    pthread_mutex_unlock(&share->thread.lock);
    return of;
}
