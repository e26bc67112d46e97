// SPDX-License-Identifier: Apache-2.0
//! [`Files`]: what is read again while the server runs, besides what all servers read again.

use protocol_memcache::{ClusterFile, Memcache, ServiceOptions, UserFile, settings};
use server::{Builder, Error};
use std::sync::Arc;

/// The users who may log in, and the servers of the cluster, if the configuration names files of them.
#[derive(Debug)]
pub struct Files {
    users: Option<Arc<UserFile>>,
    cluster: Option<Arc<ClusterFile>>,
}

impl Files {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// When one cannot be read, or is not what it should be.
    pub fn read(memcache: &settings::Memcache) -> Result<Self, Error> {
        Ok(Files {
            users: memcache.users().map_err(Error::setting)?,
            cluster: memcache.cluster().map_err(Error::setting)?,
        })
    }

    /// Has the server read them again at SIGHUP and when clients ask for it, the cluster's also when it has changed;
    /// has connections log in if there are users; and gives both to the service.
    pub fn follow(
        self,
        mut builder: Builder,
        mut codec: Memcache,
        mut options: ServiceOptions,
    ) -> (Builder, Memcache, ServiceOptions) {
        if let Some(cluster) = self.cluster {
            options = options.cluster(Arc::clone(&cluster));
            let stamp = Arc::clone(&cluster);
            let reread = move || cluster.reread().map_err(|e| e.to_string());
            builder = builder.rereads_when_changed("nodes", reread, move || stamp.has_changed());
        }
        if let Some(users) = self.users {
            codec = codec.with_login();
            options = options.users(Arc::clone(&users));
            builder = builder.rereads("users", move || users.reread().map_err(|e| e.to_string()));
        }
        (builder, codec, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_named_must_be_there_and_is_given_on() {
        let folder = tempfile::tempdir().unwrap();
        let (users, nodes) = (folder.path().join("users"), folder.path().join("nodes"));
        let section = settings::Memcache {
            auth_file: Some(users.clone()),
            cluster_file: Some(nodes.clone()),
            ..settings::Memcache::default()
        };
        let missing = Files::read(&section).unwrap_err().to_string();
        assert!(missing.starts_with("[memcache] auth_file: "), "{missing}");
        fs::write(&users, "one:secret\n").unwrap();
        let missing = Files::read(&section).unwrap_err().to_string();
        assert!(missing.starts_with("[memcache] cluster_file: "), "{missing}");
        fs::write(&nodes, "1\nhost|127.0.0.1|11211\n").unwrap();
        let files = Files::read(&section).unwrap();
        let (builder, codec) = (Builder::new("mine", "1.0.0"), Memcache::new(1 << 20));
        let (_, _, options) = files.follow(builder, codec.clone(), ServiceOptions::new());
        assert!(options.users.is_some() && options.cluster.is_some());

        let none = Files::read(&settings::Memcache::default()).unwrap();
        let (_, _, options) =
            none.follow(Builder::new("mine", "1.0.0"), codec, ServiceOptions::new());
        assert!(options.users.is_none() && options.cluster.is_none());
    }
}
