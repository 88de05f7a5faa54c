/* Files of another machine, as they should be and as they should not. */
#include "device/memory_state.h"
#include "device/network.h"
#include "device/power.h"
#include "device/thermal.h"

#include "base/time/log.h"
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static struct sysfs sysfs;

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0700);
            *at = '/';
        }
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/tandem-sysfs-XXXXXX");
    REQUIRE(mkdtemp(root) != NULL);
    put("sys/class/none", "");
    put("proc/none", "");
    CHECK(sysfs_init(&sysfs, root) && sysfs.has_proc);
}

static void put_zone(int number, const char *temperature, const char *type, const char *trip)
{
    char name[128];
    snprintf(name, sizeof name, "sys/class/thermal/thermal_zone%d/type", number);
    put(name, "some-zone\n");
    snprintf(name, sizeof name, "sys/class/thermal/thermal_zone%d/temp", number);
    put(name, temperature);
    snprintf(name, sizeof name, "sys/class/thermal/thermal_zone%d/trip_point_0_type", number);
    put(name, type);
    snprintf(name, sizeof name, "sys/class/thermal/thermal_zone%d/trip_point_0_temp", number);
    put(name, trip);
}

static void test_the_zone_with_the_least_degrees_left_counts(void)
{
    struct thermal thermal;
    make_root();
    put_zone(0, "30000\n", "passive\n", "90000\n");
    put_zone(1, "41000\n", "passive\n", "45000\n");
    put_zone(2, "89000\n", "active\n", "45000\n"); /* a fan */
    put_zone(3, "60000\n", "critical\n", "105000\n");
    put("sys/class/thermal/thermal_zone1/trip_point_0_hyst", "2000\n");
    thermal_read(&sysfs, &thermal);
    CHECK(thermal.known && thermal.temperature_c == 41 && thermal.wall_c == 45);
    CHECK(thermal.clear_c == 43 && !thermal.throttled);
    put_zone(1, "45000\n", "passive\n", "45000\n");
    thermal_read(&sysfs, &thermal);
    CHECK(thermal.throttled);
}

static void test_a_processor_that_is_slowed_is_and_a_fan_that_runs_is_not(void)
{
    struct thermal thermal;
    make_root();
    put_zone(0, "30000\n", "passive\n", "90000\n");
    put("sys/class/thermal/cooling_device0/type", "Fan\n");
    put("sys/class/thermal/cooling_device0/cur_state", "3\n");
    put("sys/class/thermal/cooling_device1/type", "thermal-cpufreq-0\n");
    put("sys/class/thermal/cooling_device1/cur_state", "0\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1200000\n");
    put("sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "2400000\n");
    thermal_read(&sysfs, &thermal);
    CHECK(!thermal.throttled && thermal.frequency_share == 0.5);
    put("sys/class/thermal/cooling_device1/cur_state", "2\n");
    thermal_read(&sysfs, &thermal);
    CHECK(thermal.throttled);
}

static void test_malformed_files_are_no_zones_and_are_told_of_once(void)
{
    struct thermal thermal;
    char huge[5000], name[128], log[4096] = "";
    make_root();
    memset(huge, '7', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    put_zone(0, "", "passive\n", "90000\n");
    put_zone(1, huge, "passive\n", "90000\n");
    put_zone(2, "warm\n", "passive\n", "90000\n");
    put_zone(3, "40000 \x01\n", "passive\n", "90000\n");
    put_zone(4, "40000\n", "passive\n", "-274000\n");
    put_zone(5, "9223372036854775807\n", "passive\n", "90000\n");
    put_zone(6, "40000\n", huge, "90000\n");
    snprintf(name, sizeof name, "%s/log", root);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0);
    log_set_fd(fd);
    for (int i = 0; i < 5; i++) {
        thermal_read(&sysfs, &thermal);
        CHECK(!thermal.known && !thermal.throttled);
    }
    log_set_fd(2);
    CHECK(pread(fd, log, sizeof log - 1, 0) > 0);
    close(fd);
    int lines = 0;
    for (const char *at = log; (at = strstr(at, "device_file_malformed")) != NULL; at++)
        lines++;
    CHECK(lines == 4); /* of zones 0 to 3 */
}

static void test_a_pipe_or_a_folder_in_a_file_s_place_does_not_hold_a_look_up(void)
{
    struct thermal thermal;
    char name[128];
    make_root();
    put_zone(0, "40000\n", "passive\n", "90000\n");
    snprintf(name, sizeof name, "%s/sys/class/thermal/thermal_zone0/temp", root);
    CHECK(unlink(name) == 0 && mkfifo(name, 0600) == 0);
    thermal_read(&sysfs, &thermal);
    CHECK(!thermal.known);
    CHECK(unlink(name) == 0 && mkdir(name, 0700) == 0);
    thermal_read(&sysfs, &thermal);
    CHECK(!thermal.known);
}

static void test_power_is_what_the_battery_tells_or_the_processor_counts(void)
{
    struct power power = {0};
    make_root();
    put("sys/class/power_supply/AC/type", "Mains\n");
    put("sys/class/power_supply/AC/online", "1\n");
    put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "50000000\n");
    power_read(&sysfs, 10, &power);
    CHECK(power.charger && isnan(power.watts) && isnan(power.battery));
    put("sys/class/powercap/intel-rapl:0/energy_uj", "21000000\n");
    power_read(&sysfs, 12, &power);
    CHECK(fabs(power.watts - 10) < 1e-9);
    put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"); /* it wrapped */
    power_read(&sysfs, 14, &power);
    CHECK(fabs(power.watts - 15) < 1e-9);
    put("sys/class/power_supply/BAT0/type", "Battery\n");
    put("sys/class/power_supply/BAT0/status", "Discharging\n");
    put("sys/class/power_supply/BAT0/capacity", "50\n");
    put("sys/class/power_supply/BAT0/current_now", "-2000000\n");
    put("sys/class/power_supply/BAT0/voltage_now", "4000000\n");
    power_read(&sysfs, 16, &power);
    CHECK(power.on_battery && power.battery == 50 && fabs(power.watts - 8) < 1e-9);
}

static const char no_metered[1][IF_NAMESIZE];

static void test_the_default_route_says_which_network_counts(void)
{
    static const char head[] = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n";
    char routes[512];
    make_root();
    put("sys/class/net/wlan0/operstate", "up\n");
    put("sys/class/net/wlan0/device/vendor", "");
    put("sys/class/net/wwan0/operstate", "up\n");
    put("sys/class/net/wwan0/device/vendor", "");
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_ONLINE); /* no table: links decide */
    snprintf(routes, sizeof routes,
             "%swwan0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\n"
             "wlan0\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\n",
             head);
    put("proc/net/route", routes);
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_METERED);
    put("proc/net/route", head); /* up, and no way out */
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_OFFLINE);
    put("proc/net/ipv6_route", "fe800000000000000000000000000000 40 "
                               "00000000000000000000000000000000 00 "
                               "00000000000000000000000000000000 00000100 00000001 00000000 "
                               "00000001    wlan0\n");
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_OFFLINE);
    put("proc/net/ipv6_route", "00000000000000000000000000000000 00 "
                               "00000000000000000000000000000000 00 "
                               "fe800000000000000000000000000001 00000400 00000001 00000000 "
                               "00000003    wlan0\n");
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_ONLINE);
    put("proc/net/route", "wlan0 zz\n\n\xff\xff garbage without an end");
    CHECK(network_read(&sysfs, no_metered) == TD_NETWORK_ONLINE);
}

static void test_the_control_group_says_how_much_memory_there_is(void)
{
    struct memory_state memory;
    make_root();
    memory_state_read(&sysfs, &memory);
    CHECK(!memory.known);
    put("proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n");
    put("proc/loadavg", "1.50 1.00 0.50 1/100 4711\n");
    put("proc/pressure/memory", "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n"
                                "full avg10=0.50 avg60=0.00 avg300=0.00 total=1\n");
    memory_state_read(&sysfs, &memory);
    CHECK(memory.known && memory.total_bytes == UINT64_C(8192000000));
    CHECK(memory.free_bytes == UINT64_C(6144000000) && memory.some == 1.5 && memory.full == 0.5);
    CHECK(memory.load == 1.5);
    put("proc/self/cgroup", "0::/app\n");
    put("sys/fs/cgroup/app/memory.max", "1000000000\n");
    put("sys/fs/cgroup/app/memory.current", "900000000\n");
    put("sys/fs/cgroup/app/memory.stat", "active_file 0\ninactive_file 50000000\n");
    put("sys/fs/cgroup/app/memory.pressure", "some avg10=40.00 avg60=0.00 avg300=0.00 total=1\n"
                                             "full avg10=20.00 avg60=0.00 avg300=0.00 total=1\n");
    memory_state_read(&sysfs, &memory);
    CHECK(memory.total_bytes == 1000000000 && memory.free_bytes == 150000000);
    CHECK(memory.some == 40 && memory.full == 20);
    put("proc/pressure/memory", "some avg10=nan\nfull avg10=-3 avg60=1e999");
    put("sys/fs/cgroup/app/memory.pressure", "");
    memory_state_read(&sysfs, &memory);
    CHECK(memory.known && isnan(memory.some) && isnan(memory.full));
}

int main(void)
{
    RUN(test_the_zone_with_the_least_degrees_left_counts);
    RUN(test_a_processor_that_is_slowed_is_and_a_fan_that_runs_is_not);
    RUN(test_malformed_files_are_no_zones_and_are_told_of_once);
    RUN(test_a_pipe_or_a_folder_in_a_file_s_place_does_not_hold_a_look_up);
    RUN(test_power_is_what_the_battery_tells_or_the_processor_counts);
    RUN(test_the_default_route_says_which_network_counts);
    RUN(test_the_control_group_says_how_much_memory_there_is);
    return test_finish();
}
