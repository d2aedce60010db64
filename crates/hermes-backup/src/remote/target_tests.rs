//! What can be written for a place, and what is refused.

use proptest::prelude::*;

use super::*;

fn s3_of(text: &str) -> S3 {
    match parse(text).unwrap().kind {
        Kind::S3(s3) => s3,
        other => panic!("{text}: {other:?}"),
    }
}

fn ssh_of(text: &str) -> Ssh {
    match parse(text).unwrap().kind {
        Kind::Ssh(ssh) => ssh,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_folder_is_a_whole_path_with_its_own_rules() {
    let target = parse("/mnt/nas/my hermes?keep=last:30,monthly:12").unwrap();
    assert_eq!(target.name, "/mnt/nas/my hermes");
    assert_eq!(target.kind, Kind::Folder("/mnt/nas/my hermes".into()));
    let keep = target.keep.unwrap();
    assert_eq!((keep.last, keep.monthly), (30, 12));
    assert_eq!(parse("file:///mnt/a%20b").unwrap().kind, Kind::Folder("/mnt/a b".into()));
}

#[test]
fn a_host_is_read_with_everything_that_belongs_to_it() {
    let ssh = ssh_of(
        "ssh://me@nas.example.org:2222/srv/my%20backups?transfer=rsync&identity=/k/a+b&known_hosts=/k/h",
    );
    assert_eq!(ssh.user.as_deref(), Some("me"));
    assert_eq!((ssh.host.as_str(), ssh.port, ssh.rsync), ("nas.example.org", Some(2222), true));
    assert_eq!(ssh.path, "/srv/my backups");
    assert_eq!(ssh.identity, Some("/k/a+b".into()));
    assert_eq!(ssh.known_hosts, Some("/k/h".into()));
    let ssh = ssh_of("ssh://[::1]/~/backups/");
    assert_eq!((ssh.host.as_str(), ssh.path.as_str()), ("::1", "backups"));
}

#[test]
fn a_place_is_told_in_the_words_it_was_written_in() {
    for text in ["ssh://me@host:2222/srv/x", "ssh://host/~/x", "ssh://[::1]:22/x", "/mnt/x"] {
        assert_eq!(parse(text).unwrap().place(), text);
    }
    let text = "s3://bucket/a/b?endpoint=http://localhost:9000";
    assert_eq!(parse(text).unwrap().place(), "s3://bucket/a/b at localhost:9000");
}

#[test]
fn a_bucket_without_endpoint_is_one_of_amazon() {
    let s3 = s3_of("s3://my-bucket/hermes/laptop?region=eu-west-1");
    assert_eq!(s3.endpoint, "https://s3.eu-west-1.amazonaws.com");
    assert_eq!((s3.prefix.as_str(), s3.path_style), ("hermes/laptop/", false));
    assert!(s3_of("s3://my.bucket").path_style);
    assert_eq!(s3_of("s3://my.bucket").prefix, "");
}

#[test]
fn the_usual_services_need_no_region() {
    for (endpoint, region) in [
        ("https://0123abcd.r2.cloudflarestorage.com", "auto"),
        ("https://s3.us-west-004.backblazeb2.com", "us-west-004"),
        ("s3.eu-central-1.wasabisys.com", "eu-central-1"),
        ("http://127.0.0.1:9000", "us-east-1"),
        ("https://minio.example.org", "us-east-1"),
    ] {
        let s3 = s3_of(&format!("s3://bucket?endpoint={endpoint}"));
        assert_eq!(s3.region, region, "{endpoint}");
        assert!(s3.path_style, "{endpoint}");
    }
    assert!(!s3_of("s3://bucket?endpoint=https://minio.example.org&style=host").path_style);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    for (text, why) in [
        ("backups", "absolute path"),
        ("~/backups", "absolute path"),
        ("ftp://host/x", "ftp:// is not supported"),
        ("ssh:///x", "no host"),
        ("ssh://host", "no folder"),
        ("ssh://host/", "no folder"),
        ("ssh://-oProxyCommand=x/y", "not valid"),
        ("ssh://host/x?transfer=scp", "sftp or rsync"),
        ("ssh://host/x?identity=key", "absolute path"),
        ("ssh://host/x?identity=/a%22b", "does not accept"),
        ("ssh://host/x?region=a", "no option \"region\""),
        ("s3://", "no bucket"),
        ("s3://bucket:99/x", "with the endpoint"),
        ("s3://bucket?style=virtual", "path or host"),
        ("s3://bucket?endpoint=ftp://x", "http:// or https://"),
        ("s3://bucket?endpiont=https://x", "no option \"endpiont\""),
        ("s3://bucket?region=a&region=b", "is given twice"),
        ("/mnt/x?keep=last:none", "write it like last:30"),
        ("/mnt/x\n", "control character"),
    ] {
        let said = parse(text).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn secrets_are_refused_and_not_repeated() {
    for text in [
        "ssh://me:hunter2@host/x",
        "s3://AKIA:hunter2@bucket/x",
        "s3://hunter2@bucket/x",
        "s3://bucket?access_key=a&secret=hunter2",
        "s3://bucket?AWS_SESSION_TOKEN=hunter2",
        "s3://bucket?endpoint=https://a:hunter2@host",
        "s3://bucket?endpoint=https://host?token=hunter2",
        "ssh://me:hunter2@host/x?password=hunter2",
    ] {
        let said = parse(text).unwrap_err().to_string();
        assert!(said.contains(".env"), "{text}: {said}");
        assert!(!said.contains("hunter2"), "{text}: {said}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        scheme in "(ssh://|s3://|file://|/|)", rest in "[a-z@:/?&=%~. \\[\\]-]{0,40}",
    ) {
        let _ = parse(&format!("{scheme}{rest}"));
    }

    #[test]
    fn any_folder_on_a_host_can_be_written(path in "/[a-z '\"\\[\\]*?#%\\\\é]{1,20}[a-z]") {
        let written: String = path
            .bytes()
            .map(|byte| if byte == b'/' { "/".to_owned() } else { format!("%{byte:02x}") })
            .collect();
        prop_assert_eq!(ssh_of(&format!("ssh://host{written}")).path, path);
    }
}
