-- Which role works with which profile. What a connection says (`hermes.profile`, `hermes.user`) only chooses among the
-- profiles of the role that it logged in as; only the owner of the tables changes who has which.

create table hermes.member (
  profile bigint not null,
  role name not null,
  since timestamptz not null default now(),
  primary key (profile, role)
);

-- Nobody gets rights to it by a rule that grants them for every new table.
do $$
declare who text;
begin
  for who in
    select quote_ident(r.rolname) from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
    where c.oid = 'hermes.member'::regclass and a.grantee <> c.relowner
  loop
    execute 'revoke all on hermes.member from ' || who;
  end loop;
end $$;

-- Whoever could work with every profile until now goes on with those that are there: each role that was given rights
-- to the rows, and the owner of the tables.
alter table hermes.profile no force row level security;
insert into hermes.member (profile, role)
  select p.profile, r.rolname from hermes.profile p, pg_roles r
  where r.oid = (select relowner from pg_class where oid = 'hermes.chunk'::regclass)
    or r.oid in (select a.grantee from pg_class c, aclexplode(c.relacl) a
      where c.oid = 'hermes.chunk'::regclass and a.privilege_type = 'INSERT');
-- Homes with roles of their own may call their profiles the same.
alter table hermes.profile add column made_by name not null default session_user;
update hermes.profile set made_by = (
  select r.rolname from pg_class c join pg_roles r on r.oid = c.relowner where c.oid = 'hermes.chunk'::regclass);
alter table hermes.profile drop constraint profile_name_key;
alter table hermes.profile add unique (name, made_by);
alter table hermes.profile force row level security;

-- As the owner of the tables, because nobody else may read the table of members. It is `session_user` that counts: a
-- connection cannot change it without a superuser's rights. A member of a role that has a profile has it too; a superuser
-- is a member of every role, and has no more than others by that.
create function hermes.has_profile(wanted bigint) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- In this language because its plans are kept: every statement asks.
  if exists (select 1 from hermes.member m where m.profile = wanted and m.role = session_user) then
    return true;
  end if;
  return exists (
    select 1 from hermes.member m join pg_roles r on r.rolname = m.role
    where m.profile = wanted and pg_has_role(session_user, r.oid, 'member')
      and not (select s.rolsuper from pg_roles s where s.rolname = session_user));
end $$;

-- What was told is read once, by names that the asker cannot put others in the place of.
create or replace function hermes.this_profile() returns bigint
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare told bigint := nullif(current_setting('hermes.profile', true), '')::bigint;
begin
  return case when hermes.has_profile(told) then told end;
end $$;

-- The numbers of the profiles that the role of this connection has.
create function hermes.own_profiles() returns bigint[]
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(distinct m.profile), '{}') from hermes.member m where hermes.has_profile(m.profile) $$;

-- Who makes a profile has it.
create function hermes.joins() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- On a table of somebody else it would let them in anywhere.
  if tg_relid <> 'hermes.profile'::regclass then
    raise exception 'only for hermes.profile';
  end if;
  insert into hermes.member (profile, role) values (new.profile, session_user) on conflict do nothing;
  return null;
end $$;
revoke execute on function hermes.joins() from public;
create trigger joins after insert on hermes.profile for each row execute function hermes.joins();

drop policy of_profile on hermes.profile;
create policy of_profile on hermes.profile
  using (profile = (select hermes.this_profile())
    or name = (select nullif(current_setting('hermes.profile_name', true), '')) and hermes.has_profile(profile))
  -- A profile that is made is nobody's before; one that is there can be changed by those who see it.
  with check (profile = (select nullif(current_setting('hermes.profile', true), '')::bigint)
    or name = (select nullif(current_setting('hermes.profile_name', true), '')));
