/* A chat's body in the dialect of each cloud. Whatever JSON comes, a body is made that is JSON, or
 * a refusal has words. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "tier/cards/model_cards.h"
#include "tier/openai/openai_dialect.h"
#include "tier/servers.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_body(const struct tier_server *server, const struct json *chat)
{
    const char *model = server->model ? server->model : "m";
    const struct dialect_ask ask = {.model = model, .card = model_card_find(server->name, model)};
    struct td_error err = {0};
    struct json *body = NULL;
    struct buf out;
    buf_init(&out, 16u << 20);
    enum td_status status = server->dialect->write_body(chat, &ask, &out, &err);
    assert(status == TD_OK || err.message[0]);
    if (status == TD_OK) {
        enum td_status parsed = json_parse(buf_view(&out), &body, NULL);
        assert(parsed == TD_OK && json_kind_of(body) == JSON_KIND_OBJECT);
    }
    json_free(body);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *chat = NULL;
    if (json_parse((struct td_str){(const char *)data, size}, &chat, NULL) != TD_OK)
        return 0;
#define COUNT(name, text) +1
    for (size_t i = 0; i < 0 TIER_SERVERS(COUNT); i++)
        if (tier_servers[i]->dialect)
            write_body(tier_servers[i], chat);
    json_free(chat);
    return 0;
}
