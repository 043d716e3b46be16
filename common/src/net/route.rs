//! The way to the other end, as the command line names it.
#![allow(clippy::doc_markdown, reason = "the options' texts are help for a terminal first")]

use crate::measure::crew::{self, CpuList};
use crate::net::address::Address;
use crate::net::peer::PeerArgs;

/// The other end, and the way there.
#[derive(Debug, Clone, clap::Args)]
pub struct RouteArgs {
    /// The other end.
    #[command(flatten)]
    pub peer: PeerArgs,
    /// Use this local address
    #[arg(long, value_name = "ADDR", hide_short_help = true, help_heading = "Other end")]
    pub bind: Option<Address>,
    /// Go through this network interface
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = "Other end")]
    pub interface: Option<String>,
    /// Keep this end's workers on these CPUs, in turn: 0,2-3
    #[arg(long, value_name = "LIST", value_parser = crew::cpu_list, hide_short_help = true, help_heading = "Other end")]
    pub cpu: Option<CpuList>,
    /// Differentiated services code point of both ends: 0 to 63, or ef, cs1, af41, le
    #[arg(long, value_name = "DSCP", value_parser = dscp, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub dscp: Option<u8>,
}

/// The names of RFC 2474 (cs), RFC 2597 (af), RFC 3246 (ef), RFC 5865 (va) and RFC 8622 (le), or the number.
fn dscp(text: &str) -> Result<u8, String> {
    let name = text.to_ascii_lowercase();
    let digits: Vec<u8> = name.bytes().skip(2).map(|digit| digit.wrapping_sub(b'0')).collect();
    match (name.get(..2), digits[..].as_ref()) {
        (Some("ef"), []) => Ok(46),
        (Some("va"), []) => Ok(44),
        (Some("le"), []) => Ok(1),
        (Some("cs"), [class @ 0..=7]) => Ok(class << 3),
        (Some("af"), [class @ 1..=4, drop @ 1..=3]) => Ok((class << 3) + (drop << 1)),
        _ => name
            .parse()
            .ok()
            .filter(|code| *code < 64)
            .ok_or_else(|| "expected 0 to 63, or ef, va, le, cs0 to cs7, af11 to af43".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_names() {
        for (text, code) in [("ef", 46), ("CS1", 8), ("af41", 34), ("le", 1), ("0", 0), ("63", 63)] {
            assert_eq!(dscp(text), Ok(code), "{text}");
        }
        for wrong in ["64", "-1", "af44", "cs8", "cs", "x", "af4ü"] {
            assert!(dscp(wrong).is_err(), "{wrong}");
        }
    }
}
