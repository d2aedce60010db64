-- What a list of facts asks of each, in the index itself: the end of a list of 100,000 is reached without reading them.
drop index fact_by_time;
create index fact_by_time on fact (user_id, recorded_at, retired_at, quarantined_at, valid_to, pinned, kind);
