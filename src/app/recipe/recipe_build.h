/* Makes a model by a recipe: convert, imatrix, quantize, evaluate, mistakes, calibrate, sign. Each
 * step is a verb (recipe_step.h) and is done in the folder OUTPUT.build. It is not repeated while
 * what it reads is the same (recipe_state.h). The model gets its name only when every gate has
 * passed, so a server never sees one that was not measured. One thread; blocks. */
#ifndef APP_RECIPE_BUILD_H
#define APP_RECIPE_BUILD_H

#include "app/cli/verb.h"
#include "app/recipe/recipe.h"
#include "app/recipe/recipe_state.h"
#include "base/crypto/sign_key.h"

/* Exit codes: which step or gate it was. */
enum recipe_end {
    RECIPE_DONE = 0,
    RECIPE_FAILED = 1,  /* interrupted, or the system refused something */
    RECIPE_WRONG = 2,   /* the recipe, or what it names; nothing was begun */
    RECIPE_REFUSED = 3, /* by the gate of the evaluation */
    RECIPE_NO_CONVERT = 4,
    RECIPE_NO_IMATRIX = 5,
    RECIPE_NO_QUANTIZE = 6,
    RECIPE_NO_EVALUATE = 7,
    RECIPE_NO_CALIBRATE = 8,
    RECIPE_NO_SIGN = 9,
    RECIPE_REPEATS = 10, /* refused: it makes mistakes again that are known */
    RECIPE_NO_MISTAKES = 11
};

struct recipe_verbs {
    const struct verb *convert, *imatrix, *quantize, *evaluate, *mistakes, *calibrate;
};

struct recipe_build {
    /* what was asked */
    const char *config_path; /* NULL = as config_load takes it */
    uint32_t threads;        /* 0 = all */
    bool json;
    struct recipe_verbs verbs;
    const volatile sig_atomic_t *interrupted;

    /* recipe_check */
    struct recipe recipe;
    struct config *config;
    const char *source, *output, *work;
    const char *converted, *importance, *quantized; /* importance: NULL = none */
    bool is_folder;
    int lock_fd; /* of the work folder: one build at a time; 0 = not yet */
    struct crypto_signer *signer;
    char key[SIGN_KEY_DIGITS + 1];

    /* recipe_build_run */
    struct recipe_state state;
    struct json *steps; /* for the manifest */
    bool is_all_kept;
};

/* Reads the recipe and looks at everything that can be known before the work: files, types, the
 * gate, the folders to write to, the key, the room on the disk. Makes the work folder. */
TD_MUST_CHECK enum td_status recipe_check(struct recipe_build *build, const char *path,
                                          struct td_error *err);
/* Does what is to be done. TD_OK only with RECIPE_DONE. */
TD_MUST_CHECK enum td_status recipe_build_run(struct recipe_build *build, enum recipe_end *end,
                                              struct td_error *err);
/* Gives the model its name and writes its signed manifest; candidate: the file that passed. */
TD_MUST_CHECK enum td_status recipe_publish(struct recipe_build *build, const char *candidate,
                                            bool *is_new, struct td_error *err);
void recipe_build_deinit(struct recipe_build *build);

#endif
