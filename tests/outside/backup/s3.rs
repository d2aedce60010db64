//! A bucket as a place, with a real service.

use std::fs;

use crate::proxy::{Proxy, Way};
use crate::s3_service::{Service, python};
use crate::sealing::full;
use crate::support::answers::start;
use crate::support::bucket::{EMPTY, keys, place};
use crate::support::{NAME, Numbers, quiet, said, sample, sha256};

const PART: u64 = 16 << 20;
const SIZE: usize = 2 * PART as usize + 5_000_001;

#[test]
fn a_bucket_takes_lists_gives_and_deletes_and_warns_without_versioning() {
    let work = tempfile::tempdir().unwrap();
    let service = Service::start();
    service.make("backups");
    let remote = place(service.port, "backups", "my laptop/a+b");
    assert!(remote.list().unwrap().is_empty());
    let warnings = remote.warnings().unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("versioning is off"), "{warnings:?}");
    service.keep_versions("backups");
    assert!(remote.warnings().unwrap().is_empty());

    let small = sample(work.path(), 1000, 1);
    let large = sample(work.path(), SIZE, 2);
    let sidecar = format!("{NAME}.json");
    remote.put(&large.path, NAME, &large.sha256, &mut quiet()).unwrap();
    remote.put(&small.path, &sidecar, &small.sha256, &mut quiet()).unwrap();
    let object = service.object("backups", &format!("my%20laptop/a%2Bb/{NAME}")).unwrap();
    assert!(object == large.bytes);
    let listed: Vec<(String, u64)> =
        remote.list().unwrap().into_iter().map(|file| (file.name, file.size)).collect();
    assert_eq!(listed, [(NAME.to_owned(), SIZE as u64), (sidecar.clone(), 1000)]);
    assert!(place(service.port, "backups", "my laptop").list().unwrap().is_empty());

    let back = work.path().join("back");
    remote.get(NAME, &back, &mut quiet()).unwrap();
    remote.get(NAME, &back, &mut quiet()).unwrap();
    assert!(fs::read(&back).unwrap() == large.bytes);
    remote.delete(&sidecar).unwrap();
    remote.delete(&sidecar).unwrap();
    assert_eq!(remote.list().unwrap().len(), 1);

    let wrong = sha256(b"what it was when it was made");
    for name in [NAME, &sidecar] {
        let told = said(remote.put(&small.path, name, &wrong, &mut quiet()));
        assert!(told.contains("not the one it had"), "{told}");
    }
    assert_eq!(remote.list().unwrap().len(), 1);
    let object = service.object("backups", &format!("my%20laptop/a%2Bb/{NAME}")).unwrap();
    assert!(object == large.bytes, "what has rotted here does not replace what is there");
    what_goes_wrong(&service, &small.path, &small.sha256);
}

fn what_goes_wrong(service: &Service, from: &std::path::Path, sha256: &str) {
    let closed = Proxy::start(service.port, Way::Up, 0);
    let port = closed.port;
    drop(closed);
    for (remote, expected) in [
        (place(service.port, "no-such-bucket", ""), "there is no such bucket"),
        (place(port, "backups", ""), "could not send to s3://backups/ at 127.0.0.1"),
    ] {
        let told = said(remote.put(from, NAME, sha256, &mut quiet()));
        assert!(told.contains(expected), "{told}");
        assert!(
            remote.list().is_err() && remote.warnings().is_err() && remote.delete(NAME).is_err()
        );
    }
    let remote = place(service.port, "backups", "");
    let told = said(remote.get(NAME, &from.with_extension("back"), &mut quiet()));
    assert!(told.contains("there is no such file"), "{told}");
}

#[test]
fn sending_to_and_fetching_from_a_bucket_go_on_where_they_were_cut() {
    let work = tempfile::tempdir().unwrap();
    let service = Service::start();
    service.make("backups");
    let sample = sample(work.path(), SIZE, 3);
    let back = work.path().join("back");
    let mut numbers = Numbers::new(21);
    for round in 0..if full() { 20 } else { 4 } {
        let cut = numbers.next() % SIZE as u64;
        let prefix = format!("round-{round}");
        let whole = place(service.port, "backups", &prefix);

        let proxy = Proxy::start(service.port, Way::Up, cut);
        let broken = place(proxy.port, "backups", &prefix);
        let told = said(broken.put(&sample.path, NAME, &sample.sha256, &mut quiet()));
        assert!(told.contains("could not send to"), "cut after {cut}: {told}");
        assert!(whole.list().unwrap().is_empty(), "cut after {cut}");

        let counting = Proxy::start(service.port, Way::Up, u64::MAX);
        let again = place(counting.port, "backups", &prefix);
        again.put(&sample.path, NAME, &sample.sha256, &mut quiet()).unwrap();
        let object = service.object("backups", &format!("{prefix}/{NAME}")).unwrap();
        assert!(object == sample.bytes, "cut after {cut}");
        // Heads of requests come to some thousand bytes, so that a part may have been cut at its very end.
        let sent_before = cut.saturating_sub(10_000) / PART * PART;
        let most = SIZE as u64 - sent_before + 20_000;
        assert!(counting.counted() < most, "cut after {cut}, {} sent again", counting.counted());

        let proxy = Proxy::start(service.port, Way::Down, cut);
        let broken = place(proxy.port, "backups", &prefix);
        assert!(broken.get(NAME, &back, &mut quiet()).is_err(), "cut after {cut}");
        whole.get(NAME, &back, &mut quiet()).unwrap();
        assert!(fs::read(&back).unwrap() == sample.bytes, "cut after {cut}");
        fs::remove_file(&back).unwrap();
        whole.delete(NAME).unwrap();
    }
    another_file_of_the_same_name(&service, work.path());
}

/// Parts of one file are never mixed with those of another.
fn another_file_of_the_same_name(service: &Service, work: &std::path::Path) {
    let (one, other) = (sample(work, SIZE, 4), sample(work, SIZE, 5));
    let proxy = Proxy::start(service.port, Way::Up, PART + 5_000_000);
    let broken = place(proxy.port, "backups", "other");
    assert!(broken.put(&one.path, NAME, &one.sha256, &mut quiet()).is_err());
    let whole = place(service.port, "backups", "other");
    whole.put(&other.path, NAME, &other.sha256, &mut quiet()).unwrap();
    assert!(service.object("backups", &format!("other/{NAME}")).unwrap() == other.bytes);
}

#[test]
fn a_long_list_comes_in_pages_and_is_whole() {
    let count = if full() { 1_100 } else { 3 };
    let work = tempfile::tempdir().unwrap();
    let service = Service::start();
    service.make("backups");
    let sample = sample(work.path(), 10, 1);
    let remote = place(service.port, "backups", "x");
    let names: Vec<String> =
        (0..count).map(|tag| format!("hermes-all-20261116T033000Z-{tag:08x}.tar.zst")).collect();
    for name in &names {
        remote.put(&sample.path, name, &sample.sha256, &mut quiet()).unwrap();
    }
    let listed: Vec<String> = remote.list().unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(listed, names);
}

/// The signature that Amazon's own library makes for a request of ours.
const SIGN: &str = r#"
import sys
from urllib.parse import urlsplit, parse_qs
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
method, url, md5, key, secret = sys.argv[1:]
query = parse_qs(urlsplit(url).query, keep_blank_values=True)
headers = {'content-md5': md5} if 'content-md5' in query['X-Amz-SignedHeaders'][0] else {}
request = AWSRequest(method=method, url=url.split('&X-Amz-Signature=')[0], headers=headers)
request.context['timestamp'] = query['X-Amz-Date'][0]
signer = S3SigV4QueryAuth(Credentials(key, secret), 's3', 'us-east-1')
text = signer.string_to_sign(request, signer.canonical_request(request))
print(signer.signature(text, request))
"#;

#[test]
fn requests_are_signed_as_amazon_signs_them() {
    let work = tempfile::tempdir().unwrap();
    let sample = sample(work.path(), (16 << 20) + 1, 1);
    let (port, asked) = start(vec![
        ("200 OK", EMPTY),
        ("200 OK", "<VersioningConfiguration/>"),
        ("200 OK", "<ListMultipartUploadsResult/>"),
        ("200 OK", "<R><UploadId>a/b+c=</UploadId></R>"),
        ("200 OK\r\netag: \"x\"", ""),
        ("200 OK\r\netag: \"y\"", ""),
        ("403 Forbidden", ""),
    ]);
    let remote = place(port, "backups", "my laptop/a+b~é");
    remote.list().unwrap();
    remote.warnings().unwrap();
    assert!(remote.put(&sample.path, NAME, &sample.sha256, &mut quiet()).is_err());
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 7);
    for request in asked.iter() {
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let md5 = request.lines().find_map(|line| line.strip_prefix("content-md5: "));
        let url = format!("http://127.0.0.1:{port}{path}");
        let keys = keys();
        let output = std::process::Command::new(python())
            .args(["-c", SIGN, method, &url, md5.unwrap_or_default(), &keys.id, &keys.secret])
            .output()
            .unwrap();
        let signature = String::from_utf8(output.stdout).unwrap();
        let ours = path.rsplit_once("X-Amz-Signature=").unwrap().1;
        assert_eq!(signature.trim(), ours, "{request} {}", String::from_utf8_lossy(&output.stderr));
    }
}
