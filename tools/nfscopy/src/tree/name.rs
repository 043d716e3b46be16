//! Names of files, made where they are needed: a million of them take no memory, and one takes some nanoseconds.

use std::ffi::CStr;
use std::ops::Deref;

/// What a renamed file's name begins with.
const RENAMED: &[u8] = b"renamed-";

const DIGITS: usize = 16;
const HEX: &[u8; 16] = b"0123456789abcdef";

/// A name of 16 hexadecimal digits, perhaps with a prefix.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    bytes: [u8; RENAMED.len() + DIGITS + 1],
    begin: usize,
}

impl Name {
    /// The name of file `key`, before or after it is renamed.
    pub fn new(key: u64, is_renamed: bool) -> Self {
        let mut bytes = [0; RENAMED.len() + DIGITS + 1];
        bytes[..RENAMED.len()].copy_from_slice(RENAMED);
        for (pair, byte) in bytes[RENAMED.len()..].chunks_exact_mut(2).zip(key.to_be_bytes()) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Self { bytes, begin: if is_renamed { 0 } else { RENAMED.len() } }
    }
}

impl Deref for Name {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        // The last byte is never written to.
        CStr::from_bytes_with_nul(&self.bytes[self.begin..]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_number() {
        assert_eq!(&*Name::new(0x1a, false), c"000000000000001a");
        assert_eq!(&*Name::new(u64::MAX, true), c"renamed-ffffffffffffffff");
    }
}
