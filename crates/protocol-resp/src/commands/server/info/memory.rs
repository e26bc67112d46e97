// SPDX-License-Identifier: Apache-2.0
//! What the server takes: Memory.

use super::super::memory::{functions_bytes, percent, ratio};
use super::Full;
use super::report::human;
use crate::host::{config, machine};
use keyspace::View;

pub(super) fn memory<V: View>(report: &mut Full<'_, '_, V>) {
    let facts = report.facts;
    let keyspace = &facts.keyspace;
    let (used, resident) = (facts.used_bytes, facts.resident_bytes);
    report.bytes("used_memory", used);
    report.bytes("used_memory_rss", resident);
    report.bytes("used_memory_peak", facts.peak_bytes);
    report.line("used_memory_peak_perc", format!("{:.2}%", percent(used, facts.peak_bytes)));
    report.line("used_memory_overhead", used - keyspace.entry_bytes);
    report.line("used_memory_startup", facts.startup_bytes);
    report.line("used_memory_dataset", keyspace.entry_bytes);
    let share = percent(keyspace.entry_bytes, used - facts.startup_bytes);
    report.line("used_memory_dataset_perc", format!("{share:.2}%"));
    report.line("used_memory_index", keyspace.index_bytes);
    report.line("used_memory_leaving", keyspace.leaving_bytes);
    report.line("used_memory_gaps", keyspace.gap_bytes);
    report.line("used_memory_buffers", report.call.client_memory().buffers());
    report.line("used_memory_clients", report.call.client_memory().held());
    report.line("used_memory_tracking", report.call.key_events().tracking().bytes());
    let allocator = facts.allocator.unwrap_or_default();
    report.numbers(&[
        ("allocator_allocated", allocator.allocated),
        ("allocator_active", allocator.active),
        ("allocator_resident", allocator.resident),
    ]);
    report.bytes("total_system_memory", machine::total_bytes());
    let ((scripts, script_bytes), vm) =
        (report.call.scripts().size(), report.call.scripts().vm_memory().bytes());
    report.line("used_memory_lua", vm);
    report.line("used_memory_lua_human", human(vm));
    report.line("used_memory_vm_eval", vm);
    report.line("used_memory_scripts_eval", script_bytes);
    report.line("number_of_cached_scripts", scripts);
    report.line("scripts_with_undeclared_keys", report.call.scripts().wanderings());
    report.line("scripts_begun_again", report.call.scripts().restarts());
    report.line("scripts_not_atomic", report.call.scripts().interruptions());
    functions(report);
    // Both together, as Valkey counts them.
    report.bytes("used_memory_scripts", script_bytes + functions_bytes(report.call));
    limits(report);
    report.line(
        "allocator_frag_ratio",
        format!("{:.2}", ratio(allocator.active, allocator.allocated)),
    );
    report.line("allocator_frag_bytes", allocator.active.saturating_sub(allocator.allocated));
    report
        .line("allocator_rss_ratio", format!("{:.2}", ratio(allocator.resident, allocator.active)));
    report.line("allocator_rss_bytes", allocator.resident.saturating_sub(allocator.active));
    report.line("rss_overhead_ratio", format!("{:.2}", ratio(resident, allocator.resident)));
    report.line("rss_overhead_bytes", resident.saturating_sub(allocator.resident));
    report.line("mem_fragmentation_ratio", format!("{:.2}", ratio(resident, used)));
    report.line("mem_fragmentation_bytes", resident.saturating_sub(used));
    report.zeros(&["mem_not_counted_for_evict", "mem_replication_backlog", "mem_clients_slaves"]);
    report.zeros(&["mem_total_replication_buffers", "mem_replica_full_sync_buffer"]);
    report.line("mem_clients_normal", keyspace.reserved_bytes);
    report.zeros(&["mem_cluster_links", "mem_aof_buffer"]);
    report.zeros(&["mem_replicas_repl_buffer", "mem_cluster_slot_import"]);
    // Tables grow and shrink by a bucket at a time.
    report.zeros(&["mem_cluster_slot_export", "mem_overhead_db_hashtable_rehashing"]);
    let name = if allocator.name.is_empty() { "libc" } else { allocator.name };
    report.line("mem_allocator", name);
    report.line("active_defrag_running", u64::from(keyspace.defragments));
    report.line("lazyfree_pending_objects", keyspace.leaving);
    report.line("lazyfreed_objects", keyspace.left);
}

fn limits<V: View>(report: &mut Full<'_, '_, V>) {
    let settings = report.call.settings();
    report.bytes("maxmemory", settings.maxmemory());
    let clients = report.call.client_memory().configured(settings.maxmemory());
    report.line("maxmemory_clients", clients.unwrap_or(0));
    let policy = config::parameter(b"maxmemory-policy").expect("the table has it");
    let policy = report.call.configured(policy);
    report.line("maxmemory_policy", String::from_utf8_lossy(&policy).into_owned());
}

/// Libraries of functions.
#[cfg(feature = "scripts")]
fn functions<V: View>(report: &mut Full<'_, '_, V>) {
    let counts = report.call.functions().counts();
    let vm = report.call.functions().vm_memory().bytes();
    report.line("used_memory_vm_functions", vm);
    report.bytes("used_memory_vm_total", vm + report.call.scripts().vm_memory().bytes());
    report.line("used_memory_functions", counts.bytes);
    report.line("number_of_functions", counts.functions);
    report.line("number_of_libraries", counts.libraries);
}

/// There are none.
#[cfg(not(feature = "scripts"))]
fn functions<V: View>(report: &mut Full<'_, '_, V>) {
    report.zeros(&[
        "used_memory_vm_functions",
        "used_memory_vm_total",
        "used_memory_functions",
        "number_of_functions",
        "number_of_libraries",
    ]);
}
