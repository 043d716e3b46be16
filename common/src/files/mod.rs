//! What the storage tools share: memory to read into and write from, the page cache, the mount beneath, orders of blocks.

pub mod buffer;
pub mod mount;
pub mod page_cache;
pub mod shuffle;
