// SPDX-License-Identifier: Apache-2.0
//! In which form a client wants a page: what its headers `Accept` and `Accept-Encoding` ask for.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{self, HeaderMap, HeaderName};

/// Shorter pages are not worth compressing.
const COMPRESSED_MIN: usize = 1024;

/// Whether the client would rather have OpenMetrics than Prometheus' older text. One that names neither gets the
/// older, which everybody can read.
pub(crate) fn wants_openmetrics(headers: &HeaderMap) -> bool {
    let (mut openmetrics, mut plain) = (0, 0);
    for (range, quality) in weighed(headers, header::ACCEPT) {
        match range.as_str() {
            "application/openmetrics-text" => openmetrics = quality.max(openmetrics),
            "text/plain" => plain = quality.max(plain),
            _ => {}
        }
    }
    openmetrics > 0 && openmetrics >= plain
}

/// Whether the client takes a body of so many bytes compressed by gzip.
pub(crate) fn wants_gzip(headers: &HeaderMap, bytes: usize) -> bool {
    bytes >= COMPRESSED_MIN
        && weighed(headers, header::ACCEPT_ENCODING)
            .any(|(encoding, quality)| encoding == "gzip" && quality > 0)
}

/// A body compressed by gzip.
pub(crate) fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    let compressed = encoder.write_all(body).and_then(|()| encoder.finish());
    compressed.expect("writing to memory cannot fail").into()
}

/// The alternatives in a header, in lower case and without parameters, each with its quality in thousandths.
fn weighed(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (String, u16)> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|part| {
        let mut words = part.split(';').map(str::trim);
        let what = words.next().unwrap_or_default().to_ascii_lowercase();
        let quality = words.find_map(|word| word.strip_prefix("q=").or(word.strip_prefix("Q=")));
        let quality = quality.map_or(Some(1.0), |quality| quality.parse::<f32>().ok());
        // What makes no sense is not wanted.
        (what, (quality.unwrap_or(0.0).clamp(0.0, 1.0) * 1000.0) as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn openmetrics_is_for_those_who_would_rather_have_it() {
        for (accept, is_wanted) in [
            // Prometheus 2 and 3.
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;\
                 version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                true,
            ),
            ("application/openmetrics-text", true),
            ("Application/OpenMetrics-Text; q=0.7, text/plain; q=0.7", true),
            ("text/plain, application/openmetrics-text;q=0.9", false),
            ("application/openmetrics-text;q=0", false),
            ("application/openmetrics-text;q=x", false),
            ("*/*", false),
            ("text/plain;version=0.0.4", false),
            ("", false),
        ] {
            assert_eq!(wants_openmetrics(&headers(header::ACCEPT, accept)), is_wanted, "{accept}");
        }
        assert!(!wants_openmetrics(&HeaderMap::new()));
    }

    #[test]
    fn gzip_is_for_those_who_take_it_and_for_long_pages() {
        for (accept, is_wanted) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("identity", false),
        ] {
            let headers = headers(header::ACCEPT_ENCODING, accept);
            assert_eq!(wants_gzip(&headers, 10_000), is_wanted, "{accept}");
            assert!(!wants_gzip(&headers, 100));
        }
        assert!(!wants_gzip(&HeaderMap::new(), 10_000));
    }

    #[test]
    fn compressed_pages_are_shorter() {
        let page = b"shoebill_requests_total 1\n".repeat(100);
        let compressed = gzip(&page);
        assert!(compressed.starts_with(&[0x1f, 0x8b]) && compressed.len() < page.len() / 4);
    }
}
