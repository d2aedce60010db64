//! The statements that write what an import brings; each parameter is the key of the document that fills it.

#[cfg(test)]
use crate::memory::covered;
use crate::memory::covered::each_covered;

pub(super) const USER_AS_IS: &str = "
    update user set uid = :uid, name = :name, timezone = :timezone, created_at = :created_at
    where id = :id";
pub(super) const USER_KNOWN: &str = "
    select coalesce(merged_into, id), gone_at is not null and merged_into is null from user
    where id <> 0 and (uid = ?1 or name = ?2) order by uid = ?1 desc limit 1";
pub(super) const USER: &str = "
    insert into user (id, uid, name, timezone, created_at, gone_at, merged_into)
    values (:id, :uid, :name, :timezone, :created_at, :gone_at, :merged_into)";
pub(super) const IDENTITY: &str = "
    insert or ignore into identity (channel, native_id, user_id, linked_at, chat)
    values (:channel, :native_id, :user, :linked_at, coalesce(:chat, 'direct'))";
pub(super) const SEEN_IDENTITY: &str = "
    insert or ignore into seen_identity (channel, native_id, chat, user_id, first_at, last_at)
    select :channel, :native_id, :chat, :user, :first_at, :last_at
    where not exists (
      select 1 from identity where channel = :channel and native_id = :native_id)";
pub(super) const ENTITY_SAME: &str =
    "select id from entity where id = ?1 and user_id = ?2 and name = ?3 and created_at = ?4";
pub(super) const ENTITY_NAMED: &str = "
    select e.id from entity_alias a join entity e on e.id = a.entity
    where a.user_id = ?1 and a.alias = ?2";
pub(super) const ENTITY: &str = "
    insert into entity (id, user_id, name, kind, created_at)
    values (:id, :user, :name, :kind, :created_at)";
pub(super) const ALIAS: &str =
    "insert or ignore into entity_alias (user_id, alias, entity) values (:user, :alias, :entity)";
pub(super) const MENTION: &str =
    "insert or ignore into mention (entity, kind, item) values (?1, ?2, ?3)";

pub(super) const SESSION_KNOWN: &str =
    "select id from session where session_id = ?1 and user_id = ?2 and part = ?3";
pub(super) const SESSION_TAKEN: &str = "select 1 from session where id = ?1";
pub(super) const LAST_SESSION: &str = "select max(id) from session where id between ?1 and ?2";
pub(super) const SESSION: &str = "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at,
      ended_at, reflected_at)
    values (:id, :user, :session_id, :part, (select id from label where text = :channel),
      (select id from label where text = :source), :started_at, :last_at, :ended_at, :reflected_at)";
pub(super) const SESSION_END: &str = "
    insert into temp.session_end (session, messages, dropped)
    values (:id, :messages, coalesce(:dropped, 0))
    on conflict (session) do update set messages = excluded.messages, dropped = excluded.dropped";
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
    update session set messages = max(messages, ?2), last_at = max(last_at, ?3),
      started_at = min(started_at, ?4)
    where id = ?1";
pub(super) const EPISODE_KNOWN: &str = "select id from episode where uid = ?1";
pub(super) const EPISODE_HERE: &str = "
    select session, first_place, last_place,
      state = 'raw' and retired_at is null and compressed_into is null
    from episode where id = ?1";
pub(super) const EPISODE: &str = "
    insert into episode (id, uid, user_id, session, first_place, last_place, channel, agent,
      project, task, task_type, state, started_at, ended_at, tokens, body, uses, last_used_at,
      trust, quarantined_at, retired_at, extracted_at, imported)
    values (:id, :uid, :user, :session, :first_place, :last_place,
      (select id from label where text = :channel), (select id from label where text = :agent),
      (select id from label where text = :project), :task, :task_type, :state, :started_at,
      :ended_at, :tokens, :body, coalesce(:uses, 0), :last_used_at, :trust, :quarantined_at,
      :retired_at, :extracted_at, coalesce(:imported, 0))";
pub(super) const GROW_EPISODE: &str = "
    update episode set last_place = max(last_place, ?2), ended_at = max(ended_at, ?3),
      tokens = max(tokens, ?4)
    where id = ?1";
pub(super) const MESSAGE_KNOWN: &str = "
    select o.item from origin o left join message m on m.id = o.item
    where o.key = ?1 and o.kind = 0 and (o.hash is null or o.hash = ?2 or m.at = ?3)";
pub(super) const EPISODE_OF_MESSAGE: &str = "select episode from message where id = ?1";
pub(super) const MESSAGE: &str = "
    insert into message (id, episode, at, role, speaker, marks, text, caption)
    values (:id, :episode, :at, :role, :speaker, :marks, :text, :caption)";
pub(super) const MESSAGE_ORIGIN: &str =
    "insert or ignore into origin (key, kind, item, hash) values (?1, 0, ?2, ?3)";
pub(super) const STEP: &str = "
    insert into step (message, number, tool, arguments, failed)
    values (:message, :number, :tool, :arguments, coalesce(:failed, 0))";
pub(super) const SPEAKER: &str =
    "insert or ignore into speaker (user_id, word, name) values (?1, ?2, ?3)";
pub(super) const COVERED_HERE: &str = each_covered!("summary = ?1");
pub(super) const TOLD_SESSION: &str =
    "insert or ignore into summary_session (summary, session) values (?1, ?2)";

pub(super) const FACT_KNOWN: &str = "select id from fact where uid = ?1";
pub(super) const FACT_SAID: &str =
    "select id from fact where user_id = ?1 and norm_hash = ?2 and retired_at is null";
pub(super) const FACT: &str = "
    insert into fact (id, uid, user_id, statement, kind, subject, predicate, object, confidence,
      origin, trust, quarantined_at, valid_from, valid_to, valid_to_before, recorded_at,
      retired_at, pinned, norm_hash, revision, uses, last_used_at)
    values (:id, :uid, :user, :statement, :kind, :subject, :predicate, :object, :confidence,
      :origin, :trust, :quarantined_at, :valid_from, :valid_to, :valid_to_before, :recorded_at,
      :retired_at, coalesce(:pinned, 0), :norm_hash, coalesce(:revision, 1), coalesce(:uses, 0),
      :last_used_at)";
pub(super) const FILE_ENTRY: &str =
    "insert or ignore into file_entry (fact, file, entry, at) values (:fact, :file, :entry, :at)";
pub(super) const SOURCE: &str = "
    insert into source (kind, item, episode, message, quote, extractor, model, prompt_version)
    values (:kind, :item, :episode, :message, :quote, :extractor, :model, :prompt_version)";
pub(super) const REVISION: &str = "
    insert into revision (kind, item, number, at, actor, body)
    values (:kind, :item, :number, :at, :actor, :body)";
pub(super) const ORIGIN: &str =
    "insert or ignore into origin (key, kind, item, hash) values (?1, ?2, ?3, ?4)";
pub(super) const ORIGIN_KNOWN: &str = "select item from origin where key = ?1 and kind = ?2";
pub(super) const CONFLICT: &str = "
    insert or ignore into conflict (fact, other, at, settled_at)
    values (:fact, :other, :at, :settled_at)";
pub(super) const PROCEDURE_KNOWN: &str = "select id from procedure where uid = ?1";
pub(super) const PROCEDURE: &str = "
    insert into procedure (id, uid, user_id, kind, task_type, title, body, outcome, origin, trust,
      quarantined_at, recorded_at, retired_at, uses, last_used_at, wins, losses, skill_path,
      locked, pinned, revision)
    values (:id, :uid, :user, :kind, :task_type, :title, :body, :outcome, :origin, :trust,
      :quarantined_at, :recorded_at, :retired_at, coalesce(:uses, 0), :last_used_at,
      coalesce(:wins, 0), coalesce(:losses, 0), :skill_path, coalesce(:locked, 0),
      coalesce(:pinned, 0), coalesce(:revision, 1))";
pub(super) const TASK_KNOWN: &str = "
    select id from task where uid = ?1
    union all select id from task where user_id = ?2 and external_id = ?3 limit 1";
pub(super) const TASK: &str = "
    insert into task (id, uid, user_id, external_id, session, task_type, title, started_at,
      ended_at, outcome, steps, words, skill)
    values (:id, :uid, :user, :external_id, :session, :task_type, :title, :started_at, :ended_at,
      :outcome, :steps, :words, :skill)";
pub(super) const EVENT_KNOWN: &str = "select id from event where uid = ?1";
pub(super) const EVENT: &str = "
    insert into event (id, uid, user_id, at, kind, text, why, session, task, trust, quarantined_at,
      recorded_at, retired_at)
    values (:id, :uid, :user, :at, :kind, :text, :why, :session, :task, :trust, :quarantined_at,
      :recorded_at, :retired_at)";
pub(super) const PROPOSAL_KNOWN: &str = "
    select id from proposal where uid = ?1
    union all select id from proposal where user_id = ?2 and kind = ?3 and body = ?4 limit 1";
pub(super) const PROPOSAL: &str = "
    insert into proposal (id, uid, user_id, kind, body, origin, trust, episode, state, created_at,
      decided_at, decided_by)
    values (:id, :uid, :user, :kind, :body, :origin, :trust, :episode, :state, :created_at,
      :decided_at, :decided_by)";

// The one with the number it had before others that say the same.
pub(super) const RECEIPT_SAME: &str = "
    select r.id from temp.seen_receipt s join receipt r on r.id = s.id
    where s.at = ?1 and s.user_id = ?2 and r.session_id is not distinct from ?3
      and r.turn is not distinct from ?4 and r.tokens = ?5
    order by r.id = ?6 desc, r.id limit 1";
pub(super) const RECEIPT_MATCHED: &str = "delete from temp.seen_receipt where id = ?1";
pub(super) const RECEIPT: &str = "
    insert into receipt (id, user_id, at, session_id, turn, tokens, items)
    values (:id, :user, :at, :session_id, :turn, :tokens, :items)";
pub(super) const TAKEN: &str = "
    insert or ignore into taken (database, session_id, last_message, live, at)
    values (:database, :session_id, :last_message, :live, :at)";
pub(super) const GRAVE_KNOWN: &str =
    "select 1 from grave where kind = ?1 and user_id = ?2 and key = ?3 and at >= ?4";
pub(super) const GRAVE: &str = "
    insert into grave (kind, user_id, key, at, actor, item)
    values (:kind, :user, :key, :at, :actor, :item)
    on conflict (kind, user_id, key)
      do update set at = excluded.at, actor = excluded.actor, item = excluded.item";
pub(super) const TOMBSTONE: &str =
    "insert or ignore into tombstone (kind, uid, at, actor) values (:kind, :uid, :at, :actor)";
pub(super) const IS_KEPT: &str = "
    select 1 from fact where uid = ?1 union all select 1 from episode where uid = ?1
    union all select 1 from procedure where uid = ?1 union all select 1 from event where uid = ?1";

/// Every statement that makes a row, for the test that none of the columns is left out.
#[cfg(test)]
pub(super) const ALL: [&str; 29] = [
    USER,
    IDENTITY,
    SEEN_IDENTITY,
    ENTITY,
    ALIAS,
    MENTION,
    SESSION,
    EPISODE,
    MESSAGE,
    MESSAGE_ORIGIN,
    STEP,
    covered::ADD,
    TOLD_SESSION,
    FACT,
    FILE_ENTRY,
    SOURCE,
    REVISION,
    ORIGIN,
    CONFLICT,
    PROCEDURE,
    TASK,
    EVENT,
    PROPOSAL,
    RECEIPT,
    TAKEN,
    GRAVE,
    TOMBSTONE,
    ADD_AUDIT,
    FILL_SESSION,
];
#[cfg(test)]
const ADD_AUDIT: &str = "
    insert into audit (id, at, actor, action, item, before, after, previous, hash) values ()";
pub(super) const WAITING_NAME: &str = "
    insert into temp.waiting_name (old, fields) values (?1, ?2)
    on conflict (old) do update set fields = excluded.fields";
pub(super) const NAME_THAT_WAITS: &str = "select fields from temp.waiting_name where old = ?1";
