/* Jobs: what a tier elsewhere asks of texts that it may not see, in a form without code, and the
 * words in which it is told how. The strict reader of what it says. Pure.
 *
 *   {"jobs": [{"task": "what to find", "words": ["as", "they", "may", "stand"], "chunks": [1, 4]}]}
 *
 * `words` or `task` must be there. `chunks` are the first and the last where to look; without them
 * everything is read. */
#ifndef EXCHANGE_DOCUMENT_JOBS_H
#define EXCHANGE_DOCUMENT_JOBS_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

#define DOCUMENT_JOBS_MAX 16  /* a round */
#define DOCUMENT_WORDS_MAX 12 /* a job */
#define DOCUMENT_WORD_BYTES_MAX 64
#define DOCUMENT_TASK_BYTES_MAX 400
#define DOCUMENT_SAID_BYTES_MAX (64 * 1024)
#define DOCUMENT_ROUNDS_MAX 5

struct document_job {
    struct td_str task; /* may be empty */
    struct td_str words[DOCUMENT_WORDS_MAX];
    size_t word_count;
    uint32_t chunk_from, chunk_to; /* from 1 */
};

struct document_plan {
    struct json *tree; /* what the jobs borrow from */
    struct document_job jobs[DOCUMENT_JOBS_MAX];
    size_t job_count;
};

enum document_said {
    DOCUMENT_SAID_ANSWER, /* text for the user */
    DOCUMENT_SAID_JOBS,
    DOCUMENT_SAID_WRONG /* jobs in a form that nobody can read; the error says why */
};

/* *out is valid for DOCUMENT_SAID_JOBS, and then released by document_plan_deinit. */
enum document_said document_plan_read(struct td_str said, uint32_t chunk_count,
                                      struct document_plan *out, struct td_error *err);
void document_plan_deinit(struct document_plan *plan);

/* What the tier is told first. */
void document_jobs_write_task(uint32_t rounds, struct buf *out);

#endif
