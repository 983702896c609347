"""A protocol is read completely or refused by file, table and key; what is shipped says what the papers did."""

import pytest

from calib import Recipe
from calib.calibrators import CALIBRATORS, INPUT_TABLES, JOINT
from calib.kernel.checks import InputError
from calib.models import MODELS
from calib.study import SHIPPED, load_protocol, read_protocol
from calib.study.papers.models import PAPER_MODELS
from calib.study.rows import measures

from .small import PROTOCOL


@pytest.mark.parametrize("key", SHIPPED)
def test_every_shipped_protocol_names_only_what_there_is(key):
    protocol = load_protocol(key)
    assert set(protocol.metrics) <= measures(protocol.data.joint).keys()
    assert {setup.calibrator for setup in protocol.setups} <= CALIBRATORS.everything().keys()
    assert {setup.recipe.model for setup in protocol.setups} <= MODELS.keys()
    assert {setup.estimator for setup in protocol.setups} - {None} <= PAPER_MODELS.keys()
    assert len({setup.name for setup in protocol.setups}) == len(protocol.setups)
    assert len({setup.digest for setup in protocol.setups}) == len(protocol.setups)
    assert protocol.title
    assert protocol.source


def by_name(key):
    return {setup.name: setup for setup in load_protocol(key).setups}


def test_the_forests_of_2019():
    protocol, setups = load_protocol("venn_forests_2019"), by_name("venn_forests_2019")
    assert [name.split("-")[0] for name in setups][::2] == ["RF", "Platt", "Iso", "VP", "VAP"]
    assert (protocol.splits.kind, protocol.splits.folds, protocol.splits.repeats) == ("folds", 10, 10)
    assert {setup.recipe.placement for setup in protocol.setups} == {"split", "oob"}
    assert {dict(setup.recipe.params)["n_estimators"] for setup in protocol.setups} == {300}
    assert {setup.recipe.calibration_size for setup in protocol.setups} == {1 / 3}
    assert setups["VAP-oob"].recipe.merge == setups["VP-cal"].recipe.merge == "midpoint"
    assert protocol.data.positive == "later"


def test_the_trees_of_2019():
    protocol, setups = load_protocol("probability_trees_2019"), by_name("probability_trees_2019")
    assert set(setups) == {
        f"{leaf}-{way}" for leaf in ("RF", "LaP") for way in ("Tree", "Platt", "Iso", "VAP")
    }
    params = {name: dict(setup.recipe.params) for name, setup in setups.items()}
    assert {p["min_samples_split"] for p in params.values()} == {10}
    assert {p["min_samples_leaf"] for p in params.values()} == {1}
    assert {name.split("-")[0] for name, p in params.items() if p.get("leaf") == "laplace"} == {"LaP"}
    assert setups["RF-VAP"].recipe.merge == "log"
    assert {"kc1", "kc2", "wbc"} <= set(protocol.data.drop_duplicates)
    assert "log_loss_base2" in protocol.metrics


TEN = ("RF_d", "RF_opt", "RF_large", "Platt", "ISO", "Beta", "VA", "CT", "PPA", "Rank")
CALIBRATED = ("Platt", "ISO", "Beta", "VA", "PPA", "Rank")


def test_the_forests_of_2025_are_ten_unless_more_are_named():
    protocol = load_protocol("rf_calibration_2025")
    assert protocol.default == TEN
    assert [setup.name for setup in protocol.chosen(None)] == list(TEN)
    learners = {"DT_opt", "LR_opt", "SVM_opt", "DNN_opt", "DNN_ens", "XGB_opt", "GNB_opt"}
    assert learners | {"RF_d_laplace", "Platt_laplace", "Platt_frequency"} <= by_name(protocol.key).keys()


def test_the_forests_of_2025_calibrate_on_the_first_of_ten_folds():
    protocol = load_protocol("rf_calibration_2025")
    splits = protocol.splits
    assert (splits.folds, splits.repeats, splits.seed) == (10, 5, 0)
    assert splits.calibration_folds == 9
    assert (protocol.data.scale, protocol.data.columns) == ("none", "all")


def test_the_forests_of_2025_calibrate_the_tuned_forest_held_out_or_out_of_bag():
    setups = by_name("rf_calibration_2025")
    assert {setups[name].recipe.placement for name in ("RF_d", "RF_large", "CT")} == {"none"}
    assert setups["RF_opt"].fit_key() == setups["VA_OOB"].fit_key() != setups["VA"].fit_key()
    assert {(setups[n].recipe.placement, setups[n].estimator) for n in CALIBRATED} == {("split", "RF_opt")}
    assert {setups[f"{n}_OOB"].recipe.placement for n in CALIBRATED} == {"oob_whole"}


def test_the_calibrators_of_2025_have_the_paper_s_options():
    setups = by_name("rf_calibration_2025")
    assert setups["VA"].recipe.merge == "square"
    assert dict(setups["PPA"].recipe.options) == {"ppa.variant": "sigmoid"}
    assert dict(setups["Platt"].recipe.options) == {"platt.on": "score"}


def test_venn_abers_of_2014():
    protocol, setups = load_protocol("venn_abers_2014"), by_name("venn_abers_2014")
    assert set(setups) == {
        f"{way} ({classifier})"
        for way in ("W", "VA", "SVA", "DIR")
        for classifier in ("J", "JB", "LR", "NB", "NN", "SVM")
    }
    splits = protocol.splits
    assert (splits.kind, splits.stratified, splits.repeats) == ("random", False, 100)
    assert splits.test_size == pytest.approx(1 / 3)
    full = setups["VA (NB)"].splits
    assert full.repeats == 16
    assert not {full.seed + r for r in range(16)} & set(range(100))  # other splits than the hundred
    assert (setups["VA (J)"].recipe.placement, setups["SVA (J)"].recipe.placement) == ("full", "train")
    assert dict(setups["DIR (J)"].recipe.options) == {"isotonic.between": "nearest"}
    assert setups["VA (J)"].recipe.merge == "log"
    assert dict(setups["VA (J)"].merges)["rmse"] == "square"


def test_the_arena_takes_in_what_is_registered(monkeypatch):
    from calib.calibrators import Platt

    class Other(Platt):
        key, label = "other", "Other"

    names = {setup.name for setup in load_protocol("arena").setups}
    monkeypatch.setattr(CALIBRATORS, "_held", {**CALIBRATORS, "other": Other})
    more = {setup.name for setup in load_protocol("arena").setups} - names
    assert {name.rsplit("/", 1)[1] for name in more} == {"other"}  # with no change to the file
    assert {"svm/split/other", "naive_bayes/cv/other", "random_forest/oob/other"} <= more
    assert "svm/oob/other" not in more


def test_the_arena_has_every_calibrator_model_and_placement_that_can_be():
    setups = load_protocol("arena").setups
    assert {setup.calibrator for setup in setups} == set(CALIBRATORS)
    assert {setup.recipe.placement for setup in setups} == {"split", "cv", "oob"}
    assert {setup.recipe.model for setup in setups if setup.recipe.placement == "oob"} == {
        "random_forest",
        "bagged_trees",
    }


def test_the_arena_of_more_classes_has_every_calibrator_of_them_on_five_models():
    setups = load_protocol("arena_multiclass").setups
    tables = {key for key, method in CALIBRATORS.items() if method.input in INPUT_TABLES}
    methods = {*CALIBRATORS, *JOINT} - tables
    cases = {(setup.recipe.model, setup.recipe.placement) for setup in setups} - {
        (setup.recipe.model, "none") for setup in setups
    }
    assert len({model for model, _ in cases}) == 5
    assert {model for model, placement in cases if placement == "oob_whole"} == {"random_forest"}
    assert len(cases) == 5 * 3 + 1
    assert {setup.name for setup in setups if setup.recipe.placement != "none"} == {
        f"{model}/{placement}/{method}" for model, placement in cases for method in methods
    }


def test_what_is_for_three_or_more_classes_is_refused_with_two_and_the_reverse():
    joint = PROTOCOL.replace('"later"', '"all"')
    kept = ', "reliability", "width"'
    with pytest.raises(InputError, match="'log_loss', .*'classwise_ece'.*but is 'reliability'"):
        read_protocol(joint, "s.toml")
    assert read_protocol(joint.replace(kept, ', "classwise_ece"'), "s.toml").data.joint
    assert read_protocol(joint.replace(kept, "").replace('"venn_abers"', '"pairwise"'), "s.toml").setups[1]
    with pytest.raises(InputError, match="'none', 'platt'.*but is 'pairwise'"):
        read_protocol(PROTOCOL.replace('"venn_abers"', '"pairwise"'), "s.toml")
    with pytest.raises(InputError, match="one of .*but is 'multicalibration'"):
        read_protocol(joint.replace(kept, "").replace('"venn_abers"', '"multicalibration"'), "s.toml")


@pytest.mark.parametrize("placement", ["oob", "full"])
def test_a_placement_of_two_classes_is_refused_for_all_classes_before_anything_is_run(placement):
    joint = PROTOCOL.replace('"later"', '"all"').replace(', "reliability", "width"', "")
    written = joint.replace('model = "random_forest"', f'model = "random_forest", placement = "{placement}"')
    written = written.replace('placement = "none", ', "")
    with pytest.raises(InputError, match=f"Forest'.*placement='{placement}'.*'split', 'cv' or 'oob_whole'"):
        read_protocol(written, "s.toml")
    assert (
        read_protocol(written.replace('"all"', '"later"'), "s.toml").setups[2].recipe.placement == placement
    )
    grid = GRID.format("{placement}/{calibrator}", "random_forest").replace("[recipe]", "")
    joint = joint.replace(joint[joint.index("setups") : joint.index("[data]")], "") + grid
    with pytest.raises(InputError, match=f"placement='{placement}'"):
        read_protocol(joint.replace('["split"]', f'["{placement}", "cv"]'), "s.toml")
    setups = read_protocol(joint.replace('["split"]', '["*"]'), "s.toml").setups
    every = {setup.recipe.placement for setup in setups}
    assert every >= {"split", "cv", "oob_whole"}
    assert placement not in every


def test_a_setup_is_a_recipe_with_one_calibrator():
    setup = read_protocol(PROTOCOL, "small.toml").setups[1]
    assert setup.recipe == Recipe(model="naive_bayes", placement="split", calibrators=("venn_abers",))


def test_a_digest_changes_with_all_that_results_depend_on_and_with_nothing_else():
    base = read_protocol(PROTOCOL, "small.toml").setups[1].digest
    same = [('title = "Small"', 'title = "Other"'), ("repeats = 2", "repeats = 9"), ('"accuracy", ', "")]
    other = [
        ("folds = 3", "folds = 4"),
        ('model = "naive_bayes"\n', 'model = "naive_bayes"\nmerge = "square"\n'),
        ('model = "naive_bayes"\n', 'model = "naive_bayes"\nparams = { var_smoothing = 0.1 }\n'),
        ("[metrics]\n", '[metrics]\nmerge = { brier = "square" }\n'),
        ("repeats = 2", "repeats = 2\nseed = 1"),
    ]
    for old, new in same:
        assert read_protocol(PROTOCOL.replace(old, new), "s.toml").setups[1].digest == base
    digests = {read_protocol(PROTOCOL.replace(old, new), "s.toml").setups[1].digest for old, new in other}
    assert len(digests | {base}) == len(other) + 1


GRID = """[[grid]]
name = "{}"
models = ["{}"]
placements = ["split"]
calibrators = ["*"]
[recipe]"""


KEYS = next(line for line in PROTOCOL.splitlines() if line.startswith("keys"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "folds = 3",
            "folds = 1",
            r"small.toml: \[splits\] folds must be a whole number from 2 to .*, but is 1",
        ),
        ("folds = 3", "fold = 3", r"\[splits\] fold is not a known key\. .*: kind, folds"),
        ('positive = "later"', 'positive = "yes"', r"\[data\] positive must be one of 'later', 'rarer'"),
        (KEYS, "keys = []", r"\[metrics\] keys: the list is empty. Name at least one metric, such as brier"),
        ('"brier"', '"briar"', r"\[metrics\] keys must be one of .*'brier'.* but is 'briar'"),
        (
            'calibrator = "venn_abers"',
            'calibrator = "va"',
            r"\[\[setups\]\] number 2: calibrator must be one of",
        ),
        ('name = "Raw", ', "", r"\[\[setups\]\] number 1: name is missing"),
        ('name = "Raw"', 'name = "VAP"', "'VAP' appears twice"),
        (
            "n_estimators = 5",
            "n_estimators = 0",
            r"number 3: 'Forest': params.n_estimators must be a whole number",
        ),
        ("n_estimators = 5", "trees = 5", r"'Forest': params: 'trees' is not a known"),
        ('"random_forest"', '"RF_opt"', "'Forest': params: the model RF_opt has no settings. Remove params"),
        ('"random_forest"', '"RF_best"', "number 3: model must be one of .*'random_forest'.*'RF_opt'"),
        ('title = "Small"', "", "small.toml: title is missing"),
        (
            'title = "Small"',
            'title = "Small"\nseeds = 3',
            "seeds is not a known key. .*: title, source, default, data",
        ),
        (
            'title = "Small"',
            'title = "Small"\ndefault = ["Row"]',
            "default: 'Row' is not a setup. Remove it",
        ),
        ("[splits]", "[splits", "small.toml is not TOML"),
        ("folds = 3", f"folds = {'9' * 5000}", r"not TOML: a whole number has more than 4,300 digits\.$"),
        ("folds = 3", f"folds = {'[' * 5000}{']' * 5000}", r"not TOML: its parts are nested too deeply\.$"),
        ("folds = 3", f"{'a.' * 1001}b = 3", r"a line has more than 1,000 dots. Break the line"),
        ("[metrics]", '[metrics]\nmerge = { width = "log" }', r"\[metrics\] merge.width is not a known"),
        (
            "n_estimators = 5 }",
            'n_estimators = 5 }, options = "x"',
            r"number 3: options must be a table of names",
        ),
        ('model = "naive_bayes"', 'model = "bayes"', r"\[recipe\] model must be one of"),
        (
            "[recipe]",
            GRID.format("{a}", "*"),
            r"\[\[grid\]\] number 1: name may contain {model}, {placement} and",
        ),
        ("[recipe]", GRID.format("{model}", "trees"), r"\[\[grid\]\] number 1: models must be one of"),
        ('model = "naive_bayes"', "seed = 3", r"\[recipe\] seed is not a known"),
        (
            'model = "naive_bayes"',
            'model = "svm"',
            "number 1: 'Raw': The uncalibrated model needs probabilities, but 'svm'",
        ),
        (
            '"venn_abers", placement = "split"',
            '"platt", placement = "none"',
            "'VAP': Platt scaling needs calibration scores",
        ),
        (
            '"venn_abers", placement = "split"',
            '"platt", placement = "full"',
            "'VAP': Platt scaling gives no interval",
        ),
        (
            '"venn_abers", placement = "split"',
            '"rank", placement = "split"',
            "but 'naive_bayes' has no trees. Choose",
        ),
        (
            '"venn_abers", placement = "split"',
            '"rank", model = "CT", placement = "cv"',
            "placement='cv' does not provide these scores",
        ),
        (
            '"venn_abers", placement = "split"',
            '"venn", placement = "oob"',
            "need a bagged ensemble, but 'naive_bayes'",
        ),
        (
            '"none", placement = "none", model = "random_forest", params = { n_estimators = 5 }',
            '"venn", placement = "oob", model = "DNN_ens"',
            "'Forest': Out-of-bag scores need .* 'DNN_ens' is not bagged",
        ),
        (
            '"venn_abers", placement',
            '"platt", placement',
            r"\[metrics\] keys: 'width' needs intervals",
        ),
        (
            '"venn_abers", placement',
            '"platt", merge = "log", placement',
            "merge has no effect with .* 'platt'",
        ),
        (
            '"venn_abers", placement',
            '"venn_abers", cv = 3, placement',
            "cv has no effect with the placement 'split'",
        ),
        (
            '"venn_abers",',
            '"venn_abers", options = { "platt.on" = "score" },',
            "options.platt.on has no effect",
        ),
        (
            "[recipe]",
            '[recipe]\noptions = { "venn.threshold" = 0.3 }',
            r"\[recipe\] options.venn.threshold has no effect, because no setup uses this calibrator",
        ),
        (
            "folds = 3",
            "folds = 3\ntest_size = 0.3",
            r"\[splits\] test_size has no effect without kind = 'random'",
        ),
        (
            "[recipe]",
            GRID.format("{model}", "svm").replace('"split"', '"oob"'),
            "number 1: no combination of these",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_table_and_key(old, new, message):
    assert old in PROTOCOL
    with pytest.raises(InputError, match=message):
        read_protocol(PROTOCOL.replace(old, new), "small.toml")


def test_a_file_that_is_not_there_names_the_shipped_ones():
    with pytest.raises(InputError, match="nowhere.toml cannot be read .* venn_forests_2019"):
        load_protocol("nowhere.toml")
    with pytest.raises(InputError, match="no setup 'Row'. .*Raw, VAP, Forest"):
        read_protocol(PROTOCOL, "small.toml").chosen(["Row"])


def test_a_byte_order_mark_as_windows_writes_it_is_no_part_of_the_file():
    assert read_protocol("\ufeff" + PROTOCOL, "small.toml") == read_protocol(PROTOCOL, "small.toml")
