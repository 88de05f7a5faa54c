/* Keys of a route: its ladder of tiers, its gates, and what runs beside its answers. */
#define HELP_OF 3
#include "app/config/keys.h"

#include "base/text/names.h"
#include "exchange/private/document_jobs.h"
#include "router/watch/ramp_statistics.h"

/* Each in the order of its enum: the index is the value. */
static const char *const kind_names[] = {"local-only", "cloud-only", "hybrid", NULL};
static const char *const consent_names[] = {"none", "required", NULL};
const char *const config_risks[] = {"2%", "5%", "10%", NULL}; /* enum risk_level */
static const char *const climb_names[] = {"sequential", "hedged", "race", NULL};
static const char *const settle_names[] = {"first_good", "strongest", "agreement", NULL};
static const char *const verify_names[] = {"off", "score", "answer", NULL};
static const char *const stay_names[] = {"off", "device", "premises", "region", NULL};
static const char *const stakes_names[] = {"low", "high", NULL}; /* enum td_stakes, less one */

#define AT(member) offsetof(struct config_route, member)
#define THRESHOLDS_HELP "file of 'tandem router tune' for this gate; replaces the fixed number"

static const struct config_key g0_keys[] = {
    {"tokens_over", CONFIG_KEY_UINT, AT(gates.g0_tokens_over), "0", 0, 100000000,
     .help = HELP("a longer prompt starts on the next tier; 0 = off")},
    {"gain_over", CONFIG_KEY_NUMBER, AT(gates.g0_gain_over), "0", 0, 1,
     .help =
         HELP("a prompt whose expected gain is larger starts on the next tier; the gain is P(next "
              "tier right) minus P(local tier right); 0 = off")},
    {"p_local_under", CONFIG_KEY_NUMBER, AT(gates.g0_p_local_under), "0", 0, 1,
     .help =
         HELP("a prompt that the local tier answers rightly with less probability starts on the "
              "next tier; 0 = off")},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G0]), NULL,
     .help = HELP(THRESHOLDS_HELP)},
};
static const struct config_section g0_section = KEYS_MAP(g0_keys);

static const struct config_key g1_keys[] = {
    {"probe_min", CONFIG_KEY_NUMBER, AT(gates.g1_probe_min), "0", 0, 1,
     .help =
         HELP("leave the tier before its first token when the model's probe expects a right answer "
              "with less probability; 0 = off")},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G1]), NULL,
     .help = HELP(THRESHOLDS_HELP)},
};
static const struct config_section g1_section = KEYS_MAP(g1_keys);

/* The default numbers (config_defaults.c) fit the embedded model. Its first token says "not mine"
 * for what it was not trained to do, so one token is enough for an early look. A whole answer below
 * 0.55 is wrong more often than right on its validation set. Another model has numbers of its own
 * (router/plan/tier_gates.h), so it matters whether a file gives them: no default stands here. 32
 * tokens hold every answer of the embedded model's tasks. */
static const struct config_key g2_keys[] = {
    {"tokens", CONFIG_KEY_UINT, AT(gates.g2_tokens), "1", 0, 4096,
     .help = HELP("look at this many first tokens; 0 = off")},
    {"confidence_min", CONFIG_KEY_NUMBER, AT(gates.g2_confidence_min), NULL, 0, 1,
     .help =
         HELP("leave the tier when the confidence so far is lower; 0 = off; default: 0.35 for the "
              "embedded model, what 'tandem calibrate' found for another one")},
    {"every", CONFIG_KEY_UINT, AT(gates.g2_every), "16", 1, 4096,
     .help = HELP("look again each time that this many tokens came, for abandon_under")},
    {"abandon_under", CONFIG_KEY_NUMBER, AT(gates.g2_abandon_under), "0", 0, 1,
     .help = HELP("give a running answer up when its confidence is lower; 0 = off")},
};
static const struct config_section g2_section = KEYS_MAP(g2_keys);

static const struct config_key g3_keys[] = {
    {"confidence_min", CONFIG_KEY_NUMBER, AT(gates.g3_confidence_min), NULL, 0, 1,
     .help =
         HELP("leave the tier when the confidence of the whole answer is lower; 0 = off; default: "
              "0.55 for the embedded model, what 'tandem calibrate' found for another one; 0.85 at "
              "least for a call of a tool")},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G3]), NULL,
     .help = HELP(THRESHOLDS_HELP)},
    {"second", CONFIG_KEY_CHOICE, AT(gates.second), "off", .choices = second_names,
     .help = HELP("asks the local model once more where its confidence is near the bound. p_true: "
                  "whether its answer is right; agreement: the question again, in a few short "
                  "samples. Only of models that 'tandem calibrate' measured it of (--p-true, "
                  "--agreement)")},
    {"second_band", CONFIG_KEY_NUMBER, AT(gates.second_band), "0.2", 0, 1,
     .help = HELP("near: no further than this from the bound")},
    {"second_samples", CONFIG_KEY_UINT, AT(gates.second_samples), "3", 1, SECOND_SAMPLES_MAX,
     .help = HELP("how many samples agreement takes")},
};
static const struct config_section g3_section = KEYS_MAP(g3_keys);

static const struct config_key g4_keys[] = {
    {"verify", CONFIG_KEY_CHOICE, AT(g4.by), "off", .choices = verify_names,
     .help =
         HELP("how a stronger tier checks what the device answered. score: it reads question and "
              "answer and gives a verdict; answer: it answers, too, and the two are compared")},
    {"tier", CONFIG_KEY_TEXT, AT(g4.tier), NULL,
     .help = HELP("the tier of the route that checks; default: the next one")},
    {"stakes", CONFIG_KEY_CHOICE, AT(g4.stakes), "low", .choices = stakes_names,
     .help = HELP("of requests that say nothing (x-tandem-stakes); what has high stakes is always "
                  "checked, and a plain client gets it when it was")},
    {"high_from", CONFIG_KEY_CHOICE, AT(g4.high_from), NULL, .choices = names_classes,
     .help =
         HELP("requests of this data class or a higher one have high stakes; default: the class "
              "says nothing of them")},
    {"high_tasks", CONFIG_KEY_TEXTS, AT(g4.high_tasks), NULL, 0, CONFIG_NAMES_MAX,
     .help = HELP(
         "a prompt of these tasks, by the classifier, has high stakes unless it says otherwise")},
    {"high_p_local_under", CONFIG_KEY_NUMBER, AT(g4.high_p_local_under), "0", 0, 1,
     .help =
         HELP("the same of a prompt that the local tier answers rightly with less probability, by "
              "the classifier; 0 = off")},
    {"share", CONFIG_KEY_NUMBER, AT(g4.share), "0", 0, 1,
     .help =
         HELP("share of the requests with low stakes that are checked all the same. A plain client "
              "does not wait for that: it is a shadow")},
    {"deadline_ms", CONFIG_KEY_UINT, AT(g4.deadline_ms), "10000", 1, MINUTES_MS(10),
     .help = HELP(
         "a whole answer waits at most this long for its verdict, and then goes out as it is")},
    {"compare", CONFIG_KEY_CHOICE, AT(g4.compare), "meaning", .choices = compare_names,
     .help = HELP("when two answers are the same; structure: leaves of JSON, or the numbers")},
};
static const struct config_section g4_section = KEYS_MAP(g4_keys);

static const struct config_key gate_keys[] = {
    {"g0", CONFIG_KEY_SECTION, 0, NULL, .section = &g0_section, .help = HELP("before inference")},
    {"g1", CONFIG_KEY_SECTION, 0, NULL, .section = &g1_section,
     .help = HELP("after the local model has read the prompt")},
    {"g2", CONFIG_KEY_SECTION, 0, NULL, .section = &g2_section, .help = HELP("while tokens come")},
    {"g3", CONFIG_KEY_SECTION, 0, NULL, .section = &g3_section,
     .help = HELP("when the answer is complete")},
    {"g4", CONFIG_KEY_SECTION, 0, NULL, .section = &g4_section,
     .help = HELP("when the answer may be shown already")},
    {"risk", CONFIG_KEY_CHOICE, AT(gates.risk), "5%", .choices = config_risks,
     .help =
         HELP("of a model that 'tandem calibrate' calibrated: largest share of all questions that "
              "may be kept and be wrong")},
    {"hopeless_under", CONFIG_KEY_NUMBER, AT(gates.hopeless_under), "0", 0, 1,
     .help =
         HELP("do not escalate when the classifier expects the next tier to be right with less "
              "probability; 0 = off. Needs a router.classifier that was trained on its answers")},
    {"human_under", CONFIG_KEY_NUMBER, AT(gates.human_under), "0", 0, 1,
     .help =
         HELP("mark an answer of any tier for review by a person when its confidence is lower; 0 = "
              "off")},
    {"commit_tokens", CONFIG_KEY_UINT_ALL, AT(gates.commit_tokens), "32", 0, 4294967294.0,
     .help =
         HELP("local text of a stream is held back for this many tokens, or all; until then the "
              "client does not notice an escalation")},
};
static const struct config_section gate_section = KEYS_MAP(gate_keys);

static const struct config_key shadow_keys[] = {
    {"edge_share", CONFIG_KEY_NUMBER, AT(shadow_edge_share), "0", 0, 1,
     .help = HELP("share of the requests answered by a cloud that the device answers too, in the "
                  "background")},
    {"cloud_share", CONFIG_KEY_NUMBER, AT(shadow_cloud_share), "0", 0, 1,
     .help =
         HELP("share of the requests answered on the device that a cloud answers too, where the "
              "request may go there; costs money")},
};
static const struct config_section shadow_section = KEYS_MAP(shadow_keys);

static const struct config_key hedge_keys[] = {
    {"after_percentile", CONFIG_KEY_UINT, AT(hedge_percentile), "95", 50, 99,
     .help =
         HELP("a tier is slow after this percentile of its measured time to the first text, and "
              "after at most four times its median")},
    {"after_ms", CONFIG_KEY_UINT, AT(hedge_after_ms), "0", 0, MINUTES_MS(10),
     .help = HELP("a fixed time instead of the percentile; 0 = the percentile")},
    {"requests_share", CONFIG_KEY_NUMBER, AT(hedge_share), "0.1", 0.001, 1,
     .help = HELP("most second attempts for each request of the route, so that an outage does not "
                  "double the load")},
};
static const struct config_section hedge_section = KEYS_MAP(hedge_keys);

static const struct config_key ramp_keys[] = {
    {"to", CONFIG_KEY_TEXT, AT(ramp.to), NULL,
     .help = HELP("the tier on which a growing share of the users starts")},
    {"steps", CONFIG_KEY_TEXTS, AT(ramp.steps), NULL, 0, RAMP_STEPS_MAX,
     .help = HELP("percent of the users at each step; default: [1, 5, 20, 50, 100]")},
    {"judged_min", CONFIG_KEY_UINT, AT(ramp.judged_min), "50", 1, 1000000,
     .help = HELP("fewest exchanges that must be judged before the next step")},
    {"disagreement_max", CONFIG_KEY_NUMBER, AT(ramp.disagreement_max), "0.2", 0.01, 0.9,
     .help = HELP("the ramp stops when a larger share of shadow answers differs")},
    {"loss_margin", CONFIG_KEY_NUMBER, AT(ramp.loss_margin), "0.05", 0.01, 0.5,
     .help =
         HELP("the ramp goes back when the share of exchanges that fail, are late or are disliked "
              "grows by more")},
    {"slo_ms", CONFIG_KEY_UINT, AT(ramp.slo_ms), "0", 0, MINUTES_MS(10),
     .help = HELP("an answer after this time is late; 0 = only where the request sets a time")},
};
static const struct config_section ramp_section = KEYS_MAP(ramp_keys);

static const struct config_key document_keys[] = {
    {"stay", CONFIG_KEY_CHOICE, AT(documents.stay), "off", .choices = stay_names,
     .help = HELP(
         "long texts of requests go no farther than this place. A tier beyond it is asked what "
         "the device shall look for in them, and gets passages with their places, scanned and "
         "masked as its requests are; off: they go as requests go")},
    {"bytes_min", CONFIG_KEY_UINT, AT(documents.bytes_min), "6000", 200, 100000000,
     .help = HELP(
         "a text of a message from this length on is a document; what stands between <document> "
         "and </document> is one whatever its length")},
    {"rounds", CONFIG_KEY_UINT, AT(documents.rounds), "5", 1, DOCUMENT_ROUNDS_MAX,
     .help = HELP("times that a tier may have documents read for one answer")},
    {"share_max", CONFIG_KEY_NUMBER, AT(documents.share_max), "0.2", 0.001, 1,
     .help = HELP("largest share of the documents that is quoted to it, at most 64 KiB")},
};
static const struct config_section document_section = KEYS_MAP(document_keys);

static const struct config_key weight_keys[] = {KEYS_WEIGHTS};
static const struct config_section weights_section = KEYS_MAP(weight_keys);

static const struct config_key route_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("a request may name it as its model; the first route also serves the name auto")},
    {"aliases", CONFIG_KEY_TEXTS, AT(aliases), NULL, 0, CONFIG_NAMES_MAX,
     .help = HELP(
         "further names of the route, as in [gpt-4o-mini, \"claude-*\"]; * stands for any text. "
         "Exact names go before patterns. Default: the first route takes gpt-*, chatgpt-*, "
         "codex-*, o1*, o3*, o4*, claude-* and gemini-*")},
    {"kind", CONFIG_KEY_CHOICE, AT(kind), NULL, .choices = kind_names, .required = true,
     .help = HELP("what the route may ever do; no other key can widen it")},
    {"tiers", CONFIG_KEY_TEXTS, AT(tiers), NULL, 0, RUNGS_MAX, .required = true,
     .help = HELP("the ladder: names of tiers, nearest and cheapest first")},
    {"start", CONFIG_KEY_TEXT, AT(start), NULL,
     .help = HELP("tier to start on; default: the first that is allowed")},
    {"data_class", CONFIG_KEY_CHOICE, AT(data_class), "public", .choices = names_classes,
     .help = HELP("requests of this route have at least this class")},
    {"region", CONFIG_KEY_TEXT, AT(region), NULL,
     .help =
         HELP("only the device, the premises, and tiers whose region begins like this may answer, "
              "as in eu")},
    {"no_train", CONFIG_KEY_BOOL, AT(no_train), "false",
     .help = HELP("only tiers with no_train may answer")},
    {"no_retention", CONFIG_KEY_BOOL, AT(no_retention), "false",
     .help = HELP("only tiers with no_retention may answer")},
    {"consent", CONFIG_KEY_CHOICE, AT(consent), "none", .choices = consent_names,
     .help =
         HELP("required: nothing leaves the device without a consent (POST /tandem/v1/consents)")},
    {"pseudonyms", CONFIG_KEY_BOOL, AT(pseudonyms), "true",
     .help = HELP("private values may be replaced, when privacy.pseudonyms is on")},
    {"strict", CONFIG_KEY_BOOL, AT(strict), "false",
     .help = HELP("also replace likely names and unknown numbers, as privacy.pseudonyms.strict")},
    {"zero_retention", CONFIG_KEY_BOOL, AT(zero_retention), "false",
     .help = HELP("store only numbers about its exchanges, and keep nothing in caches")},
    {"mode", CONFIG_KEY_CHOICE, AT(mode), "auto", .choices = names_modes,
     .help = HELP("mode of requests that name none")},
    {"gates", CONFIG_KEY_SECTION, 0, NULL, .section = &gate_section,
     .help = HELP("when a request moves on to the next tier")},
    {"shadow", CONFIG_KEY_SECTION, 0, NULL, .section = &shadow_section,
     .help = HELP("second answers that are only compared")},
    {"ramp", CONFIG_KEY_SECTION, 0, NULL, .section = &ramp_section,
     .help = HELP("moves users to another tier step by step, and back when too much is lost")},
    {"documents", CONFIG_KEY_SECTION, 0, NULL, .section = &document_section,
     .help = HELP("long texts that stay, while a tier elsewhere has them read")},
    {"climb", CONFIG_KEY_CHOICE, AT(climb), "sequential", .choices = climb_names,
     .help =
         HELP("hedged: when a tier is slow, the next is asked as well; the first answer is given. "
              "race: the first two are asked at once")},
    {"settle", CONFIG_KEY_CHOICE, AT(settle), "first_good", .choices = settle_names,
     .help = HELP(
         "whose answer a race gives. strongest: the higher tier's, unless it fails; agreement: "
         "the lower tier's when both say the same (gates.g4.compare), else the higher one's")},
    {"hedge", CONFIG_KEY_SECTION, 0, NULL, .section = &hedge_section,
     .help = HELP("when a tier is slow, and how often a second tier may be asked")},
    {"overflow_after_ms", CONFIG_KEY_UINT, AT(overflow_after_ms), "2000", 0, MINUTES_MS(10),
     .help =
         HELP("a request that would wait longer for its turn on a busy tier starts on another one "
              "that is free; 0 = never")},
    {"explore_share", CONFIG_KEY_NUMBER, AT(explore_share), "0", 0, 0.5,
     .help =
         HELP("share of the requests that start on another tier by a draw, so that 'tandem replay' "
              "can judge policies that never ran; only where gates or weights choose the start")},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &weights_section,
     .help = HELP("what counts, for requests that bring no weights")},
};
const struct config_section keys_route = KEYS_LIST(route_keys, struct config_route);
