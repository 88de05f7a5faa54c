/* Secrets by the name they are given to: `api_key = "..."`, `"password": "..."`, `DB_PASSWORD=...`,
 * `Authorization: Basic ...`. The name must end in a word for a secret and the value must look like
 * one: code is full of `token = next_token(...)`. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/text/entropy.h"

#define NAME_MAX_CHARS 48 /* identifiers before the sign */
/* Characters that are judged; a finding covers all that follow. The longest key forms show what
 * they are within these, and a text of nothing but `pwd=pwd=` costs this much for each sign. */
#define VALUE_MAX 64
#define COOKIE_REACH 256 /* bytes between "Cookie:" and one of several */

enum strength {
    PASSWORD, /* people choose them: short and readable */
    SECRET,   /* 8 characters or more, looks random */
    TOKEN,    /* machines make them; the word has other meanings, so 16 or more */
    COOKIE,   /* the same, and only where cookies are spoken of: logs have sessions, too */
    WEB_KEY   /* in quotes, in an object that is one */
};

#define NAME(text, strength)            \
    {                                   \
        text, sizeof text - 1, strength \
    }
static const struct {
    const char *name; /* lower case, without separators */
    size_t len;
    enum strength strength;
} names[] = {
    NAME("password", PASSWORD),
    NAME("passwd", PASSWORD),
    NAME("pwd", PASSWORD),
    NAME("passphrase", PASSWORD),
    NAME("passcode", PASSWORD),
    NAME("passwort", PASSWORD),
    NAME("motdepasse", PASSWORD),
    NAME("secret", SECRET),
    NAME("secretkey", SECRET),
    NAME("apikey", SECRET),
    NAME("accesskey", SECRET),
    NAME("privatekey", SECRET),
    NAME("accountkey", SECRET),
    NAME("signingkey", SECRET),
    NAME("encryptionkey", SECRET),
    NAME("authkey", SECRET),
    NAME("apitoken", SECRET),
    NAME("accesstoken", SECRET),
    NAME("authtoken", SECRET),
    NAME("refreshtoken", SECRET),
    NAME("apisecret", SECRET),
    NAME("clientsecret", SECRET),
    NAME("credential", SECRET),
    NAME("credentials", SECRET),
    NAME("token", TOKEN),
    NAME("authorization", TOKEN),
    NAME("bearer", TOKEN),
    NAME("auth", TOKEN),
    NAME("phpsessid", TOKEN),
    NAME("jsessionid", TOKEN),
    NAME("aspnetsessionid", TOKEN),
    NAME("connectsid", TOKEN),
    NAME("session", COOKIE),
    NAME("sessionid", COOKIE),
    NAME("sid", COOKIE),
};

/* The name that ends before `at`, lower case, without "-_. " and quotes, written backwards into
 * out. */
static size_t read_name_backwards(struct td_str text, size_t at, char out[static NAME_MAX_CHARS])
{
    size_t len = 0;
    for (size_t i = at, steps = 0; i-- > 0 && steps < NAME_MAX_CHARS; steps++) {
        int c = (unsigned char)text.data[i];
        if (ascii_is_alnum(c))
            out[len++] = (char)ascii_lower(c);
        else if (c != '_' && c != '-' && c != ' ' && c != '.' && c != '"' && c != '\'' &&
                 c != '`' && c != '*' && c != '\\')
            break;
    }
    return len;
}

static bool name_strength(struct td_str text, size_t at, enum strength *out)
{
    char backwards[NAME_MAX_CHARS];
    if (at > 0 && ascii_is_digit((unsigned char)text.data[at - 1]))
        return false; /* the time of day, code: no name ends so */
    size_t len = read_name_backwards(text, at, backwards);
    size_t longest = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t name_len = names[i].len, k = 0;
        if (len < name_len || backwards[0] != names[i].name[name_len - 1])
            continue;
        while (k < name_len && backwards[k] == names[i].name[name_len - 1 - k])
            k++;
        if (k == name_len && name_len > longest) {
            longest = name_len;
            *out = names[i].strength;
        }
    }
    return longest > 0;
}

struct value {
    char text[VALUE_MAX];
    size_t len, begin, end;
    int quote; /* 0 = none */
};

static bool in_value(int c, int quote)
{
    return c > ' ' && c < 0x80 && c != '"' && c != quote &&
           (quote || (c != ',' && c != ';' && c != '<'));
}

/* Skips spaces, the rest of the sign, a quote and an HTTP scheme; then reads to the closing quote,
 * or to white space. */
static void read_value(struct td_str text, size_t offset, struct value *value)
{
    struct plain next = plain_at(text, offset);
    for (size_t steps = 0;
         steps < 8 && (next.c == ' ' || next.c == '\t' || next.c == '=' || next.c == '>' ||
                       next.c == ':' || next.c == '\\' || next.c == '*');
         steps++)
        next = plain_at(text, next.end);
    int quote = next.c == '"' || next.c == '\'' || next.c == '`' ? next.c : 0;
    if (quote)
        next = plain_at(text, next.end);
    static const struct td_str schemes[] = {
        {"Basic ", 6}, {"Bearer ", 7}, {"Token ", 6}, {"Digest ", 7}};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (ascii_lower(next.c) == ascii_lower(schemes[i].data[0]) &&
            str_equal_nocase(str_slice(text, next.begin, next.begin + schemes[i].len), schemes[i]))
            next = plain_at(text, next.begin + schemes[i].len);
    *value = (struct value){.begin = next.begin, .end = next.begin, .quote = quote};
    for (; value->len < VALUE_MAX && in_value(next.c, quote); next = plain_at(text, next.end)) {
        value->text[value->len++] = (char)next.c;
        value->end = next.end;
    }
    if (value->len == VALUE_MAX)
        return;
    while (!quote && value->len > 0 && strchr(".:)]}'`\\", value->text[value->len - 1]) != NULL) {
        value->len--;
        value->end--;
    }
}

/* Does one of the NULL-ended lower-case words stand in the text? */
static bool contains_nocase(struct td_str text, const char *const *words)
{
    for (size_t i = 0; i < text.len; i++) {
        int first = ascii_lower((unsigned char)text.data[i]);
        for (const char *const *word = words; *word != NULL; word++) {
            size_t matched = 1;
            if ((*word)[0] != first)
                continue;
            while ((*word)[matched] != '\0' && i + matched < text.len &&
                   ascii_lower((unsigned char)text.data[i + matched]) == (*word)[matched])
                matched++;
            if ((*word)[matched] == '\0')
                return true;
        }
    }
    return false;
}

/* `password=config.password2`, `password=userPassword1`: a secret's name in the value is how code
 * names the variable that holds it. A password that somebody chose has signs, or digits in its
 * middle; and what is given to a name in capitals is a setting of the environment, not code. */
static bool names_itself(struct td_str value, bool shouted)
{
    static const char *const own_names[] = {"password", "passwd",  "token", "secret",
                                            "apikey",   "api_key", NULL};
    if (!contains_nocase(value, own_names))
        return false;
    size_t letters = value.len;
    while (letters > 0 && ascii_is_digit((unsigned char)value.data[letters - 1]))
        letters--;
    bool plain = true;
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if (c == '.' || c == '_' || c == '/' || c == '(' || c == '[' || c == ':' || c == '>')
            return true;
        plain &= ascii_is_letter(c) || i >= letters;
    }
    return plain && !shouted;
}

/* $VAR, <your key>, {{ key }}, ********, os.environ[...], getenv(...), self.password: no secret. */
static bool is_reference(struct td_str value, bool quoted, bool code, bool shouted)
{
    if (strchr("$<{%*(", value.data[0]) != NULL)
        return true;
    static const char *const words[] = {"xxxx",    "****",   "your",        "....",
                                        "environ", "getenv", "process.env", NULL};
    if (contains_nocase(value, words))
        return true;
    if (quoted)
        return false;
    bool identifier = true;
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if (code && (c == '(' || c == '['))
            return true;
        identifier &= ascii_is_alnum(c) || c == '_' || c == '.';
    }
    if (names_itself(value, shouted))
        return true;
    return code && identifier && value.len < 16; /* `password = user2` */
}

static bool has_symbol(struct td_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) /* the last may be the sentence's */
        if (strchr("!@#$%^&*?+~", text.data[i]) != NULL)
            return true;
    return false;
}

static bool is_secret(const struct value *value, enum strength strength)
{
    static const size_t len_min[] = {
        [PASSWORD] = 6, [SECRET] = 8, [TOKEN] = 16, [COOKIE] = 16, [WEB_KEY] = 16};
    static const double bits_min[] = {
        [PASSWORD] = 2.0, [SECRET] = 2.75, [TOKEN] = 3.0, [COOKIE] = 3.0, [WEB_KEY] = 3.0};
    struct td_str text = {value->text, value->len};
    if (value->len < len_min[strength])
        return false;
    if (!entropy_is_mixed(text) && !(strength == PASSWORD && has_symbol(text)))
        return false;
    return entropy_bits_per_char(text) >= bits_min[strength]; /* the dearest question last */
}

#define WEB_KEY_BYTES 2048 /* of a JSON web key: RSA's numbers stand before "d" */

/* "d" and "k" of a JSON web key (RFC 7518, 6): in an object that has "kty". */
static bool is_of_web_key(struct td_str text, size_t at)
{
    if (at < 3 || plain_at(text, at).c != ':' || text.data[at - 1] != '"' ||
        text.data[at - 3] != '"' || (text.data[at - 2] != 'd' && text.data[at - 2] != 'k'))
        return false;
    size_t begin = at > WEB_KEY_BYTES ? at - WEB_KEY_BYTES : 0;
    return str_find(str_slice(text, begin, at + WEB_KEY_BYTES), STR("\"kty\""), 0) != SIZE_MAX;
}

static bool speaks_of_cookies(struct td_str text, size_t at)
{
    static const char *const words[] = {"cookie", "set-cookie", NULL};
    return context_before(text, at, COOKIE_REACH, words);
}

static bool find_assignment(const struct place *place, struct privacy_span *out)
{
    enum strength strength = TOKEN;
    if (script_announces(place, CONTEXT_PASSWORD))
        strength = PASSWORD;
    else if (is_of_web_key(place->text, place->begin))
        strength = WEB_KEY;
    else if (!name_strength(place->text, place->begin, &strength) ||
             (strength == COOKIE && !speaks_of_cookies(place->text, place->begin)))
        return false;
    struct value value;
    read_value(place->text, plain_at(place->text, place->begin).end, &value);
    bool equals = plain_at(place->text, place->begin).c == '=';
    bool code = equals && place->before == ' ', shouted = equals && ascii_is_upper(place->before);
    bool web_key = strength == WEB_KEY && value.quote == 0; /* the code that makes one */
    if (value.len == 0 || web_key || !is_secret(&value, strength) ||
        is_reference((struct td_str){value.text, value.len}, value.quote != 0, code, shouted))
        return false;
    struct plain next = plain_at(place->text, value.end);
    for (; value.len == VALUE_MAX && in_value(next.c, value.quote);
         next = plain_at(place->text, next.end))
        value.end = next.end;
    if (value.len == VALUE_MAX && !value.quote)
        while (strchr(".:)]}'`\\", place->text.data[value.end - 1]) != NULL)
            value.end--;
    *out = span_of(PRIVACY_API_KEY, value.begin, value.end, strength == PASSWORD ? 0.8f : 0.85f);
    return true;
}

const struct detector detector_assignment = {
    .kinds = {PRIVACY_API_KEY, KINDS_END},
    .triggers = ON(COLON) | ON(EQUALS),
    .resumes = true,
    .find = find_assignment,
};
