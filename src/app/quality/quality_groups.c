#include "app/quality/quality_groups.h"

#include "base/core/error.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

/* A name that lines give, while tasks are counted. */
struct task {
    struct td_str name;
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    const struct task *left = a, *right = b;
    size_t common = left->name.len < right->name.len ? left->name.len : right->name.len;
    int order = common ? memcmp(left->name.data, right->name.data, common) : 0;
    return order ? order : (left->name.len > right->name.len) - (left->name.len < right->name.len);
}

static int by_size(const void *a, const void *b)
{
    const struct task *left = a, *right = b;
    return left->count == right->count ? by_name(a, b) : left->count < right->count ? 1 : -1;
}

/* The tasks of all cases, each once, the largest first. Returns how many. */
static size_t count_tasks(const struct quality_cases *cases, struct task *tasks)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < cases->count; i++)
        if (cases->items[i].task.len)
            tasks[count++] = (struct task){cases->items[i].task, 1};
    qsort(tasks, count, sizeof *tasks, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && str_equal(tasks[kept - 1].name, tasks[i].name))
            tasks[kept - 1].count++;
        else
            tasks[kept++] = tasks[i];
    }
    qsort(tasks, kept, sizeof *tasks, by_size);
    return kept;
}

static enum td_status find_tasks(struct quality_groups *groups, const struct quality_cases *cases,
                                 struct td_error *err)
{
    struct task *tasks = calloc(cases->count + 1, sizeof *tasks);
    groups->task_of = malloc(cases->count + 1);
    if (!tasks || !groups->task_of) {
        free(tasks);
        return error_set(err, TD_NO_MEMORY, "no memory for %zu prompts", cases->count);
    }
    size_t count = count_tasks(cases, tasks);
    for (size_t t = 0; t < count && t < QUALITY_TASKS_MAX; t++) {
        if (tasks[t].count < CLUSTERS_SIZE_MIN)
            break;
        groups->tasks[t] = tasks[t].name;
        groups->sizes[t] = tasks[t].count;
        groups->task_count++;
    }
    for (size_t i = 0; i < cases->count; i++) {
        groups->task_of[i] = CLUSTERS_NONE;
        for (size_t t = 0; t < groups->task_count; t++)
            if (str_equal(cases->items[i].task, groups->tasks[t]))
                groups->task_of[i] = (uint8_t)t;
    }
    free(tasks);
    return TD_OK;
}

enum td_status quality_groups_find(struct quality_groups *groups, const struct quality_cases *cases,
                                   const struct similarity *similarity, struct td_error *err)
{
    struct td_str *questions = calloc(cases->count + 1, sizeof *questions);
    enum td_status status =
        questions ? find_tasks(groups, cases, err)
                  : error_set(err, TD_NO_MEMORY, "no memory for %zu prompts", cases->count);
    for (size_t i = 0; status == TD_OK && i < cases->count; i++)
        questions[i] = cases->items[i].question;
    if (status == TD_OK)
        status = clusters_find(similarity, questions, cases->count, &groups->clusters, err);
    free(questions);
    return status;
}

size_t quality_groups_list(const struct quality_groups *groups,
                           struct quality_group out[static QUALITY_GROUPS_MAX])
{
    const struct clusters *clusters = &groups->clusters;
    size_t count = 0;
    for (size_t t = 0; t < groups->task_count; t++) {
        struct quality_group *group = &out[count++];
        *group = (struct quality_group){.is_task = true, .count = groups->sizes[t]};
        snprintf(group->name, sizeof group->name, STR_FMT, STR_ARG(groups->tasks[t]));
    }
    for (size_t c = 0; c < clusters->count; c++) {
        struct quality_group *group = &out[count++];
        *group = (struct quality_group){.count = clusters->sizes[c]};
        snprintf(group->name, sizeof group->name, "%zu%s%s", c + 1, *clusters->names[c] ? " " : "",
                 clusters->names[c]);
    }
    return count;
}

bool quality_groups_has(const struct quality_groups *groups, size_t group, size_t item)
{
    return group < groups->task_count ? groups->task_of[item] == group
                                      : groups->clusters.of[item] == group - groups->task_count;
}

void quality_groups_deinit(struct quality_groups *groups)
{
    clusters_deinit(&groups->clusters);
    free(groups->task_of);
    *groups = (struct quality_groups){0};
}
