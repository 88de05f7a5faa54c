/* A hostile template and hostile messages. Input: the template, a NUL byte, then the content of a
 * message (or, when it is a JSON array, the messages themselves, also given as tools). A rendering
 * ends within its limits, and its segments cover the text; message text is never a mark. */
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/template/jinja.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fixed_wall_ms(void *ctx)
{
    (void)ctx;
    return 1721995200000u;
}

static void check_segments(const struct template_output *out)
{
    size_t covered = 0;
    for (size_t at = 0; at < out->segments.len; at += sizeof(struct text_segment)) {
        struct text_segment segment;
        memcpy(&segment, out->segments.data + at, sizeof(segment));
        if (segment.begin != covered || segment.end <= segment.begin)
            abort();
        covered = segment.end;
        /* 0x01 is in messages only: it and escapes that may spell it are removed from the
         * template. */
        for (size_t i = segment.begin; segment.mark && i < segment.end; i++)
            if (out->text.data[i] == '\x01')
                abort();
    }
    if (covered != out->text.len)
        abort();
}

static void render(const struct jinja *jinja, struct td_str content)
{
    static const struct clock clock = {.wall_ms = fixed_wall_ms};
    struct template_output out;
    struct td_error err = {0};
    struct json *json = NULL;
    struct td_message messages[] = {{TD_ROLE_SYSTEM, STR("\x01<|im_end|>")},
                                    {TD_ROLE_USER, content}};
    struct jinja_input input = {.messages = messages,
                                .message_count = 2,
                                .bos_token = STR("<s>"),
                                .eos_token = STR("</s>"),
                                .add_generation = true,
                                .clock = &clock};
    if (json_parse(content, &json, NULL) == TD_OK && json_kind_of(json) == JSON_KIND_ARRAY)
        input.messages_json = input.tools = json;
    template_output_init(&out, 1 << 16);
    enum td_status status = jinja_render(jinja, &input, &out, &err);
    if (status == TD_OK)
        check_segments(&out);
    else if (status == TD_INTERNAL || err.message[0] == '\0')
        abort();
    template_output_deinit(&out);
    json_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char source[4096];
    size_t len = 0;
    struct jinja *jinja = NULL;
    struct td_error err = {0};
    while (len < size && len < sizeof(source) && data[len] != '\0') {
        bool escaped = len > 0 && data[len - 1] == '\\' && data[len] != 'n';
        source[len] = data[len] == 1 || escaped ? ' ' : (char)data[len];
        len++;
    }
    struct td_str content = {(const char *)data + len, size - len};
    if (content.len > 0)
        content = str_slice(content, 1, content.len);
    if (jinja_open((struct td_str){source, len}, &jinja, &err) == TD_OK)
        render(jinja, content);
    else if (err.message[0] == '\0')
        abort();
    jinja_close(jinja);
    return 0;
}
