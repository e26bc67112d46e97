-- SPDX-License-Identifier: Apache-2.0
-- What the scripts for values begin with.

local function list(...) return { n = select("#", ...), ... } end

-- All results of a function behind `true`, or an error behind `false`. So many results are too many for `pcall`
-- where Lua asserts that its callers keep to the stack.
local function try(f, ...)
  local args = list(...)
  local is_ok, results = pcall(function() return list(true, f(unpack(args, 1, args.n))) end)
  return is_ok and results or { n = 2, false, results }
end

-- Calls a reader of values. What it makes takes memory in proportion to the bytes that it reads.
local function read(reader, bytes, ...)
  local before = collectgarbage("count")
  local results = try(reader, ...)
  local made = (collectgarbage("count") - before) * 1024
  assert(made <= 100000 + 1000 * bytes, made)
  return results
end

local function is_near(a, b) return math.abs(a - b) <= math.abs(a) * 1e-13 end

-- Whether two values are the same; in tables that are nested `most` deep others are nil in the second. With
-- `nears`, numbers may differ in their last digits. Keys that are tables cannot be looked up.
local function same(a, b, most, nears)
  if type(a) ~= "table" then
    local are_numbers = type(a) == "number" and type(b) == "number"
    return a == b or (a ~= a and b ~= b) or (are_numbers and nears and is_near(a, b))
  end
  if most == 0 then return b == nil end
  if type(b) ~= "table" then return false end
  for key in pairs(a) do
    if type(key) == "table" then return true end
  end
  for key, value in pairs(a) do
    if not same(value, b[key], most - 1, nears) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end
