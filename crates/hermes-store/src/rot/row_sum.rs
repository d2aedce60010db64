//! The checksum of a row, as a function of SQL: `row_sum(column, column, …)`.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

/// Makes `row_sum` known to a connection.
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("row_sum", -1, flags, |values| {
        Ok(sum_of((0..values.len()).map(|place| values.get_raw(place))))
    })
}

/// The first eight bytes of the SHA-256 over values, each with its kind and length in front; never 0.
fn sum_of<'v>(values: impl Iterator<Item = ValueRef<'v>>) -> i64 {
    let mut hasher = Sha256::new();
    for value in values {
        match value {
            ValueRef::Null => hasher.update([0]),
            ValueRef::Integer(number) => {
                hasher.update([1]);
                hasher.update(number.to_le_bytes());
            }
            ValueRef::Real(number) => {
                hasher.update([2]);
                hasher.update(number.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                let kind = if matches!(value, ValueRef::Text(_)) { 3 } else { 4 };
                hasher.update([kind]);
                hasher.update((bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            }
        }
    }
    let digest = hasher.finalize();
    let sum = digest.first_chunk::<8>().map_or(1, |bytes| i64::from_le_bytes(*bytes));
    // Where sums lie side by side in a file, 0 is a place that was never written.
    if sum == 0 { 1 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_only_look_alike_have_other_sums() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let sum = |values: &str| -> i64 {
            let sql = format!("select row_sum({values})");
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        let all = ["'ab', 'c'", "'a', 'bc'", "'abc'", "x'616263'", "null", "'', null", "1", "1.0"];
        let mut sums: Vec<i64> = all.into_iter().map(sum).collect();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), all.len());
        assert_eq!(sum("'ab', 'c'"), sum("'ab', 'c'"));
    }
}
