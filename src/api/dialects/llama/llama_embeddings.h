/* llama-server's /embedding as a request for embeddings: `content`, a text, token ids or a list of
 * these. Pure. */
#ifndef API_LLAMA_EMBEDDINGS_H
#define API_LLAMA_EMBEDDINGS_H

#include "api/wire/embeddings_request.h"

extern const struct embedding_form llama_embeddings_form;

#endif
