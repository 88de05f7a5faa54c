/* The kernel tells in one of two ways how fast a core is:
 *
 *   cpuN/cpu_capacity              work done in a second; 1024 for the fastest core. From the
 *                                  device tree (big.LITTLE), and on x86 since Linux 6.12.
 *   cpuN/cpufreq/cpuinfo_max_freq  kHz; does not tell how much a core does in a cycle.
 *
 * A step of the forward pass ends when its last item is done. Items are handed out from a counter,
 * so a slow core delays the others by at most its last item. A core with 60 % of the fastest one's
 * capacity counts as fast: the middle cores of phones with three kinds do, the small ones (20 to 45
 * %) do not. Frequencies differ less. Small cores reach 60 to 80 % of the highest one, and among
 * equal cores some may go higher by a few percent. So the bound there is 85 %.
 *
 * A quota (`cpu.max`, or `cpu.cfs_quota_us` of version 1) is rounded down. With one thread more
 * than it allows, all threads stand still for the rest of every period of 100 ms. */
#include "base/machine/cores.h"

#include "base/core/assertion.h"
#include "base/machine/cgroup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAST_CAPACITY_MIN 0.60
#define FAST_FREQUENCY_MIN 0.85
#define PATH_BYTES 4096

/* Reads the beginning of a small file; false when it cannot be read or is empty. */
static bool read_text(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t len = fread(out, 1, capacity - 1, file);
    fclose(file);
    out[len] = '\0';
    return len > 0;
}

/* Reads a positive number from the file root/format; 0 when there is none. */
TD_PRINTF(2, 3)
static double read_number(const char *root, const char *format, ...)
{
    char path[PATH_BYTES], text[64];
    int begin = snprintf(path, sizeof path, "%s", root);
    if (begin < 0 || (size_t)begin >= sizeof path)
        return 0;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(path + begin, sizeof path - (size_t)begin, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof path - (size_t)begin)
        return 0;
    if (!read_text(path, text, sizeof text))
        return 0;
    double value = strtod(text, NULL);
    return value > 0 && value < 1e12 ? value : 0;
}

/* ---- kinds of cores -------------------------------------------------------------------------- */

/* Puts into `fast_set` the cores whose number is at least `least` times the largest. False, with
 * nothing changed, when a core has no number. */
static bool choose_fast(const char *root, const char *file, double least, const cpu_set_t *allowed,
                        struct cores *out)
{
    double speed[CPU_SETSIZE] = {0}, largest = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed))
            continue;
        speed[cpu] = read_number(root, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
        if (speed[cpu] <= 0)
            return false;
        largest = speed[cpu] > largest ? speed[cpu] : largest;
    }
    CPU_ZERO(&out->fast_set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && speed[cpu] >= least * largest)
            CPU_SET(cpu, &out->fast_set);
    return true;
}

/* Some kernels give all cores the same capacity because they know no better, so frequencies are
 * asked, too. */
static void read_kinds(const char *root, const cpu_set_t *allowed, struct cores *out)
{
    out->fast_set = *allowed;
    if (choose_fast(root, "cpu_capacity", FAST_CAPACITY_MIN, allowed, out) &&
        !CPU_EQUAL(&out->fast_set, allowed))
        return;
    (void)choose_fast(root, "cpufreq/cpuinfo_max_freq", FAST_FREQUENCY_MIN, allowed, out);
}

/* ---- quotas of control groups ---------------------------------------------------------------- */

static double quota_v2(const char *folder)
{
    char text[64], *rest;
    if (!cgroup_read(folder, "cpu.max", text, sizeof text))
        return 0;
    double quota = strtod(text, &rest); /* "max 100000" or "200000 100000", in us */
    double period = strtod(rest, NULL);
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double quota_v1(const char *folder)
{
    double quota = read_number(folder, "/cpu.cfs_quota_us"); /* -1: none */
    double period = read_number(folder, "/cpu.cfs_period_us");
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* The smallest quota of a group and of the groups around it counts. */
static void narrow_quota(void *ctx, const char *folder, bool version_2)
{
    struct cores *out = ctx;
    double quota = version_2 ? quota_v2(folder) : quota_v1(folder);
    if (quota > 0 && (out->quota <= 0 || quota < out->quota))
        out->quota = quota;
}

/* ---- all ------------------------------------------------------------------------------------- */

void cores_read(const char *root, const cpu_set_t *allowed, struct cores *out)
{
    ASSERT(root != NULL && out != NULL);
    cpu_set_t own;
    *out = (struct cores){0};
    CPU_ZERO(&own);
    if (allowed == NULL && sched_getaffinity(0, sizeof own, &own) == 0)
        allowed = &own;
    if (allowed == NULL || CPU_COUNT(allowed) == 0) {
        CPU_SET(0, &own); /* more than 1024 processors: the mask does not fit */
        allowed = &own;
    }
    read_kinds(root, allowed, out);
    cgroup_walk(root, "cpu", narrow_quota, out);
    out->usable = (uint32_t)CPU_COUNT(allowed);
    out->fast = (uint32_t)CPU_COUNT(&out->fast_set);
}

uint32_t cores_thread_count(const struct cores *cores)
{
    if (cores->quota <= 0 || cores->quota >= cores->fast)
        return cores->fast;
    return cores->quota < 1 ? 1 : (uint32_t)cores->quota;
}
