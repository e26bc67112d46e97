// SPDX-License-Identifier: Apache-2.0
//! [`Caller`]: a call of either service, as the commands see it that both services have: those about
//! connections, and COMMAND.

use crate::host::clients::Clients;
use crate::session::client::Client;
use crate::session::replies::Replies;
use crate::session::user::User;
use crate::session::waiting::Waiting;
use crate::table::{Catalogue, Spec};
use crate::wire::parse::Args;
use crate::wire::reply::{Version, Writer};
use clock::Ticks;
use protocol::{ConnectionId, Control, Directory, Outbox};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A call of one of the services. What a service does not have, such as a password, it says nothing of.
pub(crate) trait Caller<'c> {
    /// The commands there are.
    const CATALOGUE: Catalogue;
    /// How much memory the state of a connection takes.
    const CONNECTION_BYTES: usize;
    /// The longest name that a client may have, its own or its library's, in bytes.
    const NAME_MAX: usize;

    /// What calls of both services have.
    fn front(&mut self) -> Front<'_, 'c>;

    /// Chooses the version of the protocol, from the reply to this command on.
    fn set_version(&mut self, version: Version) {
        let front = self.front();
        front.out.set_version(version);
        *front.version = version;
        if let Some(client) = front.client {
            client.version.store(version.number().into(), Relaxed);
        }
        self.tell_subscriptions(version);
    }

    /// Messages come in the version that the connection has chosen.
    fn tell_subscriptions(&self, _version: Version) {}

    /// Whether clients must say who they are.
    fn asks_for_password(&self) -> bool {
        false
    }

    /// Whether this lets a client in.
    fn is_password(&self, _given: &[u8]) -> bool {
        true
    }

    /// Lets the connection read without a trace, or not.
    fn set_no_touch(&mut self, _on: bool) {}

    /// Takes somebody who is closed out of the queues of those who wait.
    fn strike(&self, _waiting: &Waiting) {}
}

/// What calls of both services have.
#[derive(Debug)]
pub(crate) struct Front<'a, 'c> {
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
    /// All connections, unless there are others among them.
    pub(crate) directory: Option<&'a Directory>,
    pub(crate) outbox: &'a mut Outbox,
}
