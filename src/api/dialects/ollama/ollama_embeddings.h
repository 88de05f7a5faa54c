/* Ollama's /api/embed and /api/embeddings as requests for embeddings. Pure. */
#ifndef API_OLLAMA_EMBEDDINGS_H
#define API_OLLAMA_EMBEDDINGS_H

#include "api/wire/embeddings_request.h"

/* The second one is Ollama's first, of one text. */
extern const struct embedding_form ollama_embeddings_form, ollama_embeddings_form_prompt;

#endif
