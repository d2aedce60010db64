-- How many chunks of each user and kind there are: a search asks, and counting them took longer than the rest of it.
-- `part` is the number of a chunk without what stands behind user and kind.
create table hermes.chunk_count (
  profile bigint not null default hermes.this_profile(),
  part bigint not null,
  chunks bigint not null,
  primary key (profile, part)
);
-- The owner of the tables sees no row either, unless they are told to let them pass.
alter table hermes.chunk no force row level security;
insert into hermes.chunk_count (profile, part, chunks)
  select profile, id >> 40, count(*) from hermes.chunk group by 1, 2;
alter table hermes.chunk force row level security;
alter table hermes.chunk_count enable row level security;
alter table hermes.chunk_count force row level security;
create policy of_user on hermes.chunk_count
  using (profile = (select hermes.this_profile())
    and ((select hermes.sees_all()) or (part >> 3) = any ((select hermes.seen_users())::bigint[])));

create function hermes.count_added() returns trigger language plpgsql as $$
begin
  insert into hermes.chunk_count as c (profile, part, chunks)
  select profile, id >> 40, count(*) from added group by 1, 2 order by 1, 2
  on conflict (profile, part) do update set chunks = c.chunks + excluded.chunks;
  return null;
end $$;
create function hermes.count_removed() returns trigger language plpgsql as $$
begin
  update hermes.chunk_count c set chunks = c.chunks - gone.chunks
  from (select profile, id >> 40 as part, count(*) as chunks from removed group by 1, 2) gone
  where c.profile = gone.profile and c.part = gone.part;
  return null;
end $$;
create trigger counted_in after insert on hermes.chunk referencing new table as added
  for each statement execute function hermes.count_added();
create trigger counted_out after delete on hermes.chunk referencing old table as removed
  for each statement execute function hermes.count_removed();

-- Whoever listens is told that a memory has changed, by its mark, when the change is there to be read.
create function hermes.tell_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('hermes', new.mark::text);
  return null;
end $$;
create trigger tells after update of changed on hermes.profile
  for each row execute function hermes.tell_change();

-- Who may work with chunks may work with their counts.
do $$
declare who text;
begin
  for who in
    select quote_ident(r.rolname) from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
    where c.oid = 'hermes.chunk'::regclass and a.privilege_type = 'INSERT'
  loop
    execute 'grant select, insert, update, delete on hermes.chunk_count to ' || who;
  end loop;
end $$;

-- Of a profile that the server has not looked at yet it expects next to no rows, and takes any index that begins with the
-- profile: then a search went through all vectors, or all words, of the profile for each one it wanted. These two serve
-- what they are for and nothing else.
drop index hermes.vector_by_change;
create index vector_by_change on hermes.vector (user_id, profile, model, changed);
drop index hermes.chunk_words_of;
create index chunk_words_of on hermes.chunk_words (chunk, profile);
