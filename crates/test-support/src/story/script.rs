// SPDX-License-Identifier: Apache-2.0
//! [`Story`]: a script as it is written in a file.

use protocol_resp::Version;

/// A story: it begins with nothing.
#[derive(Debug)]
pub(crate) struct Story<'a> {
    pub(crate) title: &'a str,
    pub(crate) ours_only: bool,
    pub(crate) steps: Vec<Step>,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The number of the line.
    pub(crate) line: usize,
    pub(crate) ours_only: bool,
    pub(crate) times: usize,
    pub(crate) order: Order,
    pub(crate) client: String,
    pub(crate) command: String,
    pub(crate) expected: String,
}

/// In what order elements are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    AsTheyCame,
    Sorted,
    SortedPairs,
}

impl Step {
    /// The reply in a version of the protocol.
    pub(crate) fn expected(&self, version: Version) -> String {
        let is_resp3 = version == Version::Resp3;
        if let Some((resp2, resp3)) = self.expected.split_once(" || ") {
            return if is_resp3 { resp3 } else { resp2 }.trim().to_owned();
        }
        let event = self.expected.strip_prefix("event ").and_then(|event| event.split_once(' '));
        let Some((name, key)) = event else { return self.expected.clone() };
        let push = if is_resp3 { "push " } else { "" };
        let channel = "__keyevent@0__:";
        format!("{push}[\"pmessage\", \"{channel}*\", \"{channel}{name}\", \"{key}\"]")
    }

    /// How many milliseconds pass, if that is all that happens.
    pub(crate) fn passes_ms(&self) -> Option<u64> {
        self.command.strip_prefix("@pass ").map(|ms| ms.parse().expect("milliseconds"))
    }
}

/// Reads a file of stories.
pub(crate) fn read(text: &str) -> Vec<Story<'_>> {
    let mut stories: Vec<Story<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(title) = line.strip_prefix('#') {
            let ours_only = title.contains("@ours");
            stories.push(Story { title: title.trim(), ours_only, steps: Vec::new() });
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let story = stories.last_mut().expect("a title comes first");
        match story.steps.last_mut() {
            Some(last) if line.starts_with(' ') => last.go_on(line),
            _ => story.steps.push(Step::read(number + 1, line)),
        }
    }
    stories
}

impl Step {
    fn read(line: usize, text: &str) -> Self {
        let mut rest = text;
        let ours_only = take(&mut rest, "@ours ");
        let times = if take(&mut rest, "@times ") {
            let (number, behind) = rest.split_once(' ').expect("a command to repeat");
            rest = behind;
            number.parse().expect("how many times")
        } else {
            1
        };
        let order = if take(&mut rest, "@sorted ") {
            Order::Sorted
        } else if take(&mut rest, "@pairs ") {
            Order::SortedPairs
        } else {
            Order::AsTheyCame
        };
        let client = match rest.split_once("> ") {
            Some((name, behind)) if name.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                rest = behind;
                name
            }
            _ => "",
        };
        let rest = rest.trim_end();
        let (command, expected) = rest
            .split_once(" => ")
            .or(rest.strip_prefix("=> ").map(|expected| ("", expected)))
            .or(rest.strip_suffix(" =>").map(|command| (command, "")))
            .unwrap_or((rest, ""));
        Step {
            line,
            ours_only,
            times,
            order,
            client: client.to_owned(),
            command: command.trim().to_owned(),
            expected: expected.trim().to_owned(),
        }
    }

    /// Adds a line that continues this one.
    fn go_on(&mut self, line: &str) {
        let line = line.trim();
        let part = if self.expected.is_empty() && !line.starts_with("=> ") {
            &mut self.command
        } else {
            &mut self.expected
        };
        let line = line.strip_prefix("=> ").unwrap_or(line);
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(line);
    }
}

/// Takes a word from the front of a line if it is there.
fn take(line: &mut &str, word: &str) -> bool {
    let rest = line.strip_prefix(word);
    *line = rest.unwrap_or(line);
    rest.is_some()
}
