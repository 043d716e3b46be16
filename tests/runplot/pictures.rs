//! The file: whole or not there, of the size asked for, safe to open.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{REPORT_D, Scratch, assert_sound, runplot, texts, total};

#[test]
fn a_png_has_the_size_that_was_asked_for_and_needs_no_fonts() {
    let scratch = Scratch::new();
    let picture = scratch.picture("out.png", &[REPORT_D, "--size", "640x480"]);
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(picture[12..16], *b"IHDR");
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (640, 480));
    assert!(picture.ends_with(b"IEND\xaeB`\x82"));
    // Fonts of the machine change nothing: there are none to be found here.
    let path = scratch.path("bare.png");
    let output = runplot()
        .command(&[REPORT_D, "--size", "640x480", "-o", path.to_str().unwrap()])
        .env("FONTCONFIG_FILE", "/dev/null")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(fs::read(path).unwrap(), picture, "the same lines make the same picture");
}

#[test]
fn a_picture_without_room_for_its_panels_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("small.svg");
    let of_both = |test: &str| ["a", "b"].map(|label| total(label, 1, "5e6").replace("tcp_recv", test));
    let log = scratch.log(&["read", "write", "create", "delete", "stat"].map(of_both).concat());
    let _ =
        runplot().run(&[&log, "-o", path.to_str().unwrap(), "--size", "320x200"]).failure(2, &["--size", "5 panels"]);
    assert!(!path.exists());
}

#[test]
fn a_picture_is_complete_or_not_there() {
    let scratch = Scratch::new();
    let log = scratch.log(&[total("a", 1, "1e6")]);
    let missing = scratch.path("no/such/x.svg");
    let _ = runplot().run(&[&log, "-o", missing.to_str().unwrap()]).failure(1, &["cannot write", "No such file"]);
    let before = scratch.files();
    let out = scratch.path("out.svg");
    fs::write(&out, "what was there").unwrap();
    let empty = scratch.path("empty.csv");
    fs::write(&empty, "").unwrap();
    let _ = runplot().run(&[empty.to_str().unwrap(), "-o", out.to_str().unwrap()]).failure(1, &["no lines"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "what was there");
    let _ = runplot().run(&[&log, "-o", out.to_str().unwrap()]).success();
    assert!(fs::read_to_string(&out).unwrap().ends_with("</svg>\n"));
    assert_eq!(scratch.files(), before + 2, "no temporary file is left");
    let mode = fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_eq!(mode & 0o077, fs::metadata(&log).unwrap().permissions().mode() & 0o077, "as the umask wants it");
}

#[test]
fn a_label_cannot_break_the_picture_or_the_terminal() {
    let scratch = Scratch::new();
    let label = "\"<b>&\u{1b}[2Jµ, 'x' \u{7}\"";
    let log = scratch.log(&[total(label, 1, "5e6"), total("b", 1, "6e6")]);
    let svg = scratch.svg(&[&log]);
    assert_sound(&svg);
    assert!(svg.contains("&lt;b&gt;&amp;\u{fffd}[2Jµ, "), "{:?}", texts(&svg));
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
    let chart = runplot().run(&[&log]).success().stdout;
    assert!(!chart.contains(|c: char| c.is_control() && c != '\n'), "{chart:?}");
}

#[test]
fn pictures_in_the_readme_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown: Vec<&str> = readme
        .split("](tests/pictures/")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(name, _)| name)
        .collect();
    assert!(shown.len() >= 3, "{shown:?}");
    for name in shown {
        let svg = fs::read_to_string(root.join("tests/pictures").join(name)).unwrap();
        assert_sound(&svg);
    }
}
