#include "net/client/client_body.h"

#include <stdlib.h>

struct client_body {
    size_t holders, len;
    char *bytes;
};

struct client_body *client_body_new(char *bytes, size_t len)
{
    struct client_body *body = bytes ? malloc(sizeof *body) : NULL;
    if (body == NULL) {
        free(bytes);
        return NULL;
    }
    char *fit = realloc(bytes, len + 1); /* a buffer that grew may be twice as large */
    *body = (struct client_body){.holders = 1, .len = len, .bytes = fit ? fit : bytes};
    return body;
}

struct client_body *client_body_hold(struct client_body *body)
{
    body->holders++;
    return body;
}

void client_body_drop(struct client_body *body)
{
    if (body == NULL || --body->holders > 0)
        return;
    free(body->bytes);
    free(body);
}

struct td_str client_body_view(const struct client_body *body)
{
    return (struct td_str){body->bytes, body->len};
}
