/* MAC addresses, URLs and host names. A host name needs a top-level domain that exists, for text is
 * full of words with dots between. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#define LABEL_MAX 63
#define URL_MAX 2048

/* Two hex digits and a sign, which stands after the next two as well, or four and a dot; or
 * characters whose plain form is not known yet. */
static bool is_mac_possible(const struct place *place)
{
    if (!(place->shape & (WORD_COLON | WORD_DASH | WORD_DOT | WORD_OTHER)))
        return false;
    struct td_str text = place->text;
    const unsigned char *bytes = (const unsigned char *)text.data;
    size_t begin = place->begin, len = place->run_end - begin;
    int first = plain_at(text, begin).c;
    int after = place->run_end < text.len ? bytes[place->run_end] : 0;
    if (!ascii_is_hex(first) ||
        (len == 4 ? after != '.'
                  : len != 2 || (after != ':' && after != '-' &&
                                 (after < 0x80 || !(place->shape & WORD_HAS_DIGIT)))))
        return false;
    if (len == 4)
        return true;
    for (size_t i = begin + 2; i < text.len && i < begin + 6; i++)
        if (bytes[i] >= 0x80)
            return true;
    return begin + 5 < text.len && bytes[begin + 5] == after;
}

/* IEEE 802: xx:xx:xx:xx:xx:xx, xx-xx-xx-xx-xx-xx, xxxx.xxxx.xxxx. */
static bool find_mac(const struct place *place, struct privacy_span *out)
{
    if (!is_mac_possible(place))
        return false;
    size_t offset = place->begin, end = 0;
    int separator = 0;
    unsigned letters = 0, differ = 0;
    int first = 0;
    size_t step = 2;
    if (is_word(place->before) || place->before == ':' || place->before == '-' ||
        place->before == '.')
        return false;
    for (size_t i = 0; i < 12; i++) {
        struct plain next = plain_at(place->text, offset);
        if (i == 2 || (i > 2 && i % step == 0)) {
            if (i == 2 && ascii_is_hex(next.c)) {
                step = 4;
            } else {
                if (separator ? next.c != separator
                              : !(step == 2 && (next.c == ':' || next.c == '-')) &&
                                    !(step == 4 && next.c == '.'))
                    return false;
                separator = next.c;
                next = plain_at(place->text, next.end);
            }
        }
        if (!ascii_is_hex(next.c))
            return false;
        if (i == 0)
            first = next.c;
        differ |= next.c != first;
        letters += ascii_is_letter(next.c);
        end = offset = next.end;
    }
    struct plain next = plain_at(place->text, end);
    struct plain after = plain_at(place->text, next.end);
    if (is_word(next.c) || ((next.c == ':' || next.c == '-' || next.c == '.') &&
                            ascii_is_hex(after.c) && next.c == separator))
        return false;
    if (!differ || (letters == 0 && separator != ':'))
        return false; /* broadcast and nothing say nothing; 12-34-56-78-90-12 is any number */
    *out = (struct privacy_span){
        .kind = PRIVACY_MAC, .begin = place->begin, .end = end, .score = 0.9f};
    return true;
}

/* Countries (ISO 3166 as delegated) and the generic domains that are in wide use. */
static bool is_top_level(const char *label, size_t len)
{
    static const char countries[] = "acadaeafagaialamaoaqarasatauawaxazbabbbdbebfbgbhbibjbmbnbobrbs"
                                    "btbwbybzcacccdcfcgchcickclcmcn"
                                    "cocrcucvcwcxcyczdedjdkdmdodzeceeegereseteufifjfkfmfofrgagbgdge"
                                    "gfggghgiglgmgngpgqgrgsgtgugwgy"
                                    "hkhmhnhrhthuidieiliminioiqirisitjejmjojpkekgkhkikmknkpkrkwkykz"
                                    "lalblclilklrlsltlulvlymamcmdme"
                                    "mgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymznancnenfngninlnonpnrnunzom"
                                    "papepfpgphpkplpmpnprpsptpwpyqa"
                                    "rerorsrurwsasbscsdsesgshsiskslsmsnsosrssstsusvsxsysztctdtftgth"
                                    "tjtktltmtntotrtttvtwtzuaugukus"
                                    "uyuzvavcvevgvivnvuwfwsyeytzazmzw";
    static const char *const generic[] = {
        "com",       "org",      "net",     "edu",   "gov",     "mil",      "int",     "info",
        "biz",       "name",     "pro",     "app",   "dev",     "blog",     "shop",    "store",
        "online",    "site",     "tech",    "xyz",   "cloud",   "club",     "space",   "website",
        "agency",    "email",    "live",    "news",  "world",   "life",     "today",   "design",
        "digital",   "media",    "studio",  "group", "company", "global",   "network", "systems",
        "solutions", "services", "bank",    "law",   "health",  "care",     "page",    "link",
        "wiki",      "travel",   "museum",  "jobs",  "mobi",    "coop",     "aero",    "asia",
        "tel",       "cat",      "example", "test",  "local",   "internal", "onion",   "ai",
        "io"};
    if (len == 2) {
        const char own[2] = {(char)ascii_lower((unsigned char)label[0]),
                             (char)ascii_lower((unsigned char)label[1])};
        size_t begin = 0, end = sizeof countries / 2; /* they are in order */
        while (begin < end) {
            size_t middle = (begin + end) / 2;
            int order = memcmp(countries + 2 * middle, own, 2);
            if (order == 0)
                return true;
            if (order < 0)
                begin = middle + 1;
            else
                end = middle;
        }
        return false;
    }
    for (size_t i = 0; i < sizeof generic / sizeof *generic && len > 2; i++)
        if (generic[i][0] == ascii_lower((unsigned char)label[0]) &&
            str_equal_nocase((struct td_str){label, len}, str_from(generic[i])))
            return true;
    return len > 4 && str_equal_nocase((struct td_str){label, 4}, STR("xn--"));
}

/* The end of host and port from `offset`, 0 when it is none; *labels: how many. */
static size_t host_end(struct td_str text, size_t offset, bool any_top, size_t *labels)
{
    size_t end = 0;
    *labels = 0;
    for (;;) {
        size_t begin = offset;
        while (offset < text.len && offset - begin <= LABEL_MAX &&
               (ascii_is_alnum((unsigned char)text.data[offset]) || text.data[offset] == '-' ||
                (unsigned char)text.data[offset] >= 0xC3))
            offset += (unsigned char)text.data[offset] >= 0xC3 && offset + 1 < text.len ? 2 : 1;
        size_t len = offset - begin;
        if (len == 0 || len > LABEL_MAX || text.data[begin] == '-' || ++*labels > 12)
            break;
        if (any_top || (*labels > 1 && is_top_level(text.data + begin, len)))
            end = offset;
        if (offset >= text.len || text.data[offset] != '.')
            break;
        offset++;
    }
    return end;
}

bool domain_is_top_level(struct td_str label)
{
    return is_top_level(label.data, label.len);
}

static size_t path_end(struct td_str text, size_t offset, struct stretch *path)
{
    size_t begin = offset;
    if (offset < text.len && text.data[offset] == ':') {
        size_t digits = offset + 1;
        while (digits < text.len && digits - offset < 6 &&
               ascii_is_digit((unsigned char)text.data[digits]))
            digits++;
        if (digits > offset + 1)
            offset = digits;
    }
    if (offset >= text.len || strchr("/?#", text.data[offset]) == NULL || text.data[offset] == '\0')
        return offset;
    size_t limit = text.len - begin < URL_MAX ? text.len : begin + URL_MAX;
    if (offset < path->begin || offset >= path->end)
        *path = (struct stretch){offset, offset};
    while (path->end < limit && (unsigned char)text.data[path->end] > ' ' &&
           strchr("\"<>`{}|\\^", text.data[path->end]) == NULL)
        path->end++;
    offset = path->end < limit ? path->end : limit;
    while (offset > begin && strchr(".,;:!?)'*]", text.data[offset - 1]) != NULL)
        offset--; /* the sentence's */
    return offset;
}

bool domain_is_example(struct td_str host)
{
    static const struct td_str names[] = {
        {"example.com", 11}, {"example.org", 11}, {"example.net", 11}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t before = host.len < names[i].len ? SIZE_MAX : host.len - names[i].len;
        if (before != SIZE_MAX && (before == 0 || host.data[before - 1] == '.') &&
            str_equal_nocase(str_slice(host, before, host.len), names[i]))
            return true;
    }
    return false;
}

/* Addresses of this machine and of documentation say nothing about anybody. */
static bool says_nothing(struct td_str host)
{
    return domain_is_example(host) || str_equal_nocase(host, STR("localhost")) ||
           str_starts_with(host, STR("127.")) || str_equal_nocase(host, STR("0.0.0.0"));
}

/* http://host/path */
static bool find_url(const struct place *place, struct privacy_span *out)
{
    struct stretch *path = &place->memory->path;
    static const struct td_str schemes[] = {
        {"http://", 7}, {"https://", 8}, {"ftp://", 6}, {"ftps://", 7}, {"sftp://", 7}};
    struct td_str text = place->text;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t host = place->begin + schemes[i].len, labels;
        if (!str_equal_nocase(str_slice(text, place->begin, host), schemes[i]))
            continue;
        size_t end = host_end(text, host, true, &labels);
        /* With a user before the host the e-mail detector speaks: there may be a password. */
        if (end == 0 || says_nothing(str_slice(text, host, end)) ||
            (end < text.len && (text.data[end] == '@' || text.data[end] == '%')))
            return false;
        if (end + 1 < text.len && text.data[end] == ':' &&
            !ascii_is_digit((unsigned char)text.data[end + 1]))
            return false;
        size_t last = path_end(text, end, path);
        if (end < last && text.data[end] == ':' && memchr(text.data + end, '@', last - end) != NULL)
            return false;
        *out = (struct privacy_span){
            .kind = PRIVACY_DOMAIN, .begin = place->begin, .end = last, .score = 0.9f};
        return true;
    }
    return false;
}

/* Bare host names. */
static bool read_domain(const struct place *place, struct privacy_span *out)
{
    struct stretch *path = &place->memory->path;
    size_t word_end = place->run_end;
    struct td_str text = place->text;
    if (is_word(place->before) ||
        (place->before > 0 && place->before < 0x80 &&
         strchr("@./-_=#$\\", place->before) != NULL) ||
        word_end + 1 >= text.len || !is_word((unsigned char)text.data[word_end + 1]))
        return false;
    size_t labels, end = host_end(text, place->begin, false, &labels);
    if (end == 0 || end <= word_end || domain_is_example(str_slice(text, place->begin, end)))
        return false;
    struct plain next = plain_at(text, end);
    if (is_word(next.c) || next.c == '@' || next.c == '_' || next.c == '(' || next.c == '-' ||
        next.c == '=')
        return false; /* an address; code */
    if (next.c == '.' && is_word(plain_at(text, next.end).c))
        return false; /* more labels, of which the last is no domain */
    /* "end.In the" is two sentences and "e.g" a shorthand: a top-level domain is written small. */
    size_t label = end;
    while (label > place->begin && text.data[label - 1] != '.')
        label--;
    if ((text.data[label] >= 'A' && text.data[label] <= 'Z') || label - place->begin < 3)
        return false;
    bool www = str_equal_nocase(str_slice(text, place->begin, place->begin + 4), STR("www."));
    /* is, it, me, so, no, in, to, at: words as well as countries */
    static const char *const words[] = {"is",   "it", "me", "so", "no",   "in",   "to",  "at",
                                        "be",   "my", "us", "am", "as",   "py",   "rs",  "md",
                                        "sh",   "pl", "ps", "cc", "name", "test", "int", "local",
                                        "info", "so", "do", "id", "ai"};
    struct td_str top = {text.data + label, end - label};
    for (size_t i = 0; i < sizeof words / sizeof *words && !www && labels < 3; i++)
        if (str_equal(top, str_from(words[i])) && next.c != '/')
            return false;
    *out = (struct privacy_span){.kind = PRIVACY_DOMAIN,
                                 .begin = place->begin,
                                 .end = path_end(text, end, path),
                                 .score = www ? 0.9f : 0.7f};
    return true;
}

static bool find_domain(const struct place *place, struct privacy_span *out)
{
    if (!read_domain(place, out))
        return false;
    place->memory->host = (struct stretch){out->begin, out->end};
    return true;
}

const struct detector detector_mac = {
    .kinds = {PRIVACY_MAC, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_LENGTH(2) | WORD_LENGTH(4),
    .find = find_mac,
};

const struct detector detector_domain = {
    .kinds = {PRIVACY_DOMAIN, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_DOT,
    .find = find_domain,
};

const struct detector detector_url = {
    .kinds = {PRIVACY_DOMAIN, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_COLON,
    .find = find_url,
};
