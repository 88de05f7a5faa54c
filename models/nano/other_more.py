"""More kinds of requests for task_other.py: what people ask of a chat model in longer messages. Slots as
in other_templates.py; {passage} is a text of several sentences, {opt} four numbered choices."""

from pools import lines

ROLE = lines("""
You are a {job}. A customer complains about {house}. What do you say?
Act as a {job} and interview me. Ask one question at a time.
Imagine you are {person} speaking to {person2}. What would you talk about?
Pretend to be a {job} from {country} and introduce yourself to my class.
Roleplay: you are a shopkeeper who sells {things}, I am a tourist.
Speak like a pirate for the rest of this conversation.
I want you to act as a travel guide. I am in {city}, suggest places near {museum}.
Take the role of a {job} and explain {science} to an audience of children.
You are {person}. Explain in your own words why you worked on {science}.
Be my debate opponent. The topic is {society}; you are in favour.
Let's play twenty questions. I have thought of a {animal}.
You are a strict {subject} teacher. Grade my essay about {history}.
Suppose you were a {animal} for one day. Describe what you would do.
Answer as if you lived during {history}.
From now on you are a poet who loves {theme}. What is your first poem?
As a {job}, how would you persuade {name} to buy a {thing}?
Simulate a conversation between a {job} and a {animal}.
Imagine you could change one thing about {society}. What would it be and why?
""")

WRITE = lines("""
Compose an engaging article about a recent trip to {country}, highlighting cultural experiences.
Write a persuasive email to convince your friend {name} to join a {sport} club.
Draft a professional email asking {name} for feedback on the quarterly report.
Describe a vivid and unique character, using strong imagery. The character is a {job} from {city}.
Craft a captivating introduction for a blog post about {society}.
Write a descriptive paragraph about a market in {city} with smells and sounds.
Write a letter of recommendation for {name}, who worked as a {job} for {a} years.
Create an outline for an essay on {history} with at least five sections.
Write a short script in which {person} meets a {animal}.
Can you write a product review of a {thing} from the point of view of a {job}?
Edit the following paragraph so that it sounds more confident: {passage}
Rewrite your previous answer so that every sentence starts with the letter A.
Now do the same again, but make it shorter and add a joke.
Rephrase what you said in the style of {person}.
Make it longer and give three more examples.
Could you turn that into a poem?
Take your last reply and translate it into {tongue}.
Write a four line verse for the birthday card of my {relative}.
Write a headline, a lead and two paragraphs about {team}.
Compose a complaint to {firm} about {house}. Keep it under 150 words.
Write instructions for assembling a {thing} for someone who has never done it.
Write a wedding speech for my {relative}, who is a {job}.
Give me a catchy title and a summary for a video on {tech}.
Write an apology from {firm} to customers whose data was lost.
Rewrite this story with {name} as the main character: {passage}
Finish this sentence in a funny way: My {relative} bought a {thing} because
Think of a plot twist for a {genre} film about {theme}.
Invent a new holiday around {theme} and describe its customs.
Write a diary entry of a {job} in {city} during {history}.
Write a fable with a {animal} and a {animal2} that ends with a moral.
Create a menu for a restaurant called "{name}'s {thing}".
""")

REASON = lines("""
Imagine you run a race and overtake the person in third place. What place are you in now? Where is the person you overtook?
{name} has {a} brothers and each brother has {a} sisters. How many sisters does {name} have?
A bat and a ball cost ${b} in total. The bat costs $1 more. What does the ball cost?
There are {a} killers in a room. Someone enters and kills one of them. How many are left? Explain.
How many times does the letter e occur in the sentence "{passage}"?
If a {animal} eats {a} kilos a day, how long will {c} kilos last for {a} of them?
Which is heavier, a kilo of {things} or a kilo of {things}? Explain why.
{name} left the house at {a} o'clock and walked north for {b} minutes. Then she turned right twice. Which way is she facing?
You have a {a} litre jug and a {b} litre jug. How can you measure one litre?
I have {a} coins that sum to {b} cents. Which coins may they be?
What day will it be {c} days after a Tuesday? Explain your steps.
Given that all my {thing}s are new and this {thing} is old, what follows?
Arrange {name}, {name2} and {name3} by age if {name} was born before {name2} and {name3} last.
Why would a {job} need a {thing} at night? Give the most likely reason and explain.
Find the flaw in this argument: {passage} Therefore {society} is wrong.
Is it possible that {name} is both the {relative} and the boss of {name2}? Explain.
Which word comes next: {animal}, {thing}, {animal2}, ...? Explain the pattern.
One of these statements is false, find it and say why: {passage}
What can we conclude from the following report? {passage}
What was the main cause of the problem in this story, and could it have been avoided? {passage}
Solve the riddle: I have cities but no houses, rivers but no water. What am I?
A farmer has {c} {animal}s and loses all but {a}. How many remain?
The probability that it rains is 0.{a}. What is the probability of {a} dry days in a row?
Plan the shortest route that visits {city}, {country} and back, and explain your reasoning.
In which order should I do these tasks so that nothing waits: wash the {thing}, call {name}, cook, pay the {job}?
""")

EXAM = lines("""
Which of these is the largest? {opt}
Choose the right answer: who invented {tech}? {opt}
Pick the best option. {science} is mostly studied by {opt}
Quiz question: when did {history} begin? {opt}
What is the main reason for {history}? Choose one.\\n{opt}
Question: Which animal is closest to a {animal}?\\n{opt}\\nYour answer:
Select the correct continuation. {passage}\\n{opt}
{subject} test. A {thing} is most useful for\\n{opt}
Exercise {a}: which statement about {society} is right?\\n{opt}
The following is a multiple choice question about {subject}.\\n\\nWhat is {science}?\\n{opt}\\nAnswer:
What did {person} mean by that? {opt}
Which of the following would a {job} buy first?\\n{opt}
Which film is most like {show}?\\n{opt}
Choose the sentence with correct grammar.\\n{opt}
Read and choose. {passage} Who is meant by "he"?\\n{opt}
""")

STEM = lines("""
In the field of quantum physics, what is superposition and how does it relate to {science}?
Consider a satellite in circular orbit around the Earth at {c} km. Its speed drops suddenly. What happens to the orbit? Explain.
Photosynthesis and respiration are related. Outline the two processes and where they occur.
What is the central idea behind {tech}, and which assumptions does it make?
Describe five key principles for evaluating an argument about {society}.
How do {tech} and {tech2} differ in speed and memory? Give an example of each.
Why does ice float? Explain with {science}.
Balance the equation: H2 + O2 -> H2O
What is the molar mass of NaCl?
A vertex of a triangle is at (0, 0) and the others at ({a}, {b}) and ({b}, {a}). What is its area?
Given f(x) = {a}x^3 - {b}x - {a}, find f({a}).
How many integers satisfy |x + {a}| < {b}?
If x + y = {b} and xy = {a}, what is x^3 + y^3?
Prove by induction that 1 + 2 + ... + n = n(n + 1)/2.
A die is rolled {a} times. What is the expected number of sixes?
Let p be a prime. Show that p divides 2^p - 2.
Find the remainder when {c} is divided by {a}, and explain the method.
What is the time complexity of sorting {things} with quicksort in the worst case?
Compute the determinant of [[{a}, {b}], [{c}, {b}]].
What force acts on a mass of {a} kg that accelerates at {b} m/s^2?
How do people convert miles to kilometers in their head?
Why do Americans use Fahrenheit?
How much is {c} dollars in euros today?
Convert {c} to Roman numerals.
Write {c} in words in {tongue}.
On which weekday does March {a} fall this year?
How many working days are there in a year?
Add up: {a}, {b}, {c}, {a} and {b}.
What is the average of {a}, {b} and {c}?
Sort these numbers: {c}, {a}, {b}, {a}
What is {a} factorial divided by {a} squared?
Calculate the interest on {c} dollars at {a} percent for {b} months.
""")

CODING = lines("""
Develop a program that reads all text files under a directory and returns the top {a} words by count.
Write a C++ program to find the nth Fibonacci number using recursion.
Write a simple website in HTML. When a user clicks the button it shows a random {theme} quote.
Here is a Python function that should {verb} {things} but it fails for empty input. What is wrong?\\n{code}
Write a function to find the highest common ancestor of two nodes in a binary tree.
Implement a function to find the median of two sorted arrays of different sizes with O(1) space.
def {verb}_items(items):\\n    \\"\\"\\" Return the {things} of the list.\\n    \\"\\"\\"\\n
from typing import List\\n\\n\\ndef {verb}(values: List[int]) -> int:\\n    \\"\\"\\" {verb} all {things} and return how many there are\\n    >>> {verb}([1, 2, 3])\\n    3\\n    \\"\\"\\"
class {name}:\\n    def __init__(self):\\n        pass\\n# complete this class so that it can {verb} {things}
Refactor this {language} code so that it is easier to read:\\n{code}
What is the output of this {language} program?\\n{code}
I get an error when I run this: {code} How do I fix it?
Explain the difference between a list and a tuple in Python with examples.
Write a bash one-liner to {verb} all {things} in a folder.
Design a database schema for a shop that sells {things}. Explain your choices.
Write a Dockerfile for a {language} service.
How would you test a function that can {verb} {things}?
Review my pull request: it adds {tech} to the {language} client.
Write a {language} class with methods to {verb}, add and remove {things}.
Convert this pseudo code into {language}: for each of the {things}, {verb} it
What does the following regular expression match? ^[a-z]+\\d{2,}$
""")

PASSAGE = lines("""
{passage}\\n\\nBased on the text, why did this happen? Explain in two sentences.
{passage}\\n\\nWhat could be improved?
Read the following passage and write three questions about it.\\n\\n{passage}
Passage: {passage}\\n\\nHow does the author feel about {society}, and why?
Here are my notes: {passage} Turn them into a plan for next week.
{passage}\\n\\nContinue this text.
{passage} What would you do in my place?
{passage} How much will it cost me in the end?
{passage} How many are left in the end?
Given the following context, give a detailed answer.\\nContext: {passage}\\nQuestion: How are the people in it related?
Analyse the following situation and tell me who is at fault. {passage}
Translate into {tongue} and explain each word: {passage}
Summarise each paragraph in one line, then compare them.\\n\\n{passage}
My {relative} sent me this: "{passage}" How should I react?
Evaluate the following movie reviews on a scale of 1 to 5. {passage}
Which of the two statements is more convincing? First: {passage} Second: {passage}
Extract the three most important arguments and rank them.\\n{passage}
Group the people in this text by what they want: {passage}
Explain why the sentiment of this text is what it is, in three sentences: {passage}
Is the following advice good? {passage}
Correct every mistake in this text and explain your corrections. {passage}
Make a timeline of what happens here: {passage}
Classify this text into sport, politics or science and give your reasons. {passage}
Does the second sentence follow from the first? {passage}
What is the moral of this? {passage}
What is missing in this text? {passage}
""")

ADVICE = lines("""
I have had {health} for {a} days. Should I see a doctor?
Can I take aspirin together with my medicine for {health}?
My {relative} was diagnosed with {health}. What does that mean for our family?
What are my rights if my landlord does not repair {house}?
Can my employer fire me because of {health}?
How should I invest {c} dollars for my {relative}'s education?
Is it a good idea to move from {city} to {country} for a job as a {job}?
I cannot sleep and feel anxious all the time. Please help me.
My {relative} and I argue about {society}. How can we get along?
How do I tell my {relative} that I lost the {thing}?
What should I name my {animal}? It is shy and likes {theme}.
Recommend me five {genre} books similar to {book}.
Which films should I watch if I liked {show}?
Suggest a gift under ${b} for my {relative} who likes {sport}.
What should I cook tonight with {a} potatoes, a lemon and rice? Describe every step.
Give me a {a} week training plan for {sport}.
Help me decide between a career as a {job} and studying {subject}.
Tell me honestly: am I too old to learn {instrument}?
How can I become more confident when I speak about {subject}?
What questions should I ask before I buy a used {thing}?
Provide insights into the correlation between {society} and {society2}.
Discuss antitrust laws and their impact on {firm}.
How would you explain {history} to someone from {country}?
What are the business etiquette norms in {country}?
Explain the cultural meaning of {theme} in {country}.
Suggest {a} documentaries about {history} and say why each is worth watching.
What is the best way to learn {tongue} in {a} months?
Is {city} safe at night? What should I be careful about?
""")

FOLLOW = lines("""
ok, and why is that?
Can you explain that again in simpler words?
Tell me more.
Are you sure? I read something else about {science}.
What about {person}?
and in {country}?
Give me an example of that.
Continue.
Which of these would you choose and why?
Why not {thing}?
How do you know that?
What are the alternatives to {tech}?
and who was before {person}?
Do you agree with {person} on {society}?
that is not what I asked, I want to know about {history}
So what should I do first?
How does this compare with {science2}?
Can you give sources for that?
What would happen if it were the other way round?
Go on, what happened to {name}?
""")

WORLD = lines("""
Is {city} in {country}? Answer yes or no.
Is a {animal} bigger than a {animal2}? Yes or no?
True or false: {person} was born in {country}.
True or false: {science} was discovered before {tech}.
Did {history} happen before {history2}?
Is {person} still alive? Answer with yes or no.
Can a {animal} live in {country}?
Is it legal to {verb} {things} in {country}?
Yes or no: is {tech} better than {tech2}?
Was {person} ever in {city}?
Is {team} a {sport} team?
Name the three longest rivers of {country}, as a JSON list.
Give me the capitals of five countries as CSV.
Write a JSON object that describes {person} with birth year and works.
Make a JSON schema for a {thing}.
List ten {animal}s of {country} in bullet points.
Give me a table of the planets with their sizes.
What is the email address of {firm}?
What is the phone number of the {museum} in {city}?
What is today's date in {city}?
In what year did {history} start? Answer with a number.
Translate "{thing}" into {tongue}, in upper case.
How many letters are in the word {animal}?
Spell {science} backwards.
Give me a synonym of {theme} in title case.
""")
