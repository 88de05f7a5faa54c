#include "ledger/egress/egress_key.h"

#include "base/bytes/path.h"
#include "base/core/error.h"
#include "ledger/egress/egress_line.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum td_status egress_key_open(const char *folder, bool is_new, struct crypto_signer **out,
                               char key[static EGRESS_KEY_DIGITS + 1], struct td_error *err)
{
    const struct sign_key_place place = {folder, "egress ledger", EGRESS_MEND};
    return sign_key_open(&place, is_new, out, key, err);
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return path_join(path, sizeof path, folder, name, NULL) == TD_OK &&
           (access(path, F_OK) == 0 || errno != ENOENT);
}

/* The entries are looked for last: another process that makes a record makes them first. */
bool egress_key_has_record(const char *folder, struct td_error *err)
{
    bool has_key = is_there(folder, "key") || is_there(folder, "key.pub");
    if (!has_key || is_there(folder, EGRESS_ENTRIES_FILE))
        return true;
    error_set(err, TD_CORRUPT,
              "egress ledger %s has its key, but its " EGRESS_ENTRIES_FILE
              " was removed: put it back, or " EGRESS_MEND,
              folder);
    return false;
}
