/* Calibrating a local model: it answers questions whose right answers are known, as a server would
 * let it answer them. What its confidence is worth, and from which one on answers may be kept, is
 * then written into the state folder, where servers find it (setup/policy/calibration_file.h).
 * Blocks for minutes; nothing is written before the end. */
#ifndef APP_CALIBRATE_H
#define APP_CALIBRATE_H

#include "router/judge/confidence_model.h"
#include "tandem/engine.h"

#include <stdatomic.h>

struct json;

/* What came of it, where nothing is printed and nothing written. */
struct calibrate_found {
    struct confidence_model fitted; /* for calibration_file_write */
    struct json *report;            /* as `tandem calibrate --json` prints it; the caller's */
};

struct calibrate_options {
    const char *model;     /* NULL: what a server would run */
    const char *config;    /* NULL: as config_load takes it */
    const char *questions; /* a file (answer_check.h); NULL: those that came with the program */
    struct td_str text;    /* questions in place of the file; {NULL, 0}: none */
    const char *judged;    /* file to write: each question with "right"; NULL = none */
    uint32_t tokens_max, threads;
    bool p_true;        /* these two: a second signal is measured, too */
    uint32_t agreement; /* by so many samples; 0 = not */
    uint64_t seed;
    enum td_cpu cpu;
    bool json;
    const atomic_bool *cancel;
    struct calibrate_found *found; /* NULL: it is printed and written */
    /* After each answer; or NULL. */
    void (*on_answer)(void *ctx, size_t done, size_t all, size_t right, double left_s);
    void *ctx;
};
#define CALIBRATE_TOKENS 48 /* default of tokens_max: the questions that came ask for less */

/* Prints what came of it; *printed: false when that broke (NULL with `found`). TD_CANCELLED, and
 * TD_INVALID where too few answers were right or wrong to fit anything: then nothing was written.
 */
TD_MUST_CHECK enum td_status calibrate_run(const struct calibrate_options *options, bool *printed,
                                           struct td_error *err);

#endif
