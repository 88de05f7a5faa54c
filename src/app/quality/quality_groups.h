/* By what an evaluation's prompts are grouped: the tasks that lines name, and clusters of similar
 * questions (quant/measure/clusters.h). A prompt may be in one of each. Groups of fewer than
 * CLUSTERS_SIZE_MIN prompts are none. */
#ifndef APP_QUALITY_GROUPS_H
#define APP_QUALITY_GROUPS_H

#include "app/quality/quality.h"
#include "quant/measure/clusters.h"

#define QUALITY_TASKS_MAX (QUALITY_GROUPS_MAX - CLUSTERS_MAX)

struct quality_groups {
    struct clusters clusters;
    uint8_t *task_of;                       /* [case_count] CLUSTERS_NONE = none */
    struct td_str tasks[QUALITY_TASKS_MAX]; /* borrowed from the lines */
    size_t sizes[QUALITY_TASKS_MAX];
    size_t task_count;
};

/* quality_groups_deinit also after a failure. Of more tasks than QUALITY_TASKS_MAX the largest. */
TD_MUST_CHECK enum td_status quality_groups_find(struct quality_groups *groups,
                                                 const struct quality_cases *cases,
                                                 const struct similarity *similarity,
                                                 struct td_error *err);
/* Tasks, then clusters, the largest first. Returns how many. */
size_t quality_groups_list(const struct quality_groups *groups,
                           struct quality_group out[static QUALITY_GROUPS_MAX]);
/* Whether a group of that list has the case. */
bool quality_groups_has(const struct quality_groups *groups, size_t group, size_t item);
void quality_groups_deinit(struct quality_groups *groups);

#endif
