/* Parses a template into a tree. TD_UNSUPPORTED, with line and reason, when it is malformed or uses
 * a part of Jinja that is missing here (include, import, extends, recursive loops, ...). TD_LIMIT
 * when it is too large or deep. A parser belongs to one thread. */
#ifndef ENGINE_JINJA_PARSER_H
#define ENGINE_JINJA_PARSER_H

#include "engine/template/jinja_ast.h"
#include "engine/template/jinja_lexer.h"

/* The tree lives in the arena. */
TD_MUST_CHECK enum td_status jinja_parse(struct arena *arena, struct td_str source,
                                         struct jinja_tree *out, struct td_error *err);

/* --- shared by the parser's two files (statements, expressions) --- */

struct jinja_parser {
    struct arena *arena;
    struct td_error *err;
    enum td_status status;
    const struct jinja_token *tokens; /* ends with JINJA_TOKEN_END */
    size_t at;
    unsigned depth;
    struct jinja_tree *tree;
};

#define JINJA_PARSE_DEPTH_MAX 150

void jinja_parse_fail(struct jinja_parser *parser, enum td_status status, const char *words);
/* Enters one level of nesting; leave it with parser->depth--. False when it is too deep. */
bool jinja_parse_enter(struct jinja_parser *parser);
struct jinja_node *jinja_node_new(struct jinja_parser *parser, enum jinja_node_kind kind);
uint32_t jinja_symbol_of(struct jinja_parser *parser, struct td_str name);
const struct jinja_token *jinja_peek(const struct jinja_parser *parser);
const struct jinja_token *jinja_next(struct jinja_parser *parser);
bool jinja_at_operator(const struct jinja_parser *parser, const char *text);
bool jinja_at_name(const struct jinja_parser *parser, const char *name);
/* Take the next token if it is this one. */
bool jinja_take_operator(struct jinja_parser *parser, const char *text);
bool jinja_take_name(struct jinja_parser *parser, const char *name);
void jinja_expect_operator(struct jinja_parser *parser, const char *text);
struct td_str jinja_expect_name(struct jinja_parser *parser);

/* Appends to a chain of nodes. */
struct jinja_chain {
    const struct jinja_node *first;
    struct jinja_node *last;
};
void jinja_chain_add(struct jinja_chain *chain, struct jinja_node *node);

/* These never return NULL. After a failure the node has no meaning. */
struct jinja_node *jinja_parse_expression(struct jinja_parser *parser);
/* a, b, ...: one expression, or a tuple. */
struct jinja_node *jinja_parse_tuple(struct jinja_parser *parser, bool conditional);
struct jinja_node *jinja_parse_target(struct jinja_parser *parser);
/* name(args)|name... after `input` (which may be NULL). */
struct jinja_node *jinja_parse_filters(struct jinja_parser *parser, struct jinja_node *input,
                                       bool first_without_bar);

#endif
