-- A message that was recorded before is known by where it came from and by its words.

-- The first 16 bytes of the SHA-256 of a message's text; null for what is no message, and for messages that a summary
-- tells of.
alter table origin add column hash blob;
update origin set hash = text_hash((select text from message where id = origin.item)) where kind = 0;

-- How far each session was taken in, for each state.db: several homes may have sessions of one name. What was noted
-- before says nothing about which database it was, so every transcript is compared with the memory once.
drop table taken;
create table taken (
  database text not null,
  session_id text not null,
  last_message integer not null,
  live integer not null,
  at integer not null,
  primary key (database, session_id)
) without rowid;
