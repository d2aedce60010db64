//! The arithmetic over int8 rows, compiled twice: plainly, and for processors with AVX2.
#![expect(
    unsafe_code,
    reason = "reading the file's bytes as signed, and calling a function compiled for AVX2, have no safe form"
)]

/// How many numbers a vector of the embedded model has.
pub(crate) const DIMS: usize = 256;

/// One token of the model: its numbers before the scale.
pub(crate) type Row = [i8; DIMS];

/// The same bytes, read as rows of signed numbers.
pub(crate) const fn signed(rows: &'static [[u8; DIMS]]) -> &'static [Row] {
    // SAFETY: i8 and u8 have the same size, alignment and validity, and the length is unchanged.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast::<Row>(), rows.len()) }
}

/// A row in wider numbers: two of them are multiplied and added with one instruction.
pub(crate) type WideRow = [i16; DIMS];

/// The dot products of each question row with one other row.
pub(crate) fn dots(questions: &[WideRow], other: &Row, found: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, asked one line above.
        return unsafe { dots_avx2(questions, other, found) };
    }
    dots_plain(questions, other, found);
}

/// A row with its numbers widened.
pub(crate) fn widen(row: &Row) -> WideRow {
    let mut wide = [0; DIMS];
    for (wide, value) in wide.iter_mut().zip(row) {
        *wide = i16::from(*value);
    }
    wide
}

/// Adds `scale` times each row to the sum; both forms give the same bits, as nothing is reordered.
pub(crate) fn add<'a>(sum: &mut [f32; DIMS], rows: impl Iterator<Item = (&'a Row, f32)>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, asked one line above.
        return unsafe { add_avx2(sum, rows) };
    }
    add_plain(sum, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(questions: &[WideRow], other: &Row, found: &mut [i32]) {
    dots_plain(questions, other, found);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2<'a>(sum: &mut [f32; DIMS], rows: impl Iterator<Item = (&'a Row, f32)>) {
    add_plain(sum, rows);
}

#[inline(always)]
fn dots_plain(questions: &[WideRow], other: &Row, found: &mut [i32]) {
    // The other row is widened once, and stays at hand for all rows of the question.
    let mut wide = [0_i16; DIMS];
    for at in 0..DIMS {
        wide[at] = i16::from(other[at]);
    }
    for (question, found) in questions.iter().zip(found) {
        let mut sum = 0;
        for at in 0..DIMS {
            sum += i32::from(question[at]) * i32::from(wide[at]);
        }
        *found = sum;
    }
}

#[inline(always)]
fn add_plain<'a>(sum: &mut [f32; DIMS], rows: impl Iterator<Item = (&'a Row, f32)>) {
    for (row, scale) in rows {
        for (total, value) in sum.iter_mut().zip(row) {
            *total += f32::from(*value) * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<Vec<i8>>> {
        prop::collection::vec(prop::collection::vec(any::<i8>(), DIMS), 1..6)
    }

    fn array(values: &[i8]) -> Row {
        values.try_into().unwrap()
    }

    proptest! {
        #[test]
        fn the_dispatched_dots_equal_a_sum_written_out(table in rows()) {
            let table: Vec<Row> = table.iter().map(|row| array(row)).collect();
            let questions: Vec<WideRow> = table.iter().map(widen).collect();
            let (mut fast, mut plain) = (vec![0; table.len()], vec![0; table.len()]);
            dots(&questions, &table[0], &mut fast);
            dots_plain(&questions, &table[0], &mut plain);
            let slow: Vec<i32> = table
                .iter()
                .map(|row| (0..DIMS).map(|i| i32::from(row[i]) * i32::from(table[0][i])).sum())
                .collect();
            prop_assert_eq!(&fast, &slow);
            prop_assert_eq!(&plain, &slow);
        }

        #[test]
        fn the_dispatched_sum_equals_the_plain_one_bit_for_bit(table in rows(), scale in -1f32..1.0) {
            let table: Vec<Row> = table.iter().map(|row| array(row)).collect();
            let (mut fast, mut plain) = ([0f32; DIMS], [0f32; DIMS]);
            add(&mut fast, table.iter().map(|row| (row, scale)));
            add_plain(&mut plain, table.iter().map(|row| (row, scale)));
            prop_assert_eq!(fast.map(f32::to_bits), plain.map(f32::to_bits));
        }
    }
}
