// SPDX-License-Identifier: Apache-2.0
//! Libraries of functions: what they register, what they see, and libraries that want to do harm.

use script::testing::{Canned, TextReply};
use script::{FunctionFlags, LIBRARIES_MAX, LibraryVm, LoadError, MEMORY_MAX, Raised, Registered};

fn vm() -> LibraryVm {
    LibraryVm::new("8.0.0").expect("there is memory")
}

fn load_in(
    vm: &mut LibraryVm,
    id: u64,
    code: &str,
    patience: u64,
) -> Result<Vec<Registered>, LoadError> {
    let mut server = Canned { patience, ..Canned::default() };
    vm.load(id, code.as_bytes(), &mut server)
}

fn call_in(vm: &mut LibraryVm, id: u64, name: &str, patience: u64) -> Result<String, Raised> {
    let mut server = Canned { patience, ..Canned::default() };
    let mut text = TextReply::default();
    let (keys, args): ([&[u8]; 1], [&[u8]; 2]) = ([b"k"], [b"a", b"b"]);
    vm.call(id, name.as_bytes(), &keys, &args, &mut server, &mut text).map(|()| text.0)
}

/// A library with one function, `f`, of this body.
fn function(body: &str) -> String {
    format!("redis.register_function('f', function(keys, args) {body} end)")
}

#[test]
fn functions_are_registered_in_both_forms() {
    let mut vm = vm();
    let code = "redis.register_function('a', function() return 1 end) \
         redis.register_function{function_name='b', callback=function() return 2 end, \
         description='says two', flags={'no-writes', 'ALLOW-OOM'}}";
    let functions = load_in(&mut vm, 1, code, 9).expect("it is a library");
    assert_eq!(functions.len(), 2);
    assert_eq!((&*functions[0].name, &functions[0].description), (&b"a"[..], &None));
    assert_eq!(functions[1].description.as_deref(), Some(&b"says two"[..]));
    assert_eq!(functions[1].flags.names().collect::<Vec<_>>(), ["no-writes", "allow-oom"]);
    assert!(!functions[0].flags.has(FunctionFlags::NO_WRITES));
    assert_eq!(call_in(&mut vm, 1, "a", 9).as_deref(), Ok("1"));
    assert_eq!(call_in(&mut vm, 1, "b", 9).as_deref(), Ok("2"));
}

#[test]
fn what_is_registered_wrongly_is_said() {
    let mut vm = vm();
    for (code, error) in [
        ("redis.register_function()", "wrong number of arguments to redis.register_function"),
        (
            "redis.register_function('a', 1)",
            "second argument to redis.register_function must be a function",
        ),
        (
            "redis.register_function('a b', function() end)",
            "Library names can only contain letters",
        ),
        (
            "redis.register_function{[{}]=1}",
            "argument key given to redis.register_function is not a string",
        ),
        ("local r = redis.call", "nonexistent global variable 'call'"),
        ("error('x')", "nonexistent global variable 'error'"),
        ("x = 1", "Attempt to modify a readonly table"),
        ("redis.x = 1", "Attempt to modify a readonly table"),
    ] {
        let failed = load_in(&mut vm, 1, code, 9).expect_err(code).to_string();
        assert!(failed.starts_with("Error registering functions: ERR "), "{code}: {failed}");
        assert!(failed.contains(error), "{code}: {failed}");
        assert!(!vm.has(1));
    }
    let failed = load_in(&mut vm, 1, "x y", 9).expect_err("it is no Lua").to_string();
    assert_eq!(failed, "Error compiling function: user_function:1: '=' expected near 'y'");
    assert!(load_in(&mut vm, 1, "\x1bLua", 9).is_err(), "byte code");
}

#[test]
fn functions_are_given_keys_and_arguments_and_see_what_scripts_see() {
    let mut vm = vm();
    for (id, (body, reply)) in (1..).zip([
        ("return {keys, args}", "[2] [1] \"k\" [2] \"a\" \"b\""),
        ("return cjson.encode({1})", "\"[1]\""),
        ("return redis.call('ping')", "+OK"),
        ("return pcall(error, 'x') and 1 or 2", "2"),
        ("return redis.register_function", "null"),
        ("return redis.breakpoint", "null"),
        ("return #_G", "0"),
    ]) {
        load_in(&mut vm, id, &function(body), 9).expect(body);
        assert_eq!(call_in(&mut vm, id, "f", 9).as_deref(), Ok(reply), "{body}");
    }
    for (id, body) in
        (100..).zip(["return KEYS", "return ARGV", "x = 1", "_G.x = 1", "string.x = 1"])
    {
        load_in(&mut vm, id, &function(body), 9).expect(body);
        assert!(call_in(&mut vm, id, "f", 9).is_err(), "{body}");
    }
}

#[test]
fn an_error_has_its_place() {
    let mut vm = vm();
    load_in(&mut vm, 1, &function("\nerror('boom')"), 9).expect("it is a library");
    let failed = call_in(&mut vm, 1, "f", 9).expect_err("it fails");
    assert_eq!(failed.text, b"ERR user_function:2: boom");
    assert_eq!(failed.place, Some((b"@user_function".to_vec(), 2)));
}

#[test]
fn a_function_that_is_registered_late_is_refused() {
    let mut vm = vm();
    let code = "local r = redis.register_function \
         r('f', function() r('g', function() end) end)";
    load_in(&mut vm, 1, code, 9).expect("it is a library");
    let failed = call_in(&mut vm, 1, "f", 9).expect_err("it is too late");
    let text = b"ERR redis.register_function can only be called on FUNCTION LOAD command";
    assert_eq!(failed.text, text);
}

#[test]
fn libraries_that_do_not_end_are_not_loaded() {
    let mut vm = vm();
    for code in [
        "while true do end",
        "local function f() return f() end f()",
        "local t = {} for i = 1, 1e9 do redis.register_function{function_name='f', callback=t} end",
        "return (('a'):rep(5000)):find(('.-'):rep(40) .. 'b')",
        "(('x'):rep(1e6)):gsub('x', function() while true do end end)",
    ] {
        let failed = load_in(&mut vm, 1, code, 3).expect_err(code);
        assert!(matches!(failed, LoadError::Register(_)), "{code}: {failed}");
        // The next one sees what it should.
        load_in(&mut vm, 2, &function("return cjson.encode({2})"), 9).expect("it is a library");
        assert_eq!(call_in(&mut vm, 2, "f", 9).as_deref(), Ok("\"[2]\""), "after {code}");
    }
}

#[test]
fn libraries_that_hold_too_much_are_not_loaded() {
    let mut vm = vm();
    let before = vm.used_bytes();
    for code in [
        "local s = ('x'):rep(1e9)".to_owned(),
        format!("local s = ('x'):rep({LIBRARIES_MAX}) {}", function("return #s")),
        format!(
            "local s, t = ('x'):rep(1e6), {{}} for i = 1, 200 do t[i] = s .. i end {}",
            function("return #t")
        ),
        "for i = 1, 20000 do redis.register_function('f' .. i, function() end) end".to_owned(),
    ] {
        assert!(load_in(&mut vm, 1, &code, u64::MAX).is_err(), "{code}");
        assert!(!vm.has(1) && vm.used_bytes() < before + (1 << 20), "{} bytes", vm.used_bytes());
    }
}

#[test]
fn thousands_of_libraries_and_functions_are_kept_apart() {
    let mut vm = vm();
    let before = vm.used_bytes();
    let many = "for i = 1, 10000 do redis.register_function('f' .. i, function() return i end) end";
    assert_eq!(load_in(&mut vm, 1, many, u64::MAX).expect("it is a library").len(), 10_000);
    for id in 2..3000 {
        load_in(&mut vm, id, &function(&format!("return {id}")), 9).expect("it is a library");
    }
    assert_eq!(call_in(&mut vm, 1, "f7777", 9).as_deref(), Ok("7777"));
    assert_eq!(call_in(&mut vm, 2999, "f", 9).as_deref(), Ok("2999"));
    vm.retain(|id| id == 5);
    assert!(vm.has(5) && !vm.has(6));
    assert_eq!(call_in(&mut vm, 5, "f", 9).as_deref(), Ok("5"));
    assert!(vm.used_bytes() < before + (1 << 20), "{} bytes are left", vm.used_bytes());
}

#[test]
fn functions_that_do_harm_end() {
    let mut vm = vm();
    for (id, body) in (1..).zip([
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do redis.pcall('ping') end",
    ]) {
        load_in(&mut vm, id, &function(body), 9).expect("it is a library");
        let end = call_in(&mut vm, id, "f", 3).expect_err(body);
        assert_eq!(end.text, b"ERR Script killed by user with SCRIPT KILL.", "{body}");
    }
    for (id, body) in (10..).zip([
        "getmetatable('').__index = {}",
        "local m = getmetatable(_G) m.__index = nil",
        "setmetatable(_G, {})",
        "rawset(_G, 'x', 1)",
        "redis.call = nil",
        "table.insert(redis, 1)",
    ]) {
        load_in(&mut vm, id, &function(body), 9).expect("it is a library");
        assert!(call_in(&mut vm, id, "f", 9).is_err(), "{body}");
    }
    load_in(&mut vm, 99, &function("return ('x'):upper() .. type(redis.call)"), 9).expect("right");
    assert_eq!(call_in(&mut vm, 99, "f", 9).as_deref(), Ok("\"Xfunction\""));
}

#[test]
fn functions_that_want_too_much_memory_fail() {
    let mut vm = vm();
    // Each begins with what the one before it has left.
    for (id, body) in (1..).zip([
        "return ('x'):rep(1e9)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "return ('x'):rep(1e6):gsub('.*', ('%0'):rep(1e6))",
        "return table.concat({('x'):rep(1e8), ('x'):rep(1e8), ('x'):rep(1e8)})",
        "local t = {} for i = 1, 7000 do t[i] = ('x'):rep(100000) end \
         return redis.call('rpush', 'l', unpack(t))",
        "local t = {} local ok = pcall(function() while true do t[#t + 1] = ('x'):rep(1e6) .. #t end end) \
         error('ERR not enough memory: ' .. tostring(ok))",
    ]) {
        load_in(&mut vm, id, &function(body), 9).expect("it is a library");
        let end = call_in(&mut vm, id, "f", u64::MAX).expect_err(body);
        let text = String::from_utf8_lossy(&end.text);
        assert!(text.contains("not enough memory"), "{body}: {text}");
        assert!(vm.used_bytes() < MEMORY_MAX, "{body}");
    }
    load_in(&mut vm, 99, &function("return #args"), 9).expect("it is a library");
    assert_eq!(call_in(&mut vm, 99, "f", 3).as_deref(), Ok("2"));
    assert!(vm.used_bytes() < 1 << 20, "{} bytes are left", vm.used_bytes());
}

#[test]
fn what_a_library_keeps_of_its_calls_is_bounded() {
    let mut vm = vm();
    let code = "local kept = {} redis.register_function('f', function() \
                while true do kept[#kept + 1] = ('x'):rep(1e6) .. #kept end end) \
                redis.register_function('g', function() kept = {} return #kept end)";
    load_in(&mut vm, 1, code, 9).expect("it is a library");
    for _ in 0..2 {
        let end = call_in(&mut vm, 1, "f", u64::MAX).expect_err("it keeps too much");
        assert_eq!(end.text, b"ERR not enough memory");
        assert!(vm.used_bytes() < MEMORY_MAX);
    }
    assert_eq!(call_in(&mut vm, 1, "g", 9).as_deref(), Ok("0"));
    vm.retain(|_| false);
    assert!(vm.used_bytes() < 1 << 20, "{} bytes are left", vm.used_bytes());
}

#[test]
fn a_function_may_keep_what_it_is_given() {
    let mut vm = vm();
    let code = "local kept = {} redis.register_function('f', function(keys, args) \
                kept[#kept + 1] = keys kept[#kept + 1] = args return {unpack(kept)} end)";
    load_in(&mut vm, 1, code, 9).expect("it is a library");
    let one = "[1] \"k\" [2] \"a\" \"b\"";
    assert_eq!(call_in(&mut vm, 1, "f", 9), Ok(format!("[2] {one}")));
    assert_eq!(call_in(&mut vm, 1, "f", 9), Ok(format!("[4] {one} {one}")));
}

#[test]
fn what_was_found_is_of_the_libraries_that_are_loaded() {
    let mut vm = vm();
    let name = b"f";
    for id in 0..3 {
        load_in(&mut vm, id, &function(&format!("return {id}")), 9).expect("it is a library");
    }
    let (first, last) = (vm.find(0, name).expect("it is there"), vm.find(2, name));
    assert!(vm.keeps(first) && last.is_some_and(|last| vm.keeps(last)));
    assert!(vm.find(0, b"g").is_none() && vm.find(3, name).is_none());
    vm.retain(|id| id == 1);
    assert!(!vm.keeps(first) && vm.find(0, name).is_none(), "numbers go to others");
    for id in 3..6 {
        load_in(&mut vm, id, &function(&format!("return {id}")), 9).expect("it is a library");
    }
    for id in [1, 3, 4, 5] {
        assert_eq!(call_in(&mut vm, id, "f", 9), Ok(id.to_string()));
    }
}
