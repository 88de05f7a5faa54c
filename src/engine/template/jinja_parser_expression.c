/* Parses expressions. Jinja's operators bind in this order, from loose to tight:
 *   x if y else z, or, and, not, (== != < <= > >= in), (+ -), ~, (* / // %), **, unary (+ -),
 *   (. [] () | is) */
#include "engine/template/jinja_parser.h"

static struct jinja_node *pair(struct jinja_parser *parser, enum jinja_node_kind kind,
                               const struct jinja_node *a, const struct jinja_node *b)
{
    struct jinja_node *node = jinja_node_new(parser, kind);
    node->a = a;
    node->b = b;
    return node;
}

static struct jinja_node *literal(struct jinja_parser *parser, struct jinja_value value)
{
    struct jinja_node *node = jinja_node_new(parser, JINJA_LITERAL);
    node->value = value;
    return node;
}

static const struct jinja_node *parse_arguments(struct jinja_parser *parser)
{
    struct jinja_chain chain = {0};
    while (parser->status == TD_OK && !jinja_take_operator(parser, ")")) {
        struct jinja_node *argument = jinja_node_new(parser, JINJA_ARGUMENT);
        const struct jinja_token *token = jinja_peek(parser);
        if (jinja_at_operator(parser, "*") || jinja_at_operator(parser, "**"))
            jinja_parse_fail(parser, TD_UNSUPPORTED, "unpacked arguments are not supported");
        if (token->kind == JINJA_TOKEN_NAME && token[1].kind == JINJA_TOKEN_OPERATOR &&
            str_equal(token[1].text, STR("="))) {
            argument->text = token->text;
            parser->at += 2;
        } else if (chain.last && chain.last->text.len > 0) {
            jinja_parse_fail(parser, TD_UNSUPPORTED, "a positional argument after a named one");
        }
        argument->a = jinja_parse_expression(parser);
        jinja_chain_add(&chain, argument);
        if (!jinja_at_operator(parser, ")"))
            jinja_expect_operator(parser, ",");
    }
    return chain.first;
}

static const struct jinja_node *parse_items(struct jinja_parser *parser, const char *end)
{
    struct jinja_chain chain = {0};
    while (parser->status == TD_OK && !jinja_take_operator(parser, end)) {
        jinja_chain_add(&chain, jinja_parse_expression(parser));
        if (!jinja_at_operator(parser, end))
            jinja_expect_operator(parser, ",");
    }
    return chain.first;
}

static struct jinja_node *parse_mapping(struct jinja_parser *parser)
{
    struct jinja_node *mapping = jinja_node_new(parser, JINJA_MAPPING);
    struct jinja_chain chain = {0};
    while (parser->status == TD_OK && !jinja_take_operator(parser, "}")) {
        const struct jinja_node *key = jinja_parse_expression(parser);
        jinja_expect_operator(parser, ":");
        jinja_chain_add(&chain, pair(parser, JINJA_PAIR, key, jinja_parse_expression(parser)));
        if (!jinja_at_operator(parser, "}"))
            jinja_expect_operator(parser, ",");
    }
    mapping->b = chain.first;
    return mapping;
}

/* Adjacent string literals are one string. */
static struct jinja_node *parse_string(struct jinja_parser *parser)
{
    struct td_str text = jinja_next(parser)->text;
    while (jinja_peek(parser)->kind == JINJA_TOKEN_STRING && parser->status == TD_OK) {
        struct td_str more = jinja_next(parser)->text;
        char *joined = arena_alloc(parser->arena, text.len + more.len + 1);
        if (joined == NULL) {
            jinja_parse_fail(parser, TD_LIMIT, "the template is too large");
            break;
        }
        if (text.len)
            memcpy(joined, text.data, text.len);
        if (more.len)
            memcpy(joined + text.len, more.data, more.len);
        text = (struct td_str){joined, text.len + more.len};
    }
    return literal(parser, jinja_from_text((struct jinja_text){
                               .data = text.data, .len = text.len, .mark = true}));
}

static struct jinja_node *parse_name(struct jinja_parser *parser)
{
    struct td_str name = jinja_next(parser)->text;
    if (str_equal(name, STR("true")) || str_equal(name, STR("True")))
        return literal(parser, jinja_bool(true));
    if (str_equal(name, STR("false")) || str_equal(name, STR("False")))
        return literal(parser, jinja_bool(false));
    if (str_equal(name, STR("none")) || str_equal(name, STR("None")))
        return literal(parser, jinja_none());
    struct jinja_node *node = jinja_node_new(parser, JINJA_NAME);
    node->text = name;
    node->symbol = jinja_symbol_of(parser, name);
    return node;
}

static struct jinja_node *parse_round(struct jinja_parser *parser)
{
    if (jinja_take_operator(parser, ")")) {
        struct jinja_node *empty = jinja_node_new(parser, JINJA_SEQUENCE);
        empty->tuple = true;
        return empty;
    }
    struct jinja_node *inner = jinja_parse_tuple(parser, true);
    jinja_expect_operator(parser, ")");
    return inner;
}

static struct jinja_node *parse_primary(struct jinja_parser *parser)
{
    const struct jinja_token *token = jinja_peek(parser);
    switch (token->kind) {
    case JINJA_TOKEN_NAME:
        return parse_name(parser);
    case JINJA_TOKEN_STRING:
        return parse_string(parser);
    case JINJA_TOKEN_INT:
        jinja_next(parser);
        return literal(parser, jinja_int(token->integer));
    case JINJA_TOKEN_FLOAT:
        jinja_next(parser);
        return literal(parser, jinja_float(token->number));
    default:
        break;
    }
    if (jinja_take_operator(parser, "("))
        return parse_round(parser);
    if (jinja_take_operator(parser, "["))
        return pair(parser, JINJA_SEQUENCE, NULL, parse_items(parser, "]"));
    if (jinja_take_operator(parser, "{"))
        return parse_mapping(parser);
    jinja_parse_fail(parser, TD_UNSUPPORTED, "an expression is missing");
    return jinja_node_new(parser, JINJA_LITERAL);
}

static bool at_slice_end(const struct jinja_parser *parser)
{
    return jinja_at_operator(parser, ":") || jinja_at_operator(parser, "]");
}

static struct jinja_node *parse_subscript(struct jinja_parser *parser, struct jinja_node *of)
{
    const struct jinja_node *begin = NULL;
    if (!at_slice_end(parser))
        begin = jinja_parse_tuple(parser, true);
    struct jinja_node *node = pair(parser, JINJA_ITEM, of, begin);
    if (jinja_take_operator(parser, ":")) {
        node->kind = JINJA_SLICE;
        if (!at_slice_end(parser))
            node->c = jinja_parse_expression(parser);
        if (jinja_take_operator(parser, ":") && !at_slice_end(parser))
            node->d = jinja_parse_expression(parser);
    } else if (begin == NULL) {
        jinja_parse_fail(parser, TD_UNSUPPORTED, "a subscript is missing");
    }
    jinja_expect_operator(parser, "]");
    return node;
}

static struct jinja_node *parse_postfix(struct jinja_parser *parser, struct jinja_node *node)
{
    while (parser->status == TD_OK) {
        if (jinja_take_operator(parser, ".")) {
            if (jinja_peek(parser)->kind == JINJA_TOKEN_INT) {
                int64_t index = jinja_next(parser)->integer;
                node = pair(parser, JINJA_ITEM, node, literal(parser, jinja_int(index)));
            } else {
                node = pair(parser, JINJA_ATTRIBUTE, node, NULL);
                node->text = jinja_expect_name(parser);
            }
        } else if (jinja_take_operator(parser, "[")) {
            node = parse_subscript(parser, node);
        } else if (jinja_take_operator(parser, "(")) {
            node = pair(parser, JINJA_CALL, node, parse_arguments(parser));
        } else {
            break;
        }
    }
    return node;
}

static bool at_bare_test_argument(const struct jinja_parser *parser)
{
    enum jinja_token_kind kind = jinja_peek(parser)->kind;
    if (kind == JINJA_TOKEN_NAME)
        return !jinja_at_name(parser, "else") && !jinja_at_name(parser, "or") &&
               !jinja_at_name(parser, "and") && !jinja_at_name(parser, "if") &&
               !jinja_at_name(parser, "is") && !jinja_at_name(parser, "in") &&
               !jinja_at_name(parser, "not");
    return kind == JINJA_TOKEN_STRING || kind == JINJA_TOKEN_INT || kind == JINJA_TOKEN_FLOAT ||
           jinja_at_operator(parser, "[") || jinja_at_operator(parser, "{");
}

static struct jinja_node *parse_test(struct jinja_parser *parser, struct jinja_node *input)
{
    struct jinja_node *test = pair(parser, JINJA_TEST, input, NULL);
    test->negated = jinja_take_name(parser, "not");
    test->text = jinja_expect_name(parser);
    if (jinja_take_operator(parser, "(")) {
        test->b = parse_arguments(parser);
    } else if (at_bare_test_argument(parser)) {
        struct jinja_node *value = parse_postfix(parser, parse_primary(parser));
        test->b = pair(parser, JINJA_ARGUMENT, value, NULL);
    }
    return test;
}

struct jinja_node *jinja_parse_filters(struct jinja_parser *parser, struct jinja_node *input,
                                       bool first_without_bar)
{
    struct jinja_node *node = input;
    while (parser->status == TD_OK) {
        if (first_without_bar || jinja_take_operator(parser, "|")) {
            first_without_bar = false;
            node = pair(parser, JINJA_FILTER, node, NULL);
            node->text = jinja_expect_name(parser);
            if (jinja_take_operator(parser, "("))
                node->b = parse_arguments(parser);
        } else if (node && jinja_take_name(parser, "is")) {
            node = parse_test(parser, node);
        } else if (node && jinja_take_operator(parser, "(")) {
            node = pair(parser, JINJA_CALL, node, parse_arguments(parser));
        } else {
            break;
        }
    }
    return node;
}

static struct jinja_node *parse_unary(struct jinja_parser *parser, bool with_filters)
{
    struct jinja_node *node;
    if (!jinja_parse_enter(parser)) {
        node = jinja_node_new(parser, JINJA_LITERAL);
    } else if (jinja_take_operator(parser, "-")) {
        node = pair(parser, JINJA_NEGATIVE, parse_unary(parser, false), NULL);
    } else if (jinja_take_operator(parser, "+")) {
        node = pair(parser, JINJA_POSITIVE, parse_unary(parser, false), NULL);
    } else {
        node = parse_primary(parser);
    }
    node = parse_postfix(parser, node);
    if (with_filters)
        node = jinja_parse_filters(parser, node, false);
    parser->depth--;
    return node;
}

struct operator_text {
    const char *text;
    enum jinja_operator op;
};

/* The levels of binary operators, loose to tight. All bind to the left. */
#define LEVEL_OPERATORS_MAX 4
static const struct operator_text levels[][LEVEL_OPERATORS_MAX] = {
    {{"+", JINJA_OP_ADD}, {"-", JINJA_OP_SUBTRACT}},
    {{"~", JINJA_OP_CONCATENATE}},
    {{"*", JINJA_OP_MULTIPLY},
     {"/", JINJA_OP_DIVIDE},
     {"//", JINJA_OP_FLOOR_DIVIDE},
     {"%", JINJA_OP_MODULO}},
    {{"**", JINJA_OP_POWER}},
};
#define LEVEL_COUNT (sizeof(levels) / sizeof(*levels))

static struct jinja_node *parse_binary(struct jinja_parser *parser, size_t level)
{
    if (level == LEVEL_COUNT)
        return parse_unary(parser, true);
    struct jinja_node *left = parse_binary(parser, level + 1);
    while (parser->status == TD_OK) {
        const struct operator_text *found = levels[level], *end = found + LEVEL_OPERATORS_MAX;
        while (found < end && found->text && !jinja_at_operator(parser, found->text))
            found++;
        if (found == end || found->text == NULL)
            break;
        jinja_next(parser);
        left = pair(parser, JINJA_BINARY, left, parse_binary(parser, level + 1));
        left->op = found->op;
        left->text = str_from(found->text);
    }
    return left;
}

static bool take_comparison(struct jinja_parser *parser, enum jinja_operator *op)
{
    static const struct operator_text operators[] = {
        {"==", JINJA_OP_EQUAL},         {"!=", JINJA_OP_NOT_EQUAL}, {"<=", JINJA_OP_LESS_EQUAL},
        {">=", JINJA_OP_GREATER_EQUAL}, {"<", JINJA_OP_LESS},       {">", JINJA_OP_GREATER}};
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
        if (jinja_take_operator(parser, operators[i].text)) {
            *op = operators[i].op;
            return true;
        }
    *op = JINJA_OP_IN;
    const struct jinja_token *token = jinja_peek(parser);
    if (jinja_take_name(parser, "in"))
        return true;
    *op = JINJA_OP_NOT_IN;
    if (!jinja_at_name(parser, "not") || token[1].kind != JINJA_TOKEN_NAME ||
        !str_equal(token[1].text, STR("in")))
        return false;
    parser->at += 2;
    return true;
}

static struct jinja_node *parse_compare(struct jinja_parser *parser)
{
    struct jinja_node *left = parse_binary(parser, 0);
    struct jinja_chain chain = {0};
    enum jinja_operator op;
    while (parser->status == TD_OK && take_comparison(parser, &op)) {
        struct jinja_node *node = pair(parser, JINJA_COMPARISON, parse_binary(parser, 0), NULL);
        node->op = op;
        jinja_chain_add(&chain, node);
    }
    return chain.first ? pair(parser, JINJA_COMPARE, left, chain.first) : left;
}

static struct jinja_node *parse_not(struct jinja_parser *parser)
{
    if (!jinja_take_name(parser, "not"))
        return parse_compare(parser);
    const struct jinja_node *inner =
        jinja_parse_enter(parser) ? parse_not(parser) : jinja_node_new(parser, JINJA_LITERAL);
    parser->depth--;
    return pair(parser, JINJA_NOT, inner, NULL);
}

static struct jinja_node *parse_and(struct jinja_parser *parser)
{
    struct jinja_node *left = parse_not(parser);
    while (parser->status == TD_OK && jinja_take_name(parser, "and"))
        left = pair(parser, JINJA_AND, left, parse_not(parser));
    return left;
}

/* Without "if else". */
static struct jinja_node *parse_unconditional(struct jinja_parser *parser)
{
    struct jinja_node *left = parse_and(parser);
    while (parser->status == TD_OK && jinja_take_name(parser, "or"))
        left = pair(parser, JINJA_OR, left, parse_and(parser));
    return left;
}

struct jinja_node *jinja_parse_expression(struct jinja_parser *parser)
{
    if (!jinja_parse_enter(parser)) {
        parser->depth--;
        return jinja_node_new(parser, JINJA_LITERAL);
    }
    struct jinja_node *node = parse_unconditional(parser);
    while (parser->status == TD_OK && jinja_take_name(parser, "if")) {
        const struct jinja_node *condition = parse_unconditional(parser);
        node = pair(parser, JINJA_CONDITIONAL, condition, node);
        if (jinja_take_name(parser, "else"))
            node->c = jinja_parse_expression(parser);
    }
    parser->depth--;
    return node;
}

static bool at_tuple_end(const struct jinja_parser *parser)
{
    enum jinja_token_kind kind = jinja_peek(parser)->kind;
    return kind == JINJA_TOKEN_OUTPUT_END || kind == JINJA_TOKEN_BLOCK_END ||
           jinja_at_operator(parser, ")") || jinja_at_operator(parser, "=") ||
           jinja_at_name(parser, "in");
}

struct jinja_node *jinja_parse_tuple(struct jinja_parser *parser, bool conditional)
{
    struct jinja_node *first =
        conditional ? jinja_parse_expression(parser) : parse_unconditional(parser);
    if (!jinja_at_operator(parser, ","))
        return first;
    struct jinja_chain chain = {0};
    jinja_chain_add(&chain, first);
    while (parser->status == TD_OK && jinja_take_operator(parser, ",") && !at_tuple_end(parser))
        jinja_chain_add(&chain,
                        conditional ? jinja_parse_expression(parser) : parse_unconditional(parser));
    struct jinja_node *tuple = pair(parser, JINJA_SEQUENCE, NULL, chain.first);
    tuple->tuple = true;
    return tuple;
}

static struct jinja_node *parse_one_target(struct jinja_parser *parser)
{
    struct jinja_node *node = jinja_node_new(parser, JINJA_NAME);
    node->text = jinja_expect_name(parser);
    node->symbol = jinja_symbol_of(parser, node->text);
    if (jinja_take_operator(parser, ".")) {
        node = pair(parser, JINJA_ATTRIBUTE, node, NULL);
        node->text = jinja_expect_name(parser);
    }
    return node;
}

struct jinja_node *jinja_parse_target(struct jinja_parser *parser)
{
    bool round = jinja_take_operator(parser, "(");
    struct jinja_node *first = parse_one_target(parser);
    struct jinja_chain chain = {0};
    if (jinja_at_operator(parser, ",")) {
        jinja_chain_add(&chain, first);
        while (jinja_take_operator(parser, ",") && !at_tuple_end(parser))
            jinja_chain_add(&chain, parse_one_target(parser));
        first = pair(parser, JINJA_SEQUENCE, NULL, chain.first);
        first->tuple = true;
    }
    if (round)
        jinja_expect_operator(parser, ")");
    return first;
}
