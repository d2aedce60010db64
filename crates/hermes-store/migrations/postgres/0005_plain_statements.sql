-- Statements say nothing of profiles: the rules narrow them to the profile that was told, and what is added gets it by
-- default. The rules check that the role has it; the default need not ask again for each row.
do $$
declare what text;
begin
  for what in
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_attrdef d
      on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'hermes'::regnamespace and c.relkind = 'r' and a.attname = 'profile'
      and pg_get_expr(d.adbin, d.adrelid) like '%this_profile()%'
  loop
    execute format('alter table hermes.%I alter column profile
      set default nullif(current_setting(''hermes.profile'', true), '''')::bigint', what);
  end loop;
end $$;
alter table hermes.done alter column profile
  set default nullif(current_setting('hermes.profile', true), '')::bigint;

-- The rules do not hold for a superuser, nor for a role that is let past them. Where such a role owns the tables, it
-- works as this one, which has no more than any other role of a home.
do $$
begin
  if (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) then
    begin
      create role hermes_rows nologin nobypassrls;
    exception when duplicate_object or unique_violation then null;
    end;
    if not (select rolsuper from pg_roles where rolname = current_user) then
      execute 'grant hermes_rows to ' || quote_ident(current_user);
    end if;
    grant usage on schema hermes to hermes_rows;
    grant select, insert, update, delete on all tables in schema hermes to hermes_rows;
    revoke insert, update, delete on hermes.migration from hermes_rows;
    revoke all on hermes.member from hermes_rows;
  end if;
end $$;

-- Those who record do not wait for each other. What all of them changed from the first statement on is changed late, or
-- in rows of their own.

-- A row that brings its own number raises the count only where it must: the row of the count would be held till the end.
create or replace function hermes.give_number() returns trigger language plpgsql as $$
begin
  -- The number of a name that is gone may be given again: nothing outside the memory names it.
  if new.id is null and tg_table_name = 'entity' then
    new.id := hermes.next_entity(new.profile);
  elsif new.id is null then
    insert into hermes.number as n (profile, name, seq) values (new.profile, tg_table_name, 1)
    on conflict (profile, name) do update set seq = n.seq + 1 returning n.seq into new.id;
  elsif not exists (
      select 1 from hermes.number n
      where n.profile = new.profile and n.name = tg_table_name and n.seq >= new.id) then
    insert into hermes.number as n (profile, name, seq) values (new.profile, tg_table_name, new.id)
    on conflict (profile, name) do update set seq = excluded.seq where n.seq < excluded.seq;
  end if;
  return new;
end $$;

-- Each connection counts chunks in a row of its own among sixteen; the count is their sum.
alter table hermes.chunk_count add column slot bigint not null default pg_backend_pid() % 16;
alter table hermes.chunk_count drop constraint chunk_count_pkey;
alter table hermes.chunk_count add primary key (profile, part, slot);
create or replace function hermes.count_added() returns trigger language plpgsql as $$
begin
  insert into hermes.chunk_count as c (profile, part, chunks)
  select profile, id >> 40, count(*) from added group by 1, 2 order by 1, 2
  on conflict (profile, part, slot) do update set chunks = c.chunks + excluded.chunks;
  return null;
end $$;
create or replace function hermes.count_removed() returns trigger language plpgsql as $$
begin
  insert into hermes.chunk_count as c (profile, part, chunks)
  select profile, id >> 40, -count(*) from removed group by 1, 2 order by 1, 2
  on conflict (profile, part, slot) do update set chunks = c.chunks + excluded.chunks;
  return null;
end $$;

-- A vector carries the number of the transaction that wrote it. Whoever keeps codes at hand asks for those that a
-- transaction wrote which was not over yet when they asked last; nobody has to write in turn for that.
alter table hermes.vector no force row level security;
update hermes.vector set changed = 0;
alter table hermes.vector force row level security;
alter table hermes.vector_gone no force row level security;
delete from hermes.vector_gone;
alter table hermes.vector_gone force row level security;
alter table hermes.vector_gone add column at timestamptz not null default now();
create index vector_gone_by_time on hermes.vector_gone (profile, at);
-- By the server, also for rows that come from a dump: another server has other numbers.
create function hermes.stamp() returns trigger language plpgsql as $$
begin
  new.changed := pg_current_xact_id()::text::bigint;
  return new;
end $$;
create trigger stamped before insert or update on hermes.vector for each row execute function hermes.stamp();
create trigger stamped before insert on hermes.vector_gone for each row execute function hermes.stamp();
