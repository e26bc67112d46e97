// SPDX-License-Identifier: Apache-2.0
//! What a log does, seen from its callers and its files.

mod bell;
mod concurrent;
mod disk;
mod lines;
mod rotation;
mod routing;
mod support;
