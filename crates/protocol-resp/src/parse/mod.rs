// SPDX-License-Identifier: Apache-2.0
//! Bytes to requests.
