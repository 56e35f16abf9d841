/**
 * Publishing on a Redis Cluster. PUBLISH names no key, so a client sends it to any node, and two
 * messages of one channel could overtake each other; as a function of the channel's key it always
 * goes to the same one.
 */
import { defineLibrary } from '../redis-functions.ts'

const body = `
-- KEYS: channel   ARGV: text
local function publish(keys, args)
  return redis.call('PUBLISH', keys[1], args[1])
end
`

export const pubsubLibrary = defineLibrary('pubsub', ['publish'], body)
