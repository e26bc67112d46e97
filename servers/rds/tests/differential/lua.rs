// SPDX-License-Identifier: Apache-2.0
//! Scripts: around commands of the table, whose replies they convert in every way, and of Lua alone.

use crate::generate::Command;
use crate::reference::Reference;
use crate::rules::Rule;
use script::sha1;
use test_support::random::Random;

/// Scripts whose reply is that of the command in their arguments, for any rule.
const PLAIN: &[&str] = &[
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "redis.setresp(3) return redis.call(unpack(ARGV))",
    "redis.setresp(3); local reply = redis.pcall(unpack(ARGV)); return reply",
    "#!lua\nreturn redis.call(unpack(ARGV))",
    "#!lua flags=no-writes\nreturn redis.pcall(unpack(ARGV))",
    "local reply = redis.pcall(unpack(ARGV)) if type(reply) == 'table' and reply.err then error(reply) end \
     return reply",
    "local reply = redis.pcall(unpack(ARGV)) if type(reply) == 'table' and reply.err then \
     return redis.error_reply(reply.err) end return reply",
];

/// The same, of commands on a key.
const KEYED: &[&str] = &[
    "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))",
    "redis.setresp(3) return redis.pcall(ARGV[1], KEYS[1], unpack(ARGV, 2))",
    "redis.pcall('exists', KEYS[1]) return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))",
];

/// Shows all of a reply, in an order that does not depend on the hash of a table; without a field of errors that is for
/// the server alone.
const SHOW: &str = "local function show(v) local t = type(v) \
     if t == 'table' then local o = {} for k, x in pairs(v) do if k ~= 'ignore_error_stats_update' then o[#o + 1] = show(k) .. '=' .. show(x) end end \
     table.sort(o) return '{' .. table.concat(o, ',') .. '}' \
     elseif t == 'string' then return string.format('%q', v) else return tostring(v) end end ";

/// Scripts that look into a reply that is the same on both servers. `SHOW` stands for its function.
const INSPECTING: &[&str] = &[
    "SHOW return show(redis.pcall(unpack(ARGV)))",
    "SHOW redis.setresp(3) return show(redis.pcall(unpack(ARGV)))",
    "SHOW local ok, e = pcall(redis.call, unpack(ARGV)) return {tostring(ok), show(e)}",
    "local r = redis.pcall(unpack(ARGV)) \
     return {type(r), type(r) == 'table' and (r.err or r.ok or #r) or tostring(r)}",
    "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return r end \
     return cjson.encode(r)",
    "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return r end \
     return {cmsgpack.unpack(cmsgpack.pack(r))}",
    "return {redis.pcall(unpack(ARGV)), 1.9, -1.9, '1.9', true, false, {redis.pcall('time') and 1}, nil, 2}",
    "redis.setresp(3) local r = redis.pcall(unpack(ARGV)) return {type(r), r == nil, r == false, r}",
    "local r = redis.pcall(unpack(ARGV)) return {{r}, {{err = 'MY error'}, {ok = 'fine'}}, r}",
    "return {redis.pcall(unpack(ARGV)), redis.pcall(unpack(ARGV))}",
];

/// Runs several commands, each behind its length, and returns all replies.
const SEVERAL: &str = "local out, i = {}, 1 while i <= #ARGV do local n = tonumber(ARGV[i]) \
     out[#out + 1] = redis.pcall(unpack(ARGV, i + 1, i + n)) i = i + n + 1 end return out";

/// The same, ended by the first error.
const UNTIL_ERROR: &str = "local last, i = nil, 1 while i <= #ARGV do local n = tonumber(ARGV[i]) \
     last = redis.call(unpack(ARGV, i + 1, i + n)) i = i + n + 1 end return last";

/// Whether a script may run the command, and its reply can be compared.
pub(crate) fn can_run(command: &Command) -> bool {
    let comparable = matches!(
        command.rule,
        Rule::Same
            | Rule::Unordered
            | Rule::Pairs
            | Rule::Scores
            | Rule::Seconds
            | Rule::Milliseconds
            | Rule::Sort
    );
    // Redis 7.0 has no commands in scripts that might wait.
    let may_wait = command.group == "blocking" && Reference::this() == Reference::Redis7;
    // Newer servers read other numbers: a script says what it likes of the error.
    let may_fail = command.rule == Rule::Same
        && command.arguments[0].to_ascii_lowercase().starts_with(b"sort")
        && Reference::this() != Reference::Redis7;
    // MEMORY looks at all shards, which is not allowed here.
    comparable && !may_wait && !may_fail && !command.alone && !command.is("MEMORY")
}

/// A script around a command. `more` makes others.
pub(crate) fn around(
    random: &mut Random,
    command: Command,
    mut more: impl FnMut(&mut Random) -> Command,
) -> Command {
    let mut keys = Vec::new();
    let mut rule = command.rule;
    let mut arguments = command.arguments;
    let text = match random.below(10) {
        0..3 if arguments.len() > 1 => {
            keys.push(arguments.remove(1));
            (*random.pick(KEYED)).to_owned()
        }
        0..7 if rule == Rule::Same => random.pick(INSPECTING).replace("SHOW ", SHOW),
        7..9 if rule == Rule::Same => {
            let mut commands = vec![arguments];
            for _ in 0..random.below(4) {
                let other = more(random);
                if can_run(&other) && other.rule == Rule::Same {
                    commands.push(other.arguments);
                }
            }
            arguments = Vec::new();
            for mut command in commands {
                arguments.push(command.len().to_string().into_bytes());
                arguments.append(&mut command);
            }
            (*random.pick(&[SEVERAL, UNTIL_ERROR])).to_owned()
        }
        _ => (*random.pick(PLAIN)).to_owned(),
    };
    if rule == Rule::Same && text.contains("setresp(3)") && !text.contains("show") {
        // A table of Lua has lost the order of a map and of a set.
        rule = Rule::AsSet;
    }
    let (name, script): (&[u8], _) = match random.below(8) {
        0 => (b"EVAL_RO", text.into_bytes()),
        1 => (b"EVALSHA_RO", sha1::hex(text.as_bytes()).to_vec()),
        2..4 => (b"EVALSHA", sha1::hex(text.as_bytes()).to_vec()),
        _ => (b"EVAL", text.into_bytes()),
    };
    let mut all = vec![name.to_vec(), script, keys.len().to_string().into_bytes()];
    all.append(&mut keys);
    all.append(&mut arguments);
    Command {
        arguments: all,
        rule,
        alone: false,
        line: None,
        group: "scripts",
        spoilt: command.spoilt,
    }
}

/// The digest of a script that may be in the cache.
pub(crate) fn digest(random: &mut Random) -> Vec<u8> {
    sha1::hex(random.pick(PLAIN).as_bytes()).to_vec()
}

/// A script that runs the command in its arguments.
pub(crate) fn text(random: &mut Random) -> Vec<u8> {
    random.pick(PLAIN).as_bytes().to_vec()
}

/// A script that returns a value, which becomes a reply.
pub(crate) fn value(random: &mut Random) -> Vec<u8> {
    let first = random.pick(&["", "", "redis.setresp(2) ", "redis.setresp(3) ", "#!lua\n"]);
    format!("{first}return {}", reply(random, 3)).into_bytes()
}

/// A script of calls of Lua's libraries. Texts of errors are not compared: some name arguments otherwise.
pub(crate) fn expression(random: &mut Random) -> Vec<u8> {
    let of = expr(random, 3);
    format!(
        "{SHOW}local ok, e = pcall(function() return show({{{of}}}) end) return (string.gsub(ok and e or 'error', '0x%x%x%x%x%x+', 'address'))"
    )
    .into_bytes()
}

const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'hello world'",
    "'10'",
    "' 12 '",
    "'0x1F'",
    "'1e3'",
    "'nul\\0nul'",
    "'\\255\\1\\n'",
    "'[1,2,{\"a\":null}]'",
    "'{\"k\":[true,false,1.5,\"\\\\u00e9\"]}'",
    "('ab'):rep(20)",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "3",
    "1.5",
    "-2.75",
    "0.1",
    "1e15",
    "123456789012",
    "-9007199254740991",
    "2147483648",
    "1e100",
    "255",
    "65536",
    "-0.5",
    "1/3",
];

/// A number that a conversion to an integer leaves defined.
const INTEGRAL: &[&str] =
    &["0", "1", "-1", "3.99", "-3.99", "1e15", "9007199254740993", "-4611686018427387904", "0.5"];

/// What becomes a reply, as an expression.
fn reply(random: &mut Random, depth: usize) -> String {
    let kind = if depth == 0 { random.below(6) } else { random.below(15) };
    match kind {
        0 => "nil".to_owned(),
        1 => (*random.pick(&["true", "false"])).to_owned(),
        2..4 => (*random.pick(INTEGRAL)).to_owned(),
        4..6 => (*random.pick(TEXTS)).to_owned(),
        6 => format!("{{double={}}}", random.pick(NUMBERS)),
        7 => format!("{{ok={}}}", random.pick(TEXTS)),
        8 => format!(
            "{{err={}}}",
            random.pick(&[
                "'ERR of mine'",
                "'nocode'",
                "''",
                "'two\\r\\nlines'",
                "'CODE text'",
                "3"
            ])
        ),
        9 => {
            let odd = random.pick(&[
                "{map={a=1}}",
                "{map={[1]={2}}}",
                "{set={a=true}}",
                "{map=1}",
                "{set='x'}",
                "{double='x'}",
            ]);
            (*odd).to_owned()
        }
        10 => {
            let odd = random.pick(&[
                "{big_number='12345678901234567890'}",
                "{big_number='1\\r\\n2'}",
                "{verbatim_string={string='text', format='txt'}}",
                "{verbatim_string={format='txt'}}",
                "{verbatim_string={string='x', format='toolong'}}",
                "redis.status_reply('FINE')",
                "redis.error_reply('My Err')",
                "redis.error_reply('nocode')",
                "redis.error_reply('-X y')",
                "redis.sha1hex('x')",
                "redis.LOG_WARNING",
                "print",
            ]);
            (*odd).to_owned()
        }
        11 => format!("{{map={{k={}}}}}", reply(random, depth - 1)),
        _ => {
            let elements: Vec<_> = (0..random.below(5)).map(|_| reply(random, depth - 1)).collect();
            format!("{{{}}}", elements.join(", "))
        }
    }
}

/// Calls, in which a letter by itself stands for any expression (E), a text (T), a number (N), an integer (I) or a pattern
/// (P).
const CALLS: &[&str] = &[
    "tostring(E)",
    "tonumber(E)",
    "tonumber(E, 16)",
    "type(E)",
    "#(T)",
    "E .. E",
    "N + N",
    "N - N",
    "N * N",
    "N % 7",
    "N ^ 2",
    "-(N)",
    "E == E",
    "not E",
    "E and E or E",
    "T < T",
    "N <= N",
    "select('#', E, E)",
    "unpack({E, E, E}, 2)",
    "string.format('%d', I)",
    "string.format('%5.2f|%g', N, N)",
    "string.format('%x %X %o', 255, 171, 8)",
    "string.format('%q', T)",
    "string.format('%-10s|%5s', T, T)",
    "string.format('%c%c', 65, 0)",
    "string.format('%i %u', I, 7)",
    "string.format('%e', N)",
    "string.format('%.3s', T)",
    "string.format('%%')",
    "string.rep(T, 3)",
    "string.sub(T, I, I)",
    "string.byte(T, 1, 3)",
    "string.char(65, 97, 0)",
    "string.upper(T)",
    "string.lower(T)",
    "string.reverse(T)",
    "string.len(T)",
    "string.find(T, P)",
    "string.find(T, P, I)",
    "string.find(T, T, 1, true)",
    "string.match(T, P)",
    "string.gsub(T, P, '%0-')",
    "string.gsub(T, P, {a = 'b'})",
    "string.gsub(T, P, function(x) return x and '<' .. tostring(x) .. '>' end)",
    "string.gsub(T, 'l', 'L', 1)",
    "table.concat({E, E}, ',')",
    "table.concat({1, 2, 3}, '-', 2)",
    "math.floor(N)",
    "math.ceil(N)",
    "math.abs(N)",
    "math.max(N, N)",
    "math.min(N, N)",
    "math.fmod(N, 3)",
    "math.sqrt(math.abs(N))",
    "math.modf(N)",
    "math.huge",
    "math.pow(2, I)",
    "math.frexp(N)",
    "math.ldexp(1.5, 3)",
    "cjson.encode({E, E})",
    "cjson.encode(E)",
    "cjson.encode({a = E})",
    "cjson.decode(T)",
    "cjson.decode('[1, 2.5, -3e2, \"x\", null, true, {}]')",
    "cjson.decode(cjson.encode({E, {E}}))",
    "cjson.decode('{\"a\": [' .. cjson.encode(E) .. ']}')",
    "cjson.decode('[] x')",
    "cjson.decode('[1,]')",
    "cmsgpack.pack(E)",
    "cmsgpack.pack({E, a = E})",
    "cmsgpack.pack(E, E)",
    "cmsgpack.unpack(cmsgpack.pack(E, {E}))",
    "cmsgpack.unpack(T)",
    "cmsgpack.unpack_one(cmsgpack.pack(E, E))",
    "cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2)",
    "struct.pack('>I2 i4 b B h H', 1, -2, 3, 4, 5, 6)",
    "struct.pack('<dfs', N, N, 'text')",
    "struct.pack('Bc0', #(T), T)",
    "struct.unpack('>I2i4', '\\1\\2\\255\\254\\3\\4')",
    "struct.unpack('<I' .. 4, struct.pack('<i4', I))",
    "struct.size('>i4 d b')",
    "struct.pack('=l!8x', I)",
    "struct.unpack('s', 'ab\\0cd')",
    "struct.unpack('d', T)",
    "bit.band(I, 255)",
    "bit.bor(I, 1)",
    "bit.bxor(I, I)",
    "bit.bnot(I)",
    "bit.lshift(I, 3)",
    "bit.rshift(I, 3)",
    "bit.arshift(I, 3)",
    "bit.rol(I, 9)",
    "bit.ror(I, 9)",
    "bit.bswap(I)",
    "bit.tohex(I)",
    "bit.tohex(I, -4)",
    "bit.tobit(N)",
    "redis.sha1hex(T)",
    "(function(...) return select('#', ...) end)(E, nil, E)",
    "next({E})",
    "rawequal(E, E)",
    "(pcall(error, E))",
    "select(2, pcall(error, {E}))",
    "getmetatable('').x",
    "type(loadstring('return ' .. T))",
    "setmetatable({}, {__index = function(t, k) return k end})[E]",
    "#{E, E, E}",
    "({E, E})[2]",
    "rawget({a = E}, 'a')",
    "string.gmatch(T, P)()",
    "tostring(nil) .. tostring(true)",
    "redis.pcall('nosuch', T).err",
    "(function(r) return r.err or r end)(redis.pcall('echo', T))",
    "redis.pcall('set', 'k').err",
    "redis.pcall().err",
    "redis.call(N)",
    "redis.REDIS_VERSION ~= nil",
    "KEYS[1]",
    "#ARGV",
    "nothing",
];

/// Patterns, some of which are wrong.
const PATTERNS: &[&str] = &[
    "'l+'",
    "'(%w+)'",
    "'%d'",
    "'.'",
    "'^h'",
    "'d$'",
    "'%s*'",
    "'[a-f]'",
    "'[^a-f]+'",
    "'()l()'",
    "'%f[%w]%w+'",
    "'%b{}'",
    "'(.)%1'",
    "'.-o'",
    "''",
    "'%'",
    "'['",
    "'(a'",
    "'%a?b'",
    "'[%w_]'",
    "'%z'",
    "'[]]'",
    "'a*'",
];

/// An expression of Lua's libraries.
fn expr(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(6) {
        let from = if random.one_in(2) { TEXTS } else { NUMBERS };
        return (*random.pick(from)).to_owned();
    }
    let call = random.pick(CALLS);
    if !Reference::this().wants_word("call", call.as_bytes()) {
        return expr(random, depth);
    }
    let mut made = String::new();
    let bytes = call.as_bytes();
    for (at, letter) in call.char_indices() {
        let is_alone = |at: Option<&u8>| {
            at.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'.')
        };
        let stands_alone =
            is_alone(at.checked_sub(1).and_then(|at| bytes.get(at))) && is_alone(bytes.get(at + 1));
        match letter {
            'E' if stands_alone => made.push_str(&format!("({})", expr(random, depth - 1))),
            'T' if stands_alone => made.push_str(&format!("({})", text_of(random, depth - 1))),
            'N' if stands_alone => made.push_str(&format!("({})", random.pick(NUMBERS))),
            'I' if stands_alone => made.push_str(&format!(
                "({})",
                random.pick(&["0", "1", "2", "-1", "-3", "5", "4000000000", "-7"])
            )),
            'P' if stands_alone => made.push_str(random.pick(PATTERNS)),
            _ => made.push(letter),
        }
    }
    made
}

/// One that is a text more often than not.
fn text_of(random: &mut Random, depth: usize) -> String {
    if random.one_in(4) { expr(random, depth) } else { (*random.pick(TEXTS)).to_owned() }
}
