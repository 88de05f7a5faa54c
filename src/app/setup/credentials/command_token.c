/* The command is run without a shell, without input, and with chosen variables. What it prints is a
 * token, or JSON with `access_token` and `expires_in` (seconds). */
#include "app/setup/credentials/credential.h"

#include "app/setup/files/run_program.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#define TOKEN_BYTES_MAX (64 * 1024)
#define RUN_MS 30000
/* A token of unknown age may end soon: programs such as gcloud give the same one until some four
 * minutes before its end, so it is asked for that often. */
#define UNKNOWN_MS (3 * 60 * UINT64_C(1000))

static enum td_status take_text(struct td_str text, const char *program, struct credential *out,
                                struct td_error *err)
{
    struct json *root = NULL;
    uint64_t now_ms = clock_wall_ms(NULL), renew_ms = now_ms + UNKNOWN_MS;
    struct td_str token = str_trim(text);
    if (token.len > 0 && token.data[0] == '{' && json_parse(token, &root, NULL) == TD_OK) {
        int64_t seconds = json_int(json_get(root, "expires_in"), 0);
        token = str_trim(json_text(json_get(root, "access_token")));
        if (seconds > 0 && seconds < INT32_MAX)
            renew_ms = credential_renew_at(now_ms, now_ms + (uint64_t)seconds * 1000);
    }
    bool plain = token.len > 0;
    for (size_t i = 0; i < token.len; i++)
        plain = plain && (unsigned char)token.data[i] > ' ' && (unsigned char)token.data[i] < 0x7f;
    if (plain)
        *out = (struct credential){secret_new(token), renew_ms};
    json_free(root);
    if (!plain)
        return error_set(err, TD_INVALID,
                         "token_command: %.200s must print a token on one line, or JSON with "
                         "access_token",
                         program);
    return out->text ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a key");
}

enum td_status credential_of_command(const char *const *words, struct credential *out,
                                     struct td_error *err)
{
    const struct program_limits limits = {.run_ms = RUN_MS};
    struct buf text;
    buf_init(&text, TOKEN_BYTES_MAX);
    struct td_error why = {0};
    enum td_status status = program_run(words, &limits, &text, &why);
    if (status == TD_OK)
        status = take_text(buf_view(&text), words[0], out, err);
    else
        (void)!error_set(err, status, "token_command: %s", why.message);
    if (text.data)
        crypto_wipe(text.data, text.len);
    buf_deinit(&text);
    return status;
}
