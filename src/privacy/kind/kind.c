/* The rows of kind.h as a table.
 *
 * The severities follow the order of PRISM's type weights (arXiv 2511.22788): what identifies or
 * opens an account 0.9 and more, contact 0.7 to 0.9, what narrows down 0.2 to 0.5. */
#include "privacy/kind/kind.h"

#define YES true
#define NO false
#define ROW(kind, name, data_class, severity, national) \
    [kind] = {name, TD_CLASS_##data_class, severity, national},

static const struct {
    const char *name;
    enum td_data_class data_class;
    double severity;
    bool national;
} kinds[PRIVACY_KIND_COUNT] = {PRIVACY_KINDS(ROW)};

const char *privacy_kind_name(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].name : "UNKNOWN";
}

enum td_data_class privacy_kind_class(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].data_class : TD_CLASS_RESTRICTED;
}

double privacy_kind_severity(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].severity : 1.0;
}

bool privacy_kind_is_national(int kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT && kinds[kind].national;
}
