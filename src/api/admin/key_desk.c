#include "api/admin/key_desk.h"

#include "api/http/auth.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <stdio.h>
#include <stdlib.h>

/* Farther than any key lives, and less than what a time in ms holds. */
#define EXPIRES_S_MAX 253402300799

static int64_t now_s(void)
{
    return (int64_t)(clock_wall_ms(NULL) / 1000);
}

/* --- wishes --- */

static enum td_status read_name(const char *member, const struct json *value, bool may_miss,
                                char out[static STORED_KEY_NAME_BYTES], struct td_error *err)
{
    const char *text = json_cstr(value);
    if (may_miss && json_absent(value))
        return TD_OK;
    if (!text || json_text(value).len != strlen(text) || !key_store_name_is_plain(text))
        return error_set(err, TD_INVALID,
                         "%s must be a text of 1 to %d letters, digits and . _ - @ : +", member,
                         STORED_KEY_NAME_BYTES - 1);
    snprintf(out, STORED_KEY_NAME_BYTES, "%s", text);
    return TD_OK;
}

static enum td_status read_expires(const struct json *value, int64_t *out, struct td_error *err)
{
    int64_t expires_s = json_absent(value) ? 0 : json_int(value, -1);
    if (json_absent(value) || (expires_s > now_s() && expires_s <= EXPIRES_S_MAX)) {
        *out = expires_s;
        return TD_OK;
    }
    return error_set(err, TD_INVALID,
                     "expires must be a whole number of seconds since 1970 that is to come, or "
                     "null");
}

static enum td_status read_operator(const struct json *value, bool *out, struct td_error *err)
{
    if (!json_absent(value) && json_kind_of(value) != JSON_KIND_BOOL)
        return error_set(err, TD_INVALID, "operator must be true or false");
    *out = json_bool(value, false);
    return TD_OK;
}

static enum td_status read_member(const char *name, const struct json *value, bool fresh,
                                  struct stored_key *key, struct json *terms, struct td_error *err)
{
    if (strcmp(name, "expires") == 0)
        return read_expires(value, &key->expires_s, err);
    if (fresh && strcmp(name, "name") == 0)
        return read_name("name", value, false, key->name, err);
    if (fresh && strcmp(name, "tenant") == 0)
        return read_name("tenant", value, true, key->tenant, err);
    if (fresh && strcmp(name, "operator") == 0)
        return read_operator(value, &key->operates, err);
    if (!key_terms_has(name))
        return error_set(err, TD_INVALID, "%s '%.60s'",
                         fresh ? "a key has no member" : "what can be changed of a key has no",
                         name);
    json_put(terms, name, json_clone(value));
    return TD_OK;
}

/* A name that no tier has would leave the key nothing, and nobody would see why. What a key has
 * from before, when there was such a tier, stays. */
static enum td_status check_tiers(const struct key_desk *desk, const struct json *names,
                                  struct td_error *err)
{
    for (size_t i = 0; i < json_count(names); i++) {
        struct td_str name = json_text(json_at(names, i));
        size_t at = 0;
        while (at < desk->tier_count && !str_equal(name, str_from(desk->tiers[at])))
            at++;
        if (at == desk->tier_count)
            return error_set(err, TD_INVALID, "tiers: there is no tier '%.*s'%s",
                             (int)(name.len < 60 ? name.len : 60), name.data,
                             error_suggest(name, desk->tiers, desk->tier_count).text);
    }
    return TD_OK;
}

static enum td_status read_wish(const struct key_desk *desk, const struct json *wish, bool fresh,
                                struct stored_key *key, const char **param, struct td_error *err)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    struct json *terms = json_new_object();
    enum td_status status = TD_OK;
    if (json_kind_of(wish) != JSON_KIND_OBJECT)
        status = error_set(err, TD_INVALID, "a key is described by an object");
    while (status == TD_OK && json_next(wish, &iterator, &name, &value)) {
        *param = name;
        status = read_member(name, value, fresh, key, terms, err);
    }
    if (status == TD_OK) {
        const char *member = NULL;
        status = key_terms_read(terms, &key->terms, &member, err);
        for (iterator = NULL; status != TD_OK && json_next(wish, &iterator, &name, &value);)
            if (member && strcmp(name, member) == 0)
                *param = name;
    }
    if (status == TD_OK) {
        *param = "tiers";
        status = check_tiers(desk, json_get(terms, "tiers"), err);
    }
    json_free(terms);
    return status;
}

/* --- changes --- */

static enum td_status make_text(const struct key_desk *desk, char text[static KEY_TEXT_BYTES],
                                uint8_t mark[static STORED_KEY_MARK_BYTES], struct td_error *err)
{
    enum td_status status = key_text_make(text, err);
    if (status == TD_OK)
        auth_mark(desk->auth, text, mark);
    return status;
}

enum td_status key_desk_add(const struct key_desk *desk, const struct json *wish,
                            struct stored_key *out, char text[static KEY_TEXT_BYTES],
                            const char **param, struct td_error *err)
{
    *out = (struct stored_key){.terms = key_terms_none};
    *param = NULL;
    enum td_status status = read_wish(desk, wish, true, out, param, err);
    if (status != TD_OK)
        return status;
    *param = "name";
    if (!*out->name)
        return error_set(err, TD_INVALID, "a key needs a name");
    status = make_text(desk, text, out->mark, err);
    return status == TD_OK ? key_store_add(desk->store, out, err) : status;
}

static enum td_status find_live(const struct key_desk *desk, const char *key,
                                struct stored_key *out, struct td_error *err)
{
    enum td_status status = key_store_find(desk->store, key, out, err);
    if (status == TD_OK && out->revoked_s)
        status = error_set(err, TD_INVALID, "the key %s was revoked, and stays so", out->id);
    return status;
}

enum td_status key_desk_change(const struct key_desk *desk, const char *key,
                               const struct json *wish, struct stored_key *out, const char **param,
                               struct td_error *err)
{
    *param = NULL;
    enum td_status status = find_live(desk, key, out, err);
    if (status == TD_OK)
        status = read_wish(desk, wish, false, out, param, err);
    return status == TD_OK ? key_store_change(desk->store, out, err) : status;
}

enum td_status key_desk_revoke(const struct key_desk *desk, const char *key, struct stored_key *out,
                               struct td_error *err)
{
    enum td_status status = find_live(desk, key, out, err);
    if (status != TD_OK)
        return status;
    out->revoked_s = now_s();
    return key_store_change(desk->store, out, err);
}

enum td_status key_desk_rotate(const struct key_desk *desk, const char *key, int64_t overlap_s,
                               struct stored_key *out, char text[static KEY_TEXT_BYTES],
                               struct td_error *err)
{
    enum td_status status = find_live(desk, key, out, err);
    if (status != TD_OK)
        return status;
    memcpy(out->mark_before, out->mark, sizeof out->mark_before);
    out->before_until_s = overlap_s > 0 ? now_s() + overlap_s : 0;
    status = make_text(desk, text, out->mark, err);
    return status == TD_OK ? key_store_change(desk->store, out, err) : status;
}

enum td_status key_desk_change_tenant(const struct key_desk *desk, const char *name,
                                      const struct json *wish, struct stored_tenant *out,
                                      const char **param, struct td_error *err)
{
    *param = NULL;
    if (!key_store_name_is_plain(name))
        return error_set(err, TD_INVALID,
                         "a tenant's name has 1 to %d letters, digits and . _ - @ : +",
                         STORED_KEY_NAME_BYTES - 1);
    if (json_kind_of(wish) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "a tenant's limits are described by an object");
    static const char *const of_keys[] = {"models", "tiers", "classes", "weight"};
    for (size_t i = 0; i < sizeof of_keys / sizeof *of_keys; i++) {
        *param = of_keys[i];
        if (json_get(wish, of_keys[i]))
            return error_set(err, TD_INVALID, "%s is a matter of each key, not of a tenant",
                             of_keys[i]);
    }
    enum td_status status = key_store_tenant(desk->store, name, out, err);
    if (status == TD_OK)
        status = key_terms_read(wish, &out->terms, param, err);
    return status == TD_OK ? key_store_set_tenant(desk->store, out, err) : status;
}

/* --- showing --- */

struct all_spent {
    struct key_spent *items;
    size_t count, capacity;
    char day[11], month[11];
    bool failed;
};

static void add_spent(void *ctx, const struct key_spent *spent)
{
    struct all_spent *all = ctx;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 64;
        struct key_spent *items = realloc(all->items, capacity * sizeof *items);
        all->failed = all->failed || !items;
        if (!items)
            return;
        all->items = items;
        all->capacity = capacity;
    }
    all->items[all->count++] = *spent;
}

static int compare_spent(const void *a, const void *b)
{
    const struct key_spent *left = a, *right = b;
    int order = strcmp(left->whom, right->whom);
    return order ? order : strcmp(left->period, right->period);
}

static enum td_status read_spent(const struct key_desk *desk, struct all_spent *all,
                                 struct td_error *err)
{
    *all = (struct all_spent){.count = 0};
    key_store_periods(clock_wall_ms(NULL), all->day, all->month);
    enum td_status status = key_store_spent(desk->store, all->day, all->month, add_spent, all, err);
    if (status == TD_OK && all->failed)
        status = error_set(err, TD_NO_MEMORY, "no memory for what keys have spent");
    if (status == TD_OK && all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_spent);
    return status;
}

static struct json *period_object(const struct all_spent *all, const char *whom, const char *period)
{
    struct key_spent wanted = {.usd = 0}, *found = NULL;
    struct json *object = json_new_object();
    snprintf(wanted.whom, sizeof wanted.whom, "%s", whom);
    snprintf(wanted.period, sizeof wanted.period, "%s", period);
    if (all->count)
        found = bsearch(&wanted, all->items, all->count, sizeof wanted, compare_spent);
    json_put(object, "usd", json_new_double(found ? found->usd : 0));
    json_put(object, "tokens", json_new_int(found ? (int64_t)found->tokens : 0));
    return object;
}

static void put_spent(const struct all_spent *all, char kind, const char *id, struct json *object)
{
    char whom[KEY_SPENT_BYTES];
    struct json *spent = json_new_object();
    snprintf(whom, sizeof whom, "%c%.16s", kind, id);
    json_put(spent, "day", period_object(all, whom, all->day));
    json_put(spent, "month", period_object(all, whom, all->month));
    json_put(object, "spent", spent);
}

static struct json *time_of(int64_t seconds)
{
    return seconds ? json_new_int(seconds) : json_new_null();
}

static struct json *key_object(const struct all_spent *all, const struct stored_key *key,
                               const char *text)
{
    struct json *object = json_new_object();
    bool expired = key->expires_s && key->expires_s <= now_s();
    json_put(object, "object", json_new_cstr("key"));
    json_put(object, "id", json_new_cstr(key->id));
    json_put(object, "name", json_new_cstr(key->name));
    if (text)
        json_put(object, "key", json_new_cstr(text));
    json_put(object, "tenant", json_new_cstr(*key->tenant ? key->tenant : NULL));
    json_put(object, "operator", json_new_bool(key->operates));
    json_put(object, "state",
             json_new_cstr(key->revoked_s ? "revoked"
                           : expired      ? "expired"
                                          : "live"));
    json_put(object, "created", time_of(key->created_s));
    json_put(object, "expires", time_of(key->expires_s));
    json_put(object, "revoked", time_of(key->revoked_s));
    json_put(object, "last_used", time_of(key->used_s));
    put_spent(all, 'k', key->id, object);
    key_terms_put(&key->terms, object);
    return object;
}

enum td_status key_desk_show(const struct key_desk *desk, const struct stored_key *key,
                             const char *text, struct json **out, struct td_error *err)
{
    struct all_spent all;
    enum td_status status = read_spent(desk, &all, err);
    *out = status == TD_OK ? key_object(&all, key, text) : NULL;
    free(all.items);
    return status;
}

struct listing {
    const struct key_desk *desk;
    const struct all_spent *all;
    struct json *keys, *tenants;
};

static void list_key(void *ctx, const struct stored_key *key)
{
    struct listing *listing = ctx;
    json_push(listing->keys, key_object(listing->all, key, NULL));
}

static void list_tenant(void *ctx, const struct stored_tenant *tenant)
{
    struct listing *listing = ctx;
    char id[AUTH_TENANT_BYTES];
    struct json *object = json_new_object();
    auth_tenant_of(listing->desk->auth, "", tenant->name, id);
    json_put(object, "object", json_new_cstr("tenant"));
    json_put(object, "name", json_new_cstr(tenant->name));
    json_put(object, "id", json_new_cstr(id));
    put_spent(listing->all, 't', id, object);
    key_terms_put(&tenant->terms, object);
    json_push(listing->tenants, object);
}

enum td_status key_desk_list(const struct key_desk *desk, struct json **out, struct td_error *err)
{
    struct all_spent all;
    *out = NULL;
    enum td_status status = read_spent(desk, &all, err);
    struct listing listing = {
        .desk = desk, .all = &all, .keys = json_new_array(), .tenants = json_new_array()};
    if (status == TD_OK)
        status = key_store_each(desk->store, list_key, &listing, err);
    if (status == TD_OK)
        status = key_store_tenants(desk->store, list_tenant, &listing, err);
    free(all.items);
    if (status != TD_OK) {
        json_free(listing.keys);
        json_free(listing.tenants);
        return status;
    }
    *out = json_new_object();
    json_put(*out, "object", json_new_cstr("list"));
    json_put(*out, "data", listing.keys);
    json_put(*out, "tenants", listing.tenants);
    return TD_OK;
}
