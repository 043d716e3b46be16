//! Network namespaces for the tests of `ifstat`, and traffic inside them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::Signal;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, bind, send, socket};
use testkit::{Ended, Running, eventually, has_program, is_root};

use super::ifstat;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A network namespace; it is deleted when this is dropped.
#[derive(Debug)]
pub struct Space {
    /// Its name for `ip netns`.
    pub name: String,
}

impl Space {
    /// Makes one with lo up; `None`, and says so, where that is impossible.
    pub fn new() -> Option<Self> {
        if !is_root() || !has_program("ip", "iproute2") {
            return None;
        }
        let space = Self { name: format!("if{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)) };
        command("ip", &["netns", "add", &space.name]);
        space.ip("link set lo up");
        Some(space)
    }

    /// Two, joined by the veth pair va (10.7.0.1, in the first) and vb (10.7.0.2); without IPv6, whose chatter would count.
    pub fn pair() -> Option<(Self, Self)> {
        let (one, other) = (Self::new()?, Self::new()?);
        one.ip(&format!("link add va type veth peer name vb netns {}", other.name));
        for (space, name, address) in [(&one, "va", "10.7.0.1/24"), (&other, "vb", "10.7.0.2/24")] {
            space.enter(|| {
                // A kernel without IPv6 has no such file, and needs none.
                let _ = std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
            });
            space.ip(&format!("addr add {address} dev {name}"));
            space.ip(&format!("link set {name} up"));
        }
        one.until_up("va");
        other.until_up("vb");
        Some((one, other))
    }

    /// Runs `ip` in it with these words.
    pub fn ip(&self, words: &str) {
        let args: Vec<_> = ["-n", &self.name].into_iter().chain(words.split_whitespace()).collect();
        command("ip", &args);
    }

    /// Waits until the interface carries packets: the kernel takes its time after `link set up`.
    pub fn until_up(&self, interface: &str) {
        eventually("an interface that is up", Duration::from_secs(20), || {
            let output = Command::new("ip").args(["-n", &self.name, "link", "show", interface]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).contains("state UP")
        });
    }

    /// Adds `count` interfaces and returns their names. Not bridges: the kernel takes seconds to delete so many, with its
    /// lock on all namespaces' interfaces held.
    pub fn many(&self, count: usize) -> Vec<String> {
        let names: Vec<_> = (0..count).map(|number| format!("many{number}")).collect();
        let mut ip = Command::new("ip").args(["-n", &self.name, "-batch", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut script = ip.stdin.take().unwrap();
        for name in &names {
            writeln!(script, "link add {name} type ifb").unwrap();
        }
        drop(script);
        assert!(ip.wait().unwrap().success());
        names
    }

    /// Starts `ifstat` looking into it.
    pub fn start(&self, args: &[&str]) -> Running {
        // After a verb, if there is one; never last, where it could belong to a command.
        let (verb, rest) = args.split_at(args.iter().take(1).filter(|word| ["facts", "stats"].contains(word)).count());
        ifstat().start(&[verb, &["--netns", &self.name], rest].concat())
    }

    /// Runs `ifstat` looking into it.
    pub fn run(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// Watches with a single long interval, and returns when it has begun.
    pub fn watch(&self, interfaces: &[&str]) -> Running {
        let running = self.start(&[interfaces, &["--interval", "100s", "--since-boot"]].concat());
        running.wait_for_records(2 * interfaces.len());
        running
    }

    /// Does `action` in a thread inside it.
    pub fn enter<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.join();
                action()
            });
            thread.join().unwrap()
        })
    }

    /// Starts a thread inside it.
    pub fn spawn(&self, action: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let space = Self { name: self.name.clone() };
        std::thread::spawn(move || {
            space.join();
            // It is another's to delete.
            std::mem::forget(space);
            action();
        })
    }

    fn join(&self) {
        setns(File::open(format!("/run/netns/{}", self.name)).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
    }

    /// Bytes and packets as `ip` has them, by direction.
    pub fn counters(&self, interface: &str) -> HashMap<&'static str, (u64, u64)> {
        let output =
            Command::new("ip").args(["-n", &self.name, "-s", "-j", "link", "show", interface]).output().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let statistics = &json[0]["stats64"];
        let of = |way: &str| ["bytes", "packets"].map(|count| statistics[way][count].as_u64().unwrap()).into();
        HashMap::from([("rx", of("rx")), ("tx", of("tx"))])
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // One that was not made is none to delete.
        let _ = Command::new("ip").args(["netns", "del", &self.name]).stderr(Stdio::null()).status();
    }
}

/// Runs a command that must not fail.
pub fn command(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Ends a run that has no end.
pub fn stop(running: Running) -> Ended {
    running.signal(Signal::SIGINT);
    running.end().success()
}

/// Sends so many bytes.
pub fn send_bytes(stream: &mut impl Write, bytes: u64) {
    let piece = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        stream.write_all(&piece[..length]).unwrap();
        left -= length as u64;
    }
}

/// Reads to the end, and says how many bytes there were.
pub fn discard(stream: &mut impl Read) -> u64 {
    let mut room = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        match stream.read(&mut room).unwrap() {
            0 => return bytes,
            length => bytes += length as u64,
        }
    }
}

/// Sends Ethernet frames of this type to everybody.
pub fn send_frames(interface: &str, ethertype: u16, count: u64) {
    let address = nix::ifaddrs::getifaddrs()
        .unwrap()
        .find_map(|of| (of.interface_name == interface).then_some(of.address?.as_link_addr().copied()?))
        .unwrap();
    let packets = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None).unwrap();
    bind(std::os::fd::AsRawFd::as_raw_fd(&packets), &address).unwrap();
    let mut frame = [0xff; 60];
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    for _ in 0..count {
        send(std::os::fd::AsRawFd::as_raw_fd(&packets), &frame, MsgFlags::empty()).unwrap();
    }
}
