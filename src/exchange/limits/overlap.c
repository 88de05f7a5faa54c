/* The new text is compared with the shown one in two ways: from its beginning (a tier that begins
 * anew) and at its end (one that says the last words again). As long as what came may still turn
 * out to be either, it is held back.
 *
 * How much has to agree: a repetition from the beginning is one once all of the shown text has
 * come. A shorter one at the end could be chance, or wanted ("very, very"), so it has to begin with
 * a word, and a text that begins with a space or a comma goes on as it stands. Both texts are
 * UTF-8, so an overlap that begins with a whole character of the one does so in the other. */
#include "exchange/limits/overlap.h"

#include "base/core/str.h"

#include <ctype.h>

#define TAIL_BYTES_MAX 1024 /* of the shown text, for words that are said again */
#define WORDS_BYTES_MIN 3   /* shorter ones are too likely by chance */
#define NUMBER_BYTES_MIN 8  /* the same for a number: after "1" may come "100" */
#define SPACED_BYTES_MIN 24 /* the same for a text that does not begin with a word */
/* That much of the shown text and then something else is another answer. A table's or a list's
 * lines have less in common. */
#define RESTART_BYTES_MIN 48

void overlap_init(struct overlap *overlap, struct td_str shown, bool exact)
{
    overlap_deinit(overlap);
    *overlap = (struct overlap){.shown = shown, .exact = exact, .found = shown.len == 0};
    /* What is held is a part of the shown text, and one piece. */
    buf_init(&overlap->held, SIZE_MAX / 2);
}

void overlap_deinit(struct overlap *overlap)
{
    buf_deinit(&overlap->held);
}

/* Letters beyond ASCII count; punctuation beyond ASCII, too. */
static bool is_wordy(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Could words that are said again begin here? */
static bool begins_words(struct td_str shown, size_t at)
{
    if (!is_wordy(shown.data[at]))
        return shown.len - at >= SPACED_BYTES_MIN;
    if (at > 0 && is_wordy(shown.data[at - 1]))
        return false;
    bool number = isdigit((unsigned char)shown.data[at]);
    return shown.len - at >= (number ? NUMBER_BYTES_MIN : WORDS_BYTES_MIN);
}

/* The longest end of `shown` that `held` begins with; *open: a longer one may still follow. */
static size_t words_again(const struct overlap *overlap, bool *open)
{
    struct td_str shown = overlap->shown, held = buf_view(&overlap->held);
    size_t from = shown.len > TAIL_BYTES_MAX ? shown.len - TAIL_BYTES_MAX : 0;
    *open = false;
    for (size_t at = from; at < shown.len; at++) {
        size_t rest = shown.len - at, len = rest < held.len ? rest : held.len;
        if (memcmp(shown.data + at, held.data, len) != 0 || !begins_words(shown, at))
            continue;
        if (rest <= held.len)
            return rest;
        *open = true;
    }
    return 0;
}

static void give(struct overlap *overlap, size_t skip, struct buf *out)
{
    buf_append_str(out, str_slice(buf_view(&overlap->held), skip, overlap->held.len));
    overlap->found = true;
    buf_deinit(&overlap->held);
}

/* Where a tier goes on by its interface, it does not begin anew by chance: only all of a longer
 * text is a repetition. */
static bool is_whole(const struct overlap *overlap)
{
    return overlap->same == overlap->shown.len &&
           (!overlap->exact || overlap->same >= RESTART_BYTES_MIN);
}

static bool look(struct overlap *overlap, bool ended, struct buf *out)
{
    struct td_str held = buf_view(&overlap->held);
    bool from_start = overlap->same == held.len && !is_whole(overlap), open = false;
    if (is_whole(overlap)) {
        give(overlap, overlap->same, out);
        return true;
    }
    if (from_start && !ended && (!overlap->exact || overlap->shown.len >= RESTART_BYTES_MIN) &&
        overlap->same < overlap->shown.len)
        return true;
    size_t again = overlap->exact ? 0 : words_again(overlap, &open);
    if (open && !ended)
        return true;
    /* In the middle of what was shown: it ended there, or became another answer. */
    if (!overlap->exact && again == 0 && overlap->same >= RESTART_BYTES_MIN)
        return false;
    give(overlap, again, out);
    return true;
}

bool overlap_feed(struct overlap *overlap, struct td_str text, struct buf *out)
{
    if (overlap->found) {
        buf_append_str(out, text);
        return true;
    }
    if (text.len == 0)
        return true;
    struct td_str shown = overlap->shown;
    size_t before = overlap->held.len;
    buf_append_str(&overlap->held, text);
    if (overlap->held.failed)
        return false;
    for (size_t i = 0; overlap->same == before + i && i < text.len; i++) {
        if (overlap->same == shown.len || shown.data[overlap->same] != text.data[i])
            break;
        overlap->same++;
    }
    return look(overlap, false, out);
}

bool overlap_end(struct overlap *overlap, struct buf *out)
{
    if (overlap->found || overlap->held.len == 0)
        return true;
    return look(overlap, true, out);
}
