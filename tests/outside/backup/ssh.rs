//! A host as a place, with a real sshd.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::proxy::{Proxy, Way};
use crate::sealing::full;
use crate::sshd::Sshd;
use crate::support::{NAME, Numbers, Sample, names, quiet, said, sample};

const SIZE: usize = 6 << 20;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Everything a place must do, in a folder whose name is as bad as it can be.
fn walk(options: &str) {
    let work = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(work.path());
    let far = work.path().join("far/it's \"my\" [1] * back\\up? #1 é");
    let remote = sshd.place(sshd.port, text(&far), options);
    assert!(remote.list().unwrap().is_empty(), "a folder that is not there holds nothing");
    let first = sample(work.path(), 700_001, 1);
    remote.put(&first.path, NAME, &first.sha256, &mut quiet()).unwrap();
    assert_eq!(names(&far), [NAME]);
    let mode = fs::metadata(far.join(NAME)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = sample(work.path(), 200, 2);
    let sidecar = format!("{NAME}.json");
    for sample in [&first, &second] {
        remote.put(&sample.path, &sidecar, &sample.sha256, &mut quiet()).unwrap();
        assert!(fs::read(far.join(&sidecar)).unwrap() == sample.bytes);
    }
    let listed: Vec<(String, u64)> =
        remote.list().unwrap().into_iter().map(|file| (file.name, file.size)).collect();
    assert_eq!(listed, [(NAME.to_owned(), 700_001), (sidecar.clone(), 200)]);
    let back = work.path().join("it's [back]");
    remote.get(NAME, &back, &mut quiet()).unwrap();
    assert!(fs::read(&back).unwrap() == first.bytes);
    assert_eq!(fs::metadata(&back).unwrap().permissions().mode() & 0o777, 0o600);
    remote.delete(&sidecar).unwrap();
    remote.delete(&sidecar).unwrap();
    assert_eq!(names(&far), [NAME]);
    // What an earlier try left is something else, as long as the file or longer.
    for size in [700_001, 700_002, 10] {
        let other = sample(work.path(), size, 3);
        fs::copy(&other.path, far.join(format!(".{NAME}.partial"))).unwrap();
        remote.put(&first.path, NAME, &first.sha256, &mut quiet()).unwrap();
        assert!(fs::read(far.join(NAME)).unwrap() == first.bytes);
        assert_eq!(names(&far), [NAME]);
    }
}

#[test]
fn sftp_sends_lists_fetches_replaces_and_deletes_in_any_folder() {
    walk("");
}

#[test]
fn rsync_sends_lists_fetches_replaces_and_deletes_in_any_folder() {
    walk("&transfer=rsync");
}

/// Sends through a line that is cut, then without; what is there in the end must be right.
fn cut_while_sending(sshd: &Sshd, sample: &Sample, far: &Path, cut: u64, options: &str) {
    let proxy = Proxy::start(sshd.port, Way::Up, cut);
    let broken = sshd.place(proxy.port, text(far), options);
    let result = broken.put(&sample.path, NAME, &sample.sha256, &mut quiet());
    let told = said(result);
    assert!(told.contains("could not"), "cut after {cut}: {told}");
    assert!(!far.join(NAME).exists(), "cut after {cut}");
    let left = fs::metadata(far.join(format!(".{NAME}.partial"))).map_or(0, |found| found.len());
    let counting = Proxy::start(sshd.port, Way::Up, u64::MAX);
    let whole = sshd.place(counting.port, text(far), options);
    whole.put(&sample.path, NAME, &sample.sha256, &mut quiet()).unwrap();
    assert!(fs::read(far.join(NAME)).unwrap() == sample.bytes, "cut after {cut}");
    assert_eq!(names(far), [NAME], "cut after {cut}");
    let again = counting.counted();
    // Requests and acknowledgements of the read-back go up too.
    let most = SIZE as u64 - left + SIZE as u64 / 10 + 60_000;
    assert!(again < most, "cut after {cut}, {left} were there, {again} were sent again");
    fs::remove_file(far.join(NAME)).unwrap();
}

#[test]
fn sending_by_sftp_goes_on_where_it_was_cut() {
    let work = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(work.path());
    let sample = sample(work.path(), SIZE, 4);
    let far = work.path().join("far");
    fs::create_dir(&far).unwrap();
    let mut numbers = Numbers::new(11);
    for _ in 0..if full() { 20 } else { 4 } {
        let cut = numbers.next() % SIZE as u64;
        cut_while_sending(&sshd, &sample, &far, cut, "");
    }
}

#[test]
fn sending_by_rsync_goes_on_where_it_was_cut() {
    let work = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(work.path());
    let sample = sample(work.path(), SIZE, 5);
    let far = work.path().join("far");
    fs::create_dir(&far).unwrap();
    let mut numbers = Numbers::new(12);
    for _ in 0..if full() { 20 } else { 2 } {
        let cut = numbers.next() % SIZE as u64;
        cut_while_sending(&sshd, &sample, &far, cut, "&transfer=rsync");
    }
}

#[test]
fn fetching_by_sftp_goes_on_where_it_was_cut() {
    let work = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(work.path());
    let sample = sample(work.path(), SIZE, 6);
    let far = work.path().join("far");
    fs::create_dir(&far).unwrap();
    fs::copy(&sample.path, far.join(NAME)).unwrap();
    let back = work.path().join("back");
    let mut numbers = Numbers::new(13);
    for _ in 0..if full() { 20 } else { 4 } {
        let cut = numbers.next() % SIZE as u64;
        let proxy = Proxy::start(sshd.port, Way::Down, cut);
        let broken = sshd.place(proxy.port, text(&far), "");
        assert!(broken.get(NAME, &back, &mut quiet()).is_err(), "cut after {cut}");
        let whole = sshd.place(sshd.port, text(&far), "");
        whole.get(NAME, &back, &mut quiet()).unwrap();
        assert!(fs::read(&back).unwrap() == sample.bytes, "cut after {cut}");
        fs::remove_file(&back).unwrap();
    }
}

#[test]
fn what_goes_wrong_is_told_with_the_next_command_and_leaves_no_name() {
    let work = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(work.path());
    let far = work.path().join("far");
    fs::create_dir(&far).unwrap();
    let sample = sample(work.path(), 1000, 1);
    let closed = Proxy::start(sshd.port, Way::Up, 0).port;
    let known = format!("&known_hosts={}", sshd.key("known"));
    let none = format!("&known_hosts={}", sshd.key("none"));
    let changed = format!("&known_hosts={}", sshd.key("changed"));
    for (port, key, options, expected) in [
        (sshd.port, "other", &known, ["accepts none of the keys", "ssh-copy-id -i"]),
        (sshd.port, "mine", &none, ["not known here", "ssh-keyscan -p"]),
        (sshd.port, "mine", &changed, ["someone may be intercepting", "ssh-keygen -R"]),
        (closed, "mine", &known, ["could not send to ssh://127.0.0.1", "| "]),
    ] {
        let remote = sshd.place_with(port, text(&far), key, options);
        let said = said(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()));
        for part in expected {
            assert!(said.contains(part), "{key} {options}: {said}");
        }
        assert!(remote.list().is_err());
        assert!(remote.get(NAME, &work.path().join("back"), &mut quiet()).is_err());
        assert!(names(&far).is_empty());
    }
    let remote = sshd.place(sshd.port, text(&far), "");
    let told = said(remote.get(NAME, &work.path().join("back"), &mut quiet()));
    assert!(told.contains("no such file"), "{told}");
    // A file where the folder should be.
    let remote = sshd.place(sshd.port, text(&sample.path), "");
    assert!(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()).is_err());
}
