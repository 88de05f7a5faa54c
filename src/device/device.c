/* One look is a few dozen small files. What they say together makes the state; what changes from
 * look to look teaches the model of heat. The engine's own heat is in proportion to its speed.
 * What a machine draws is shown but not learnt from: it is told of a moment, and of the screen,
 * too.
 *
 * Each of the three causes has its level. Heat has the one that lasts a minute (ease.h). A
 * battery and memory have thresholds that are left at others than they are entered at. */
#include "device/device.h"

#include "base/core/assertion.h"
#include "base/time/clock.h"
#include "device/network.h"
#include "device/power.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A percent of charge comes and goes, and so does a link that is being set up. */
#define BATTERY_LOW_ENDS 15.0
#define LINK_LASTS_MS 5000.0

/* A sensor's step is a tenth of a degree to a degree, so slopes are taken over some seconds. Over a
 * longer gap the machine slept. */
#define LEARN_S 6.0
#define GAP_S 30.0
/* The engine works for most of the time between two looks. */
#define BUSY 0.5
/* How long the use of late is; while requests go elsewhere it is remembered for longer. */
#define USE_S 30.0
#define USE_ELSEWHERE_S 900.0
/* By so much the best speed that was seen fades with each look: another model may run. */
#define PEAK_FADES 1.0005
/* What a processor core draws while it computes, for a machine that does not tell: between a
 * phone's and a server's. */
#define CORE_WATTS 2.5
#define ENERGY_KEEP 0.98 /* the last 50 looks count */
#define MIB 1048576.0
/* Levels of memory last so long at least. */
#define MEMORY_DWELL_S 10.0

struct device {
    pthread_mutex_t lock;
    pthread_mutex_t looking; /* held while files are read, which is never done under `lock` */
    const struct clock *clock;
    char metered[NETWORK_METERED_MAX + 1][IF_NAMESIZE]; /* "" = no more */
    struct device_acts acts;
    bool sampled; /* somebody calls device_sample */
    bool known;
    bool real;        /* it is this machine */
    double read_ms;   /* when `state` was read */
    double linked_ms; /* since when there is a link again; NAN = there is none, or it never went */
    struct device_state state;

    struct sysfs sysfs;
    struct power power;
    struct heat_model model;
    struct ease ease;
    char zone[sizeof((struct thermal *)0)->zone]; /* that the model is of */
    struct device_work work;                      /* at the last look */
    double busy, speed;   /* since the one before: share of the time, and of the full speed */
    double peak_token_ms; /* 0 = not known */
    double use;           /* share of the time that the engine works of late */
    double from_s, from_c, heat_s; /* since when, from where, and the heat that was made since */
    double energy_j, energy_tokens;
    double memory_since_s;
};

/* --- network and battery --- */

/* Holds what has just come back, so that a link or a battery at its limit does not move every
 * second request. */
static void hold_back(struct device *device, struct device_state *now, double now_ms)
{
    const struct device_state *before = &device->state;
    double bound = before->battery_low ? BATTERY_LOW_ENDS : DEVICE_BATTERY_LOW;
    now->battery_low = device->acts.battery && now->on_battery && now->battery <= bound;
    bool linked = now->network != TD_NETWORK_OFFLINE;
    bool old = now_ms - device->read_ms >= LINK_LASTS_MS; /* nobody has looked for as long */
    if (!linked || !device->known || old || before->network != TD_NETWORK_OFFLINE) {
        device->linked_ms = (double)NAN;
        return;
    }
    if (isnan(device->linked_ms))
        device->linked_ms = now_ms;
    if (now_ms - device->linked_ms < LINK_LASTS_MS)
        now->network = TD_NETWORK_OFFLINE;
}

/* --- work, heat and energy --- */

static double full_share(const struct device *device)
{
    return device->state.thread_share > 0 ? device->state.thread_share : 1;
}

/* What the engine did since the last look, and how fast. */
static void note_work(struct device *device, const struct device_work *work, double passed_s,
                      const struct device_state *now)
{
    double busy_s = work->busy_s - device->work.busy_s;
    bool usual = full_share(device) >= 1 && !now->thermal.throttled;
    device->busy = passed_s > 0 ? fmin(fmax(busy_s / passed_s, 0), 1) : 0;
    if (work->token_ms > 0 && device->busy > 0) {
        double peak_ms = device->peak_token_ms * (usual ? PEAK_FADES : 1);
        if (!(peak_ms > 0) || (usual && work->token_ms < peak_ms))
            peak_ms = work->token_ms;
        device->peak_token_ms = peak_ms;
        device->speed = fmin(peak_ms / work->token_ms, 1);
    }
    bool slowed = now->thermal.throttled && device->state.thermal.throttled;
    if (slowed && device->busy > BUSY)
        heat_model_learn_sustained(&device->model, device->speed / full_share(device));
    bool elsewhere = device->state.level >= DEVICE_HOT;
    double weight = 1 - exp(-passed_s / (elsewhere ? USE_ELSEWHERE_S : USE_S));
    device->use += weight * (device->busy - device->use);
}

static void begin_window(struct device *device, const struct device_state *now, double now_s)
{
    device->from_s = now_s;
    device->from_c = now->thermal.temperature_c;
    device->heat_s = 0;
}

static void learn(struct device *device, const struct device_state *now, double now_s,
                  double passed_s)
{
    double heat = device->busy * device->speed; /* as a share of that at full speed */
    if (!now->thermal.known)
        return;
    if (strcmp(device->zone, now->thermal.zone) != 0) {
        heat_model_init(&device->model, now->thermal.temperature_c, now->thermal.wall_c);
        snprintf(device->zone, sizeof device->zone, "%s", now->thermal.zone);
        begin_window(device, now, now_s);
        return;
    }
    device->heat_s += heat * passed_s;
    double window_s = now_s - device->from_s;
    if (passed_s <= GAP_S && window_s < LEARN_S)
        return;
    if (passed_s <= GAP_S)
        heat_model_learn(&device->model, device->from_c, now->thermal.temperature_c, window_s,
                         device->heat_s / window_s);
    begin_window(device, now, now_s);
}

static void note_energy(struct device *device, const struct device_work *work, double passed_s,
                        struct device_state *now)
{
    double tokens = work->tokens - device->work.tokens;
    bool measured = isfinite(now->watts);
    double watts = measured ? now->watts : work->threads * full_share(device) * CORE_WATTS;
    if (passed_s > 0 && passed_s < GAP_S && tokens > 0) {
        device->energy_j = ENERGY_KEEP * device->energy_j + watts * device->busy * passed_s;
        device->energy_tokens = ENERGY_KEEP * device->energy_tokens + tokens;
    }
    now->token_j =
        device->energy_tokens > 0 ? device->energy_j / device->energy_tokens : (double)NAN;
    now->token_j_measured = measured;
}

/* --- levels --- */

static void raise_level(struct device_state *now, enum device_level level, enum device_cause cause)
{
    if (level <= now->level)
        return;
    now->level = level;
    now->cause = cause;
}

static struct heat_place place_of(const struct device_state *state)
{
    return (struct heat_place){.temperature_c = state->thermal.temperature_c,
                               .wall_c = state->thermal.wall_c,
                               .clear_c = state->thermal.clear_c,
                               .throttled = state->thermal.throttled};
}

static void judge_heat(struct device *device, struct device_state *now, double now_s)
{
    const struct heat_model *model = &device->model;
    now->sustained = 1;
    now->wall_s = (double)INFINITY;
    now->tau_s = now->end_c = (double)NAN;
    if (!now->thermal.known)
        return;
    const struct heat_place place = place_of(now);
    now->tau_s = heat_model_tau_s(model);
    now->end_c = heat_model_end_c(model, 1);
    now->sustained = model->sustained;
    now->learnt = model->steps > 0 && model->sustained_steps > 0;
    now->wall_s = heat_model_wall_s(model, place.temperature_c, place.wall_c, 1);
    if (device->acts.heat)
        raise_level(now, ease_choose(&device->ease, model, &place, device->use, now_s),
                    DEVICE_CAUSE_HEAT);
    now->switches = device->ease.switches;
}

/* Memory is short below these shares of all of it, and these amounts: the smaller one counts. With
 * less than four times as much free, pressure counts as well. */
static enum device_level memory_level_of(const struct memory_state *memory, double margin)
{
    static const struct {
        double share, mib, some, full;
    } bounds[DEVICE_LEVEL_COUNT] = {[DEVICE_WARM] = {0.10, 1024, 10, 2},
                                    [DEVICE_HOT] = {0.05, 512, 30, 5},
                                    [DEVICE_WALL] = {0.025, 256, 60, 20}};
    double total = (double)memory->total_bytes, left = (double)memory->free_bytes;
    unsigned level = DEVICE_USUAL;
    while (level + 1u < DEVICE_LEVEL_COUNT) {
        double bound = margin * fmin(bounds[level + 1].share * total, bounds[level + 1].mib * MIB);
        bool pressed = memory->some * margin > bounds[level + 1].some ||
                       memory->full * margin > bounds[level + 1].full;
        if (left >= bound && !(pressed && left < 4 * bound))
            break;
        level++;
    }
    return (enum device_level)level;
}

/* It rises at once, because the kernel does not wait, and falls with half as much again free. */
static void judge_memory(struct device *device, struct device_state *now, double now_s)
{
    enum device_level before = device->state.memory_level;
    if (!device->acts.memory || !now->memory.known)
        return;
    enum device_level level = memory_level_of(&now->memory, 1);
    if (level < before) {
        enum device_level held = memory_level_of(&now->memory, 1.5);
        bool rests = now_s - device->memory_since_s < MEMORY_DWELL_S;
        level = rests || held > before ? before : held > level ? held : level;
    }
    if (level != before)
        device->memory_since_s = now_s;
    now->memory_level = level;
    raise_level(now, level, DEVICE_CAUSE_MEMORY);
}

static void write_why(struct device_state *now)
{
    const struct thermal *heat = &now->thermal;
    if (now->cause == DEVICE_CAUSE_HEAT)
        snprintf(now->why, sizeof now->why,
                 "the device is at %.1f \u00b0C and slows itself at %.1f \u00b0C",
                 heat->temperature_c, heat->wall_c);
    else if (now->cause == DEVICE_CAUSE_BATTERY)
        snprintf(now->why, sizeof now->why, "the battery is at %.0f %%", now->battery);
    else if (now->cause == DEVICE_CAUSE_MEMORY)
        snprintf(now->why, sizeof now->why, "memory is short: %.0f MiB are free",
                 (double)now->memory.free_bytes / MIB);
}

/* What the kernel would leave of the speed; 0 = nothing is known of it. */
static double sustained_of(const struct device_state *now)
{
    return now->thermal.known && now->sustained < 1 ? now->sustained : 0;
}

static void judge(struct device *device, struct device_state *now, double now_s)
{
    judge_heat(device, now, now_s);
    if (now->battery_low)
        raise_level(now, DEVICE_HOT, DEVICE_CAUSE_BATTERY);
    /* Memory is not spared by fewer threads. What the kernel slows needs none fewer, and they never
     * leave less than it would. */
    double share = device_level_threads(now->level);
    now->thread_share = now->thermal.throttled ? 1 : share < 1 ? fmax(share, sustained_of(now)) : 1;
    judge_memory(device, now, now_s);
    write_why(now);
}

/* --- a look --- */

/* By the holder of `looking`. */
static void look(struct device *device, const struct device_work *work)
{
    double now_ms = clock_monotonic_ms(device->clock), now_s = now_ms / 1000;
    struct device_state now = {.level = DEVICE_USUAL};
    power_read(&device->sysfs, now_s, &device->power);
    now.network = network_read(&device->sysfs, (const char(*)[IF_NAMESIZE])device->metered);
    thermal_read(&device->sysfs, &now.thermal);
    memory_state_read(&device->sysfs, &now.memory);
    now.battery = device->power.battery;
    now.on_battery = device->power.on_battery;
    now.charger = device->power.charger;
    now.watts = device->power.watts;
    now.token_j = (double)NAN;
    pthread_mutex_lock(&device->lock);
    double passed_s = device->known ? now_s - device->read_ms / 1000 : 0;
    hold_back(device, &now, now_ms);
    if (work) {
        note_work(device, work, passed_s, &now);
        learn(device, &now, now_s, passed_s);
        note_energy(device, work, passed_s, &now);
        device->work = *work;
        device->sampled = true;
    } else if (now.thermal.known && !device->zone[0]) {
        learn(device, &now, now_s, passed_s);
    }
    judge(device, &now, now_s);
    device->state = now;
    device->read_ms = now_ms;
    device->known = true;
    pthread_mutex_unlock(&device->lock);
}

struct device *device_new(const char *root, const char *const *metered, size_t metered_count,
                          const struct clock *clock)
{
    ASSERT(root != NULL);
    struct device *device = calloc(1, sizeof *device);
    if (!device || !sysfs_init(&device->sysfs, root)) {
        free(device);
        return NULL;
    }
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->looking, NULL);
    device->clock = clock;
    device->real = strcmp(root, "/") == 0 || strcmp(root, "/sys") == 0;
    device->acts = (struct device_acts){true, true, true};
    for (size_t i = 0; i < metered_count && i < NETWORK_METERED_MAX; i++)
        snprintf(device->metered[i], IF_NAMESIZE, "%s", metered[i]);
    device->linked_ms = (double)NAN;
    device->memory_since_s = -(double)INFINITY;
    device->speed = 1;
    ease_init(&device->ease);
    return device;
}

void device_free(struct device *device)
{
    if (!device)
        return;
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->looking);
    free(device);
}

void device_set_acts(struct device *device, struct device_acts acts)
{
    pthread_mutex_lock(&device->lock);
    device->acts = acts;
    pthread_mutex_unlock(&device->lock);
}

void device_sample(struct device *device, const struct device_work *work)
{
    ASSERT(device != NULL && work != NULL);
    pthread_mutex_lock(&device->looking);
    look(device, work);
    pthread_mutex_unlock(&device->looking);
}

/* Another thread's look, or the sampler's, is as good as an own one. */
static void look_if_old(struct device *device)
{
    pthread_mutex_lock(&device->looking);
    double now_ms = clock_monotonic_ms(device->clock);
    if (!device->sampled && (!device->known || now_ms - device->read_ms >= DEVICE_SAMPLE_MS))
        look(device, NULL);
    pthread_mutex_unlock(&device->looking);
}

void device_read(struct device *device, struct device_state *out)
{
    ASSERT(device != NULL && out != NULL);
    double now_ms = clock_monotonic_ms(device->clock);
    pthread_mutex_lock(&device->lock);
    bool fresh = device->known && (device->sampled || now_ms - device->read_ms < DEVICE_SAMPLE_MS);
    if (fresh)
        *out = device->state;
    pthread_mutex_unlock(&device->lock);
    if (fresh)
        return;
    look_if_old(device);
    pthread_mutex_lock(&device->lock);
    *out = device->state;
    pthread_mutex_unlock(&device->lock);
}

enum td_network device_read_network(struct device *device)
{
    ASSERT(device != NULL);
    pthread_mutex_lock(&device->looking);
    if (!device->known) {
        look(device, NULL);
    } else {
        enum td_network seen =
            network_read(&device->sysfs, (const char(*)[IF_NAMESIZE])device->metered);
        pthread_mutex_lock(&device->lock);
        struct device_state now = device->state;
        now.network = seen;
        hold_back(device, &now, clock_monotonic_ms(device->clock));
        device->state.network = now.network;
        pthread_mutex_unlock(&device->lock);
    }
    pthread_mutex_unlock(&device->looking);
    struct device_state state;
    device_read(device, &state);
    return state.network;
}

bool device_is_real(const struct device *device)
{
    return device->real;
}

double device_forecast_ms(struct device *device, double ms)
{
    ASSERT(device != NULL);
    pthread_mutex_lock(&device->lock);
    const struct device_state *state = &device->state;
    bool bounded = device->known && state->thermal.known;
    double share = full_share(device), speed = fmin(device->speed / share, 1);
    const struct heat_model model = device->model;
    const struct heat_place place = place_of(state);
    pthread_mutex_unlock(&device->lock);
    if (!bounded || !(ms > 0))
        return ms;
    /* What is slowed already was measured so. */
    return heat_model_forecast_s(&model, &place, ms / 1000 * speed, share) * 1000;
}
