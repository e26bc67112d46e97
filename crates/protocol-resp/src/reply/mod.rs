// SPDX-License-Identifier: Apache-2.0
//! Replies to bytes.
