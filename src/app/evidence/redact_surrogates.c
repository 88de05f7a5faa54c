/* `tandem redact --surrogates` uses the same mask and restorer as an exchange
 * (privacy/pseudonym), so that what is tried in the terminal is what a server does. */
#include "app/evidence/redact_surrogates.h"

#include "base/core/error.h"

static void list_used(const struct vault *vault, const struct vault_uses *uses, struct json *rows)
{
    for (size_t i = 0; i < uses->count; i++) {
        struct vault_entry entry = vault_at(vault, uses->entries[i]);
        struct json *row = json_new_object();
        json_put(row, "surrogate", json_new_text(entry.surrogate));
        json_put(row, "type", json_new_cstr(privacy_kind_name(entry.kind)));
        json_push(rows, row);
    }
}

enum td_status redact_surrogates(struct td_str text, const struct mask_rules *rules,
                                 struct vault *vault, struct buf *out, struct json *rows,
                                 struct td_error *err)
{
    struct vault_uses uses = {0};
    enum td_data_class rest = TD_CLASS_PUBLIC;
    struct mask *mask = mask_new(vault, rules, &uses);
    if (!mask)
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    enum td_status status = mask_one(mask, text, out, &rest, err);
    if (status == TD_OK)
        list_used(vault, &uses, rows);
    mask_free(mask);
    vault_uses_deinit(&uses);
    return status;
}

enum td_status redact_surrogates_restore(struct td_str text, const struct vault *vault,
                                         struct buf *out, struct restore_counts *counts,
                                         struct td_error *err)
{
    struct vault_uses uses = {0};
    enum td_status status = vault_uses_all(vault, &uses, err);
    struct restore_table *table = status == TD_OK ? restore_table_new(vault, &uses) : NULL;
    struct restorer restorer;
    if (table && restorer_init(&restorer, table, false)) {
        restorer_feed(&restorer, text, out);
        restorer_end(&restorer, out);
        *counts = restorer.counts;
        restorer_deinit(&restorer);
    } else if (status == TD_OK) {
        status = error_set(err, TD_NO_MEMORY, "no memory to restore");
    }
    restore_table_free(table);
    vault_uses_deinit(&uses);
    return status;
}
