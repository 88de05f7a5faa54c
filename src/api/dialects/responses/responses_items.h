/* Items of the Responses API as they are kept and shown. They are kept as they came, so that what a
 * request costs does not grow with what is shown later. Only where an item is shown does it get
 * what it lacks: its type, its id, its content as a list of parts.
 *
 * An id says where the item stands: msg_DIGITS_..., where DIGITS are those of the response's or
 * conversation's own id. So a reference needs no table. No thread state. */
#ifndef API_RESPONSES_ITEMS_H
#define API_RESPONSES_ITEMS_H

#include "api/history/history.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

#define RESPONSES_ITEM_ID_BYTES 96

/* Where an item stands. */
struct responses_item_place {
    struct td_str owner; /* "resp_..." or "conv_..." */
    size_t list, index;
};

/* **returns new** (json_free) the item as it is shown. */
struct json *responses_items_show(const struct json *item,
                                  const struct responses_item_place *place);
/* Pushes the items of a kept list as they are shown. */
void responses_items_show_list(const struct history_text *list, struct td_str owner, size_t number,
                               struct json *out);
/* Appends a kept list's items, with commas between them and what is there. */
void responses_items_append(const struct history_text *list, struct buf *out);

/* Appends the caller's item of that id. False: there is none. data_class: is raised. history NULL:
 * nothing is kept. */
bool responses_items_find(struct history *history, const char *caller, struct td_str id,
                          struct history_class *data_class, struct buf *out);
/* Whether the item stands for another one. */
bool responses_items_is_reference(const struct json *item);

#endif
