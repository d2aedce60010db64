//! Our own certificate and its key, read from the files that an address names.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};

use super::address::Identity;
use crate::error::ServerError;
use crate::{Error, Result};

/// What shows our certificate to a server that asks for one, and proves that it is ours.
pub(super) fn read(files: &Identity, provider: &CryptoProvider) -> Result<Arc<SingleCertAndKey>> {
    let Identity { certificate, key } = files;
    let chain = certificates(certificate)?;
    let signing = provider.key_provider.load_private_key(private_key(key)?).map_err(|_| {
        let hint = "use an RSA key of 2048 bits or more, or one of P-256, P-384 or Ed25519";
        refused(key, "its key has an unsupported type".to_owned(), hint.to_owned())
    })?;
    if !belongs(&*signing, &chain) {
        let hint = "set sslcert=… and sslkey=… to a certificate and its own key".to_owned();
        let why = format!("it is not the key of {}", certificate.display());
        return Err(refused(key, why, hint));
    }
    Ok(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, signing))))
}

/// Whether the first certificate holds the public half of a key. Its bytes are looked for, since rustls cannot read a
/// certificate without extensions, which `openssl x509 -req` makes.
fn belongs(signing: &dyn SigningKey, chain: &[CertificateDer<'_>]) -> bool {
    let (Some(public), Some(own)) = (signing.public_key(), chain.first()) else { return true };
    own.windows(public.len().max(1)).any(|part| part == public.as_ref())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let hint = || "set sslcert=… to the file of the certificate".to_owned();
    let text = fs::read(path).map_err(|error| refused(path, error.to_string(), hint()))?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&text).filter_map(|one| one.ok()).collect();
    match found.is_empty() {
        true => Err(refused(path, "it contains no certificate".to_owned(), hint())),
        false => Ok(found),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let hint = || "set sslkey=… to the file of the certificate's key".to_owned();
    let unread = |error: std::io::Error| refused(path, error.to_string(), hint());
    // What is looked at is what is read, whoever changes the file meanwhile.
    let mut file = File::open(path).map_err(unread)?;
    if is_open(&file.metadata().map_err(unread)?) {
        let hint = format!("chmod 600 {}", path.display());
        return Err(refused(path, "other users can read it".to_owned(), hint));
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(unread)?;
    if is_encrypted(&text) {
        let hint = format!(
            "write it without a passphrase: `(umask 077; openssl pkey -in {0} -out {0}.plain)`, \
             and set sslkey=… to that file",
            path.display()
        );
        return Err(refused(path, "its key is encrypted".to_owned(), hint));
    }
    PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| refused(path, "it contains no private key".to_owned(), hint()))
}

/// Whether others may read a key. As libpq has it, the group may where it is root's.
fn is_open(metadata: &fs::Metadata) -> bool {
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    metadata.mode() & forbidden != 0
}

/// Whether a passphrase is needed for a key, in either of the two ways that are written.
fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

fn refused(path: &Path, why: String, hint: String) -> Error {
    ServerError::BadIdentity { file: path.to_owned(), why, hint }.into()
}
