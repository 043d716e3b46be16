//! Names as people and lines may see them: whatever bytes they hold, they take one line and can be told apart.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The path with control characters and bytes that are no UTF-8 escaped (`\n`, `\xff`), and with it the backslash.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' { text.extend(c.escape_default()) } else { text.push(c) }
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn awkward_names_take_one_line() {
        let name = OsStr::from_bytes(b"k\xc3\xb6ln/a\nb\xff\\c\x1b");
        assert_eq!(shown(Path::new(name)), r"köln/a\nb\xff\\c\u{1b}");
    }
}
