//! A bucket on the loopback.

use hermes_backup::remote::{self, Remote, S3Keys};

/// The list of a bucket that holds nothing.
pub(crate) const EMPTY: &str = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
    <IsTruncated>false</IsTruncated></ListBucketResult>";

/// A bucket behind a port.
pub(crate) fn place(port: u16, bucket: &str, prefix: &str) -> Box<dyn Remote> {
    let text = format!("s3://{bucket}/{prefix}?endpoint=http://127.0.0.1:{port}");
    remote::open(&remote::parse(&text).unwrap(), Some(&keys())).unwrap()
}

pub(crate) fn keys() -> S3Keys {
    S3Keys {
        id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        secret: "not-to-be-shown".to_owned().into(),
        token: None,
        authorities: None,
    }
}
