// SPDX-License-Identifier: Apache-2.0
//! Whether a script or function says of itself that it writes nothing.

use super::shebang;
use crate::host::Host;
use crate::host::scripts::Sha;
use crate::table::CommandId;
use crate::table::keys::Words;
use script::FunctionFlags;

/// Whether a command runs a script, or a function, with the flag `no-writes`. It runs none if it is another command, or
/// if there is no such script.
pub(crate) fn writes_nothing<W: Words + ?Sized>(host: &Host, id: CommandId, args: &W) -> bool {
    let name = args.word(1).unwrap_or_default();
    let of_text = |text: &[u8]| {
        let flags = shebang::read(text).ok().and_then(|shebang| shebang.flags);
        flags.is_some_and(|flags| flags.no_writes)
    };
    match id {
        CommandId::Eval => of_text(name),
        CommandId::Evalsha => {
            let sha =
                Sha::try_from(name).ok().map(|sha| sha.map(|digit| digit.to_ascii_lowercase()));
            let script = sha.and_then(|sha| host.scripts().find(&sha));
            script.is_some_and(|script| of_text(&script.text))
        }
        CommandId::Fcall => host
            .functions()
            .find(name)
            .is_some_and(|(library, at)| library.functions[at].flags.has(FunctionFlags::NO_WRITES)),
        _ => false,
    }
}
