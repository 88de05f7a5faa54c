#define HELP_OF 9
#include "app/recipe/recipe.h"

#include "app/cli/quantity.h"
#include "app/config/keys.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "quant/encode/mix.h"

#include <math.h>
#include <string.h>

#define RECIPE_ARENA_BYTES ((size_t)4 << 20)

#define AT(member) offsetof(struct recipe, member)
#define TEXT(key, member, text)                                    \
    {                                                              \
        key, CONFIG_KEY_TEXT, AT(member), NULL, .help = HELP(text) \
    }
#define FLAG(key, member, otherwise, text)                              \
    {                                                                   \
        key, CONFIG_KEY_BOOL, AT(member), otherwise, .help = HELP(text) \
    }
#define COUNT(key, member, otherwise, least, most, text)                             \
    {                                                                                \
        key, CONFIG_KEY_UINT, AT(member), otherwise, least, most, .help = HELP(text) \
    }
#define TEXTS(key, member, text)                                                         \
    {                                                                                    \
        key, CONFIG_KEY_WORDS, AT(member), NULL, 0, RECIPE_TEXTS_MAX, .help = HELP(text) \
    }

static const struct config_key convert_keys[] = {
    {"type", CONFIG_KEY_TEXT, AT(convert.type), "F16", .help = HELP("F16, F32 or BF16")},
    FLAG("force", convert.force, "false", "replace weights that are no numbers"),
};
static const struct config_section convert_section = KEYS_MAP(convert_keys);

static const struct config_key imatrix_keys[] = {
    TEXTS("texts", imatrix.texts, "text files to run through the model"),
    FLAG("traffic", imatrix.traffic, "false", "run the prompts of the ledger through it"),
    TEXT("since", imatrix.since, "of the ledger, as in 30d"),
    TEXT("tenant", imatrix.tenant, "of the ledger"),
    TEXT("route", imatrix.route, "of the ledger"),
    TEXT("file", imatrix.file, "an importance matrix that is there already"),
    COUNT("context", imatrix.context, "0", 0, 1048576, "tokens read together; 0 = 512"),
    COUNT("chunks", imatrix.chunks, "0", 0, 1e9, "most chunks to read; 0 = all"),
};
static const struct config_section imatrix_section = KEYS_MAP(imatrix_keys);

static const struct config_key quantize_keys[] = {
    {"type", CONFIG_KEY_TEXT, AT(quantize.type), "Q4_K_M", .help = HELP("of the matrices")},
    TEXT("text", quantize.text, "a text to measure with"),
    FLAG("scale", quantize.scale, "false", "activation-aware scaling"),
    TEXT("target_size", quantize.target_size, "most bytes of the file, as in 700M"),
    {"max_kld", CONFIG_KEY_NUMBER, AT(quantize.max_kld), NULL, 1e-7, 100,
     .help = HELP("most divergence, nats a token")},
    COUNT("tokens", quantize.tokens, "1024", 16, 1e8, "predictions of the text to compare"),
    FLAG("force", quantize.force, "false", "replace weights that are no numbers"),
};
static const struct config_section quantize_section = KEYS_MAP(quantize_keys);

static const struct config_key evaluate_keys[] = {
    {"gate", CONFIG_KEY_TEXT, AT(evaluate.gate), NULL, .required = true,
     .help = HELP("limits, as for 'tandem quant-eval --gate'")},
    TEXT("prompts", evaluate.prompts, "prompts to answer, JSON lines"),
    TEXTS("texts", evaluate.texts, "texts to predict"),
    FLAG("traffic", evaluate.traffic, "false", "answer the prompts of the ledger"),
    TEXT("since", evaluate.since, "of the ledger, as in 30d"),
    TEXT("tenant", evaluate.tenant, "of the ledger"),
    TEXT("route", evaluate.route, "of the ledger"),
    COUNT("tokens", evaluate.tokens, "64", 1, 65536, "most tokens of an answer"),
    COUNT("max_prompts", evaluate.prompts_max, "1000", 1, 100000, "of more, take so many"),
    FLAG("speed", evaluate.speed, "true", "measure it"),
};
static const struct config_section evaluate_section = KEYS_MAP(evaluate_keys);

static const struct config_key mistakes_keys[] = {
    {"file", CONFIG_KEY_TEXT, AT(mistakes.file), NULL, .required = true,
     .help = HELP("answers that were wrong, from 'tandem models mistakes'")},
    {"max_share", CONFIG_KEY_NUMBER, AT(mistakes.max_share), "0", 0, 1,
     .help = HELP("of them that the model may make again")},
    COUNT("tokens", mistakes.tokens, "64", 1, 65536, "most tokens of an answer"),
};
static const struct config_section mistakes_section = KEYS_MAP(mistakes_keys);

static const struct config_key calibrate_keys[] = {
    TEXT("questions", calibrate.questions, "with known answers; default: the program's"),
    COUNT("tokens", calibrate.tokens, "48", 1, 65536, "most tokens of an answer"),
};
static const struct config_section calibrate_section = KEYS_MAP(calibrate_keys);

static const struct config_key sign_keys[] = {
    TEXT("key", sign.key, "folder of the key; default: signing in the state folder"),
};
static const struct config_section sign_section = KEYS_MAP(sign_keys);

#define SECTION(name, table, must)                                                \
    {                                                                             \
        name, CONFIG_KEY_SECTION, 0, NULL, .section = &(table), .required = must, \
                                           .help = HELP("a step")                 \
    }
static const struct config_key recipe_keys[] = {
    {"source", CONFIG_KEY_TEXT, AT(source), NULL, .required = true,
     .help = HELP("a Hugging Face folder or a GGUF file")},
    {"output", CONFIG_KEY_TEXT, AT(output), NULL, .required = true,
     .help = HELP("the file to make")},
    TEXT("name", name, "the model's name"),
    TEXT("license", license, "its licence"),
    TEXT("teacher", teacher, "the model that it learned from"),
    TEXT("method", method, "how it was made"),
    SECTION("convert", convert_section, false),
    SECTION("imatrix", imatrix_section, false),
    SECTION("quantize", quantize_section, false),
    {"evaluate", CONFIG_KEY_SECTION, 0, NULL, .section = &evaluate_section, .required = true,
     .help =
         HELP("what the model must still be able to do before it gets its name, as in evaluate: "
              "{gate: gate.yaml, texts: [other.txt]} (docs/quantize.md)")},
    SECTION("mistakes", mistakes_section, false),
    SECTION("calibrate", calibrate_section, false),
    SECTION("sign", sign_section, false),
};
static const struct config_section recipe_section = KEYS_MAP(recipe_keys);
#undef AT

static enum td_status wrong(const struct recipe *recipe, const struct yaml_node *tree,
                            const char *section, const char *what, struct td_error *err)
{
    const struct yaml_node *node = yaml_tree_get(tree, section);
    return error_set(err, TD_INVALID, "%s:%u: %s: %s", recipe->label, node ? node->line : 1,
                     section, what);
}

/* What several keys say together. */
static enum td_status check(const struct recipe *recipe, const struct yaml_node *tree,
                            struct td_error *err)
{
    bool chooses = recipe->quantize.target_size || !isnan(recipe->quantize.max_kld);
    bool makes = recipe->imatrix.texts.count > 0 || recipe->imatrix.traffic;
    bool importance = makes || recipe->imatrix.file;
    if (!str_ends_with(str_from(recipe->output), STR(".gguf")))
        return wrong(recipe, tree, "output", "a name that ends in .gguf is needed", err);
    if (!mix_find(str_from(recipe->convert.type)))
        return wrong(recipe, tree, "convert", "there is no such type", err);
    if (!mix_find(str_from(recipe->quantize.type))) {
        error_set(err, TD_INVALID, "%s: quantize.type: no type '%.40s'; there are %s",
                  recipe->label, recipe->quantize.type, mix_list());
        return TD_INVALID;
    }
    if (recipe->imatrix.there && !importance)
        return wrong(recipe, tree, "imatrix", "it needs texts, traffic or a file", err);
    if (makes && recipe->imatrix.file)
        return wrong(recipe, tree, "imatrix", "either texts and traffic, or a file", err);
    uint64_t bytes;
    if (recipe->quantize.target_size &&
        !quantity_read_size(str_from(recipe->quantize.target_size), &bytes))
        return wrong(recipe, tree, "quantize", "target_size is a size such as 700M or 1.5G", err);
    if (chooses && !recipe->quantize.text)
        return wrong(recipe, tree, "quantize", "target_size and max_kld need a text", err);
    if (recipe->quantize.target_size && !isnan(recipe->quantize.max_kld))
        return wrong(recipe, tree, "quantize", "either target_size or max_kld", err);
    if (recipe->quantize.scale && !recipe->quantize.text)
        return wrong(recipe, tree, "quantize", "scale needs a text", err);
    if (recipe->mistakes.there && !recipe->mistakes.file)
        return wrong(recipe, tree, "mistakes", "it needs a file", err);
    if (recipe->evaluate.prompts && recipe->evaluate.traffic)
        return wrong(recipe, tree, "evaluate", "either prompts or traffic", err);
    if (!recipe->evaluate.prompts && !recipe->evaluate.traffic && !recipe->evaluate.texts.count)
        return wrong(recipe, tree, "evaluate", "it needs texts, prompts or traffic", err);
    return TD_OK;
}

static void hash(struct td_str text, char out[static 65])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(text.data, text.len, digest);
    crypto_hex(digest, sizeof digest, out);
}

enum td_status recipe_read(const char *label, struct td_str text, struct recipe *out,
                           struct td_error *err)
{
    struct yaml_node *tree = NULL;
    *out = (struct recipe){.label = label, .arena = arena_new(RECIPE_ARENA_BYTES)};
    if (!out->arena)
        return error_set(err, TD_NO_MEMORY, "no memory for %s", label);
    hash(text, out->sha256);
    const char *slash = strrchr(label, '/');
    out->folder = arena_printf(out->arena, "%.*s", slash ? (int)(slash - label) : 1,
                               slash == label ? "/"
                               : slash        ? label
                                              : ".");
    enum td_status status = yaml_tree_read(label, text, out->arena, &tree, err);
    if (status == TD_OK && (!tree || tree->kind != YAML_MAP))
        status =
            error_set(err, TD_INVALID, "%s:1: a recipe is a map with source and output", label);
    if (status == TD_OK)
        status = keys_read_own(label, &recipe_section, tree, out->arena, out, err);
    if (status != TD_OK)
        return status;
    out->convert.there = yaml_tree_get(tree, "convert") != NULL;
    out->imatrix.there = yaml_tree_get(tree, "imatrix") != NULL;
    out->mistakes.there = yaml_tree_get(tree, "mistakes") != NULL;
    out->calibrate.there = yaml_tree_get(tree, "calibrate") != NULL;
    return out->folder ? check(out, tree, err)
                       : error_set(err, TD_NO_MEMORY, "no memory for %s", label);
}

void recipe_deinit(struct recipe *recipe)
{
    arena_free(recipe->arena);
    recipe->arena = NULL;
}

const char *recipe_path(const struct recipe *recipe, const char *written)
{
    if (!written || *written == '/')
        return written;
    return arena_printf(recipe->arena, "%s/%s", recipe->folder, written);
}
