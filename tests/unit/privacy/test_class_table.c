/* The table of classes: who gives up what, and its bytes, of which none that were changed are
 * believed. */
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/crypto/keyed.h"
#include "base/time/clock.h"
#include "privacy/scan/conversation.h"
#include "privacy/scan/forgotten.h"
#include "test.h"

#include <stdlib.h>

#define MARK "tandem classes 2\n"
#define MARK_BYTES (sizeof MARK - 1)
#define COUNT_AT (MARK_BYTES + KEYED_KEY_BYTES)
#define HASH_AT (COUNT_AT + 4)
#define OWNERS_AT (HASH_AT + 8)
#define BYTES_MAX (1 << 20)

static enum td_data_class begin(struct conversation_classes *classes, const char *owner,
                                uint64_t key, enum td_data_class seen)
{
    const struct conversation conversation = {.key = key, .owner = owner};
    return conversation_classes_raise(classes, &conversation, seen);
}

static enum td_data_class go_on(struct conversation_classes *classes, const char *owner,
                                uint64_t key, enum td_data_class seen)
{
    const struct conversation conversation = {.key = key, .owner = owner, .goes_on = true};
    return conversation_classes_raise(classes, &conversation, seen);
}

/* A table with a salt that is always the same, under which "anna" and "bert" are two owners. */
static struct conversation_classes *table_of(size_t capacity)
{
    struct conversation_classes *classes = conversation_classes_new(capacity);
    struct buf bytes;
    size_t damaged = 1;
    const uint32_t count = 0;
    const uint64_t hash = hash_words64("", 0);
    buf_init(&bytes, BYTES_MAX);
    buf_append_str(&bytes, STR(MARK "0123456789abcdef0123456789abcdef"));
    buf_append(&bytes, &count, sizeof count);
    buf_append(&bytes, &hash, sizeof hash);
    CHECK(classes && conversation_classes_read(classes, buf_view(&bytes), &damaged));
    CHECK(damaged == 0);
    buf_deinit(&bytes);
    return classes;
}

/* What the table is as bytes. */
static void write_table(struct conversation_classes *classes, struct buf *out)
{
    buf_init(out, BYTES_MAX);
    conversation_classes_write(classes, out);
    CHECK(!out->failed && str_starts_with(buf_view(out), STR(MARK)));
}

/* The table that the bytes are; NULL: they were refused. */
static struct conversation_classes *read_table(struct td_str bytes, size_t capacity,
                                               size_t *damaged)
{
    struct conversation_classes *classes = conversation_classes_new(capacity);
    if (classes && conversation_classes_read(classes, bytes, damaged))
        return classes;
    conversation_classes_free(classes);
    return NULL;
}

/* --- who gives up what --- */

static void test_a_table_has_room_for_one_at_least_and_not_for_all_that_can_be_counted(void)
{
    CHECK(conversation_classes_new(0) == NULL);
    CHECK(conversation_classes_new(UINT32_MAX / 4 + (size_t)1) == NULL);
    struct conversation_classes *classes = table_of(1);
    CHECK(conversation_classes_records_max(classes) == 2);
    CHECK(begin(classes, NULL, 1, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
    CHECK(begin(classes, NULL, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(begin(classes, NULL, 2, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
    CHECK(begin(classes, NULL, 1, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(begin(classes, NULL, 2, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
}

/* The lowest class leaves first, and of it what was not used for longest; a newcomer of a lower
 * class than all leaves itself. Compared with a plain list, from the longest unused on. */
static void test_a_full_table_agrees_with_a_plain_list(void)
{
    enum { CAPACITY = 5, KEYS = 24 };
    struct {
        uint64_t key;
        enum td_data_class data_class;
    } list[CAPACITY + 1], own;
    struct conversation_classes *classes = table_of(CAPACITY);
    size_t count = 0;
    uint64_t x = 1;
    for (int i = 0; i < 20000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        own.key = (x >> 33) % KEYS;
        own.data_class = (enum td_data_class)((x >> 20) % 4);
        enum td_data_class seen = own.data_class;
        size_t at = 0, leaves = 0;
        while (at < count && list[at].key != own.key)
            at++;
        if (at < count) {
            own.data_class = list[at].data_class > seen ? list[at].data_class : seen;
            count--;
            memmove(&list[at], &list[at + 1], (count - at) * sizeof *list);
        }
        if (own.data_class > TD_CLASS_PUBLIC)
            list[count++] = own;
        for (size_t k = 1; k < count; k++)
            leaves = list[k].data_class < list[leaves].data_class ? k : leaves;
        if (count > CAPACITY) {
            count--;
            memmove(&list[leaves], &list[leaves + 1], (count - leaves) * sizeof *list);
        }
        CHECK(begin(classes, "anna", own.key, seen) == own.data_class);
    }
    conversation_classes_free(classes);
}

static void test_of_two_who_have_as_many_the_newcomers_owner_gives_one_up(void)
{
    static const char *const owners[] = {"anna", "bert"};
    for (int newcomer = 0; newcomer < 2; newcomer++) {
        struct conversation_classes *classes = table_of(4);
        for (uint64_t key = 0; key < 4; key++)
            begin(classes, owners[key % 2], key, TD_CLASS_RESTRICTED);
        begin(classes, owners[newcomer], 10, TD_CLASS_RESTRICTED);
        CHECK(begin(classes, owners[newcomer], (uint64_t)newcomer, TD_CLASS_PUBLIC) ==
              TD_CLASS_PUBLIC);
        for (uint64_t key = 0; key < 4; key++)
            CHECK(key == (uint64_t)newcomer ||
                  begin(classes, owners[key % 2], key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        conversation_classes_free(classes);
    }
}

/* Whoever has most gives up even what protects more than the newcomer. */
static void test_who_has_few_gets_room_for_a_lower_class_too(void)
{
    struct conversation_classes *classes = table_of(4);
    for (uint64_t key = 0; key < 4; key++)
        begin(classes, "anna", key, TD_CLASS_RESTRICTED);
    begin(classes, "anna", 9, TD_CLASS_SENSITIVE); /* below all of anna's: itself is given up */
    for (uint64_t key = 0; key < 4; key++)
        CHECK(begin(classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(begin(classes, "anna", 9, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(go_on(classes, "anna", 9, TD_CLASS_PUBLIC) == TD_CLASS_SENSITIVE);
    begin(classes, "bert", 10, TD_CLASS_SENSITIVE);
    CHECK(begin(classes, "bert", 10, TD_CLASS_PUBLIC) == TD_CLASS_SENSITIVE);
    CHECK(begin(classes, "anna", 0, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(go_on(classes, "anna", 0, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(go_on(classes, "bert", 1, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC); /* it was not bert's */
    conversation_classes_free(classes);
}

static void test_nobody_pushes_out_the_conversations_of_somebody_who_has_fewer(void)
{
    enum { CAPACITY = 64 };
    struct conversation_classes *classes = table_of(CAPACITY);
    for (uint64_t key = 1; key <= 8; key++)
        begin(classes, "anna", key, TD_CLASS_RESTRICTED);
    for (uint64_t key = 1000; key < 1000 + 100 * CAPACITY; key++)
        begin(classes, "bert", key, TD_CLASS_RESTRICTED);
    for (uint64_t key = 1; key <= 8; key++) /* from the table: also where nothing goes on */
        CHECK(begin(classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(go_on(classes, "anna", 99, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    conversation_classes_free(classes);
}

/* --- rises --- */

struct rises {
    struct buf bytes;
    size_t count;
};

static void note_rise(void *ctx, const uint8_t record[static CONVERSATION_RECORD_BYTES])
{
    struct rises *rises = ctx;
    rises->count++;
    buf_append(&rises->bytes, record, CONVERSATION_RECORD_BYTES);
}

static void test_each_rise_is_told_once_and_the_records_alone_make_the_table(void)
{
    static const struct {
        uint64_t key;
        enum td_data_class seen;
        size_t rises;
    } turns[] = {{1, TD_CLASS_PUBLIC, 0},     {1, TD_CLASS_SENSITIVE, 1},
                 {1, TD_CLASS_SENSITIVE, 1},  {1, TD_CLASS_PUBLIC, 1},
                 {2, TD_CLASS_RESTRICTED, 2}, {1, TD_CLASS_CONTRACTUAL, 3},
                 {2, TD_CLASS_SENSITIVE, 3},  {3, TD_CLASS_SENSITIVE, 4}};
    struct conversation_classes *classes = table_of(8);
    struct rises rises = {.count = 0};
    size_t damaged = 1;
    write_table(classes, &rises.bytes);
    conversation_classes_watch(classes, note_rise, &rises);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        begin(classes, "anna", turns[i].key, turns[i].seen);
        CHECK(rises.count == turns[i].rises);
    }
    conversation_classes_watch(classes, NULL, NULL);
    begin(classes, "anna", 4, TD_CLASS_RESTRICTED);
    CHECK(rises.count == 4);
    struct conversation_classes *again = read_table(buf_view(&rises.bytes), 8, &damaged);
    REQUIRE(again != NULL && damaged == 0);
    CHECK(begin(again, "anna", 1, TD_CLASS_PUBLIC) == TD_CLASS_CONTRACTUAL);
    CHECK(begin(again, "anna", 2, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(begin(again, "anna", 3, TD_CLASS_PUBLIC) == TD_CLASS_SENSITIVE);
    CHECK(begin(again, "anna", 4, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    conversation_classes_free(again);
    conversation_classes_free(classes);
    buf_deinit(&rises.bytes);
}

/* --- bytes --- */

/* Less room, and the highest classes stay, and of one class what was used last. */
static void test_a_smaller_table_keeps_the_highest_and_the_last(void)
{
    struct conversation_classes *classes = table_of(8);
    struct buf bytes;
    size_t damaged;
    for (uint64_t key = 0; key < 8; key++)
        begin(classes, "anna", key, key < 3 ? TD_CLASS_RESTRICTED : TD_CLASS_SENSITIVE);
    begin(classes, "anna", 3, TD_CLASS_PUBLIC); /* used once more */
    write_table(classes, &bytes);
    conversation_classes_free(classes);
    classes = read_table(buf_view(&bytes), 4, &damaged);
    REQUIRE(classes != NULL && damaged == 0);
    for (uint64_t key = 0; key < 8; key++) {
        enum td_data_class own = key < 3 ? TD_CLASS_RESTRICTED : TD_CLASS_SENSITIVE;
        CHECK(begin(classes, "anna", key, TD_CLASS_PUBLIC) == (key < 4 ? own : TD_CLASS_PUBLIC));
        CHECK(go_on(classes, "anna", key, TD_CLASS_PUBLIC) == own);
    }
    conversation_classes_free(classes);
    buf_deinit(&bytes);
}

/* Three records, of which the one in the middle was changed. */
static void test_a_changed_record_is_counted_and_passed_over(void)
{
    struct conversation_classes *classes = table_of(8);
    struct buf bytes;
    for (uint64_t key = 0; key < 3; key++)
        begin(classes, "anna", key, TD_CLASS_RESTRICTED);
    write_table(classes, &bytes);
    conversation_classes_free(classes);
    const size_t middle = bytes.len - 2 * (size_t)CONVERSATION_RECORD_BYTES;
    for (size_t i = 0; i <= CONVERSATION_RECORD_BYTES; i++) {
        size_t damaged = 9;
        bool changed = i < CONVERSATION_RECORD_BYTES;
        bytes.data[middle + i] ^= (char)changed;
        classes = read_table(buf_view(&bytes), 8, &damaged);
        bytes.data[middle + i] ^= (char)changed;
        REQUIRE(classes != NULL && damaged == changed);
        for (uint64_t key = 0; key < 3; key++)
            CHECK(begin(classes, "anna", key, TD_CLASS_PUBLIC) ==
                  (changed && key == 1 ? TD_CLASS_PUBLIC : TD_CLASS_RESTRICTED));
        conversation_classes_free(classes);
    }
    buf_deinit(&bytes);
}

/* A class or owner that cannot be is not believed, though the check is right. */
static void test_a_record_of_no_class_or_owner_is_damaged(void)
{
    static const struct {
        uint16_t owner;
        uint8_t data_class;
        size_t damaged;
    } cases[] = {{255, TD_CLASS_RESTRICTED, 0},
                 {256, TD_CLASS_RESTRICTED, 1},
                 {65535, TD_CLASS_RESTRICTED, 1},
                 {0, TD_CLASS_RESTRICTED + 1, 1},
                 {0, 255, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversation_classes *classes = table_of(8);
        struct buf bytes;
        size_t damaged = 9;
        uint8_t record[CONVERSATION_RECORD_BYTES] = {1}, mac[KEYED_MAC_BYTES];
        write_table(classes, &bytes);
        conversation_classes_free(classes);
        memcpy(record + 8, &cases[i].owner, 2);
        record[10] = cases[i].data_class;
        keyed_mac((const uint8_t *)bytes.data + MARK_BYTES, record, 12, mac);
        memcpy(record + 12, mac, 4);
        buf_append(&bytes, record, sizeof record);
        buf_append(&bytes, record, sizeof record - 1); /* one that was not written to its end */
        classes = read_table(buf_view(&bytes), 8, &damaged);
        CHECK(classes != NULL && damaged == cases[i].damaged);
        conversation_classes_free(classes);
        buf_deinit(&bytes);
    }
}

/* A table that has given something up for two owners. */
static void write_given_up(struct buf *out)
{
    struct conversation_classes *classes = table_of(2);
    for (uint64_t key = 0; key < 4; key++) {
        begin(classes, "anna", key, TD_CLASS_RESTRICTED);
        begin(classes, "bert", key + 100, TD_CLASS_RESTRICTED);
    }
    write_table(classes, out);
    conversation_classes_free(classes);
}

static void test_what_is_cut_before_the_records_is_refused(void)
{
    struct buf bytes;
    size_t damaged;
    write_given_up(&bytes);
    const size_t records = bytes.len - 2 * (size_t)CONVERSATION_RECORD_BYTES;
    for (size_t len = 0; len <= bytes.len; len++) {
        struct conversation_classes *classes =
            read_table(str_slice(buf_view(&bytes), 0, len), 2, &damaged);
        CHECK((classes != NULL) == (len >= records));
        CHECK(classes == NULL || damaged == 0);
        conversation_classes_free(classes);
    }
    buf_deinit(&bytes);
}

static void test_what_was_changed_before_the_records_is_refused(void)
{
    struct buf bytes;
    size_t damaged;
    write_given_up(&bytes);
    const size_t records = bytes.len - 2 * (size_t)CONVERSATION_RECORD_BYTES;
    for (size_t at = COUNT_AT; at < records; at++) {
        bytes.data[at] ^= 1;
        struct conversation_classes *classes = read_table(buf_view(&bytes), 2, &damaged);
        bytes.data[at] ^= 1;
        CHECK(classes == NULL);
        conversation_classes_free(classes);
    }
    buf_deinit(&bytes);
}

/* The same owner twice, and one beyond the last, under a hash that is right. */
static void test_owners_that_cannot_be_are_refused(void)
{
    static const struct {
        uint32_t first, second;
        bool read;
    } cases[] = {{0, 255, true}, {7, 7, false}, {3, 256, false}, {UINT32_MAX, 3, false}};
    struct buf bytes;
    write_given_up(&bytes);
    const size_t records = bytes.len - 2 * (size_t)CONVERSATION_RECORD_BYTES;
    const size_t each = (records - OWNERS_AT) / 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t damaged;
        memcpy(bytes.data + OWNERS_AT, &cases[i].first, 4);
        memcpy(bytes.data + OWNERS_AT + each, &cases[i].second, 4);
        uint64_t hash = hash_words64(bytes.data + OWNERS_AT, records - OWNERS_AT);
        memcpy(bytes.data + HASH_AT, &hash, sizeof hash);
        struct conversation_classes *classes = read_table(buf_view(&bytes), 2, &damaged);
        CHECK((classes != NULL) == cases[i].read);
        conversation_classes_free(classes);
    }
    buf_deinit(&bytes);
}

/* Of the first version nobody is the owner; whoever goes on with it is, and gives it up as such. */
static void test_an_entry_of_nobody_becomes_its_users(void)
{
    char text[17 + 32 + 2 * 9] = "tandem classes 1\n";
    uint8_t mac[KEYED_MAC_BYTES];
    size_t damaged = 9;
    memset(text + 17, 5, 32);
    for (uint64_t key = 0; key < 2; key++) {
        keyed_mac((const uint8_t *)text + 17, &key, sizeof key, mac);
        memcpy(text + 49 + 9 * key, mac, 8);
        text[57 + 9 * key] = TD_CLASS_RESTRICTED;
    }
    struct conversation_classes *classes =
        read_table((struct td_str){text, sizeof text}, 2, &damaged);
    REQUIRE(classes != NULL && damaged == 0);
    for (uint64_t key = 0; key < 2; key++)
        CHECK(begin(classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    for (uint64_t key = 10; key < 12; key++)
        begin(classes, "anna", key, TD_CLASS_RESTRICTED);
    for (uint64_t key = 0; key < 2; key++)
        CHECK(go_on(classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
    text[57] = TD_CLASS_RESTRICTED + 1;
    classes = read_table((struct td_str){text, sizeof text}, 2, &damaged);
    CHECK(classes != NULL && damaged == 1);
    conversation_classes_free(classes);
}

/* --- what was given up --- */

struct head {
    uint64_t since_ms, newer, bits;
};

static void write_filter(const struct forgotten *forgotten, struct buf *out, struct head *head)
{
    buf_init(out, BYTES_MAX);
    forgotten_write(forgotten, out);
    memcpy(head, out->data, sizeof *head);
}

static void test_the_highest_class_that_was_given_up_is_found(void)
{
    static const enum td_data_class order[][2] = {{TD_CLASS_SENSITIVE, TD_CLASS_RESTRICTED},
                                                  {TD_CLASS_RESTRICTED, TD_CLASS_SENSITIVE},
                                                  {TD_CLASS_SENSITIVE, TD_CLASS_CONTRACTUAL}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct forgotten *forgotten = forgotten_new(64);
        REQUIRE(forgotten != NULL);
        CHECK(forgotten_find(forgotten, 7) == TD_CLASS_PUBLIC);
        forgotten_add(forgotten, 7, order[i][0]);
        CHECK(forgotten_find(forgotten, 7) == order[i][0]);
        forgotten_add(forgotten, 7, order[i][1]);
        CHECK(forgotten_find(forgotten, 7) ==
              (order[i][0] > order[i][1] ? order[i][0] : order[i][1]));
        CHECK(forgotten_find(forgotten, 1000) == TD_CLASS_PUBLIC);
        free(forgotten);
    }
}

static void test_a_filter_that_is_malformed_is_refused(void)
{
    struct buf bytes;
    struct head head, other;
    struct forgotten *forgotten = forgotten_new(64);
    REQUIRE(forgotten != NULL);
    write_filter(forgotten, &bytes, &head);
    CHECK(bytes.len == sizeof head + head.bits / 4);
    const struct {
        uint64_t newer, bits;
        size_t len;
        bool read;
    } cases[] = {
        {0, head.bits, bytes.len, true},
        {1, head.bits, bytes.len, true},
        {2, head.bits, bytes.len, false},
        {0, head.bits, bytes.len - 1, false},
        {0, head.bits, sizeof head - 1, false},
        {0, head.bits, 0, false},
        {0, head.bits / 2, bytes.len, false},
        {0, head.bits - 64, bytes.len, false},
        {0, head.bits * 2, bytes.len, false}, /* more than there are */
        {0, 0, bytes.len, false},
        {0, UINT64_MAX, bytes.len, false},
        {0, UINT64_C(1) << 63, bytes.len, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        other = (struct head){head.since_ms, cases[i].newer, cases[i].bits};
        memcpy(bytes.data, &other, sizeof other);
        struct td_str text = str_slice(buf_view(&bytes), 0, cases[i].len);
        CHECK(forgotten_read(forgotten, &text) == cases[i].read);
        CHECK(text.len == (cases[i].read ? 0 : cases[i].len));
    }
    free(forgotten);
    buf_deinit(&bytes);
}

/* Room grows with the capacity, and ends. */
static void test_a_filter_has_bits_for_its_capacity_within_limits(void)
{
    static const struct {
        size_t capacity;
        uint64_t bits;
    } cases[] = {{1, 1 << 12},   {64, 1 << 12},    {65, 1 << 13},    {128, 1 << 13},
                 {129, 1 << 14}, {16384, 1 << 20}, {16385, 1 << 21}, {SIZE_MAX, 1 << 21}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct forgotten *forgotten = forgotten_new(cases[i].capacity);
        struct buf bytes;
        struct head head;
        REQUIRE(forgotten != NULL);
        write_filter(forgotten, &bytes, &head);
        CHECK(head.bits == cases[i].bits);
        free(forgotten);
        buf_deinit(&bytes);
    }
}

/* A clock that was put back does not keep what was given up for longer than from now on. */
static void test_a_time_that_has_not_come_yet_counts_as_now(void)
{
    struct buf bytes;
    struct head head;
    struct forgotten *forgotten = forgotten_new(64);
    REQUIRE(forgotten != NULL);
    forgotten_add(forgotten, 1, TD_CLASS_RESTRICTED);
    write_filter(forgotten, &bytes, &head);
    head.since_ms += UINT64_C(1000) * 86400000;
    memcpy(bytes.data, &head, sizeof head);
    struct td_str text = buf_view(&bytes);
    CHECK(forgotten_read(forgotten, &text));
    forgotten_add(forgotten, 2, TD_CLASS_RESTRICTED);
    CHECK(forgotten_find(forgotten, 1) == TD_CLASS_RESTRICTED);
    CHECK(forgotten_find(forgotten, 2) == TD_CLASS_RESTRICTED);
    buf_deinit(&bytes);
    write_filter(forgotten, &bytes, &head);
    CHECK(head.since_ms <= clock_wall_ms(NULL) && head.newer == 0);
    free(forgotten);
    buf_deinit(&bytes);
}

static bool has_met(struct conversation_classes *classes, uint64_t key)
{
    const struct conversation conversation = {.key = key};
    return conversation_classes_has_met(classes, &conversation);
}

/* However many come, there is room for some, the latest among them, and no other is taken for one.
 * A class does not make a conversation one that was met. */
static void test_the_latest_conversations_that_were_met_are_known(void)
{
    struct conversation_classes *classes = table_of(4);
    begin(classes, "anna", 7, TD_CLASS_RESTRICTED);
    CHECK(!has_met(classes, 7));
    for (uint64_t key = 100; key < 1100; key++) {
        const struct conversation conversation = {.key = key};
        CHECK(!has_met(classes, key));
        conversation_classes_meet(classes, &conversation);
        conversation_classes_meet(classes, &conversation);
        CHECK(has_met(classes, key));
    }
    size_t known = 0;
    for (uint64_t key = 0; key < 1100; key++)
        known += has_met(classes, key);
    CHECK(known == 16);
    conversation_classes_free(classes);
}

static void test_a_class_is_found_also_after_it_was_given_up(void)
{
    struct conversation_classes *classes = table_of(1);
    const struct conversation one = {.key = 1, .owner = "anna"}, two = {.key = 2, .owner = "anna"};
    CHECK(conversation_classes_find(classes, &one) == TD_CLASS_PUBLIC);
    begin(classes, "anna", 1, TD_CLASS_CONTRACTUAL);
    CHECK(conversation_classes_find(classes, &one) == TD_CLASS_CONTRACTUAL);
    begin(classes, "anna", 2, TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_find(classes, &one) == TD_CLASS_CONTRACTUAL);
    begin(classes, "anna", 1, TD_CLASS_CONTRACTUAL); /* is itself given up */
    CHECK(conversation_classes_find(classes, &one) == TD_CLASS_CONTRACTUAL);
    CHECK(conversation_classes_find(classes, &two) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
}

int main(void)
{
    RUN(test_a_table_has_room_for_one_at_least_and_not_for_all_that_can_be_counted);
    RUN(test_a_full_table_agrees_with_a_plain_list);
    RUN(test_of_two_who_have_as_many_the_newcomers_owner_gives_one_up);
    RUN(test_who_has_few_gets_room_for_a_lower_class_too);
    RUN(test_nobody_pushes_out_the_conversations_of_somebody_who_has_fewer);
    RUN(test_each_rise_is_told_once_and_the_records_alone_make_the_table);
    RUN(test_a_smaller_table_keeps_the_highest_and_the_last);
    RUN(test_a_changed_record_is_counted_and_passed_over);
    RUN(test_a_record_of_no_class_or_owner_is_damaged);
    RUN(test_what_is_cut_before_the_records_is_refused);
    RUN(test_what_was_changed_before_the_records_is_refused);
    RUN(test_owners_that_cannot_be_are_refused);
    RUN(test_an_entry_of_nobody_becomes_its_users);
    RUN(test_the_highest_class_that_was_given_up_is_found);
    RUN(test_a_filter_that_is_malformed_is_refused);
    RUN(test_a_filter_has_bits_for_its_capacity_within_limits);
    RUN(test_a_time_that_has_not_come_yet_counts_as_now);
    RUN(test_the_latest_conversations_that_were_met_are_known);
    RUN(test_a_class_is_found_also_after_it_was_given_up);
    return test_finish();
}
