/* tandem models verify: whether a model is the one that its manifest was signed for. */
#define HELP_OF 82
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_manifest.h"
#include "app/setup/model/model_store.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <stdio.h>
#include <sys/stat.h>

#define CODE_UNKNOWN_KEY 3

/* Whose key it is. */
enum signer { SIGNER_UNKNOWN, SIGNER_NAMED, SIGNER_SELF };

static enum td_status check_bytes(const char *path, const struct model_manifest *manifest,
                                  bool silent, struct td_error *err)
{
    char sha256[65];
    struct stat file;
    struct progress progress;
    const struct model_check check = {
        .path = path, .part_fd = -1, .on_progress = progress_report, .ctx = &progress};
    if (stat(path, &file) == 0 && file.st_size != manifest->bytes)
        return error_set(err, TD_CORRUPT, "%s has %lld bytes, but the manifest is of one with %lld",
                         path, (long long)file.st_size, (long long)manifest->bytes);
    progress_begin(&progress, "hashing", silent);
    enum td_status status = model_store_hash(&check, sha256, err);
    progress_end(&progress);
    if (status == TD_OK && strcmp(sha256, manifest->sha256) != 0)
        status = error_set(err, TD_CORRUPT,
                           "%s was changed: its SHA-256 is %s, but the manifest is of %s", path,
                           sha256, manifest->sha256);
    return status;
}

static enum signer signer_of(const struct config *config, const char *named,
                             const struct model_manifest *manifest)
{
    char folder[4096];
    if (named)
        return strcmp(named, manifest->key) == 0 ? SIGNER_NAMED : SIGNER_UNKNOWN;
    return path_join(folder, sizeof folder, config->state_dir, "signing", NULL) == TD_OK &&
                   model_manifest_is_key_of(folder, manifest->key)
               ? SIGNER_SELF
               : SIGNER_UNKNOWN;
}

static bool print_result(const char *path, const struct model_manifest *manifest,
                         enum signer signer, const char *wanted, bool json)
{
    static const char *const names[] = {"unknown", "named", "this machine"};
    if (json) {
        struct json *object = json_new_object();
        json_put(object, "path", json_new_cstr(path));
        json_put(object, "sound", json_new_bool(true));
        json_put(object, "signer", json_new_cstr(names[signer]));
        json_put(object, "public_key", json_new_cstr(manifest->key));
        json_put(object, "manifest", json_clone(manifest->body));
        return command_print_json(object);
    }
    printf("%s is the model that was built on %.10s and signed by %s%s\n", path,
           json_text(json_get(manifest->body, "built")).len >= 10
               ? json_cstr(json_get(manifest->body, "built"))
               : "an unknown day",
           manifest->key, signer == SIGNER_SELF ? ", the key of this machine" : "");
    if (signer == SIGNER_UNKNOWN && wanted)
        printf("that is another key than the one of --key, %.64s: this model is not from its "
               "owner\n",
               wanted);
    else if (signer == SIGNER_UNKNOWN)
        printf("nothing here says whose key that is: compare it with one that its maker gave you "
               "another way, with --key\n");
    return fflush(stdout) == 0;
}

static int cmd_models_verify(int argc, char **argv)
{
    const char *config_path = NULL, *key = NULL, *named = NULL;
    size_t count = 0;
    bool json = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"key", 0, OPTION_TEXT, &key, "HEX",
         HELP_TEXT("the public key that must have signed it; default: that of this machine"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "models verify",
        .arguments = "MODEL",
        .summary = HELP_TEXT(
            "Checks that a model is, byte for byte, the one whose manifest was signed. The "
            "exit code is 0 if it was signed by --key, or by this machine where no key is "
            "given; 3 if another key signed it; 1 if anything is wrong."),
        .example = HELP_TEXT("  tandem models verify desk-q4.gguf --key 5f0c..."),
        .json = HELP_TEXT("{path, sound, signer, public_key, manifest}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &named, &count);
    if (count != 1)
        return options_misuse("models verify", "name the model");
    if (key && (strlen(key) != 64 || strspn(key, "0123456789abcdef") != 64))
        return options_misuse("models verify", "--key needs 64 hexadecimal digits, as in the "
                                               "public key that 'models build' prints");
    struct td_error err = {0};
    struct config *config = NULL;
    struct model_manifest manifest = {0};
    char path[4096 + MODEL_NAME_BYTES];
    enum signer signer = SIGNER_UNKNOWN;
    bool printed = true;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = model_file_find(named, config->models.dir, path, sizeof path, &err);
    if (status == TD_OK)
        status = model_manifest_load(path, &manifest, &err);
    if (status == TD_OK)
        status = check_bytes(path, &manifest, json, &err);
    if (status == TD_OK) {
        signer = signer_of(config, key, &manifest);
        printed = print_result(path, &manifest, signer, key, json);
    }
    model_manifest_deinit(&manifest);
    config_free(config);
    if (status != TD_OK)
        return command_fail_as("models verify", &err, json);
    return !printed ? 1 : signer == SIGNER_UNKNOWN ? CODE_UNKNOWN_KEY : 0;
}

const struct verb verb_models_verify = {"verify", cmd_models_verify,
                                        HELP_TEXT("check a model against its signed manifest")};
