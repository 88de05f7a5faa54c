/* One thread has the one connection, so a database that gives no answer holds up those who ask for
 * exchanges, and nobody else. Rejected: the pool that reads schemas, which would wait with it. */
#include "api/admin/ledger_desk.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/egress/egress_read.h"
#include "ledger/record/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTIONS_MAX 256 /* that wait */
/* How long a database may take for a statement. The commands of the terminal have longer. */
#define ANSWER_MS 3000
/* Of judged answers: enough for a curve, and a reply of some 100 KB. */
#define JUDGED_MAX 4000
/* How long a question may wait for the commit of the newest exchanges. */
#define FLUSH_MS 20

struct ledger_desk {
    struct background *thread;
    const char *path, *egress;
    struct ledger *ledger;
    struct ledger_reader *reader; /* the thread's; NULL = it could not be opened yet */
};

struct work {
    struct ledger_desk *desk;
    struct ledger_question question;
    struct ledger_answer answer;
    void (*done)(void *owner, struct ledger_answer *answer);
};

struct ledger_desk *ledger_desk_new(const char *path, struct ledger *ledger, const char *egress)
{
    struct ledger_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return NULL;
    desk->path = path;
    desk->ledger = ledger;
    desk->egress = egress;
    desk->thread = background_new(1, QUESTIONS_MAX);
    if (desk->thread)
        return desk;
    free(desk);
    return NULL;
}

void ledger_desk_free(struct ledger_desk *desk)
{
    if (!desk)
        return;
    background_free(desk->thread);
    ledger_reader_close(desk->reader);
    free(desk);
}

/* --- the thread --- */

static enum td_status open_reader(struct ledger_desk *desk, struct td_error *err)
{
    if (desk->reader)
        return TD_OK;
    enum td_status status = ledger_reader_open(desk->path, &desk->reader, err);
    if (status == TD_OK)
        ledger_reader_hurry(desk->reader, ANSWER_MS);
    return status;
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

/* Addresses of servers, and what tells a tenant how much others send. */
static const char *const hidden[] = {"seq", "host", "previous", "hash", NULL};

/* The newest answers of the device, in a ring. */
struct judged_ring {
    uint64_t count;
    struct judged {
        double confidence, right; /* NAN = nobody said anything of it */
        bool kept;
    } rows[JUDGED_MAX];
};

static enum td_status take_judged(void *ctx, const struct ledger_judged *row, struct td_error *err)
{
    struct judged_ring *ring = ctx;
    (void)err;
    if (row->confidence >= 0 && row->confidence <= 1)
        ring->rows[ring->count++ % JUDGED_MAX] =
            (struct judged){row->confidence, row->score, row->kept};
    return TD_OK;
}

static struct json *judged_json(const struct judged_ring *ring)
{
    struct json *list = json_new_array();
    for (uint64_t i = 1; i <= ring->count && i <= JUDGED_MAX; i++) {
        const struct judged *row = &ring->rows[(ring->count - i) % JUDGED_MAX];
        struct json *of = json_new_array();
        json_push(of, json_new_double(row->confidence));
        json_push(of, json_new_double(row->right));
        json_push(of, json_new_bool(row->kept));
        json_push(list, of);
    }
    return list;
}

static enum td_status read_calibration(struct ledger_reader *reader, uint64_t since_wall_ms,
                                       struct json **out, struct td_error *err)
{
    struct judged_ring *ring = calloc(1, sizeof *ring);
    struct json *versions = NULL;
    if (!ring)
        return error_set(err, TD_NO_MEMORY, "no memory to read the ledger");
    enum td_status status = ledger_reader_judged(reader, since_wall_ms, take_judged, ring, err);
    if (status == TD_OK)
        status = ledger_reader_models(reader, &versions, err);
    if (status == TD_OK) {
        *out = json_new_object();
        json_put(*out, "answers", judged_json(ring));
        json_put(*out, "versions", versions);
    }
    free(ring);
    return status;
}

static enum td_status read_answer(struct ledger_reader *reader,
                                  const struct ledger_question *question, struct json **out,
                                  struct td_error *err)
{
    const char *tenant = question->of_all ? NULL : question->tenant;
    const struct ledger_scope scope = {question->since_wall_ms, question->until_wall_ms, tenant,
                                       *question->key_id ? question->key_id : NULL};
    switch (question->what) {
    case LEDGER_ASKED_LIST:
        return ledger_reader_list(
            reader,
            &(struct ledger_wanted){.tenant = tenant,
                                    .tier = or_null(question->tier),
                                    .route = or_null(question->route),
                                    .data_class = or_null(question->data_class),
                                    .degraded = question->degraded,
                                    .since_wall_ms = question->since_wall_ms,
                                    .limit = question->limit},
            out, err);
    case LEDGER_ASKED_SHADOWS:
        return ledger_reader_shadows(reader, question->since_wall_ms, out, err);
    case LEDGER_ASKED_REPORT:
        return question->by == LEDGER_BY_COUNT
                   ? ledger_reader_report(reader, question->since_wall_ms, out, err)
                   : ledger_reader_groups(reader, &scope, (enum ledger_by)question->by, out, err);
    case LEDGER_ASKED_CALIBRATION:
        return read_calibration(reader, question->since_wall_ms, out, err);
    case LEDGER_ASKED_ONE:
        break;
    }
    return ledger_reader_find(reader, tenant, question->id, out, err);
}

static enum td_status look(struct work *work)
{
    struct ledger_answer *answer = &work->answer;
    enum td_status status = open_reader(work->desk, &answer->err);
    return status == TD_OK
               ? read_answer(work->desk->reader, &work->question, &answer->value, &answer->err)
               : status;
}

static void run(void *ctx)
{
    struct work *work = ctx;
    struct ledger_desk *desk = work->desk;
    struct ledger_answer *answer = &work->answer;
    bool last = work->question.what == LEDGER_ASKED_ONE && strcmp(work->question.id, "last") == 0;
    if (last && desk->ledger)
        (void)!ledger_flush(desk->ledger, FLUSH_MS, NULL); /* late: the one before is it */
    answer->status = look(work);
    /* A client that has just got its answer knows an id that waits for its commit. */
    if (answer->status == TD_NOT_FOUND && work->question.hurry && desk->ledger &&
        ledger_flush(desk->ledger, FLUSH_MS, NULL) == TD_OK) {
        answer->err = (struct td_error){0};
        answer->status = look(work);
    }
    if (answer->status == TD_OK && work->question.egress && desk->egress)
        egress_add(desk->egress, work->question.of_all ? NULL : hidden, answer->value);
}

static void work_free(void *ctx)
{
    struct work *work = ctx;
    json_free(work->answer.value);
    free(work);
}

/* --- the loop --- */

static void done(void *ctx, void *owner)
{
    struct work *work = ctx;
    work->done(owner, &work->answer);
}

enum td_status ledger_desk_ask(struct ledger_desk *desk, const struct ledger_question *question,
                               const struct ledger_asker *asker, struct background_task **out,
                               struct td_error *err)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return error_set(err, TD_NO_MEMORY, "no memory to read the ledger");
    work->desk = desk;
    work->question = *question;
    work->done = asker->done;
    const struct background_work background = {.run = run,
                                               .done = done,
                                               .free_ctx = work_free,
                                               .ctx = work,
                                               .owner = asker->owner,
                                               .loop = asker->loop};
    enum td_status status = background_submit(desk->thread, &background, out, err);
    if (status != TD_OK)
        work_free(work);
    return status;
}
