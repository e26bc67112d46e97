// SPDX-License-Identifier: Apache-2.0
//! [`Identity`]: which of the nodes of a file this server is.

use super::node::ClusterNode;

/// What a server knows of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    /// What it was told to announce: `cluster-announce-ip`, `-hostname`, `-human-nodename`; empty texts say nothing.
    pub(crate) ip: String,
    pub(crate) hostname: String,
    pub(crate) nodename: String,
    /// The ports for clients without TLS and with TLS, as announced or listened on; 0: none.
    pub(crate) port: u16,
    pub(crate) tls_port: u16,
    /// The addresses it listens on.
    pub(crate) listens: Vec<String>,
}

impl Identity {
    /// The place of this server among `nodes`: the node with what it announces, if it announces anything; or else
    /// the one that the file calls `myself`; or else the one with an address that this server listens on.
    pub(super) fn find(&self, nodes: &[ClusterNode], myself: Option<usize>) -> Option<usize> {
        let announces = [&self.ip, &self.hostname, &self.nodename];
        if announces.iter().any(|text| !text.is_empty()) {
            return self.only(nodes, |node| {
                let told = [&node.ip, &node.hostname, &node.nodename];
                announces.iter().zip(told).all(|(own, told)| own.is_empty() || **own == **told)
            });
        }
        myself.or_else(|| {
            self.only(nodes, |node| self.listens.iter().any(|address| **address == *node.ip))
        })
    }

    /// The only node that is meant and has one of this server's ports.
    fn only(
        &self,
        nodes: &[ClusterNode],
        is_meant: impl Fn(&ClusterNode) -> bool,
    ) -> Option<usize> {
        let has_port = |node: &ClusterNode| {
            let ports = [self.port, self.tls_port];
            [node.port, node.tls_port].iter().any(|port| *port != 0 && ports.contains(port))
        };
        let mut found = (0..nodes.len()).filter(|&at| is_meant(&nodes[at]) && has_port(&nodes[at]));
        found.next().filter(|_| found.next().is_none())
    }

    /// The node of a server that is not in the file.
    pub(super) fn stranger(&self, id: &str) -> ClusterNode {
        ClusterNode {
            id: id.into(),
            ip: (*self.ip).into(),
            hostname: (*self.hostname).into(),
            nodename: (*self.nodename).into(),
            port: self.port,
            tls_port: self.tls_port,
            is_connected: true,
            ..ClusterNode::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(ip: &str, port: u16, hostname: &str) -> ClusterNode {
        ClusterNode { ip: ip.into(), port, hostname: hostname.into(), ..ClusterNode::default() }
    }

    #[test]
    fn what_is_announced_comes_before_what_the_file_says() {
        let nodes =
            [node("10.0.0.1", 6379, "a"), node("10.0.0.2", 6379, "b"), node("10.0.0.2", 1, "b")];
        let own = Identity { port: 6379, ..Identity::default() };
        assert_eq!(own.find(&nodes, Some(2)), Some(2));
        assert_eq!(own.find(&nodes, None), None);
        let by_ip = Identity { ip: "10.0.0.2".into(), ..own.clone() };
        assert_eq!(by_ip.find(&nodes, Some(0)), Some(1));
        let by_name = Identity { hostname: "a".into(), ..own.clone() };
        assert_eq!(by_name.find(&nodes, None), Some(0));
        let both = Identity { hostname: "a".into(), ip: "10.0.0.2".into(), ..own.clone() };
        assert_eq!(both.find(&nodes, Some(0)), None, "no node is all of that");
        let listens = Identity { listens: vec!["::".into(), "10.0.0.1".into()], ..own };
        assert_eq!(listens.find(&nodes, None), Some(0));
        let other_port = Identity { port: 7000, ..listens };
        assert_eq!(other_port.find(&nodes, None), None);
    }
}
