// SPDX-License-Identifier: Apache-2.0
//! The other direction: requests to bytes, and bytes to replies.
