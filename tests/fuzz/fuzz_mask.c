/* Any text: what is masked and echoed comes back byte for byte, but for letters in a value that
 * were written as JSON's escapes: they come back as themselves. Nothing small is refused. */
#include "../scanners.h"
#include "base/core/str.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/restore.h"
#include "privacy/text/escaped.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 1000u /* bytes: whatever has to become one with a value in it can be replaced */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(struct td_str back, struct td_str text)
{
    struct buf a, b;
    buf_init(&a, 1 << 26);
    buf_init(&b, 1 << 26);
    escaped_value(back, &a);
    escaped_value(text, &b);
    bool same = a.failed || b.failed || str_equal(buf_view(&a), buf_view(&b));
    buf_deinit(&a);
    buf_deinit(&b);
    return same;
}

static void echo(struct vault *vault, struct vault_uses *uses, struct td_str masked,
                 struct td_str text)
{
    struct restore_table *table = restore_table_new(vault, uses);
    struct restorer restorer;
    struct buf back;
    buf_init(&back, 1 << 26);
    if (table && restorer_init(&restorer, table, false)) {
        for (size_t i = 0; i < masked.len; i += 7)
            restorer_feed(&restorer, str_slice(masked, i, i + 7), &back);
        restorer_end(&restorer, &back);
        if (!back.failed && !str_equal(buf_view(&back), text) && !is_same(buf_view(&back), text))
            abort();
        restorer_deinit(&restorer);
    }
    buf_deinit(&back);
    restore_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key[KEYED_KEY_BYTES] = {2};
    const struct mask_rules rules = {
        .scanner = plain_scanner(),
        .classes = {[TD_CLASS_SENSITIVE] = true, [TD_CLASS_RESTRICTED] = true},
        .kinds = {[PRIVACY_DATE] = true, [PRIVACY_ZIP] = true}};
    char *copy = malloc(size + (size == 0)); /* exact size: a byte read too many is seen */
    if (copy == NULL)
        return 0;
    if (size)
        memcpy(copy, data, size);
    struct td_str text = {copy, size};
    struct vault *vault = vault_with_key(key);
    struct vault_uses *uses = calloc(1, sizeof *uses);
    struct mask *mask = mask_new(vault, &rules, uses);
    struct buf masked;
    enum td_data_class rest = TD_CLASS_PUBLIC;
    buf_init(&masked, 1 << 26);
    bool masked_all = mask_one(mask, text, &masked, &rest, NULL) == TD_OK;
    if (!masked_all && size < SMALL)
        abort();
    if (masked_all)
        echo(vault, uses, buf_view(&masked), text);
    mask_free(mask);
    vault_uses_deinit(uses);
    free(uses);
    vault_free(vault);
    buf_deinit(&masked);
    free(copy);
    return 0;
}
