// SPDX-License-Identifier: Apache-2.0
//! The counters of this service.

use ::metrics::counters;

counters! {
    /// Commands of RESP clients.
    pub static RESP_COMMAND: "resp_command";
    /// Commands of RESP clients that were answered with an error.
    pub static RESP_COMMAND_EX: "resp_command_ex";
    /// Keys that RESP clients asked for the values of and that were found.
    pub static RESP_KEY_HIT: "resp_key_hit";
    /// Keys that RESP clients asked for the values of and that were not found.
    pub static RESP_KEY_MISS: "resp_key_miss";
    /// Writes of RESP clients that failed in the server: too large, or no memory.
    pub static RESP_STORE_EX: "resp_store_ex";
    /// Input of RESP clients that was no request.
    pub static RESP_MALFORMED: "resp_malformed";
}
