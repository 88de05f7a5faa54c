/* What may be missing at the end of an egress log: only what another boot's loss of power took. */
#include "egress_fixture.h"
#include "ledger/egress/egress_mark.h"

enum marked { MARK_NONE, MARK_THIS_BOOT, MARK_EARLIER_BOOT, MARK_COUNT };

/* A mark over the first days, as a boot leaves it. */
static void set_mark(const char *folder, enum marked marked, size_t days)
{
    struct buf mark, heads = read_whole(file_in(folder, "heads.jsonl"));
    struct egress_head head = head_at(&heads, days);
    buf_init(&mark, 1u << 12);
    memset(head.next, '1', EGRESS_HASH_HEX); /* no boot has this hash */
    if (marked == MARK_NONE)
        CHECK(unlink(file_in(folder, EGRESS_MARK_FILE)) == 0);
    else if (marked == MARK_EARLIER_BOOT)
        write_whole(file_in(folder, EGRESS_MARK_FILE), sign_head(folder, &head, &mark));
    buf_deinit(&mark);
    buf_deinit(&heads);
}

static void cut_to(const char *folder, size_t lines)
{
    struct buf whole = read_whole(file_in(folder, "entries.jsonl"));
    write_whole(file_in(folder, "entries.jsonl"),
                str_slice(buf_view(&whole), 0, line_at(&whole, lines + 1)));
    buf_deinit(&whole);
}

/* What lies on the disk while the log is open, as a kill leaves it. */
static const char *image_of(const char *folder, const char *name)
{
    static const char *const files[] = {"entries.jsonl", "heads.jsonl", "key", "key.pub",
                                        EGRESS_MARK_FILE};
    const char *copy = fixture_path(name);
    CHECK(mkdir(copy, 0700) == 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf bytes = read_whole(file_in(folder, files[i]));
        write_whole(file_in(copy, files[i]), buf_view(&bytes));
        CHECK(chmod(file_in(copy, files[i]), 0600) == 0);
        buf_deinit(&bytes);
    }
    return copy;
}

/* Opens a log of six lines in three days, sends some more, is killed, and loses lines. */
static bool opens_without(enum marked marked, size_t days, uint64_t sent, size_t lost)
{
    char name[48], image[64];
    struct egress_log *log = NULL;
    snprintf(name, sizeof name, "boot-%d-%zu-%d-%zu", (int)marked, days, (int)sent, lost);
    snprintf(image, sizeof image, "%s-image", name);
    const char *folder = make_log(name, 6, 2);
    set_mark(folder, marked, days);
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK);
    for (uint64_t i = 0; log && i < sent; i++) {
        struct egress_entry entry = entry_of(10 + i);
        entry.wall_ms += 2 * DAY_MS;
        CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    }
    const char *killed = image_of(folder, image);
    egress_log_close(log);
    cut_to(killed, 6 + (size_t)sent - lost);
    return opens(killed);
}

/* Only a loss of power between two boots takes lines from the end of a log. Once it was opened in
 * this boot, a shorter one is a forgery, whatever mark it had before, and whatever was sent. */
static void test_a_log_may_only_be_shorter_after_another_boot(void)
{
    for (enum marked marked = MARK_NONE; marked < MARK_COUNT; marked++)
        for (size_t days = 2; days <= 3; days++) /* of three: an old mark, and that of a good end */
            for (uint64_t sent = 0; sent <= 2; sent += 2)
                for (size_t lost = 0; lost <= 1; lost++)
                    CHECK(opens_without(marked, days, sent, lost) == (lost == 0));
}

static void test_lines_beyond_the_mark_of_another_boot_may_be_lost(void)
{
    for (enum marked marked = MARK_NONE; marked < MARK_COUNT; marked++)
        for (size_t left = 3; left <= 6; left++) {
            char name[64];
            snprintf(name, sizeof name, "lost-%d-%zu", (int)marked, left);
            const char *folder = make_log(name, 6, 2);
            set_mark(folder, marked, 2);
            cut_to(folder, left);
            bool marked_is_left = marked == MARK_EARLIER_BOOT && left >= 4;
            CHECK(opens(folder) == (left == 6 || marked_is_left));
        }
}

/* The first transfers of all: the mark of the earlier boot counts none. */
static void test_lines_of_a_log_that_had_none_when_it_was_marked_may_be_lost(void)
{
    for (size_t left = 0; left <= 3; left++) {
        char name[64];
        snprintf(name, sizeof name, "first-%zu", left);
        const char *folder = make_log(name, 3, 9);
        struct buf mark, heads = read_whole(file_in(folder, "heads.jsonl"));
        struct egress_head head = head_at(&heads, 1);
        buf_init(&mark, 1u << 12);
        memcpy(head.date, "0000-00-00", sizeof head.date);
        head.chain = (struct egress_chain){0, EGRESS_NO_HASH};
        memset(head.next, '1', EGRESS_HASH_HEX); /* no boot has this hash */
        write_whole(file_in(folder, EGRESS_MARK_FILE), sign_head(folder, &head, &mark));
        cut_to(folder, left);
        CHECK(opens(folder));
        buf_deinit(&mark);
        buf_deinit(&heads);
    }
}

int main(void)
{
    fixture_begin();
    RUN(test_a_log_may_only_be_shorter_after_another_boot);
    RUN(test_lines_beyond_the_mark_of_another_boot_may_be_lost);
    RUN(test_lines_of_a_log_that_had_none_when_it_was_marked_may_be_lost);
    fixture_end();
    return test_finish();
}
