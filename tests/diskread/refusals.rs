//! What is refused, and by which words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use testkit::disk::{Loop, Scratch};
use testkit::{Tool, is_root};

use super::{MIB, diskread, line};

#[test]
fn misaligned_direct_reads_are_refused_with_the_devices_unit() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let Some(device) = Loop::new(&file, &["-b", "4096"]) else { return };
    for (args, option) in [
        (&["--block", "512"][..], "--block"),
        (&["--block", "6144"], "--block"),
        (&["--offset", "512"], "--offset"),
        (&["--bytes", "512"], "--bytes"),
    ] {
        let ended = diskread().run(&[&[&device.0, "--method", "direct"], args].concat());
        assert_eq!(ended.failure(2, &[option, "4096", &device.0]).stdout, "");
    }
    assert_eq!(line(&[&device.0, "--method", "direct", "--block", "4K"]).count("bytes"), MIB);
}

#[test]
fn what_is_no_storage_is_refused_promptly() {
    let scratch = Scratch::new();
    let fifo = scratch.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let directory = scratch.text();
    for (path, status, words) in [
        ("/dev/nosuch", 1, &["/dev/nosuch", "No such file"][..]),
        (fifo.to_str().unwrap(), 1, &["FIFO"]),
        (directory, 1, &["directory", "nfscopy file DIR"]),
        ("/dev/null", 1, &["character device"]),
        ("/dev/zero", 2, &["/dev/zero", "--bytes"]),
    ] {
        let ended = diskread().run(&[path]);
        assert!(ended.took < Duration::from_secs(5), "{ended:?}");
        assert_eq!(ended.failure(status, words).stdout, "", "{path}");
    }
    assert!(!Path::new("/dev/nosuch").exists());
    assert_eq!(line(&["/dev/zero", "--bytes", "3M"]).count("bytes"), 3 * MIB);
}

#[test]
fn a_file_without_permission_is_named() {
    let scratch = Scratch::new();
    let file = scratch.file("secret", 100);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if !is_root() {
        return;
    }
    fs::set_permissions(scratch.text(), fs::Permissions::from_mode(0o755)).unwrap();
    // A copy, since the build directory may be closed to others.
    let tool = scratch.path("diskread");
    fs::copy(diskread().path(), &tool).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let nobody = Tool::new(&tool).within(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    assert_eq!(nobody.run(&[&file]).failure(1, &[&file, "Permission denied"]).stdout, "");
    let open = scratch.file("open", MIB);
    fs::set_permissions(&open, fs::Permissions::from_mode(0o444)).unwrap();
    let line = nobody.run(&[&open, "--quiet"]).success().records().remove(0);
    assert_eq!(line.count("bytes"), MIB, "the owner is not needed to read: {line:?}");
}
