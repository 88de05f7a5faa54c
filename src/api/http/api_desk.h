/* What an operator asks of the configuration's file and of calibrations. The process answers it
 * (app/desk/), because this folder sees neither. */
#ifndef API_API_DESK_H
#define API_API_DESK_H

#include "tandem/types.h"

struct json;

enum api_desk_step {
    API_DESK_SHOW,
    API_DESK_SCHEMA,
    API_DESK_CHECK,
    API_DESK_APPLY,
    API_DESK_CALIBRATION,
    API_DESK_CALIBRATE,
    API_DESK_CANCEL,
    API_DESK_KEEP
};

struct api_desk_ask {
    enum api_desk_step step;
    bool admin;          /* a key of the configuration, or nobody needs one */
    bool open;           /* nobody needs a key */
    const char *key_id;  /* who asks, for the log */
    struct td_str text;  /* CHECK, APPLY: a configuration; CALIBRATE: questions, {NULL, 0} = own */
    const char *version; /* APPLY: the one that was changed; NULL = none was named */
    const char *tier;    /* CALIBRATE: a local one; NULL = the engine's model */
};

/* In a thread beside the loops; waits until a change is in force. *out **returns new**. TD_BUSY:
 * the file has changed, or a calibration runs. TD_DENIED says who may. */
typedef enum td_status api_desk_fn(void *ctx, const struct api_desk_ask *ask, struct json **out,
                                   struct td_error *err);

#endif
