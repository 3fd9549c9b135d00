use arrow::datatypes::i256;

/// The number that `N` bytes of two's complement hold, the highest first; none for no bytes and for one that is larger.
fn sign_extended<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let sign = match bytes.first()? & 0x80 {
        0 => 0,
        _ => 0xff,
    };
    let mut number = [sign; N];
    if let Some((_, tail)) = number.split_at_mut_checked(N.wrapping_sub(bytes.len())) {
        tail.copy_from_slice(bytes);
        return Some(number);
    }
    let (head, tail) = bytes.split_at_checked(bytes.len() - N)?;
    number.copy_from_slice(tail);
    let fits = head.iter().all(|byte| *byte == sign) && (number.first()? ^ sign) & 0x80 == 0;
    fits.then_some(number)
}

/// An unscaled decimal of at most 38 digits.
pub(super) fn small(bytes: &[u8]) -> Option<i128> {
    sign_extended(bytes).map(i128::from_be_bytes)
}

/// An unscaled decimal of at most 76 digits.
pub(crate) fn large(bytes: &[u8]) -> Option<i256> {
    sign_extended(bytes).map(i256::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_every_length_give_the_number_they_hold() {
        let check =
            |bytes: &[u8], expected: Option<i128>| assert_eq!(small(bytes), expected, "{bytes:?}");
        check(&[], None);
        check(&[0xff], Some(-1));
        check(&[0x00, 0xff], Some(255));
        check(&[0x80, 0x00], Some(-32768));
        check(&i128::MIN.to_be_bytes(), Some(i128::MIN));
        check(
            &[&[0xff; 3][..], &i128::MIN.to_be_bytes()].concat(),
            Some(i128::MIN),
        );
        check(
            &[&[0][..], &i128::MAX.to_be_bytes()].concat(),
            Some(i128::MAX),
        );
        check(&[&[1][..], &i128::MAX.to_be_bytes()].concat(), None);
        check(&[&[0][..], &i128::MIN.to_be_bytes()].concat(), None);
        assert_eq!(large(&[0x80, 0x00]), Some(i256::from_i128(-32768)));
        assert_eq!(large(&[1; 33]), None);
    }
}
