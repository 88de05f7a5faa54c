/* Reading checks everything, because the file may have been changed: an entry that vault.c would
 * not make is refused as corrupt. Retired pairs are not written; their surrogates may be drawn
 * again. */
#include "privacy/pseudonym/vault_json.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

static const char *const forms[] = {"word", "loose", "strict"}; /* in the enum's order */

struct json *vault_json_write(const struct vault *vault)
{
    char hex[2 * KEYED_KEY_BYTES + 1];
    struct json *root = json_new_object(), *pairs = json_new_array();
    crypto_hex(vault_key(vault), KEYED_KEY_BYTES, hex);
    for (uint32_t i = 0; i < vault_count(vault); i++) {
        struct vault_entry entry = vault_at(vault, i);
        if (entry.retired)
            continue;
        struct json *pair = json_new_object();
        json_put(pair, "type", json_new_cstr(privacy_kind_name(entry.kind)));
        json_put(pair, "form", json_new_cstr(forms[entry.form]));
        json_put(pair, "surrogate", json_new_text(entry.surrogate));
        json_put(pair, "value", json_new_text(entry.original));
        json_put(pair, "salt", json_new_int(entry.salt));
        json_push(pairs, pair);
    }
    json_put(root, "version", json_new_int(VAULT_JSON_VERSION));
    json_put(root, "key", json_new_cstr(hex));
    json_put(root, "pairs", pairs);
    crypto_wipe(hex, sizeof hex);
    return root;
}

static bool read_pair(const struct json *json, struct vault_entry *out)
{
    struct td_str type = json_text(json_get(json, "type"));
    struct td_str form = json_text(json_get(json, "form"));
    int64_t salt = json_int(json_get(json, "salt"), -1);
    int kind = 0;
    size_t f = 0;
    while (kind < PRIVACY_KIND_COUNT &&
           !str_equal(type, str_from(privacy_kind_name((enum privacy_kind)kind))))
        kind++;
    while (f < sizeof forms / sizeof *forms && !str_equal(form, str_from(forms[f])))
        f++;
    *out = (struct vault_entry){.kind = (enum privacy_kind)kind,
                                .form = (enum surrogate_form)f,
                                .surrogate = json_text(json_get(json, "surrogate")),
                                .original = json_text(json_get(json, "value")),
                                .salt = (uint32_t)salt};
    return kind < PRIVACY_KIND_COUNT && f < sizeof forms / sizeof *forms && salt >= 0 &&
           salt <= UINT32_MAX && out->surrogate.len > 0 && out->original.len > 0 &&
           out->original.len <= VAULT_VALUE_BYTES_MAX &&
           out->surrogate.len <= VAULT_VALUE_BYTES_MAX * 4;
}

enum td_status vault_json_read(const struct json *json, struct vault **out, struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    const struct json *pairs = json_get(json, "pairs");
    if (json_int(json_get(json, "version"), 0) != VAULT_JSON_VERSION ||
        keyed_key_parse(json_text(json_get(json, "key")), key, NULL) != TD_OK ||
        json_kind_of(pairs) != JSON_KIND_ARRAY)
        return error_set(err, TD_CORRUPT, "it is no vault of version %d", VAULT_JSON_VERSION);
    struct vault *vault = vault_with_key(key);
    enum td_status status = vault ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a vault");
    crypto_wipe(key, sizeof key);
    for (size_t i = 0; i < json_count(pairs) && status == TD_OK; i++) {
        struct vault_entry entry;
        status = read_pair(json_at(pairs, i), &entry)
                     ? vault_put(vault, &entry, err)
                     : error_set(err, TD_CORRUPT, "pair %zu is malformed; the file was changed", i);
    }
    if (status == TD_OK)
        *out = vault;
    else
        vault_free(vault);
    return status;
}
