"""Settings of the report, which a Recipe holds and ``python -m calib evaluate`` has as options."""

from calib.kernel.records import Parameter

REPORT_SETTINGS = tuple(
    Parameter(name, label, "text", None, optional=True, help=f"{label} on the first page of the report.")
    for name, label in (("title", "Title"), ("purpose", "Purpose"), ("author", "Author"))
)
