// The twenty statements. The reader's confidence in each becomes a dot of the reader's own diagram. The first ten are
// about the picture and the world; the others come before a gesture of the story, which settles them.

const GREEN = 162  // dots of the first picture, 18 %
const STATEMENTS = [
    { text: "Between 20 and 40 % of the dots in the picture are green.", truth: false, told: "162 of the 900 dots are green: 18 %." },
    { text: "The Moon’s diameter is between 20 and 40 % of the Earth’s.", truth: true, told: "3,474 of 12,742 km: 27 %." },
    { text: "More than 80 % of the Earth’s surface is water.", truth: false, told: "About 71 % is water." },
    { text: "Venus takes longer to turn once around its axis than to travel once around the Sun.", truth: true, told: "243 and 225 of our days." },
    { text: "An adult has between 250 and 300 bones.", truth: false, told: "Most adults have 206. Babies have more, some of which fuse." },
    { text: "Among 23 people, the probability that two share a birthday is above 70 %.", truth: false, told: "It is 51 %." },
    { text: "Iceland is larger than the island of Ireland.", truth: true, told: "103,000 and 84,000 km²." },
    { text: "The first Nobel Prizes were awarded before 1900.", truth: false, told: "They were awarded in 1901." },
    { text: "Light from the Sun takes between 5 and 10 minutes to reach us.", truth: true, told: "It takes 8.3 minutes." },
    { text: "Africa is larger than China, India and the United States together.", truth: true, told: "30.4 and 22.7 million km²." },
    { text: "Of the 49 customers with a risk near 70 %, between 60 and 80 % defaulted.", told: "22 did: 45 %." },
    { text: "Of the 618 customers with a risk below 20 %, more than 50 defaulted.", told: "89 did." },
    { text: "In twenty other sets of customers, the mark near 70 % is below the diagonal every time.", told: "The highest of the twenty is at 62 %." },
    { text: "With 70 columns instead of 5, the ECE of this perfect model is at least twice as large.", told: "It rises from 0.017 to 0.066." },
    { text: "Platt scaling lowers the Brier score by more than 10 %.", told: "It falls from 0.167 to 0.153, by 8 %." },
    { text: "After Platt scaling, customer B has a higher risk than customer A.", told: "A stays above B: 39 and 31 %." },
    { text: "With no questions, the tree’s calibration loss is smaller than with eight.", told: "It is 0.0000 with none, 0.0417 with eight." },
    { text: "Of the depths 0 to 8, depth 8 has the smallest sum of both losses.", told: "Depth 3 has: 0.016. Depth 8 has 0.058." },
    { text: "One group of more than 100 customers, by income or by payment history, has a predicted risk that is at least 10 points too low.", told: "For the 114 customers who did not state their income, it is 13.3 points too low." },
    { text: "In at least 5 of 20 years with a right model, the weekly test raises a false alarm.", told: "It did so in 6 of the first 20 years." },
]

const PARTS = { 10: 2, 11: 2, 12: 3, 13: 3, 14: 4, 15: 4, 16: 5, 17: 5, 18: 6, 19: 7 }  // in which they are asked

// What the reader does next, once a question is answered; and the questions that are asked together.
const ACTS = {
    10: "drag the mark in the picture", 11: "drag the mark in the picture", 12: "draw other customers, twenty times", 13: "move the slider to 70",
    14: "choose Platt scaling", 15: "choose Platt scaling", 16: "move the slider to 0", 17: "find the smallest sum with the slider",
    18: "draw a box in the picture", 19: "watch other years",
}
const PAIRS = { 14: 15, 15: 14, 16: 17, 17: 16 }
