//! `nfscopy copy`: whose name the copy gets, and what it never replaces.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use testkit::disk::{Scratch, names};
use testkit::eventually;

use super::{MIB, lines, nfscopy, text};

#[test]
fn nothing_is_overwritten_unless_forced() {
    let scratch = Scratch::new();
    let source = scratch.file("source", 1000);
    fs::create_dir(scratch.path("directory")).unwrap();
    let directory = scratch.path("directory");
    lines(&["copy", &source, text(&directory)]);
    let inside = directory.join("source");
    fs::write(&inside, "mine").unwrap();
    for target in [&directory, &inside] {
        let ended = nfscopy().run(&["copy", &source, text(target)]).failure(1, &["exists", "--force", "source"]);
        assert_eq!(ended.stdout, "");
        assert_eq!(fs::read_to_string(&inside).unwrap(), "mine");
    }
    lines(&["copy", &source, text(&directory), "--force", "--runs", "2"]);
    assert_eq!(fs::read(&inside).unwrap().len(), 1000);
    // A tree in the place of a tree.
    let tree = scratch.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("new"), "x").unwrap();
    fs::create_dir(directory.join("tree")).unwrap();
    fs::write(directory.join("tree/old"), "y").unwrap();
    nfscopy().run(&["copy", text(&tree), text(&directory)]).failure(1, &["exists"]).stdout.clear();
    lines(&["copy", text(&tree), text(&directory), "--force"]);
    assert_eq!(names(&directory.join("tree")), ["new"]);
    assert_eq!(names(&directory), ["source", "tree"]);
}

#[test]
fn a_name_that_somebody_takes_meanwhile_is_his() {
    let scratch = Scratch::new();
    let source = scratch.path("source");
    File::create(&source).unwrap().set_len(256 * MIB).unwrap();
    let directory = scratch.path("directory");
    fs::create_dir(&directory).unwrap();
    let target = directory.join("target");
    let running = nfscopy().start(&["copy", text(&source), text(&target), "--quiet"]);
    eventually("a copy on its way", Duration::from_secs(20), || !names(&directory).is_empty());
    fs::write(&target, "mine").unwrap();
    let ended = running.end().failure(1, &["directory/target: cannot give the copy this name", "File exists"]);
    let line = ended.total("copy");
    assert_eq!(
        (line.text("failure"), line.count("errors"), line.text("flags")),
        ("rename:EEXIST", 1, "partial sparse")
    );
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    assert_eq!(names(&directory), ["target"]);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    let source = scratch.file("source", 10);
    let [tree, inside] = ["tree", "tree/inside"].map(|name| scratch.path(name));
    fs::create_dir_all(&inside).unwrap();
    let there = scratch.text().to_owned();
    for (from, to, words) in [
        (text(&tree), text(&inside), &["into itself"][..]),
        (&source, &source, &["same"]),
        (&source, &format!("{source}/x"), &["not a directory", "source"]),
        (&source, &format!("{there}/absent/x"), &["absent", "No such file"]),
        (&format!("{there}/absent"), &format!("{there}/x"), &["absent", "No such file"]),
        ("/dev/zero", &format!("{there}/x"), &["/dev/zero", "character device"]),
    ] {
        let ended = nfscopy().run(&["copy", from, to]).failure(1, words);
        assert_eq!(ended.stdout, "", "{from} {to}");
    }
    let target = format!("{there}/x");
    let ended = nfscopy().run(&["copy", "/proc/self/mem", &target]).failure(1, &["/proc/self/mem: cannot read", "EIO"]);
    assert!(ended.total("copy").has_flag("partial"), "what cannot be read is named itself: {ended:?}");
    assert_eq!(names(scratch.path("").as_path()), ["source", "tree"]);
}

#[test]
fn force_replaces_neither_what_holds_the_source_nor_a_directory_with_a_file() {
    let scratch = Scratch::new();
    let [tree, same, file] = ["x", "x/x", "x/y/x"].map(|name| scratch.path(name));
    fs::create_dir_all(&same).unwrap();
    fs::create_dir(tree.join("y")).unwrap();
    fs::write(same.join("precious"), "a").unwrap();
    fs::write(&file, "b").unwrap();
    for (from, words) in [(&same, ["x: ", "is in it"]), (&file, ["x: ", "is in it"])] {
        nfscopy().run(&["copy", "--force", text(from), scratch.text()]).failure(1, &words).stdout.clear();
    }
    let other = scratch.path("other");
    fs::create_dir_all(other.join("x")).unwrap();
    fs::write(other.join("x/mine"), "c").unwrap();
    let args = ["copy", "--force", text(&file), text(&other)];
    nfscopy().run(&args).failure(1, &["other/x", "is a directory"]).stdout.clear();
    assert_eq!(fs::read_to_string(same.join("precious")).unwrap(), "a");
    assert_eq!(fs::read_to_string(other.join("x/mine")).unwrap(), "c");
    assert_eq!(names(scratch.path("").as_path()), ["other", "x"]);
}

#[test]
fn a_directory_receives_the_name_as_typed() {
    let scratch = Scratch::new();
    let source = scratch.file("source", 10);
    let (link, directory) = (scratch.path("link"), scratch.path("directory"));
    symlink(&source, &link).unwrap();
    fs::create_dir(&directory).unwrap();
    lines(&["copy", text(&link), text(&directory)]);
    assert_eq!(names(&directory), ["link"]);
    assert!(directory.join("link").symlink_metadata().unwrap().is_file(), "what it leads to is copied");
}

#[test]
fn a_reader_that_goes_away_does_not_take_the_copy_with_it_unsaid() {
    let scratch = Scratch::new();
    let source = scratch.file("source", 1000);
    let target = scratch.path("target");
    let script =
        format!("{} copy {source} {} --quiet | true; echo ${{PIPESTATUS[0]}}", nfscopy().path(), text(&target));
    for _ in 0..10 {
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let status = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(status.trim() == "0", target.exists(), "{status} {stderr}");
        assert_eq!(status.trim() == "0", stderr.is_empty(), "{status} {stderr}");
        let _ = fs::remove_file(&target);
    }
    assert_eq!(names(scratch.path("").as_path()), ["source"]);
}
