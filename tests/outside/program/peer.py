"""What the real Hermes Agent does with a home: called by the tests, answers with one line of JSON."""

import json
import os
import sqlite3
import sys
from pathlib import Path

import hermes_state
from tools.memory_tool import load_on_disk_store, memory_tool

HOME = Path(os.environ["HERMES_HOME"])
STATE = HOME / "state.db"


def whole(connection):
    """Whether the full-text index agrees with the rows it was made from."""
    try:
        connection.execute("insert into messages_fts(messages_fts, rank) values ('integrity-check', 1)")
        return True
    except sqlite3.DatabaseError:
        return False


def add(text, target="memory"):
    reply = json.loads(memory_tool(action="add", target=target, content=text, store=load_on_disk_store()))
    return reply.get("success") is True


def examine(state):
    connection = sqlite3.connect(STATE)
    answer = {
        "integrity": connection.execute("pragma integrity_check").fetchone()[0],
        "foreign_keys": len(connection.execute("pragma foreign_key_check").fetchall()),
        "full_text_whole": whole(connection),
        "memory_entries": load_on_disk_store().memory_entries,
    }
    connection.rollback()
    connection.close()
    for word in ("docker", "platypus"):
        answer["found_" + word] = any(word in row["snippet"] for row in state.search_messages(word))
    answer["found_ours_after_theirs"] = bool(state.search_messages("ours after theirs"))
    return answer


def visit():
    state = hermes_state.SessionDB(STATE)
    session = "20260601_100000_abcdef"
    state.create_session(session, source="cli", model="m")
    state.append_message(session, "user", "a word from zebrafish")
    state.append_message(session, "assistant", "an answer")
    answer = examine(state)
    answer["session"] = session
    answer["memory_write"] = add("A fact of theirs.")
    state.close()
    return answer


def look():
    state = hermes_state.SessionDB(STATE)
    answer = examine(state)
    state.close()
    return answer


def make():
    (HOME / "config.yaml").write_text("_config_version: 1\nmemory:\n  memory_char_limit: 2200\n")
    (HOME / "memories").mkdir(mode=0o700, exist_ok=True)
    state = hermes_state.SessionDB(STATE)
    session = "20260601_110000_111111"
    state.create_session(session, source="telegram", model="m", user_id="u-1")
    state.append_message(session, "user", "how do we deploy with docker?")
    state.append_message(
        session,
        "assistant",
        "",
        tool_calls=[{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}],
    )
    state.append_message(session, "tool", "NAME STATUS", tool_name="terminal", tool_call_id="c1")
    state.append_message(session, "user", [{"type": "text", "text": "what is on this picture?"}])
    other = "20260602_110000_222222"
    state.create_session(other, source="cli", model="m")
    state.append_message(other, "user", "first compactable text")
    state.append_message(other, "user", "rewindable first")
    state.append_message(other, "user", "second rewindable text")
    state.close()
    # The states that compaction and rewind leave behind, as its documentation describes them.
    connection = sqlite3.connect(STATE)
    connection.execute("update messages set active = 0, compacted = 1 where content like '%compactable%'")
    connection.execute("update messages set active = 0 where content like 'second rewindable%'")
    connection.commit()
    rows = connection.execute("select count(*) from messages").fetchone()[0]
    sessions = connection.execute("select count(*) from sessions").fetchone()[0]
    connection.close()
    add("Prefers tea. With a § inside.")
    add("Works on Atlas.")
    entries = load_on_disk_store().memory_entries
    return {"rows": rows, "sessions": sessions, "session": session, "memory_entries": entries}


def schema():
    connection = sqlite3.connect(STATE)
    rows = connection.execute("select type, name, sql from sqlite_master order by type, name").fetchall()
    connection.close()
    return rows


def add_many():
    return all(add(f"theirs {number}") for number in range(20))


COMMANDS = {"visit": visit, "look": look, "make": make, "schema": schema, "add-many": add_many}
print(json.dumps(COMMANDS[sys.argv[1]]()))
