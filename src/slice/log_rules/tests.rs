use super::*;
use crate::codec::log_format::building::{block, code, data, key, rollback};
use crate::codec::log_format::{LogScanner, Step};

fn blocks(parts: &[Vec<u8>]) -> Vec<LogBlock> {
    let file = parts.concat();
    let mut scanner = LogScanner::new(0, file.len() as u64);
    scanner.feed(0, file.into());
    let mut blocks = Vec::new();
    loop {
        match scanner.step().unwrap() {
            Step::Block(block) => blocks.push(*block),
            Step::Done => return blocks,
            other => panic!("{other:?}"),
        }
    }
}

/// Contents of the blocks that count, by the instants that are visible; `*` is all.
fn counted(parts: &[Vec<u8>], visible: &str) -> Vec<String> {
    let sees = |instant: &str| visible == "*" || visible.split(' ').any(|seen| seen == instant);
    let blocks = counting(blocks(parts), &sees, false, false).map_err(|(_, e)| e);
    let content = |block: &LogBlock| {
        let bytes = block.fetched.as_ref().unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    blocks.unwrap().iter().map(content).collect()
}

fn stitched(instant: &str, originals: &str, content: &str) -> Vec<u8> {
    let header = [
        (key::INSTANT, instant),
        (key::SCHEMA, "{}"),
        (key::COMPACTED, originals),
    ];
    block(code::AVRO, &header, content.as_bytes())
}

// L3
#[test]
fn a_rollback_acts_on_all_blocks_of_its_target_before_it_and_on_none_behind() {
    let parts = [
        data("t1", b"1"),
        data("t2", b"2 lost"),
        data("t3", b"3"),
        block(code::DELETE, &[(key::INSTANT, "t2")], b"2 lost too"),
        rollback("t4", "t2"),
        data("t2", b"2 again"),
    ];
    assert_eq!(counted(&parts, "*"), ["1", "3", "2 again"]);
}

#[test]
fn a_rollback_acts_though_its_own_instant_is_not_visible() {
    let parts = [data("t1", b"1"), data("t2", b"2"), rollback("t9", "t1")];
    assert_eq!(counted(&parts, "t1 t2"), ["2"]);
}

#[test]
fn a_rollback_of_an_instant_without_blocks_does_nothing() {
    let parts = [rollback("t9", "t1"), data("t2", b"2")];
    assert_eq!(counted(&parts, "*"), ["2"]);
}

// L5
#[test]
fn a_block_of_an_instant_that_never_completed_does_not_count() {
    let parts = [data("t1", b"1"), data("t2", b"2"), data("t3", b"3")];
    assert_eq!(counted(&parts, "t1 t3"), ["1", "3"]);
}

#[test]
fn blocks_of_one_instant_stay_together_where_the_first_lies() {
    let parts = [
        data("t1", b"1a"),
        data("t2", b"2"),
        data("t1", b"1b"),
        data("t0", b"0"),
    ];
    assert_eq!(counted(&parts, "*"), ["1a", "1b", "2", "0"]);
}

// V08
#[test]
fn change_blocks_count_only_when_they_are_asked_for() {
    let parts = [
        data("t1", b"1"),
        block(code::CDC, &[(key::INSTANT, "t1")], b"change"),
    ];
    assert_eq!(counted(&parts, "*"), ["1"]);
    let changes = counting(blocks(&parts), &|_| true, true, false).map_err(|(_, e)| e);
    let kinds: Vec<_> = changes.unwrap().iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [BlockKind::Cdc]);
}

#[test]
fn blocks_of_a_log_compaction_take_the_place_of_the_newest_that_they_hold() {
    // t3 holds t1 and t2; t4 was written while it ran, and lies before it in no order of instants.
    let parts = [
        data("t1", b"1"),
        data("t2", b"2"),
        data("t4", b"4"),
        stitched("t3", "t2,t1", "1+2"),
        block(
            code::DELETE,
            &[(key::INSTANT, "t3"), (key::COMPACTED, "t2,t1")],
            b"1+2 deletes",
        ),
    ];
    assert_eq!(counted(&parts, "*"), ["1+2", "1+2 deletes", "4"]);
}

#[test]
fn log_compactions_of_log_compactions_resolve_to_the_last() {
    let parts = [
        data("t1", b"1"),
        data("t2", b"2"),
        stitched("t3", "t2,t1", "1+2"),
        data("t4", b"4"),
        stitched("t5", "t4,t3", "1+2+4"),
        data("t6", b"6"),
    ];
    assert_eq!(counted(&parts, "*"), ["1+2+4", "6"]);
    assert_eq!(counted(&parts, "t1 t2 t3 t4 t6"), ["1+2", "4", "6"]);
    assert_eq!(counted(&parts, "t1 t2 t4 t6"), ["1", "2", "4", "6"]);
}

#[test]
fn a_log_compaction_that_was_rolled_back_gives_its_blocks_free() {
    let parts = [
        data("t1", b"1"),
        data("t2", b"2"),
        stitched("t3", "t2,t1", "1+2"),
        rollback("t4", "t3"),
    ];
    assert_eq!(counted(&parts, "*"), ["1", "2"]);
}

#[test]
fn a_log_compaction_of_blocks_that_an_older_slice_holds_does_not_count() {
    let parts = [data("t4", b"4"), stitched("t3", "t2,t1", "1+2")];
    assert_eq!(counted(&parts, "*"), ["4"]);
}

#[test]
fn a_block_without_an_instant_and_a_rollback_without_a_target_are_refused() {
    for part in [
        block(code::AVRO, &[], b""),
        block(code::COMMAND, &[(key::COMMAND, "0")], b""),
    ] {
        let parts = [data("t1", b""), part];
        let at = parts[0].len().to_string();
        let (file, error) = counting(blocks(&parts), &|_| true, false, false).unwrap_err();
        assert_eq!(
            (file, error.get("offset")),
            (0, Some(at.as_str())),
            "{error}"
        );
    }
}
