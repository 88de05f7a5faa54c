/* Checking reads each line as it will be read when it runs, so what passes can run. Finishing walks
 * through the input and the answers side by side: the output has the order of the input, and a line
 * without an answer is an error of its own. */
#include "api/files/batch_work.h"

#include "api/files/batch_lines.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json.h"

#include <stdlib.h>

#define FAULTS_MAX 20
#define ANSWERS_AT_ONCE 64

/* --- checking --- */

struct seen {
    uint64_t hash, line;
};

struct check {
    struct batch_work *work;
    struct json *faults;
    struct seen *seen; /* [BATCH_LINES_MAX] */
    uint64_t count;
};

static void add_fault(struct check *check, uint64_t line, const struct batch_line_fault *fault)
{
    if (json_count(check->faults) >= FAULTS_MAX)
        return;
    struct json *object = json_new_object();
    json_put(object, "code", json_new_cstr(fault->code));
    json_put(object, "message", json_new_cstr(fault->message));
    json_put(object, "param", json_new_cstr(fault->param));
    json_put(object, "line", line ? json_new_int((int64_t)line) : json_new_null());
    json_push(check->faults, object);
}

static int compare_seen(const void *a, const void *b)
{
    const struct seen *left = a, *right = b;
    if (left->hash != right->hash)
        return left->hash < right->hash ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void find_repeated(struct check *check)
{
    qsort(check->seen, check->count, sizeof *check->seen, compare_seen);
    for (uint64_t i = 1; i < check->count; i++) {
        struct batch_line_fault fault = {.code = "duplicate_custom_id", .param = "custom_id"};
        if (check->seen[i].hash != check->seen[i - 1].hash)
            continue;
        snprintf(fault.message, sizeof fault.message, "line %llu has the same custom_id",
                 (unsigned long long)check->seen[i - 1].line);
        add_fault(check, check->seen[i].line, &fault);
    }
}

static void check_line(struct check *check, struct batch_lines *lines)
{
    struct batch_line_fault fault;
    if (lines->line.failed) {
        fault = (struct batch_line_fault){.code = "line_too_long"};
        snprintf(fault.message, sizeof fault.message,
                 "this line is longer than server.body_bytes_max, %zu", lines->line.bytes_max);
        add_fault(check, lines->in_file, &fault);
        return;
    }
    struct json *line =
        batch_line_read(buf_view(&lines->line), check->work->batch.endpoint, &fault);
    if (!line) {
        add_fault(check, lines->in_file, &fault);
        return;
    }
    struct td_str id = json_text(json_get(line, "custom_id"));
    check->seen[check->count++] = (struct seen){
        hash_mix64(hash_fnv1a64(id.data, id.len, HASH_FNV1A64_BASIS)), lines->in_file};
    json_free(line);
}

static enum td_status check_lines(struct check *check)
{
    struct batch_work *work = check->work;
    struct batch_lines lines = {0};
    int fd = -1;
    enum td_status status = file_store_read(work->store, work->batch.input, &fd, &work->err);
    if (status == TD_NOT_FOUND) {
        const struct batch_line_fault fault = {.code = "input_lost",
                                               .message = "the input is not there any more"};
        add_fault(check, 0, &fault);
        return TD_OK;
    }
    if (status == TD_OK && !batch_lines_open(&lines, fd, work->line_bytes_max))
        status = TD_NO_MEMORY;
    if (status != TD_OK)
        return status;
    uint64_t count = 0;
    while (json_count(check->faults) < FAULTS_MAX && batch_lines_next(&lines)) {
        if (++count > BATCH_LINES_MAX) {
            struct batch_line_fault fault = {.code = "too_many_lines"};
            snprintf(fault.message, sizeof fault.message, "a batch has at most %d lines",
                     BATCH_LINES_MAX);
            add_fault(check, 0, &fault);
            break;
        }
        check_line(check, &lines);
    }
    bool unread = ferror(lines.file);
    batch_lines_close(&lines);
    if (unread)
        return error_set(&work->err, TD_IO, "a batch's input cannot be read");
    if (count == 0) {
        const struct batch_line_fault fault = {.code = "empty_file",
                                               .message = "the input has no lines"};
        add_fault(check, 0, &fault);
    }
    find_repeated(check);
    return TD_OK;
}

void batch_work_check(void *ctx)
{
    struct batch_work *work = ctx;
    struct check check = {.work = work,
                          .faults = json_new_array(),
                          .seen = calloc(BATCH_LINES_MAX, sizeof *check.seen)};
    struct buf faults;
    buf_init(&faults, BATCH_FAULTS_BYTES - 1);
    work->status = check.faults && check.seen ? check_lines(&check) : TD_NO_MEMORY;
    if (work->status == TD_OK && json_count(check.faults) > 0)
        json_write(check.faults, &faults);
    if (work->status == TD_OK && faults.failed)
        work->status = TD_NO_MEMORY;
    if (work->status == TD_OK)
        work->status = batch_store_checked(work->store, work->batch.id, check.count,
                                           faults.len ? faults.data : "", &work->err);
    buf_deinit(&faults);
    json_free(check.faults);
    free(check.seen);
}

/* --- finishing --- */

struct finish {
    struct batch_work *work;
    struct file_draft *drafts[2]; /* the output, the errors */
    uint64_t next;                /* line of the input, from 0 */
    uint64_t without;             /* lines that have no answer */
    struct batch_lines lines;
    bool lost; /* the input; what was answered is still given */
    enum td_status status;
};

static void write_line(struct finish *finish, bool ok, struct td_str text)
{
    struct file_draft *draft = finish->drafts[ok ? 0 : 1];
    if (finish->status == TD_OK)
        finish->status = file_draft_write(draft, text, &finish->work->err);
    if (finish->status == TD_OK)
        finish->status = file_draft_write(draft, STR("\n"), &finish->work->err);
}

/* A line that was not run any more. */
static void write_unanswered(struct finish *finish)
{
    struct batch_work *work = finish->work;
    struct batch_line_fault fault;
    bool cancelled = work->batch.state == BATCH_CANCELLING;
    struct json *line =
        batch_line_read(buf_view(&finish->lines.line), work->batch.endpoint, &fault);
    struct json *object = json_new_object(), *error = json_new_object();
    struct buf text;
    char id[64];
    snprintf(id, sizeof id, "batch_req_%.24s_%llu", work->batch.id + strlen("batch_"),
             (unsigned long long)finish->lines.number);
    json_put(object, "id", json_new_cstr(id));
    json_put(object, "custom_id", json_clone(json_get(line, "custom_id")));
    json_put(object, "response", json_new_null());
    json_put(error, "code", json_new_cstr(cancelled ? "batch_cancelled" : "batch_expired"));
    json_put(error, "message",
             json_new_cstr(cancelled ? "The batch was cancelled before this request was executed."
                                     : "This request could not be executed before the completion "
                                       "window expired."));
    json_put(object, "error", error);
    buf_init(&text, 8192);
    json_write(object, &text);
    if (text.failed && finish->status == TD_OK)
        finish->status = TD_NO_MEMORY;
    write_line(finish, false, buf_view(&text));
    buf_deinit(&text);
    json_free(object);
    json_free(line);
    finish->without++;
}

/* Up to the line before `number`. */
static void write_unanswered_before(struct finish *finish, uint64_t number)
{
    if (finish->lost && number > finish->next) {
        finish->without += number - finish->next;
        finish->next = number;
    }
    while (finish->status == TD_OK && finish->next < number) {
        if (!batch_lines_next(&finish->lines)) {
            finish->status =
                error_set(&finish->work->err, TD_CORRUPT, "a batch's input is not what it was");
            return;
        }
        finish->next++;
        write_unanswered(finish);
    }
}

/* One batch of answers; copied, because drafts take the store's lock. */
struct answers {
    struct {
        uint64_t number;
        bool ok;
        size_t begin, len;
    } items[ANSWERS_AT_ONCE];
    uint32_t count;
    struct buf texts;
};

static bool collect(void *ctx, uint64_t number, bool ok, struct td_str text)
{
    struct answers *answers = ctx;
    size_t begin = answers->texts.len;
    buf_append_str(&answers->texts, text);
    answers->items[answers->count].number = number;
    answers->items[answers->count].ok = ok;
    answers->items[answers->count].begin = begin;
    answers->items[answers->count++].len = text.len;
    return answers->texts.len < (1u << 20) && !answers->texts.failed;
}

static void write_answers(struct finish *finish, const struct answers *answers)
{
    for (uint32_t i = 0; i < answers->count && finish->status == TD_OK; i++) {
        write_unanswered_before(finish, answers->items[i].number);
        if (finish->status == TD_OK && !finish->lost && !batch_lines_next(&finish->lines))
            finish->status = TD_CORRUPT;
        finish->next++;
        write_line(finish, answers->items[i].ok,
                   str_slice(buf_view(&answers->texts), answers->items[i].begin,
                             answers->items[i].begin + answers->items[i].len));
    }
}

static void write_all(struct finish *finish)
{
    struct batch_work *work = finish->work;
    struct answers answers;
    do {
        answers.count = 0;
        buf_init(&answers.texts, SIZE_MAX / 2);
        finish->status = batch_store_answers(work->store, work->batch.id, finish->next,
                                             ANSWERS_AT_ONCE, collect, &answers, &work->err);
        if (finish->status == TD_OK && answers.texts.failed)
            finish->status = TD_NO_MEMORY;
        write_answers(finish, &answers);
        buf_deinit(&answers.texts);
    } while (finish->status == TD_OK && answers.count > 0);
    write_unanswered_before(finish, work->batch.total);
}

static enum batch_state end_of(const struct finish *finish)
{
    if (finish->work->batch.state == BATCH_CANCELLING)
        return BATCH_CANCELLED;
    return finish->without ? BATCH_EXPIRED : BATCH_COMPLETED;
}

void batch_work_finish(void *ctx)
{
    struct batch_work *work = ctx;
    struct finish finish = {.work = work, .status = TD_OK};
    int fd = -1;
    for (int i = 0; i < 2 && finish.status == TD_OK; i++)
        finish.status =
            file_draft_new(work->store, work->batch.owner, &finish.drafts[i], &work->err);
    if (finish.status == TD_OK)
        finish.status = file_store_read(work->store, work->batch.input, &fd, &work->err);
    finish.lost = finish.status == TD_NOT_FOUND;
    if (finish.lost)
        finish.status = TD_OK;
    if (finish.status == TD_OK && !finish.lost &&
        !batch_lines_open(&finish.lines, fd, work->line_bytes_max))
        finish.status = TD_NO_MEMORY;
    if (finish.status == TD_OK)
        write_all(&finish);
    if (!finish.lost)
        batch_lines_close(&finish.lines);
    if (finish.status == TD_OK) {
        work->status = batch_store_finish(work->store, &work->batch, end_of(&finish),
                                          work->batch.failed + finish.without, finish.drafts[0],
                                          finish.drafts[1], &work->err);
        return;
    }
    for (int i = 0; i < 2; i++)
        file_draft_drop(finish.drafts[i]);
    work->status = finish.status;
}
