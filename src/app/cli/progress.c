#include "app/cli/progress.h"

#include "app/terminal/terminal.h"
#include "base/time/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CELLS 24
#define BESIDE 28 /* " [] 100 %, 1234567890 s left" */
#define SHOW_MS 100

static bool always;

void progress_always(void)
{
    always = true;
}

void progress_begin(struct progress *progress, const char *what, bool silent)
{
    *progress =
        (struct progress){.what = what, .silent = (silent && !always) || !isatty(STDERR_FILENO)};
    progress->begin_ms = clock_monotonic_ms(NULL);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
    double now_ms = clock_monotonic_ms(NULL);
    if (progress->silent || total == 0 || now_ms < progress->shown_ms + SHOW_MS)
        return;
    double part = (double)done / (double)total, seconds = (now_ms - progress->begin_ms) / 1000;
    char bar[CELLS + 1] = "";
    for (int i = 0; i < CELLS; i++)
        bar[i] = i < (int)(part * CELLS) ? '#' : '.';
    /* A line that is wrapped cannot be written over: a narrow terminal shows less. */
    unsigned columns = terminal_columns(STDERR_FILENO);
    fputs("\r", stderr);
    if (columns == 0 || columns > strlen(progress->what) + CELLS + BESIDE)
        fprintf(stderr, "%s [%s] ", progress->what, bar);
    fprintf(stderr, "%3.0f %%", 100 * part);
    if (part > 0.01)
        fprintf(stderr, ", %.0f s left", seconds / part - seconds);
    fputs("\x1b[K", stderr);
    progress->shown = true;
    progress->shown_ms = now_ms;
}

void progress_report(void *ctx, uint64_t done, uint64_t total)
{
    progress_show(ctx, done, total);
}

double progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\x1b[K", stderr);
    progress->shown = false;
    return (clock_monotonic_ms(NULL) - progress->begin_ms) / 1000;
}
