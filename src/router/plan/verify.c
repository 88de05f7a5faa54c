#include "router/plan/verify.h"

#include <string.h>

static bool looks_high(const struct verify_settings *settings, const struct verify_view *view)
{
    for (size_t i = 0; settings->high_tasks && settings->high_tasks[i]; i++)
        if (strcmp(settings->high_tasks[i], view->task) == 0)
            return true;
    return view->p_local < settings->high_p_local_under; /* never of NAN */
}

enum td_stakes verify_stakes(const struct verify_settings *settings, const struct verify_view *view)
{
    if (settings->high_class >= 0 && (int)view->data_class >= settings->high_class)
        return STAKES_HIGH;
    if (view->asked != STAKES_UNSAID)
        return view->asked;
    return looks_high(settings, view) ? STAKES_HIGH : settings->stakes;
}
