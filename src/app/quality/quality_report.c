#include "app/quality/quality_report.h"

#include "base/json/json.h"

#include <math.h>
#include <stdio.h>

#define NAME_COLUMNS 24
#define GROUP_COLUMNS 33

/* "1,234,567" */
static const char *grouped(uint64_t value, char out[static 32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* A name in a column: what does not fit is cut, never inside a character of UTF-8. */
static void put_name(const char *name, size_t columns, struct buf *out)
{
    size_t wide = 0, len = 0;
    for (; name[len] && wide < columns; len++)
        wide += ((unsigned char)name[len] & 0xC0) != 0x80;
    while (((unsigned char)name[len] & 0xC0) == 0x80)
        len++;
    buf_printf(out, "%.*s%*s", (int)len, name, (int)(columns - wide), "");
}

static void put_share(double share, struct buf *out)
{
    buf_printf(out, " %5.1f %%", 100 * share);
}

static void put_flips(const struct flips_group *flips, struct buf *out)
{
    char count[40];
    snprintf(count, sizeof count, "%zu of %zu", flips->flips, flips->count);
    buf_printf(out, " %13s", count);
    put_share((double)flips->flips / (double)flips->count, out);
    buf_printf(out, " [%4.1f, %5.1f]", 100 * flips->low, 100 * flips->high);
}

/* --- text --- */

static void write_sizes(const struct quality *quality, struct buf *out)
{
    char bytes[32], memory[32];
    buf_printf(out, "%-24s %-7s %15s %15s %7s %7s\n", "model", "type", "bytes", "memory", "prefill",
               "decode");
    for (size_t i = 0; i < quality->model_count; i++) {
        const struct quality_model *model = &quality->models[i];
        put_name(model->name, NAME_COLUMNS, out);
        buf_printf(out, " %-7.7s %15s %15s", model->quantization, grouped(model->file_bytes, bytes),
                   grouped(model->memory_bytes, memory));
        if (model->speed.prefill_tokens_per_s > 0)
            buf_printf(out, " %7.0f %7.1f", model->speed.prefill_tokens_per_s,
                       model->speed.decode_tokens_per_s);
        buf_printf(out, "\n");
    }
    buf_printf(out, "memory: weights and a cache of %u tokens", quality->models[0].context_tokens);
    if (quality->models[0].speed.thread_count)
        buf_printf(out, "; speed: tokens/s of %u threads", quality->models[0].speed.thread_count);
    buf_printf(out, "\n");
}

static void write_tokens(const struct divergence_result *result, struct buf *out)
{
    buf_printf(out, " %9.5f +-%8.5f %8.4f", result->kld_mean, result->kld_error, result->kld_p99);
    put_share(result->same_top, out);
}

static void write_texts(const struct quality *quality, struct buf *out)
{
    buf_printf(out, "\nTexts, %llu tokens; perplexity of the reference %.4f\n",
               (unsigned long long)quality->text_tokens,
               quality->models[1].texts.perplexity_reference);
    buf_printf(out, "%-24s %9s   %8s %8s %7s %11s\n", "candidate", "KLD", "", "99 %", "same",
               "perplexity");
    for (size_t i = 1; i < quality->model_count; i++) {
        put_name(quality->models[i].name, NAME_COLUMNS, out);
        write_tokens(&quality->models[i].texts, out);
        buf_printf(out, " %11.4f\n", quality->models[i].texts.perplexity);
    }
}

static void write_answers(const struct quality *quality, struct buf *out)
{
    buf_printf(out, "\nAnswers to %zu prompts", quality->cases.count);
    if (quality->cases.line_count > quality->cases.count)
        buf_printf(out, " of %zu", quality->cases.line_count);
    if (quality->cases.long_count)
        buf_printf(out, " (%zu are too long)", quality->cases.long_count);
    buf_printf(out, ", %llu tokens", (unsigned long long)quality->models[1].answers.token_count);
    if (quality->known_count)
        buf_printf(out, "; the reference has %zu of %zu right", quality->models[0].right_count,
                   quality->known_count);
    buf_printf(out, "\n%-24s %9s   %8s %8s %7s%s\n", "candidate", "KLD", "", "99 %", "same",
               quality->known_count ? "   right    lost" : "");
    for (size_t i = 1; i < quality->model_count; i++) {
        const struct quality_model *model = &quality->models[i];
        put_name(model->name, NAME_COLUMNS, out);
        write_tokens(&model->answers, out);
        if (quality->known_count)
            buf_printf(out, " %7zu %7zu", model->right_count, model->lost_count);
        buf_printf(out, "\n");
    }
}

static void write_flips(const struct quality *quality, const struct quality_model *model,
                        struct buf *out)
{
    bool marked = false;
    buf_printf(out, "\n");
    put_name(model->name, NAME_COLUMNS, out);
    buf_printf(out, "%*s %13s %7s %13s %8s\n", GROUP_COLUMNS - NAME_COLUMNS + 2, "",
               "other answers", "share", "95 %", "KLD");
    buf_printf(out, "  %-*s", GROUP_COLUMNS, "all prompts");
    put_flips(&model->flips, out);
    buf_printf(out, " %8.4f\n", model->answers.kld_mean);
    for (size_t g = 0; g < quality->group_count; g++) {
        const struct quality_group *group = &quality->groups[g];
        const struct quality_score *score = &model->scores[g];
        char name[QUALITY_NAME_BYTES + 16];
        snprintf(name, sizeof name, "%s %s", group->is_task ? "task" : "cluster", group->name);
        buf_printf(out, "%s ", score->flips.stands_out ? "*" : " ");
        put_name(name, GROUP_COLUMNS, out);
        put_flips(&score->flips, out);
        buf_printf(out, " %8.4f\n", score->kld);
        marked |= score->flips.stands_out;
    }
    if (marked)
        buf_printf(out,
                   "* flips more than the others do: chance makes one such mark in %.0f "
                   "evaluations\n",
                   1 / FLIPS_ALPHA);
}

static void write_verdict(const struct quality_model *model, const struct quality_verdict *verdict,
                          struct buf *out)
{
    buf_printf(out, "\n%s: %s\n", verdict->reason_count ? "REFUSED" : "PROMOTED", model->name);
    for (size_t i = 0; i < verdict->reason_count; i++)
        buf_printf(out, "  %s\n", verdict->reasons[i]);
    for (size_t i = 0; i < verdict->note_count; i++)
        buf_printf(out, "  not clear: %s\n", verdict->notes[i]);
}

void quality_report_text(const struct quality *quality, const struct quality_verdict *verdicts,
                         struct buf *out)
{
    write_sizes(quality, out);
    if (quality->text_tokens)
        write_texts(quality, out);
    if (quality->cases.count) {
        write_answers(quality, out);
        for (size_t i = 1; i < quality->model_count; i++)
            write_flips(quality, &quality->models[i], out);
    }
    for (size_t i = 1; verdicts && i < quality->model_count; i++)
        write_verdict(&quality->models[i], &verdicts[i], out);
}

/* --- JSON --- */

static struct json *tokens_json(const struct divergence_result *result, bool perplexity)
{
    struct json *object = json_new_object();
    json_put(object, "tokens", json_new_int((int64_t)result->token_count));
    json_put(object, "kld", json_new_double(result->kld_mean));
    json_put(object, "kld_error", json_new_double(result->kld_error));
    json_put(object, "kld_p99", json_new_double(result->kld_p99));
    json_put(object, "kld_max", json_new_double(result->kld_max));
    json_put(object, "same_top", json_new_double(result->same_top));
    if (perplexity) {
        json_put(object, "perplexity", json_new_double(result->perplexity));
        json_put(object, "perplexity_reference", json_new_double(result->perplexity_reference));
    }
    return object;
}

static void put_flips_json(struct json *object, const struct flips_group *flips)
{
    json_put(object, "prompts", json_new_int((int64_t)flips->count));
    json_put(object, "flips", json_new_int((int64_t)flips->flips));
    json_put(object, "share", json_new_double((double)flips->flips / (double)flips->count));
    json_put(object, "share_low", json_new_double(flips->low));
    json_put(object, "share_high", json_new_double(flips->high));
}

static struct json *groups_json(const struct quality *quality, const struct quality_model *model)
{
    struct json *list = json_new_array();
    for (size_t g = 0; g < quality->group_count; g++) {
        const struct quality_score *score = &model->scores[g];
        struct json *object = json_new_object();
        json_put(object, "kind", json_new_cstr(quality->groups[g].is_task ? "task" : "cluster"));
        json_put(object, "name", json_new_cstr(quality->groups[g].name));
        put_flips_json(object, &score->flips);
        json_put(object, "p", json_new_double(score->flips.p));
        json_put(object, "stands_out", json_new_bool(score->flips.stands_out));
        json_put(object, "kld", json_new_double(score->kld));
        json_put(object, "kld_error", json_new_double(score->kld_error));
        json_push(list, object);
    }
    return list;
}

static struct json *lines_json(const char lines[][QUALITY_REASON_BYTES], size_t count)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(list, json_new_cstr(lines[i]));
    return list;
}

static struct json *model_json(const struct quality *quality, const struct quality_model *model)
{
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(model->path));
    json_put(object, "quantization", json_new_cstr(model->quantization));
    json_put(object, "parameters", json_new_int((int64_t)model->parameter_count));
    json_put(object, "file_bytes", json_new_int((int64_t)model->file_bytes));
    json_put(object, "memory_bytes", json_new_int((int64_t)model->memory_bytes));
    json_put(object, "context_tokens", json_new_int(model->context_tokens));
    if (model->speed.prefill_tokens_per_s > 0) {
        json_put(object, "prefill_tokens_per_s",
                 json_new_double(model->speed.prefill_tokens_per_s));
        json_put(object, "decode_tokens_per_s", json_new_double(model->speed.decode_tokens_per_s));
    }
    if (quality->known_count)
        json_put(object, "right", json_new_int((int64_t)model->right_count));
    return object;
}

static struct json *candidate_json(const struct quality *quality, size_t number,
                                   const struct quality_verdict *verdict)
{
    const struct quality_model *model = &quality->models[number];
    struct json *object = model_json(quality, model);
    if (model->texts.token_count)
        json_put(object, "texts", tokens_json(&model->texts, true));
    if (model->flips.count) {
        struct json *answers = tokens_json(&model->answers, false);
        put_flips_json(answers, &model->flips);
        if (quality->known_count)
            json_put(answers, "lost", json_new_int((int64_t)model->lost_count));
        json_put(answers, "groups", groups_json(quality, model));
        json_put(object, "answers", answers);
    }
    if (verdict) {
        json_put(object, "promoted", json_new_bool(verdict->reason_count == 0));
        json_put(object, "reasons", lines_json(verdict->reasons, verdict->reason_count));
        json_put(object, "notes", lines_json(verdict->notes, verdict->note_count));
    }
    return object;
}

struct json *quality_report_json(const struct quality *quality,
                                 const struct quality_verdict *verdicts)
{
    struct json *object = json_new_object(), *list = json_new_array();
    json_put(object, "reference", model_json(quality, &quality->models[0]));
    for (size_t i = 1; i < quality->model_count; i++)
        json_push(list, candidate_json(quality, i, verdicts ? &verdicts[i] : NULL));
    json_put(object, "candidates", list);
    json_put(object, "lines", json_new_int((int64_t)quality->cases.line_count));
    json_put(object, "too_long", json_new_int((int64_t)quality->cases.long_count));
    json_put(object, "known", json_new_int((int64_t)quality->known_count));
    return object;
}
