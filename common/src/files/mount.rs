//! The mount that holds an open file, or that a device holds, from `/proc/self/mountinfo` (proc(5)).

use std::os::fd::{AsFd, AsRawFd};

use nix::sys::stat::{major, minor};
use procfs::process::{MountInfo, Process};

/// The mount through which `file` was opened, whatever its path is called. `None` without `/proc`.
pub fn holding(file: &impl AsFd) -> Option<MountInfo> {
    let descriptor = file.as_fd().as_raw_fd();
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    let id: i32 = text.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()?;
    all()?.into_iter().find(|mount| mount.mnt_id == id)
}

/// The first mount of the block device with this number.
pub fn of_device(number: u64) -> Option<MountInfo> {
    let number = format!("{}:{}", major(number), minor(number));
    all()?.into_iter().find(|mount| mount.majmin == number)
}

fn all() -> Option<Vec<MountInfo>> {
    Some(Process::myself().ok()?.mountinfo().ok()?.0)
}

/// A path or source as it is: the kernel writes space, tab, line feed and backslash as octal (`\040`).
pub fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        match after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if byte.is_ascii() => {
                plain.push(char::from(byte));
                rest = &after[3..];
            }
            _ => {
                plain.push('\\');
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_mount_by_the_open_file() {
        let mount = holding(&std::fs::File::open("/proc/self").unwrap()).unwrap();
        assert_eq!((mount.fs_type.as_str(), mount.mount_point.to_str()), ("proc", Some("/proc")));
    }

    #[test]
    fn octal_is_undone_and_nothing_else() {
        assert_eq!(unescaped(r"/mnt/my\040disk\134x"), r"/mnt/my disk\x");
        assert_eq!(unescaped(r"a\04"), r"a\04");
        assert_eq!(unescaped(r"\9zz\"), r"\9zz\");
    }
}
