/* Texts are counted by their holders, so that a record is looked at without copying it. */
#include "api/history/history_internal.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <stdlib.h>

struct history_text *history_text_new(struct td_str text)
{
    if (!text.data)
        return NULL;
    struct history_text *made = malloc(sizeof *made + text.len + 1);
    if (!made)
        return NULL;
    atomic_init(&made->holders, 1);
    made->row = made->version = 0;
    made->len = text.len;
    memcpy(made->data, text.data, text.len);
    made->data[text.len] = '\0';
    return made;
}

struct history_text *history_text_hold(struct history_text *text)
{
    if (text)
        atomic_fetch_add(&text->holders, 1);
    return text;
}

void history_text_free(struct history_text *text)
{
    if (!text || atomic_fetch_sub(&text->holders, 1) > 1)
        return;
    crypto_wipe(text->data, text->len);
    free(text);
}

struct td_str history_text_view(const struct history_text *text)
{
    return text ? (struct td_str){text->data, text->len} : STR("");
}

void history_found_deinit(struct history_found *found)
{
    history_text_free(found->body);
    for (size_t i = 0; i < found->list_count; i++)
        history_text_free(found->lists[i]);
    free(found->lists);
    *found = (struct history_found){.state = HISTORY_DONE};
}

void history_run_deinit(struct history_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        history_found_deinit(&run->found[i]);
    run->count = 0;
}
