// SPDX-License-Identifier: Apache-2.0
//! What does not depend on users: categories, random passwords.

use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::table::{self, Categories};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::fs::File;
use std::io::{self, Read};

/// Default number of bits of a generated password.
const BITS: i64 = 256;

/// The most bits of a password.
const BITS_MAX: i64 = 4096;

/// The categories, or the commands of one.
pub(crate) fn cat<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 3 {
        return Err(dispatch::wrong_arguments(call));
    }
    let Some(word) = call.args.get(2) else {
        call.out.array(Categories::known().count());
        for (_, word) in Categories::known() {
            call.out.bulk(word.as_bytes());
        }
        return Ok(());
    };
    let Some(category) = Categories::named(word) else {
        let mut text = b"ERR Unknown category '".to_vec();
        text.extend_from_slice(word);
        text.push(b'\'');
        return Err(Fault::made(text));
    };
    let commands = || table::all().filter(|command| command.spec().categories().has(category));
    call.out.array(commands().count());
    for command in commands() {
        call.out.bulk(command.spec().name.as_bytes());
    }
    Ok(())
}

/// Makes up a password: random digits, four bits each.
pub(crate) fn genpass<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 3 {
        return Err(dispatch::wrong_arguments(call));
    }
    let bits = if call.args.len() == 3 { call.integer(2)? } else { BITS };
    if !(1..=BITS_MAX).contains(&bits) {
        return Err(Fault::new(
            "ERR ACL GENPASS argument must be the number of bits for the output password, a \
             positive number up to 4096",
        ));
    }
    let digits = bits.unsigned_abs().div_ceil(4) as usize;
    let bytes = unpredictable(digits.div_ceil(2))
        .map_err(|error| Fault::made(format!("ERR the system gives no random numbers: {error}")))?;
    let mut password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    password.truncate(digits);
    call.out.bulk(password.as_bytes());
    Ok(())
}

/// Bytes that nobody can guess: those of the system, not of the worker's quick generator.
fn unpredictable(len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
