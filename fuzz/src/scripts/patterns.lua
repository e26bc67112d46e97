-- SPDX-License-Identifier: Apache-2.0
-- A pattern is the same to all functions that find it.
local pattern, text = ARGV[1], ARGV[2]

local is_one, first, last, capture = pcall(string.find, text, pattern)
local is_match, match = pcall(string.match, text, pattern)
local is_replaced, replaced, count = pcall(string.gsub, text, pattern, "%0")
pcall(string.gsub, text, pattern, "<%1>%2")
pcall(string.gsub, text, pattern, text, 3)
pcall(string.find, text, pattern, -3)
pcall(string.match, text, pattern, 4)

if is_one and first then
  assert(1 <= first and first <= last + 1 and last <= #text, "beyond the text")
end
-- A word is found without being read as a pattern, which ends at a zero byte.
if is_one and is_match and not pattern:find("%z") then
  local found = capture or (first and text:sub(first, last))
  assert(match == found, "match is no part of find")
end
if is_replaced then
  assert(replaced == text, "each match replaced by itself")
  local by_nothing, again, calls = pcall(string.gsub, text, pattern, function() end)
  if by_nothing then assert(again == text and calls == count, "kept by a function") end
  by_nothing, again, calls = pcall(string.gsub, text, pattern, {})
  if by_nothing then assert(again == text and calls == count, "kept by a table") end
  -- To gmatch, this letter is one to be found.
  if pattern:sub(1, 1) ~= "^" then
    local seen = 0
    local is_whole = pcall(function()
      for _ in text:gmatch(pattern) do seen = seen + 1 end
    end)
    assert(not is_whole or seen == count, "gmatch finds others")
  end
end
