// SPDX-License-Identifier: Apache-2.0
//! `[worker] engine`: how workers learn what their sockets do.

use crate::Error;

config::choices! {
    /// How workers learn what their sockets do.
    #[derive(Default)]
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
    pub enum Engine {
        /// What serves best on this system.
        #[default]
        Auto = "auto",
        /// The system says which sockets are ready.
        Epoll = "epoll",
        /// The system reads and writes by itself, and says what it has done.
        IoUring = "io_uring",
    }
}

/// The engine that measured best, see `docs/dev/io-uring.md`.
const BEST: reactor::Engine = reactor::Engine::Epoll;

impl Engine {
    /// The engines that can be used on this system, for tests and measurements of all of them.
    pub fn usable() -> Vec<Engine> {
        let engines = [Engine::Epoll, Engine::IoUring];
        engines.into_iter().filter(|engine| engine.choose().is_ok()).collect()
    }

    /// The engine of this process, and the reason in words.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is set to io_uring and that cannot be used here.
    pub(crate) fn choose(self) -> Result<(reactor::Engine, String), Error> {
        self.choose_from(BEST, reactor::Engine::probe_io_uring)
    }

    /// As [`Engine::choose`], where `best` serves best if `probe` finds io_uring.
    fn choose_from(
        self,
        best: reactor::Engine,
        probe: impl FnOnce() -> Result<&'static str, String>,
    ) -> Result<(reactor::Engine, String), Error> {
        let why_epoll = match (self, best) {
            (Engine::Epoll, _) => Some("as configured"),
            (Engine::Auto, reactor::Engine::Epoll) => Some("it serves best by what was measured"),
            (Engine::Auto, reactor::Engine::IoUring) | (Engine::IoUring, _) => None,
        };
        if let Some(why) = why_epoll {
            return Ok((reactor::Engine::Epoll, why.to_owned()));
        }
        match probe() {
            Ok(found) => Ok((reactor::Engine::IoUring, found.to_owned())),
            Err(reason) if self == Engine::Auto => {
                Ok((reactor::Engine::Epoll, format!("io_uring cannot be used: {reason}")))
            }
            Err(reason) => {
                let problem = format!("io_uring cannot be used: {reason}");
                Err(Error::Setting { key: "[worker] engine", problem })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Result<&'static str, String> {
        Err("not permitted".to_owned())
    }

    #[test]
    fn epoll_is_taken_without_a_look_at_io_uring() {
        let unasked = || -> Result<&'static str, String> { panic!("it is not asked for") };
        for (wanted, best) in [
            (Engine::Epoll, reactor::Engine::IoUring),
            (Engine::Epoll, reactor::Engine::Epoll),
            (Engine::Auto, reactor::Engine::Epoll),
        ] {
            let (engine, _) = wanted.choose_from(best, unasked).unwrap();
            assert_eq!(engine, reactor::Engine::Epoll);
        }
    }

    #[test]
    fn what_the_kernel_refuses_is_passed_over_or_an_error() {
        let best = reactor::Engine::IoUring;
        let (engine, why) = Engine::Auto.choose_from(best, refused).unwrap();
        assert_eq!(
            (engine, &why[..]),
            (reactor::Engine::Epoll, "io_uring cannot be used: not permitted")
        );
        let error = Engine::IoUring.choose_from(reactor::Engine::Epoll, refused).unwrap_err();
        let expected = "[worker] engine: io_uring cannot be used: not permitted";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn io_uring_is_taken_where_it_is_found() {
        for wanted in [Engine::Auto, Engine::IoUring] {
            let (engine, why) = wanted.choose_from(reactor::Engine::IoUring, || Ok("new")).unwrap();
            assert_eq!((engine, &why[..]), (reactor::Engine::IoUring, "new"));
        }
    }
}
