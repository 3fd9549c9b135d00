use super::super::building::{block, code, data, key, rollback};
use super::*;
use crate::error::ErrorKind;

/// How a scanner gets its bytes: all at once, or just what it asks for, cut to `most` bytes.
#[derive(Clone, Copy)]
enum Feed {
    Whole,
    Asked,
}

fn scan_by(file: &[u8], feed: Feed) -> Result<(Vec<Step>, u64)> {
    let size = file.len() as u64;
    let mut scanner = LogScanner::new(7, size);
    let mut asked = 0;
    if let Feed::Whole = feed {
        scanner.feed(0, Bytes::copy_from_slice(file));
    }
    let mut steps = Vec::new();
    loop {
        match scanner.step()? {
            Step::Done => return Ok((steps, asked)),
            Step::Need(range) => {
                assert!(
                    matches!(feed, Feed::Asked),
                    "bytes that were there: {range:?}"
                );
                assert!(range.start < range.end && range.end <= size, "{range:?}");
                asked += range.end - range.start;
                assert!(asked <= 8 * size + (4 << 20), "asks without end");
                let bytes = &file[range.start as usize..range.end as usize];
                scanner.feed(range.start, Bytes::copy_from_slice(bytes));
            }
            step => steps.push(step),
        }
    }
}

/// The blocks as `instant`, damaged spans as `start..end`.
fn scan(file: &[u8]) -> Vec<String> {
    let show = |steps: Vec<Step>| {
        let show = |step| match step {
            Step::Block(block) => {
                assert_eq!((block.file, block.version), (7, 1));
                block.instant_time().unwrap().to_owned()
            }
            Step::Damaged(span) => format!("{}..{}", span.start, span.end),
            Step::Need(_) | Step::Done => unreachable!(),
        };
        steps.into_iter().map(show).collect::<Vec<_>>()
    };
    let whole = show(scan_by(file, Feed::Whole).unwrap().0);
    let asked = show(scan_by(file, Feed::Asked).unwrap().0);
    assert_eq!(whole, asked);
    whole
}

fn three() -> (Vec<u8>, [usize; 3]) {
    let parts = [
        data("t1", b"first"),
        data("t2", b"the second"),
        data("t3", b"third"),
    ];
    let ends = [
        parts[0].len(),
        parts[0].len() + parts[1].len(),
        parts.iter().map(Vec::len).sum(),
    ];
    (parts.concat(), ends)
}

#[test]
fn blocks_lie_where_their_frames_say() {
    let mut file = data("t1", b"content");
    let second = file.len() as u64;
    file.extend(rollback("t3", "t2"));
    let (steps, _) = scan_by(&file, Feed::Whole).unwrap();
    let [Step::Block(first), Step::Block(command)] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!((first.offset, first.kind), (0, BlockKind::AvroData));
    let content = first.content.start as usize..first.content.end as usize;
    assert_eq!(&file[content], b"content");
    assert_eq!(first.fetched.as_deref(), Some(&b"content"[..]));
    assert_eq!(first.header.schema(), Some("{}"));
    assert_eq!((command.offset, command.kind), (second, BlockKind::Command));
    assert_eq!(command.header.target_instant_time(), Some("t2"));
    assert_eq!(command.content_len(), 0);
}

#[test]
fn an_empty_file_has_no_block_and_needs_no_byte() {
    assert!(scan(&[]).is_empty());
}

// L1 (a)
#[test]
fn a_block_cut_short_is_damaged_and_those_before_it_are_read() {
    let (file, ends) = three();
    for cut in ends[1] + 1..ends[2] {
        let damaged = format!("{}..{cut}", ends[1]);
        assert_eq!(
            scan(&file[..cut]),
            ["t1", "t2", damaged.as_str()],
            "cut at {cut}"
        );
    }
}

// L1 (b)
#[test]
fn a_length_of_any_size_costs_only_its_block() {
    let (file, ends) = three();
    let damaged = format!("{}..{}", ends[0], ends[1]);
    for length in [1 << 62, u64::MAX, 0, 31, 32, 1 << 31, file.len() as u64] {
        let mut file = file.clone();
        file[ends[0] + 6..ends[0] + 14].copy_from_slice(&length.to_be_bytes());
        assert_eq!(scan(&file), ["t1", &damaged, "t3"], "length {length}");
    }
}

// L1 (c)
#[test]
fn a_marker_across_the_border_of_a_search_is_found() {
    let first = data("t1", b"x");
    for over in 0..=7 {
        // The search begins behind the first marker; its first window ends within the next one.
        let damaged = (6 + SEEK) as usize - over;
        let mut file = first.clone();
        let mut broken = b"#HUDI#".to_vec();
        broken.resize(damaged, b'.');
        file.extend(&broken);
        file.extend(data("t2", b"y"));
        let span = format!("{}..{}", first.len(), first.len() + damaged);
        assert_eq!(
            scan(&file),
            ["t1", &span, "t2"],
            "{over} bytes before the border"
        );
    }
}

// V02
#[test]
fn damage_ends_exactly_at_the_next_marker() {
    let good = data("t2", b"good");
    for torn in ["#HUDI#", "#HUDI#123", "#HUDI##HUDI#12345678"] {
        let file = [torn.as_bytes(), &good].concat();
        let found = scan(&file);
        assert_eq!(found.last().map(String::as_str), Some("t2"), "{torn}");
        let last_damage = found.iter().rev().nth(1).unwrap();
        assert!(
            last_damage.ends_with(&format!("..{}", torn.len())),
            "{found:?}"
        );
    }
}

#[test]
fn a_reverse_pointer_that_disagrees_is_damage() {
    let (mut file, ends) = three();
    file[ends[1] - 1] ^= 1;
    let damaged = format!("{}..{}", ends[0], ends[1]);
    assert_eq!(scan(&file), ["t1", &damaged, "t3"]);
}

#[test]
fn strange_bytes_behind_a_block_make_it_damaged() {
    let file = [data("t1", b"1"), b"strange".to_vec(), data("t2", b"2")].concat();
    let first = data("t1", b"1").len() + 7;
    assert_eq!(scan(&file), [&format!("0..{first}"), "t2"]);
}

#[test]
fn a_marker_cut_short_at_the_end_is_damage() {
    let whole = data("t1", b"1");
    let file = [&whole[..], b"#HUD"].concat();
    assert_eq!(
        scan(&file),
        ["t1", &format!("{}..{}", whole.len(), file.len())]
    );
}

#[test]
fn a_marker_inside_a_content_is_no_block() {
    let file = [data("t1", b"..#HUDI#.."), data("t2", b"")].concat();
    assert_eq!(scan(&file), ["t1", "t2"]);
}

#[test]
fn an_inside_that_does_not_add_up_costs_its_frame_alone() {
    let content = b"#HUDI# in a content";
    let good = [data("t1", content), data("t2", b"")].concat();
    let frame = data("t1", content).len();
    // The header's count; a key's length; the content's length; the footer's count.
    let at_content = frame - 8 - 4 - content.len();
    for (place, value) in [
        (22, 0xffu8),
        (30, 0x7f),
        (at_content - 8, 1),
        (at_content - 1, 1),
        (frame - 9, 1),
    ] {
        let mut file = good.clone();
        file[place] = value;
        assert_eq!(scan(&file), [&format!("0..{frame}"), "t2"], "byte {place}");
    }
    let written_as_corrupt = [block(2, &[(0, "t1")], b""), data("t2", b"")].concat();
    assert_eq!(scan(&written_as_corrupt).last().unwrap(), "t2");
}

#[test]
fn what_is_no_log_file_or_newer_is_refused_by_name() {
    let check = |file: &[u8], kind: ErrorKind, key: &str, value: &str| {
        let error = scan_by(file, Feed::Whole).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.get(key), Some(value), "{error}");
    };
    check(b"PAR1....", ErrorKind::Corrupt, "offset", "0");
    let first = data("t1", b"");
    let at = first.len().to_string();
    let second = |block: Vec<u8>| [first.clone(), block].concat();
    let mut version = data("t2", b"");
    version[17] = 2;
    check(
        &second(version.clone()),
        ErrorKind::Unsupported,
        "version",
        "2",
    );
    check(&second(version), ErrorKind::Unsupported, "offset", &at);
    let kind = block(7, &[(0, "t2")], b"");
    check(&second(kind), ErrorKind::Unsupported, "type", "7");
    let header = block(3, &[(0, "t2"), (9, "x")], b"");
    check(&second(header), ErrorKind::Unsupported, "key", "9");
}

#[test]
fn contents_are_not_asked_for() {
    let content = vec![b'.'; 10 << 20];
    let schema = "s".repeat(300 << 10);
    let header = [(key::INSTANT, "t1"), (key::SCHEMA, schema.as_str())];
    let file = [
        block(code::AVRO, &header, &content),
        block(code::DELETE, &[(key::INSTANT, "t2")], &content),
    ]
    .concat();
    let (steps, asked) = scan_by(&file, Feed::Asked).unwrap();
    assert_eq!(steps.len(), 2);
    assert!(asked < 2 << 20, "{asked} bytes asked for");
}
