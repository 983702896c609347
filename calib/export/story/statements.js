// The twenty statements. The reader's confidence in each becomes a dot of the reader's own diagram. The first ten are
// about the picture and the world; the others come before a gesture of the story, which settles them.

const DARK = 162  // dots of the first picture, 18 %
const STATEMENTS = [
    { text: "Between 20 and 40 % of the dots in the picture are dark.", truth: false, told: "162 of 900 are dark: 18 %." },
    { text: "The diameter of the Moon is between 20 and 40 % of that of the Earth.", truth: true, told: "3,474 of 12,742 km: 27 %." },
    { text: "More than 80 % of the Earth’s surface is water.", truth: false, told: "About 71 % is." },
    { text: "One turn of Venus around its axis takes longer than its year.", truth: true, told: "243 and 225 of our days." },
    { text: "An adult has between 250 and 300 bones.", truth: false, told: "Most have 206. A newborn child has more, which grow together." },
    { text: "Among 23 people, the probability that two share a birthday is above 70 %.", truth: false, told: "It is 51 %." },
    { text: "Iceland is larger than the island of Ireland.", truth: true, told: "103,000 and 84,000 km²." },
    { text: "The first Nobel Prizes were awarded before 1900.", truth: false, told: "They were awarded in 1901." },
    { text: "Light from the Sun takes between 5 and 10 minutes to reach us.", truth: true, told: "8.3 minutes." },
    { text: "Africa is larger than China, India and the United States together.", truth: true, told: "30.4 and 22.7 million km²." },
    { text: "Of the 49 customers with a risk near 70 %, between 60 and 80 % defaulted.", told: "13 did: 27 %." },
    { text: "Of the 618 customers with a risk below 20 %, more than 50 defaulted.", told: "95 did." },
    { text: "The mark near 70 % stays below the diagonal in each of the first ten sets of other customers.", told: "The gap is not chance." },
    { text: "If a right model’s marks are counted in 70 bins instead of 5, the mean gap is at least twice as large.", told: "Thin bins are noisy." },
    { text: "Platt scaling lowers the Brier score by more than 10 %.", told: "It falls from 0.185 to 0.158, by 14 %." },
    { text: "After Platt scaling, the risk of B is higher than that of A.", told: "The order stays." },
    { text: "A tree with no splits has a smaller calibration loss than a tree of depth 8.", told: "It has hardly any." },
    { text: "Of the depths 0 to 8, the largest has the smallest loss in all.", told: "Depth 3 has." },
    { text: "There is a group of over 100 customers for whom the risk is at least 10 points too low.", told: "114 customers did not state their income." },
    { text: "The model is right. In at least 5 of 20 years the weekly test raises a false alarm.", told: "It is an ordinary test, made for one look." },
]
