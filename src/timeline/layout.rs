//! Names of the files of instants.

use crate::model::{Action, InstantTime, State, TimelineLayout};

/// What the name of one timeline file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineName {
    /// When the instant was requested.
    pub time: InstantTime,
    /// When it completed; only completed files of layout 2 say it.
    pub completion: Option<InstantTime>,
    /// The word in the name; the inflight file of a commit has none.
    pub action: Action,
    /// The state that the file stands for.
    pub state: State,
}

impl TimelineName {
    /// Reads a file name without folders; `None` for a name that is no instant's: side files, temporary files,
    /// properties. An unknown action is kept.
    ///
    /// ```text
    /// T.action.requested   T.action.inflight   T.inflight (a commit)   T.action   T_C.action (layout 2)
    /// ```
    pub fn parse(name: &str, layout: TimelineLayout) -> Option<Self> {
        let (times, rest) = name.split_once('.')?;
        let (time, completion) = match times.split_once('_') {
            Some((time, completion)) if layout == TimelineLayout::Two => {
                (time, Some(InstantTime::parse(completion).ok()?))
            }
            Some(_) => return None,
            None => (times, None),
        };
        let (word, state) = match rest.split_once('.') {
            None if rest == "inflight" => ("commit", State::Inflight),
            None => (rest, State::Completed),
            Some((word, "inflight")) => (word, State::Inflight),
            Some((word, "requested")) => (word, State::Requested),
            Some(_) => return None,
        };
        let known = is_action_word(word) && (completion.is_none() || state == State::Completed);
        known.then_some(())?;
        Some(Self {
            time: InstantTime::parse(time).ok()?,
            completion,
            action: Action::from_word(word),
            state,
        })
    }

    /// The name of the file: the way back of [`TimelineName::parse`].
    pub fn file_name(&self, layout: TimelineLayout) -> String {
        let (time, action) = (&self.time, &self.action);
        match (self.state, self.completion_in(layout)) {
            (State::Requested, _) => format!("{time}.{action}.requested"),
            (State::Inflight, _) if *action == Action::Commit => format!("{time}.inflight"),
            (State::Inflight, _) => format!("{time}.{action}.inflight"),
            (State::Completed, Some(completion)) => format!("{time}_{completion}.{action}"),
            (State::Completed, None) => format!("{time}.{action}"),
        }
    }

    /// The completion time, in a layout that says it.
    pub fn completion_in(&self, layout: TimelineLayout) -> Option<InstantTime> {
        match layout {
            TimelineLayout::One => None,
            TimelineLayout::Two => self.completion.clone(),
        }
    }
}

fn is_action_word(word: &str) -> bool {
    let other = matches!(word, "tmp" | "crc" | "requested" | "inflight");
    !other && !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: &str = "20261129203020176";
    const C: &str = "20261129203021000";

    fn check(layout: TimelineLayout, name: &str, expected: Option<(&str, State, bool)>) {
        let found = TimelineName::parse(name, layout);
        let found = found.as_ref().map(|n| {
            assert_eq!(n.time.as_str(), T);
            (n.action.as_str(), n.state, n.completion.is_some())
        });
        assert_eq!(found, expected, "{name}");
        if let Some(found) =
            TimelineName::parse(name, layout).filter(|_| !name.contains(".commit.inflight"))
        {
            assert_eq!(found.file_name(layout), name);
        }
    }

    #[test]
    fn every_state_of_every_action_is_read_in_both_layouts() {
        let actions = "commit deltacommit compaction logcompaction replacecommit clustering clean rollback restore \
                       savepoint indexing schemacommit";
        for action in actions.split_whitespace() {
            for layout in [TimelineLayout::One, TimelineLayout::Two] {
                check(
                    layout,
                    &format!("{T}.{action}.requested"),
                    Some((action, State::Requested, false)),
                );
                check(
                    layout,
                    &format!("{T}.{action}.inflight"),
                    Some((action, State::Inflight, false)),
                );
                check(
                    layout,
                    &format!("{T}.{action}"),
                    Some((action, State::Completed, false)),
                );
                check(
                    layout,
                    &format!("{T}.inflight"),
                    Some(("commit", State::Inflight, false)),
                );
            }
            let name = format!("{T}_{C}.{action}");
            check(
                TimelineLayout::Two,
                &name,
                Some((action, State::Completed, true)),
            );
            check(TimelineLayout::One, &name, None);
        }
    }

    #[test]
    fn other_names_are_no_instants_and_unknown_actions_are_kept() {
        let other = [
            "hoodie.properties".to_owned(),
            format!(".{T}.commit.crc"),
            format!("{T}.commit.crc"),
            format!("{T}.tmp"),
            format!("{T}_{C}.commit.tmp"),
            format!("{T}_{C}.commit.inflight"),
            format!("{T}_.commit"),
            format!("{T}.requested"),
            format!("{T}."),
            T.to_owned(),
            "history".to_owned(),
            "2026.commit".to_owned(),
            String::new(),
        ];
        for name in &other {
            assert_eq!(
                TimelineName::parse(name, TimelineLayout::Two),
                None,
                "{name}"
            );
        }
        check(
            TimelineLayout::Two,
            &format!("{T}.vacuum.requested"),
            Some(("vacuum", State::Requested, false)),
        );
    }
}
