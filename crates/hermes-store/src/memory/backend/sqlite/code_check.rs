//! Compares the codes of vectors with their vectors.

use super::segments::{EMPTY, SLOT, slot_factor, slot_key};
use crate::memory::vector_model::{from_bytes, model};
use crate::memory::{backend, code};

/// How many codes are not what their vectors give, or nearly.
pub(super) fn differing_codes(
    connection: &backend::Connection,
    file: &rusqlite::Connection,
) -> backend::Result<u64> {
    let mut differing = 0;
    let mut statement = file.prepare(ALL_CODES)?;
    let mut rows = statement.query([])?;
    let mut kept = file.prepare(VECTOR)?;
    while let Some(row) = rows.next()? {
        let Some(model) = model(connection, row.get(0)?)? else { continue };
        let used: usize = row.get(1)?;
        let codes = row.get_ref(2)?.as_blob().unwrap_or_default();
        let slots = row.get_ref(3)?.as_blob().unwrap_or_default();
        let pairs = codes.chunks_exact(model.code_bytes()).zip(slots.chunks_exact(SLOT));
        for (code, slot) in pairs.take(used).filter(|(_, slot)| slot_key(slot) != EMPTY) {
            let key = slot_key(slot);
            let found = kept.query_row([model.id, key], |row| row.get(0));
            let bytes: Option<Vec<u8>> = rusqlite::OptionalExtension::optional(found)?;
            let wanted = bytes.map(|bytes| code::encode(&from_bytes(&bytes), &model.mean));
            let is_it = wanted.is_some_and(|wanted| is_near(&wanted, code, slot_factor(slot)));
            differing += u64::from(!is_it);
        }
    }
    Ok(differing)
}

/// Whether a code is what a vector gives. It may have been made before the vector was rounded to bytes: then one bit in
/// a hundred is another, which changes no search; up to six are let pass.
fn is_near(wanted: &code::Code, code: &[u8], factor: f32) -> bool {
    let words = wanted.words.iter().flat_map(|word| word.to_le_bytes());
    let bits: u32 = words.zip(code).map(|(one, other)| (one ^ other).count_ones()).sum();
    let is_factor = (factor - wanted.factor).abs() <= wanted.factor.abs() / 10.0;
    bits as usize <= code.len() / 2 && is_factor
}

const ALL_CODES: &str = "
    select s.model, s.used, c.codes, p.slots from vector_segment s
    join vector_codes c on c.segment = s.id join vector_slots p on p.segment = s.id";
const VECTOR: &str = "select v from vector where model = ?1 and chunk = ?2";
