#include "privacy/privacy.h"

#include "privacy/scan.h"

const char *privacy_kind_name(enum privacy_kind kind)
{
    static const char *const names[PRIVACY_KIND_COUNT] = {
        [PRIVACY_EMAIL] = "EMAIL_ADDRESS", [PRIVACY_PHONE] = "PHONE_NUMBER",
        [PRIVACY_CARD] = "CREDIT_CARD",    [PRIVACY_IBAN] = "IBAN_CODE",
        [PRIVACY_US_SSN] = "US_SSN",       [PRIVACY_IP] = "IP_ADDRESS",
        [PRIVACY_API_KEY] = "API_KEY",     [PRIVACY_PRIVATE_KEY] = "PRIVATE_KEY",
    };
    return (unsigned)kind < PRIVACY_KIND_COUNT ? names[kind] : "UNKNOWN";
}

enum td_data_class privacy_kind_class(enum privacy_kind kind)
{
    switch (kind) {
    case PRIVACY_EMAIL:
    case PRIVACY_PHONE:
    case PRIVACY_IP:
        return TD_CLASS_SENSITIVE;
    default: /* an unknown kind is protected most */
        return TD_CLASS_RESTRICTED;
    }
}

struct span_list {
    struct privacy_span *spans;
    size_t capacity, count;
};

static void list_span(void *ctx, const struct privacy_span *span)
{
    struct span_list *list = ctx;
    if (list->count < list->capacity)
        list->spans[list->count] = *span;
    list->count++;
}

size_t privacy_scan(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct span_list list = {spans, capacity, 0};
    scan_text(text, list_span, &list);
    return list.count;
}

struct tally {
    uint32_t *counts;
    enum td_data_class data_class;
};

static void tally_span(void *ctx, const struct privacy_span *span)
{
    struct tally *tally = ctx;
    enum td_data_class data_class = privacy_kind_class(span->kind);
    if (data_class > tally->data_class)
        tally->data_class = data_class;
    if (tally->counts != NULL && tally->counts[span->kind] < UINT32_MAX)
        tally->counts[span->kind]++;
}

enum td_data_class privacy_classify(struct td_str text, uint32_t counts[PRIVACY_KIND_COUNT])
{
    struct tally tally = {counts, TD_CLASS_PUBLIC};
    scan_text(text, tally_span, &tally);
    return tally.data_class;
}

bool privacy_may_reach(enum td_data_class data_class, enum td_place place)
{
    switch (data_class) {
    case TD_CLASS_PUBLIC:
        return true;
    case TD_CLASS_SENSITIVE:
        return place == TD_PLACE_DEVICE || place == TD_PLACE_PREMISES;
    default: /* restricted, and anything unknown */
        return place == TD_PLACE_DEVICE;
    }
}
