-- SPDX-License-Identifier: Apache-2.0
-- What scripts see, as far as it is written in Lua: read-only tables, errors that are tables, and functions of
-- Lua that are safer than the originals. Called once with a table of functions in Rust, each of which returns an
-- error as its first result or nil and its results; returns a function that runs a script.
local rust = ...

local error, type, tostring, select, next = error, type, tostring, select, next
local raw_pcall, raw_xpcall, raw_rawset, raw_setmetatable = pcall, xpcall, rawset, setmetatable
local raw_getmetatable, raw_unpack, raw_pairs = getmetatable, unpack, pairs
local raw_insert, raw_remove, raw_sort, concat = table.insert, table.remove, table.sort, table.concat

-- Read-only tables ---------------------------------------------------------------------------------------
-- A script is given an empty table in front of the real one, so that each assignment comes here. Functions that
-- would write into the empty table ask first whether it is one.

local READONLY = "Attempt to modify a readonly table"
local frozen = {}
local function refuse() error(READONLY, 2) end

local shown = {}
frozen[shown] = {}
raw_setmetatable(shown, { __newindex = refuse, __metatable = shown })

local function freeze(real)
  local front = {}
  frozen[front] = real
  return raw_setmetatable(front, { __index = real, __newindex = refuse, __metatable = shown })
end

local function kind(count, value) return count == 0 and "no value" or type(value) end

local function need_table(name, count, value)
  if type(value) ~= "table" then
    error("bad argument #1 to '" .. name .. "' (table expected, got " .. kind(count, value) .. ")", 3)
  end
  if frozen[value] then error(READONLY, 0) end
end

local function rawset(t, k, v)
  need_table("rawset", 1, t)
  return raw_rawset(t, k, v)
end

local function setmetatable(t, ...)
  need_table("setmetatable", 1, t)
  local meta = ...
  if select("#", ...) == 0 or (meta ~= nil and type(meta) ~= "table") then
    error("bad argument #2 to 'setmetatable' (nil or table expected)", 2)
  end
  return raw_setmetatable(t, meta)
end

local function pairs(t)
  local real = t ~= nil and frozen[t]
  if not real then return raw_pairs(t) end
  local key
  return function()
    local value
    key, value = next(real, key)
    return key, value
  end
end

local function insert(t, ...)
  need_table("insert", 1, t)
  return raw_insert(t, ...)
end

local function remove(t, ...)
  need_table("remove", 1, t)
  return raw_remove(t, ...)
end

local function sort(t, ...)
  need_table("sort", 1, t)
  return raw_sort(t, ...)
end

-- Errors -------------------------------------------------------------------------------------------------

-- Errors of functions in Rust are userdata; scripts catch texts and tables.
local function caught(ok, failed, ...)
  if ok then return ok, failed, ... end
  if type(failed) == "userdata" then failed = rust.caught(failed) end
  -- A script that catches an error of a command is given its text.
  if type(failed) == "table" then
    local text = failed.err
    if type(text) == "string" or type(text) == "number" then return false, text end
  end
  return false, failed
end

local function pcall(...) return caught(raw_pcall(...)) end

local function xpcall(f, handler)
  if type(handler) ~= "function" then return raw_xpcall(f, handler) end
  return raw_xpcall(f, function(failed)
    -- An error that ends the script is raised by a hook, and no hook would end the script's handler.
    if rust.is_stopped() then return failed end
    if type(failed) == "userdata" then failed = rust.caught(failed) end
    return handler(failed)
  end)
end

local raw_resume = coroutine.resume
local function resumed(ok, failed, ...)
  if not ok and type(failed) == "userdata" then return ok, rust.caught(failed) end
  return ok, failed, ...
end
local function resume(...) return resumed(raw_resume(...)) end

-- Functions of Lua ---------------------------------------------------------------------------------------

-- As many as Lua has room for, beside the arguments: that of scripts that give a command all elements of a table.
local UNPACKED_MAX = 7999
local function unpack(t, i, j)
  if i == nil then i = 1 end
  local is_whole = i == 1 and j == nil
  if type(t) == "table" and (i == 1 or type(i) == "number") and (j == nil or type(j) == "number") then
    local last = j or #t
    if i > last then return end
    local most = is_whole and UNPACKED_MAX or UNPACKED_MAX - 2
    if last - i >= most then error("too many results to unpack", 2) end
  end
  if is_whole then return raw_unpack(t) end
  return raw_unpack(t, i, j)
end

local function load(reader, name)
  local pieces, count = {}, 0
  if type(reader) ~= "function" then
    error("bad argument #1 to 'load' (function expected, got " .. type(reader) .. ")", 2)
  end
  while true do
    local piece = reader()
    if piece == nil or piece == "" then break end
    if type(piece) ~= "string" then return nil, "reader function must return a string" end
    count = count + 1
    pieces[count] = piece
  end
  return rust.loadstring(concat(pieces), name or "=(load)")
end

local function collectgarbage(what, ...)
  -- Others change how memory is collected for all scripts.
  if what == nil or what == "collect" or what == "count" or what == "step" then
    return rust.collectgarbage(what)
  end
  if what == "stop" or what == "restart" or what == "setpause" or what == "setstepmul" then return 0 end
  error("bad argument #1 to 'collectgarbage' (invalid option '" .. tostring(what) .. "')", 2)
end

local function gmatch_end(state, first, last, ...)
  if first == nil then return nil end
  -- An empty match does not end the search.
  state.at = last < first and last + 2 or last + 1
  if select("#", ...) == 0 then return state.text:sub(first, last) end
  return ...
end

local function gmatch(text, pattern)
  text, pattern = rust.gmatch_arguments(text, pattern)
  local state = { at = 1, text = text }
  return function()
    if state.at > #text + 1 then return nil end
    return gmatch_end(state, rust.search(text, pattern, state.at, true))
  end
end

-- Replaces one match by what a table or a function says.
local function replaced(replacement, whole, captured, ...)
  local key = captured
  if captured == nil then key = whole end
  local value
  if type(replacement) == "table" then
    value = replacement[key]
  elseif captured == nil then
    value = replacement(whole)
  else
    value = replacement(captured, ...)
  end
  if not value then return whole end
  if type(value) ~= "string" and type(value) ~= "number" then
    error("invalid replacement value (a " .. type(value) .. ")", 4)
  end
  return value
end

local function gsub_step(state, first, last, ...)
  if first == nil then return false end
  local text, pieces = state.text, state.pieces
  state.count = state.count + 1
  pieces[#pieces + 1] = text:sub(state.at, first - 1)
  pieces[#pieces + 1] = replaced(state.replacement, text:sub(first, last), ...)
  if last >= first then
    state.at = last + 1
  else
    pieces[#pieces + 1] = text:sub(first, first)
    state.at = first + 1
  end
  return state.at <= #text + 1
end

local function gsub(...)
  local _, _, replacement = ...
  local what = type(replacement)
  if what ~= "table" and what ~= "function" then return rust.gsub(...) end
  local text, pattern, limit = rust.gsub_arguments(...)
  local state = { at = 1, text = text, pieces = {}, count = 0, replacement = replacement }
  local is_anchored = pattern:sub(1, 1) == "^"
  while state.count < limit do
    if not gsub_step(state, rust.search(text, pattern, state.at, not is_anchored)) then break end
    if is_anchored then break end
  end
  state.pieces[#state.pieces + 1] = text:sub(state.at)
  return concat(state.pieces), state.count
end

-- Libraries ----------------------------------------------------------------------------------------------

local function copy(library, ...)
  local made = {}
  for i = 1, select("#", ...) do
    local name = select(i, ...)
    made[name] = library[name]
  end
  return made
end

local strings = copy(string, "byte", "char", "dump", "format", "len", "lower", "reverse", "sub", "upper")
strings.find, strings.match, strings.gmatch, strings.gsub = rust.find, rust.match, gmatch, gsub
strings.gfind, strings.rep = gmatch, rust.rep

local tables = copy(table, "concat", "foreach", "foreachi", "getn", "maxn")
tables.insert, tables.remove, tables.sort = insert, remove, sort
tables.setn = function() error("'setn' is obsolete", 2) end

local coroutines = copy(coroutine, "create", "running", "status", "wrap", "yield")
coroutines.resume = resume

local maths = {}
for name, value in raw_pairs(math) do maths[name] = value end
maths.random, maths.randomseed = rust.random, rust.randomseed

local redis = rust.redis
redis.replicate_commands = function() return true end
redis.breakpoint = function() return false end
redis.debug = function() end

local globals = {
  _VERSION = _VERSION, assert = assert, collectgarbage = collectgarbage, error = error,
  gcinfo = gcinfo, getmetatable = getmetatable, ipairs = ipairs, load = load,
  loadstring = rust.loadstring, next = next, pairs = pairs, pcall = pcall, rawequal = rawequal,
  rawget = rawget, rawset = rawset, select = select, setmetatable = setmetatable, tonumber = tonumber,
  tostring = tostring, type = type, unpack = unpack, xpcall = xpcall,
  coroutine = freeze(coroutines),
  math = freeze(maths), os = freeze({ clock = rust.clock }), redis = freeze(redis),
  server = freeze(redis), string = freeze(strings), table = freeze(tables),
  bit = freeze(rust.bit), cjson = freeze(rust.cjson), cmsgpack = freeze(rust.cmsgpack),
  struct = freeze(rust.struct),
}
rust.cjson.new = function() return globals.cjson end
globals._G = freeze(globals)
raw_setmetatable(globals, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})

-- Methods of strings are looked up in the real table; nobody can write to it.
local of_strings = raw_getmetatable("")
of_strings.__index = strings
of_strings.__metatable = shown

-- How a script runs --------------------------------------------------------------------------------------

local source, line
local function handler(failed)
  source, line = rust.where()
  return failed
end

local function ended(ok, ...)
  return ok, source, line, ...
end

local function run(script)
  source, line = nil, nil
  return ended(raw_xpcall(script, handler))
end

-- What `library.lua` builds upon.
local parts = {
  redis = redis, find = rust.find, frozen = frozen, freeze = freeze, refuse = refuse, shown = shown,
}

return run, globals, parts
