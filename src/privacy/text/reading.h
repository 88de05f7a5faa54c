/* Joins several texts into one for a scan. The word that announces a value often stands in the text
 * before it, or is the name of its member. Each text is a part of the reading. What is added
 * between them (a line's end, a repeated name) belongs to no part. One owner. */
#ifndef PRIVACY_READING_H
#define PRIVACY_READING_H

#include "base/bytes/buf.h"

enum reading_link {
    READING_LINE,    /* a line of its own */
    READING_GOES_ON, /* a line of its own, but one text with the part before: parts of a message */
    READING_VALUE,   /* what the part before it, or the name that was said, is the name of */
};

/* Where in a request a text stands. */
enum reading_from {
    READING_REQUEST,
    READING_SYSTEM, /* what the developer says to the model */
    READING_TOOLS,  /* what describes the functions that the model may call */
    READING_FROM_COUNT
};

struct reading_part {
    size_t begin, end;
    bool goes_on;       /* one text with the part before it */
    bool rested;        /* a pause stands before it */
    bool fixed;         /* nothing can be written in its place: a member's name, a number */
    uint8_t from;       /* enum reading_from */
    const char *source; /* which text it was; NULL: nobody asks */
};

struct reading {
    struct buf text;
    struct reading_part *parts;
    size_t count, capacity;
    bool pausing;           /* before what comes next */
    enum reading_from from; /* of what comes next */
    bool failed;            /* too large, or without memory: it does not hold all */
};

void reading_init(struct reading *reading);
void reading_deinit(struct reading *reading);

/* Copies the text, which is the part's source unless it is fixed. */
void reading_add(struct reading *reading, struct td_str text, enum reading_link link);
void reading_add_fixed(struct reading *reading, struct td_str text, enum reading_link link);
/* A line that is no part: a name for the value that comes next. */
void reading_say(struct reading *reading, struct td_str name);

/* What comes next has nothing to do with what came before: no word of it announces anything there.
 */
void reading_pause(struct reading *reading);
/* Appends a part of another reading with a text in its place, and before it what stands in the
 * other one between `from` and the part. Answers where the text begins. */
size_t reading_copy_part(struct reading *reading, const struct reading *other, size_t part,
                         size_t from, struct td_str text);

/* **borrows** until the next part is added. */
static inline struct td_str reading_part_text(const struct reading *reading, size_t part)
{
    const struct reading_part *p = &reading->parts[part];
    return (struct td_str){reading->text.data ? reading->text.data + p->begin : NULL,
                           p->end - p->begin};
}
/* All from one part to the last. */
struct td_str reading_since(const struct reading *reading, size_t part);
/* Where the text ends that the part is of: with those that go on with it. */
size_t reading_text_end(const struct reading *reading, size_t part);

#endif
