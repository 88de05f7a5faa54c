/* How old models are, and whether two of them have drifted apart: what `tandem doctor` and `tandem
 * models list` say of versions. No state; any thread. */
#ifndef APP_MODEL_AGE_H
#define APP_MODEL_AGE_H

#include "app/config/config.h"
#include "base/bytes/buf.h"

struct json;

#define MODEL_DAY_BYTES 11 /* "2026-11-27" */

/* "2026-11-27...": the first moment of that day. */
bool model_day_parse(struct td_str text, uint64_t *wall_ms);

/* The day on which a model's file was made: by its manifest or its metadata
 * (tandem.source.converted), else by the file's time. *days: whole ones since then. False: there is
 * no such file. */
bool model_age_read(const char *path, uint64_t now_ms, char day[static MODEL_DAY_BYTES],
                    double *days);

/* Fewer answers of a pair say nothing. */
#define MODEL_SKEW_COMPARED_MIN 20

/* Two versions that said the same too seldom. */
struct model_skew {
    const char *tier, *shadow; /* borrowed from the list; "" = not known */
    const char *version, *shadow_version;
    double compared, differ; /* share */
    char first_day[MODEL_DAY_BYTES], last_day[MODEL_DAY_BYTES];
};

/* The next pair of a list of ledger_reader_skew, from *at on, where surely (95 %) a larger share
 * than `most` said something else. Only pairs of a version that is in use are looked at: the newest
 * of each tier. False at the end. */
bool model_skew_next(const struct json *list, double most, size_t *at, struct model_skew *out);

#endif
