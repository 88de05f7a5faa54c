/* tandem: finds the subcommand in one table and runs it. */
#include "app/cli/command.h"
#include "app/config/config.h"
#include "base/str.h"

#include <stdio.h>

struct verb {
    const char *name;
    command_fn *run;
    const char *help; /* NULL: for the program itself, not in the list */
};

static command_fn cmd_help;

static const struct verb verbs[] = {
    {"serve", cmd_serve, "serve the OpenAI-compatible endpoint"},
    {"chat", cmd_chat, "talk in the terminal, or ask one question"},
    {"confined", cmd_confined, NULL},
    {"explain", cmd_explain, "say why an exchange was answered where it was"},
    {"doctor", cmd_doctor, "check the installation and say what to do"},
    {"models", cmd_models, "pull, list, describe and remove models; list tiers"},
    {"scan", cmd_scan, "find what is private in a text"},
    {"redact", cmd_redact, "put placeholders for what is private, and back"},
    {"tokenize", cmd_tokenize, "text on standard input to token ids"},
    {"detokenize", cmd_detokenize, "token ids on standard input to text"},
    {"template", cmd_template, "render chat messages with the model's template"},
    {"generate", cmd_generate, "continue a text"},
    {"embed", cmd_embed, "texts to vectors"},
    {"logits", cmd_logits, "run ids through the model, write the logits"},
    {"perplexity", cmd_perplexity, "how well the model predicts a text"},
    {"score", cmd_score, "how probable labels or a text are after a prompt"},
    {"probe", cmd_probe, "train a probe for a model from prompts and outcomes"},
    {"bench", cmd_bench, "measure the engine"},
    {"policy", cmd_policy, "check a policy, and test it against assertions"},
    {"router", cmd_router, "train and ask the classifier of prompts"},
    {"egress", cmd_egress, "what left the device, and the proof of it"},
    {"forget", cmd_forget, "erase what is held of a user"},
    {"replay", cmd_replay, "the ledger's exchanges under another policy"},
    {"report", cmd_report, "exchanges by tier, cost, saving, latency"},
    {"tco", cmd_tco, "from which volume on a local tier pays"},
    {"version", cmd_version, "print the version"},
    {"help", cmd_help, "this list; 'help VERB', 'help config'"},
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[VERB_COUNT];
    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    const char *near = str_nearest(str_from(name), names, VERB_COUNT);
    fprintf(stderr, "tandem: unknown subcommand '%.60s'%s%s%s\nTry 'tandem help'.\n", name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return 2;
}

static void print_overview(FILE *out)
{
    fprintf(out, "tandem " TANDEM_VERSION
                 ": a local model and larger ones elsewhere behind one endpoint\n\n"
                 "Usage: tandem VERB [options]\n\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (verbs[i].help)
            fprintf(out, "  %-12s %s\n", verbs[i].name, verbs[i].help);
    fprintf(out, "\n'tandem VERB --help' explains a verb.\n");
}

static int cmd_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return 0;
    }
    if (strcmp(argv[1], "config") == 0) {
        struct buf text;
        buf_init(&text, 1u << 20);
        config_write_help(&text);
        bool ok = !text.failed && command_print(buf_view(&text));
        buf_deinit(&text);
        return ok ? 0 : 1;
    }
    const struct verb *verb = verb_find(argv[1]);
    if (!verb)
        return unknown_verb(argv[1]);
    char help[] = "--help";
    char *arguments[] = {argv[1], help, NULL};
    return verb->run == cmd_help ? cmd_help(1, argv) : verb->run(2, arguments);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct verb *verb = verb_find(name);
    return verb ? verb->run(argc - 1, argv + 1) : unknown_verb(name);
}
