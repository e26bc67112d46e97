// SPDX-License-Identifier: Apache-2.0
//! Intsets, in which Redis packs small sets of integers: `width u32 │ members u32 │ member …`, in order.

use super::Malformed;

/// Shows the members.
#[expect(clippy::arithmetic_side_effects, reason = "32 bits times 8, and a width that is not 0")]
pub(super) fn each(bytes: &[u8], mut see: impl FnMut(i64)) -> Result<(), Malformed> {
    let (width, rest) = bytes.split_first_chunk().ok_or(Malformed)?;
    let (count, members) = rest.split_first_chunk().ok_or(Malformed)?;
    let width = u32::from_le_bytes(*width) as usize;
    if !matches!(width, 2 | 4 | 8)
        || u64::from(u32::from_le_bytes(*count)) * width as u64 != members.len() as u64
    {
        return Err(Malformed);
    }
    let mut before = None;
    for member in members.chunks_exact(width) {
        let mut wide = [if member[width - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
        wide[..width].copy_from_slice(member);
        let member = i64::from_le_bytes(wide);
        if before.is_some_and(|before| before >= member) {
            return Err(Malformed);
        }
        before = Some(member);
        see(member);
    }
    Ok(())
}
