// SPDX-License-Identifier: Apache-2.0
//! ACL LOG.

use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Entries that are listed unless a number says otherwise.
const COUNT: usize = 10;

/// Lists what users were denied, the latest first, or forgets it.
pub(crate) fn log<V: View>(call: &mut Call<'_, V>) -> Done {
    let most = match call.args.len() {
        2 => COUNT,
        3 if call.arg(2).eq_ignore_ascii_case(b"reset") => {
            call.acl_log().clear();
            call.out.ok();
            return Ok(());
        }
        3 => usize::try_from(call.integer(2)?).unwrap_or(0),
        _ => return Err(dispatch::wrong_arguments(call)),
    };
    let now_ms = call.unix_ms();
    let entries = call.acl_log().latest(most);
    let out = &mut call.out;
    out.array(entries.len());
    for entry in &entries {
        let denial = &entry.denial;
        out.map(10);
        out.bulk(b"count");
        out.integer(entry.count as i64);
        for (name, text) in [
            ("reason", denial.reason.word().as_bytes()),
            ("context", denial.context.word().as_bytes()),
            ("object", &denial.object[..]),
            ("username", &denial.user[..]),
        ] {
            out.bulk(name.as_bytes());
            out.bulk(text);
        }
        out.bulk(b"age-seconds");
        out.double(now_ms.saturating_sub(entry.updated_ms) as f64 / 1000.0);
        out.bulk(b"client-info");
        out.bulk(&entry.client);
        for (name, number) in [
            ("entry-id", entry.id),
            ("timestamp-created", entry.created_ms),
            ("timestamp-last-updated", entry.updated_ms),
        ] {
            out.bulk(name.as_bytes());
            out.integer(number as i64);
        }
    }
    Ok(())
}
