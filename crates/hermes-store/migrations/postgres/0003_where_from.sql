-- A message that was recorded before is known by where it came from and by its words.

-- The first 16 bytes of the SHA-256 of a message's text; null for what is no message, and for messages that a summary
-- tells of. The owner of the tables sees no row either, unless they are told to let them pass.
alter table hermes.origin add column hash bytea;
alter table hermes.origin no force row level security;
alter table hermes.message no force row level security;
update hermes.origin o set hash = substring(sha256(convert_to(m.text, 'UTF8')) from 1 for 16)
  from hermes.message m where o.kind = 0 and m.profile = o.profile and m.id = o.item;
alter table hermes.origin force row level security;
alter table hermes.message force row level security;

-- How far each session was taken in, for each state.db: several homes may have sessions of one name. What was noted
-- before says nothing about which database it was, so every transcript is compared with the memory once.
alter table hermes.taken no force row level security;
delete from hermes.taken;
alter table hermes.taken force row level security;
alter table hermes.taken add column database text collate "C" not null;
alter table hermes.taken drop constraint taken_pkey;
alter table hermes.taken add primary key (profile, database, session_id);
