/* Keys and tokens that services hand out, known by their prefix; JSON web tokens; "Bearer ...";
 * AWS secrets in a sentence. Assignments (`api_key = ...`) are in
 * detect_assignment.c. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/text/entropy.h"
#include "privacy/text/reading.h"

enum charset { ALNUM, ALNUM_UPPER, HEX_LOWER, TOKEN, DOTTED, CHARSET_COUNT };
_Static_assert(CHARSET_COUNT == KEY_CHARSETS, "a stretch each");

static inline bool in_charset(int c, enum charset charset)
{
    switch (charset) {
    case ALNUM_UPPER:
        return ascii_is_digit(c) || (c >= 'A' && c <= 'Z');
    case HEX_LOWER:
        return ascii_is_digit(c) || (c >= 'a' && c <= 'f');
    case ALNUM:
        return ascii_is_alnum(c);
    case TOKEN:
        return ascii_is_alnum(c) || c == '_' || c == '-';
    default:
        return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '~' || c == '+' ||
               c == '/' || c == '=';
    }
}

/* Lengths of the body as the services document them, with a little room below: formats change.
 * `mixed`: the body must hold a digit and a letter, for prefixes that words can begin with. */
static const struct {
    const char *prefix;
    uint16_t body_min, body_max;
    uint8_t charset;
    bool mixed;
} formats[] = {
    {"sk-ant-", 20, 256, TOKEN, true},   /* Anthropic */
    {"sk-", 20, 256, TOKEN, true},       /* OpenAI (sk-proj-, sk-svcacct-), OpenRouter, others */
    {"sk_live_", 16, 256, ALNUM, false}, /* Stripe */
    {"sk_test_", 16, 256, ALNUM, false},
    {"rk_live_", 16, 256, ALNUM, false},
    {"rk_test_", 16, 256, ALNUM, false},
    {"pk_live_", 16, 256, ALNUM, false},
    {"whsec_", 24, 256, ALNUM, true},
    {"ghp_", 30, 255, ALNUM, true}, /* GitHub */
    {"gho_", 30, 255, ALNUM, true},
    {"ghs_", 30, 255, ALNUM, true},
    {"ghu_", 30, 255, ALNUM, true},
    {"ghr_", 30, 255, ALNUM, true},
    {"github_pat_", 22, 255, TOKEN, true},
    {"glpat-", 20, 128, TOKEN, false},    /* GitLab */
    {"AKIA", 16, 16, ALNUM_UPPER, false}, /* AWS */
    {"ASIA", 16, 16, ALNUM_UPPER, false},
    {"AIza", 30, 48, TOKEN, false}, /* Google */
    {"ya29.", 20, 1024, TOKEN, false},
    {"GOCSPX-", 20, 64, TOKEN, false},
    {"xoxa-", 10, 256, TOKEN, true}, /* Slack */
    {"xoxb-", 10, 256, TOKEN, true},
    {"xoxp-", 10, 256, TOKEN, true},
    {"xoxr-", 10, 256, TOKEN, true},
    {"xoxs-", 10, 256, TOKEN, true},
    {"xapp-", 10, 256, TOKEN, true},
    {"hf_", 30, 64, ALNUM, false}, /* Hugging Face */
    {"npm_", 36, 64, ALNUM, false},
    {"pypi-", 40, 512, TOKEN, true},
    {"gsk_", 40, 128, ALNUM, false}, /* Groq */
    {"xai-", 40, 128, ALNUM, true},
    {"dop_v1_", 40, 128, ALNUM, false}, /* DigitalOcean */
    {"SG.", 40, 128, DOTTED, true},     /* SendGrid */
    {"SK", 32, 32, HEX_LOWER, true},
    {"AC", 32, 32, HEX_LOWER, true},   /* Twilio */
    {"key-", 32, 32, HEX_LOWER, true}, /* Mailgun */
    {"pk_test_", 16, 256, ALNUM, false},
    {"sk_", 40, 128, ALNUM, true}, /* ElevenLabs, others */
    {"glptt-", 20, 128, TOKEN, true},
    {"gldt-", 20, 128, TOKEN, true},
    {"glrt-", 20, 128, TOKEN, true},
    {"shpat_", 32, 32, HEX_LOWER, true}, /* Shopify */
    {"shpss_", 32, 32, HEX_LOWER, true},
    {"shpca_", 32, 32, HEX_LOWER, true},
    {"shppa_", 32, 32, HEX_LOWER, true},
    {"sq0atp-", 22, 64, TOKEN, true}, /* Square */
    {"sq0csp-", 30, 64, TOKEN, true},
    {"EAAA", 50, 256, TOKEN, true},
    {"dapi", 32, 36, HEX_LOWER, true},
    {"lin_api_", 32, 64, ALNUM, true}, /* Databricks, Linear */
    {"ntn_", 40, 64, ALNUM, true},
    {"secret_", 43, 43, ALNUM, true}, /* Notion */
    {"r8_", 37, 37, ALNUM, true},
    {"pplx-", 40, 64, ALNUM, true}, /* Replicate, Perplexity */
    {"hvs.", 24, 256, TOKEN, true},
    {"hvb.", 24, 256, TOKEN, true}, /* HashiCorp Vault */
    {"PMAK-", 40, 80, TOKEN, true},
    {"NRAK-", 27, 27, ALNUM_UPPER, true}, /* Postman, New Relic */
    {"dckr_pat_", 24, 40, TOKEN, true},
    {"dp.pt.", 40, 48, ALNUM, true}, /* Docker, Doppler */
    {"dp.st.", 40, 64, DOTTED, true},
    {"glsa_", 32, 48, TOKEN, true}, /* Grafana */
    {"glc_", 32, 256, DOTTED, true},
    {"sntrys_", 40, 256, DOTTED, true}, /* Sentry */
    {"sntryu_", 64, 64, HEX_LOWER, true},
    {"figd_", 36, 64, TOKEN, true}, /* Figma */
    {"nvapi-", 60, 80, TOKEN, true},
    {"tfp_", 40, 64, TOKEN, true}, /* NVIDIA, Typeform */
    {"ATATT3", 60, 256, DOTTED, true},
    {"ATCTT3", 60, 256, DOTTED, true}, /* Atlassian */
    {"CFPAT-", 40, 64, TOKEN, true},
    {"LTAI", 12, 26, ALNUM, true}, /* Contentful, Alibaba */
    {"rubygems_", 48, 48, HEX_LOWER, true},
    {"sbp_", 40, 48, HEX_LOWER, true},               /* Supabase */
    {"AGE-SECRET-KEY-1", 58, 58, ALNUM_UPPER, true}, /* age */
    {"pscale_tkn_", 32, 64, TOKEN, true},
    {"pscale_pw_", 32, 64, TOKEN, true}, /* PlanetScale */
    {"pul-", 40, 40, HEX_LOWER, true},
    {"dt0c01.", 80, 128, DOTTED, true}, /* Pulumi, Dynatrace */
    {"xkeysib-", 60, 128, TOKEN, true},
    {"lsv2_pt_", 32, 64, TOKEN, true}, /* Brevo, LangSmith */
    {"rzp_live_", 14, 24, ALNUM, true},
    {"tvly-", 28, 64, TOKEN, true}, /* Razorpay, Tavily */
    {"pcsk_", 60, 100, TOKEN, true},
    {"jina_", 50, 80, TOKEN, true}, /* Pinecone, Jina */
};

/* Second letters, by the first, of all that begins here: spares prose the walk through the
 * formats. */
static const char *const second_letters[128] = {
    ['A'] = "IKSCGT", ['B'] = "eE",      ['C'] = "F",   ['E'] = "A",    ['G'] = "O",
    ['L'] = "T",      ['N'] = "R",       ['P'] = "aAM", ['S'] = "GeEK", ['b'] = "eE",
    ['d'] = "oapct",  ['e'] = "y",       ['f'] = "i",   ['g'] = "hils", ['h'] = "fv",
    ['j'] = "i",      ['k'] = "e",       ['l'] = "is",  ['n'] = "ptv",  ['p'] = "aAkypuscl",
    ['r'] = "ku8z",   ['s'] = "ekEhqnb", ['t'] = "fv",  ['w'] = "h",    ['x'] = "aok",
    ['y'] = "a",
};

/* By the first letter and the byte after it (0x80 and above: its plain form is not known yet). */
static bool second_fits(int first, int second)
{
    const char *letters = first > 0 && first < 128 ? second_letters[first] : NULL;
    return letters != NULL && second != 0 && (second >= 0x80 || strchr(letters, second) != NULL);
}

/* Reads characters of the set from `offset` into body (at most capacity); *end: after the last. */
static size_t read_run(struct td_str text, size_t offset, enum charset charset, char *body,
                       size_t capacity, size_t *end)
{
    size_t count = 0;
    *end = offset;
    while (count < capacity) {
        struct plain next = {0};
        if (offset < text.len && (unsigned char)text.data[offset] < 0x80)
            next = (struct plain){text.data[offset], offset, offset + 1};
        else
            next = plain_at(text, offset);
        if (!in_charset(next.c, charset))
            break;
        body[count++] = (char)next.c;
        *end = offset = next.end;
    }
    return count;
}

/* The end of the run that goes on at `offset`: a finding covers all of it, however long. */
static size_t run_end(struct td_str text, size_t offset, enum charset charset)
{
    struct plain next = plain_at(text, offset);
    for (; in_charset(next.c, charset); next = plain_at(text, next.end))
        offset = next.end;
    return offset;
}

/* The offset after `word`, ASCII case ignored when nocase, or 0. */
static size_t read_word(struct td_str text, size_t offset, const char *word, bool nocase)
{
    for (; *word; word++) {
        struct plain next = plain_at(text, offset);
        if ((nocase ? ascii_lower(next.c) : next.c) != *word)
            return 0;
        offset = next.end;
    }
    return offset;
}

static bool found(struct privacy_span *out, size_t begin, size_t end, float score)
{
    *out = span_of(PRIVACY_API_KEY, begin, end, score);
    return true;
}

/* Is there no digit among the first `max` characters of the set at `offset`? */
static bool lacks_digit(struct digitless *row, struct td_str text, size_t offset,
                        enum charset charset, size_t max)
{
    if (offset < row->begin || offset >= row->end)
        *row = (struct digitless){offset, offset, 0};
    for (; row->begin < offset; row->count--)
        row->begin = plain_at(text, row->begin).end;
    while (row->count < max) {
        struct plain next = plain_at(text, row->end);
        if (!in_charset(next.c, charset) || ascii_is_digit(next.c))
            return !ascii_is_digit(next.c);
        row->end = next.end;
        row->count++;
    }
    return true;
}

#define BROKEN_MIN 4 /* characters of a body before a gap */
#define GAPS_MAX 3
#define PART_MIN 6 /* characters after a gap, letters and digits: no word of a sentence */

/* Goes on with a key that somebody broke by a blank or a line's end: behind the `len` characters of
 * the body that end at *end. Answers how many it has then. */
static size_t read_broken(struct td_str text, enum charset charset, char *body, size_t len,
                          size_t body_min, size_t body_max, size_t *end)
{
    size_t at = *end, first = len;
    for (int gap = 0; gap < GAPS_MAX && len < body_min; gap++) {
        size_t line = after_line_end(text, at), next = at;
        if (line != 0)
            next = line;
        else if (plain_at(text, at).c == ' ')
            next = plain_at(text, at).end;
        size_t part = read_run(text, next, charset, body + len, body_max + 1 - len, &at);
        bool fits = body_min == body_max && len + part == body_max && part > 0 && next > *end;
        if (next == *end ||
            (!fits && (part < PART_MIN || !entropy_is_mixed((struct td_str){body + len, part}))))
            return first;
        len += part;
        *end = at;
    }
    return len;
}

static bool detect_prefixed(const struct place *place, int first, struct keys *keys,
                            struct privacy_span *out)
{
    char body[1025];
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].prefix[0] != first)
            continue;
        size_t body_begin = read_word(place->text, place->begin, formats[i].prefix, false), end;
        if (body_begin == 0 ||
            (formats[i].mixed &&
             lacks_digit(&keys->digitless[formats[i].charset], place->text, body_begin,
                         formats[i].charset, (size_t)formats[i].body_max + 1)))
            continue;
        size_t len = read_run(place->text, body_begin, formats[i].charset, body,
                              (size_t)formats[i].body_max + 1, &end);
        if (len >= BROKEN_MIN && len < formats[i].body_min)
            len = read_broken(place->text, formats[i].charset, body, len, formats[i].body_min,
                              formats[i].body_max, &end);
        while (len > 0 && !ascii_is_alnum((unsigned char)body[len - 1]) && body[len - 1] != '_') {
            len--; /* "sk-...-" or a full stop: punctuation of the sentence */
            end--;
        }
        if (len < formats[i].body_min || (formats[i].body_max < 64 && len > formats[i].body_max))
            continue; /* longer than an exact format: something else */
        struct td_str view = {body, len};
        if (formats[i].mixed && !entropy_is_mixed(view))
            continue;
        if (len > formats[i].body_max)
            end = run_end(place->text, end, formats[i].charset);
        return found(out, place->begin, end, 0.98f);
    }
    return false;
}

/* header.payload.signature, each base64url; the header is a JSON object, so it begins with eyJ. RFC
 * 7519. */
static bool detect_jwt(const struct place *place, struct keys *keys, struct privacy_span *out)
{
    size_t offset = place->begin, end = 0;
    if (offset < keys->no_token_end || read_word(place->text, offset, "eyJ", false) == 0)
        return false;
    for (int part = 0; part < 3; part++) {
        size_t count = 0;
        struct plain next = plain_at(place->text, offset);
        for (; in_charset(next.c, TOKEN); next = plain_at(place->text, next.end)) {
            count++;
            end = next.end;
        }
        if (part == 0)
            keys->no_token_end =
                end; /* what makes it none is so wherever it begins in the header */
        if (count < 8 || (part < 2 && next.c != '.'))
            return false;
        offset = next.end;
    }
    return found(out, place->begin, end, 0.98f);
}

static size_t skip_spaces(struct td_str text, size_t offset, const char *also)
{
    for (size_t steps = 0; steps < 8; steps++) {
        struct plain next = plain_at(text, offset);
        if (next.c != ' ' && next.c != '\t' &&
            (next.c <= 0 || next.c >= 0x80 || strchr(also, next.c) == NULL))
            break;
        offset = next.end;
    }
    return offset;
}

static bool detect_bearer(const struct place *place, struct privacy_span *out)
{
    char body[512];
    size_t after = read_word(place->text, place->begin, "bearer", true), end;
    if (after == 0 || plain_at(place->text, after).c != ' ')
        return false;
    size_t begin = skip_spaces(place->text, after, "\"'<");
    size_t len = read_run(place->text, begin, DOTTED, body, sizeof body, &end);
    while (len > 0 && body[len - 1] == '.') {
        len--;
        end--;
    }
    struct td_str view = {body, len};
    if (len < 16 || !entropy_is_mixed(view) || entropy_bits_per_char(view) < 3.0)
        return false;
    return found(out, begin, len < sizeof body ? end : run_end(place->text, end, DOTTED), 0.9f);
}

/* --password X: X must look like nothing else, for in a sentence most words follow. */
static bool detect_option_password(const struct place *place, struct privacy_span *out)
{
    char body[128];
    size_t after = read_word(place->text, place->begin, "password", true);
    if (after == 0)
        after = read_word(place->text, place->begin, "passphrase", true);
    if (after == 0 || place->before != '-' || place->before2 != '-' ||
        plain_at(place->text, after).c != ' ')
        return false;
    size_t begin = skip_spaces(place->text, after, "\"':`"), len = 0, end = begin;
    for (struct plain next = plain_at(place->text, begin);
         next.c > ' ' && next.c < 0x80 && len < sizeof body && next.c != '"' && next.c != '`';
         next = plain_at(place->text, next.end)) {
        body[len++] = (char)next.c;
        end = next.end;
    }
    while (len > 0 && strchr(".,;:)'?", body[len - 1]) != NULL) {
        len--;
        end--;
    }
    if (len < 6 || entropy_classes((struct td_str){body, len}) < 3)
        return false;
    return found(out, begin, end, 0.7f);
}

/* "AWS secret: wJalr...": forty base64 characters of every class near the word. */
static bool detect_spoken_secret(const struct place *place, struct privacy_span *out)
{
    size_t offset = read_word(place->text, place->begin, "secret", true), end;
    char body[41];
    bool boundary = true;
    for (size_t steps = 0; offset != 0 && steps < 40; steps++) {
        struct plain next = plain_at(place->text, offset);
        if (next.c == PLAIN_END)
            break;
        bool part = ascii_is_alnum(next.c) || next.c == '/' || next.c == '+';
        if (part && boundary) {
            size_t len = read_run(place->text, next.begin, DOTTED, body, sizeof body, &end);
            if (len == 40 && entropy_classes((struct td_str){body, len}) >= 3 &&
                entropy_bits_per_char((struct td_str){body, len}) >= 3.5)
                return found(out, next.begin, end, 0.9f);
        }
        boundary = !part;
        offset = next.end;
    }
    return false;
}

/* Can a key begin here? Prefixes end in a sign or are followed by many characters; the words
 * "bearer", "password", "passphrase" and "secret" have their lengths. */
static bool is_possible(const struct place *place, int first)
{
    struct td_str text = place->text;
    size_t len = place->run_end - place->begin;
    int after = place->run_end < text.len ? (unsigned char)text.data[place->run_end] : 0;
    int small = first | 0x20;
    if (place->shape & WORD_FOREIGN)
        return true;
    return (len >= 12 || after == '-' || after == '_' || after == '.' || after >= 0x80 ||
            ((small == 'b' || small == 'p' || small == 's') &&
             (len == 6 || len == 8 || len == 10))) &&
           second_fits(
               first, place->begin + 1 < text.len ? (unsigned char)text.data[place->begin + 1] : 0);
}

/* Tokens known by their prefix, "Bearer ...", "password is ...". */
static bool find_key(const struct place *place, struct privacy_span *out)
{
    struct keys *keys = &place->memory->keys;
    int first = plain_at(place->text, place->begin).c;
    if (!is_possible(place, first))
        return false;
    switch (first) {
    case 'e':
        return detect_jwt(place, keys, out);
    case 'b':
    case 'B':
        return detect_bearer(place, out);
    case 'p':
    case 'P':
        if (detect_option_password(place, out))
            return true;
        break;
    case 's':
    case 'S':
        if (detect_spoken_secret(place, out))
            return true;
        break;
    default:
        break;
    }
    return detect_prefixed(place, first, keys, out);
}

/* --- private keys --- */

#define LABEL_BYTES_MAX 64 /* "BEGIN ENCRYPTED PRIVATE KEY" and the like are below 40 */

/* A private key without an end goes on to the end of its own text, not into the next one of a
 * reading. */
static struct td_str text_until_end(const struct place *place)
{
    const struct reading *reading = place->memory->reading;
    size_t *part = &place->memory->part;
    if (reading == NULL || reading->count == 0)
        return place->text;
    while (*part + 1 < reading->count && reading->parts[*part].end <= place->begin)
        ++*part;
    return str_slice(place->text, 0, reading_text_end(reading, *part));
}

/* Private keys in PEM armour (RFC 7468, OpenSSH, PGP): from the begin mark to the end mark's line,
 * or to the end of the text when the end mark is missing, because half a key is still secret. */
static bool find_private_key(const struct place *place, struct privacy_span *out)
{
    struct td_str text, begin_mark = STR("-----BEGIN ");
    if (place->begin + 5 >= place->text.len || place->text.data[place->begin + 5] != 'B')
        return false;
    text = text_until_end(place);
    if (!str_starts_with(str_slice(text, place->begin, text.len), begin_mark))
        return false;
    size_t label = place->begin + begin_mark.len;
    struct td_str head = str_slice(text, label, label + LABEL_BYTES_MAX);
    size_t label_len = str_find(head, STR("-----"), 0);
    head = str_slice(head, 0, label_len == SIZE_MAX ? head.len : label_len);
    if (str_find(head, STR("PRIVATE KEY"), 0) == SIZE_MAX)
        return false;
    size_t end = text.len, end_mark = label;
    while ((end_mark = str_find(text, STR("-----END "), end_mark)) != SIZE_MAX) {
        struct td_str tail = str_slice(text, end_mark + 9, end_mark + 9 + LABEL_BYTES_MAX);
        size_t close = str_find(tail, STR("-----"), 0);
        if (str_find(str_slice(tail, 0, close), STR("PRIVATE KEY"), 0) != SIZE_MAX) {
            end = end_mark + 9 + (close == SIZE_MAX ? tail.len : close + 5);
            break;
        }
        end_mark += 9;
    }
    *out = span_of(PRIVACY_PRIVATE_KEY, place->begin, end, 1.0f);
    return true;
}

const struct detector detector_key = {
    .kinds = {PRIVACY_API_KEY, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_12_ON | WORD_DASH | WORD_JOINT | WORD_DOT | WORD_OTHER | WORD_FOREIGN |
           WORD_LENGTH(6) | WORD_LENGTH(8) | WORD_LENGTH(10),
    .resumes = true,
    .find = find_key,
};

const struct detector detector_private_key = {
    .kinds = {PRIVACY_PRIVATE_KEY, KINDS_END},
    .triggers = ON(DASH),
    .resumes = true,
    .find = find_private_key,
};
