/* Parses GBNF text into states: recursive descent, and Thompson's construction on bytes. A repeated
 * group becomes a rule of its own, so {0,1000} costs a thousand calls instead of a thousand copies
 * of the group. After the first failure every function does nothing, so only loops have to check
 * for one. */
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/utf8.h"
#include "engine/grammar/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUPS_MAX 64
#define CLASS_RANGES_MAX 512
#define CODE_POINT_MAX 0x10FFFFu

struct fragment {
    uint32_t start, end; /* end: an epsilon whose next is not known yet */
};

struct range {
    uint32_t low, high;
};

struct parser {
    struct td_str text;
    size_t at;
    struct grammar_parts *parts;
    uint32_t *names; /* open addressing: rule + 1 */
    uint32_t names_mask;
    enum td_status status;
    struct td_error *err;
};

enum td_status grammar_error(struct td_error *err, enum td_status status, struct td_str text,
                             size_t offset, const char *format, ...)
{
    ASSERT(offset <= text.len);
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < offset && i < text.len; i++)
        if (text.data[i] == '\n') {
            line++;
            begin = i + 1;
        }
    char words[256];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return error_set(err, status, "grammar, line %zu, column %zu: %s", line, offset - begin + 1,
                     words);
}

static void fail(struct parser *p, enum td_status status, size_t offset, const char *words)
{
    if (p->status == TD_OK)
        p->status = grammar_error(p->err, status, p->text, offset, "%s", words);
}

/* --- states and rules ------------------------------------------------------------------------- */

static uint32_t add_state(struct parser *p, enum grammar_kind kind, uint32_t next, uint32_t other)
{
    struct grammar_parts *parts = p->parts;
    if (p->status == TD_OK && parts->state_count == parts->state_capacity) {
        uint32_t capacity = parts->state_capacity ? parts->state_capacity * 2 : 256;
        void *grown = capacity > GRAMMAR_STATES_MAX
                          ? NULL
                          : realloc(parts->states, capacity * sizeof *parts->states);
        if (grown) {
            parts->states = grown;
            parts->state_capacity = capacity;
        } else {
            fail(p, capacity > GRAMMAR_STATES_MAX ? TD_LIMIT : TD_NO_MEMORY, p->at,
                 "the grammar is too large");
        }
    }
    if (p->status != TD_OK)
        return 0; /* state 0 always exists; after a failure nobody runs the grammar */
    parts->states[parts->state_count] =
        (struct grammar_state){.kind = (uint8_t)kind, .next = next, .other = other};
    return parts->state_count++;
}

static uint32_t add_bytes(struct parser *p, unsigned low, unsigned high, uint32_t next)
{
    uint32_t state = add_state(p, GRAMMAR_BYTES, next, GRAMMAR_NONE);
    if (p->status == TD_OK) {
        p->parts->states[state].low = (uint8_t)low;
        p->parts->states[state].high = (uint8_t)high;
    }
    return state;
}

static void set_next(struct parser *p, uint32_t state, uint32_t next)
{
    if (p->status == TD_OK)
        p->parts->states[state].next = next;
}

static struct fragment empty(struct parser *p)
{
    uint32_t end = add_state(p, GRAMMAR_EPSILON, GRAMMAR_NONE, GRAMMAR_NONE);
    return (struct fragment){end, end};
}

static uint32_t add_rule(struct parser *p, struct td_str name, size_t offset)
{
    struct grammar_parts *parts = p->parts;
    if (p->status == TD_OK && parts->rule_count == parts->rule_capacity) {
        uint32_t capacity = parts->rule_capacity ? parts->rule_capacity * 2 : 64;
        void *grown = capacity > GRAMMAR_RULES_MAX
                          ? NULL
                          : realloc(parts->rules, capacity * sizeof *parts->rules);
        if (grown) {
            parts->rules = grown;
            parts->rule_capacity = capacity;
        } else {
            fail(p, capacity > GRAMMAR_RULES_MAX ? TD_LIMIT : TD_NO_MEMORY, offset,
                 "the grammar has too many rules");
        }
    }
    if (p->status != TD_OK)
        return 0;
    parts->rules[parts->rule_count] = (struct grammar_rule){name, offset, GRAMMAR_NONE};
    return parts->rule_count++;
}

static uint32_t find_or_add_rule(struct parser *p, struct td_str name, size_t offset)
{
    uint64_t hash = hash_mix64(hash_fnv1a64(name.data, name.len, HASH_FNV1A64_BASIS));
    for (uint32_t i = (uint32_t)hash;; i++) {
        uint32_t *slot = &p->names[i & p->names_mask];
        if (*slot == 0) {
            uint32_t rule = add_rule(p, name, offset);
            if (p->status == TD_OK)
                *slot = rule + 1;
            return rule;
        }
        if (str_equal(p->parts->rules[*slot - 1].name, name))
            return *slot - 1;
    }
}

/* --- characters ------------------------------------------------------------------------------- */

static int peek(const struct parser *p)
{
    return p->at < p->text.len ? (unsigned char)p->text.data[p->at] : -1;
}

static bool is_word(int c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_';
}

static void skip_space(struct parser *p, bool newlines)
{
    for (int c; (c = peek(p)) >= 0; p->at++) {
        if (c == '#')
            while (peek(p) >= 0 && peek(p) != '\n')
                p->at++;
        c = peek(p);
        if (c != ' ' && c != '\t' && c != '\r' && !(newlines && c == '\n'))
            return;
    }
}

static uint32_t read_hex(struct parser *p, int digits)
{
    uint32_t value = 0;
    for (int i = 0; i < digits; i++) {
        int digit = ascii_hex_value(peek(p));
        if (digit < 0) {
            fail(p, TD_INVALID, p->at, "expected a hexadecimal digit");
            return 0;
        }
        value = value << 4 | (uint32_t)digit;
        p->at++;
    }
    if (value > CODE_POINT_MAX || (value >= 0xD800 && value <= 0xDFFF))
        fail(p, TD_INVALID, p->at - (size_t)digits, "not a code point");
    return value;
}

/* Reads one character of a literal or class, and resolves its escape. */
static uint32_t read_char(struct parser *p)
{
    if (peek(p) != '\\') {
        size_t begin = p->at;
        uint32_t code = utf8_next(p->text, &p->at);
        if (code == 0xFFFD && p->at - begin == 1)
            fail(p, TD_INVALID, begin, "not valid UTF-8");
        return code;
    }
    size_t begin = p->at++;
    int c = peek(p);
    p->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'x':
        return read_hex(p, 2);
    case 'u':
        return read_hex(p, 4);
    case 'U':
        return read_hex(p, 8);
    case '\\':
    case '"':
    case '[':
    case ']':
    case '-':
    case '^':
    case '/':
        return (uint32_t)c;
    default:
        fail(p, TD_INVALID, begin, "unknown escape");
        return 0;
    }
}

static struct fragment parse_literal(struct parser *p)
{
    size_t begin = p->at++;
    struct fragment out = empty(p);
    while (p->status == TD_OK && peek(p) != '"') {
        if (peek(p) < 0 || peek(p) == '\n') {
            fail(p, TD_INVALID, begin, "this literal has no end");
            break;
        }
        char bytes[4];
        size_t len = utf8_encode(read_char(p), bytes);
        for (size_t i = 0; i < len; i++) {
            unsigned byte = (unsigned char)bytes[i];
            uint32_t end = add_state(p, GRAMMAR_EPSILON, GRAMMAR_NONE, GRAMMAR_NONE);
            set_next(p, out.end, add_bytes(p, byte, byte, end));
            out.end = end;
        }
    }
    p->at++;
    return out;
}

/* --- classes of characters -------------------------------------------------------------------- */

static void add_alternative(struct parser *p, uint32_t *start, uint32_t state)
{
    *start = *start == GRAMMAR_NONE ? state : add_state(p, GRAMMAR_SPLIT, state, *start);
}

/* Adds the code points low..high, whose UTF-8 has one length, as sequences of byte ranges. The
 * range is cut until every piece is a product of byte ranges, as in Thompson's Plan 9 grep and
 * RE2. */
static void add_utf8_range(struct parser *p, uint32_t *start, uint32_t end, struct range range)
{
    struct range pending[32];
    size_t count = 0;
    pending[count++] = range;
    while (count > 0 && p->status == TD_OK) {
        struct range r = pending[--count];
        bool cut = false;
        for (unsigned bits = 6; bits <= 18 && r.low > 0x7F && !cut; bits += 6) {
            uint32_t mask = (1u << bits) - 1;
            if ((r.low & ~mask) == (r.high & ~mask))
                continue;
            if (r.low & mask) {
                pending[count++] = (struct range){(r.low | mask) + 1, r.high};
                pending[count++] = (struct range){r.low, r.low | mask};
                cut = true;
            } else if ((r.high & mask) != mask) {
                pending[count++] = (struct range){r.high & ~mask, r.high};
                pending[count++] = (struct range){r.low, (r.high & ~mask) - 1};
                cut = true;
            }
        }
        if (cut)
            continue;
        char low[4], high[4];
        size_t len = utf8_encode(r.low, low);
        utf8_encode(r.high, high);
        uint32_t next = end;
        for (size_t i = len; i-- > 0;)
            next = add_bytes(p, (unsigned char)low[i], (unsigned char)high[i], next);
        add_alternative(p, start, next);
    }
}

static int compare_ranges(const void *a, const void *b)
{
    uint32_t low_a = ((const struct range *)a)->low, low_b = ((const struct range *)b)->low;
    return (low_a > low_b) - (low_a < low_b);
}

/* Sorts the ranges and removes overlaps and surrogates; returns the new count. */
static size_t normalise(struct range *ranges, size_t count, bool negate, struct range *out)
{
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    size_t made = 0;
    uint32_t from = 0; /* first code point not covered yet */
    for (size_t i = 0; i < count; i++) {
        if (negate && ranges[i].low > from)
            out[made++] = (struct range){from, ranges[i].low - 1};
        if (!negate && ranges[i].high >= from)
            out[made++] =
                (struct range){ranges[i].low > from ? ranges[i].low : from, ranges[i].high};
        if (ranges[i].high >= from)
            from = ranges[i].high + 1;
    }
    if (negate && from <= CODE_POINT_MAX)
        out[made++] = (struct range){from, CODE_POINT_MAX};
    return made;
}

static struct fragment class_fragment(struct parser *p, struct range *ranges, size_t count,
                                      bool negate, size_t offset)
{
    static const struct range lengths[] = {
        {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, CODE_POINT_MAX}};
    struct range sorted[CLASS_RANGES_MAX + 1];
    count = normalise(ranges, count, negate, sorted);
    uint32_t start = GRAMMAR_NONE;
    uint32_t end = add_state(p, GRAMMAR_EPSILON, GRAMMAR_NONE, GRAMMAR_NONE);
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct range part = sorted[i];
            part.low = part.low > lengths[l].low ? part.low : lengths[l].low;
            part.high = part.high < lengths[l].high ? part.high : lengths[l].high;
            if (part.low <= part.high)
                add_utf8_range(p, &start, end, part);
        }
    if (start == GRAMMAR_NONE)
        fail(p, TD_INVALID, offset, "this class has no character");
    return (struct fragment){start, end};
}

static struct fragment parse_class(struct parser *p)
{
    size_t begin = p->at++, count = 0;
    struct range ranges[CLASS_RANGES_MAX];
    bool negate = peek(p) == '^';
    p->at += negate;
    while (p->status == TD_OK && peek(p) != ']') {
        if (peek(p) < 0 || peek(p) == '\n')
            fail(p, TD_INVALID, begin, "this class has no end");
        else if (count == CLASS_RANGES_MAX)
            fail(p, TD_LIMIT, begin, "this class has too many members");
        if (p->status != TD_OK)
            break;
        size_t at = p->at;
        uint32_t low = read_char(p), high = low;
        bool range = peek(p) == '-' && p->at + 1 < p->text.len && p->text.data[p->at + 1] != ']';
        if (range) {
            p->at++;
            high = read_char(p);
        }
        if (low > high)
            fail(p, TD_INVALID, at, "this range is the wrong way round");
        ranges[count++] = (struct range){low, high};
    }
    p->at++;
    if (p->status != TD_OK)
        return empty(p);
    return class_fragment(p, ranges, count, negate, begin);
}

/* --- sequences -------------------------------------------------------------------------------- */

/* What is repeated. It can be written several times: a byte range or a call of a rule. */
struct unit {
    enum grammar_kind kind;
    uint8_t low, high;
    uint32_t rule;
};

static struct unit make_unit(struct parser *p, struct fragment body, size_t offset)
{
    if (p->status != TD_OK)
        return (struct unit){.kind = GRAMMAR_EPSILON};
    struct grammar_state first = p->parts->states[body.start];
    if (first.kind == GRAMMAR_BYTES && first.next == body.end)
        return (struct unit){.kind = GRAMMAR_BYTES, .low = first.low, .high = first.high};
    if (first.kind == GRAMMAR_CALL && first.next == body.end)
        return (struct unit){.kind = GRAMMAR_CALL, .rule = first.other};
    uint32_t rule = add_rule(p, STR(""), offset);
    set_next(p, body.end, add_state(p, GRAMMAR_END, GRAMMAR_NONE, GRAMMAR_NONE));
    if (p->status == TD_OK)
        p->parts->rules[rule].start = body.start;
    return (struct unit){.kind = GRAMMAR_CALL, .rule = rule};
}

static uint32_t write_unit(struct parser *p, const struct unit *unit, uint32_t next)
{
    return unit->kind == GRAMMAR_BYTES ? add_bytes(p, unit->low, unit->high, next)
                                       : add_state(p, GRAMMAR_CALL, next, unit->rule);
}

/* Built from its end, so that the next state of each state exists already. */
static struct fragment repeat(struct parser *p, struct fragment body, uint32_t min, uint32_t max,
                              size_t offset)
{
    struct unit unit = make_unit(p, body, offset);
    uint32_t end = add_state(p, GRAMMAR_EPSILON, GRAMMAR_NONE, GRAMMAR_NONE), start = end;
    if (max == GRAMMAR_NONE) {
        start = add_state(p, GRAMMAR_SPLIT, GRAMMAR_NONE, end);
        set_next(p, start, write_unit(p, &unit, start));
    }
    for (uint32_t i = min; max != GRAMMAR_NONE && i < max && p->status == TD_OK; i++)
        start = add_state(p, GRAMMAR_SPLIT, write_unit(p, &unit, start), end);
    for (uint32_t i = 0; i < min && p->status == TD_OK; i++)
        start = write_unit(p, &unit, start);
    return (struct fragment){start, end};
}

static uint32_t read_count(struct parser *p, uint32_t otherwise)
{
    if (!ascii_is_digit(peek(p)))
        return otherwise;
    uint32_t value = 0;
    size_t begin = p->at;
    for (; ascii_is_digit(peek(p)); p->at++) {
        value = value * 10 + (uint32_t)(peek(p) - '0');
        if (value > GRAMMAR_REPEAT_MAX) {
            fail(p, TD_LIMIT, begin, "a repetition of more than 65536");
            return 0;
        }
    }
    return value;
}

static struct fragment parse_braces(struct parser *p, struct fragment body)
{
    size_t begin = p->at++;
    skip_space(p, false);
    uint32_t min = read_count(p, GRAMMAR_NONE), max = min;
    skip_space(p, false);
    if (peek(p) == ',') {
        p->at++;
        skip_space(p, false);
        min = min == GRAMMAR_NONE ? 0 : min;
        max = read_count(p, GRAMMAR_NONE);
        skip_space(p, false);
    } else if (min == GRAMMAR_NONE) {
        fail(p, TD_INVALID, begin, "expected {m}, {m,} or {m,n}");
        return body;
    }
    if (peek(p) != '}' || min > max) {
        fail(p, TD_INVALID, begin, "expected {m}, {m,} or {m,n} with m at most n");
        return body;
    }
    p->at++;
    return repeat(p, body, min, max, begin);
}

static struct fragment parse_alternatives(struct parser *p, int groups);

static struct fragment parse_group(struct parser *p, int groups)
{
    size_t begin = p->at++;
    if (groups == GROUPS_MAX) {
        fail(p, TD_LIMIT, begin, "groups nested deeper than 64");
        return empty(p);
    }
    skip_space(p, true);
    struct fragment out = parse_alternatives(p, groups + 1);
    if (peek(p) != ')')
        fail(p, TD_INVALID, begin, "this ( has no )");
    p->at++;
    return out;
}

static struct fragment parse_name(struct parser *p)
{
    size_t begin = p->at;
    while (is_word(peek(p)))
        p->at++;
    struct fragment out = empty(p);
    uint32_t rule = find_or_add_rule(p, str_slice(p->text, begin, p->at), begin);
    out.start = add_state(p, GRAMMAR_CALL, out.end, rule);
    return out;
}

static struct fragment any_character(struct parser *p)
{
    struct range all = {0, CODE_POINT_MAX};
    return class_fragment(p, &all, 1, false, p->at++);
}

static struct fragment parse_element(struct parser *p, int groups)
{
    int c = peek(p);
    return c == '"'   ? parse_literal(p)
           : c == '[' ? parse_class(p)
           : c == '(' ? parse_group(p, groups)
           : c == '.' ? any_character(p)
                      : parse_name(p);
}

static struct fragment parse_postfix(struct parser *p, struct fragment body)
{
    while (p->status == TD_OK) {
        int c = peek(p);
        if (c == '{')
            body = parse_braces(p, body);
        else if (c == '*' || c == '+' || c == '?')
            body = repeat(p, body, c == '+', c == '?' ? 1 : GRAMMAR_NONE, p->at++);
        else
            break;
    }
    return body;
}

static bool element_follows(int c)
{
    return c == '"' || c == '[' || c == '(' || c == '.' || is_word(c);
}

static struct fragment parse_sequence(struct parser *p, int groups)
{
    struct fragment out = empty(p);
    while (p->status == TD_OK && element_follows(peek(p))) {
        struct fragment part = parse_postfix(p, parse_element(p, groups));
        set_next(p, out.end, part.start);
        out.end = part.end;
        skip_space(p, groups > 0);
    }
    return out;
}

/* A | may also begin the next line. */
static bool bar_follows(struct parser *p)
{
    size_t at = p->at;
    skip_space(p, true);
    if (p->status == TD_OK && peek(p) == '|')
        return true;
    p->at = at;
    return false;
}

static struct fragment parse_alternatives(struct parser *p, int groups)
{
    struct fragment out = parse_sequence(p, groups);
    while (bar_follows(p)) {
        p->at++;
        skip_space(p, true);
        struct fragment other = parse_sequence(p, groups);
        out.start = add_state(p, GRAMMAR_SPLIT, out.start, other.start);
        set_next(p, other.end, out.end);
    }
    return out;
}

/* --- rules ------------------------------------------------------------------------------------ */

static void parse_rule(struct parser *p)
{
    size_t begin = p->at;
    if (!is_word(peek(p))) {
        fail(p, TD_INVALID, begin, "expected the name of a rule");
        return;
    }
    while (is_word(peek(p)))
        p->at++;
    struct td_str name = str_slice(p->text, begin, p->at);
    skip_space(p, false);
    if (!str_equal(str_slice(p->text, p->at, p->at + 3), STR("::="))) {
        fail(p, TD_INVALID, p->at, "expected ::=");
        return;
    }
    p->at += 3;
    skip_space(p, true);
    uint32_t rule = find_or_add_rule(p, name, begin);
    if (p->status == TD_OK && p->parts->rules[rule].start != GRAMMAR_NONE) {
        p->status =
            grammar_error(p->err, TD_INVALID, p->text, begin, "rule '" STR_FMT "' is defined twice",
                          STR_ARG(str_slice(name, 0, 60)));
        return;
    }
    struct fragment body = parse_alternatives(p, 0);
    if (p->status == TD_OK && peek(p) >= 0 && peek(p) != '\n')
        fail(p, TD_INVALID, p->at,
             peek(p) == '<' ? "token references are not supported" : "unexpected character");
    set_next(p, body.end, add_state(p, GRAMMAR_END, GRAMMAR_NONE, GRAMMAR_NONE));
    if (p->status == TD_OK) {
        p->parts->rules[rule].start = body.start;
        p->parts->rules[rule].offset = begin;
    }
    skip_space(p, true);
}

enum td_status grammar_parse(struct td_str text, struct grammar_parts *parts, struct td_error *err)
{
    ASSERT(parts->state_count == 0 && parts->rule_count == 0);
    struct parser p = {.text = text, .parts = parts, .err = err};
    if (text.len > GRAMMAR_TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "a grammar of %zu bytes, at most %zu", text.len,
                         GRAMMAR_TEXT_BYTES_MAX);
    p.names_mask = 2 * GRAMMAR_RULES_MAX - 1;
    p.names = calloc(p.names_mask + 1, sizeof *p.names);
    if (p.names == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar");
    add_state(&p, GRAMMAR_END, GRAMMAR_NONE, GRAMMAR_NONE);
    skip_space(&p, true);
    while (p.status == TD_OK && p.at < text.len)
        parse_rule(&p);
    free(p.names);
    return p.status;
}
