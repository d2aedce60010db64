//! Statements of the store as PostgreSQL gets them.

use super::dialect::translate;

fn text(sql: &str) -> String {
    translate(sql).text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn tables_that_are_read_are_narrowed_to_the_profile() {
    assert_eq!(
        text("select f.id from fact f join source s on s.item = f.id where f.id = ?1"),
        "select f.id from (select * from hermes.fact where profile = $2) f \
         join (select * from hermes.source where profile = $2) s on s.item = f.id where f.id = $1"
    );
    assert_eq!(
        text("select max(id) + 1 from user"),
        "select max(id) + 1 from (select * from hermes.\"user\" where profile = $1) \"user\""
    );
}

#[test]
fn what_is_changed_says_its_profile() {
    assert_eq!(
        text("update job set state = 'done' where id = ?1 or id = ?2 returning id"),
        "update hermes.job set state = 'done' where job.profile = $3 and ( id = $1 or id = $2 ) \
         returning id"
    );
    assert_eq!(text("delete from grave"), "delete from hermes.grave where grave.profile = $1");
    assert_eq!(
        text("delete from grave where item = (select item from fact where id = ?1)"),
        "delete from hermes.grave where grave.profile = $2 and ( item = (select item from \
         (select * from hermes.fact where profile = $2) fact where id = $1))"
    );
}

#[test]
fn what_is_added_says_its_profile_and_gives_its_number() {
    assert_eq!(
        text("insert or ignore into label (text) values (?1)"),
        "insert into hermes.label (profile, text) values ($2, $1) on conflict do nothing returning id"
    );
    assert_eq!(
        text(
            "insert into grave (kind, at) values (?1, max(?2, 0))
              on conflict (kind) do update set at = max(grave.at, excluded.at)"
        ),
        "insert into hermes.grave (profile, kind, at) values ($3, $1, greatest($2, 0)) \
         on conflict (profile, kind) do update set at = greatest(grave.at, excluded.at)"
    );
    assert_eq!(
        text("insert into mention (entity, item) select ?2, item from mention where entity = ?1"),
        "insert into hermes.mention (profile, entity, item) select $3, $2, item from \
         (select * from hermes.mention where profile = $3) mention where entity = $1"
    );
}

#[test]
fn whether_a_value_is_there_is_told_beside_it() {
    let made = translate(
        "select 1 from fact where (?1 is null or kind = ?1) and ?2 is not null and id < ?2",
    );
    assert_eq!(made.asked_for, [1, 2]);
    assert!(made.text.ends_with("where ($4 or kind = $1) and not $5 and id < $2"), "{}", made.text);
}

#[test]
fn names_of_values_are_numbered() {
    let made =
        translate("insert into step (message, tool) values (:message, coalesce(:tool, :message))");
    assert_eq!(made.names, [":message", ":tool"]);
    assert!(made.text.ends_with("values ($3, $1, coalesce($2, $1))"));
}

#[test]
fn words_that_only_sqlite_knows_are_said_otherwise() {
    assert_eq!(
        text("select 1 from chunk where (id >> 8) & 0xff = 3"),
        "select 1 from (select * from hermes.chunk where profile = $1) chunk where (id >> 8) & 255 = 3"
    );
    assert!(
        text("select 1 from fact where subject = ?2 collate nocase")
            .ends_with("where lower(subject) = lower($2 collate \"C\")")
    );
    assert!(
        text("update sqlite_sequence set seq = max(seq, ?2) where name = ?1").starts_with(
            "update hermes.number set seq = greatest(seq, $2) where number.profile = $3"
        )
    );
    assert!(text("select new from temp.moved where kind = ?1").contains("hermes.import_moved"));
    assert_eq!(text("savepoint item"), "savepoint item");
    assert_eq!(
        text("select 'from fact', \"max\" where 'it''s' = ?1"),
        "select 'from fact', \"max\" where 'it''s' = $1"
    );
}
