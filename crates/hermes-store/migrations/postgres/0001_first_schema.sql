-- A memory that several machines share: the tables of memory.db, each row with its profile, in the schema hermes.
--
-- Times are milliseconds since 1970. `user_id` 0 is shared by everybody, 1 is the owner. The numbers of
-- sessions, messages and chunks say whose they are: a session is user(20 bits) kind(3) number(20), a message
-- is its session and place(12), a chunk is its message and part(8).
--
-- Who asks is told inside each transaction: `hermes.profile` is the number of a profile, `hermes.user` the
-- number of a user, or `*` for the one who looks after this profile. Where nothing is told, nothing is seen.

create schema if not exists hermes;

create table hermes.migration (
  number bigint primary key,
  checksum text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null default current_user
);

create function hermes.this_profile() returns bigint language sql stable as $$
  select nullif(current_setting('hermes.profile', true), '')::bigint $$;

create function hermes.sees_all() returns boolean language sql stable as $$
  select coalesce(current_setting('hermes.user', true), '') = '*' $$;

create function hermes.this_user() returns bigint language sql stable as $$
  select case when current_setting('hermes.user', true) ~ '^[0-9]{1,18}$'
    then current_setting('hermes.user', true)::bigint end $$;

create function hermes.seen_users() returns bigint[] language sql stable as $$
  select case when hermes.this_user() is null then '{}'::bigint[] else array[0, hermes.this_user()] end $$;

-- `changed` counts the transactions that wrote: it is the lock of those who write, and what others look at
-- to learn that something is new.
create table hermes.profile (
  profile bigint generated always as identity primary key,
  name text collate "C" not null unique,
  changed bigint not null default 0,
  -- What no other memory on any server is called.
  mark uuid not null default gen_random_uuid()
);

-- The transactions that were done, so that one whose answer was lost is not done twice.
create table hermes.done (
  profile bigint not null,
  key bigint not null,
  at timestamptz not null default now(),
  primary key (profile, key)
);
create index done_by_time on hermes.done (at);

-- The highest number that was given out of each kind.
create table hermes.number (
  profile bigint not null default hermes.this_profile(),
  name text collate "C" not null,
  seq bigint not null,
  primary key (profile, name)
);

create table hermes.meta (
  profile bigint not null default hermes.this_profile(),
  key text collate "C" not null,
  value text collate "C" not null,
  primary key (profile, key)
);

create table hermes."user" (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  name text collate "C" not null,
  timezone text collate "C",
  created_at bigint not null,
  -- Since when they no longer stand by themselves, and who they are now; nobody, if they were forgotten.
  gone_at bigint,
  merged_into bigint,
  primary key (profile, id),
  unique (profile, uid),
  unique (profile, name)
);
create index user_merged on hermes."user" (profile, merged_into) where merged_into is not null;

create table hermes.identity (
  profile bigint not null default hermes.this_profile(),
  channel text collate "C" not null,
  native_id text collate "C" not null,
  user_id bigint not null,
  linked_at bigint not null,
  chat text collate "C" not null default 'direct' check (chat in ('direct', 'group')),
  primary key (profile, channel, native_id)
);

create table hermes.seen_identity (
  profile bigint not null default hermes.this_profile(),
  channel text collate "C" not null,
  native_id text collate "C" not null,
  chat text collate "C" not null check (chat in ('direct', 'group')),
  user_id bigint not null,
  first_at bigint not null,
  last_at bigint not null,
  primary key (profile, channel, native_id)
);

-- Channels, agents, projects and sources, each text once.
create table hermes.label (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  text text collate "C" not null,
  primary key (profile, id),
  unique (profile, text)
);

create table hermes.session (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  user_id bigint not null,
  session_id text collate "C" not null,
  part bigint not null,
  channel bigint,
  source bigint not null,
  started_at bigint not null,
  last_at bigint not null,
  ended_at bigint,
  messages bigint not null default 0,
  reflected_at bigint,
  dropped bigint not null default 0,
  primary key (profile, id),
  unique (profile, session_id, user_id, part)
);
create index session_by_time on hermes.session (profile, user_id, last_at);
create index session_waiting on hermes.session (profile, last_at) where reflected_at is null;

create table hermes.episode (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  session bigint not null,
  first_place bigint not null,
  last_place bigint not null,
  channel bigint,
  agent bigint,
  project bigint,
  task text collate "C",
  task_type text collate "C",
  state text collate "C" not null check (state in ('raw', 'compressed')),
  started_at bigint not null,
  ended_at bigint not null,
  tokens bigint not null,
  body text collate "C",
  compressed_into bigint,
  uses bigint not null default 0,
  last_used_at bigint,
  trust bigint not null,
  quarantined_at bigint,
  retired_at bigint,
  extracted_at bigint,
  imported bigint not null default 0,
  primary key (profile, id),
  unique (profile, uid)
);
create index episode_by_session on hermes.episode (profile, session, first_place);
create index episode_by_time on hermes.episode (profile, user_id, started_at);
create index episode_by_project on hermes.episode (profile, user_id, project, started_at) where project is not null;
create index episode_by_channel on hermes.episode (profile, user_id, channel, started_at) where channel is not null;
create index episode_told on hermes.episode (profile, compressed_into) where compressed_into is not null;
create index episode_waiting on hermes.episode (profile, ended_at)
  where extracted_at is null and state = 'raw' and retired_at is null and quarantined_at is null;

create table hermes.message (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  episode bigint not null,
  at bigint not null,
  role text collate "C" not null,
  speaker text collate "C",
  -- 1: ends as a question, 2: speaks of a time
  marks bigint not null,
  text text collate "C" not null,
  caption text collate "C",
  primary key (profile, id)
);

-- The words of the names of those who spoke, so that a question about one of them is understood.
create table hermes.speaker (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  word text collate "C" not null,
  name text collate "C" not null,
  primary key (profile, user_id, word, name)
);

-- (source, external id) of everything recorded, as the first 16 bytes of their SHA-256.
create table hermes.origin (
  profile bigint not null default hermes.this_profile(),
  key bytea not null,
  kind bigint not null,
  item bigint not null,
  primary key (profile, key)
);
create index origin_by_item on hermes.origin (profile, kind, item) where kind <> 0;

create table hermes.fact (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  statement text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C",
  predicate text collate "C",
  object text collate "C",
  confidence double precision not null,
  origin text collate "C" not null check (origin in ('user', 'agent', 'extract', 'import', 'provider')),
  trust bigint not null,
  quarantined_at bigint,
  valid_from bigint,
  valid_to bigint,
  valid_to_before bigint,
  recorded_at bigint not null,
  retired_at bigint,
  superseded_by bigint,
  pinned bigint not null default 0,
  norm_hash bytea not null,
  revision bigint not null default 1,
  uses bigint not null default 0,
  last_used_at bigint,
  primary key (profile, id),
  unique (profile, uid)
);
create unique index fact_said_once on hermes.fact (profile, user_id, norm_hash) where retired_at is null;
create index fact_by_time on hermes.fact (profile, user_id, recorded_at);
create index fact_by_successor on hermes.fact (profile, superseded_by) where superseded_by is not null;
-- A subject may be longer than an index in order could hold.
create index fact_by_subject on hermes.fact using hash (lower(subject));

-- Where a derived thing came from: the episode, the message and the words.
create table hermes.source (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  user_id bigint not null,
  kind bigint not null,
  item bigint not null,
  episode bigint,
  message bigint,
  quote text collate "C",
  extractor text collate "C",
  model text collate "C",
  prompt_version text collate "C",
  primary key (profile, id)
);
create index source_by_item on hermes.source (profile, kind, item);
create index source_by_episode on hermes.source (profile, episode) where episode is not null;

-- Earlier texts of a thing that was edited.
create table hermes.revision (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  kind bigint not null,
  item bigint not null,
  number bigint not null,
  at bigint not null,
  actor text collate "C" not null,
  body text collate "C" not null,
  primary key (profile, kind, item, number)
);

create table hermes.entity (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  user_id bigint not null,
  name text collate "C" not null,
  kind text collate "C",
  created_at bigint not null,
  primary key (profile, id)
);

create table hermes.entity_alias (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  alias text collate "C" not null,
  entity bigint not null,
  primary key (profile, user_id, alias)
);
create index entity_alias_by_entity on hermes.entity_alias (profile, entity);

create table hermes.mention (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  entity bigint not null,
  kind bigint not null,
  item bigint not null,
  primary key (profile, entity, kind, item)
);
create index mention_by_item on hermes.mention (profile, kind, item);

create table hermes.procedure (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  kind text collate "C" not null check (kind in ('reflection', 'pattern', 'skill')),
  task_type text collate "C",
  title text collate "C" not null,
  body text collate "C" not null,
  outcome text collate "C",
  origin text collate "C" not null,
  trust bigint not null,
  quarantined_at bigint,
  recorded_at bigint not null,
  retired_at bigint,
  superseded_by bigint,
  uses bigint not null default 0,
  last_used_at bigint,
  wins bigint not null default 0,
  losses bigint not null default 0,
  skill_path text collate "C",
  locked bigint not null default 0,
  pinned bigint not null default 0,
  revision bigint not null default 1,
  primary key (profile, id),
  unique (profile, uid)
);
create index procedure_by_task on hermes.procedure (profile, user_id, task_type);

create table hermes.event (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  at bigint not null,
  kind text collate "C" not null check (kind in ('task', 'decision', 'result', 'failure')),
  text text collate "C" not null,
  why text collate "C",
  session bigint,
  task bigint,
  trust bigint not null,
  quarantined_at bigint,
  recorded_at bigint not null,
  retired_at bigint,
  primary key (profile, id),
  unique (profile, uid)
);
create index event_by_time on hermes.event (profile, user_id, at);
create index event_by_session on hermes.event (profile, session) where session is not null;

create table hermes.task (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  external_id text collate "C",
  session bigint,
  task_type text collate "C",
  title text collate "C" not null,
  started_at bigint not null,
  ended_at bigint,
  outcome text collate "C",
  steps text collate "C",
  words text collate "C",
  skill bigint,
  primary key (profile, id),
  unique (profile, uid)
);
create unique index task_once on hermes.task (profile, user_id, external_id) where external_id is not null;

-- One part of a text: its place in it, its length in tokens, and the ids of its tokens.
create table hermes.chunk (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  start bigint not null,
  length bigint not null,
  tokens bytea not null,
  primary key (profile, id)
);

-- Which chunk has which word: stems, as the keyword index of memory.db has them.
create table hermes.chunk_words (
  profile bigint not null default hermes.this_profile(),
  word text collate "C" not null,
  chunk bigint not null,
  primary key (profile, word, chunk)
);
create index chunk_words_of on hermes.chunk_words (profile, chunk);

create table hermes.embed_model (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  provider text collate "C" not null,
  name text collate "C" not null,
  dims bigint not null,
  details text collate "C" not null,
  mean bytea not null,
  calibration text collate "C",
  state text collate "C" not null check (state in ('building', 'active', 'retired')),
  created_at bigint not null,
  primary key (profile, id),
  unique (profile, provider, name, dims, details)
);
create unique index embed_model_active on hermes.embed_model (profile) where state = 'active';

-- The stored truth of a vector: a scale (4 bytes, little-endian) and one byte for each dimension. Beside it
-- its code of two bits for each dimension with a factor, for the quick look over everything, and the number
-- of the change it came with: whoever keeps the codes at hand asks for those that are newer.
create table hermes.vector (
  profile bigint not null default hermes.this_profile(),
  model bigint not null,
  chunk bigint not null,
  user_id bigint not null generated always as (chunk >> 43) stored,
  v bytea not null,
  code bytea not null,
  changed bigint not null,
  primary key (profile, model, chunk)
);
alter table hermes.vector alter column v set storage plain;
alter table hermes.vector alter column code set storage plain;
create index vector_by_change on hermes.vector (profile, model, user_id, changed);

-- The vectors that are gone, so that they are dropped where they are kept at hand.
create table hermes.vector_gone (
  profile bigint not null default hermes.this_profile(),
  model bigint not null,
  chunk bigint not null,
  user_id bigint not null generated always as (chunk >> 43) stored,
  changed bigint not null,
  primary key (profile, model, chunk, changed)
);
create index vector_gone_by_change on hermes.vector_gone (profile, model, user_id, changed);

create table hermes.job (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  kind text collate "C" not null,
  payload text collate "C" not null,
  dedupe_key text collate "C",
  user_id bigint,
  state text collate "C" not null check (state in ('waiting', 'leased', 'done', 'failed')),
  run_at bigint not null,
  attempts bigint not null default 0,
  lease_owner text collate "C",
  lease_until bigint,
  last_error text collate "C",
  created_at bigint not null,
  finished_at bigint,
  primary key (profile, id)
);
create unique index job_once on hermes.job (profile, kind, dedupe_key)
  where dedupe_key is not null and state in ('waiting', 'leased');
create index job_due on hermes.job (profile, state, run_at);

create table hermes.schedule (
  profile bigint not null default hermes.this_profile(),
  name text collate "C" not null,
  cron text collate "C" not null,
  next_run bigint,
  last_run bigint,
  last_result text collate "C",
  primary key (profile, name)
);

-- A chain: each row's hash covers the row before, so that a missing or altered one shows. No texts, only hashes.
create table hermes.audit (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  at bigint not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  item text collate "C" not null,
  before bytea,
  after bytea,
  previous bytea not null,
  hash bytea not null,
  primary key (profile, id)
);
create index audit_of_facts on hermes.audit (profile, item) where item >= 'fact:' and item < 'fact;';

create table hermes.tombstone (
  profile bigint not null default hermes.this_profile(),
  kind bigint not null,
  uid bytea not null,
  at bigint not null,
  actor text collate "C" not null,
  primary key (profile, kind, uid)
);

-- The answer given to a request that may be sent twice.
create table hermes.idempotency (
  profile bigint not null default hermes.this_profile(),
  key text collate "C" not null,
  at bigint not null,
  answer text collate "C" not null,
  primary key (profile, key)
);

create table hermes.proposal (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  uid bytea not null,
  user_id bigint not null,
  kind text collate "C" not null,
  body text collate "C" not null,
  origin text collate "C" not null,
  trust bigint not null,
  episode bigint,
  state text collate "C" not null check (state in ('open', 'accepted', 'refused')),
  created_at bigint not null,
  decided_at bigint,
  decided_by text collate "C",
  primary key (profile, id),
  unique (profile, uid)
);
create unique index proposal_once on hermes.proposal (profile, user_id, kind, md5(body));

-- What was put in front of the model, and for which turn.
create table hermes.receipt (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  user_id bigint not null,
  at bigint not null,
  session_id text collate "C",
  turn text collate "C",
  tokens bigint not null,
  items text collate "C" not null,
  primary key (profile, id)
);
create index receipt_by_session on hermes.receipt (profile, session_id) where session_id is not null;

create table hermes.counter (
  profile bigint not null default hermes.this_profile(),
  day text collate "C" not null,
  name text collate "C" not null,
  user_id bigint not null,
  value bigint not null,
  primary key (profile, day, name, user_id)
);

-- How far each session of state.db was taken in, and how many of its messages counted then.
create table hermes.taken (
  profile bigint not null default hermes.this_profile(),
  session_id text collate "C" not null,
  last_message bigint not null,
  live bigint not null,
  at bigint not null,
  primary key (profile, session_id)
);

-- What a person took back, as hashes: it stays gone until newer words of theirs bring it back.
create table hermes.grave (
  profile bigint not null default hermes.this_profile(),
  kind bigint not null,
  user_id bigint not null,
  key bytea not null,
  at bigint not null,
  actor text collate "C" not null,
  item text collate "C",
  primary key (profile, kind, user_id, key)
);
create index grave_by_item on hermes.grave (profile, item) where item is not null;

-- The tools an assistant's message called, and how it went.
create table hermes.step (
  profile bigint not null default hermes.this_profile(),
  message bigint not null,
  number bigint not null,
  tool text collate "C" not null,
  arguments text collate "C" not null,
  failed bigint not null default 0,
  primary key (profile, message, number)
);

-- Episodes whose messages are gone, as runs of numbers without a gap: of one session, told by one summary.
create table hermes.covered (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  first bigint not null,
  last bigint not null,
  summary bigint not null,
  session bigint not null,
  primary key (profile, first)
);
create index covered_by_summary on hermes.covered (profile, summary);
create index covered_by_session on hermes.covered (profile, session);

create table hermes.summary_session (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  summary bigint not null,
  session bigint not null,
  primary key (profile, summary, session)
);
create index summary_by_session on hermes.summary_session (profile, session);

-- Two facts that may not both be true.
create table hermes.conflict (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  fact bigint not null,
  other bigint not null,
  at bigint not null,
  settled_at bigint,
  primary key (profile, fact, other)
);
create index conflict_by_other on hermes.conflict (profile, other);

-- The entry of a memory file that says the same as a fact.
create table hermes.file_entry (
  profile bigint not null default hermes.this_profile(),
  user_id bigint not null,
  fact bigint not null,
  file text collate "C" not null,
  entry bytea not null,
  at bigint not null,
  primary key (profile, fact, file)
);

-- What an import notes while it is under way.
create table hermes.import_moved (
  profile bigint not null default hermes.this_profile(),
  kind bigint not null,
  old bigint not null,
  new bigint not null,
  primary key (profile, kind, old)
);
create table hermes.import_later (
  profile bigint not null default hermes.this_profile(),
  what bigint not null,
  item bigint not null,
  old bigint not null
);
create index import_later_by_profile on hermes.import_later (profile);
create table hermes.import_session_end (
  profile bigint not null default hermes.this_profile(),
  session bigint not null,
  messages bigint,
  dropped bigint,
  primary key (profile, session)
);
create table hermes.import_seen_receipt (
  profile bigint not null default hermes.this_profile(),
  id bigint not null,
  at bigint not null,
  user_id bigint not null,
  primary key (profile, id)
);
create index import_seen_receipt_by_time on hermes.import_seen_receipt (profile, at, user_id);
create table hermes.import_waiting_name (
  profile bigint not null default hermes.this_profile(),
  old bigint not null,
  fields text collate "C" not null,
  primary key (profile, old)
);

-- A new row gets the next number of its kind; one that brings its own raises the count.
-- The names of all users are counted. Not by a `set` of the function: only a superuser may make such a function.
create function hermes.next_entity(of_profile bigint) returns bigint language plpgsql as $$
declare
  asker text := coalesce(current_setting('hermes.user', true), '');
  free bigint;
begin
  perform set_config('hermes.user', '*', true);
  select coalesce(max(id), 0) + 1 into free from hermes.entity where profile = of_profile;
  perform set_config('hermes.user', asker, true);
  return free;
end $$;
create function hermes.give_number() returns trigger language plpgsql as $$
begin
  -- The number of a name that is gone may be given again: nothing outside the memory names it.
  if new.id is null and tg_table_name = 'entity' then
    new.id := hermes.next_entity(new.profile);
  elsif new.id is null then
    insert into hermes.number as n (profile, name, seq) values (new.profile, tg_table_name, 1)
    on conflict (profile, name) do update set seq = n.seq + 1 returning n.seq into new.id;
  else
    insert into hermes.number as n (profile, name, seq) values (new.profile, tg_table_name, new.id)
    on conflict (profile, name) do update set seq = excluded.seq where n.seq < excluded.seq;
  end if;
  return new;
end $$;

do $$
declare what text;
begin
  foreach what in array array['label', 'episode', 'fact', 'source', 'entity', 'procedure', 'event', 'task',
    'embed_model', 'job', 'audit', 'proposal', 'receipt']
  loop
    execute format('create trigger numbered before insert on hermes.%I
      for each row execute function hermes.give_number()', what);
  end loop;
end $$;

-- Whose a thing is.
create function hermes.owner_of(kind bigint, item bigint) returns bigint language sql stable as $$
  select case kind
    when 0 then item >> 35
    when 1 then (select user_id from hermes.fact where profile = hermes.this_profile() and id = item)
    when 2 then (select user_id from hermes.procedure where profile = hermes.this_profile() and id = item)
    when 3 then (select user_id from hermes.event where profile = hermes.this_profile() and id = item)
    else (select user_id from hermes.episode where profile = hermes.this_profile() and id = item)
  end $$;

-- What belongs to a thing belongs to the user of that thing; to nobody (-1) where it is not there.
create function hermes.follow_item() returns trigger language plpgsql as $$
begin
  new.user_id := coalesce(hermes.owner_of(new.kind, new.item), hermes.this_user(), -1);
  return new;
end $$;
create function hermes.follow_fact() returns trigger language plpgsql as $$
begin
  new.user_id := coalesce(hermes.owner_of(1, new.fact), hermes.this_user(), -1);
  return new;
end $$;
create function hermes.follow_summary() returns trigger language plpgsql as $$
begin
  new.user_id := coalesce(hermes.owner_of(4, new.summary), hermes.this_user(), -1);
  return new;
end $$;
create trigger follows before insert on hermes.source for each row execute function hermes.follow_item();
create trigger follows before insert on hermes.revision for each row execute function hermes.follow_item();
create trigger follows before insert on hermes.mention for each row execute function hermes.follow_item();
create trigger follows before insert on hermes.conflict for each row execute function hermes.follow_fact();
create trigger follows before insert on hermes.file_entry for each row execute function hermes.follow_fact();
create trigger follows before insert on hermes.covered for each row execute function hermes.follow_summary();
create trigger follows before insert on hermes.summary_session
  for each row execute function hermes.follow_summary();

-- Nobody sees the rows of another profile, nor of another user in it; not the owner of the tables either.
do $$
declare
  what text;
  whose text;
begin
  foreach what in array array['done', 'number', 'meta', 'user', 'label', 'origin', 'embed_model', 'audit',
    'tombstone', 'idempotency']
  loop
    execute format('alter table hermes.%I enable row level security', what);
    execute format('alter table hermes.%I force row level security', what);
    execute format('create policy of_profile on hermes.%I
      using (profile = (select hermes.this_profile()))', what);
  end loop;
  foreach what in array array['job', 'schedule', 'taken', 'import_moved', 'import_later',
    'import_session_end', 'import_seen_receipt', 'import_waiting_name']
  loop
    execute format('alter table hermes.%I enable row level security', what);
    execute format('alter table hermes.%I force row level security', what);
    execute format('create policy of_keeper on hermes.%I
      using (profile = (select hermes.this_profile()) and (select hermes.sees_all()))', what);
  end loop;
  foreach what in array array['identity', 'seen_identity', 'session', 'episode', 'message', 'speaker', 'fact',
    'source', 'revision', 'entity', 'entity_alias', 'mention', 'procedure', 'event', 'task', 'chunk',
    'chunk_words', 'vector', 'vector_gone', 'proposal', 'receipt', 'counter', 'grave', 'step', 'covered',
    'summary_session', 'conflict', 'file_entry']
  loop
    whose := case what when 'message' then '(id >> 35)' when 'step' then '(message >> 35)'
      when 'chunk' then '(id >> 43)' when 'chunk_words' then '(chunk >> 43)' else 'user_id' end;
    execute format('alter table hermes.%I enable row level security', what);
    execute format('alter table hermes.%I force row level security', what);
    execute format('create policy of_user on hermes.%I
      using (profile = (select hermes.this_profile())
        and ((select hermes.sees_all()) or %s = any ((select hermes.seen_users())::bigint[])))', what, whose);
  end loop;
end $$;
alter table hermes.profile enable row level security;
alter table hermes.profile force row level security;
create policy of_profile on hermes.profile
  using (profile = (select hermes.this_profile())
    or name = (select nullif(current_setting('hermes.profile_name', true), '')));
