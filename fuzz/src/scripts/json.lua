-- SPDX-License-Identifier: Apache-2.0
-- What is decoded from JSON is encoded, and decoded again to the same.
local text = ARGV[1]
local decoded = read(cjson.decode, #text, text)
if not decoded[1] then return end
local is_encoded, json = pcall(cjson.encode, decoded[2])
if not is_encoded then
  assert(json:find("must not be NaN or Inf", 1, true), json)
  return
end
-- The first text has fewer digits than a number may have.
local first = cjson.decode(json)
assert(same(decoded[2], first, 1000, true), json)
local second = cjson.decode(cjson.encode(first))
assert(same(first, second, 1000), json)
