/* A recipe: a YAML file that says how a model is made, from a folder or file of weights to one that
 * may be served. Paths in it are relative to its own folder.
 *
 *   source: Qwen3-0.6B           a Hugging Face folder, or a GGUF file
 *   output: desk-q4.gguf
 *   name, license, teacher, method   texts for the metadata and the manifest
 *   convert:   {type: F16, force: false}
 *   imatrix:   {texts: [FILE...], traffic: true} or {file: FILE}; context, chunks
 *   quantize:  {type: Q4_K_M}; text, scale, target_size, max_kld, tokens, force
 *   evaluate:  {gate: FILE}; texts, prompts, traffic, tokens, max_prompts, speed
 *   mistakes:  {file: FILE}; max_share, tokens
 *   calibrate: {}; questions, tokens
 *   sign:      {key: FOLDER}
 *
 * Sections left out are steps left out, but quantize, evaluate and sign are always done. One
 * owner. */
#ifndef APP_RECIPE_H
#define APP_RECIPE_H

#include "app/config/config.h"
#include "base/bytes/arena.h"

#define RECIPE_TEXTS_MAX 64

struct recipe {
    struct arena *arena;
    const char *label;  /* its path, for messages; borrowed */
    const char *folder; /* that paths are relative to */
    char sha256[65];    /* of its text */

    const char *source, *output, *name, *license, *teacher, *method;
    struct {
        bool there;
        const char *type;
        bool force;
    } convert;
    struct {
        bool there;
        struct config_texts texts;
        const char *file;
        uint32_t context, chunks;
        bool traffic;
        const char *since, *tenant, *route;
    } imatrix;
    struct {
        const char *type, *text, *target_size;
        double max_kld;
        uint32_t tokens;
        bool scale, force;
    } quantize;
    struct {
        const char *gate, *prompts;
        struct config_texts texts;
        uint32_t tokens, prompts_max;
        bool traffic, speed;
        const char *since, *tenant, *route;
    } evaluate;
    struct {
        bool there;
        const char *file;
        double max_share;
        uint32_t tokens;
    } mistakes;
    struct {
        bool there;
        const char *questions;
        uint32_t tokens;
    } calibrate;
    struct {
        const char *key; /* a folder; NULL = that of the state folder */
    } sign;
};

/* Reads and checks keys and values, not files. TD_INVALID names line and key. recipe_deinit also
 * after a failure. */
TD_MUST_CHECK enum td_status recipe_read(const char *label, struct td_str text, struct recipe *out,
                                         struct td_error *err);
void recipe_deinit(struct recipe *recipe);

/* A path of the recipe as the program opens it. Lives as long as the recipe; NULL for NULL and
 * without memory. */
const char *recipe_path(const struct recipe *recipe, const char *written);

#endif
