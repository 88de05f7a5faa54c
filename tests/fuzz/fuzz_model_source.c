/* Sources as users and scripts write them: what is accepted keeps to its hub and to a plain
 * name. */
#include "app/setup/model/model_source.h"
#include "app/setup/model/model_store.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char hub[] = "https://hub.example/";
    struct model_source source;
    struct td_error err = {0};
    char *text = malloc(size + 4);
    if (text == NULL)
        return 0;
    memcpy(text, "hf:", 3);
    memcpy(text + 3, data, size);
    text[size + 3] = '\0';
    for (int i = 0; i < 2; i++) {
        const char *from = i ? text + 3 : text;
        if (i == 1 && strncmp(from, "http", 4) != 0)
            continue; /* a path of this machine: not the fuzzer's */
        enum td_status status = model_source_parse(from, hub, NULL, &source, &err);
        if (status == TD_OK && !model_name_is_plain(source.name))
            abort();
        if (status == TD_OK && i == 0 &&
            (strncmp(source.where, hub, sizeof hub - 1) != 0 || strpbrk(source.where, "?#\\ \n") ||
             strstr(source.where, "/../")))
            abort();
        if (status != TD_OK && !*err.message)
            abort();
        err = (struct td_error){0};
    }
    free(text);
    return 0;
}
