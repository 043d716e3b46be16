//! Who may use a listener: address ranges, and a shared secret that is never sent.

#![allow(clippy::doc_markdown, reason = "the options' texts are help for a terminal first")]

use std::fmt::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use hmac::{Hmac, KeyInit, Mac};
use ipnet::IpNet;
use sha2::Sha256;

use crate::net::listener::Refusal;
use crate::units;

/// Who may use a listener, and how much.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "In public")]
pub struct GuardArgs {
    /// Serve clients from these ranges only: 192.0.2.0/24, 2001:db8::/32
    #[arg(long, value_name = "CIDR", num_args = 1.., value_delimiter = ',', value_parser = range)]
    pub allow: Vec<IpNet>,
    /// Serve at most this many clients at once; who has not said what they want does not count
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_hyphen_values = true, hide_short_help = true)]
    pub max_clients: u32,
    /// Serve a client for at most this long
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true)]
    pub max_time: Option<Duration>,
    /// Send (recv, both, and ping of tcpsink) only to clients that know the secret in FILE; it never crosses the wire
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub secret_file: Option<PathBuf>,
    /// Serve nobody at all who does not know the secret
    #[arg(long, requires = "secret_file", hide_short_help = true)]
    pub require_secret: bool,
}

impl GuardArgs {
    /// Why a client that asks for so long is not served, if it is not.
    pub fn refusal(&self, time: Option<Duration>) -> Option<Refusal> {
        let (most, asked) = self.max_time.zip(time).filter(|(most, asked)| asked > most)?;
        Some(Refusal::TooLong { asked, most })
    }
}

/// Longest secret file, bytes: it is a password, not a dump.
const LONGEST_SECRET: u64 = 64 * 1024;

/// Whether `peer` is in one of the ranges; no ranges allow everybody. An IPv4 address counts as such on an IPv6 socket too.
pub fn is_allowed(ranges: &[IpNet], peer: IpAddr) -> bool {
    ranges.is_empty() || ranges.iter().any(|range| range.contains(&peer.to_canonical()))
}

/// Parses a range (`192.0.2.0/24`) or a single address.
pub fn range(text: &str) -> Result<IpNet, String> {
    let single = text.parse::<IpAddr>().map(IpNet::from);
    text.parse().or(single).map_err(|_| "expected an address range such as 192.0.2.0/24 or 2001:db8::/32".into())
}

/// A secret that both ends have in a file.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A secret of this process alone.
    pub fn random() -> Self {
        Self(rand::random::<[u8; 32]>().to_vec())
    }

    /// Reads the file; white space at its end does not count.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        use std::io::Read;
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(LONGEST_SECRET).read_to_end(&mut bytes))
            .with_context(|| format!("cannot read --secret-file {}", path.display()))?;
        bytes.truncate(bytes.trim_ascii_end().len());
        if bytes.is_empty() {
            bail!("--secret-file {} holds no secret", path.display());
        }
        Ok(Self(bytes))
    }

    /// HMAC-SHA-256 (RFC 2104) over a challenge and what is asked for, in hexadecimal: what a client shows.
    pub fn proof(&self, challenge: &str, request: &str) -> String {
        let tag = self.mac(challenge, request).finalize().into_bytes();
        tag.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Whether `proof` is right, in a time that does not depend on where it is wrong.
    pub fn verifies(&self, challenge: &str, request: &str, proof: &str) -> bool {
        let bytes: Option<Vec<u8>> = proof
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        bytes.is_some_and(|bytes| self.mac(challenge, request).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, challenge: &str, request: &str) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        // RFC 2104: a key of any length will do.
        let mac = mac.unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
        // The challenge has a fixed length, so that the two cannot be shifted against each other.
        mac.chain_update(challenge).chain_update(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_for_both_families() {
        let ranges = ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7"].map(|text| range(text).unwrap());
        for (peer, is_in) in [
            ("192.0.2.200", true),
            ("::ffff:192.0.2.1", true),
            ("192.0.3.1", false),
            ("2001:db8:5::1", true),
            ("2001:db9::1", false),
            ("198.51.100.7", true),
            ("198.51.100.8", false),
        ] {
            assert_eq!(is_allowed(&ranges, peer.parse().unwrap()), is_in, "{peer}");
        }
        assert!(is_allowed(&[], "203.0.113.1".parse().unwrap()));
        assert!(range("192.0.2.0/33").is_err() && range("nas").is_err());
    }

    #[test]
    fn the_proof_is_hmac_sha_256() {
        // RFC 4231, test case 2.
        let secret = Secret(b"Jefe".to_vec());
        let proof = secret.proof("what do ya want ", "for nothing?");
        assert_eq!(proof, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(secret.verifies("what do ya want ", "for nothing?", &proof));
        for wrong in ["", "5b", "zz", &proof.replace('5', "6"), &format!("{proof}00")] {
            assert!(!secret.verifies("what do ya want ", "for nothing?", wrong), "{wrong}");
        }
        assert!(!secret.verifies("another challenge", "for nothing?", &proof));
    }

    #[test]
    fn an_empty_or_missing_secret_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        assert!(Secret::read(&path).unwrap_err().to_string().contains("secret"));
        std::fs::write(&path, " \n").unwrap();
        assert!(Secret::read(&path).unwrap_err().to_string().contains("holds no secret"));
        std::fs::write(&path, "s3cret\n").unwrap();
        assert_eq!(Secret::read(&path).unwrap().0, b"s3cret");
        assert_eq!(format!("{:?}", Secret::read(&path).unwrap()), "Secret(..)");
    }
}
