// SPDX-License-Identifier: Apache-2.0
//! Requests in bytes, and what is found.

use super::*;
