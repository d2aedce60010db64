//! A server that cannot be used as it is, or is another one than before: what is said about it, and that no turn is lost.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::listening::Listening;
use crate::model_server::{ModelServer, Reply};
use crate::pg_server::{self, Flavour, Server};
use crate::postgres::{as_app_role, database, found, home_on, join};
use crate::sandbox::Sandbox;
use crate::talks::{said, state, talk, turn};

/// A server for one test, and a home on it that has a fact and no turn yet.
struct Place {
    server: Server,
    url: String,
    sandbox: Sandbox,
}

impl Place {
    fn new() -> Place {
        let server = pg_server::start(Flavour::Plain);
        let url = server.fresh_database();
        let sandbox = home_on(&url);
        sandbox.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
        Place { server, url, sandbox }
    }

    fn sql(&self, statements: &str) -> String {
        self.server.sql(database(&self.url), statements).trim().to_owned()
    }

    /// The tables as pg_dump writes them, which of their versions were made, and how much was said.
    fn tables(&self) -> (String, String) {
        let mut command = self.server.program("pg_dump");
        command.args(["--schema-only", "--schema=hermes", "-d", database(&self.url)]);
        let text = pg_server::run(&mut command);
        let lines = text.lines().filter(|line| !line.contains("restrict "));
        (lines.collect::<Vec<_>>().join("\n"), self.sql(NOTED))
    }

    /// How often these words are in the memory, and whose they are.
    fn kept(&self, words: &str) -> String {
        self.sql(&format!("{WHOSE} where m.text like '%{words}%'"))
    }
}

/// What a migration or a turn that is half made would change.
const NOTED: &str =
    "select (select string_agg(number::text, ' ' order by number) from hermes.migration),
    (select count(*) from hermes.session), (select count(*) from hermes.episode),
    (select count(*) from hermes.message), (select count(*) from hermes.chunk)";

/// The names of those who said something, one for each message.
const WHOSE: &str = "select coalesce(string_agg(u.name, ' '), 'nowhere') from hermes.message m
    join hermes.episode e on e.profile = m.profile and e.id = m.episode
    join hermes.\"user\" u on u.profile = e.profile and u.id = e.user_id";

/// One way in which a server is of no use, how it comes about and goes away, and what is said.
struct Trouble {
    name: &'static str,
    begin: fn(&mut Place),
    end: fn(&mut Place),
    words: &'static str,
    hint: &'static str,
    code: i32,
}

const NEWER: &str = "insert into hermes.migration (number, checksum) values (9999, 'x')";
const OLDER: &str = "delete from hermes.migration where number > 1";

const TROUBLES: [Trouble; 9] = [
    Trouble {
        name: "older than supported",
        begin: |place| join(&place.sandbox, &old_server()),
        end: |place| join(&place.sandbox, &place.url),
        words: "it is version 14, and 15 or newer is needed",
        hint: "upgrade the server",
        code: 5,
    },
    Trouble {
        name: "no rights to the schema",
        begin: |place| {
            place.sql("create role guest login");
            join(&place.sandbox, &place.url.replace("postgres@", "guest@"));
        },
        end: |place| join(&place.sandbox, &place.url),
        words: "permission denied for schema hermes",
        hint: "hermes db migrate --print-sql",
        code: 5,
    },
    Trouble {
        name: "no TLS where it is wanted",
        begin: |place| {
            place.sql("alter system set ssl = off");
            place.sql("select pg_reload_conf()");
            let url = place.server.tcp_url(database(&place.url));
            join(&place.sandbox, &format!("{url}?sslmode=require"));
        },
        end: |place| join(&place.sandbox, &place.url),
        words: "server does not support TLS",
        hint: "ssl = on",
        code: 13,
    },
    Trouble {
        name: "a certificate of another host",
        begin: |place| {
            let url = place.server.tcp_url(database(&place.url));
            let authority = place.server.authority().display().to_string();
            join(&place.sandbox, &format!("{url}?sslmode=verify-full&sslrootcert={authority}"));
        },
        end: |place| join(&place.sandbox, &place.url),
        words: "certificate not valid for name",
        hint: "the host name that its certificate is for",
        code: 13,
    },
    Trouble {
        name: "no room on its disk",
        begin: |place| swap_messages(place, "ln -s /dev/full"),
        end: |place| swap_messages(place, "touch"),
        words: "No space left on device",
        hint: "free disk space on the server",
        code: 1,
    },
    Trouble {
        name: "read-only",
        begin: |place| {
            let name = database(&place.url).to_owned();
            place.sql(&format!("alter database {name} set default_transaction_read_only = on"));
        },
        end: |place| {
            let name = database(&place.url).to_owned();
            place.server.sql("postgres", &format!("alter database {name} reset all"));
        },
        words: "in a read-only transaction",
        hint: "use the server that accepts writes",
        code: 5,
    },
    Trouble {
        name: "a follower of another",
        begin: |place| while_halted(place, "touch data/standby.signal"),
        end: |place| while_halted(place, "rm data/standby.signal"),
        words: "in a read-only transaction",
        hint: "use the server that accepts writes",
        code: 5,
    },
    Trouble {
        name: "a newer schema",
        begin: |place| drop(place.sql(NEWER)),
        end: |place| drop(place.sql("delete from hermes.migration where number = 9999")),
        words: "its schema is 9999",
        hint: "upgrade hermes",
        code: 5,
    },
    Trouble {
        name: "an older schema",
        begin: |place| {
            place.sql("create table public.kept as select * from hermes.migration");
            place.sql(OLDER);
        },
        end: |place| {
            place.sql("insert into hermes.migration select * from public.kept where number > 1");
        },
        words: "its schema 1 must be migrated to",
        hint: "hermes db migrate",
        code: 5,
    },
];

/// Stops a server with all it was told on its disk: those of the tests write it a moment later.
fn halt(server: &mut Server) {
    server.sql("postgres", "checkpoint");
    server.halt();
}

/// Puts something else in the place of the file that the first message would go to.
fn swap_messages(place: &mut Place, made_with: &str) {
    let file = place.sql("select pg_relation_filepath('hermes.message')");
    while_halted(place, &format!("rm -f data/{file} && {made_with} data/{file}"));
}

/// Changes files of a server as it finds them when it is started again.
fn while_halted(place: &mut Place, script: &str) {
    // Those of the tests write what they were told a moment later.
    place.server.sql("postgres", "checkpoint");
    place.server.halt();
    let folder = place.server.folder();
    pg_server::run(pg_server::as_server().args(["sh", "-c", script]).current_dir(folder));
    place.server.resume();
}

/// The address of something that says it is PostgreSQL 14, and nothing else.
fn old_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || speak_as_old(stream));
        }
    });
    format!("postgres://postgres@{address}/x?sslmode=disable")
}

fn speak_as_old(mut stream: TcpStream) -> Option<()> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut rest).ok()?;
    // Who asks is let in, and may ask.
    stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").ok()?;
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().ok()?) as usize - 4];
        stream.read_exact(&mut body).ok()?;
        // One column of text, one row, an end.
        stream
            .write_all(
                b"T\0\0\0\x1f\0\x01number\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0",
            )
            .ok()?;
        stream.write_all(b"D\0\0\0\x10\0\x01\0\0\0\x06140012").ok()?;
        stream.write_all(b"C\0\0\0\x09SHOW\0Z\0\0\0\x05I").ok()?;
    }
}

#[test]
fn a_server_that_is_of_no_use_is_said_in_one_sentence_and_no_turn_is_lost() {
    for trouble in &TROUBLES {
        let Trouble { name, words, hint, code, .. } = trouble;
        let mut place = Place::new();
        (trouble.begin)(&mut place);
        let before = place.tables();
        let reported = format!("The parrot is called Rio, said while it was {name}.");
        let told = turn(&place.sandbox, &said("s1", &reported, "Noted."));
        assert_ne!(told["kept_in"], "memory", "{name}: {told}");
        let arguments = ["memory", "catch-up"];
        let ran = place.sandbox.fails(&arguments, *code, &[words, hint]);
        assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("hermes: ")).count(), 1);
        assert_eq!(place.tables(), before, "{name}: something was written");
        (trouble.end)(&mut place);
        for _ in 0..2 {
            place.sandbox.ok(&["memory", "catch-up"]);
        }
        assert_eq!(place.kept("The parrot is called Rio"), "owner", "{name}");
        assert!(found(&place.sandbox, "which port does staging use").contains("5433"));
    }
}

#[test]
fn a_user_whom_the_home_has_seen_talks_while_the_server_is_away() {
    let Place { mut server, url, sandbox } = Place::new();
    sandbox.ok(&["user", "add", "bob"]);
    let listening = Listening::at(sandbox);
    let sandbox = &listening.sandbox;
    let models = ModelServer::start(vec![Reply::text("I cannot look that up.")]);
    halt(&mut server);
    let ran = talk(sandbox, &models, &["--user", "bob", "-q", "My parrot is called Rio."], &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("I cannot look that up."), "{}", ran.stdout);
    assert!(ran.stderr.contains("recall failed"), "{}", ran.stderr);
    let ran = talk(sandbox, &models, &["--user", "mallory", "-q", "Who am I?"], &[]);
    ran.failed(13, &["could not look up user mallory", "hermes db status"]);
    let bob = "X-Hermes-User: bob";
    let kind = "Content-Type: application/json";
    let turn = said("api", "My boat is called Nina.", "Noted.").to_string();
    let answer = listening.ask("POST", "/api/v1/turns", &[&listening.bearer(), kind, bob], &turn);
    assert_eq!(answer.status, 200, "{}", answer.text);
    let mut messages = state(sandbox);
    let named: i64 = messages
        .transaction()
        .unwrap()
        .query_row("select count(*) from sessions where user_id like '%bob'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(named, 2);
    server.resume();
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
    }
    let whose = |words: &str| {
        let sql = format!("{WHOSE} where m.text like '%{words}%'");
        server.sql(database(&url), &sql).trim().to_owned()
    };
    assert_eq!(
        (whose("parrot is called Rio"), whose("boat is called Nina")),
        ("bob".into(), "bob".into())
    );
    assert_eq!(
        server
            .sql(database(&url), "select count(*) from hermes.\"user\" where name = 'mallory'")
            .trim(),
        "0"
    );
    // Who was forgotten is no longer known here either.
    sandbox.ok(&["user", "forget", "bob", "--yes"]);
    assert!(!sandbox.read("hermesd/users.json").contains("bob"));
}

#[test]
fn a_user_is_known_again_when_the_server_comes_back_in_the_middle_of_a_conversation() {
    let Place { mut server, sandbox, .. } = Place::new();
    sandbox.ok(&["user", "add", "bob"]);
    sandbox.ok(&["memory", "fact", "add", "--user", "bob", "The parrot of Bob is called Rio"]);
    halt(&mut server);
    let server = Mutex::new(server);
    let models = ModelServer::answering(move |number, _| {
        if number == 0 {
            server.lock().unwrap().resume();
        }
        Reply::text("Let me see.")
    });
    let question = "What is the parrot of Bob called?";
    let ran = talk(&sandbox, &models, &["--user", "bob"], &[question, question]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let asked = models.requests();
    assert!(!asked[0].prompt().contains("called Rio"), "{}", asked[0].prompt());
    let second = asked[1].prompt();
    assert!(second.contains("called Rio") && !second.contains("5433"), "{}{second}", ran.stderr);
}

/// What the daemon of a home finds.
fn asked(listening: &Listening, question: &str) -> String {
    let answer = listening.post("/api/v1/search", &json!({ "query": question }));
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json().to_string()
}

#[test]
fn a_daemon_of_another_home_goes_on_with_the_memory_that_took_the_place_of_its_own() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    let url = as_app_role(server, &url, &sandbox);
    join(&sandbox, &url);
    sandbox.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    sandbox.ok(&["memory", "fact", "add", "The cat is called Kipper"]);
    let other = Listening::at(home_on(&url));
    let note = |text: &str| {
        let added = other.post("/api/v1/facts", &json!({ "text": text }));
        assert!(added.status < 300, "{}", added.text);
    };
    note("The boat is called Nina");
    assert!(asked(&other, "what is the cat called").contains("Kipper"));
    let done: Value = sandbox.json(&["backup", "restore", "latest", "--yes", "--replace-memory"]);
    assert!(done["memories"][0]["how"].is_string(), "{done}");
    // Nothing was restarted, and the connections of the daemon are those from before.
    assert!(!asked(&other, "what is the cat called").contains("Kipper"));
    assert!(asked(&other, "which port does staging use").contains("5433"));
    note("The dog is called Bello");
    assert!(found(&sandbox, "what is the dog called").contains("Bello"));
    let told = other.post("/api/v1/turns", &said("s9", "The crane came by ship.", "Good."));
    assert_eq!(told.status, 200, "{}", told.text);
    assert!(found(&sandbox, "how did the crane come").contains("by ship"));
}
