-- SPDX-License-Identifier: Apache-2.0
-- What libraries of functions see. Called once, with the parts of `prelude.lua` and the table of globals; returns
-- the functions that `library.rs` calls, and the environment in which libraries are compiled.
local parts, globals = ...
local redis, frozen, freeze, refuse, shown = parts.redis, parts.frozen, parts.freeze, parts.refuse, parts.shown

local error, type, tostring, select, next, setmetatable = error, type, tostring, select, next, setmetatable
local lower, find = string.lower, parts.find

local FUNCTIONS_MAX = 10000

-- These are for scripts only.
redis.replicate_commands, redis.breakpoint, redis.debug = nil, nil, nil

-- Registration -------------------------------------------------------------------------------------------

-- The library that is being loaded: `list` has what it has registered, in order; `callbacks` has the functions
-- by their names.
local loading

local function fail(text) error({ err = "ERR " .. text }, 0) end

local function is_text(value)
  local kind = type(value)
  return kind == "string" or kind == "number"
end

local FLAGS = {
  ["no-writes"] = true, ["allow-oom"] = true, ["allow-stale"] = true, ["no-cluster"] = true,
  ["allow-cross-slot-keys"] = true,
}

local function flags_of(given)
  local flags, i = {}, 1
  while given[i] ~= nil do
    local flag = given[i]
    flag = is_text(flag) and lower(tostring(flag))
    if not FLAGS[flag] then fail("unknown flag given") end
    flags[flag] = true
    i = i + 1
  end
  return flags
end

-- The arguments of a call with a table.
local function named(given)
  local name, callback, description, flags
  for key, value in next, given do
    if not is_text(key) then
      fail("named argument key given to redis.register_function is not a string")
    end
    key = lower(tostring(key))
    if key == "function_name" then
      if not is_text(value) then
        fail("function_name argument given to redis.register_function must be a string")
      end
      name = tostring(value)
    elseif key == "description" then
      if not is_text(value) then
        fail("description argument given to redis.register_function must be a string")
      end
      description = tostring(value)
    elseif key == "callback" then
      if type(value) ~= "function" then
        fail("callback argument given to redis.register_function must be a function")
      end
      callback = value
    elseif key == "flags" then
      if type(value) ~= "table" then
        fail("flags argument to redis.register_function must be a table representing function flags")
      end
      flags = flags_of(value)
    else
      fail("unknown argument given to redis.register_function")
    end
  end
  if not name then fail("redis.register_function must get a function name argument") end
  if not callback then fail("redis.register_function must get a callback argument") end
  return name, callback, description, flags
end

-- The arguments of a call with a name and a function.
local function positional(name, callback)
  if not is_text(name) then fail("first argument to redis.register_function must be a string") end
  if type(callback) ~= "function" then
    fail("second argument to redis.register_function must be a function")
  end
  return tostring(name), callback
end

local function register(...)
  if not loading then
    fail("redis.register_function can only be called on FUNCTION LOAD command")
  end
  local count = select("#", ...)
  local read
  if count == 1 then
    if type((...)) ~= "table" then
      fail("calling redis.register_function with a single argument is only applicable to Lua table "
        .. "(representing named arguments).")
    end
    read = named
  elseif count == 2 then
    read = positional
  else
    fail("wrong number of arguments to redis.register_function")
  end
  local name, callback, description, flags = read(...)
  if name == "" or find(name, "[^%w_]") then
    fail("Library names can only contain letters, numbers, or underscores(_) and must be at least one "
      .. "character long")
  end
  if loading.callbacks[name] then fail("Function already exists in the library") end
  local list = loading.list
  if #list >= FUNCTIONS_MAX then fail("a library has 10000 functions at most") end
  loading.callbacks[name] = callback
  list[#list + 1] = { name = name, description = description, flags = flags or {} }
end

-- Two environments ---------------------------------------------------------------------------------------
-- While a library is loaded it sees little. Its functions see what scripts see.

local function strict(table)
  return freeze(setmetatable(table, {
    __index = function(_, name)
      error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end,
  }))
end

local while_loading = { register_function = register }
for _, name in next, {
  "log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING", "REDIS_VERSION", "REDIS_VERSION_NUM",
} do
  while_loading[name] = redis[name]
end
while_loading = strict(while_loading)
local load_globals = strict({ redis = while_loading, server = while_loading })

local meta = { __index = globals, __newindex = refuse, __metatable = shown }
local environment = setmetatable({}, meta)
frozen[environment] = globals

local function enter()
  loading = { callbacks = {}, list = {} }
  meta.__index = load_globals
end

local function leave()
  meta.__index = globals
  local loaded = loading
  loading = nil
  return loaded.callbacks, loaded.list
end

return environment, enter, leave
