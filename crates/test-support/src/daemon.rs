// SPDX-License-Identifier: Apache-2.0
//! [`Daemon`]: a built server as a child process. It is killed when the test is over.

use super::PATIENCE;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, pipe};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server.
pub struct Daemon {
    child: Child,
    /// Lines of its output that no call has read yet.
    lines: Receiver<String>,
    /// Lines that were read.
    seen: Vec<String>,
}

/// A folder with a configuration file.
pub struct Config {
    folder: TempDir,
    /// The file.
    pub file: PathBuf,
}

impl Config {
    /// A folder with this configuration.
    pub fn new(text: &str) -> Self {
        let config = Config::empty();
        config.write(text);
        config
    }

    /// A folder without a configuration yet, for a configuration that names files in the folder.
    pub fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("server.toml");
        Config { folder, file }
    }

    /// Writes the configuration.
    pub fn write(&self, text: &str) {
        fs::write(&self.file, text).unwrap();
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Runs `program` to its end.
pub fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The number in a pid file, once it is there.
pub fn pid_in(file: &Path) -> String {
    let mut number = String::new();
    crate::wait_until("there is a pid file", || {
        number = fs::read_to_string(file).unwrap_or_default();
        number.ends_with('\n')
    });
    number.trim().to_owned()
}

/// The output of a program as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Daemon {
    /// Starts `program` with a configuration file.
    pub fn start(program: &str, config: &Config) -> Self {
        Daemon::spawn(Command::new(program).arg(&config.file))
    }

    /// Starts a server whose standard error and standard output the test reads as one stream of lines.
    pub fn spawn(command: &mut Command) -> Self {
        let (printed, output) = pipe().unwrap();
        command.stdout(output.try_clone().unwrap());
        Daemon::spawn_into(command, printed, output)
    }

    /// Starts a server as the last command of a script.
    pub fn spawn_script(script: &str) -> Self {
        Daemon::spawn(Command::new("sh").args(["-c", script]))
    }

    /// Starts a server whose standard error the test reads as lines, and whose standard output is for
    /// [`Daemon::stdout`].
    pub fn spawn_apart(command: &mut Command) -> Self {
        let (printed, output) = pipe().unwrap();
        command.stdout(Stdio::piped());
        Daemon::spawn_into(command, printed, output)
    }

    fn spawn_into(command: &mut Command, printed: PipeReader, output: PipeWriter) -> Self {
        let child = command.stdin(Stdio::null()).stderr(output).spawn().unwrap();
        // The command has copies, which would keep the pipe open.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(printed).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Daemon { child, lines, seen: Vec::new() }
    }

    /// Waits for a line of output that contains `part`; returns the text after `part`. Each line is
    /// read once, in order.
    #[track_caller]
    pub fn line(&mut self, part: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("no line with {part:?} in:\n{}", self.seen.join("\n"));
            };
            let found = line.split_once(part).map(|(_, rest)| rest.to_owned());
            self.seen.push(line);
            if let Some(rest) = found {
                return rest;
            }
        }
    }

    /// As [`Daemon::line`], but only for lines that have arrived already or arrive in the next moment.
    pub fn line_if_any(&mut self, part: &str) -> Option<String> {
        let moment = Duration::from_millis(10);
        while let Ok(line) = self.lines.recv_timeout(moment) {
            let found = line.split_once(part).map(|(_, rest)| rest.to_owned());
            self.seen.push(line);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The address of the next TCP listener that it reports.
    #[track_caller]
    pub fn address(&mut self) -> SocketAddr {
        self.line("listening on tcp:").parse().unwrap()
    }

    /// The address of the admin plane, which the server reports after its listeners.
    #[track_caller]
    pub fn admin(&mut self) -> SocketAddr {
        self.line("admin on http://").parse().unwrap()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, by its name without `SIG`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(status.success(), "kill -s {name} {pid}");
    }

    /// Waits until it ends; returns its exit status, and the output since the last line that was
    /// waited for.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.seen.join("\n"));
            thread::sleep(Duration::from_millis(1));
        };
        let rest: Vec<String> = self.lines.iter().collect();
        (status, rest.join("\n"))
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Its whole standard output, once it has ended, if it was started with
    /// [`Daemon::spawn_apart`].
    pub fn stdout(&mut self) -> String {
        let mut text = String::new();
        let stdout = self.child.stdout.as_mut().expect("a pipe");
        stdout.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It has usually ended by itself, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
