/* /proc/stat (proc(5)), in ticks since the start:
 *
 *     cpu  user nice system idle iowait irq softirq steal guest guest_nice
 *     cpu0 ...
 *
 * guest is part of user. The load average is of no use here: it is a mean over a minute and counts
 * the threads of the measurement itself. */
#include "app/cli/machine_load.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <sys/resource.h>
#include <unistd.h>

#define STAT_BYTES_MAX (4u << 20) /* a line a processor and one of all interrupts */
/* Threads that work on a row together wait for the slowest: a tenth of one processor shows in every
 * figure, background of a machine at rest is below a fiftieth. */
#define FOREIGN_CPUS_MAX 0.1
#define STOLEN_CPUS_MAX 0.05
/* A tenth of a second: below it, the counters' own steps are what would be seen. */
#define ELAPSED_TICKS_MIN 10

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

/* "cpu" alone is the sum of all. */
static bool read_sum(struct td_str line, struct machine_counters *out)
{
    uint64_t ticks[FIELDS] = {0};
    struct td_str word;
    size_t count = 0;
    while (count < FIELDS && str_next(&line, ' ', &word)) {
        if (word.len == 0)
            continue;
        if (!str_to_u64(word, &ticks[count]) || ticks[count] > UINT64_MAX / FIELDS)
            return false;
        count++;
    }
    out->stolen_ticks = ticks[STEAL];
    out->busy_ticks = ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ];
    out->total_ticks = out->busy_ticks + ticks[IDLE] + ticks[IOWAIT] + ticks[STEAL];
    return count > IDLE; /* old kernels end earlier */
}

bool machine_counters_parse(struct td_str text, struct machine_counters *out)
{
    struct td_str line;
    bool found = false;
    out->cpu_count = 0;
    while (str_next(&text, '\n', &line)) {
        if (str_starts_with(line, STR("cpu ")))
            found = read_sum(str_slice(line, 4, line.len), out);
        else if (str_starts_with(line, STR("cpu")))
            out->cpu_count++;
    }
    return found && out->cpu_count > 0;
}

static double ticks_of(struct timeval time, double ticks_per_s)
{
    return ((double)time.tv_sec + (double)time.tv_usec / 1e6) * ticks_per_s;
}

bool machine_counters_read(const char *stat_path, struct machine_counters *out)
{
    struct buf text;
    struct rusage own;
    double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    *out = (struct machine_counters){0};
    buf_init(&text, STAT_BYTES_MAX);
    bool good = buf_read_file(&text, stat_path ? stat_path : "/proc/stat", NULL) == TD_OK &&
                machine_counters_parse(buf_view(&text), out) && ticks_per_s > 0 &&
                getrusage(RUSAGE_SELF, &own) == 0;
    if (good)
        out->own_ticks = ticks_of(own.ru_utime, ticks_per_s) + ticks_of(own.ru_stime, ticks_per_s);
    buf_deinit(&text);
    return good;
}

struct machine_load machine_load_between(const struct machine_counters *begin,
                                         const struct machine_counters *end)
{
    struct machine_load load = {0};
    if (begin->cpu_count == 0 || end->cpu_count != begin->cpu_count ||
        end->total_ticks <= begin->total_ticks || end->busy_ticks < begin->busy_ticks ||
        end->stolen_ticks < begin->stolen_ticks)
        return load;
    double elapsed = (double)(end->total_ticks - begin->total_ticks) / end->cpu_count;
    double foreign =
        (double)(end->busy_ticks - begin->busy_ticks) - (end->own_ticks - begin->own_ticks);
    if (elapsed < ELAPSED_TICKS_MIN)
        return load;
    load.known = true;
    load.foreign_cpus = foreign > 0 ? foreign / elapsed : 0;
    load.stolen_cpus = (double)(end->stolen_ticks - begin->stolen_ticks) / elapsed;
    load.disturbs = load.foreign_cpus > FOREIGN_CPUS_MAX || load.stolen_cpus > STOLEN_CPUS_MAX;
    return load;
}

struct json *machine_load_to_json(const struct machine_load *load)
{
    if (!load->known)
        return json_new_null();
    struct json *object = json_new_object();
    json_put(object, "foreign_cpus", json_new_double(load->foreign_cpus));
    json_put(object, "stolen_cpus", json_new_double(load->stolen_cpus));
    json_put(object, "disturbs", json_new_bool(load->disturbs));
    return object;
}
