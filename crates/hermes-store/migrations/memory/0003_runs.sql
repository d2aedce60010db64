-- Less for each message that a summary tells of: its episode is in a run of numbers, and what finds it can be read.

-- Episodes whose messages are gone, as runs of numbers without a gap: of one session, told by one summary.
alter table covered rename to covered_each;
create table covered (
  first integer primary key,
  last integer not null,
  summary integer not null references episode (id),
  session integer not null references session (id)
);
insert into covered (first, last, summary, session)
select min(episode), max(episode), summary, session
from (
  select episode, summary, session,
    episode - row_number() over (partition by summary, session order by episode) as run
  from covered_each)
group by summary, session, run;
drop table covered_each;
create index covered_by_summary on covered (summary);
create index covered_by_session on covered (session);

-- Which chunk has which word, read from the keyword index itself: what a summary is found by beside its text.
create virtual table chunk_terms using fts5vocab (chunk_words, instance);
