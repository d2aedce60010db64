//! Models of embeddings: which one answers, and filling in what another lacks.

use jiff::Timestamp;
use rusqlite::params;

use super::rows::{choice, optional_time};
use super::vector_model;
use super::{Memory, Outcome, Refusal};
use crate::memory::backend::{self, Connection, OptionalExtension, Row};
use crate::memory::{
    Admin, ChunkKey, Coverage, EmbedModel, ItemKind, ModelState, NewModel, Unembedded,
};
use crate::{Error, Result};

const STATES: &[(&str, ModelState)] = &[
    ("building", ModelState::Building),
    ("active", ModelState::Active),
    ("retired", ModelState::Retired),
];

impl Memory {
    /// The model that answers; none in a new memory.
    pub fn active_model(&self) -> Result<Option<EmbedModel>> {
        self.asking(Admin)
            .prepare_cached(ACTIVE)
            .and_then(|mut found| found.query_row([], model_of).optional())
            .map_err(|source| self.failed(source))
    }

    /// Every model known, newest first.
    pub fn models(&self, _: Admin) -> Result<Vec<EmbedModel>> {
        self.asking(Admin)
            .prepare_cached(ALL)
            .and_then(|mut all| all.query_map([], model_of)?.collect())
            .map_err(|source| self.failed(source))
    }

    /// Makes a model known; it becomes active at once if there is nothing to embed, else it is building.
    pub fn add_model(
        &mut self,
        _: Admin,
        model: &NewModel<'_>,
        now: Timestamp,
    ) -> Result<EmbedModel> {
        self.write(Admin, |transaction| add_model(transaction, model, now))
    }

    /// The next texts that lack a vector of the model.
    pub fn unembedded(
        &self,
        _: Admin,
        model: i64,
        after: Option<ChunkKey>,
        limit: usize,
    ) -> Result<Vec<Unembedded>> {
        let after = after.map_or(-1, ChunkKey::get);
        self.asking(Admin)
            .prepare_cached(UNEMBEDDED)
            .and_then(|mut found| {
                found.query_map(params![model, after, limit], unembedded_of)?.collect()
            })
            .map_err(|source| self.failed(source))
    }

    /// Keeps vectors; fails if one has other dimensions than the model. Texts gone meanwhile are left out.
    pub fn put_vectors(
        &mut self,
        _: Admin,
        model: i64,
        vectors: &[(ChunkKey, Vec<f32>)],
    ) -> Result<usize> {
        self.write(Admin, |transaction| put_vectors(transaction, model, vectors))
    }

    /// Lets a model answer that has every vector; the one before is retired.
    pub fn activate_model(&mut self, _: Admin, model: i64) -> Result<()> {
        self.write(Admin, |transaction| {
            let lacking: Option<i64> = transaction
                .prepare_cached(UNEMBEDDED)?
                .query_row(params![model, -1, 1], |row| row.get(0))
                .optional()?;
            if lacking.is_some() {
                return Err(Refusal::Rule(Error::ItemRefused {
                    doing: "use",
                    item: format!("embedding model {model}"),
                    why: "some texts have no vector of it yet".to_owned(),
                }));
            }
            transaction.execute(RETIRE_OTHERS, [model])?;
            if transaction.execute(ACTIVATE, [model])? == 0 {
                let item = format!("embedding model {model}");
                return Err(Refusal::Rule(Error::NoSuchItem { item }));
            }
            Ok(())
        })
    }

    /// Removes what retired models left.
    pub fn drop_retired_vectors(&mut self, _: Admin) -> Result<u64> {
        self.write(Admin, |transaction| {
            transaction.index().drop_retired_codes()?;
            let gone = transaction.execute(DROP_RETIRED_VECTORS, [])?;
            Ok(u64::try_from(gone).unwrap_or(0))
        })
    }

    /// How much of a model's work is done.
    pub fn coverage(&self, _: Admin, model: i64) -> Result<Coverage> {
        self.asking(Admin)
            .query_row(COVERAGE, [model], |row| {
                Ok(Coverage { done: row.get(0)?, all: row.get(1)? })
            })
            .map_err(|source| self.failed(source))
    }
}

fn add_model(
    transaction: &Connection,
    model: &NewModel<'_>,
    now: Timestamp,
) -> Outcome<EmbedModel> {
    if model.dims == 0 {
        return Err(Refusal::Rule(Error::ItemRefused {
            doing: "use",
            item: format!("the embedding model {}", model.name),
            why: "its vectors are empty".to_owned(),
        }));
    }
    let key = params![model.provider, model.name, model.dims, model.details];
    let known = transaction.prepare_cached(SAME)?.query_row(key, model_of).optional()?;
    if let Some(mut known) = known {
        if known.state == ModelState::Retired {
            // Its vectors were made before what came after: they are filled in, not made anew.
            transaction
                .execute("update embed_model set state = 'building' where id = ?1", [known.id])?;
            known.state = ModelState::Building;
        }
        return Ok(known);
    }
    let is_empty: bool =
        transaction.query_row("select not exists (select 1 from chunk)", [], |row| row.get(0))?;
    let has_active = vector_model::active(transaction)?.is_some();
    let state = if is_empty && !has_active { "active" } else { "building" };
    let mean: Vec<u8> = model.mean.iter().flat_map(|value| value.to_le_bytes()).collect();
    let id = transaction.insert(
        ADD,
        params![
            model.provider,
            model.name,
            model.dims,
            model.details,
            mean,
            state,
            now.as_millisecond()
        ],
    )?;
    Ok(transaction.prepare_cached(ONE)?.query_row([id], model_of)?)
}

fn put_vectors(
    transaction: &Connection,
    id: i64,
    vectors: &[(ChunkKey, Vec<f32>)],
) -> Outcome<usize> {
    let Some(model) = vector_model::model(transaction, id)? else {
        return Err(Refusal::Rule(Error::NoSuchItem { item: format!("embedding model {id}") }));
    };
    let mut keeper = transaction.index().writer(Some(model));
    let mut kept = 0;
    for (key, vector) in vectors {
        let found: Option<Option<i64>> = transaction
            .prepare_cached(TIME_IF_LACKING)?
            .query_row(params![key.get(), id], |row| row.get(0))
            .optional()?;
        let Some(at) = found else { continue };
        let at = Timestamp::from_millisecond(at.unwrap_or(0)).unwrap_or(Timestamp::UNIX_EPOCH);
        keeper.put(*key, vector, at)?;
        kept += 1;
    }
    keeper.finish()?;
    Ok(kept)
}

fn model_of(row: &Row<'_>) -> backend::Result<EmbedModel> {
    Ok(EmbedModel {
        id: row.get(0)?,
        provider: row.get(1)?,
        name: row.get(2)?,
        dims: row.get(3)?,
        details: row.get(4)?,
        state: choice(row, 5, STATES)?,
    })
}

fn unembedded_of(row: &Row<'_>) -> backend::Result<Unembedded> {
    let chunk = ChunkKey::from_row(row.get(0)?);
    let whole: String = row.get(3)?;
    let start: usize = row.get(1)?;
    let length: usize = row.get(2)?;
    let is_message = chunk.kind() == Some(ItemKind::Message);
    let mut text = whole.get(start..start + length).unwrap_or(&whole).to_owned();
    // The last part carries the description of what was attached.
    if let Some(caption) = row.get::<_, Option<String>>(6)?
        && start + length >= whole.trim_end().len()
    {
        text.push(' ');
        text.push_str(caption.trim());
    }
    let speaker = if is_message { row.get(4)? } else { None };
    Ok(Unembedded { chunk, text, speaker, at: optional_time(row, 5)? })
}

const ACTIVE: &str =
    "select id, provider, name, dims, details, state from embed_model where state = 'active'";
const ALL: &str =
    "select id, provider, name, dims, details, state from embed_model order by id desc";
const ONE: &str = "select id, provider, name, dims, details, state from embed_model where id = ?1";
const SAME: &str = "
    select id, provider, name, dims, details, state from embed_model
    where provider = ?1 and name = ?2 and dims = ?3 and details = ?4";
const ADD: &str = "
    insert into embed_model (provider, name, dims, details, mean, state, created_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7) returning id";
// The text of a chunk is where its kind says: bits 40 to 42 of its number.
const UNEMBEDDED: &str = "
    select id, start, length, text, speaker, at, caption from (
    select c.id, c.start, c.length,
      case (c.id >> 40) & 7
        when 0 then (select m.text from message m where m.id = c.id >> 8)
        when 1 then (select f.statement from fact f where f.id = (c.id >> 8) & 4294967295)
        when 2 then (select p.title || '\n' || p.body from procedure p where p.id = (c.id >> 8) & 4294967295)
        when 3 then (select e.text from event e where e.id = (c.id >> 8) & 4294967295)
        else (select s.body from episode s where s.id = (c.id >> 8) & 4294967295)
      end as text,
      (select m.speaker from message m where m.id = c.id >> 8) as speaker,
      (select m.at from message m where m.id = c.id >> 8) as at,
      (select m.caption from message m where m.id = c.id >> 8) as caption
    from chunk c
    where c.id > ?2 and not exists (select 1 from vector v where v.model = ?1 and v.chunk = c.id)) lacking
    where text is not null order by id limit ?3";
const TIME_IF_LACKING: &str = "
    select (select m.at from message m where m.id = c.id >> 8) from chunk c
    where c.id = ?1 and not exists (select 1 from vector v where v.model = ?2 and v.chunk = c.id)";
const RETIRE_OTHERS: &str =
    "update embed_model set state = 'retired' where state = 'active' and id <> ?1";
const ACTIVATE: &str = "update embed_model set state = 'active' where id = ?1";
const DROP_RETIRED_VECTORS: &str =
    "delete from vector where model in (select id from embed_model where state = 'retired')";
const COVERAGE: &str = "
    select (select count(*) from vector where model = ?1), (select count(*) from chunk)";
