/* Any answer to any surrogates, in any pieces: the same comes out as from the whole, in order and
 * with nothing lost; without a surrogate in it a text passes unchanged. */
#include "base/core/str.h"
#include "privacy/pseudonym/restore.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces of 1 to 16 bytes, or all at once. */
static void run(const struct restore_table *table, struct td_str answer, unsigned step, bool json,
                struct buf *out)
{
    struct restorer restorer;
    if (!restorer_init(&restorer, table, json))
        return;
    for (size_t at = 0; at < answer.len;) {
        size_t len = step ? 1 + (at * step) % 16 : answer.len;
        restorer_feed(&restorer, str_slice(answer, at, at + len), out);
        at += len;
    }
    restorer_end(&restorer, out);
    if (restorer_held(&restorer) != 0 || restorer.counts.restored > restorer.counts.seen)
        abort();
    restorer_deinit(&restorer);
}

/* First byte: json, and the pieces. Values up to a zero byte, a line each with a letter for the
 * kind in front; then the answer, in which \x01 to \x08 stand for the surrogates. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum privacy_kind kinds[] = {PRIVACY_PERSON, PRIVACY_CARD,   PRIVACY_EMAIL,
                                              PRIVACY_DATE,   PRIVACY_CUSTOM, PRIVACY_ADDRESS,
                                              PRIVACY_PHONE,  PRIVACY_API_KEY};
    static const uint8_t key[KEYED_KEY_BYTES] = {1};
    if (size < 2)
        return 0;
    struct td_str all = {(const char *)data + 1, size - 1}, line;
    struct td_str values = all;
    for (size_t i = 0; i < all.len; i++)
        if (all.data[i] == '\0') {
            values.len = i;
            break;
        }
    struct td_str answer = str_slice(all, values.len + 1, all.len);
    struct vault *vault = vault_with_key(key);
    struct vault_uses *uses = calloc(1, sizeof *uses);
    struct buf surrogates[8], text, whole, pieces;
    size_t count = 0;
    while (count < 8 && str_next(&values, '\n', &line)) {
        buf_init(&surrogates[count], 1 << 20);
        if (line.len > 1 && vault_replace(vault, kinds[(unsigned char)line.data[0] % 8],
                                          str_slice(line, 1, line.len), NULL, uses,
                                          &surrogates[count], NULL) != TD_OK)
            buf_clear(&surrogates[count]);
        count++;
    }
    struct restore_table *table = restore_table_new(vault, uses);
    buf_init(&text, 1 << 22);
    buf_init(&whole, 1 << 24);
    buf_init(&pieces, 1 << 24);
    for (size_t i = 0; i < answer.len; i++) {
        unsigned char c = (unsigned char)answer.data[i];
        if (c >= 1 && c <= count)
            buf_append_str(&text, buf_view(&surrogates[c - 1]));
        else
            buf_append_char(&text, (char)c);
    }
    if (table && !text.failed) {
        run(table, buf_view(&text), 0, data[0] & 1, &whole);
        run(table, buf_view(&text), 1 + data[0] / 2, data[0] & 1, &pieces);
        if (!whole.failed && !pieces.failed && !str_equal(buf_view(&whole), buf_view(&pieces)))
            abort();
        if (uses->count == 0 && !str_equal(buf_view(&whole), buf_view(&text)))
            abort();
    }
    restore_table_free(table);
    for (size_t i = 0; i < count; i++)
        buf_deinit(&surrogates[i]);
    buf_deinit(&text);
    buf_deinit(&whole);
    buf_deinit(&pieces);
    vault_uses_deinit(uses);
    free(uses);
    vault_free(vault);
    return 0;
}
