/* Finds and removes disguises: spellings that a reader sees through but a comparison of bytes does
 * not. They are HTML's character references, invisible characters and odd spaces within words,
 * letters that look like Latin ones (of other scripts, in circles, in mathematical styles), and
 * "example[.]com". Detectors of numbers read through most of that by themselves (plain.c). Code
 * that looks words up or compares bytes reads the text that disguise_read makes. Pure; any
 * thread. */
#ifndef PRIVACY_DISGUISE_H
#define PRIVACY_DISGUISE_H

#include "tandem/types.h"

/* Offsets of the next disguise of each sort, so that a text is searched once. All zero at first. */
enum { DISGUISE_SORTS = 3 };
struct disguise_cursor {
    size_t next[DISGUISE_SORTS]; /* offset + 1; 0: not looked for yet */
};
/* The offset of the next disguise, or SIZE_MAX. `from` may only grow from call to call. */
size_t disguise_next(struct disguise_cursor *cursor, struct td_str text, size_t from);
/* Writes the text without disguises to out[text.len]. Other bytes are copied. origin[text.len + 1]
 * gets the offset from which each byte came. `from` has such offsets of an earlier reading; NULL:
 * those of the text. out may be the text itself and origin may be `from`. Returns the length, which
 * is at most text.len. */
size_t disguise_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin);

#endif
