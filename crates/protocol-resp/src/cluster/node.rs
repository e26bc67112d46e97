// SPDX-License-Identifier: Apache-2.0
//! [`ClusterNode`]: a server of a cluster, and how clients are told of it.

/// Digits of the name of a node.
pub(crate) const ID_LEN: usize = 40;

/// A server of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterNode {
    /// Its name, which stays the same when its address changes.
    pub(crate) id: Box<str>,
    /// Its address; empty if it has none.
    pub(crate) ip: Box<str>,
    /// The port for clients without TLS; 0: none.
    pub(crate) port: u16,
    /// The port for clients with TLS; 0: none.
    pub(crate) tls_port: u16,
    /// The port for other nodes, which is shown only.
    pub(crate) bus_port: u16,
    /// Empty if it has none.
    pub(crate) hostname: Box<str>,
    /// A name for people; empty if it has none.
    pub(crate) nodename: Box<str>,
    /// The name that it shares with its primary and its replicas; empty: that of its primary.
    pub(crate) shard: Box<str>,
    /// The place of its primary among the nodes, if it is a replica.
    pub(crate) primary: Option<usize>,
    pub(crate) health: Health,
    /// Its flag `nofailover`, which is shown only.
    pub(crate) no_failover: bool,
    /// When it was last pinged and when it last answered, which is shown only.
    pub(crate) seen: [u64; 2],
    pub(crate) epoch: u64,
    /// Its link state, which is shown only.
    pub(crate) is_connected: bool,
}

/// Whether a node works, as the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Health {
    #[default]
    Online,
    /// `fail?`
    Suspected,
    /// `fail`
    Failed,
}

/// How clients are told where a node is (`cluster-preferred-endpoint-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Ip,
    Hostname,
    /// The client takes the address that it has connected to.
    Unknown,
}

impl ClusterNode {
    /// The port for a client: that for TLS if it uses TLS, and if there is only one, that.
    pub(crate) fn port_for(&self, tls: bool) -> u16 {
        let (first, second) =
            if tls { (self.tls_port, self.port) } else { (self.port, self.tls_port) };
        if first == 0 { second } else { first }
    }

    /// Where it is, in a redirection.
    pub(crate) fn endpoint(&self, endpoint: Endpoint) -> &str {
        match endpoint {
            Endpoint::Ip => &self.ip,
            Endpoint::Hostname if self.hostname.is_empty() => "?",
            Endpoint::Hostname => &self.hostname,
            Endpoint::Unknown => "",
        }
    }

    /// Its flags, as CLUSTER NODES shows them.
    pub(crate) fn flags(&self, is_myself: bool) -> String {
        let mut flags = if is_myself { "myself," } else { "" }.to_owned();
        flags.push_str(if self.primary.is_some() { "slave" } else { "master" });
        flags.push_str(match self.health {
            Health::Online => "",
            Health::Suspected => ",fail?",
            Health::Failed => ",fail",
        });
        if self.no_failover {
            flags.push_str(",nofailover");
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_told_the_port_of_its_kind() {
        let node = |port, tls_port| ClusterNode { port, tls_port, ..ClusterNode::default() };
        assert_eq!((node(1, 2).port_for(false), node(1, 2).port_for(true)), (1, 2));
        assert_eq!((node(1, 0).port_for(true), node(0, 2).port_for(false)), (1, 2));
    }

    #[test]
    fn an_endpoint_is_an_address_or_a_name() {
        let node =
            ClusterNode { ip: "1.2.3.4".into(), hostname: "a.b".into(), ..ClusterNode::default() };
        assert_eq!(node.endpoint(Endpoint::Ip), "1.2.3.4");
        assert_eq!(node.endpoint(Endpoint::Hostname), "a.b");
        assert_eq!(node.endpoint(Endpoint::Unknown), "");
        assert_eq!(ClusterNode::default().endpoint(Endpoint::Hostname), "?");
    }
}
