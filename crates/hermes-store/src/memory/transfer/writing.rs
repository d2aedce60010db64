//! The statements that write what an import brings.

use crate::memory::backend::Put;

#[cfg(test)]
use crate::memory::covered;
use crate::memory::covered::each_covered;

/// A statement whose values are fields of the document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filled {
    pub(super) sql: &'static str,
    /// The keys that fill `?1`, `?2` and so on.
    pub(super) fields: &'static str,
}

pub(super) const USER_AS_IS: Filled = Filled {
    sql: "
    update \"user\" set uid = ?1, name = ?2, timezone = ?3, created_at = ?4
    where id = ?5",
    fields: "uid name timezone created_at id",
};
pub(super) const USER_KNOWN: &str = "
    select coalesce(merged_into, id), gone_at is not null and merged_into is null from \"user\"
    where id <> 0 and (uid = ?1 or name = ?2) order by uid = ?1 desc limit 1";
pub(super) const USER: Filled = Filled {
    sql: "
    insert into \"user\" (id, uid, name, timezone, created_at, gone_at, merged_into)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    fields: "id uid name timezone created_at gone_at merged_into",
};
pub(super) const IDENTITY: Filled = Filled {
    sql: "
    insert into identity (channel, native_id, user_id, linked_at, chat)
    values (?1, ?2, ?3, ?4, coalesce(?5, 'direct'))
    on conflict do nothing",
    fields: "channel native_id user linked_at chat",
};
pub(super) const SEEN_IDENTITY: Filled = Filled {
    sql: "
    insert into seen_identity (channel, native_id, chat, user_id, first_at, last_at)
    select ?1, ?2, ?3, ?4, ?5, ?6
    where not exists (
      select 1 from identity where channel = ?1 and native_id = ?2)
    on conflict do nothing",
    fields: "channel native_id chat user first_at last_at",
};
pub(super) const ENTITY_SAME: &str =
    "select id from entity where id = ?1 and user_id = ?2 and name = ?3 and created_at = ?4";
pub(super) const ENTITY_NAMED: &str = "
    select e.id from entity_alias a join entity e on e.id = a.entity
    where a.user_id = ?1 and a.alias = ?2";
pub(super) const ENTITY: Filled = Filled {
    sql: "
    insert into entity (id, user_id, name, kind, created_at)
    values (?1, ?2, ?3, ?4, ?5)",
    fields: "id user name kind created_at",
};
pub(super) const ALIAS: Filled = Filled {
    sql: "insert into entity_alias (user_id, alias, entity) values (?1, ?2, ?3) on conflict do nothing",
    fields: "user alias entity",
};
pub(super) const MENTION: &str =
    "insert into mention (entity, kind, item) values (?1, ?2, ?3) on conflict do nothing";

pub(super) const SESSION_KNOWN: &str =
    "select id from session where session_id = ?1 and user_id = ?2 and part = ?3";
pub(super) const SESSION_TAKEN: &str = "select 1 from session where id = ?1";
pub(super) const LAST_SESSION: &str = "select max(id) from session where id between ?1 and ?2";
pub(super) const SESSION: Filled = Filled {
    sql: "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at,
      ended_at, reflected_at)
    values (?1, ?2, ?3, ?4, (select id from label where text = ?5),
      (select id from label where text = ?6), ?7, ?8, ?9, ?10)",
    fields: "id user session_id part channel source started_at last_at ended_at reflected_at",
};
pub(super) const SESSION_END: Filled = Filled {
    sql: "
    insert into import_session_end (session, messages, dropped)
    values (?1, ?2, coalesce(?3, 0))",
    fields: "id messages dropped",
};
pub(super) const NO_SESSION_END: Filled =
    Filled { sql: "delete from import_session_end where session = ?1", fields: "id" };
pub(super) const NEXT_PART: &str = "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at,
      ended_at, reflected_at)
    select ?2, user_id, session_id,
      (select max(o.part) + 1 from session o
       where o.session_id = s.session_id and o.user_id = s.user_id),
      channel, source, started_at, last_at, ended_at, reflected_at
    from session s where id = ?1";
pub(super) const NEXT_PLACE: &str = "select messages from session where id = ?1";
pub(super) const FILL_SESSION: &str = "
    update session set messages = case when messages > ?2 then messages else ?2 end,
      last_at = case when last_at > ?3 then last_at else ?3 end,
      started_at = case when started_at < ?4 then started_at else ?4 end
    where id = ?1";
pub(super) const EPISODE_KNOWN: &str = "select id from episode where uid = ?1";
pub(super) const EPISODE_HERE: &str = "
    select session, first_place, last_place,
      state = 'raw' and retired_at is null and compressed_into is null
    from episode where id = ?1";
pub(super) const EPISODE: Filled = Filled {
    sql: "
    insert into episode (id, uid, user_id, session, first_place, last_place, channel, agent,
      project, task, task_type, state, started_at, ended_at, tokens, body, uses, last_used_at,
      trust, quarantined_at, retired_at, extracted_at, imported)
    values (?1, ?2, ?3, ?4, ?5, ?6,
      (select id from label where text = ?7), (select id from label where text = ?8),
      (select id from label where text = ?9), ?10, ?11, ?12, ?13,
      ?14, ?15, ?16, coalesce(?17, 0), ?18, ?19, ?20,
      ?21, ?22, coalesce(?23, 0))",
    fields: "id uid user session first_place last_place channel agent project task task_type \
        state started_at ended_at tokens body uses last_used_at trust quarantined_at \
        retired_at extracted_at imported",
};
pub(super) const GROW_EPISODE: &str = "
    update episode set last_place = case when last_place > ?2 then last_place else ?2 end,
      ended_at = case when ended_at > ?3 then ended_at else ?3 end,
      tokens = case when tokens > ?4 then tokens else ?4 end
    where id = ?1";
pub(super) const MESSAGE_KNOWN: &str = "
    select o.item from origin o left join message m on m.id = o.item
    where o.key = ?1 and o.kind = 0 and (o.hash is null or o.hash = ?2 or m.at = ?3)";
pub(super) const EPISODE_OF_MESSAGE: &str = "select episode from message where id = ?1";
pub(super) const MESSAGE: Filled = Filled {
    sql: "
    insert into message (id, episode, at, role, speaker, marks, text, caption)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    fields: "id episode at role speaker marks text caption",
};
pub(super) const MESSAGE_ORIGIN: &str =
    "insert into origin (key, kind, item, hash) values (?1, 0, ?2, ?3) on conflict do nothing";
pub(super) const STEP: Filled = Filled {
    sql: "
    insert into step (message, number, tool, arguments, failed)
    values (?1, ?2, ?3, ?4, coalesce(?5, 0))",
    fields: "message number tool arguments failed",
};
pub(super) const SPEAKER: &str =
    "insert into speaker (user_id, word, name) values (?1, ?2, ?3) on conflict do nothing";
pub(super) const COVERED_HERE: &str = each_covered!("summary = ?1");
pub(super) const TOLD_SESSION: &str =
    "insert into summary_session (summary, session) values (?1, ?2) on conflict do nothing";

pub(super) const FACT_KNOWN: &str = "select id from fact where uid = ?1";
pub(super) const FACT_SAID: &str =
    "select id from fact where user_id = ?1 and norm_hash = ?2 and retired_at is null";
pub(super) const FACT: Filled = Filled {
    sql: "
    insert into fact (id, uid, user_id, statement, kind, subject, predicate, object, confidence,
      origin, trust, quarantined_at, valid_from, valid_to, valid_to_before, recorded_at,
      retired_at, pinned, norm_hash, revision, uses, last_used_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      ?10, ?11, ?12, ?13, ?14, ?15, ?16,
      ?17, coalesce(?18, 0), ?19, coalesce(?20, 1), coalesce(?21, 0),
      ?22)",
    fields: "id uid user statement kind subject predicate object confidence origin trust \
        quarantined_at valid_from valid_to valid_to_before recorded_at retired_at pinned \
        norm_hash revision uses last_used_at",
};
pub(super) const FILE_ENTRY: Filled = Filled {
    sql: "insert into file_entry (fact, file, entry, at) values (?1, ?2, ?3, ?4) on conflict do nothing",
    fields: "fact file entry at",
};
pub(super) const SOURCE: Filled = Filled {
    sql: "
    insert into source (kind, item, episode, message, quote, extractor, model, prompt_version)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    fields: "kind item episode message quote extractor model prompt_version",
};
pub(super) const REVISION: Filled = Filled {
    sql: "
    insert into revision (kind, item, number, at, actor, body)
    values (?1, ?2, ?3, ?4, ?5, ?6)",
    fields: "kind item number at actor body",
};
pub(super) const ORIGIN: &str =
    "insert into origin (key, kind, item, hash) values (?1, ?2, ?3, ?4) on conflict do nothing";
pub(super) const ORIGIN_KNOWN: &str = "select item from origin where key = ?1 and kind = ?2";
pub(super) const CONFLICT: Filled = Filled {
    sql: "
    insert into conflict (fact, other, at, settled_at)
    values (?1, ?2, ?3, ?4)
    on conflict do nothing",
    fields: "fact other at settled_at",
};
pub(super) const PROCEDURE_KNOWN: &str = "select id from procedure where uid = ?1";
pub(super) const PROCEDURE: Filled = Filled {
    sql: "
    insert into procedure (id, uid, user_id, kind, task_type, title, body, outcome, origin, trust,
      quarantined_at, recorded_at, retired_at, uses, last_used_at, wins, losses, skill_path,
      locked, pinned, revision)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
      ?11, ?12, ?13, coalesce(?14, 0), ?15,
      coalesce(?16, 0), coalesce(?17, 0), ?18, coalesce(?19, 0),
      coalesce(?20, 0), coalesce(?21, 1))",
    fields: "id uid user kind task_type title body outcome origin trust quarantined_at \
        recorded_at retired_at uses last_used_at wins losses skill_path locked pinned \
        revision",
};
pub(super) const TASK_KNOWN: &str = "
    select id from task where uid = ?1
    union all select id from task where user_id = ?2 and external_id = ?3 limit 1";
pub(super) const TASK: Filled = Filled {
    sql: "
    insert into task (id, uid, user_id, external_id, session, task_type, title, started_at,
      ended_at, outcome, steps, words, skill)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      ?10, ?11, ?12, ?13)",
    fields: "id uid user external_id session task_type title started_at ended_at outcome steps \
        words skill",
};
pub(super) const EVENT_KNOWN: &str = "select id from event where uid = ?1";
pub(super) const EVENT: Filled = Filled {
    sql: "
    insert into event (id, uid, user_id, at, kind, text, why, session, task, trust, quarantined_at,
      recorded_at, retired_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
      ?12, ?13)",
    fields: "id uid user at kind text why session task trust quarantined_at recorded_at \
        retired_at",
};
pub(super) const PROPOSAL_KNOWN: &str = "
    select id from proposal where uid = ?1
    union all select id from proposal where user_id = ?2 and kind = ?3 and body = ?4 limit 1";
pub(super) const PROPOSAL: Filled = Filled {
    sql: "
    insert into proposal (id, uid, user_id, kind, body, origin, trust, episode, state, created_at,
      decided_at, decided_by)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
      ?11, ?12)",
    fields: "id uid user kind body origin trust episode state created_at decided_at decided_by",
};

// The one with the number it had before others that say the same.
pub(super) const RECEIPT_SAME: &str = "
    select r.id from import_seen_receipt s join receipt r on r.id = s.id
    where s.at = ?1 and s.user_id = ?2 and r.session_id is not distinct from ?3
      and r.turn is not distinct from ?4 and r.tokens = ?5
    order by r.id = ?6 desc, r.id limit 1";
pub(super) const RECEIPT_MATCHED: &str = "delete from import_seen_receipt where id = ?1";
pub(super) const RECEIPT: Filled = Filled {
    sql: "
    insert into receipt (id, user_id, at, session_id, turn, tokens, items)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    fields: "id user at session_id turn tokens items",
};
pub(super) const TAKEN: Filled = Filled {
    sql: "
    insert into taken (database, session_id, last_message, live, at)
    values (?1, ?2, ?3, ?4, ?5)
    on conflict do nothing",
    fields: "database session_id last_message live at",
};
pub(super) const GRAVE_KNOWN: &str =
    "select 1 from grave where kind = ?1 and user_id = ?2 and key = ?3 and at >= ?4";
pub(super) const GRAVE: Filled = Filled {
    sql: "
    insert into grave (kind, user_id, key, at, actor, item)
    values (?1, ?2, ?3, ?4, ?5, ?6)",
    fields: "kind user key at actor item",
};
pub(super) const NO_GRAVE: Filled = Filled {
    sql: "delete from grave where kind = ?1 and user_id = ?2 and key = ?3",
    fields: "kind user key",
};
pub(super) const TOMBSTONE: Filled = Filled {
    sql: "insert into tombstone (kind, uid, at, actor) values (?1, ?2, ?3, ?4) on conflict do nothing",
    fields: "kind uid at actor",
};
pub(super) const IS_KEPT: &str = "
    select 1 from fact where uid = ?1 union all select 1 from episode where uid = ?1
    union all select 1 from procedure where uid = ?1 union all select 1 from event where uid = ?1";

/// Every statement that makes a row, for the test that none of the columns is left out.
#[cfg(test)]
pub(super) const ALL: [&str; 29] = [
    USER.sql,
    IDENTITY.sql,
    SEEN_IDENTITY.sql,
    ENTITY.sql,
    ALIAS.sql,
    MENTION,
    SESSION.sql,
    EPISODE.sql,
    MESSAGE.sql,
    MESSAGE_ORIGIN,
    STEP.sql,
    covered::ADD,
    TOLD_SESSION,
    FACT.sql,
    FILE_ENTRY.sql,
    SOURCE.sql,
    REVISION.sql,
    ORIGIN,
    CONFLICT.sql,
    PROCEDURE.sql,
    TASK.sql,
    EVENT.sql,
    PROPOSAL.sql,
    RECEIPT.sql,
    TAKEN.sql,
    GRAVE.sql,
    TOMBSTONE.sql,
    ADD_AUDIT,
    FILL_SESSION,
];
#[cfg(test)]
const ADD_AUDIT: &str = "
    insert into audit (id, at, actor, action, item, before, after, previous, hash) values ()";
pub(super) const WAITING_NAME: Put = Put {
    change: "update import_waiting_name set fields = ?2 where old = ?1",
    add: "insert into import_waiting_name (old, fields) values (?1, ?2)",
};
pub(super) const NAME_THAT_WAITS: &str = "select fields from import_waiting_name where old = ?1";
