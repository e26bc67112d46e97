// SPDX-License-Identifier: Apache-2.0
//! The errors for unknown commands.

use crate::table::{CommandId, Spec};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;

/// Bytes of an unknown name, and of the arguments that came with it, that are quoted back.
const QUOTED_MAX: usize = 128;

/// The part of an argument that an error quotes: at most `most` bytes, up to the first zero byte.
fn shown(arg: &[u8], most: usize) -> &[u8] {
    let arg = &arg[..arg.len().min(most)];
    &arg[..arg.iter().position(|&byte| byte == 0).unwrap_or(arg.len())]
}

/// The error for an unknown command. It quotes the name and the arguments.
#[cold]
pub(crate) fn unknown(args: Args<'_>) -> Fault {
    let mut text = b"ERR unknown command '".to_vec();
    let name = args.arg(0);
    text.extend_from_slice(shown(name, QUOTED_MAX));
    text.extend_from_slice(b"', with args beginning with: ");
    let start = text.len();
    for arg in args.iter().skip(1) {
        let left = QUOTED_MAX.saturating_sub(text.len() - start);
        if left == 0 {
            break;
        }
        text.push(b'\'');
        text.extend_from_slice(shown(arg, left));
        text.extend_from_slice(b"' ");
    }
    Fault::made(text)
}

/// The error for a sub-command that its container does not have.
#[cold]
pub(crate) fn no_such_subcommand(container: CommandId, name: &[u8]) -> Fault {
    wrong_subcommand("unknown subcommand", container.spec(), name)
}

/// The error for a sub-command that its container cannot carry out.
pub(crate) fn wrong_subcommand(what: &str, container: &Spec, name: &[u8]) -> Fault {
    let mut text = format!("ERR {what} '").into_bytes();
    text.extend_from_slice(shown(name, QUOTED_MAX));
    text.extend_from_slice(format!("'. Try {} HELP.", container.title()).as_bytes());
    Fault::made(text)
}
