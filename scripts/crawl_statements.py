"""Open the Explore pages, the report, ``check`` and the command line for many evaluations, and compare what they say.

    python -m scripts.crawl_statements [--only WORD] [--pages reliability,compare,…]

Pages run without a browser. Every statement on the same quantity, method and rows is compared with every other, with
the exact number, and with the words, stars and advice around it (``scripts.statements``). Prints the number of
statements, pairs and disagreements; if there are any of the last, the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from calib import Recipe, check, evaluate
from calib.__main__ import main as command
from calib.analysis.differences import reference_of
from calib.analysis.split_optimism import random_recipe
from calib.evaluate import Evaluation
from calib.export import report_html
from calib.sources import load
from scripts.statements import Piece, Statement, disagreements, pairs, statements
from tests.pages.app import bring, go, page, settled

PAGES = ("reliability", "compare", "decide", "groups", "venn_abers", "out_of_bag", "trees", "watch")
FIRST = ("reliability", "compare")
QUANTITIES = ("brier", "log_loss", "ece", "ece_chance", "auc", "accuracy", "observed_expected", "slope")
MODELS = ("naive_bayes", "logistic_regression", "decision_tree", "random_forest", "gradient_boosting")


@dataclass(frozen=True)
class World:
    """Address of an evaluation; for a table that is uploaded, its content and its Recipe's further fields."""

    query: Mapping[str, str] = field(default_factory=dict)
    table: pd.DataFrame | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def worlds() -> dict[str, World]:
    """Return all evaluations by name."""
    small = {"random_forest": '{"n_estimators":20}', "gradient_boosting": '{"n_estimators":20}'}
    found = {
        f"{data} {model} {kind}".strip(): World(
            {"data": f"sample:{data}", "model": model}
            | ({"params": small[model]} if model in small else {})
            | ({"evaluation": "folds", "folds": "3"} if kind else {})
        )
        for data, kind in (
            *(("digits", ""), ("digits", "folds"), ("breast_cancer", ""), ("breast_cancer", "folds")),
            *(("rare_faults", ""), ("loans", "")),
        )
        for model in MODELS
    }
    given = {"data": "sample:predictions", "content": "predictions"}
    bayes = {"data": "sample:breast_cancer", "model": "naive_bayes"}
    found |= {
        "predictions": World(given),
        "predictions alone": World(given | {"calibrators": "none"}),
        "predictions folds": World(given | {"evaluation": "folds"}),
        "predictions base rate": World(given | {"base_rate": "0.1"}),
        "predictions 7 bins": World(given | {"bins": "7", "binning": "quantile"}),
        "bayes base rate": World(bayes | {"base_rate": "0.05"}),
        "bayes many": World(bayes | {"calibrators": "none,platt,isotonic,beta,temperature,venn_abers,venn"}),
        "bayes two": World(bayes | {"calibrators": "platt,isotonic"}),
        "hidden group": World({"data": "sample:hidden_group", "content": "predictions"}),
        "drift": World({"data": "sample:drift_abrupt", "content": "predictions"}),
        "counts": World({"data": "sample:counts", "content": "predictions"}),
        "dated": World({"data": "sample:dated", "model": "naive_bayes"}),
        "customers": World({"data": "sample:customers", "model": "naive_bayes"}),
        "dated, in time": World(
            {"data": "sample:dated", "model": "naive_bayes", "time": "ordered", "split": "time"}
        ),
        "customers, by cluster": World(
            {"data": "sample:customers", "model": "naive_bayes", "cluster": "customer_id", "split": "cluster"}
        ),
        "ten classes": World({"data": "sample:all_digits", "model": "naive_bayes"}),
        "ten classes, one": World({"data": "sample:all_digits", "model": "naive_bayes", "view_class": "3"}),
        "ten classes, forest": World(
            {"data": "sample:all_digits", "model": "random_forest", "params": '{"n_estimators":20}'}
        ),
        "svm": World({"data": "sample:digits", "model": "svm"}),
    }
    found |= {f"made {name}": made for name, made in _made().items()}
    return found


def _made() -> dict[str, World]:
    """Return simulated predictions: hard zeros, ties, weights, clusters, rare and many events, wrong directions."""
    rng = np.random.default_rng(0)

    def table(n: int, bend=lambda z: z, center: float = 0.0, **more: Any) -> pd.DataFrame:
        z = rng.normal(center, 1.5, n)
        y = (rng.random(n) < expit(z)).astype(int)
        return pd.DataFrame({"y_true": y, "y_prob": expit(bend(z)).round(6)} | more)

    zero = table(500)
    zero.loc[len(zero)] = {"y_true": 1, "y_prob": 0.0}
    K = rng.dirichlet(np.full(10, 0.3), 2000)
    label = [rng.choice(10, p=row) for row in K]
    ten = pd.DataFrame(K.round(6), columns=[f"p_{k}" for k in range(10)])
    ten = ten.div(ten.sum(axis=1), axis=0).assign(label=label)
    site = np.sort(rng.integers(0, 40, 3000))
    return {
        "calibrated": World(table=table(6000)),
        "overconfident": World(table=table(6000, lambda z: 1.7 * z)),
        "slightly": World(table=table(6000, lambda z: 1.1 * z)),
        "underconfident": World(table=table(1500, lambda z: 0.6 * z)),
        "too high": World(table=table(2000, lambda z: z + 0.5)),
        "too low": World(table=table(2000, lambda z: z - 0.5)),
        "reversed": World(table=table(6000, lambda z: -z), fields={"positive": "1"}),
        "hard zero": World(table=zero),
        "few": World(table=table(60)),
        "rare": World(table=table(20_000, center=-6.0)),
        "frequent": World(table=table(3000, center=4.0)),
        "ties": World(table=table(3000).assign(y_prob=lambda t: t["y_prob"].round(1))),
        "weights": World(
            table=table(3000).assign(sampling_weight=rng.gamma(1, 10, 3000)),
            fields={"weight": "sampling_weight"},
        ),
        "clusters": World(
            table=table(3000).assign(site=site),
            fields={"cluster": "site", "split": "cluster", "content": "predictions"},
        ),
        "ten columns": World(table=ten),
        "two scores": World(table=table(3000).assign(p_other=lambda t: (0.9 * t["y_prob"] + 0.02).round(6))),
    }


def read_page(at: Any) -> list[Piece]:
    """Return the pieces of an open page, in their order."""
    return list(_pieces(at.main))


def _pieces(block: Any) -> Iterator[Piece]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _pieces(child)
        elif piece := _piece(child):
            yield piece


def _piece(element: Any) -> Piece | None:
    kind, text = element.type, str(getattr(element, "value", "")).replace("\\", "").replace("**", "")
    if kind in ("markdown", "caption", "header", "subheader", "info", "warning"):
        return Piece("sentence", text.replace("\u00a0%", " %"))
    if kind == "metric":
        return Piece("tile", " | ".join((element.label, text, element.delta or "")).replace("\\", ""))
    if kind in ("dataframe", "arrow_data_frame", "table", "arrow_table"):
        return Piece("table", "", element.value)
    if kind == "plotly_chart":
        drawn = json.loads(element.proto.spec)["layout"].get("annotations", [])
        corner = next((each["text"] for each in drawn if "n = " in each.get("text", "")), "")
        return Piece("corner", corner.replace("<br>", " ")) if corner else None
    return None


def read_html(document: bytes | str) -> list[Piece]:
    """Return the paragraphs of a report or a notebook's output as pieces."""
    text = document.decode() if isinstance(document, bytes) else document
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", text, flags=re.S)
    paragraphs = re.findall(r"<(p|h\d|li|figcaption)\b[^>]*>(.*?)</\1>", text, flags=re.S)
    shown = (html.unescape(re.sub(r"<[^>]+>", "", inner)) for _, inner in paragraphs)
    return [Piece("sentence", " ".join(each.split())) for each in shown]


def said(
    world: World, shown: tuple[str, ...] = PAGES, more: bool = True
) -> tuple[Evaluation, dict[str, list[Piece]]]:
    """Return the evaluation of a world, and the pieces of each page, report and command by its name."""
    at = _open(world)
    found = {"reliability": read_page(at)}
    (evaluation,) = [one for name, one in at.session_state["shown"].items() if name == "evaluation"]
    for name in shown:
        if name != "reliability":
            found[name] = read_page(settled(go(at, f"explore_{name}")))
    if "trees" in found:  # its diagrams are of other models
        found["trees"] = [piece for piece in found["trees"] if piece.kind != "corner"]
    if more:
        found["report"] = read_html(report_html(evaluation, at_random=_at_random(evaluation)))
        found |= _elsewhere(evaluation, world)
    return evaluation, found


def _open(world: World) -> Any:
    if world.table is None:
        return page("explore_reliability", **world.query)
    at = bring(page("explore_data"), "made.csv", world.table.to_csv(index=False).encode())
    if world.fields:
        at.session_state["recipe"] = at.session_state["recipe"].replace(**world.fields)
    return go(at, "explore_reliability")


def _at_random(evaluation: Evaluation) -> dict[str, Evaluation]:
    """Return the evaluation of a random split by name, if the split is another one."""
    data, recipe = evaluation.dataset, evaluation.recipe
    if recipe.split == "random" or recipe.data.startswith("upload:"):
        return {}
    return {data.name: evaluate(random_recipe(recipe), load(recipe))}


def _elsewhere(evaluation: Evaluation, world: World) -> dict[str, list[Piece]]:
    """Return what ``check`` and the command line say about the same predictions."""
    recipe, found = evaluation.recipe, {}
    if recipe.content == "predictions" and evaluation.whole is None and recipe.base_rate is None:
        all_rows = evaluation.on_every_row()
        if "none" in all_rows.predictions and all_rows.weight is None and all_rows.cluster is None:
            checked = check(all_rows.y, all_rows.predictions["none"].p).with_view(recipe)
            found["check"] = read_html(f"<p>{checked.verdict.sentence}</p>{checked._repr_html_()}")
    if world.table is None and recipe.data != "sample:counts":
        found["command"] = [Piece("sentence", line) for line in _printed(recipe)]
    return found


def _printed(recipe: Recipe) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder, "recipe.json")
        path.write_text(recipe.to_json())
        with contextlib.redirect_stderr(io.StringIO()) as told:
            command(["evaluate", str(path)])
    return told.getvalue().splitlines()


def exact_numbers(evaluation: Evaluation) -> dict[tuple, float]:
    """Return (quantity, method, number of rows) → value."""
    found: dict[tuple, float] = {}
    for one in (evaluation, evaluation.on_every_row()) if evaluation.unadjusted is None else (evaluation,):
        table = one.measured(one.applicable(QUANTITIES))
        for key, line in table.iterrows():
            for quantity, value in line.items():
                found[quantity, key, one.tested] = value
                if "none" in table.index and key != "none":
                    with np.errstate(invalid="ignore"):  # ∞ − ∞
                        change = value - table.loc["none", quantity]
                    found[f"change of {quantity}", key, one.tested] = change
        found |= {
            ("level", key, one.tested): one.share - each.mean(each.p) for key, each in one.predictions.items()
        }
    if evaluation.whole is not None:
        for key, line in evaluation.whole.metrics.iterrows():
            found |= {(f"joint {score}", key, evaluation.tested): value for score, value in line.items()}
    return {place: value for place, value in found.items() if value == value}


def crawled(
    world: World, shown: tuple[str, ...] = PAGES, more: bool = True
) -> tuple[list[Statement], int, list[str]]:
    """Return the statements of a world, the number of pairs that were compared, and the disagreements."""
    evaluation, pieces = said(world, shown, more)
    reference = reference_of(list(evaluation.predictions)) if evaluation.predictions else "none"
    found = [
        each for place, one in pieces.items() for each in statements(place, one, reference, evaluation.tested)
    ]
    if evaluation.of_confidence:  # for the model, whose predicted class is shown, both names are one quantity
        found += [
            replace(each, quantity="ece")
            for each in found
            if (each.quantity, each.method) == ("joint confidence_ece", "none")
        ]
    return found, len(pairs(found)), disagreements(found, pieces, exact_numbers(evaluation))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only evaluations whose name contains this word")
    parser.add_argument("--pages", default=",".join(PAGES))
    parser.add_argument("--brief", action="store_true", help="leave out report, check and command line")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    totals = np.zeros(4, dtype=int)
    for name, world in worlds().items():
        if asked.only not in name:
            continue
        found, compared, lines = crawled(world, tuple(asked.pages.split(",")), not asked.brief)
        totals += (1, len(found), compared, len(lines))
        print(f"{name}: {len(found)} statements, {compared} pairs, {len(lines)} disagreements", flush=True)
        for line in lines:
            print(f"  {line}", flush=True)
    print("{} evaluations, {} statements, {} pairs, {} disagreements".format(*totals))
    return int(totals[3] > 0)


if __name__ == "__main__":
    sys.exit(main())
