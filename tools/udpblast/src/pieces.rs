//! Words of any length over datagrams: cut into pieces that fit, each with the test's secret number, repeated by whoever
//! waits for an answer, and put together again in whatever order they come.
//!
//! ```text
//! udpblast/2 piece key=SECRET word=NUMBER part=I of=N n=COUNT LF bytes
//! ```
//!
//! A word has the same number each time it is said, so that the pieces of several attempts complete each other.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use common::net::wire::{self, Words};

use crate::protocol::TAG;

/// Most bytes of a word in one piece; with its header a piece fits every path that IPv6 allows.
pub const PIECE: usize = 1000;

/// Room for the header of a piece.
pub const HEADER_ROOM: usize = 120;

/// Most pieces of a word.
const MAX_PARTS: usize = 32;

/// Most words that are put together at a time; the one that began first gives way.
const MAX_OPEN: usize = 8;

/// The pieces of a word, ready to be sent. `count` is how many pieces this end has sent before, and moves on.
pub fn cut(word: &str, key: u64, most: usize, count: &mut u64) -> Vec<Vec<u8>> {
    // No path is so narrow that it would take more pieces than are put together.
    let size = most.min(PIECE).max(word.len().div_ceil(MAX_PARTS)).max(1);
    let mut hasher = DefaultHasher::new();
    // Pieces of different sizes do not complete each other.
    (word, size).hash(&mut hasher);
    let number = hasher.finish();
    let of = word.len().div_ceil(size).max(1);
    let piece = |part: usize| {
        let head = Words::new(TAG, "piece")
            .with("key", format_args!("{key:016x}"))
            .with("word", format_args!("{number:016x}"))
            .with("part", part)
            .with("of", of)
            .with("n", *count + part as u64)
            .end();
        let bytes = word.as_bytes().get(part * size..word.len().min((part + 1) * size)).unwrap_or_default();
        [head.as_bytes(), bytes].concat()
    };
    let pieces = (0..of).map(piece).collect();
    *count += of as u64;
    pieces
}

/// What has come of the other end's words.
#[derive(Debug, Default)]
pub struct Pieces {
    open: VecDeque<Open>,
    heard: Numbers,
}

/// Most numbers of pieces that are remembered behind a gap.
const MAX_NUMBERS: usize = 4096;

/// The numbers of the pieces that were heard.
#[derive(Debug, Default)]
struct Numbers {
    /// All below were heard.
    all_below: u64,
    /// And these.
    more: BTreeSet<u64>,
}

impl Numbers {
    fn add(&mut self, number: u64) {
        if number < self.all_below || self.more.len() == MAX_NUMBERS {
            return;
        }
        self.more.insert(number);
        while self.more.remove(&self.all_below) {
            self.all_below += 1;
        }
    }

    /// One above the highest.
    fn next(&self) -> u64 {
        self.more.last().map_or(self.all_below, |last| last.saturating_add(1))
    }

    fn missing_below(&self, number: u64) -> u64 {
        let heard = self.all_below.min(number) + self.more.range(..number).count() as u64;
        number.saturating_sub(heard)
    }
}

#[derive(Debug)]
struct Open {
    number: u64,
    parts: Vec<Option<Vec<u8>>>,
}

/// What a datagram was.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// No piece of this test.
    Stranger,
    /// A piece; its word is not complete.
    Piece,
    /// The last piece that a word lacked.
    Word(String),
}

impl Pieces {
    /// Takes a datagram of a test with this secret number.
    pub fn take(&mut self, datagram: &[u8], key: u64) -> Heard {
        let Some((head, bytes)) = head(datagram).filter(|(head, bytes)| head.key == key && bytes.len() <= PIECE) else {
            return Heard::Stranger;
        };
        self.heard.add(head.n);
        let text = match head.of {
            1 => Some(bytes.to_vec()),
            _ => self.put(&head, bytes),
        };
        match text.map(String::from_utf8) {
            Some(Ok(word)) => Heard::Word(word),
            Some(Err(_)) | None => Heard::Piece,
        }
    }

    /// Of the first so many pieces that were sent those that have not come.
    pub fn missing_of(&self, first: u64) -> u64 {
        self.heard.missing_below(first)
    }

    /// Of the pieces after the first so many those that have not come, as far as the numbers of those that have come tell.
    pub fn missing_after(&self, first: u64) -> u64 {
        let all = self.heard.missing_below(self.heard.next());
        all.saturating_sub(self.heard.missing_below(first.min(self.heard.next())))
    }

    fn put(&mut self, head: &Head, bytes: &[u8]) -> Option<Vec<u8>> {
        let known = self.open.iter().position(|open| open.number == head.word);
        let place = known.unwrap_or_else(|| {
            if self.open.len() == MAX_OPEN {
                self.open.pop_front();
            }
            self.open.push_back(Open { number: head.word, parts: vec![None; head.of] });
            self.open.len() - 1
        });
        let open = self.open.get_mut(place)?;
        if open.parts.len() == head.of {
            // What came first stays.
            open.parts.get_mut(head.part)?.get_or_insert_with(|| bytes.to_vec());
        }
        if open.parts.iter().any(Option::is_none) {
            return None;
        }
        Some(self.open.remove(place)?.parts.into_iter().flatten().flatten().collect())
    }
}

struct Head {
    key: u64,
    word: u64,
    part: usize,
    of: usize,
    n: u64,
}

fn head(datagram: &[u8]) -> Option<(Head, &[u8])> {
    let end = datagram.iter().take(HEADER_ROOM).position(|byte| *byte == b'\n')?;
    let (word, values) = wire::split(TAG, &datagram[..end]).ok()?;
    let hex = |key| u64::from_str_radix(&values.text(key).ok()?, 16).ok();
    let of = usize::try_from(values.within("of", MAX_PARTS as u64).ok()?).ok()?;
    let part = usize::try_from(values.number("part").ok()?).ok().filter(|part| *part < of)?;
    let head = Head { key: hex("key")?, word: hex("word")?, part, of, n: values.number("n").ok()? };
    (word == "piece").then_some((head, &datagram[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: u64 = 0x0123_4567_89ab_cdef;

    fn heard(pieces: &mut Pieces, datagrams: &[Vec<u8>]) -> Vec<String> {
        let words = datagrams.iter().map(|datagram| pieces.take(datagram, KEY));
        words.filter_map(|heard| if let Heard::Word(word) = heard { Some(word) } else { None }).collect()
    }

    #[test]
    fn a_short_word_is_one_piece_and_a_long_one_several() {
        let (mut count, mut pieces) = (0, Pieces::default());
        let long = "ü".repeat(5000);
        for (word, parts) in [("", 1), ("end sent=5", 1), (long.as_str(), 10)] {
            let datagrams = cut(word, KEY, 2000, &mut count);
            assert_eq!(datagrams.len(), parts);
            assert!(datagrams.iter().all(|datagram| datagram.len() <= PIECE + HEADER_ROOM));
            assert_eq!(heard(&mut pieces, &datagrams), [word]);
        }
        assert_eq!((count, pieces.missing_of(count), pieces.missing_after(0)), (12, 0, 0));
    }

    #[test]
    fn whoever_does_not_know_the_number_is_a_stranger() {
        let mut pieces = Pieces::default();
        for datagram in cut(&"x".repeat(3000), KEY + 1, 1000, &mut 0) {
            assert_eq!(pieces.take(&datagram, KEY), Heard::Stranger);
        }
        for strange in
            ["", "\n", "udpblast/2 piece\n", "udpblast/1 end sent=5\n", "udpblast/2 piece key=0123456789abcdef"]
        {
            assert_eq!(pieces.take(strange.as_bytes(), KEY), Heard::Stranger, "{strange}");
        }
        assert_eq!((pieces.missing_after(0), pieces.open.len()), (0, 0));
    }

    #[test]
    fn unfinished_words_are_bounded() {
        let mut pieces = Pieces::default();
        for number in 0..1000 {
            let datagrams = cut(&format!("{number} {}", "x".repeat(3000)), KEY, 1000, &mut 0);
            assert_eq!(pieces.take(&datagrams[0], KEY), Heard::Piece);
        }
        assert_eq!(pieces.open.len(), MAX_OPEN);
    }

    #[test]
    fn what_is_missing_is_known_from_the_numbers() {
        let (mut count, mut pieces) = (0, Pieces::default());
        for word in ["a", "b", "c", "d", "e", "f"] {
            let datagrams = cut(word, KEY, 1000, &mut count);
            if word != "b" && word != "e" {
                heard(&mut pieces, &datagrams);
                heard(&mut pieces, &datagrams);
            }
        }
        assert_eq!((pieces.missing_of(1), pieces.missing_of(3), pieces.missing_of(8)), (0, 1, 4));
        assert_eq!((pieces.missing_after(0), pieces.missing_after(3), pieces.missing_after(5)), (2, 1, 0));
    }

    proptest! {
        #[test]
        fn a_word_survives_loss_repetition_and_reordering(
            word in "[ -~äöü\n]{0,6000}",
            most in 1_usize..1500,
            attempts in 1_usize..5,
            lost in proptest::collection::vec(any::<bool>(), 160),
            order in any::<u64>(),
        ) {
            let mut count = 0;
            let mut datagrams: Vec<Vec<u8>> = (0..attempts).flat_map(|_| cut(&word, KEY, most, &mut count)).collect();
            let parts = datagrams.len() / attempts;
            let survives = |place: usize| !lost[place % lost.len()];
            let came: Vec<usize> = (0..datagrams.len()).filter(|place| survives(*place)).collect();
            let is_complete = (0..parts).all(|part| came.iter().any(|place| place % parts == part));
            datagrams = came.iter().map(|place| datagrams[*place].clone()).collect();
            // Any order will do.
            datagrams.sort_by_key(|datagram| {
                let mut hasher = DefaultHasher::new();
                (order, datagram).hash(&mut hasher);
                hasher.finish()
            });
            let words = heard(&mut Pieces::default(), &datagrams);
            prop_assert!(words.iter().all(|heard| *heard == word), "never another word");
            prop_assert_eq!(!words.is_empty(), is_complete);
        }

        #[test]
        fn overlapping_words_do_not_mix(words in proptest::collection::vec("[a-z]{0,4000}", 1..5), turn in any::<u64>()) {
            let mut datagrams: Vec<Vec<u8>> = words.iter().flat_map(|word| cut(word, KEY, 700, &mut 0)).collect();
            datagrams.sort_by_key(|datagram| {
                let mut hasher = DefaultHasher::new();
                (turn, datagram).hash(&mut hasher);
                hasher.finish()
            });
            let mut came = heard(&mut Pieces::default(), &datagrams);
            let mut sent = words;
            came.sort();
            sent.sort();
            came.dedup();
            sent.dedup();
            prop_assert_eq!(came, sent);
        }

        #[test]
        fn arbitrary_datagrams_do_nothing(bytes: Vec<u8>) {
            prop_assert_eq!(Pieces::default().take(&bytes, KEY), Heard::Stranger);
        }

        #[test]
        fn arbitrary_heads_do_nothing(
            part in any::<u64>(), of in any::<u64>(), n in any::<u64>(), rest in ".{0,50}",
        ) {
            let text = format!("udpblast/2 piece key={KEY:016x} word=1 part={part} of={of} n={n}\n{rest}");
            Pieces::default().take(text.as_bytes(), KEY);
        }
    }
}
