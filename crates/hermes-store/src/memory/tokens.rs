//! The ids of tokens as bytes: two for each in their order, or, for a summary, a set in about half of that.

/// The id that no token has; it begins a set.
const SET: u16 = u16::MAX;

/// Token ids in their order, two bytes for each, little-endian.
pub(super) fn list(tokens: &[u16]) -> Vec<u8> {
    tokens.iter().flat_map(|token| token.to_le_bytes()).collect()
}

/// Token ids each once and in order, as the steps from one to the next: seven bits in a byte, the
/// lowest first; the highest bit says that more follow.
pub(super) fn set(tokens: &[u16]) -> Vec<u8> {
    let mut tokens: Vec<u16> = tokens.iter().copied().filter(|token| *token != SET).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let mut bytes = SET.to_le_bytes().to_vec();
    let mut before = 0;
    for token in tokens {
        let mut step = token - before;
        before = token;
        while step > 0x7f {
            bytes.push((step & 0x7f) as u8 | 0x80);
            step >>= 7;
        }
        bytes.push(step as u8);
    }
    bytes
}

/// The token ids that were written as a list or as a set.
pub(super) fn read(bytes: &[u8]) -> Vec<u16> {
    let Some(set) = bytes.strip_prefix(&SET.to_le_bytes()) else {
        return bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    };
    let mut tokens = Vec::with_capacity(set.len());
    let (mut token, mut step, mut shift) = (0_u16, 0_u16, 0_u32);
    for byte in set {
        step |= u16::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            token = token.wrapping_add(step);
            tokens.push(token);
            (step, shift) = (0, 0);
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(mut tokens in prop::collection::vec(0..u16::MAX, 0..400)) {
            prop_assert_eq!(&read(&list(&tokens)), &tokens);
            let packed = set(&tokens);
            tokens.sort_unstable();
            tokens.dedup();
            prop_assert_eq!(&read(&packed), &tokens);
            prop_assert!(packed.len() <= 2 + 3 * tokens.len());
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            read(&bytes);
        }
    }
}
