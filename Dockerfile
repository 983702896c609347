# Calibration Explorer on port 8501 (docs/deployment.md). Its steps are scripts, which run without Docker as well and are
# tested so (tests/test_deploy.py).
FROM python:3.11-slim

WORKDIR /opt/source
COPY packages.txt ./
COPY deploy deploy
RUN deploy/system.sh && rm -rf /var/lib/apt/lists/*

COPY . .
RUN deploy/install.sh /opt/calibration && useradd --create-home explorer

USER explorer
WORKDIR /home/explorer
ENV STREAMLIT_SERVER_ADDRESS=0.0.0.0 STREAMLIT_SERVER_PORT=8501
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/opt/source/deploy/healthy.sh", "/opt/calibration"]
CMD ["/opt/source/deploy/start.sh", "/opt/calibration"]
