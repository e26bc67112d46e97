// SPDX-License-Identifier: Apache-2.0
//! Members by name: ZSCORE, ZMSCORE, ZRANK, ZREVRANK.

use super::super::named::visit_named;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::ZsetRef;

fn score_or_null(out: &mut Writer<'_>, score: Option<f64>) {
    match score {
        Some(score) => out.double(score),
        None => out.null(),
    }
}

/// Tells the score of a member.
#[inline]
pub(crate) fn zscore<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, member) = (call.arg(1), call.arg(2));
    match call.keys.zset(key)? {
        Some(set) => score_or_null(&mut call.out, set.score(member)),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

/// Tells the scores of several members.
pub(crate) fn zmscore<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, members) = (call.arg(1), call.args.tail(2));
    match call.keys.zset(key)? {
        Some(mut set) => {
            call.out.array(members.len());
            visit_named(&mut set, members, 0, |set, [member]| {
                score_or_null(&mut call.out, set.score(member));
            });
        }
        None => {
            call.out.array(members.len());
            members.iter().for_each(|_| call.out.null());
            call.missed(key);
        }
    }
    Ok(())
}

/// Counts the members before one.
pub(crate) fn zrank<V: View>(call: &mut Call<'_, V>) -> Done {
    rank(call, |set, member| set.rank(member))
}

/// Counts the members behind one.
pub(crate) fn zrevrank<V: View>(call: &mut Call<'_, V>) -> Done {
    rank(call, |set, member| set.rank_from_end(member))
}

fn rank<V: View>(
    call: &mut Call<'_, V>,
    rank: impl FnOnce(ZsetRef<'_>, &[u8]) -> Option<usize>,
) -> Done {
    let (key, member) = (call.arg(1), call.arg(2));
    let with_score = match (call.args.get(3), call.args.len()) {
        (None, _) => false,
        (Some(word), 4) if word.eq_ignore_ascii_case(b"withscore") => true,
        (Some(_), 4) => return Err(Fault::SYNTAX),
        _ => return Err(Fault::arity(call.spec.name)),
    };
    let set = call.keys.zset(key)?;
    let is_missing = set.is_none();
    let found = set.and_then(|set| {
        let score = if with_score { set.score(member)? } else { 0.0 };
        Some((rank(set, member)?, score))
    });
    match (found, with_score) {
        (Some((rank, _)), false) => call.out.count(rank),
        (Some((rank, score)), true) => {
            call.out.array(2);
            call.out.count(rank);
            call.out.double(score);
        }
        (None, false) => call.out.null(),
        (None, true) => call.out.null_array(),
    }
    if is_missing {
        call.missed(key);
    }
    Ok(())
}
