// SPDX-License-Identifier: Apache-2.0
//! Serving what is stale while it is fetched anew, with the meta commands: `md` with I marks an item, one client wins the
//! right to fetch it, and its `ms` with the CAS number of before is stored, whatever else has happened to the key.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
#[allow(dead_code, reason = "a module of several test binaries")]
mod process;

use test_support::client::Client;

/// The CAS number in a reply that ends with ` c<number>`.
fn cas(reply: &str) -> u64 {
    let number = reply.rsplit(" c").next().unwrap().split(' ').next().unwrap();
    number.parse().unwrap_or_else(|_| panic!("no CAS number in {reply:?}"))
}

fn ask(client: &mut Client, request: &str) -> String {
    client.send(request.as_bytes());
    client.line()
}

/// The CAS numbers of `seg` name places, so that of a later item may be less: with times to live that differ, and where
/// several workers write.
#[test]
fn a_refresh_with_the_number_of_before_is_stored() {
    for storage in process::STORAGES {
        let server = process::segcache(&["-t", "4", "-m", "64"], &process::over(storage));
        let mut clients: Vec<_> = (0..8).map(|_| Client::tcp(server.address)).collect();
        for round in 0..400 {
            let mut next =
                |step: usize, request: &str| ask(&mut clients[(round * 5 + step * 3) % 8], request);
            let (ttl, key) = ([300, 3600, 0][round % 3], round % 20);
            let before = cas(&next(0, &format!("ms k{key} 1 T{ttl} c\r\n1\r\n")));
            assert_eq!(next(1, &format!("md k{key} I T30\r\n")), "HD");
            let told = next(2, &format!("mg k{key} c\r\n"));
            assert!(told.ends_with(" X W"), "{told}");
            let refresh = format!("ms k{key} 1 C{before} I T600 c\r\n2\r\n");
            let stored = next(3, &refresh);
            assert!(stored.starts_with("HD c"), "{storage}, round {round}: {stored}");
            // It may be older than what was invalidated, and says so.
            let seen = next(4, &format!("mg k{key} c\r\n"));
            assert!(seen.contains(" X"), "{seen}");
            // With the number that it has now it is stored as any.
            let now = cas(&next(5, &format!("mg k{key} c\r\n")));
            assert_eq!(next(6, &format!("ms k{key} 1 C{now}\r\n3\r\n")), "HD");
            // One that the key never had is not older.
            let later = format!("ms k{key} 1 C{} I\r\n4\r\n", u64::MAX >> 3);
            assert_eq!(next(7, &later), "EX");
            // No number is more than what a signed one holds.
            assert!(now < 1 << 63);
        }
    }
}
