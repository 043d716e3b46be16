//! Text of others, before it reaches a terminal or a log.

/// Whether a character does something to a terminal or to a reader of lines instead of standing there: control characters
/// (C0, DEL, C1), separators of lines, and those that turn the direction of writing.
pub fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || turns
}

/// The text with every harmful character written out (`\u{1b}`, `\n`), for people.
pub fn harmless(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if is_harmful(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// The text with `?` for every harmful character, for lines and what goes on from here: it is no longer than before.
pub fn tamed(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_a_terminal_raw() {
        assert_eq!(harmless("a\x1b[2Jb\n\u{202e}c"), "a\\u{1b}[2Jb\\n\\u{202e}c");
        assert_eq!(harmless("köln"), "köln");
        assert_eq!(tamed("a\x1b[2Jb\r\n\u{9b}\u{2028}\u{7f}c\td"), "a?[2Jb?????c?d");
        assert_eq!(tamed("köln, \"50 %\" 漢字"), "köln, \"50 %\" 漢字");
    }
}
