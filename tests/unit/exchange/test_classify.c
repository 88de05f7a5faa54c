#include "exchange/private/classify.h"
#include "exchange/private/conversation_id.h"

#include "base/core/str.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/conversation.h"
#include "scanners.h"
#include "wire_members.h"

#include <stdio.h>
#include <stdlib.h>

/* What a conversation is named by: S, D, U, A, T are roles, and a text follows each. */
struct identity {
    const char *caller, *tenant, *user, *messages[6];
};

static struct td_message message_of(const char *text)
{
    static const struct {
        char letter;
        enum td_role role;
    } roles[] = {{'S', TD_ROLE_SYSTEM},
                 {'D', TD_ROLE_DEVELOPER},
                 {'U', TD_ROLE_USER},
                 {'A', TD_ROLE_ASSISTANT},
                 {'T', TD_ROLE_TOOL}};
    size_t i = 0;
    while (roles[i].letter != text[0])
        i++;
    return (struct td_message){roles[i].role, str_from(text + 1)};
}

/* messages: [6], to which the request points. */
static struct td_request request_of(const struct identity *identity, struct td_message *messages)
{
    size_t count = 0;
    for (; count < 6 && identity->messages[count]; count++)
        messages[count] = message_of(identity->messages[count]);
    return (struct td_request){.messages = messages,
                               .message_count = count,
                               .caller = identity->caller,
                               .tenant = identity->tenant,
                               .user = identity->user};
}

static struct conversation_keys keys_of(const struct identity *identity)
{
    struct td_message messages[6];
    const struct td_request request = request_of(identity, messages);
    return conversation_id_keys(&request);
}

static void test_a_conversation_is_its_opening_and_its_first_answer(void)
{
    static const struct identity first = {"c", NULL, "ann", {"Ssys", "Uhello you", "Ayes?"}};
    static const struct {
        struct identity of;
        bool same_opening, same;
    } rows[] = {
        {{"c", NULL, "bob", {"Ssys", "Uhello you", "Ayes?"}}, true, true},
        {{"c", "t", NULL, {"Uhello you", "Ayes?", "Uone", "Atwo"}}, true, true},
        {{"c", NULL, NULL, {"Sother", "Uhello\n you ", "Dmore", "A yes\t?", "Tx"}}, true, true},
        {{"c", NULL, NULL, {"Ahow can I help?", "Uhello you", "Ayes?"}}, true, true},
        {{"c", NULL, NULL, {"Uhello you", "Ano?"}}, true, false},
        {{"c", NULL, NULL, {"Uhello you", "Tyes"}}, true, false},
        {{"c", NULL, NULL, {"Uhallo you", "Ayes?"}}, false, false},
        {{"c", NULL, NULL, {"Uhello", "Uyou", "Ayes?"}}, false, false},
        {{"d", NULL, "ann", {"Uhello you", "Ayes?"}}, false, false},
        {{NULL, NULL, "ann", {"Uhello you", "Ayes?"}}, false, false},
    };
    const struct conversation_keys keys = keys_of(&first);
    CHECK(keys.answered && keys.opening != keys.conversation);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct conversation_keys other = keys_of(&rows[i].of);
        CHECK(other.answered);
        CHECK((other.opening == keys.opening) == rows[i].same_opening);
        CHECK((other.conversation == keys.conversation) == rows[i].same);
    }
    CHECK(!keys_of(&(struct identity){"c", NULL, NULL, {"Aso?", "Shi", "Uhello you"}}).answered);
    CHECK(!keys_of(&(struct identity){"c", NULL, NULL, {NULL}}).answered);
    CHECK(keys_of(&(struct identity){"c", NULL, NULL, {"Aso?"}}).answered);
}

/* In whatever pieces it comes. */
static void test_an_answer_is_heard_as_it_is_sent_back(void)
{
    struct td_message messages[6];
    const struct identity asked = {"c", NULL, NULL, {"Uhello you"}};
    const struct identity answered = {"c", NULL, NULL, {"Uhello you", "Ayes, what is it?"}};
    const struct td_request request = request_of(&asked, messages);
    uint64_t heard = CONVERSATION_ID_SILENCE;
    heard = conversation_id_hear(heard, STR("ye"));
    heard = conversation_id_hear(heard, STR("s, what "));
    heard = conversation_id_hear(heard, STR(""));
    heard = conversation_id_hear(heard, STR(" is it?\n"));
    const struct conversation_keys keys = conversation_id_keys(&request);
    CHECK(conversation_id_next(&keys, heard) == keys_of(&answered).conversation);
}

/* The class of one message "scanned" that is sent with the members of the given body. */
static enum td_data_class class_of_body(const char *text)
{
    struct wire_members wire;
    struct td_message message = {TD_ROLE_USER, STR("scanned")};
    struct td_request request = {.messages = &message, .message_count = 1};
    wire_members_init(&wire, text, &request);
    enum td_data_class found = classify_request(plain_scanner(), &request, NULL);
    wire_members_deinit(&wire);
    return found;
}

#define MAIL "ann@acmeltd.com"

static void test_only_the_scanned_content_is_skipped_in_the_body(void)
{
    CHECK(class_of_body("{\"messages\":[{\"content\":\"scanned\"}]}") == TD_CLASS_PUBLIC);
    static const char *const bodies[] = {
        "{\"messages\":[{\"content\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned " MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned\",\"name\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned\",\"" MAIL "\":1}]}",
        "{\"messages\":[{\"content\":\"scanned\"},{\"content\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"" MAIL "\"}]}]}",
        "{\"messages\":[\"" MAIL "\"]}",
        "{\"messages\":{\"content\":\"" MAIL "\"}}",
        "{\"messages\":\"" MAIL "\"}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        CHECK(class_of_body(bodies[i]) == TD_CLASS_SENSITIVE);
}

static const struct json *content_of(const struct td_request *request, size_t index)
{
    return json_get(json_at(request_value(request, REQUEST_MESSAGES), index), "content");
}

static void test_findings_are_counted_once(void)
{
    struct wire_members wire;
    struct td_message message = {.role = TD_ROLE_USER};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct privacy_tally found = {0};
    wire_members_init(
        &wire, "{\"messages\":[{\"content\":\"ann@acmeltd.com\"}],\"user\":\"bob@acmeltd.com\"}",
        &request);
    message.content = json_text(content_of(&request, 0));
    CHECK(classify_request(plain_scanner(), &request, &found) == TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 2);
    wire_members_deinit(&wire);
}

/* What is said in parts is read as one text, once; a part that is not said is read as a member. */
static void test_parts_are_read_as_one_text(void)
{
    struct wire_members wire;
    struct td_message messages[2] = {{TD_ROLE_SYSTEM, STR("be kind")},
                                     {TD_ROLE_USER, STR("my mail is\nann@acmeltd.com")}};
    struct td_request request = {.messages = messages, .message_count = 2};
    wire_members_init(&wire,
                      "{\"messages\":[{\"content\":\"be kind\"},{\"content\":["
                      "{\"text\":\"my mail is\"},{\"text\":\"ann@acmeltd.com\"},"
                      "{\"url\":\"bob@acmeltd.com\"}]}]}",
                      &request);
    const struct json *list = content_of(&request, 1);
    const struct td_str texts[2] = {json_text(json_get(json_at(list, 0), "text")),
                                    json_text(json_get(json_at(list, 1), "text"))};
    const struct request_parts parts[2] = {{NULL, 0}, {texts, 2}};
    struct reading reading;
    messages[0].content = json_text(content_of(&request, 0));
    request.parts = parts;
    reading_init(&reading);
    classify_read(&request, &reading);
    struct td_str all = reading_since(&reading, 0);
    struct privacy_tally found = {0};
    CHECK(str_starts_with(all, STR("be kind\nmy mail is\nann@acmeltd.com")));
    CHECK(str_find(all, STR("url: bob@acmeltd.com"), 0) != SIZE_MAX);
    CHECK(str_find(all, STR("text"), 0) == SIZE_MAX);
    CHECK(classify_request(plain_scanner(), &request, &found) == TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 2);
    reading_deinit(&reading);
    wire_members_deinit(&wire);
}

/* Where the text stands that begins so; READING_FROM_COUNT: it is not there. */
static enum reading_from from_of(const struct reading *reading, const char *text)
{
    for (size_t i = 0; i < reading->count; i++)
        if (str_starts_with(reading_part_text(reading, i), str_from(text)))
            return (enum reading_from)reading->parts[i].from;
    return READING_FROM_COUNT;
}

static void test_a_text_knows_whether_it_stands_in_instructions(void)
{
    static const struct {
        const char *text;
        enum reading_from from;
    } rows[] = {
        {"S1", READING_SYSTEM},  {"D1", READING_SYSTEM},     {"U1", READING_REQUEST},
        {"A1", READING_REQUEST}, {"tools", READING_REQUEST}, {"T1", READING_TOOLS},
        {"T2", READING_TOOLS},   {"T3", READING_TOOLS},      {"k1", READING_TOOLS},
        {"E1", READING_REQUEST}, {"E2", READING_REQUEST},    {"E3", READING_REQUEST},
        {"E4", READING_REQUEST}, {"E5", READING_REQUEST},    {"E6", READING_REQUEST},
        {"T4", READING_TOOLS},   {"M1", READING_REQUEST},    {"Z1", READING_REQUEST},
    };
    struct wire_members wire;
    const struct td_message messages[] = {{TD_ROLE_SYSTEM, STR("S1")},
                                          {TD_ROLE_DEVELOPER, STR("D1")},
                                          {TD_ROLE_USER, STR("U1")},
                                          {TD_ROLE_ASSISTANT, STR("A1")}};
    struct td_request request = {.messages = messages, .message_count = 4};
    struct reading reading;
    wire_members_init(
        &wire,
        "{\"tools\":[{\"function\":{\"name\":\"T1\",\"description\":\"T2\",\"parameters\":{"
        "\"title\":\"T3\",\"properties\":{\"k1\":{\"enum\":[\"E1\",{\"description\":\"E2\"}],"
        "\"default\":\"E3\",\"const\":{\"name\":\"E4\"},\"examples\":[{\"title\":[\"E5\"]}],"
        "\"pattern\":\"E6\",\"description\":\"T4\"}}}}}],"
        "\"metadata\":{\"description\":\"M1\"},\"name\":\"Z1\"}",
        &request);
    reading_init(&reading);
    classify_read(&request, &reading);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(from_of(&reading, rows[i].text) == rows[i].from);
        if (from_of(&reading, rows[i].text) != rows[i].from)
            fprintf(stderr, "  %s\n", rows[i].text);
    }
    reading_deinit(&reading);
    wire_members_deinit(&wire);
}

/* The values behind pseudonyms are shared by the turns of one conversation alone: who asks, for
 * whom, under which instructions and how it began tell it from all others. */
static void test_a_conversation_shares_its_vault_with_no_other(void)
{
    static const struct {
        const char *caller, *user, *system, *question;
    } begun[] = {{"a", "ann", "be kind", "hello"},  {"b", "ann", "be kind", "hello"},
                 {"a", "bob", "be kind", "hello"},  {"a", NULL, "be kind", "hello"},
                 {"a", "ann", "be brief", "hello"}, {"a", "ann", "be kind", "hello?"},
                 {"aa", "nn", "be kind", "hello"},  {"a", "annbe", " kind", "hello"}};
    enum { COUNT = sizeof begun / sizeof *begun };
    uint8_t keys[COUNT][CRYPTO_SHA256_BYTES], later[CRYPTO_SHA256_BYTES],
        owner[CRYPTO_SHA256_BYTES];
    for (size_t i = 0; i < COUNT; i++) {
        const struct td_message messages[] = {{TD_ROLE_SYSTEM, str_from(begun[i].system)},
                                              {TD_ROLE_USER, str_from(begun[i].question)},
                                              {TD_ROLE_ASSISTANT, STR("yes?")},
                                              {TD_ROLE_USER, STR("and then?")}};
        struct td_request request = {.messages = messages,
                                     .message_count = 2,
                                     .caller = begun[i].caller,
                                     .user = begun[i].user};
        conversation_id_digest(&request, keys[i], owner);
        request.message_count = 4;
        conversation_id_digest(&request, later, owner);
        CHECK(memcmp(later, keys[i], sizeof later) == 0);
        for (size_t j = 0; j < i; j++)
            CHECK(memcmp(keys[j], keys[i], sizeof keys[i]) != 0);
    }
}

/* What is masked for two tenants' users of one name is forgotten with its own tenant. */
static void test_vaults_are_forgotten_in_one_tenant_or_in_all(void)
{
    static const char *const tenants[] = {"a", "b", NULL};
    const struct td_message message = {TD_ROLE_USER, STR("hello")};
    struct vault_store *store = vault_store_new(10, SIZE_MAX, 1000);
    uint8_t key[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    REQUIRE(store != NULL);
    for (int i = 0; i < 3; i++) {
        struct vault_hold *hold = NULL;
        const struct td_request request = {.messages = &message,
                                           .message_count = 1,
                                           .caller = tenants[i],
                                           .tenant = tenants[i],
                                           .user = "ann"};
        conversation_id_digest(&request, key, owner);
        REQUIRE(vault_store_take(store, key, owner, 0, &hold, NULL) == TD_OK);
        vault_hold_drop(hold);
    }
    conversation_id_owner("c", "ann", owner);
    CHECK(vault_store_forget(store, owner, false) == 0);
    conversation_id_owner("a", "ann", owner);
    CHECK(vault_store_forget(store, owner, false) == 1);
    conversation_id_owner(NULL, "bob", owner);
    CHECK(vault_store_forget(store, owner, true) == 0);
    conversation_id_owner(NULL, "ann", owner);
    CHECK(vault_store_forget(store, owner, true) == 2);
    vault_store_free(store);
}

static void digest(const struct identity *identity, uint8_t key[static CRYPTO_SHA256_BYTES])
{
    uint8_t owner[CRYPTO_SHA256_BYTES], own[CRYPTO_SHA256_BYTES];
    struct td_message messages[6];
    const struct td_request request = request_of(identity, messages);
    conversation_id_digest(&request, key, owner);
    conversation_id_owner(identity->tenant, identity->user, own);
    CHECK(memcmp(owner, own, sizeof own) == 0);
}

/* The values behind pseudonyms are found again by the same beginning of the same user alone. */
static void test_each_part_of_how_a_conversation_began_makes_another_digest(void)
{
    static const struct identity first = {"key", NULL, "ann", {"Sbe kind", "Uhello"}};
    static const struct identity same[] = {
        {"key", NULL, "ann", {"Sbe kind", "Uhello", "Ahi", "Umore"}},
        {"key", NULL, "ann", {"Sbe kind", "Sbe short", "Uhello"}},
        {"key", NULL, "ann", {"Sbe kind", "Dbe short", "Uhello"}},
        {"key", NULL, "ann", {"Dbe kind", "Uhello", "Uagain", "Slate"}},
        {"key", NULL, "ann", {"Ahow can I help?", "Sbe kind", "Uhello"}},
    };
    static const struct identity others[] = {
        {"kez", NULL, "ann", {"Sbe kind", "Uhello"}},
        {NULL, NULL, "ann", {"Sbe kind", "Uhello"}},
        {"key", NULL, "anm", {"Sbe kind", "Uhello"}},
        {"key", NULL, NULL, {"Sbe kind", "Uhello"}},
        {"keya", NULL, "nn", {"Sbe kind", "Uhello"}},
        {"key", NULL, "ann", {"Sbe kinD", "Uhello"}},
        {"key", NULL, "ann", {"Sbe kindh", "Uello"}},
        {"key", NULL, "ann", {"Sbe kind", "Uhell"}},
        {"key", NULL, "ann", {"Uhello"}},
        {"key", NULL, "ann", {"Sbe kind"}},
        {"key", NULL, "ann", {"Uhello", "Sbe kind"}},
        {"key", NULL, "ann", {"Sbe kind", "Ahello"}},
    };
    uint8_t key[CRYPTO_SHA256_BYTES], other[CRYPTO_SHA256_BYTES];
    digest(&first, key);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        digest(&same[i], other);
        CHECK(memcmp(key, other, sizeof key) == 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        digest(&others[i], other);
        CHECK(memcmp(key, other, sizeof key) != 0);
    }
}

/* The user's half does not depend on the tenant, the tenant's half on both. */
static void test_an_owners_two_halves_are_the_user_and_the_user_of_a_tenant(void)
{
    static const struct {
        const char *tenant, *user;
        bool same_user, same;
    } cases[] = {{"a", "ann", true, true},   {"b", "ann", true, false}, {NULL, "ann", true, false},
                 {"a", "bob", false, false}, {"a", NULL, false, false}, {"", "ann", true, false}};
    uint8_t first[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    conversation_id_owner("a", "ann", first);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        conversation_id_owner(cases[i].tenant, cases[i].user, owner);
        CHECK((memcmp(first, owner, VAULT_OWNER_USER_BYTES) == 0) == cases[i].same_user);
        CHECK((memcmp(first + VAULT_OWNER_USER_BYTES, owner + VAULT_OWNER_USER_BYTES,
                      CRYPTO_SHA256_BYTES - VAULT_OWNER_USER_BYTES) == 0) == cases[i].same);
    }
}

static enum td_data_class raise_to(struct conversation_classes *classes, const struct identity *of,
                                   bool masked, enum td_data_class seen)
{
    struct td_message messages[6];
    const struct td_request request = request_of(of, messages);
    const struct conversation_keys keys = conversation_id_keys(&request);
    return conversation_id_raise(classes, &request, &keys, masked, seen);
}

/* The class of what was masked is another one, so that one turn's card keeps the next turn's masked
 * text from nowhere. */
static void test_the_class_of_a_conversation_and_of_what_is_left_of_it_are_two(void)
{
    static const struct identity one = {"key", NULL, NULL, {"Uhello"}};
    static const struct identity later = {"key", NULL, NULL, {"Uhel lo", "Ahi", "Umore"}};
    static const struct identity other = {"kez", NULL, NULL, {"Uhello"}};
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    CHECK(raise_to(classes, &one, false, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
    CHECK(raise_to(classes, &one, true, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(raise_to(classes, &one, true, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    CHECK(raise_to(classes, &later, false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(raise_to(classes, &later, true, TD_CLASS_PUBLIC) == TD_CLASS_SENSITIVE);
    CHECK(raise_to(classes, &other, false, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(raise_to(NULL, &one, false, TD_CLASS_CONTRACTUAL) == TD_CLASS_CONTRACTUAL);
    conversation_classes_free(classes);
}

/* Only a conversation that goes on asks what was given up: after an answer or a further question,
 * not after more instructions. */
static void test_what_was_given_up_is_asked_for_when_somebody_has_said_more(void)
{
    static const struct {
        struct identity begun, next;
        bool goes_on;
    } cases[] = {
        {{"key", NULL, NULL, {"Uhello"}}, {"key", NULL, NULL, {"Uhello"}}, false},
        {{"key", NULL, NULL, {"Uhello"}}, {"key", NULL, NULL, {"Sa", "Uhello", "Db"}}, false},
        {{"key", NULL, NULL, {"Uhello"}}, {"key", NULL, NULL, {"Aso", "Uhello"}}, false},
        {{"key", NULL, NULL, {"Uhello"}}, {"key", NULL, NULL, {"Uhello", "Ahi"}}, true},
        {{"key", NULL, NULL, {"Uhello"}}, {"key", NULL, NULL, {"Uhello", "Umore"}}, true},
        {{"key", NULL, NULL, {"Ua", "Ub"}}, {"key", NULL, NULL, {"Ua", "Sx", "Ub", "Uc"}}, true},
        {{"key", NULL, NULL, {"Ua", "Ab"}}, {"key", NULL, NULL, {"Ua", "Ab", "Uc"}}, true},
        {{"key", NULL, NULL, {"Ua", "Ab"}}, {"key", NULL, NULL, {"Ua", "Ac", "Uc"}}, true},
    };
    static const struct identity full = {"key", NULL, NULL, {"Uthe table is full"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversation_classes *classes = conversation_classes_new(1);
        REQUIRE(classes != NULL);
        raise_to(classes, &cases[i].begun, false, TD_CLASS_RESTRICTED);
        raise_to(classes, &full, false, TD_CLASS_RESTRICTED);
        CHECK(raise_to(classes, &cases[i].next, false, TD_CLASS_PUBLIC) ==
              (cases[i].goes_on ? TD_CLASS_RESTRICTED : TD_CLASS_PUBLIC));
        conversation_classes_free(classes);
    }
}

static void answer(struct conversation_classes *classes, const struct identity *asked,
                   const char *text, enum td_data_class data_class)
{
    struct td_message messages[6];
    const struct td_request request = request_of(asked, messages);
    const struct conversation_keys keys = conversation_id_keys(&request);
    const enum td_data_class found[2] = {data_class, TD_CLASS_PUBLIC};
    conversation_id_answer(classes, &request, &keys,
                           conversation_id_hear(CONVERSATION_ID_SILENCE, str_from(text)), found);
}

static const struct identity hi = {"key", NULL, NULL, {"Uhi"}};
static const struct identity ann = {"key", NULL, NULL, {"Uhi", "Ahi Ann", "Umy card"}};
static const struct identity bob = {"key", NULL, NULL, {"Uhi", "Ahi Bob", "Ua poem"}};

/* Two people behind one address, or one application's key, begin with "hi". */
static void test_a_conversation_does_not_get_the_class_of_one_that_opened_alike(void)
{
    for (int bob_first = 0; bob_first < 2; bob_first++) {
        struct conversation_classes *classes = conversation_classes_new(8);
        REQUIRE(classes != NULL);
        if (bob_first)
            answer(classes, &hi, "hi  Bob\n", TD_CLASS_PUBLIC);
        answer(classes, &hi, "hi Ann", TD_CLASS_PUBLIC);
        CHECK(raise_to(classes, &ann, false, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
        CHECK(raise_to(classes, &hi, false, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        if (!bob_first)
            answer(classes, &hi, "hi Bob", TD_CLASS_PUBLIC);
        CHECK(raise_to(classes, &bob, false, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        CHECK(raise_to(classes, &bob, true, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        CHECK(raise_to(classes, &bob, false, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
        CHECK(raise_to(classes, &bob, false, TD_CLASS_PUBLIC) == TD_CLASS_SENSITIVE);
        CHECK(raise_to(classes, &ann, false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        conversation_classes_free(classes);
    }
}

/* The class that a conversation opened with is known after its first answer, too. */
static void test_a_conversation_goes_on_with_the_class_that_it_opened_with(void)
{
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    raise_to(classes, &hi, false, TD_CLASS_RESTRICTED);
    answer(classes, &hi, "hi Ann", TD_CLASS_RESTRICTED);
    answer(classes, &hi, "hi Bob", TD_CLASS_PUBLIC);
    CHECK(raise_to(classes, &ann, false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(raise_to(classes, &bob, false, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    answer(classes, &hi, "hi Bob", TD_CLASS_RESTRICTED); /* the same answer to both: they share */
    CHECK(raise_to(classes, &bob, false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
}

/* Whoever changes or leaves out what was said early on gets the highest class of all that opened
 * so. */
static void test_no_class_is_lost_by_changing_what_was_said_early(void)
{
    static const struct identity changed[] = {
        {"key", NULL, NULL, {"Uhi", "Ahi Ann!", "Umy card", "Aok", "Ugo on"}},
        {"key", NULL, NULL, {"Uhi", "A", "Ugo on"}},
        {"key", NULL, NULL, {"Uhi", "Aok", "Ugo on"}},
        {"key", NULL, NULL, {"Uhi", "Ugo on"}},
        {"key", NULL, NULL, {"Uhi", "Umy card", "Ugo on"}},
        {"key", NULL, NULL, {"Snew", "Uh i", "Snew", "Ahi Ann", "Ugo on"}},
        {"key", NULL, "ann", {"Uhi", "Tmade up", "Ugo on"}},
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        struct conversation_classes *classes = conversation_classes_new(8);
        REQUIRE(classes != NULL);
        answer(classes, &hi, "hi Ann", TD_CLASS_PUBLIC);
        raise_to(classes, &ann, false, TD_CLASS_RESTRICTED);
        CHECK(raise_to(classes, &changed[i], false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        CHECK(raise_to(classes, &changed[i], false, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        conversation_classes_free(classes);
    }
}

static void test_white_space_says_nothing_and_other_signs_do(void)
{
    uint64_t key = keys_of(&(struct identity){.messages = {"Uhello you"}}).opening;
    for (int c = 1; c < 256; c++) {
        const char text[] = {'U', 'h', 'e', 'l', 'l', 'o', (char)c, 'y', 'o', 'u', (char)c, '\0'};
        bool white = c == ' ' || (c >= '\t' && c <= '\r');
        CHECK((keys_of(&(struct identity){.messages = {text}}).opening == key) == white);
    }
}

static void test_of_two_classes_the_higher_counts(void)
{
    for (int a = TD_CLASS_PUBLIC; a <= TD_CLASS_RESTRICTED; a++)
        for (int b = TD_CLASS_PUBLIC; b <= TD_CLASS_RESTRICTED; b++)
            CHECK(classify_higher((enum td_data_class)a, (enum td_data_class)b) ==
                  (enum td_data_class)(a > b ? a : b));
}

/* JSON as deep as is read, and one level deeper, which nobody has looked at. */
static void test_what_is_nested_too_deeply_is_restricted(void)
{
    for (int lists = 60; lists <= 64; lists++) {
        char text[256] = "{\"x\":";
        size_t len = strlen(text);
        memset(text + len, '[', (size_t)lists);
        len += (size_t)lists;
        text[len++] = '1';
        memset(text + len, ']', (size_t)lists);
        memcpy(text + len + (size_t)lists, "}", 2);
        struct json *body = NULL;
        enum td_status status = json_parse(str_from(text), &body, NULL);
        json_free(body);
        if (status == TD_OK) /* what the reader of JSON takes is looked at to its end */
            CHECK(class_of_body(text) == TD_CLASS_PUBLIC);
    }
    struct json *value = json_new_int(1);
    for (int depth = 1; depth <= 70; depth++) {
        const struct request_member member = {"x", REQUEST_OTHER, value};
        const struct td_request request = {.members = &member, .member_count = 1};
        /* the member's value is at depth 1 */
        CHECK(classify_request(plain_scanner(), &request, NULL) ==
              (depth <= 64 ? TD_CLASS_PUBLIC : TD_CLASS_RESTRICTED));
        struct json *list = json_new_array();
        json_push(list, value);
        value = list;
    }
    json_free(value);
}

/* A number is read with all its digits, whole or not, in whatever form it came. */
static void test_numbers_of_members_are_read_with_all_their_digits(void)
{
    CHECK(class_of_body("{\"card\":4111111111111111}") == TD_CLASS_RESTRICTED);
    CHECK(class_of_body("{\"card\":4111111111111111.0}") == TD_CLASS_RESTRICTED);
    CHECK(class_of_body("{\"card\":4.111111111111111e15}") == TD_CLASS_RESTRICTED);
    CHECK(class_of_body("{\"card\":4111111111111112}") < TD_CLASS_RESTRICTED);
    CHECK(class_of_body("{\"n\":1e300,\"m\":-1e18,\"k\":0.5}") == TD_CLASS_PUBLIC);
}

/* Stops stand among the members; where there are none, they are read themselves. */
static void test_stops_are_read_where_no_members_are(void)
{
    const struct td_message message = {TD_ROLE_USER, STR("hi")};
    const struct td_str stops[] = {STR("x"), STR(MAIL)};
    struct td_request request = {
        .messages = &message, .message_count = 1, .stops = stops, .stop_count = 2};
    CHECK(classify_request(plain_scanner(), &request, NULL) == TD_CLASS_SENSITIVE);
    request.stop_count = 1;
    CHECK(classify_request(plain_scanner(), &request, NULL) == TD_CLASS_PUBLIC);
}

int main(void)
{
    RUN(test_a_conversation_is_its_opening_and_its_first_answer);
    RUN(test_an_answer_is_heard_as_it_is_sent_back);
    RUN(test_a_conversation_does_not_get_the_class_of_one_that_opened_alike);
    RUN(test_a_conversation_goes_on_with_the_class_that_it_opened_with);
    RUN(test_no_class_is_lost_by_changing_what_was_said_early);
    RUN(test_a_conversation_shares_its_vault_with_no_other);
    RUN(test_vaults_are_forgotten_in_one_tenant_or_in_all);
    RUN(test_only_the_scanned_content_is_skipped_in_the_body);
    RUN(test_findings_are_counted_once);
    RUN(test_parts_are_read_as_one_text);
    RUN(test_a_text_knows_whether_it_stands_in_instructions);
    RUN(test_each_part_of_how_a_conversation_began_makes_another_digest);
    RUN(test_an_owners_two_halves_are_the_user_and_the_user_of_a_tenant);
    RUN(test_the_class_of_a_conversation_and_of_what_is_left_of_it_are_two);
    RUN(test_what_was_given_up_is_asked_for_when_somebody_has_said_more);
    RUN(test_white_space_says_nothing_and_other_signs_do);
    RUN(test_of_two_classes_the_higher_counts);
    RUN(test_what_is_nested_too_deeply_is_restricted);
    RUN(test_numbers_of_members_are_read_with_all_their_digits);
    RUN(test_stops_are_read_where_no_members_are);
    return test_finish();
}
