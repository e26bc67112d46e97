// SPDX-License-Identifier: Apache-2.0
//! `cacheperf run --fan-out`

use super::output::{OutputArgs, print};
use crate::live::Live;
use crate::report::fan_out::{page_of, summary, svg_of};
use crate::report::text;
use crate::{Error, Plan, Provenance, fan_out};

/// Measures at these widths; whether nothing went wrong.
pub(super) fn execute(
    plan: &Plan,
    widths: &[usize],
    output: &OutputArgs,
    provenance: &Provenance,
) -> Result<bool, Error> {
    let mut live = Live::of(plan);
    let found = fan_out(plan, widths, &mut |width, event| {
        live.label(&format!("fan-out {width}: "));
        live.watch(event);
    })?;
    print(&text::provenance(provenance));
    print(&summary(&found));
    let page = || page_of(&found, provenance);
    output.write(&found, provenance, page, || svg_of(&found, provenance))?;
    Ok(found.widths.iter().all(super::is_clean))
}
