// SPDX-License-Identifier: Apache-2.0
//! Users and what they may do.

use super::super::kind::Kind::{Choice, Integer, Special, Words};
use super::super::kind::Value;
use super::super::parameter::{Parameter, live, written};
use super::super::special;
use super::LONG_MAX;
use crate::acl::NewUser;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static ROWS: &[Parameter] = &[
    live(
        "aclfile",
        Special(special::acl_file),
        "",
        |host| Value::Text(host.acl_file().to_vec()),
        |host, value| host.set_acl_file(value.text()),
    )
    .immutable()
    .meaning("A file of users, which ACL LOAD reads again and ACL SAVE writes; none if empty."),
    live(
        "acllog-max-len",
        Integer(0, LONG_MAX),
        "128",
        |host| (host.acl_log().len_max.load(Relaxed) as u64).into(),
        |host, value| host.acl_log().len_max.store(value.count() as usize, Relaxed),
    )
    .meaning("How many entries ACL LOG keeps."),
    live(
        "acl-pubsub-default",
        Choice(&["allchannels", "resetchannels"]),
        "resetchannels",
        |host| u64::from(host.acl().new_user() == NewUser::NoChannels).into(),
        |host, value| {
            let none = value.number() == 1;
            host.acl().set_new_user(if none { NewUser::NoChannels } else { NewUser::AllChannels });
        },
    )
    .meaning("The channels of a new user: all or none."),
    written("user", Words(special::users), |host, value| host.add_users(value.text()))
        .meaning("A user and its rules, a line each."),
];
