-- The first schema of memory.db: what happened, what is known, how things are done well, and the index over all of it.
--
-- Times are milliseconds since 1970. `user_id` 0 is shared by everybody, 1 is the owner.
-- Numbers that say whose they are: a session is user(20 bits) kind(3) number(20), a message is its
-- session and place(12), a chunk is its message and part(8). So the rows of one user and kind lie
-- side by side in every index, and the neighbours of a message are found by counting.

create table meta (
  key text primary key,
  value text not null
) without rowid;

create table user (
  id integer primary key,
  uid blob not null unique,
  name text not null unique,
  timezone text,
  created_at integer not null
);

create table identity (
  channel text not null,
  native_id text not null,
  user_id integer not null references user (id),
  linked_at integer not null,
  primary key (channel, native_id)
) without rowid;

-- Channels, agents, projects and sources, each text once.
create table label (
  id integer primary key,
  text text not null unique
);

create table session (
  id integer primary key,
  user_id integer not null references user (id),
  session_id text not null,
  part integer not null,
  channel integer references label (id),
  source integer not null references label (id),
  started_at integer not null,
  last_at integer not null,
  ended_at integer,
  messages integer not null default 0,
  unique (session_id, user_id, part)
);
create index session_by_time on session (user_id, last_at);

create table episode (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  session integer not null references session (id),
  first_place integer not null,
  last_place integer not null,
  channel integer references label (id),
  agent integer references label (id),
  project integer references label (id),
  task text,
  task_type text,
  state text not null check (state in ('raw', 'compressed')),
  started_at integer not null,
  ended_at integer not null,
  tokens integer not null,
  body text,
  compressed_into integer references episode (id),
  uses integer not null default 0,
  last_used_at integer,
  trust integer not null,
  quarantined_at integer,
  retired_at integer,
  extracted_at integer
);
create index episode_by_session on episode (session, first_place);
create index episode_by_time on episode (user_id, started_at);
create index episode_by_project on episode (user_id, project, started_at) where project is not null;
create index episode_waiting on episode (ended_at) where extracted_at is null;

create table message (
  id integer primary key,
  episode integer not null references episode (id),
  at integer not null,
  role text not null,
  speaker text,
  -- 1: ends as a question, 2: speaks of a time
  marks integer not null,
  text text not null,
  caption text
);

-- The words of the names of those who spoke, so that a question about one of them is understood.
create table speaker (
  user_id integer not null,
  word text not null,
  name text not null,
  primary key (user_id, word, name)
) without rowid;

-- (source, external id) of everything recorded, as the first 16 bytes of their SHA-256: recording twice adds nothing.
create table origin (
  key blob primary key,
  kind integer not null,
  item integer not null
) without rowid;
create index origin_by_item on origin (kind, item) where kind <> 0;

create table fact (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  statement text not null,
  kind text not null,
  subject text,
  predicate text,
  object text,
  confidence real not null,
  origin text not null check (origin in ('user', 'agent', 'extract', 'import', 'provider')),
  trust integer not null,
  quarantined_at integer,
  valid_from integer,
  valid_to integer,
  recorded_at integer not null,
  retired_at integer,
  superseded_by integer references fact (id),
  pinned integer not null default 0,
  norm_hash blob not null,
  revision integer not null default 1,
  uses integer not null default 0,
  last_used_at integer
);
create unique index fact_said_once on fact (user_id, norm_hash) where retired_at is null;
create index fact_by_time on fact (user_id, recorded_at);

-- Where a derived thing came from: the episode, the message and the words.
create table source (
  id integer primary key,
  kind integer not null,
  item integer not null,
  episode integer,
  message integer,
  quote text,
  extractor text,
  model text,
  prompt_version text
);
create index source_by_item on source (kind, item);
create index source_by_episode on source (episode) where episode is not null;

-- Earlier texts of a thing that was edited.
create table revision (
  kind integer not null,
  item integer not null,
  number integer not null,
  at integer not null,
  actor text not null,
  body text not null,
  primary key (kind, item, number)
) without rowid;

create table entity (
  id integer primary key,
  user_id integer not null references user (id),
  name text not null,
  kind text,
  created_at integer not null
);

create table entity_alias (
  user_id integer not null,
  alias text not null,
  entity integer not null references entity (id),
  primary key (user_id, alias)
) without rowid;
create index entity_alias_by_entity on entity_alias (entity);

create table mention (
  entity integer not null references entity (id),
  kind integer not null,
  item integer not null,
  primary key (entity, kind, item)
) without rowid;
create index mention_by_item on mention (kind, item);

create table procedure (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  kind text not null check (kind in ('reflection', 'pattern', 'skill')),
  task_type text,
  title text not null,
  body text not null,
  outcome text,
  origin text not null,
  trust integer not null,
  quarantined_at integer,
  recorded_at integer not null,
  retired_at integer,
  superseded_by integer references procedure (id),
  uses integer not null default 0,
  last_used_at integer,
  wins integer not null default 0,
  losses integer not null default 0,
  skill_path text,
  locked integer not null default 0,
  pinned integer not null default 0,
  revision integer not null default 1
);
create index procedure_by_task on procedure (user_id, task_type);

create table event (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  at integer not null,
  kind text not null check (kind in ('task', 'decision', 'result', 'failure')),
  text text not null,
  why text,
  session integer,
  task integer,
  trust integer not null,
  quarantined_at integer,
  recorded_at integer not null,
  retired_at integer
);
create index event_by_time on event (user_id, at);

create table task (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  external_id text,
  session integer,
  task_type text,
  title text not null,
  started_at integer not null,
  ended_at integer,
  outcome text
);

-- One part of a text: its place in it, its length in tokens, and the ids of its tokens.
create table chunk (
  id integer primary key,
  start integer not null,
  length integer not null,
  tokens blob not null
);

-- Only which chunk has which word: places inside a chunk would cost half as much again.
create virtual table chunk_words using fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- Merging is done in small bounded steps after writing, never as one long stall inside a write.
insert into chunk_words (chunk_words, rank) values ('automerge', 0);

create table embed_model (
  id integer primary key,
  provider text not null,
  name text not null,
  dims integer not null,
  details text not null,
  mean blob not null,
  calibration text,
  state text not null check (state in ('building', 'active', 'retired')),
  created_at integer not null,
  unique (provider, name, dims, details)
);
create unique index embed_model_active on embed_model (state) where state = 'active';

-- The stored truth of a vector: one byte for each dimension and a scale (4 bytes, little-endian) in front.
create table vector (
  model integer not null references embed_model (id),
  chunk integer not null,
  v blob not null,
  primary key (model, chunk)
) without rowid;

-- Two bits for each dimension, for the quick look over everything; can be made anew from `vector` at any time.
create table vector_segment (
  id integer primary key,
  model integer not null references embed_model (id),
  user_id integer not null,
  kind integer not null,
  number integer not null,
  capacity integer not null,
  used integer not null,
  unique (model, user_id, kind, number)
);
create table vector_codes (segment integer primary key references vector_segment (id), codes blob not null);
create table vector_slots (segment integer primary key references vector_segment (id), slots blob not null);

create table job (
  id integer primary key autoincrement,
  kind text not null,
  payload text not null,
  dedupe_key text,
  user_id integer,
  state text not null check (state in ('waiting', 'leased', 'done', 'failed')),
  run_at integer not null,
  attempts integer not null default 0,
  lease_owner text,
  lease_until integer,
  last_error text,
  created_at integer not null,
  finished_at integer
);
create unique index job_once on job (kind, dedupe_key) where dedupe_key is not null and state in ('waiting', 'leased');
create index job_due on job (state, run_at);

create table schedule (
  name text primary key,
  cron text not null,
  next_run integer,
  last_run integer,
  last_result text
) without rowid;

-- A chain: each row's hash covers the row before, so that a missing or altered one shows. No texts, only hashes.
create table audit (
  id integer primary key autoincrement,
  at integer not null,
  actor text not null,
  action text not null,
  item text not null,
  before blob,
  after blob,
  previous blob not null,
  hash blob not null
);

create table tombstone (
  kind integer not null,
  uid blob not null,
  at integer not null,
  actor text not null,
  primary key (kind, uid)
) without rowid;

-- The answer given to a request that may be sent twice.
create table idempotency (
  key text primary key,
  at integer not null,
  answer text not null
) without rowid;

create table proposal (
  id integer primary key autoincrement,
  uid blob not null unique,
  user_id integer not null references user (id),
  kind text not null,
  body text not null,
  origin text not null,
  trust integer not null,
  episode integer,
  state text not null check (state in ('open', 'accepted', 'refused')),
  created_at integer not null,
  decided_at integer,
  decided_by text
);

-- What was put in front of the model, and for which turn.
create table receipt (
  id integer primary key autoincrement,
  user_id integer not null references user (id),
  at integer not null,
  session_id text,
  turn text,
  tokens integer not null,
  items text not null
);
create index receipt_by_session on receipt (session_id) where session_id is not null;

create table counter (
  day text not null,
  name text not null,
  user_id integer not null,
  value integer not null,
  primary key (day, name, user_id)
) without rowid;
