/* A tree in which texts are buffers, so that a long text that comes in a thousand pieces is copied
 * once. jansson's trees would copy it with each piece. */
#include "api/wire/grown.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdlib.h>
#include <string.h>

/* What a node takes beside its text. */
#define NODE_BYTES (sizeof(struct node) + 32)
/* Members are looked for one by one. No message has so many. */
#define MEMBERS_MAX 4096
/* Entries of a list that are gone on with, beside the one that stands where its number says. */
#define OPEN_ENTRIES_MAX 64

struct node {
    char *name; /* in an object; NULL in a list */
    enum json_kind kind;
    struct buf text;     /* JSON_KIND_TEXT */
    struct json *value;  /* of a number, true, false */
    struct node **nodes; /* [count] of an object or a list */
    size_t count, capacity;
    int64_t index; /* of an object in a list; -1 = none */
};

struct grown {
    struct node root;
    size_t bytes, bytes_max;
    bool failed;
};

struct grown *grown_new(size_t bytes_max)
{
    struct grown *grown = calloc(1, sizeof *grown);
    if (!grown)
        return NULL;
    grown->root.kind = JSON_KIND_OBJECT;
    grown->bytes_max = bytes_max;
    return grown;
}

/* No deeper than base/json/json.h reads, as everything here. */
static void deinit(struct node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        deinit(node->nodes[i]);
        free(node->nodes[i]);
    }
    free(node->nodes);
    free(node->name);
    buf_deinit(&node->text);
    json_free(node->value);
}

void grown_free(struct grown *grown)
{
    if (!grown)
        return;
    deinit(&grown->root);
    free(grown);
}

/* False when it does not fit. */
static bool take(struct grown *grown, size_t bytes)
{
    if (bytes > grown->bytes_max - grown->bytes)
        grown->failed = true;
    else
        grown->bytes += bytes;
    return !grown->failed;
}

static bool grow(struct node *node)
{
    if (node->count < node->capacity)
        return true;
    size_t capacity = node->capacity ? node->capacity * 2 : 4;
    struct node **nodes = realloc(node->nodes, capacity * sizeof(struct node *));
    if (!nodes)
        return false;
    node->nodes = nodes;
    node->capacity = capacity;
    return true;
}

/* A node without a value at the end of its parent; NULL when it does not fit. */
static struct node *add_node(struct grown *grown, struct node *parent, const char *name)
{
    size_t name_bytes = name ? strlen(name) : 0;
    grown->failed |= name && parent->count >= MEMBERS_MAX;
    if (grown->failed || !take(grown, NODE_BYTES + name_bytes))
        return NULL;
    struct node *node = calloc(1, sizeof *node);
    char *copy = name ? strdup(name) : NULL;
    if (!node || (name && !copy) || !grow(parent)) {
        free(node);
        free(copy);
        grown->failed = true;
        return NULL;
    }
    node->name = copy;
    node->index = -1;
    parent->nodes[parent->count++] = node;
    return node;
}

static struct node *find_member(const struct node *object, const char *name)
{
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->nodes[i]->name, name) == 0)
            return object->nodes[i];
    return NULL;
}

/* Entries mostly stand where their numbers say. */
static struct node *find_entry(const struct node *list, int64_t index)
{
    if (index < 0)
        return NULL;
    if ((uint64_t)index < list->count && list->nodes[index]->index == index)
        return list->nodes[index];
    for (size_t i = 0; i < list->count && i < OPEN_ENTRIES_MAX; i++)
        if (list->nodes[list->count - 1 - i]->index == index)
            return list->nodes[list->count - 1 - i];
    return NULL;
}

static bool is_appended(const struct node *parent, const struct grown *grown, const char *name)
{
    static const char *const names[] = {"text", "summary",  "content", "arguments",  "input",
                                        "data", "thinking", "refusal", "transcript", "query"};
    bool found = parent == &grown->root;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = strcmp(names[i], name) == 0;
    return found;
}

static void merge(struct grown *grown, struct node *node, const struct json *value, bool append);

static void merge_object(struct grown *grown, struct node *node, const struct json *object)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (!grown->failed && json_next(object, &iterator, &name, &value)) {
        struct node *member = find_member(node, name);
        if (member && json_absent(value))
            continue;
        bool append = member && is_appended(node, grown, name);
        member = member ? member : add_node(grown, node, name);
        if (member)
            merge(grown, member, value, append);
    }
}

static void merge_list(struct grown *grown, struct node *node, const struct json *list)
{
    for (size_t i = 0; !grown->failed && i < json_count(list); i++) {
        const struct json *value = json_at(list, i);
        int64_t index = json_int(json_get(value, "index"), -1);
        struct node *entry = find_entry(node, index);
        entry = entry ? entry : add_node(grown, node, NULL);
        if (!entry)
            return;
        entry->index = index;
        merge(grown, entry, value, false);
    }
}

static void clear(struct node *node)
{
    char *name = node->name;
    int64_t index = node->index;
    node->name = NULL;
    deinit(node);
    *node = (struct node){.name = name, .index = index};
}

static void merge_text(struct grown *grown, struct node *node, struct td_str text)
{
    if (!take(grown, text.len))
        return;
    if (!node->text.bytes_max)
        buf_init(&node->text, grown->bytes_max);
    buf_append_str(&node->text, text);
    grown->failed |= node->text.failed;
}

static void merge(struct grown *grown, struct node *node, const struct json *value, bool append)
{
    enum json_kind kind = json_kind_of(value);
    bool grows =
        kind == JSON_KIND_OBJECT || kind == JSON_KIND_ARRAY || (kind == JSON_KIND_TEXT && append);
    if (kind != node->kind || !grows)
        clear(node);
    node->kind = kind;
    if (kind == JSON_KIND_OBJECT)
        merge_object(grown, node, value);
    else if (kind == JSON_KIND_ARRAY)
        merge_list(grown, node, value);
    else if (kind == JSON_KIND_TEXT)
        merge_text(grown, node, json_text(value));
    else
        node->value = json_clone(value);
}

void grown_add(struct grown *grown, const char *name, const struct json *value)
{
    ASSERT(grown && name);
    struct node *member = find_member(&grown->root, name);
    if (grown->failed || json_absent(value))
        return;
    bool append = member != NULL;
    member = member ? member : add_node(grown, &grown->root, name);
    if (member)
        merge(grown, member, value, append);
}

bool grown_failed(const struct grown *grown)
{
    return grown && grown->failed;
}

static void write_node(const struct node *node, struct buf *out)
{
    bool object = node->kind == JSON_KIND_OBJECT;
    if (node->kind == JSON_KIND_TEXT) {
        json_write_text(buf_view(&node->text), out);
    } else if (object || node->kind == JSON_KIND_ARRAY) {
        buf_append_char(out, object ? '{' : '[');
        for (size_t i = 0; i < node->count; i++) {
            if (i > 0)
                buf_append_char(out, ',');
            if (object) {
                json_write_text(str_from(node->nodes[i]->name), out);
                buf_append_char(out, ':');
            }
            write_node(node->nodes[i], out);
        }
        buf_append_char(out, object ? '}' : ']');
    } else if (node->value) {
        json_write(node->value, out);
    } else {
        buf_append_str(out, STR("null"));
    }
}

static bool is_one_of(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

void grown_write(const struct grown *grown, const char *const *except, struct buf *out)
{
    for (size_t i = 0; grown && i < grown->root.count; i++) {
        if (is_one_of(except, grown->root.nodes[i]->name))
            continue;
        buf_append_char(out, ',');
        json_write_text(str_from(grown->root.nodes[i]->name), out);
        buf_append_char(out, ':');
        write_node(grown->root.nodes[i], out);
    }
}

struct json *grown_value(const struct grown *grown, const char *name)
{
    const struct node *node = grown ? find_member(&grown->root, name) : NULL;
    struct json *value = NULL;
    struct buf text;
    if (!node)
        return NULL;
    buf_init(&text, 8 * grown->bytes_max + 64); /* written, a byte may be six */
    write_node(node, &text);
    if (text.failed || json_parse(buf_view(&text), &value, NULL) != TD_OK)
        value = NULL;
    buf_deinit(&text);
    return value;
}
