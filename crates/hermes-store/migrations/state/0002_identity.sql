-- Which database this is: messages are known by it, so that those of two databases with the same numbers are told apart.

-- Messages from `first` on belong to `id`. A copy that was put in the place of another file goes on under a new id,
-- because the numbers after its last message may have been used by the file it replaces. `file` says which file it was.
create table if not exists database_identity (
  first integer primary key,
  id text not null,
  file text not null
);
