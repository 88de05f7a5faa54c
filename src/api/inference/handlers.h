/* The endpoints that a model answers. Their table is api.c's. */
#ifndef API_INFERENCE_HANDLERS_H
#define API_INFERENCE_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn chat_handle, responses_handle, responses_handle_compact,
    messages_handle;                                         /* chat_endpoints.c */
api_handler_fn ollama_handle_chat, ollama_handle_generate;   /* chat_endpoints.c */
api_handler_fn llama_handle_completion, llama_handle_infill; /* chat_endpoints.c */
api_handler_fn responses_handle_one, responses_handle_delete, responses_handle_cancel,
    responses_handle_items; /* kept_handler.c */
api_handler_fn conversations_handle_new, conversations_handle_one, conversations_handle_change,
    conversations_handle_delete, conversations_handle_items, conversations_handle_add,
    conversations_handle_item, conversations_handle_drop; /* conversations_handler.c */
api_handler_fn gemini_handle, gemini_handle_stream;       /* chat_endpoints.c */
api_handler_fn messages_handle_count, gemini_handle_count, responses_handle_count,
    chat_handle_count;             /* count_handler.c */
api_handler_fn completions_handle; /* completions_handler.c */
api_handler_fn embeddings_handle, rerank_handle, gemini_handle_embed, gemini_handle_embed_batch,
    ollama_handle_embed, ollama_handle_embeddings,
    llama_handle_embedding;        /* embeddings_handler.c */
api_handler_fn moderations_handle; /* moderations_handler.c */
api_handler_fn llama_handle_tokenize, llama_handle_detokenize, llama_handle_template,
    llama_handle_props, llama_handle_slots, llama_handle_adapters,
    llama_handle_control;                             /* llama_handlers.c */
api_handler_fn classify_handle, classify_handle_sets; /* classify_handler.c */

#endif
