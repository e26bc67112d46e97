// SPDX-License-Identifier: Apache-2.0
//! Putting a log together.

use std::sync::Arc;

use log::LevelFilter;

use crate::drain::Drain;
use crate::error::Error;
use crate::line;
use crate::logger::RingLogger;
use crate::output::Output;
use crate::ring::Ring;
use crate::sink::Sink;
use crate::targets::{OneIn, Targets};

/// Settings of a log; [`build`](Builder::build) makes its two halves.
///
/// ```
/// let (logger, drain) = ringlog::Builder::new().output(ringlog::Output::Stdout).build()?;
/// # Ok::<(), ringlog::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    level: LevelFilter,
    capacity: usize,
    line_bytes: usize,
    output: Output,
    routes: Vec<(String, Output)>,
    samples: Vec<(String, u64)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Level `Info`, everything to stderr, 4096 buffers of 1024 bytes.
    pub fn new() -> Self {
        Self {
            level: LevelFilter::Info,
            capacity: 4096,
            line_bytes: 1024,
            output: Output::Stderr,
            routes: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// Sets the least urgent level that is logged.
    pub fn level(mut self, level: LevelFilter) -> Self {
        self.level = level;
        self
    }

    /// Sets how many lines may wait for the drain. With `line_bytes` this is the memory used.
    pub fn capacity(mut self, lines: usize) -> Self {
        self.capacity = lines;
        self
    }

    /// Sets the size in bytes that longer lines are cut to, line break included; at least 128.
    pub fn line_bytes(mut self, line_bytes: usize) -> Self {
        self.line_bytes = line_bytes;
        self
    }

    /// Sets where lines go that no route covers.
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    /// Sends lines of a target, and of the targets below it (`target::…`), elsewhere. The longest
    /// prefix that covers a target decides.
    pub fn route(mut self, target_prefix: impl Into<String>, output: Output) -> Self {
        self.routes.push((target_prefix.into(), output));
        self
    }

    /// Keeps one line in `one_in_n` of a target and those below it, whatever the level: the first,
    /// then every n-th. With 0 the target is silent. Lines left out are not counted as dropped.
    pub fn sample(mut self, target: impl Into<String>, one_in_n: u64) -> Self {
        self.samples.push((target.into(), one_in_n));
        self
    }

    /// Makes the buffers and opens the files.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroCapacity`], [`Error::LineTooShort`], [`Error::ConflictingFile`], and
    /// [`Error::Open`] for a file that cannot be opened.
    pub fn build(self) -> Result<(RingLogger, Drain), Error> {
        let ring = ring(self.capacity, self.line_bytes)?;
        let mut outputs = vec![self.output];
        let mut routes = Vec::new();
        for (prefix, output) in self.routes {
            routes.push((prefix, place(&mut outputs, output)?));
        }
        let sinks = outputs
            .into_iter()
            .map(|output| Sink::open(output, self.line_bytes))
            .collect::<Result<_, _>>()?;
        let samples = self.samples.into_iter().map(|(target, n)| (target, OneIn::new(n)));
        let logger = RingLogger {
            ring: Arc::clone(&ring),
            level: self.level,
            routes: Targets::new(routes),
            samples: Targets::new(samples),
        };
        Ok((logger, Drain::new(ring, sinks)))
    }
}

/// Makes a ring after checking its measures.
pub(crate) fn ring(capacity: usize, line_bytes: usize) -> Result<Arc<Ring>, Error> {
    if capacity == 0 {
        return Err(Error::ZeroCapacity);
    }
    if line_bytes < line::LEAST_BYTES {
        return Err(Error::LineTooShort { given: line_bytes, least: line::LEAST_BYTES });
    }
    Ok(Arc::new(Ring::new(capacity, line_bytes)))
}

/// The index of `output`, which is added unless it is there. One file has one entry: two that
/// rotate it behind each other's back would lose lines.
fn place(outputs: &mut Vec<Output>, output: Output) -> Result<usize, Error> {
    if let Some(index) = outputs.iter().position(|known| *known == output) {
        return Ok(index);
    }
    if let Output::File(new) = &output {
        let same_path = |known: &Output| matches!(known, Output::File(old) if old.path == new.path);
        if outputs.iter().any(same_path) {
            return Err(Error::ConflictingFile { path: new.path.clone() });
        }
    }
    outputs.push(output);
    Ok(outputs.len() - 1)
}
