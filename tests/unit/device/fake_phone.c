#include "fake_phone.h"

#include "base/time/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_S 0.05
#define TIMES_MAX 20000 /* classes of 0.1 ms of a token's time */
/* The engine's measure of its speed is a moving average over some tokens. */
#define PACE_TOKENS 8.0

/* Ends of published runs: 40 tokens/s that become 22.5 after two answers (a phone with an A17), and
 * 10 that become 3.4 in the seventh iteration, back and forth. Constants are fitted to these. */
const struct fake_phone_kind fake_phone_a = {.name = "A",
                                             .ambient_c = 25,
                                             .resistance_c_w = 6,
                                             .tau_s = 60,
                                             .peak_w = 5,
                                             .trip_c = 41.4,
                                             .clear_c = 36,
                                             .peak_tokens_s = 40,
                                             .slowed_tokens_s = 22.5,
                                             .threads = 6,
                                             .tells_power = true};
const struct fake_phone_kind fake_phone_b = {.name = "B",
                                             .ambient_c = 25,
                                             .resistance_c_w = 14,
                                             .tau_s = 55,
                                             .peak_w = 5,
                                             .trip_c = 78.3,
                                             .clear_c = 60,
                                             .peak_tokens_s = 10,
                                             .slowed_tokens_s = 3.4,
                                             .threads = 8};

struct phone {
    const struct fake_phone_kind *kind;
    const struct fake_phone_use *use;
    struct device *device;
    char root[64];
    double now_s, temperature_c, speed, watts;
    bool slowed;
    /* The engine. */
    bool answering, elsewhere;
    double left_tokens, rest_s;
    double token_ms, busy_s, tokens;
    double token_began_s, token_done;
    /* What is told. */
    struct device_state state;
    double level_since_s, below_s;
    enum device_level level;
    double times[TIMES_MAX];
};

static uint64_t phone_ns(void *ctx)
{
    return (uint64_t)(((const struct phone *)ctx)->now_s * 1e9) + UINT64_C(1000000000000);
}

static bool put(const struct phone *phone, const char *name, const char *format, double value)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sys/%s", phone->root, name);
    for (char *at = path + strlen(phone->root) + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0700);
            *at = '/';
        }
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, format, value);
    return fclose(file) == 0;
}

static bool put_state(const struct phone *phone)
{
    const struct fake_phone_kind *kind = phone->kind;
    bool good = put(phone, "class/thermal/thermal_zone0/temp", "%.0f\n",
                    round(phone->temperature_c * 10) * 100) &&
                put(phone, "class/thermal/cooling_device0/cur_state", "%.0f\n", phone->slowed);
    if (kind->tells_power)
        good =
            good && put(phone, "class/power_supply/BAT0/power_now", "%.0f\n", phone->watts * 1e6);
    return good;
}

static bool put_phone(const struct phone *phone)
{
    const struct fake_phone_kind *kind = phone->kind;
    bool good = put(phone, "class/thermal/thermal_zone0/type", "cpu\n", 0) &&
                put(phone, "class/thermal/thermal_zone0/trip_point_0_type", "passive\n", 0) &&
                put(phone, "class/thermal/thermal_zone0/trip_point_0_temp", "%.0f\n",
                    kind->trip_c * 1000) &&
                put(phone, "class/thermal/thermal_zone0/trip_point_0_hyst", "%.0f\n",
                    (kind->trip_c - kind->clear_c) * 1000) &&
                put(phone, "class/thermal/cooling_device0/type", "thermal-cpufreq-0\n", 0);
    if (kind->tells_power)
        good = good && put(phone, "class/power_supply/BAT0/type", "Battery\n", 0) &&
               put(phone, "class/power_supply/BAT0/status", "Discharging\n", 0) &&
               put(phone, "class/power_supply/BAT0/capacity", "80\n", 0);
    return good && put_state(phone);
}

/* Heat of one step, and what the kernel does about it. */
static void heat(struct phone *phone)
{
    const struct fake_phone_kind *kind = phone->kind;
    phone->watts = kind->peak_w * phone->speed;
    double end_c = kind->ambient_c + kind->resistance_c_w * phone->watts;
    phone->temperature_c = end_c + (phone->temperature_c - end_c) * exp(-STEP_S / kind->tau_s);
    if (phone->temperature_c >= kind->trip_c)
        phone->slowed = true;
    else if (phone->temperature_c <= kind->clear_c)
        phone->slowed = false;
    phone->below_s += phone->temperature_c < kind->trip_c ? STEP_S : 0;
}

static double speed_here(const struct phone *phone)
{
    double slowed = phone->slowed ? phone->kind->slowed_tokens_s / phone->kind->peak_tokens_s : 1;
    double threads = round(phone->state.thread_share * phone->kind->threads) / phone->kind->threads;
    return slowed * (phone->use->eases ? threads : 1);
}

static void begin_answer(struct phone *phone, struct fake_phone_result *out)
{
    phone->answering = true;
    phone->elsewhere =
        phone->use->eases && phone->use->cloud_tokens_s > 0 && phone->state.level >= DEVICE_HOT;
    phone->left_tokens = phone->use->answer_tokens;
    phone->token_began_s = phone->now_s;
    phone->token_done = 0;
    if (phone->elsewhere || out->answer_count == FAKE_PHONE_ANSWERS_MAX)
        return;
    double token_ms = phone->token_ms > 0 ? phone->token_ms : 1000 / phone->kind->peak_tokens_s;
    out->answers[out->answer_count] = (struct fake_phone_answer){
        .begin_s = phone->now_s,
        .forecast_s = device_forecast_ms(phone->device, token_ms * phone->left_tokens) / 1000,
        .peak_s = phone->left_tokens / phone->kind->peak_tokens_s};
}

static void count_token(struct phone *phone, double at_s)
{
    double ms = (at_s - phone->token_began_s) * 1000;
    size_t class = ms < 0 ? 0 : ms * 10 >= TIMES_MAX ? TIMES_MAX - 1 : (size_t)(ms * 10);
    phone->times[class]++;
    phone->token_began_s = at_s;
    if (!phone->elsewhere)
        phone->token_ms += (phone->token_ms > 0 ? 1 / PACE_TOKENS : 1) * (ms - phone->token_ms);
}

/* Tokens of one step; several may end within it. */
static void work(struct phone *phone, struct fake_phone_result *out)
{
    double rate =
        phone->elsewhere ? phone->use->cloud_tokens_s : phone->kind->peak_tokens_s * phone->speed;
    double done = fmin(rate * STEP_S, phone->left_tokens), at_s = phone->now_s;
    double more = done;
    while (phone->token_done + more >= 1) {
        double part = 1 - phone->token_done;
        at_s += part / rate;
        more -= part;
        phone->token_done = 0;
        count_token(phone, at_s);
    }
    phone->token_done += more;
    phone->left_tokens -= done;
    *(phone->elsewhere ? &out->cloud_tokens : &phone->tokens) += done;
    if (!phone->elsewhere)
        phone->busy_s += STEP_S;
    if (phone->left_tokens > 1e-6)
        return;
    phone->answering = false;
    phone->rest_s = phone->use->pause_s;
    if (!phone->elsewhere && out->answer_count < FAKE_PHONE_ANSWERS_MAX) {
        struct fake_phone_answer *answer = &out->answers[out->answer_count++];
        answer->took_s = phone->now_s + STEP_S - answer->begin_s;
    }
}

static bool look(struct phone *phone, struct fake_phone_result *out)
{
    const struct device_work done = {.busy_s = phone->busy_s,
                                     .tokens = phone->tokens,
                                     .token_ms = phone->token_ms,
                                     .threads = phone->kind->threads};
    if (!put_state(phone))
        return false;
    device_sample(phone->device, &done);
    device_read(phone->device, &phone->state);
    if (phone->state.level != phone->level) {
        if (phone->level_since_s >= 0)
            out->shortest_level_s =
                fmin(out->shortest_level_s, phone->now_s - phone->level_since_s);
        phone->level_since_s = phone->now_s;
        phone->level = phone->state.level;
        out->switches++;
    }
    return true;
}

static double percentile(const double *times, double share)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < TIMES_MAX; i++)
        all += times[i];
    for (size_t i = 0; i < TIMES_MAX; i++)
        if ((sum += times[i]) >= share * all)
            return (double)i / 10;
    return 0;
}

static bool live(struct phone *phone, struct fake_phone_result *out)
{
    size_t steps = (size_t)(phone->use->minutes * 60 / STEP_S);
    size_t look_every = (size_t)(DEVICE_SAMPLE_MS / 1000 / STEP_S);
    for (size_t i = 0; i < steps; i++) {
        phone->now_s = (double)i * STEP_S;
        if (i % look_every == 0 && !look(phone, out))
            return false;
        if (!phone->answering && phone->rest_s <= 0)
            begin_answer(phone, out);
        phone->speed = phone->answering && !phone->elsewhere ? speed_here(phone) : 0;
        if (phone->answering)
            work(phone, out);
        else
            phone->rest_s -= STEP_S;
        heat(phone);
        out->joules += phone->watts * STEP_S;
        out->hottest_c = fmax(out->hottest_c, phone->temperature_c);
    }
    return true;
}

static void clean(const struct phone *phone)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", phone->root);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", phone->root);
}

bool fake_phone_run(const struct fake_phone_kind *kind, const struct fake_phone_use *use,
                    struct fake_phone_result *out)
{
    struct phone *phone = calloc(1, sizeof *phone);
    if (!phone)
        return false;
    *phone = (struct phone){
        .kind = kind, .use = use, .temperature_c = kind->ambient_c, .level_since_s = -1};
    memset(out, 0, sizeof *out);
    out->shortest_level_s = (double)INFINITY;
    const struct clock clock = {phone_ns, phone_ns, phone};
    snprintf(phone->root, sizeof phone->root, "/tmp/tandem-phone-XXXXXX");
    bool good = mkdtemp(phone->root) != NULL && put_phone(phone);
    phone->device = good ? device_new(phone->root, NULL, 0, &clock) : NULL;
    good = phone->device != NULL;
    if (good) {
        device_set_acts(phone->device,
                        (struct device_acts){.heat = use->eases, .battery = true, .memory = true});
        good = live(phone, out);
        out->below_share = phone->below_s / (use->minutes * 60);
        out->p95_token_ms = percentile(phone->times, 0.95);
        out->p50_token_ms = percentile(phone->times, 0.5);
        out->tokens = phone->tokens;
        out->tau_s = phone->state.tau_s;
        out->sustained = phone->state.sustained;
    }
    device_free(phone->device);
    clean(phone);
    free(phone);
    return good;
}
