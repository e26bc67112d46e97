// SPDX-License-Identifier: Apache-2.0
//! Replies and their bytes.

use super::*;
