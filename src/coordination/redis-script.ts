/**
 * What Redis runs for a node: one script that takes what the node asks for in one turn, whole, and answers each part.
 *
 * A window is a hash with its sum (`s`), when it was looked at last (`t`), its newest second that holds something
 * (`n`), how far its time is ahead of the server's (`o`), and an amount for each second. It is what `window.ts` is in a
 * process. Where the server's clock goes back, the window's time goes on from where it stood.
 */
import { createHash } from "node:crypto";

export const SCRIPT = `
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local SPAN = 61
local windows = {}
local k, a = 0, 1
local function key() k = k + 1 return KEYS[k] end
local function arg() a = a + 1 return ARGV[a] end
local function num() a = a + 1 return tonumber(ARGV[a]) end

local function forget(w, from)
  if w.sec - from >= SPAN or w.s == 0 then
    w.s = 0
    w.clear = true
    return
  end
  local seconds = {}
  for second = from - SPAN + 1, w.sec - SPAN do seconds[#seconds + 1] = second end
  if #seconds == 0 then return end
  w.gone = {}
  for i, held in ipairs(redis.call('HMGET', w.name, unpack(seconds))) do
    if held then
      w.s = w.s - tonumber(held)
      w.gone[#w.gone + 1] = seconds[i]
    end
  end
end

local function window(name)
  local w = windows[name]
  if w then return w end
  local v = redis.call('HMGET', name, 's', 't', 'n', 'o')
  w = { name = name, s = 0, n = 0, o = 0, at = now, adds = {} }
  if v[2] then
    local t = tonumber(v[2])
    w.s, w.n, w.o = tonumber(v[1]), tonumber(v[3]), tonumber(v[4])
    w.at = now + w.o
    if w.at < t then
      w.o = t - now
      w.at = t
      w.dirty = true
    end
    w.old = math.floor(t / 1000)
    w.sec = math.floor(w.at / 1000)
    forget(w, w.old)
  else
    w.sec = math.floor(now / 1000)
  end
  windows[name] = w
  return w
end

local function held(w)
  local all = {}
  if w.old and not w.clear then
    local flat = redis.call('HGETALL', w.name)
    for i = 1, #flat, 2 do
      local second = tonumber(flat[i])
      if second and second > w.sec - SPAN then all[second] = tonumber(flat[i + 1]) end
    end
  end
  for second, change in pairs(w.adds) do all[second] = (all[second] or 0) + change end
  return all
end

local function reset(w)
  if w.s == 0 then return 0 end
  return (w.n + SPAN) * 1000 - w.at
end

local function wait(w, amount, limit)
  local excess = w.s + amount - limit
  if excess <= 0 then return 0 end
  local all, seconds = held(w), {}
  for second, amount in pairs(all) do if amount > 0 then seconds[#seconds + 1] = second end end
  table.sort(seconds)
  for _, second in ipairs(seconds) do
    excess = excess - all[second]
    if excess <= 0 then return (second + SPAN) * 1000 - w.at end
  end
  return math.max(reset(w), 1000)
end

local function take(w, amount)
  if amount == 0 then return end
  w.adds[w.sec] = (w.adds[w.sec] or 0) + amount
  w.s = w.s + amount
  w.n = w.sec
  w.dirty = true
end

local function correct()
  local name, taken, change = key(), num(), num()
  local w = window(name)
  if not w.old and w.s == 0 then return 0 end
  local second = math.floor((taken + w.o) / 1000)
  if second > w.sec or second <= w.sec - SPAN then return 0 end
  local stored = not w.clear and w.old and redis.call('HGET', name, second) or 0
  local here = tonumber(stored) + (w.adds[second] or 0)
  change = math.max(change, -here)
  if change == 0 then return 0 end
  w.adds[second] = (w.adds[second] or 0) + change
  w.s = w.s + change
  w.dirty = true
  if change > 0 then
    if w.s == change or second > w.n then w.n = second end
  elseif here + change == 0 and second == w.n then
    w.n = 0
    for other, amount in pairs(held(w)) do if amount > 0 and other > w.n then w.n = other end end
  end
  return 0
end

local function flush(w)
  if w.clear then redis.call('DEL', w.name)
  elseif w.gone and #w.gone > 0 then redis.call('HDEL', w.name, unpack(w.gone)) end
  for second, change in pairs(w.adds) do
    if change ~= 0 then redis.call('HINCRBY', w.name, second, change) end
  end
  redis.call('HSET', w.name, 's', w.s, 't', w.at, 'n', w.n, 'o', w.o)
  if w.clear or w.old ~= w.sec then redis.call('PEXPIRE', w.name, 62000) end
end

local function live(name) return redis.call('ZCOUNT', name, string.format('(%.0f', now), '+inf') end

local function lease(name, request)
  redis.call('ZREMRANGEBYSCORE', name, '-inf', now)
  if redis.call('ZADD', name, 'NX', now + 30000, request) == 1 then redis.call('PEXPIRE', name, 31000) end
end

local function same(count)
  local names = {}
  for i = 1, count do names[i] = key() end
  local words, all = redis.call('MGET', unpack(names)), true
  for i = 1, count do if words[i] ~= arg() then all = false end end
  return all
end

local function admit(takes)
  local request, revisions = arg(), num()
  local known = revisions == 0 or same(revisions)
  local first, count = num(), num()
  local parts, refused = {}, { false, false }
  for d = 1, count do
    local half = d > first and 2 or 1
    local rpm, tpm, slots, tokens = num(), num(), num(), num()
    for _, limit in ipairs({ { rpm, 1 }, { tpm, tokens } }) do
      if limit[1] > 0 then
        local name = key()
        if known then
          local w = window(name)
          local waiting = wait(w, limit[2], limit[1])
          if waiting > 0 then refused[half] = true end
          parts[#parts + 1] = { half = half, w = w, amount = limit[2], waiting = waiting }
        end
      end
    end
    if slots > 0 then
      local name = key()
      if known then
        local leased = live(name)
        if leased >= slots then
          local score = redis.call('ZSCORE', name, request)
          if score and tonumber(score) > now then leased = 0 else refused[half] = true end
        end
        parts[#parts + 1] = { half = half, slot = name, leased = leased }
      end
    end
  end
  if not known then return { 2 } end
  local upTo = 2
  if refused[1] then upTo = 0 elseif refused[2] then upTo = 1 end
  local answer = { upTo == 2 and 1 or 0, now, upTo }
  if not takes then upTo = 0 end
  for _, part in ipairs(parts) do
    if part.half <= upTo then
      if part.w then take(part.w, part.amount) else lease(part.slot, request) end
    end
  end
  for _, part in ipairs(parts) do
    if part.w then
      answer[#answer + 1] = part.w.s
      answer[#answer + 1] = reset(part.w)
      answer[#answer + 1] = part.waiting
    else
      answer[#answer + 1] = part.leased
    end
  end
  return answer
end

local function beat()
  local name, count = key(), num()
  for _ = 1, count do
    local request, leftMs = arg(), num()
    redis.call('ZADD', name, now + leftMs, request)
  end
  redis.call('PEXPIRE', name, 31000)
  return 0
end

local function words()
  local count, word = num(), arg()
  local found = {}
  for i = 1, count do
    local name = key()
    redis.call('SET', name, word, 'NX', 'EX', 86400)
    found[i] = redis.call('GET', name)
  end
  return found
end

local function write()
  local name, number, piece, most, ttl, channel, notice = key(), arg(), arg(), num(), num(), arg(), arg()
  if redis.call('HEXISTS', name, number) == 0 and redis.call('HLEN', name) >= most then return 0 end
  redis.call('HSET', name, number, piece)
  redis.call('PEXPIRE', name, ttl)
  redis.call('PUBLISH', channel, notice)
  return 1
end

local function read()
  local name, from, count, channel, notice = key(), num(), num(), arg(), arg()
  local before, wanted = {}, {}
  for i = 1, count do
    before[i] = from - i
    wanted[i] = from + i - 1
  end
  if redis.call('HDEL', name, unpack(before)) > 0 then redis.call('PUBLISH', channel, notice) end
  return redis.call('HMGET', name, unpack(wanted))
end

local acts = {
  A = function() return admit(true) end,
  P = function() return admit(false) end,
  C = correct,
  R = function() return redis.call('ZREM', key(), arg()) end,
  B = beat,
  W = words,
  U = function() redis.call('SET', key(), arg(), 'EX', 86400) return redis.call('PUBLISH', arg(), arg()) end,
  X = write,
  Z = read,
  E = function() return redis.call('PUBLISH', key(), arg()) end,
  N = function()
    local name, node = key(), arg()
    redis.call('ZREMRANGEBYSCORE', name, '-inf', now)
    redis.call('ZADD', name, now + num(), node)
    redis.call('PEXPIRE', name, 60000)
    return redis.call('ZCARD', name)
  end,
}
local answers = {}
while a < #ARGV do answers[#answers + 1] = acts[arg()]() end
for _, w in pairs(windows) do if w.dirty then flush(w) end end
return answers
`;

export const SCRIPT_SHA = createHash("sha1").update(SCRIPT).digest("hex");
