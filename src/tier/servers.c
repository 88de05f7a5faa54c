#include "tier/servers.h"

#define ROW(name) &server_##name,
const struct tier_server *const tier_servers[] = {TIER_SERVERS(ROW)};
