-- The first schema: the columns Hermes Agent 0.19 uses, so that either program can open what the other wrote.

create table schema_version (version integer not null);
insert into schema_version (version) values (22);

create table sessions (
  id text primary key,
  source text not null,
  user_id text,
  session_key text,
  chat_id text,
  chat_type text,
  thread_id text,
  display_name text,
  origin_json text,
  expiry_finalized integer default 0,
  model text,
  model_config text,
  system_prompt text,
  parent_session_id text references sessions (id),
  started_at real not null,
  ended_at real,
  end_reason text,
  message_count integer default 0,
  tool_call_count integer default 0,
  input_tokens integer default 0,
  output_tokens integer default 0,
  cache_read_tokens integer default 0,
  cache_write_tokens integer default 0,
  reasoning_tokens integer default 0,
  cwd text,
  git_branch text,
  git_repo_root text,
  billing_provider text,
  billing_base_url text,
  billing_mode text,
  estimated_cost_usd real,
  actual_cost_usd real,
  cost_status text,
  cost_source text,
  pricing_version text,
  title text,
  api_call_count integer default 0,
  handoff_state text,
  handoff_platform text,
  handoff_error text,
  compression_failure_cooldown_until real,
  compression_failure_error text,
  compression_fallback_streak integer not null default 0,
  profile_name text,
  rewind_count integer not null default 0,
  archived integer not null default 0
);

create table messages (
  id integer primary key autoincrement,
  session_id text not null references sessions (id),
  role text not null,
  content text,
  tool_call_id text,
  tool_calls text,
  tool_name text,
  effect_disposition text,
  timestamp real not null,
  token_count integer,
  finish_reason text,
  reasoning text,
  reasoning_content text,
  reasoning_details text,
  codex_reasoning_items text,
  codex_message_items text,
  platform_message_id text,
  observed integer default 0,
  active integer not null default 1,
  compacted integer not null default 0,
  api_content text
);

-- The names are Hermes Agent's own: under other names it would add a second copy of each.
create index idx_sessions_started on sessions (started_at desc);
create index idx_sessions_parent on sessions (parent_session_id);
create index idx_messages_session on messages (session_id, timestamp);
create unique index idx_sessions_title_unique on sessions (title) where title is not null;

-- What the full-text index covers. A view, because tool names and calls are searched as well.
create view message_text (id, content) as
  select id, coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')
  from messages;

create virtual table messages_fts using fts5 (content, content = 'message_text', content_rowid = 'id');

-- We merge the index ourselves, a few pages with every fourth message. Left to itself FTS5 saves the work up: measured at
-- 100,000 messages, one append in 4,096 then costs 80 to 200 times the usual.
insert into messages_fts (messages_fts, rank) values ('automerge', 0);
insert into messages_fts (messages_fts, rank) values ('usermerge', 8);
insert into messages_fts (messages_fts, rank) values ('crisismerge', 64);

-- The trigger names are Hermes Agent's own: it adds its triggers where these are missing, and then every insert fails.
create trigger messages_fts_insert after insert on messages begin
  insert into messages_fts (rowid, content)
  values (new.id, coalesce(new.content, '') || ' ' || coalesce(new.tool_name, '') || ' ' || coalesce(new.tool_calls, ''));
end;

create trigger messages_fts_delete after delete on messages begin
  insert into messages_fts (messages_fts, rowid, content)
  values ('delete', old.id, coalesce(old.content, '') || ' ' || coalesce(old.tool_name, '') || ' ' || coalesce(old.tool_calls, ''));
end;

create trigger messages_fts_update after update of content, tool_name, tool_calls on messages begin
  insert into messages_fts (messages_fts, rowid, content)
  values ('delete', old.id, coalesce(old.content, '') || ' ' || coalesce(old.tool_name, '') || ' ' || coalesce(old.tool_calls, ''));
  insert into messages_fts (rowid, content)
  values (new.id, coalesce(new.content, '') || ' ' || coalesce(new.tool_name, '') || ' ' || coalesce(new.tool_calls, ''));
end;
