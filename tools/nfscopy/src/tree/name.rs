//! Names of files, made where they are needed: a million of them take no memory, and one takes some nanoseconds.
//!
//! They have the shape of bonnie++'s: a number of ten hexadecimal digits, and 0 to 12 characters that look random, after it
//! where files are visited in order, before it where at random. Lengths that vary matter: a directory's block is searched
//! by comparing them first.

use std::ffi::CStr;
use std::ops::Deref;

use common::files::shuffle::mix;

/// What a renamed file's name begins with.
const RENAMED: &[u8] = b"renamed-";

const DIGITS: usize = 10;
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Five bits each.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyzABCDEF";
const MOST_LETTERS: u8 = 12;

/// Bytes of the longest name and the byte that ends it.
const LONGEST: usize = RENAMED.len() + DIGITS + 12 + 1;

/// A name, perhaps of a renamed file.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    bytes: [u8; LONGEST],
    begin: usize,
}

impl Name {
    /// The name of file `number` before or after it is renamed; `seed` makes its letters.
    pub fn new(number: u64, seed: u64, is_random: bool, is_renamed: bool) -> Self {
        let mut bytes = [0; LONGEST];
        bytes[..RENAMED.len()].copy_from_slice(RENAMED);
        let random = mix(number ^ seed);
        let letters =
            (0..random % (u64::from(MOST_LETTERS) + 1)).map(|place| LETTERS[low_bits(random >> (4 + 5 * place), 31)]);
        let digits = (0..DIGITS).rev().map(|digit| HEX[low_bits(number >> (4 * digit), 15)]);
        let places = bytes[RENAMED.len()..].iter_mut();
        if is_random {
            places.zip(letters.chain(digits)).for_each(|(place, byte)| *place = byte);
        } else {
            places.zip(digits.chain(letters)).for_each(|(place, byte)| *place = byte);
        }
        Self { bytes, begin: if is_renamed { 0 } else { RENAMED.len() } }
    }
}

/// The bits of `mask`, which is small.
fn low_bits(value: u64, mask: u8) -> usize {
    usize::from(value.to_le_bytes()[0] & mask)
}

impl Deref for Name {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        // The last byte is never written to.
        CStr::from_bytes_until_nul(&self.bytes[self.begin..]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_name_is_its_number_and_letters() {
        let name =
            |number, is_random, is_renamed| Name::new(number, 7, is_random, is_renamed).to_str().unwrap().to_owned();
        assert!(name(0x1a, false, false).starts_with("000000001a"));
        assert!(name(0x1a, true, false).ends_with("000000001a"));
        assert_eq!(name(5, true, true), "renamed-".to_owned() + &name(5, true, false));
        let names: HashSet<_> = (0..1000).map(|number| name(number, true, false)).collect();
        let lengths: HashSet<_> = names.iter().map(String::len).collect();
        assert_eq!((names.len(), lengths.len()), (1000, 13));
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    }
}
