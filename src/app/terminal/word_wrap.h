/* Breaks a text that comes in pieces into lines, between words and never inside of one that fits.
 *
 * A word is held back until it is whole. A broken line goes on below its first word; in a list,
 * below what the bullet or number stands before. Characters of two columns (Chinese, Japanese,
 * Korean) may stand at the end of a line each, with the punctuation that belongs to them. Lines
 * between ``` and ``` are code: they are left as they are. Characters that steer a terminal are not
 * passed on: an answer may have been written by somebody who wants to change what the user sees.
 * One owner. */
#ifndef APP_WORD_WRAP_H
#define APP_WORD_WRAP_H

#include "base/bytes/buf.h"

#include <stdio.h>

struct word_wrap {
    unsigned columns; /* 0 = the text is passed on byte by byte; may change at any time */
    void (*write)(void *ctx, struct td_str text);
    void *ctx;
    /* The rest is its own. */
    unsigned column; /* where the cursor is */
    unsigned spaces; /* that have not been written yet */
    unsigned width;  /* of the word */
    unsigned hang;   /* where the line goes on when it is broken: below its first word's begin */
    bool is_wide;    /* the word begins with a character of two columns */
    bool line_begins, in_code, any;
    char last;      /* the last byte that was written */
    char cut[4];    /* the beginning of a character */
    size_t cut_len; /* of it */
    struct buf word;
};

/* columns, write and ctx are set by the caller. */
void word_wrap_init(struct word_wrap *wrap);
void word_wrap_deinit(struct word_wrap *wrap);
void word_wrap_add(struct word_wrap *wrap, struct td_str text);
/* Writes what was held back, and ends the line if it has begun. */
void word_wrap_end(struct word_wrap *wrap);

/* A whole text with lines of at most `columns` (0 = as it is). */
void word_wrap_print(FILE *out, unsigned columns, struct td_str text);

#endif
