/* What is remembered of where exchanges began: found by the same person with a near sketch, over
 * restarts, until it expires or is erased; the file shows nothing without the key and is not
 * believed where it was touched. */
#include "exchange/memory/consistency.h"

#include "base/core/str.h"
#include "exchange/memory/consistency_file.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MS UINT64_C(86400000)
#define NEAR 30

static char path[] = "/tmp/test_consistency_XXXXXX";
static uint64_t wall_ms;

static uint64_t read_wall(void *ctx)
{
    (void)ctx;
    return wall_ms;
}

static const struct clock test_clock = {.wall_ms = read_wall};

static struct consistency *open_with(const char *file, uint32_t entries_max, uint8_t key)
{
    struct consistency *consistency = NULL;
    struct td_error err = {0};
    struct consistency_options options = {
        .path = file, .entries_max = entries_max, .ttl_s = 30 * 86400, .clock = &test_clock};
    memset(options.key, key, sizeof options.key);
    CHECK(consistency_open(&options, &consistency, &err) == TD_OK);
    return consistency;
}

static void begin(void)
{
    unlink(path);
    wall_ms = UINT64_C(1800000000000);
}

static struct consistency_person person_of(struct consistency *c, const char *caller,
                                           const char *user, const char *route)
{
    struct consistency_person person;
    struct td_request request = {.caller = caller, .user = user};
    consistency_identify(c, CONSISTENCY_QUESTIONS, &request, route, &person);
    return person;
}

static const uint64_t question[2] = {0x0123456789abcdef, 0xfedcba9876543210};

static void flip_bits(const uint64_t from[2], unsigned count, uint64_t to[2])
{
    to[0] = from[0] ^ (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1);
    to[1] = from[1];
}

static bool found(struct consistency *c, const struct consistency_person *person, unsigned away,
                  const char *tier)
{
    uint64_t bits[2], hash;
    flip_bits(question, away, bits);
    return consistency_find(c, person, bits, NEAR, &hash) &&
           (!tier || hash == consistency_tier_hash(tier));
}

static void put(struct consistency *c, const struct consistency_person *person, unsigned away,
                const char *user, const char *tier)
{
    uint64_t bits[2];
    struct td_request request = {.user = user};
    flip_bits(question, away, bits);
    consistency_put(c, person, bits, NEAR, &request, consistency_tier_hash(tier));
}

static void test_a_near_question_of_the_same_person_is_found_and_of_nobody_else(void)
{
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    struct consistency_person ann = person_of(c, "app", "ann", "auto");
    CHECK(!found(c, &ann, 0, NULL));
    put(c, &ann, 0, "ann", "cloud");
    CHECK(found(c, &ann, 0, "cloud") && found(c, &ann, NEAR, "cloud"));
    CHECK(!found(c, &ann, NEAR + 1, NULL));
    static const char *const others[][3] = {{"app", "bob", "auto"},  {"other", "ann", "auto"},
                                            {"app", "ann", "other"}, {"appa", "nn", "auto"},
                                            {NULL, "ann", "auto"},   {"app", NULL, "auto"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct consistency_person other = person_of(c, others[i][0], others[i][1], others[i][2]);
        CHECK(!found(c, &other, 0, NULL));
    }
    struct consistency_person conversation;
    struct td_request request = {.caller = "app", .user = "ann"};
    consistency_identify(c, CONSISTENCY_CONVERSATIONS, &request, "auto", &conversation);
    CHECK(!found(c, &conversation, 0, NULL));
    consistency_close(c);
}

static void test_the_nearest_one_speaks_and_all_near_ones_follow_the_last_word(void)
{
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    struct consistency_person ann = person_of(c, "", "ann", "auto");
    struct td_request request = {.user = "ann"};
    uint64_t far[2] = {~question[0], question[1]}, hash;
    put(c, &ann, 0, "ann", "local");
    /* 64 bits away */
    consistency_put(c, &ann, far, NEAR, &request, consistency_tier_hash("cloud"));
    CHECK(found(c, &ann, 20, "local"));
    CHECK(consistency_find(c, &ann, far, NEAR, &hash) && hash == consistency_tier_hash("cloud"));
    put(c, &ann, 20, "ann", "cloud");
    CHECK(found(c, &ann, 0, "cloud")); /* the first one, too */
    consistency_close(c);
}

static void test_it_survives_a_restart_and_not_its_time(void)
{
    begin();
    struct consistency *c = open_with(path, 64, 1);
    struct consistency_person ann = person_of(c, "", "ann", "auto");
    put(c, &ann, 0, "ann", "cloud");
    consistency_close(c);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    wall_ms += 29 * DAY_MS;
    c = open_with(path, 64, 1);
    CHECK(found(c, &ann, 0, "cloud"));
    put(c, &ann, 0, "ann", "cloud"); /* used: its time begins anew */
    consistency_close(c);
    wall_ms += 29 * DAY_MS;
    c = open_with(path, 64, 1);
    CHECK(found(c, &ann, 0, "cloud"));
    wall_ms += 2 * DAY_MS;
    CHECK(!found(c, &ann, 0, NULL)); /* while it runs, too */
    consistency_close(c);
    c = open_with(path, 64, 1);
    struct consistency_numbers numbers;
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == 0);
    consistency_close(c);
}

static size_t read_all(char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(out, 1, size, file) : 0;
    if (file)
        fclose(file);
    return len;
}

static void write_all(const char *data, size_t len)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK(fwrite(data, 1, len, file) == len);
    fclose(file);
}

static void test_the_file_names_nobody_and_a_user_is_overwritten_in_it(void)
{
    static char data[65536];
    begin();
    struct consistency *c = open_with(path, 64, 1);
    struct consistency_person ann = person_of(c, "", "annalisa-schmidt", "auto");
    struct consistency_person at_work = person_of(c, "app", "annalisa-schmidt", "other");
    struct consistency_person bob = person_of(c, "", "bob", "auto");
    put(c, &ann, 0, "annalisa-schmidt", "cloud");
    put(c, &at_work, 0, "annalisa-schmidt", "local");
    put(c, &bob, 0, "bob", "cloud");
    size_t len = read_all(data, sizeof data);
    CHECK(len == 64 + 3 * 64);
    CHECK(!memmem(data, len, "annalisa", 8) && !memmem(data, len, "cloud", 5));
    CHECK(!memmem(data, len, question, 8)); /* nor the sketch as it is */
    char before[64];
    memcpy(before, data + 64, sizeof before);
    uint64_t erased;
    CHECK(consistency_forget(c, NULL, "annalisa-schmidt", &erased, NULL) == TD_OK && erased == 2);
    CHECK(consistency_forget(c, NULL, "annalisa-schmidt", &erased, NULL) == TD_OK && erased == 0);
    CHECK(consistency_forget(c, NULL, "", &erased, NULL) == TD_OK && erased == 0);
    CHECK(!found(c, &ann, 0, NULL) && !found(c, &at_work, 0, NULL) && found(c, &bob, 0, "cloud"));
    len = read_all(data, sizeof data);
    CHECK(!memmem(data, len, before + 8, 8)); /* whose it was */
    consistency_close(c);
    c = open_with(path, 64, 1);
    CHECK(!found(c, &ann, 0, NULL) && found(c, &bob, 0, "cloud"));
    consistency_close(c);
}

static void test_what_was_touched_is_not_believed(void)
{
    static char data[65536], touched[65536];
    begin();
    struct consistency *c = open_with(path, 64, 1);
    struct consistency_person ann = person_of(c, "", "ann", "auto");
    put(c, &ann, 0, "ann", "cloud");
    consistency_close(c);
    size_t len = read_all(data, sizeof data);
    for (size_t bit = 64 * 8; bit < 8 * len; bit += 3) {
        memcpy(touched, data, len);
        touched[bit / 8] = (char)(touched[bit / 8] ^ 1 << bit % 8);
        write_all(touched, len);
        c = open_with(path, 64, 1);
        CHECK(!found(c, &ann, 0, NULL));
        consistency_close(c);
    }
    for (size_t cut = 65; cut < len; cut++) { /* a torn write */
        write_all(data, cut);
        c = open_with(path, 64, 1);
        CHECK(!found(c, &ann, 0, NULL));
        put(c, &ann, 0, "ann", "cloud");
        CHECK(found(c, &ann, 0, "cloud"));
        consistency_close(c);
    }
    memcpy(touched, data, len); /* a slot at another place */
    memcpy(touched + len, data + 64, 64);
    memset(touched + 64, 0, 64);
    write_all(touched, len + 64);
    c = open_with(path, 64, 1);
    CHECK(!found(c, &ann, 0, NULL));
    consistency_close(c);
    write_all(data, len);
    c = open_with(path, 64, 2); /* another key: it begins anew */
    CHECK(!found(c, &ann, 0, NULL));
    consistency_close(c);
    CHECK(read_all(data, sizeof data) == 64);
}

static void test_a_foreign_file_and_one_in_use_are_left_alone(void)
{
    struct consistency *c = NULL, *second = NULL;
    struct consistency_options options = {.path = path, .entries_max = 16, .clock = &test_clock};
    struct td_error err = {0};
    char text[64];
    begin();
    write_all("my diary, not a file of yours", 29);
    CHECK(consistency_open(&options, &c, &err) == TD_INVALID &&
          strstr(err.message, "move it away") != NULL);
    CHECK(read_all(text, sizeof text) == 29);
    begin();
    CHECK(consistency_open(&options, &c, &err) == TD_OK);
    CHECK(consistency_open(&options, &second, &err) == TD_BUSY);
    consistency_close(c);
    options.entries_max = 0;
    CHECK(consistency_open(&options, &c, &err) == TD_INVALID);
}

static void test_a_person_and_all_together_are_bounded(void)
{
    begin();
    struct consistency *c = open_with(path, 300, 1);
    struct consistency_person ann = person_of(c, "", "ann", "auto");
    struct consistency_numbers numbers;
    for (uint64_t i = 1; i <= 200; i++) {
        const uint64_t bits[2] = {i * 0x9e3779b97f4a7c15, i * 0xbf58476d1ce4e5b9};
        wall_ms += 1000;
        consistency_put(c, &ann, bits, 0, &(struct td_request){.user = "ann"}, 1);
    }
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == CONSISTENCY_PERSON_MAX);
    for (int i = 0; i < 1000; i++) {
        char user[16];
        snprintf(user, sizeof user, "u%d", i);
        struct consistency_person person = person_of(c, "", user, "auto");
        put(c, &person, 0, user, "local");
        CHECK(found(c, &person, 0, "local"));
    }
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == 300);
    consistency_close(c);
    struct stat info;
    CHECK(stat(path, &info) == 0 && info.st_size == 64 * 301);
    c = open_with(path, 20, 1); /* fewer than there are: the file is cut */
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries <= 20);
    CHECK(stat(path, &info) == 0 && info.st_size == 64 * 21);
    consistency_close(c);
}

static void test_costs_are_added_up_by_days_and_over_restarts(void)
{
    begin();
    struct consistency *c = open_with(path, 64, 1);
    struct consistency_count kept = {.result = CONSISTENCY_KEPT, .dearer = true, .usd = 0.25};
    consistency_count(c, &kept);
    kept = (struct consistency_count){.result = CONSISTENCY_KEPT, .gain = 0.05};
    consistency_count(c, &kept);
    consistency_count(
        c, &(struct consistency_count){.conversation = true, .result = CONSISTENCY_BARRED});
    struct consistency_numbers numbers;
    consistency_numbers(c, &numbers);
    CHECK(numbers.similar[CONSISTENCY_KEPT] == 2 && numbers.conversation[CONSISTENCY_BARRED] == 1);
    CHECK(numbers.gain > 0.049 && numbers.usd > 0.249);
    consistency_close(c);
    c = open_with(path, 64, 1);
    CHECK(consistency_usd_today(c) > 0.2499 && consistency_usd_today(c) < 0.2501);
    CHECK(consistency_may_lose(c, 0.02)); /* 0.05 of the two free ones */
    kept = (struct consistency_count){.result = CONSISTENCY_KEPT, .gain = 1.96};
    consistency_count(c, &kept);
    CHECK(!consistency_may_lose(c, 0.02) && !consistency_may_lose(c, 0));
    consistency_count_request(c); /* 2.01 are given up, 2.02 may be */
    CHECK(consistency_may_lose(c, 0.02));
    wall_ms += DAY_MS;
    CHECK(consistency_usd_today(c) <= 0 && consistency_may_lose(c, 0.02));
    consistency_close(c);
}

static void test_a_user_is_forgotten_in_one_tenant_or_in_all(void)
{
    static const char *const tenants[] = {"a", "b", NULL};
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    struct consistency_person people[3];
    uint64_t erased;
    for (int i = 0; i < 3; i++) {
        const struct td_request request = {.user = "ann", .tenant = tenants[i]};
        people[i] = person_of(c, tenants[i], "ann", "auto");
        consistency_put(c, &people[i], question, 0, &request, consistency_tier_hash("cloud"));
    }
    CHECK(consistency_forget(c, "c", "ann", &erased, NULL) == TD_OK && erased == 0);
    CHECK(consistency_forget(c, "a", "bob", &erased, NULL) == TD_OK && erased == 0);
    CHECK(consistency_forget(c, "a", "ann", &erased, NULL) == TD_OK && erased == 1);
    CHECK(!found(c, &people[0], 0, NULL) && found(c, &people[1], 0, "cloud"));
    CHECK(consistency_forget(c, NULL, "ann", &erased, NULL) == TD_OK && erased == 2);
    consistency_close(c);
}

/* A name of any length is one person's, also where two are alike for long. */
static void test_long_names_are_told_apart_to_their_last_byte(void)
{
    static const size_t lengths[] = {1, 31, 32, 33, 255, 256, 257, 258, 1000, 5000};
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char user[5001], other[5001];
        uint64_t erased = 7;
        memset(user, 'a', lengths[i]);
        user[lengths[i]] = '\0';
        memcpy(other, user, sizeof other);
        other[lengths[i] - 1] = 'b';
        struct consistency_person ann = person_of(c, "app", user, "auto");
        struct consistency_person bob = person_of(c, "app", other, "auto");
        struct consistency_person caller = person_of(c, other, "ann", "auto");
        struct consistency_person called = person_of(c, user, "ann", "auto");
        put(c, &ann, 0, user, "cloud");
        put(c, &called, 0, "ann", "cloud");
        CHECK(found(c, &ann, 0, "cloud") && !found(c, &bob, 0, NULL));
        CHECK(found(c, &called, 0, "cloud") && !found(c, &caller, 0, NULL));
        CHECK(consistency_forget(c, NULL, other, &erased, NULL) == TD_OK && erased == 0);
        CHECK(found(c, &ann, 0, "cloud"));
        CHECK(consistency_forget(c, NULL, user, &erased, NULL) == TD_OK && erased == 1);
        CHECK(!found(c, &ann, 0, NULL));
    }
    consistency_close(c);
}

static void test_an_entry_lives_for_its_time_after_its_last_use_and_no_longer(void)
{
    static const struct {
        int64_t after_s;
        bool lives;
    } ages[] = {{0, true},
                {30 * 86400 - 1, true},
                {30 * 86400, true},
                {30 * 86400 + 1, false},
                {-86400, true}}; /* a clock that was put back */
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        begin();
        struct consistency *c = open_with(NULL, 64, 1);
        struct consistency_person ann = person_of(c, "app", "ann", "auto");
        put(c, &ann, 0, "ann", "cloud");
        wall_ms += 86400000;
        put(c, &ann, 0, "ann", "cloud"); /* used again */
        wall_ms += (uint64_t)(ages[i].after_s * 1000);
        CHECK(found(c, &ann, 0, NULL) == ages[i].lives);
        consistency_close(c);
    }
}

/* Of a person with too many questions the one that was not used for longest goes. */
static void test_the_longest_unused_question_of_a_person_makes_room(void)
{
    begin();
    struct consistency *c = open_with(NULL, 1000, 1);
    struct consistency_person ann = person_of(c, "app", "ann", "auto");
    const struct td_request request = {.user = "ann"};
    uint64_t tier = consistency_tier_hash("cloud"), seen;
    for (uint64_t i = 0; i < CONSISTENCY_PERSON_MAX; i++) {
        consistency_put(c, &ann, (const uint64_t[2]){i, ~i}, 0, &request, tier);
        wall_ms += 1000;
    }
    consistency_put(c, &ann, (const uint64_t[2]){0, ~UINT64_C(0)}, 0, &request, tier); /* used */
    wall_ms += 1000;
    consistency_put(c, &ann, (const uint64_t[2]){9999, 1}, 0, &request, tier);
    for (uint64_t i = 0; i < CONSISTENCY_PERSON_MAX; i++)
        CHECK(consistency_find(c, &ann, (const uint64_t[2]){i, ~i}, 0, &seen) == (i != 1));
    struct consistency_numbers numbers;
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == CONSISTENCY_PERSON_MAX);
    consistency_close(c);
}

/* What expired leaves memory and file while others come, without anybody asking for it. */
static void test_what_expired_is_swept_away_by_what_comes(void)
{
    begin();
    struct consistency *c = open_with(path, 8, 1);
    struct consistency_numbers numbers;
    for (int i = 0; i < 4; i++) {
        char user[8];
        snprintf(user, sizeof user, "u%d", i);
        struct consistency_person person = person_of(c, "app", user, "auto");
        put(c, &person, 0, user, "cloud");
    }
    wall_ms += 31 * DAY_MS;
    struct consistency_person ann = person_of(c, "app", "ann", "auto");
    for (int i = 0; i < 3; i++)
        put(c, &ann, 0, "ann", "cloud");
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == 1);
    consistency_close(c);
    struct stat info;
    CHECK(stat(path, &info) == 0);
    wall_ms -= 31 * DAY_MS; /* even if they could be read again, they are not there */
    c = open_with(path, 8, 1);
    consistency_numbers(c, &numbers);
    CHECK(numbers.entries == 1);
    consistency_close(c);
}

/* Nobody's entries are nobody's: forgetting an empty name takes none. */
static void test_an_empty_name_owns_nothing(void)
{
    static const char *const names[] = {NULL, ""};
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    for (size_t i = 0; i < 2; i++) {
        uint64_t erased = 7;
        struct consistency_person person = person_of(c, "app", names[i], "auto");
        put(c, &person, 0, names[i], "cloud");
        CHECK(consistency_forget(c, NULL, names[i], &erased, NULL) == TD_OK && erased == 0);
        CHECK(consistency_forget(c, "tenant", names[i], &erased, NULL) == TD_OK && erased == 0);
        CHECK(found(c, &person, 0, "cloud"));
    }
    consistency_close(c);
}

/* Two right answers a day are free, and beyond them a share of the requests. */
static void test_what_may_be_lost_in_a_day_is_bounded_and_begins_anew(void)
{
    begin();
    struct consistency *c = open_with(NULL, 64, 1);
    const struct consistency_count lost = {.result = CONSISTENCY_KEPT, .gain = 0.5};
    const struct consistency_count paid = {
        .result = CONSISTENCY_KEPT, .dearer = true, .usd = 0.25, .gain = NAN};
    const struct consistency_count nothing[] = {
        {.result = CONSISTENCY_KEPT, .gain = -1},
        {.result = CONSISTENCY_KEPT, .gain = INFINITY},
        {.result = CONSISTENCY_KEPT, .dearer = true, .usd = -1},
        {.result = CONSISTENCY_KEPT, .dearer = true, .usd = NAN},
        {.result = CONSISTENCY_KEPT, .dearer = false, .usd = 5},
    };
    for (int day = 0; day < 2; day++) {
        CHECK(consistency_may_lose(c, 0.1) && !consistency_may_lose(c, 0));
        CHECK(consistency_usd_today(c) == 0);
        for (int i = 0; i < 4; i++) {
            CHECK(consistency_may_lose(c, 0.1));
            consistency_count(c, &lost);
        }
        CHECK(!consistency_may_lose(c, 0.1)); /* 2 of 2 */
        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
            consistency_count(c, &nothing[i]);
        consistency_count(c, &paid);
        consistency_count(c, &paid);
        CHECK(consistency_usd_today(c) == 0.5);
        CHECK(!consistency_may_lose(c, 0.1));
        consistency_count_request(c);
        CHECK(consistency_may_lose(c, 0.1)); /* 2 of 2.1 */
        wall_ms += DAY_MS;
    }
    struct consistency_numbers numbers;
    consistency_numbers(c, &numbers);
    CHECK(fabs(numbers.gain - 4) < 1e-9 && numbers.usd == 1);
    CHECK(numbers.similar[CONSISTENCY_KEPT] == 22 && numbers.conversation[CONSISTENCY_KEPT] == 0);
    consistency_close(c);
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    if (fd >= 0)
        close(fd);
    RUN(test_a_near_question_of_the_same_person_is_found_and_of_nobody_else);
    RUN(test_the_nearest_one_speaks_and_all_near_ones_follow_the_last_word);
    RUN(test_a_user_is_forgotten_in_one_tenant_or_in_all);
    RUN(test_it_survives_a_restart_and_not_its_time);
    RUN(test_the_file_names_nobody_and_a_user_is_overwritten_in_it);
    RUN(test_what_was_touched_is_not_believed);
    RUN(test_a_foreign_file_and_one_in_use_are_left_alone);
    RUN(test_a_person_and_all_together_are_bounded);
    RUN(test_costs_are_added_up_by_days_and_over_restarts);
    unlink(path);
    RUN(test_long_names_are_told_apart_to_their_last_byte);
    RUN(test_an_entry_lives_for_its_time_after_its_last_use_and_no_longer);
    RUN(test_the_longest_unused_question_of_a_person_makes_room);
    RUN(test_what_expired_is_swept_away_by_what_comes);
    RUN(test_an_empty_name_owns_nothing);
    RUN(test_what_may_be_lost_in_a_day_is_bounded_and_begins_anew);
    return test_finish();
}
