/* Built from libyaml's events with an explicit stack: no recursion on input. libcyaml was looked
 * at and left: it maps onto structs directly, but says neither the line of an unknown key nor its
 * nearest name. */
#include "app/config/yaml_tree.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <yaml.h>

struct builder {
    const char *label;
    struct arena *arena;
    struct td_error *err;
    struct yaml_node *root;
    struct yaml_node *stack[YAML_DEPTH_MAX];
    struct yaml_node *last[YAML_DEPTH_MAX]; /* newest child of each */
    const char *key[YAML_DEPTH_MAX];        /* of the value that comes next in a map */
    uint32_t key_line[YAML_DEPTH_MAX];
    size_t depth;
    size_t node_count;
    size_t document_count;
};

static enum td_status fail(struct builder *builder, uint32_t line, const char *what)
{
    return error_set(builder->err, TD_INVALID, "%s:%u: %s", builder->label, line, what);
}

static uint32_t event_line(const yaml_event_t *event)
{
    return (uint32_t)event->start_mark.line + 1;
}

static enum td_status refuse_duplicate(struct builder *builder, const struct yaml_node *map,
                                       const char *key, uint32_t line)
{
    for (const struct yaml_node *node = map->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return error_set(builder->err, TD_INVALID,
                             "%s:%u: '%.60s' is given twice; first on "
                             "line %u",
                             builder->label, line, key, node->key_line);
    return TD_OK;
}

/* Hangs a node under the innermost open list or map. */
static enum td_status attach(struct builder *builder, struct yaml_node *node)
{
    if (builder->depth == 0) {
        if (builder->root)
            return fail(builder, node->line,
                        "the file must have only one document; remove what follows ---");
        builder->root = node;
        return TD_OK;
    }
    size_t top = builder->depth - 1;
    struct yaml_node *parent = builder->stack[top];
    if (parent->kind == YAML_MAP) {
        node->key = builder->key[top];
        node->key_line = builder->key_line[top];
        builder->key[top] = NULL;
    }
    if (builder->last[top])
        builder->last[top]->next = node;
    else
        parent->first = node;
    builder->last[top] = node;
    parent->count++;
    return TD_OK;
}

static struct yaml_node *node_new(struct builder *builder, enum yaml_kind kind, uint32_t line)
{
    if (++builder->node_count > YAML_NODES_MAX) {
        fail(builder, line, "the file has too many values");
        return NULL;
    }
    struct yaml_node *node = arena_alloc(builder->arena, sizeof *node);
    if (!node) {
        fail(builder, line, "the file is too large");
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    return node;
}

static enum td_status open_node(struct builder *builder, enum yaml_kind kind, uint32_t line)
{
    if (builder->depth == YAML_DEPTH_MAX)
        return fail(builder, line, "maps and lists are nested too deeply");
    if (builder->depth && builder->stack[builder->depth - 1]->kind == YAML_MAP &&
        !builder->key[builder->depth - 1])
        return fail(builder, line, "a key must be a plain name");
    struct yaml_node *node = node_new(builder, kind, line);
    if (!node)
        return TD_INVALID;
    enum td_status status = attach(builder, node);
    if (status != TD_OK)
        return status;
    builder->stack[builder->depth] = node;
    builder->last[builder->depth] = NULL;
    builder->key[builder->depth] = NULL;
    builder->depth++;
    return TD_OK;
}

static enum td_status add_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct td_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    uint32_t line = event_line(event);
    if (text.len && memchr(text.data, 0, text.len))
        return fail(builder, line, "a value must not contain a NUL character");
    const char *copy = arena_copy(builder->arena, text);
    if (!copy)
        return fail(builder, line, "the file is too large");
    size_t top = builder->depth - 1;
    if (builder->depth && builder->stack[top]->kind == YAML_MAP && !builder->key[top]) {
        builder->key[top] = copy;
        builder->key_line[top] = line;
        return refuse_duplicate(builder, builder->stack[top], copy, line);
    }
    struct yaml_node *node = node_new(builder, YAML_SCALAR, line);
    if (!node)
        return TD_INVALID;
    node->text = copy;
    node->text_len = text.len;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return attach(builder, node);
}

static bool has_extras(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    default:
        return false;
    }
}

static enum td_status take_event(struct builder *builder, const yaml_event_t *event)
{
    uint32_t line = event_line(event);
    if (has_extras(event))
        return fail(builder, line, "anchors, aliases and tags are not allowed in a configuration");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++builder->document_count > 1)
            return fail(builder, line, "only one document is read");
        return TD_OK;
    case YAML_SCALAR_EVENT:
        return add_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(builder, YAML_LIST, line);
    case YAML_MAPPING_START_EVENT:
        return open_node(builder, YAML_MAP, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth--;
        return TD_OK;
    default:
        return TD_OK;
    }
}

enum td_status yaml_tree_read(const char *label, struct td_str text, struct arena *arena,
                              struct yaml_node **out, struct td_error *err)
{
    ASSERT(label && arena && (text.data || text.len == 0));
    struct builder builder = {.label = label, .arena = arena, .err = err};
    yaml_parser_t parser;
    enum td_status status = TD_OK;
    bool ended = false;

    *out = NULL;
    if (text.len > YAML_BYTES_MAX)
        return error_set(err, TD_INVALID, "%s: larger than %u bytes", label, YAML_BYTES_MAX);
    if (!yaml_parser_initialize(&parser))
        return error_set(err, TD_NO_MEMORY, "%s: no memory for the YAML parser", label);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.data ? text.data : ""),
                                 text.len);
    while (status == TD_OK && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = error_set(err, TD_INVALID, "%s:%zu: not valid YAML: %s", label,
                               parser.problem_mark.line + 1,
                               parser.problem ? parser.problem : "unreadable");
            break;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        status = take_event(&builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status == TD_OK)
        *out = builder.root;
    return status;
}

const struct yaml_node *yaml_tree_get(const struct yaml_node *map, const char *key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml_node *node = map->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}
