//! What the demo says of a query, from events as the host writes them.

use serde_json::json;

use super::what_ran;

#[test]
fn the_way_and_the_calls_are_shown() {
    let events = [
        json!({"type": "query_started", "prompt": "add"}),
        json!({"type": "decision", "branch": "base", "choices": [{"option": "numbers", "inputs": {}}]}),
        json!({"type": "decision", "branch": "numbers", "choices": [{"option": "evaluate", "inputs": {}}]}),
        json!({"type": "call_finished", "tool": "evaluate", "plugin": "calculate", "outcome": "ok", "ms": 3}),
    ];
    let shown = "  at base: numbers\n  at numbers: evaluate\n  ran evaluate of plugin calculate: ok after 3 ms\n";
    assert_eq!(what_ran(&events), shown);
}
