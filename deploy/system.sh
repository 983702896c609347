#!/usr/bin/env bash
# What pictures and PDFs need of the system, by apt-get, as root: a Chromium and fonts. Without them there are
# interactive HTML, CSV and the camera on each chart.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
apt-get update -qq
xargs --arg-file=packages.txt env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
