/* E-mail addresses by the practical part of RFC 5321: a dot-atom of at most 64 characters, or a
 * quoted string, '@', and a domain name whose last label looks like a top-level domain. Found from
 * the '@' outwards; scan.c knows where the run before it began, so that no text is read backwards
 * twice. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"

#define LOCAL_MAX 64        /* RFC 5321, 4.5.3.1.1 */
#define LOCAL_BYTES_MAX 512 /* the same with every character hidden in 8 bytes */
#define DOMAIN_MAX 253      /* RFC 1035, less the root */
#define LABEL_MAX 63
#define ANNOUNCED_REACH 96 /* the name before the host is between */
#define TLD_MAX 24         /* the longest delegated is 24 ("xn--vermgensberatung-pwb") */

/* Last labels that are file names or code, never delegated domains: icon@2x.png. */
static bool is_file_suffix(struct td_str label)
{
    static const char *const suffixes[] = {
        "png", "jpg", "jpeg", "gif", "svg",  "webp", "ico",  "pdf", "txt", "html", "htm", "css",
        "js",  "jsx", "ts",   "tsx", "json", "xml",  "yaml", "yml", "csv", "exe",  "dll"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (str_equal_nocase(label, str_from(suffixes[i])))
            return true;
    return false;
}

static bool is_tld(const char *label, size_t len)
{
    if (len < 2 || len > TLD_MAX)
        return false;
    bool punycode = len > 4 && str_equal_nocase((struct td_str){label, 4}, STR("xn--"));
    for (size_t i = 0; i < len && !punycode; i++)
        if (!ascii_is_letter((unsigned char)label[i]) && label[i] != '\x01')
            return false;
    return !is_file_suffix((struct td_str){label, len});
}

/* The domain from `offset`: the end of its last label that can be a top-level domain, or 0. */
static size_t domain_end(struct td_str text, size_t offset)
{
    char label[LABEL_MAX + 1];
    size_t labels = 0, total = 0, good = 0;
    for (;;) {
        size_t len = 0, trimmed = 0, trimmed_end = offset, head = 0, head_end = 0;
        struct plain next = plain_at(text, offset);
        while (is_word(next.c) || (next.c == '-' && len > 0)) {
            if (++total > DOMAIN_MAX || len == LABEL_MAX)
                return good;
            if (next.c == '-' && head == 0) {
                head = len;
                head_end = trimmed_end;
            }
            label[len++] = next.c == PLAIN_LETTER ? '\x01' : (char)next.c;
            if (next.c != '-') {
                trimmed = len;
                trimmed_end = next.end;
            }
            next = plain_at(text, next.end);
        }
        if (trimmed == 0)
            return good;
        labels++;
        if (labels >= 2 && is_tld(label, trimmed))
            good = trimmed_end;
        else if (labels >= 2 && is_tld(label, head))
            good = head_end; /* first@example.com-second */
        if (next.c != '.' || trimmed != len)
            return good;
        total++;
        offset = next.end;
    }
}

/* Where the dot-atom that ends at the '@' begins inside the run [begin, at), or SIZE_MAX. */
static size_t local_begin_of(struct td_str text, size_t begin, size_t at)
{
    if (begin >= at || at - begin > LOCAL_BYTES_MAX)
        return SIZE_MAX;
    size_t found = SIZE_MAX, count = 0;
    int before = 0;
    for (struct plain next = plain_at(text, begin); next.begin < at;
         next = plain_at(text, next.end)) {
        if (next.c == '.' && (before == '.' || count == 0)) {
            count = 0; /* two dots, or a leading one: what came before is not part of it */
        } else if (count > 0 || is_word(next.c) || next.c == '_') {
            if (count++ == 0)
                found = next.begin;
        }
        before = next.c;
    }
    return count == 0 || count > LOCAL_MAX || before == '.' ? SIZE_MAX : found;
}

/* "local part"@: from the quote that ends at `at` back to the one that opens it. */
static size_t quoted_begin_of(struct td_str text, size_t at)
{
    for (size_t i = at - 1, steps = 0; i-- > 0 && steps < LOCAL_MAX; steps++)
        if (text.data[i] == '"')
            return steps > 0 ? i : SIZE_MAX;
        else if (text.data[i] == '\n')
            break;
    return SIZE_MAX;
}

/* scheme://user:password@host: is the run before the '@' a password? */
static bool is_url_password(struct td_str text, size_t begin)
{
    if (begin == 0 || text.data[begin - 1] != ':')
        return false;
    for (size_t i = begin - 1, steps = 0; i-- > 2 && steps <= LOCAL_MAX; steps++) {
        char c = text.data[i];
        if (c == '/')
            return text.data[i - 1] == '/' && text.data[i - 2] == ':';
        if (c == ' ' || c == '\n' || c == '@' || c == '"')
            return false;
    }
    return false;
}

/* Nobody reads what is sent there, or nobody can have it (RFC 2606): such an address stands in
 * manuals, templates and the instructions of programs, and says nothing of a person. */
static bool is_nobodys(struct td_str local, struct td_str host)
{
    return str_equal_nocase(local, STR("noreply")) || str_equal_nocase(local, STR("no-reply")) ||
           domain_is_example(host);
}

/* At the '@'. Finds an address, or the password of a URL. */
static bool find_email(const struct place *place, struct privacy_span *out)
{
    if (place->local_begin == SIZE_MAX && place->before != '"')
        return false;
    size_t local_begin = place->local_begin == SIZE_MAX ? place->begin : place->local_begin;
    struct td_str text = place->text;
    size_t at = place->begin, after = plain_at(text, at).end;
    if (local_begin < at && at - local_begin <= LOCAL_BYTES_MAX &&
        is_url_password(text, local_begin)) {
        *out = span_of(PRIVACY_API_KEY, local_begin, at, 0.9f);
        return true;
    }
    size_t begin = place->before == '"' && at > 1 && place->before_begin == at - 1
                       ? quoted_begin_of(text, at)
                       : local_begin_of(text, local_begin, at);
    if (begin == SIZE_MAX)
        return false;
    size_t end = domain_end(text, after);
    struct td_str local = str_slice(text, begin, at);
    if (end == 0 || str_equal(local, STR("git")) || /* git@host: a transport */
        is_nobodys(local, str_slice(text, after, end)))
        return false;
    *out = span_of(PRIVACY_EMAIL, begin, end, 0.95f);
    return true;
}

/* --- addresses in words: "john dot smith at example dot com", "john [at] example.com" --- */

static bool is_at_word(struct td_str text, const struct word *word)
{
    return word_in(text, word, "at arroba arobase \xc3\xa4t");
}

static bool is_dot_word(struct td_str text, const struct word *word)
{
    return word_in(text, word, "dot punkt punto point ponto");
}

/* The word with those that hyphens join to its front: "acme-corp". */
static struct word with_hyphens(struct td_str text, struct word word)
{
    while (word.begin > 1 && word.end > word.begin && text.data[word.begin - 1] == '-') {
        struct word front = spelled_before(text, word.begin - 1, 0);
        if (front.begin == front.end || front.end != word.begin - 1)
            break;
        word.begin = front.begin;
    }
    return word;
}

/* At "dot" between two words, of which the second can be a top-level domain: back over more of them
 * to "at", and over the name before it. */
static bool find_spelled(const struct place *place, struct privacy_span *out)
{
    size_t word_end = place->word_end;
    struct td_str text = place->text;
    struct word host = with_hyphens(text, spelled_before(text, place->begin, 3)),
                top = spelled_after(text, word_end, 3);
    if (host.begin == host.end || top.begin == top.end || top.end - top.begin < 2 ||
        !domain_is_top_level((struct td_str){text.data + top.begin, top.end - top.begin}))
        return false;
    struct word self = spelled_after(text, place->begin, 0);
    if (!word_is(text, &self, "dot") &&
        word_in(text, &top, "in it is so to at be me no us my do am as by la es et il se si"))
        return false; /* "at one point in time", "at this point do" */
    struct word mark = spelled_before(text, host.begin, 3);
    for (int labels = 0; labels < 3 && is_dot_word(text, &mark); labels++) {
        host = with_hyphens(text, spelled_before(text, mark.begin, 3));
        mark = spelled_before(text, host.begin, 3);
    }
    struct word name = spelled_before(text, mark.begin, 3);
    if (!is_at_word(text, &mark) || name.begin == name.end)
        return false;
    for (int parts = 0; parts < 3; parts++) {
        struct word joint = spelled_before(text, name.begin, 3);
        struct word part = spelled_before(text, joint.begin, 3);
        bool joined = is_dot_word(text, &joint) || word_in(text, &joint, "underscore dash");
        if (!joined && !(name.begin > 0 && strchr("._-", text.data[name.begin - 1]) != NULL))
            break;
        name = joined ? part : joint;
        if (name.begin == name.end)
            return false;
    }
    struct word more = spelled_after(text, top.end, 3), last = spelled_after(text, more.end, 3);
    size_t end = top.end;
    if (is_dot_word(text, &more) && last.end > last.begin &&
        domain_is_top_level((struct td_str){text.data + last.begin, last.end - last.begin}))
        end = last.end; /* example dot co dot uk */
    *out = span_of(PRIVACY_EMAIL, name.begin, end, 0.85f);
    return true;
}

/* "ann.lee at example.com" where a word says that an address follows; at the first label of a host
 * that was just found. */
static bool find_at_host(const struct place *place, struct privacy_span *out)
{
    const struct stretch *host = &place->memory->host;
    if (host->begin != place->begin || host->end <= place->begin)
        return false;
    struct td_str text = place->text;
    struct word mark = spelled_before(text, place->begin, 1);
    if (place->before != ' ' || !is_at_word(text, &mark) || mark.begin == 0 ||
        text.data[mark.begin - 1] != ' ' || !place_context(place, PRIVACY_EMAIL, ANNOUNCED_REACH))
        return false;
    size_t begin = mark.begin - 1, end = begin;
    while (begin > 0 && end - begin < 64 &&
           (plain_is_word_byte((unsigned char)text.data[begin - 1]) ||
            strchr("._%+-", text.data[begin - 1]) != NULL))
        begin--;
    struct word name = spelled_before(text, end, 0);
    if (begin == end ||
        word_in(text, &name, "me us you him her them it mail email found here available back"))
        return false; /* "mail me at example.com" */
    *out = span_of(PRIVACY_EMAIL, begin, host->end, 0.75f);
    return true;
}

/* At "at" in brackets: "john [at] example.com", "john (at) example (dot) com". */
static bool find_bracketed(const struct place *place, struct privacy_span *out)
{
    struct td_str text = place->text;
    size_t word_end = place->run_end;
    if (text.data[place->begin] != 'a' || place->before <= 0 || place->before >= 0x80 ||
        strchr("[({<", place->before) == NULL || word_end >= text.len ||
        text.data[word_end] == '\0' || strchr("])}>", text.data[word_end]) == NULL)
        return false;
    size_t begin = place->before_begin, at = word_end + 1;
    size_t steps = 0, labels = 0, end = 0;
    while (begin > 0 && text.data[begin - 1] == ' ' && steps++ < 2)
        begin--;
    size_t name_end = begin;
    while (begin > 0 && name_end - begin < 64 &&
           (ascii_is_alnum((unsigned char)text.data[begin - 1]) ||
            strchr("._%+-", text.data[begin - 1]) != NULL ||
            (unsigned char)text.data[begin - 1] >= 0x80))
        begin--;
    while (begin < name_end && !ascii_is_alnum((unsigned char)text.data[begin]) &&
           (unsigned char)text.data[begin] < 0x80)
        begin++;
    if (begin == name_end)
        return false;
    while (labels < 5) {
        while (at < text.len && text.data[at] == ' ')
            at++;
        struct word label = spelled_after(text, at, 0);
        while (label.end + 1 < text.len && text.data[label.end] == '-' &&
               ascii_is_alnum((unsigned char)text.data[label.end + 1]))
            label.end = spelled_after(text, label.end + 1, 0).end;
        if (label.begin == label.end)
            break;
        labels++;
        if (labels > 1 && domain_is_top_level(str_slice(text, label.begin, label.end)))
            end = label.end;
        at = label.end;
        if (at < text.len && text.data[at] == '.') {
            at++;
            continue;
        }
        while (at < text.len && text.data[at] == ' ')
            at++;
        bool bracket = at < text.len && strchr("[({<", text.data[at]) != NULL;
        struct word dot = spelled_after(text, at + bracket, 0);
        if (!is_dot_word(text, &dot))
            break;
        at = dot.end + bracket;
    }
    if (end == 0)
        return false;
    *out = span_of(PRIVACY_EMAIL, begin, end, 0.9f);
    return true;
}

const struct detector detector_email = {
    .kinds = {PRIVACY_EMAIL, PRIVACY_API_KEY, KINDS_END},
    .triggers = ON(AT),
    .find = find_email,
};

const struct detector detector_email_spelled = {
    .kinds = {PRIVACY_EMAIL, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_DOT,
    .find = find_spelled,
};

const struct detector detector_email_at_host = {
    .kinds = {PRIVACY_EMAIL, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_DOT,
    .find = find_at_host,
};

const struct detector detector_email_bracketed = {
    .kinds = {PRIVACY_EMAIL, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_LENGTH(2),
    .find = find_bracketed,
};
