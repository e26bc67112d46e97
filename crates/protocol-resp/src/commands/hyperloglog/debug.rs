// SPDX-License-Identifier: Apache-2.0
//! PFDEBUG, PFSELFTEST: how a HyperLogLog is stored.

use super::sketch::{self, Form};
use super::{REGISTERS, dense};
use crate::engine::call::Call;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, Type};

/// How many elements the test notes.
const TESTED: u64 = 100_000;

/// Shows how a HyperLogLog is stored, or makes it dense.
pub(crate) fn pfdebug<V: View>(call: &mut Call<'_, V>) -> Done {
    let (what, key) = (call.arg(1), call.arg(2));
    let is = |name: &[u8]| what.eq_ignore_ascii_case(name);
    if is(b"simd") {
        return simd(call);
    }
    let entry = call.keys.get_mut(key, Type::String)?;
    let entry = entry.ok_or(Fault::new("ERR The specified key does not exist"))?;
    let mut digits = Digits::new();
    let text = entry.text(&mut digits);
    let form = Form::of(text)?;
    match () {
        () if is(b"encoding") => call.out.simple(match form {
            Form::Dense => "dense",
            Form::Sparse => "sparse",
        }),
        () if is(b"decode") => match form {
            Form::Dense => return Err(Fault::new("ERR HLL encoding is not sparse")),
            Form::Sparse => call.out.bulk(sketch::decoded(text).as_bytes()),
        },
        () if is(b"getreg") => {
            let registers = sketch::registers(text)?;
            drop(entry);
            make_dense(call, key)?;
            call.out.array(REGISTERS);
            registers.iter().for_each(|value| call.out.integer((*value).into()));
        }
        () if is(b"todense") => {
            drop(entry);
            make_dense(call, key)?;
            call.out.integer((form == Form::Sparse).into());
        }
        () => {
            let text = [b"ERR Unknown PFDEBUG subcommand '", what, b"'"].concat();
            return Err(Fault::made(text));
        }
    }
    Ok(())
}

/// Whether vector instructions are used on purpose: they are not, nor can they be turned on.
fn simd<V: View>(call: &mut Call<'_, V>) -> Done {
    let arg = call.arg(2);
    if !arg.eq_ignore_ascii_case(b"on") && !arg.eq_ignore_ascii_case(b"off") {
        return Err(Fault::new("ERR Argument must be ON or OFF"));
    }
    call.out.simple("disabled");
    Ok(())
}

/// Stores the HyperLogLog under `key` as a dense one.
fn make_dense<V: View>(call: &mut Call<'_, V>, key: &[u8]) -> Done {
    let Some(mut entry) = call.keys.get_mut(key, Type::String)? else { return Ok(()) };
    let mut digits = Digits::new();
    let text = entry.text(&mut digits);
    if Form::of(text)? == Form::Sparse {
        let dense = sketch::to_dense(text)?;
        entry.set_raw_string(&dense);
        drop(entry);
        call.modified(key, Event::UNTOLD);
    }
    Ok(())
}

/// Tests registers and estimates.
pub(crate) fn pfselftest<V: View>(call: &mut Call<'_, V>) -> Done {
    self_test(TESTED, call.keys.limits.hll_sparse_bytes)?;
    call.out.ok();
    Ok(())
}

fn self_test(elements: u64, sparse_max: usize) -> Done {
    let mut bytes = vec![0; dense::LEN];
    for round in 0..64 {
        let value = |index: usize| (index.wrapping_mul(37).wrapping_add(round) % 64) as u8;
        (0..REGISTERS).for_each(|index| dense::set(&mut bytes, index, value(index)));
        if let Some(at) = (0..REGISTERS).find(|at| dense::get(&bytes, *at) != value(*at)) {
            let (found, value) = (dense::get(&bytes, at), value(at));
            let text = format!("ERR TESTFAILED Register {at} should be {value} but is {found}");
            return Err(Fault::made(text));
        }
    }
    let (mut sparse, mut checked_at) = (sketch::empty(), 1);
    let mut dense = sketch::to_dense(&sparse)?;
    for element in 1..=elements {
        let element_bytes = element.to_le_bytes();
        sketch::add_dense(&mut dense, &element_bytes);
        sketch::add(&mut sparse, &element_bytes, sparse_max)?;
        if element == checked_at {
            check(&dense, &sparse, element)?;
            checked_at = checked_at.saturating_mul(10);
        }
    }
    Ok(())
}

/// Compares the estimates of two forms with each other, and with how many elements they have.
fn check(dense: &[u8], sparse: &[u8], elements: u64) -> Done {
    let count = sketch::count(dense)?;
    if count != sketch::count(sparse)? {
        return Err(Fault::new("ERR TESTFAILED dense/sparse disagree"));
    }
    let error = elements.abs_diff(count);
    // Six times the standard error.
    let error_max = 6.0 * 1.04 / (REGISTERS as f64).sqrt() * elements as f64;
    if error as f64 > error_max.ceil() {
        let text = format!("ERR TESTFAILED Too big error. card:{elements} abserr:{error}");
        return Err(Fault::made(text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_self_test_passes() {
        assert_eq!(self_test(TESTED, 3000), Ok(()));
        assert_eq!(self_test(1000, 0), Ok(()), "dense at once");
    }
}
