/* libedit, made to work as people expect of a conversation.
 *
 * libedit asks us for each character. So signals are seen while it waits: Ctrl-C is for it the end
 * of the line, with a flag beside it, and it puts the terminal in order as always. A line end
 * that came together with more was pasted into a terminal that does not mark what is pasted; it
 * goes into the text. Where the terminal marks it (bracketed paste), the whole of it is taken as it
 * is. What is short is shown; something long would fill the screen, so a name stands for it until
 * the message is complete.
 *
 * No type of libedit leaves this file. */
#include "app/terminal/line_editor.h"

#include "app/terminal/signals.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define PASTES_MAX 32       /* in one message, that a name stands for */
#define PASTE_LINES_SHOWN 8 /* a longer one gets a name */
#define PASTE_BYTES_SHOWN 800
#define PASTE_NAME_BYTES 64
#define KEEP_LINE_KEY "\x1f" /* what get_character makes of a line end that goes into the text */
#define KEEP_LINE_CHARACTER L'\x1f'

struct paste {
    char name[PASTE_NAME_BYTES];
    char *text;
};

struct line_editor {
    EditLine *el;
    History *history;
    complete_fn *complete;
    void *complete_ctx;
    const char *prompt;
    struct completions completions;
    struct paste pastes[PASTES_MAX];
    size_t paste_count;
    unsigned paste_number; /* of the next one; counted in the whole conversation */
    int typed_ahead;       /* bytes that had been typed before the prompt was there */
    struct termios keys;   /* Ctrl-C and others, as the user has set them */
    bool asked;            /* a character of this line was asked for */
    bool pasting, interrupted, killed, too_long;
};

static struct line_editor *editor_of(EditLine *el)
{
    void *editor = NULL;
    el_get(el, EL_CLIENTDATA, &editor);
    return editor;
}

/* --- characters --- */

static int waiting_bytes(void)
{
    int there = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &there) == 0 ? there : 0;
}

/* The rows of the line that are above the cursor, at the width that the terminal has now: it breaks
 * the line anew by itself. */
static unsigned rows_above(const struct line_editor *editor)
{
    const LineInfo *line = el_line(editor->el);
    struct td_str text = {line->buffer, (size_t)(line->cursor - line->buffer)};
    unsigned columns = terminal_columns(STDOUT_FILENO), row = 0;
    unsigned column = (unsigned)strlen(editor->prompt);
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        int width = c == '\t' ? 8 - (int)(column % 8) : wcwidth((wchar_t)c);
        bool ends = c == '\n' || (width > 0 && column + (unsigned)width > columns);
        row += ends;
        column = (ends ? 0 : column) + (width > 0 ? (unsigned)width : 0);
    }
    return row + (column >= columns);
}

static void suspend(struct line_editor *editor)
{
    el_set(editor->el, EL_PREP_TERM, 0);
    raise(SIGSTOP);
    el_set(editor->el, EL_PREP_TERM, 1);
    el_set(editor->el, EL_REFRESH);
}

/* libedit would go on where it believes the cursor to be. */
static void draw_again(struct line_editor *editor)
{
    unsigned rows = rows_above(editor);
    fputc('\r', stdout);
    if (rows)
        fprintf(stdout, "\033[%uA", rows);
    fputs("\033[J", stdout);
    el_resize(editor->el);
    el_set(editor->el, EL_REFRESH);
}

/* True when a signal ended the line. */
static bool take_signals(struct line_editor *editor)
{
    enum signal_event event;
    while ((event = signals_next()) != SIGNAL_NONE) {
        if (event == SIGNAL_RESIZE)
            draw_again(editor);
        if (event == SIGNAL_SUSPEND)
            suspend(editor);
        editor->interrupted |= event == SIGNAL_INTERRUPT;
        editor->killed |= event == SIGNAL_END;
        if (editor->interrupted || editor->killed)
            return true;
    }
    return false;
}

/* The keys that make signals elsewhere. Here they are characters, so that none is made by what is
 * pasted, and none is lost that was typed before them. */
static bool is_signal_key(struct line_editor *editor, unsigned char byte)
{
    const cc_t *keys = editor->keys.c_cc;
    if (byte == _POSIX_VDISABLE)
        return false;
    if (byte == keys[VINTR])
        editor->interrupted = true;
    else if (byte == keys[VSUSP])
        suspend(editor);
    else if (byte == keys[VQUIT])
        raise(SIGQUIT);
    else
        return false;
    return true;
}

/* 1 = a byte; 0 = the end; -1 = a signal ended the line, or an error. */
static int get_byte(struct line_editor *editor, unsigned char *byte)
{
    for (;;) {
        struct pollfd both[] = {{STDIN_FILENO, POLLIN, 0}, {signals_fd(), POLLIN, 0}};
        if (take_signals(editor))
            return -1;
        if (poll(both, 2, -1) < 0 && errno != EINTR)
            return -1;
        if (!(both[0].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        ssize_t got = read(STDIN_FILENO, byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got == 1 && editor->typed_ahead > 0)
            editor->typed_ahead--;
        if (got == 1 && !editor->pasting && is_signal_key(editor, *byte)) {
            if (editor->interrupted)
                return -1;
            continue;
        }
        return got == 1 ? 1 : 0;
    }
}

/* A line end that does not end the message. */
static bool keeps_line_end(struct line_editor *editor)
{
    const LineInfo *line = el_line(editor->el);
    struct td_str text = {line->buffer, (size_t)(line->lastchar - line->buffer)};
    if (line->cursor == line->lastchar && str_ends_with(text, STR("\\")))
        return true;
    return editor->typed_ahead == 0 && waiting_bytes() > 0 && text.len &&
           !str_starts_with(text, STR("/"));
}

/* What libedit calls for each character. Bytes that are no UTF-8 are passed over. */
static int get_character(EditLine *el, wchar_t *out)
{
    struct line_editor *editor = editor_of(el);
    mbstate_t state = {0};
    unsigned char byte;
    if (!editor->asked)
        editor->typed_ahead = waiting_bytes();
    editor->asked = true;
    for (;;) {
        int got = get_byte(editor, &byte);
        if (got < 0 && (editor->interrupted || editor->killed)) {
            *out = L'\n';
            return 1;
        }
        if (got <= 0)
            return got;
        char part = (char)byte;
        size_t done = mbrtowc(out, &part, 1, &state);
        if (done == (size_t)-1)
            state = (mbstate_t){0};
        if (done <= 1)
            break;
    }
    if (*out == L'\r')
        *out = L'\n';
    if (*out == L'\n' && !editor->pasting && keeps_line_end(editor))
        *out = KEEP_LINE_CHARACTER;
    return 1;
}

/* --- keys --- */

static unsigned char insert_line_end(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    (void)key;
    if (line->cursor > line->buffer && line->cursor[-1] == '\\')
        el_deletestr(el, 1);
    return el_insertstr(el, "\n") == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

static void append_character(struct buf *out, wchar_t c)
{
    char bytes[4];
    size_t len = utf8_encode((uint32_t)c, bytes);
    bool steers = (c < 0x20 && c != L'\n' && c != L'\t') || c == 0x7F;
    if (!steers)
        buf_append(out, bytes, len);
}

/* Up to ESC [ 2 0 1 ~. False: the line was ended, or there is no more. */
static bool read_paste(struct line_editor *editor, struct buf *out)
{
    static const wchar_t end[] = L"\033[201~";
    size_t matched = 0;
    wchar_t c;
    bool more;
    editor->pasting = true;
    while ((more = el_wgetc(editor->el, &c) == 1 && !editor->interrupted && !editor->killed)) {
        if (c == end[matched]) {
            if (!end[++matched])
                break;
            continue;
        }
        for (size_t i = 0; i < matched; i++)
            append_character(out, end[i]);
        matched = c == end[0] ? 1 : 0;
        if (!matched)
            append_character(out, c);
    }
    editor->pasting = false;
    return more;
}

static size_t count_lines(struct td_str text)
{
    size_t count = 0;
    struct td_str line;
    while (str_next(&text, '\n', &line))
        count++;
    return count;
}

/* Puts the text aside; the name that stands for it, or NULL without room. */
static const char *set_aside(struct line_editor *editor, struct td_str text, size_t lines)
{
    if (editor->paste_count == PASTES_MAX)
        return NULL;
    struct paste *paste = &editor->pastes[editor->paste_count];
    paste->text = strndup(text.data, text.len);
    if (!paste->text)
        return NULL;
    snprintf(paste->name, sizeof paste->name, "[pasted text %u: %zu line%s]",
             ++editor->paste_number, lines, PLURAL(lines));
    editor->paste_count++;
    return paste->name;
}

static unsigned char insert_paste(EditLine *el, int key)
{
    struct line_editor *editor = editor_of(el);
    struct buf text;
    (void)key;
    buf_init(&text, LINE_BYTES_MAX);
    bool whole = read_paste(editor, &text);
    editor->too_long |= text.failed;
    size_t lines = count_lines(buf_view(&text));
    const char *shown = text.len ? text.data : "";
    if (lines > PASTE_LINES_SHOWN || text.len > PASTE_BYTES_SHOWN)
        shown = set_aside(editor, buf_view(&text), lines);
    bool done = whole && shown && !text.failed && (!*shown || el_insertstr(el, shown) == 0);
    buf_deinit(&text);
    if (!whole && (editor->interrupted || editor->killed))
        el_push(el, "\n"); /* the line end that was read in here */
    return done ? CC_REFRESH : CC_REFRESH_BEEP;
}

/* What all items have in common after what is there. */
static size_t common_length(const struct completions *found)
{
    size_t common = strlen(found->items[0]);
    for (size_t i = 1; i < found->count; i++) {
        size_t same = 0;
        while (same < common && found->items[i][same] == found->items[0][same])
            same++;
        common = same;
    }
    return utf8_complete_len((struct td_str){found->items[0], common});
}

static void print_items(const struct completions *found)
{
    unsigned columns = terminal_columns(STDOUT_FILENO), at = 0;
    fputc('\n', stdout);
    for (size_t i = 0; i < found->count; i++) {
        unsigned width = (unsigned)strlen(found->items[i]) + 2;
        if (at && at + width > columns) {
            fputc('\n', stdout);
            at = 0;
        }
        at += (unsigned)fprintf(stdout, "%s  ", found->items[i]);
    }
    fputc('\n', stdout);
    fflush(stdout);
}

static unsigned char complete_word(EditLine *el, int key)
{
    struct line_editor *editor = editor_of(el);
    struct completions *found = &editor->completions;
    const LineInfo *line = el_line(el);
    (void)key;
    found->count = found->replaced = 0;
    if (editor->complete)
        editor->complete(editor->complete_ctx,
                         (struct td_str){line->buffer, (size_t)(line->cursor - line->buffer)},
                         found);
    if (!found->count)
        return CC_REFRESH_BEEP;
    char rest[sizeof found->items[0] + 1];
    size_t common = common_length(found);
    ASSERT(common >= found->replaced);
    snprintf(rest, sizeof rest, "%.*s%s", (int)(common - found->replaced),
             found->items[0] + found->replaced,
             found->count == 1 && !str_ends_with(str_from(found->items[0]), STR("/")) ? " " : "");
    if (*rest)
        return el_insertstr(el, rest) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
    print_items(found);
    return CC_REDISPLAY;
}

/* --- the editor --- */

static char *show_prompt(EditLine *el)
{
    union {
        const char *given;
        char *asked; /* libedit only reads it */
    } prompt = {.given = editor_of(el)->prompt};
    return prompt.asked;
}

static void bind_keys(EditLine *el)
{
    static const char *const keys[][2] = {
        {"\033[200~", "tandem-paste"}, {KEEP_LINE_KEY, "tandem-line"},
        {"\033\n", "tandem-line"},     {"\033\r", "tandem-line"},
        {"\t", "tandem-complete"},     {"\033[3~", "ed-delete-next-char"},
        {"\033[H", "ed-move-to-beg"},  {"\033[F", "ed-move-to-end"},
        {"\033OH", "ed-move-to-beg"},  {"\033OF", "ed-move-to-end"},
        {"\033[1~", "ed-move-to-beg"}, {"\033[4~", "ed-move-to-end"},
        {"\033[1;5C", "em-next-word"}, {"\033[1;5D", "ed-prev-word"},
        {"^R", "em-inc-search-prev"},  {"^W", "ed-delete-prev-word"},
    };
    /* el_set would copy these names and never free the copies. */
    el_wset(el, EL_ADDFN, L"tandem-paste", L"takes what was pasted", insert_paste);
    el_wset(el, EL_ADDFN, L"tandem-line", L"begins a new line in the message", insert_line_end);
    el_wset(el, EL_ADDFN, L"tandem-complete", L"completes a command", complete_word);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        el_set(el, EL_BIND, keys[i][0], keys[i][1], NULL);
}

struct line_editor *line_editor_new(complete_fn *complete, void *ctx)
{
    HistEvent event;
    struct line_editor *editor = calloc(1, sizeof *editor);
    if (!editor)
        return NULL;
    editor->complete = complete;
    editor->complete_ctx = ctx;
    editor->prompt = "";
    (void)tcgetattr(STDIN_FILENO, &editor->keys); /* all zero: there are none */
    editor->el = el_init("tandem", stdin, stdout, stderr);
    editor->history = history_init();
    if (!editor->el || !editor->history) {
        line_editor_free(editor);
        return NULL;
    }
    history(editor->history, &event, H_SETSIZE, 1000);
    history(editor->history, &event, H_SETUNIQUE, 1);
    el_set(editor->el, EL_CLIENTDATA, editor);
    el_set(editor->el, EL_SETTY, "-d", "-isig", NULL);
    el_set(editor->el, EL_PROMPT, show_prompt);
    el_set(editor->el, EL_EDITOR, "emacs");
    el_set(editor->el, EL_HIST, history, editor->history);
    el_set(editor->el, EL_GETCFN, get_character);
    bind_keys(editor->el);
    (void)el_source(editor->el, NULL); /* ~/.editrc, as in every program with libedit */
    return editor;
}

static void forget_pastes(struct line_editor *editor)
{
    for (size_t i = 0; i < editor->paste_count; i++)
        free(editor->pastes[i].text);
    editor->paste_count = 0;
}

void line_editor_free(struct line_editor *editor)
{
    if (!editor)
        return;
    forget_pastes(editor);
    if (editor->history)
        history_end(editor->history);
    if (editor->el)
        el_end(editor->el);
    free(editor);
}

/* The line with the pasted texts in the places of their names. */
static void write_message(const struct line_editor *editor, struct td_str line, struct buf *out)
{
    while (line.len) {
        size_t first = line.len;
        const struct paste *paste = NULL;
        for (size_t i = 0; i < editor->paste_count; i++) {
            size_t at = str_find(line, str_from(editor->pastes[i].name), 0);
            if (at < first) {
                first = at;
                paste = &editor->pastes[i];
            }
        }
        buf_append_str(out, str_slice(line, 0, first));
        if (paste) {
            buf_append_str(out, str_from(paste->text));
            first += strlen(paste->name);
        }
        line = str_slice(line, first, line.len);
    }
}

static void mark_pastes(bool on)
{
    fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
    fflush(stdout);
}

enum line_outcome line_editor_next(struct line_editor *editor, const char *prompt, struct buf *out)
{
    int count = 0;
    editor->prompt = prompt;
    editor->asked = editor->interrupted = editor->killed = editor->too_long = false;
    mark_pastes(true);
    errno = 0;
    const char *line = el_gets(editor->el, &count);
    mark_pastes(false);
    struct td_str text = line && count > 0 ? (struct td_str){line, (size_t)count} : STR("");
    bool whole = str_ends_with(text, STR("\n"));
    if (whole)
        text.len--;
    write_message(editor, text, out);
    forget_pastes(editor);
    if (editor->killed)
        return LINE_KILLED;
    if (editor->interrupted)
        return LINE_INTERRUPTED;
    if (!line || count < 0) {
        fputc('\n', stdout);
        return count < 0 && errno ? LINE_FAILED : LINE_ENDED;
    }
    return out->failed || editor->too_long ? LINE_TOO_LONG : LINE_TEXT;
}

void line_editor_remember(struct line_editor *editor, struct td_str text)
{
    HistEvent event;
    char *copy = strndup(text.data, text.len);
    if (copy)
        history(editor->history, &event, H_ENTER, copy);
    free(copy);
}
