// SPDX-License-Identifier: Apache-2.0
//! A custom protocol and its server: each line comes back in capitals, and `bye` closes the connection.
//!
//! Run it and talk to it:
//!
//! ```text
//! $ cargo run -p shoebill-server --example shout
//! listening on 127.0.0.1:7777
//! $ nc 127.0.0.1 7777
//! hello
//! HELLO
//! ```
//!
//! It has the features of the other servers: pipelining, backpressure, limits, and, with a few more
//! calls of `Builder`, TLS, unix sockets and an admin plane.

use buffer::SendBuf;
use protocol::{Context, Control, ErrorReply, Execute, Malformed, Parsed, Protocol};
use server::{Builder, Endpoint, Error};

/// The codec: a request is a line, borrowed from the input.
struct Lines;

impl Protocol for Lines {
    const NAME: &'static str = "shout";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"too many listeners\n";
    type Request<'a> = &'a [u8];
    type Cursor = ();

    fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        match input.iter().position(|&byte| byte == b'\n') {
            Some(end) => Ok(Parsed::Request { request: &input[..end], consumed: end + 1 }),
            None => Ok(Parsed::NeedMore { at_least: 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"take a breath\n")
    }
}

/// The service: writes each reply straight into the connection's send buffer.
struct Shout;

impl Execute<Lines> for Shout {
    fn execute(
        &mut self,
        _: &mut Lines,
        line: &[u8],
        out: &mut SendBuf,
        _: &mut Context<'_>,
    ) -> Control {
        out.put_with(|reply| reply.extend(line.iter().map(u8::to_ascii_uppercase)));
        out.put(b"\n");
        if line == b"bye" { Control::Close } else { Control::Continue }
    }
}

fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    let address = address.parse().map_err(|problem| Error::Setting {
        key: "address",
        problem: format!("{address}: {problem}"),
    })?;
    let process = Builder::new("shout", "1.0.0")
        .listen(Endpoint::Tcp(address), false)
        .workers(2)
        .spawn(|_tag| Lines, |_worker| Shout)?;
    if let Some(address) = process.address() {
        println!("listening on {address}");
    }
    process.wait()
}
