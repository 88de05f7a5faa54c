/* What other programs, and other machines on the same host, take of the processors while this
 * program measures itself. Linux's counters since its start; two readings make a difference. */
#ifndef APP_MACHINE_LOAD_H
#define APP_MACHINE_LOAD_H

#include "tandem/types.h"

struct json;

struct machine_counters {
    uint64_t busy_ticks, stolen_ticks, total_ticks; /* of all processors together */
    uint32_t cpu_count;
    double own_ticks; /* this process's share of busy_ticks */
};

/* In processors: 0.5 is half of one. */
struct machine_load {
    bool known;
    double foreign_cpus; /* busy with other processes */
    double stolen_cpus;  /* taken by the hypervisor */
    bool disturbs;       /* enough to make a measurement of speed worthless */
};

/* The text of /proc/stat. False when it has no such lines. own_ticks stays. */
bool machine_counters_parse(struct td_str text, struct machine_counters *out);
/* Reads `stat_path` (NULL = /proc/stat) and what this process used. */
bool machine_counters_read(const char *stat_path, struct machine_counters *out);

/* known is false where too little time passed, or it went backwards. */
struct machine_load machine_load_between(const struct machine_counters *begin,
                                         const struct machine_counters *end);

/* **returns new** (json_free); null when it is not known. */
struct json *machine_load_to_json(const struct machine_load *load);

#endif
