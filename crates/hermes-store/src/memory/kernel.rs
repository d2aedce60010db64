//! The inner loops over vectors: products of two-bit codes and dot products of one-byte vectors.
#![expect(
    unsafe_code,
    reason = "calling a function built for newer processors, after asking whether this is one"
)]

use super::code::QuestionCode;

/// For every code, in order, its product with the question, before its factor.
pub(super) fn products(question: &QuestionCode, codes: &[u8], out: &mut Vec<i32>) {
    out.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has just said that it knows these instructions.
        unsafe { products_popcnt(question, codes, out) };
        return;
    }
    question.products(codes, out);
}

/// The dot product of a vector with one of bytes.
pub(super) fn dot(question: &[f32], vector: &[u8]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { dot_avx2(question, vector) };
    }
    dot_plain(question, vector)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn products_popcnt(question: &QuestionCode, codes: &[u8], out: &mut Vec<i32>) {
    question.products(codes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn dot_avx2(question: &[f32], vector: &[u8]) -> f32 {
    dot_plain(question, vector)
}

#[inline(always)]
fn dot_plain(question: &[f32], vector: &[u8]) -> f32 {
    // Eight sums at once, as a processor with wide registers adds them.
    let mut sums = [0.0_f32; 8];
    let mut pairs = question.chunks_exact(8).zip(vector.chunks_exact(8));
    for (a, b) in &mut pairs {
        for lane in 0..8 {
            sums[lane] += a[lane] * f32::from(b[lane].cast_signed());
        }
    }
    let rest = question.len() / 8 * 8;
    let tail: f32 = question[rest..]
        .iter()
        .zip(&vector[rest.min(vector.len())..])
        .map(|(a, b)| a * f32::from(b.cast_signed()))
        .sum();
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_processor_gets_the_same_products(
            codes in any::<Vec<u8>>(), question in prop::collection::vec(-1.0_f32..1.0, 1..400),
        ) {
            let question = QuestionCode::new(&question);
            let (mut quick, mut plain) = (Vec::new(), Vec::new());
            products(&question, &codes, &mut quick);
            question.products(&codes, &mut plain);
            prop_assert_eq!(&quick, &plain);
        }

        #[test]
        fn every_processor_gets_nearly_the_same_dot_product(
            pairs in prop::collection::vec((-1.0_f32..1.0, any::<u8>()), 0..300),
        ) {
            let (a, b): (Vec<f32>, Vec<u8>) = pairs.into_iter().unzip();
            let exact: f64 =
                a.iter().zip(&b).map(|(x, y)| f64::from(*x) * f64::from(y.cast_signed())).sum();
            prop_assert!((f64::from(dot(&a, &b)) - exact).abs() < 0.05);
            prop_assert!((f64::from(dot_plain(&a, &b)) - exact).abs() < 0.05);
        }
    }
}
