//! Cells side by side.

/// Whether they are the same. An empty box has no address, and memcmp(3) with masked loads takes its time to find that out:
/// most settings of most lines are empty.
pub fn are_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}
