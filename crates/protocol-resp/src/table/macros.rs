// SPDX-License-Identifier: Apache-2.0
//! The notation of the rows.

/// Makes the table of a group from its rows. A row begins with
///
/// ```text
/// Get = strings::get { name: "get", ... }
/// ```
///
/// which is the one place where a name and the function that carries it out come together. `Get` is the
/// command in [`CommandId`](super::CommandId). The fields are those of [`Spec`](super::spec::Spec), in a fixed order; the rows of sub-commands
/// follow that of their container.
macro_rules! commands {
    ($($rows:tt)+) => {
        // `$` stands for itself in the macro that the rows become.
        super::macros::rows! { ($) $($rows)+ }
    };
}

/// [`commands`], which hands on a `$`.
macro_rules! rows {
    (
        ($dollar:tt) group: $group:ident;
        $( $command:ident = $module:ident :: $function:ident {
            name: $name:literal, arity: $arity:literal, since: $since:literal,
            flags: [$($flag:ident)*], categories: [$($category:ident)*],
            keys: [$(
                $rule:ident ( $($place:expr),* ) : $($key_flag:ident)+ $(, $note:literal)?
            );*],
            $( element: $element:literal, )?
            syntax: $syntax:literal,
            $( secret: $secret:expr, )?
            $( channels: $channels:ident, )?
            $( databases: $databases:expr, )?
            reply: $reply:ident, complexity: $complexity:literal,
            summary: $summary:literal,
            $( tips: [$($tip:literal),* $(,)?], )?
            $( deprecated: $deprecated:literal => $replacement:literal, )?
        } )+
    ) => {
        use super::bits::{Categories, Flags};
        use super::spec::{Group, Shape, Spec};

        /// The rows of this group.
        pub(super) static SPECS: &[Spec] = &[$( Spec {
            name: $name,
            group: Group::$group,
            arity: $arity,
            flags: Flags::NONE$(.with(Flags::$flag))*,
            keys: &[$( super::key_spec::KeySpec::$rule($($place),*).with(
                super::bits::KeyFlags::NONE$(.with(super::bits::KeyFlags::$key_flag))+,
                concat!($($note)?),
            ) ),*],
            element: super::macros::rows!(@element $($element)?),
            syntax: $syntax,
            secret: super::macros::rows!(@secret $($secret)?),
            channels: super::macros::rows!(@channels $($channels)?),
            databases: super::macros::rows!(@databases $($databases)?),
            reply: Shape::$reply,
            complexity: $complexity,
            since: $since,
            summary: $summary,
            tips: &[$($($tip),*)?],
            deprecated: super::macros::rows!(@deprecated $($deprecated, $replacement)?),
            categories: Categories::NONE$(.with(Categories::$category))*,
        } ),+];

        /// Adds the commands of this group to those in brackets, and goes on with the next group; at the end
        /// it hands all of them to the macro `$to`. See [`commands`](super::commands).
        macro_rules! collect {
            ($dollar to:ident [$dollar($dollar before:tt)*]) => {
                $dollar to! {
                    $dollar($dollar before)* $( $command $name = $module :: $function )+
                }
            };
            ($dollar to:ident [$dollar($dollar before:tt)*] $dollar next:ident $dollar($dollar rest:ident)*) => {
                $crate::table::$dollar next::collect! {
                    $dollar to
                    [$dollar($dollar before)* $( $command $name = $module :: $function )+]
                    $dollar($dollar rest)*
                }
            };
        }
        pub(crate) use collect;
    };
    (@element) => { None };
    (@element $element:literal) => { Some($element) };
    (@secret) => { super::spec::Secret::None };
    (@secret $secret:expr) => { $secret };
    (@channels) => { super::spec::Channels::None };
    (@channels $channels:ident) => { super::spec::Channels::$channels };
    (@databases) => { None };
    (@databases $databases:expr) => { Some($databases) };
    (@deprecated) => { None };
    (@deprecated $since:literal, $replacement:literal) => {
        Some(super::spec::Deprecation { since: $since, replaced_by: $replacement })
    };
}

pub(super) use {commands, rows};
