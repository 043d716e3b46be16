//! The other end of a network test, as the command line names it.
#![allow(clippy::doc_markdown, reason = "the options' texts are help for a terminal first")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::net::access::Secret;
use crate::net::resolve::resolve;
use crate::units;

/// The port that firewalls already know from iperf3.
pub const DEFAULT_PORT: u16 = 5201;

/// The other end.
#[derive(Debug, Clone, clap::Args)]
pub struct PeerArgs {
    /// Name or address of the other end; fe80::1%eth0 names the link
    pub host: String,
    /// Port of the other end
    #[arg(long, short, value_name = "PORT", default_value_t = DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(1..), allow_hyphen_values = true, help_heading = "Other end")]
    pub port: u16,
    /// Give up when name lookup, connection or the other end's consent take longer
    #[arg(long, value_name = "DUR", default_value = "5s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub connect_timeout: Duration,
    /// Give up when nothing gets through for this long
    #[arg(long, value_name = "DUR", default_value = "10s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub idle_timeout: Duration,
    /// Show the other end that this one knows the secret in FILE
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Other end")]
    pub secret_file: Option<PathBuf>,
    /// Use IPv4 only
    #[arg(long, short = '4', conflicts_with = "ipv6", help_heading = "Other end")]
    pub ipv4: bool,
    /// Use IPv6 only
    #[arg(long, short = '6', help_heading = "Other end")]
    pub ipv6: bool,
}

impl PeerArgs {
    /// Its addresses of the family asked for.
    pub fn addresses(&self, deadline: Instant) -> anyhow::Result<Vec<SocketAddr>> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut addresses = resolve(host, self.port, deadline)?;
        addresses.retain(|address| !(self.ipv4 && address.is_ipv6() || self.ipv6 && address.is_ipv4()));
        if addresses.is_empty() {
            bail!("{host} has no address of the family asked for (-4, -6)");
        }
        Ok(addresses)
    }

    /// The secret, if there is one.
    pub fn secret(&self) -> anyhow::Result<Option<Secret>> {
        self.secret_file.as_deref().map(Secret::read).transpose()
    }

    /// What an error is about.
    pub fn context(&self) -> String {
        format!("{} port {}", self.host, self.port)
    }
}
