#!/usr/bin/env bash
# deploy/start.sh FOLDER: start what deploy/install.sh put there, for other machines; docs/deployment.md names the settings.
set -euo pipefail
folder=${1:?usage: deploy/start.sh FOLDER}
export STREAMLIT_SERVER_ADDRESS=${STREAMLIT_SERVER_ADDRESS:-0.0.0.0}
export STREAMLIT_SERVER_PORT=${STREAMLIT_SERVER_PORT:-8501}
export STREAMLIT_SERVER_HEADLESS=true
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # fits of several people share the processors better than threads of one
exec "$folder/bin/calibration-explorer"
