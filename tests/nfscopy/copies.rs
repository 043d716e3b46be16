//! `nfscopy copy`: what arrives, and what is refused.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use testkit::disk::{Ext4, Loop, Scratch, names};
use testkit::{has_program, skip};

use super::{MIB, lines, nfscopy, text};

#[test]
fn a_file_arrives_whole_with_every_step_timed() {
    let scratch = Scratch::new();
    let source = scratch.file("source", 3 * MIB + 7);
    fs::set_permissions(&source, fs::Permissions::from_mode(0o640)).unwrap();
    let target = scratch.path("target");
    let records = lines(&["copy", &source, text(&target), "--verify"]);
    let [copy, verify] = &records[..] else { panic!("{records:?}") };
    assert_eq!((copy.text("test"), verify.text("test")), ("copy", "verify"));
    for record in &records {
        assert_eq!((record.count("bytes"), record.count("files"), record.text("flags")), (3 * MIB + 7, 1, ""));
        assert!(record.number("cached_pct") < 1.0, "evicted first: {record:?}");
    }
    assert_eq!((copy.text("mechanism"), copy.text("sync")), ("read_write", "fsync"));
    for step in ["open_s", "read_s", "write_s", "fsync_s", "close_s"] {
        assert!(copy.number(step) > 0.0, "{step} {copy:?}");
    }
    assert_eq!(fs::read(&source).unwrap(), fs::read(&target).unwrap());
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(scratch.path("").as_path()), ["source", "target"]);
}

#[test]
fn a_tree_is_copied_with_links_and_odd_names() {
    let scratch = Scratch::new();
    let tree = scratch.path("tree");
    fs::create_dir_all(tree.join("empty/deep")).unwrap();
    fs::write(tree.join("one"), vec![7; 200_000]).unwrap();
    fs::hard_link(tree.join("one"), tree.join("two")).unwrap();
    symlink("nowhere", tree.join("dangling")).unwrap();
    let odd = [&b"new\nline"[..], b"non-\xff-utf8", b"\"quoted\", comma", b" ", b"-rf"];
    for name in odd {
        fs::write(tree.join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::create_dir(tree.join("sealed")).unwrap();
    fs::write(tree.join("sealed/file"), "in it").unwrap();
    fs::set_permissions(tree.join("sealed"), fs::Permissions::from_mode(0o555)).unwrap();
    let copy = scratch.path("copy");
    let records = lines(&["copy", text(&tree), text(&copy), "--verify"]);
    let bytes = 200_000 + odd.iter().map(|name| name.len() as u64).sum::<u64>() + 5;
    assert_eq!((records[0].count("bytes"), records[0].count("files")), (bytes, 7));
    assert_eq!(records[0].count("ops"), 13, "directories and links count");
    assert_eq!((records[1].text("test"), records[1].count("bytes")), ("verify", bytes));
    assert_eq!(names(&tree), names(&copy));
    for name in odd {
        assert_eq!(fs::read(copy.join(OsStr::from_bytes(name))).unwrap(), name);
    }
    assert_eq!(fs::read_link(copy.join("dangling")).unwrap(), Path::new("nowhere"));
    let inode = |name: &str| copy.join(name).metadata().unwrap().ino();
    assert_eq!(inode("one"), inode("two"));
    assert!(copy.join("empty/deep").is_dir());
    assert_eq!(copy.join("sealed").metadata().unwrap().permissions().mode() & 0o777, 0o555);
}

#[test]
fn a_fifo_is_refused_by_a_name_that_takes_one_line() {
    let scratch = Scratch::new();
    let tree = scratch.path("tree");
    fs::create_dir(&tree).unwrap();
    nix::unistd::mkfifo(&tree.join("a\nfifo"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    let copy = scratch.path("copy");
    nfscopy().run(&["copy", text(&tree), text(&copy)]).failure(1, &[r"tree/a\nfifo", "FIFO"]).stdout.clear();
    assert_eq!(names(scratch.path("").as_path()), ["tree"]);
}

#[test]
fn dev_null_discards_what_is_read() {
    let scratch = Scratch::new();
    let source = scratch.file("source", MIB);
    let records = lines(&["copy", &source, "/dev/null"]);
    assert_eq!((records[0].count("bytes"), records[0].text("target")), (MIB, source.as_str()));
    assert_eq!((records[0].text("write_s"), records[0].text("sync")), ("", ""));
    assert!(Path::new("/dev/null").metadata().unwrap().rdev() != 0, "it is a device still");
}

#[test]
fn a_file_without_a_size_is_copied_to_its_end() {
    let scratch = Scratch::new();
    let target = scratch.path("version");
    for extra in [&[][..], &["--offload", "--force"]] {
        let records = lines(&[&["copy", "/proc/version", text(&target), "--verify"], extra].concat());
        assert_eq!(fs::read("/proc/version").unwrap(), fs::read(&target).unwrap());
        assert_eq!(records[0].text("mechanism"), "read_write");
        assert_eq!(records[0].has_flag("fallback"), !extra.is_empty());
    }
}

#[test]
fn more_than_two_gib_are_complete_and_verified() {
    let scratch = Scratch::new();
    let size = 2 * 1024 * MIB + 12_345;
    let source = scratch.path("source");
    let file = File::create(&source).unwrap();
    file.set_len(size).unwrap();
    for at in [0, 1 << 31, size - 5] {
        file.write_all_at(b"abcde", at).unwrap();
    }
    let target = scratch.path("target");
    let records = lines(&["copy", text(&source), text(&target), "--verify"]);
    for record in &records {
        assert_eq!(record.count("bytes"), size, "{record:?}");
    }
    assert!(records[0].has_flag("sparse"), "{records:?}");
    let (mut end, copy) = ([0; 5], File::open(&target).unwrap());
    copy.read_exact_at(&mut end, size - 5).unwrap();
    assert_eq!((copy.metadata().unwrap().len(), &end), (size, b"abcde"));
}

#[test]
fn the_kernel_copies_when_asked_to_and_the_line_says_what_happened() {
    let scratch = Scratch::new();
    let Some(ext4) = Ext4::new(&scratch, 64 * MIB) else { return };
    let source = format!("{}/source", ext4.path());
    fs::copy(scratch.file("source", MIB), &source).unwrap();
    let target = format!("{}/target", ext4.path());
    let records = lines(&["copy", &source, &target, "--offload", "--verify"]);
    assert_eq!((records[0].text("mechanism"), records[0].text("flags")), ("copy_file_range", ""), "{records:?}");
    assert_eq!(records[0].count("bytes"), MIB);
    // Nobody copies from one kind of file system to another for us.
    if Path::new("/dev/shm").is_dir() {
        let shared = tempfile::tempdir_in("/dev/shm").unwrap();
        let records = lines(&["copy", &source, text(shared.path()), "--offload"]);
        assert_eq!((records[0].text("mechanism"), records[0].text("flags")), ("read_write", "fallback"), "{records:?}");
    } else {
        skip("no /dev/shm", "mount a tmpfs there");
    }
}

#[test]
fn shared_blocks_are_called_so() {
    let scratch = Scratch::new();
    if !has_program("mkfs.xfs", "xfsprogs") {
        return;
    }
    let image = scratch.path("xfs");
    File::create(&image).unwrap().set_len(320 * MIB).unwrap();
    let Some(device) = Loop::new(text(&image), &[]) else { return };
    let made = Command::new("mkfs.xfs").args(["-q", "-m", "reflink=1", &device.0]).status().unwrap();
    assert!(made.success());
    let point = scratch.path("mounted");
    fs::create_dir(&point).unwrap();
    let mounted = Command::new("mount").args([&device.0, text(&point)]).output().unwrap();
    if !mounted.status.success() {
        skip(&String::from_utf8_lossy(&mounted.stderr), "load the xfs module");
        return;
    }
    let source = point.join("source");
    let outcome = std::panic::catch_unwind(|| {
        fs::write(&source, vec![3; 100_000]).unwrap();
        let records = lines(&["copy", text(&source), text(&point.join("target")), "--offload", "--verify"]);
        assert_eq!((records[0].text("mechanism"), records[0].count("bytes")), ("reflink", 100_000));
    });
    assert!(Command::new("umount").arg(&point).status().unwrap().success());
    outcome.unwrap();
}
