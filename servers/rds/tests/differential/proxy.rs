// SPDX-License-Identifier: Apache-2.0
//! A proxy that alters replies, which the comparison must detect.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// Passes on what `server` says, with `from` wherever it stands changed `to` something as long.
pub(crate) fn altering(server: SocketAddr, from: &'static [u8], to: &'static [u8]) -> SocketAddr {
    assert_eq!(from.len(), to.len(), "lengths are announced before");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(upstream) = TcpStream::connect(server) else { return };
            let (there, back) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
            std::thread::spawn(move || pass(&there, &upstream, |_| {}));
            std::thread::spawn(move || {
                pass(&back, &client, |bytes| {
                    while let Some(at) = bytes.windows(from.len()).position(|part| part == from) {
                        bytes[at..at + to.len()].copy_from_slice(to);
                    }
                });
            });
        }
    });
    address
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, alter: impl Fn(&mut [u8])) {
    let mut block = vec![0; 64 * 1024];
    while let Ok(len @ 1..) = from.read(&mut block) {
        alter(&mut block[..len]);
        if to.write_all(&block[..len]).is_err() {
            break;
        }
    }
    // The other direction may have ended before.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
