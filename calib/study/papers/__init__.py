"""Files that serve one paper: its protocol (TOML), printed tables (CSV), models, and setups on one data set."""
