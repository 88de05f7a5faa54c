/* Forgetting a user: names, texts and comments go, from the disk as well; totals stay. */
#include "ledger/record/forget.h"

#include "base/bytes/buf.h"
#include "ledger_fixture.h"

#include <sqlite3.h>

static void put(struct ledger *ledger, const char *id, const char *user, const char *text)
{
    struct ledger_exchange exchange = fixture_exchange(id, 1000);
    exchange.user = user;
    exchange.prompt_text = text;
    exchange.answer_text = text;
    exchange.reasons_json = "[{\"code\":\"x\",\"text\":\"about reason-canary\"}]";
    CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
}

/* Whether a reader sees the text in a row: signals and reasons are packed on the disk. */
static bool in_rows(const char *path, const char *text)
{
    struct ledger_reader *reader = NULL;
    struct json *list = NULL, *record = NULL;
    bool found = false;
    if (ledger_reader_open(path, &reader, NULL) != TD_OK)
        return false;
    CHECK(ledger_reader_list(reader, &(struct ledger_wanted){.limit = 100}, &list, NULL) == TD_OK);
    for (size_t i = 0; i < json_count(list); i++) {
        struct buf text_of;
        buf_init(&text_of, 1u << 20);
        CHECK(ledger_reader_find(reader, NULL, json_cstr(json_get(json_at(list, i), "id")), &record,
                                 NULL) == TD_OK);
        json_write(record, &text_of);
        found = found || memmem(text_of.data, text_of.len, text, strlen(text)) != NULL;
        buf_deinit(&text_of);
        json_free(record);
    }
    json_free(list);
    ledger_reader_close(reader);
    return found;
}

/* Whether the file of the ledger or its log has the bytes. */
static bool has_bytes(const char *path, const void *bytes, size_t len)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    bool found = false;
    for (size_t i = 0; i < 3; i++) {
        char name[256];
        struct buf content;
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        buf_init(&content, 1u << 26);
        if (buf_read_file(&content, name, NULL) == TD_OK && content.len > 0)
            found = found || memmem(content.data, content.len, bytes, len) != NULL;
        buf_deinit(&content);
    }
    return found;
}

static bool on_disk(const char *path, const char *bytes)
{
    return has_bytes(path, bytes, strlen(bytes));
}

/* The packed texts of a row; their length. */
static size_t read_packed(const char *path, const char *id, unsigned char *out, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    size_t len = 0;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK &&
          sqlite3_prepare_v2(db, "SELECT packed FROM exchange WHERE id = ?", -1, &row, NULL) ==
              SQLITE_OK);
    sqlite3_bind_text(row, 1, id, -1, SQLITE_STATIC);
    if (sqlite3_step(row) == SQLITE_ROW && (size_t)sqlite3_column_bytes(row, 0) <= size) {
        len = (size_t)sqlite3_column_bytes(row, 0);
        memcpy(out, sqlite3_column_blob(row, 0), len);
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return len;
}

static void test_a_users_texts_are_gone_from_file_and_log_beside_the_writer(void)
{
    const char *path = fixture_path("forget.db");
    struct ledger *ledger = NULL;
    struct ledger_forgotten gone;
    char large[20000]; /* over several pages of the database */
    memset(large, 'z', sizeof large);
    memcpy(large + 15000, "ann-canary", 10);
    large[sizeof large - 1] = '\0';
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "ex_1", "ann", "ann-canary one");
    put(ledger, "ex_2", "bob", "bob-canary");
    put(ledger, "ex_3", "ann", large);
    REQUIRE(ledger_flush(ledger, 5000, NULL) == TD_OK);
    const struct ledger_feedback feedback = {
        .exchange = "ex_1", .wall_ms = 2000, .score = 1, .comment = "comment-canary"};
    CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
    REQUIRE(ledger_flush(ledger, 5000, NULL) == TD_OK);
    CHECK(on_disk(path, "ann-canary") && on_disk(path, "comment-canary"));
    REQUIRE(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_OK);
    CHECK(gone.exchanges == 2 && gone.texts == 2 && gone.comments == 1);
    CHECK(!on_disk(path, "ann-canary") && !on_disk(path, "comment-canary"));
    CHECK(on_disk(path, "bob-canary"));
    put(ledger, "ex_4", "ann", "ann again"); /* the writer goes on */
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK && fixture_count(path) == 4);
    ledger_close(ledger);
    CHECK(!on_disk(path, "ann-canary"));
}

static void test_what_is_kept_names_nobody(void)
{
    const char *path = fixture_path("forget.db");
    struct ledger_reader *reader = NULL;
    struct json *record = NULL;
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_find(reader, NULL, "ex_1", &record, NULL) == TD_OK);
    CHECK(json_kind_of(json_get(record, "user")) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_get(record, "reasons")) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_get(record, "prompt")) <= JSON_KIND_NULL);
    CHECK(json_number(json_get(record, "cost_usd"), 0) > 0); /* totals stay true */
    json_free(record);
    ledger_reader_close(reader);
}

static void test_a_user_is_forgotten_in_one_tenant_or_in_all(void)
{
    const char *path = fixture_path("tenants.db");
    static const char *const tenants[] = {"a", "b", NULL};
    struct ledger *ledger = NULL;
    struct ledger_forgotten gone;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%d", i);
        struct ledger_exchange exchange = fixture_exchange(id, 1000);
        exchange.user = "ann";
        exchange.tenant = tenants[i];
        CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    }
    ledger_close(ledger);
    CHECK(ledger_forget(path, "c", "ann", &gone, NULL) == TD_OK && gone.exchanges == 0);
    CHECK(ledger_forget(path, "a", "ann", &gone, NULL) == TD_OK && gone.exchanges == 1);
    CHECK(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_OK && gone.exchanges == 2);
}

/* Forgetting one takes nothing of another: another user, or one of that name elsewhere. */
static void test_nothing_of_others_goes_with_a_user(void)
{
    static const struct {
        const char *user, *tenant;
    } people[] = {{"ann", "a"}, {"ann", "b"}, {"ann", NULL},
                  {"bob", "a"}, {NULL, "a"},  {"an", "a"}};
    enum { COUNT = sizeof people / sizeof *people };
    const char *path = fixture_path("others.db");
    struct ledger *ledger = NULL;
    struct ledger_forgotten gone;
    char id[16], canary[3][32];
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(id, sizeof id, "ex_%zu", i);
        snprintf(canary[0], sizeof *canary, "prompt-%zu", i);
        snprintf(canary[1], sizeof *canary, "signals-%zu", i);
        snprintf(canary[2], sizeof *canary, "comment-%zu", i);
        struct ledger_exchange exchange = fixture_exchange(id, 1000);
        exchange.user = people[i].user;
        exchange.tenant = people[i].tenant;
        exchange.prompt_text = canary[0];
        exchange.signals_json = canary[1];
        CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
        const struct ledger_feedback feedback = {id, 2000, 1, canary[2]};
        CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
    }
    ledger_close(ledger);
    REQUIRE(ledger_forget(path, "a", "ann", &gone, NULL) == TD_OK);
    CHECK(gone.exchanges == 1 && gone.texts == 1 && gone.comments == 1);
    for (size_t i = 0; i < COUNT; i++) {
        static const char *const kinds[] = {"prompt", "signals", "comment"};
        for (size_t k = 0; k < 3; k++) {
            snprintf(canary[k], sizeof *canary, "%s-%zu", kinds[k], i);
            CHECK((on_disk(path, canary[k]) || in_rows(path, canary[k])) == (i != 0));
        }
    }
    REQUIRE(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_OK);
    CHECK(gone.exchanges == 2 && gone.texts == 2 && gone.comments == 2);
    CHECK(on_disk(path, "comment-3") && on_disk(path, "prompt-4") && in_rows(path, "signals-5"));
}

/* What is no ledger of ours is neither erased nor called done. */
static void test_a_foreign_file_is_not_touched_by_forgetting(void)
{
    const char *path = fixture_path("foreign.db");
    struct ledger_forgotten gone = {1, 1, 1};
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("ann wrote this herself", file);
    fclose(file);
    CHECK(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_CORRUPT);
    CHECK(gone.exchanges == 0 && gone.texts == 0 && gone.comments == 0);
    CHECK(on_disk(path, "ann wrote this herself"));
}

static void test_nobody_and_nowhere(void)
{
    struct ledger_forgotten gone;
    CHECK(ledger_forget(fixture_path("forget.db"), NULL, "", &gone, NULL) == TD_INVALID);
    CHECK(ledger_forget(fixture_path("forget.db"), NULL, "eve", &gone, NULL) == TD_OK &&
          gone.exchanges == 0);
    CHECK(ledger_forget(fixture_path("none.db"), NULL, "eve", &gone, NULL) == TD_NOT_FOUND);
}

/* Each member that may name or quote somebody, alone in its row. */
static void test_whatever_names_or_quotes_a_user_goes_alone_too(void)
{
#define MEMBER(name)                                  \
    {                                                 \
#name, offsetof(struct ledger_exchange, name) \
    }
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {MEMBER(prompt_text),    MEMBER(answer_text),  MEMBER(disclosure),
                   MEMBER(signals_json),   MEMBER(reasons_json), MEMBER(trace_id),
                   MEMBER(parent_span_id), MEMBER(request_id),   MEMBER(user)};
#undef MEMBER
    enum { COUNT = sizeof members / sizeof *members };
    const char *path = fixture_path("members.db");
    struct ledger *ledger = NULL;
    struct ledger_forgotten gone;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (size_t i = 0; i < COUNT; i++) {
        char id[16], canary[32];
        snprintf(id, sizeof id, "ex_%zu", i);
        snprintf(canary, sizeof canary, "canary-%zu", i);
        struct ledger_exchange exchange = fixture_exchange(id, 1000);
        exchange.user = "canary-8";
        *(const char **)(void *)((char *)&exchange + members[i].offset) = canary;
        CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    }
    ledger_close(ledger);
    CHECK(in_rows(path, "canary-3") && in_rows(path, "canary-4"));
    unsigned char packed[256];
    size_t packed_len = read_packed(path, "ex_3", packed, sizeof packed);
    CHECK(packed_len > 8 && has_bytes(path, packed, packed_len));
    REQUIRE(ledger_forget(path, NULL, "canary-8", &gone, NULL) == TD_OK);
    CHECK(!has_bytes(path, packed, packed_len));
    CHECK(gone.exchanges == COUNT && gone.texts == 2 && gone.comments == 0);
    for (size_t i = 0; i < COUNT; i++) {
        char canary[32];
        snprintf(canary, sizeof canary, "canary-%zu", i);
        if (on_disk(path, canary) || in_rows(path, canary))
            printf("%s is left\n", members[i].name);
        CHECK(!on_disk(path, canary) && !in_rows(path, canary));
    }
}

/* A reader in the middle of its work keeps the old pages in the log: then nobody may be told that
 * the bytes are gone. */
static void test_bytes_that_a_reader_holds_are_not_called_gone(void)
{
    const char *path = fixture_path("held.db");
    struct ledger *ledger = NULL;
    struct ledger_forgotten gone;
    struct td_error err = {0};
    sqlite3 *reader = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "ex_1", "ann", "ann-canary");
    REQUIRE(ledger_flush(ledger, 5000, NULL) == TD_OK);
    REQUIRE(sqlite3_open(path, &reader) == SQLITE_OK);
    CHECK(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM exchange", NULL, NULL, NULL) ==
          SQLITE_OK);
    CHECK(ledger_forget(path, NULL, "ann", &gone, &err) == TD_BUSY && strstr(err.message, "again"));
    CHECK(gone.exchanges == 1 && on_disk(path, "ann-canary"));
    CHECK(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_BUSY);
    sqlite3_close(reader);
    CHECK(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_OK && gone.exchanges == 0);
    CHECK(!on_disk(path, "ann-canary"));
    ledger_close(ledger);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_users_texts_are_gone_from_file_and_log_beside_the_writer);
    RUN(test_what_is_kept_names_nobody);
    RUN(test_a_user_is_forgotten_in_one_tenant_or_in_all);
    RUN(test_whatever_names_or_quotes_a_user_goes_alone_too);
    RUN(test_nothing_of_others_goes_with_a_user);
    RUN(test_a_foreign_file_is_not_touched_by_forgetting);
    RUN(test_bytes_that_a_reader_holds_are_not_called_gone);
    RUN(test_nobody_and_nowhere);
    fixture_end();
    return test_finish();
}
