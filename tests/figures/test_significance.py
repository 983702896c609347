"""The matrix of pairs: the sign from the ranks or from one-sided p-values, and the number in every cell."""

import numpy as np
import pandas as pd
import pytest

from calib.comparison import bergmann_hommel
from calib.figures.significance import draw, prepare
from calib.figures.theme import DARK, LIGHT
from calib.kernel.checks import InputError
from tests.comparison.published import P1_METHODS, P1_RANKS
from tests.saying import assert_says

NAMES = list(P1_METHODS)


def adjusted(title, leaf):
    ranks = pd.Series(P1_RANKS[title, leaf], index=NAMES)
    return pd.DataFrame(bergmann_hommel(ranks, 25), index=NAMES, columns=NAMES), ranks


def test_what_the_2019_paper_found_significant_is_marked():
    """Laplace estimates, accuracy: VAP better than Platt and Tree, Iso than Tree, and nothing else."""
    p, ranks = adjusted("Accuracy", "LaP")
    record = prepare(p, ranks, test="Bergmann–Hommel")
    better = {(a, b) for a in NAMES for b in NAMES if record.sign.loc[a, b] == 1}
    assert better == {("VAP", "Platt"), ("VAP", "Tree"), ("Iso", "Tree")}
    assert (record.sign.to_numpy() == -record.sign.to_numpy().T).all()
    assert_says(record.title, "3 of 6 pairs", "significantly", "Bergmann–Hommel")
    assert "VAP better than Tree" in record.alt
    assert prepare(*adjusted("Accuracy", "RF")).title.startswith("0 of 6")
    one = prepare(p.iloc[:2, :2], ranks.iloc[:2])
    assert (
        one.title
        == f"The two setups {'differ' if (one.sign == 1).any(axis=None) else 'do not differ'} significantly"
    )


def test_one_sided_pvalues_say_the_direction_themselves():
    p = pd.DataFrame(
        [[np.nan, 0.01, 0.4], [0.99, np.nan, np.nan], [0.6, np.nan, np.nan]], NAMES[:3], NAMES[:3]
    )
    record = prepare(p, note="Not adjusted.")
    assert record.sign.to_numpy().tolist() == [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]
    assert record.caption.endswith("Not adjusted.")


def test_every_cell_has_its_number_and_its_colour():
    p, ranks = adjusted("Brier loss", "LaP")
    record = prepare(p, ranks)
    (heat,) = draw(record).data
    for i, a in enumerate(NAMES):
        for j, b in enumerate(NAMES):
            if i == j:
                assert np.isnan(heat.z[i][j])
                assert heat.text[i][j] == ""
                continue
            assert heat.z[i][j] == record.sign.loc[a, b]
            shown = heat.text[i][j].replace("&lt;", "<")
            assert shown.startswith("v<br>") == (record.sign.loc[a, b] == 1)
            number = shown.removeprefix("v<br>")
            assert (
                float(number) == pytest.approx(p.loc[a, b], abs=0.0051)
                if "<" not in number
                else p.loc[a, b] < 0.01
            )
    table = record.to_frame()
    assert len(table) == 12
    assert table.set_index(["setup", "against"]).loc[("VAP", "Tree"), "significantly"] == "better"


def test_what_has_no_pvalue_has_no_colour():
    p = pd.DataFrame([[np.nan, np.nan], [np.nan, np.nan]], index=["a", "b"], columns=["a", "b"])
    (heat,) = draw(prepare(p)).data
    assert np.isnan(np.array(heat.z, dtype=float)).all()
    assert heat.text[0][1] == "–"


def test_many_setups_have_colours_and_no_numbers():
    names = [f"m{i}" for i in range(20)]
    record = prepare(pd.DataFrame(np.full((20, 20), 0.5), names, names))
    (heat,) = draw(record).data
    assert heat.text is None
    assert "numbers" not in record.caption


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes(theme):
    text = draw(prepare(*adjusted("AUC", "RF")), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text


def test_one_setup_is_refused():
    with pytest.raises(InputError, match="at least 2 setups"):
        prepare(pd.DataFrame([[np.nan]], ["a"], ["a"]))


def test_the_names_of_columns_stay_within_the_chart():
    """Rising to the right, the last one would leave it, and Plotly drops such a name."""
    ranks = pd.Series(range(8), index=[f"random_forest/{i}/venn_abers" for i in range(8)], dtype=float)
    p = pd.DataFrame(bergmann_hommel(ranks + 1, 25), ranks.index, ranks.index)
    axes = draw(prepare(p, ranks)).layout
    assert axes.xaxis.tickangle > 0
    assert len(set(axes.yaxis.ticktext)) == 8


def test_of_very_many_pairs_some_are_said_in_words_and_columns_without_room_for_names_have_none():
    names = [f"m{i}" for i in range(30)]
    record = prepare(
        pd.DataFrame(np.triu(np.full((30, 30), 0.01)) + np.tril(np.ones((30, 30))), names, names)
    )
    assert record.title == "435 of 435 pairs differ significantly"
    assert_says(record.alt, "m1 better than m11", "396 others")
    assert not any(draw(record).layout.xaxis.ticktext)
    assert_says(record.caption, "Columns", "order as the rows")


def test_of_very_many_setups_the_first_are_drawn_and_the_caption_says_so():
    names = [f"m{i}" for i in range(50)]
    record = prepare(pd.DataFrame(0.5, names, names))
    (heat,) = draw(record).data
    assert np.shape(heat.z) == np.shape(heat.customdata) == (40, 40)
    assert "best 40 of 50 setups" in record.caption
