/* Writes one line per event with one write(2), so that lines of several threads do not mix. Control
 * characters are replaced, so text from outside cannot forge a line. */
#include "base/time/log.h"

#include "base/core/assertion.h"
#include "base/text/utf8.h"
#include "base/time/clock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Longer lines are cut: a log line is for facts, not for payloads. */
#define LINE_BYTES 1024

static atomic_int log_minimum = LOG_LEVEL_INFO;
static atomic_int log_output = 2;

const char *const log_level_names[] = {"debug", "info", "warn", "error", "off", NULL};

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&log_minimum, (int)level, memory_order_relaxed);
}

void log_set_fd(int fd)
{
    atomic_store_explicit(&log_output, fd, memory_order_relaxed);
}

/* C0, DEL, and C1 (U+0080 to U+009F), which terminals obey as well: U+009B begins a command as
 * ESC [ does. Where no UTF-8 stands, a terminal may read such a byte alone. */
static void neutralise(char *line, size_t len)
{
    for (size_t at = 0, begin = 0; at < len; begin = at) {
        uint32_t point = utf8_next((struct td_str){line, len}, &at);
        bool invalid = point == 0xfffd && at - begin == 1;
        if (point < 0x20 || (point >= 0x7f && point < 0xa0) || invalid)
            memset(line + begin, '?', at - begin);
    }
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
    ASSERT(level < LOG_LEVEL_OFF && event != NULL && format != NULL);
    if ((int)level < atomic_load_explicit(&log_minimum, memory_order_relaxed))
        return;
    char line[LINE_BYTES], stamp[25];
    clock_format_iso8601(clock_wall_ms(NULL), stamp);
    int len =
        snprintf(line, sizeof line, "%s level=%s event=%s ", stamp, log_level_names[level], event);
    if (len < 0 || (size_t)len >= sizeof line - 1)
        return;
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + len, sizeof line - (size_t)len, format, args);
    va_end(args);
    if (more < 0)
        more = 0;
    size_t total = (size_t)len + (size_t)more;
    if (total > sizeof line - 2)
        total = sizeof line - 2;
    neutralise(line, total);
    line[total++] = '\n';
    ssize_t written = write(atomic_load_explicit(&log_output, memory_order_relaxed), line, total);
    (void)written; /* there is nowhere to report it */
}
