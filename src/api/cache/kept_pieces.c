/* A piece is a head and three texts:
 *
 *   offset  bytes  what
 *        0      1  flags: 1 has stats, 2 in a call, 4 has a raw delta
 *        1      8  server_identity
 *        9      4  bytes of the text, 4 of the token's text, 4 of the raw delta as JSON
 *       21     24  stats, where the flag says so
 *                  the three texts
 *
 * Numbers are those of this machine: the bytes never leave the process. Texts that follow each
 * other without numbers are joined to some 256 bytes, which is what an answer of a cloud mostly is:
 * kept word for word, each word would take 21 bytes more. A stream is still told in pieces. */
#include "api/cache/kept_pieces.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/limits/hold.h"

#include <string.h>

#define TEXT_AT 9
#define JOINED_BYTES 256

enum { HAS_STATS = 1, IN_CALL = 2, HAS_RAW = 4 };

/* Only what is the same for whoever asks again: no ids of a model's tokens, which another one may
 * spell otherwise, no scores of labels, and nothing that was computed, which may be the time. */
static bool is_fit(const struct tier_piece *piece)
{
    return !piece->computed && piece->top_count == 0 && piece->label_count == 0 &&
           piece->text.len <= UINT32_MAX && piece->token_text.len <= UINT32_MAX;
}

static void put_u32(struct buf *out, size_t value)
{
    uint32_t number = (uint32_t)value;
    buf_append(out, &number, sizeof number);
}

static bool is_plain(const struct tier_piece *piece)
{
    return !piece->has_stats && !piece->raw_delta && piece->token_text.len == 0;
}

/* Goes on with the last piece's text. */
static bool join(struct piece_writer *writer, struct td_str text)
{
    struct buf *out = writer->out;
    uint32_t len;
    if (writer->open_at == 0 || out->failed)
        return false;
    char *head = out->data + (writer->open_at - 1);
    memcpy(&len, head + TEXT_AT, sizeof len);
    if (len + text.len > JOINED_BYTES)
        return false;
    len += (uint32_t)text.len;
    memcpy(head + TEXT_AT, &len, sizeof len);
    buf_append_str(out, text);
    return true;
}

void piece_writer_add(struct piece_writer *writer, const struct tier_piece *piece)
{
    struct buf *out = writer->out, raw;
    writer->unfit = writer->unfit || !is_fit(piece);
    if (writer->unfit)
        return;
    writer->visible += piece_is_visible(piece);
    if (is_plain(piece) && (piece->text.len == 0 || join(writer, piece->text)))
        return;
    uint8_t flags = (uint8_t)((piece->has_stats ? HAS_STATS : 0) | (piece->in_call ? IN_CALL : 0) |
                              (piece->raw_delta ? HAS_RAW : 0));
    buf_init(&raw, out->bytes_max);
    if (piece->raw_delta)
        json_write(piece->raw_delta, &raw);
    writer->open_at = is_plain(piece) ? out->len + 1 : 0;
    buf_append(out, &flags, 1);
    buf_append(out, &piece->server_identity, sizeof piece->server_identity);
    put_u32(out, piece->text.len);
    put_u32(out, piece->token_text.len);
    put_u32(out, raw.len);
    if (piece->has_stats)
        buf_append(out, &piece->stats, sizeof piece->stats);
    buf_append_str(out, piece->text);
    buf_append_str(out, piece->token_text);
    buf_append_str(out, buf_view(&raw));
    out->failed = out->failed || raw.failed;
    buf_deinit(&raw);
}

/* --- reading --- */

static bool take(struct piece_reader *reader, void *to, size_t len)
{
    if (reader->from.len - reader->at < len)
        return false;
    memcpy(to, reader->from.data + reader->at, len);
    reader->at += len;
    return true;
}

static bool take_text(struct piece_reader *reader, uint32_t len, struct td_str *out)
{
    if (reader->from.len - reader->at < len)
        return false;
    *out = (struct td_str){reader->from.data + reader->at, len};
    reader->at += len;
    return true;
}

bool piece_reader_next(struct piece_reader *reader, struct tier_piece *out)
{
    uint8_t flags;
    uint32_t lens[3];
    struct td_str raw;
    size_t at = reader->at;
    piece_reader_deinit(reader);
    *out = (struct tier_piece){0};
    bool ok = at < reader->from.len && take(reader, &flags, 1) &&
              take(reader, &out->server_identity, sizeof out->server_identity) &&
              take(reader, lens, sizeof lens);
    if (ok && (flags & HAS_STATS))
        ok = take(reader, &out->stats, sizeof out->stats);
    ok = ok && take_text(reader, lens[0], &out->text) &&
         take_text(reader, lens[1], &out->token_text) && take_text(reader, lens[2], &raw);
    if (ok && (flags & HAS_RAW))
        ok = json_parse(raw, &reader->raw, NULL) == TD_OK;
    if (!ok) {
        reader->at = at;
        return false;
    }
    out->has_stats = flags & HAS_STATS;
    out->in_call = flags & IN_CALL;
    out->raw_delta = reader->raw;
    return true;
}

void piece_reader_deinit(struct piece_reader *reader)
{
    json_free(reader->raw);
    reader->raw = NULL;
}
