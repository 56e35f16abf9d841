/**
 * The server side of the cache: what must be atomic within one key. Members are compared byte by
 * byte, as the server orders them: `<` on Lua strings follows its locale.
 */
import { defineLibrary } from '../redis-functions.ts'

const body = `
-- KEYS: sorted set …   ARGV: for each key cap, ttlMs, n, then n times score and member
local function add_capped(keys, args)
  local at = 1
  for i = 1, #keys do
    local cap, ttl, n = tonumber(args[at]), args[at + 1], tonumber(args[at + 2])
    at = at + 3
    for from = at, at + 2 * n - 1, 2000 do
      redis.call('ZADD', keys[i], unpack(args, from, math.min(from + 1999, at + 2 * n - 1)))
    end
    at = at + 2 * n
    redis.call('ZREMRANGEBYRANK', keys[i], 0, -cap - 1)
    redis.call('PEXPIRE', keys[i], ttl)
  end
end

local function is_before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- The rank, in reading direction, of the first entry after (score, member), which need not be there:
-- a binary search among the entries of equal score.
local function rank_after(key, rising, score, member)
  local low = redis.call('ZCOUNT', key, rising and '-inf' or '(' .. score, rising and '(' .. score or '+inf')
  local high = low + redis.call('ZCOUNT', key, score, score)
  local range = rising and 'ZRANGE' or 'ZREVRANGE'
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call(range, key, middle, middle)[1]
    local passed = found == member or is_before(found, member) == rising
    if passed then low = middle + 1 else high = middle end
  end
  return low
end

-- KEYS: sorted set   ARGV: 'rising' or 'falling', limit, score and member to start after or '' and '',
--   last score or ''
-- Gives member, score, member, score …
local function slice(keys, args)
  local rising, limit = args[1] == 'rising', tonumber(args[2])
  local start = args[3] == '' and 0 or rank_after(keys[1], rising, args[3], args[4])
  local found = redis.call(rising and 'ZRANGE' or 'ZREVRANGE', keys[1], start, start + limit - 1, 'WITHSCORES')
  if args[5] == '' then return found end
  local stop = tonumber(args[5])
  for i = 2, #found, 2 do
    local score = tonumber(found[i])
    if (rising and score > stop) or (not rising and score < stop) then
      for j = #found, i - 1, -1 do found[j] = nil end
      return found
    end
  end
  return found
end

-- KEYS: value   ARGV: 'value' or 'absent', the value expected, the next value, ttlMs
-- Gives 1 when it was swapped, else 0.
local function swap(keys, args)
  local held = redis.call('GET', keys[1])
  if args[1] == 'absent' then
    if held then return 0 end
  elseif held ~= args[2] then
    return 0
  end
  redis.call('SET', keys[1], args[3], 'PX', args[4])
  return 1
end

-- KEYS: bucket   ARGV: capacity, refill a second, cost, now, ttlMs
-- Counts in thousandths of a token, which are whole numbers when the refill is: nothing is lost by
-- rounding, however often it is asked. Gives granted, thousandths left, and ms until cost is there.
local function take_tokens(keys, args)
  local full, refill = tonumber(args[1]) * 1000, tonumber(args[2])
  local cost, now = tonumber(args[3]) * 1000, tonumber(args[4])
  local held = redis.call('HMGET', keys[1], 'level', 'at')
  local level, at = tonumber(held[1] or full), tonumber(held[2] or now)
  now = math.max(now, at)
  level = math.min(full, level + (now - at) * refill)
  local granted = level >= cost
  if granted then level = level - cost end
  redis.call('HSET', keys[1], 'level', string.format('%.17g', level), 'at', string.format('%.17g', now))
  redis.call('PEXPIRE', keys[1], args[5])
  local wait = granted and 0 or math.ceil((cost - level) / refill)
  return { granted and 1 or 0, string.format('%.17g', level), string.format('%.0f', wait) }
end

-- KEYS: fields   ARGV: ttlMs, then name and value of each
local function set_fields(keys, args)
  for from = 2, #args, 2000 do
    redis.call('HSET', keys[1], unpack(args, from, math.min(from + 1999, #args)))
  end
  redis.call('PEXPIRE', keys[1], args[1])
end

-- KEYS: fields   Gives name, value, name, value …
local function get_fields(keys)
  return redis.call('HGETALL', keys[1])
end

-- KEYS: bits   ARGV: ttlMs, then the offsets to set
local function set_bits(keys, args)
  for i = 2, #args do redis.call('SETBIT', keys[1], args[i], 1) end
  redis.call('PEXPIRE', keys[1], args[1])
end

-- KEYS: bits   ARGV: offsets   Gives '1' or '0' for each.
local function get_bits(keys, args)
  local bits = {}
  for i = 1, #args do bits[i] = redis.call('GETBIT', keys[1], args[i]) end
  return table.concat(bits)
end
`

export const cacheLibrary = defineLibrary(
  'cache',
  [
    'add_capped',
    'slice',
    'swap',
    'take_tokens',
    'set_fields',
    'get_fields',
    'set_bits',
    'get_bits',
  ],
  body,
)
