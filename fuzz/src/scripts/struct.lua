-- SPDX-License-Identifier: Apache-2.0
-- What is unpacked with a format is packed with it, and unpacked again to the same.
local format, data = ARGV[1], ARGV[2]
local has_size, size = pcall(struct.size, format)
pcall(struct.pack, format, 1, "text", 2, "text")
try(struct.unpack, format, data, #data)
local values = read(struct.unpack, #format + #data, format, data)
if not values[1] then return end
local position = values[values.n]
assert(position >= 1 and position <= #data + 1, position)
assert(not has_size or position == size + 1, "another size")
-- The size in front of such a text is not among the values.
if format:find("c0", 1, true) then return end

local packed = struct.pack(format, unpack(values, 2, values.n - 1))
assert(#packed == position - 1, #packed)
local again = list(struct.unpack(format, packed))
assert(again.n == values.n - 1, again.n)
for i = 2, values.n do
  local value = values[i]
  -- Integers that no number of Lua is equal to are others when they are packed.
  if type(value) ~= "number" or math.abs(value) < 2 ^ 53 then
    assert(same(value, again[i - 1], 1), i)
  end
end
