/* Every reading of a ledger, each of which writes down all that it was given. */
#ifndef TESTS_LEDGER_READINGS_H
#define TESTS_LEDGER_READINGS_H

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "ledger_fixture.h"

static enum td_status keep(struct buf *into, enum td_status status, struct json *got)
{
    CHECK((status == TD_OK) == (got != NULL));
    if (got)
        json_write(got, into);
    json_free(got);
    return status;
}

static enum td_status read_report(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_report(reader, 0, &got, err);
    return keep(into, status, got);
}

static enum td_status read_shadows(struct ledger_reader *reader, struct buf *into,
                                   struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_shadows(reader, 0, &got, err);
    return keep(into, status, got);
}

static enum td_status read_policies(struct ledger_reader *reader, struct buf *into,
                                    struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_policies(reader, &got, err);
    return keep(into, status, got);
}

static enum td_status read_models(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_models(reader, &got, err);
    return keep(into, status, got);
}

static enum td_status read_skew(struct ledger_reader *reader, struct buf *into,
                                struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_skew(reader, 0, &got, err);
    return keep(into, status, got);
}

static enum td_status read_groups(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err)
{
    enum td_status status = TD_OK;
    for (int by = 0; status == TD_OK && by < LEDGER_BY_COUNT; by++) {
        struct json *got = NULL;
        status = ledger_reader_groups(reader, &(struct ledger_scope){.since_wall_ms = 1},
                                      (enum ledger_by)by, &got, err);
        json_put(got, "slot_ms", json_new_null()); /* by the clock */
        status = keep(into, status, got);
    }
    return status;
}

static enum td_status add_each(void *into, const struct json *exchange, struct td_error *err)
{
    (void)err;
    json_write(exchange, into);
    return TD_OK;
}

static enum td_status read_each(struct ledger_reader *reader, struct buf *into,
                                struct td_error *err)
{
    return ledger_reader_each(reader, 0, add_each, into, err);
}

static enum td_status read_list(struct ledger_reader *reader, struct buf *into,
                                struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status =
        ledger_reader_list(reader, &(struct ledger_wanted){.limit = 10}, &got, err);
    return keep(into, status, got);
}

static enum td_status read_one(struct ledger_reader *reader, struct buf *into, struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_find(reader, NULL, "ex_1", &got, err);
    return keep(into, status, got);
}

static enum td_status read_named(struct ledger_reader *reader, struct buf *into,
                                 struct td_error *err)
{
    struct json *got = NULL;
    enum td_status status = ledger_reader_find(reader, NULL, "name", &got, err);
    return keep(into, status, got);
}

static enum td_status add_judged(void *into, const struct ledger_judged *judged,
                                 struct td_error *err)
{
    (void)err;
    buf_printf(into, STR_FMT " %g %g %d;", STR_ARG(judged->id), judged->confidence, judged->score,
               judged->kept);
    return TD_OK;
}

static enum td_status read_judged(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err)
{
    return ledger_reader_judged(reader, 0, add_judged, into, err);
}

static void add_outcome(void *into, const char *signals, double right)
{
    buf_printf(into, "%s %g;", signals, right);
}

static enum td_status read_outcomes(struct ledger_reader *reader, struct buf *into,
                                    struct td_error *err)
{
    return ledger_reader_outcomes(reader, 0, add_outcome, into, err);
}

static enum td_status add_lesson(void *into, const struct ledger_lesson *lesson,
                                 struct td_error *err)
{
    (void)err;
    buf_printf(into, "%s %g %g;", lesson->model, lesson->score, lesson->same);
    return TD_OK;
}

static enum td_status read_lessons(struct ledger_reader *reader, struct buf *into,
                                   struct td_error *err)
{
    return ledger_reader_lessons(reader, 0, add_lesson, into, err);
}

static enum td_status add_history(void *into, const struct ledger_history *row,
                                  struct td_error *err)
{
    (void)err;
    buf_printf(into, "%s %zu %g %g;", row->id, row->attempt_count, row->score, row->same);
    return TD_OK;
}

static enum td_status read_history(struct ledger_reader *reader, struct buf *into,
                                   struct td_error *err)
{
    return ledger_reader_history(reader, 0, add_history, into, err);
}

static void add_spent(void *into, const struct ledger_spent *spent)
{
    buf_printf(into, "%g %g %d;", spent->cost_usd, spent->shadow_usd, (int)spent->tokens);
}

static enum td_status read_spent(struct ledger_reader *reader, struct buf *into,
                                 struct td_error *err)
{
    return ledger_reader_spent(reader, 0, add_spent, into, err);
}

static void add_tokens(void *into, const struct ledger_tokens *tokens)
{
    buf_printf(into, "%s %g %g;", tokens->tier, tokens->count, tokens->prompt_tokens);
}

static enum td_status read_tokens(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err)
{
    return ledger_reader_tokens(reader, add_tokens, into, err);
}

typedef enum td_status reading_fn(struct ledger_reader *reader, struct buf *into,
                                  struct td_error *err);
static const struct {
    const char *name;
    reading_fn *read;
} readings[] = {
    {"report", read_report},   {"shadows", read_shadows},   {"policies", read_policies},
    {"list", read_list},       {"one", read_one},           {"named", read_named},
    {"judged", read_judged},   {"outcomes", read_outcomes}, {"lessons", read_lessons},
    {"history", read_history}, {"spent", read_spent},       {"tokens", read_tokens},
    {"models", read_models},   {"skew", read_skew},         {"groups", read_groups},
    {"each", read_each},
};

#endif
