#include "app/setup/process/review_events.h"

#include "base/json/json.h"
#include "exchange/machine/exchange.h"
#include "ledger/store/queue_store.h"
#include "net/client/webhook.h"

#define DATA_BYTES_MAX 4096

static void tell(void *ctx, const struct queued *row)
{
    struct buf data;
    struct json *object = json_new_object();
    bool ended = row->state == QUEUED_ENDED;
    json_put(object, "ticket", json_new_cstr(row->id));
    json_put(object, "tier", json_new_cstr(row->queue));
    json_put(object, "exchange", json_new_cstr(row->about));
    json_put(object, "data_class", json_new_cstr(names_class((enum td_data_class)row->data_class)));
    json_put(object, "expires", json_new_int(row->expires_s));
    json_put(object, "outcome", json_new_cstr(ended ? row->outcome : NULL));
    buf_init(&data, DATA_BYTES_MAX);
    json_write(object, &data);
    json_free(object);
    if (!data.failed)
        webhook_send(ctx, ended ? "review.ended" : "review.created", buf_view(&data));
    buf_deinit(&data);
}

void review_events_tell(struct exchange_services *services, struct webhooks *webhooks)
{
    if (webhooks && services->queues)
        queue_store_set_listener(services->queues, tell, webhooks);
}
