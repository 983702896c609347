"""What serves a paper alone: its protocol (TOML), its printed tables (CSV), its models, and setups on one data set."""
