"""Client without a browser: Streamlit's protocol over a websocket, as the page in a browser uses it."""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from contextlib import ExitStack
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, FileURLs, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from pages.ui.widget import KEY_AND_NUMBER
from tests.waiting import LIMIT

POLL = 0.5  # seconds, as jobs.py has it for fragments that show progress
LARGEST = 2**26  # bytes of one message
WORDS = ("markdown", "heading", "alert")


class Reader:
    """Session that opens pages, uploads files, moves widgets, and keeps all elements of its page."""

    def __init__(self, address: str, page: str = "explore_reliability", **query: str) -> None:
        self.address, self.page, self.query = address, page, urlencode(query)
        self.drawn: dict[tuple[int, ...], Any] = {}  # place on the page → latest element there
        self.states: dict[str, WidgetState] = {}
        self.faults: list[str] = []
        self._fresh = set[tuple[int, ...]]()  # places drawn in the current run, or in the last one
        self._whole = True  # whether that run is of the whole page
        self._polling: dict[str, float] = {}
        self.session, self._script = "", ""  # as the server names them
        url = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._open = ExitStack()
        speaking: Any = ["streamlit"]
        socket = connect(url, subprotocols=speaking, max_size=LARGEST, ping_interval=None, open_timeout=LIMIT)
        self._socket = self._open.enter_context(socket)

    def close(self) -> None:
        self._open.close()

    # Saying

    def open(self) -> Reader:
        """Open a page, and wait until its script has ended."""
        self._script = ""
        self.rerun()
        return self.answered()

    def rerun(self, fragment: str = "", *pressed: WidgetState) -> None:
        """Request a run of the page, or of one fragment, as after a press on a button."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.page_script_hash = self.query, self.page, self._script
        state.fragment_id, state.is_auto_rerun = fragment, bool(fragment) and not pressed
        state.widget_states.widgets.extend([*self.states.values(), *pressed])
        self._socket.send(message.SerializeToString())

    def poll(self) -> Reader:
        """Poll as the page does by itself every few seconds: rerun its fragments."""
        for fragment in list(self._polling):
            self.rerun(fragment)
            self.answered()
        return self

    def press(self, beginning: str) -> Reader:
        """Press the button whose label begins so."""
        buttons = [(each, each.new_element.button) for each in self.drawn.values()]
        ((drawn, button),) = (found for found in buttons if found[1].label.startswith(beginning))
        self.rerun(drawn.fragment_id, WidgetState(id=button.id, trigger_value=True))
        return self.answered()

    def slide(self, key: str, value: float) -> Reader:
        """Move a slider, and wait for the answer."""
        return self.set(self.by_key("slider", key), double_array_value={"data": [value]})

    def type_number(self, key: str, value: float) -> Reader:
        element = self.by_key("number_input", key)
        return (
            self.set(element, double_value=value) if element.data_type else self.set(element, int_value=value)
        )

    def says(self, component: str, **state: Any) -> Reader:
        """Send what a component's script reports by itself, such as values stored in the browser."""
        return self.set(self.by_key("bidi_component", component), json_value=json.dumps(state))

    def choose(self, key: str, label: str) -> Reader:
        return self.set(self.by_key("selectbox", key), string_value=label)

    def upload(self, name: str, content: bytes, key: str = "file") -> Reader:
        """Upload a file, and wait until the page has read it."""
        element, file = self.by_key("file_uploader", key), str(uuid.uuid4())
        path = f"/_stcore/upload_file/{self.session}/{file}"
        _put(self.address, path, name, content)
        info = UploadedFileInfo(
            file_id=file,
            name=name,
            size=len(content),
            file_urls=FileURLs(file_id=file, upload_url=path, delete_url=path),
        )
        return self.set(element, file_uploader_state_value=FileUploaderState(uploaded_file_info=[info]))

    def set(self, element: Any, **value: Any) -> Reader:
        self.states[element.id] = WidgetState(id=element.id, **value)
        self.rerun()
        return self.answered()

    # Hearing

    def answered(self) -> Reader:
        """Wait until the running or coming script run has ended."""
        while not self._hear(LIMIT):
            pass
        return self

    def settled(self) -> Reader:
        """Poll like a browser until all work in the background is done."""
        begin = time.monotonic()
        while self.working:
            assert time.monotonic() - begin < LIMIT, f"not settled within {LIMIT} s"
            time.sleep(min(self._polling.values(), default=POLL))
            self.poll()
        return self

    def _hear(self, seconds: float) -> bool:
        """Receive one message; return whether a script has ended."""
        message = ForwardMsg()
        message.ParseFromString(self._socket.recv(timeout=seconds))
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            self._script = message.new_session.page_script_hash
            self._fresh, self._whole = set(), not message.metadata.run.fragment_ids
            if self._whole:
                self._polling = {}
        elif kind == "delta":
            self._take(tuple(message.metadata.delta_path), message.delta)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._polling[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "session_event":
            self.faults.append(f"event: {message.session_event}")
        elif kind == "script_finished":
            return self._ended(message.script_finished)
        return False

    def _take(self, path: tuple[int, ...], delta: Any) -> None:
        what = delta.WhichOneof("type")
        self._fresh.add(path)
        if what == "new_element":
            # It replaces a block with all that the block contains, such as the progress of an upload
            self.drawn = {at: old for at, old in self.drawn.items() if at[: len(path)] != path}
            self.drawn[path] = delta
            self._judge(delta.new_element)
        elif what == "add_block":
            self.drawn.pop(path, None)

    def _judge(self, element: Any) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(f"exception: {element.exception.type} {element.exception.message}")
        if kind == "alert" and element.alert.format == Alert.ERROR:
            self.faults.append(f"error: {element.alert.body}")

    def _ended(self, status: int) -> bool:
        """Drop what a whole run did not draw; return whether the run was completed, not replaced by another one."""
        finished = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}
        if status in finished and self._whole:
            self.drawn = {path: delta for path, delta in self.drawn.items() if path in self._fresh}
        return status in finished | {ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY}

    # Reading

    def all(self, kind: str) -> list[Any]:
        elements = [delta.new_element for delta in self.drawn.values()]
        return [getattr(element, kind) for element in elements if element.WhichOneof("type") == kind]

    def by_key(self, kind: str, key: str) -> Any:
        """Return the widget with this key, whatever number its name has now."""
        ends = (f"-{key}", f"-{key}{KEY_AND_NUMBER}")
        return next(w for w in self.all(kind) if w.id.endswith(ends[0]) or ends[1] in w.id)

    @property
    def heard(self) -> str:
        """The words of the last run, in the order of the page."""
        elements = [delta.new_element for path, delta in sorted(self.drawn.items()) if path in self._fresh]
        said = [(element.WhichOneof("type"), element) for element in elements]
        return "\n".join(getattr(e, kind).body.replace("\\", "") for kind, e in said if kind in WORDS)

    @property
    def working(self) -> bool:
        return bool(self.all("progress"))

    @property
    def progress(self) -> list[str]:
        return [bar.text.replace("\\", "") for bar in self.all("progress")]

    def headline(self) -> dict[str, str]:
        return {metric.label.replace("\\", ""): metric.body for metric in self.all("metric")}


def phone(address: str, room: str, seat: str) -> Reader:
    """Open a student's phone in a room, with this token in its browser."""
    who = {"room": room, "seat": seat, "key": None}
    return Reader(address, "learn_class", room=room).open().says("seat", who=who)


def _put(address: str, path: str, name: str, content: bytes) -> None:
    """Upload as the page does: with the token that only our own page has."""
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{address}/_stcore/health", timeout=LIMIT).close()
    token = next((cookie.value for cookie in jar if "xsrf" in cookie.name), "") or ""
    edge = uuid.uuid4().hex
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    headers = {"X-Xsrftoken": token, "Content-Type": f"multipart/form-data; boundary={edge}"}
    body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
    request = urllib.request.Request(f"{address}{path}", body, headers, method="PUT")
    opener.open(request, timeout=LIMIT).close()
