// SPDX-License-Identifier: Apache-2.0
//! Runs of scripts through Lua's C API. All of them are run under AddressSanitizer, too.

use crate::server::{Go, Level, ReplyVersion, Server};
use crate::testing::{Canned, TextReply};
use crate::texts::Texts;
use crate::vm::{Raised, Vm};
use crate::{Sink, sha1};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn vm() -> Vm {
    Vm::new("8.0.0").expect("there is memory")
}

fn run_with(vm: &mut Vm, source: &str, server: &mut dyn Server) -> Result<String, Raised> {
    let sha = sha1::hex(source.as_bytes());
    vm.compile(&sha, source.as_bytes()).expect("it is Lua");
    let mut reply = TextReply::default();
    vm.run(&sha, &["key 1", "key 2"], &["arg"], server, &mut reply).map(|()| reply.0)
}

fn run(vm: &mut Vm, source: &str, reply: &str) -> Result<String, Raised> {
    run_with(vm, source, &mut Canned { reply: reply.into(), ..Canned::default() })
}

#[test]
fn replies_go_to_lua_and_back() {
    let mut vm = vm();
    let whole = "redis.setresp(3) return redis.call('x')";
    for (reply, text) in [
        ("$3\r\na\0b\r\n", "\"a\\x00b\""),
        ("$0\r\n\r\n", "\"\""),
        ("$-1\r\n", "false"),
        ("*-1\r\n", "false"),
        (":-12\r\n", "-12"),
        ("+OK\r\n", "+OK"),
        ("*3\r\n:1\r\n*1\r\n$1\r\na\r\n-ERR b\r\n", "[3] 1 [1] \"a\" -ERR b"),
        ("*0\r\n", "[0]"),
        ("%1\r\n$1\r\na\r\n*1\r\n:1\r\n", "%1 \"a\" [1] 1"),
        ("~1\r\n$1\r\na\r\n", "~1 \"a\""),
        ("#t\r\n", "true"),
        (",1.5\r\n", ",1.5"),
        ("(123\r\n", "(123"),
        ("=5\r\ntxt:a\r\n", "=txt:a"),
        ("|1\r\n+a\r\n+b\r\n:1\r\n", "1"),
        ("_\r\n", "null"),
    ] {
        assert_eq!(run(&mut vm, whole, reply).as_deref(), Ok(text), "{reply:?}");
    }
    for reply in ["", "*", "*9\r\n", "$9\r\na", "%3\r\n:1", "~2\r\n", "=3\r\nabc\r\n", "|1\r\n"] {
        assert!(run(&mut vm, whole, reply).is_ok(), "{reply:?}");
    }
}

#[test]
fn tables_are_returned_to_a_depth() {
    let mut vm = vm();
    let nested = |depth| format!("local t = 1 for i = 1, {depth} do t = {{t}} end return t");
    let text = run(&mut vm, &nested(1000), "").expect("it ends");
    assert_eq!((text.matches("[1]").count(), text.ends_with(" 1")), (1000, true));
    let text = run(&mut vm, &nested(1001), "").expect("it ends");
    assert!(text.ends_with("[1] -ERR reached lua stack limit"));
    let maps =
        "local t = 1 for i = 1, 900 do t = {map = {[i] = {set = {[t] = true}}}} end return t";
    let text = run(&mut vm, maps, "").expect("it ends");
    assert_eq!((text.matches("%1").count(), text.matches("~1").count()), (500, 500));
}

#[test]
fn keys_and_arguments_are_of_one_run() {
    let mut vm = vm();
    let see = "local seen = {#KEYS, #ARGV, tostring(getmetatable(KEYS)), tostring(ARGV.x), tostring(KEYS[9])} \
               for key, text in pairs(KEYS) do table.insert(seen, key .. ' ' .. text) end \
               for key, text in pairs(ARGV) do table.insert(seen, key .. ' ' .. text) end return seen";
    let seen = "2 1 \"nil\" \"nil\" \"nil\" \"1 key 1\" \"2 key 2\" \"1 arg\"";
    for spoil in [
        "KEYS[3], KEYS.x, ARGV[9] = 1, 2, 3 setmetatable(KEYS, {__index = ARGV}) return KEYS[9]",
        "setmetatable(KEYS, {}) setmetatable(ARGV, {})",
        "KEYS[1], KEYS[2], ARGV[1] = nil, nil, nil",
        "KEYS[8], ARGV[5] = 1, 2",
        "KEYS[0], ARGV[-1], ARGV[1.5] = 1, 2, 3",
        // All that is put in is taken out, but places stay.
        "for i = 1, 99 do KEYS['x' .. i] = i end for i = 1, 99 do KEYS['x' .. i] = nil end",
        "for i = 1, 99 do ARGV[i] = i end for i = 1, 99 do ARGV[i] = nil end",
        "table.insert(KEYS, 'y') table.remove(ARGV) table.sort(KEYS) rawset(ARGV, 'x', 1)",
        "KEYS[1], KEYS[2] = KEYS[2], KEYS[1]",
        "error(KEYS)",
    ] {
        let _ = run(&mut vm, spoil, "");
        let reply = run(&mut vm, see, "");
        assert_eq!(reply.as_deref().map(|reply| &reply[4..]), Ok(seen), "after {spoil}");
    }
}

#[test]
fn keys_are_those_of_the_run_however_a_script_gets_at_them() {
    let mut vm = vm();
    let sources = [
        "return KEYS[1] .. ARGV[1]",
        "return 'none'",
        "return _G.KEYS[1] .. _G['AR' .. 'GV'][1]",
        "return loadstring('return KE' .. 'YS[1]')() .. ARGV[1]",
        "local f = function() return function() return KEYS[1] end end return f()() .. _G.ARGV[1]",
        "local pieces = {'return ARG', 'V[1]'} \
         local f = load(function() return table.remove(pieces, 1) end) return KEYS[1] .. f()",
        "for name, value in pairs(_G) do if name == 'KEYS' then return value[1] .. ARGV[1] end end",
        "return ARGV[1] and KEYS[1] .. ARGV[1]",
        "return coroutine.wrap(function() return KEYS[1] .. ARGV[1] end)()",
    ];
    for (run, source) in (0..4 * sources.len()).zip(sources.iter().cycle()) {
        let sha = sha1::hex(source.as_bytes());
        let script = vm.compile(&sha, source.as_bytes()).expect("it is Lua");
        assert!(vm.keeps(script));
        let (key, arg) = (format!("key {run} "), format!("arg {run}"));
        let mut reply = TextReply::default();
        vm.run(&sha, &[&key], &[&arg], &mut Canned::default(), &mut reply).expect(source);
        let expected = if source.contains("none") { "none".into() } else { format!("{key}{arg}") };
        assert_eq!(reply.0, format!("\"{expected}\""), "{source}");
    }
}

#[test]
fn globals_are_nobodys_to_set() {
    let mut vm = vm();
    for source in [
        "redis = 1",
        "x = 1",
        "KEYS = {}",
        "function redis() end",
        "local function f() ARGV = 1 end f()",
        "_G.redis = 1",
        "_G['x'] = 1",
        "rawset(_G, 'redis', 1)",
        "loadstring('redis = 1')()",
        "redis.call = 1",
    ] {
        let raised = run(&mut vm, source, "").expect_err(source);
        let text = String::from_utf8_lossy(&raised.text);
        assert!(text.contains("Attempt to modify a readonly table"), "{source}: {text}");
    }
    let raised = run(&mut vm, "\nreturn nothing", "").expect_err("there is no such global");
    let text =
        "ERR user_script:2: Script attempted to access nonexistent global variable 'nothing'";
    assert_eq!(String::from_utf8_lossy(&raised.text), text);
    let whole = "return {type(redis.call), #KEYS, #ARGV, type(_G.redis)}";
    let texts = "[4] \"function\" 2 1 \"table\"";
    assert_eq!(run(&mut vm, whole, "").as_deref(), Ok(texts));
}

#[test]
fn any_number_of_keys_and_arguments_may_follow_another() {
    let mut vm = vm();
    let source = "local seen = {} for i, key in pairs(KEYS) do seen[#seen + 1] = i .. key end \
                  for i, arg in pairs(ARGV) do seen[#seen + 1] = i .. arg end return table.concat(seen)";
    let sha = sha1::hex(b"counts");
    vm.compile(&sha, source.as_bytes()).expect("it is Lua");
    for (keys, args) in [(0, 0), (1, 3), (9, 0), (8, 8), (3, 9), (2, 1), (20, 20), (0, 1)] {
        let texts = |count, name| (0..count).map(|_| name).collect::<Vec<_>>();
        let (keys, args): (Vec<&str>, Vec<&str>) = (texts(keys, "k"), texts(args, "a"));
        let mut reply = TextReply::default();
        vm.run(&sha, &keys, &args, &mut Canned::default(), &mut reply).expect("it ends");
        let numbered = |texts: &[&str]| -> String {
            (1..).zip(texts).map(|(at, text)| format!("{at}{text}")).collect()
        };
        assert_eq!(reply.0, format!("\"{}{}\"", numbered(&keys), numbered(&args)));
    }
}

#[test]
fn commands_run_in_coroutines() {
    let mut vm = vm();
    let source = "local ok, failed = coroutine.resume(coroutine.create(function() redis.call('x') end)) \
                  local wrapped = coroutine.wrap(function() return redis.pcall('x').err end)() \
                  return {tostring(ok), failed.err, wrapped, select(2, pcall(redis.call, 'x'))}";
    let texts = "[4] \"false\" \"ERR y\" \"ERR y\" \"ERR y\"";
    assert_eq!(run(&mut vm, source, "-ERR y\r\n").as_deref(), Ok(texts));
}

#[test]
fn errors_have_a_place() {
    let mut vm = vm();
    let raised = run(&mut vm, "\n\nredis.call('x')", "-ERR y\r\n").expect_err("it fails");
    let place = Some((b"@user_script".to_vec(), 3));
    assert_eq!(raised, Raised { text: b"ERR y".to_vec(), place, was_counted: true });
    let raised = run(&mut vm, "redis.call({})", "").expect_err("it fails");
    assert!(!raised.was_counted && raised.text.ends_with(b"must be strings or integers"));
}

#[test]
fn memory_that_ends_within_a_reply_is_an_error() {
    let mut vm = vm();
    let reply = format!("*20000\r\n{}", "*0\r\n".repeat(20_000));
    let source = "local t = {} while true do t[#t + 1] = redis.call('x') end";
    let raised = run(&mut vm, source, &reply).expect_err("it fails");
    assert_eq!(raised.text, b"ERR not enough memory");
    let source = "local t = {} local ok, failed = pcall(function() while true do \
                  t[#t + 1] = redis.call('x') end end) t = nil return failed";
    assert_eq!(run(&mut vm, source, &reply).as_deref(), Ok("\"not enough memory\""));
}

/// A server that panics.
struct Panicking;

impl Server for Panicking {
    fn call(
        &mut self,
        _: Texts<'_>,
        _: ReplyVersion,
        _: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        panic!("in a command")
    }

    fn may_run(&mut self, _: Texts<'_>) -> Result<bool, String> {
        Ok(true)
    }

    fn log(&mut self, _: Level, _: &[u8]) {}

    fn go_on(&mut self) -> Go {
        Go::On
    }
}

/// A sink that panics.
struct PanickingSink(TextReply);

impl Sink for PanickingSink {
    fn null(&mut self) {}
    fn boolean(&mut self, _: bool) {}
    fn integer(&mut self, _: i64) {
        panic!("in a reply")
    }
    fn double(&mut self, _: f64) {}
    fn bulk(&mut self, _: &[u8]) {}
    fn status(&mut self, _: &[u8]) {}
    fn error(&mut self, _: &[u8], _: bool) {}
    fn array(&mut self, len: usize) {
        self.0.array(len);
    }
    fn map(&mut self, _: usize) {}
    fn set(&mut self, _: usize) {}
    fn big_number(&mut self, _: &[u8]) {}
    fn verbatim(&mut self, _: &[u8], _: &[u8]) {}
}

#[test]
fn a_panic_passes_lua_and_the_vm_runs_others() {
    let mut vm = vm();
    for source in [
        "return redis.call('x')",
        "while true do pcall(redis.call, 'x') end",
        "coroutine.wrap(function() while true do redis.pcall('x') end end)()",
    ] {
        let run = AssertUnwindSafe(|| run_with(&mut vm, source, &mut Panicking));
        let panic = catch_unwind(run).expect_err(source);
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"in a command"));
        assert_eq!(self::run(&mut vm, "return 1", "").as_deref(), Ok("1"), "after {source}");
    }
    let sha = sha1::hex(b"1");
    vm.compile(&sha, b"return {{2}}").expect("it is Lua");
    let run = AssertUnwindSafe(|| {
        let mut sink = PanickingSink(TextReply::default());
        vm.run::<&str>(&sha, &[], &[], &mut Canned::default(), &mut sink)
    });
    assert!(catch_unwind(run).is_err());
    assert_eq!(self::run(&mut vm, "return {1, {2}}", "").as_deref(), Ok("[2] 1 [1] 2"));
}
