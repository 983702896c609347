"""The dashboard as an installed command: in a wheel app.py, pages/ and .streamlit/ lie in this folder."""
