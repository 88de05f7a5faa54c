#include "app/setup/credentials/credential.h"

#include "base/core/error.h"

#include <string.h>
#include <time.h>

#define LAST_MS (5 * 60 * UINT64_C(1000))

uint64_t credential_renew_at(uint64_t now_wall_ms, uint64_t end_wall_ms)
{
    uint64_t left = end_wall_ms > now_wall_ms ? end_wall_ms - now_wall_ms : 0;
    return now_wall_ms + (left > 2 * LAST_MS ? left - LAST_MS : left / 2);
}

uint64_t credential_read_time(const char *text)
{
    struct tm time = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &time) : NULL;
    if (end && *end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    if (!end || strcmp(end, "Z") != 0)
        return 0;
    time_t seconds = timegm(&time);
    return seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

enum td_status credential_fetch(const struct credential_source *source, struct credential *out,
                                struct td_error *err)
{
    *out = (struct credential){.text = NULL};
    switch (source->kind) {
    case CREDENTIAL_COMMAND:
        return credential_of_command(source->words, out, err);
    case CREDENTIAL_GOOGLE:
        return credential_of_google(source->file, out, err);
    case CREDENTIAL_AWS_ROLE:
        return credential_of_aws_role(out, err);
    case CREDENTIAL_NONE:
        break;
    }
    return TD_OK;
}
