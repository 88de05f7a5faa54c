/* The table of all detectors. Constant after detectors_init; any thread. */
#ifndef PRIVACY_DETECTORS_H
#define PRIVACY_DETECTORS_H

#include "base/core/assertion.h"
#include "privacy/detect/detect.h"

/* Before the first scan of a thread: builds the indexes, once in a process. */
void detectors_init(void);

/* All of them, ended by NULL. */
extern const struct detector *const detectors_all[];

/* Those of each trigger, in the order in which they are asked, and by the bits of a shape: a place
 * asks a handful of them. */
#define DETECTORS_PER_TRIGGER 16
struct detector_list {
    uint32_t wanted;      /* bits that a detector waits for */
    uint16_t waiting[32]; /* for each bit: bit i is row i */
    struct detector_row {
        uint32_t all;
        bool (*find)(const struct place *place, struct privacy_span *out);
        const struct detector *detector;
        uint64_t kinds[(PRIVACY_KIND_COUNT + 63) / 64]; /* bit k: it may find kind k */
    } rows[DETECTORS_PER_TRIGGER];
};
extern struct detector_list detectors_by_trigger[TRIGGER_COUNT];

/* Does the table say that the detector finds the kind? */
bool detector_has_kind(const struct detector *detector, enum privacy_kind kind);

/* Asks the trigger's detectors that the place's shape concerns, and calls found for each finding.
 * Answers where the pass resumes, 0 when no detector says so. Inline: a megabyte of numbers asks
 * six million times. */
static inline size_t detectors_ask(enum detect_trigger trigger, const struct place *place,
                                   span_fn *found, void *ctx)
{
    const struct detector_list *list = &detectors_by_trigger[trigger];
    const uint32_t shape = place->shape;
    uint32_t waiting = 0;
    for (uint32_t bits = shape & list->wanted; bits != 0; bits &= bits - 1)
        waiting |= list->waiting[__builtin_ctz(bits)];
    for (; waiting != 0; waiting &= waiting - 1) {
        const struct detector_row *row = &list->rows[__builtin_ctz(waiting)];
        struct privacy_span span;
        if ((~shape & row->all) != 0 || !row->find(place, &span))
            continue;
        ASSERT(row->kinds[span.kind / 64] >> (span.kind % 64) & 1);
        found(ctx, &span);
        if (row->detector->resumes)
            return span.end;
    }
    return 0;
}

#endif
