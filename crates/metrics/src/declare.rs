// SPDX-License-Identifier: Apache-2.0
//! The macros that declare metrics.

/// Declares [`Counter`](crate::Counter)s.
///
/// An entry is one row with all that is to be known of a metric: its help text, which is the doc comment and is
/// required, a visibility, the static's name, the metric's name and, where it is not shown as it is counted, its
/// [unit](crate::Unit). Several counters that labels tell apart share a name and a help text:
///
/// ```
/// metrics::counters! {
///     /// Keys asked for,
///     /// found or not.
///     pub static KEYS: "example_keys_total";
///     /// Time in which nothing was accepted.
///     pub static PAUSED: "example_paused_seconds_total" in milliseconds;
///     /// Requests by command.
///     "example_requests_total" {
///         pub static GET: command = "get";
///         pub static SET: command = "set";
///     }
/// }
/// KEYS.add(10);
/// PAUSED.add(1_500);
/// SET.increment();
/// let text = metrics::prometheus(&metrics::Window::default());
/// assert!(text.contains("# HELP example_keys_total Keys asked for, found or not.\n"));
/// assert!(text.contains("\nexample_paused_seconds_total 1.5\n"));
/// assert!(text.contains("\nexample_requests_total{command=\"set\"} 1\n"));
/// ```
///
/// A name is made of letters, digits, `_` and `:` and does not start with a digit; anything else does not
/// compile. It appears in all text forms as written. Names are as Prometheus wants them: `_total` at the end of a
/// counter's, the base unit before that.
///
/// ```compile_fail
/// metrics::counters! {
///     /// A minus is not allowed.
///     static GET_KEY: "get-key";
/// }
/// ```
///
/// ```compile_fail
/// metrics::counters! {
///     /// There is no such unit.
///     static UP: "up_total" in fortnights;
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
/// label's name behind its own.
///
/// ```
/// metrics::families! {
///     /// Items, by the time they have to live.
///     static TTL_ITEMS: "ttl_items" by "ttl_class";
/// }
/// TTL_ITEMS.set([("60", 4)]);
/// ```
///
/// Several families of one name are told apart by further labels:
///
/// ```
/// metrics::total_families! {
///     /// Keys that commands looked up.
///     "example_lookups_total" {
///         static HITS: by "command", result = "hit";
///         static MISSES: by "command", result = "miss";
///     }
/// }
/// HITS.set([("get", 3)]);
/// MISSES.set([("get", 4)]);
/// let text = metrics::prometheus(&metrics::Window::default());
/// assert!(text.contains("\nexample_lookups_total{command=\"get\",result=\"miss\"} 4\n"));
/// assert_eq!(metrics::value("example_lookups_total{command=\"get\",result=\"hit\"}"), Some(3));
/// ```
#[macro_export]
macro_rules! families {
    ($($entry:tt)*) => { $crate::__declare! { Family; $($entry)* } };
}

/// Declares [`TotalFamily`](crate::TotalFamily)s, in the form of [`families!`](crate::families).
#[macro_export]
macro_rules! total_families {
    ($($entry:tt)*) => { $crate::__declare! { TotalFamily; $($entry)* } };
}

/// Declares [`HistogramFamily`](crate::HistogramFamily)s, in the form of [`families!`](crate::families).
#[macro_export]
macro_rules! histogram_families {
    ($($entry:tt)*) => { $crate::__declare! { HistogramFamily; $($entry)* } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    ($kind:ident;) => {};
    ($kind:ident; $(#[doc = $help:literal])+
     $vis:vis static $ident:ident: $name:literal $(by $by:literal)? $(in $unit:ident)?; $($rest:tt)*) => {
        $crate::__declare! {
            @one $kind ($($by)?) ($($unit)?) ($name) ($($help)+) $vis static $ident: ()
        }
        $crate::__declare! { $kind; $($rest)* }
    };
    ($kind:ident; $(#[doc = $help:literal])+
     $name:literal $(in $unit:ident)? { $($members:tt)+ } $($rest:tt)*) => {
        $crate::__declare! { @members $kind ($($unit)?) ($name) ($($help)+) $($members)+ }
        $crate::__declare! { $kind; $($rest)* }
    };
    (@members $kind:ident $unit:tt $name:tt $help:tt
     $($vis:vis static $ident:ident: $($label:ident = $value:literal),+;)+) => {
        $($crate::__declare! {
            @one $kind () $unit $name $help $vis static $ident: ($($label = $value),+)
        })+
    };
    (@members $kind:ident $unit:tt $name:tt $help:tt
     $($vis:vis static $ident:ident: by $by:literal, $($label:ident = $value:literal),+;)+) => {
        $($crate::__declare! {
            @one $kind ($by) $unit $name $help $vis static $ident: ($($label = $value),+)
        })+
    };
    (@one $kind:ident ($($by:literal)?) ($($unit:ident)?) ($name:literal) ($($help:literal)+)
     $vis:vis static $ident:ident: ($($label:ident = $value:literal),*)) => {
        const _: () = {
            assert!(
                $crate::__private::is_valid_name($name) $(&& $crate::__private::is_valid_name($by))?,
                "a metric's name is made of letters, digits, `_` and `:`, no digit first",
            );
            $(assert!(
                $crate::__private::is_plain($value),
                "the value of a label is made of letters, digits, `_`, `-` and `.`",
            );)*
            $(assert!($crate::__private::is_unit(stringify!($unit)), "there is no such unit");)?
        };
        $(#[doc = $help])+
        $vis static $ident: $crate::$kind = $crate::$kind::new($($by)?);
        $crate::__private::metriken_core::declare_metric_v1! {
            metric: $ident,
            name: concat!($name, $crate::__labels!($($label = $value),*)),
            description: Some(concat!($($help),+).trim_ascii()),
            module: module_path!(),
            metadata: { $("unit" => stringify!($unit))? },
            formatter: $crate::__private::metriken_core::default_formatter,
        }
    };
}

/// What follows the name in that of a series. The comma behind the last label goes when it is read.
#[doc(hidden)]
#[macro_export]
macro_rules! __labels {
    () => { "" };
    ($($label:ident = $value:literal),+) => {
        concat!("{", $(stringify!($label), "=\"", $value, "\",",)+ "}")
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

/// Whether the value of a label needs no escapes in any text form.
pub const fn is_plain(value: &str) -> bool {
    let bytes = value.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || matches!(bytes[i], b'_' | b'-' | b'.')) {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty()
}

/// Whether there is a unit of this name.
pub const fn is_unit(name: &str) -> bool {
    crate::Unit::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::{is_plain, is_valid_name};

    #[test]
    fn names_are_what_prometheus_accepts() {
        for name in ["get", "_x", "a:b", "p99", "RU_UTIME"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "9p", "get-key", "get key", "a.b", "zähler", "a\"b"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn values_of_labels_need_no_escapes() {
        for value in ["get", "flush_all", "0.99", "a-b", "9"] {
            assert!(is_plain(value), "{value}");
        }
        for value in ["", "a\"", "a\\", "a b", "ä"] {
            assert!(!is_plain(value), "{value}");
        }
    }
}
