// SPDX-License-Identifier: Apache-2.0
//! What is sent by many system calls is received by few, and the other way round.

use super::*;
use std::net::UdpSocket;
use std::os::fd::AsFd;

fn pair() -> (UdpSocket, UdpSocket) {
    let sockets = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let [here, there] = sockets;
    there.connect(here.local_addr().unwrap()).unwrap();
    (here, there)
}

#[test]
fn datagrams_keep_their_bytes_their_order_and_their_source() {
    let (here, there) = pair();
    let mut arrivals = Arrivals::new();
    let none = arrivals.receive(here.as_fd()).unwrap_err();
    assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
    let sent: Vec<Vec<u8>> = (0..40).map(|i| vec![i; usize::from(i) * 30]).collect();
    for bytes in &sent {
        there.send(bytes).unwrap();
    }
    let mut received = Vec::new();
    for count in [MANY, 40 - MANY] {
        assert_eq!(arrivals.receive(here.as_fd()).unwrap(), count);
        while let Some((bytes, source)) = arrivals.pop() {
            assert_eq!(source.address(), Some(there.local_addr().unwrap()));
            received.push(bytes.to_vec());
        }
        assert!(arrivals.is_empty());
    }
    assert_eq!(received, sent);
}

#[test]
fn the_largest_datagram_arrives_whole() {
    let (here, there) = pair();
    let largest = vec![7; 65_507];
    there.send(&largest).unwrap();
    let mut arrivals = Arrivals::new();
    assert_eq!(arrivals.receive(here.as_fd()).unwrap(), 1);
    assert_eq!(arrivals.pop().unwrap().0, largest);
}

#[test]
fn those_that_cannot_be_sent_keep_no_others_back() {
    let (here, there) = pair();
    there.send(b"?").unwrap();
    let mut arrivals = Arrivals::new();
    arrivals.receive(here.as_fd()).unwrap();
    let (_, source) = arrivals.pop().unwrap();
    let mut departures = Departures::new();
    let nowhere = Source::none();
    let put = |bytes: &'static [u8]| {
        move |datagram: &mut [u8; DATAGRAM_BYTES]| {
            datagram[..bytes.len()].copy_from_slice(bytes);
            Some(bytes.len())
        }
    };
    assert!(!departures.push(source, |_| None));
    for (to, bytes) in
        [(&nowhere, &b"lost"[..]), (source, b"one"), (&nowhere, b"lost"), (source, b"two")]
    {
        assert!(departures.push(to, put(bytes)));
    }
    let sent = departures.send(here.as_fd());
    assert_eq!(sent, Sent { datagrams: 2, bytes: 6, lost: 2 });
    let mut datagram = [0; 9];
    for expected in [b"one", b"two"] {
        let n = there.recv(&mut datagram).unwrap();
        assert_eq!(&datagram[..n], expected);
    }
    assert_eq!(departures.send(here.as_fd()), Sent::default(), "they are gone");
    assert_eq!(nowhere.address(), None);
}
