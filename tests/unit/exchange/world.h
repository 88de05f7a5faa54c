/* A local and a cloud tier, a policy, a clock and a client: everything an exchange needs, in
 * memory. Whatever the exchange tells the client or the ledger is kept here. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include "base/text/names.h"
#include "exchange/machine/exchange.h"
#include "ledger/record/ledger.h"
#include "privacy/scan/conversation.h"
#include "scanners.h"
#include "scripted_tier.h"
#include "test.h"
#include "virtual_loop.h"

#define LOCAL 0
#define CLOUD 1
#define OTHER 2 /* a second cloud, on a route only where a test puts it */

/* Answers of the local tier (token, probability) and of the cloud. */
static const struct script_step sure[] = {TOKEN("It ", 0.95), TOKEN("is ", 0.9),
                                          TOKEN("noon", 0.97), TOKEN(".", 0.99), DONE};
static const struct script_step unsure[] = {TOKEN("Per", 0.2), TOKEN("haps", 0.3),
                                            TOKEN(" so", 0.1), TOKEN(".", 0.9), DONE};
/* Passes G2's first three tokens, fails G3 on the whole. */
static const struct script_step unsure_late[] = {TOKEN("Well", 0.9), TOKEN(",", 0.9),
                                                 TOKEN(" I", 0.9), TOKEN(" guess", 0.05), DONE};
static const struct script_step cloudy[] = {ROLE_ONLY, TEXT("Cloud "), TEXT("answer"), DONE};

struct world {
    struct virtual_loop loop;
    struct scripted_tier tiers[3];
    struct tier *tier_list[3];
    struct route route;
    struct policy policy;
    struct exchange_services services;
    struct td_message messages[4];
    struct td_request request;
    struct exchange *exchange; /* NULL once it has ended */
    /* what the client saw */
    char text[1024]; /* shown, corrections applied */
    char events[64]; /* S start, T text, C correction, D done, F failed */
    int end_count;
    int local_starts_at_end; /* of the local tier, when the client was told the end */
    char id[64], tier[32], disclosure[512], message[2048], param[32], start_disclosure[512];
    bool degraded, reduced;
    enum td_status status;
    uint32_t retry_after_s;
    struct exchange_summary summary; /* its pointers are dead after the end */
    struct reason reasons[REASONS_MAX];
    char reason_texts[REASONS_MAX][REASON_TEXT_BYTES];
    size_t reason_count;
    bool rejects;          /* the answer cannot be given */
    size_t cancel_at_text; /* cancels when this many texts were seen; 0 = never */
    size_t text_count;
    bool expects_restricted;
};

/* What the ledger was given last. */
struct ledger_seen {
    int put_count;
    char status[16], tier[32], data_class[16], error[256], outcomes[128];
    char signals[4096], reasons[8192], prompt[256], answer[1024], disclosure[512];
    bool has_prompt, degraded;
    struct ledger_exchange record;
    struct ledger_attempt attempts[LEDGER_ATTEMPTS_MAX];
};
static struct ledger_seen ledger_seen;

static void world_copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

enum td_status ledger_put(struct ledger *ledger, const struct ledger_exchange *record,
                          struct td_error *err)
{
    (void)ledger, (void)err;
    struct ledger_seen *seen = &ledger_seen;
    seen->put_count++;
    seen->record = *record;
    world_copy(seen->status, sizeof seen->status, names_end(record->status));
    world_copy(seen->tier, sizeof seen->tier, record->tier);
    world_copy(seen->data_class, sizeof seen->data_class, record->data_class);
    world_copy(seen->signals, sizeof seen->signals, record->signals_json);
    world_copy(seen->reasons, sizeof seen->reasons, record->reasons_json);
    world_copy(seen->prompt, sizeof seen->prompt, record->prompt_text);
    world_copy(seen->answer, sizeof seen->answer, record->answer_text);
    world_copy(seen->disclosure, sizeof seen->disclosure, record->disclosure);
    seen->has_prompt = record->prompt_text != NULL;
    seen->outcomes[0] = '\0';
    for (size_t i = 0; i < record->attempt_count; i++) {
        size_t len = strlen(seen->outcomes);
        seen->attempts[i] = record->attempts[i];
        snprintf(seen->outcomes + len, sizeof seen->outcomes - len, "%s%s:%s", i ? " " : "",
                 record->attempts[i].tier, names_outcome(record->attempts[i].outcome));
    }
    return TD_OK;
}

/* What was put of a shadow last. */
static struct {
    int count;
    struct ledger_shadow last;
    char tier[32];
} shadow_seen;

enum td_status ledger_put_shadow(struct ledger *ledger, const struct ledger_shadow *shadow,
                                 struct td_error *err)
{
    (void)ledger, (void)err;
    shadow_seen.count++;
    shadow_seen.last = *shadow;
    world_copy(shadow_seen.tier, sizeof shadow_seen.tier, shadow->tier);
    return TD_OK;
}

/* What was put of reactions last. */
static struct {
    int count;
    enum reaction kind;
    char exchange[64];
} reaction_seen;

/* Then ledger_seen.record.recorded waits for the test to call it. */
static bool ledger_durable;

bool ledger_is_durable(const struct ledger *ledger)
{
    (void)ledger;
    return ledger_durable;
}

enum td_status ledger_put_reaction(struct ledger *ledger, const struct ledger_reaction *reaction,
                                   struct td_error *err)
{
    (void)ledger, (void)err;
    reaction_seen.count++;
    reaction_seen.kind = reaction->kind;
    world_copy(reaction_seen.exchange, sizeof reaction_seen.exchange, reaction->exchange);
    return TD_OK;
}

/* Leaves that many characters of UTF-8. */
static void world_cut(char *text, uint64_t characters)
{
    for (; *text && ((*text & 0xC0) == 0x80 || characters-- > 0); text++)
        ;
    *text = '\0';
}

static void world_keep_end(struct world *world, const struct exchange_event *event)
{
    const struct exchange_summary *summary = event->summary;
    world->end_count++;
    world->local_starts_at_end = world->tiers[LOCAL].start_count;
    world->exchange = NULL;
    world->summary = *summary;
    world->degraded = summary->degraded;
    world->reduced = summary->reduced;
    world->status = event->status;
    world->retry_after_s = event->retry_after_s;
    world->reason_count = summary->reason_count;
    memcpy(world->reasons, summary->reasons, summary->reason_count * sizeof *world->reasons);
    for (size_t i = 0; i < summary->reason_count; i++) { /* the texts end with the exchange */
        world_copy(world->reason_texts[i], REASON_TEXT_BYTES, summary->reasons[i].text);
        world->reasons[i].text = world->reason_texts[i];
    }
    world_copy(world->id, sizeof world->id, summary->id);
    world_copy(world->tier, sizeof world->tier, summary->tier);
    world_copy(world->disclosure, sizeof world->disclosure, summary->disclosure);
    world_copy(world->message, sizeof world->message, event->message);
    world_copy(world->param, sizeof world->param, event->param);
}

static void world_on_event(void *ctx, const struct exchange_event *event)
{
    struct world *world = ctx;
    size_t len = strlen(world->events);
    if (event->kind == EXCHANGE_COMPLETE) {
        if (world->rejects)
            exchange_reject(world->exchange, "too long");
        return;
    }
    if (len + 1 < sizeof world->events &&
        (len == 0 || event->kind != EXCHANGE_TEXT || world->events[len - 1] != 'T'))
        world->events[len] = "STCDF\0\0V"[event->kind];
    switch (event->kind) {
    case EXCHANGE_START:
        world_copy(world->start_disclosure, sizeof world->start_disclosure,
                   event->summary->disclosure);
        break;
    case EXCHANGE_CORRECTION:
        world_cut(world->text, event->summary->verification.at_chars);
        break;
    case EXCHANGE_TEXT:
        len = strlen(world->text);
        snprintf(world->text + len, sizeof world->text - len, STR_FMT, STR_ARG(event->piece->text));
        world->text_count++;
        if (world->text_count == world->cancel_at_text) {
            exchange_cancel(world->exchange);
            world->exchange = NULL;
        }
        break;
    case EXCHANGE_PROVISIONAL:
    case EXCHANGE_VERDICT:
        break;
    case EXCHANGE_COMPLETE:
    case EXCHANGE_CANCELLED:
        world->summary = *event->summary;
        break;
    case EXCHANGE_DONE:
    case EXCHANGE_FAILED:
        world_keep_end(world, event);
        break;
    }
}

static void world_set_prompt(struct world *world, const char *text)
{
    world->messages[0] = (struct td_message){TD_ROLE_USER, str_from(text)};
    world->request.messages = world->messages;
    world->request.message_count = 1;
}

static void world_init(struct world *world)
{
    static const struct tier_facts facts[3] = {
        {.name = "local",
         .model = "nano",
         .place = TD_PLACE_DEVICE,
         .context_tokens = 4096,
         .has_key = true},
        {.name = "openai",
         .model = "gpt-x",
         .place = TD_PLACE_CLOUD,
         .context_tokens = 100000,
         .input_usd_per_mtok = 1,
         .output_usd_per_mtok = 10,
         .has_key = true,
         .key_hint = "OPENAI_API_KEY"},
        {.name = "other", .model = "gpt-y", .place = TD_PLACE_CLOUD, .has_key = true},
    };
    memset(world, 0, sizeof *world);
    memset(&ledger_seen, 0, sizeof ledger_seen);
    virtual_loop_init(&world->loop);
    for (size_t i = 0; i < 3; i++) {
        world->tiers[i].tier = (struct tier){.ops = &scripted_ops, .facts = facts[i]};
        world->tiers[i].prompt_tokens = 100;
        world->tier_list[i] = &world->tiers[i].tier;
    }
    world->route = (struct route){
        .name = "auto",
        .kind = ROUTE_HYBRID,
        .tiers = {"local", "openai"},
        .tier_count = 2,
        .gates = {.g2_on = true,
                  .g2_tokens = 3,
                  .g2_confidence_min = 0.5,
                  .g3_on = true,
                  .g3_confidence_min = 0.6,
                  .commit_tokens = UINT32_MAX},
    };
    world->policy =
        (struct policy){.version = "0123456789abcdef", .routes = &world->route, .route_count = 1};
    world->services = (struct exchange_services){
        .policy = &world->policy,
        .tiers = world->tier_list,
        .tier_count = 3,
        .health = tier_health_new(3, NULL, NULL),
        .classes = conversation_classes_new(64),
        .scanner = plain_scanner(),
        .ledger = (struct ledger *)&ledger_seen,
        .clock = &world->loop.clock,
        .all_cloud_tier = CLOUD,
        .deadline_ms = 60000,
    };
    world->request.streamed = true;
    world_set_prompt(world, "what is the weather");
}

static void world_deinit(struct world *world)
{
    CHECK(world->loop.timer_count == 0); /* nothing left running, nothing leaked */
    for (size_t i = 0; i < 3; i++)
        CHECK(world->tiers[i].running == 0);
    tier_health_free(world->services.health);
    conversation_classes_free(world->services.classes);
}

static enum td_status world_start(struct world *world, struct td_error *err)
{
    world->text[0] = world->events[0] = '\0';
    memset(world->events, 0, sizeof world->events);
    return exchange_start(&world->services, &world->loop.loop, &world->request, world_on_event,
                          world, &world->exchange, err);
}

/* Runs one exchange to its end. */
static void world_run(struct world *world)
{
    struct td_error err = {0};
    int ends = world->end_count;
    CHECK(world_start(world, &err) == TD_OK);
    CHECK(world->events[0] == '\0'); /* nothing from inside exchange_start */
    virtual_loop_run(&world->loop, 120000);
    CHECK(world->end_count == ends + 1);
}

static inline bool world_has_reason(const struct world *world, enum reason_code code,
                                    const char *tier)
{
    for (size_t i = 0; i < world->reason_count; i++)
        if (world->reasons[i].code == code && strcmp(world->reasons[i].tier, tier) == 0)
            return true;
    return false;
}

static inline void world_script(struct world *world, size_t tier, const struct script_step *script)
{
    world->tiers[tier].scripts[0] = script;
}

#endif
