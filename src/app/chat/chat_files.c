/* Files are read whole and checked before anything of the conversation changes. */
#include "app/chat/chat_files.h"

#include "app/chat/chat_command.h"
#include "app/chat/conversation_file.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* As a shell would read it. */
static bool read_path(const struct chat *chat, struct td_str text, char out[static CHAT_PATH_BYTES])
{
    const char *home = getenv("HOME");
    struct td_error err = {0};
    bool quoted = text.len > 1 && (text.data[0] == '"' || text.data[0] == '\'') &&
                  text.data[text.len - 1] == text.data[0];
    if (quoted)
        text = str_slice(text, 1, text.len - 1);
    bool at_home = home && (str_starts_with(text, STR("~/")));
    if (!text.len) {
        chat_say(chat, "Which file?");
        return false;
    }
    if (path_format(out, CHAT_PATH_BYTES, &err, "%s" STR_FMT, at_home ? home : "",
                    STR_ARG(str_slice(text, at_home, text.len))) == TD_OK)
        return true;
    chat_say(chat, "%s", err.message);
    return false;
}

static bool is_text(struct td_str bytes)
{
    return utf8_is_valid(bytes) && !memchr(bytes.len ? bytes.data : "", '\0', bytes.len);
}

/* --- attaching --- */

bool chat_attach(struct chat *chat, struct td_str name)
{
    char path[CHAT_PATH_BYTES];
    struct td_error err = {0};
    struct buf file;
    if (!name.len && chat->attached_count) {
        buf_clear(&chat->attached);
        chat->attached_count = 0;
        chat_say(chat, "Nothing is attached any more.");
        return true;
    }
    if (!read_path(chat, name, path))
        return false;
    buf_init(&file, CHAT_ATTACHED_BYTES_MAX / 2);
    enum td_status status = buf_read_file(&file, path, &err);
    if (status == TD_OK && !is_text(buf_view(&file)))
        status = error_set(&err, TD_INVALID, "%s is not a text (UTF-8)", path);
    size_t before = chat->attached.len;
    const char *slash = strrchr(path, '/');
    /* A fence that the text itself does not end. */
    const char *fence = str_find(buf_view(&file), STR("```"), 0) == SIZE_MAX ? "```" : "~~~~~~";
    if (status == TD_OK) {
        buf_printf(&chat->attached, "File %s:\n%s\n", slash ? slash + 1 : path, fence);
        buf_append_str(&chat->attached, buf_view(&file));
        bool ended = str_ends_with(buf_view(&file), STR("\n"));
        buf_printf(&chat->attached, "%s%s\n\n", ended ? "" : "\n", fence);
        if (chat->attached.failed)
            status = error_set(&err, TD_LIMIT, "all files of a message together may have %u bytes",
                               CHAT_ATTACHED_BYTES_MAX);
    }
    if (status == TD_OK) {
        chat->attached_count++;
        chat_say(chat, "%s (%zu bytes) goes with your next message.", path, file.len);
    } else {
        chat_say(chat, "Not attached: %s", err.message);
        buf_truncate(&chat->attached, before);
        chat->attached.failed = false;
    }
    buf_deinit(&file);
    return status == TD_OK;
}

/* --- saving and loading --- */

bool chat_save(struct chat *chat, struct td_str name)
{
    char path[CHAT_PATH_BYTES];
    struct td_error err = {0};
    struct buf text;
    if (!name.len && *chat->saved_as)
        name = str_from(chat->saved_as);
    if (!read_path(chat, name, path))
        return false;
    buf_init(&text, CONVERSATION_FILE_BYTES_MAX);
    conversation_write(&chat->conversation, &text);
    enum td_status status = TD_OK;
    if (text.failed)
        status = error_set(&err, TD_LIMIT, "the conversation is too long for a file");
    else if (strcmp(path, chat->saved_as) == 0)
        status = file_replace(path, buf_view(&text), 0600, &err);
    else
        status = file_create(path, buf_view(&text), 0600, &err);
    buf_deinit(&text);
    if (status == TD_BUSY)
        chat_say(chat, "Not saved: %s is there already. Give another name.", path);
    else if (status != TD_OK)
        chat_say(chat, "Not saved: %s", err.message);
    if (status != TD_OK)
        return false;
    snprintf(chat->saved_as, sizeof chat->saved_as, "%s", path);
    if (!chat->brief)
        chat_say(chat, "Saved in %s, which only you may read.", path);
    return true;
}

bool chat_load(struct chat *chat, struct td_str name)
{
    char path[CHAT_PATH_BYTES];
    struct td_error err = {0};
    struct buf text;
    struct conversation loaded;
    if (!read_path(chat, name, path))
        return false;
    conversation_init(&loaded);
    buf_init(&text, CONVERSATION_FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, path, &err);
    if (status == TD_OK && (status = conversation_parse(buf_view(&text), &loaded, &err)) != TD_OK)
        error_prefix(&err, "%s: ", path);
    buf_deinit(&text);
    if (status != TD_OK) {
        conversation_deinit(&loaded);
        chat_say(chat, "Not loaded: %s", err.message);
        return false;
    }
    bool is_private = loaded.is_private;
    loaded.is_private = chat->conversation.is_private; /* what is private here stays so */
    conversation_deinit(&chat->conversation);
    chat->conversation = loaded;
    snprintf(chat->saved_as, sizeof chat->saved_as, "%s", path);
    if (!chat->brief)
        chat_say(chat, "Loaded %zu message%s from %s.", loaded.count, PLURAL(loaded.count), path);
    if (is_private && !chat->conversation.is_private)
        chat_begin_private(chat);
    return true;
}

bool chat_resume(struct chat *chat, struct td_str name)
{
    char path[CHAT_PATH_BYTES];
    if (!read_path(chat, name, path))
        return false;
    return (access(path, F_OK) != 0 && errno == ENOENT) || chat_load(chat, name);
}

/* --- completing --- */

void chat_complete_path(struct td_str begin, struct completions *out)
{
    char folder[CHAT_PATH_BYTES], path[CHAT_PATH_BYTES];
    const char *home = getenv("HOME");
    size_t slash = begin.len;
    while (slash > 0 && begin.data[slash - 1] != '/')
        slash--;
    bool at_home = home && str_starts_with(begin, STR("~/"));
    int len = snprintf(folder, sizeof folder, "%s" STR_FMT,
                       at_home ? home
                       : slash ? ""
                               : ".",
                       STR_ARG(str_slice(begin, at_home, slash)));
    if (len < 0 || (size_t)len >= sizeof folder)
        return;
    struct td_str head = str_slice(begin, 0, slash), rest = str_slice(begin, slash, begin.len);
    DIR *list = opendir(folder);
    const struct dirent *entry;
    out->replaced = begin.len;
    while (list && (entry = readdir(list)) && out->count < COMPLETIONS_MAX) {
        struct stat info;
        if (!str_starts_with(str_from(entry->d_name), rest) ||
            (entry->d_name[0] == '.' && !rest.len))
            continue;
        bool is_folder = path_join(path, sizeof path, folder, entry->d_name, NULL) == TD_OK &&
                         stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        len = snprintf(out->items[out->count], sizeof out->items[0], STR_FMT "%s%s", STR_ARG(head),
                       entry->d_name, is_folder ? "/" : "");
        if (len > 0 && (size_t)len < sizeof out->items[0])
            out->count++;
    }
    if (list)
        closedir(list);
}
