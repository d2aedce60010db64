"""What the real Hermes Agent does with the provider plugin: called by the tests, answers with one line of JSON."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOME = Path(os.environ["HERMES_HOME"])
OWN = HOME / "hermesd"


class Api(BaseHTTPRequestHandler):
    """The routes of the API that the plugin uses; every request is kept."""

    seen = []
    fail = False

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        Api.seen.append({"method": self.command, "path": self.path, "body": body, "token": self.headers["Authorization"], "profile": self.headers["X-Hermes-Profile"]})
        if Api.fail:
            return self.send_error(503)
        said = {}
        if self.path.endswith("/context"):
            said = {"text": "<hermes-memory>\n- The shop is in Porto.\n" + "x" * 20 + "\n" * 30000 + "</hermes-memory>", "tokens": 9}
        if self.path.endswith("/search"):
            said = {"results": [{"id": "fact:7", "kind": "fact", "text": "Prefers tea."}]}
        text = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = do_PATCH = answer

    def log_message(self, *arguments):
        pass


def serve():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    OWN.mkdir(parents=True, exist_ok=True)
    (OWN / "daemon.json").write_text(json.dumps({"address": "127.0.0.1:%d" % server.server_port}))
    (OWN / "api-token").write_text("secret-token\n")
    return server


def load():
    """As the agent does it: found by its folder, chosen by its name, led by the manager."""
    from agent.memory_manager import MemoryManager
    from hermes_cli.config import load_config
    from plugins.memory import discover_memory_providers, load_memory_provider

    chosen = load_config()["memory"]["provider"]
    provider = load_memory_provider(chosen)
    manager = MemoryManager()
    manager.add_provider(provider)
    names = [name for name, _, available in discover_memory_providers() if available]
    return chosen, chosen in names, manager, provider


def spool():
    files = sorted((OWN / "spool").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def settle(provider):
    provider._waiting.join()


def whole():
    """Every call the agent makes, with a daemon that answers, then with one that does not."""
    server = serve()
    chosen, is_found, manager, provider = load()
    provider.initialize("s1", hermes_home=str(HOME), platform="cli", agent_context="primary")
    answer = {"chosen": chosen, "found": is_found, "prompt": provider.system_prompt_block()}
    answer["tools"] = sorted(schema["name"] for schema in provider.get_tool_schemas())
    recalled = provider.prefetch("Where is the shop?", session_id="s1")
    answer["recalled"], answer["recalled_length"] = recalled[:60], len(recalled)
    answer["again"] = provider.prefetch("where is the SHOP", session_id="s1") == recalled
    answer["trivial"] = [provider.prefetch(text) for text in ("ok", "Thanks!", "/help", "")]
    answer["contexts"] = sum(seen["path"].endswith("/context") for seen in Api.seen)
    call = [{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]
    messages = [
        {"role": "user", "content": "an earlier one"},
        {"role": "user", "content": "Where is the shop?"},
        {"role": "assistant", "content": "", "tool_calls": call},
        {"role": "tool", "content": "no such file", "tool_call_id": "c1", "tool_name": "terminal"},
        {"role": "assistant", "content": "In Porto."},
    ]
    provider.sync_turn("Where is the shop?", "In Porto.", session_id="s1", messages=messages)
    provider.on_memory_write("add", "user", "Prefers coffee.", metadata={})
    provider.on_memory_write("replace", "user", "Prefers mate.", metadata={"old_text": "tea"})
    provider.on_memory_write("remove", "user", "", metadata={"old_text": "Prefers tea."})
    provider.on_delegation("look it up", "found it", child_session_id="c")
    answer["summary"] = provider.on_pre_compress(messages)
    settle(provider)
    for name, arguments in (("memory_search", {"query": "shop"}), ("memory_add", {"text": "A fact."}), ("memory_forget", {"id": "fact:7"}), ("nonsense", {})):
        answer[name] = json.loads(provider.handle_tool_call(name, arguments))
    provider.on_session_switch("s2", parent_session_id="s1", reset=True)
    settle(provider)
    answer["seen"], Api.seen = Api.seen, []
    Api.fail = True
    begun = time.monotonic()
    for number in range(6):
        provider.sync_turn(f"question {number} of many", "answer", session_id="s2")
    settle(provider)
    answer["asked_while_down"] = len(Api.seen)
    answer["recalled_while_down"] = provider.prefetch("What else is there to know?")
    answer["tool_while_down"] = json.loads(provider.handle_tool_call("memory_search", {"query": "shop"}))
    provider.on_session_end([])
    server.shutdown()
    server.server_close()
    provider.shutdown()
    answer["seconds_down"] = time.monotonic() - begun
    answer["spooled"] = spool()
    answer["status"] = provider.recall_status()
    manager.shutdown_all()
    return answer


def silent():
    """A schedule and a subagent say nothing of the user's, and a home without a daemon breaks nothing."""
    _, _, _, provider = load()
    provider.initialize("s3", hermes_home=str(HOME), platform="cron", agent_context="cron")
    provider.sync_turn("do the nightly report", "done", session_id="s3")
    answer = {"recalled": provider.prefetch("What is in the report of tonight?"), "spooled": len(spool())}
    provider.initialize("s4", hermes_home=str(HOME), platform="telegram", user_id="u-9")
    provider.sync_turn("remember me", "yes", session_id="s4")
    provider.shutdown()
    answer["turn"] = spool()
    server = serve()
    provider._client = type(provider._client)(provider._place)
    answer["found"] = json.loads(provider.handle_tool_call("memory_search", {"query": "the shop in Porto"}))
    answer["added"] = json.loads(provider.handle_tool_call("memory_add", {"text": "I like figs."}))
    answer["forgotten"] = json.loads(provider.handle_tool_call("memory_forget", {"id": "fact:7"}))
    provider.on_memory_write("add", "user", "A note of the owner.", metadata={})
    provider.shutdown()
    answer["seen"] = Api.seen
    server.shutdown()
    return answer


def live():
    """With the daemon itself: what one session says, another recalls."""
    _, _, _, provider = load()
    provider.initialize("s5", hermes_home=str(HOME), platform="cli")
    provider.sync_turn("My dentist is Doctor Almeida in Porto.", "Noted.", session_id="s5")
    provider.shutdown()
    provider.initialize("s6", hermes_home=str(HOME), platform="cli")
    found = json.loads(provider.handle_tool_call("memory_search", {"query": "Who is my dentist?"}))
    return {"recalled": provider.prefetch("Who is my dentist?", session_id="s6"), "found": found, "status": provider.recall_status(), "spooled": len(spool())}


def outside():
    """A home whose spool cannot be written: the turn waits outside of it."""
    _, _, _, provider = load()
    provider.initialize("s7", hermes_home=str(HOME), platform="cli")
    (OWN / "spool").write_text("in the way")
    provider.sync_turn("Where is the dinghy?", "At the pier.", session_id="s7")
    provider.shutdown()
    (OWN / "spool").unlink()
    return {"status": provider.recall_status()}


COMMANDS = {"whole": whole, "silent": silent, "live": live, "outside": outside}
print(json.dumps(COMMANDS[sys.argv[1]]()))
