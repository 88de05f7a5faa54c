/* Free memory, read from made-up /proc and /sys trees. */
#include "base/machine/memory_free.h"

#include "base/bytes/path.h"
#include "test.h"

#include <sys/resource.h>

#define MIB ((uint64_t)1 << 20)

static char root[64];

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    if (path_make_parents(full, 0700, NULL) != TD_OK)
        abort();
    FILE *file = fopen(full, "w");
    if (file == NULL)
        abort();
    fputs(text, file);
    fclose(file);
}

static void tree_new(void)
{
    snprintf(root, sizeof root, "/tmp/tandem-memory-XXXXXX");
    if (mkdtemp(root) == NULL)
        abort();
    put("proc/meminfo",
        "MemTotal:       8388608 kB\nMemFree:  1 kB\nMemAvailable:    2097152 kB\n");
}

static void tree_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        abort();
}

static struct memory_free read_tree(void)
{
    struct memory_free out;
    memory_free_read(root, &out);
    return out;
}

static void test_without_limits_it_is_what_the_machine_has_available(void)
{
    tree_new();
    struct memory_free left = read_tree();
    CHECK(left.ram_bytes == 2048 * MIB && strstr(left.bound, "machine"));
    put("proc/self/cgroup", "0::/job\n");
    put("sys/fs/cgroup/job/memory.max", "max\n");
    put("sys/fs/cgroup/job/memory.current", "1048576\n");
    CHECK(read_tree().ram_bytes == 2048 * MIB);
    tree_remove();
}

static void test_a_group_leaves_its_limit_less_what_is_used_but_not_cached(void)
{
    tree_new();
    put("proc/self/cgroup", "0::/work/job\n");
    put("sys/fs/cgroup/work/job/memory.max", "536870912\n");     /* 512 MiB */
    put("sys/fs/cgroup/work/job/memory.current", "314572800\n"); /* 300 MiB */
    struct memory_free left = read_tree();
    CHECK(left.ram_bytes == 212 * MIB && strstr(left.bound, "control group"));
    put("sys/fs/cgroup/work/job/memory.stat",
        "anon 1\ninactive_file 104857600\nactive_file 104857600\n"); /* 200 MiB */
    CHECK(read_tree().ram_bytes == 412 * MIB);
    put("sys/fs/cgroup/work/memory.max", "104857600\n"); /* the group around it is narrower */
    put("sys/fs/cgroup/work/memory.current", "209715200\n");
    CHECK(read_tree().ram_bytes == 0); /* and over its limit */
    tree_remove();
}

static void test_version_1_has_other_names(void)
{
    tree_new();
    put("proc/self/cgroup", "5:cpu,cpuacct:/c\n4:memory:/job\n");
    put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "104857600\n");
    put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "73400320\n"); /* 70 MiB */
    put("sys/fs/cgroup/memory/job/memory.stat",
        "inactive_file 0\ntotal_inactive_file 10485760\ntotal_active_file 0\n");
    CHECK(read_tree().ram_bytes == 40 * MIB);
    put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    CHECK(read_tree().ram_bytes == 2048 * MIB);
    tree_remove();
}

static void test_nonsense_counts_as_no_limit(void)
{
    tree_new();
    put("proc/meminfo", "hello\n");
    put("proc/self/cgroup", "0::/\n:\n::\nmemory\n");
    put("sys/fs/cgroup/memory.max", "-\n");
    CHECK(read_tree().ram_bytes > 0);
    tree_remove();
}

static void test_a_limit_of_the_address_space_counts_what_is_mapped(void)
{
    struct rlimit old, limit;
    tree_new();
    REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
    limit = (struct rlimit){.rlim_cur = (rlim_t)1 << 46, .rlim_max = old.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    put("proc/self/statm", "1024 1 1 1 0 1 0\n");
    struct memory_free left = read_tree();
    CHECK(left.space_bytes == ((uint64_t)1 << 46) - 1024 * (uint64_t)sysconf(_SC_PAGESIZE));
    setrlimit(RLIMIT_AS, &old);
    tree_remove();
}

int main(void)
{
    RUN(test_without_limits_it_is_what_the_machine_has_available);
    RUN(test_a_group_leaves_its_limit_less_what_is_used_but_not_cached);
    RUN(test_version_1_has_other_names);
    RUN(test_nonsense_counts_as_no_limit);
    RUN(test_a_limit_of_the_address_space_counts_what_is_mapped);
    return test_finish();
}
