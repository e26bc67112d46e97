// SPDX-License-Identifier: Apache-2.0
//! Reads the serial number, the end of the validity, the names and the purposes of a certificate from its DER form
//! (RFC 5280).
//!
//! ```text
//! Certificate  ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }
//! tbsCertificate ::= SEQUENCE { [0] version OPTIONAL, serialNumber INTEGER, signature SEQUENCE,
//!                               issuer SEQUENCE, validity SEQUENCE { notBefore, notAfter },
//!                               subject SEQUENCE, subjectPublicKeyInfo SEQUENCE,
//!                               [1] and [2] OPTIONAL, [3] SEQUENCE OF Extension OPTIONAL }
//! Extension    ::= SEQUENCE { OBJECT IDENTIFIER, critical BOOLEAN OPTIONAL, OCTET STRING }
//! ExtKeyUsage  ::= SEQUENCE OF OBJECT IDENTIFIER    in the octets of an extension
//! ```

use crate::CertificateFacts;

const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// The extension that limits what a certificate is for: 2.5.29.37.
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];

/// The purpose of servers: 1.3.6.1.5.5.7.3.1.
pub(super) const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];

/// The purpose of clients: 1.3.6.1.5.5.7.3.2.
pub(super) const CLIENT_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 2];

/// The rest of the elements of a sequence.
struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    /// The tag and the content of the next element.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut len = usize::from(first);
        if first & 0x80 != 0 {
            // The length is in as many bytes as the other bits say.
            let (digits, behind) = rest.split_at_checked(usize::from(first & 0x7f))?;
            if digits.len() > 4 {
                return None;
            }
            len = digits.iter().fold(0, |len, digit| len << 8 | usize::from(*digit));
            rest = behind;
        }
        let (content, behind) = rest.split_at_checked(len)?;
        self.0 = behind;
        Some((tag, content))
    }

    /// The content of the next element, if it has this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The serial number of a certificate, and what follows it.
fn serial(der: &[u8]) -> Option<(&[u8], Elements<'_>)> {
    let certificate = Elements(der).expect(SEQUENCE)?;
    let mut body = Elements(Elements(certificate).expect(SEQUENCE)?);
    let mut element = body.next()?;
    if element.0 == VERSION {
        element = body.next()?;
    }
    let (tag, serial) = element;
    (tag == INTEGER).then_some((serial, body))
}

/// The names of the issuer and of the subject of a certificate, each as it is encoded; `None` if it is none.
pub(super) fn names(der: &[u8]) -> Option<[&[u8]; 2]> {
    let (_, mut body) = serial(der)?;
    body.expect(SEQUENCE)?;
    let issuer = body.expect(SEQUENCE)?;
    body.expect(SEQUENCE)?;
    Some([issuer, body.expect(SEQUENCE)?])
}

/// Whether a certificate is for this purpose: its extended key usage lists it, or it has none. `None` if it is no
/// certificate.
pub(super) fn is_for(der: &[u8], purpose: &[u8]) -> Option<bool> {
    let (_, mut body) = serial(der)?;
    for _ in ["signature", "issuer", "validity", "subject", "subjectPublicKeyInfo"] {
        body.expect(SEQUENCE)?;
    }
    while !body.is_empty() {
        let (tag, content) = body.next()?;
        if tag == EXTENSIONS {
            return extensions_allow(Elements(Elements(content).expect(SEQUENCE)?), purpose);
        }
    }
    Some(true)
}

fn extensions_allow(mut extensions: Elements<'_>, purpose: &[u8]) -> Option<bool> {
    while !extensions.is_empty() {
        let mut extension = Elements(extensions.expect(SEQUENCE)?);
        if extension.expect(OBJECT_IDENTIFIER)? != EXTENDED_KEY_USAGE {
            continue;
        }
        let mut value = extension.next()?;
        if value.0 == BOOLEAN {
            value = extension.next()?;
        }
        let (OCTET_STRING, octets) = value else { return None };
        let mut purposes = Elements(Elements(octets).expect(SEQUENCE)?);
        while !purposes.is_empty() {
            if purposes.expect(OBJECT_IDENTIFIER)? == purpose {
                return Some(true);
            }
        }
        return Some(false);
    }
    Some(true)
}

/// What is told of a certificate; `None` if it is none.
pub(super) fn facts(der: &[u8]) -> Option<CertificateFacts> {
    let (serial, mut body) = serial(der)?;
    body.expect(SEQUENCE)?;
    body.expect(SEQUENCE)?;
    let mut validity = Elements(body.expect(SEQUENCE)?);
    validity.next()?;
    let (tag, time) = validity.next()?;
    Some(CertificateFacts { serial: digits(serial), ends_at: seconds(tag, time)? })
}

/// A number in hexadecimal digits, without the byte that only says that it is positive.
fn digits(number: &[u8]) -> String {
    let number = match number {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    number.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// The unix time of `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn seconds(tag: u8, time: &[u8]) -> Option<u64> {
    let digits = time.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let pair = |at: usize| {
        let pair = digits.get(at..at + 2)?;
        Some(u64::from(pair[0] - b'0') * 10 + u64::from(pair[1] - b'0'))
    };
    let (year, at) = match (tag, digits.len()) {
        (UTC_TIME, 12) => (pair(0)? + if pair(0)? < 50 { 2000 } else { 1900 }, 2),
        (GENERALIZED_TIME, 14) => (pair(0)? * 100 + pair(2)?, 4),
        _ => return None,
    };
    let (month, day) = (pair(at)?, pair(at + 2)?);
    let (hour, minute, second) = (pair(at + 4)?, pair(at + 6)?, pair(at + 8)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days from 1970 to a date. Years begin in March here, so that a leap day is the last of its year.
fn days(year: u64, month: u64, day: u64) -> u64 {
    const TO_1970: u64 = 719_468;
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_unix_clock() {
        for (tag, text, expected) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "000229235959Z", Some(951_868_799)),
            (UTC_TIME, "261126050250Z", Some(1_795_669_370)),
            (GENERALIZED_TIME, "40960101000000Z", Some(67_090_118_400)),
            (GENERALIZED_TIME, "20000301000000Z", Some(951_868_800)),
            (UTC_TIME, "20000301000000Z", None),
            (UTC_TIME, "690101000000Z", None),
            (UTC_TIME, "001301000000Z", None),
            (UTC_TIME, "000101000000", None),
            (GENERALIZED_TIME, "+0000101000000Z", None),
        ] {
            assert_eq!(seconds(tag, text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_number_and_the_end_of_a_certificate_are_found() {
        // A certificate as far as it is read: number 0x00a1b2, valid from 2020 to 2030-01-02.
        let element = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        let validity =
            [element(UTC_TIME, b"200101000000Z"), element(GENERALIZED_TIME, b"20300102000000Z")];
        let body = |version: &[u8]| {
            let number = element(INTEGER, &[0, 0xa1, 0xb2]);
            let names = [element(SEQUENCE, b""), element(SEQUENCE, b"issuer")].concat();
            let subject = element(SEQUENCE, b"subject");
            [version, &number, &names, &element(SEQUENCE, &validity.concat()), &subject].concat()
        };
        for version in [&element(VERSION, &element(INTEGER, &[2]))[..], b""] {
            let der = element(SEQUENCE, &element(SEQUENCE, &body(version)));
            let found = CertificateFacts { serial: "A1B2".to_owned(), ends_at: 1_893_542_400 };
            assert_eq!(facts(&der), Some(found));
            assert_eq!(names(&der), Some([&b"issuer"[..], b"subject"]));
            for len in 0..der.len() {
                assert_eq!(facts(&der[..len]), None, "{len} bytes of {}", der.len());
            }
        }
        assert_eq!(facts(b"\x30\x85\x01\x01\x01\x01\x01"), None, "a length of five bytes");
    }

    #[test]
    fn a_certificate_is_for_what_its_extended_key_usage_lists() {
        let element = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        let extension = |oid: &[u8], critical: &[u8], purposes: &[&[u8]]| {
            let purposes: Vec<_> =
                purposes.iter().map(|one| element(OBJECT_IDENTIFIER, one)).collect();
            let octets = element(OCTET_STRING, &element(SEQUENCE, &purposes.concat()));
            element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, oid), critical, &octets].concat())
        };
        let certificate = |extensions: &[Vec<u8>]| {
            let number = element(INTEGER, &[1]);
            let extensions = element(EXTENSIONS, &element(SEQUENCE, &extensions.concat()));
            let body = [number, element(SEQUENCE, b"").repeat(5), element(0x81, b"x"), extensions];
            element(SEQUENCE, &element(SEQUENCE, &body.concat()))
        };
        let usage = |critical: &[u8], purposes: &[&[u8]]| {
            let other = extension(&[0x55, 0x1d, 0x13], &[], &[SERVER_AUTH]);
            certificate(&[other, extension(EXTENDED_KEY_USAGE, critical, purposes)])
        };
        let critical = element(BOOLEAN, &[0xff]);
        for (der, expected) in [
            (certificate(&[]), true),
            (usage(&[], &[CLIENT_AUTH]), true),
            (usage(&critical, &[SERVER_AUTH, CLIENT_AUTH]), true),
            (usage(&[], &[SERVER_AUTH]), false),
            (usage(&critical, &[SERVER_AUTH]), false),
            (usage(&[], &[]), false),
        ] {
            assert_eq!(is_for(&der, CLIENT_AUTH), Some(expected), "{der:x?}");
            for len in 0..der.len() {
                assert_eq!(is_for(&der[..len], CLIENT_AUTH), None, "{len} bytes of {der:x?}");
            }
        }
        // An extension of which nothing is left but its name.
        let cut = element(SEQUENCE, &element(OBJECT_IDENTIFIER, EXTENDED_KEY_USAGE));
        assert_eq!(is_for(&certificate(&[cut]), CLIENT_AUTH), None);
    }
}
