/* Joins texts into one, and knows which bytes are whose.
 *
 * A value and the word that announces it often stand in two texts: a question and its answer, a
 * member's name and its value. So all are laid one after another in one buffer with a line's end
 * between, and a part remembers where it begins and ends there. */
#include "privacy/text/reading.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <string.h>

#include <stdlib.h>

#define PAUSE_BYTES 128                    /* no detector looks further for an announcing word */
#define TEXT_BYTES_MAX ((size_t)256 << 20) /* more than a request's body with all its names */

void reading_init(struct reading *reading)
{
    *reading = (struct reading){0};
    buf_init(&reading->text, TEXT_BYTES_MAX);
}

void reading_deinit(struct reading *reading)
{
    buf_deinit(&reading->text);
    free(reading->parts);
    *reading = (struct reading){0};
}

static void append(struct reading *reading, struct td_str text, const struct reading_part *like)
{
    if (reading->count == reading->capacity) {
        size_t capacity = reading->capacity ? 2 * reading->capacity : 32;
        struct reading_part *parts = realloc(reading->parts, capacity * sizeof *parts);
        if (parts == NULL) {
            reading->failed = true;
            return;
        }
        reading->parts = parts;
        reading->capacity = capacity;
    }
    struct reading_part *part = &reading->parts[reading->count++];
    *part = *like;
    part->begin = reading->text.len;
    part->rested = reading->pausing;
    reading->pausing = false;
    buf_append_str(&reading->text, text);
    part->end = reading->text.len;
    reading->failed |= reading->text.failed;
}

static void append_link(struct reading *reading, enum reading_link link)
{
    if (reading->text.len > 0)
        buf_append_str(&reading->text, link == READING_VALUE ? STR(": ") : STR("\n"));
}

void reading_add(struct reading *reading, struct td_str text, enum reading_link link)
{
    append_link(reading, link);
    append(reading, text,
           &(struct reading_part){.goes_on = link == READING_GOES_ON,
                                  .from = (uint8_t)reading->from,
                                  .source = text.data});
}

void reading_add_fixed(struct reading *reading, struct td_str text, enum reading_link link)
{
    append_link(reading, link);
    append(reading, text, &(struct reading_part){.fixed = true, .from = (uint8_t)reading->from});
}

size_t reading_copy_part(struct reading *reading, const struct reading *other, size_t part,
                         size_t from, struct td_str text)
{
    const struct reading_part *like = &other->parts[part];
    buf_append_str(&reading->text, str_slice(buf_view(&other->text), from, like->begin));
    size_t begin = reading->text.len;
    append(reading, text, like);
    return begin;
}

void reading_say(struct reading *reading, struct td_str name)
{
    if (reading->text.len > 0)
        buf_append_char(&reading->text, '\n');
    buf_append_str(&reading->text, name);
    reading->failed |= reading->text.failed;
}

void reading_pause(struct reading *reading)
{
    char lines[PAUSE_BYTES];
    memset(lines, '\n', sizeof lines);
    if (reading->text.len > 0)
        buf_append(&reading->text, lines, sizeof lines);
    reading->pausing = reading->text.len > 0;
    reading->failed |= reading->text.failed;
}

struct td_str reading_since(const struct reading *reading, size_t part)
{
    ASSERT(part <= reading->count);
    if (part >= reading->count)
        return (struct td_str){NULL, 0};
    return str_slice(buf_view(&reading->text), reading->parts[part].begin,
                     reading->parts[reading->count - 1].end);
}

size_t reading_text_end(const struct reading *reading, size_t part)
{
    ASSERT(part < reading->count);
    while (part + 1 < reading->count && reading->parts[part + 1].goes_on)
        part++;
    return reading->parts[part].end;
}
