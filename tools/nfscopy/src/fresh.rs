//! Content to write: incompressible, and never the same block twice, so that neither compression nor deduplication on
//! the way or behind the mount makes it less.

use std::io;

use common::files::buffer;
use common::files::shuffle::mix;
use memmap2::MmapMut;

/// Random bytes that all blocks derive from; small enough for a CPU's cache, larger than what storage compresses or
/// deduplicates as one piece.
const POOL: usize = 256 * 1024;

/// What shares a key: no larger than the blocks that deduplication compares.
const PIECE: usize = 4096;

/// A source of blocks.
#[derive(Debug)]
pub struct Fresh {
    pool: MmapMut,
    block: MmapMut,
    /// Of the next piece.
    key: u64,
    at: usize,
}

impl Fresh {
    /// A source of blocks of `bytes`, page-aligned.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        Ok(Self { pool: buffer::incompressible(POOL)?, block: buffer::blank(bytes)?, key: rand::random(), at: 0 })
    }

    /// The next block. A pass of XOR over random bytes with a key for each piece costs a fraction of making new ones.
    pub fn next(&mut self) -> &[u8] {
        for piece in self.block.chunks_mut(PIECE) {
            self.key = self.key.wrapping_add(1);
            self.at = if self.at + PIECE < POOL { self.at + PIECE } else { 0 };
            let key = mix(self.key);
            let (places, rest) = piece.as_chunks_mut();
            let (words, _) = self.pool[self.at..self.at + PIECE].as_chunks();
            for (place, word) in places.iter_mut().zip(words) {
                *place = (u64::from_ne_bytes(*word) ^ key).to_ne_bytes();
            }
            for (place, byte) in rest.iter_mut().zip(key.to_ne_bytes()) {
                *place = byte;
            }
        }
        &self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_piece_comes_twice_and_bytes_are_spread_evenly() {
        let mut fresh = Fresh::new(10_000).unwrap();
        let mut pieces = HashSet::new();
        let mut seen = [0_u32; 256];
        for _ in 0..200 {
            let block = fresh.next();
            for byte in block {
                seen[usize::from(*byte)] += 1;
            }
            assert!(block.chunks(512).all(|piece| pieces.insert(piece.to_vec())));
        }
        // 7812 expected of each; ten standard deviations either way.
        assert!(seen.iter().all(|count| (6930..8700).contains(count)), "{seen:?}");
    }

    #[test]
    fn a_block_of_one_byte_changes_too() {
        let mut fresh = Fresh::new(1).unwrap();
        let bytes: HashSet<_> = (0..100).map(|_| fresh.next()[0]).collect();
        assert!(bytes.len() > 20, "{bytes:?}");
    }
}
