//! The likeness index of pgvector, where a server has it: the nearest of many vectors without fetching their codes.
//!
//! Each vector lies in the table a second time as a `halfvec`, with an HNSW index for each number of dimensions.
//! What is found is compared again by the stored vectors, as everywhere. A filter that leaves few is answered by
//! looking at all that it leaves.

use ::postgres::types::{ToSql, Type};

use super::{Server, search};
use crate::memory::backend::{Connection, Result};
use crate::memory::passing::Passing;
use crate::memory::vector_model::Model;
use crate::memory::{ChunkKey, ItemKind, RecallFilter, Scope};
use crate::postgres::Client;

/// From how many chunks on the server is asked; below, the codes are little to fetch, and comparing all is exact.
const MANY: usize = 2_000;
/// How many the index looks at, at least: of fewer, too many of the nearest are missed.
const BREADTH: usize = 200;
/// The first version whose index goes on until enough has passed a filter.
const FIRST_VERSION: (u32, u32) = (0, 8);

/// What a server has to find the nearest with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Near {
    /// The schema of pgvector, in quotes if it needs them.
    schema: String,
    /// For which numbers of dimensions there is an index.
    dims: Vec<usize>,
}

impl Near {
    /// Looks what a server has.
    pub(super) fn of(client: &mut Client) -> std::result::Result<Option<Near>, ::postgres::Error> {
        let Some(schema) = usable(client)? else { return Ok(None) };
        let rows = client.query_typed(INDEXES, &[])?;
        let dims: Vec<usize> =
            rows.iter().filter_map(|row| row.try_get::<_, String>(0).ok()?.parse().ok()).collect();
        Ok((!dims.is_empty()).then_some(Near { schema, dims }))
    }

    /// For which numbers of dimensions there is an index.
    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }
}

/// The schema of pgvector, if the database has it in a version that will do.
fn usable(client: &mut Client) -> std::result::Result<Option<String>, ::postgres::Error> {
    let Some(row) = client.query_typed_opt(EXTENSION, &[])? else { return Ok(None) };
    let version: String = row.try_get(0)?;
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    Ok(if found >= FIRST_VERSION { Some(row.try_get(1)?) } else { None })
}

/// The statement that gives the vectors their second form and the indexes, if the database has pgvector. It does
/// what is lacking.
pub(super) fn statement(
    client: &mut Client,
) -> std::result::Result<Option<String>, ::postgres::Error> {
    Ok(usable(client)?.map(|schema| PREPARE.replace("{schema}", &schema)))
}

/// The chunks that are nearest by the index of the server, in no order; none where the codes are to be asked.
pub(super) fn nearest(
    server: &Server,
    (scope, filter): (Scope, &RecallFilter),
    (model, vector): (&Model, &[f32]),
    wanted: usize,
) -> Result<Option<Vec<i64>>> {
    let connection = server.as_backend();
    let everything = RecallFilter::default();
    let Some(near) = server.near()?.filter(|near| near.dims.contains(&model.dims)) else {
        return Ok(None);
    };
    if search::count(server, scope, &everything)? < MANY {
        return Ok(None);
    }
    let question = Question::new(scope, filter, (model, vector));
    if question.is_broad() {
        let found = question.by_index(server, near, wanted)?;
        let found = passing(connection, filter, found)?;
        if found.len() >= wanted {
            return Ok(Some(found));
        }
    }
    // Few of the filter are among the nearest of all: each that it leaves is compared.
    let mut limit = wanted;
    loop {
        let some = question.one_by_one(server, near, limit)?;
        let is_all = some.len() < limit;
        let mut found = passing(connection, filter, some)?;
        if is_all || found.len() >= wanted {
            found.truncate(wanted);
            return Ok(Some(found));
        }
        limit = limit.saturating_mul(4);
    }
}

fn passing(connection: &Connection, filter: &RecallFilter, keys: Vec<i64>) -> Result<Vec<i64>> {
    let mut passing = Passing::new(connection, filter);
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        if passing.has(ChunkKey::from_row(key))? {
            found.push(key);
        }
    }
    Ok(found)
}

/// What is asked, as the server takes it.
struct Question {
    model: i64,
    dims: usize,
    users: Vec<i64>,
    kinds: Vec<i64>,
    without: Vec<i64>,
    only: Option<Vec<i64>>,
    vector: String,
}

impl Question {
    fn new(scope: Scope, filter: &RecallFilter, (model, vector): (&Model, &[f32])) -> Question {
        let kinds = if filter.kinds.is_empty() { &ItemKind::ALL[..] } else { &filter.kinds };
        let in_sessions = [ItemKind::Message, ItemKind::Summary];
        let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
        Question {
            model: model.id,
            dims: model.dims,
            users: scope.readable().iter().map(|user| user.get()).collect(),
            kinds: kinds
                .iter()
                .filter(|kind| !filter.only_messages || in_sessions.contains(kind))
                .map(|kind| kind.number())
                .collect(),
            without: filter.without_sessions.iter().map(|session| session.get()).collect(),
            only: filter
                .sessions
                .as_ref()
                .map(|only| only.iter().map(|session| session.get()).collect()),
            vector: format!("[{}]", numbers.join(",")),
        }
    }

    /// Whether most of what there is passes: messages are nearly all.
    fn is_broad(&self) -> bool {
        self.only.is_none() && self.kinds.contains(&ItemKind::Message.number())
    }

    fn by_index(&self, server: &Server, near: &Near, wanted: usize) -> Result<Vec<i64>> {
        let breadth = wanted.clamp(BREADTH, 1_000);
        server.settle(format!(
            "select set_config('hnsw.iterative_scan', 'relaxed_order', true), \
             set_config('hnsw.ef_search', '{breadth}', true)"
        ));
        let text = BY_INDEX
            .replace("{schema}", &near.schema)
            .replace("{dims}", &self.dims.to_string())
            .replace("{bytes}", &(self.dims + 4).to_string());
        self.ask(server, &text, wanted)
    }

    fn one_by_one(&self, server: &Server, near: &Near, wanted: usize) -> Result<Vec<i64>> {
        self.ask(server, &ONE_BY_ONE.replace("{schema}", &near.schema), wanted)
    }

    fn ask(&self, server: &Server, text: &str, wanted: usize) -> Result<Vec<i64>> {
        let limit = i64::try_from(wanted).unwrap_or(i64::MAX);
        let asked: [(&(dyn ToSql + Sync), Type); 8] = [
            (&server.profile(), Type::INT8),
            (&self.model, Type::INT8),
            (&self.users, Type::INT8_ARRAY),
            (&self.kinds, Type::INT8_ARRAY),
            (&self.without, Type::INT8_ARRAY),
            (&self.vector, Type::TEXT),
            (&limit, Type::INT8),
            (&self.only, Type::INT8_ARRAY),
        ];
        let count = if text.contains("$8") { 8 } else { 7 };
        let rows = server.ask(text, &asked[..count])?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

const EXTENSION: &str = "
    select e.extversion, quote_ident(n.nspname)
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'";
const INDEXES: &str = "
    select substr(c.relname, 6)::text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_index i on i.indexrelid = c.oid
    where n.nspname = 'hermes' and c.relname ~ '^near_[0-9]+$' and i.indisvalid";
// The number of dimensions of the model inside the program, and those of the models that are there. An index cannot
// have more than 4000. The owner of the tables sees no model, unless the table is told to let them pass.
const PREPARE: &str = "
do $do$
declare size bigint;
begin
  if not exists (select from pg_attribute
      where attrelid = 'hermes.vector'::regclass and attname = 'half' and not attisdropped) then
    create or replace function hermes.half(v bytea) returns {schema}.halfvec
      language sql immutable strict parallel safe cost 1000
      return (select array_agg((get_byte(v, i) - 2 * (get_byte(v, i) & 128))::real order by i)::{schema}.halfvec
        from generate_series(4, octet_length(v) - 1) i);
    alter table hermes.vector
      add column half {schema}.halfvec generated always as (hermes.half(v)) stored;
  end if;
  alter table hermes.embed_model no force row level security;
  for size in select 256 union select dims from hermes.embed_model where dims between 1 and 4000 loop
    execute format('create index if not exists near_%s on hermes.vector
      using hnsw ((half::{schema}.halfvec(%s)) {schema}.halfvec_cosine_ops) where octet_length(v) = %s',
      size, size, size + 4);
  end loop;
  alter table hermes.embed_model force row level security;
end $do$;
";
const BY_INDEX: &str = "
    select chunk from hermes.vector
    where profile = $1 and model = $2 and octet_length(v) = {bytes} and user_id = any ($3)
      and (chunk >> 40) & 7 = any ($4) and (chunk >> 20) <> all ($5)
    order by half::{schema}.halfvec({dims}) operator({schema}.<=>) $6::text::{schema}.halfvec({dims}) limit $7";
const ONE_BY_ONE: &str = "
    select chunk from hermes.vector
    where profile = $1 and model = $2 and user_id = any ($3)
      and (chunk >> 40) & 7 = any ($4) and (chunk >> 20) <> all ($5)
      and ($8::bigint[] is null or (chunk >> 40) & 7 <> 0 or (chunk >> 20) = any ($8))
    order by half operator({schema}.<=>) $6::text::{schema}.halfvec limit $7";
