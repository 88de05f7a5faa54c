/* Texts that show one thing and hold another: character references of HTML, invisible characters
 * and odd spaces in the middle of words, letters of other scripts, in circles or in mathematical
 * styles for Latin ones, "example[.]com". Detectors of numbers read through most of that by
 * themselves (plain.c); here a text is found that hides something, and read plainly, for all that
 * looks words up or compares bytes. */
#ifndef PRIVACY_DISGUISE_H
#define PRIVACY_DISGUISE_H

#include "tandem/types.h"

/* Where the next disguise of each sort stands, so that a text is searched once. All zero at first.
 */
enum { DISGUISE_SORTS = 3 };
struct disguise_cursor {
    size_t next[DISGUISE_SORTS]; /* offset + 1; 0: not looked for yet */
};
/* Where, from the offset on, one stands; SIZE_MAX when there is none. Offsets may only grow. */
size_t disguise_next(struct disguise_cursor *cursor, struct td_str text, size_t from);
/* The text without disguises into out[text.len]; the rest stays. origin[text.len + 1]: where each
 * byte stood, by the numbers in `from` (NULL: those of the text); out may be the text itself and
 * origin may be `from`. Returns the length, which is never more. */
size_t disguise_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin);

#endif
