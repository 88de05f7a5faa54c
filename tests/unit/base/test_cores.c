/* Cores and quotas, read from made-up /sys and /proc trees of many kinds of machines. */
#include "base/machine/cores.h"

#include "test.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Writes one file of the tree and the folders above it. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    if (file == NULL)
        abort();
    fputs(text, file);
    fclose(file);
}

static void put_cpu(int cpu, const char *file, int value)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, file);
    snprintf(text, sizeof text, "%d\n", value);
    put(path, text);
}

/* Makes an empty tree. */
static void tree_new(void)
{
    snprintf(root, sizeof root, "/tmp/tandem-cores-XXXXXX");
    if (mkdtemp(root) == NULL)
        abort();
}

static void tree_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        abort();
}

static struct cores read_with(int first, int count)
{
    struct cores cores;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    for (int cpu = first; cpu < first + count; cpu++)
        CPU_SET(cpu, &allowed);
    cores_read(root, &allowed, &cores);
    return cores;
}

static void test_equal_cores_are_all_fast(void)
{
    tree_new();
    for (int cpu = 0; cpu < 16; cpu++)
        put_cpu(cpu, "cpu_capacity", 1024);
    struct cores cores = read_with(0, 16);
    CHECK(cores.usable == 16 && cores.fast == 16 && cores.quota <= 0);
    CHECK(cores_thread_count(&cores) == 16);
    tree_remove();
}

static void test_little_cores_get_no_thread_by_default(void)
{
    static const int capacities[8] = {325, 325, 325, 325, 870, 870, 870, 1024};
    tree_new();
    for (int cpu = 0; cpu < 8; cpu++)
        put_cpu(cpu, "cpu_capacity", capacities[cpu]);
    struct cores cores = read_with(0, 8);
    CHECK(cores.usable == 8 && cores.fast == 4 && cores_thread_count(&cores) == 4);
    for (int cpu = 0; cpu < 8; cpu++)
        CHECK((CPU_ISSET(cpu, &cores.fast_set) != 0) == (cpu >= 4));
    tree_remove();
}

static void test_little_cores_are_fast_where_nothing_else_is_allowed(void)
{
    static const int capacities[8] = {325, 325, 325, 325, 870, 870, 870, 1024};
    tree_new();
    for (int cpu = 0; cpu < 8; cpu++)
        put_cpu(cpu, "cpu_capacity", capacities[cpu]);
    struct cores cores = read_with(0, 4);
    CHECK(cores.usable == 4 && cores.fast == 4 && CPU_ISSET(0, &cores.fast_set));
    cores = read_with(3, 2); /* one of each */
    CHECK(cores.usable == 2 && cores.fast == 1 && CPU_ISSET(4, &cores.fast_set));
    tree_remove();
}

static void test_frequencies_tell_kinds_apart_where_capacities_do_not(void)
{
    tree_new();
    for (int cpu = 0; cpu < 12; cpu++) /* two may run a little faster than the other fast ones */
        put_cpu(cpu, "cpufreq/cpuinfo_max_freq", cpu < 2 ? 5200000 : cpu < 8 ? 5000000 : 3800000);
    struct cores cores = read_with(0, 12);
    CHECK(cores.fast == 8 && cores_thread_count(&cores) == 8);
    for (int cpu = 0; cpu < 12; cpu++)
        put_cpu(cpu, "cpu_capacity", 1024); /* a kernel that knows no better */
    cores = read_with(0, 12);
    CHECK(cores.fast == 8);
    tree_remove();
}

static void test_a_machine_that_says_nothing_has_equal_cores(void)
{
    tree_new();
    struct cores cores = read_with(2, 3);
    CHECK(cores.usable == 3 && cores.fast == 3 && cores_thread_count(&cores) == 3);
    put_cpu(2, "cpu_capacity", 100); /* one core alone, or nonsense: drops no other core */
    put("sys/devices/system/cpu/cpu3/cpu_capacity", "none\n");
    put("sys/devices/system/cpu/cpu4/cpu_capacity", "");
    cores = read_with(2, 3);
    CHECK(cores.fast == 3);
    tree_remove();
}

static void test_a_quota_limits_the_threads_and_is_rounded_down(void)
{
    tree_new();
    put("proc/self/cgroup", "0::/work/job\n");
    put("sys/fs/cgroup/work/job/cpu.max", "250000 100000\n");
    struct cores cores = read_with(0, 8);
    CHECK(cores.quota > 2.49 && cores.quota < 2.51 && cores_thread_count(&cores) == 2);
    put("sys/fs/cgroup/work/job/cpu.max", "20000 100000\n");
    cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 1);
    put("sys/fs/cgroup/work/job/cpu.max", "max 100000\n");
    cores = read_with(0, 8);
    CHECK(cores.quota <= 0 && cores_thread_count(&cores) == 8);
    put("sys/fs/cgroup/work/job/cpu.max", "1600000 100000\n"); /* more than the machine has */
    cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 8);
    tree_remove();
}

static void test_the_narrowest_quota_around_a_group_counts(void)
{
    tree_new();
    put("proc/self/cgroup", "0::/work/job\n");
    put("sys/fs/cgroup/work/job/cpu.max", "600000 100000\n");
    put("sys/fs/cgroup/work/cpu.max", "300000 100000\n");
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    struct cores cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 3);
    put("proc/self/cgroup", "0::/docker/5f3e/not/here\n"); /* the name of our group on the host */
    put("sys/fs/cgroup/cpu.max", "400000 100000\n");
    cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 4);
    put("proc/self/cgroup", "0::/\n");
    cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 4);
    tree_remove();
}

static void test_quotas_of_version_1_count_as_well(void)
{
    tree_new();
    put("proc/self/cgroup", "4:cpuset:/x\n3:cpuacct,cpu:/job\n2:cpuacct:/y\n0::/\n");
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    struct cores cores = read_with(0, 8);
    CHECK(cores_thread_count(&cores) == 3);
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    cores = read_with(0, 8);
    CHECK(cores.quota <= 0 && cores_thread_count(&cores) == 8);
    tree_remove();
}

static void test_damaged_files_set_no_limit(void)
{
    static const char *const groups[] = {"", "\n", "0", "0:", "0::", ":::", "0::work", "x:cpu:/\n"};
    static const char *const limits[] = {"",         "max",     "100000",   "-5 100000",
                                         "100000 0", "nan nan", "1 1e400 x"};
    tree_new();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (size_t j = 0; j < sizeof limits / sizeof *limits; j++) {
            put("proc/self/cgroup", groups[i]);
            put("sys/fs/cgroup/cpu.max", limits[j]);
            struct cores cores = read_with(0, 4);
            CHECK(cores.quota <= 0 || cores_thread_count(&cores) >= 1);
            CHECK(cores.usable == 4 && cores.fast == 4);
        }
    tree_remove();
}

static void test_this_machine_has_at_least_one_core(void)
{
    struct cores cores;
    cores_read("", NULL, &cores);
    CHECK(cores.usable >= 1 && cores.fast >= 1 && cores.fast <= cores.usable);
    CHECK(cores_thread_count(&cores) >= 1 && cores_thread_count(&cores) <= cores.usable);
}

int main(void)
{
    RUN(test_equal_cores_are_all_fast);
    RUN(test_little_cores_get_no_thread_by_default);
    RUN(test_little_cores_are_fast_where_nothing_else_is_allowed);
    RUN(test_frequencies_tell_kinds_apart_where_capacities_do_not);
    RUN(test_a_machine_that_says_nothing_has_equal_cores);
    RUN(test_a_quota_limits_the_threads_and_is_rounded_down);
    RUN(test_the_narrowest_quota_around_a_group_counts);
    RUN(test_quotas_of_version_1_count_as_well);
    RUN(test_damaged_files_set_no_limit);
    RUN(test_this_machine_has_at_least_one_core);
    return test_finish();
}
