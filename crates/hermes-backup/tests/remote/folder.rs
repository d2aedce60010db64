//! A folder as a place.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hermes_backup::Error;
use hermes_backup::remote::{self, Remote};
use proptest::prelude::*;

use crate::support::{NAME, names, quiet, said, sample, sha256};

fn place(folder: &Path) -> Box<dyn Remote> {
    remote::open(&remote::parse(folder.to_str().unwrap()).unwrap(), None).unwrap()
}

#[test]
fn a_file_is_sent_listed_fetched_and_deleted() {
    let work = tempfile::tempdir().unwrap();
    let disk = tempfile::tempdir().unwrap();
    let remote = place(disk.path());
    let sample = sample(work.path(), 3_000_000, 1);
    remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()).unwrap();
    assert_eq!(names(disk.path()), [NAME]);
    let mode = fs::metadata(disk.path().join(NAME)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = remote.list().unwrap();
    assert_eq!((listed.len(), listed[0].name.as_str(), listed[0].size), (1, NAME, 3_000_000));
    let back = work.path().join("back");
    remote.get(NAME, &back, &mut quiet()).unwrap();
    assert_eq!(fs::read(&back).unwrap(), sample.bytes);
    remote.delete(NAME).unwrap();
    remote.delete(NAME).unwrap();
    assert!(remote.list().unwrap().is_empty());
}

#[test]
fn a_folder_that_is_not_there_is_a_disk_that_is_not_mounted() {
    let work = tempfile::tempdir().unwrap();
    let missing = work.path().join("nas");
    let remote = place(&missing);
    let sample = sample(work.path(), 10, 1);
    let said = said(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()));
    assert!(said.contains("no such folder") && said.contains("mount the disk"), "{said}");
    assert!(remote.list().is_err() && remote.warnings().is_err());
    assert!(!missing.exists());
}

#[test]
fn a_file_that_rotted_here_gets_no_name_there_and_is_blamed_itself() {
    let work = tempfile::tempdir().unwrap();
    let disk = tempfile::tempdir().unwrap();
    let sample = sample(work.path(), 1000, 1);
    let other = sha256(b"what it was when it was made");
    let error = place(disk.path()).put(&sample.path, NAME, &other, &mut quiet()).unwrap_err();
    assert!(matches!(error, Error::Tampered { .. }), "{error}");
    assert!(names(disk.path()).is_empty());
}

#[test]
fn names_that_lead_elsewhere_and_links_are_refused() {
    let work = tempfile::tempdir().unwrap();
    let disk = tempfile::tempdir().unwrap();
    let remote = place(disk.path());
    let sample = sample(work.path(), 1000, 1);
    for name in
        ["../x", "x", &format!("../{NAME}"), "hermes-../../x-20261116T033000Z-0000002a.tar.gz"]
    {
        assert!(remote.put(&sample.path, name, &sample.sha256, &mut quiet()).is_err(), "{name}");
        assert!(remote.get(name, &work.path().join("back"), &mut quiet()).is_err(), "{name}");
        assert!(remote.delete(name).is_err(), "{name}");
    }
    let victim = work.path().join("victim");
    hermes_home::atomic::write(&victim, b"mine").unwrap();
    symlink(&victim, disk.path().join(format!(".{NAME}.partial"))).unwrap();
    assert!(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()).is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_cut_copy_is_gone_on_with_and_any_other_leftover_is_replaced(
        cut in 0usize..=2_500_000, same: bool, longer in 0usize..3,
    ) {
        let work = tempfile::tempdir().unwrap();
        let disk = tempfile::tempdir().unwrap();
        let sample = sample(work.path(), 2_500_000, 7);
        let mut left = sample.bytes[..cut].to_vec();
        let goes_on = cut > 0 && same && longer == 0;
        if !same && cut > 0 {
            left[cut / 2] ^= 1;
        }
        if longer > 0 {
            left.resize(2_500_000 + longer, 0);
        }
        hermes_home::atomic::write(&disk.path().join(format!(".{NAME}.partial")), &left).unwrap();
        let mut first = None;
        let remote = place(disk.path());
        remote
            .put(&sample.path, NAME, &sample.sha256, &mut |step| {
                first.get_or_insert(step.done);
            })
            .unwrap();
        prop_assert_eq!(first, Some(if goes_on { cut as u64 } else { 0 }));
        prop_assert_eq!(names(disk.path()), [NAME]);
        prop_assert!(fs::read(disk.path().join(NAME)).unwrap() == sample.bytes);
    }
}
