"""Validity: what Venn predictors promise, shown by drawing again and again where the truth is known."""

from __future__ import annotations

from calib.kernel.records import Parameter
from calib.learn.base import Experiment, view_of, with_default

PAGE = "validity"
PAPER = "Vovk and Petej, Venn–Abers predictors (2014)"

PREDICTORS = {
    "full": "Venn–Abers, full",
    "inductive": "Venn–Abers, inductive",
    "simplified": "Venn–Abers, simplified",
    "venn": "Venn, two categories",
    "constant": "The constant Venn predictor",
    "non_invariant": "The non-invariant predictor",
}
GAP = Parameter(
    "gap", "Distance of the classes", "number", 1.5, 0.0, 4.0, help="In standard deviations; 0 makes the labels noise."
)
WINDOW = Parameter(
    "window",
    "Window of the scorer",
    "choice",
    0.5,
    choices=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    help="The score is the mean label in a Gaussian window around x, own label included. Narrow windows memorise.",
)


def _objects(default: int) -> Parameter:
    return Parameter(
        "objects",
        "Training objects",
        "choice",
        default,
        choices=(5, 10, 20, 50, 100, 200),
        help="Drawn anew, with a new test object, every time.",
    )


def _draws(default: int, *choices: int) -> Parameter:
    return Parameter("draws", "Draws", "choice", default, choices=choices, help="More draws, smaller standard errors.")


THEOREM = Experiment(
    key="theorem",
    page=PAGE,
    name="Theorem 1",
    question="A Venn predictor answers with two probabilities, one for each label that the new object may have. Draw "
    "training objects and a test object again and again. Which of these stays on average equal to the label?",
    answers=("p0, the lower one", "p1, the upper one", "The one that belongs to the true label", "None of them"),
    parameters=(
        Parameter(
            "predictor",
            "Predictor",
            "choice",
            "full",
            choices=tuple(PREDICTORS),
            extra={"names": PREDICTORS},
            help="Full, inductive, the label taxonomy and the two that ignore x are valid; simplified is not in "
            "general.",
        ),
        _objects(50),
        WINDOW,
        GAP,
        _draws(10000, 500, 1000, 2000, 5000, 10000, 20000, 50000),
    ),
    notice=(
        "The mean error of the selected probability P_Y stays within two standard errors of zero, however few the "
        "training objects are. p0 is too low on average and p1 too high.",
        "Nobody can use P_Y, since choosing it takes the label. But where p0 and p1 are close, either will do.",
        "The theorem says more than the mean: among the draws with the same P_Y, the frequency of class 1 is P_Y. "
        "The lower picture shows that; the simplified predictor with a narrow window fails there.",
    ),
    formulas=(
        r"\mathbb{E}(Y \mid P_Y) = P_Y, \quad\text{hence}\quad \mathbb{E}\,(Y - P_Y) = 0",
        r"\mathbb{E}\min(P_0, P_1) \le \mathbb{P}(Y=1) \le \mathbb{E}\max(P_0, P_1)",
    ),
    source=f"{PAPER}, theorem 1 with the selector S = Y, and corollary 1.",
)


ORDER = Experiment(
    key="order",
    page=PAGE,
    name="Theorem 2: why order must not matter",
    question="A predictor looks at no object at all. With k ones among l training labels it says k/l or (k + 1)/l when "
    "the first label is 0, and (k − 1)/l or k/l when it is 1. Can a predictor that hangs on the first label be "
    "perfectly calibrated?",
    answers=("Yes, perfectly", "Only roughly, for large l", "No"),
    parameters=(
        Parameter(
            "objects", "Training labels l", "integer", 6, 2, 20, help="The test object's label comes after them."
        ),
        Parameter(
            "ones",
            "Ones among all l + 1 labels",
            "integer",
            3,
            1,
            20,
            help="What is known when the order of the labels has been forgotten; at most l.",
        ),
    ),
    notice=(
        "Every ordering of the labels is equally likely. Where the first label is 0 the selected probability is m/l, "
        "where it is 1 it is (m − 1)/l, and among those orderings class 1 comes last in just that share.",
        "So it is perfectly calibrated, and still no Venn predictor: one contained in it could not depend on the order "
        "and would have to say k/l alone.",
        "Theorem 2 says that among predictors that ignore the order of the training objects, those that keep the "
        "promise of theorem 1 contain a Venn predictor. This example shows that it needs the first half of that.",
    ),
    formulas=(
        r"\{P_0, P_1\} = \begin{cases}\{k/l,\ (k+1)/l\} & y_1 = 0\\ \{(k-1)/l,\ k/l\} & y_1 = 1\end{cases}",
        r"y_1=0:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-1}\big/\tbinom{l}{m} = \tfrac{m}{l}",
        r"y_1=1:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-2}\big/\tbinom{l}{m-1} = \tfrac{m-1}{l}",
    ),
    source=f"{PAPER}, theorem 2 and the remark after it.",
    drawn=False,
)

CONSTANT = Experiment(
    key="constant",
    page=PAGE,
    name="Valid and useless",
    question="The constant Venn predictor puts all objects into one category: with k ones among l labels it says "
    "k/(l + 1) and (k + 1)/(l + 1), whatever the object is. What is it worth?",
    answers=("Valid and useful", "Valid, but useless", "Narrow, therefore not valid"),
    parameters=(_objects(100), WINDOW, GAP, _draws(2000, 500, 1000, 2000, 5000, 10000)),
    notice=(
        "Its interval is as narrow as 1/(l + 1) and its selected probability is right on average, like that of every "
        "Venn predictor. Validity alone says nothing about the object.",
        "Venn–Abers is as valid, and its interval follows the true probability up the curve; the price is its width.",
        "Set the distance of the classes to 0: now there is nothing to know about an object, and the constant "
        "predictor is the best there is.",
    ),
    formulas=(r"P_0 = \frac{k}{l+1}, \qquad P_1 = \frac{k+1}{l+1}",),
    source=f"{PAPER}, section 2, after corollary 1.",
)

REGRET = Experiment(
    key="regret",
    page=PAGE,
    name="One number for two",
    question="Someone has to act on a single probability p, and the label may still turn out either way. Against p0 "
    "where it is 0 and p1 where it is 1 there is something to regret. Which p keeps the larger of the two regrets as "
    "small as it can be?",
    answers=("The midpoint", "A p nearer to 1/2 than the midpoint", "A p further from 1/2 than the midpoint"),
    parameters=(
        Parameter(
            "p0", "p0", "number", 0.1, 0.0, 0.99, help="The probability if the label is 0.", extra={"step": 0.01}
        ),
        Parameter("p1", "p1", "number", 0.5, 0.01, 1.0, help="The probability if it is 1.", extra={"step": 0.01}),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "log",
            choices=("log", "square"),
            help="What is regretted: log loss or square loss.",
            extra=view_of("regret", names={"log": "Log loss", "square": "Square loss"}),
        ),
    ),
    notice=(
        "One regret rises with p, the other falls. Where they cross, the worse of the two is smallest: that is the "
        "minimax rule of the loss.",
        "Both rules move p from the midpoint towards 1/2: the wider the interval, the more careful the answer.",
        "As long as p0 < p1 both rules stay strictly between the two, so that p is never 0 or 1 and the log loss never "
        "infinite.",
    ),
    formulas=(
        r"\ln\tfrac{1-p_0}{1-p} = \ln\tfrac{p_1}{p} \;\Rightarrow\; p = \tfrac{p_1}{1-p_0+p_1}",
        r"p^2 - p_0^2 = (1-p)^2 - (1-p_1)^2",
        r"\Rightarrow\; p = p_1 + \tfrac12 p_0^2 - \tfrac12 p_1^2",
    ),
    source=f"{PAPER}, section 4, eq. 10 and 11.",
    drawn=False,
)

METHODS = {
    "none": "Score, uncalibrated",
    "dir": "Isotonic on the training scores (DIR)",
    "isotonic": "Isotonic on a held-out third",
    "platt": "Platt on the training scores",
    "simplified": "Venn–Abers, simplified",
    "full": "Venn–Abers, full",
}

COMPARE = Experiment(
    key="compare",
    page=PAGE,
    name="Six methods, the same draws",
    question="A scorer that looks through a narrow window knows its training objects too well. Calibrate its scores on "
    "the same training objects, on a held-out third, or by refitting with every new object. Whose probabilities come "
    "closest to the true ones?",
    answers=tuple(METHODS.values()),
    parameters=(
        _objects(50),
        with_default(WINDOW, 0.1),
        GAP,
        Parameter(
            "tests", "Test objects a draw", "choice", 20, choices=(5, 10, 20, 50), help="All judged by the same."
        ),
        _draws(200, 50, 100, 200, 500),
    ),
    notice=(
        "Narrow the window: the training scores become 0 and 1, and direct isotonic regression, which believes them, "
        "is among the worst. Full Venn–Abers takes notice: its intervals grow towards [0, 1] and its p moves to 1/2.",
        "Widen the window: simplified and full become one, since refitting no longer changes the order of the scores. "
        "Platt is hard to beat then, because the true probability is a sigmoid of x.",
        "A held-out third does not inherit the certainty of training scores, but a third of few objects is little: "
        "raise the training objects and see it catch up where the window is narrow.",
    ),
    formulas=(
        r"\text{full:}\quad p_y = g_y(s_y(x))",
        r"s_y \text{ trained on } z_1,\dots,z_l,(x,y)",
        r"\text{simplified:}\quad p_y = g_y(s(x))",
        r"s \text{ trained on } z_1,\dots,z_l",
        r"\text{TCE} = \frac1n\sum (p - \pi(x))^2",
    ),
    source=f"{PAPER}, algorithms 1 and 2 and section 3 (DIR); the true calibration error is eq. 4 of Shaker and "
    "Hüllermeier, Random forest calibration (2025).",
)

COUNTEREXAMPLE = Experiment(
    key="counterexample",
    page=PAGE,
    name="Proposition 2",
    question="A score is 0 or 1 on training objects, by the sign of x, and 2 on every object it has not seen. Class 1 "
    "has probability 1/3 on the left of zero and 2/3 on the right, 1/2 in all. Where will the simplified Venn–Abers "
    "interval of a new object lie?",
    answers=("Around 1/2", "About [1/3, 2/3]", "About [2/3, 1]"),
    parameters=(_draws(200, 50, 100, 200, 500, 1000),),
    notice=(
        "A new object scores above every calibration score. With label 1 it is a pool of its own, so that p1 = 1; with "
        "label 0 it joins the pool of the right side, so that p0 is near 2/3. The frequency 1/2 lies outside.",
        "More training objects do not help: the interval settles down on the wrong place.",
        "Full Venn–Abers lets the score see the new object too. It then scores 0 or 1 like the others, and the mean "
        "interval closes in on 1/2 from both sides.",
    ),
    formulas=(
        r"s(x) = \begin{cases}0 & x \in \{x_1,\dots,x_l\},\ x<0\\ 1 & x \in \{x_1,\dots,x_l\},\ x>0\\ "
        r"2 & \text{else}\end{cases}",
        r"\mathbb{E}\,P_0 \to \tfrac23,\quad P_1 = 1,\quad \mathbb{P}(Y=1) = \tfrac12",
    ),
    source=f"{PAPER}, proposition 2.",
)

LOG_LOSS = Experiment(
    key="log_loss",
    page=PAGE,
    name="Infinite log loss",
    question="A method that says 0 or 1 and is wrong once has infinite log loss for ever after. Isotonic regression "
    "says 0 below and 1 above its outermost mistakes. After 100 test objects, how many of the runs of direct isotonic "
    "regression are still finite?",
    answers=("Nearly all", "About half", "Hardly any"),
    parameters=(
        _objects(50),
        WINDOW,
        GAP,
        Parameter("tests", "Test objects", "choice", 100, choices=(20, 50, 100, 200), help="One after the other."),
        _draws(100, 20, 50, 100, 200),
        Parameter(
            "run",
            "Run shown",
            "integer",
            1,
            1,
            20,
            help="Which draw the upper picture follows.",
            extra=view_of("log_loss"),
        ),
    ),
    notice=(
        "Every certain mistake ends a run of DIR for good; held-out isotonic regression meets the same fate somewhat "
        "later or sooner.",
        "Both Venn–Abers predictors stay finite in every run, because p0 < 1 and p1 > 0: the object itself is always "
        "in its pool. No clipping is needed, and none is done here.",
    ),
    formulas=(
        r"\lambda_{\ln}(p, y) = \begin{cases}-\ln(1-p) & y = 0\\ -\ln p & y = 1\end{cases}",
        r"p_0 \le \frac{N-1}{N} < 1, \qquad p_1 \ge \frac1N > 0",
    ),
    source=f"{PAPER}, lemma 2 and Table 1, where every log loss of DIR is infinite.",
)

NARROWING = Experiment(
    key="narrowing",
    page=PAGE,
    name="How intervals narrow",
    question="The interval of a new object narrows as calibration objects are added. How fast does its mean width "
    "fall?",
    answers=("Like 1/n: halved when n doubles", "Like n to the −2/3", "Like 1/√n"),
    parameters=(
        Parameter(
            "method",
            "Predictor",
            "choice",
            "venn_abers",
            choices=("venn_abers", "venn"),
            help="Inductive Venn–Abers, or Venn with two categories.",
            extra={"names": {"venn_abers": "Venn–Abers", "venn": "Venn"}},
        ),
        GAP,
        _draws(50, 10, 20, 50, 100, 200),
    ),
    notice=(
        "An interval is as wide as one object weighs in its pool. Isotonic pools grow slower than the data, because "
        "there are ever more of them: that is the price for following the curve ever more finely.",
        "The two categories of the Venn predictor take a fixed share of all objects each: its interval shrinks like "
        "1/n, around a probability that stays coarse.",
        "The band holds the middle eight tenths of the objects: in the middle of the scores intervals stay widest.",
    ),
    formulas=(r"\text{width} = p_1 - p_0 \approx \frac{1}{\text{objects in the pool}} \propto n^{-2/3}",),
    source=f"{PAPER}, section 3; the size of isotonic pools, of order n to the 2/3, is that of Brunk's cube-root "
    "asymptotics (1970).",
)

EXPERIMENTS = (THEOREM, ORDER, CONSTANT, REGRET, COMPARE, COUNTEREXAMPLE, LOG_LOSS, NARROWING)
