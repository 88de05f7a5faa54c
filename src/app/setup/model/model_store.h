/* The folder of downloaded models. It holds NAME.gguf, NAME.gguf.json (where the model came from,
 * its SHA-256: model_origin.h), and .part files of downloads that are not complete. A file gets its
 * name only after it has been checked. */
#ifndef APP_MODEL_STORE_H
#define APP_MODEL_STORE_H

#include "app/setup/model/model_origin.h"
#include "app/setup/model/model_source.h"

#include <stdatomic.h>

/* Letters, digits, '.', '_', '+' and '-', no dot first, at most 200 bytes: a name, never a path. */
bool model_name_is_plain(const char *name);

/* The file of the model `name`, with or without .gguf, into out; false when there is none. */
bool model_store_find(const char *dir, const char *name, char *out, size_t size);

/* Makes the folder and those above it. */
TD_MUST_CHECK enum td_status model_store_make(const char *dir, struct td_error *err);

struct model_check {
    const char *path;          /* of the model to be; PATH.part is checked and becomes it */
    int part_fd;               /* PATH.part, locked by who wrote it */
    bool replace;              /* a model that has the name; otherwise it stays: TD_BUSY */
    const char *sha256_wanted; /* lower-case hex, or "" */
    const char *sha256_from;   /* who said so, for messages */
    const atomic_bool *cancel;
    void (*on_progress)(void *ctx, uint64_t bytes, uint64_t total); /* of hashing; or NULL */
    void *ctx;
};

/* Hashes PATH.part, checks it as a GGUF file, renames it, and writes its record: source and
 * identity as they are in *origin, where hash and size are filled in. TD_CORRUPT: hash or contents
 * are wrong, and the part was removed. TD_UNSUPPORTED: it is whole but not for this version, and
 * the part stays. TD_CANCELLED, TD_IO. */
TD_MUST_CHECK enum td_status model_store_install(const struct model_check *check,
                                                 struct model_origin *origin, struct td_error *err);

/* Hashes check->path. sha256: 65 bytes. */
TD_MUST_CHECK enum td_status model_store_hash(const struct model_check *check, char *sha256,
                                              struct td_error *err);

/* Copies the file `from` to PATH.part. *part_fd: locked, the caller closes it; -1 after a
 * failure. */
TD_MUST_CHECK enum td_status model_store_copy(const char *from, const char *path,
                                              const atomic_bool *cancel, int *part_fd,
                                              struct td_error *err);

/* Removes a model with its record and parts, and all files of a model in several, whichever is
 * named; *bytes is the space that became free. TD_NOT_FOUND; TD_BUSY while it is being
 * downloaded. */
TD_MUST_CHECK enum td_status model_store_remove(const char *dir, const char *name, uint64_t *bytes,
                                                struct td_error *err);

/* Calls `visit` with the name of each model (part false) and each unfinished download, in order. */
typedef bool model_store_fn(void *ctx, const char *name, const char *path, bool part);
TD_MUST_CHECK enum td_status model_store_walk(const char *dir, model_store_fn *visit, void *ctx,
                                              struct td_error *err);

#endif
