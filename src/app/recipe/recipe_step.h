/* A step of a build: a verb of this program in a process of its own, as a user would call it. So
 * the memory of a step ends with it, and a step that crashes fails the build with words. One
 * thread; the caller has started no other. */
#ifndef APP_RECIPE_STEP_H
#define APP_RECIPE_STEP_H

#include "app/cli/verb.h"
#include "app/recipe/recipe.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

#include <signal.h>

#define RECIPE_STEP_WORDS_MAX 200
#define RECIPE_STEP_INPUTS_MAX 80
#define RECIPE_STEP_OUTPUT_BYTES_MAX ((size_t)64 << 20)

struct recipe_step {
    const char *name; /* "quantize" */
    const struct verb *verb;
    const char *words[RECIPE_STEP_WORDS_MAX]; /* argv, from the verb's name on */
    size_t word_count;
    struct json *settings;                      /* the same as the recipe has it: for people */
    const char *inputs[RECIPE_STEP_INPUTS_MAX]; /* files, and folders of weights */
    size_t input_count;
    const char *output;  /* NULL = it makes no file that is looked at */
    int failed, refused; /* enum recipe_end: of a step that fails, of a gate that refuses */
    bool is_volatile;    /* what it reads changes without a file: it is never kept */
    bool is_full;        /* more words than there is room for */
};

/* **returns new** (recipe_step_deinit). */
void recipe_step_begin(struct recipe_step *step, const char *name, const struct verb *verb);
void recipe_step_deinit(struct recipe_step *step);

/* A word such as "--json" that is the same in every build and no setting. */
void recipe_step_say(struct recipe_step *step, const char *word);
/* A setting: an option with a value (NULL = a flag). */
void recipe_step_set(struct recipe_step *step, const char *option, const char *value);
void recipe_step_set_count(struct recipe_step *step, const struct recipe *recipe,
                           const char *option, uint64_t value);
/* A file that the step reads: `written` is how the recipe calls it. option NULL = a word alone. */
void recipe_step_read(struct recipe_step *step, const char *option, const char *path,
                      const char *written);

struct recipe_step_end {
    int code;            /* the verb's exit code */
    int signal;          /* not 0: it was ended by this signal */
    struct json *result; /* what it printed; NULL = nothing that is JSON */
};

/* Runs the step. *interrupted: set by the caller's handler of signals; the step is then told to
 * end. TD_CANCELLED, TD_IO. **returns new** (json_free of result). */
TD_MUST_CHECK enum td_status recipe_step_run(const struct recipe_step *step,
                                             const volatile sig_atomic_t *interrupted,
                                             struct recipe_step_end *end, struct td_error *err);

#endif
