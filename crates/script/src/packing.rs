// SPDX-License-Identifier: Apache-2.0
//! The library `struct`, version 0.2 as in Redis: values to bytes and back, as a format says.

use crate::arguments::{Arguments, Failure, Results, bad, function, number_of, one, string};
use crate::vm::MEMORY_MAX;
use mlua::{Lua, MultiValue, Table, Value};

/// The widest integer, in bytes.
const INTEGER_MAX: usize = 32;

/// The alignment of `!` without a number.
const ALIGNMENT: usize = 8;

/// The most values that are read at once: Lua's stack has no room for more.
const VALUES_MAX: usize = 7_900;

/// The table.
pub(crate) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.raw_set("pack", function(lua, |lua, args| pack(lua, &args))?)?;
    library.raw_set("unpack", function(lua, |lua, args| unpack(lua, &args))?)?;
    library.raw_set("size", function(lua, |_, args| size(&args))?)?;
    Ok(library)
}

/// A format, as far as it has been read.
struct Format<'a> {
    rest: &'a [u8],
    function: &'static str,
    is_little: bool,
    alignment: usize,
}

/// One letter of a format, and the bytes it stands for.
struct Part {
    letter: u8,
    size: usize,
    /// Bytes in front of it.
    padding: usize,
}

impl<'a> Format<'a> {
    fn new(text: &'a [u8], function: &'static str) -> Self {
        Format { rest: text, function, is_little: true, alignment: 1 }
    }

    /// The next letter; `at` bytes are in front of it.
    fn next(&mut self, at: usize) -> Result<Option<Part>, Failure> {
        let Some((&letter, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        let size = match letter {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'f' => 4,
            b'c' => self.number(1)?,
            b'i' | b'I' => self.integer_size()?,
            _ => 0,
        };
        let padding = if size == 0 || letter == b'c' {
            0
        } else {
            let unit = size.min(self.alignment);
            (unit.wrapping_sub(at & (unit - 1))) & (unit - 1)
        };
        Ok(Some(Part { letter, size, padding }))
    }

    fn integer_size(&mut self) -> Result<usize, Failure> {
        let size = self.number(4)?;
        if size > INTEGER_MAX {
            let text = format!("integral size {size} is larger than limit of {INTEGER_MAX}");
            return Err(Failure::new(text));
        }
        Ok(size)
    }

    /// The number behind a letter.
    fn number(&mut self, default: usize) -> Result<usize, Failure> {
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if len == 0 {
            return Ok(default);
        }
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let number = digits.parse::<i32>();
        number.map(|number| number as usize).map_err(|_| Failure::new("integral size overflow"))
    }

    /// A letter that stands for no value.
    fn control(&mut self, letter: u8) -> Result<(), Failure> {
        match letter {
            b' ' => {}
            b'>' => self.is_little = false,
            b'<' => self.is_little = true,
            b'!' => {
                let alignment = self.number(ALIGNMENT)?;
                if !alignment.is_power_of_two() {
                    let text = format!("alignment {alignment} is not a power of 2");
                    return Err(Failure::new(text));
                }
                self.alignment = alignment;
            }
            _ => {
                let letter = String::from_utf8_lossy(&[letter]).into_owned();
                return Err(bad(0, self.function, &format!("invalid format option '{letter}'")));
            }
        }
        Ok(())
    }

    /// Bytes of a number, as the format orders them.
    fn ordered<const N: usize>(&self, mut bytes: [u8; N]) -> [u8; N] {
        if !self.is_little {
            bytes.reverse();
        }
        bytes
    }
}

/// An argument of [`pack`]. A nil ends the arguments, so a missing one is nil.
fn needed(args: &Arguments, at: usize, expected: &str) -> Failure {
    let got = crate::arguments::type_name(args.value(at));
    bad(at, "pack", &format!("{expected} expected, got {got}"))
}

fn pack(lua: &Lua, args: &Arguments) -> Results {
    let text = args.text(0, "pack")?;
    let mut format = Format::new(&text, "pack");
    let mut out = Vec::new();
    let mut at = 1;
    while let Some(part) = format.next(out.len())? {
        out.resize(out.len() + part.padding, 0);
        let number = || number_of(args.value(at)).ok_or_else(|| needed(args, at, "number"));
        match part.letter {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let bits = bits_of(number()?).to_le_bytes();
                let bytes = (0..part.size).map(|i| bits.get(i).copied().unwrap_or(0));
                if format.is_little {
                    out.extend(bytes);
                } else {
                    out.extend(bytes.rev());
                }
                at += 1;
            }
            b'f' => {
                let bytes = format.ordered((number()? as f32).to_le_bytes());
                out.extend_from_slice(&bytes);
                at += 1;
            }
            b'd' => {
                out.extend_from_slice(&format.ordered(number()?.to_le_bytes()));
                at += 1;
            }
            b'x' => out.push(0),
            b'c' | b's' => {
                let text = args.text(at, "pack").map_err(|_| needed(args, at, "string"))?;
                let size = if part.size == 0 { text.len() } else { part.size };
                at += 1;
                let text = text.get(..size).ok_or_else(|| bad(at, "pack", "string too short"))?;
                out.extend_from_slice(text);
                if part.letter == b's' {
                    out.push(0);
                }
            }
            letter => format.control(letter)?,
        }
        if out.len() > MEMORY_MAX / 2 {
            return Err(Failure::new("not enough memory"));
        }
    }
    string(lua, out)
}

/// A number as 64 bits, as C casts it on x86.
fn bits_of(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if number < HALF {
        crate::number::truncated(number) as u64
    } else {
        (crate::number::truncated(number - HALF) as u64) ^ (1 << 63)
    }
}

fn unpack(lua: &Lua, args: &Arguments) -> Results {
    let text = args.text(0, "unpack")?;
    let data = args.text(1, "unpack")?;
    let start = crate::number::truncated(args.number_or(2, "unpack", 1.0)?);
    if start == 0 {
        return Err(bad(2, "unpack", "offset must be 1 or greater"));
    }
    let too_short = || bad(1, "unpack", "data string too short");
    let mut at = usize::try_from(start).map_err(|_| too_short())? - 1;
    let mut format = Format::new(&text, "unpack");
    let mut values = MultiValue::new();
    while let Some(part) = format.next(at)? {
        at = at.checked_add(part.padding).ok_or_else(too_short)?;
        let rest = data.get(at..).ok_or_else(too_short)?;
        let mut bytes = rest.get(..part.size).ok_or_else(too_short)?;
        if values.len() >= VALUES_MAX {
            return Err(Failure::new("too many results"));
        }
        match part.letter {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let is_signed = part.letter.is_ascii_lowercase();
                values.push_back(integer(bytes, format.is_little, is_signed));
            }
            b'x' => {}
            b'f' => {
                let single = bytes.first_chunk().copied().unwrap_or_default();
                let number = f32::from_le_bytes(format.ordered(single));
                values.push_back(Value::Number(f64::from(number)));
            }
            b'd' => {
                let double = bytes.first_chunk().copied().unwrap_or_default();
                values.push_back(Value::Number(f64::from_le_bytes(format.ordered(double))));
            }
            b'c' => {
                if part.size == 0 {
                    let size = values.pop_back().as_ref().and_then(number_of);
                    let size =
                        size.ok_or_else(|| Failure::new("format 'c0' needs a previous size"))?;
                    let size = usize::try_from(crate::number::truncated(size)).ok();
                    bytes = size.and_then(|size| rest.get(..size)).ok_or_else(too_short)?;
                }
                values.push_back(Value::String(lua.create_string(bytes)?));
            }
            b's' => {
                let end = memchr::memchr(0, rest)
                    .ok_or_else(|| Failure::new("unfinished string in data"))?;
                values.push_back(Value::String(lua.create_string(&rest[..end])?));
                bytes = &rest[..=end];
            }
            letter => format.control(letter)?,
        }
        at += bytes.len();
    }
    values.push_back(Value::Integer(at as i64 + 1));
    Ok(values)
}

/// The integer that these bytes are. Of a wide one the low 64 bits count.
fn integer(bytes: &[u8], is_little: bool, is_signed: bool) -> Value {
    let add = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    let bits = if is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) };
    if !is_signed {
        return Value::Number(bits as f64);
    }
    let shift = 64_u32.saturating_sub(bytes.len() as u32 * 8).min(63);
    Value::Integer(((bits << shift) as i64) >> shift)
}

fn size(args: &Arguments) -> Results {
    let text = args.text(0, "size")?;
    let mut format = Format::new(&text, "size");
    let mut total = 0_usize;
    while let Some(part) = format.next(total)? {
        total = total.saturating_add(part.padding).saturating_add(part.size);
        match part.letter {
            b's' => return Err(bad(0, "size", "option 's' has no fixed size")),
            b'c' if part.size == 0 => {
                return Err(bad(0, "size", "option 'c0' has no fixed size"));
            }
            letter if letter.is_ascii_alphanumeric() => {}
            letter => format.control(letter)?,
        }
    }
    one(Value::Integer(total as i64))
}
