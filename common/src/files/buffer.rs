//! Memory to send from and to read into: page-aligned, and random where a link might compress.

use std::io;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapMut};

/// Bytes of [`shared`].
pub const SHARED: usize = 1 << 20;

/// A page-aligned buffer of `bytes` filled with random, hence incompressible, content.
pub fn incompressible(bytes: usize) -> io::Result<MmapMut> {
    let mut buffer = MmapMut::map_anon(bytes)?;
    rand::fill(&mut buffer[..]);
    Ok(buffer)
}

/// Incompressible bytes that all threads send from: however many there are, they cost no more memory.
pub fn shared() -> io::Result<&'static [u8; SHARED]> {
    static BYTES: OnceLock<Mmap> = OnceLock::new();
    let bytes = if let Some(bytes) = BYTES.get() {
        bytes
    } else {
        let made = incompressible(SHARED)?.make_read_only()?;
        BYTES.get_or_init(|| made)
    };
    bytes[..].try_into().map_err(io::Error::other)
}

/// A page-aligned buffer of `bytes` to read into. Pages that nobody touches cost no memory.
pub fn blank(bytes: usize) -> io::Result<MmapMut> {
    MmapMut::map_anon(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incompressible_bytes_are_spread_evenly() {
        let buffer = incompressible(1 << 16).unwrap();
        let mut seen = [0_u32; 256];
        buffer.iter().for_each(|byte| seen[usize::from(*byte)] += 1);
        // 256 expected of each; six standard deviations either way.
        assert!(seen.iter().all(|count| (160..352).contains(count)), "{seen:?}");
        assert_eq!(buffer.as_ptr() as usize % 4096, 0);
    }
}
