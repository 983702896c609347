#!/usr/bin/env bash
# deploy/install.sh FOLDER: the dashboard in a virtual environment of its own, needing no root. Python 3.11 or later;
# another one than python3: PYTHON=/path/to/python3.
set -euo pipefail
folder=${1:?usage: deploy/install.sh FOLDER}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"${PYTHON:-python3}" -m venv "$folder"
pip() { "$folder/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@"; }
pip --require-hashes --requirement "$source/deploy/requirements.lock" # the versions and files that were tested
pip --no-deps --no-build-isolation "$source"
"$folder/bin/python" -m compileall -q "$folder/lib" || true # so that the first page does not wait for it
