/* Models that are opened in the background while others answer, and models that are closed when
 * their last answer has ended. All calls come from the main thread. */
#ifndef APP_MODEL_LOADING_H
#define APP_MODEL_LOADING_H

#include "app/setup/process/engine_setup.h"

struct model_loading;

/* **returns new** (model_loading_free), or NULL without memory. */
struct model_loading *model_loading_new(void);
/* Waits for what is being opened. No model may be used any more. Accepts NULL. */
void model_loading_free(struct model_loading *loading);

/* What is being opened is not wanted any more: it ends in its own time and is not delivered. */
void model_loading_give_up(struct model_loading *loading);
/* Begins to open what the configuration asks for and `before` has not got (engine_setup_open),
 * after what was given up has ended. */
TD_MUST_CHECK enum td_status model_loading_start(struct model_loading *loading,
                                                 struct config *config,
                                                 const struct engine_options *options,
                                                 const struct engine_parts *before,
                                                 struct td_error *err);
/* True once when all that was asked for has been tried. The parts (engine_setup_close) and the
 * configuration (config_free) then belong to the caller. */
bool model_loading_take(struct model_loading *loading, struct engine_parts *out,
                        struct config **config);

/* Takes over the users of models that are not in `now`, and drops the others. */
void model_loading_retire(struct model_loading *loading, struct engine_parts *parts,
                          const struct engine_parts *now);
/* Calls scheduler_forget for them. */
void model_loading_forget(struct model_loading *loading);

/* Closes what nobody uses any more. Returns in how many ms to call again; UINT64_MAX = when there
 * is something to do again. */
uint64_t model_loading_tend(struct model_loading *loading);

#endif
