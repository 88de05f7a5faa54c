/* The masked reading, and the highest class that is left in it. A tier may get it only if it may
 * see that class. What is left is judged twice: by a new scan of the masked reading, and by the
 * findings that the rules did not want replaced. */
#include "base/core/error.h"
#include "base/core/str.h"
#include "privacy/pseudonym/mask_internal.h"

#include <stdlib.h>

/* Copies the masked parts and what stands between them. Adds the places of all values (in the
 * mask's reading) and of their surrogates (in *out). */
static void write_parts(struct mask *mask, struct reading *out, struct spans *surrogates,
                        struct spans *values)
{
    size_t done = 0;
    for (size_t i = 0; i < mask->text_count; i++) {
        const struct reading_part *part = &mask->reading->parts[i];
        const struct round_trip_text text = mask_round_trip(&mask->texts[i]);
        size_t begin = reading_copy_part(out, mask->reading, i, done, text.masked);
        for (size_t k = 0; k < text.place_count; k++) {
            const struct round_trip_place *place = &text.places[k];
            struct privacy_span value = place->span, surrogate = place->span;
            privacy_tally_add(&mask->replaced, &value);
            value.begin += part->begin;
            value.end += part->begin;
            surrogate.begin = begin + place->begin;
            surrogate.end = begin + place->end;
            spans_add(values, &value);
            spans_add(surrogates, &surrogate);
        }
        done = part->end;
    }
}

static void raise_to(enum td_data_class *rest, enum td_data_class found)
{
    if (found > *rest)
        *rest = found;
}

/* What is still found in the masked reading. A finding that touches a surrogate comes from the
 * surrogate: its neighbours stood there before and were no finding. */
static enum td_status judge_rest(const struct mask *mask, const struct reading *masked,
                                 const struct spans *surrogates, enum td_data_class *rest,
                                 struct td_error *err)
{
    struct spans all;
    enum td_status status = mask_scan(mask, masked, false, &all, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0, next = 0; i < all.count; i++) {
        while (next < surrogates->count && surrogates->spans[next].end <= all.spans[i].begin)
            next++;
        bool touches = next < surrogates->count && surrogates->spans[next].begin < all.spans[i].end;
        if (!touches)
            raise_to(rest, all.spans[i].data_class);
    }
    free(all.spans);
    return TD_OK;
}

/* Findings that no replaced value covers. */
static void judge_left(const struct spans *left, const struct spans *values,
                       enum td_data_class *rest)
{
    for (size_t i = 0, next = 0; i < left->count; i++) {
        const struct privacy_span *span = &left->spans[i];
        while (next < values->count && values->spans[next].end <= span->begin)
            next++;
        bool covered = next < values->count && values->spans[next].begin <= span->begin &&
                       values->spans[next].end >= span->end;
        if (!covered)
            raise_to(rest, span->data_class);
    }
}

enum td_status mask_write(struct mask *mask, struct reading *out, enum td_data_class *rest,
                          struct td_error *err)
{
    struct spans surrogates = {0}, values = {0};
    write_parts(mask, out, &surrogates, &values);
    enum td_status status = TD_OK;
    if (surrogates.failed || values.failed || out->failed)
        status = error_set(err, TD_LIMIT, "a request with its surrogates is too large");
    if (status == TD_OK) {
        judge_left(&mask->left, &values, rest);
        status = judge_rest(mask, out, &surrogates, rest, err);
    }
    free(surrogates.spans);
    free(values.spans);
    return status;
}
