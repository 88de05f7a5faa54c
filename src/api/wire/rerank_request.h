/* POST /v1/rerank in the form of Jina and Cohere: {"model", "query", "documents", "top_n",
 * "return_documents"}. With a reranker on this device a document's score is that of its head. With
 * an embedding model it is the cosine between its vector and the query's: then scores compare
 * documents of one query and say little by themselves. Pure. */
#ifndef API_RERANK_REQUEST_H
#define API_RERANK_REQUEST_H

#include "api/wire/embeddings_request.h"

extern const struct embedding_form rerank_form;

#endif
