#include "router/plan/verify.h"

enum td_stakes verify_stakes(const struct verify_settings *settings, enum td_stakes asked,
                             enum td_data_class data_class)
{
    if (settings->high_class >= 0 && (int)data_class >= settings->high_class)
        return STAKES_HIGH;
    return asked != STAKES_UNSAID ? asked : settings->stakes;
}
