/* What people did after answers, by the tier that answered. */
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "ledger/report/reader.h"

/* Of several reactions to an answer the last one counts: whoever went on may come back. */
static const char reactions_sql[] =
    "SELECT x.tier, r.kind, count(*) FROM reaction r JOIN exchange x ON x.seq = r.exchange"
    " WHERE x.wall_ms >= ?1 AND r.seq = (SELECT max(y.seq) FROM reaction y"
    "  WHERE y.exchange = x.seq) GROUP BY x.tier, r.kind ORDER BY x.tier NULLS FIRST, r.kind";

static struct json *new_tier(const char *name)
{
    struct json *tier = json_new_object();
    json_put(tier, "tier", json_new_cstr(name));
    for (int kind = REACTION_NONE + 1; kind < REACTION_COUNT; kind++)
        json_put(tier, names_reaction((enum reaction)kind), json_new_int(0));
    return tier;
}

enum td_status reactions_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                struct json **out, struct td_error *err)
{
    struct db_statement *statement =
        reader_prepare_locked(reader, reactions_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *list = json_new_array(), *tier = NULL;
    int code;
    while ((code = db_step(statement)) == DB_ROW) {
        struct td_str name = str_from(db_text(statement, 0));
        if (!tier || !str_equal(json_text(json_get(tier, "tier")), name)) {
            if (tier)
                json_push(list, tier);
            tier = new_tier(name.data);
        }
        json_put(tier, db_text(statement, 1), json_new_int(db_int(statement, 2)));
    }
    if (tier)
        json_push(list, tier);
    enum td_status status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    *out = list;
    return status;
}
