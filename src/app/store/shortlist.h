/* Which models of the catalogue this machine can run, how fast, and which one to take first. */
#ifndef APP_SHORTLIST_H
#define APP_SHORTLIST_H

#include "app/config/config.h"
#include "app/setup/model/catalog.h"

/* About the pace of reading. */
#define SHORTLIST_TOKENS_PER_S 6.0

struct shortlist {
    uint64_t ram_bytes, disk_bytes; /* free */
    double bytes_per_s;             /* of weights (machine_speed.h); 0 = not measured */
    uint32_t threads;
    const struct catalog_model *best; /* of those for chats; NULL = none fits */
};

/* Measures for about half a second, unless `threads` of *out says that this was done before: a new
 * list is {0}. */
void shortlist_make(const struct config *config, const struct catalog *catalog,
                    struct shortlist *out);
/* NULL = it fits; else "memory" or "disk". */
const char *shortlist_lacks(const struct shortlist *list, const struct catalog_model *model);
/* What it needs of memory, with room for what it keeps of a chat. */
uint64_t shortlist_memory(const struct catalog_model *model);
double shortlist_speed(const struct shortlist *list, const struct catalog_model *model);
bool shortlist_is_there(const struct config *config, const struct catalog_model *model);
/* As `models recommend --json` prints it. **returns new** (json_free). */
struct json *shortlist_to_json(const struct config *config, const struct catalog *catalog,
                               const struct shortlist *list);

#endif
