/* Values of the chat template language (texts that know where each byte came from, lists,
 * dictionaries) and the run that owns them. Everything lives in the run's arena until the rendering
 * ends; nothing is freed one by one. A run belongs to one thread. */
#ifndef ENGINE_JINJA_VALUE_H
#define ENGINE_JINJA_VALUE_H

#include "base/bytes/arena.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "tandem/types.h"

/* A text with provenance. A byte is a mark if the template's author (or this engine) wrote it, and
 * message text if the caller did. origin[i] says so for byte i. origin NULL = all bytes are as
 * `mark` says. */
struct jinja_text {
    const char *data;
    const uint8_t *origin;
    size_t len;
    bool mark;
};

enum jinja_kind {
    JINJA_UNDEFINED,
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_TEXT,
    JINJA_LIST,
    JINJA_DICT,
    JINJA_NAMESPACE, /* a dictionary that `set ns.x` may change */
    JINJA_MACRO,
    JINJA_LOOP,
    JINJA_FUNCTION, /* of the engine: range, namespace, ... */
    JINJA_METHOD    /* receiver.name, not called yet */
};

struct jinja_macro;
struct jinja_loop;
struct jinja_function;
struct jinja_method;

struct jinja_value {
    enum jinja_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct jinja_text text;
        struct jinja_list *list;
        struct jinja_dict *dict;
        const struct jinja_macro *macro;
        struct jinja_loop *loop;
        const struct jinja_function *function;
        const struct jinja_method *method;
    };
};

struct jinja_list {
    struct jinja_value *items;
    size_t count, capacity;
    bool tuple; /* prints in round brackets */
};

struct jinja_entry {
    struct jinja_text key;
    struct jinja_value value;
};

/* In order of insertion. */
struct jinja_dict {
    struct jinja_entry *entries;
    size_t count, capacity;
};

struct jinja_loop {
    const struct jinja_list *items;
    size_t index;
};

struct jinja_method {
    struct jinja_value receiver;
    struct td_str name;
};

/* Arguments of a call, a filter or a test. */
struct jinja_args {
    struct jinja_value *values;
    struct td_str *names; /* {NULL, 0} for positional arguments, which come first */
    size_t count;
};

struct jinja_run;

typedef struct jinja_value jinja_filter_fn(struct jinja_run *run, struct jinja_value input,
                                           const struct jinja_args *args);
typedef bool jinja_test_fn(struct jinja_run *run, struct jinja_value input,
                           const struct jinja_args *args);

struct jinja_function {
    const char *name;
    struct jinja_value (*call)(struct jinja_run *run, const struct jinja_args *args);
};

/* Text under construction; grows in the run's arena. */
struct jinja_builder {
    struct jinja_run *run;
    char *data;
    uint8_t *origin;
    size_t len, capacity;
    bool mark, mixed;
};

struct jinja_scope;

/* Limit of nested evaluations and values: 5 times what the deepest known template needs for the
 * deepest accepted JSON (64 levels), and less than 512 KiB of stack. */
#define JINJA_DEPTH_MAX 400

/* How far a break or continue leaves. */
enum jinja_leave { JINJA_STAY, JINJA_LEAVE_ROUND, JINJA_LEAVE_LOOP };

/* One rendering. `status` keeps the first failure; after it every function returns undefined and
 * every loop ends. */
struct jinja_run {
    struct arena *arena;
    struct td_error *err;
    enum td_status status;
    uint64_t steps_left; /* a node costs 1, and so do 64 bytes of work */
    unsigned depth;      /* of nested evaluation */
    uint32_t line;       /* of the current statement */
    size_t text_bytes_max;
    const struct clock *clock;
    struct jinja_builder *out; /* where output goes: the prompt, or a capture */
    struct jinja_scope *scope;
    enum jinja_leave leaving; /* a break or continue on its way to its loop */
};

/* Records the failure with the template's line and returns undefined. */
struct jinja_value jinja_fail(struct jinja_run *run, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);
/* Pays for `bytes` of work; false when the run has failed, or fails now. */
bool jinja_charge(struct jinja_run *run, size_t bytes);
void *jinja_alloc(struct jinja_run *run, size_t count,
                  size_t bytes); /* NULL = the run has failed */

struct jinja_value jinja_undefined(void);
struct jinja_value jinja_none(void);
struct jinja_value jinja_bool(bool value);
struct jinja_value jinja_int(int64_t value);
struct jinja_value jinja_float(double value);
struct jinja_value jinja_from_text(struct jinja_text text);
struct jinja_value jinja_word(const char *literal); /* a mark; never copied */

struct td_str jinja_view(struct jinja_text text);
/* Bytes begin to end, cut at the end of the text. */
struct jinja_text jinja_slice(struct jinja_text text, size_t begin, size_t end);
bool jinja_is_text(struct jinja_value value, const char *expected);
/* The number of characters (code points) of a text, and the byte at which one begins. */
size_t jinja_text_length(struct jinja_text text);
size_t jinja_text_offset(struct jinja_text text, size_t index);

void jinja_builder_init(struct jinja_builder *builder, struct jinja_run *run);
void jinja_build_bytes(struct jinja_builder *builder, const char *data, size_t len, bool mark);
void jinja_build_text(struct jinja_builder *builder, struct jinja_text text);
struct jinja_text jinja_built(const struct jinja_builder *builder);

struct jinja_value jinja_list_new(struct jinja_run *run, size_t capacity);
void jinja_list_add(struct jinja_run *run, struct jinja_list *list, struct jinja_value value);
struct jinja_value jinja_dict_new(struct jinja_run *run);
/* Adds the entry, or replaces the value of a key that exists. */
void jinja_dict_put(struct jinja_run *run, struct jinja_dict *dict, struct jinja_text key,
                    struct jinja_value value);
const struct jinja_value *jinja_dict_get(struct jinja_run *run, const struct jinja_dict *dict,
                                         struct td_str key);

bool jinja_truth(struct jinja_value value);
/* An integer or a boolean as an integer; false for every other kind. */
bool jinja_as_int(struct jinja_value value, int64_t *out);
bool jinja_as_number(struct jinja_value value, double *out);
bool jinja_equal(struct jinja_run *run, struct jinja_value a, struct jinja_value b);
/* < 0, 0 or > 0. Fails for kinds that have no order. */
int jinja_compare(struct jinja_run *run, struct jinja_value a, struct jinja_value b);
bool jinja_contains(struct jinja_run *run, struct jinja_value container, struct jinja_value item);
/* What a `for` walks: items, keys or characters; an empty list for undefined. Fails for others. */
const struct jinja_list *jinja_iterate(struct jinja_run *run, struct jinja_value value);

/* Write a value as Python's str(), repr() and json.dumps(ensure_ascii=False) do. */
void jinja_build_str(struct jinja_builder *builder, struct jinja_value value);
void jinja_build_repr(struct jinja_builder *builder, struct jinja_value value);
struct jinja_json_style {
    int64_t indent; /* -1 = all on one line */
    bool sort_keys;
    struct td_str item_separator, key_separator;
};
void jinja_build_json(struct jinja_builder *builder, struct jinja_value value,
                      const struct jinja_json_style *style);
struct jinja_text jinja_str(struct jinja_run *run, struct jinja_value value);

const char *jinja_kind_name(enum jinja_kind kind);

#endif
