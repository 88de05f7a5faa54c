/* The tree of a template. The parser makes it once; after that it is read-only (any thread). */
#ifndef ENGINE_JINJA_AST_H
#define ENGINE_JINJA_AST_H

#include "engine/template/jinja_value.h"

/* The comments say which members a kind of node uses. Lists are chained by `next`. */
enum jinja_node_kind {
    /* expressions */
    JINJA_LITERAL,     /* value */
    JINJA_NAME,        /* symbol */
    JINJA_ATTRIBUTE,   /* a . text */
    JINJA_ITEM,        /* a [ b ] */
    JINJA_SLICE,       /* a [ b : c : d ], each of b c d may be NULL */
    JINJA_CALL,        /* a ( args in b ) */
    JINJA_ARGUMENT,    /* a, named `text` when that is not empty */
    JINJA_FILTER,      /* a | text ( args in b ); a is NULL for the text of a block */
    JINJA_TEST,        /* a is text ( args in b ); `negated` */
    JINJA_NEGATIVE,    /* - a */
    JINJA_POSITIVE,    /* + a */
    JINJA_NOT,         /* not a */
    JINJA_AND,         /* a and b */
    JINJA_OR,          /* a or b */
    JINJA_BINARY,      /* a op b */
    JINJA_COMPARE,     /* a, then the COMPARISONs in b */
    JINJA_COMPARISON,  /* op, right operand a */
    JINJA_CONDITIONAL, /* b if a else c; c may be NULL */
    JINJA_SEQUENCE,    /* items in b; `tuple` */
    JINJA_MAPPING,     /* PAIRs in b */
    JINJA_PAIR,        /* a: b */
    /* statements */
    JINJA_OUTPUT,       /* {{ a }}; text outside tags is an OUTPUT of a literal */
    JINJA_IF,           /* BRANCHes in b */
    JINJA_BRANCH,       /* condition a (NULL: else), body b */
    JINJA_FOR,          /* target a, iterable b, condition c or NULL, body d, else e */
    JINJA_SET,          /* target a, value b */
    JINJA_SET_BLOCK,    /* target a, body d, FILTER chain c or NULL */
    JINJA_MACRO_NODE,   /* symbol, text, PARAMETERs in a, body d */
    JINJA_PARAMETER,    /* symbol, text, default a or NULL */
    JINJA_CALL_BLOCK,   /* CALL b, PARAMETERs in a, body d (becomes `caller`) */
    JINJA_FILTER_BLOCK, /* FILTER chain c, body d */
    JINJA_SCOPE,        /* SETs in a, body d (with, generation) */
    JINJA_BREAK,
    JINJA_CONTINUE
};

enum jinja_operator {
    /* of JINJA_BINARY */
    JINJA_OP_ADD,
    JINJA_OP_SUBTRACT,
    JINJA_OP_CONCATENATE, /* ~ */
    JINJA_OP_MULTIPLY,
    JINJA_OP_DIVIDE,
    JINJA_OP_FLOOR_DIVIDE, /* // */
    JINJA_OP_MODULO,
    JINJA_OP_POWER, /* ** */
    /* of JINJA_COMPARISON */
    JINJA_OP_EQUAL,
    JINJA_OP_NOT_EQUAL,
    JINJA_OP_LESS,
    JINJA_OP_LESS_EQUAL,
    JINJA_OP_GREATER,
    JINJA_OP_GREATER_EQUAL,
    JINJA_OP_IN,
    JINJA_OP_NOT_IN
};

struct jinja_node {
    enum jinja_node_kind kind;
    enum jinja_operator op;
    uint32_t line, symbol;
    bool negated, tuple;
    struct td_str text;
    struct jinja_value value;
    const struct jinja_node *a, *b, *c, *d, *e;
    const struct jinja_node *next;
};

/* Names are numbered. The evaluator knows the first numbers. */
enum jinja_symbol { JINJA_SYMBOL_LOOP, JINJA_SYMBOL_CALLER, JINJA_SYMBOLS_FIXED };

#define JINJA_SYMBOLS_MAX 512 /* the largest known template has about 60 names */

struct jinja_tree {
    const struct jinja_node *body;
    struct td_str *symbols; /* text of each symbol */
    uint32_t symbol_count;
};

#endif
