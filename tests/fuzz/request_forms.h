/* Requests of every dialect as an input of a search may shape them: JSON with ' for its quotation
 * marks, and places that are filled. %S is a text, %N a name, %K a name that no other member has,
 * %D a number, %J JSON in a string, %H a header's value. */
#ifndef FUZZ_REQUEST_FORMS_H
#define FUZZ_REQUEST_FORMS_H

struct templates {
    const char *const *items;
    unsigned count;
};
#define TEMPLATES(list)                  \
    {                                    \
        list, sizeof list / sizeof *list \
    }

static const char *const chat_messages[] = {
    "{'role':'user','content':%S}",
    "{'role':'system','content':%S}",
    "{'role':'developer','content':%S}",
    "{'role':'assistant','content':%S}",
    "{'role':'user','name':%N,'content':%S}",
    "{'role':'user','content':[{'type':'text','text':%S},{'type':'text','text':%S}]}",
    ("{'role':'user','content':[{'type':'image_url','image_url':{'url':%S,'detail':%S}},"
     "{'type':'text','text':%S}]}"),
    "{'role':'user','content':[{'type':'file','file':{'filename':%S,'file_data':%S}}]}",
    ("{'role':'assistant','content':null,'tool_calls':[{'id':%S,'type':'function',"
     "'function':{'name':%N,'arguments':%J}}]}"),
    "{'role':'tool','tool_call_id':%S,'content':%S}",
    "{'role':'assistant','content':'no','refusal':%S}",
    "{'role':'assistant','content':'no','audio':{'id':%S}}",
    "{'role':'function','name':%N,'content':%S}",
    "{'role':'user','content':%S,%K:%S}",
};
static const char *const chat_members[] = {
    "'user':%S",
    "'metadata':{%K:%S,%K:%S}",
    ("'tools':[{'type':'function','function':{'name':%N,'description':%S,'parameters':"
     "{'type':'object','properties':{%K:{'type':'string','description':%S,'enum':[%S,%S],"
     "'default':%S}},'$defs':{%K:{'const':%D,'title':%S}}}}}]"),
    ("'response_format':{'type':'json_schema','json_schema':{'name':%N,'description':%S,"
     "'schema':{'type':'object','properties':{%K:{'const':%S,'examples':[%S,%D]}}}}}"),
    "'stop':[%S,%S]",
    "'prediction':{'type':'content','content':%S}",
    "%K:{'deep':[%S,%D,[%D,{%K:%S}]]}",
    "'safety_identifier':%S",
    "'prompt_cache_key':%S",
    "'tool_choice':{'type':'function','function':{'name':%N}}",
    "'tandem':{'mode':'prefer-cloud','user':%S}",
    "'seed':%D",
    "'service_tier':%S",
    "'web_search_options':{'user_location':{'approximate':{'city':%S}}}",
    "'stream_options':{'include_usage':true}",
};
static const char *const claude_messages[] = {
    "{'role':'user','content':%S}",
    "{'role':'assistant','content':%S}",
    "{'role':'user','content':[{'type':'text','text':%S,'cache_control':{'type':%S}}]}",
    "{'role':'user','content':[{'type':'tool_result','tool_use_id':%S,'content':%S}]}",
    ("{'role':'user','content':[{'type':'tool_result','tool_use_id':%S,'is_error':true,"
     "'content':[{'type':'text','text':%S}]},{'type':'text','text':%S}]}"),
    ("{'role':'assistant','content':[{'type':'thinking','thinking':%S,'signature':%S},"
     "{'type':'tool_use','id':%S,'name':%N,'input':{%K:%S,'n':%D}}]}"),
    "{'role':'user','content':[{'type':'image','source':{'type':'base64','data':%S}}]}",
};
static const char *const claude_members[] = {
    "'system':%S",
    "'system':[{'type':'text','text':%S}]",
    "'metadata':{'user_id':%S,%K:%S}",
    ("'tools':[{'name':%N,'description':%S,'input_schema':{'type':'object','properties':"
     "{%K:{'description':%S,'enum':[%S,%D]}}}}]"),
    "'stop_sequences':[%S]",
    "'tool_choice':{'type':'tool','name':%N}",
    "'output_config':{'format':{'type':'json_schema','schema':{'type':'object','title':%S}}}",
    "'tandem':{'mode':'prefer-cloud','user':%S}",
    "%K:{'deep':[%S,%D]}",
};
static const char *const response_items[] = {
    "{'type':'message','role':'user','content':%S}",
    ("{'role':'user','content':[{'type':'input_text','text':%S},{'type':'input_text',"
     "'text':%S}]}"),
    "{'role':'assistant','content':[{'type':'output_text','text':%S}]}",
    "{'role':'assistant','content':[{'type':'refusal','refusal':%S}]}",
    "{'type':'function_call','call_id':%S,'name':%N,'arguments':%J}",
    "{'type':'function_call_output','call_id':%S,'output':%S}",
    "{'type':'reasoning','summary':[{'type':'summary_text','text':%S}]}",
};
static const char *const response_members[] = {
    "'instructions':%S",
    ("'tools':[{'type':'function','name':%N,'description':%S,'parameters':{'type':'object',"
     "'properties':{%K:{'description':%S,'default':%D}}}}]"),
    "'text':{'format':{'type':'json_schema','name':%N,'schema':{'type':'object','title':%S}}}",
    "'user':%S",
    "'metadata':{%K:%S}",
    "'tool_choice':{'type':'function','name':%N}",
    "'tandem':{'mode':'only-cloud','user':%S}",
    "%K:{'deep':[%S,%D]}",
};
static const char *const prompts[] = {"%S"};
static const char *const completion_members[] = {
    "'user':%S",
    "'stop':%S",
    "'tandem':{'mode':'prefer-cloud','user':%S}",
    "%K:{'deep':[%S,%D]}",
};

static const struct form {
    const char *path, *list;
    struct templates items, members;
} forms[] = {
    {"/v1/chat/completions", "'messages'", TEMPLATES(chat_messages), TEMPLATES(chat_members)},
    {"/v1/messages", "'max_tokens':9,'messages'", TEMPLATES(claude_messages),
     TEMPLATES(claude_members)},
    {"/v1/responses", "'input'", TEMPLATES(response_items), TEMPLATES(response_members)},
    {"/v1/completions", "'prompt'", TEMPLATES(prompts), TEMPLATES(completion_members)},
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

static const char *const request_headers[] = {
    "x-tandem-mode: prefer-cloud",
    "X-Tandem-Mode: only-cloud",
    "x-tandem-user: %H",
    "x-tandem-tags: %H",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate: v=%H",
    "user-agent: %H",
    "x-request-id: %H",
    "x-api-key: %H",
    "openai-organization: %H",
    "cookie: session=%H",
    "x-custom: %H",
    "anthropic-beta: %H",
    "x-tandem-consent: %H",
    "x-stainless-timeout: 3",
    "x-tandem-slo-ms: 300",
};
#define HEADER_COUNT (sizeof request_headers / sizeof *request_headers)

#endif
