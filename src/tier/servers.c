#include "tier/servers.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"

#define ROW(name, text) &server_##name,
const struct tier_server *const tier_servers[] = {TIER_SERVERS(ROW) NULL};

/* A base URL and a path are a few hundred bytes; the model's name is at most 4 KB in the file. */
#define URL_BYTES_MAX (64 * 1024)

struct td_str server_base(const struct server_address *address)
{
    struct td_str base = str_from(address->base_url);
    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    return base;
}

void server_write_segment(struct td_str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (ascii_is_alnum(c) || strchr("-._~", c))
            buf_append_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

static void write_url(const struct tier_server *server, const struct server_address *address,
                      struct buf *out)
{
    static const char *const paths[] = {"chat/completions", "completions", "models"};
    ASSERT(server && address && address->base_url);
    if (server->write_url)
        server->write_url(address, out);
    else
        buf_printf(out, STR_FMT "/%s", STR_ARG(server_base(address)), paths[address->path]);
}

char *server_url(const struct tier_server *server, const struct server_address *address)
{
    struct buf out;
    buf_init(&out, URL_BYTES_MAX);
    write_url(server, address, &out);
    char *url = buf_take(&out);
    buf_deinit(&out);
    return url;
}
