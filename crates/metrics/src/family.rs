// SPDX-License-Identifier: Apache-2.0
//! Levels of one name that a label tells apart.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many there are of each of several kinds, as values that one thread sets together.
///
/// Declare it with [`families!`](crate::families), which also names the label. A level of it is
/// there from the [`set`](Family::set) that names its label's value to the next one that does not,
/// so what is no longer in use is no longer shown. Keep the values few: each is a time series of
/// its own to whoever scrapes them.
///
/// ```
/// metrics::families! {
///     /// Connections open, by protocol.
///     static PROTOCOL_CONN_CURR: "protocol_conn_curr" by "protocol";
/// }
/// PROTOCOL_CONN_CURR.set([("resp", 3), ("memcache", 5)]);
/// assert_eq!(PROTOCOL_CONN_CURR.value("memcache"), Some(5));
///
/// let window = metrics::Window::default();
/// assert!(metrics::prometheus(&window).contains("protocol_conn_curr{protocol=\"resp\"} 3\n"));
/// assert!(metrics::json(&window).contains("\"protocol_conn_curr_resp\":3"));
/// assert_eq!(metrics::value("protocol_conn_curr"), Some(8));
/// ```
#[derive(Debug)]
pub struct Family {
    label: &'static str,
    members: Mutex<Vec<Member>>,
}

/// A level and its label's value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) of: String,
    pub(crate) value: i64,
}

impl Family {
    /// A family without members, whose label has this name.
    #[must_use]
    pub const fn new(label: &'static str) -> Self {
        Self { label, members: Mutex::new(Vec::new()) }
    }

    /// Replaces all members: by the label's value and the level of each. No value may be there
    /// twice. Allocates only if there are more members than ever or longer values.
    pub fn set<L: AsRef<str>>(&self, members: impl IntoIterator<Item = (L, i64)>) {
        let mut present = self.lock();
        let mut count = 0;
        for (of, value) in members {
            let of = of.as_ref();
            match present.get_mut(count) {
                Some(member) => {
                    if member.of != of {
                        member.of.clear();
                        member.of.push_str(of);
                    }
                    member.value = value;
                }
                None => present.push(Member { of: of.to_owned(), value }),
            }
            count += 1;
        }
        present.truncate(count);
    }

    /// The level with this value of the label, if there is one.
    #[must_use]
    pub fn value(&self, of: &str) -> Option<i64> {
        self.lock().iter().find(|member| member.of == of).map(|member| member.value)
    }

    pub(crate) fn label(&self) -> &'static str {
        self.label
    }

    /// All members, in the order they were set in.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Family {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Other(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_of_the_last_set() {
        let family = Family::new("ttl");
        family.set([("1", 10), ("60", 20), ("never", 30)]);
        family.set([("60".to_owned(), 21), ("never".to_owned(), -4)]);
        assert_eq!(family.value("1"), None);
        assert_eq!((family.value("60"), family.value("never")), (Some(21), Some(-4)));
        assert_eq!(family.members().len(), 2);
        family.set::<&str>([]);
        assert_eq!(family.value("60"), None);
    }
}
