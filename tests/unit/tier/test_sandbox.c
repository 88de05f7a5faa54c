/* The confined worker's process: how often a request is handed over, and how long a worker may be
 * silent. The workers are this program, told by its first argument what to do. */
#include "tier/local/sandbox.h"

#include "test.h"
#include "tier/local/sandbox_worker.h"
#include "virtual_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

/* --- the workers --- */

/* Takes requests and never answers, until there will be none, or the first one if it `dies`. Each
 * one leaves a byte in the file. */
static void work(bool dies, const char *path)
{
    struct pollfd control = {.fd = SANDBOX_CONTROL_FD, .events = POLLIN};
    int request_fd, answer_fd;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    bool ended = fd < 0 || write(fd, "w", 1) != 1;
    while (!ended && poll(&control, 1, -1) > 0)
        if (sandbox_receive(SANDBOX_CONTROL_FD, &request_fd, &answer_fd, &ended) && dies)
            return;
}

static char workers[64]; /* the file */

static struct sandbox *sandbox_of(const char *kind)
{
    const char *const arguments[] = {kind, workers, NULL};
    strcpy(workers, "/tmp/tandem-sandbox-XXXXXX");
    int fd = mkstemp(workers);
    CHECK(fd >= 0 && close(fd) == 0);
    return sandbox_new(arguments, (struct td_str){"", 0});
}

static int worker_count(void)
{
    struct stat info = {0};
    CHECK(stat(workers, &info) == 0);
    return (int)info.st_size;
}

/* --- a request --- */

struct seen {
    int pieces, ends;
    enum td_status status;
};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    (void)piece;
    ((struct seen *)ctx)->pieces++;
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct seen *seen = ctx;
    seen->ends++;
    seen->status = result->status;
}

/* What ends each worker that reads it must not end one after the other for ever. */
static void test_a_request_whose_worker_ends_goes_to_one_more(void)
{
    struct virtual_loop loop;
    struct seen seen = {0};
    const struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = &seen};
    const struct td_message message = {TD_ROLE_USER, {"hi", 2}};
    const struct td_request request = {.messages = &message, .message_count = 1};
    struct sandbox *sandbox = sandbox_of("dies");
    struct sandbox_call *call = NULL;
    virtual_loop_init(&loop);
    REQUIRE(sandbox != NULL);
    CHECK(sandbox_start(sandbox, "local", &loop.loop, &request, &sink, &call, NULL) == TD_OK);
    for (int i = 0; i < 4000 && seen.ends == 0 && worker_count() < 5; i++) {
        virtual_loop_step(&loop, 0);
        usleep(5000);
    }
    CHECK(seen.ends == 1 && seen.status == TD_UNAVAILABLE && seen.pieces == 0);
    CHECK(worker_count() == 2);
    if (seen.ends == 0)
        sandbox_cancel(call);
    CHECK(loop.timer_count == 0 && loop.watch == NULL);
    sandbox_free(sandbox);
    unlink(workers);
}

/* It opens large models from a slow disk, however quickly the one before it spoke. */
static void test_each_new_worker_may_be_silent_for_long(void)
{
    struct sandbox *sandbox = sandbox_of("waits");
    pid_t first = 0, second = 0;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    REQUIRE(sandbox != NULL && fd >= 0);
    CHECK(sandbox_worker_send(sandbox, fd, fd, &first, NULL) == TD_OK);
    const uint32_t starts_ms = sandbox_worker_silence_max_ms(sandbox, first);
    sandbox_worker_note_frame(sandbox, first);
    const uint32_t works_ms = sandbox_worker_silence_max_ms(sandbox, first);
    CHECK(works_ms < starts_ms);
    sandbox_renew(sandbox);
    CHECK(sandbox_worker_send(sandbox, fd, fd, &second, NULL) == TD_OK && second != first);
    CHECK(sandbox_worker_silence_max_ms(sandbox, first) == works_ms);
    CHECK(sandbox_worker_silence_max_ms(sandbox, second) == starts_ms);
    sandbox_worker_note_frame(sandbox, first); /* it says nothing of the other one */
    CHECK(sandbox_worker_silence_max_ms(sandbox, second) == starts_ms);
    sandbox_worker_note_frame(sandbox, second);
    CHECK(sandbox_worker_silence_max_ms(sandbox, second) == works_ms);
    close(fd);
    sandbox_free(sandbox);
    unlink(workers);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        work(strcmp(argv[1], "dies") == 0, argv[2]);
        return test_finish();
    }
    RUN(test_a_request_whose_worker_ends_goes_to_one_more);
    RUN(test_each_new_worker_may_be_silent_for_long);
    return test_finish();
}
