// SPDX-License-Identifier: Apache-2.0
//! INFO: the server in numbers, section by section.
//!
//! The names are those of Redis 7.0. Fields that do not apply here are kept if tools read them,
//! with the value that is true here. `process.rs`: what the server is. `memory.rs`: what it takes.
//! `activity.rs`: what it does. `commands.rs`: command by command. `report.rs`: how sections are chosen and
//! written, for both services.

mod activity;
mod commands;
mod memory;
mod process;
mod report;

pub(crate) use report::{Report, Section, report};

use super::facts::Facts;
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::engine::key_sizes::Asker;
use crate::wire::fault::Done;
use keyspace::View;
use protocol::Control;

/// Sections of a server with all of Redis's types.
type Full<'a, 'c, V> = Report<'a, Call<'c, V>, Facts>;

/// Tells about the server. The sizes of values are counted for one who asks for them: the client waits for that.
pub(crate) fn info<V: View>(call: &mut Call<'_, V>) -> Done {
    let sections = [
        Section::of("Server", process::server),
        Section::on_request("TLS", process::tls),
        Section::of("Clients", activity::clients),
        Section::of("Memory", memory::memory),
        Section::of("Persistence", process::persistence),
        Section::of("Stats", activity::stats),
        Section::of("Replication", process::replication),
        Section::of("CPU", process::cpu),
        Section::of("Modules", |_| {}),
        Section::on_request("Commandstats", |report| report.commands(report.call.command_stats())),
        Section::of("Errorstats", commands::errorstats),
        Section::on_request("Latencystats", commands::latencystats),
        Section::of("Cluster", |report| {
            report.line("cluster_enabled", u8::from(report.call.is_in_cluster()));
        }),
        Section::of("Keyspace", activity::keyspace),
    ];
    let words = call.args.tail(1);
    let text = report(&*call, &Facts::of(call), words, &sections);
    let wants_sizes = words.iter().any(|word| word.eq_ignore_ascii_case(b"keysizes"));
    if wants_sizes && !call.in_transaction {
        let (id, ticket, version) = (call.id, call.ticket, call.conn.version);
        call.worker.key_sizes.ask(Asker { id, ticket, version, before: text });
        call.control = Control::Block;
        return Ok(());
    }
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}
