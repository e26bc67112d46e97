// SPDX-License-Identifier: Apache-2.0
//! A build without the feature `tls` refuses certificates in a sentence.
#![cfg(not(feature = "tls"))]

use session::{Error, TlsAcceptor, TlsOptions};

#[test]
fn certificates_are_refused_in_a_sentence() {
    let refused = TlsAcceptor::new(TlsOptions::new("server.pem", "server.key"));
    let error = refused.expect_err("nothing could shake hands");
    assert!(matches!(error, Error::BuiltWithout));
    let sentence = "this program was built without TLS: name no certificate, or build it with the feature `tls`";
    assert_eq!(error.to_string(), sentence);
}
