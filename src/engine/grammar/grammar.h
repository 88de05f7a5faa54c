/* Grammars that constrain what is generated, compiled from GBNF text.
 *
 * GBNF has rules `name ::= alternatives`; the start is `root`. A rule consists of
 *   literals "..."         with the escapes \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH
 *   classes [a-z] [^...]   and `.` for any character
 *   names, (groups), alternatives with |, comments with #
 *   repetitions            * + ? {m} {m,} {m,n}
 * It ends with its line, except inside parentheses and after ::= and |.
 *
 * A compiled grammar is immutable, except for its reference count; any thread. */
#ifndef ENGINE_GRAMMAR_H
#define ENGINE_GRAMMAR_H

#include "tandem/engine.h"

#include <stdatomic.h>

#define GRAMMAR_TEXT_BYTES_MAX ((size_t)1 << 20)
#define GRAMMAR_RULES_MAX 32768u
#define GRAMMAR_STATES_MAX (1u << 19)
#define GRAMMAR_REPEAT_MAX 65536u
#define GRAMMAR_NONE UINT32_MAX
/* Further starts of one grammar: the rules root0, root1, ... */
#define GRAMMAR_ROOTS_MAX 8u
/* Costs stop growing here: "this many or more". */
#define GRAMMAR_COST_MAX 65535u
/* Nesting of rules in generated text: deeper paths are not taken. */
#define GRAMMAR_DEPTH_MAX 256u

enum grammar_kind {
    GRAMMAR_END,     /* of the rule */
    GRAMMAR_EPSILON, /* go on at next; after linking only splits lead to one */
    GRAMMAR_SPLIT,   /* go on at next and at other */
    GRAMMAR_BYTES,   /* one byte from low to high, then next */
    GRAMMAR_CALL     /* the rule that starts at other (while parsing: its number), then next */
};

struct grammar_state {
    uint8_t kind, low, high;
    uint32_t next, other;
    uint32_t bytes_to_end; /* fewest bytes that complete the rule from here; NONE = it cannot end */
    uint32_t depth;        /* fewest levels of rules that this takes; NONE = it cannot end */
};

struct td_grammar {
    atomic_uint references;
    struct grammar_state *states; /* [state_count] */
    uint32_t state_count;
    uint32_t start;
    uint32_t roots[GRAMMAR_ROOTS_MAX]; /* GRAMMAR_NONE = it has no such rule */
    struct td_grammar *whole;          /* the states are those of this one; NULL = its own */
    uint32_t depth_max;
    uint8_t classes[256];     /* class of each byte; no state tells bytes of one class apart */
    uint8_t class_bytes[256]; /* [class_count] one byte of each class */
    uint32_t class_count;
};

/* As td_grammar_parse, with its own depth limit (1 to GRAMMAR_DEPTH_MAX). */
TD_MUST_CHECK enum td_status grammar_compile(struct td_str text, uint32_t depth_max,
                                             struct td_grammar **out, struct td_error *err);
struct td_grammar *grammar_retain(struct td_grammar *grammar); /* NULL stays NULL */
/* The same grammar, begun at the rule "root<index>"; NULL when it has none, or without memory. It
 * shares the states. **returns new** (td_grammar_free). */
struct td_grammar *grammar_at_root(struct td_grammar *grammar, uint32_t index);

/* --- between grammar_parse.c and grammar.c ---------------------------------------------------- */

struct grammar_rule {
    struct td_str name; /* "" = the rule was made for a repetition */
    size_t offset;      /* of its definition in the text, or else of its first mention */
    uint32_t start;     /* GRAMMAR_NONE = not defined */
};

struct grammar_parts {
    struct grammar_state *states;
    uint32_t state_count, state_capacity;
    struct grammar_rule *rules;
    uint32_t rule_count, rule_capacity;
};

/* Writes the states and rules of `text` to empty parts, which the caller frees in any case. */
TD_MUST_CHECK enum td_status grammar_parse(struct td_str text, struct grammar_parts *parts,
                                           struct td_error *err);
/* error_set with "line L, column C: " before the words. */
enum td_status grammar_error(struct td_error *err, enum td_status status, struct td_str text,
                             size_t offset, const char *format, ...) TD_PRINTF(5, 6);

#endif
