//! Servers with the tables of earlier versions: refused until somebody migrates them, whole afterwards, never half-way.

use std::process::Command;

use crate::moments::is_full;
use crate::old_homes::{COUNTED, OldHome, answers, newest};
use crate::pg_server::proxy::Proxy;
use crate::pg_server::{self, Flavour, Server};
use crate::postgres::{database, join};
use crate::sandbox::Sandbox;

/// Those with a memory on a server; the texts of the first two schema files were written anew before they stayed.
#[rustfmt::skip]
const ON_SERVERS: &[OldHome] = &[
    OldHome { name: "postgres-1-first-text", schema: 1, rows: [37, 14, 2, 99] },
    OldHome { name: "postgres-1", schema: 1, rows: [37, 14, 2, 99] },
    OldHome { name: "postgres-2-first-text", schema: 2, rows: [37, 14, 2, 99] },
    OldHome { name: "postgres-2-second-text", schema: 2, rows: [37, 14, 2, 99] },
    OldHome { name: "postgres-2", schema: 2, rows: [37, 14, 2, 99] },
    OldHome { name: "postgres-3", schema: 3, rows: [37, 14, 2, 100] },
    OldHome { name: "postgres-4", schema: 4, rows: [37, 14, 2, 100] },
];

/// The role that the old homes work as.
const ROLE: &str = "hermes_app";

/// An old home with its server's tables in a database of their own.
struct OldServer {
    sandbox: Sandbox,
    server: &'static Server,
    /// The database, for the one who may do everything.
    url: String,
}

impl OldServer {
    fn of(home: &OldHome) -> OldServer {
        let sandbox = home.unpacked();
        let server = pg_server::shared(Flavour::Plain);
        let url = server.fresh_database();
        let role = format!(
            "do $$ begin create role {ROLE} login nobypassrls; exception when duplicate_object then null; end $$"
        );
        server.sql(database(&url), &role);
        let dump = sandbox.folder().join("memory.sql");
        let loading = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database(&url), "-f"];
        pg_server::run(server.program("psql").args(loading).arg(dump));
        let old = OldServer { sandbox, server, url };
        old.as_role();
        assert_eq!(old.number(), home.schema, "{}", home.name);
        old
    }

    fn as_role(&self) {
        join(
            &self.sandbox,
            &self.url.replace("postgres://postgres@", &format!("postgres://{ROLE}@")),
        );
    }

    fn as_owner(&self) {
        join(&self.sandbox, &self.url);
    }

    fn sql(&self, statement: &str) -> String {
        self.server.sql(database(&self.url), statement).trim().to_owned()
    }

    fn number(&self) -> i64 {
        self.sql("select max(number) from hermes.migration").parse().unwrap()
    }

    /// Everything in the database as pg_dump writes it.
    fn dump(&self, further: &[&str]) -> String {
        let mut command: Command = self.server.program("pg_dump");
        command.args(["--schema=hermes", "-d", database(&self.url)]).args(further);
        // Newer versions add a word that is another one each time.
        let text = pg_server::run(&mut command);
        text.lines().filter(|line| !line.contains("restrict ")).collect::<Vec<_>>().join("\n")
    }

    /// The tables, with the columns they have.
    fn columns(&self) -> Vec<(String, String)> {
        let sql = "select table_name, string_agg(quote_ident(column_name), ', ' order by ordinal_position)
            from information_schema.columns where table_schema = 'hermes' and table_name <> 'migration'
            group by 1 order by 1";
        let lines = self.sql(sql);
        let split = |line: &str| line.split_once('|').map(|(t, c)| (t.to_owned(), c.to_owned()));
        lines.lines().filter_map(split).collect()
    }

    /// The rows of these tables, in these columns.
    fn rows(&self, columns: &[(String, String)]) -> Vec<(String, String)> {
        let read = |(table, columns): &(String, String)| {
            let sql = format!("select {columns} from hermes.\"{table}\"");
            let mut lines: Vec<String> = self.sql(&sql).lines().map(str::to_owned).collect();
            lines.sort();
            (table.clone(), lines.join("\n"))
        };
        columns.iter().map(read).collect()
    }
}

#[test]
fn every_schema_of_a_server_but_the_newest_has_a_home() {
    for number in 1..newest("postgres") {
        assert!(
            ON_SERVERS.iter().any(|home| home.schema == number),
            "no server of schema {number}"
        );
    }
}

#[test]
fn an_old_server_is_refused_until_it_is_migrated_and_has_every_row_then() {
    for home in ON_SERVERS {
        let old = OldServer::of(home);
        let (mut columns, dump) = (old.columns(), old.dump(&[]));
        // How far transcripts were taken in is found out anew, and so is which vectors others have at hand.
        columns.retain(|(table, _)| !["taken", "vector_gone"].contains(&table.as_str()));
        for (_, columns) in columns.iter_mut().filter(|(table, _)| table == "vector") {
            *columns = columns.replace(", changed", "");
        }
        let before = old.rows(&columns);
        if home.schema < newest("postgres") {
            let words =
                format!("its schema {} must be migrated to {}", home.schema, newest("postgres"));
            for arguments in [&["memory", "fact", "list"][..], &["memory", "search", "harbour"]] {
                old.sandbox.fails(arguments, 5, &[&words, "hermes db migrate"]);
            }
            old.sandbox.fails(&["db", "migrate"], 5, &["--print-sql"]);
            assert_eq!(old.dump(&[]), dump, "{}: something was written", home.name);
        }
        old.as_owner();
        let done = old.sandbox.json(&["db", "migrate"]);
        assert_eq!((&done["from"], &done["to"]), (&home.schema.into(), &newest("postgres").into()));
        assert_eq!(old.rows(&columns), before, "{}", home.name);
        let (migrated, again) = (old.dump(&[]), old.sandbox.ok(&["db", "migrate"]));
        assert!(again.contains("is up to date"), "{again}");
        assert_eq!(old.dump(&[]), migrated, "{}", home.name);
        old.as_role();
        works(home, &old);
    }
}

/// All that a home does with its memory, as the role that owns nothing.
fn works(home: &OldHome, old: &OldServer) {
    let counted = COUNTED.map(|table| {
        old.sql(&format!("select count(*) from hermes.{table}")).parse::<usize>().unwrap()
    });
    assert_eq!(counted, home.rows, "{}", home.name);
    answers(home, &old.sandbox, &[if home.schema == 1 { "search" } else { "context" }]);
    old.sandbox.ok(&["memory", "fact", "add", "The new crane lifts nine tons"]);
    let said =
        ["memory", "turn", "--user-text", "The crane came by ship.", "--assistant-text", "Good."];
    old.sandbox.ok(&said);
    let found = old.sandbox.json(&["memory", "search", "How did the crane come?"]).to_string();
    assert!(found.contains("by ship"), "{}: {found}", home.name);
    let ran = old.sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}: {}{}", home.name, ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("is intact"), "{}", ran.stdout);
}

#[test]
fn a_migration_cut_after_any_byte_was_made_or_was_not() {
    let home = &ON_SERVERS[0];
    let old = OldServer::of(home);
    let proxy = Proxy::to(old.server.port());
    let through = |database: &str| {
        let url = old.server.tcp_url(database);
        url.replace(&format!(":{}/", old.server.port()), &format!(":{}/", proxy.port()))
            + "?sslmode=disable"
    };
    let whole = OldServer::of(home);
    join(&whole.sandbox, &through(database(&whole.url)));
    whole.sandbox.ok(&["db", "migrate"]);
    let bytes = proxy.passed();
    let (before, after) = (old.dump(&[]), whole.dump(&["--schema-only"]));
    let cuts = if is_full() { 150 } else { 8 };
    let mut were_made = 0;
    for cut in 0..cuts {
        let old = OldServer::of(home);
        join(&old.sandbox, &through(database(&old.url)));
        proxy.cut_after(bytes * cut / cuts);
        let ran = old.sandbox.run(&["db", "migrate"]);
        proxy.heal();
        match old.number() == home.schema {
            true => {
                assert_ne!(ran.code, 0, "{}", ran.stdout);
                assert_eq!(old.dump(&[]), before);
            }
            false => {
                were_made += 1;
                assert_eq!(old.dump(&["--schema-only"]), after);
            }
        }
        old.sandbox.ok(&["db", "migrate"]);
        assert_eq!(old.dump(&["--schema-only"]), after);
    }
    assert!(were_made < cuts, "no cut fell into the migration");
}

#[test]
fn several_who_migrate_one_server_at_once_do_it_once() {
    let old = OldServer::of(&ON_SERVERS[0]);
    old.as_owner();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| old.sandbox.ok(&["db", "migrate"]));
        }
    });
    let numbers: Vec<String> = (1..=newest("postgres")).map(|number| number.to_string()).collect();
    let noted =
        old.sql("select string_agg(number::text, ' ' order by number) from hermes.migration");
    assert_eq!(noted, numbers.join(" "));
    old.as_role();
    works(&ON_SERVERS[0], &old);
}

#[test]
fn a_server_of_a_later_version_is_refused_and_nothing_is_written_there() {
    let old = OldServer::of(ON_SERVERS.last().unwrap());
    old.as_owner();
    old.sandbox.ok(&["db", "migrate"]);
    let later = newest("postgres") + 1;
    old.sql(&format!("insert into hermes.migration (number, checksum) values ({later}, '')"));
    let before = old.dump(&[]);
    let words =
        format!("its schema is {later}, this version supports up to {}", newest("postgres"));
    for arguments in [
        &["memory", "fact", "list"][..],
        &["memory", "fact", "add", "Nobody keeps this"],
        &["memory", "search", "harbour"],
        &["memory", "context", "harbour"],
        &["db", "migrate"],
    ] {
        let ran = old.sandbox.fails(arguments, 5, &[&words, "upgrade hermes"]);
        assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("hermes: ")).count(), 1);
    }
    assert_eq!(old.dump(&[]), before);
}
