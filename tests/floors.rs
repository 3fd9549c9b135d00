//! Holds the direction of imports: a room of `src/` names only rooms listed before it in [`ROOMS`].
//!
//! Every `crate::` and `super::` path of the sources counts, wherever it stands; comments, strings and what only tests
//! see do not. `lib.rs`, the front door, may name every room.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The rooms with their floors, in the one order in which they may lean on each other.
const ROOMS: [(&str, u8); 22] = [
    ("error", 0),
    ("host", 0),
    ("model", 0),
    ("config", 0),
    ("schema", 1),
    ("expr", 1),
    ("codec", 1),
    ("keygen", 1),
    ("merge", 1),
    ("storage", 2),
    ("http_store", 2),
    ("timeline", 3),
    ("commit", 4),
    ("view", 4),
    ("slice", 4),
    ("metadata", 5),
    ("read", 5),
    ("index", 6),
    ("write", 6),
    ("services", 7),
    ("table", 8),
    ("js_api", 9),
];

/// Where code may differ by machine.
const MACHINE_ROOMS: [&str; 3] = ["host", "http_store", "js_api"];

/// Words of a `cfg` that ask which machine this is.
const MACHINE_WORDS: [&str; 4] = ["target_arch", "target_os", "target_family", "target_env"];

/// Source files by their path below `src/`, with forward slashes.
type Sources = BTreeMap<String, String>;

#[test]
fn the_sources_of_this_crate_import_downwards_only() {
    let mut sources = Sources::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    collect(&src, &src, &mut sources);
    assert!(
        sources.contains_key("lib.rs"),
        "no sources were found in {}",
        src.display()
    );
    let problems = problems(&sources);
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn collect(top: &Path, folder: &Path, sources: &mut Sources) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(top).unwrap().to_str().unwrap();
            sources.insert(below.replace('\\', "/"), fs::read_to_string(&path).unwrap());
        }
    }
}

/// One sentence for each import that climbs and each word of the machine outside the rooms for it.
fn problems(sources: &Sources) -> Vec<String> {
    let mut parsed = BTreeMap::new();
    let mut test_only = Vec::new();
    for (file, text) in sources {
        let module = module_of(file);
        let (code, hidden) = without_tests(&tokens(text));
        test_only.extend(
            hidden
                .into_iter()
                .map(|name| [module.as_slice(), &[name]].concat()),
        );
        parsed.insert(file.as_str(), (module, code));
    }
    let exports = parsed
        .get("lib.rs")
        .map(|(_, code)| exports(code))
        .unwrap_or_default();
    let mut problems = Vec::new();
    for (file, (module, code)) in &parsed {
        let for_tests = module.last().is_some_and(|name| name == "tests");
        if !for_tests && !test_only.iter().any(|hidden| module.starts_with(hidden)) {
            check_file(file, module, code, &exports, &mut problems);
        }
    }
    problems
}

fn check_file(
    file: &str,
    module: &[String],
    code: &[String],
    exports: &BTreeMap<String, String>,
    problems: &mut Vec<String>,
) {
    let Some(room) = module.first() else { return };
    let Some(own) = rank(room) else {
        problems.push(format!(
            "src/{file}: `{room}` is no room of the floors table"
        ));
        return;
    };
    for named in named_rooms(code, module) {
        let target = exports.get(&named).unwrap_or(&named);
        match rank(target) {
            None => problems.push(format!(
                "src/{file}: `crate::{named}` is in no room of the floors table"
            )),
            Some(theirs) if theirs > own => problems.push(format!(
                "src/{file}: `{room}` (floor {}) climbs to `{target}` (floor {})",
                ROOMS[own].1, ROOMS[theirs].1
            )),
            Some(_) => {}
        }
    }
    let machine = code
        .iter()
        .find(|token| MACHINE_WORDS.contains(&token.as_str()));
    if let Some(word) = machine.filter(|_| !MACHINE_ROOMS.contains(&room.as_str())) {
        problems.push(format!(
            "src/{file}: `{word}` belongs to {}",
            MACHINE_ROOMS.join(", ")
        ));
    }
}

fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|(name, _)| *name == room)
}

/// `view/hidden.rs` is `[view, hidden]`, `view/mod.rs` is `[view]`, `lib.rs` is the crate, so nothing.
fn module_of(file: &str) -> Vec<String> {
    let mut parts: Vec<String> = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        parts.pop();
    }
    parts
}

/// What `lib.rs` gives other names at the crate's root: `Error` is in `error`.
fn exports(code: &[String]) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in code.iter().enumerate().filter(|(_, token)| *token == "use") {
        let end = code[at..]
            .iter()
            .position(|token| token == ";")
            .map_or(code.len(), |n| at + n);
        let mut path = code[at + 1..end]
            .iter()
            .filter(|token| !["crate", "self", "::"].contains(&token.as_str()));
        if let Some(room) = path.next() {
            for name in path.filter(|token| is_word(token)) {
                exports.insert(name.clone(), room.clone());
            }
        }
    }
    exports
}

/// The first segment below the crate of every path that starts at the crate or reaches it by `super::`.
fn named_rooms(code: &[String], module: &[String]) -> Vec<String> {
    let mut rooms = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let mut end = at;
        let mut depth = module.len();
        let mut rooted = false;
        while code.get(end + 1).is_some_and(|next| next == "::")
            && ["crate", "super"].contains(&code[end].as_str())
        {
            depth = if code[end] == "crate" {
                0
            } else {
                depth.saturating_sub(1)
            };
            rooted = true;
            end += 2;
        }
        if rooted && depth == 0 {
            first_segments(&code[end..], &mut rooms);
        }
        at = end.max(at + 1);
    }
    rooms
}

/// Of `a::b` it is `a`, of `{a::b, c}` it is `a` and `c`; a `*` stands for itself and so is in no room.
fn first_segments(path: &[String], rooms: &mut Vec<String>) {
    if path.first().is_none_or(|token| token != "{") {
        rooms.extend(path.first().cloned());
        return;
    }
    let mut depth = 0;
    for pair in path.windows(2) {
        match pair[0].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
        if depth == 1
            && ["{", ","].contains(&pair[0].as_str())
            && !["}", "self"].contains(&pair[1].as_str())
        {
            rooms.push(pair[1].clone());
        }
    }
}

/// The tokens outside items that only tests see, and the names of modules in other files that only tests see.
fn without_tests(code: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut hidden) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < code.len() {
        if code[at] != "#" {
            kept.push(code[at].clone());
            at += 1;
            continue;
        }
        let inner = code.get(at + 1).is_some_and(|token| token == "!");
        let end = group_end(code, at + 1 + usize::from(inner));
        if !asks_for_tests(&code[at..end]) {
            kept.extend_from_slice(&code[at..end]);
        } else if inner {
            return (Vec::new(), hidden);
        }
        at = if asks_for_tests(&code[at..end]) {
            skip_item(code, end, &mut hidden)
        } else {
            end
        };
    }
    (kept, hidden)
}

/// `cfg(test)` and `cfg(all(test, ..))`, but not `cfg(not(test))`, `cfg(any(test, ..))` or `cfg_attr(test, ..)`.
fn asks_for_tests(attribute: &[String]) -> bool {
    let words: Vec<&str> = attribute
        .iter()
        .map(String::as_str)
        .filter(|token| is_word(token))
        .collect();
    words.first() == Some(&"cfg")
        && words.contains(&"test")
        && !words.contains(&"not")
        && !words.contains(&"any")
        || words.starts_with(&["cfg", "all", "test"])
}

/// The place after the item at `at`; a module without a body lives in another file and is named in `hidden`.
fn skip_item(code: &[String], mut at: usize, hidden: &mut Vec<String>) -> usize {
    let start = at;
    while at < code.len() {
        match code[at].as_str() {
            ";" => {
                let item = &code[start..at];
                if let Some(place) = item.iter().position(|token| token == "mod") {
                    hidden.extend(item.get(place + 1).cloned());
                }
                return at + 1;
            }
            "{" => return group_end(code, at),
            "(" | "[" => at = group_end(code, at),
            _ => at += 1,
        }
    }
    at
}

/// The place after the bracket that closes the one at `at`.
fn group_end(code: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (place, token) in code.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return place + 1;
        }
    }
    code.len()
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words, `::`, and every other sign by itself; comments and the text of strings and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = blank_length(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let word = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push(rest[..word].to_owned());
            word
        } else {
            let length = if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(rest[..length].to_owned());
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the white space, comment, string, character or lifetime that `text` starts with.
fn blank_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        return Some(first.len_utf8());
    }
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment_length(text));
    }
    let raw = text.strip_prefix('b').unwrap_or(text);
    if let Some(hashes) = raw
        .strip_prefix('r')
        .map(|tail| tail.len() - tail.trim_start_matches('#').len())
        && raw[1 + hashes..].starts_with('"')
    {
        let open = text.len() - raw.len() + hashes + 2;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(
            text[open..]
                .find(&close)
                .map_or(text.len(), |at| open + at + close.len()),
        );
    }
    match first {
        '"' => Some(quoted_length(text, '"')),
        // A lifetime has no closing quote after one character, unless that one is escaped.
        '\'' if text[1..].starts_with('\\') || text.chars().nth(2) == Some('\'') => {
            Some(quoted_length(text, '\''))
        }
        '\'' => Some(1),
        _ => None,
    }
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

mod made_up {
    use super::{Sources, problems};

    /// Checks the problems that a crate of these files has, each given by a part of its sentence.
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let sources: Sources = files
            .iter()
            .map(|(file, text)| (file.to_string(), text.to_string()))
            .collect();
        let found = problems(&sources);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (sentence, part) in found.iter().zip(expected) {
            assert!(sentence.contains(part), "{sentence:?} has no {part:?}");
        }
    }

    #[test]
    fn an_import_from_a_higher_floor_is_caught_wherever_it_stands() {
        check(
            &[("codec/bytes.rs", "use crate::storage::Store;")],
            &["`codec` (floor 1) climbs to `storage` (floor 2)"],
        );
        check(
            &[("codec/bytes.rs", "fn f() { crate::table::open() }")],
            &["climbs to `table`"],
        );
        check(
            &[("codec/mod.rs", "pub use super::timeline::Timeline;")],
            &["climbs to `timeline`"],
        );
        check(
            &[("codec/avro/datum.rs", "use super::super::super::read;")],
            &["climbs to `read`"],
        );
        check(
            &[(
                "codec/a.rs",
                "macro_rules! m { () => { $crate::slice::f() } }",
            )],
            &["climbs to `slice`"],
        );
    }

    #[test]
    fn every_branch_of_a_group_counts() {
        let group =
            "use crate::{error::{Error, Result}, model, view::{self, Snapshot}, slice as s};";
        check(
            &[("timeline/load.rs", group)],
            &["climbs to `view`", "climbs to `slice`"],
        );
    }

    #[test]
    fn a_floor_has_an_order_too() {
        check(
            &[("view/a.rs", "use crate::slice::Slice;")],
            &["`view` (floor 4) climbs to `slice` (floor 4)"],
        );
        check(&[("slice/a.rs", "use crate::view::Snapshot;")], &[]);
    }

    #[test]
    fn what_the_front_door_reexports_belongs_to_its_room() {
        let lib = (
            "lib.rs",
            "pub mod table; pub use error::{Error, Result}; pub use table::Table;",
        );
        check(
            &[
                lib,
                ("codec/a.rs", "use crate::Result;"),
                ("read/a.rs", "use crate::Table;"),
            ],
            &["climbs to `table`"],
        );
    }

    #[test]
    fn rooms_and_names_outside_the_table_are_refused() {
        check(&[("utils/mod.rs", "")], &["`utils` is no room"]);
        check(
            &[("codec/a.rs", "use crate::utils::x;")],
            &["`crate::utils` is in no room"],
        );
        check(
            &[("codec/a.rs", "use crate::*;")],
            &["`crate::*` is in no room"],
        );
    }

    #[test]
    fn comments_strings_and_tests_may_name_anything() {
        let text = r##"
            //! See [`crate::table`].
            /* crate::table /* nested */ crate::read */
            const A: &str = "crate::table"; const B: &str = r#"" crate::table "#; const C: char = '"';
            fn f<'a>(x: &'a str) -> &'a str { x }
            #[cfg(test)] use crate::{table, read};
            #[cfg(all(test, not(target_arch = "wasm32")))]
            #[allow(unused)]
            mod tests { use crate::table::open; }
            #[cfg(test)] mod fault;
        "##;
        let fault = ("codec/a/fault.rs", "use crate::table;");
        check(
            &[
                ("codec/a.rs", text),
                fault,
                ("codec/a/tests.rs", "use crate::table;"),
            ],
            &[],
        );
    }

    #[test]
    fn code_after_a_test_item_counts_again() {
        check(
            &[(
                "codec/a.rs",
                "#[cfg(test)] mod tests { fn f() {} } use crate::table;",
            )],
            &["climbs to `table`"],
        );
        check(
            &[("codec/a.rs", "#[cfg(not(test))] use crate::table;")],
            &["climbs to `table`"],
        );
    }

    #[test]
    fn the_machine_is_asked_for_in_its_rooms_only() {
        let text = "#[cfg(target_arch = \"wasm32\")] mod web;";
        check(&[("view/a.rs", text)], &["`target_arch` belongs to host"]);
        check(
            &[
                ("host/mod.rs", text),
                ("http_store/a.rs", text),
                ("lib.rs", text),
            ],
            &[],
        );
    }
}
