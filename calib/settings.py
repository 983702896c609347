"""Settings of single pages, which a Recipe holds as "page.setting": each declared once, with range and default.

Pages take names, labels and help from here, and every Recipe is checked against them: in a notebook, on the command
line, from a link. Experiments declare their own settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calib.analysis import explain
from calib.analysis.audit.search import FEWEST_REDRAWS, MAX_DEPTH, MIN_EVENTS, MIN_ROWS, MOST_REDRAWS
from calib.analysis.class_decision import HIGHEST_COST, check_cost_text
from calib.analysis.curves import FEW_IN_BIN
from calib.analysis.decision import COST_RANGE, FALSE_ALARM, MISS
from calib.analysis.depth import DEPTHS, DRAWN_DEPTH, GROWTHS, LEAF_ESTIMATES, check_depth
from calib.analysis.differences import REPEATED_SPLITS
from calib.analysis.optimism import FEWEST_RESAMPLES
from calib.analysis.report_settings import REPORT_SETTINGS
from calib.analysis.selection import check_range
from calib.analysis.watch.watcher import ALPHA, MOST_STEPS_AHEAD
from calib.calibrators import CALIBRATORS, interval_methods
from calib.kernel.declared import declare_settings
from calib.kernel.records import Parameter
from calib.metrics import METRICS
from calib.placements import PLACEMENTS
from calib.recipe import AXES
from calib.study import COMPARISONS, PAPERS, SHIPPED
from calib.study.protocol import FOLDS_PARAMETER, REPEATS
from calib.study.rows import FIT_SECONDS, measures

METRICS_COMPARED = ("brier", "log_loss", "ece", "auc", "accuracy", "miscalibration")
DETAILS = {
    "metrics": "Metrics",
    "rows": "Selected rows",
    "groups": "Subgroups",
    "models": "Other models",
    "variability": "Variability",
    "sample_size": "Rows needed",
    "optimism": "Optimism",
    "base_rate": "Base rate",
}
INTERVAL_DETAILS = {
    "explained": "One prediction",
    "steps": "Calibration rows",
    "held": "Are the intervals valid?",
    "kinds": "Kinds of calibration data",
}
GROUP_VIEWS = {"column": "By one column", "search": "Search", "loss": "Grouping loss", "centres": "Centres"}
RECOMMENDED = "recommended"
LAYOUTS = {"overlaid": "Overlaid", "side": "Side by side"}
PUBLISHED_RESULTS, UPLOADED = "published", "upload"
FIRST_COMPARISON = f"{PUBLISHED_RESULTS}:{next(iter(COMPARISONS))}"
AUTO, NONE = "auto", "none"
ANY_UNIT = "Use any unit: the threshold depends only on the ratio of the two costs."

PAGE_SETTINGS: Mapping[str, tuple[Parameter, ...]] = {
    "reliability": (
        Parameter(
            "layout",
            "Diagrams",
            "choice",
            "overlaid",
            choices=LAYOUTS,
            help="Draw one diagram for all calibrators, or one per calibrator.",
        ),
        Parameter(
            "axes",
            "Axes",
            "choice",
            "auto",
            choices=AXES,
            help="A log-odds scale separates small probabilities, such as 0.1 % and 3 %. “Automatic” uses "
            "log-odds if half of the predictions are below 5 %.",
        ),
        Parameter(
            "faint",
            "Show bins with few rows",
            "boolean",
            False,
            help=f"Bins with fewer than {FEW_IN_BIN} rows are uncertain and are drawn faint.",
        ),
        Parameter(
            "lines",
            "Lines in colour",
            "names",
            (),
            reset_by="columns",
            help="All other lines are grey. By default, the lines of the uncalibrated model and one "
            "calibrator are in colour.",
        ),
        Parameter(
            "selection",
            "Selected rows",
            "names",
            (),
            reset_by="columns",
            help="Ranges of predictions, as calibrator:low:high; the page lists their rows.",
            extra={"each": check_range},
        ),
        Parameter(
            "details",
            "Tab below the diagram",
            "choice",
            "metrics",
            choices=DETAILS,
            help="What to show under the diagram.",
        ),
        Parameter(
            "classes_of",
            "Calibrator in the class table",
            "choice",
            None,
            choices=CALIBRATORS.everything,
            optional=True,
            reset_by="class",
            help="With three or more classes: the calibrator in the class table. If unset, this is the "
            "recommended calibrator.",
        ),
        Parameter(
            "all_metrics", "All metrics", "boolean", False, help="Show all metrics, not only the most common."
        ),
        Parameter(
            "more_metrics",
            "Further metrics",
            "names",
            (),
            choices=lambda: {key: metric for key, metric in METRICS.items() if not metric.everyday},
            help="Also show bias-corrected and smooth calibration errors, cumulative differences, ICI and "
            "other metrics.",
        ),
        Parameter(
            "group",
            "Groups by",
            "text",
            None,
            optional=True,
            reset_by="columns",
            help="Evaluate each group of this column separately.",
        ),
        Parameter(
            "group_diagrams",
            "One diagram per group",
            "boolean",
            False,
            help="Draw a reliability diagram of each group below the chart of all groups.",
        ),
        Parameter(
            "others",
            "Other models",
            "names",
            (),
            reset_by="columns",
            help="Other models or score columns to compare with this model.",
        ),
        Parameter(
            "repeats",
            "Splits",
            "integer",
            REPEATED_SPLITS,
            3,
            100,
            help="Repeat the split to see how much results vary.",
        ),
        Parameter(
            "resamples",
            "Resamples",
            "integer",
            200,
            FEWEST_RESAMPLES,
            2000,
            help="Number of resamples in which every step is repeated, to correct for optimism.",
        ),
    ),
    "venn_abers": (
        Parameter(
            "interval",
            "Method",
            "choice",
            explain.METHOD,
            choices=interval_methods,
            help="Method for the pairs (p0, p1) in the diagram.",
        ),
        Parameter(
            "color",
            "Colour by",
            "choice",
            "label",
            choices=explain.COLORS,
            help="The quantity that the colour of a pair shows.",
        ),
        Parameter(
            "row",
            "Number of the row to explain",
            "integer",
            None,
            low=1,
            optional=True,
            reset_by="columns",
            help="Row 1 is the first row below the header. You can also click a point, or a row of the table.",
            extra={"unset": "the widest interval"},
        ),
        Parameter(
            "details",
            "Tab below the picture",
            "choice",
            "explained",
            choices=INTERVAL_DETAILS,
            help="What to show under the picture.",
        ),
        Parameter(
            "fold",
            "Fold",
            "integer",
            1,
            low=1,
            reset_by="columns",
            help="Fold that supplies the calibration rows for the explanation.",
        ),
        Parameter(
            "what_if",
            "Calibration rows moved by hand",
            "moves",
            "",
            reset_by="columns",
            help="Calibration rows whose score or label you changed in the diagram.",
        ),
        Parameter(
            "beside",
            "Compare with",
            "names",
            ("split", "cv", "train"),
            choices=PLACEMENTS,
            help="Kinds of calibration data for the comparison of intervals.",
        ),
    ),
    "trees": (
        Parameter(
            "metric",
            "Metric",
            "choice",
            "brier",
            choices=METRICS,
            help="The metric to draw against tree depth.",
        ),
        Parameter(
            "losses_of",
            "Losses of",
            "choice",
            "none",
            choices=CALIBRATORS,
            help="Calibrator whose calibration and grouping loss are drawn, if the true probabilities are "
            "known.",
        ),
        Parameter(
            "growth",
            "Model",
            "choice",
            "tree",
            choices=GROWTHS,
            help="Model in the diagrams at the chosen depths.",
        ),
        Parameter(
            "leaves",
            "Leaves",
            "choice",
            "frequency",
            choices=LEAF_ESTIMATES,
            help="How a leaf converts counts into a probability.",
        ),
        Parameter(
            "depths",
            "Depths",
            "names",
            DEPTHS,
            help="Depths of the diagrams that are shown side by side.",
            extra={"each": check_depth},
        ),
        Parameter("depth", "Depth", "integer", DRAWN_DEPTH, 1, 100, help="Depth of the tree in the drawing."),
        Parameter(
            "interval",
            "Intervals by",
            "choice",
            explain.METHOD,
            choices=interval_methods,
            help="Method for p0, p1 and p at the nodes.",
        ),
        Parameter(
            "row",
            "Highlight this row's path",
            "integer",
            None,
            low=1,
            optional=True,
            reset_by="columns",
            help="Number of a row in the data; row 1 is the first row below the header.",
            extra={"unset": "none"},
        ),
        Parameter(
            "node",
            "Draw the tree from",
            "integer",
            None,
            low=0,
            optional=True,
            reset_by="columns",
            help="The node at which the drawing begins.",
        ),
    ),
    "decide": (
        Parameter(
            "cost_false_alarm",
            "Cost of a false alarm",
            "number",
            FALSE_ALARM,
            *COST_RANGE,
            help=f"The cost of acting on a row of the negative class (false positive). {ANY_UNIT}",
        ),
        Parameter(
            "cost_miss",
            "Cost of a miss",
            "number",
            MISS,
            *COST_RANGE,
            help=f"The cost of not acting on a row of the positive class (false negative). {ANY_UNIT}",
        ),
        Parameter(
            "costs",
            "Costs of decisions among classes",
            "names",
            (),
            reset_by="label",
            help="With three or more classes: costs of mistakes that differ from 1. I>J=COST is the cost of "
            "deciding for class J when class I is true; classes are numbered from 0.",
            extra={"each": check_cost_text, "example": "0>2=5"},
        ),
        Parameter(
            "reject",
            "Cost of an undecided row",
            "number",
            None,
            0.0,
            HIGHEST_COST,
            optional=True,
            help="With three or more classes: a row is left undecided if every decision has a higher "
            "expected cost.",
            extra={"unset": "every row is decided"},
        ),
        Parameter(
            "interval",
            "Intervals of",
            "choice",
            explain.METHOD,
            choices=interval_methods,
            help="Method for the intervals that show which decisions are uncertain.",
        ),
        Parameter(
            "lowest",
            "Lowest threshold",
            "number",
            0.0,
            0.0,
            1.0,
            help="Lowest threshold of the decision curve.",
        ),
        Parameter(
            "highest",
            "Highest threshold",
            "number",
            1.0,
            0.0,
            1.0,
            help="Highest threshold of the decision curve.",
        ),
    ),
    "watch": (
        Parameter(
            "alpha",
            "Highest probability of a false alarm",
            "number",
            ALPHA,
            0.0001,
            0.5,
            help="This probability applies to the whole monitoring period, however often you look. The alarm "
            "is raised when the evidence reaches 1 divided by this number.",
        ),
        Parameter(
            "horizon",
            "Steps ahead",
            "integer",
            1,
            1,
            MOST_STEPS_AHEAD,
            help="Number of days ahead for which predictions are made (number of rows, if there is no time "
            "column).",
        ),
        Parameter(
            "skip_unlabelled",
            "Exclude rows without a label",
            "boolean",
            False,
            help="Otherwise, later rows are used only after the missing label arrives. Exclude only rows "
            "whose labels will never arrive: excluding rows whose labels are merely late would cause "
            "false alarms.",
        ),
        Parameter(
            "calibrator",
            "Predictions to watch",
            "choice",
            "none",
            choices=CALIBRATORS,
            help="Calibrator to monitor.",
        ),
    ),
    "survival": (
        Parameter(
            "duration",
            "Time",
            "text",
            None,
            optional=True,
            reset_by="columns",
            help="The column with the time of the event, or of the censoring, counted from the prediction.",
        ),
        Parameter(
            "event",
            "Event",
            "text",
            None,
            optional=True,
            reset_by="columns",
            help="The column that says what happened at that time. By default, this is the label.",
        ),
        Parameter(
            "risks",
            "Predictions",
            "names",
            (),
            reset_by="columns",
            help="Columns with the predicted risk by the horizon. If their names end in numbers, such as risk_1 and "
            "risk_5, each is the risk by that time.",
        ),
        Parameter(
            "means",
            "They are",
            "choice",
            None,
            choices={"risk": "Risks of the event", "survival": "Probabilities of survival"},
            optional=True,
            reset_by="columns",
            help="The risk is 1 minus the probability of survival.",
        ),
        Parameter(
            "cause",
            "Event of interest",
            "text",
            None,
            optional=True,
            reset_by="label",
            help="Its code; by default, this is the positive class. All codes other than this code and the "
            "code of censoring are competing events.",
        ),
        Parameter(
            "censored",
            "Censored",
            "text",
            None,
            optional=True,
            reset_by="label",
            help="The code of rows that were followed up to this time without any event.",
        ),
        Parameter(
            "horizon",
            "Horizon",
            "number",
            None,
            low=0,
            optional=True,
            reset_by="columns",
            help="Time up to which events count, in the unit of the time column.",
            extra={"unset": "the latest"},
        ),
        Parameter(
            "within",
            "Censoring within",
            "text",
            None,
            optional=True,
            reset_by="columns",
            help="Estimates the censoring within each group of this column. Use this if the censoring "
            "depends on that column.",
        ),
    ),
    "groups": (
        Parameter(
            "view",
            "View",
            "choice",
            "search",
            choices=GROUP_VIEWS,
            help="The groups of one column, segments found by a search, or the loss that no calibrator can "
            "remove.",
        ),
        Parameter(
            "calibrator",
            "Predictions",
            "choice",
            RECOMMENDED,
            choices=lambda: {RECOMMENDED: "Recommended", **CALIBRATORS},
            help="Calibrator to examine. By default, the recommended calibrator.",
        ),
        Parameter(
            "columns",
            "Columns",
            "names",
            (),
            reset_by="columns",
            help="Columns that define segments; they can be columns that the model does not use. By "
            "default, these are the features; for a table of predictions, all columns except labels "
            "and scores.",
        ),
        Parameter(
            "depth",
            "Columns in a segment",
            "integer",
            2,
            1,
            MAX_DEPTH,
            help="Maximum number of columns per segment.",
        ),
        Parameter(
            "min_rows",
            "Minimum rows",
            "integer",
            MIN_ROWS,
            1,
            1_000_000,
            help="Minimum number of rows in a segment.",
        ),
        Parameter(
            "min_events",
            "Minimum expected events",
            "number",
            MIN_EVENTS,
            0,
            1_000_000,
            help="Minimum number of expected events, and of expected non-events, in a segment.",
        ),
        Parameter(
            "resamples",
            "Redraws",
            "integer",
            999,
            FEWEST_REDRAWS,
            MOST_REDRAWS,
            help="Number of times that new labels are drawn from the probabilities. More draws give more "
            "precise p-values.",
        ),
        Parameter(
            "unweighted",
            "Every row counts once",
            "boolean",
            False,
            help="Ignore the weights of rows. The search then finds smaller deviations. Use this option "
            "only if weights do not depend on the label.",
        ),
        Parameter(
            "chosen",
            "Segment",
            "text",
            None,
            optional=True,
            reset_by="columns",
            help="The segment shown in detail, given by its conditions.",
        ),
        Parameter(
            "in_report",
            "Include the search in the report",
            "boolean",
            False,
            help="The report then shows the segments that were found.",
        ),
    ),
    "compared": (
        Parameter(
            "metric",
            "Metric",
            "choice",
            METRICS_COMPARED[0],
            choices=lambda: {key: METRICS[key] for key in METRICS_COMPARED},
            help="The metric that is drawn side by side.",
        ),
    ),
    "report": REPORT_SETTINGS,
    "playground": (
        Parameter(
            "level", "Level", "number", 0.0, -3.0, 3.0, help="Log-odds of the true frequency where p = 50 %."
        ),
        Parameter(
            "slope",
            "Slope",
            "number",
            1.0,
            0.1,
            4.0,
            help="A slope below 1 means that the model is overconfident, above 1 underconfident.",
        ),
        Parameter(
            "rows",
            "Rows",
            "integer",
            500,
            50,
            5000,
            help="Number of test rows. The calibrator is fitted on the same number of other rows.",
        ),
        Parameter(
            "prevalence",
            "Prevalence",
            "number",
            0.5,
            0.02,
            0.98,
            help="Expected frequency of the positive class.",
        ),
        Parameter(
            "spread",
            "Spread",
            "number",
            1.5,
            0.2,
            4.0,
            help="Standard deviation of the predictions on the log-odds scale.",
        ),
        Parameter(
            "noise",
            "Noise",
            "number",
            0.0,
            0.0,
            3.0,
            help="Standard deviation, on the log-odds scale, of the true probabilities of rows with equal "
            "predictions.",
        ),
        Parameter("bins", "Bins", "integer", 15, 2, 50, help="Number of bins of equal width."),
        Parameter(
            "threshold",
            "Threshold",
            "number",
            0.2,
            0.05,
            0.95,
            help="Acting is cheaper above this prediction t. A miss costs (1 − t) / t false alarms, so four at 20 %.",
        ),
        Parameter(
            "calibrator",
            "Calibrator",
            "choice",
            "none",
            choices={
                "none": "None",
                "platt": "Platt scaling",
                "isotonic": "Isotonic regression",
                "venn_abers": "Venn–Abers",
            },
            help="The calibrator is fitted in your browser.",
        ),
        # The first seed whose ECE is within 0.001 of the median of 400 seeds, so that the first draw is typical
        Parameter(
            "seed", "Seed", "integer", 33, 0, 10_000, help="A different seed simulates different rows."
        ),
        Parameter(
            "curve",
            "Drawn curve",
            "text",
            None,
            optional=True,
            help="True frequencies at predictions of 0, 0.05, …, 1.",
        ),
    ),
    "triangle": (
        Parameter(
            "cat",
            "Cat",
            "number",
            0.5,
            0.001,
            0.999,
            help="The model’s probability that the photo shows a cat.",
        ),
        Parameter(
            "dog",
            "Dog",
            "number",
            0.3,
            0.001,
            0.999,
            help="The model’s probability that the photo shows a dog.",
        ),
        Parameter(
            "calibrator",
            "Calibrator",
            "choice",
            "none",
            choices={
                "none": "None",
                "temperature": "Temperature scaling",
                "rest": "One against the rest, divided",
                "vector": "Vector scaling",
            },
            help="The calibrator is fitted in your browser.",
        ),
    ),
    "run": (
        Parameter(
            "protocol",
            "Protocol",
            "text",
            SHIPPED[0],
            help="Name of a built-in protocol, or upload:DIGEST.",
        ),
        Parameter(
            "protocol_file",
            "Protocol's file",
            "text",
            None,
            optional=True,
            help="Name of the uploaded protocol, so that the program can ask you to upload it again.",
        ),
        Parameter(
            "sets",
            "Data sets",
            "names",
            ("sample:breast_cancer",),
            help="Every setup runs on each data set.",
        ),
        Parameter("setups", "Setups", "names", (), help="Setups to compare."),
        Parameter(
            "metrics",
            "Metrics",
            "names",
            (),
            choices=measures,
            help="Metrics to compute for each fold. You can add metrics later without fitting again.",
        ),
        replace(REPEATS, default=None, optional=True),
        replace(FOLDS_PARAMETER, name="test_folds", default=None, optional=True),
    ),
    "results": (
        Parameter(
            "rows",
            "Results",
            "text",
            FIRST_COMPARISON,
            help="The open results: upload:DIGEST or published:KEY.",
        ),
        Parameter("file_name", "File", "text", None, optional=True, help="Name of the file that is open."),
        Parameter(
            "metric",
            "Metric",
            "choice",
            "brier",
            choices=lambda: (*measures(), FIT_SECONDS.key),
            help="The metric by which setups are compared.",
        ),
        Parameter(
            "setups",
            "Setups",
            "names",
            (),
            help="Setups to compare; ranks, win rates and tests depend on the selection.",
        ),
        Parameter(
            "paper",
            "Published values",
            "choice",
            AUTO,
            choices=(AUTO, NONE, *PAPERS),
            help="Paper whose published values are compared with yours, matched by setup name.",
        ),
        Parameter(
            "data_set",
            "Data set",
            "text",
            None,
            optional=True,
            help="Data set shown in the reliability diagrams.",
        ),
    ),
}
"""Page → its settings, in the order of the pages."""

for page, parameters in PAGE_SETTINGS.items():
    declare_settings(page, parameters)
