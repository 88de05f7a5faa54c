/* Files and batches in the store: whose they are, how much fits, and that a line is answered
 * once. */
#include "base/core/str.h"
#include "ledger/store/batch_store.h"
#include "test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

static char folder[128];
static const struct file_limits roomy = {
    .bytes_max = 10000, .owner_bytes_max = 5000, .owner_count_max = 5, .keep_s = 1000};

static struct file_store *open_store(const struct file_limits *limits)
{
    struct file_store *store = NULL;
    struct td_error err = {0};
    CHECK(file_store_open(folder, limits, NULL, &store, &err) == TD_OK);
    return store;
}

static void use_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/tandem-file-store-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(folder + strlen(folder), 16, "/deep/files");
}

static void remove_folder(void)
{
    char command[256];
    *strstr(folder, "/deep/files") = '\0';
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static enum td_status add(struct file_store *store, const char *owner, struct td_str text,
                          struct stored_file *file)
{
    struct file_draft *draft;
    struct td_error err = {0};
    *file = (struct stored_file){.name = "n", .purpose = "batch"};
    enum td_status status = file_draft_new(store, owner, &draft, &err);
    if (status != TD_OK)
        return status;
    status = file_draft_write(draft, text, &err);
    if (status == TD_OK)
        return file_draft_keep(draft, file, &err);
    file_draft_drop(draft);
    return status;
}

static bool has(struct file_store *store, const char *owner, const char *id)
{
    struct stored_file file;
    return file_store_find(store, owner, str_from(id), &file);
}

static void test_a_file_is_its_owners_and_is_there_after_a_restart(void)
{
    use_folder();
    struct stored_file file;
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", STR("words"), &file) == TD_OK && file.bytes == 5);
    CHECK(file.expires_s == file.created_s + 1000);
    file_store_close(store);
    store = open_store(&roomy);
    CHECK(has(store, "ann", file.id) && !has(store, "bob", file.id) && !has(store, "ann", ""));
    int fd = -1;
    char text[16] = "";
    CHECK(file_store_read(store, file.id, &fd, NULL) == TD_OK && read(fd, text, 15) == 5);
    CHECK(strcmp(text, "words") == 0);
    close(fd);
    CHECK(file_store_remove(store, "bob", str_from(file.id), NULL) == TD_NOT_FOUND);
    CHECK(file_store_remove(store, "ann", str_from(file.id), NULL) == TD_OK);
    CHECK(file_store_read(store, file.id, &fd, NULL) == TD_NOT_FOUND);
    file_store_close(store);
    remove_folder();
}

static void test_room_is_limited_and_given_back(void)
{
    use_folder();
    static char block[3000];
    const struct td_str text = {memset(block, 'x', sizeof block), sizeof block};
    struct stored_file file, more[8];
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", text, &file) == TD_OK);
    CHECK(add(store, "ann", text, &more[0]) == TD_LIMIT); /* hers */
    CHECK(add(store, "bob", text, &more[0]) == TD_OK && add(store, "cy", text, &more[1]) == TD_OK);
    CHECK(add(store, "dan", text, &more[2]) == TD_LIMIT); /* of all */
    CHECK(file_store_remove(store, "ann", str_from(file.id), NULL) == TD_OK);
    CHECK(add(store, "dan", text, &more[2]) == TD_OK);
    for (int i = 0; i < 5; i++)
        CHECK(add(store, "eve", STR("e"), &more[3]) == TD_OK);
    CHECK(add(store, "eve", STR("e"), &more[3]) == TD_LIMIT); /* her number */
    file_store_close(store);
    remove_folder();
}

static void test_what_a_dropped_draft_had_is_given_back(void)
{
    use_folder();
    static char block[4000];
    const struct td_str text = {memset(block, 'x', sizeof block), sizeof block};
    struct stored_file file;
    struct file_draft *draft;
    struct file_store *store = open_store(&roomy);
    for (int i = 0; i < 4; i++) { /* together more than there is room for */
        CHECK(file_draft_new(store, "ann", &draft, NULL) == TD_OK);
        CHECK(file_draft_write(draft, text, NULL) == TD_OK);
        file_draft_drop(draft);
    }
    CHECK(add(store, "bob", text, &file) == TD_OK && add(store, "cy", text, &file) == TD_OK);
    CHECK(add(store, "dan", text, &file) == TD_LIMIT);
    file_store_close(store);
    remove_folder();
}

static void test_time_removes_files_and_ended_batches(void)
{
    use_folder();
    struct stored_file file;
    const struct file_limits for_ever = {10000, 5000, 5, 0};
    struct file_store *store = open_store(&for_ever);
    CHECK(add(store, "ann", STR("kept"), &file) == TD_OK && file.expires_s == 0);
    struct stored_file late = {.name = "n", .purpose = "batch", .expires_s = 1};
    struct file_draft *draft;
    CHECK(file_draft_new(store, "ann", &draft, NULL) == TD_OK);
    CHECK(file_draft_keep(draft, &late, NULL) == TD_OK);
    CHECK(!has(store, "ann", late.id)); /* before it is swept */
    file_store_sweep(store);
    CHECK(has(store, "ann", file.id));
    int fd;
    CHECK(file_store_read(store, late.id, &fd, NULL) == TD_NOT_FOUND);
    file_store_close(store);
    remove_folder();
}

static void test_time_leaves_what_a_batch_still_reads(void)
{
    use_folder();
    static struct stored_batch batch;
    struct stored_file input = {.name = "n", .purpose = "batch", .expires_s = 1};
    struct file_draft *draft;
    struct file_store *store = open_store(&roomy);
    int fd = -1;
    CHECK(file_draft_new(store, "ann", &draft, NULL) == TD_OK);
    CHECK(file_draft_keep(draft, &input, NULL) == TD_OK);
    batch = (struct stored_batch){.owner = "ann", .endpoint = "/", .expires_s = 60};
    memcpy(batch.input, input.id, sizeof batch.input);
    CHECK(batch_store_add(store, &batch, NULL) == TD_OK);
    file_store_sweep(store);
    CHECK(file_store_read(store, input.id, &fd, NULL) == TD_OK && close(fd) == 0);
    CHECK(batch_store_checked(store, batch.id, 0, "[]", NULL) == TD_OK); /* it has failed */
    file_store_sweep(store);
    CHECK(file_store_read(store, input.id, &fd, NULL) == TD_NOT_FOUND);
    file_store_close(store);
    remove_folder();
}

static bool count_answer(void *ctx, uint64_t number, bool ok, struct td_str text)
{
    uint64_t *seen = ctx;
    *seen = *seen * 10 + number + 1;
    return ok == (number != 2) && text.len == 1;
}

static void note(void *ctx, const struct stored_batch *batch)
{
    char *out = ctx;
    snprintf(out + strlen(out), 100, "%s ", batch->owner);
}

static void test_a_line_is_answered_once_and_the_end_makes_two_files(void)
{
    use_folder();
    struct stored_file input;
    static struct stored_batch batch, found;
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", STR("a\nb\nc\n"), &input) == TD_OK);
    batch = (struct stored_batch){.owner = "ann", .endpoint = "/v1/embeddings", .expires_s = 60};
    memcpy(batch.input, input.id, sizeof batch.input);
    CHECK(batch_store_add(store, &batch, NULL) == TD_OK);
    CHECK(batch.expires_s == batch.created_s + 60);
    CHECK(file_store_remove(store, "ann", str_from(input.id), NULL) == TD_BUSY);
    CHECK(batch_store_checked(store, batch.id, 3, "", NULL) == TD_OK);
    CHECK(batch_store_checked(store, batch.id, 3, "", NULL) == TD_NOT_FOUND);
    CHECK(batch_store_answer(store, batch.id, 2, false, STR("x"), NULL) == TD_OK);
    CHECK(batch_store_answer(store, batch.id, 0, true, STR("y"), NULL) == TD_OK);
    CHECK(batch_store_answer(store, batch.id, 0, true, STR("again"), NULL) == TD_NOT_FOUND);
    CHECK(batch_store_answer(store, "batch_other", 0, true, STR("x"), NULL) == TD_NOT_FOUND);
    file_store_close(store); /* a crash */
    store = open_store(&roomy);
    uint8_t done[1] = {0};
    CHECK(batch_store_answered(store, batch.id, 3, done, NULL) == TD_OK && done[0] == 5);
    uint64_t seen = 0;
    CHECK(batch_store_answers(store, batch.id, 0, 9, count_answer, &seen, NULL) == TD_OK);
    CHECK(seen == 13);
    CHECK(batch_store_find(store, "ann", str_from(batch.id), &found));
    CHECK(found.total == 3 && found.completed == 1 && found.failed == 1);
    CHECK(!batch_store_find(store, "bob", str_from(batch.id), &found));
    CHECK(batch_store_move(store, batch.id, BATCH_VALIDATING, BATCH_CANCELLING, NULL) ==
          TD_NOT_FOUND);
    CHECK(batch_store_move(store, batch.id, BATCH_IN_PROGRESS, BATCH_FINALIZING, NULL) == TD_OK);
    found.state = BATCH_FINALIZING;
    memcpy(found.id, batch.id, sizeof found.id);
    struct file_draft *output, *errors;
    CHECK(file_draft_new(store, "ann", &output, NULL) == TD_OK);
    CHECK(file_draft_new(store, "ann", &errors, NULL) == TD_OK);
    CHECK(file_draft_write(output, STR("y\n"), NULL) == TD_OK);
    CHECK(batch_store_finish(store, &found, BATCH_COMPLETED, 1, output, errors, NULL) == TD_OK);
    CHECK(batch_store_find(store, "ann", str_from(batch.id), &found));
    CHECK(found.state == BATCH_COMPLETED && has(store, "ann", found.output) && !*found.errors);
    CHECK(found.times_s[BATCH_COMPLETED] > 0 && found.times_s[BATCH_FAILED] == 0);
    char owners[256] = "";
    batch_store_due(store, 9, note, owners);
    CHECK(!*owners);
    file_store_close(store);
    remove_folder();
}

static void test_the_oldest_batch_of_each_owner_is_due(void)
{
    use_folder();
    static struct stored_batch batch;
    struct file_store *store = open_store(&roomy);
    static const char *const owners[] = {"ann", "ann", "bob", "ann", "cy"};
    for (int i = 0; i < 5; i++) {
        struct stored_file input;
        batch = (struct stored_batch){.endpoint = "/", .expires_s = 60};
        snprintf(batch.owner, sizeof batch.owner, "%s", owners[i]);
        CHECK(add(store, owners[i], STR("x"), &input) == TD_OK);
        memcpy(batch.input, input.id, sizeof batch.input);
        CHECK(batch_store_add(store, &batch, NULL) == TD_OK);
    }
    char due[256] = "";
    batch_store_due(store, 9, note, due);
    CHECK(strcmp(due, "ann bob cy ") == 0);
    file_store_close(store);
    remove_folder();
}

static void test_a_batch_needs_an_input_of_its_owner(void)
{
    use_folder();
    static struct stored_batch batch;
    struct stored_file input;
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", STR("x"), &input) == TD_OK);
    batch = (struct stored_batch){.owner = "bob", .endpoint = "/", .expires_s = 60};
    memcpy(batch.input, input.id, sizeof batch.input);
    CHECK(batch_store_add(store, &batch, NULL) == TD_NOT_FOUND);
    CHECK(file_store_remove(store, "ann", str_from(input.id), NULL) == TD_OK);
    batch = (struct stored_batch){.owner = "ann", .endpoint = "/", .expires_s = 60};
    memcpy(batch.input, input.id, sizeof batch.input);
    CHECK(batch_store_add(store, &batch, NULL) == TD_NOT_FOUND);
    file_store_close(store);
    remove_folder();
}

/* Each draft begins while there is room; whoever is kept last finds that there is none. */
static void test_drafts_at_once_do_not_exceed_what_an_owner_may_have(void)
{
    use_folder();
    struct file_store *store = open_store(&roomy);
    static char text[3000];
    struct file_draft *drafts[3];
    struct stored_file file = {.name = "n", .purpose = "batch"};
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 3; i++) {
        CHECK(file_draft_new(store, "ann", &drafts[i], NULL) == TD_OK);
        CHECK(file_draft_write(drafts[i], (struct td_str){text, sizeof text}, NULL) == TD_OK);
    }
    CHECK(file_draft_keep(drafts[0], &file, NULL) == TD_OK);
    CHECK(file_draft_keep(drafts[1], &file, NULL) == TD_LIMIT);
    CHECK(!has(store, "ann", file.id));
    file_draft_drop(drafts[2]);
    file_store_close(store);
    remove_folder();
}

static bool line_holds(struct td_str line, const char *user)
{
    return str_find(line, str_from(user), 0) != SIZE_MAX;
}

static void test_forgetting_says_what_it_could_not_read(void)
{
    use_folder();
    struct stored_file file;
    uint64_t files = 0;
    char path[256], other[256];
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", STR("user eve\n"), &file) == TD_OK);
    snprintf(path, sizeof path, "%s/%s", folder, file.id);
    snprintf(other, sizeof other, "%s/away", folder);
    CHECK(rename(path, other) == 0 && mkdir(path, 0700) == 0); /* there, and no file */
    CHECK(file_store_forget(store, "ann", line_holds, "eve", &files, NULL) != TD_OK);
    CHECK(rmdir(path) == 0 && rename(other, path) == 0);
    CHECK(file_store_forget(store, "bob", line_holds, "eve", &files, NULL) == TD_OK && !files);
    CHECK(file_store_forget(store, "ann", line_holds, "eve", &files, NULL) == TD_OK && files == 1);
    CHECK(!has(store, "ann", file.id));
    file_store_close(store);
    remove_folder();
}

/* What cannot be asked of the database is no reason to remove contents. */
static void test_damage_in_the_database_removes_no_contents(void)
{
    use_folder();
    struct stored_file file;
    struct stat info;
    char path[256], database[160];
    struct file_store *store = open_store(&roomy);
    CHECK(add(store, "ann", STR("words"), &file) == TD_OK);
    file_store_close(store);
    snprintf(path, sizeof path, "%s/%s", folder, file.id);
    snprintf(database, sizeof database, "%s/files.db", folder);
    int fd = open(database, O_RDWR);
    REQUIRE(fd >= 0 && fstat(fd, &info) == 0);
    static char damage[4096];
    memset(damage, 0x5A, sizeof damage);
    for (off_t at = 4096; at < info.st_size; at += (off_t)sizeof damage)
        CHECK(pwrite(fd, damage, sizeof damage, at) == (ssize_t)sizeof damage);
    close(fd);
    CHECK(file_store_open(folder, &roomy, NULL, &store, NULL) != TD_OK);
    CHECK(stat(path, &info) == 0 && info.st_size == 5);
    remove_folder();
}

static void test_a_batch_is_due_in_each_state_that_has_work(void)
{
    static const bool works[BATCH_STATE_COUNT] = {[BATCH_VALIDATING] = true,
                                                  [BATCH_IN_PROGRESS] = true,
                                                  [BATCH_FINALIZING] = true,
                                                  [BATCH_CANCELLING] = true};
    use_folder();
    static struct stored_batch batch;
    struct file_store *store = open_store(&roomy);
    struct stored_file input;
    CHECK(add(store, "ann", STR("a\n"), &input) == TD_OK);
    batch = (struct stored_batch){.owner = "ann", .endpoint = "/", .expires_s = 60};
    memcpy(batch.input, input.id, sizeof batch.input);
    CHECK(batch_store_add(store, &batch, NULL) == TD_OK);
    for (int state = BATCH_VALIDATING; state < BATCH_STATE_COUNT; state++) {
        char due[256] = "";
        if (state != BATCH_VALIDATING)
            CHECK(batch_store_move(store, batch.id, (enum batch_state)(state - 1),
                                   (enum batch_state)state, NULL) == TD_OK);
        batch_store_due(store, 9, note, due);
        CHECK(strcmp(due, works[state] ? "ann " : "") == 0);
    }
    file_store_close(store);
    remove_folder();
}

static void test_a_database_of_a_later_version_is_refused(void)
{
    use_folder();
    file_store_close(open_store(&roomy));
    char path[160];
    struct file_store *store;
    struct td_error err = {0};
    sqlite3 *database;
    snprintf(path, sizeof path, "%s/files.db", folder);
    REQUIRE(sqlite3_open(path, &database) == SQLITE_OK);
    sqlite3_exec(database, "PRAGMA user_version=99", NULL, NULL, NULL);
    sqlite3_close(database);
    CHECK(file_store_open(folder, &roomy, NULL, &store, &err) == TD_UNSUPPORTED);
    remove_folder();
}

int main(void)
{
    RUN(test_a_file_is_its_owners_and_is_there_after_a_restart);
    RUN(test_room_is_limited_and_given_back);
    RUN(test_what_a_dropped_draft_had_is_given_back);
    RUN(test_time_removes_files_and_ended_batches);
    RUN(test_time_leaves_what_a_batch_still_reads);
    RUN(test_a_line_is_answered_once_and_the_end_makes_two_files);
    RUN(test_the_oldest_batch_of_each_owner_is_due);
    RUN(test_a_batch_is_due_in_each_state_that_has_work);
    RUN(test_a_batch_needs_an_input_of_its_owner);
    RUN(test_drafts_at_once_do_not_exceed_what_an_owner_may_have);
    RUN(test_forgetting_says_what_it_could_not_read);
    RUN(test_damage_in_the_database_removes_no_contents);
    RUN(test_a_database_of_a_later_version_is_refused);
    return test_finish();
}
