/* What a request repeats of an earlier one, and what it does not. */
#include "base/core/str.h"
#include "exchange/memory/reactions.h"
#include "test.h"

#include <stdio.h>

static uint64_t now_ms = 1000000;

static uint64_t test_wall(void *ctx)
{
    (void)ctx;
    return now_ms;
}

static const struct clock test_clock = {.wall_ms = test_wall};
static struct td_message messages[4];

/* U question, A answer, alternately. */
static struct td_request conversation(const char *caller, size_t count, const char *const texts[])
{
    for (size_t i = 0; i < count; i++)
        messages[i] =
            (struct td_message){i % 2 ? TD_ROLE_ASSISTANT : TD_ROLE_USER, str_from(texts[i])};
    return (struct td_request){.messages = messages, .message_count = count, .caller = caller};
}

/* Judges the request, then remembers its answer under the id. */
static enum reaction ask(struct reactions *reactions, const struct td_request *request,
                         const char *id, char of[static REACTIONS_ID_BYTES])
{
    struct reaction_view view;
    *of = '\0';
    reactions_look(reactions, request, &view);
    enum reaction kind = reactions_judge(reactions, &view, of);
    reactions_remember(reactions, &view, id);
    return kind;
}

static void test_repetitions_edits_and_continuations_are_told_apart(void)
{
    static const char *const first[] = {"one?"}, *const second[] = {"one?", "Yes.", "two?"},
                             *const other[] = {"one?", "Yes.", "three?"};
    struct reactions *reactions = reactions_new(&test_clock);
    char of[REACTIONS_ID_BYTES];
    struct td_request request = conversation("key", 1, first);
    CHECK(ask(reactions, &request, "ex_1", of) == REACTION_NONE);
    now_ms += REACTIONS_REPEAT_MS - 1;
    CHECK(ask(reactions, &request, "ex_2", of) == REACTION_NONE);
    now_ms += REACTIONS_REPEAT_MS;
    CHECK(ask(reactions, &request, "ex_3", of) == REACTION_REGENERATED && strcmp(of, "ex_2") == 0);
    request = conversation("key", 3, second);
    CHECK(ask(reactions, &request, "ex_4", of) == REACTION_CONTINUED && strcmp(of, "ex_3") == 0);
    now_ms += REACTIONS_REPEAT_MS;
    request = conversation("key", 3, other);
    CHECK(ask(reactions, &request, "ex_5", of) == REACTION_EDITED && strcmp(of, "ex_4") == 0);
    now_ms += REACTIONS_TTL_MS + 1;
    CHECK(ask(reactions, &request, "ex_6", of) == REACTION_NONE);
    now_ms += REACTIONS_REPEAT_MS;
    request = conversation("another", 3, other);
    CHECK(ask(reactions, &request, "ex_7", of) == REACTION_NONE);
    reactions_clear(reactions);
    request = conversation("key", 3, other);
    now_ms += REACTIONS_REPEAT_MS;
    CHECK(ask(reactions, &request, "ex_8", of) == REACTION_NONE);
    reactions_free(reactions);
}

static void test_a_first_question_stands_alone_and_what_ends_otherwise_says_nothing(void)
{
    static const char *const one[] = {"one?"}, *const two[] = {"two?", "Yes."};
    struct reactions *reactions = reactions_new(&test_clock);
    char of[REACTIONS_ID_BYTES];
    struct td_request request = conversation("key", 1, one);
    CHECK(ask(reactions, &request, "ex_1", of) == REACTION_NONE);
    now_ms += REACTIONS_REPEAT_MS;
    request = conversation("key", 1, two);
    CHECK(ask(reactions, &request, "ex_2", of) == REACTION_NONE);
    request = conversation("key", 2, two); /* ends with an answer */
    CHECK(ask(reactions, &request, "ex_3", of) == REACTION_NONE);
    request = conversation("key", 0, two);
    CHECK(ask(reactions, &request, "ex_4", of) == REACTION_NONE);
    reactions_free(reactions);
}

static void test_any_number_of_questions_is_remembered_in_the_same_room(void)
{
    struct reactions *reactions = reactions_new(&test_clock);
    char of[REACTIONS_ID_BYTES], text[32], caller[32], id[REACTIONS_ID_BYTES];
    const char *const texts[] = {text};
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 20000; i++) {
            snprintf(text, sizeof text, "question %d", i);
            snprintf(caller, sizeof caller, "caller %d", i % 5000);
            snprintf(id, sizeof id, "ex_%d", i);
            struct td_request request = conversation(caller, 1, texts);
            found += ask(reactions, &request, id, of) == REACTION_REGENERATED;
        }
        now_ms += REACTIONS_REPEAT_MS;
    }
    CHECK(found < 4096);
    reactions_free(reactions);
}

/* One key may serve many users: what one asks again says nothing of another's answer. */
static void test_users_of_one_caller_do_not_react_to_each_other(void)
{
    static const char *const question[] = {"one?"}, *const next[] = {"one?", "Yes.", "two?"};
    struct reactions *reactions = reactions_new(&test_clock);
    char of[REACTIONS_ID_BYTES];
    struct td_request request = conversation("key", 1, question);
    request.user = "ann";
    CHECK(ask(reactions, &request, "ex_1", of) == REACTION_NONE);
    now_ms += REACTIONS_REPEAT_MS;
    request.user = "bob";
    CHECK(ask(reactions, &request, "ex_2", of) == REACTION_NONE);
    request.user = NULL;
    CHECK(ask(reactions, &request, "ex_3", of) == REACTION_NONE);
    request = conversation("key", 3, next);
    request.user = "ann";
    CHECK(ask(reactions, &request, "ex_4", of) == REACTION_CONTINUED && strcmp(of, "ex_1") == 0);
    now_ms += REACTIONS_REPEAT_MS;
    request = conversation("key", 1, question);
    request.user = "ann";
    CHECK(ask(reactions, &request, "ex_5", of) == REACTION_REGENERATED && strcmp(of, "ex_1") == 0);
    reactions_free(reactions);
}

static void test_a_conversation_goes_on_once_and_within_its_time(void)
{
    static const char *const question[] = {"one?"}, *const next[] = {"one?", "Yes.", "two?"};
    static const struct {
        uint64_t after_ms;
        enum reaction kind;
    } cases[] = {{0, REACTION_CONTINUED},
                 {REACTIONS_TTL_MS, REACTION_CONTINUED},
                 {REACTIONS_TTL_MS + 1, REACTION_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reactions *reactions = reactions_new(&test_clock);
        struct reaction_view view;
        char of[REACTIONS_ID_BYTES];
        struct td_request request = conversation("key", 1, question);
        CHECK(ask(reactions, &request, "ex_1", of) == REACTION_NONE);
        now_ms += cases[i].after_ms;
        request = conversation("key", 3, next);
        reactions_look(reactions, &request, &view);
        CHECK(reactions_judge(reactions, &view, of) == cases[i].kind);
        CHECK(reactions_judge(reactions, &view, of) == REACTION_NONE); /* it is said once */
        reactions_free(reactions);
    }
}

/* Of many answers at one place the oldest makes room; the newest one is what is repeated. */
static void test_of_many_answers_at_one_place_the_oldest_goes(void)
{
    static const char *const texts[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    struct reactions *reactions = reactions_new(&test_clock);
    char of[REACTIONS_ID_BYTES], id[REACTIONS_ID_BYTES];
    for (size_t i = 0; i < 10; i++) { /* first questions of one caller lie in one bucket */
        struct td_request request = conversation("key", 1, &texts[i]);
        snprintf(id, sizeof id, "ex_%zu", i);
        CHECK(ask(reactions, &request, id, of) == REACTION_NONE);
        now_ms += 2 * REACTIONS_REPEAT_MS;
    }
    for (size_t i = 10; i-- > 0;) {
        struct reaction_view view;
        struct td_request request = conversation("key", 1, &texts[i]);
        reactions_look(reactions, &request, &view);
        enum reaction kind = reactions_judge(reactions, &view, of);
        snprintf(id, sizeof id, "ex_%zu", i);
        CHECK(kind == (i < 2 ? REACTION_NONE : REACTION_REGENERATED));
        CHECK(i < 2 || strcmp(of, id) == 0);
    }
    reactions_free(reactions);
}

int main(void)
{
    RUN(test_repetitions_edits_and_continuations_are_told_apart);
    RUN(test_a_first_question_stands_alone_and_what_ends_otherwise_says_nothing);
    RUN(test_any_number_of_questions_is_remembered_in_the_same_room);
    RUN(test_users_of_one_caller_do_not_react_to_each_other);
    RUN(test_a_conversation_goes_on_once_and_within_its_time);
    RUN(test_of_many_answers_at_one_place_the_oldest_goes);
    return test_finish();
}
