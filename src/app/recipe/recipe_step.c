#include "app/recipe/recipe_step.h"

#include "app/cli/progress.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 200      /* how soon a signal is passed on */
#define PATIENCE_MS 5000 /* for a step to end by itself; what it writes has another name */

void recipe_step_begin(struct recipe_step *step, const char *name, const struct verb *verb)
{
    *step = (struct recipe_step){.name = name, .verb = verb, .settings = json_new_array()};
    recipe_step_say(step, verb->name);
}

void recipe_step_deinit(struct recipe_step *step)
{
    json_free(step->settings);
    step->settings = NULL;
}

/* NULL is what there was no memory for. */
void recipe_step_say(struct recipe_step *step, const char *word)
{
    if (!word || step->word_count + 1 >= RECIPE_STEP_WORDS_MAX)
        step->is_full = true;
    else
        step->words[step->word_count++] = word;
}

static void note(struct recipe_step *step, const char *text)
{
    json_push(step->settings, json_new_cstr(text));
}

void recipe_step_set(struct recipe_step *step, const char *option, const char *value)
{
    recipe_step_say(step, option);
    note(step, option);
    if (value) {
        recipe_step_say(step, value);
        note(step, value);
    }
}

void recipe_step_set_count(struct recipe_step *step, const struct recipe *recipe,
                           const char *option, uint64_t value)
{
    const char *text = arena_printf(recipe->arena, "%llu", (unsigned long long)value);
    if (text)
        recipe_step_set(step, option, text);
    else
        step->is_full = true;
}

void recipe_step_read(struct recipe_step *step, const char *option, const char *path,
                      const char *written)
{
    if (option) {
        recipe_step_say(step, option);
        note(step, option);
    }
    recipe_step_say(step, path);
    note(step, written);
    if (step->input_count == RECIPE_STEP_INPUTS_MAX || !path)
        step->is_full = true;
    else
        step->inputs[step->input_count++] = path;
}

/* --- running --- */

/* In the child. A step has no use for the build's standard input. */
_Noreturn static void be_step(const struct recipe_step *step, int out)
{
    char *words[RECIPE_STEP_WORDS_MAX];
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < step->word_count; i++)
        words[i] = (char *)(uintptr_t)step->words[i];
    words[step->word_count] = NULL;
    if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(1);
    progress_always();
    int code = step->verb->run((int)step->word_count, words);
    fflush(NULL);
    _exit(code);
}

/* Reads until the child closes the pipe. */
static void read_all(int fd, pid_t child, const volatile sig_atomic_t *interrupted,
                     struct buf *text)
{
    char piece[4096];
    double told_ms = 0;
    bool killed = false;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = poll(&wait, 1, LOOK_MS);
        if (*interrupted && told_ms <= 0) {
            kill(child, SIGTERM);
            told_ms = clock_monotonic_ms(NULL);
        } else if (*interrupted && !killed && clock_monotonic_ms(NULL) > told_ms + PATIENCE_MS) {
            kill(child, SIGKILL);
            killed = true;
        }
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        buf_append(text, piece, (size_t)got);
    }
}

static enum td_status wait_for(const struct recipe_step *step, int fd, pid_t child,
                               const volatile sig_atomic_t *interrupted,
                               struct recipe_step_end *end, struct td_error *err)
{
    struct buf text;
    int how = 0;
    buf_init(&text, RECIPE_STEP_OUTPUT_BYTES_MAX);
    read_all(fd, child, interrupted, &text);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    end->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    end->code = WIFEXITED(how) ? WEXITSTATUS(how) : 1;
    if (!text.failed && json_parse(buf_view(&text), &end->result, NULL) != TD_OK)
        end->result = NULL;
    buf_deinit(&text);
    if (*interrupted)
        return error_set(err, TD_CANCELLED, "interrupted; the steps that are done are kept");
    if (end->signal)
        return error_set(err, TD_INTERNAL, "%s was ended by signal %d%s", step->name, end->signal,
                         end->signal == SIGKILL ? ": probably the memory was not enough" : "");
    return TD_OK;
}

enum td_status recipe_step_run(const struct recipe_step *step,
                               const volatile sig_atomic_t *interrupted,
                               struct recipe_step_end *end, struct td_error *err)
{
    int ends[2];
    *end = (struct recipe_step_end){0};
    if (step->is_full)
        return error_set(err, TD_LIMIT, "%s: the recipe names more than fits", step->name);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, TD_IO, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_step(step, ends[1]);
    int code = errno;
    close(ends[1]);
    enum td_status status =
        child < 0 ? error_set(err, TD_IO, "%s cannot be started: %s", step->name, strerror(code))
                  : wait_for(step, ends[0], child, interrupted, end, err);
    close(ends[0]);
    return status;
}
