#include "privacy/name_finder.h"

#include "privacy/strict.h"

#include <pthread.h>
#include <stdatomic.h>

static struct tagger *installed;
static float installed_min_score;
static enum td_data_class installed_class;
static atomic_bool any_installed;
static pthread_rwlock_t installed_lock = PTHREAD_RWLOCK_INITIALIZER;

void name_finder_install(struct tagger *tagger, float min_score, enum td_data_class data_class)
{
    pthread_rwlock_wrlock(&installed_lock);
    struct tagger *old = installed;
    installed = tagger;
    installed_min_score = min_score;
    installed_class = data_class;
    atomic_store(&any_installed, tagger != NULL);
    pthread_rwlock_unlock(&installed_lock);
    tagger_close(old);
}

void name_source_advance(struct name_source *source)
{
    static const enum privacy_kind kinds[TAGGER_TYPE_COUNT] = {
        [TAGGER_PERSON] = PRIVACY_PERSON,
        [TAGGER_PLACE] = PRIVACY_PLACE,
        [TAGGER_ORG] = PRIVACY_ORGANIZATION,
        [TAGGER_STREET] = PRIVACY_ADDRESS,
    };
    struct tagger_span span;
    source->next.begin = SIZE_MAX;
    if (source->on && tagger_next(&source->cursor, &span))
        source->next = (struct privacy_span){.kind = kinds[span.type],
                                             .begin = span.begin,
                                             .end = span.end,
                                             .score = span.score,
                                             .data_class = source->data_class};
}

void name_source_begin(struct name_source *source, struct td_str text, bool strict)
{
    source->on = atomic_load(&any_installed);
    if (source->on) {
        pthread_rwlock_rdlock(&installed_lock);
        source->on = installed != NULL;
        if (!source->on)
            pthread_rwlock_unlock(&installed_lock);
    }
    if (source->on) {
        float min_score = installed_min_score;
        source->data_class = installed_class;
        if (strict && source->data_class < TD_CLASS_SENSITIVE)
            source->data_class = TD_CLASS_SENSITIVE;
        if (strict && min_score > STRICT_MIN_SCORE)
            min_score = STRICT_MIN_SCORE;
        tagger_begin(&source->cursor, installed, text, min_score);
    }
    name_source_advance(source);
}

void name_finder_hold(void)
{
    pthread_rwlock_rdlock(&installed_lock);
}

uint16_t name_finder_classes(uint32_t hash)
{
    return installed ? tagger_word_classes(installed, hash) : 0;
}

void name_finder_release(void)
{
    pthread_rwlock_unlock(&installed_lock);
}

void name_source_end(struct name_source *source)
{
    if (source->on)
        pthread_rwlock_unlock(&installed_lock);
}
