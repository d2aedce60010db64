//! What an agent told a hook is kept although the home is on a full disk.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::hook_turns::{is_taken_in_once, names, sent, times_kept, turn};
use crate::sandbox::Sandbox;

/// A home on a full disk of its own; what the user has elsewhere is not full.
#[test]
fn with_a_full_disk_a_turn_waits_outside_of_the_home() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let script = "cp -a \"$1\" \"$1.copy\" && mount -t tmpfs -o size=4m,mode=700 tmpfs \"$1\" &&
        cp -a \"$1.copy/.\" \"$1\" && { cat /dev/zero > \"$1/filling\" 2>/dev/null; true; } &&
        exec \"$2\" hook \"$3\"";
    let on_full_disk = |more: &[(&str, &Path)], agent: &str, event: &Value| {
        let mut command = sandbox.command_of(
            "unshare".as_ref(),
            &["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"],
        );
        command.arg(sandbox.home()).arg(env!("CARGO_BIN_EXE_hermes")).arg(agent);
        command.envs(more.iter().copied());
        let ran = sent(command, event);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        fs::remove_dir_all(sandbox.folder().join(".hermes.copy")).unwrap();
    };
    on_full_disk(&[], "claude-code", &turn(1));
    let state = sandbox.folder().join(".local/state/hermes/spool");
    assert_eq!(names(&state).len(), 1);
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert!(doctor.contains("turn file not recorded yet"), "{doctor}");
    is_taken_in_once(&sandbox, 1);
    assert!(names(&state).is_empty());
    // The folder of state cannot be used either.
    let (temporary, blocked) = (sandbox.folder().join("tmp"), sandbox.folder().join("blocked"));
    fs::create_dir_all(&temporary).unwrap();
    sandbox.write("../blocked", "a file");
    on_full_disk(&[("XDG_STATE_HOME", &blocked), ("TMPDIR", &temporary)], "claude-code", &turn(2));
    let private = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
    assert_eq!(names(&private).len(), 1);
    let mut command = sandbox.command(&["memory", "catch-up"]);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success());
    assert_eq!((times_kept(&sandbox, 2), names(&private).len()), (1, 0));
    // Cursor tells prompt and answer apart, and has no transcript.
    let said = |name: &str, key: &str, text: &str| json!({"hook_event_name": name, "conversation_id": "c-1", key: text});
    on_full_disk(&[], "cursor", &said("beforeSubmitPrompt", "prompt", "Where is box 3?"));
    let answered = said("afterAgentResponse", "text", "Box 3 is in the cellar.");
    on_full_disk(&[], "cursor", &answered);
    on_full_disk(&[], "cursor", &said("stop", "status", "completed"));
    assert_eq!(names(&state).len(), 2);
    is_taken_in_once(&sandbox, 3);
}
