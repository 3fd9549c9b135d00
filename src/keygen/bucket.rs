//! The bucket of a record key: Hudi's simple bucket index, where it says which file group a key lies in.
//!
//! Source: Hudi 1.1 `BucketIdentifier`.

/// The bucket of the values of the hash fields, of so many: Java's hash of the list, without its sign.
pub fn bucket_of<'a>(values: impl IntoIterator<Item = &'a str>, buckets: u32) -> u32 {
    let step = |hash: i32, more: i32| hash.wrapping_mul(31).wrapping_add(more);
    let of_text = |text: &str| {
        text.encode_utf16()
            .fold(0, |hash, unit| step(hash, i32::from(unit)))
    };
    let hash = values
        .into_iter()
        .fold(1, |hash, text| step(hash, of_text(text)));
    (hash & i32::MAX).cast_unsigned() % buckets.max(1)
}

/// The bucket that a file group's id begins with, in eight digits; `None` when it names none.
pub fn bucket_of_file(file_id: &str) -> Option<u32> {
    let (bucket, rest) = file_id.split_at_checked(8)?;
    let digits = bucket.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with('-');
    digits.then(|| bucket.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lie_in_the_buckets_that_spark_put_them_in() {
        let found: Vec<_> = ["0", "1", "2", "3", "4", "5"]
            .map(|key| bucket_of([key], 4))
            .into();
        assert_eq!(found, [3, 0, 1, 2, 3, 0]);
        assert_eq!(bucket_of(["a"], 256), 128);
        assert_eq!(bucket_of(["TXN-001"], 256), 77);
        assert_eq!(bucket_of(["1", "x"], 256), 40);
    }

    #[test]
    fn a_file_names_its_bucket_in_eight_digits() {
        assert_eq!(
            bucket_of_file("00000003-238e-441b-8cf1-584f4e35dd2b-0"),
            Some(3)
        );
        assert_eq!(
            bucket_of_file("d3071881-d9be-4791-84b7-4efdcdaff738-0"),
            None
        );
        assert_eq!(bucket_of_file("0000"), None);
    }
}
