/* embedContent and batchEmbedContents of Gemini's API as requests for embeddings. Contents are text
 * alone; `taskType` and `title` change nothing. Pure. */
#ifndef API_GEMINI_EMBEDDINGS_H
#define API_GEMINI_EMBEDDINGS_H

#include "api/wire/embeddings_request.h"

extern const struct embedding_form gemini_embeddings_form, gemini_embeddings_form_batch;

#endif
