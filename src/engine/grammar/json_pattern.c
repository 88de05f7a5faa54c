/* Writes regular expressions (ECMA-262) as GBNF, as far as they are regular: literals, classes, \d
 * \w \s, groups, alternatives, repetitions, and ^ and $ at the ends of the whole. JSON escapes some
 * characters (quotes, backslashes, controls). These are written with their escape when they stand
 * alone, and left out of classes. So everything that is generated matches the pattern, but not
 * every match can be generated. A text that is no JSON has no such escapes. */
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/json_schema.h"

#define GROUPS_MAX 32
#define PLAIN_EXCEPT "\"\\\\\\x00-\\x1f\\x7f" /* within a negated class of a string of JSON */

struct pattern {
    struct td_str text;
    size_t at;
    struct buf *out;
    bool plain;         /* of a text as it is, and not of a string of JSON */
    const char *reason; /* of the failure; NULL = none so far */
};

static int peek(const struct pattern *p)
{
    return p->at < p->text.len ? (unsigned char)p->text.data[p->at] : -1;
}

static bool take(struct pattern *p, char c)
{
    bool there = peek(p) == (unsigned char)c;
    p->at += there;
    return there;
}

static void refuse(struct pattern *p, const char *reason)
{
    if (p->reason == NULL)
        p->reason = reason;
}

/* What a negated class must not hold either. */
static struct td_str excepted(const struct pattern *p)
{
    return p->plain ? STR("") : STR(PLAIN_EXCEPT);
}

static bool is_plain(uint32_t code)
{
    return code >= 0x20 && code != '"' && code != '\\' && code != 0x7F;
}

/* Writes one character outside a class, as a JSON string has it. */
static void put_literal(struct pattern *p, uint32_t code)
{
    static const char names[] = "\bb\ff\nn\rr\tt";
    if (is_plain(code) || (p->plain && code > 0)) {
        char bytes[4];
        json_schema_literal(p->out, (struct td_str){bytes, utf8_encode(code, bytes)});
        return;
    }
    if (code == '"' || code == '\\') {
        buf_append_str(p->out, code == '"' ? STR("\"\\\\\\\"\"") : STR("\"\\\\\\\\\""));
        return;
    }
    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if ((uint32_t)names[i] == code) {
            buf_printf(p->out, "\"\\\\%c\"", names[i + 1]);
            return;
        }
    refuse(p, "control characters");
}

/* Reads what follows a backslash: a character, or -1 for a class whose members go to *members. */
static int64_t read_escape(struct pattern *p, const char **members, bool *negated)
{
    int c = peek(p);
    p->at++;
    *negated = c == 'D' || c == 'W' || c == 'S';
    *members = c == 'd' || c == 'D'   ? "0-9"
               : c == 'w' || c == 'W' ? "a-zA-Z0-9_"
               : c == 's' || c == 'S' ? (p->plain ? " \\t\\n\\r" : " ")
                                      : NULL;
    if (*members)
        return -1;
    static const char controls[] = "b\bf\fn\nr\rt\tv\v";
    for (size_t i = 2; i + 1 < sizeof controls; i += 2) /* \b is a boundary outside classes */
        if (controls[i] == c)
            return controls[i + 1];
    if (c > 0 && c < 0x80 && strchr("^$\\.*+?()[]{}|/-\"'#@!%&,:;<=>_`~ ", c))
        return c;
    if (c == 'x' || c == 'u') {
        size_t digits = c == 'x' ? 2 : 4;
        uint32_t code = 0;
        for (size_t i = 0; i < digits; i++, p->at++) {
            int value = ascii_hex_value(peek(p));
            if (value < 0) {
                refuse(p, "an unfinished escape");
                return 0;
            }
            code = code << 4 | (uint32_t)value;
        }
        if (code >= 0xD800 && code <= 0xDFFF)
            refuse(p, "surrogates");
        return code;
    }
    refuse(p, "this escape (back references, boundaries and properties are not regular)");
    return 0;
}

/* --- classes ---------------------------------------------------------------------------------- */

struct members {
    bool negated;
    size_t count;
};

/* Writes the characters low..high, without those that JSON escapes. */
static void put_range(struct pattern *p, struct members *m, uint32_t low, uint32_t high)
{
    if (m->negated || p->plain) {
        buf_printf(p->out, "\\U%08X-\\U%08X", low, high);
        m->count++;
        return;
    }
    static const uint32_t cuts[] = {0x1F, '"', '\\', 0x7F};
    low = low < 0x20 ? 0x20 : low;
    for (size_t i = 1; i < 4 && low <= high; i++) {
        if (cuts[i] < low || cuts[i] > high)
            continue;
        if (cuts[i] > low) {
            buf_printf(p->out, "\\U%08X-\\U%08X", low, cuts[i] - 1);
            m->count++;
        }
        low = cuts[i] + 1;
    }
    if (low <= high) {
        buf_printf(p->out, "\\U%08X-\\U%08X", low, high);
        m->count++;
    }
}

static bool read_member(struct pattern *p, struct members *m, uint32_t *code)
{
    const char *members;
    bool negated;
    if (peek(p) != '\\') {
        *code = utf8_next(p->text, &p->at);
        return true;
    }
    p->at++;
    int64_t value = read_escape(p, &members, &negated);
    *code = value < 0 ? 0 : (uint32_t)value;
    if (value >= 0)
        return true;
    if (negated)
        refuse(p, "a negated class within a class");
    buf_append_str(p->out, str_from(members));
    m->count++;
    return false;
}

static void parse_class(struct pattern *p)
{
    struct members m = {.negated = take(p, '^')};
    buf_append_str(p->out, m.negated ? STR("[^") : STR("["));
    buf_append_str(p->out, m.negated ? excepted(p) : STR(""));
    while (p->reason == NULL && peek(p) != ']') {
        uint32_t low, high;
        if (peek(p) < 0)
            refuse(p, "a class without an end");
        else if (read_member(p, &m, &low)) {
            high = low;
            if (peek(p) == '-' && p->at + 1 < p->text.len && p->text.data[p->at + 1] != ']') {
                p->at++;
                if (!read_member(p, &m, &high))
                    refuse(p, "a range that ends in a class");
            }
            if (high < low)
                refuse(p, "a range that is the wrong way round");
            else
                put_range(p, &m, low, high);
        }
    }
    p->at++;
    buf_append_str(p->out, STR("]"));
    if (m.count == 0 && p->plain)
        refuse(p, "a class of nothing");
    else if (m.count == 0 && !m.negated)
        refuse(p, "a class of nothing but characters that JSON escapes");
}

/* --- sequences -------------------------------------------------------------------------------- */

static void parse_alternatives(struct pattern *p, int groups);

static void parse_group(struct pattern *p, int groups)
{
    if (groups == GROUPS_MAX) {
        refuse(p, "groups nested deeper than 32");
        return;
    }
    if (take(p, '?') && !take(p, ':')) {
        refuse(p, "look-around and named groups");
        return;
    }
    buf_append_str(p->out, STR("("));
    parse_alternatives(p, groups + 1);
    if (!take(p, ')'))
        refuse(p, "a group without an end");
    buf_append_str(p->out, STR(")"));
}

static void parse_atom(struct pattern *p, int groups)
{
    int c = peek(p);
    if (c == '\\') {
        const char *members;
        bool negated;
        p->at++;
        int64_t code = read_escape(p, &members, &negated);
        if (code >= 0)
            put_literal(p, (uint32_t)code);
        else
            buf_printf(p->out, "[%s%s" STR_FMT "]", negated ? "^" : "", members,
                       STR_ARG(negated ? excepted(p) : STR("")));
    } else if (c == '[') {
        p->at++;
        parse_class(p);
    } else if (c == '(') {
        p->at++;
        parse_group(p, groups);
    } else if (c == '.') {
        p->at++;
        buf_append_str(p->out, p->plain ? STR("[^\\n\\r]") : STR("[^" PLAIN_EXCEPT "]"));
    } else if (c == '^' || c == '$') {
        refuse(p, "^ and $ other than at the ends");
    } else if (c == '*' || c == '+' || c == '?' || c == '{') {
        refuse(p, "a repetition of nothing");
    } else {
        put_literal(p, utf8_next(p->text, &p->at));
    }
}

/* Reads a number; returns `otherwise` if there is none. All numbers above the grammar's limit give
 * the same one. */
static uint32_t read_count(struct pattern *p, uint32_t otherwise)
{
    if (!ascii_is_digit(peek(p)))
        return otherwise;
    uint32_t value = 0;
    for (; ascii_is_digit(peek(p)); p->at++)
        value = value > GRAMMAR_REPEAT_MAX ? value : value * 10 + (uint32_t)(peek(p) - '0');
    return value;
}

/* {m}, {m,} and {m,n} are written the same in GBNF, whose parser checks the limits. */
static void parse_repetition(struct pattern *p)
{
    int c = peek(p);
    if (c != '*' && c != '+' && c != '?' && c != '{')
        return;
    if (c != '{') {
        buf_append_char(p->out, (char)c);
        p->at++;
    } else {
        size_t begin = p->at++;
        uint32_t min = read_count(p, UINT32_MAX), max = min;
        if (take(p, ','))
            max = read_count(p, UINT32_MAX);
        if (min == UINT32_MAX || !take(p, '}'))
            refuse(p, "a { that begins no repetition");
        else if (min > max)
            refuse(p, "a repetition {m,n} with m above n");
        buf_append_str(p->out, str_slice(p->text, begin, p->at));
    }
    take(p, '?'); /* lazy: the same language */
    if (peek(p) == '*' || peek(p) == '+' || peek(p) == '?')
        refuse(p, "a repetition of a repetition");
}

static bool at_final_dollar(const struct pattern *p, int groups)
{
    return groups == 0 && peek(p) == '$' && p->at + 1 == p->text.len;
}

static void parse_alternatives(struct pattern *p, int groups)
{
    bool any = false;
    for (;;) {
        while (p->reason == NULL && peek(p) >= 0 && peek(p) != '|' && peek(p) != ')' &&
               !at_final_dollar(p, groups)) {
            buf_append_char(p->out, ' ');
            parse_atom(p, groups);
            parse_repetition(p);
            any = true;
        }
        if (!any)
            buf_append_str(p->out, STR(" \"\""));
        any = false;
        if (p->reason || !take(p, '|'))
            return;
        buf_append_str(p->out, STR(" |"));
    }
}

/* In ^a|b$ each anchor belongs to one alternative only. So a pattern may have alternatives at its
 * top or anchors, but not both. */
static bool has_top_alternatives(struct td_str text)
{
    int groups = 0;
    bool class = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '\\')
            i++;
        else if (class)
            class = c != ']';
        else if (c == '[')
            class = true;
        else if (c == '(' || c == ')')
            groups += c == '(' ? 1 : -1;
        else if (c == '|' && groups == 0)
            return true;
    }
    return false;
}

static bool write_pattern(struct pattern *p, const char **reason)
{
    struct td_str pattern = p->text;
    if (!utf8_is_valid(pattern))
        refuse(p, "text that is not UTF-8");
    bool begins = take(p, '^');
    size_t slashes = 0;
    while (slashes + 1 < pattern.len && pattern.data[pattern.len - 2 - slashes] == '\\')
        slashes++;
    bool ends = pattern.len > p->at && pattern.data[pattern.len - 1] == '$' && slashes % 2 == 0;
    if (!p->plain && (begins || ends) && has_top_alternatives(pattern))
        refuse(p, "alternatives beside ^ or $: put them into a group");
    buf_append_str(p->out, begins || p->plain ? STR("(") : STR("char* ("));
    if (p->reason == NULL)
        parse_alternatives(p, 0);
    if (p->reason == NULL && ends)
        p->at++;
    if (p->reason == NULL && p->at < pattern.len)
        refuse(p, "a ) without a group");
    buf_append_str(p->out, ends || p->plain ? STR(")") : STR(") char*"));
    *reason = p->reason;
    return p->reason == NULL;
}

bool json_pattern_write(struct td_str pattern, struct buf *out, const char **reason)
{
    ASSERT(out != NULL && reason != NULL);
    return write_pattern(&(struct pattern){.text = pattern, .out = out}, reason);
}

bool json_pattern_write_plain(struct td_str pattern, struct buf *out, const char **reason)
{
    ASSERT(out != NULL && reason != NULL);
    return write_pattern(&(struct pattern){.text = pattern, .out = out, .plain = true}, reason);
}
