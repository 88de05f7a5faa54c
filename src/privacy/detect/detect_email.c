/* E-mail addresses by the practical part of RFC 5321: a dot-atom of at most 64 characters, or a
 * quoted string, '@', and a domain name whose last label looks like a top-level domain. Found from
 * the '@' outwards; scan.c knows where the run before it began, so that no text is read backwards
 * twice. */
#include "privacy/detect/detect.h"

#include "base/str.h"

#define LOCAL_MAX 64        /* RFC 5321, 4.5.3.1.1 */
#define LOCAL_BYTES_MAX 512 /* the same with every character hidden in 8 bytes */
#define DOMAIN_MAX 253      /* RFC 1035, less the root */
#define LABEL_MAX 63
#define TLD_MAX 24 /* the longest delegated is 24 ("xn--vermgensberatung-pwb") */

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
        if (!is_alpha((unsigned char)label[i]) && label[i] != '\x01')
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

bool detect_email(const struct place *place, size_t local_begin, struct privacy_span *out)
{
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
    if (end == 0 || str_equal(str_slice(text, begin, at), STR("git"))) /* git@host: a transport */
        return false;
    *out = span_of(PRIVACY_EMAIL, begin, end, 0.95f);
    return true;
}
