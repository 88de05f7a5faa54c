/* Parses statements. The body of a block ends at any end word ({% endif %}, {% else %}, ...). The
 * function that opened the block checks whether it is one of its own. */
#include "engine/template/jinja_parser.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

void jinja_parse_fail(struct jinja_parser *parser, enum td_status status, const char *words)
{
    if (parser->status == TD_OK)
        parser->status = error_set(parser->err, status, "chat template, line %u: %s",
                                   (unsigned)jinja_peek(parser)->line, words);
}

bool jinja_parse_enter(struct jinja_parser *parser)
{
    if (++parser->depth > JINJA_PARSE_DEPTH_MAX)
        jinja_parse_fail(parser, TD_LIMIT, "the template is nested too deep");
    return parser->status == TD_OK;
}

struct jinja_node *jinja_node_new(struct jinja_parser *parser, enum jinja_node_kind kind)
{
    /* After a failure all new nodes are this one. Nobody reads it. */
    static _Thread_local struct jinja_node nowhere;
    struct jinja_node *node = arena_alloc(parser->arena, sizeof(*node));
    if (node == NULL) {
        jinja_parse_fail(parser, TD_LIMIT, "the template is too large");
        nowhere = (struct jinja_node){.kind = JINJA_LITERAL};
        return &nowhere;
    }
    node->kind = kind;
    node->line = jinja_peek(parser)->line;
    return node;
}

uint32_t jinja_symbol_of(struct jinja_parser *parser, struct td_str name)
{
    struct jinja_tree *tree = parser->tree;
    for (uint32_t i = 0; i < tree->symbol_count; i++)
        if (str_equal(tree->symbols[i], name))
            return i;
    if (tree->symbol_count == JINJA_SYMBOLS_MAX) {
        jinja_parse_fail(parser, TD_LIMIT, "the template has too many names");
        return 0;
    }
    tree->symbols[tree->symbol_count] = name;
    return tree->symbol_count++;
}

const struct jinja_token *jinja_peek(const struct jinja_parser *parser)
{
    return &parser->tokens[parser->at];
}

const struct jinja_token *jinja_next(struct jinja_parser *parser)
{
    const struct jinja_token *token = jinja_peek(parser);
    if (token->kind != JINJA_TOKEN_END)
        parser->at++;
    return token;
}

static bool at(const struct jinja_parser *parser, enum jinja_token_kind kind, const char *text)
{
    const struct jinja_token *token = jinja_peek(parser);
    return token->kind == kind && str_equal(token->text, str_from(text));
}

bool jinja_at_operator(const struct jinja_parser *parser, const char *text)
{
    return at(parser, JINJA_TOKEN_OPERATOR, text);
}

bool jinja_at_name(const struct jinja_parser *parser, const char *name)
{
    return at(parser, JINJA_TOKEN_NAME, name);
}

bool jinja_take_operator(struct jinja_parser *parser, const char *text)
{
    bool there = jinja_at_operator(parser, text);
    parser->at += there;
    return there;
}

bool jinja_take_name(struct jinja_parser *parser, const char *name)
{
    bool there = jinja_at_name(parser, name);
    parser->at += there;
    return there;
}

void jinja_expect_operator(struct jinja_parser *parser, const char *text)
{
    char words[40] = "expected ";
    if (!jinja_take_operator(parser, text))
        jinja_parse_fail(parser, TD_UNSUPPORTED, strncat(words, text, 8));
}

struct td_str jinja_expect_name(struct jinja_parser *parser)
{
    if (jinja_peek(parser)->kind != JINJA_TOKEN_NAME)
        jinja_parse_fail(parser, TD_UNSUPPORTED, "a name is missing");
    return jinja_next(parser)->text;
}

void jinja_chain_add(struct jinja_chain *chain, struct jinja_node *node)
{
    if (chain->last == node) /* the node of a failed parser */
        return;
    if (chain->last)
        chain->last->next = node;
    else
        chain->first = node;
    chain->last = node;
}

static void expect_block_end(struct jinja_parser *parser)
{
    if (jinja_peek(parser)->kind != JINJA_TOKEN_BLOCK_END)
        jinja_parse_fail(parser, TD_UNSUPPORTED, "expected %}");
    jinja_next(parser);
}

static struct jinja_node *parse_statement(struct jinja_parser *parser);

static bool at_end_word(const struct jinja_parser *parser)
{
    const struct jinja_token *token = jinja_peek(parser);
    return token->kind == JINJA_TOKEN_BLOCK_BEGIN && token[1].kind == JINJA_TOKEN_NAME &&
           (str_starts_with(token[1].text, STR("end")) || str_equal(token[1].text, STR("else")) ||
            str_equal(token[1].text, STR("elif")));
}

static struct jinja_node *parse_output(struct jinja_parser *parser)
{
    struct jinja_node *node = jinja_node_new(parser, JINJA_OUTPUT);
    const struct jinja_token *token = jinja_next(parser);
    if (token->kind == JINJA_TOKEN_DATA) {
        struct jinja_node *text = jinja_node_new(parser, JINJA_LITERAL);
        text->value = jinja_from_text(
            (struct jinja_text){.data = token->text.data, .len = token->text.len, .mark = true});
        node->a = text;
        return node;
    }
    node->a = jinja_parse_tuple(parser, true);
    if (jinja_peek(parser)->kind != JINJA_TOKEN_OUTPUT_END)
        jinja_parse_fail(parser, TD_UNSUPPORTED, "expected }}");
    jinja_next(parser);
    return node;
}

/* Reads to the end of the text or to an end word. The {% of the end word is taken, its name is
 * next. */
static const struct jinja_node *parse_body(struct jinja_parser *parser)
{
    struct jinja_chain chain = {0};
    bool entered = jinja_parse_enter(parser);
    while (entered && parser->status == TD_OK && jinja_peek(parser)->kind != JINJA_TOKEN_END &&
           !at_end_word(parser)) {
        bool block = jinja_peek(parser)->kind == JINJA_TOKEN_BLOCK_BEGIN;
        jinja_chain_add(&chain, block ? parse_statement(parser) : parse_output(parser));
    }
    if (at_end_word(parser))
        jinja_next(parser);
    parser->depth--;
    return chain.first;
}

static const struct jinja_node *parse_body_until(struct jinja_parser *parser, const char *end)
{
    expect_block_end(parser);
    const struct jinja_node *body = parse_body(parser);
    char words[60] = "a block without ";
    if (!jinja_take_name(parser, end))
        jinja_parse_fail(parser, TD_UNSUPPORTED, strncat(words, end, 20));
    if (jinja_peek(parser)->kind == JINJA_TOKEN_NAME) /* {% endmacro name %} */
        jinja_next(parser);
    expect_block_end(parser);
    return body;
}

static void parse_if(struct jinja_parser *parser, struct jinja_node *node)
{
    struct jinja_chain chain = {0};
    bool last = false;
    do {
        struct jinja_node *branch = jinja_node_new(parser, JINJA_BRANCH);
        if (!last)
            branch->a = jinja_parse_tuple(parser, true);
        expect_block_end(parser);
        branch->b = parse_body(parser);
        jinja_chain_add(&chain, branch);
        if (last)
            break;
        last = jinja_take_name(parser, "else");
    } while (parser->status == TD_OK && (last || jinja_take_name(parser, "elif")));
    if (!jinja_take_name(parser, "endif"))
        jinja_parse_fail(parser, TD_UNSUPPORTED, "an if without endif");
    expect_block_end(parser);
    node->b = chain.first;
}

static void parse_for(struct jinja_parser *parser, struct jinja_node *node)
{
    node->a = jinja_parse_target(parser);
    if (!jinja_take_name(parser, "in"))
        jinja_parse_fail(parser, TD_UNSUPPORTED, "expected in");
    node->b = jinja_parse_tuple(parser, false);
    if (jinja_take_name(parser, "if"))
        node->c = jinja_parse_expression(parser);
    if (jinja_at_name(parser, "recursive"))
        jinja_parse_fail(parser, TD_UNSUPPORTED, "recursive loops are not supported");
    expect_block_end(parser);
    node->d = parse_body(parser);
    if (jinja_take_name(parser, "else")) {
        expect_block_end(parser);
        node->e = parse_body(parser);
    }
    if (!jinja_take_name(parser, "endfor"))
        jinja_parse_fail(parser, TD_UNSUPPORTED, "a for without endfor");
    expect_block_end(parser);
}

static void parse_set(struct jinja_parser *parser, struct jinja_node *node)
{
    node->a = jinja_parse_target(parser);
    if (jinja_take_operator(parser, "=")) {
        node->b = jinja_parse_tuple(parser, true);
        expect_block_end(parser);
        return;
    }
    node->kind = JINJA_SET_BLOCK;
    node->c = jinja_parse_filters(parser, NULL, jinja_take_operator(parser, "|"));
    node->d = parse_body_until(parser, "endset");
}

static const struct jinja_node *parse_parameters(struct jinja_parser *parser)
{
    struct jinja_chain chain = {0};
    jinja_expect_operator(parser, "(");
    while (parser->status == TD_OK && !jinja_take_operator(parser, ")")) {
        struct jinja_node *parameter = jinja_node_new(parser, JINJA_PARAMETER);
        parameter->text = jinja_expect_name(parser);
        parameter->symbol = jinja_symbol_of(parser, parameter->text);
        if (jinja_take_operator(parser, "="))
            parameter->a = jinja_parse_expression(parser);
        jinja_chain_add(&chain, parameter);
        if (!jinja_at_operator(parser, ")"))
            jinja_expect_operator(parser, ",");
    }
    return chain.first;
}

static void parse_with(struct jinja_parser *parser, struct jinja_node *node)
{
    struct jinja_chain chain = {0};
    while (parser->status == TD_OK && jinja_peek(parser)->kind != JINJA_TOKEN_BLOCK_END) {
        struct jinja_node *set = jinja_node_new(parser, JINJA_SET);
        set->a = jinja_parse_target(parser);
        jinja_expect_operator(parser, "=");
        set->b = jinja_parse_expression(parser);
        jinja_chain_add(&chain, set);
        if (!jinja_take_operator(parser, ","))
            break;
    }
    node->a = chain.first;
    node->d = parse_body_until(parser, "endwith");
}

static void parse_call_block(struct jinja_parser *parser, struct jinja_node *node)
{
    if (jinja_at_operator(parser, "("))
        node->a = parse_parameters(parser);
    node->b = jinja_parse_expression(parser);
    if (node->b->kind != JINJA_CALL)
        jinja_parse_fail(parser, TD_UNSUPPORTED, "a call block without a call");
    node->d = parse_body_until(parser, "endcall");
}

static struct jinja_node *parse_statement(struct jinja_parser *parser)
{
    static const struct {
        const char *name;
        enum jinja_node_kind kind;
    } statements[] = {{"if", JINJA_IF},           {"for", JINJA_FOR},
                      {"set", JINJA_SET},         {"macro", JINJA_MACRO_NODE},
                      {"call", JINJA_CALL_BLOCK}, {"filter", JINJA_FILTER_BLOCK},
                      {"with", JINJA_SCOPE},      {"generation", JINJA_IF},
                      {"break", JINJA_BREAK},     {"continue", JINJA_CONTINUE}};
    jinja_next(parser); /* {% */
    struct td_str name = jinja_expect_name(parser);
    size_t i = 0;
    while (i < sizeof(statements) / sizeof(*statements) &&
           !str_equal(name, str_from(statements[i].name)))
        i++;
    if (i == sizeof(statements) / sizeof(*statements)) {
        jinja_parse_fail(parser, TD_UNSUPPORTED, "a statement that is not supported");
        return jinja_node_new(parser, JINJA_LITERAL);
    }
    struct jinja_node *node = jinja_node_new(parser, statements[i].kind);
    if (str_equal(name, STR("generation"))) { /* marks what was generated; for training only */
        struct jinja_node *branch = jinja_node_new(parser, JINJA_BRANCH);
        branch->b = parse_body_until(parser, "endgeneration");
        node->b = branch;
        return node;
    }
    switch (node->kind) {
    case JINJA_IF:
        parse_if(parser, node);
        break;
    case JINJA_FOR:
        parse_for(parser, node);
        break;
    case JINJA_SET:
        parse_set(parser, node);
        break;
    case JINJA_MACRO_NODE:
        node->text = jinja_expect_name(parser);
        node->symbol = jinja_symbol_of(parser, node->text);
        node->a = parse_parameters(parser);
        node->d = parse_body_until(parser, "endmacro");
        break;
    case JINJA_CALL_BLOCK:
        parse_call_block(parser, node);
        break;
    case JINJA_FILTER_BLOCK:
        node->c = jinja_parse_filters(parser, NULL, true);
        node->d = parse_body_until(parser, "endfilter");
        break;
    case JINJA_SCOPE:
        parse_with(parser, node);
        break;
    default:
        expect_block_end(parser);
    }
    return node;
}

enum td_status jinja_parse(struct arena *arena, struct td_str source, struct jinja_tree *out,
                           struct td_error *err)
{
    ASSERT(source.data != NULL || source.len == 0);
    struct jinja_parser parser = {.arena = arena, .err = err, .tree = out};
    struct jinja_token *tokens;
    size_t count;
    *out = (struct jinja_tree){0};
    enum td_status status = jinja_tokenize(arena, source, &tokens, &count, err);
    if (status != TD_OK)
        return status;
    parser.tokens = tokens;
    out->symbols = arena_alloc_array(arena, JINJA_SYMBOLS_MAX, sizeof(*out->symbols));
    if (out->symbols == NULL)
        return error_set(err, TD_LIMIT, "the chat template is too large");
    jinja_symbol_of(&parser, STR("loop")); /* in the order of enum jinja_symbol */
    jinja_symbol_of(&parser, STR("caller"));
    out->body = parse_body(&parser);
    if (jinja_peek(&parser)->kind != JINJA_TOKEN_END)
        jinja_parse_fail(&parser, TD_UNSUPPORTED, "an end that nothing opened");
    return parser.status;
}
