//! What a bucket may answer, given by a service that answers as it is told.

use crate::support::answers::start;
use crate::support::bucket::{EMPTY, place};
use crate::support::{NAME, quiet, said, sample, sha256};

#[test]
fn what_passes_is_asked_again_and_goes_well() {
    let (port, asked) = start(vec![
        ("503 Slow Down\r\nretry-after: 0", "<Error><Code>SlowDown</Code></Error>"),
        ("500 Internal Server Error", ""),
        ("200 OK", EMPTY),
    ]);
    assert!(place(port, "backups", "").list().unwrap().is_empty());
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[test]
fn asking_again_has_an_end() {
    let (port, asked) = start(vec![("429 Too Many\r\nretry-after: 0", ""); 9]);
    let told = said(place(port, "backups", "").list());
    assert!(told.contains("limiting requests"), "{told}");
    assert_eq!(asked.lock().unwrap().len(), 4);
}

#[test]
fn a_complaint_behind_a_status_of_success_is_a_complaint() {
    let (port, _) =
        start(vec![("200 OK", "<Error><Code>InternalError</Code></Error>"), ("200 OK", EMPTY)]);
    assert!(place(port, "backups", "").list().unwrap().is_empty());
}

#[test]
fn wrong_keys_and_a_wrong_clock_are_told_in_words_and_without_secrets() {
    for (head, body, expected) in [
        ("403 Forbidden", "<Error><Code>InvalidAccessKeyId</Code></Error>", "AWS_ACCESS_KEY_ID"),
        (
            "403 Forbidden",
            "<Error><Code>SignatureDoesNotMatch</Code></Error>",
            "secret key does not belong to the access key",
        ),
        (
            "403 Forbidden\r\ndate: Thu, 01 Jan 2015 00:00:00 GMT",
            "<Error><Code>AccessDenied</Code><Message>Request is not valid yet</Message></Error>",
            "minutes ahead of the server's clock",
        ),
        (
            "301 Moved Permanently\r\nx-amz-bucket-region: eu-west-1\r\nlocation: http://127.0.0.1:1/",
            "",
            "&region=eu-west-1",
        ),
        ("200 OK", "<html>welcome to the hotel</html>", "is not valid"),
    ] {
        let (port, asked) = start(vec![(head, body)]);
        let told = said(place(port, "backups", "").list());
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("not-to-be-shown") && !told.contains("Signature="), "{told}");
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains("X-Amz-Signature=") && !asked[0].contains("not-to-be-shown"));
    }
}

#[test]
fn what_reads_back_as_something_else_is_deleted_at_once() {
    let work = tempfile::tempdir().unwrap();
    let sample = sample(work.path(), 5, 1);
    let (port, asked) = start(vec![
        ("200 OK\r\netag: \"x\"", ""),
        ("206 Partial Content\r\ncontent-range: bytes 0-4/5", "wrong"),
        ("204 No Content", ""),
    ]);
    let remote = place(port, "backups", "");
    let told = said(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()));
    assert!(told.contains("differs from what was sent"), "{told}");
    let asked = asked.lock().unwrap();
    let verbs: Vec<&str> = asked.iter().map(|request| request.split(' ').next().unwrap()).collect();
    assert_eq!(verbs, ["PUT", "GET", "DELETE"]);
    assert!(asked[0].to_lowercase().contains("content-md5: "), "{}", asked[0]);
}

#[test]
fn an_object_that_ends_too_early_is_not_taken_for_whole() {
    let work = tempfile::tempdir().unwrap();
    let sample = sample(work.path(), 10, 1);
    let hash = sha256(b"abcde");
    let (port, _) = start(vec![
        ("200 OK\r\netag: \"x\"", ""),
        ("206 Partial Content\r\ncontent-range: bytes 0-4/10", "abcde"),
        ("206 Partial Content\r\ncontent-range: bytes 5-9/10", ""),
        ("204 No Content", ""),
    ]);
    assert!(place(port, "backups", "").put(&sample.path, NAME, &hash, &mut quiet()).is_err());
}
