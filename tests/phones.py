"""A student's phone without a browser: what Streamlit's page says to the server and hears from it, and no more."""

from __future__ import annotations

from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.waiting import LIMIT


class Phone:
    """One session at the server: it opens a page, asks for news as its fragment wants it, and presses buttons."""

    def __init__(self, address: str, path: str, **query: str) -> None:
        stream = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = connect(
            stream, max_size=None, subprotocols=["streamlit"], open_timeout=LIMIT, legacy=True
        )
        self.query, self.path, self.fragment, self.page_hash = urlencode(query), path, "", ""
        self.buttons: dict[str, str] = {}  # label → id
        self.heard = ""  # the texts of the last run
        self._run()

    def poll(self) -> Phone:
        """What the fragment does every two seconds."""
        return self._run(self.fragment)

    def press(self, beginning: str) -> Phone:
        """The button whose label begins so."""
        (found,) = (name for label, name in self.buttons.items() if label.startswith(beginning))
        return self._run(self.fragment, found)

    def close(self) -> None:
        self._socket.close()

    def _run(self, fragment: str = "", pressed: str = "") -> Phone:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name, asked.page_script_hash = self.query, self.path, self.page_hash
        asked.fragment_id, asked.is_auto_rerun = fragment, bool(fragment and not pressed)
        if pressed:
            state = asked.widget_states.widgets.add()
            state.id, state.trigger_value = pressed, True
        self._socket.send(message.SerializeToString())
        self.heard, ended = "", False
        if not fragment:
            self.buttons = {}
        while not ended:
            said = ForwardMsg.FromString(self._socket.recv(timeout=LIMIT))
            ended = self._hear(said)
        return self

    def _hear(self, said: ForwardMsg) -> bool:
        """Take in a message; whether it ends a run that no other one follows."""
        kind = said.WhichOneof("type")
        if kind == "new_session":
            self.page_hash = said.new_session.page_script_hash
        elif kind == "auto_rerun":
            self.fragment = said.auto_rerun.fragment_id
        elif kind == "page_info_changed":
            self.query = said.page_info_changed.query_string
        elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
            element = said.delta.new_element
            if element.WhichOneof("type") == "button":
                self.buttons[element.button.label] = element.button.id
            elif element.WhichOneof("type") in ("markdown", "heading", "alert"):
                self.heard += getattr(element, element.WhichOneof("type")).body.replace("\\", "") + "\n"
        return kind == "script_finished" and said.script_finished in (
            ForwardMsg.FINISHED_SUCCESSFULLY,
            ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
        )
