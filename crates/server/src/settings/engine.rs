// SPDX-License-Identifier: Apache-2.0
//! `[worker] engine`: how workers learn what their sockets do.

use crate::Error;
use reactor::{EventQueue, Options, UringSupport};
use std::io;

/// The setting.
const KEY: &str = "[worker] engine";

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

impl From<reactor::Engine> for Engine {
    fn from(engine: reactor::Engine) -> Self {
        match engine {
            reactor::Engine::Epoll => Engine::Epoll,
            reactor::Engine::IoUring => Engine::IoUring,
        }
    }
}

impl Engine {
    /// The engines that can be used on this system, for tests and measurements of all of them.
    pub fn usable() -> Vec<Engine> {
        let engines = [Engine::Epoll, Engine::IoUring];
        engines.into_iter().filter(|engine| engine.choose().is_ok()).collect()
    }

    /// The event queues of all workers, on the engine of this process, which is noted in `options`, and the reason for it
    /// in words.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is set to io_uring and that cannot be used here, [`Error::Start`] when the system refuses
    /// what any engine needs.
    pub(crate) fn start(
        self,
        workers: usize,
        options: &mut Options,
    ) -> Result<(Vec<EventQueue>, String), Error> {
        let (engine, why) = self.choose()?;
        options.engine = engine;
        self.queues_from(why, workers, options, EventQueue::new)
    }

    /// As [`Engine::start`] once an engine was chosen, where `make` makes a queue.
    ///
    /// One ring that was tried out says little of as many as there are workers: the rings of all processes of a user count
    /// against the memory that it may lock, those of a process that was killed for some time longer.
    fn queues_from<Q>(
        self,
        why: String,
        workers: usize,
        options: &mut Options,
        make: impl Fn(&Options) -> io::Result<Q>,
    ) -> Result<(Vec<Q>, String), Error> {
        let make_all = |options: &Options| (0..workers).map(|_| make(options)).collect();
        match make_all(options) {
            Ok(queues) => Ok((queues, why)),
            Err(reason) if options.engine == reactor::Engine::IoUring => {
                let problem = format!("io_uring cannot be used: {reason}");
                if self == Engine::IoUring {
                    return Err(Error::Setting { key: KEY, problem });
                }
                options.engine = reactor::Engine::Epoll;
                Ok((make_all(options).map_err(Error::Start)?, problem))
            }
            Err(reason) => Err(Error::Start(reason)),
        }
    }

    /// The engine of this process, and the reason in words.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is set to io_uring and that cannot be used here.
    fn choose(self) -> Result<(reactor::Engine, String), Error> {
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
                Err(Error::Setting { key: KEY, problem })
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

    /// Makes numbers for queues; so many on io_uring.
    fn some(rings: usize) -> impl Fn(&Options) -> io::Result<usize> {
        let made = std::cell::Cell::new(0);
        move |options| {
            let number = made.replace(made.get() + 1);
            match options.engine {
                reactor::Engine::IoUring if number >= rings => {
                    Err(io::ErrorKind::OutOfMemory.into())
                }
                _ => Ok(number),
            }
        }
    }

    #[test]
    fn all_workers_run_on_epoll_if_there_are_too_few_rings() {
        let on_ring = || Options { engine: reactor::Engine::IoUring, ..Options::default() };
        let start = |engine: Engine, rings| {
            let mut options = on_ring();
            let started = engine.queues_from("new".to_owned(), 3, &mut options, some(rings));
            (started, options.engine)
        };
        let (started, engine) = start(Engine::Auto, 3);
        assert_eq!(
            (started.unwrap(), engine),
            ((vec![0, 1, 2], "new".to_owned()), reactor::Engine::IoUring)
        );
        let (started, engine) = start(Engine::Auto, 2);
        let why = "io_uring cannot be used: out of memory".to_owned();
        assert_eq!((started.unwrap(), engine), ((vec![3, 4, 5], why), reactor::Engine::Epoll));
        let error = start(Engine::IoUring, 2).0.unwrap_err();
        assert_eq!(error.to_string(), "[worker] engine: io_uring cannot be used: out of memory");
    }

    #[test]
    fn what_no_engine_gets_ends_the_start() {
        let (mut options, none) =
            (Options::default(), |_: &Options| Err::<(), _>(io::ErrorKind::OutOfMemory.into()));
        options.engine = reactor::Engine::IoUring;
        let error = Engine::Auto.queues_from("new".to_owned(), 1, &mut options, none).unwrap_err();
        assert_eq!(error.to_string(), "cannot start: out of memory");
    }

    #[test]
    fn io_uring_of_an_older_kernel_is_taken_only_if_it_is_asked_for() {
        let older = || Ok(UringSupport { ring: "older", shares_buffers: false });
        assert_eq!(Engine::Auto.choose_from(older).unwrap().0, reactor::Engine::Epoll);
        assert_eq!(Engine::IoUring.choose_from(older).unwrap().0, reactor::Engine::IoUring);
    }
}
