-- The latest conversations of a channel that has few among many.
create index episode_by_channel on episode (user_id, channel, started_at) where channel is not null;
