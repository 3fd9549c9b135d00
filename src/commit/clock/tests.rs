#![cfg(not(target_arch = "wasm32"))]

use super::*;
use crate::support::block_on;

fn clock(zone: TimelineZone, timezone: Zone) -> WriteClock {
    WriteClock {
        clock: TimelineClock::new(zone, Some(timezone)),
        guessed: false,
    }
}

fn utc() -> WriteClock {
    clock(TimelineZone::Utc, Zone::Utc)
}

fn at(millis: i64) -> InstantTime {
    utc().at(millis).unwrap()
}

#[test]
fn times_only_grow_within_the_process_whichever_the_table() {
    block_on(async {
        let mut last = at(0);
        for _ in 0..20 {
            let time = utc().mint(None).await.unwrap();
            assert!(time > last, "{time} after {last}");
            last = time;
        }
    });
}

#[test]
fn small_skew_is_waited_out_and_large_skew_is_refused_with_both_times() {
    block_on(async {
        let ahead = at(host::now_millis() + 300);
        let time = utc().mint(Some(&ahead)).await.unwrap();
        assert!(time > ahead, "{time} after {ahead}");

        let far = at(host::now_millis() + 3_600_000);
        let error = utc().mint(Some(&far)).await.unwrap_err();
        assert_eq!(error.kind().code(), "WRITE_CONFLICT");
        assert_eq!(error.get("newest"), Some(far.as_str()));
        assert!(error.get("now").unwrap() < far.as_str());
    });
}

#[test]
fn a_local_table_counts_by_the_zone_that_is_given() {
    block_on(async {
        let west = clock(TimelineZone::Local, Zone::Fixed(-3600));
        let newest = at(host::now_millis() - 60_000);
        assert!(utc().mint(Some(&newest)).await.is_ok());
        // An hour west of the writer before it, a minute later: its wall clock is behind.
        let error = west.mint(Some(&newest)).await.unwrap_err();
        assert_eq!(error.kind().code(), "WRITE_CONFLICT");
        assert!(error.get("hint").unwrap().contains("timezone"));
    });
}
