//! How a server proves who it is, and how we do: rustls with ring, as strictly as the address asks.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore,
    SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Roots, SslMode};
use super::identity;
use crate::error::ServerError;
use crate::{Error, Result};

/// What opens protected connections to the server of this address.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(address, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| untrusted(address, error.to_string()))?;
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let config = match address.identity.as_ref().filter(|_| address.may_be_encrypted()) {
        None => builder.with_no_client_auth(),
        Some(files) => builder.with_client_cert_resolver(identity::read(files, &provider)?),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn verifier(
    address: &Address,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>> {
    let names = match address.ssl_mode {
        SslMode::VerifyFull => Names::MustFit,
        SslMode::VerifyCa => Names::Any,
        // Encrypted against those who listen; who answers is not asked, and the address carries a warning.
        _ => return Ok(Arc::new(Anybody { provider: provider.clone() })),
    };
    let trusted = trusted(address)?;
    let mut store = RootCertStore::empty();
    match &address.roots {
        Roots::Public => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Roots::File(_) => {
            store.add_parsable_certificates(trusted.iter().cloned());
        }
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map_err(|error| untrusted(address, error.to_string()))?;
    Ok(Arc::new(Checked { chain, trusted, names }))
}

/// The certificates in the file that the address names.
fn trusted(address: &Address) -> Result<Vec<CertificateDer<'static>>> {
    let Roots::File(path) = &address.roots else { return Ok(Vec::new()) };
    let text = std::fs::read(path).map_err(|source| Error::File {
        doing: "read",
        path: path.clone(),
        source,
    })?;
    let found: Vec<_> =
        CertificateDer::pem_slice_iter(&text).filter_map(|found| found.ok()).collect();
    match found.is_empty() {
        true => Err(untrusted(address, format!("{} contains no certificate", path.display()))),
        false => Ok(found),
    }
}

fn untrusted(address: &Address, why: String) -> Error {
    ServerError::TlsRefused { server: address.place(), why }.into()
}

/// Whether the certificate must be that of the host that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    MustFit,
    Any,
}

/// Asks for a certificate of a trusted authority, or a trusted certificate itself.
#[derive(Debug)]
struct Checked {
    chain: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
    names: Names,
}

impl ServerCertVerifier for Checked {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        use CertificateError::{NotValidForName, NotValidForNameContext, Other};
        let looked = self.chain.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match looked {
            // The chain is looked at before the name, so a wrong name means that the chain holds.
            Err(TlsError::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.names == Names::Any =>
            {
                Ok(ServerCertVerified::assertion())
            }
            // `openssl req -x509` makes a certificate that is its own authority. It is taken where the very same one
            // stands in the file, as libpq does.
            Err(TlsError::InvalidCertificate(Other(reason)))
                if reason.to_string().contains("CaUsedAsEndEntity")
                    && self.trusted.iter().any(|trusted| trusted == end_entity) =>
            {
                if self.names == Names::MustFit {
                    let parsed = ParsedCertificate::try_from(end_entity)?;
                    rustls::client::verify_server_name(&parsed, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.chain.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.chain.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// Takes any certificate whose owner holds its key: for `require` and less, as in libpq.
#[derive(Debug)]
struct Anybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
