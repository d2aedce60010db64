-- Memory lives: what was taken in and from whom, what a person said no to, what stands for old episodes.

-- How far each session of state.db was taken in, and how many of its messages counted then.
create table taken (
  session_id text primary key,
  last_message integer not null,
  live integer not null,
  at integer not null
) without rowid;

-- Who came in through a channel and is linked to nobody, and whose memory their words went to.
create table seen_identity (
  channel text not null,
  native_id text not null,
  chat text not null check (chat in ('direct', 'group')),
  user_id integer not null references user (id),
  first_at integer not null,
  last_at integer not null,
  primary key (channel, native_id)
) without rowid;

-- What a person took back, as hashes: it stays gone until newer words of theirs bring it back.
-- kind 0: a statement, 1: subject, predicate and object, 2: the words it came from, 3: a recorded message, 4: a session.
create table grave (
  kind integer not null,
  user_id integer not null,
  key blob not null,
  at integer not null,
  actor text not null,
  -- Whose return lifts it: `fact:012`.
  item text,
  primary key (kind, user_id, key)
) without rowid;
create index grave_by_item on grave (item) where item is not null;

-- The tools an assistant's message called, and how it went.
create table step (
  message integer not null,
  number integer not null,
  tool text not null,
  arguments text not null,
  failed integer not null default 0,
  primary key (message, number)
) without rowid;

-- The summary that tells of an episode whose messages are gone, with the session it was in, and the
-- sessions a summary tells of.
create table covered (
  episode integer primary key,
  summary integer not null references episode (id),
  session integer not null references session (id)
);
create index covered_by_summary on covered (summary);
create index covered_by_session on covered (session);
create table summary_session (
  summary integer not null references episode (id),
  session integer not null references session (id),
  primary key (summary, session)
) without rowid;
create index summary_by_session on summary_session (session);

-- Two facts that may not both be true.
create table conflict (
  fact integer not null references fact (id),
  other integer not null references fact (id),
  at integer not null,
  settled_at integer,
  primary key (fact, other)
) without rowid;
create index conflict_by_other on conflict (other);

-- The entry of a memory file that says the same as a fact.
create table file_entry (
  fact integer not null references fact (id),
  file text not null,
  entry blob not null,
  at integer not null,
  primary key (fact, file)
) without rowid;

-- History that was brought in: a model reads it only when asked to.
alter table episode add column imported integer not null default 0;
alter table session add column reflected_at integer;
alter table task add column steps text;
alter table task add column words text;
alter table task add column skill integer;
create unique index task_once on task (user_id, external_id) where external_id is not null;
create index fact_by_subject on fact (user_id, subject collate nocase, predicate collate nocase)
  where subject is not null;
create index session_waiting on session (last_at) where reflected_at is null;
create unique index proposal_once on proposal (user_id, kind, body);

-- When a superseded fact would have ended otherwise: what undoing brings back.
alter table fact add column valid_to_before integer;
update fact set valid_to_before = valid_to where superseded_by is not null and valid_to <> retired_at;
alter table identity add column chat text not null default 'direct' check (chat in ('direct', 'group'));
create index audit_of_facts on audit (item) where item >= 'fact:' and item < 'fact;';
create index fact_by_successor on fact (superseded_by) where superseded_by is not null;
-- Episodes that a summary tells of while their messages are still there.
create index episode_told on episode (compressed_into) where compressed_into is not null;
-- How many messages of a session are gone; their places stay taken.
alter table session add column dropped integer not null default 0;
create index event_by_session on event (session) where session is not null;
drop index episode_waiting;
create index episode_waiting on episode (ended_at)
  where extracted_at is null and state = 'raw' and retired_at is null and quarantined_at is null;

-- The lowest and highest chunk in a segment, so that removing a text reads only segments that can
-- hold it; null in one that was written before this was noted.
alter table vector_segment add column low integer;
alter table vector_segment add column high integer;
