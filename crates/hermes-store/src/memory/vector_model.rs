//! A model whose vectors are kept, and vectors as they are kept: one byte for each dimension.

use super::backend::{self, Connection, OptionalExtension};
use super::code;

/// What is needed to keep a vector of one model.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) provider: String,
    pub(super) dims: usize,
    pub(super) mean: Vec<f32>,
    /// Whether the middle was taken from the texts of this memory.
    pub(super) is_fitted: bool,
}

impl Model {
    /// How many bytes the code of a vector has.
    pub(super) fn code_bytes(&self) -> usize {
        code::bytes(self.dims)
    }
}

/// The model that answers, if there is one.
pub(super) fn active(connection: &Connection) -> backend::Result<Option<Model>> {
    connection.prepare_cached(ACTIVE)?.query_row([], model_of).optional()
}

/// The model with this number.
pub(super) fn model(connection: &Connection, id: i64) -> backend::Result<Option<Model>> {
    connection.prepare_cached(BY_ID)?.query_row([id], model_of).optional()
}

fn model_of(row: &backend::Row<'_>) -> backend::Result<Model> {
    let mean: Vec<u8> = row.get(3)?;
    Ok(Model {
        id: row.get(0)?,
        name: row.get(1)?,
        dims: row.get(2)?,
        mean: floats(&mean),
        is_fitted: row.get(4)?,
        provider: row.get(5)?,
    })
}

/// Floats from their bytes.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|part| f32::from_le_bytes([part[0], part[1], part[2], part[3]]))
        .collect()
}

/// A vector as one byte for each dimension, with its scale in front.
pub(super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut bytes = Vec::with_capacity(vector.len() + 4);
    bytes.extend(scale.to_le_bytes());
    bytes.extend(vector.iter().map(|value| (value / scale).round() as i8).map(i8::cast_unsigned));
    bytes
}

/// The vector that was kept as bytes.
pub(super) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    let Some((scale, values)) = bytes.split_first_chunk::<4>() else { return Vec::new() };
    let scale = f32::from_le_bytes(*scale);
    values.iter().map(|value| f32::from(value.cast_signed()) * scale).collect()
}

/// The middle of some vectors, as bytes.
pub(super) fn mean_of(dims: usize, vectors: &[Vec<f32>]) -> Vec<u8> {
    let mut sum = vec![0.0_f64; dims];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let count = vectors.len().max(1) as f64;
    sum.iter().flat_map(|sum| ((sum / count) as f32).to_le_bytes()).collect()
}

/// From how many vectors on the middle of a model is taken from them.
pub(super) const FITTED_FROM: i64 = 2_000;

pub(super) const ACTIVE: &str = "
    select id, name, dims, mean, calibration is not null, provider from embed_model
    where state = 'active'";
const BY_ID: &str =
    "select id, name, dims, mean, calibration is not null, provider from embed_model where id = ?1";
pub(super) const SET_MEAN: &str =
    "update embed_model set mean = ?2, calibration = 'fitted' where id = ?1";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_keep_a_vector_nearly(vector in prop::collection::vec(-1.0_f32..1.0, 1..300)) {
            let back = from_bytes(&to_bytes(&vector));
            prop_assert_eq!(back.len(), vector.len());
            for (kept, value) in back.iter().zip(&vector) {
                prop_assert!((kept - value).abs() <= 1.0 / 254.0 + 1e-6);
            }
        }
    }
}
