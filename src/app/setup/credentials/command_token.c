/* The command is run without a shell, without input, and with those variables of this process that
 * programs of clouds need: others may hold keys of other tiers. What it
 * prints is a token, or JSON with `access_token` and `expires_in` (seconds). */
#include "app/setup/credentials/credential.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN_BYTES_MAX (64 * 1024)
#define RUN_MS 30000
/* A token of unknown age may end soon: programs such as gcloud give the same one until some four
 * minutes before its end, so it is asked for that often. */
#define UNKNOWN_MS (3 * 60 * UINT64_C(1000))

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
static bool read_output(int fd, struct buf *out)
{
    double end_ms = clock_monotonic_ms(NULL) + RUN_MS;
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
    return failed ? error_set(err, TD_IO, "token_command: %.200s: %s", words[0], strerror(failed))
                  : TD_OK;
}

static enum td_status take_text(struct td_str text, const char *program, struct credential *out,
                                struct td_error *err)
{
    struct json *root = NULL;
    uint64_t now_ms = clock_wall_ms(NULL), renew_ms = now_ms + UNKNOWN_MS;
    struct td_str token = str_trim(text);
    if (token.len > 0 && token.data[0] == '{' && json_parse(token, &root, NULL) == TD_OK) {
        int64_t seconds = json_int(json_get(root, "expires_in"), 0);
        token = str_trim(json_text(json_get(root, "access_token")));
        if (seconds > 0 && seconds < INT32_MAX)
            renew_ms = credential_renew_at(now_ms, now_ms + (uint64_t)seconds * 1000);
    }
    bool plain = token.len > 0;
    for (size_t i = 0; i < token.len; i++)
        plain = plain && (unsigned char)token.data[i] > ' ' && (unsigned char)token.data[i] < 0x7f;
    if (plain)
        *out = (struct credential){secret_new(token), renew_ms};
    json_free(root);
    if (!plain)
        return error_set(err, TD_INVALID,
                         "token_command: %.200s must print a token on one line, or JSON with "
                         "access_token",
                         program);
    return out->text ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a key");
}

enum td_status credential_of_command(const char *const *words, struct credential *out,
                                     struct td_error *err)
{
    int ends[2], state = 0;
    pid_t pid;
    struct buf text;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, TD_IO, "token_command: %s", strerror(errno));
    enum td_status status = start(words, ends[1], &pid, err);
    close(ends[1]);
    buf_init(&text, TOKEN_BYTES_MAX);
    if (status == TD_OK) {
        bool whole = read_output(ends[0], &text);
        if (!whole)
            kill(pid, SIGKILL);
        while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
            ;
        if (!whole)
            status = error_set(err, TD_TIMEOUT,
                               "token_command: %.200s ran for more than %d s, or printed too much",
                               words[0], RUN_MS / 1000);
        else if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
            status = error_set(err, TD_INVALID, "token_command: %.200s ended with %s %d", words[0],
                               WIFEXITED(state) ? "the exit code" : "the signal",
                               WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
        else
            status = take_text(buf_view(&text), words[0], out, err);
    }
    close(ends[0]);
    if (text.data)
        crypto_wipe(text.data, text.len);
    buf_deinit(&text);
    return status;
}
