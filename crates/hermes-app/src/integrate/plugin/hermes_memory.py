"""A MemoryProvider for Hermes Agent: recalls and records through the loopback API of Hermes.

Only the standard library is used. Nothing here raises into the agent, and nothing keeps it waiting for
long: what cannot be recorded at once is written to a file that the daemon takes in later.
"""

from __future__ import annotations

import functools, json, logging, os, queue, re, stat, tempfile, threading, time, uuid
import urllib.error, urllib.parse, urllib.request
from collections import OrderedDict
from pathlib import Path
from typing import Any, Dict, List, Optional

from agent.memory_provider import MemoryProvider

logger = logging.getLogger(__name__)

NAME = "hermes_memory"
SOURCE = "hermes-agent"
BUDGET_TOKENS, MOST_CHARACTERS, MOST_ANSWER = 2_000, 10_000, 4 * 1024 * 1024
RECALL_SECONDS, WRITE_SECONDS, DRAIN_SECONDS = 1.5, 5.0, 4.0
MOST_WAITING, MOST_CACHED = 256, 32
MOST_TOOL_TEXT, MOST_TOOL_MESSAGES = 4_000, 40
FAILURES_TO_PAUSE, FIRST_PAUSE, LONGEST_PAUSE = 3, 15.0, 300.0

PROMPT = (
    "A memory of earlier sessions is attached. What belongs to a message comes with it, as data to draw on. "
    "memory_search finds more, memory_add keeps a fact for later sessions, memory_forget takes one back by its id."
)
KEPT = "Everything said so far is kept in the memory and can be found again with memory_search."
TRIVIAL = re.compile(
    r"^(ok(ay)?|yes|no|yep|nope|sure|thanks?|thank you|thx|hi|hello|hey|go( on| ahead)?|continue|stop|done|good|great|nice|cool|k|y|n)$"
)


def _quiet(answer: Any = None):
    """Whatever goes wrong inside is logged and answered with `answer`."""

    def wrap(function):
        @functools.wraps(function)
        def guarded(*arguments, **named):
            try:
                return function(*arguments, **named)
            except Exception as error:  # noqa: BLE001 - the agent must go on
                logger.debug("%s: %s: %s", NAME, function.__name__, error)
                return answer

        return guarded

    return wrap


class Unavailable(Exception):
    """The daemon did not answer, or is left alone for a while because it did not."""


class Refused(Exception):
    """The daemon answered, and said no."""


class Place:
    """Which home and profile the memory is of: the one the agent runs in, unless place.json says otherwise."""

    def __init__(self, home: Path):
        parent = home.parent
        inside = parent.name == "profiles"
        self.root = parent.parent if inside else home
        self.profile = home.name if inside else "default"
        try:
            said = json.loads((Path(__file__).parent / "place.json").read_text(encoding="utf-8"))
            self.root, self.profile = Path(said["root"]), said["profile"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self.folder = self.root if self.profile == "default" else self.root / "profiles" / self.profile
        self.is_same_home = self.folder == home

    def spool(self, turn: Dict[str, Any]) -> None:
        """Writes a turn to a file of its own: in the home, else in a private folder outside that names the home."""
        try:
            return _write_whole(self.folder / "hermesd" / "spool", turn)
        except OSError as error:
            failed = error
        for folder in _folders_outside():
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                found = os.lstat(folder)
                if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
                    return _write_whole(folder, {"for": {"root": str(self.root), "profile": self.profile}, "turn": turn})
            except OSError as error:
                failed = error
        raise failed


def _folders_outside() -> List[Path]:
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return [state / "hermes" / "spool", Path(tempfile.gettempdir()) / f"hermes-spool-{os.geteuid()}"]


def _write_whole(folder: Path, value: Dict[str, Any]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{int(time.time() * 1000)}-{os.getpid()}-{uuid.uuid4().hex[:6]}-0"
    temporary = folder / f".hermes_{name}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(value, ensure_ascii=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, folder / f"{name}.jsonl")
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class Client:
    """Asks the daemon; after several failures in a row it is left alone for a while."""

    def __init__(self, place: Place):
        self.place, self.last_error = place, ""
        self._failures, self._pause, self._until = 0, FIRST_PAUSE, 0.0
        # Loopback never goes through a proxy.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, method: str, path: str, body: Optional[Dict[str, Any]] = None, seconds: float = WRITE_SECONDS) -> Any:
        if time.monotonic() < self._until:
            raise Unavailable(self.last_error)
        try:
            answer = self._send(method, path, body, seconds)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                self._well()
                raise Refused(f"HTTP {error.code} {error.read(2000).decode(errors='replace')}") from error
            self._failed(f"HTTP {error.code}")
        except (OSError, ValueError, KeyError) as error:
            self._failed(str(error) or type(error).__name__)
        else:
            self._well()
            return answer

    def _send(self, method: str, path: str, body: Optional[Dict[str, Any]], seconds: float) -> Any:
        own = self.place.root / "hermesd"
        address = json.loads((own / "daemon.json").read_text(encoding="utf-8"))["address"]
        token = (own / "api-token").read_text(encoding="utf-8").strip()
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}", "X-Hermes-Profile": self.place.profile, "Content-Type": "application/json"}
        request = urllib.request.Request(f"http://{address}/api/v1{path}", data, headers, method=method)
        with self._opener.open(request, timeout=seconds) as answer:
            text = answer.read(MOST_ANSWER)
        return json.loads(text) if text.strip() else {}

    def _well(self) -> None:
        self._failures, self._pause, self.last_error = 0, FIRST_PAUSE, ""

    def _failed(self, why: str) -> None:
        self.last_error = why
        self._failures += 1
        if self._failures >= FAILURES_TO_PAUSE:
            self._until = time.monotonic() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        raise Unavailable(why)


class HermesMemoryProvider(MemoryProvider):
    """What was said and learned in every session, of every agent on this machine."""

    def __init__(self) -> None:
        self._session, self._platform, self._user, self._writes = "", "cli", "", True
        self._cache: "OrderedDict[tuple, str]" = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: "queue.Queue" = queue.Queue(MOST_WAITING)
        self._worker: Optional[threading.Thread] = None
        self._spooled = 0
        self._set_home(os.environ.get("HERMES_HOME") or str(Path.home() / ".hermes"))

    def _set_home(self, home: str) -> None:
        self._place = Place(Path(home).expanduser())
        self._client = Client(self._place)

    @property
    def name(self) -> str:
        return NAME

    @_quiet(False)
    def is_available(self) -> bool:
        return self._place.folder.is_dir()

    def unavailable_reason(self) -> str:
        return "" if self.is_available() else f"there is no home at {self._place.folder}: run `hermes init`"

    @_quiet()
    def initialize(self, session_id: str, **named) -> None:
        if named.get("hermes_home"):
            self._set_home(str(named["hermes_home"]))
        self._session = session_id or ""
        self._platform = named.get("platform") or "cli"
        # Somebody in a channel; the memory knows whether it is the owner.
        self._user = "" if self._platform == "cli" else str(named.get("user_id") or "")
        # What a schedule or a subagent says is nobody's words.
        self._writes = (named.get("agent_context") or "primary") == "primary" and self._platform != "cron"

    def system_prompt_block(self) -> str:
        return PROMPT

    @_quiet("")
    def prefetch(self, query: str, *, session_id: str = "") -> str:
        key = self._key(query, session_id)
        if key is None:
            return ""
        with self._lock:
            if key in self._cache:
                return self._cache[key]
        return self._recall(key, query)

    @_quiet()
    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        key = self._key(query, session_id)
        if key is not None:
            # What was just said changed what is known: the next question gets it fresh.
            with self._lock:
                self._cache.pop(key, None)

    def _key(self, query: str, session_id: str) -> Optional[tuple]:
        text = " ".join((query or "").lower().split()).strip(" .!?,")
        if len(text) < 4 or TRIVIAL.match(text) or text.startswith("/"):
            return None
        return (session_id or self._session, text)

    def _recall(self, key: tuple, query: str) -> str:
        files = not self._place.is_same_home
        body = {"task": query[:8000], "session_id": key[0] or None, "budget_tokens": BUDGET_TOKENS, "files": files, **self._who()}
        text = str(self._client.ask("POST", "/context", body, RECALL_SECONDS).get("text") or "")
        if len(text) > MOST_CHARACTERS:
            text = text[: text.rfind("\n", 0, MOST_CHARACTERS)]
        with self._lock:
            self._cache[key] = text
            while len(self._cache) > MOST_CACHED:
                self._cache.popitem(last=False)
        return text

    def _who(self) -> Dict[str, Any]:
        return {"channel": self._platform, **({"identity": self._user} if self._user else {})}

    @_quiet()
    def sync_turn(self, user_content: str, assistant_content: str, *, session_id: str = "", messages: Optional[List[Dict[str, Any]]] = None) -> None:
        said = [{"role": "user", "text": _text(user_content)}]
        said += _tools(messages or [])
        said.append({"role": "assistant", "text": _text(assistant_content)})
        self._put(self._turn(said, session_id))

    def _turn(self, said: List[Dict[str, Any]], session_id: str = "", ended: bool = False) -> Dict[str, Any]:
        mark, now = uuid.uuid4().hex, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        said = [message for message in said if message["text"].strip() or message.get("tool_calls")]
        for number, message in enumerate(said):
            # The same turn has the same ids, whether it arrives by the API or by a file, or by both.
            message.update(external_id=f"{mark}:{number}", timestamp=now)
        session = session_id or self._session or f"{SOURCE}-{mark[:12]}"
        turn = {"messages": said, "session_id": session, "from": SOURCE, "agent": SOURCE, **self._who()}
        return {**turn, "ended": True} if ended else turn

    def _put(self, turn: Dict[str, Any]) -> None:
        if self._writes and (turn["messages"] or turn.get("ended")):
            self._later(lambda: self._client.ask("POST", "/turns", turn), turn)

    def _later(self, work, turn: Optional[Dict[str, Any]] = None) -> None:
        with self._lock:
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._run, name=NAME, daemon=True)
                self._worker.start()
        try:
            self._waiting.put_nowait((work, turn))
        except queue.Full:
            self._keep(turn)

    def _run(self) -> None:
        while True:
            work, turn = self._waiting.get()
            try:
                if work is None:
                    return
                work()
            except Unavailable:
                self._keep(turn)
            except Exception as error:  # noqa: BLE001 - one that cannot be recorded does not stop the others
                logger.debug("%s: %s", NAME, error)
            finally:
                self._waiting.task_done()

    @_quiet()
    def _keep(self, turn: Optional[Dict[str, Any]]) -> None:
        if turn is not None:
            self._place.spool(turn)
            self._spooled += 1

    @_quiet()
    def shutdown(self) -> None:
        worker = self._worker
        if worker is not None and worker.is_alive():
            self._waiting.put((None, None), timeout=DRAIN_SECONDS)
            worker.join(DRAIN_SECONDS)
        while not self._waiting.empty():
            self._keep(self._waiting.get_nowait()[1])

    @_quiet()
    def on_session_end(self, messages: List[Dict[str, Any]]) -> None:
        if self._session:
            self._put(self._turn([], ended=True))

    @_quiet()
    def on_session_switch(self, new_session_id: str, *, parent_session_id: str = "", reset: bool = False, rewound: bool = False, **named) -> None:
        if reset and self._session and self._session != new_session_id:
            self._put(self._turn([], ended=True))
        self._session = new_session_id or self._session
        with self._lock:
            self._cache.clear()

    @_quiet("")
    def on_pre_compress(self, messages: List[Dict[str, Any]]) -> str:
        return KEPT if self._writes else ""

    @_quiet()
    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **named) -> None:
        text = f"task: {_text(task)[:MOST_TOOL_TEXT]}\nresult: {_text(result)[:MOST_TOOL_TEXT]}"
        self._put(self._turn([{"role": "tool", "tool_name": "delegate_task", "text": text}]))

    @_quiet()
    def on_memory_write(self, action: str, target: str, content: str, metadata: Optional[Dict[str, Any]] = None) -> None:
        old = str((metadata or {}).get("old_text") or "")
        if self._writes and not self._user:
            self._later(lambda: self._mirror(action, content or "", old))

    def _mirror(self, action: str, content: str, old: str) -> None:
        known = self._fact(old or content) if action in ("replace", "remove") else None
        if action == "remove":
            if known:
                self._client.ask("DELETE", f"/facts/{known}?reason=removed+from+the+file")
        elif known:
            self._client.ask("POST", f"/facts/{known}/supersede", {"text": content})
        elif content.strip():
            self._client.ask("POST", "/facts", {"text": content})

    def _fact(self, text: str) -> Optional[str]:
        """The fact that says a text, or a part of which it is."""
        wanted = " ".join(text.lower().split())
        found = self._client.ask("POST", "/search", {"query": text[:500], "type": "facts", "limit": 5})
        for hit in found.get("results", []):
            if wanted and wanted in " ".join(str(hit.get("text", "")).lower().split()):
                return urllib.parse.quote(str(hit["id"]), safe=":")
        return None

    def get_tool_schemas(self) -> List[Dict[str, Any]]:
        def tool(name: str, description: str, needed: str, **properties) -> Dict[str, Any]:
            return {"name": name, "description": description, "parameters": {"type": "object", "properties": properties, "required": [needed]}}

        text = {"type": "string"}
        return [
            tool("memory_search", "Search what was said, decided and learned in earlier sessions.", "query", query=text, limit={"type": "integer", "minimum": 1, "maximum": 20}),
            tool("memory_add", "Keep one plain sentence for later sessions.", "text", text=text),
            tool("memory_forget", "Take a remembered thing out of every answer, by the id that a search gave.", "id", id=text, reason=text),
        ]

    def handle_tool_call(self, tool_name: str, args: Dict[str, Any], **named) -> str:
        try:
            return json.dumps(self._tool(tool_name, args or {}))
        except Unavailable as error:
            return json.dumps({"error": f"the memory cannot be reached: {error}", "hint": "run `hermes start`"})
        except Exception as error:  # noqa: BLE001 - a tool answers, it does not raise
            return json.dumps({"error": str(error)})

    def _tool(self, tool_name: str, args: Dict[str, Any]) -> Any:
        if self._user and tool_name == "memory_search":
            # The routes below are the owner's; these two look who asks.
            return {"text": self._recall((self._session, "?" + str(args["query"])), str(args["query"]))}
        if self._user and tool_name == "memory_add":
            return self._client.ask("POST", "/turns", self._turn([{"role": "user", "text": f"Remember that {args['text']}"}]))
        if self._user and tool_name == "memory_forget":
            raise ValueError("only the owner of the memory can do that")
        if tool_name == "memory_search":
            limit = max(1, min(20, int(args.get("limit") or 8)))
            return self._client.ask("POST", "/search", {"query": str(args["query"]), "limit": limit})
        if tool_name == "memory_add":
            return self._client.ask("POST", "/facts", {"text": str(args["text"])})
        if tool_name == "memory_forget":
            kind, _, number = str(args["id"]).rpartition(":")
            kinds = {"": "facts", "fact": "facts", "episode": "episodes", "procedure": "procedures", "event": "events"}
            reason = urllib.parse.urlencode({"reason": str(args.get("reason") or "asked for")})
            return self._client.ask("DELETE", f"/{kinds[kind]}/{urllib.parse.quote(number)}?{reason}")
        raise ValueError(f"there is no tool {tool_name}")

    def recall_status(self) -> Dict[str, Any]:
        waiting, last_error = self._waiting.qsize(), self._client.last_error
        return {"home": str(self._place.folder), "waiting": waiting, "spooled": self._spooled, "last_error": last_error}

    def backup_paths(self) -> List[str]:
        return [] if self._place.is_same_home else [str(self._place.folder)]

    def get_config_schema(self) -> List[Dict[str, Any]]:
        return []


def _text(content: Any) -> str:
    """Plain text of a message, whose parts may be a list."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()
    return str(content or "")


def _tools(messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Tool calls and their results since the user last spoke."""
    last = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=len(messages))
    found = []
    for message in messages[last + 1 :][:MOST_TOOL_MESSAGES]:
        if message.get("role") == "assistant" and message.get("tool_calls"):
            found.append({"role": "assistant", "text": "", "tool_calls": message["tool_calls"]})
        elif message.get("role") == "tool":
            one = {"role": "tool", "text": _text(message.get("content"))[:MOST_TOOL_TEXT]}
            one.update({key: message[key] for key in ("tool_name", "tool_call_id") if message.get(key)})
            found.append(one)
    return found


def register(context) -> None:
    """Called by Hermes Agent when it loads its plugins."""
    context.register_memory_provider(HermesMemoryProvider())
