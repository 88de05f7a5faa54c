/* Texts are encrypted in the file, read as if they were not, and bound to key and exchange. */
#include "ledger/database/sealed_text.h"

#include "base/core/str.h"
#include "ledger/record/upkeep.h"
#include "ledger_fixture.h"

#define CANARY "canary-7f3a"

static const uint8_t key[KEYED_KEY_BYTES] = {1, 2, 3}, other[KEYED_KEY_BYTES] = {9};

static void put(const char *path, const char *id)
{
    struct ledger *ledger = NULL;
    struct ledger_exchange exchange = fixture_exchange(id, 1000);
    const struct ledger_feedback feedback = {id, 2000, 0.5, "a comment with " CANARY};
    exchange.prompt_text = "[{\"role\":\"user\",\"content\":\"" CANARY "\"}]";
    exchange.answer_text = CANARY " it is";
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
    ledger_close(ledger);
}

/* In the file or its log. */
static bool on_disk(const char *path)
{
    static const char *const suffixes[] = {"", "-wal"};
    bool found = false;
    for (size_t i = 0; i < 2; i++) {
        char name[256];
        struct buf content;
        buf_init(&content, 64u << 20);
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (buf_read_file(&content, name, NULL) == TD_OK)
            found = found || memmem(content.data, content.len, CANARY, strlen(CANARY)) != NULL;
        buf_deinit(&content);
    }
    return found;
}

static struct json *find(const char *path, const char *id)
{
    struct ledger_reader *reader = NULL;
    struct json *found = NULL;
    CHECK(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_find(reader, NULL, id, &found, NULL) == TD_OK);
    ledger_reader_close(reader);
    return found;
}

static bool has_texts(const struct json *exchange)
{
    const char *prompt = json_cstr(json_get(exchange, "prompt"));
    const char *answer = json_cstr(json_get(exchange, "answer"));
    return prompt && strstr(prompt, CANARY) && answer && strcmp(answer, CANARY " it is") == 0;
}

static enum td_status count_lesson(void *ctx, const struct ledger_lesson *lesson,
                                   struct td_error *err)
{
    (void)err;
    *(int *)ctx += lesson->prompt && strstr(lesson->prompt, CANARY) && lesson->answer &&
                   strcmp(lesson->answer, CANARY " it is") == 0;
    return TD_OK;
}

static enum td_status lessons(const char *path, int *count, struct td_error *err)
{
    struct ledger_reader *reader = NULL;
    *count = 0;
    CHECK(ledger_reader_open(path, &reader, NULL) == TD_OK);
    enum td_status status = ledger_reader_lessons(reader, 0, count_lesson, count, err);
    ledger_reader_close(reader);
    return status;
}

static enum td_status take_comment(void *ctx, const struct json *exchange, struct td_error *err)
{
    (void)err;
    const struct json *first = json_at(json_get(exchange, "feedback"), 0);
    const char *comment = json_cstr(json_get(first, "comment"));
    *(bool *)ctx = comment && strcmp(comment, "a comment with " CANARY) == 0;
    return TD_OK;
}

static bool has_comment(const char *path)
{
    struct ledger_reader *reader = NULL;
    bool has = false;
    CHECK(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_each(reader, 0, take_comment, &has, NULL) == TD_OK);
    ledger_reader_close(reader);
    return has;
}

static struct sealed_texts texts_of(const char *path)
{
    struct ledger_sound sound;
    CHECK(ledger_inspect(path, &sound, NULL) == TD_OK && sound.sound);
    return sound.texts;
}

static void test_a_file_has_no_text_in_the_clear_and_a_reader_sees_all_of_it(void)
{
    const char *path = fixture_path("sealed.db");
    sealed_text_use(key);
    put(path, "ex_1");
    CHECK(!on_disk(path));
    struct json *exchange = find(path, "ex_1");
    CHECK(has_texts(exchange) && !json_get(exchange, "texts_closed"));
    json_free(exchange);
    CHECK(has_comment(path));
    int count;
    CHECK(lessons(path, &count, NULL) == TD_OK && count == 1);
    struct sealed_texts texts = texts_of(path);
    CHECK(texts.sealed == 3 && texts.plain == 0 && texts.closed == 0);
}

static void test_without_its_key_a_text_stays_closed_and_comes_back_with_it(void)
{
    const char *path = fixture_path("closed.db");
    int count;
    sealed_text_use(key);
    put(path, "ex_1");
    for (int i = 0; i < 2; i++) {
        struct td_error err = {0};
        if (i == 0)
            sealed_text_use(other);
        else
            sealed_text_use_none();
        struct json *exchange = find(path, "ex_1");
        CHECK(!json_get(exchange, "prompt") && !json_get(exchange, "answer"));
        const char *why = json_cstr(json_get(exchange, "texts_closed"));
        CHECK(why && strstr(why, "ex_1") && strstr(why, "installation.key"));
        json_free(exchange);
        CHECK(!has_comment(path));
        CHECK(lessons(path, &count, &err) == TD_DENIED && count == 0);
        CHECK(strstr(err.message, "nothing is lost") != NULL);
        CHECK(texts_of(path).closed == 3);
    }
    sealed_text_use(key);
    struct json *exchange = find(path, "ex_1");
    CHECK(has_texts(exchange));
    json_free(exchange);
}

static void test_texts_of_an_older_version_are_read_and_can_be_encrypted(void)
{
    const char *path = fixture_path("older.db");
    uint64_t count = 0;
    struct td_error err = {0};
    sealed_text_use_none();
    put(path, "ex_1");
    put(path, "ex_2");
    CHECK(on_disk(path));
    CHECK(sealed_texts_encrypt(path, &count, &err) == TD_DENIED);
    CHECK(on_disk(path));
    sealed_text_use(key);
    put(path, "ex_3");
    struct json *exchange = find(path, "ex_1");
    CHECK(has_texts(exchange));
    json_free(exchange);
    struct sealed_texts texts = texts_of(path);
    CHECK(texts.sealed == 3 && texts.plain == 6);
    CHECK(sealed_texts_encrypt(path, &count, &err) == TD_OK && count == 6);
    CHECK(!on_disk(path));
    texts = texts_of(path);
    CHECK(texts.sealed == 9 && texts.plain == 0 && texts.closed == 0);
    int lessons_read;
    CHECK(lessons(path, &lessons_read, NULL) == TD_OK && lessons_read == 3);
    CHECK(sealed_texts_encrypt(path, &count, &err) == TD_OK && count == 0);
}

/* More rows than one transaction takes. */
static void test_many_old_texts_are_all_encrypted(void)
{
    const char *path = fixture_path("many.db");
    struct ledger *ledger = NULL;
    uint64_t count = 0;
    sealed_text_use_none();
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 200; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%d", i);
        struct ledger_exchange exchange = fixture_exchange(id, 1000);
        exchange.prompt_text = i % 2 ? CANARY : "";
        CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    }
    ledger_close(ledger);
    sealed_text_use(key);
    CHECK(sealed_texts_encrypt(path, &count, NULL) == TD_OK && count == 200);
    CHECK(!on_disk(path));
    struct json *exchange = find(path, "ex_0");
    const char *prompt = json_cstr(json_get(exchange, "prompt"));
    CHECK(prompt && *prompt == '\0');
    json_free(exchange);
}

static void test_a_text_belongs_to_its_exchange(void)
{
    struct buf stored, text;
    buf_init(&stored, 4096);
    buf_init(&text, 4096);
    sealed_text_use(key);
    CHECK(sealed_text_make("ex_1", "a text", &stored, NULL) == TD_OK);
    CHECK(sealed_text_is(stored.data));
    CHECK(sealed_text_open("ex_2", buf_view(&stored), &text, NULL) == TD_DENIED);
    CHECK(sealed_text_open("ex_1", buf_view(&stored), &text, NULL) == TD_OK);
    CHECK(strcmp(text.data, "a text") == 0);
    /* Every shorter text is refused, and none is read beyond its end. */
    for (size_t len = 9; len < stored.len; len++) {
        char *cut = strndup(stored.data, len);
        buf_clear(&text);
        CHECK(sealed_text_open("ex_1", str_from(cut), &text, NULL) == TD_DENIED);
        free(cut);
    }
    buf_deinit(&stored);
    buf_deinit(&text);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_file_has_no_text_in_the_clear_and_a_reader_sees_all_of_it);
    RUN(test_without_its_key_a_text_stays_closed_and_comes_back_with_it);
    RUN(test_texts_of_an_older_version_are_read_and_can_be_encrypted);
    RUN(test_many_old_texts_are_all_encrypted);
    RUN(test_a_text_belongs_to_its_exchange);
    fixture_end();
    return test_finish();
}
