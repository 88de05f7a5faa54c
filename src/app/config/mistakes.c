/* A bounded list: a file of a megabyte can have ten thousand mistakes. */
#include "app/config/mistakes.h"

#include "base/core/error.h"

#include <stdarg.h>
#include <stdio.h>

bool config_mistakes_add(struct config_mistakes *mistakes, const char *format, ...)
{
    if (mistakes->count < CONFIG_MISTAKES_MAX) {
        va_list args;
        va_start(args, format);
        vsnprintf(mistakes->text[mistakes->count], TD_ERROR_BYTES, format, args);
        va_end(args);
    }
    mistakes->count++;
    return false;
}

enum td_status config_mistakes_status(const struct config_mistakes *mistakes, struct td_error *err)
{
    char more[40] = "";
    if (mistakes->count == 0)
        return TD_OK;
    if (mistakes->count > 1)
        snprintf(more, sizeof more, " (and %zu more)", mistakes->count - 1);
    return error_set(err, TD_INVALID, "%.460s%s", mistakes->text[0], more);
}
