// SPDX-License-Identifier: Apache-2.0
//! What a script or function says of itself: that it writes nothing, that it may run without memory.

use super::shebang::{self, ScriptFlags};
use crate::host::Host;
use crate::host::scripts::Sha;
use crate::table::CommandId;
use crate::table::keys::Words;
use script::FunctionFlags;

/// Whether a command runs a script, or a function, with the flag `no-writes`. It runs none if it is another command, or
/// if there is no such script.
pub(crate) fn writes_nothing<W: Words + ?Sized>(host: &Host, id: CommandId, args: &W) -> bool {
    pledge(host, id, args).is_some_and(|flags| flags.no_writes)
}

/// Whether a command runs a script with a shebang, or a function, that is refused when memory is short.
pub(crate) fn needs_memory<W: Words + ?Sized>(host: &Host, id: CommandId, args: &W) -> bool {
    pledge(host, id, args).is_some_and(|flags| !flags.no_writes && !flags.allow_oom)
}

/// The flags of the function that a command runs, or of the script, if that has a shebang.
fn pledge<W: Words + ?Sized>(host: &Host, id: CommandId, args: &W) -> Option<ScriptFlags> {
    let name = args.word(1).unwrap_or_default();
    let of_text = |text: &[u8]| shebang::read(text).ok()?.flags;
    match id {
        CommandId::Eval | CommandId::EvalRo => of_text(name),
        CommandId::Evalsha | CommandId::EvalshaRo => {
            let sha = Sha::try_from(name).ok()?.map(|digit| digit.to_ascii_lowercase());
            of_text(&host.scripts().find(&sha)?.text)
        }
        CommandId::Fcall | CommandId::FcallRo => {
            let (library, at) = host.functions().find(name)?;
            let flags = library.functions[at].flags;
            Some(ScriptFlags {
                no_writes: flags.has(FunctionFlags::NO_WRITES),
                allow_oom: flags.has(FunctionFlags::ALLOW_OOM),
                no_cluster: flags.has(FunctionFlags::NO_CLUSTER),
                crosses_slots: flags.has(FunctionFlags::ALLOW_CROSS_SLOT_KEYS),
            })
        }
        _ => None,
    }
}
