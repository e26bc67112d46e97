// SPDX-License-Identifier: Apache-2.0
//! [`Server`]: a server that is started, stopped for a while, and ended.

use super::guard::Guard;
use crate::{Address, Error, Protocol, Target};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take until it answers.
const START_MAX: Duration = Duration::from_secs(30);
/// How often it is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// How a server comes to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// By a command of the shell, which must stay in the foreground.
    Command(String),
    /// It runs already, with this process number. It is neither started nor ended nor bound to a CPU.
    Running(u32),
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Launch::Command(command) => f.write_str(command),
            Launch::Running(pid) => write!(f, "pid:{pid}"),
        }
    }
}

/// A server that is to be compared.
///
/// ```
/// use cacheperf::ServerSpec;
///
/// let text = "ours=memcache,127.0.0.1:22122,segcache -p 22122 -t 1";
/// let spec: ServerSpec = text.parse().unwrap();
/// assert_eq!((spec.name.as_str(), spec.to_string().as_str()), ("ours", text));
/// ```
#[derive(Clone, Debug)]
pub struct ServerSpec {
    /// What it is called in the results.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: Address,
    /// How it comes to run.
    pub launch: Launch,
}

impl ServerSpec {
    pub(super) fn target(&self) -> Target {
        Target::new(self.protocol, self.address.clone())
    }
}

impl FromStr for ServerSpec {
    type Err = String;

    /// `NAME=PROTOCOL,ADDRESS,COMMAND` or `NAME=PROTOCOL,ADDRESS,pid:NUMBER`
    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || {
            format!("`{text}` is no NAME=PROTOCOL,ADDRESS,COMMAND (or pid:NUMBER for the command)")
        };
        let (name, rest) = text.split_once('=').ok_or_else(usage)?;
        let mut words = rest.splitn(3, ',');
        let mut word = || words.next().filter(|word| !word.is_empty()).ok_or_else(usage);
        let (protocol, address, launch) = (word()?.parse()?, word()?.parse()?, word()?);
        if name.is_empty() {
            return Err(usage());
        }
        let launch = match launch.strip_prefix("pid:") {
            None => Launch::Command(launch.to_owned()),
            Some(pid) => {
                let known = pid.parse::<i32>().ok().filter(|pid| *pid > 0);
                let pid = known.ok_or(format!("`{pid}` in `{text}` is no process number"))?;
                Launch::Running(pid.unsigned_abs())
            }
        };
        Ok(ServerSpec { name: name.to_owned(), protocol, address, launch })
    }
}

impl fmt::Display for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerSpec { name, protocol, address, launch } = self;
        write!(f, "{name}={protocol},{address},{launch}")
    }
}

/// A server that runs. One that was started here is ended when it is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Option<Child>,
    pid: u32,
    name: String,
}

impl Server {
    /// Starts a server on the CPUs of the calling thread, and waits until it takes connections.
    pub(super) fn start(
        spec: &ServerSpec,
        target: &Target,
        output: bool,
        guard: &Guard,
    ) -> Result<Self, Error> {
        let failed = |reason: String| Error::Server {
            name: spec.name.clone(),
            reason,
            command: spec.launch.to_string(),
        };
        let command = match &spec.launch {
            Launch::Running(pid) => {
                let server = Server { child: None, pid: *pid, name: spec.name.clone() };
                target.connect()?;
                return Ok(server);
            }
            Launch::Command(command) => command,
        };
        // Another server there would be measured instead.
        if target.connect().is_ok() {
            return Err(failed(format!("{} is taken by another server", spec.address)));
        }
        let words = || if output { Stdio::inherit() } else { Stdio::null() };
        let spawned = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::null())
            .stdout(words())
            .stderr(words())
            .spawn();
        let child = spawned.map_err(|error| failed(error.to_string()))?;
        let (pid, name) = (child.id(), spec.name.clone());
        guard.watch_over(pid);
        let mut server = Server { child: Some(child), pid, name };
        server.await_start(target).map_err(failed)?;
        Ok(server)
    }

    fn await_start(&mut self, target: &Target) -> Result<(), String> {
        let started = Instant::now();
        loop {
            if let Some(child) = &mut self.child
                && let Ok(Some(status)) = child.try_wait()
            {
                return Err(format!("it ended at once: {status}; see --server-output"));
            }
            match target.connect() {
                Ok(_) => return Ok(()),
                Err(error) if started.elapsed() > START_MAX => {
                    return Err(format!("it does not answer after {START_MAX:?}: {error}"));
                }
                Err(_) => sleep(ASK_EVERY),
            }
        }
    }

    /// Its process number.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Stops it for a while, so that it takes no CPU from the others.
    pub(super) fn freeze(&self) -> Result<(), Error> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on.
    pub(super) fn thaw(&self) -> Result<(), Error> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<(), Error> {
        let pid = Pid::from_raw(self.pid.cast_signed());
        let sent = pid.ok_or(rustix::io::Errno::SRCH).and_then(|pid| kill_process(pid, signal));
        sent.map_err(|error| {
            Error::system(format!("{}: it does not run any more", self.name), error)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.thaw();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_and_mistakes_named() {
        let spec: ServerSpec = "a=resp2,unix:/tmp/s,redis-server --port 0,1".parse().unwrap();
        assert_eq!(spec.protocol, Protocol::Resp2);
        assert_eq!(spec.launch, Launch::Command("redis-server --port 0,1".to_owned()));
        let running: ServerSpec = "b=ping,localhost:1,pid:77".parse().unwrap();
        assert_eq!(running.launch, Launch::Running(77));
        for (text, said) in [
            ("a", "`a` is no NAME=PROTOCOL,ADDRESS,COMMAND"),
            ("=ping,x,y", "is no NAME"),
            ("a=ping,x", "is no NAME"),
            ("a=http,x,y", "`http` is no protocol"),
            ("a=ping,x,pid:0", "`0` in `a=ping,x,pid:0` is no process number"),
        ] {
            let error = text.parse::<ServerSpec>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_server_that_does_not_start_is_named() {
        let spec: ServerSpec = "broken=ping,127.0.0.1:1,sh -c 'exit 3'".parse().unwrap();
        let guard = Guard::new().unwrap();
        let error = Server::start(&spec, &spec.target(), false, &guard).unwrap_err().to_string();
        assert!(error.starts_with("broken: it ended at once: exit status: 3"), "{error}");
    }
}
