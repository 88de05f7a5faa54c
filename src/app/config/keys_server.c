/* Keys of the HTTP server, the ledger and the log. */
#define HELP_OF 5
#include "app/config/keys.h"

#include "base/time/log.h"
#include "net/transport/address_set.h"
#include "net/transport/tls.h"

#define AT(member) offsetof(struct config, member)

static const char *const client_auth_names[] = {"required", "optional", NULL};

#undef AT
#define AT(member) offsetof(struct config_certificate, member)
static const struct config_key certificate_keys[] = {
    {"certificate_file", CONFIG_KEY_TEXT, AT(certificate_file), NULL, .required = true,
     .help = HELP("PEM file with a certificate and those that lead to its authority")},
    {"key_file", CONFIG_KEY_TEXT, AT(key_file), NULL,
     .help = HELP("PEM file with its private key; default: certificate_file")},
};
static const struct config_section certificate_section =
    KEYS_LIST(certificate_keys, struct config_certificate);
#undef AT
#define AT(member) offsetof(struct config, member)

static const struct config_key tls_keys[] = {
    {"certificate_file", CONFIG_KEY_TEXT, AT(server.tls.certificate_file), NULL,
     .help = HELP(
         "PEM file with the server's certificate and those that lead to its authority; with it, "
         "all ports speak TLS 1.2 or 1.3")},
    {"key_file", CONFIG_KEY_TEXT, AT(server.tls.key_file), NULL,
     .help = HELP(
         "PEM file with its private key, which others may not read; default: certificate_file")},
    {"client_ca_file", CONFIG_KEY_TEXT, AT(server.tls.client_ca_file), NULL,
     .help = HELP(
         "PEM file with the authorities of clients' certificates; without it no client is asked "
         "for one")},
    {"client_auth", CONFIG_KEY_CHOICE, AT(server.tls.client_auth), "required",
     .choices = client_auth_names, .help = HELP("whether a client must show a certificate")},
    {"more", CONFIG_KEY_SECTIONS, AT(server.tls.more), NULL, 0, TLS_MORE_MAX,
     .section = &certificate_section, .count_offset = AT(server.tls.more_count),
     .help = HELP(
         "further certificates, as in [{certificate_file: b.pem, key_file: b.key}]: the one for "
         "the name that a client asks for (SNI) is shown, else the first")},
};
static const struct config_section tls_section = KEYS_MAP(tls_keys);

static const char *const edit_names[] = {"off", "local", "on", NULL}; /* enum config_edit */

static const struct config_key server_keys[] = {
    {"listen", CONFIG_KEY_WORDS, AT(server.listens), NULL, 0, CONFIG_LISTENS_MAX,
     .help =
         HELP("HOST:PORT or unix:/PATH to listen on, or a list of them; port 0 takes a free one. "
              "Default: 127.0.0.1:8080. TANDEM_LISTEN overrides it")},
    {"unix_mode", CONFIG_KEY_TEXT, AT(server.unix_mode), "0660",
     .help = HELP("mode of the sockets of paths, in octal digits: who may connect")},
    {"proxy_protocol_from", CONFIG_KEY_WORDS, AT(server.proxy_protocol_from), NULL, 0,
     ADDRESS_SET_MAX,
     .help = HELP(
         "addresses and networks of proxies, as in 10.0.0.0/8, or unix; their connections must "
         "begin with a PROXY header (version 1 or 2), which says whose they are")},
    {"tls", CONFIG_KEY_SECTION, 0, NULL, .section = &tls_section,
     .help = HELP(
         "encryption of the ports; sockets of paths have none. Files that change are read again")},
    {"http2", CONFIG_KEY_BOOL, AT(server.http2), "true",
     .help = HELP(
         "clients may speak HTTP/2: by ALPN on ports with TLS, elsewhere with prior knowledge")},
    {"workers", CONFIG_KEY_UINT, AT(server.workers), "0", 0, 256,
     .help =
         HELP("event loops, each with one more for large requests; 0 = 2, or 1 on a machine with "
              "one core")},
    {"body_bytes_max", CONFIG_KEY_UINT, AT(server.body_bytes_max), "33554432", 1024, 268435456,
     .help = HELP("larger request bodies get 413")},
    {"buffered_bytes_max", CONFIG_KEY_UINT, AT(server.buffered_bytes_max), "0", 0, 4294967295,
     .help = HELP("bodies of all requests that arrive or are in work; above it large ones are read "
                  "later; 0 = a 64th of the free memory, 32 to 128 MiB")},
    {"header_bytes_max", CONFIG_KEY_UINT, AT(server.header_bytes_max), "16384", 1024, 1048576,
     .help = HELP("larger request headers are refused")},
    {"answer_bytes_max", CONFIG_KEY_UINT, AT(server.answer_bytes_max), "8388608", 65536, 268435456,
     .help = HELP("the largest answer that is not streamed")},
    {"pad_stream_bytes", CONFIG_KEY_UINT, AT(server.pad_stream_bytes), "0", 0, 16384,
     .help = HELP("each event of a stream is padded to a multiple of this, so that its length says "
                  "little about the text; 0 = only for clients that ask")},
    {"connections_max", CONFIG_KEY_UINT, AT(server.connections_max), "1024", 0, 1000000,
     .help =
         HELP("most open connections of a worker; a new one takes the place of one that waits, or "
              "gets 503; 0 = no limit")},
    {"ignore_client_abort", CONFIG_KEY_BOOL, AT(server.ignore_client_abort), "false",
     .help = HELP(
         "a client that shuts its sending side still gets its answer; one that left is noticed "
         "later")},
    {"header_timeout_ms", CONFIG_KEY_UINT, AT(server.header_timeout_ms), "10000", 100,
     MINUTES_MS(10),
     .help =
         HELP("a whole request must arrive within this time; a second more for each 128 KiB of its "
              "body that has come")},
    {"idle_timeout_ms", CONFIG_KEY_UINT, AT(server.idle_timeout_ms), "75000", 100, MINUTES_MS(60),
     .help = HELP("an idle keep-alive connection is closed after this time")},
    {"deadline_ms", CONFIG_KEY_UINT, AT(server.deadline_ms), "600000", 0, MINUTES_MS(600),
     .help = HELP("longest time for an exchange with all its attempts; 0 = no limit")},
    {"shutdown_timeout_ms", CONFIG_KEY_UINT, AT(server.shutdown_timeout_ms), "10000", 0,
     MINUTES_MS(10), .help = HELP("time that running exchanges get to finish after SIGTERM")},
    {"cors_origins", CONFIG_KEY_TEXTS, AT(server.cors_origins), NULL, 0, CONFIG_ORIGINS_MAX,
     .help = HELP("web pages that may use this server: https://host, or \"*\" for all")},
    {"local_origins", CONFIG_KEY_BOOL, AT(server.local_origins), "false",
     .help = HELP("also pages and programs of the user's own machine: http://localhost:PORT, "
                  "vscode-webview, app, tauri, capacitor and browsers' extensions")},
    {"console", CONFIG_KEY_BOOL, AT(server.console), "true",
     .help = HELP("a web application at / (docs/console.md); false: a short page without it")},
    {"config_edit", CONFIG_KEY_CHOICE, AT(server.config_edit), "local", .choices = edit_names,
     .help = HELP("where an operator's key may change this file by the console or the API: off; "
                  "local: where no other machine reaches the server; on; needs a restart")},
    {"allowed_hosts", CONFIG_KEY_TEXTS, AT(server.allowed_hosts), NULL, 0, CONFIG_ORIGINS_MAX,
     .help = HELP(
         "names by which clients may call this server, beside localhost and addresses; \"*\" = "
         "any")},
    {"api_keys_env", CONFIG_KEY_TEXT, AT(server.api_keys_env), NULL,
     .help =
         HELP("environment variable with the keys that clients must send, separated by commas")},
    {"api_keys_file", CONFIG_KEY_TEXT, AT(server.api_keys_file), NULL,
     .help = HELP("file with the keys that clients must send, one a line; SIGHUP reads it again")},
    {"operator_keys_env", CONFIG_KEY_TEXT, AT(server.operator_keys_env), NULL,
     .help = HELP(
         "environment variable with the operator's keys, which may see and forget everything")},
    {"operator_keys_file", CONFIG_KEY_TEXT, AT(server.operator_keys_file), NULL,
     .help = HELP("file with the operator's keys, one a line; SIGHUP reads it again")},
    {"without_keys", CONFIG_KEY_BOOL, AT(server.without_keys), "false",
     .help = HELP("listen where other machines can reach it although no key is needed")},
    {"api_keys", CONFIG_KEY_REFUSED, 0, NULL,
     .help =
         HELP("keys are never written into the configuration: use api_keys_env or api_keys_file")},
};
const struct config_section keys_server = KEYS_MAP(server_keys);

static const struct config_key responses_keys[] = {
    {"keep_s", CONFIG_KEY_UINT, AT(responses.keep_s), "86400", 0, 31622400,
     .help =
         HELP("how long after its last use; 0 = none is kept; off with privacy.zero_retention")},
    {"bytes_max", CONFIG_KEY_UINT, AT(responses.bytes_max), "268435456", 1048576, 4294967295,
     .help = HELP(
         "of all callers together; above it, what the caller with most has used least recently "
         "is dropped")},
    {"caller_bytes_max", CONFIG_KEY_UINT, AT(responses.caller_bytes_max), "67108864", 65536,
     4294967295, .help = HELP("of one caller; above it, what was used least recently is dropped")},
    {"caller_count_max", CONFIG_KEY_UINT, AT(responses.caller_count_max), "10000", 1, 1000000,
     .help = HELP("most responses and conversations of one caller")},
};
const struct config_section keys_responses = KEYS_MAP(responses_keys);

/* enum cache_answers */
static const char *const answers_names[] = {"off", "deterministic", "all", NULL};

static const struct config_key cache_keys[] = {
    {"answers", CONFIG_KEY_CHOICE, AT(cache.answers), "off", .choices = answers_names,
     .help =
         HELP("which are kept: off; deterministic: those to requests with temperature 0 or a seed, "
              "and to those that ask for it; all")},
    {"ttl_s", CONFIG_KEY_UINT, AT(cache.ttl_s), "3600", 1, 31622400,
     .help = HELP("an answer is given again for so long")},
    {"bytes_max", CONFIG_KEY_UINT, AT(cache.bytes_max), "67108864", 65536, 4294967295,
     .help = HELP("of all callers together; above it, what was used least recently is dropped")},
    {"on_disk", CONFIG_KEY_BOOL, AT(cache.on_disk), "false",
     .help =
         HELP("they are kept over a restart, encrypted, in the state folder; the file is read and "
              "removed at the start and written at the end")},
    {"similar", CONFIG_KEY_BOOL, AT(cache.similar), "false",
     .help =
         HELP("an answer is also given to a similar question, where all else of the request is the "
              "same; needs engine.embedding_model")},
    {"similar_threshold", CONFIG_KEY_NUMBER, AT(cache.similar_threshold), "0.95", 0.5, 1,
     .help = HELP("how similar: the cosine of the two questions' vectors")},
};
const struct config_section keys_cache = KEYS_MAP(cache_keys);

static const struct config_key files_keys[] = {
    {"directory", CONFIG_KEY_TEXT, AT(files.directory), NULL,
     .help = HELP("folder for them; default: files in state_dir")},
    {"file_mb_max", CONFIG_KEY_UINT, AT(files.file_mb_max), "512", 1, 1000000,
     .help = HELP("the largest file, in MB (1,000,000 bytes); a larger one gets 413")},
    {"caller_mb_max", CONFIG_KEY_UINT, AT(files.caller_mb_max), "5000", 1, 100000000,
     .help = HELP("MB of one caller's files together")},
    {"mb_max", CONFIG_KEY_UINT, AT(files.mb_max), "10000", 0, 100000000,
     .help = HELP("MB of all callers' files together; 0 = no files and no batches")},
    {"caller_count_max", CONFIG_KEY_UINT, AT(files.caller_count_max), "10000", 1, 1000000,
     .help = HELP("most files of one caller, and most batches")},
    {"keep_days", CONFIG_KEY_UINT, AT(files.keep_days), "30", 0, 3660,
     .help = HELP("files and ended batches are removed after so many days; 0 = never")},
    {"batch_lines", CONFIG_KEY_UINT, AT(files.batch_lines), "2", 1, 256,
     .help = HELP("requests of batches that run at once, of all callers together")},
};
const struct config_section keys_files = KEYS_MAP(files_keys);

static const char *const defer_names[] = {"never", "allow", NULL};

static const struct config_key deferral_keys[] = {
    {"path", CONFIG_KEY_TEXT, AT(deferral.path), NULL,
     .help = HELP("SQLite file of the queue; default: deferred.db in state_dir; one a node")},
    {"default", CONFIG_KEY_CHOICE, AT(deferral.otherwise), "never", .choices = defer_names,
     .help =
         HELP("whether a request that does not say so may wait (x-tandem-defer): never or allow")},
    {"count_max", CONFIG_KEY_UINT, AT(deferral.count_max), "100000", 0, 10000000,
     .help = HELP("most questions that wait; further ones are refused; 0 = no queue")},
    {"caller_count_max", CONFIG_KEY_UINT, AT(deferral.caller_count_max), "10000", 1, 10000000,
     .help = HELP("most of one caller's")},
    {"mb_max", CONFIG_KEY_UINT, AT(deferral.mb_max), "1000", 1, 1000000,
     .help = HELP("MB of all questions and kept answers together")},
    {"expires_s", CONFIG_KEY_UINT, AT(deferral.expires_s), "604800", 1, 31622400,
     .help = HELP("a question that has waited for so long is not asked any more")},
    {"keep_s", CONFIG_KEY_UINT, AT(deferral.keep_s), "604800", 1, 31622400,
     .help = HELP("an answer is kept for so long")},
    {"at_once", CONFIG_KEY_UINT, AT(deferral.at_once), "2", 1, 256,
     .help = HELP("questions that are asked at once, each of another caller")},
    {"per_minute", CONFIG_KEY_UINT, AT(deferral.per_minute), "60", 1, 60000,
     .help = HELP("questions that are asked in a minute once there is a connection again")},
};
const struct config_section keys_deferral = KEYS_MAP(deferral_keys);

static const char *const durable_names[] = {"batch", "answer", NULL}; /* enum config_durable */

#define CLASS_DAYS(name, data_class)                                                      \
    {                                                                                     \
        name, CONFIG_KEY_UINT_ALL, AT(ledger.keep_class_days[data_class]), "0", 0, 36600, \
            .help = HELP("days of its exchanges; 0 = keep_days, all = they stay")         \
    }
static const struct config_key class_days_keys[] = {
    CLASS_DAYS("public", TD_CLASS_PUBLIC),
    CLASS_DAYS("sensitive", TD_CLASS_SENSITIVE),
    CLASS_DAYS("contractual", TD_CLASS_CONTRACTUAL),
    CLASS_DAYS("restricted", TD_CLASS_RESTRICTED),
};
static const struct config_section class_days_section = KEYS_MAP(class_days_keys);

static const struct config_key ledger_keys[] = {
    {"enabled", CONFIG_KEY_BOOL, AT(ledger.enabled), "true", .help = HELP("record every exchange")},
    {"path", CONFIG_KEY_TEXT, AT(ledger.path), NULL,
     .help = HELP("SQLite file; default: ledger.db in state_dir")},
    {"database", CONFIG_KEY_TEXT, AT(ledger.database), NULL,
     .help =
         HELP("instead of a file: postgresql://USER@HOST/DATABASE, which several nodes may share. "
              "The password comes from PGPASSWORD or the file of PGPASSFILE")},
    {"durable", CONFIG_KEY_CHOICE, AT(ledger.durable), "batch", .choices = durable_names,
     .help =
         HELP("batch: records are written with others, at most 200 ms after the answer. answer: "
              "they are on the disk before the last byte of the answer goes out")},
    {"store_prompts", CONFIG_KEY_BOOL, AT(ledger.store_prompts), "false",
     .help = HELP("also store the texts of prompts and answers, encrypted")},
    {"keep_days", CONFIG_KEY_UINT, AT(ledger.keep_days), "0", 0, 36600,
     .help =
         HELP("exchanges that are older are removed, with their attempts and feedback; 0 = they "
              "stay; the record of what left is not touched")},
    {"keep_class_days", CONFIG_KEY_SECTION, 0, NULL, .section = &class_days_section,
     .help = HELP("the same for a class of data, in place of keep_days")},
    {"keep_mb", CONFIG_KEY_UINT, AT(ledger.keep_mb), "0", 0, 100000000,
     .help =
         HELP("the oldest exchanges are removed while the file has more than so many MB (1,000,000 "
              "bytes); 0 = any size; not for a database")},
    {"egress", CONFIG_KEY_TEXT, AT(ledger.egress), NULL,
     .help =
         HELP("folder for the record of what left the device; default: egress in state_dir; none: "
              "no record")},
};
const struct config_section keys_ledger = KEYS_MAP(ledger_keys);

static const struct config_key cluster_keys[] = {
    {"node", CONFIG_KEY_TEXT, AT(cluster.node), NULL,
     .help =
         HELP("how records and others name this node, each differently; default: the host's name. "
              "TANDEM_NODE overrides it")},
    {"redis", CONFIG_KEY_TEXT, AT(cluster.redis), NULL,
     .help = HELP("redis://HOST:PORT/NUMBER or unix:///PATH of Redis or Valkey: the nodes have the "
                  "limits of tiers (tiers[].limits) together")},
    {"redis_password_env", CONFIG_KEY_TEXT, AT(cluster.redis_password_env), NULL,
     .help = HELP("name of the variable with its password")},
    {"key_env", CONFIG_KEY_TEXT, AT(cluster.key_env), NULL,
     .help =
         HELP("name of the variable with the key that all nodes have in place of an "
              "installation.key each, as 64 hexadecimal digits: names of tenants in the ledger are "
              "hashes under it")},
    {"key_file", CONFIG_KEY_TEXT, AT(cluster.key_file), NULL,
     .help = HELP("the same key in a file")},
};
const struct config_section keys_cluster = KEYS_MAP(cluster_keys);

static const struct config_key log_keys[] = {
    {"level", CONFIG_KEY_CHOICE, AT(log.level), "info", .choices = log_level_names,
     .help = HELP("the least important lines that are written")},
    {"access", CONFIG_KEY_TEXT, AT(log.access), "off",
     .help =
         HELP("one line of JSON for each request, without content: off, stderr, or a file, which "
              "SIGHUP opens anew; needs a restart")},
};
const struct config_section keys_log = KEYS_MAP(log_keys);

static const struct config_key otlp_keys[] = {
    {"endpoint", CONFIG_KEY_TEXT, AT(otlp.endpoint), NULL,
     .help = HELP("http or https address of the collector, such as http://localhost:4318; default: "
                  "OTEL_EXPORTER_OTLP_ENDPOINT; none: nothing is sent")},
    {"headers_env", CONFIG_KEY_TEXT, AT(otlp.headers_env), "OTEL_EXPORTER_OTLP_HEADERS",
     .help = HELP(
         "variable with headers for the collector, as in authorization=Bearer%20KEY,tenant=a")},
    {"service_name", CONFIG_KEY_TEXT, AT(otlp.service_name), NULL,
     .help = HELP("default: OTEL_SERVICE_NAME, else tandem")},
    {"ca_file", CONFIG_KEY_TEXT, AT(otlp.ca_file), NULL,
     .help =
         HELP("certificates of the collector; default: OTEL_EXPORTER_OTLP_CERTIFICATE, else the "
              "system's")},
    {"traces", CONFIG_KEY_BOOL, AT(otlp.traces), "true",
     .help = HELP("send a span for each exchange and each attempt")},
    {"metrics", CONFIG_KEY_BOOL, AT(otlp.metrics), "true",
     .help = HELP("send histograms of times and tokens")},
    {"metrics_interval_s", CONFIG_KEY_UINT, AT(otlp.metrics_interval_s), "60", 1, 3600,
     .help = HELP("how often metrics are sent")},
};
const struct config_section keys_otlp = KEYS_MAP(otlp_keys);
