-- Users who no longer stand by themselves: since when, and who they are now; nobody, if they were forgotten.
alter table user add column gone_at integer;
alter table user add column merged_into integer;
create index user_merged on user (merged_into) where merged_into is not null;
