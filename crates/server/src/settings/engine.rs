// SPDX-License-Identifier: Apache-2.0
//! `[worker] engine`: how workers learn what their sockets do.

use crate::Error;
use reactor::UringSupport;

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
        self.choose_from(reactor::Engine::probe_io_uring)
    }

    /// As [`Engine::choose`], where `probe` tells of io_uring.
    ///
    /// Where connections share its buffers, io_uring takes less CPU per request with few and with many connections;
    /// `docs/dev/io-uring.md` has the figures. On older kernels it was measured with few only.
    fn choose_from(
        self,
        probe: impl FnOnce() -> Result<UringSupport, String>,
    ) -> Result<(reactor::Engine, String), Error> {
        if self == Engine::Epoll {
            return Ok((reactor::Engine::Epoll, "as configured".to_owned()));
        }
        match probe() {
            Ok(found) if self == Engine::Auto && !found.shares_buffers => {
                let why = "connections cannot share io_uring's buffers (Linux 6.12 can)";
                Ok((reactor::Engine::Epoll, why.to_owned()))
            }
            Ok(found) => Ok((reactor::Engine::IoUring, found.ring.to_owned())),
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

    fn refused() -> Result<UringSupport, String> {
        Err("not permitted".to_owned())
    }

    #[test]
    fn epoll_is_taken_without_a_look_at_io_uring() {
        let unasked = || -> Result<UringSupport, String> { panic!("it is not asked for") };
        let (engine, why) = Engine::Epoll.choose_from(unasked).unwrap();
        assert_eq!((engine, &why[..]), (reactor::Engine::Epoll, "as configured"));
    }

    #[test]
    fn what_the_kernel_refuses_is_passed_over_or_an_error() {
        let (engine, why) = Engine::Auto.choose_from(refused).unwrap();
        assert_eq!(
            (engine, &why[..]),
            (reactor::Engine::Epoll, "io_uring cannot be used: not permitted")
        );
        let error = Engine::IoUring.choose_from(refused).unwrap_err();
        let expected = "[worker] engine: io_uring cannot be used: not permitted";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn io_uring_is_taken_where_it_is_found() {
        for wanted in [Engine::Auto, Engine::IoUring] {
            let found = UringSupport { ring: "new", shares_buffers: true };
            let (engine, why) = wanted.choose_from(|| Ok(found)).unwrap();
            assert_eq!((engine, &why[..]), (reactor::Engine::IoUring, "new"));
        }
    }

    #[test]
    fn io_uring_of_an_older_kernel_is_taken_only_if_it_is_asked_for() {
        let older = || Ok(UringSupport { ring: "older", shares_buffers: false });
        assert_eq!(Engine::Auto.choose_from(older).unwrap().0, reactor::Engine::Epoll);
        assert_eq!(Engine::IoUring.choose_from(older).unwrap().0, reactor::Engine::IoUring);
    }
}
