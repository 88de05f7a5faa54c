#include "app/store/pull_bar.h"

#include "app/terminal/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CELLS_MAX 24
#define CELLS_MIN 8

/* "1.2 of 2.5 GB, 12.1 MB/s, 1:43 left" */
static void write_figures(const struct pull_bar *bar, bool known, char *out, size_t size)
{
    double rate = bar->seconds > 0 ? (double)(bar->bytes - bar->not_counted) / bar->seconds : 0;
    double unit = known && bar->total >= 1000000000 ? 1e9 : 1e6;
    size_t used = 0;
    if (known)
        used = (size_t)snprintf(out, size, "%3.0f %% %.1f of %.1f %s, %.1f MB/s",
                                100.0 * (double)bar->bytes / (double)bar->total,
                                (double)bar->bytes / unit, (double)bar->total / unit,
                                unit > 1e6 ? "GB" : "MB", rate / 1e6);
    else
        snprintf(out, size, "%.1f MB, %.1f MB/s", (double)bar->bytes / unit, rate / 1e6);
    double left = rate > 0 ? (double)(bar->total - bar->bytes) / rate : 0;
    if (known && rate > 0 && bar->bytes < bar->total && left < 360000)
        snprintf(out + used, size - used, ", %u:%02u left", (unsigned)left / 60,
                 (unsigned)left % 60);
}

void pull_bar_write(const struct pull_bar *bar, unsigned columns, char out[static PULL_BAR_BYTES])
{
    char figures[160], head[256], cells[CELLS_MAX + 3] = "";
    bool known = bar->total != 0 && bar->total != UINT64_MAX && bar->bytes <= bar->total;
    int room = columns > 1 ? (int)columns - 1 : 1; /* the last column would begin a new line */
    write_figures(bar, known, figures, sizeof figures);
    room -= (int)strlen(figures);
    int used = snprintf(head, sizeof head, "%s %.200s ", bar->what, bar->name);
    if (used > room)
        used = snprintf(head, sizeof head, "%s ", bar->what);
    if (used > room)
        used = head[0] = '\0';
    int width = room - used - 3 > CELLS_MAX ? CELLS_MAX : room - used - 3;
    if (known && width >= CELLS_MIN) {
        int full = (int)((double)bar->bytes / (double)bar->total * width);
        cells[0] = '[';
        memset(cells + 1, '.', (size_t)width);
        memset(cells + 1, '#', (size_t)full);
        cells[width + 1] = ']';
    }
    snprintf(out, PULL_BAR_BYTES, "%s%s%s%s", head, cells, *cells ? " " : "", figures);
    if (columns > 1 && strlen(out) >= columns)
        out[columns - 1] = '\0';
}

bool pull_bar_show(const struct pull_bar *bar)
{
    char line[PULL_BAR_BYTES];
    unsigned columns = terminal_columns(STDERR_FILENO);
    if (!columns)
        return false;
    pull_bar_write(bar, columns, line);
    fprintf(stderr, "\r%s\x1b[K", line);
    return true;
}
