// SPDX-License-Identifier: Apache-2.0
//! The library `bit`: operations on 32 bits, as LuaBitOp has them.

use crate::arguments::{Arguments, Failure, Results, function, one, string};
use mlua::{Lua, Table, Value};

/// Added to a number, it leaves the number's low bits at the end of the sum's mantissa, rounded.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// A function of one number, and its name.
type Unary = (&'static str, fn(u32) -> u32);

/// A function of two numbers, and its name.
type Binary = (&'static str, fn(u32, u32) -> u32);

/// The bits of an argument.
fn bits(args: &Arguments, at: usize, function: &str) -> Result<u32, Failure> {
    Ok((args.number(at, function)? + MAGIC).to_bits() as u32)
}

/// Bits as a number, which may be negative.
fn of_bits(bits: u32) -> Results {
    one(Value::Integer(i64::from(bits as i32)))
}

/// The table.
pub(crate) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let unary: [Unary; 3] =
        [("tobit", |bits| bits), ("bnot", |bits| !bits), ("bswap", u32::swap_bytes)];
    for (name, work) in unary {
        let run = move |_: &Lua, args: Arguments| of_bits(work(bits(&args, 0, name)?));
        library.raw_set(name, function(lua, run)?)?;
    }
    let many: [Binary; 3] = [("band", |a, b| a & b), ("bor", |a, b| a | b), ("bxor", |a, b| a ^ b)];
    for (name, work) in many {
        let run = move |_: &Lua, args: Arguments| {
            let mut sum = bits(&args, 0, name)?;
            for at in 1..args.len() {
                sum = work(sum, bits(&args, at, name)?);
            }
            of_bits(sum)
        };
        library.raw_set(name, function(lua, run)?)?;
    }
    let shifts: [Binary; 5] = [
        ("lshift", |bits, by| bits << by),
        ("rshift", |bits, by| bits >> by),
        ("arshift", |bits, by| ((bits as i32) >> by) as u32),
        ("rol", u32::rotate_left),
        ("ror", u32::rotate_right),
    ];
    for (name, work) in shifts {
        let run = move |_: &Lua, args: Arguments| {
            let number = bits(&args, 0, name)?;
            of_bits(work(number, bits(&args, 1, name)? & 31))
        };
        library.raw_set(name, function(lua, run)?)?;
    }
    library.raw_set("tohex", function(lua, |lua, args| tohex(lua, &args))?)?;
    Ok(library)
}

/// `bit.tohex(number, digits)`: upper case if there are less than no digits.
fn tohex(lua: &Lua, args: &Arguments) -> Results {
    let number = bits(args, 0, "tohex")?;
    let digits = if args.len() < 2 { 8 } else { bits(args, 1, "tohex")? as i32 };
    let text = if digits < 0 { format!("{number:08X}") } else { format!("{number:08x}") };
    let shown = digits.unsigned_abs().min(8) as usize;
    string(lua, &text[8 - shown..])
}
