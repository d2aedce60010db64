//! Homes with roles of their own: the server itself keeps them apart, whatever a connection says.

use hermes_store::memory::{
    FactFilter, Invitation, Memory, invitation_sql, invite, migrate_server, server_sql,
    server_state,
};

use crate::pg_server::{self, Flavour, Server};
use crate::place::{Place, pool};
use crate::support::{alice, at, by, fact};

/// A database with tables, and roles that were invited to it.
struct Shared {
    server: &'static Server,
    url: String,
}

impl Shared {
    fn new() -> Shared {
        let server = pg_server::shared(Flavour::Plain);
        let url = server.fresh_database();
        migrate_server(&pool(&url)).unwrap();
        Shared { server, url }
    }

    fn database(&self) -> &str {
        self.url.rsplit('/').next().unwrap()
    }

    /// A name that no other test of this server takes.
    fn role(&self, name: &str) -> String {
        format!("{name}_{}", self.database())
    }

    fn invite(&self, name: &str, profiles: &[&str]) -> String {
        let role = self.role(name);
        let profiles: Vec<String> = profiles.iter().map(|name| (*name).to_owned()).collect();
        let invitation = Invitation { role: &role, password: "pw", profiles: &profiles };
        invite(&pool(&self.url), &invitation).unwrap();
        role
    }

    fn address(&self, role: &str) -> String {
        self.url.replace("postgres://postgres@", &format!("postgres://{role}@"))
    }

    fn place(&self, role: &str, profile: &str) -> Place {
        Place::beside(&self.address(role), profile)
    }

    /// What psql says as a role, and whether it did what it was told.
    fn as_role(&self, role: &str, statements: &str) -> (bool, String) {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role];
        let mut psql = self.server.program("psql");
        let ran = psql.args(arguments).args(["-d", self.database(), "-c", statements]).output();
        let ran = ran.unwrap();
        let said = if ran.status.success() { ran.stdout } else { ran.stderr };
        (ran.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
    }

    fn number(&self, role: &str) -> String {
        let sql = format!("select profile from hermes.profile where made_by = '{role}'");
        self.server.sql(self.database(), &sql).trim().to_owned()
    }
}

fn said(place: &Place) -> Vec<String> {
    held(&place.read())
}

fn held(memory: &Memory) -> Vec<String> {
    let facts = memory.list_facts(alice(), &FactFilter::default(), at(900)).unwrap();
    facts.into_iter().map(|fact| fact.statement).collect()
}

fn tells(place: &Place, what: &str) {
    place.write().add_fact(alice(), &fact(what), by("user", 1)).unwrap();
}

#[test]
fn two_homes_with_roles_of_their_own_share_nothing_though_their_profiles_have_one_name() {
    let shared = Shared::new();
    let (ana, ben) = (shared.invite("ana", &[]), shared.invite("ben", &[]));
    let (hers, his) = (shared.place(&ana, "default"), shared.place(&ben, "default"));
    tells(&hers, "The harbor is north.");
    tells(&his, "The copper is mine.");
    assert_eq!(said(&hers), ["The harbor is north."]);
    assert_eq!(said(&his), ["The copper is mine."]);
    let state = server_state(&pool(&shared.address(&ana))).unwrap();
    assert_eq!(state.own_profiles, ["default"]);
    // Opened again it is the same profile, and a second one is its own too.
    tells(&shared.place(&ana, "work"), "The shop opens at nine.");
    assert_eq!(said(&shared.place(&ana, "default")), ["The harbor is north."]);
    let state = server_state(&pool(&shared.address(&ana))).unwrap();
    assert_eq!(state.own_profiles, ["default", "work"]);
}

/// Every table with the rows of a profile in it.
const TABLES: &str = "select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'hermes' and relkind = 'r' and relname not in ('migration', 'member') order by 1";

/// Two homes with a fact each, and what the second says to get at the first.
struct Apart {
    shared: Shared,
    ana: String,
    ben: String,
    /// The number of Ana's profile.
    hers: String,
}

impl Apart {
    fn new() -> Apart {
        let shared = Shared::new();
        let (ana, ben) = (shared.invite("ana", &[]), shared.invite("ben", &[]));
        tells(&shared.place(&ana, "default"), "The harbor is north.");
        tells(&shared.place(&ben, "default"), "The copper is mine.");
        let hers = shared.number(&ana);
        Apart { shared, ana, ben, hers }
    }

    /// What Ben is told after he claimed to ask for Ana's profile.
    fn as_ben(&self, statement: &str) -> (bool, String) {
        let claim = format!(
            "begin; do $$ begin perform set_config('hermes.profile', '{}', true), \
             set_config('hermes.profile_name', 'default', true), set_config('hermes.user', '*', true); end $$;",
            self.hers
        );
        self.shared.as_role(&self.ben, &format!("{claim} {statement}; rollback"))
    }
}

#[test]
fn a_role_without_the_profile_sees_and_changes_nothing_whatever_it_says() {
    let apart = Apart::new();
    let Apart { shared, ana, ben, hers } = &apart;
    let tables = shared.server.sql(shared.database(), TABLES);
    assert!(tables.lines().count() > 40, "{tables}");
    for table in tables.lines() {
        let of = format!("from hermes.\"{table}\" where profile = {hers}");
        assert_eq!(apart.as_ben(&format!("select count(*) {of}")).1, "0", "{table}");
        let gone = format!("with gone as (delete {of} returning 1) select count(*) from gone");
        assert_eq!(apart.as_ben(&gone).1, "0", "{table}");
    }
    let refused = [
        format!("insert into hermes.label (profile, id, text) values ({hers}, 99, 'x')"),
        format!("insert into hermes.member (profile, role) values ({hers}, '{ben}')"),
        "select * from hermes.member".to_owned(),
        "delete from hermes.member".to_owned(),
        "set session authorization postgres".to_owned(),
        format!("update hermes.profile set profile = {hers}"),
        format!(
            "insert into hermes.profile (profile, name) overriding system value values ({hers}, 'default')"
        ),
    ];
    for statement in refused {
        let (done, told) = apart.as_ben(&statement);
        assert!(!done, "{statement}: {told}");
    }
    // The same words of the one who has it.
    let claim = format!("set hermes.profile = '{hers}'; set hermes.\"user\" = '*';");
    let counted = shared.as_role(ana, &format!("{claim} select count(*) from hermes.fact"));
    assert_eq!(counted, (true, "1".to_owned()));
}

#[test]
fn no_function_and_no_name_of_its_own_lets_a_role_in() {
    let apart = Apart::new();
    let Apart { shared, ben, hers, .. } = &apart;
    // A function of the migrations on a table of one's own.
    let (done, told) = apart.as_ben(&format!(
        "create temp table mine (profile bigint);
         create trigger joins after insert on mine for each row execute function hermes.joins();
         insert into mine values ({hers})"
    ));
    assert!(!done && told.contains("permission denied for function hermes.joins"), "{told}");
    // A name in the place of one that the rules use, which says now this and now that.
    shared.server.sql(shared.database(), &format!("create schema mine_{ben} authorization {ben}"));
    let told = apart.as_ben(&format!(
        "create function mine_{ben}.current_setting(text, boolean) returns text language plpgsql stable as
           'begin return case when random() < 0.5 then ''{hers}'' else ''{}'' end; end';
         set local search_path = mine_{ben}, pg_catalog;
         select count(*) from generate_series(1, 60) n, lateral (select hermes.this_profile() p offset n - n) told
           where p = {hers}",
        shared.number(ben)
    ));
    assert_eq!(told, (true, "0".to_owned()));
}

#[test]
fn a_profile_is_shared_by_an_invitation_and_ends_with_it() {
    let shared = Shared::new();
    let ana = shared.invite("ana", &[]);
    let hers = shared.place(&ana, "team");
    tells(&hers, "The harbor is north.");
    // Whoever invites shares what they have.
    let invitation = Invitation {
        role: &shared.role("carl"),
        password: "pw",
        profiles: &["team".to_owned(), "unknown".to_owned()],
    };
    let sql = invitation_sql(&pool(&shared.address(&ana)), &invitation).unwrap();
    assert!(!sql.contains("'pw'"), "the password itself is not among the statements: {sql}");
    shared.server.sql(shared.database(), &sql);
    let carl = shared.role("carl");
    let theirs = shared.place(&carl, "team");
    assert_eq!(said(&theirs), ["The harbor is north."]);
    tells(&theirs, "The crane is free.");
    assert_eq!(said(&hers).len(), 2);
    // One of the same name that is made by themselves would come first; this one is shared.
    assert_eq!(server_state(&pool(&shared.address(&carl))).unwrap().own_profiles, ["team"]);
    let open = theirs.read();
    let ends = format!("delete from hermes.member where role = '{carl}'");
    shared.server.sql(shared.database(), &ends);
    let seen = held(&open);
    assert!(seen.is_empty(), "{seen:?}");
}

#[test]
fn a_role_that_takes_over_gets_the_profiles_of_the_one_that_asked() {
    let shared = Shared::new();
    let ana = shared.invite("ana", &[]);
    tells(&shared.place(&ana, "default"), "The harbor is north.");
    tells(&shared.place(&shared.invite("ben", &[]), "default"), "The copper is mine.");
    let next = shared.role("next");
    shared.server.sql(shared.database(), &format!("create role {next} login"));
    let sql = server_sql(&pool(&shared.address(&ana)), crate::place::KNOWN, Some(&next)).unwrap();
    shared.server.sql(shared.database(), &sql);
    assert_eq!(said(&shared.place(&next, "default")), ["The harbor is north."]);
}
