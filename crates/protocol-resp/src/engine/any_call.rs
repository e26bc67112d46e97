// SPDX-License-Identifier: Apache-2.0
//! [`AnyCall`]: the common interface of the calls of both services, for commands that both have: those about
//! connections, COMMAND and TIME.

use crate::acl::DEFAULT;
use crate::host::clients::Clients;
use crate::session::client::Client;
use crate::session::replies::Replies;
use crate::session::user::User;
use crate::session::waiting::Waiting;
use crate::table::{Catalogue, Spec};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::{Version, Writer};
use clock::Ticks;
use protocol::{ConnectionId, Control, Directory, Outbox};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A call of one of the services. The defaults are for features that a service does not have, such as a
/// password.
pub(crate) trait AnyCall<'c> {
    /// The commands of the service.
    const CATALOGUE: Catalogue;
    /// Bytes of memory of the state of a connection.
    const CONNECTION_BYTES: usize;
    /// The longest name that a client may have, its own or its library's, in bytes.
    const NAME_MAX: usize;

    /// What calls of both services have.
    fn parts(&mut self) -> CallParts<'_, 'c>;

    /// The row of the command.
    fn spec(&self) -> &'static Spec;

    /// Its arguments. The command's name is argument 0.
    fn args(&self) -> Args<'c>;

    /// Where the reply is written.
    fn out(&mut self) -> &mut Writer<'c>;

    /// Wall time in milliseconds.
    fn unix_ms(&self) -> u64;

    /// Wall time in microseconds, to be told.
    fn unix_micros(&mut self) -> u64 {
        clock::unix_micros()
    }

    /// Prefetches some keys that the command uses next, so that their cache misses overlap.
    fn prefetch<'k>(&self, keys: impl Iterator<Item = &'k [u8]> + Clone);

    /// How many databases there are.
    fn databases(&self) -> usize;

    /// The number of a database.
    fn database(&self, text: &[u8]) -> Result<usize, Fault> {
        let number = values::parse_i64(text).ok_or(Fault::NOT_INTEGER)?;
        if i32::try_from(number).is_err() {
            return Err(Fault::new(
                "ERR value is out of range, value must between -2147483648 and 2147483647",
            ));
        }
        let number = usize::try_from(number).ok().filter(|number| *number < self.databases());
        number.ok_or(Fault::NO_SUCH_DATABASE)
    }

    /// Whether the server is a node of a cluster.
    fn is_in_cluster(&self) -> bool {
        false
    }

    /// Selects a database.
    fn select(&mut self, _db: usize) {}

    /// Chooses the version of the protocol, from the reply to this command on.
    fn set_version(&mut self, version: Version) {
        let parts = self.parts();
        parts.out.set_version(version);
        *parts.version = version;
        if let Some(client) = parts.client {
            client.version.store(version.number().into(), Relaxed);
        }
        self.tell_subscriptions(version);
    }

    /// Sets the protocol version in which the connection gets messages.
    fn tell_subscriptions(&self, _version: Version) {}

    /// Whether the client expects messages only, because it is subscribed to channels in RESP2.
    fn expects_messages(&self) -> bool {
        false
    }

    /// Whether clients must authenticate.
    fn asks_for_password(&self) -> bool {
        false
    }

    /// Logs the client in as the user with this name and password; returns whether there is one.
    fn log_in(&mut self, name: &[u8], _password: &[u8]) -> bool {
        let is_right = self.has_user(name);
        if is_right {
            self.parts().user.log_in(None);
        }
        is_right
    }

    /// Whether there is a user with this name.
    fn has_user(&self, name: &[u8]) -> bool {
        name == DEFAULT
    }

    /// Sets whether the connection's reads count as accesses (CLIENT NO-TOUCH).
    fn set_no_touch(&mut self, _on: bool) {}

    /// Removes a client that is closed from the queues of waiting clients.
    fn stop_waiting(&self, _waiting: &Waiting) {}
}

/// What calls of both services have.
#[derive(Debug)]
pub(crate) struct CallParts<'a, 'c> {
    pub(crate) spec: &'static Spec,
    pub(crate) args: Args<'c>,
    pub(crate) out: &'a mut Writer<'c>,
    /// The connection that sent the command.
    pub(crate) id: ConnectionId,
    /// Its entry in the list of clients.
    pub(crate) client: Option<&'a Arc<Client>>,
    /// Who its client is.
    pub(crate) user: &'a mut User,
    pub(crate) version: &'a mut Version,
    pub(crate) replies: &'a mut Replies,
    /// What becomes of it.
    pub(crate) control: &'a mut Control,
    pub(crate) now: Ticks,
    /// All clients.
    pub(crate) clients: &'a Clients,
    /// All connections of the process; `None` if there may be connections of other protocols among
    /// them.
    pub(crate) directory: Option<&'a Directory>,
    pub(crate) outbox: &'a mut Outbox,
}
