/* A row's texts are asked for several times by one statement (json_valid, then json_extract), so
 * the last row that was unpacked is kept. */
#include "ledger/database/db_sqlite_texts.h"

#include "base/bytes/deflater.h"
#include "base/bytes/packed.h"
#include "ledger/record_words.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_1 1u
#define NO_SIGNALS 2u
#define NO_REASONS 4u
#define HEADER_BYTES 7
#define TEXT_BYTES_MAX (1u << 24) /* a record is at most 16 MiB */

struct texts {
    struct deflater *deflater;
    unsigned char *blob; /* [blob_len], of the row in `room`; NULL: none */
    size_t blob_len;
    char *room; /* signals, then reasons */
};

const char db_sqlite_texts_view[] =
    "CREATE TEMP VIEW exchange AS SELECT seq, id, wall_ms, \"user\", route, policy_version,"
    " requested_model, tier, model, place, data_class, status, finish, confidence, prompt_tokens,"
    " completion_tokens, ttft_ms, total_ms, cost_usd, all_cloud_cost_usd, degraded, streamed,"
    " disclosure,"
    " CASE WHEN packed IS NULL THEN signals ELSE unpacked(packed, 0) END AS signals,"
    " CASE WHEN packed IS NULL THEN reasons ELSE unpacked(packed, 1) END AS reasons,"
    " prompt, answer, standing, all_cloud_basis, trace_id, span_id, parent_span_id, request_id,"
    " tenant FROM main.exchange";

static void forget_row(struct texts *texts)
{
    free(texts->blob);
    free(texts->room);
    texts->blob = NULL;
    texts->room = NULL;
}

static void texts_free(void *ctx)
{
    struct texts *texts = ctx;
    forget_row(texts);
    deflater_free(texts->deflater);
    free(texts);
}

static struct td_str text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return (struct td_str){text ? text : "", text ? (size_t)sqlite3_value_bytes(value) : 0};
}

static void put_u24(unsigned char *out, size_t value)
{
    for (int i = 0; i < 3; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static size_t get_u24(const unsigned char *in)
{
    return (size_t)in[0] | (size_t)in[1] << 8 | (size_t)in[2] << 16;
}

static void pack(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    struct texts *texts = sqlite3_user_data(context);
    bool none[2] = {sqlite3_value_type(values[0]) == SQLITE_NULL,
                    sqlite3_value_type(values[1]) == SQLITE_NULL};
    struct td_str signals = text_of(values[0]), reasons = text_of(values[1]);
    if (none[0] && none[1])
        return; /* the result is NULL */
    if (signals.len >= TEXT_BYTES_MAX || reasons.len >= TEXT_BYTES_MAX) {
        sqlite3_result_error_toobig(context);
        return;
    }
    unsigned char *out = malloc(HEADER_BYTES + deflater_bound(signals.len + reasons.len));
    size_t len = out ? deflater_pack(texts->deflater, signals, reasons, out + HEADER_BYTES) : 0;
    if (len == 0) {
        free(out);
        sqlite3_result_error_nomem(context);
        return;
    }
    out[0] = (unsigned char)(WORDS_1 | (none[0] ? NO_SIGNALS : 0) | (none[1] ? NO_REASONS : 0));
    put_u24(out + 1, signals.len);
    put_u24(out + 4, reasons.len);
    sqlite3_result_blob64(context, out, HEADER_BYTES + len, free);
}

/* Has the row's texts in the room. False: it is damaged, or there is no memory. */
static bool open_row(struct texts *texts, const unsigned char *blob, size_t len)
{
    if (texts->blob && texts->blob_len == len && memcmp(texts->blob, blob, len) == 0)
        return true;
    forget_row(texts);
    if (len < HEADER_BYTES || (blob[0] & ~(NO_SIGNALS | NO_REASONS)) != WORDS_1)
        return false;
    size_t room = get_u24(blob + 1) + get_u24(blob + 4);
    texts->room = malloc(room + 1);
    texts->blob = malloc(len);
    struct td_str packed = {(const char *)blob + HEADER_BYTES, len - HEADER_BYTES};
    if (texts->room && texts->blob && deflater_unpack(texts->deflater, packed, texts->room, room)) {
        memcpy(texts->blob, blob, len);
        texts->blob_len = len;
        return true;
    }
    forget_row(texts);
    return false;
}

static void unpack(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    struct texts *texts = sqlite3_user_data(context);
    const unsigned char *blob = sqlite3_value_blob(values[0]);
    bool reasons = sqlite3_value_int(values[1]) != 0;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    if (!blob || !open_row(texts, blob, (size_t)sqlite3_value_bytes(values[0]))) {
        sqlite3_result_error(context, "packed signals of a row are damaged", -1);
        sqlite3_result_error_code(context, SQLITE_CORRUPT);
        return;
    }
    size_t before = get_u24(blob + 1);
    if (!(blob[0] & (reasons ? NO_REASONS : NO_SIGNALS)))
        sqlite3_result_text64(context, texts->room + (reasons ? before : 0),
                              reasons ? get_u24(blob + 4) : before, SQLITE_TRANSIENT, SQLITE_UTF8);
}

bool db_sqlite_texts_add(struct sqlite3 *handle)
{
    struct texts *texts = calloc(1, sizeof *texts);
    const char *words = packed_open(&record_words);
    if (texts)
        texts->deflater = deflater_new((struct td_str){words, strlen(words)});
    if (!texts || !texts->deflater) {
        free(texts);
        return false;
    }
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int packs =
        sqlite3_create_function_v2(handle, "packed", 2, flags, texts, pack, NULL, NULL, NULL);
    /* This one owns the texts, also when it fails. */
    int unpacks = sqlite3_create_function_v2(handle, "unpacked", 2, flags, texts, unpack, NULL,
                                             NULL, texts_free);
    return packs == SQLITE_OK && unpacks == SQLITE_OK;
}
