// Answers one question as it comes: go build && ./chat model.gguf "What can you do?"
package main

/*
#cgo pkg-config: tandem
#include <stdio.h>
#include <stdlib.h>
#include <tandem/engine.h>

bool print_piece(void *ctx, const struct td_token *token, struct td_str text)
{
	(void)ctx, (void)token;
	fwrite(text.data, 1, text.len, stdout);
	return fflush(stdout) == 0;
}
*/
import "C"
import "os"

func check(status C.enum_td_status, err *C.struct_td_error) {
	if status != C.TD_OK {
		println(C.GoString(C.td_status_name(status)), C.GoString(&err.message[0]))
		os.Exit(1)
	}
}

func main() {
	var err C.struct_td_error
	var model *C.struct_td_model
	var session *C.struct_td_session
	var ids *C.int32_t
	var count C.size_t
	check(C.td_model_open(C.CString(os.Args[1]), nil, &model, &err), &err)
	defer C.td_model_close(model)
	check(C.td_session_new(model, nil, &session, &err), &err)
	defer C.td_session_free(session)

	text := C.struct_td_str{data: C.CString(os.Args[2]), len: C.size_t(len(os.Args[2]))}
	question := C.struct_td_message{role: C.TD_ROLE_USER, content: text}
	check(C.td_chat_tokenize(model, &question, 1, &ids, &count, &err), &err)
	options := C.struct_td_generate_options{sampling: C.td_sampling_default(), tokens_max: 64}
	print := (*C.td_token_fn)(C.print_piece)
	var result C.struct_td_generate_result
	check(C.td_generate(session, ids, count, &options, print, nil, &result, &err), &err)
	println("\ntokens:", result.completion_tokens)
}
