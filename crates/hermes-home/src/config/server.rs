//! The section `server` of the settings: where the daemon listens, and for whom.

use serde::{Deserialize, Serialize};

/// The section `server`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerSettings {
    /// Whether the daemon listens at all.
    pub enabled: bool,
    /// On which address.
    pub bind: String,
    /// On which port; none: the usual one, or any where that is taken.
    pub port: Option<u16>,
    /// Other names by which it may be called.
    pub allowed_hosts: Vec<String>,
    /// The certificate for TLS.
    pub tls_cert: Option<String>,
    /// The private key of the certificate.
    pub tls_key: Option<String>,
    /// How many requests a minute a token may make; 0: no limit.
    pub requests_per_minute: u32,
    /// The largest body of a request, in megabytes.
    pub max_body_mb: u32,
}

impl Default for ServerSettings {
    fn default() -> Self {
        ServerSettings {
            enabled: true,
            bind: "127.0.0.1".to_owned(),
            port: None,
            allowed_hosts: Vec::new(),
            tls_cert: None,
            tls_key: None,
            requests_per_minute: 6000,
            max_body_mb: 8,
        }
    }
}
