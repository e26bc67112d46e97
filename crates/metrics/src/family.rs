// SPDX-License-Identifier: Apache-2.0
//! Numbers of one name that a label tells apart, and whose label has values that are not known beforehand.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::distribution::Distribution;
use crate::registry::Kind;

/// What the members of a family hold: a level, a count, or a distribution.
pub trait Figure: Clone + Send + Sync + 'static {
    #[doc(hidden)]
    const KIND: Kind;
}

impl Figure for i64 {
    const KIND: Kind = Kind::Gauge;
}

impl Figure for u64 {
    const KIND: Kind = Kind::Counter;
}

impl Figure for Distribution {
    const KIND: Kind = Kind::Histogram;
}

/// How many there are of each of several kinds, as values that one thread sets together: levels.
///
/// Declare it with [`families!`](crate::families), which also names the label. A member of it is
/// there from the [`set`](Family::set) that names its label's value to the next one that does not,
/// so what is no longer in use is no longer shown. Keep the values few: each is a time series of
/// its own to whoever scrapes them.
///
/// ```
/// metrics::families! {
///     /// Connections open, by protocol.
///     static PROTOCOL_CONNECTIONS: "example_connections" by "protocol";
/// }
/// PROTOCOL_CONNECTIONS.set([("resp", 3), ("memcache", 5)]);
/// assert_eq!(PROTOCOL_CONNECTIONS.value("memcache"), Some(5));
///
/// let window = metrics::Window::default();
/// assert!(metrics::prometheus(&window).contains("example_connections{protocol=\"resp\"} 3\n"));
/// assert_eq!(metrics::value("example_connections"), Some(8));
/// ```
pub type Family = FamilyOf<i64>;

/// As [`Family`], of counts that are kept elsewhere: declared with [`total_families!`](crate::total_families).
pub type TotalFamily = FamilyOf<u64>;

/// As [`Family`], of distributions that are kept elsewhere: declared with
/// [`histogram_families!`](crate::histogram_families).
pub type HistogramFamily = FamilyOf<Distribution>;

/// A family whose members hold a `T`.
#[derive(Debug)]
pub struct FamilyOf<T> {
    label: &'static str,
    members: Mutex<Vec<Member<T>>>,
}

/// A member and its label's value.
#[derive(Clone, Debug)]
pub(crate) struct Member<T> {
    pub(crate) of: String,
    pub(crate) value: T,
}

impl<T: Figure> FamilyOf<T> {
    /// A family without members, whose label has this name.
    #[must_use]
    pub const fn new(label: &'static str) -> Self {
        Self { label, members: Mutex::new(Vec::new()) }
    }

    /// Replaces all members: by the label's value and the value of each. No label may be there
    /// twice. Allocates only if there are more members than ever or longer labels.
    pub fn set<L: AsRef<str>>(&self, members: impl IntoIterator<Item = (L, T)>) {
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

    /// The value with this value of the label, if there is one.
    #[must_use]
    pub fn value(&self, of: &str) -> Option<T> {
        self.lock().iter().find(|member| member.of == of).map(|member| member.value.clone())
    }

    pub(crate) fn label(&self) -> &'static str {
        self.label
    }

    /// All members, in the order they were set in.
    pub(crate) fn members(&self) -> Vec<Member<T>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Member<T>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[doc(hidden)]
impl<T: Figure> metriken_core::Metric for FamilyOf<T> {
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
