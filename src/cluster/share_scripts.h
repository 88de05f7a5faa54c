/* What runs in Redis, each as a whole. For share.c alone.
 *
 * Of each tier there are two hashes with a field for each node and second ("node:1766145600", by
 * the clock of Redis) of what was taken then, and one with the slots that each node holds. A minute
 * is the last 60 seconds. Nodes are in a sorted set by the second in which they were seen. */
#ifndef CLUSTER_SHARE_SCRIPTS_H
#define CLUSTER_SHARE_SCRIPTS_H

/* Takes. KEYS: requests, tokens, slots, nodes. ARGV: node; of requests: needed, more, limit; of
 * tokens: the same; of slots: needed, limit. A limit of 0 is none. Gives: an enum shared_answer,
 * wait in ms, requests, tokens and slots that the node has now. */
static const char take_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "local function window(key)\n"
    "  local sum, oldest, all = 0, now, redis.call('HGETALL', key)\n"
    "  for i = 1, #all, 2 do\n"
    "    local second = tonumber(string.match(all[i], ':(%d+)$'))\n"
    "    if not second or second <= now - 60 then redis.call('HDEL', key, all[i])\n"
    "    else\n"
    "      sum = sum + tonumber(all[i + 1])\n"
    "      if second < oldest then oldest = second end\n"
    "    end\n"
    "  end\n"
    "  return sum, (oldest + 60 - now) * 1000\n"
    "end\n"
    "local function room(key, need, more, limit)\n"
    "  if limit == 0 or need == 0 then return 0 end\n"
    "  local sum, wait = window(key)\n"
    "  if sum >= limit then return nil, wait end\n"
    "  return need + math.max(0, math.min(more, limit - sum - need))\n"
    "end\n"
    "local n = {}\n"
    "for i = 2, 9 do n[i] = tonumber(ARGV[i]) end\n"
    "local slots = n[8]\n"
    "if n[9] > 0 then\n"
    "  local sum, all = 0, redis.call('HGETALL', KEYS[3])\n"
    "  for i = 1, #all, 2 do\n"
    "    local seen = tonumber(redis.call('ZSCORE', KEYS[4], all[i]) or 0)\n"
    "    if all[i] == ARGV[1] then -- its own\n"
    "    elseif seen < now - 10 then redis.call('HDEL', KEYS[3], all[i])\n"
    "    else sum = sum + tonumber(all[i + 1]) end\n"
    "  end\n"
    "  if sum + slots > n[9] then return {1, 0, 0, 0, 0} end\n"
    "end\n"
    "local requests, wait = room(KEYS[1], n[2], n[3], n[4])\n"
    "if not requests then return {2, wait, 0, 0, 0} end\n"
    "local tokens\n"
    "tokens, wait = room(KEYS[2], n[5], n[6], n[7])\n"
    "if not tokens then return {3, wait, 0, 0, 0} end\n"
    "local field = ARGV[1] .. ':' .. now\n"
    "if requests > 0 then redis.call('HINCRBY', KEYS[1], field, requests) end\n"
    "if tokens > 0 then redis.call('HINCRBY', KEYS[2], field, tokens) end\n"
    "if n[9] > 0 then redis.call('HSET', KEYS[3], ARGV[1], slots) end\n"
    "for i = 1, 3 do redis.call('EXPIRE', KEYS[i], 120) end\n"
    "return {0, 0, requests, tokens, slots}\n";

/* Says what else was used, or taken for nothing (negative). KEYS as above. ARGV: node, requests,
 * tokens, slots. Gives 0. */
static const char settle_script[] =
    "local field = ARGV[1] .. ':' .. redis.call('TIME')[1]\n"
    "for i = 1, 2 do\n"
    "  if tonumber(ARGV[i + 1]) ~= 0 then redis.call('HINCRBY', KEYS[i], field, ARGV[i + 1]) end\n"
    "end\n"
    "if tonumber(ARGV[4]) > 0 then redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])\n"
    "else redis.call('HDEL', KEYS[3], ARGV[1]) end\n"
    "for i = 1, 3 do redis.call('EXPIRE', KEYS[i], 120) end\n"
    "return {0}\n";

/* What all nodes have taken, second by second. KEYS as above. Gives this second, 60 numbers of
 * requests from it back, and 60 of tokens. */
static const char look_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "local out = {now}\n"
    "for i = 2, 121 do out[i] = 0 end\n"
    "for k = 1, 2 do\n"
    "  local all = redis.call('HGETALL', KEYS[k])\n"
    "  for i = 1, #all, 2 do\n"
    "    local age = now - (tonumber(string.match(all[i], ':(%d+)$')) or 0)\n"
    "    local at = 2 + (k - 1) * 60 + age\n"
    "    if age >= 0 and age < 60 then out[at] = out[at] + tonumber(all[i + 1]) end\n"
    "  end\n"
    "end\n"
    "return out\n";

/* What all were known to have taken before Redis was away, and nobody has told it since: of nodes
 * that are no more. KEYS as above. ARGV: the answer of look_script. Gives 0. */
static const char remind_script[] =
    "local first = tonumber(ARGV[1])\n"
    "for k = 1, 2 do\n"
    "  local told, all = {}, redis.call('HGETALL', KEYS[k])\n"
    "  for i = 1, #all, 2 do\n"
    "    local second = tonumber(string.match(all[i], ':(%d+)$')) or 0\n"
    "    told[second] = (told[second] or 0) + tonumber(all[i + 1])\n"
    "  end\n"
    "  local missing = 0\n"
    "  local function known(i) return tonumber(ARGV[2 + (k - 1) * 60 + i]) end\n"
    "  for i = 0, 59 do missing = missing + known(i) - (told[first - i] or 0) end\n"
    "  for i = 0, 59 do -- a clock that is a second off must not count anything twice\n"
    "    local gap = math.min(missing, known(i) - (told[first - i] or 0))\n"
    "    if gap > 0 then\n"
    "      redis.call('HINCRBY', KEYS[k], '?:' .. (first - i), gap)\n"
    "      missing = missing - gap\n"
    "    end\n"
    "  end\n"
    "end\n"
    "for i = 1, 3 do redis.call('EXPIRE', KEYS[i], 120) end\n"
    "return {0}\n";

/* Tells anew what this node has used, second by second, whatever Redis remembers of it. KEYS as
 * above. ARGV: node, slots, 60 numbers of requests from this second back, 60 of tokens. Gives 0. */
static const char tell_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "for k = 1, 2 do\n"
    "  for i = 0, 59 do\n"
    "    local field, count = ARGV[1] .. ':' .. (now - i), ARGV[3 + (k - 1) * 60 + i]\n"
    "    if tonumber(count) > 0 then redis.call('HSET', KEYS[k], field, count)\n"
    "    else redis.call('HDEL', KEYS[k], field) end\n"
    "  end\n"
    "end\n"
    "if tonumber(ARGV[2]) > 0 then redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])\n"
    "else redis.call('HDEL', KEYS[3], ARGV[1]) end\n"
    "for i = 1, 3 do redis.call('EXPIRE', KEYS[i], 120) end\n"
    "return {0}\n";

/* Tokens that were taken for nothing, by their age in seconds. They may stand at the second after,
 * because the seconds of the node's clock begin at another moment than those of Redis; and at one
 * before, because a node takes some more than it needs at once. KEYS as above. ARGV: node, then age
 * and tokens, again and again. Gives 0. */
static const char back_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "for i = 2, #ARGV, 2 do\n"
    "  local second, left = now - tonumber(ARGV[i]), tonumber(ARGV[i + 1])\n"
    "  for before = -1, 2 do\n"
    "    local field = ARGV[1] .. ':' .. (second - before)\n"
    "    local some = math.min(left, tonumber(redis.call('HGET', KEYS[2], field) or 0))\n"
    "    if some > 0 then\n"
    "      redis.call('HINCRBY', KEYS[2], field, -some)\n"
    "      left = left - some\n"
    "    end\n"
    "  end\n"
    "end\n"
    "return {0}\n";

/* A node's part of a sum. KEYS: the sum. ARGV: node, own, had, more, others at least, budget.
 * Gives whether there is room, what the node may have, and what others have. */
static const char reach_script[] =
    "local others, all = 0, redis.call('HGETALL', KEYS[1])\n"
    "for i = 1, #all, 2 do\n"
    "  if all[i] ~= ARGV[1] then others = others + tonumber(all[i + 1]) end\n"
    "end\n"
    "others = math.max(others, tonumber(ARGV[5]))\n"
    "local own, budget = tonumber(ARGV[2]), tonumber(ARGV[6])\n"
    "local room, granted = 0, tonumber(ARGV[3])\n"
    "if others + own <= budget then\n"
    "  room, granted = 1, math.min(own + tonumber(ARGV[4]), budget - others)\n"
    "end\n"
    "redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', granted))\n"
    "redis.call('EXPIRE', KEYS[1], 3456000)\n"
    "return {room, granted, others}\n";

/* A node is there. KEYS: nodes, since. ARGV: node. Gives the number of nodes seen within ten
 * seconds, and for how many seconds Redis has remembered what nodes tell it. */
static const char beat_script[] =
    "local now = tonumber(redis.call('TIME')[1])\n"
    "redis.call('ZADD', KEYS[1], now, ARGV[1])\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 10)\n"
    "redis.call('SET', KEYS[2], now, 'NX')\n"
    "return {redis.call('ZCARD', KEYS[1]), now - tonumber(redis.call('GET', KEYS[2]))}\n";

/* A node has ended by itself: nobody counts it any more. KEYS and ARGV as above. */
static const char leave_script[] = "redis.call('ZREM', KEYS[1], ARGV[1])\n"
                                   "return {0}\n";

#endif
