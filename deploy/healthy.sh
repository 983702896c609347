#!/usr/bin/env bash
# deploy/healthy.sh FOLDER: exit status 0 when the dashboard of this machine answers.
set -euo pipefail
folder=${1:?usage: deploy/healthy.sh FOLDER}
exec "$folder/bin/python" - <<'END'
import os
import urllib.request

prefix = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
urllib.request.urlopen("/".join(filter(None, [f"http://127.0.0.1:{port}", prefix, "_stcore/health"])), timeout=4)
END
