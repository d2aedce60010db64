//! A real S3 service on loopback.

use crate::service::Server;

pub(crate) struct Service {
    pub(crate) port: u16,
    _server: Server,
}

impl Service {
    /// Starts one without buckets.
    pub(crate) fn start() -> Service {
        let python = python();
        let program = [&python, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"];
        let (server, port) = Server::start(&program, |line| {
            let (_, address) = line.split_once("Running on http://127.0.0.1:")?;
            address.trim().parse().ok()
        });
        Service { port, _server: server }
    }

    /// Makes a bucket.
    pub(crate) fn make(&self, bucket: &str) {
        let url = format!("http://127.0.0.1:{}/{bucket}", self.port);
        ureq::put(&url).send_empty().unwrap();
    }

    /// Lets a bucket keep what is deleted or replaced.
    pub(crate) fn keep_versions(&self, bucket: &str) {
        let url = format!("http://127.0.0.1:{}/{bucket}?versioning", self.port);
        let wish = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
            <Status>Enabled</Status></VersioningConfiguration>";
        ureq::put(&url).send(wish).unwrap();
    }

    /// What lies in a bucket by this key, without our own code.
    pub(crate) fn object(&self, bucket: &str, key: &str) -> Option<Vec<u8>> {
        let url = format!("http://127.0.0.1:{}/{bucket}/{key}", self.port);
        let mut answer = ureq::get(&url).call().ok()?;
        Some(answer.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap())
    }
}

/// The Python of the environment that holds the service; `./test` makes it.
pub(crate) fn python() -> String {
    let named = std::env::vars().find(|(name, _)| name == "HERMES_TEST_S3").map(|(_, value)| value);
    let path = named.unwrap_or_default();
    assert!(std::path::Path::new(&path).exists(), "{path:?} is missing: run `./test`");
    path
}
