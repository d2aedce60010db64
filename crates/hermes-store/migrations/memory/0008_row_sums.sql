-- A checksum for each row that holds words, and for each vector: bytes that change by themselves are seen.
-- `row_sum` is a function of this program; sums.rs keeps the sums of rows that are written later.
alter table message add column sum integer;
alter table episode add column sum integer;
alter table fact add column sum integer;
alter table procedure add column sum integer;
alter table event add column sum integer;
alter table revision add column sum integer;
alter table source add column sum integer;
alter table proposal add column sum integer;
alter table vector add column sum integer;
update message set sum = row_sum(at, role, speaker, text, caption);
update episode set sum = row_sum(task, body) where body is not null;
update fact set sum = row_sum(statement, kind, subject, predicate, object, recorded_at);
update procedure set sum = row_sum(kind, task_type, title, body, recorded_at);
update event set sum = row_sum(at, kind, text, why);
update revision set sum = row_sum(at, body);
update source set sum = row_sum(quote) where quote is not null;
update proposal set sum = row_sum(kind, body, created_at);
update vector set sum = row_sum(v);
