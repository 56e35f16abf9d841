/**
 * The server side of feeds: one Redis string per feed, a header and packed entries (docs/adr/0010).
 *
 *   offset  bytes  header
 *        0      2  'T1'
 *        2     16  epoch in which the feed was opened
 *       18      1  'B' building, 'C' complete
 *       19      4  capacity: entries the string has room for
 *       23      4  count: entries it holds
 *       27     14  last: the newest entry, or the floor while there is none
 *       41     14  floor
 *       55      6  graph version
 *       61      6  pulled version
 *       67      6  keepMs
 *       73     16  revision
 *       89         entries, oldest first, 14 bytes each, then room up to the capacity
 *
 * A pair is 6 bytes of ms and 8 of id, big-endian. They are compared as numbers (ms, and the halves
 * of the id): `<` on Lua strings follows the server's locale, and a Lua number cannot hold an id.
 *
 * The string is made as long as its capacity, so that SETRANGE writes in place and the allocator
 * neither moves nor doubles it. A feed in order costs three commands an entry: read the head, write
 * the entry, write count and last. Nothing here walks a whole feed but what must rewrite it.
 *
 * **Epoch.** The key of the epoch holds `<replication id>:<token>`. `known` is what this instance of
 * the library has seen there. A restart or a full resync loads the library anew, so it knows nothing
 * and compares the replication id, which changes with each start and each promotion; a flush takes
 * the key away. In all of these a new token, made by the caller, takes over and every feed that
 * carries another is absent. A server that resynchronised partially has lost nothing.
 */
import { defineLibrary } from '../redis-functions.ts'

export const FEED_HEADER_BYTES = 89
export const FEED_ENTRY_BYTES = 14

const body = String.raw`
local HEADER, ENTRY, FIRST_TIER = ${FEED_HEADER_BYTES}, ${FEED_ENTRY_BYTES}, 32
local known = {}

local function current_epoch(key, fresh)
  local value = redis.call('GET', key)
  if not value or value ~= known[key] then
    local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
    if not value or string.sub(value, 1, 41) ~= id .. ':' then
      value = id .. ':' .. fresh
      redis.call('SET', key, value)
    end
    known[key] = value
  end
  return string.sub(value, 42)
end

local function magic_of(keys, args)
  return 'T1' .. current_epoch(keys[1], args[1])
end

-- Negative, zero or positive, as the pair at i of a is older than, equal to or newer than that at j of b.
local function compare(a, i, b, j)
  local ms1, high1, low1 = struct.unpack('>I6I4I4', a, i)
  local ms2, high2, low2 = struct.unpack('>I6I4I4', b, j)
  if ms1 ~= ms2 then return ms1 - ms2 end
  if high1 ~= high2 then return high1 - high2 end
  return low1 - low2
end

-- The index of the oldest entry that is not older than pair.
local function find(key, count, pair)
  local low, high = 0, count
  while low < high do
    local middle = math.floor((low + high) / 2)
    local at = HEADER + middle * ENTRY
    if compare(redis.call('GETRANGE', key, at, at + ENTRY - 1), 1, pair, 1) < 0 then low = middle + 1
    else high = middle end
  end
  return low
end

-- A cap is exceeded by an eighth before a trim, so that a trim is rare.
local function most(cap)
  return cap + math.ceil(cap / 8)
end

local function tier(count, limit)
  local capacity = FIRST_TIER
  while capacity < count do capacity = capacity * 2 end
  if count <= limit and capacity > limit then capacity = limit end
  return capacity
end

-- The string of a feed; fields that are nil stay as in head. entries: packed, oldest first.
local function compose(head, entries, changes)
  local count = #entries / ENTRY
  local floor = changes.floor or string.sub(head, 42, 55)
  local last = count > 0 and string.sub(entries, -ENTRY) or floor
  local capacity = changes.capacity or tier(count, changes.limit)
  return string.sub(head, 1, 18) .. (changes.phase or string.sub(head, 19, 19))
    .. struct.pack('>I4I4', capacity, count) .. last .. floor
    .. (changes.versions or string.sub(head, 56, 67)) .. string.sub(head, 68, 73)
    .. (changes.revision or string.sub(head, 74, HEADER))
    .. entries .. string.rep('\0', (capacity - count) * ENTRY)
end

local function entries_of(value)
  local count = struct.unpack('>I4', value, 24)
  return string.sub(value, HEADER + 1, HEADER + count * ENTRY)
end

-- Cuts off the oldest so that cap entries stay. Gives entries and the newest pair cut off, if any.
local function cut(entries, cap)
  local excess = #entries - cap * ENTRY
  if excess <= 0 then return entries, nil end
  return string.sub(entries, excess + 1), string.sub(entries, excess - ENTRY + 1, excess)
end

-- Makes a full feed larger, or trims it when it is as large as cap allows.
local function make_room(key, cap)
  local value = redis.call('GET', key)
  local entries, limit, floor = entries_of(value), most(cap), nil
  local count = #entries / ENTRY
  if count >= limit then entries, floor = cut(entries, cap) end
  local wanted = math.min(math.max(count * 2, FIRST_TIER), limit)
  value = compose(value, entries, { floor = floor, capacity = wanted })
  redis.call('SET', key, value, 'KEEPTTL')
  return value
end

local function insert_between(key, head, pair, cap)
  if compare(pair, 1, head, 42) <= 0 then return end
  local capacity, count = struct.unpack('>I4I4', head, 20)
  local index = find(key, count, pair)
  local at = HEADER + index * ENTRY
  local tail = redis.call('GETRANGE', key, at, HEADER + count * ENTRY - 1)
  if string.sub(tail, 1, ENTRY) == pair then return end
  if count >= capacity or count >= most(cap) then
    return insert_between(key, string.sub(make_room(key, cap), 1, HEADER), pair, cap)
  end
  redis.call('SETRANGE', key, at, pair .. tail)
  redis.call('SETRANGE', key, 23, struct.pack('>I4', count + 1))
end

-- Inserts one pair, given packed and as numbers. Says whether the feed is resident.
local function insert(key, magic, pair, ms, high, low, cap, limit)
  local head = redis.call('GETRANGE', key, 0, 54)
  if string.sub(head, 1, 18) ~= magic then return false end
  local capacity, count, last_ms, last_high, last_low = struct.unpack('>I4I4I6I4I4', head, 20)
  if ms > last_ms or (ms == last_ms
    and (high > last_high or (high == last_high and low > last_low))) then
    if count >= capacity or count >= limit then count = struct.unpack('>I4', make_room(key, cap), 24) end
    redis.call('SETRANGE', key, HEADER + count * ENTRY, pair)
    redis.call('SETRANGE', key, 23, struct.pack('>I4', count + 1) .. pair)
  elseif ms ~= last_ms or high ~= last_high or low ~= last_low then
    insert_between(key, head, pair, cap)
  end
  return true
end

-- The union of two runs of pairs, both oldest first; of added only what is above floor.
local function union(held, added, floor)
  local i, j, parts = 1, 1, {}
  while j <= #added and compare(added, j, floor, 1) <= 0 do j = j + ENTRY end
  if j > #added then return held end
  if held == '' or compare(added, j, held, #held - ENTRY + 1) > 0 then return held .. string.sub(added, j) end
  while i <= #held and j <= #added do
    local order = compare(held, i, added, j)
    if order <= 0 then
      parts[#parts + 1] = string.sub(held, i, i + ENTRY - 1)
      i = i + ENTRY
      if order == 0 then j = j + ENTRY end
    else
      parts[#parts + 1] = string.sub(added, j, j + ENTRY - 1)
      j = j + ENTRY
    end
  end
  return table.concat(parts) .. string.sub(held, i) .. string.sub(added, j)
end

local function insert_many(key, magic, pairs, cap)
  if string.sub(redis.call('GETRANGE', key, 0, 17), 1, 18) ~= magic then return false end
  local value = redis.call('GET', key)
  local held, limit, floor = entries_of(value), most(cap), nil
  local entries = union(held, pairs, string.sub(value, 42, 55))
  if entries ~= held then
    if #entries > limit * ENTRY then entries, floor = cut(entries, cap) end
    redis.call('SET', key, compose(value, entries, { floor = floor, limit = limit }), 'KEEPTTL')
  end
  return true
end

local function take_out(key, pair)
  local head = redis.call('GETRANGE', key, 0, 54)
  local count = struct.unpack('>I4', head, 24)
  local index = find(key, count, pair)
  local at = HEADER + index * ENTRY
  local tail = redis.call('GETRANGE', key, at, HEADER + count * ENTRY - 1)
  if string.sub(tail, 1, ENTRY) ~= pair then return end
  tail = string.sub(tail, ENTRY + 1)
  local last = string.sub(head, 28, 41)
  if tail ~= '' then redis.call('SETRANGE', key, at, tail)
  elseif index == 0 then last = string.sub(head, 42, 55)
  else last = redis.call('GETRANGE', key, at - ENTRY, at - 1) end
  redis.call('SETRANGE', key, 23, struct.pack('>I4', count - 1) .. last)
end

-- KEYS: epoch, feed …   ARGV: fresh token, cap, ms, high and low half of the id
-- Adds one entry to many feeds. Gives '1' for each feed that is resident, '0' for the others.
local function push(keys, args)
  local magic, cap = magic_of(keys, args), tonumber(args[2])
  local ms, high, low = tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  local pair, limit, answers = struct.pack('>I6I4I4', ms, high, low), most(cap), {}
  for i = 2, #keys do
    answers[i - 1] = insert(keys[i], magic, pair, ms, high, low, cap, limit) and '1' or '0'
  end
  return table.concat(answers)
end

-- KEYS: epoch, feed …   ARGV: fresh token, cap, then for each feed its packed pairs, oldest first
-- Adds to each feed its own entries. Gives '1' or '0' for each feed.
local function add(keys, args)
  local magic, cap, answers = magic_of(keys, args), tonumber(args[2]), {}
  for i = 2, #keys do
    local pairs, resident = args[i + 1], nil
    if #pairs == ENTRY then
      local ms, high, low = struct.unpack('>I6I4I4', pairs, 1)
      resident = insert(keys[i], magic, pairs, ms, high, low, cap, most(cap))
    else
      resident = insert_many(keys[i], magic, pairs, cap)
    end
    answers[i - 1] = resident and '1' or '0'
  end
  return table.concat(answers)
end

-- KEYS: epoch, feed …   ARGV: fresh token, then for each feed the packed pairs to take out
-- Gives '1' or '0' for each feed.
local function remove(keys, args)
  local magic, answers = magic_of(keys, args), {}
  for i = 2, #keys do
    local resident = redis.call('GETRANGE', keys[i], 0, 17) == magic
    if resident then
      for at = 1, #args[i], ENTRY do take_out(keys[i], string.sub(args[i], at, at + ENTRY - 1)) end
    end
    answers[i - 1] = resident and '1' or '0'
  end
  return table.concat(answers)
end

-- The header and the newest limit + 1 entries older than below ('': all), oldest first.
local function slice(key, magic, limit, below)
  local head = redis.call('GETRANGE', key, 0, HEADER - 1)
  if string.sub(head, 1, 18) ~= magic then return '' end
  local keep = struct.unpack('>I6', head, 68)
  if redis.call('PTTL', key) < keep * 3 / 4 then redis.call('PEXPIRE', key, keep) end
  local stop = struct.unpack('>I4', head, 24)
  if below ~= '' then stop = find(key, stop, below) end
  local start = math.max(0, stop - limit - 1)
  if stop == start then return head end
  return head .. redis.call('GETRANGE', key, HEADER + start * ENTRY, HEADER + stop * ENTRY - 1)
end

-- KEYS: epoch, feed …   ARGV: fresh token, then for each feed limit and packed pair below, or ''
-- Gives for each feed its header and entries, '' where it is absent. Renews the time it is kept.
local function read(keys, args)
  local magic, answers = magic_of(keys, args), {}
  for i = 2, #keys do
    answers[i - 1] = slice(keys[i], magic, tonumber(args[2 * i - 2]), args[2 * i - 1])
  end
  return answers
end

-- KEYS: epoch, feed   ARGV: fresh token, packed graph and pulled version, keepMs, revision
-- Makes an empty, building feed. Gives the epoch.
local function open(keys, args)
  local epoch = current_epoch(keys[1], args[1])
  local lowest = string.rep('\0', ENTRY)
  local keep = tonumber(args[3])
  local head = 'T1' .. epoch .. 'B' .. struct.pack('>I4I4', FIRST_TIER, 0) .. lowest .. lowest
    .. args[2] .. struct.pack('>I6', keep) .. args[4]
  redis.call('SET', keys[2], head .. string.rep('\0', FIRST_TIER * ENTRY), 'PX', keep)
  return epoch
end

-- KEYS: epoch, feed   ARGV: fresh token, phase expected ('B' or 'C'), revision expected,
--   packed pairs, packed floor or '', packed graph and pulled version, new revision
-- Joins entries in and completes the state, if it is the one expected. Gives 1 or 0.
local function settle(keys, args)
  local magic, key = magic_of(keys, args), keys[2]
  local head = redis.call('GETRANGE', key, 0, HEADER - 1)
  if string.sub(head, 1, 19) ~= magic .. args[2] or string.sub(head, 74, HEADER) ~= args[3] then return 0 end
  local value, floor = redis.call('GET', key), string.sub(head, 42, 55)
  if args[5] ~= '' and compare(args[5], 1, floor, 1) > 0 then floor = args[5] end
  local entries = union(union('', entries_of(value), floor), args[4], floor)
  redis.call('SET', key, compose(value, entries,
    { phase = 'C', floor = floor, versions = args[6], revision = args[7], limit = 0 }), 'KEEPTTL')
  return 1
end

-- KEYS: epoch   ARGV: fresh token
local function epoch(keys, args)
  return current_epoch(keys[1], args[1])
end
`

export const feedLibrary = defineLibrary(
  'feeds',
  ['push', 'add', 'remove', 'read', 'open', 'settle', 'epoch'],
  body,
)
