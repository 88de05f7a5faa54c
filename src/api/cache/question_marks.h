/* What two questions must have in common before the answer to one may be given to the other,
 * however near their vectors are. Models of embeddings put "pay 50 to Anna" beside "pay 500 to
 * Anne", and "can I" beside "can't I": what a question is about decides, and not these few
 * words. Pure; any thread. */
#ifndef API_QUESTION_MARKS_H
#define API_QUESTION_MARKS_H

#include "tandem/types.h"

struct privacy_scanner;

#define QUESTION_BYTES_MAX 1024 /* a longer text is no question but a document with one */
#define QUESTION_WORDS_MIN 3    /* fewer say too little without what they refer to */

/* In the order in which a difference is told. */
enum question_mark {
    MARK_NUMBERS,   /* digits, words of numbers and of dates, operators and signs of currencies */
    MARK_NEGATIONS, /* and words of pairs of opposites */
    MARK_QUOTES,    /* texts in quotation marks, to the letter */
    MARK_NAMES,     /* what the scanner finds, words with capitals, paths, addresses, code */
    MARK_COUNT
};

/* Of each kind a hash of all in their order, so that "from Rome to Bonn" is not "from Bonn to
 * Rome". */
struct question_marks {
    uint64_t hashes[MARK_COUNT];
};

/* False: it cannot be compared. It is too short, too long, has too many findings, or is written in
 * letters without capitals, in which no name would be seen. */
bool question_marks_read(const struct privacy_scanner *scanner, struct td_str text,
                         struct question_marks *out);
/* In what they differ; MARK_COUNT = in nothing. */
enum question_mark question_marks_differ(const struct question_marks *one,
                                         const struct question_marks *other);
const char *question_mark_name(enum question_mark mark); /* "numbers", a literal */

#endif
