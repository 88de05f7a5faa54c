/* Batteries and networks, read from a folder that looks like sysfs. */
#include "device/device.h"

#include "base/core/str.h"
#include "base/time/clock.h"
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static uint64_t now_ms;

static uint64_t hands(void *ctx)
{
    (void)ctx;
    return now_ms * 1000000;
}

static const struct clock clock_hands = {hands, hands, NULL};
static char root[64];

static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/class/%s", root, path);
    for (char *at = whole + strlen(root) + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(whole, 0700);
            *at = '/';
        }
    }
    FILE *file = fopen(whole, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static struct device_state look(struct device *device)
{
    struct device_state state;
    device_read(device, &state);
    return state;
}

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/tandem-device-XXXXXX");
    REQUIRE(mkdtemp(root) != NULL);
}

static void test_a_machine_without_either_says_nothing(void)
{
    make_root();
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    REQUIRE(device != NULL);
    struct device_state state = look(device);
    CHECK(isnan(state.battery) && !state.on_battery && state.network == TD_NETWORK_UNKNOWN);
    device_free(device);
    char too_long[400];
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    CHECK(device_new(too_long, NULL, 0, NULL) == NULL);
}

static void test_the_least_charged_battery_counts_and_a_mouse_does_not(void)
{
    make_root();
    put("power_supply/AC/type", "Mains\n");
    put("power_supply/BAT0/type", "Battery\n");
    put("power_supply/BAT0/capacity", "81\n");
    put("power_supply/BAT0/status", "Charging\n");
    put("power_supply/BAT1/type", "Battery\n");
    put("power_supply/BAT1/capacity", "17\n");
    put("power_supply/BAT1/status", "Discharging\n");
    put("power_supply/mouse/type", "Battery\n");
    put("power_supply/mouse/scope", "Device\n");
    put("power_supply/mouse/capacity", "3\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    struct device_state state = look(device);
    CHECK(state.battery == 17 && state.on_battery);
    device_free(device);
}

static void test_nonsense_is_nothing(void)
{
    make_root();
    put("power_supply/BAT0/type", "Battery\n");
    put("power_supply/BAT0/capacity", "many\n");
    put("power_supply/BAT0/status", "");
    put("power_supply/BAT1/type", "Battery\n");
    put("power_supply/BAT1/capacity", "1000\n");
    put("net/eth0/operstate", "");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    struct device_state state = look(device);
    CHECK(isnan(state.battery) && !state.on_battery && state.network == TD_NETWORK_UNKNOWN);
    device_free(device);
}

static void test_a_cable_that_is_pulled_is_noticed_when_the_last_look_is_old(void)
{
    make_root();
    put("net/lo/operstate", "unknown\n");
    put("net/wlan0/operstate", "down\n");
    put("net/eth0/operstate", "up\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    CHECK(look(device).network == TD_NETWORK_ONLINE);
    put("net/eth0/operstate", "down\n");
    now_ms += 1000;
    CHECK(look(device).network == TD_NETWORK_ONLINE);
    now_ms += 1000;
    CHECK(look(device).network == TD_NETWORK_OFFLINE);
    device_free(device);
}

static void test_a_bridge_leads_nowhere_without_its_cable(void)
{
    make_root();
    put("net/eth0/operstate", "down\n");
    put("net/eth0/device/vendor", "\n");
    put("net/docker0/operstate", "up\n");
    put("net/docker0/bridge/bridge_id", "\n");
    put("net/veth1/operstate", "up\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    CHECK(look(device).network == TD_NETWORK_OFFLINE);
    device_free(device);
}

static void test_a_modem_and_a_named_interface_are_metered(void)
{
    static const char *const metered[] = {"wlan0"};
    make_root();
    put("net/wwan0/operstate", "unknown\n");
    put("net/wwan0/carrier", "1\n");
    put("net/wwan0/device/vendor", "\n");
    struct device *device = device_new(root, metered, 1, &clock_hands);
    CHECK(look(device).network == TD_NETWORK_METERED);
    put("net/wlan0/operstate", "up\n");
    put("net/wlan0/device/vendor", "\n");
    now_ms += 2000;
    CHECK(look(device).network == TD_NETWORK_METERED);
    put("net/eth0/operstate", "up\n");
    put("net/eth0/device/vendor", "\n");
    now_ms += 2000;
    CHECK(look(device).network == TD_NETWORK_ONLINE);
    device_free(device);
}

static void test_a_link_that_comes_and_goes_does_not_count_before_it_lasts(void)
{
    make_root();
    put("net/eth0/operstate", "up\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    CHECK(look(device).network == TD_NETWORK_ONLINE);
    for (int i = 0; i < 4; i++) { /* offline at once, and it stays so */
        put("net/eth0/operstate", i % 2 ? "up\n" : "down\n");
        now_ms += 2000;
        CHECK(look(device).network == TD_NETWORK_OFFLINE);
    }
    for (int i = 0; i < 3; i++) {
        now_ms += 2000;
        CHECK(look(device).network == (i < 2 ? TD_NETWORK_OFFLINE : TD_NETWORK_ONLINE));
    }
    put("net/eth0/operstate", "down\n");
    now_ms += 2000;
    CHECK(look(device).network == TD_NETWORK_OFFLINE);
    put("net/eth0/operstate", "up\n");
    now_ms += 60000;
    CHECK(look(device).network == TD_NETWORK_ONLINE);
    device_free(device);
}

static void test_a_low_battery_stays_low_until_it_has_some_charge(void)
{
    static const struct {
        const char *percent, *status;
        bool low;
    } looks[] = {{"11", "Discharging\n", false}, {"10", "Discharging\n", true},
                 {"12", "Discharging\n", true},  {"15", "Discharging\n", true},
                 {"16", "Discharging\n", false}, {"12", "Discharging\n", false},
                 {"3", "Discharging\n", true},   {"3", "Charging\n", false}};
    make_root();
    put("power_supply/BAT0/type", "Battery\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        put("power_supply/BAT0/capacity", looks[i].percent);
        put("power_supply/BAT0/status", looks[i].status);
        now_ms += 2000;
        CHECK(look(device).battery_low == looks[i].low);
    }
    device_free(device);
}

static void put_heat(const char *temperature)
{
    put("thermal/thermal_zone0/type", "cpu\n");
    put("thermal/thermal_zone0/temp", temperature);
    put("thermal/thermal_zone0/trip_point_0_type", "passive\n");
    put("thermal/thermal_zone0/trip_point_0_temp", "41400\n");
}

static void test_heat_battery_and_memory_have_a_level_and_a_reason(void)
{
    make_root();
    put_heat("30000\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    struct device_state state = look(device);
    CHECK(state.level == DEVICE_USUAL && state.cause == DEVICE_CAUSE_NONE && !state.why[0]);
    CHECK(state.thread_share >= 1 && state.thermal.known);
    put_heat("42000\n");
    now_ms += 2000;
    state = look(device);
    CHECK(state.level == DEVICE_WALL && state.cause == DEVICE_CAUSE_HEAT);
    CHECK(strstr(state.why, "42.0") && strstr(state.why, "41.4"));
    CHECK(state.thread_share >= 1); /* the kernel slows it already */
    device_set_acts(device, (struct device_acts){.battery = true});
    now_ms += 2000;
    CHECK(look(device).level == DEVICE_USUAL);
    put("power_supply/BAT0/type", "Battery\n");
    put("power_supply/BAT0/capacity", "4\n");
    put("power_supply/BAT0/status", "Discharging\n");
    now_ms += 2000;
    state = look(device);
    CHECK(state.level == DEVICE_HOT && state.cause == DEVICE_CAUSE_BATTERY);
    CHECK(strstr(state.why, "4 %") && state.thread_share >= 1);
    put_heat("30000\n");
    now_ms += 2000;
    CHECK(look(device).thread_share == 0.5);
    device_set_acts(device, (struct device_acts){.heat = false});
    now_ms += 2000;
    state = look(device);
    CHECK(state.level == DEVICE_USUAL && !state.battery_low);
    device_free(device);
}

static void put_memory(unsigned mib)
{
    char text[128], path[256];
    snprintf(path, sizeof path, "%s/proc", root);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/sys", root);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    snprintf(text, sizeof text, "MemTotal: 8388608 kB\nMemAvailable: %u kB\n", mib * 1024);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void test_short_memory_counts_at_once_and_for_some_time(void)
{
    static const struct {
        unsigned mib;
        enum device_level level;
    } looks[] = {{4000, DEVICE_USUAL},
                 {800, DEVICE_WARM},
                 {400, DEVICE_HOT},
                 {200, DEVICE_WALL},
                 {4000, DEVICE_WALL} /* within its time */,
                 {4000, DEVICE_USUAL}};
    make_root();
    put_memory(4000);
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        put_memory(looks[i].mib);
        now_ms += i == 5 ? 20000 : 2000;
        struct device_state state = look(device);
        CHECK(state.memory.known && state.memory_level == looks[i].level);
        CHECK(state.level == looks[i].level && state.thread_share >= 1);
    }
    put_memory(800);
    now_ms += 20000;
    CHECK(look(device).level == DEVICE_WARM);
    put_memory(900); /* not enough more to matter */
    now_ms += 20000;
    CHECK(look(device).level == DEVICE_WARM);
    device_free(device);
}

static void test_a_sampler_looks_in_the_place_of_requests(void)
{
    make_root();
    put_heat("30000\n");
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    const struct device_work work = {.busy_s = 1, .tokens = 10, .token_ms = 20, .threads = 2};
    device_sample(device, &work);
    put_heat("50000\n");
    now_ms += 60000;
    CHECK(look(device).thermal.temperature_c == 30); /* as it was at the last sample */
    device_sample(device, &work);
    CHECK(look(device).thermal.temperature_c == 50);
    CHECK(device_forecast_ms(device, 1000) > 1500); /* it is at its wall */
    device_free(device);
}

static void *sample_often(void *ctx)
{
    struct device_work work = {.token_ms = 20, .threads = 2};
    for (int i = 0; i < 100; i++) {
        work.busy_s += 1;
        device_sample(ctx, &work);
    }
    return NULL;
}

static void test_readers_beside_the_sampler_see_whole_states(void)
{
    pthread_t thread;
    make_root();
    put_heat("45000\n");
    struct device *device = device_new(root, NULL, 0, NULL);
    REQUIRE(pthread_create(&thread, NULL, sample_often, device) == 0);
    for (int i = 0; i < 2000; i++) {
        struct device_state state = look(device);
        CHECK(state.thermal.known && state.thermal.temperature_c == 45);
        CHECK(device_forecast_ms(device, 100) >= 100);
        device_set_acts(device, (struct device_acts){i % 2, true, true});
    }
    pthread_join(thread, NULL);
    device_free(device);
}

static void test_energy_of_a_token_is_measured_where_power_is_told(void)
{
    make_root();
    struct device *device = device_new(root, NULL, 0, &clock_hands);
    struct device_work work = {.busy_s = 0, .tokens = 0, .token_ms = 100, .threads = 2};
    device_sample(device, &work);
    CHECK(isnan(look(device).token_j));
    for (int i = 0; i < 5; i++) {
        now_ms += 2000;
        work.busy_s += 2;
        work.tokens += 20;
        device_sample(device, &work);
    }
    struct device_state state = look(device);
    CHECK(state.token_j > 0 && !state.token_j_measured);
    put("power_supply/BAT0/type", "Battery\n");
    put("power_supply/BAT0/capacity", "80\n");
    put("power_supply/BAT0/status", "Discharging\n");
    put("power_supply/BAT0/power_now", "5000000\n");
    for (int i = 0; i < 400; i++) {
        now_ms += 2000;
        work.busy_s += 2;
        work.tokens += 20;
        device_sample(device, &work);
    }
    state = look(device);
    CHECK(state.token_j_measured && fabs(state.token_j - 0.5) < 0.01);
    device_free(device);
}

int main(void)
{
    RUN(test_heat_battery_and_memory_have_a_level_and_a_reason);
    RUN(test_short_memory_counts_at_once_and_for_some_time);
    RUN(test_a_sampler_looks_in_the_place_of_requests);
    RUN(test_readers_beside_the_sampler_see_whole_states);
    RUN(test_energy_of_a_token_is_measured_where_power_is_told);
    RUN(test_a_machine_without_either_says_nothing);
    RUN(test_the_least_charged_battery_counts_and_a_mouse_does_not);
    RUN(test_nonsense_is_nothing);
    RUN(test_a_cable_that_is_pulled_is_noticed_when_the_last_look_is_old);
    RUN(test_a_bridge_leads_nowhere_without_its_cable);
    RUN(test_a_modem_and_a_named_interface_are_metered);
    RUN(test_a_link_that_comes_and_goes_does_not_count_before_it_lasts);
    RUN(test_a_low_battery_stays_low_until_it_has_some_charge);
    return test_finish();
}
