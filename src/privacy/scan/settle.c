/* Settles findings that overlap.
 *
 * Findings that overlap become one that covers both, so nothing that a detector saw stays
 * uncovered. It gets the kind of the higher class, or else of the longer or the surer finding.
 * Findings wait in a short list before they go out, because an address is found at its '@', after
 * what stands in its local part. */
#include "privacy/scan/settle.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/text/escaped.h"

/* What the tagger takes for a name and that cannot be in one: a bank's code is announced, and no
 * street lies within a date. */
static bool never_within(const struct privacy_span *guess, const struct privacy_span *sure)
{
    bool name = guess->kind == PRIVACY_PERSON || guess->kind == PRIVACY_PLACE ||
                guess->kind == PRIVACY_ORGANIZATION;
    bool inside = guess->begin >= sure->begin && guess->end <= sure->end;
    return (name && sure->kind == PRIVACY_SWIFT) ||
           (guess->kind == PRIVACY_ADDRESS && sure->kind == PRIVACY_DATE && sure->score >= 0.8f &&
            inside);
}

/* By class, then by length, then by score. What is surely one thing (a checksum, an announcing
 * word) is not swallowed by a guess of the same class. */
static bool outranks(const struct privacy_span *a, const struct privacy_span *b)
{
    size_t len_a = a->end - a->begin, len_b = b->end - b->begin;
    if (never_within(a, b) || never_within(b, a))
        return never_within(b, a);
    if (a->data_class != b->data_class)
        return a->data_class > b->data_class;
    if (a->score + 0.25f < b->score || b->score + 0.25f < a->score)
        return a->score > b->score;
    return len_a != len_b ? len_a > len_b : a->score > b->score;
}

/* Sends out all but the last `kept`. */
static void emit_older(struct settle *settle, size_t kept)
{
    size_t count = settle->pending_count - kept;
    for (size_t i = 0; i < count; i++)
        settle->emit(settle->ctx, &settle->pending[i]);
    if (count > 0)
        settle->floor = settle->pending[count - 1].end;
    settle->pending_count = kept;
    memmove(settle->pending, settle->pending + count, kept * sizeof settle->pending[0]);
}

static void append(struct settle *settle, const struct privacy_span *span)
{
    if (settle->pending_count == SETTLE_MAX)
        emit_older(settle, SETTLE_KEPT);
    settle->pending[settle->pending_count++] = *span;
}

/* What stands after the backslash of an escape in a text within a text belongs to the escape, not
 * to the word that follows it: after it, or the place itself. */
static size_t after_escape(struct td_str text, size_t at)
{
    if (at == 0 || at >= text.len || text.data[at - 1] != '\\')
        return at;
    if (escaped_ends_at(text, at + 1))
        return at + 1;
    return at + 5 <= text.len && escaped_ends_at(text, at + 5) ? at + 5 : at;
}

/* A detector that goes back over bytes may stop inside a character, which does not belong to the
 * value. */
static void keep_whole_characters(struct td_str text, struct privacy_span *span)
{
    if (utf8_character_begin(text, span->begin) < span->begin) {
        span->begin = utf8_character_begin(text, span->begin);
        utf8_next(text, &span->begin);
    }
    span->end = utf8_character_begin(text, span->end);
}

void settle_add(void *ctx, const struct privacy_span *found)
{
    struct settle *settle = ctx;
    struct privacy_span span = *found;
    ASSERT(span.end <= settle->text.len);
    keep_whole_characters(settle->text, &span);
    span.begin = after_escape(settle->text, span.begin);
    if (span.begin < settle->floor)
        span.begin = settle->floor;
    if (span.begin >= span.end)
        return;
    if (span.data_class < privacy_kind_class(span.kind))
        span.data_class = privacy_kind_class(span.kind);
    if (settle->pending_count == 0 ||
        settle->pending[settle->pending_count - 1].end <= span.begin) { /* most come in order */
        append(settle, &span);
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < settle->pending_count; i++) {
        struct privacy_span *old = &settle->pending[i];
        if (old->end <= span.begin || span.end <= old->begin) {
            settle->pending[kept++] = *old;
            continue;
        }
        bool old_wins = outranks(old, &span);
        struct privacy_span merged = old_wins ? *old : span;
        const struct privacy_span *loser = old_wins ? &span : old;
        if (loser->data_class != TD_CLASS_PUBLIC) { /* what is public need not stay covered */
            merged.guessed = old->guessed && span.guessed;
            merged.begin = old->begin < span.begin ? old->begin : span.begin;
            merged.end = old->end > span.end ? old->end : span.end;
        }
        span = merged;
    }
    settle->pending_count = kept;
    append(settle, &span);
    size_t at = settle->pending_count - 1;
    while (at > 0 && settle->pending[at - 1].begin > span.begin) {
        settle->pending[at] = settle->pending[at - 1];
        at--;
    }
    settle->pending[at] = span;
}

void settle_finish(struct settle *settle)
{
    emit_older(settle, 0);
}
