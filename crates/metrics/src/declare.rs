// SPDX-License-Identifier: Apache-2.0
//! The macros that declare metrics.

/// Declares [`Counter`](crate::Counter)s.
///
/// Each entry is a doc comment, which is required and is the help text, a visibility, the static's
/// name and the metric's. A metric's name is made of letters, digits, `_` and `:` and does not
/// start with a digit; anything else does not compile. It appears in all text forms as written.
///
/// ```
/// metrics::counters! {
///     /// Requests of the verb get.
///     pub static GET: "get";
///     /// Keys asked for by get,
///     /// found or not.
///     pub static GET_KEY: "get_key";
/// }
/// GET_KEY.add(10);
/// let found = metrics::list().into_iter().find(|metric| metric.name == "get_key").unwrap();
/// assert_eq!(found.help, "Keys asked for by get, found or not.");
/// ```
///
/// ```compile_fail
/// metrics::counters! {
///     /// A minus is not allowed.
///     static GET_KEY: "get-key";
/// }
/// ```
#[macro_export]
macro_rules! counters {
    ($($entry:tt)*) => { $crate::__declare! { Counter; $($entry)* } };
}

/// Declares [`Gauge`](crate::Gauge)s, in the form of [`counters!`](crate::counters).
#[macro_export]
macro_rules! gauges {
    ($($entry:tt)*) => { $crate::__declare! { Gauge; $($entry)* } };
}

/// Declares [`Level`](crate::Level)s, in the form of [`counters!`](crate::counters).
#[macro_export]
macro_rules! levels {
    ($($entry:tt)*) => { $crate::__declare! { Level; $($entry)* } };
}

/// Declares [`Total`](crate::Total)s, in the form of [`counters!`](crate::counters).
#[macro_export]
macro_rules! totals {
    ($($entry:tt)*) => { $crate::__declare! { Total; $($entry)* } };
}

/// Declares [`Histogram`](crate::Histogram)s, in the form of [`counters!`](crate::counters).
#[macro_export]
macro_rules! histograms {
    ($($entry:tt)*) => { $crate::__declare! { Histogram; $($entry)* } };
}

/// Declares [`Family`](crate::Family)s. An entry is that of [`counters!`](crate::counters) with the
/// label's name at its end.
///
/// ```
/// metrics::families! {
///     /// Items, by the time they have to live.
///     static TTL_ITEMS: "ttl_items" by "ttl";
/// }
/// TTL_ITEMS.set([("60", 4)]);
/// ```
#[macro_export]
macro_rules! families {
    ($($(#[doc = $help:literal])+ $vis:vis static $ident:ident: $name:literal by $label:literal;)*) => {
        $($crate::__declare! { @one Family, $label; $(#[doc = $help])+ $vis static $ident: $name; })*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    ($kind:ident; $($(#[doc = $help:literal])+ $vis:vis static $ident:ident: $name:literal;)*) => {
        $($crate::__declare! { @one $kind; $(#[doc = $help])+ $vis static $ident: $name; })*
    };
    (@one $kind:ident $(, $label:literal)?;
     $(#[doc = $help:literal])+ $vis:vis static $ident:ident: $name:literal;) => {
        const _: () = assert!(
            $crate::__private::is_valid_name($name) $(&& $crate::__private::is_valid_name($label))?,
            "a metric's name is made of letters, digits, `_` and `:`, no digit first",
        );
        $(#[doc = $help])+
        $vis static $ident: $crate::$kind = $crate::$kind::new($($label)?);
        $crate::__private::metriken_core::declare_metric_v1! {
            metric: $ident,
            name: $name,
            description: Some(concat!($($help),+).trim_ascii()),
            module: module_path!(),
            metadata: {},
            formatter: $crate::__private::metriken_core::default_formatter,
        }
    };
}

/// Whether every text form can carry the name unchanged.
pub const fn is_valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes[0].is_ascii_digit() {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' || bytes[i] == b':') {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_valid_name;

    #[test]
    fn names_are_what_prometheus_accepts() {
        for name in ["get", "_x", "a:b", "p99", "RU_UTIME"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "9p", "get-key", "get key", "a.b", "zähler", "a\"b"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
