//! TLS of the listener: the certificate and key of the settings; TLS 1.2 and 1.3 alone.

use std::io::BufReader;
use std::sync::Arc;

use anyhow::Context as _;
use hermes_home::config::ServerSettings;
use hermes_home::env::Env;
use hermes_home::layout::expand_tilde;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use hermes_app::problem::Problem;

/// The certificate and key of the settings, ready to be used.
pub(super) fn acceptor(
    settings: &ServerSettings,
    env: &Env,
) -> anyhow::Result<Option<TlsAcceptor>> {
    let (certificate, key) = match (&settings.tls_cert, &settings.tls_key) {
        (Some(certificate), Some(key)) => {
            (expand_tilde(certificate, env)?, expand_tilde(key, env)?)
        }
        (None, None) => return Ok(None),
        _ => {
            return Err(Problem::usage("set both server.tls_cert and server.tls_key").into());
        }
    };
    let open = |path: &std::path::Path| {
        let file = std::fs::File::open(path);
        file.map(BufReader::new).with_context(|| format!("could not read {}", path.display()))
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_reader_iter(open(&certificate)?)
        .collect::<Result<_, _>>()
        .map_err(|error| anyhow::anyhow!("{}: {error}", certificate.display()))?;
    let private = PrivateKeyDer::from_pem_reader(open(&key)?)
        .map_err(|error| anyhow::anyhow!("{}: {error}", key.display()))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| anyhow::anyhow!("the certificate cannot be used: {error}"))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}
