// SPDX-License-Identifier: Apache-2.0
//! ACL SETUSER, GETUSER, DELUSER, LIST, USERS, WHOAMI.

use crate::acl::{Account, DEFAULT, Refused, Selector, rules};
use crate::commands::connection::{all_clients, close};
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::session::subscriptions::Kind;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use protocol::ConnectionId;
use std::sync::Arc;

/// The user of this connection.
pub(crate) fn whoami<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.bulk(call.conn.user.name());
    Ok(())
}

/// The names of all users.
pub(crate) fn users<V: View>(call: &mut Call<'_, V>) -> Done {
    let all = call.acl().list();
    call.out.array(all.len());
    all.iter().for_each(|account| call.out.bulk(account.name()));
    Ok(())
}

/// All users, as in a file of users.
pub(crate) fn list<V: View>(call: &mut Call<'_, V>) -> Done {
    let all = call.acl().list();
    call.out.array(all.len());
    all.iter().for_each(|account| call.out.bulk(&account.line()));
    Ok(())
}

/// Makes a user, or changes it by more rules.
pub(crate) fn setuser<V: View>(call: &mut Call<'_, V>) -> Done {
    let refused = |refused: Refused| Fault::made(refused.text());
    let name = call.arg(2);
    let rules = rules(call.args.tail(3).iter()).map_err(Refused::Open).map_err(refused)?;
    let account = call.acl().set_user(name, &rules).map_err(refused)?;
    close_subscribers(call, &account);
    call.out.ok();
    Ok(())
}

/// Closes the connections of a user that are subscribed to what it may not subscribe to any more.
pub(super) fn close_subscribers<V: View>(call: &mut Call<'_, V>, account: &Account) {
    let rights = account.rights();
    let is_denied = |kind: Kind, name: &[u8]| {
        !rights.any(|selector| selector.allows_subscription(name, kind == Kind::Pattern))
    };
    let denied = call.key_events().channels().subscribers(is_denied);
    if !denied.is_empty() {
        close_all(call, |user, id| user == account.name() && denied.contains(&id));
    }
}

/// Closes connections, by the name of their user and their number.
fn close_all<V: View>(call: &mut Call<'_, V>, is_meant: impl Fn(&[u8], ConnectionId) -> bool) {
    let mut meant = all_clients(&call.parts());
    meant.retain(|listed| is_meant(&listed.user_name(), listed.id));
    meant.iter().for_each(|listed| close(call, listed));
}

/// Closes the connections of users that are gone.
pub(super) fn close_users<V: View>(call: &mut Call<'_, V>, gone: &[Arc<Account>]) {
    if !gone.is_empty() {
        close_all(call, |user, _| gone.iter().any(|account| account.name() == user));
    }
}

/// Removes users, and closes their connections.
pub(crate) fn deluser<V: View>(call: &mut Call<'_, V>) -> Done {
    let names = call.args.tail(2);
    if names.iter().any(|name| name == DEFAULT) {
        return Err(Fault::new("ERR The 'default' user cannot be removed"));
    }
    let acl = call.acl();
    let gone: Vec<_> = names.iter().filter_map(|name| acl.remove(name)).collect();
    close_users(call, &gone);
    call.out.count(gone.len());
    Ok(())
}

/// Describes a user.
pub(crate) fn getuser<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some(account) = call.acl().find(call.arg(2)) else {
        call.out.null();
        return Ok(());
    };
    let rights = account.rights();
    let out = &mut call.out;
    // Of databases only those whose user does not have all.
    let has_databases = rights.root().databases().is_some();
    out.map(6 + usize::from(has_databases));
    out.bulk(b"flags");
    let flags = rights.flags();
    out.set(flags.len());
    flags.iter().for_each(|flag| out.bulk(flag.as_bytes()));
    out.bulk(b"passwords");
    out.array(rights.passwords().len());
    rights.passwords().iter().for_each(|hash| out.bulk(hash.as_bytes()));
    describe(call, rights.root());
    call.out.bulk(b"selectors");
    call.out.array(rights.more().len());
    for selector in rights.more() {
        call.out.map(3 + usize::from(selector.databases().is_some()));
        describe(call, selector);
    }
    Ok(())
}

/// The fields of a set of rights.
fn describe<V: View>(call: &mut Call<'_, V>, selector: &Selector) {
    let out = &mut call.out;
    out.bulk(b"commands");
    out.bulk(selector.commands().as_bytes());
    out.bulk(b"keys");
    out.bulk(&selector.keys());
    out.bulk(b"channels");
    out.bulk(&selector.channels());
    if let Some(databases) = selector.databases() {
        out.bulk(b"databases");
        out.bulk(databases.as_bytes());
    }
}
