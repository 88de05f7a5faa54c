/* Scenes: one exchange each, as a row of a table. A row says what the tiers answer and what differs
 * from the usual world, then what the client and the ledger must have seen. Each row is a case of
 * its own, named by its behaviour. */
#ifndef TESTS_SCENES_H
#define TESTS_SCENES_H

#include "world.h"

enum quality { ANY_QUALITY, WHOLE, DEGRADED };

struct scene {
    const char *behaviour;
    /* What is given. */
    const struct script_step *local, *cloud, *other;
    enum td_mode mode;
    uint32_t commit_tokens; /* 0 = the whole answer */
    bool corrections;
    const char *prompt, *model;
    bool no_cloud_key;
    bool three_rungs;                /* the route leads on to `other` */
    void (*arrange)(struct world *); /* what the members above cannot say */
    /* What must come of it. NULL and zero: it does not matter. */
    const char *events, *text, *tier;
    enum quality quality;
    const char *disclosure;       /* the whole of it */
    const char *disclosure_has;   /* a part of it */
    enum td_status status;        /* always compared */
    const char *message[3];       /* each is part of it */
    const char *outcomes;         /* of the attempts, as world.h writes them */
    const char *starts, *cancels; /* of local, openai and other: "1 0 0" */
    struct {
        const char *tier;
        enum reason_code code;
    } reasons[2];
    void (*also)(const struct world *);
};

static void scene_arrange(const struct scene *scene, struct world *w)
{
    world_init(w);
    world_script(w, LOCAL, scene->local);
    world_script(w, CLOUD, scene->cloud);
    world_script(w, OTHER, scene->other);
    w->request.mode = scene->mode;
    w->request.corrections = scene->corrections;
    w->request.model = scene->model;
    w->tiers[CLOUD].tier.facts.has_key = !scene->no_cloud_key;
    if (scene->commit_tokens)
        w->route.gates.commit_tokens = scene->commit_tokens;
    if (scene->prompt)
        world_set_prompt(w, scene->prompt);
    if (scene->three_rungs) {
        w->route.tiers[2] = "other";
        w->route.tier_count = 3;
    }
    if (scene->arrange)
        scene->arrange(w);
}

static void scene_check_text(const char *what, const char *expected, const char *got)
{
    if (!expected || strcmp(expected, got) == 0)
        return;
    fprintf(stderr, "%s: expected \"%s\", got \"%s\"\n", what, expected, got);
    test_case_failed = 1;
}

static void scene_check_part(const char *what, const char *expected, const char *got)
{
    if (!expected || strstr(got, expected))
        return;
    fprintf(stderr, "%s: expected \"%s\" in \"%s\"\n", what, expected, got);
    test_case_failed = 1;
}

static void scene_check(const struct scene *scene, const struct world *w)
{
    char starts[32], cancels[32];
    snprintf(starts, sizeof starts, "%d %d %d", w->tiers[LOCAL].start_count,
             w->tiers[CLOUD].start_count, w->tiers[OTHER].start_count);
    snprintf(cancels, sizeof cancels, "%d %d %d", w->tiers[LOCAL].cancel_count,
             w->tiers[CLOUD].cancel_count, w->tiers[OTHER].cancel_count);
    scene_check_text("events", scene->events, w->events);
    scene_check_text("text", scene->text, w->text);
    scene_check_text("tier", scene->tier, w->tier);
    scene_check_text("outcomes", scene->outcomes, ledger_seen.outcomes);
    scene_check_text("starts", scene->starts, starts);
    scene_check_text("cancels", scene->cancels, cancels);
    scene_check_text("disclosure", scene->disclosure, w->disclosure);
    scene_check_part("disclosure", scene->disclosure_has, w->disclosure);
    for (size_t i = 0; i < sizeof scene->message / sizeof *scene->message; i++)
        scene_check_part("message", scene->message[i], w->message);
    CHECK(w->status == scene->status);
    CHECK(scene->quality == ANY_QUALITY || w->degraded == (scene->quality == DEGRADED));
    CHECK(w->degraded == (w->disclosure[0] != '\0'));
    for (size_t i = 0; i < 2 && scene->reasons[i].tier; i++)
        CHECK(world_has_reason(w, scene->reasons[i].code, scene->reasons[i].tier));
    if (scene->also)
        scene->also(w);
}

static void scene_run(const struct scene *scene)
{
    struct world w;
    scene_arrange(scene, &w);
    world_run(&w);
    scene_check(scene, &w);
    world_deinit(&w);
}

/* Every row is a case. */
static inline void scenes_run(const struct scene *scenes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (test_begin(scenes[i].behaviour)) {
            scene_run(&scenes[i]);
            test_end();
        }
    }
}
#define RUN_SCENES(scenes) scenes_run(scenes, sizeof(scenes) / sizeof *(scenes))

#endif
