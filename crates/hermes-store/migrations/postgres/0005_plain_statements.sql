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
