// SPDX-License-Identifier: Apache-2.0
//! x
#![forbid(unsafe_code)]
