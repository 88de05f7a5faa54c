/* The handler writes the number of the signal into a pipe. When the pipe is full, as many events
 * wait as anybody will ever read. */
#include "app/terminal/signals.h"

#include "base/core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int ends[2] = {-1, -1};
static int ended_by;

static void on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t wrote = write(ends[1], &byte, 1);
    (void)wrote;
    errno = saved;
}

enum td_status signals_install(struct td_error *err)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
    if (ends[0] >= 0)
        return TD_OK;
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
        return error_set(err, TD_IO, "no pipe for signals: %s", strerror(errno));
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* What was ignored at the start stays ignored: nohup, jobs in the background. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    return TD_OK;
}

int signals_fd(void)
{
    return ends[0];
}

enum signal_event signals_next(void)
{
    unsigned char number;
    if (ends[0] < 0 || read(ends[0], &number, 1) != 1)
        return SIGNAL_NONE;
    switch (number) {
    case SIGINT:
        return SIGNAL_INTERRUPT;
    case SIGWINCH:
        return SIGNAL_RESIZE;
    case SIGTSTP:
        return SIGNAL_SUSPEND;
    default:
        if (!ended_by)
            ended_by = number;
        return SIGNAL_END;
    }
}

void signals_interrupt(void)
{
    on_signal(SIGINT);
}

int signals_ended_by(void)
{
    return ended_by;
}
