// SPDX-License-Identifier: Apache-2.0
//! Scripts that want to do harm: each ends, with an error, and the VM runs others afterwards.

use script::testing::{Canned, TextReply};
use script::{MEMORY_MAX, Raised, Vm, sha1};

/// Runs a script that may be asked a number of times whether it may go on.
fn run_in(vm: &mut Vm, source: &str, patience: u64) -> Result<String, Raised> {
    let sha = sha1::hex(source.as_bytes());
    let mut server = Canned { patience, ..Canned::default() };
    let mut text = TextReply::default();
    let none: [&[u8]; 0] = [];
    if let Err(error) = vm.compile(&sha, source.as_bytes()) {
        return Err(Raised { text: error.0.into(), ..Raised::default() });
    }
    vm.run(&sha, &none, &none, &mut server, &mut text).map(|()| text.0)
}

fn vm() -> Vm {
    Vm::new("8.0.0").expect("there is memory")
}

#[test]
fn scripts_that_do_not_end_are_ended() {
    let mut vm = vm();
    for source in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() local ok, e = pcall(f) return f() end f()",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do redis.call('ping') end",
        "while true do redis.pcall('ping') end",
        "return string.find(('a'):rep(5000), ('.-'):rep(40) .. 'b')",
        "return ('a'):rep(30):match(('a?'):rep(30) .. ('a'):rep(31))",
        "string.gsub(('x'):rep(1e6), 'x', function() while true do end end)",
        "return ('('):rep(1e6):find('%b()')",
        "return ('a'):rep(1e6):find('[' .. ('x'):rep(1e6) .. 'a]*b')",
        "return ('a'):rep(1e6):find('[' .. ('x'):rep(1e6) .. 'a]-b')",
        "return ('a'):rep(1e6):find('[' .. ('x'):rep(1e6) .. ']')",
        "return ('a'):rep(1e6):find('(a*)%1b')",
        "local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
        "local t = {} for i = 1, 16 do local n = {} for j = 1, 999 do n[j] = t end t = n end \
         return cmsgpack.pack(t)",
        "cjson.encode_sparse_array(false, 0) return cjson.encode({[2^52] = 1})",
        "table.sort({1, 2, 3}, function() while true do end end)",
        "return setmetatable({}, {__index = function() while true do end end}).x",
    ] {
        let end = run_in(&mut vm, source, 3).expect_err(source);
        assert_eq!(end.text, b"ERR Script killed by user with SCRIPT KILL.", "{source}");
        assert_eq!(run_in(&mut vm, "return 1", 3).as_deref(), Ok("1"), "after {source}");
    }
}

#[test]
fn scripts_that_want_too_much_memory_fail() {
    let mut vm = vm();
    for source in [
        "return string.rep('x', 1e9)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "return ('x'):rep(1e6):gsub('.*', ('%0'):rep(1e6))",
        "return ('x'):rep(1e6):gsub('(.*)', ('%1'):rep(1e6))",
        "return table.concat({('x'):rep(1e8), ('x'):rep(1e8), ('x'):rep(1e8)})",
        "local t = {} for i = 1, 7000 do t[i] = ('x'):rep(100000) end \
         return redis.call('rpush', 'l', unpack(t))",
    ] {
        let end = run_in(&mut vm, source, u64::MAX).expect_err(source);
        let text = String::from_utf8_lossy(&end.text);
        assert!(text.contains("not enough memory"), "{source}: {text}");
        assert!(vm.used_bytes() < MEMORY_MAX, "{source}");
        assert_eq!(run_in(&mut vm, "return 1", 3).as_deref(), Ok("1"), "after {source}");
    }
    assert!(vm.used_bytes() < 1 << 20, "{} bytes are left", vm.used_bytes());
}

#[test]
fn deep_scripts_fail() {
    let mut vm = vm();
    for (source, error) in [
        ("local function f(n) return 1 + f(n + 1) end return f(1)", "stack overflow"),
        ("local function f() coroutine.wrap(f)() end f()", "C stack overflow"),
        ("return cjson.decode(('['):rep(1e6))", "too many nested data structures (1001)"),
        ("local t = {} t[1] = t return cjson.encode(t)", "excessive nesting (1001)"),
        ("local t = {} t.a = t return cjson.encode(t)", "excessive nesting (1001)"),
        ("return cmsgpack.unpack(('\\145'):rep(1e6))", "too many nested tables"),
        ("return ('x'):find(('('):rep(100000))", "too many captures"),
        ("return ('x'):find(('(x?)'):rep(30) .. ('x-'):rep(100000))", "pattern too complex"),
        ("return unpack({}, 0, 2147483647)", "too many results to unpack"),
        ("return unpack({}, -1e10, 1e10)", "too many results to unpack"),
        ("return unpack({}, 1, 1e8)", "too many results to unpack"),
        ("return unpack({1, 2, 3}, -1, 2147483646)", "too many results to unpack"),
        ("return unpack({1, 2, 3}, -2147483648, 2147483647)", "too many results to unpack"),
        ("return unpack({1, 2, 3}, -2147483648, -2)", "too many results to unpack"),
        ("return cjson.decode(('{\"\":'):rep(1e6))", "too many nested data structures (1001)"),
        (
            "cjson.decode_max_depth(2147483647) return cjson.decode(('['):rep(1e6))",
            "too many nested data structures (1001)",
        ),
        (
            "cjson.encode_max_depth(2147483647) local t = {} t[1] = t return cjson.encode(t)",
            "excessive nesting (1001)",
        ),
        ("return cmsgpack.unpack(('\\129\\1'):rep(1e6))", "too many nested tables"),
        ("return cmsgpack.unpack(('\\129'):rep(1e6))", "too many nested tables"),
        ("return cmsgpack.unpack('\\221\\255\\255\\255\\255')", "Missing bytes in input."),
        ("return cmsgpack.unpack('\\223\\255\\255\\255\\255\\1')", "Missing bytes in input."),
        ("return cmsgpack.unpack('\\219\\255\\255\\255\\255x')", "Missing bytes in input."),
        (
            "local function f(n) if n == 0 then return cjson.decode(('['):rep(2000)) end \
             return (('x'):gsub('x', function() return f(n - 1) end)) end return f(150)",
            "too many nested data structures (1001)",
        ),
        ("return string.byte(('x'):rep(1e6), 1, -1)", "string slice too long"),
        ("return struct.unpack(('b'):rep(9000), ('x'):rep(9000))", "too many results"),
    ] {
        let end = run_in(&mut vm, source, u64::MAX).expect_err(source);
        let text = String::from_utf8_lossy(&end.text);
        assert!(text.contains(error), "{source}: {text}");
    }
    assert_eq!(
        run_in(&mut vm, "local f = loadstring('return ' .. ('('):rep(1e5)) return type(f)", 99)
            .as_deref(),
        Ok("\"nil\"")
    );
}

/// What has no room on Lua's stack is no argument of it.
#[test]
fn many_values_are_refused_or_returned() {
    let mut vm = vm();
    for source in [
        "return select('#', cmsgpack.unpack(('\\1'):rep(1e6)))",
        "return select('#', cmsgpack.unpack_limit(('\\1'):rep(1e6), 1e6, 0))",
    ] {
        let end = run_in(&mut vm, source, u64::MAX).expect_err(source);
        let text = String::from_utf8_lossy(&end.text);
        assert!(text.contains("stack overflow") || text.contains("too many"), "{source}: {text}");
        assert_eq!(run_in(&mut vm, "return 1", 3).as_deref(), Ok("1"), "after {source}");
    }
    let deep = "local t = {} t[1] = t return #cmsgpack.pack(t)";
    assert_eq!(run_in(&mut vm, deep, u64::MAX).as_deref(), Ok("17"));
    let zero = "return cjson.encode(cjson.decode('[0x0p99999999999,-0x0p-1]'))";
    assert_eq!(run_in(&mut vm, zero, u64::MAX).as_deref(), Ok("\"[0,-0]\""));
}

#[test]
fn a_reply_of_a_table_in_many_places_is_bounded() {
    let mut vm = vm();
    let source = "local t = {} for i = 1, 40 do t = {t, t} end return t";
    let reply = run_in(&mut vm, source, 50).expect("it is a reply");
    assert!(reply.ends_with("-ERR reached lua stack limit"));
    let deep = "local t = {} for i = 1, 5000 do t = {t} end return t";
    let reply = run_in(&mut vm, deep, 50).expect("it is a reply");
    assert!(reply.ends_with("[1] -ERR reached lua stack limit"));
}

#[test]
fn byte_code_is_not_loaded() {
    let mut vm = vm();
    let source = "return {loadstring(string.dump(function() return 1 end)), load(function() return nil end)}";
    assert_eq!(run_in(&mut vm, source, 9).as_deref(), Ok("[0]"));
    let error = vm.compile(&[b'0'; 40], b"\x1bLua").expect_err("it is no text");
    assert!(error.0.contains("unexpected symbol"), "{error}");
}

/// The proof of CVE-2025-49844 in its essence: the chunk's name is garbage while the parser collects.
#[test]
fn the_name_of_a_chunk_lives_while_it_is_parsed() {
    let mut vm = vm();
    let source = "for i = 1, 200 do \
         local source = 'local a = {' .. ('\"' .. i .. 'x\",'):rep(500) .. '} return (' \
         local f, e = loadstring(source, '=' .. ('n'):rep(40) .. i) \
         if f or not e:find('n' .. i .. ':', 1, true) then return e end \
         collectgarbage() end return 'done'";
    assert_eq!(run_in(&mut vm, source, u64::MAX).as_deref(), Ok("\"done\""));
}

/// The same, with a name that only `load` has, and pieces that are read while memory is collected.
#[test]
fn the_name_of_a_chunk_in_pieces_lives_while_it_is_parsed() {
    let mut vm = vm();
    let source = "for i = 1, 100 do local n = 0 \
         local f, e = load(function() n = n + 1 collectgarbage() \
         if n < 20 then return 'local a' .. n .. ' = \"' .. ('x'):rep(1000) .. n .. '\" ' end \
         if n == 20 then return 'return (' end end, '=' .. ('n'):rep(40) .. i) \
         if f or not e:find('n' .. i .. ':', 1, true) then return e end end return 'done'";
    assert_eq!(run_in(&mut vm, source, u64::MAX).as_deref(), Ok("\"done\""));
}

#[test]
fn nothing_of_a_script_is_left_for_the_next() {
    let mut vm = vm();
    for source in [
        "x = 1",
        "_G.x = 1",
        "rawset(_G, 'x', 1)",
        "string.x = 1",
        "table.insert(string, 1)",
        "table.insert(_G, 1)",
        "setmetatable(_G, {})",
        "getmetatable('').__index = {}",
        "getmetatable(_G).__index = {}",
        "getmetatable(string).x = {}",
        "redis.call = nil",
        "cjson.encode = nil",
        "local key, t = next(string)",
        "for k, v in pairs(getmetatable(_G)) do v.x = 1 end return x",
    ] {
        let _ = run_in(&mut vm, source, u64::MAX);
        let seen = run_in(
            &mut vm,
            "return {rawget(_G, 'x') == nil, #string, #_G, \
            type(redis.call), ('x'):upper(), cjson.encode({1})}",
            9,
        );
        assert_eq!(seen.as_deref(), Ok("[6] 1 0 0 \"function\" \"X\" \"[1]\""), "after {source}");
    }
    run_in(&mut vm, "cjson.encode_max_depth(1) cjson.encode_invalid_numbers(true) return 1", 9)
        .expect("it runs");
    assert_eq!(run_in(&mut vm, "return cjson.encode({{1}})", 9).as_deref(), Ok("\"[[1]]\""));
}

#[test]
fn ten_thousand_scripts_take_bounded_memory() {
    let mut vm = vm();
    for i in 0..10_000 {
        let source = format!("local a, b, c = {i}, 'text of {i}', {{}} return a + #b");
        run_in(&mut vm, &source, 9).expect("it runs");
    }
    assert!(vm.used_bytes() < 4 << 20, "{} bytes", vm.used_bytes());
}

/// The proof of CVE-2024-46981 in its essence: a script that handles the garbage collector, and a VM that then
/// forgets its scripts.
#[test]
fn the_garbage_collector_is_none_of_a_scripts() {
    let mut vm = vm();
    for source in [
        "return type(newproxy) .. type(debug) .. type(getfenv) .. type(setfenv)",
        "for _, option in ipairs({'stop', 'restart', 'collect', 'count', 'step', 'setpause', 'setstepmul'}) do \
         pcall(collectgarbage, option, 1e9) end return 1",
        "pcall(collectgarbage, 'stop') local t = {} for i = 1, 1000 do t[i] = {t, ('x'):rep(100) .. i} end return #t",
        "local t = setmetatable({}, {__gc = function() end, __mode = 'kv'}) for i = 1, 100 do t[{}] = {} \
         pcall(collectgarbage, 'step', 0) end return 1",
        "pcall(collectgarbage, 'setpause', 2147483647) pcall(collectgarbage, 'setstepmul', -1) return 1",
    ] {
        for _ in 0..20 {
            let _ = run_in(&mut vm, source, u64::MAX);
            vm.forget_all();
        }
        assert_eq!(run_in(&mut vm, "return 1", 3).as_deref(), Ok("1"), "after {source}");
    }
    let garbage = "local s = {} for i = 1, 10000 do s[i % 10] = ('x'):rep(1000) .. i end return 1";
    for _ in 0..50 {
        assert_eq!(run_in(&mut vm, garbage, u64::MAX).as_deref(), Ok("1"));
    }
    assert!(vm.used_bytes() < 64 << 20, "{} bytes", vm.used_bytes());
}

/// The proof of CVE-2025-46818 in its essence: what one script puts into the metatables of plain values would run
/// with the rights of the next.
#[test]
fn metatables_of_plain_values_are_not_for_scripts() {
    let mut vm = vm();
    for value in ["''", "1", "true", "nil", "print", "redis.call", "coroutine.create(print)"] {
        for change in [
            format!("getmetatable({value}).__index = function() return 'bad' end"),
            format!("getmetatable({value}).__call = function() return 'bad' end"),
            format!("rawset(getmetatable({value}), '__index', {{x = 'bad'}})"),
            format!("setmetatable({value}, {{__index = {{x = 'bad'}}}})"),
            format!("getmetatable(getmetatable({value})).__newindex = nil"),
        ] {
            let _ = run_in(&mut vm, &change, u64::MAX);
        }
        let look = format!(
            "local ok, x = pcall(function() local v = {value} return v.x end) return tostring(ok and x)"
        );
        let seen = run_in(&mut vm, &look, u64::MAX).expect("it runs");
        assert!(!seen.contains("bad"), "{value}: {seen}");
    }
}
