#include "test.h"

#include "api/http/metrics.h"
#include "base/core/str.h"

static bool has(const struct buf *text, const char *line)
{
    return str_find(buf_view(text), str_from(line), 0) != SIZE_MAX;
}

static void test_shards_are_added_up(void)
{
    struct metrics *metrics = metrics_new(2);
    struct buf out;
    buf_init(&out, 1 << 20);
    metrics_add(metrics, 0, METRICS_REQUESTS, "code=\"200\"", 1);
    metrics_add(metrics, 1, METRICS_REQUESTS, "code=\"200\"", 2);
    metrics_add(metrics, 1, METRICS_REQUESTS, "code=\"400\"", 1);
    metrics_add(metrics, 0, METRICS_IN_FLIGHT, "", 1);
    metrics_add(metrics, 1, METRICS_IN_FLIGHT, "", -1);
    metrics_write(metrics, &out);
    CHECK(has(&out, "tandem_http_requests_total{code=\"200\"} 3\n"));
    CHECK(has(&out, "tandem_http_requests_total{code=\"400\"} 1\n"));
    CHECK(has(&out, "tandem_exchanges_in_flight 0\n"));
    buf_deinit(&out);
    metrics_free(metrics);
}

static void test_histogram_buckets_are_cumulative(void)
{
    struct metrics *metrics = metrics_new(1);
    struct buf out;
    buf_init(&out, 1 << 20);
    metrics_observe(metrics, 0, METRICS_TTFT_SECONDS, "tier=\"local\"", 0.004);
    metrics_observe(metrics, 0, METRICS_TTFT_SECONDS, "tier=\"local\"", 0.3);
    metrics_observe(metrics, 0, METRICS_TTFT_SECONDS, "tier=\"local\"", 1000);
    metrics_write(metrics, &out);
    CHECK(has(&out, "tandem_ttft_seconds_bucket{tier=\"local\",le=\"0.0025\"} 0\n"));
    CHECK(has(&out, "tandem_ttft_seconds_bucket{tier=\"local\",le=\"0.005\"} 1\n"));
    CHECK(has(&out, "tandem_ttft_seconds_bucket{tier=\"local\",le=\"120\"} 2\n"));
    CHECK(has(&out, "tandem_ttft_seconds_bucket{tier=\"local\",le=\"+Inf\"} 3\n"));
    CHECK(has(&out, "tandem_ttft_seconds_count{tier=\"local\"} 3\n"));
    buf_deinit(&out);
    metrics_free(metrics);
}

static void test_histograms_of_all_shards_are_added_up_with_their_sums(void)
{
    struct metrics *metrics = metrics_new(2);
    struct buf out;
    buf_init(&out, 1 << 20);
    for (uint32_t shard = 0; shard < 4; shard++) { /* the third is the first again */
        metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, "", 0.5); /* on a bound */
        metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, "", 0.501);
    }
    metrics_write(metrics, &out);
    CHECK(has(&out, "tandem_exchange_seconds_bucket{le=\"0.25\"} 0\n"));
    CHECK(has(&out, "tandem_exchange_seconds_bucket{le=\"0.5\"} 4\n"));
    CHECK(has(&out, "tandem_exchange_seconds_bucket{le=\"1\"} 8\n"));
    CHECK(has(&out, "tandem_exchange_seconds_bucket{le=\"+Inf\"} 8\n"));
    CHECK(has(&out, "tandem_exchange_seconds_sum{} 4.004\n"));
    CHECK(has(&out, "tandem_exchange_seconds_count{} 8\n"));
    buf_clear(&out);
    metrics_write_value(&out, "n", "what it is", 2.5);
    CHECK(str_equal(buf_view(&out), STR("# HELP n what it is\n# TYPE n gauge\nn 2.5\n")));
    buf_deinit(&out);
    metrics_free(metrics);
    metrics = metrics_new(0); /* one at least */
    REQUIRE(metrics);
    metrics_add(metrics, 5, METRICS_RETRIES, "", 1);
    metrics_free(metrics);
    metrics_free(NULL);
}

/* A label that fits to the last byte, and one that is a byte longer. */
static void test_a_label_is_added_whole_or_not_at_all(void)
{
    for (size_t over = 0; over < 2; over++) {
        char labels[METRICS_LABELS_BYTES + 1] = "", value[METRICS_LABELS_BYTES], first[128];
        labels[METRICS_LABELS_BYTES] = '#'; /* not ours to write */
        metrics_label(labels, "a", "it stands");
        snprintf(first, sizeof first, "%s", labels);
        size_t room = METRICS_LABELS_BYTES - 1 - strlen(labels) - strlen(",b=\"\"");
        memset(value, ' ', room + over);
        value[room + over] = '\0';
        memset(labels + strlen(labels) + 1, 'x', METRICS_LABELS_BYTES - strlen(labels) - 1);
        metrics_label(labels, "b", value);
        CHECK(strlen(labels) == (over ? strlen(first) : METRICS_LABELS_BYTES - 1));
        CHECK(strncmp(labels, first, strlen(first)) == 0);
        CHECK(over || (labels[METRICS_LABELS_BYTES - 2] == '"' && !strchr(labels, '?')));
    }
    char labels[METRICS_LABELS_BYTES] = "";
    metrics_label(labels, "a", NULL);
    metrics_label(labels, "b", "\x1f\x20\x7e");
    CHECK(strcmp(labels, "a=\"none\",b=\"? ~\"") == 0);
}

static void test_series_are_bounded(void)
{
    struct metrics *metrics = metrics_new(1);
    struct buf out;
    buf_init(&out, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        char labels[METRICS_LABELS_BYTES] = "", name[16];
        snprintf(name, sizeof name, "r%d", i);
        metrics_label(labels, "route", name);
        metrics_add(metrics, 0, METRICS_EXCHANGES, labels, 1);
    }
    metrics_write(metrics, &out);
    CHECK(has(&out, "tandem_exchanges_total{series=\"other\"} 745\n")); /* 255 have their own */
    buf_deinit(&out);
    metrics_free(metrics);
}

static void test_labels_are_escaped_and_never_cut_in_half(void)
{
    char labels[METRICS_LABELS_BYTES] = "";
    metrics_label(labels, "a", "x\"y\\z\n");
    CHECK(strcmp(labels, "a=\"x\\\"y\\\\z?\"") == 0);
    char value[400];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    metrics_label(labels, "b", value);
    size_t len = strlen(labels);
    CHECK(len < METRICS_LABELS_BYTES && labels[len - 1] == '"');
    metrics_label(labels, "c", NULL);
    CHECK(strlen(labels) < METRICS_LABELS_BYTES && labels[strlen(labels) - 1] == '"');
}

int main(void)
{
    RUN(test_shards_are_added_up);
    RUN(test_histogram_buckets_are_cumulative);
    RUN(test_histograms_of_all_shards_are_added_up_with_their_sums);
    RUN(test_a_label_is_added_whole_or_not_at_all);
    RUN(test_series_are_bounded);
    RUN(test_labels_are_escaped_and_never_cut_in_half);
    return test_finish();
}
