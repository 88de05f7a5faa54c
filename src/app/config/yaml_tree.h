/* A YAML document as a tree of scalars, lists and maps with their line numbers. A strict subset:
 * one document, no anchors, aliases, tags or merge keys, no duplicate keys, bounded size, depth
 * and count. Lives in an arena; immutable after reading. */
#ifndef APP_YAML_TREE_H
#define APP_YAML_TREE_H

#include "base/bytes/arena.h"
#include "tandem/types.h"

#define YAML_BYTES_MAX (1u << 20)
#define YAML_DEPTH_MAX 16
#define YAML_NODES_MAX 16384 /* the longest list of words (CONFIG_WORDS_MAX), and the rest */

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    uint32_t line;          /* from 1 */
    struct yaml_node *next; /* sibling in a list or map */
    const char *key;        /* in a map: NUL-terminated */
    uint32_t key_line;
    const char *text; /* scalar: NUL-terminated */
    size_t text_len;
    bool quoted;             /* scalar: surely a string */
    struct yaml_node *first; /* list, map */
    size_t count;
    const char *variable; /* of the environment, that the value is from; NULL: the document */
};

/* label: the file's name in messages. *out is NULL for an empty document. TD_INVALID with
 * "label:line: what". */
TD_MUST_CHECK enum td_status yaml_tree_read(const char *label, struct td_str text,
                                            struct arena *arena, struct yaml_node **out,
                                            struct td_error *err);

/* The member of a map, or NULL. */
const struct yaml_node *yaml_tree_get(const struct yaml_node *map, const char *key);

#endif
