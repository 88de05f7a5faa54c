/* The first failure is the cause, and what follows from it would hide it. So an error that is set
 * stays, and later calls only put context before it. */
#include "base/core/error.h"

#include "base/core/assertion.h"
#include "base/core/shortage.h"
#include "base/core/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *td_status_name(enum td_status status)
{
    static const char *const names[] = {
        [TD_OK] = "ok",
        [TD_INVALID] = "invalid",
        [TD_NOT_FOUND] = "not_found",
        [TD_UNSUPPORTED] = "unsupported",
        [TD_CORRUPT] = "corrupt",
        [TD_LIMIT] = "limit",
        [TD_BUSY] = "busy",
        [TD_NO_MEMORY] = "no_memory",
        [TD_IO] = "io",
        [TD_UNAVAILABLE] = "unavailable",
        [TD_TIMEOUT] = "timeout",
        [TD_CANCELLED] = "cancelled",
        [TD_DENIED] = "denied",
        [TD_INTERNAL] = "internal",
    };
    if ((unsigned)status >= sizeof names / sizeof names[0])
        return "unknown";
    return names[status];
}

enum td_status error_set(struct td_error *err, enum td_status status, const char *format, ...)
{
    ASSERT(status != TD_OK && format != NULL);
    if (status == TD_NO_MEMORY)
        shortage_note();
    if (err == NULL || err->status != TD_OK)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->status = status;
    return status;
}

enum td_status error_set_at(struct td_error *err, enum td_status status, const char *where,
                            const char *format, va_list args)
{
    char words[TD_ERROR_BYTES];
    vsnprintf(words, sizeof words, format, args);
    return error_set(err, status, "%s: %s", where, words);
}

void error_prefix(struct td_error *err, const char *format, ...)
{
    if (err == NULL || err->status == TD_OK)
        return;
    char old[TD_ERROR_BYTES];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof err->message)
        snprintf(err->message + len, sizeof err->message - (size_t)len, ": %s", old);
}

struct error_suggestion error_suggest(struct td_str name, const char *const *candidates,
                                      size_t candidate_count)
{
    struct error_suggestion suggestion = {""};
    const char *near = str_nearest(name, candidates, candidate_count);
    if (near != NULL)
        snprintf(suggestion.text, sizeof suggestion.text, "; did you mean '%.64s'?", near);
    return suggestion;
}
