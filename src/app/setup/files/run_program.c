#include "app/setup/files/run_program.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A name, or with * at its end what it begins with. */
static const char *const handed_on[] = {"PATH",
                                        "HOME",
                                        "USER",
                                        "LOGNAME",
                                        "LANG",
                                        "LC_*",
                                        "TMPDIR",
                                        "XDG_*",
                                        "CLOUDSDK_*",
                                        "GOOGLE_*",
                                        "AZURE_CONFIG_DIR",
                                        "SSL_CERT_*",
                                        "HTTP_PROXY",
                                        "HTTPS_PROXY",
                                        "NO_PROXY",
                                        "http_proxy",
                                        "https_proxy",
                                        "no_proxy",
                                        "KRB5*",
                                        "REQUESTS_CA_BUNDLE",
                                        NULL};
#define VARIABLES_MAX 128

static bool is_handed_on(const char *variable)
{
    size_t len = strcspn(variable, "=");
    for (size_t i = 0; handed_on[i]; i++) {
        size_t name = strlen(handed_on[i]);
        bool begin = handed_on[i][name - 1] == '*';
        name -= begin;
        if ((begin ? len >= name : len == name) && strncmp(variable, handed_on[i], name) == 0)
            return strncmp(variable, "GOOGLE_OAUTH", 12) != 0; /* a token itself */
    }
    return false;
}

static void choose_variables(char *out[static VARIABLES_MAX])
{
    size_t count = 0;
    for (char **at = environ; *at && count + 1 < VARIABLES_MAX; at++)
        if (is_handed_on(*at))
            out[count++] = *at;
    out[count] = NULL;
}

/* Its output; false when it takes too long or prints too much. */
static bool read_output(int fd, uint32_t run_ms, struct buf *out)
{
    double end_ms = clock_monotonic_ms(NULL) + run_ms;
    for (;;) {
        char bytes[4096];
        double left_ms = end_ms - clock_monotonic_ms(NULL);
        struct pollfd poll_of = {.fd = fd, .events = POLLIN};
        if (left_ms <= 0 || out->failed)
            return false;
        if (poll(&poll_of, 1, (int)left_ms + 1) <= 0)
            continue;
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got > 0)
            buf_append_str(out, (struct td_str){bytes, (size_t)got});
        crypto_wipe(bytes, sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR))
            return got == 0;
    }
}

static enum td_status start(const char *const *words, int output, pid_t *pid, struct td_error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    char *variables[VARIABLES_MAX];
    choose_variables(variables);
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    int failed = posix_spawnp(pid, words[0], &actions, &attributes, (char *const *)(uintptr_t)words,
                              variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed ? error_set(err, failed == ENOENT ? TD_NOT_FOUND : TD_IO, "%.200s: %s", words[0],
                              strerror(failed))
                  : TD_OK;
}

static enum td_status finish(pid_t pid, const char *program, bool whole,
                             const struct program_limits *limits, struct td_error *err)
{
    int state = 0;
    if (!whole)
        kill(pid, SIGKILL);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (!whole)
        return error_set(err, TD_TIMEOUT, "%.200s ran for more than %u s, or printed too much",
                         program, limits->run_ms / 1000);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
        return error_set(err, TD_INVALID, "%.200s ended with %s %d", program,
                         WIFEXITED(state) ? "the exit code" : "the signal",
                         WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
    return TD_OK;
}

enum td_status program_run(const char *const *words, const struct program_limits *limits,
                           struct buf *out, struct td_error *err)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, TD_IO, "%.200s: %s", words[0], strerror(errno));
    enum td_status status = start(words, ends[1], &pid, err);
    close(ends[1]);
    if (status == TD_OK) {
        const struct rlimit memory = {limits->memory_bytes_max, limits->memory_bytes_max};
        if (limits->memory_bytes_max)
            (void)!prlimit(pid, RLIMIT_AS, &memory, NULL); /* it may have ended already */
        status = finish(pid, words[0], read_output(ends[0], limits->run_ms, out), limits, err);
    }
    close(ends[0]);
    return status;
}
