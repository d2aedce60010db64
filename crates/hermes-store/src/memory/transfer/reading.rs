//! The statements that read a memory for an export; ?1 is the user asked for, ?2 the time since.

use crate::memory::Section;
use crate::memory::covered::each_covered;

/// The statement that reads the rows of a part, in the order of the document.
pub(super) fn of(section: Section) -> &'static str {
    match section {
        Section::Users => USERS,
        Section::Identities => IDENTITIES,
        Section::SeenIdentities => SEEN_IDENTITIES,
        Section::Audit => AUDIT,
        Section::Entities => ENTITIES,
        Section::Sessions => SESSIONS,
        Section::Episodes => EPISODES,
        Section::Facts => FACTS,
        Section::Conflicts => CONFLICTS,
        Section::Procedures => PROCEDURES,
        Section::Tasks => TASKS,
        Section::Events => EVENTS,
        Section::Proposals => PROPOSALS,
        Section::Receipts => RECEIPTS,
        Section::Taken => TAKEN,
        Section::Origins => ORIGINS,
        Section::Graves => GRAVES,
        Section::Tombstones => TOMBSTONES,
    }
}

const USERS: &str = "
    select id, uid, name, timezone, created_at, gone_at, merged_into from \"user\"
    where cast(?1 as bigint) is null or id in (0, ?1) or merged_into = ?1 order by id";
const IDENTITIES: &str = "
    select channel, native_id, user_id as user, linked_at, chat from identity
    where cast(?1 as bigint) is null or user_id = ?1 order by channel, native_id";
const SEEN_IDENTITIES: &str = "
    select channel, native_id, chat, user_id as user, first_at, last_at from seen_identity
    where cast(?1 as bigint) is null or user_id = ?1 order by channel, native_id";
const AUDIT: &str = "
    select id, at, actor, action, item, before, after, previous, hash from audit order by id";
const ENTITIES: &str = "
    select id, user_id as user, name, kind, created_at from entity
    where cast(?1 as bigint) is null or user_id in (0, ?1) order by id";
pub(super) const ALIASES: &str = "
    select alias, user_id as user from entity_alias
    where entity = ?1 and user_id in (select id from \"user\" where gone_at is null)
    order by user_id, alias";
const SESSIONS: &str = "
    select s.id, s.user_id as user, s.session_id, s.part,
      (select text from label where id = s.channel) as channel,
      (select text from label where id = s.source) as source,
      s.started_at, s.last_at, s.ended_at, s.messages, s.dropped, s.reflected_at
    from session s
    where (cast(?1 as bigint) is null or s.user_id = ?1) and (cast(?2 as bigint) is null or s.last_at >= ?2
      or exists (select 1 from episode e where e.session = s.id and e.ended_at >= ?2))
    order by s.id";
// In the order of their messages, so that origins can be read beside them.
const EPISODES: &str = "
    select e.id, e.uid, e.user_id as user, e.session, e.first_place, e.last_place,
      (select text from label where id = e.channel) as channel,
      (select text from label where id = e.agent) as agent,
      (select text from label where id = e.project) as project,
      e.task, e.task_type, e.state, e.started_at, e.ended_at, e.tokens, e.body, e.compressed_into,
      e.uses, e.last_used_at, e.trust, e.quarantined_at, e.retired_at, e.extracted_at, e.imported
    from episode e
    where (cast(?1 as bigint) is null or e.user_id = ?1) and (cast(?2 as bigint) is null or e.ended_at >= ?2)
    order by e.session, e.first_place, e.id";
pub(super) const MESSAGES: &str = "
    select id, at, role, speaker, text, caption from message
    where id between ?1 and ?2 and episode = ?3 order by id";
pub(super) const STEPS: &str = "
    select number, tool, arguments, failed from step where message = ?1 order by number";
pub(super) const COVERS: &str = each_covered!("summary = ?1");
pub(super) const TOLD_SESSIONS: &str =
    "select session from summary_session where summary = ?1 order by session";
/// Sorted by SQLite, since there is no index from a message to where it came from.
pub(super) const MESSAGE_ORIGINS: &str =
    "select item, key from origin where kind = 0 order by item";
const FACTS: &str = "
    select id, uid, user_id as user, statement, kind, subject, predicate, object, confidence,
      origin, trust, quarantined_at, valid_from, valid_to, valid_to_before, recorded_at,
      retired_at, superseded_by, pinned, revision, uses, last_used_at
    from fact
    where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or recorded_at >= ?2) order by id";
pub(super) const FILES: &str = "
    select file, entry, at from file_entry where fact = ?1 order by file";
pub(super) const SOURCES: &str = "
    select episode, message, quote, extractor, model, prompt_version from source
    where kind = ?2 and item = ?1 order by id";
pub(super) const REVISIONS: &str = "
    select number, at, actor, body from revision where kind = ?2 and item = ?1 order by number";
pub(super) const MENTIONS: &str =
    "select entity from mention where kind = ?2 and item = ?1 order by entity";
pub(super) const ITEM_ORIGINS: &str =
    "select key from origin where kind = ?2 and kind <> 0 and item = ?1 order by key";
const CONFLICTS: &str = "
    select c.fact, c.other, c.at, c.settled_at from conflict c join fact f on f.id = c.fact
    where (cast(?1 as bigint) is null or f.user_id = ?1) and (cast(?2 as bigint) is null or c.at >= ?2) order by c.fact, c.other";
const PROCEDURES: &str = "
    select id, uid, user_id as user, kind, task_type, title, body, outcome, origin, trust,
      quarantined_at, recorded_at, retired_at, superseded_by, uses, last_used_at, wins, losses,
      skill_path, locked, pinned, revision
    from procedure
    where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or recorded_at >= ?2) order by id";
const TASKS: &str = "
    select id, uid, user_id as user, external_id, session, task_type, title, started_at, ended_at,
      outcome, steps, words, skill
    from task where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or started_at >= ?2) order by id";
const EVENTS: &str = "
    select id, uid, user_id as user, at, kind, text, why, session, task, trust, quarantined_at,
      recorded_at, retired_at
    from event where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or at >= ?2) order by id";
const PROPOSALS: &str = "
    select id, uid, user_id as user, kind, body, origin, trust, episode, state, created_at,
      decided_at, decided_by
    from proposal
    where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or created_at >= ?2) order by id";
const RECEIPTS: &str = "
    select id, user_id as user, at, session_id, turn, tokens, items from receipt
    where (cast(?1 as bigint) is null or user_id = ?1) and (cast(?2 as bigint) is null or at >= ?2) order by id";
const TAKEN: &str = "
    select database, session_id, last_message, live, at from taken order by database, session_id";
const ORIGINS: &str = "
    select kind, item, key, hash from origin o
    where case kind
      when 0 then not exists (select 1 from message where id = o.item)
      when 1 then not exists (select 1 from fact where id = o.item)
      when 2 then not exists (select 1 from procedure where id = o.item)
      when 3 then not exists (select 1 from event where id = o.item)
      else not exists (select 1 from episode where id = o.item) end
    order by key";
const GRAVES: &str = "
    select kind, user_id as user, key, at, actor, item from grave
    where cast(?1 as bigint) is null or user_id = ?1 order by kind, user_id, key";
const TOMBSTONES: &str = "select kind, uid, at, actor from tombstone order by kind, uid";
