/* Which surrogate a kind of value gets, as one table: the form in which answers may spell it, the
 * function that writes it, and what else is special about the kind. The functions are in
 * surrogate_number.c, surrogate_net.c, surrogate_phone.c, surrogate_date.c and surrogate_secret.c.
 * A kind without a row, or whose row names no function, gets a random text of the value's shape.
 *
 * A number with check digits is drawn again while a detector takes the surrogate for a true number.
 * That asks the detectors themselves, so that no check-digit rule is written down twice. */
#include "privacy/pseudonym/surrogate.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/scan/scan.h"
#include "privacy/text/spell.h"

struct recipe {
    enum surrogate_form form;
    surrogate_writer *write; /* NULL: a text of the same shape */
    bool worded;             /* vault_words.c writes it */
    bool caseless;           /* STRICT: two values that differ in case are one */
    bool sees_separators;    /* LOOSE: the function is given the separators, too */
    bool has_check_digits;
};

/* clang-format off */
#define WORDED {.form = SURROGATE_LOOSE, .worded = true}

static const struct recipe recipes[PRIVACY_KIND_COUNT] = {
    [PRIVACY_PERSON] = WORDED,
    [PRIVACY_PLACE] = WORDED,
    [PRIVACY_ORGANIZATION] = WORDED,
    [PRIVACY_ADDRESS] = WORDED,
    [PRIVACY_EMAIL] = {.form = SURROGATE_STRICT, .write = surrogate_write_email, .caseless = true},
    [PRIVACY_DOMAIN] = {.form = SURROGATE_STRICT,
                        .write = surrogate_write_domain, .caseless = true},
    [PRIVACY_IP] = {.form = SURROGATE_STRICT, .write = surrogate_write_ip, .caseless = true},
    [PRIVACY_MAC] = {.form = SURROGATE_STRICT, .write = surrogate_write_mac, .caseless = true},
    [PRIVACY_PHONE] = {.form = SURROGATE_LOOSE,
                       .write = surrogate_write_phone, .sees_separators = true},
    [PRIVACY_DATE] = {.form = SURROGATE_STRICT, .write = surrogate_write_date},
    [PRIVACY_CARD] = {.form = SURROGATE_LOOSE,
                      .write = surrogate_write_card, .has_check_digits = true},
    [PRIVACY_IBAN] = {.form = SURROGATE_LOOSE,
                      .write = surrogate_write_iban, .has_check_digits = true},
    [PRIVACY_US_SSN] = {.form = SURROGATE_LOOSE, .write = surrogate_write_ssn},
    [PRIVACY_US_MBI] = {.form = SURROGATE_LOOSE},
    [PRIVACY_BANK_ACCOUNT] = {.form = SURROGATE_LOOSE},
    [PRIVACY_API_KEY] = {.form = SURROGATE_STRICT, .write = surrogate_write_api_key},
    [PRIVACY_PRIVATE_KEY] = {.form = SURROGATE_STRICT, .write = surrogate_write_private_key},
};
/* clang-format on */

/* Kinds without a row: national numbers, and all others. */
static const struct recipe checked = {.form = SURROGATE_LOOSE, .has_check_digits = true};
static const struct recipe shape = {.form = SURROGATE_STRICT};

static const struct recipe *recipe_of(enum privacy_kind kind)
{
    ASSERT((unsigned)kind < PRIVACY_KIND_COUNT);
    if (recipes[kind].form != SURROGATE_WORD)
        return &recipes[kind];
    return privacy_kind_is_national(kind) ? &checked : &shape;
}

enum surrogate_form surrogate_form_of(enum privacy_kind kind)
{
    return recipe_of(kind)->form;
}

bool surrogate_is_worded(enum privacy_kind kind)
{
    return recipe_of(kind)->worded;
}

void surrogate_canonical(enum privacy_kind kind, struct td_str value, struct buf *out)
{
    const struct recipe *recipe = recipe_of(kind);
    if (recipe->form == SURROGATE_LOOSE) {
        spell_fold(value, out);
        return;
    }
    size_t begin = out->len;
    if (recipe->caseless)
        spell_in_case(value, SPELL_LOWER, out);
    else
        buf_append_str(out, value);
    for (size_t i = begin; kind == PRIVACY_IP && i < out->len; i++)
        if (out->data[i] == '-' || out->data[i] == '_')
            out->data[i] = '.'; /* a host that is named after the address */
}

/* --- check digits --- */

struct sighting {
    enum privacy_kind kind;
    bool seen;
};

static void see(void *ctx, const struct privacy_span *span)
{
    struct sighting *sighting = ctx;
    sighting->seen |= span->kind == sighting->kind;
}

/* Would the detectors take it for a true number after a word that announces one? */
static bool passes_for_true(enum privacy_kind kind, struct td_str surrogate)
{
    struct sighting sighting = {kind, false};
    struct buf text;
    buf_init(&text, surrogate.len + 64);
    buf_printf(&text, "%s", kind == PRIVACY_CARD ? "credit card " : "national id number ");
    buf_append_str(&text, surrogate);
    scan_plain(buf_view(&text), NULL, see, &sighting);
    buf_deinit(&text);
    return sighting.seen;
}

/* One surrogate in ten passes a check digit by chance: all tries do with probability 10^-12. */
#define CHECKED_TRIES 12

/* --- writing --- */

static void write_once(const struct surrogate_request *request, struct draw *draw, struct buf *out)
{
    const struct recipe *recipe = recipe_of(request->kind);
    if (recipe->write == NULL || !recipe->write(request, draw, out))
        surrogate_write_shape(request->value, draw, out);
}

/* The value's letters and digits alone, in their case. */
static void append_signs(struct td_str value, struct buf *out)
{
    for (struct sign sign = spell_at(value, 0, false); sign.kind != SIGN_END;
         sign = spell_at(value, sign.end, false)) {
        char bytes[4];
        if (spell_is_significant(&sign))
            buf_append(out, bytes, utf8_encode(sign.upper ? spell_upper(sign.c) : sign.c, bytes));
    }
}

/* Separators do not count in a LOOSE value, so they must not change the draws: the surrogate is
 * written without them and put into the value's separators afterwards. */
static void write_without_separators(const struct surrogate_request *request, struct draw *draw,
                                     struct buf *out)
{
    struct surrogate_request bare = *request;
    struct buf signs, surrogate;
    buf_init(&signs, request->value.len * 4 + 16);
    buf_init(&surrogate, request->value.len * 4 + 16);
    append_signs(request->value, &signs);
    bare.value = buf_view(&signs);
    write_once(&bare, draw, &surrogate);
    spell_fill(request->value, buf_view(&surrogate), out);
    buf_deinit(&signs);
    buf_deinit(&surrogate);
}

void surrogate_write(const struct surrogate_request *request, struct buf *out)
{
    const struct recipe *recipe = recipe_of(request->kind);
    size_t begin = out->len;
    ASSERT(!recipe->worded && request->key != NULL);
    for (uint32_t try = 0; try < CHECKED_TRIES; try++) {
        struct draw draw;
        draw_init(&draw, request->key, privacy_kind_name(request->kind), request->canonical,
                  request->salt * CHECKED_TRIES + try);
        if (recipe->form == SURROGATE_LOOSE && !recipe->sees_separators)
            write_without_separators(request, &draw, out);
        else
            write_once(request, &draw, out);
        if (out->failed || !recipe->has_check_digits ||
            !passes_for_true(request->kind, str_slice(buf_view(out), begin, out->len)))
            return;
        if (try + 1 < CHECKED_TRIES) {
            out->len = begin;
            out->data[begin] = '\0';
        }
    }
}
