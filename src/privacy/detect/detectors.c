/* The table of all detectors. Each is a constant in the file of its functions: `detector_` and the
 * name that stands here.
 *
 * The order matters where two detectors of one trigger find something in the same place: findings
 * are settled one after another (scan/settle.c), and a detector that resumes keeps those after it
 * from being asked. */
#include "privacy/detect/detectors.h"

#include "base/core/assertion.h"
#include "privacy/detect/seed_words.h"

#include <pthread.h>

/* clang-format off */
#define DETECTORS(x) \
    x(crypto) x(mac) x(domain) x(email_at_host) x(url) x(email_bracketed)          /* runs */ \
    x(ip4) x(card) x(ssn) x(phone) x(national_number) x(date) x(pin) x(age)     /* numbers */ \
    x(dose) x(coordinates) x(address) x(document_number) \
    x(password) x(month) x(weekday) x(group) x(email_spelled)              /* listed words */ \
    x(title) x(job) x(company) \
    x(national_word) x(document_word) x(icd10) x(postcode) x(swift) x(iban) x(key) /* words */ \
    x(iban_tail) \
    x(email) x(phone_plus) x(private_key) x(ip6) x(assignment)                    /* signs */
/* clang-format on */

#define DECLARE(name) extern const struct detector detector_##name;
DETECTORS(DECLARE)

#define ROW(name) &detector_##name,
const struct detector *const detectors_all[] = {DETECTORS(ROW) NULL};

struct detector_list detectors_by_trigger[TRIGGER_COUNT];
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

/* The bits of which one makes the list look at the detector: those of `any`; without them one of
 * `all`, the highest, which is the rarest; without these too the bit that every shape has. */
static uint32_t bits_of(const struct detector *detector)
{
    if (detector->any != 0)
        return detector->any;
    return detector->all != 0 ? UINT32_C(1) << (31 - __builtin_clz(detector->all)) : SHAPE_ALWAYS;
}

static void append(struct detector_list *list, size_t index, const struct detector *detector)
{
    ASSERT(detector->find != NULL && index < DETECTORS_PER_TRIGGER);
    struct detector_row *row = &list->rows[index];
    *row =
        (struct detector_row){.all = detector->all, .find = detector->find, .detector = detector};
    for (size_t kind = 0; kind < PRIVACY_KIND_COUNT; kind++)
        if (detector_has_kind(detector, (enum privacy_kind)kind))
            row->kinds[kind / 64] |= UINT64_C(1) << (kind % 64);
    list->wanted |= bits_of(detector);
    for (uint32_t bits = bits_of(detector); bits != 0; bits &= bits - 1)
        list->waiting[__builtin_ctz(bits)] |= (uint16_t)(1u << index);
}

static void sort(void)
{
    size_t counts[TRIGGER_COUNT] = {0};
    lexicon_init();
    detect_national_init();
    seed_words_init();
    for (const struct detector *const *at = detectors_all; *at != NULL; at++)
        for (int trigger = 0; trigger < TRIGGER_COUNT; trigger++)
            if ((*at)->triggers >> trigger & 1)
                append(&detectors_by_trigger[trigger], counts[trigger]++, *at);
}

void detectors_init(void)
{
    pthread_once(&sorted, sort);
}

bool detector_has_kind(const struct detector *detector, enum privacy_kind kind)
{
    for (const uint8_t *own = detector->kinds; *own != KINDS_END; own++)
        if (*own == kind || (*own == KINDS_NATIONAL && privacy_kind_is_national(kind)))
            return true;
    return false;
}
