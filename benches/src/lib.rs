// SPDX-License-Identifier: Apache-2.0
//! Criterion benchmarks and end-to-end comparisons of the workspace (see the `benches/` targets).
