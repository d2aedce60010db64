//! Where a memory of the tests is kept: in a profile of its own on a server, used by a role without special rights.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use hermes_store::Error;
use hermes_store::memory::{Memory, ServerMemory, migrate_server, server_sql};
use hermes_store::postgres::{Address, Pool, PoolSettings, Surroundings};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use postgres::SimpleQueryMessage;

use crate::pg_server::{self, Flavour};
use crate::support::by;

/// The role that the tests work as: it may read and write rows, and nothing else.
pub(crate) const ROLE: &str = "hermes_app";
/// The newest schema.
pub(crate) const KNOWN: i64 = 5;

/// A profile with a new memory, owned by alice.
pub(crate) struct Place {
    pool: Pool,
    profile: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place::on(Flavour::Plain)
    }

    pub(crate) fn on(flavour: Flavour) -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let profile = format!("profile-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let place = Place { pool: pool(&database(flavour)), profile };
        place.write();
        place
    }

    /// Two memories of one profile, on two databases.
    pub(crate) fn pair() -> (Place, Place) {
        let here = Place::new();
        let there = Place { pool: pool(&other_database()), profile: here.profile.clone() };
        there.write();
        (here, there)
    }

    /// Another profile of the same database, or this one through other connections.
    pub(crate) fn beside(url: &str, profile: &str) -> Place {
        Place { pool: pool(url), profile: profile.to_owned() }
    }

    pub(crate) fn open(&self, access: Access) -> Result<Memory, Error> {
        let wanted = ServerMemory {
            pool: &self.pool,
            profile: &self.profile,
            owner: "alice",
            access,
            wait: DEFAULT_WAIT,
        };
        Memory::on_server(wanted, by("user", 0))
    }

    pub(crate) fn write(&self) -> Memory {
        self.open(Access::Write).unwrap()
    }

    pub(crate) fn read(&self) -> Memory {
        self.open(Access::Read).unwrap()
    }

    /// Runs statements beside the program, as the role of the home; each row is a line with `|` between its values.
    pub(crate) fn sql(&self, statements: &str) -> String {
        let mut client = self.pool.get().unwrap();
        let tell = format!(
            "begin; select set_config('hermes.profile_name', '{}', true), \
             set_config('search_path', 'hermes', true), set_config('hermes.user', '*', true)",
            self.profile
        );
        client.batch_execute(&tell).unwrap();
        client
            .batch_execute(
                "select set_config('hermes.profile', (select max(profile) from profile)::text, true)",
            )
            .unwrap();
        let answers = client.simple_query(statements).unwrap();
        client.batch_execute("commit").unwrap();
        let lines = answers.iter().filter_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => {
                let values = (0..row.len()).map(|column| row.get(column).unwrap_or_default());
                Some(values.collect::<Vec<_>>().join("|"))
            }
            _ => None,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Everything in the rows of the profile.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let tables = self.sql(
            "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
             where c.relnamespace = 'hermes'::regnamespace and c.relkind = 'r'
               and a.attname = 'profile' and c.relname <> 'member'",
        );
        let rows =
            tables.lines().map(|table| self.sql(&format!("select t::text from \"{table}\" t")));
        rows.collect::<Vec<_>>().join("\n").into_bytes()
    }

    pub(crate) fn profile(&self) -> &str {
        &self.profile
    }
}

/// How the role reaches the database that all places of this process share.
pub(crate) fn database(flavour: Flavour) -> String {
    static PLAIN: OnceLock<String> = OnceLock::new();
    static VECTOR: OnceLock<String> = OnceLock::new();
    let place = match flavour {
        Flavour::Plain => &PLAIN,
        Flavour::Vector => &VECTOR,
    };
    place
        .get_or_init(|| {
            let server = pg_server::shared(flavour);
            let url = server.fresh_database();
            let name = url.rsplit('/').next().unwrap();
            if flavour == Flavour::Vector {
                server.sql(name, "create extension vector");
            }
            migrate_server(&pool(&url)).unwrap();
            server.sql(name, &format!("create role {ROLE} login nobypassrls"));
            server.sql(name, &server_sql(&pool(&url), KNOWN, Some(ROLE)).unwrap());
            as_role(&url)
        })
        .clone()
}

/// A second database of the same server.
fn other_database() -> String {
    static OTHER: OnceLock<String> = OnceLock::new();
    OTHER
        .get_or_init(|| {
            database(Flavour::Plain);
            let server = pg_server::shared(Flavour::Plain);
            let url = server.fresh_database();
            let sql = server_sql(&pool(&url), 0, Some(ROLE)).unwrap();
            server.sql(url.rsplit('/').next().unwrap(), &sql);
            as_role(&url)
        })
        .clone()
}

/// How many cases of a test that takes so many with a file: each is a hundred times the work on a server.
pub(crate) fn cases(with_a_file: u32) -> u32 {
    if std::env::var("HERMES_TEST_FULL").as_deref() == Ok("1") {
        with_a_file.min(24)
    } else {
        with_a_file.min(64).div_ceil(16)
    }
}

/// The same address for the role.
pub(crate) fn as_role(url: &str) -> String {
    url.replace("postgres://postgres@", &format!("postgres://{ROLE}@"))
}

pub(crate) fn pool(url: &str) -> Pool {
    let around = Surroundings {
        variable: &|_| None,
        home: None,
        user: "nobody",
        application: "hermes/0.1.0/default",
        ssl_mode: None,
    };
    Pool::new(Address::parse(url, &around).unwrap(), PoolSettings::default()).unwrap()
}
