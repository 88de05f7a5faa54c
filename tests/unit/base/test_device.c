/* Batteries and networks, read from a folder that looks like sysfs. */
#include "base/device.h"

#include "base/clock.h"
#include "base/str.h"
#include "test.h"

#include <math.h>
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

int main(void)
{
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
