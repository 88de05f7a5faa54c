/* What a model was made of and how, signed: MODEL.gguf.manifest.json beside it, which `tandem
 * models build` writes. Any thread.
 *
 * The file is JSON, and its form is fixed so that what was signed needs no second writing:
 *
 *   {"manifest":{...},
 *   "public_key":"64 hex digits",
 *   "signature":"128 hex digits"}
 *
 * Signed (ed25519) are the words MODEL_MANIFEST_DOMAIN and the bytes of the value of "manifest".
 * Who holds a file and its manifest can make others with a key of their own. So a signature is
 * worth what is known of the key. */
#ifndef APP_MODEL_MANIFEST_H
#define APP_MODEL_MANIFEST_H

#include "base/bytes/buf.h"
#include "base/crypto/sign_key.h"
#include "base/json/json.h"

#define MODEL_MANIFEST_BYTES_MAX ((size_t)1 << 20)
#define MODEL_MANIFEST_FORMAT "tandem-model-manifest"
#define MODEL_MANIFEST_DOMAIN "tandem model manifest 1\n"
#define MODEL_MANIFEST_ENDING ".manifest.json"
#define MODEL_MANIFEST_PATH_BYTES 4400

struct model_manifest {
    struct json *root;
    const struct json *body; /* of root */
    char key[SIGN_KEY_DIGITS + 1];
    char sha256[65]; /* of the model's file, lower-case hex */
    int64_t bytes;
};

/* The whole text of a manifest into out. */
TD_MUST_CHECK enum td_status model_manifest_sign(const struct json *body,
                                                 const struct crypto_signer *signer,
                                                 const char *key, struct buf *out,
                                                 struct td_error *err);

/* Reads a text from anywhere. TD_CORRUPT: it is no manifest. TD_DENIED: its signature is not that
 * of its words. **returns new** (model_manifest_deinit, also after a failure). */
TD_MUST_CHECK enum td_status model_manifest_read(struct td_str text, struct model_manifest *out,
                                                 struct td_error *err);
void model_manifest_deinit(struct model_manifest *manifest);

TD_MUST_CHECK enum td_status model_manifest_path(const char *model_path,
                                                 char out[static MODEL_MANIFEST_PATH_BYTES],
                                                 struct td_error *err);
/* Of the model at that path. TD_NOT_FOUND: it has none. The model's own bytes are not looked at. */
TD_MUST_CHECK enum td_status model_manifest_load(const char *model_path, struct model_manifest *out,
                                                 struct td_error *err);

/* Whether these are the key's digits in the folder's key.pub: this machine's own key. */
bool model_manifest_is_key_of(const char *folder, const char *key);

#endif
