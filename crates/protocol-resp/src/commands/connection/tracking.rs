// SPDX-License-Identifier: Apache-2.0
//! Caches of clients: CLIENT TRACKING, CACHING, TRACKINGINFO, GETREDIR.

use crate::engine::call::Call;
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::sync::Arc;

/// What CLIENT TRACKING is asked for.
#[derive(Debug, Default)]
struct Options<'a> {
    redirect: Option<Arc<Client>>,
    prefixes: Vec<&'a [u8]>,
    /// Flags of [`Client::TRACKING_MODE`].
    mode: u32,
}

impl<'a> Options<'a> {
    /// Reads the options; `find` finds a client by its number.
    fn parse(
        mut words: impl ExactSizeIterator<Item = &'a [u8]>,
        find: impl Fn(u64) -> Option<Arc<Client>>,
    ) -> Result<Self, Fault> {
        let mut options = Options::default();
        while let Some(word) = words.next() {
            let has_value = words.len() > 0;
            match word.to_ascii_lowercase().as_slice() {
                b"redirect" if has_value => {
                    if options.redirect.is_some() {
                        return Err(Fault::new(
                            "ERR A client can only redirect to a single other client",
                        ));
                    }
                    let id = words.next().and_then(values::parse_i64).ok_or(Fault::NOT_INTEGER)?;
                    let target = u64::try_from(id).ok().and_then(&find);
                    options.redirect = Some(target.ok_or(Fault::new(
                        "ERR The client ID you want redirect to does not exist",
                    ))?);
                }
                b"prefix" if has_value => options.prefixes.extend(words.next()),
                b"bcast" => options.mode |= Client::BROADCAST,
                b"optin" => options.mode |= Client::OPT_IN,
                b"optout" => options.mode |= Client::OPT_OUT,
                b"noloop" => options.mode |= Client::NO_LOOP,
                _ => return Err(Fault::SYNTAX),
            }
        }
        Ok(options)
    }

    /// Checks them against each other, and against what `client` has chosen before.
    fn check(&self, client: &Client, has: &Resp) -> Done {
        let wants = |mode: u32| self.mode & mode == mode;
        let fault = if !wants(Client::BROADCAST) && !self.prefixes.is_empty() {
            "ERR PREFIX option requires BCAST mode to be enabled"
        } else if has.is_tracker && client.is(Client::BROADCAST) != wants(Client::BROADCAST) {
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then \
             re-enabling it with a different mode."
        } else if wants(Client::BROADCAST) && self.mode & (Client::OPT_IN | Client::OPT_OUT) != 0 {
            "ERR OPTIN and OPTOUT are not compatible with BCAST"
        } else if wants(Client::OPT_IN | Client::OPT_OUT) {
            "ERR You can't specify both OPTIN mode and OPTOUT mode"
        } else if wants(Client::OPT_IN) && client.is(Client::OPT_OUT)
            || wants(Client::OPT_OUT) && client.is(Client::OPT_IN)
        {
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then \
             re-enabling it with a different mode."
        } else {
            return self.check_prefixes(has);
        };
        Err(Fault::new(fault))
    }

    /// No two prefixes of a client may find the same key.
    fn check_prefixes(&self, has: &Resp) -> Done {
        let Some(at) = first_overlap(&self.prefixes, has.prefixes.iter().map(AsRef::as_ref)) else {
            return Ok(());
        };
        let prefix = self.prefixes[at];
        if let Some(other) = has.prefixes.iter().find(|other| overlap(prefix, other)) {
            return Err(overlapping(prefix, b"an existing", other));
        }
        let mut behind = self.prefixes[at..].iter().skip(1);
        match behind.find(|other| overlap(prefix, other)) {
            Some(other) => Err(overlapping(prefix, b"another provided", other)),
            None => Ok(()),
        }
    }
}

/// The place of the first of the `given` prefixes that overlaps with another, or with one of the `known`. In their
/// order, what begins with a prefix follows it directly, so neighbours are compared only.
fn first_overlap<'p>(given: &[&'p [u8]], known: impl Iterator<Item = &'p [u8]>) -> Option<usize> {
    let given = given.iter().enumerate().map(|(at, prefix)| (*prefix, Some(at)));
    let mut all: Vec<_> = given.chain(known.map(|prefix| (prefix, None))).collect();
    all.sort_unstable();
    let (mut first, mut root) = (None, None::<(&[u8], Option<usize>)>);
    for (prefix, at) in all {
        match root {
            Some((shorter, of_it)) if prefix.starts_with(shorter) => {
                first = [first, of_it, at].into_iter().flatten().min();
            }
            _ => root = Some((prefix, at)),
        }
    }
    first
}

/// Whether one is the beginning of the other.
fn overlap(one: &[u8], other: &[u8]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn overlapping(prefix: &[u8], which: &[u8], other: &[u8]) -> Fault {
    let end: &[u8] = b"'. Prefixes for a single client must not overlap.";
    Fault::made(
        [b"ERR Prefix '", prefix, b"' overlaps with ", which, b" prefix '", other, end].concat(),
    )
}

/// Tells the client, from now on, of changes of keys that it reads, or of those with certain prefixes; or
/// tells it no more.
pub(crate) fn client_tracking<V: View>(call: &mut Call<'_, V>) -> Done {
    let find = |id: u64| call.clients().get(id).filter(|client| !client.is(Client::CLOSING));
    let options = Options::parse(call.args.tail(3).iter(), find)?;
    let status = call.arg(2);
    if status.eq_ignore_ascii_case(b"on") {
        begin(call, options)?;
    } else if status.eq_ignore_ascii_case(b"off") {
        stop(call);
    } else {
        return Err(Fault::SYNTAX);
    }
    call.out.ok();
    Ok(())
}

fn begin<V: View>(call: &mut Call<'_, V>, options: Options<'_>) -> Done {
    let Some(client) = call.conn.client.clone() else { return Ok(()) };
    options.check(&client, call.conn)?;
    let Options { redirect, mut prefixes, mode } = options;
    if mode & Client::BROADCAST != 0 && prefixes.is_empty() {
        // All keys. This one may overlap with others that the client has.
        prefixes.push(b"");
    }
    *client.redirect.lock() = redirect;
    client.set(Client::TRACKING_MODE | Client::REDIRECT_BROKEN, false);
    client.set(Client::TRACKING | mode, true);
    call.key_events().track(call.conn, &prefixes, call.settings());
    Ok(())
}

/// Ends what CLIENT TRACKING has begun.
pub(super) fn stop<V: View>(call: &mut Call<'_, V>) {
    call.key_events().untrack(call.conn, call.settings());
    if let Some(client) = &call.conn.client {
        let flags = Client::TRACKING_MODE | Client::TRACKING | Client::CACHING;
        client.set(flags | Client::REDIRECT_BROKEN, false);
        *client.redirect.lock() = None;
    }
}

/// Says whether the client caches what its next command reads.
pub(crate) fn client_caching<V: View>(call: &mut Call<'_, V>) -> Done {
    let client = call.conn.client.as_ref().filter(|_| call.conn.is_tracker);
    let client = client.ok_or(Fault::new(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT \
         mode enabled",
    ))?;
    let word = call.args.arg(2);
    let (mode, fault) = if word.eq_ignore_ascii_case(b"yes") {
        let fault = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";
        (Client::OPT_IN, fault)
    } else if word.eq_ignore_ascii_case(b"no") {
        let fault = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.";
        (Client::OPT_OUT, fault)
    } else {
        return Err(Fault::SYNTAX);
    };
    if !client.is(mode) {
        return Err(Fault::new(fault));
    }
    client.set(Client::CACHING, true);
    call.out.ok();
    Ok(())
}

/// Tells which client gets the invalidations of this one.
pub(crate) fn client_getredir<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.integer(call.conn.client.as_deref().map_or(-1, Client::redirection));
    Ok(())
}

/// Tells how the client tracks keys.
pub(crate) fn client_trackinginfo<V: View>(call: &mut Call<'_, V>) -> Done {
    let client = call.conn.client.as_deref();
    let words = client.map_or_else(Vec::new, words);
    call.out.map(3);
    call.out.bulk(b"flags");
    call.out.set(words.len());
    words.iter().for_each(|word| call.out.bulk(word.as_bytes()));
    call.out.bulk(b"redirect");
    call.out.integer(client.map_or(-1, Client::redirection));
    call.out.bulk(b"prefixes");
    call.out.array(call.conn.prefixes.len());
    call.conn.prefixes.iter().for_each(|prefix| call.out.bulk(prefix));
    Ok(())
}

/// How a client tracks keys, in words.
fn words(client: &Client) -> Vec<&'static str> {
    let status = if client.is(Client::TRACKING) { "on" } else { "off" };
    let known = [
        (Client::BROADCAST, "bcast"),
        (Client::OPT_IN, "optin"),
        (Client::OPT_IN | Client::CACHING, "caching-yes"),
        (Client::OPT_OUT, "optout"),
        (Client::OPT_OUT | Client::CACHING, "caching-no"),
        (Client::NO_LOOP, "noloop"),
        (Client::REDIRECT_BROKEN, "broken_redirect"),
    ];
    let set = known.into_iter().filter(|(flags, _)| client.is(*flags)).map(|(_, word)| word);
    [status].into_iter().chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As [`first_overlap`], by comparing all with all.
    fn plainly(given: &[&[u8]], known: &[&[u8]]) -> Option<usize> {
        let overlaps = |at: usize| {
            let behind = given[at..].iter().skip(1);
            known.iter().chain(behind).any(|other| overlap(given[at], other))
        };
        (0..given.len()).find(|at| overlaps(*at))
    }

    #[test]
    fn the_first_prefix_that_overlaps_is_found() {
        let words: [&[u8]; 7] = [b"", b"a", b"ab", b"abc", b"b", b"ba", b"c"];
        // All lists of two known and three given ones.
        for number in 0..7_usize.pow(5) {
            let word = |place: u32| words[number / 7_usize.pow(place) % 7];
            let (known, given) = ([word(0), word(1)], [word(2), word(3), word(4)]);
            let found = first_overlap(&given, known.into_iter());
            // The known ones may overlap with one another.
            assert_eq!(found, plainly(&given, &known), "{known:?}, {given:?}");
        }
    }

    #[test]
    fn many_prefixes_are_compared_at_once() {
        let texts: Vec<String> = (0..100_000).map(|number| format!("{number:06}")).collect();
        let mut given: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(first_overlap(&given, std::iter::empty()), None);
        given.push(b"09999");
        assert_eq!(first_overlap(&given, std::iter::empty()), Some(99_990));
    }
}
