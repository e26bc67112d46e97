-- SPDX-License-Identifier: Apache-2.0
-- What is unpacked from MessagePack, at once or one by one, is packed, and unpacked again to the same.
local DEPTH_MAX = 16
local text = ARGV[1]
local values = read(cmsgpack.unpack, #text, text)
if not values[1] or values.n == 1 then return end

local offset, at = 0, 1
repeat
  local one
  offset, one = cmsgpack.unpack_one(text, offset)
  at = at + 1
  assert(same(one, values[at], 1000), "one by one")
until offset == -1
assert(at == values.n, "one by one there are others")

local packed = cmsgpack.pack(unpack(values, 2, values.n))
local first = try(cmsgpack.unpack, packed)
if not first[1] then
  -- A key that is a table, as deep as tables become nil.
  assert(first[2]:find("table index is nil", 1, true), first[2])
  return
end
assert(first.n == values.n, "others are packed")
local second = list(cmsgpack.unpack(cmsgpack.pack(unpack(first, 2, first.n))))
assert(second.n == first.n - 1, "others are packed again")
for i = 2, values.n do
  assert(same(values[i], first[i], DEPTH_MAX), "packed")
  assert(same(first[i], second[i - 1], DEPTH_MAX), "packed again")
end
