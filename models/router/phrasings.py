"""How people ask for each kind of task: phrasings with {slots}, one a line; one in seven is held out (pools.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "nano"))
from other_more import CODING, REASON, ROLE, WRITE
from other_templates import CODE as CODE_LINES
from other_templates import KNOWLEDGE
from other_templates import MATHS as MATHS_LINES
from pools import lines

CLASSIFICATION = lines("""
Classify the sentiment of this review as positive, negative or neutral: {passage}
Is the following message spam or not spam? {passage}
Which category does this ticket belong to: billing, shipping, account or other? {passage}
Label the topic of this sentence: {passage}
Is this tweet positive or negative? {passage}
Categorize the following request as urgent, normal or low: {passage}
What emotion does this text express: joy, anger, sadness or optimism? {passage}
Decide whether the text is about {theme}. Answer yes or no. {passage}
Does this comment contain toxic language? Reply with true or false. {passage}
Tag each of these messages as question, complaint or praise: {passage}
Detect the intent of this message: {passage}
What language is this written in? {passage}
Assign one of these labels, sports, politics, business, science: {passage}
Tell me if this review is favourable or unfavourable: {passage}
Is the tone of this email formal or informal? {passage}
Sort this feedback into bug report, feature request or other. {passage}
Given the labels A: refund, B: exchange, C: information, which fits? {passage}
Rate the sentiment from 1 to 5: {passage}
Predict the genre of the book from its description. {passage}
Which department should handle this: sales, support or legal? {passage}
Would you call this statement a fact or an opinion? {passage}
Choose the right category (food, travel, health, tech) for: {passage}
Is the author of this happy with the {object}? Answer positive or negative. {passage}
Determine if the following headline says the price goes up, down or neither: {passage}
Classify: {passage}
sentiment? {passage}
spam or ham: {passage}
What is the priority of this incident, P1, P2 or P3? {passage}
""")

EXTRACTION = lines("""
Extract all email addresses from the text: {passage}
List all people mentioned in this paragraph. {passage}
What is the invoice number in this message? {passage}
Pull out every date that occurs in the following text. {passage}
Find the total amount in this receipt: {passage}
Extract name, company and phone number as JSON. {passage}
Which cities are mentioned here? {passage}
Get the order number from: {passage}
Return the names of all organisations in the text. {passage}
Identify the product and the price in this sentence: {passage}
Give me the phone numbers contained in the text below. {passage}
From the following message, take the delivery date: {passage}
List the action items in this note: {passage}
Extract the key terms from this passage: {passage}
Who sent this and when? Take it from the text. {passage}
Find all URLs in this: {passage}
Parse this address into street, city and postal code: {passage}
What deadline does the mail mention? {passage}
Copy every sentence that mentions {object}: {passage}
Extract the entities (person, place, date) from: {passage}
Read the text and tell me the name of the customer. {passage}
Fill in the fields customer, amount, due date from this: {passage}
Which ingredients occur in this text? {passage}
Pick out the numbers in the following. {passage}
Name every company in this article. {passage}
Show only the hashtags of this post: {passage}
Extract the error code from the message. {passage}
What quantities are given in the text? {passage}
""")

FORMATTING = lines("""
Convert this list to a markdown table: {listing}
Rewrite the following in title case: {listing}
Put these names in alphabetical order: {listing}
Turn this into JSON: {listing}
Format the text as bullet points: {passage}
Make all of this uppercase: {passage}
Convert the date {number}/07/2021 to ISO format.
Change these names to snake_case: {listing}
Reformat this CSV as YAML: {listing}
Number these lines: {listing}
Remove the duplicates from this list: {listing}
Remove all punctuation from this sentence: {passage}
Write these as a comma-separated list: {listing}
Fix the indentation of this JSON: {listing}
Put each item on its own line: {listing}
Wrap the text at 60 characters. {passage}
Convert the following bullet points to a numbered list: {listing}
Write {number} in words.
Change the headings of this text to sentence case. {passage}
Format this phone number internationally: 0{number} {number} {number}
Join these lines into one paragraph: {listing}
Replace semicolons with commas in: {listing}
Turn the table below into CSV. {listing}
Convert this to camelCase: {listing}
Sort the following numbers in descending order: {number}, {number}, {number}, {number}
Lowercase everything: {passage}
Make a two-column table out of {listing}
Strip the HTML tags from this: {passage}
""")

QA = lines("""
What is the capital of {country}?
Who wrote {book}?
When was {person} born?
What is {science}?
Where do {animal}s live?
How many people live in {country}?
Who invented {tech}?
What does the word {object} mean?
In which year did {history} happen?
What is the currency of {country}?
Define {science}.
who played the lead in {show}
what is the boiling point of water
Which language is spoken in {country}?
How tall is the Eiffel Tower?
what is {tech}
what colour is a {animal}
What is the main ingredient of guacamole?
who is the author of {book}
when did {show} first air
how many players are on a team in {sport}
What is the largest planet?
Who founded {firm}?
what year did {firm} start
Is a {animal} a mammal?
What continent is {country} on?
where was {person} born
what do {animal}s eat
name the longest river in {country}
What is {person} known for?
Which {instrument} has six strings?
How long does it take to boil an egg?
how many bones are in the human body
What is the chemical symbol of gold?
who painted the mona lisa
""")

SUMMARY = lines("""
Summarise this article in three sentences: {document}
Give me the key points of the following text. {document}
TL;DR: {document}
Write a short summary of this email: {document}
What is the main idea of this passage? {document}
Condense the following into one sentence: {document}
Can you sum up this report? {document}
Shorten this text to 50 words. {document}
Give an executive summary of the document. {document}
Boil this down to the essentials: {document}
Recap the meeting notes: {document}
In brief, what does this text say? {document}
Write an abstract for the following: {document}
Summarize the discussion below. {document}
What are the takeaways of this? {document}
Make a one-paragraph summary: {document}
Give me the gist: {document}
Provide an overview of this article in bullet points. {document}
Reduce this to a headline: {document}
Summarise for a busy manager: {document}
I have no time to read this, what does it say? {document}
Outline the most important facts of the text. {document}
tl;dr please {document}
Write the short version of: {document}
Sum this up in a tweet: {document}
""")

TRANSLATION = lines("""
Translate this to {tongue}: {passage}
How do you say "{phrase}" in {tongue}?
Translate the following sentence into {tongue}. {passage}
What is the {tongue} word for {object}?
Please translate into English: {foreign}
Put this into {tongue}: {phrase}
How would a native speaker say "{phrase}" in {tongue}?
{tongue} translation of: {passage}
What does "{foreign}" mean in English?
Translate from {tongue} to English: {foreign}
i need this in {tongue}: {phrase}
Write the following in {tongue}. {passage}
Render this text in {tongue}: {passage}
say {phrase} in {tongue}
Give me the {tongue} for "{phrase}".
Could you translate this mail into {tongue}? {passage}
Übersetze ins Deutsche: {passage}
Traduis en français : {passage}
Traduce al español: {passage}
Translate word by word into {tongue}: {phrase}
English to {tongue}: {phrase}
what's {object} in {tongue}
Translate this label for our {tongue} customers: {passage}
""")

CHAT = lines("""
hi there
Hello, how are you?
Good morning! Did you sleep well?
thanks, that was helpful
I'm bored, talk to me
What's your name?
Do you like {theme}?
i had a long day at work
tell me something nice
How was your weekend?
are you a real person
You're funny
I feel a bit lonely today.
nice to meet you
what do you think about {theme}?
lol ok
Let's chat about {show}.
my {relative} is visiting tomorrow, i'm excited
bye, talk to you later
do you have any hobbies
What's up?
I just got a new {animal}!
can you keep me company for a while
which {sport} team do you support
guess what happened to me today
i love {genre} music, you?
Who made you?
Have a great evening!
ok cool
I am so happy right now
""")

CODE = lines("""
Write a Python function that returns the {things} of a list.
How do I reverse a string in {language}?
Fix this bug: def {verb}(x): return x[len(x)]
Explain what this code does: for (int i = 0; i < n; i++) {{ sum += a[i]; }}
Write a SQL query that finds all customers with more than {number} orders.
def {verb}_{things}(items):\\n    \\"\\"\\" Return the {things} that can be found in items.\\n    >>> {verb}_{things}([1, 2, 3])\\n    [1]\\n    \\"\\"\\"\\n
Implement a linked list in {language}.
Write a regex that matches {things}.
Why do I get a NullPointerException in this method?
Convert this {language} function to {language2}.
Write unit tests for the class {verb}Manager.
from typing import List\\n\\ndef {verb}(numbers: List[int], limit: int) -> bool:\\n    \\"\\"\\" Check whether {things} are below the limit. \\"\\"\\"\\n
What is the time complexity of quicksort in the worst case?
Refactor this function so that it has no global state.
Write a bash script that renames all files in a folder.
Create a REST endpoint in {language} that returns {things}.
How can I make this query faster: SELECT * FROM {things} WHERE id IN (SELECT id FROM {things})
Write a {language} program that reads a file and counts {things}.
My docker container exits with code 137, how do I debug it?
Implement binary search in {language} without recursion.
Add error handling to this {language} snippet: open(path).read()
Write a class for a bank account with deposit and withdraw methods.
How do I merge two dictionaries in Python?
What does the keyword volatile do in {language}?
Give me a decorator that caches results in {language}.
import math\\n\\ndef {verb}_area(radius: float) -> float:\\n    '''Compute the area of a {object}.'''\\n
Write a function \\"{verb}(s)\\" that takes a string and returns the number of vowels. assert {verb}('abc') == 1
git says detached HEAD, how do I get my commits back
Find the memory leak: char *p = malloc(10); p = NULL;
Center a div with CSS.
Write a recursive function for the Fibonacci numbers with memoization.
def {verb}(string: str) -> str:\\n    \\"\\"\\" Given a string with {things}, return it without them.\\n    >>> {verb}('a b')\\n    'ab'\\n    \\"\\"\\"\\n
""")

MATHS = lines("""
Solve for x: {number}x + {number} = {number}
What is the integral of x^{digit} * sin(x)?
Find the derivative of ln(x^{digit} + {number}).
What is {number} percent of {number}?
A train travels {number} km in {digit} hours. What is its average speed?
Compute the determinant of the matrix [[{digit}, {digit}], [{digit}, {number}]].
How many ways are there to choose {digit} people out of {number}?
Simplify (x^2 - {digit}) / (x - {digit}).
{first} has {number} apples and gives {digit} to each of {digit} friends. How many are left?
What is the probability of rolling a sum of {digit} with two dice?
Find all primes p such that p^2 + {digit} is prime.
Calculate the area of a circle with radius {number}.
If a shirt costs ${number} after a discount of {digit}0%, what was the original price?
Evaluate the limit of (sin x)/x as x goes to 0.
Prove that the square root of {digit} is irrational.
What is the remainder when {number}^{number} is divided by {digit}?
{first} earns ${number} an hour and works {digit} hours a day for {digit} days. How much does {first} earn?
Solve the differential equation y' + {digit}y = 0.
Find the eigenvalues of a {digit}x{digit} identity matrix times {number}.
What is the sum of the first {number} natural numbers?
Let G be a group of order {number}. How many Sylow subgroups can it have?
A rectangle is {number} cm long and {digit} cm wide. What is its perimeter?
Factor the polynomial x^3 - {number}x + {digit}.
{first} buys {digit} {things} for ${number} each and {digit} more for half the price. How much is spent in total?
In a right triangle the legs are {digit} and {number}. Find the hypotenuse.
What is the least common multiple of {number} and {number}?
((-{digit} + {digit} * {digit}) - ({digit} - {number})) =
Compute {digit}! / {digit}!
""")

# The kinds of BIG-Bench Hard are not imitated: it measures this class.
REASONING = lines("""
{first} is taller than {first2}, who is taller than {first3}. Who is the shortest?
All {animal}s are {things}. Some {things} are red. Does it follow that some {animal}s are red? Explain.
There are {digit} boxes in a row, labelled 1 to {digit}. The red one is next to the blue one, the green one is in the middle. Which is first? Clue: {first} likes red.
If it rains the street is wet. The street is wet. Did it rain? Justify your answer.
{first} tells the truth on Mondays only. Today {first} says: tomorrow I will lie. Which day is it?
A farmer must cross a river with a wolf, a goat and a cabbage. How does he do it?
Who lives in house {digit}? Clues: 1. The {job} lives next to the {job2}. 2. {first} lives in house 1. 3. The {animal} owner is no {job}.
Explain why this argument is a fallacy: everyone likes {theme}, so it must be good.
If all A are B and no B is C, can any A be C? Justify your answer step by step.
Why might a company raise prices although demand falls? Think it through carefully.
What is the most likely explanation: the light is off, the fridge is warm and the street is dark?
Suppose everyone who owns a {animal} owns a {object}. {first} owns no {object}. What do you know about {first}?
Which statement is inconsistent with the others, and why? 1. {first} came before {first2}. 2. {first2} came before {first3}. 3. {first3} came first.
If {first} is the mother of {first2} and {first2} the sister of {first3}, how are {first} and {first3} related?
Two doors, one guard lies and one tells the truth. What single question finds the way out?
You have {digit} coins, one of them lighter, and a balance. In how many weighings can you find it?
What assumption does this argument rest on: the {firm} office is empty, so nobody works today?
{first} sits opposite {first2}. {first3} sits between them, on the left of {first2}. Who sits on the right of {first}?
A {job} says that the {object} was stolen at noon, but the clock had stopped at ten. What can be concluded about the {job}?
Three switches are in the cellar and one lamp is upstairs. How do you find the right switch with one walk?
What would have to be true for {society} to be harmless? Reason from causes to effects.
In which order did {first}, {first2} and {first3} arrive if {first2} was not last and {first3} came after {first}?
Is it possible that both of these are false: some {animal}s fly; some {animal}s do not fly? Explain the logic.
Is the conclusion supported? Premise: most {job}s travel. Premise: {first} travels. Conclusion: {first} is a {job}.
A {object} in a tree, a ladder too short, a rope and a {instrument}: how can {first} get it down? Think step by step.
Choose the answer that follows from the text. Whoever plays the {instrument} practises daily; {first} has not practised since May. Options: (A) {first} plays it (B) {first} does not play it (C) nothing follows
""")

SYNTHESIS = lines("""
Compare these three reports and say where they contradict each other. {document} {document}
Using all sections of the document, write an assessment of the risks. {document} {document}
Combine the findings of the following papers into one literature review. {document} {document}
Go through the attached transcripts and describe how the opinion of {person} changed. {document} {document}
Read both contracts and list every difference in liability. {document} {document}
Across these chapters, how does the author develop the theme of {theme}? {document} {document}
Based on all the documents below, what should {firm} do next and why? {document} {document}
Synthesize the interviews into five insights with evidence. {document} {document}
Reconcile the two versions of events. {document} {document}
Cross-check the figures in the annual report with those in the press release. {document} {document}
Here are twelve customer interviews. What patterns emerge across them? {document} {document}
Trace how the argument about {society} evolves through the chapters. {document} {document}
Which of the sources disagree about {history}, and whose evidence is stronger? {document} {document}
Merge these meeting notes into one consistent timeline. {document} {document}
Draw together the evidence from these studies on {health}. {document} {document}
Write a report that integrates the results of all the attached documents. {document} {document}
How do the positions of the three authors on {society} relate to each other? {document} {document}
Build a table of all obligations of each party across the agreements. {document} {document}
Look through the logs and the tickets and find the common cause. {document} {document}
What do the five reviews agree on, and where do they differ? {document} {document}
Analyse the long thread below and extract the decision and its reasons. {document} {document}
Use the whole book to explain why {first} leaves. {document} {document}
""")

CREATIVE = lines("""
Write a poem about {theme}.
Tell me a story about a {animal} who wants to be a {job}.
Compose a haiku on {theme}.
Write a song in the style of {genre} about {object}s.
Invent a slogan for a company that sells {object}s.
Write the first paragraph of a novel set in {country}.
Make up a fairy tale with a {animal} and a {job}.
Write a limerick about {person}.
Describe a {object} in a poetic way.
Write a dialogue between a {job} and a {animal}.
Imagine you are a {job} in the year 2300 and write a diary entry.
Write a funny wedding speech for my {relative}.
Create a villain for my fantasy book.
Come up with ten names for a {genre} band.
Write a blog post about travelling in {country}.
Write an essay on {society} with a surprising ending.
Give me a metaphor for {theme}.
Rewrite this fable as a science fiction story.
Draft a monologue for a {job} who lost everything.
Write a bedtime story with my {relative} as the hero.
Create a persuasive ad for {tech}.
Write lyrics for a lullaby about a {animal}.
Write a scene in which {person} meets {person2}.
Describe a sunset over {country} as {person} would.
Pretend to be a pirate and tell me about your {object}.
Write an acrostic with the letters of {theme}.
Think of an original birthday greeting for my {relative}.
""")

PLANNING = lines("""
Plan a three-day trip to {country} for two people with a budget of ${number}.
Make a weekly study plan for {subject}.
Create a project plan for moving our office to another city.
Help me organise a birthday party for my {relative}, step by step.
Draw up a training plan for my first marathon.
Plan the meals for a family of four for a week.
What is a good roadmap for launching a {tech} product?
Set up a schedule so that I learn the {instrument} in six months.
How should I prepare for an interview as a {job}? Make a plan.
Write an itinerary for a week in {country}.
Plan the migration of our database with as little downtime as possible.
Break the goal of learning {language} into weekly milestones.
Design a workout schedule around a full-time job.
I have {digit} tasks and two days, help me prioritise them.
Develop a marketing strategy for a small shop that sells {object}s.
Plan a wedding for {number} guests with a checklist and deadlines.
Prepare an agenda for a two-day workshop on {society}.
Lay out the steps to start a business as a {job}.
Make a savings plan so that I can buy a house in five years.
Schedule the renovation of a kitchen, with the order of the trades.
How can we roll out {tech} to {number} employees? Give a timeline.
Organize a charity run: tasks, owners, dates.
Put together a reading plan for {book} in a month.
Devise a plan for {health} over the next twelve weeks.
What should the first 90 days of a new {job} look like? Plan them.
""")

FRESH = lines("""
What is the weather in {country} today?
Who won the {sport} match last night?
What's the latest news about {firm}?
What is the current price of {firm} stock?
Is the {firm} website down right now?
What are today's headlines?
When is the next {show} episode released?
Which version of {language} is the newest?
What is the exchange rate of the dollar this morning?
How much does a {object} cost at the moment?
Who is the current president of {country}?
What happened in {country} this week?
Are there any traffic jams on my way now?
Is the museum open today?
What is trending right now?
Any updates on {society} since yesterday?
Did {team} win yesterday?
What did {firm} announce this month?
Is {person} still alive?
What's new in {tech} in 2026?
Which films are in the cinema this weekend?
What are the current interest rates?
Is flight {number} on time today?
Has the new {firm} phone been released yet?
What is the score of the {team} game?
Who leads the {sport} table at the moment?
Is there an upcoming election in {country}?
how is the stock market doing today
Are tickets for {show} still available?
What changed in the latest release of {language}?
""")

DOCUMENT = lines("""
The board of {firm} met on Tuesday to discuss {society}. Several members said that the plan had come too late.
{person} grew up in {country} and later worked as a {job}. The letters from that time are kept in a museum.
Researchers have studied {science} for decades. A new method makes it possible to measure it with a simple {object}.
Our order of {number} {object}s arrived on Friday, but {digit} of them were broken. We ask for a refund by the end of the month.
The history of {country} is closely tied to {history}. Trade brought new goods, and with them new ideas.
In the first chapter the {job} finds an old {object} in the attic. Nobody in the village wants to talk about it.
{team} started well but lost the second half. The coach said that the players were tired after {number} games.
Customers like the {object} but complain about the delivery. In {number} interviews it was named most often.
The contract runs for {digit} years and may be ended with notice of {number} days. Liability is limited to the yearly fee.
{animal}s live in small groups. In winter they move south, where they find more food.
Please find attached the minutes. {first} will send the figures to {first2} by Monday, {first3} books the room.
The use of {tech} has doubled in {digit} years. Critics point to the cost, supporters to the time that is saved.
""")

# More of a kind, written for the embedded model; training alone.
MORE = {
    "qa": (KNOWLEDGE,),
    "maths": (MATHS_LINES,),
    "code": (CODE_LINES, CODING),
    "creative": (WRITE, ROLE),
    "reasoning": (REASON, REASON),
}

# Requests in parts: what to do | to what | how. The first block of kinds has a text to work on after or before it.
WITH_TEXT = {
    "classification",
    "extraction",
    "formatting",
    "summarisation",
    "synthesis",
    "translation",
}
PARTS = {
    "classification": (
        "classify|categorise|categorize|label|tag|determine|decide|tell me|identify|say|judge|assess|what is|guess|predict|assign|check|choose",
        "the sentiment of this|the category of the message|the topic of the text|whether this is spam|the intent of the customer|"
        "the emotion in the post|if the review is positive or negative|the type of this document|the language of the text|"
        "whether the claim is fact or opinion|the department for this ticket|the urgency of this request|if this is offensive|the genre|"
        "which label fits|whether the headline is about {theme}|the polarity of the opinion|the right class",
        "|with one word|as positive, negative or neutral|from these labels: bug, question, praise|yes or no|choose one of A, B, C|"
        "from 1 to 5|and nothing else|(news, sports, business, science)|as a single label",
    ),
    "extraction": (
        "extract|list|find|pull out|get|return|give me|identify|collect|pick out|grab|locate|name|copy|note down|which are|show|what are|"
        "what is|look for|search for|who or what are",
        "all names|the dates|every email address|the phone numbers|the total amount|the order number|the companies|the places|"
        "all prices|the sender and the receiver|the deadline|the product names|the keywords|the quantities|the address|the people mentioned|"
        "the links|the quotes|the entities|the action items|the requirements|the figures",
        "|from the text below|in this message|as JSON|mentioned here|that occur in the mail|as a list|in the following|contained in the document",
    ),
    "formatting": (
        "convert|reformat|turn|rewrite|change|format|put|transform|arrange|make|restructure|lay out|clean up|render|order|sort|spell|number|pad|"
        "split|join|align|print|reverse the order of",
        "this list into a table|the text as bullet points|this into JSON|these lines to CSV|the names to upper case|the dates to ISO format|"
        "the paragraph into a numbered list|everything in lower case|the items in alphabetical order|the headings in title case|"
        "the table as markdown|it to YAML|the spelling of the variables to camel case|each sentence on its own line|the spacing|the columns|"
        "{number}, {digit} and {number} by size|these words by length|{number} as Roman numerals|the amount {number} in letters|"
        "{number}000 with thousands separators|the times to 24 hours|the list from small to large|names as last name, first name|"
        "{listing}|{listing} as a table",
        "|without changing the words|and keep the order|please|exactly|with one item a line|separated by commas|and remove duplicates",
    ),
    "summarisation": (
        "summarise|summarize|sum up|condense|shorten|recap|boil down|give the gist of|outline|write a summary of|give me a brief version of|"
        "what are the key points of|compress|abridge|give a digest of|state the main idea of|reduce|write an abstract of|give an overview of",
        "this article|the text|this email|the report|the following|the story|this thread|the meeting notes|this paragraph|the chapter|"
        "the passage|the conversation|this letter|the news item|it",
        "|in one sentence|in three bullet points|in fifty words|briefly|for a busy reader|in simple words|in a short paragraph|as a headline",
    ),
    "translation": (
        "translate|translate|render|put|say|how do you say|what is the translation of|give me|write|express|could you translate|"
        "übersetzen Sie|vertaal|traduci|przetłumacz|traduza|översätt|traducir|traduire|what is",
        "this into {tongue}|the following to {tongue}|it in {tongue}|{phrase} in {tongue}|the sentence into {tongue}|this mail into {tongue}|"
        "the word {object} to {tongue}|the text from {tongue} into English|{foreign} into English|this from English to {tongue}|"
        "the {tongue} name of a {object}|{object} in {tongue}|the {tongue} expression for {phrase}|naar het Nederlands|in italiano|na angielski|"
        "en inglés|en anglais|{foreign}",
        "|please|politely|literally|word for word|as a native speaker would|for a letter",
    ),
    "synthesis": (
        "compare|combine|synthesise|reconcile|integrate|merge|relate|contrast|cross-check|weigh|trace|draw together|connect|analyse",
        "the documents|these reports|all the sources|the two contracts|the attached transcripts|the chapters|the studies|the interviews|"
        "both versions|all sections|the papers|the accounts of the witnesses|the positions of the authors|the minutes of all meetings",
        "and write one report|and say where they contradict each other|into a timeline|and draw conclusions|with evidence from each|"
        "and explain the differences|across all of them|and recommend what to do|into a literature review|and list what they agree on",
    ),
    "reasoning": (
        "explain|decide|conclude|work out|justify|infer|reason about|figure out|determine|find out|deduce|argue|is it certain|say|discuss",
        "who is lying|which box holds the {object}|what follows from the premises|whether the argument holds|where {first} sits|"
        "the order of the runners|why the plan of {first} fails|which statement must be true|the next item in the pattern|who owns the {animal}|"
        "what happens to the {object} if {first} leaves|whether both can be true|which cause is the likeliest|what {first} believes|"
        "the flaw in this proof|how the {job} knew|which way {first} faces|who is the oldest|what must be false",
        "if {first} is older than {first2} and {first2} than {first3}|given that no {animal} is a {thing}|when {first} always lies|from the clues|"
        "step by step|and why|. {first} came before {first2}. {first3} came last|. Whoever has a {object} has a {instrument}|"
        "considering that {first} saw {first2} at noon|. Either {first} or {first2} is a {job}, not both|, assuming that the {object} is heavy",
    ),
    "creative": (
        "write|compose|make up|invent|create|draft|tell me|come up with|imagine|craft|pen|improvise|dream up",
        "a poem|a story|a short story|a song|a haiku|a limerick|a fairy tale|a dialogue|a slogan|a joke|a speech|a scene|a letter from a pirate|"
        "a sonnet|a riddle|a blog post|an opening paragraph|a monologue|a rap|names for a band|a legend|a tagline|a toast",
        "about {theme}|about a {animal}|with a {job} as the hero|in the style of {person}|set in {country}|for my {relative}|"
        "that makes people laugh|with a sad ending|about {object}s|that rhymes|for children|with a twist",
    ),
    "planning": (
        "plan|organise|schedule|make a plan for|draw up a plan for|create a timetable for|help me plan|prepare|lay out the steps of|set up|"
        "design a programme for|break down into tasks|work out a schedule for|outline the milestones of|make a checklist for|arrange|map out",
        "a trip to {country}|a wedding|the launch of a product|a move to {city}|my week|learning {language}|a marathon training|a conference|"
        "the renovation of my house|an exam in {subject}|a charity event|the budget of a family|a career change to {job}|a garden|"
        "the migration of our servers|a holiday with my {relative}|a fitness routine|a company offsite|a research project",
        "|in two weeks|with a budget of ${number}|step by step|day by day|for {digit} people|with deadlines|over six months|from start to end",
    ),
    "fresh": (
        "what is|tell me|give me|show me|do you know|find|check|look up|any news about|what about",
        "the weather in {city}|the stock price of {firm}|the result of the {team} game|the latest news|the score|the newest version of {language}|"
        "the exchange rate|the headlines|the price of {object}s|the release date of the next {show}|the standings in {sport}|the traffic|"
        "what {person} said|the election results in {country}|the opening hours of the museum|what {firm} announced|the status of the trains",
        "today|right now|this week|at the moment|tonight|yesterday|this morning|currently|as of now|this month|last night|in 2026|tomorrow",
    ),
    "qa": (
        "what is|who is|where is|when was|how big is|tell me|do you know|which is|define|explain in a sentence|what does one call",
        "the capital of {country}|the author of {book}|the inventor of {tech}|the meaning of {science}|the birthplace of {person}|"
        "the founder of {firm}|the habitat of the {animal}|the year of {history}|the colour of a {animal}|the population of {country}|"
        "the highest mountain of {country}|the number of players in {sport}|the language of {country}|{science}|{tech}|the first {instrument}",
        "||||in short|please",
    ),
    "code": (
        "write|implement|fix|debug|explain|refactor|optimise|test|review|port|complete|document|how do I write|show me",
        "a {language} function|this {language} code|a class|a SQL query|a unit test|a regex|a bash script|an API endpoint|a loop|the method|"
        "a parser|a sorting algorithm|a stack trace|the constructor|a Dockerfile|a recursive function|the following snippet",
        "that returns {things}|that counts {things}|which crashes with an exception|in {language}|that reads a file|with error handling|"
        "without recursion|that runs in linear time|for a list of {things}|that validates an email|with type hints|using a hash map",
    ),
    "maths": (
        "calculate|compute|solve|find|determine|evaluate|prove|derive|what is|simplify|show|work out",
        "the integral of x^{digit} + {number}|{number} * {number} - {digit}|x in {digit}x + {number} = {number}|the area of a triangle with sides {digit}, {digit} and {number}|"
        "the probability of {digit} heads in {number} tosses|the derivative of sin({digit}x)|the sum of all even numbers up to {number}|"
        "the roots of x^2 - {number}x + {digit}|{digit} / {number} as a decimal|the volume of a cone of height {number}|the greatest common divisor of {number} and {number}|"
        "that {number} is not prime|the mean of {number}, {number} and {digit}|the rank of the matrix|the limit as n goes to infinity",
        "|step by step|exactly|to two decimals|and show your work|without a calculator",
    ),
}
