/* Which published templates take tools, and in which form their models write calls (the texts are
 * golden data). */
#include "base/core/str.h"
#include "engine/model/chat_tools.h"
#include "shared_data.h"
#include "test.h"

static void test_templates_tell_the_form_of_their_calls(void)
{
    static const struct {
        const char *name;
        enum tool_format format;
    } templates[] = {{"qwen2.5", TOOL_FORMAT_HERMES},       {"qwen3", TOOL_FORMAT_HERMES},
                     {"llama3.1", TOOL_FORMAT_LLAMA},       {"mistral-v3", TOOL_FORMAT_MISTRAL},
                     {"mistral-nemo", TOOL_FORMAT_MISTRAL}, {"chatml", TOOL_FORMAT_NONE},
                     {"llama3", TOOL_FORMAT_NONE},          {"gemma2", TOOL_FORMAT_NONE},
                     {"phi3.5", TOOL_FORMAT_NONE},          {"zephyr-hf", TOOL_FORMAT_NONE}};
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        char name[64], path[512];
        struct buf text;
        struct jinja *jinja = NULL;
        snprintf(name, sizeof name, "golden/chat/templates/%s.jinja", templates[i].name);
        if (!shared_path(path, sizeof path, name)) {
            SKIP(templates[i].name, "not in the golden data");
            continue;
        }
        buf_init(&text, 1 << 20);
        CHECK(buf_read_file(&text, path, NULL) == TD_OK);
        CHECK(jinja_open(buf_view(&text), &jinja, NULL) == TD_OK);
        enum tool_format format = jinja ? tool_format_of(jinja) : TOOL_FORMAT_NONE;
        if (format != templates[i].format)
            fprintf(stderr, "%s: %d\n", templates[i].name, (int)format);
        CHECK(format == templates[i].format);
        jinja_close(jinja);
        buf_deinit(&text);
    }
}

/* A template that shows tools but no calls, or calls in an unknown form, is not used with tools. */
static void test_forms_that_are_not_known_are_no_form(void)
{
    static const char *const texts[] = {
        "{% for t in tools %}{{ t.function.name }}{% endfor %}{% for m in messages %}{{ m.content "
        "}}"
        "{% endfor %}",
        "{{ tools }}{% for m in messages %}{% for c in m.tool_calls or [] %}CALL {{ "
        "c.function.name }} "
        "{{ c.function.arguments }}{% endfor %}{{ m.content }}{% endfor %}",
        "{{ raise_exception('no') }}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct jinja *jinja = NULL;
        CHECK(jinja_open(str_from(texts[i]), &jinja, NULL) == TD_OK);
        CHECK(jinja && tool_format_of(jinja) == TOOL_FORMAT_NONE);
        jinja_close(jinja);
    }
}

int main(void)
{
    RUN(test_templates_tell_the_form_of_their_calls);
    RUN(test_forms_that_are_not_known_are_no_form);
    return test_finish();
}
