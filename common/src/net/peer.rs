//! The other end of a network test, as the command line names it.
#![allow(clippy::doc_markdown, reason = "the options' texts are help for a terminal first")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::cli::Usage;
use crate::net::access::Secret;
use crate::net::resolve::resolve;
use crate::stop::Stop;
use crate::units;

/// The port that firewalls already know from iperf3.
pub const DEFAULT_PORT: u16 = 5201;

/// The other end.
#[derive(Debug, Clone, clap::Args)]
pub struct PeerArgs {
    /// Name or address of the other end, also as HOST:PORT; fe80::1%eth0 names the link
    pub host: Host,
    /// Port of the other end [default: 5201]
    #[arg(long, short, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), allow_hyphen_values = true, help_heading = "Other end")]
    pub port: Option<u16>,
    /// Give up when name lookup, connection or the other end's consent take longer
    #[arg(long, value_name = "DUR", default_value = "5s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub connect_timeout: Duration,
    /// Give up when nothing gets through for this long
    #[arg(long, value_name = "DUR", default_value = "10s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub idle_timeout: Duration,
    /// Wait for this long for a free place where the other end serves as many clients as it may
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub queue: Option<Duration>,
    /// Begin after a random part of this time, so that many hosts do not begin at once
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Other end")]
    pub splay: Option<Duration>,
    /// Show the other end that this one knows the secret in FILE
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Other end")]
    pub secret_file: Option<PathBuf>,
    /// Use IPv4 only
    #[arg(long, short = '4', conflicts_with = "ipv6", help_heading = "Way there")]
    pub ipv4: bool,
    /// Use IPv6 only
    #[arg(long, short = '6', help_heading = "Way there")]
    pub ipv6: bool,
}

/// A host as typed, perhaps with its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name or address, without brackets.
    pub name: String,
    port: Option<u16>,
}

impl FromStr for Host {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bracketed = text.strip_prefix('[').and_then(|text| text.split_once(']'));
        let (name, port) = match (bracketed, text.split_once(':')) {
            (Some((name, port)), _) if port.is_empty() || port.starts_with(':') => (name, port.strip_prefix(':')),
            // More than one colon is an address by itself.
            (None, Some((name, port))) if !port.contains(':') => (name, Some(port)),
            (None, _) => (text, None),
            _ => return Err("expected [ADDRESS]:PORT"),
        };
        let port =
            port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or("its port is no number from 1 to 65535"));
        if name.is_empty() {
            Err("a host has a name")
        } else {
            Ok(Self { name: name.to_owned(), port: port.transpose()? })
        }
    }
}

impl PeerArgs {
    /// Its addresses of the family asked for, known by `deadline`. The error is [`Stopped`](crate::stop::Stopped) if `stop`
    /// came first.
    pub fn addresses(&self, deadline: Instant, stop: &Stop) -> anyhow::Result<Vec<SocketAddr>> {
        if let (Some(port), Some(other)) = (self.host.port, self.port)
            && port != other
        {
            return Err(Usage(format!("{}:{port} and --port {other} are two ports", self.host.name)).into());
        }
        let host = self.host.name.as_str();
        let mut addresses = resolve(host, self.port(), deadline, stop)?;
        addresses.retain(|address| !(self.ipv4 && address.is_ipv6() || self.ipv6 && address.is_ipv4()));
        if addresses.is_empty() {
            let [family, option] = if self.ipv4 { ["IPv6", "-4"] } else { ["IPv4", "-6"] };
            bail!("{host} has addresses of {family} only ({option} wants others)");
        }
        Ok(addresses)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port.or(self.host.port).unwrap_or(DEFAULT_PORT)
    }

    /// The secret, if there is one.
    pub fn secret(&self) -> anyhow::Result<Option<Secret>> {
        self.secret_file.as_deref().map(Secret::read).transpose()
    }

    /// What to do where nobody listens.
    pub fn remedy(&self, tool: &str) -> String {
        format!("start {tool} listen on {}, or name another --port", self.host.name)
    }

    /// What an error is about.
    pub fn context(&self) -> String {
        format!("{} port {}", self.host.name, self.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_bring_its_port() {
        for (text, name, port) in [
            ("nas", "nas", None),
            ("nas:5202", "nas", Some(5202)),
            ("192.0.2.1:80", "192.0.2.1", Some(80)),
            ("2001:db8::1", "2001:db8::1", None),
            ("fe80::1%eth0", "fe80::1%eth0", None),
            ("[2001:db8::1]", "2001:db8::1", None),
            ("[2001:db8::1]:5202", "2001:db8::1", Some(5202)),
        ] {
            assert_eq!(text.parse(), Ok(Host { name: name.into(), port }), "{text}");
        }
        for wrong in ["", ":5201", "nas:", "nas:0", "nas:70000", "nas:http", "[::1]5201", "[]:5201"] {
            assert!(wrong.parse::<Host>().is_err(), "{wrong}");
        }
    }
}
