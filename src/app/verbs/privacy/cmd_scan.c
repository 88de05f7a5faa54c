/* tandem scan: what is private in a text, in each line of a JSON Lines file, or in many files. */
#define HELP_OF 61
#include "api/evidence/findings.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/text_decode.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/verbs/privacy/scan_files.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#include <stdio.h>
#include <sys/stat.h>

#define LINE_BYTES_MAX ((size_t)64 << 20)

static bool print_table(struct td_str text, const struct findings *findings)
{
    bool ok = printf("class: %s\n", names_class(findings->data_class)) > 0;
    for (size_t i = 0; i < findings->count && ok; i++) {
        const struct privacy_span *span = &findings->spans[i];
        struct td_str value = str_slice(text, span->begin, span->end);
        ok = printf("%8zu %8zu  %.2f  %-10s  %-24s  ", span->begin, span->end, (double)span->score,
                    names_class(span->data_class), span_name(span)) > 0;
        char shown[81];
        size_t len = value.len < 80 ? value.len : 80;
        for (size_t k = 0; k < len; k++) /* one line each, whatever is in it */
            shown[k] = (unsigned char)value.data[k] < ' ' ? ' ' : value.data[k];
        command_print_harmless(stdout, (struct td_str){shown, len});
        ok = ok && puts(value.len > 80 ? "..." : "") >= 0;
    }
    return fflush(stdout) == 0 && ok;
}

static int scan_whole(struct td_str text, const struct findings_options *how, bool json)
{
    struct findings findings;
    struct td_error err = {0};
    bool ok = true;
    if (findings_of(text, how, &findings, &err) != TD_OK) {
        findings_deinit(&findings);
        return command_fail("scan", &err);
    }
    ok = json ? command_print_json(findings_json(text, &findings)) : print_table(text, &findings);
    findings_deinit(&findings);
    return ok ? 0 : 1;
}

/* The next line without its end; false at the end of the input. A line beyond the limit is read to
 * its end and left failed. */
static bool read_line(FILE *in, struct buf *line)
{
    int c;
    bool any = false;
    buf_clear(line);
    while ((c = getc_unlocked(in)) != EOF) {
        any = true;
        if (c == '\n')
            return true;
        if (!line->failed)
            buf_append_char(line, (char)c);
    }
    return any;
}

static struct json *failed_line(size_t number, const char *message)
{
    struct json *row = json_new_object();
    json_put(row, "line", json_new_int((int64_t)number));
    json_put(row, "error", json_new_cstr(message));
    return row;
}

static struct json *scan_line(const struct buf *line, size_t number,
                              const struct findings_options *how, bool *failed)
{
    struct td_error err = {0};
    struct json *parsed = NULL, *row = NULL;
    struct findings findings = {0};
    enum td_status status = TD_OK;
    if (line->failed)
        status = error_set(&err, TD_LIMIT, "the line is longer than %zu bytes", LINE_BYTES_MAX);
    if (status == TD_OK)
        status = json_parse(buf_view(line), &parsed, &err);
    const struct json *text = json_get(parsed, "text");
    if (status == TD_OK && json_kind_of(text) != JSON_KIND_TEXT)
        status = error_set(
            &err, TD_INVALID, "a line must be an object with \"text\": a string; this one has %s",
            json_kind_of(parsed) == JSON_KIND_OBJECT ? json_kind_name(json_kind_of(text))
                                                     : "no object");
    if (status == TD_OK)
        status = findings_of(json_text(text), how, &findings, &err);
    if (status == TD_OK) {
        row = findings_json(json_text(text), &findings);
        json_put(row, "line", json_new_int((int64_t)number));
        if (json_get(parsed, "id") != NULL)
            json_put(row, "id", json_clone(json_get(parsed, "id")));
    } else {
        row = failed_line(number, err.message);
        *failed = true;
    }
    findings_deinit(&findings);
    json_free(parsed);
    return row;
}

/* One result a line, in order; what could not be read says so in its line, and the run goes on. */
static int scan_lines(const struct findings_options *how)
{
    struct buf line;
    bool failed = false, ok = true;
    size_t number = 0;
    buf_init(&line, LINE_BYTES_MAX);
    while (ok && read_line(stdin, &line)) {
        number++;
        if (!line.failed && str_trim(buf_view(&line)).len == 0)
            continue;
        ok = command_print_json(scan_line(&line, number, how, &failed));
    }
    ok = ok && !ferror(stdin);
    buf_deinit(&line);
    if (!ok)
        fprintf(stderr, "tandem scan: reading or writing failed at line %zu\n", number);
    return ok && !failed ? 0 : 1;
}

/* As files of a folder are read, so that no encoding hides anything. */
static int scan_one(const char *file, const struct findings_options *how, bool json)
{
    struct td_error err = {0};
    struct buf input = {0}, decoded;
    enum td_status status = command_read_all(file, &input, &err);
    bool other = status == TD_OK && !text_is_utf8(buf_view(&input));
    buf_init(&decoded, LINE_BYTES_MAX);
    if (other)
        status = text_decode(buf_view(&input), &decoded, &err);
    if (other && status != TD_LIMIT)
        fprintf(stderr, "tandem scan: not UTF-8; %s\n",
                status == TD_OK ? "positions are those of the text as UTF-8"
                                : "it is no text, so much of what is in it is not found");
    if (status == TD_UNSUPPORTED) { /* is read as it is */
        status = TD_OK;
        other = false;
    }
    int code = status == TD_OK ? scan_whole(buf_view(other ? &decoded : &input), how, json)
                               : command_fail("scan", &err);
    buf_deinit(&decoded);
    buf_deinit(&input);
    return code;
}

/* What has no places in a text that people could find again. */
static bool is_summed_up(const char *path)
{
    struct stat info;
    if (!path || stat(path, &info) != 0)
        return false;
    return S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && scan_files_is_pdf(path));
}

static int cmd_scan(int argc, char **argv)
{
    static const char *positional[SCAN_PATHS_MAX];
    const char *text = NULL, *config_path = NULL;
    size_t positional_count = 0;
    bool json = false, jsonl = false, strict = false;
    const struct option options[] = {
        {"prompt", 'p', OPTION_TEXT, &text, "TEXT",
         HELP_TEXT("the text; default: FILE or standard input"), 0, 0},
        {"jsonl", 0, OPTION_FLAG, &jsonl, NULL,
         HELP_TEXT(
             "read {\"text\": ...} on each line of standard input, and print a result a line"),
         0, 0},
        {"strict", 0, OPTION_FLAG, &strict, NULL,
         HELP_TEXT(
             "find more, with more false findings: likely names everywhere, and numbers of unknown "
             "kinds"),
         0, 0},
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "scan",
        .arguments = "[FILE|FOLDER]...",
        .summary = HELP_TEXT(
            "Finds private data in a text: the class of the text, and each finding with "
            "its type, score and position. Without FILE it reads standard input.\n"
            "Of a folder, or of several files, it prints a summary by file; of JSON and CSV "
            "by key and column. The exit code is then 3 where something is above public, "
            "and 1 where a file could not be read.\n"
            "With --jsonl a line that cannot be read gives {\"line\", \"error\"}; the "
            "other lines are still scanned, and the exit code is 1."),
        .example = HELP_TEXT("  tandem scan -p \"My card is 4111 1111 1111 1111\"\n"
                             "  tandem scan letters/ notes.txt"),
        .json = HELP_TEXT("start and end count bytes; char_start and char_end count characters."),
        OPTION_TABLE(options),
        .positional_max = SCAN_PATHS_MAX,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, positional, &positional_count);

    struct td_error err = {0};
    int code = 1;
    if (jsonl && (text || positional_count > 0))
        return options_misuse("scan", "--jsonl reads standard input: remove FILE and --prompt");
    struct privacy_scanner *scanner;
    if (privacy_setup_file(config_path, &scanner, &err) != TD_OK)
        return command_fail("scan", &err);
    const struct findings_options how = {scanner, strict};
    if (jsonl)
        code = scan_lines(&how);
    else if (text)
        code = scan_whole(str_from(text), &how, json);
    else if (positional_count > 1 || is_summed_up(positional[0]))
        code = scan_files(positional, positional_count, &how, json);
    else
        code = scan_one(positional[0], &how, json);
    privacy_scanner_free(scanner);
    return code;
}

const struct verb verb_scan = {"scan", cmd_scan, HELP_TEXT("find private data in a text")};
