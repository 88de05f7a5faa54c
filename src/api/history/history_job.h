/* What is to be written of history.h to the database that nodes share, with copies of all that it
 * names. One owner. */
#ifndef API_HISTORY_JOB_H
#define API_HISTORY_JOB_H

#include "api/history/history.h"

#define HISTORY_MARK_BYTES 17

enum history_job_kind { JOB_PUT, JOB_FINISH, JOB_APPEND };

struct history_job {
    struct history_job *next;
    enum history_job_kind kind;
    uint64_t number;
    size_t bytes;
    char mark[HISTORY_MARK_BYTES];
    struct history_record record; /* what it points to is the job's */
    struct history_text *lists[HISTORY_LISTS_OF_RESPONSE];
};

/* **returns new** (history_job_free); NULL without memory. */
struct history_job *history_job_new(enum history_job_kind kind, const struct history_record *from);
void history_job_free(struct history_job *job);
void history_jobs_free(struct history_job *first); /* and all that follow */
/* Tells the log that it will not be written. */
void history_job_say_dropped(const struct history_job *job, const char *reason);

#endif
