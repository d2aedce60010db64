//! A real sshd on loopback, as the user who runs the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_backup::remote::{self, Remote};

use crate::ports::free_port;
use crate::service::Server;

pub(crate) struct Sshd {
    pub(crate) port: u16,
    pub(crate) keys: PathBuf,
    _server: Server,
}

impl Sshd {
    /// Starts one that lets in one key; keys and known hosts are in `folder`.
    pub(crate) fn start(folder: &Path) -> Sshd {
        let keys = folder.join("the keys");
        fs::create_dir(&keys).unwrap();
        for name in ["host", "mine", "other"] {
            key(&keys.join(name));
        }
        let host = fs::read_to_string(keys.join("host.pub")).unwrap();
        let other = fs::read_to_string(keys.join("other.pub")).unwrap();
        write(&keys.join("known"), &format!("* {host}"));
        write(&keys.join("changed"), &format!("* {other}"));
        write(&keys.join("none"), "");
        fs::copy(keys.join("mine.pub"), keys.join("authorized")).unwrap();
        if nix::unistd::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let (port, server) = (0..10).find_map(|_| start(&keys)).expect("no port was free");
        Sshd { port, keys, _server: server }
    }

    /// The place `path` on it, reached through a port, with options such as `&transfer=rsync`.
    pub(crate) fn place(&self, port: u16, path: &str, options: &str) -> Box<dyn Remote> {
        self.place_with(port, path, "mine", &format!("&known_hosts={}{options}", self.key("known")))
    }

    /// The same with another key and nothing known of the host but what the options say.
    pub(crate) fn place_with(
        &self,
        port: u16,
        path: &str,
        key: &str,
        options: &str,
    ) -> Box<dyn Remote> {
        let path: String = path
            .bytes()
            .map(|byte| if byte == b'/' { "/".to_owned() } else { format!("%{byte:02x}") })
            .collect();
        let text = format!("ssh://127.0.0.1:{port}{path}?identity={}{options}", self.key(key));
        remote::open(&remote::parse(&text).unwrap(), None).unwrap()
    }

    /// The path of a file of keys.
    pub(crate) fn key(&self, name: &str) -> String {
        self.keys.join(name).display().to_string()
    }
}

fn start(keys: &Path) -> Option<(u16, Server)> {
    let port = free_port();
    let settings = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey \"{0}/host\"\nAuthorizedKeysFile \"{0}/authorized\"\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nMaxStartups 100\nSubsystem sftp internal-sftp\n",
        keys.display()
    );
    let file = keys.join("settings");
    write(&file, &settings);
    let program = ["/usr/sbin/sshd", "-D", "-e", "-f", file.to_str().unwrap()];
    let (server, listening) = Server::start(&program, |line| {
        let failed = line.contains("Cannot bind") || line.contains("in use");
        (failed || line.contains("Server listening")).then_some(!failed)
    });
    listening.then_some((port, server))
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(path)
        .status()
        .unwrap();
    assert!(made.success());
}

fn write(path: &Path, text: &str) {
    hermes_home::atomic::write(path, text.as_bytes()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
