//! Whatever the other end says is what it said, or an error that names it.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::request::tests::request;

fn ways() -> impl Strategy<Value = Way> {
    prop_oneof![Just(Way::Up), Just(Way::Down), Just(Way::Echo)]
}

/// Any word of a client but the first, which has properties of its own.
fn of_client() -> impl Strategy<Value = FromClient> {
    prop_oneof![
        "[0-9a-f]{0,80}".prop_map(|mac| FromClient::Proof { mac }),
        ("[0-9a-f]{0,32}", ways(), any::<u64>()).prop_map(|(token, way, stream)| FromClient::Data {
            token,
            way,
            stream: stream % crate::request::MAX_STREAMS
        }),
        "[0-9a-f]{0,32}".prop_map(|token| FromClient::Knock { token }),
        (any::<u64>(), any::<u64>(), any::<bool>(), any::<bool>(), 0..u64::from(u32::MAX)).prop_map(
            |(sent, received, whole, left, micros)| FromClient::Done {
                sent,
                received,
                whole,
                left,
                span: Duration::from_micros(micros)
            }
        ),
    ]
}

fn of_sink() -> impl Strategy<Value = FromSink> {
    let prose = || "\\PC{0,80}".prop_map(|text| common::text::tamed(text.trim()));
    prop_oneof![
        "[0-9a-f]{0,32}".prop_map(|nonce| FromSink::Challenge { nonce }),
        "[0-9a-f]{0,32}".prop_map(|token| FromSink::Accepted { token }),
        prose().prop_map(|why| FromSink::Refused { why }),
        prose().prop_map(|why| FromSink::Busy { why }),
        prose().prop_map(|why| FromSink::Failed { why }),
        prose().prop_map(|text| FromSink::Line { text }),
        any::<bool>().prop_map(|shared| FromSink::End { shared }),
    ]
}

/// The line with one of its bytes changed.
fn damaged(text: &str, place: usize, byte: u8) -> Vec<u8> {
    let mut bytes = text.trim_end_matches('\n').as_bytes().to_vec();
    let place = place % bytes.len();
    bytes[place] = byte;
    bytes
}

proptest! {
    #[test]
    fn what_a_client_says_arrives(word in of_client()) {
        prop_assert_eq!(FromClient::parse(word.text().trim_end_matches('\n').as_bytes()), Ok(word));
    }

    #[test]
    fn what_a_sink_says_arrives(word in of_sink()) {
        prop_assert_eq!(FromSink::parse(word.text().trim_end_matches('\n').as_bytes()), Ok(word));
    }

    #[test]
    fn a_damaged_request_is_refused_or_can_be_served(place: usize, byte: u8) {
        if let Ok(FromClient::Test(request)) = FromClient::parse(&damaged(&request().text(), place, byte)) {
            prop_assert_eq!(request.flaw(), None);
            prop_assert!((1..=256).contains(&request.streams) && request.memory(true) > 0);
            prop_assert!(request.interval.is_none_or(|interval| interval >= Duration::from_millis(1)));
            prop_assert!(request.label.as_ref().is_none_or(|label| !label.chars().any(char::is_control)));
        }
    }

    #[test]
    fn damaged_words_do_nothing_worse(client in of_client(), sink in of_sink(), place: usize, byte: u8) {
        let _ = FromClient::parse(&damaged(&client.text(), place, byte));
        if let Ok(FromSink::Refused { why } | FromSink::Busy { why } | FromSink::Failed { why } | FromSink::Line { text: why }) =
            FromSink::parse(&damaged(&sink.text(), place, byte))
        {
            prop_assert!(!why.chars().any(char::is_control), "{}", why);
        }
    }

    #[test]
    fn a_first_line_is_known_however_it_is_cut(word in of_client(), cut: usize, payload: Vec<u8>) {
        let line = word.text();
        let cut = cut % line.len();
        prop_assert_eq!(Opening::of(&line.as_bytes()[..cut]), Opening::Incomplete);
        prop_assert_eq!(Opening::of(&[line.as_bytes(), &payload].concat()), Opening::Line(line.len()));
    }
}
