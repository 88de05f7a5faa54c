/* Long texts that stay: where they are found, what is read of them, and the form of jobs. */
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "exchange/private/document_jobs.h"
#include "exchange/private/document_reader.h"
#include "exchange/private/documents.h"
#include "test.h"

#include <stdlib.h>

#define LONG "0123456789 0123456789 0123456789 0123456789"

static struct documents found;
static struct buf left;

/* What is left of one message; a text from 40 bytes on is a document. */
static const char *left_of(const char *text)
{
    const struct td_message message = {TD_ROLE_USER, str_from(text)};
    const struct td_request request = {.messages = &message, .message_count = 1};
    size_t end;
    buf_deinit(&left);
    buf_init(&left, 1 << 24);
    documents_find(&request, 40, &found, &left, &end);
    CHECK(end == left.len && !left.failed);
    return left.data ? left.data : "";
}

static void test_a_long_text_leaves_a_mark_and_the_users_words_stay(void)
{
    CHECK(strcmp(left_of("short"), "short") == 0 && found.count == 0);
    CHECK(strcmp(left_of(LONG), "[document 1: chunks 1 to 1, 43 characters]") == 0);
    CHECK(found.count == 1 && !found.asked && str_equal(found.texts[0], STR(LONG)));
    CHECK(strcmp(left_of("Sum this up:\n\n" LONG "\n\nWhat is it?"),
                 "Sum this up:\n[document 1: chunks 1 to 1, 43 characters]\nWhat is it?") == 0);
    CHECK(found.asked && str_equal(found.texts[0], STR(LONG)));
    /* What does not look like a question stays. */
    CHECK(strcmp(left_of("CONTRACT 55\n\n" LONG "\n\nBerlin, 3 May."),
                 "[document 1: chunks 1 to 1, 72 characters]") == 0);
    CHECK(strcmp(left_of("Zwölf 日本 " LONG), "[document 1: chunks 1 to 1, 52 characters]") == 0);
}

static void test_what_is_marked_stays_whatever_its_length(void)
{
    CHECK(strcmp(left_of("What is in <document id=3>pin 1234</document>?"),
                 "What is in [document 1: chunks 1 to 1, 8 characters]?") == 0);
    CHECK(found.asked && str_equal(found.texts[0], STR("pin 1234")));
    /* Without an end, or with a start inside: nothing of it passes for the user's. */
    CHECK(strcmp(left_of("Why?<document>a <document>b"),
                 "Why?[document 1: chunks 1 to 1, 13 characters]") == 0);
    CHECK(strcmp(left_of("Why?<document>a</document>b</document>"),
                 "Why?[document 1: chunks 1 to 1, 13 characters]") == 0);
    CHECK(strcmp(left_of("<document>a <document>b</document> secret</document> Why?"),
                 "[document 1: chunks 1 to 1, 31 characters] Why?") == 0);
    CHECK(strcmp(left_of("<document>a</document> and </document><document>b</document> Why?"),
                 "[document 1: chunks 1 to 1, 16 characters]"
                 "[document 2: chunks 2 to 2, 1 characters] Why?") == 0);
    CHECK(strcmp(left_of("a <documentary> b"), "a <documentary> b") == 0 && found.count == 0);
    CHECK(strcmp(left_of("a <document"), "a <document") == 0);
    left_of("<document>a</document><document>b</document><document>c</document>"
            "<document>a</document><document>b</document><document>c</document>"
            "<document>a</document><document>b</document><document>c</document>"
            "<document>a</document><document>b</document><document>c</document>"
            "<document>a</document><document>b</document><document>c</document>"
            "<document>a</document><document>secret</document>");
    CHECK(found.too_many && found.count == DOCUMENTS_MAX && !strstr(left.data, "secret"));
}

static void test_what_is_split_over_parts_of_a_message_stays(void)
{
    const struct td_str texts[] = {STR("<document>"), STR("pin 1234"), STR("9</document> Which?")};
    const struct request_parts parts = {texts, 3};
    const struct td_message message = {TD_ROLE_USER, STR("")};
    const struct td_request request = {.messages = &message, .message_count = 1, .parts = &parts};
    size_t end;
    buf_deinit(&left);
    buf_init(&left, 1 << 24);
    documents_find(&request, 40, &found, &left, &end);
    buf_append_char(&left, '\0');
    CHECK(strstr(left.data, "pin") == NULL && strstr(left.data, "9<") == NULL);
    CHECK(strstr(left.data, " Which?") && found.asked && found.count == 3);
}

static void test_tags_are_read_in_letters_of_any_case(void)
{
    CHECK(strcmp(left_of("Why? <DOCUMENT>a</Document >b"),
                 "Why? [document 1: chunks 1 to 1, 1 characters]b") == 0);
    CHECK(strcmp(left_of("Why? <Document\nid=1>a</documents>b</dOCUMENT\n>"),
                 "Why? [document 1: chunks 1 to 1, 14 characters]") == 0);
}

static void test_what_stands_before_an_end_alone_stays(void)
{
    CHECK(strcmp(left_of("pin 1234</document> Which?"),
                 "[document 1: chunks 1 to 1, 8 characters] Which?") == 0);
    CHECK(strcmp(left_of("a</document>b</document><document>c</document>d"),
                 "[document 1: chunks 1 to 1, 13 characters]"
                 "[document 2: chunks 2 to 2, 1 characters]d") == 0);
    CHECK(strcmp(left_of("</document>Which?"), "Which?") == 0 && found.count == 0);
}

static void test_what_is_cut_over_messages_stays(void)
{
    const struct td_message messages[] = {
        {TD_ROLE_USER, STR("Read: <document>pin")}, {TD_ROLE_ASSISTANT, STR("1234")},
        {TD_ROLE_USER, STR("5</document>Which?")},  {TD_ROLE_USER, STR("<document>6")},
        {TD_ROLE_USER, STR("no part of it")},
    };
    const struct td_request request = {.messages = messages, .message_count = 5};
    size_t ends[5];
    buf_deinit(&left);
    buf_init(&left, 1 << 24);
    documents_find(&request, 40, &found, &left, ends);
    buf_append_char(&left, '\0');
    CHECK(found.count == 4 && !strpbrk(left.data, "569") && !strstr(left.data, "pin"));
    CHECK(strstr(left.data, "Which?") && strstr(left.data, "no part of it"));
    CHECK(str_equal(found.texts[1], STR("1234")) && str_equal(found.texts[3], STR("6")));
}

/* One that is open is not looked for an end of in each message anew. */
static void test_a_document_over_many_messages_is_read_at_once(void)
{
    enum { COUNT = 100000 };
    static struct td_message messages[COUNT];
    static size_t ends[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (struct td_message){TD_ROLE_USER, STR("a < b < c")};
    messages[0].content = STR("<document>");
    messages[COUNT - 1].content = STR("</document>Why?");
    const struct td_request request = {.messages = messages, .message_count = COUNT};
    buf_deinit(&left);
    buf_init(&left, 1 << 24);
    documents_find(&request, 40, &found, &left, ends);
    CHECK(found.too_many && !memchr(left.data, '<', left.len) && found.asked);
}

/* Ends and beginnings without end cost no more than their length. */
static void test_a_million_tags_are_read_at_once(void)
{
    static const char *const tags[] = {"<document>", "</document>", "<document ", "<document",
                                       "</document"};
    struct buf text;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        buf_init(&text, 1 << 24);
        buf_append_str(&text, STR("<document>"));
        for (int n = 0; n < 1000000; n++)
            buf_append_str(&text, str_from(tags[i]));
        buf_append_char(&text, '\0');
        left_of(text.data);
        buf_deinit(&text);
    }
}

/* --- jobs --- */

static enum document_said read_plan(const char *said, struct document_plan *plan)
{
    struct td_error err = {0};
    enum document_said kind = document_plan_read(str_from(said), 7, plan, &err);
    CHECK((kind == DOCUMENT_SAID_WRONG) == (err.message[0] != '\0'));
    return kind;
}

static void test_jobs_are_read_strictly_and_all_else_is_an_answer(void)
{
    struct document_plan plan;
    CHECK(read_plan("It is 5.", &plan) == DOCUMENT_SAID_ANSWER);
    CHECK(read_plan("{\"answer\": 5}", &plan) == DOCUMENT_SAID_ANSWER);
    CHECK(read_plan("So:\n```json\n{\"jobs\":[{\"words\":[\"a\",\"b c\"],\"chunks\":[2,99]},"
                    "{\"task\":\"x\"}]}\n```",
                    &plan) == DOCUMENT_SAID_JOBS);
    CHECK(plan.job_count == 2 && plan.jobs[0].word_count == 2);
    CHECK(plan.jobs[0].chunk_from == 2 && plan.jobs[0].chunk_to == 7);
    CHECK(plan.jobs[1].chunk_from == 1 && plan.jobs[1].chunk_to == 7);
    CHECK(str_equal(plan.jobs[0].words[1], STR("b c")) && str_equal(plan.jobs[1].task, STR("x")));
    document_plan_deinit(&plan);
    static const char *const wrong[] = {
        "",
        " ",
        "\"jobs\"",
        "{\"jobs\":[",
        "{\"jobs\":[]}",
        "{\"jobs\":{}}",
        "{\"jobs\":[7]}",
        "{\"jobs\":[{}]}",
        "{\"jobs\":[{\"words\":\"a\"}]}",
        "{\"jobs\":[{\"words\":[\"\"]}]}",
        "{\"jobs\":[{\"words\":[null]}]}",
        "{\"jobs\":[{\"task\":7,\"words\":[\"a\"]}]}",
        "{\"jobs\":[{\"words\":[\"a\"],\"chunks\":[0,2]}]}",
        "{\"jobs\":[{\"words\":[\"a\"],\"chunks\":[3,2]}]}",
        "{\"jobs\":[{\"words\":[\"a\"],\"chunks\":[1,2,3]}]}",
        "{\"jobs\":[{\"words\":[\"a\"],\"chunks\":[1,9223372036854775807]}]}",
        "{\"jobs\":[{\"words\":[\"a\"]}],\"jobs\":[]}",
        "{\"jobs\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(read_plan(wrong[i], &plan) == DOCUMENT_SAID_WRONG);
}

/* --- reading --- */

static const char lease[] =
    "1. Parties\nThe landlord is a company. The tenant is a person of full age.\n"
    "2. Rent\nIt amounts to 1,250 EUR and is due on the third working day.\n"
    "3. Termination\nEither side may end the contract with notice of three months.\n"
    "4. Pets\nDogs need the landlord's consent. Small animals in cages are allowed without it.\n"
    "5. Überlassung\nEine Untervermietung bedarf der Zustimmung.\n";

static const char *find(const char *text, struct document_job job)
{
    static char out[1024];
    const struct documents documents = {
        .texts = {str_from(text)},
        .chunks = {(uint32_t)(strlen(text) / DOCUMENT_CHUNK_BYTES + 1)},
        .count = 1,
    };
    struct document_quote quotes[DOCUMENT_QUOTES_MAX];
    struct document_reader *reader = document_reader_new(&documents);
    CHECK(reader != NULL);
    if (job.chunk_to == 0)
        job.chunk_from = 1, job.chunk_to = UINT32_MAX;
    size_t count = document_reader_find(reader, &job, quotes);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(out);
        CHECK(quotes[i].text.data >= text && quotes[i].text.len <= DOCUMENT_PASSAGE_BYTES_MAX);
        CHECK(quotes[i].text.data + quotes[i].text.len <= text + strlen(text));
        snprintf(out + len, sizeof out - len, "%s" STR_FMT, i ? "|" : "", STR_ARG(quotes[i].text));
    }
    document_reader_free(reader);
    return out;
}

#define CHECK_STR(got, expected) CHECK(strcmp((got), (expected)) == 0)
#define JOB(...)          \
    (struct document_job) \
    {                     \
        __VA_ARGS__       \
    }

static void test_the_passage_with_the_rarest_words_is_found(void)
{
    CHECK_STR(find(lease, JOB(.words = {STR("working"), STR("EUR")}, .word_count = 2)),
              "It amounts to 1,250 EUR and is due on the third working day.");
    CHECK_STR(find(lease, JOB(.words = {STR("dogs")}, .word_count = 1)),
              "Dogs need the landlord's consent.");
    CHECK_STR(find(lease, JOB(.words = {STR("untervermieten")}, .word_count = 1)),
              "Eine Untervermietung bedarf der Zustimmung.");
    CHECK_STR(find(lease, JOB(.task = STR("notice period in months"))),
              "Either side may end the contract with notice of three months.");
}

static void test_a_heading_speaks_for_what_stands_under_it(void)
{
    const struct document_job job = {.words = {STR("rents"), STR("amount")}, .word_count = 2};
    const char *first = "It amounts to 1,250 EUR";
    CHECK(strncmp(find(lease, job), first, strlen(first)) == 0);
}

static void test_without_a_telling_word_the_reader_abstains(void)
{
    CHECK_STR(find(lease, JOB(.words = {STR("helicopter")}, .word_count = 1)), "");
    CHECK_STR(find(lease, JOB(.words = {STR("helicopter")}, .word_count = 1,
                              .task = STR("the landlord's helicopter"))),
              "");
    CHECK_STR(find("", JOB(.words = {STR("a")}, .word_count = 1)), "");
    CHECK_STR(find(" \n\n ", JOB(.words = {STR("a")}, .word_count = 1)), "");
    char same[4096] = "";
    for (int i = 0; i < 20; i++)
        strcat(same, "The landlord is told of it in a letter.\n");
    CHECK_STR(find(same, JOB(.words = {STR("landlord")}, .word_count = 1)), "");
}

static void test_only_the_chunks_of_a_job_are_read(void)
{
    char text[3 * DOCUMENT_CHUNK_BYTES] = "The key is under the mat.\n";
    while (strlen(text) < DOCUMENT_CHUNK_BYTES + 100)
        strcat(text, "Nothing is said here of anything at all.\n");
    strcat(text, "The key is in the safe.\n");
    const struct td_str key = STR("key");
    CHECK_STR(find(text, JOB(.words = {key}, .word_count = 1, .chunk_from = 2, .chunk_to = 2)),
              "The key is in the safe.");
    CHECK_STR(find(text, JOB(.words = {key}, .word_count = 1, .chunk_from = 1, .chunk_to = 1)),
              "The key is under the mat.");
}

/* Any bytes, exact sizes: the sanitizer sees what is read beyond them. */
static void test_any_bytes_are_read_within_their_bounds(void)
{
    static const char bytes[] = {'a', ' ', '\n', '.', '\xC3', '\xA9', '\xE6', '\0', '<', 's', '9'};
    struct rng rng;
    rng_init(&rng, 7);
    for (int run = 0; run < 500; run++) {
        size_t len = (size_t)rng_below(&rng, 900);
        char *text = malloc(len + 1);
        CHECK(text != NULL);
        for (size_t i = 0; i < len; i++)
            text[i] = bytes[rng_below(&rng, sizeof bytes)];
        const struct documents documents = {.texts = {{text, len}}, .chunks = {1}, .count = 1};
        struct document_reader *reader = document_reader_new(&documents);
        struct document_quote quotes[DOCUMENT_QUOTES_MAX];
        struct document_job job = {.words = {{text, len < 9 ? len : 9}}, .word_count = 1};
        job.chunk_from = job.chunk_to = 1;
        size_t count = document_reader_find(reader, &job, quotes);
        for (size_t i = 0; i < count; i++)
            CHECK(quotes[i].text.data >= text &&
                  quotes[i].text.data + quotes[i].text.len <= text + len);
        document_reader_free(reader);
        free(text);
    }
}

int main(void)
{
    RUN(test_a_long_text_leaves_a_mark_and_the_users_words_stay);
    RUN(test_what_is_marked_stays_whatever_its_length);
    RUN(test_what_is_split_over_parts_of_a_message_stays);
    RUN(test_tags_are_read_in_letters_of_any_case);
    RUN(test_what_stands_before_an_end_alone_stays);
    RUN(test_what_is_cut_over_messages_stays);
    RUN(test_a_document_over_many_messages_is_read_at_once);
    RUN(test_a_million_tags_are_read_at_once);
    RUN(test_jobs_are_read_strictly_and_all_else_is_an_answer);
    RUN(test_the_passage_with_the_rarest_words_is_found);
    RUN(test_a_heading_speaks_for_what_stands_under_it);
    RUN(test_without_a_telling_word_the_reader_abstains);
    RUN(test_only_the_chunks_of_a_job_are_read);
    RUN(test_any_bytes_are_read_within_their_bounds);
    buf_deinit(&left);
    return test_finish();
}
