"""Phrasings for task_other.py. {slots} are filled from other_words.py; \\n is a line break."""

from pools import lines

KNOWLEDGE = lines("""
What is the capital of {country}?
What is the population of {country}?
how many people live in {country}
What language do they speak in {country}?
Who is the leader of {country}?
who is the president of {country}
What is the largest city in {country}?
what is the largest {animal} ever found
what is the largest state in {country}
what is the longest river in {country}
which countries border {country}
what is the national anthem of {country}
what is the main religion in {country}
What is {country} famous for historically?
When did {country} become independent?
what is the flag of {country} like
please find the capital of {country} and its population
Explain {science}
Explain {science} to a child.
explain {tech} in simple terms
What is {science}?
What is {tech}?
What are the causes of {history}?
What causes {science}?
how does {science} work
How do {tech} work?
How does {tech} work?
Why is {science} important?
Who discovered {science}?
who invented {tech}
when was {tech} invented
what is the difference between {science} and {science2}
What is the difference between {tech} and {tech2}?
Compare {tech} and {tech2}.
Compare {history} with {history2}.
Tell me about {history}.
tell me about {science}
tell me everything about {person}
What happened during {history}?
When did {history} happen?
when did {history} end
Why did {history} happen?
Who was involved in {history}?
what were the consequences of {history}
Summarise {history} in five points.
Describe {history} in detail.
Who was {person}?
who is {person}
When was {person} born?
where was {person} born
where did {person} live
how old was {person} when he died
when did {person} die
how tall is {person}
how rich is {person}
what did {person} invent
what is {person} known for
what were some of {person}'s notable accomplishments
what are {person}'s best works
who is {person} married to
what was {person}'s childhood like
Was {person} left-handed?
did {person} ever meet {person2}
What would {person} think about {society}?
Discuss {society}.
What do you think about {society}?
what is your opinion on {society}
What are the pros and cons of {society}?
Is {society} good or bad?
should we be worried about {society}
Argue for {society}.
Explain how {society} affects {society2}.
what is {society}
Give me three arguments against {society}.
how did {society} start
what do {animal}s eat
how long does a {animal} live
how fast can a {animal} run
where do {animal}s live
why do {animal}s sleep so much
what is the scientific name of the {animal}
how many legs does a {animal} have
is a {animal} a mammal
can a {animal} swim
what percentage of {animal}s are male
what is a baby {animal} called
how do {animal}s communicate
how many planets are there in the solar system
how far away is {science}
what is the speed of light
what is the boiling point of {science}
what is the formula for the area of a circle
how many sides does an octagon have
how many bones are in the human body
what is the tallest building in {city}
when was {city} founded
who is the mayor of {city}
any headlines from {city}
what is in the news today
what are the latest headlines about {firm}
what river runs through {city}
what is the tallest mountain in {country}
what is the chemical symbol for gold
what colour do you get when you mix blue and yellow
why is the sky blue
why do leaves change colour
why is the ocean salty
how is glue made
how is {science} measured
how are clouds formed
what is the smallest country in the world
""")

LEISURE = lines("""
how many players are on the {team}
who is the coach of the {team}
when do the {team} play next
who won the {team} game
what is the record of the {team}
who plays quarterback for the {team}
who's the best player on the {team}
what time is the {team} game
did the {team} win last night
who owns the {team}
what channel is the {team} game on
who won {sport} last year
what are the rules of {sport}
how many players are on a {sport} team
is there overtime in {sport}
when did {sport} start
who is the best {sport} player of all time
how long is a {sport} game
where was {sport} invented
please explain the offside rule in {sport}
what equipment do i need for {sport}
can you tell me something about {sport}
what team does {person} play for
how many points did {person} score
how many championships has {person} won
get me {person} stats
can you list {person}'s awards
how much money does {person} make a year
who directed {show}
who stars in {show}
who wrote {show}
what year was {show} released
how many oscars did {show} win
how long is {show}
what's the runtime of {show}
when is the next {show} coming out
what is the plot of {show}
who is the villain in {show}
which character is the most famous from {show}
who is the main character in {show}
is {show} on netflix
how many seasons of {show} are there
what is the best episode of {show}
what's the best price on {show} right now
where was {show} filmed
how does {show} end
is {show} suitable for kids
recommend a movie like {show}
what movies are playing this weekend
what is a good book to read
who wrote {book}
what is {book} about
summarize {book}
who is the main character in {book}
how many pages does {book} have
when was {book} published
what is the theme of {book}
what genre is {book}
Analyse the symbolism in {book}.
how many strings does a {instrument} have
what year was the {instrument} first played
which {instrument} is best for beginners
how hard is it to learn the {instrument}
who is the best {instrument} player in the world
what is the most dominant scale in {genre}
who invented {genre} music
what are the best {genre} albums of the year
who is the most popular {genre} artist
when is the {genre} festival
who is {firm} competing with
when was {firm} created
who founded {firm}
who is the ceo of {firm}
how many employees does {firm} have
where is {firm} based
how much is one share of {firm}
how much is {firm} stock worth
is it worth investing in {firm}
what is {firm}'s revenue
what are some deals at {firm}
how expensive is a {firm} share
what does {firm} sell
what is the newest product from {firm}
does {firm} offer internships
what is {firm}'s return policy
""")

LIFE = lines("""
how much is an overdraft fee
how long do wire transfers take
how do i open an online line of credit
how do i open a savings account
what are the branch hours of my bank
is there an atm near me
where is the nearest branch of the bank
how do i apply for a mortgage
should i refinance my house
how do i change my billing address
what is a good way to save money
what are some ways to reduce spending
how do i start a budget
what is the current market trend
should i buy bitcoin
how much is bitcoin worth
what is a mutual fund
how do i get a student loan
how do i dispute a bill with the phone company
what is compound interest
how do i close my bank account
how do i write a check
how do i file for bankruptcy
what is the best bank for students
how do i add someone to my account
what size wipers does this car take
where is the dipstick
how do i turn on the cruise control
how do i change the brake pads
what car should i buy
what is the top speed of a {firm} car
how do i parallel park
is it better to lease or buy a car
how do i get my driver's license
how do i remove a dent from my car
how do i replace the windshield
what is the most popular airline
how fast does an airplane travel
what is the most comfortable seat on a plane
i need to speak to customer service about my flight
can i bring my dog on the plane
how do i get a seat upgrade
how do i renew my passport
is the wifi free at the airport
how early should i get to the airport
what time does the {museum} open
how much are tickets to the {museum}
who designed the {museum}
where can i see art in {city}
how do i remove {house}
how do i fix {house}
what is the best way to deal with {house}
what product should i use for {house}
what are the symptoms of {health}
what is the best treatment for {health}
how do i get rid of {health}
what should i do about {health}
is {health} contagious
can stress cause {health}
what medicine is good for {health}
how do i become a {job}
how much does a {job} make
how can i become a {job} without a degree
what does a {job} do all day
is being a {job} stressful
what should i ask in a {job} interview
how do i find a good {job}
how long does it take to become a {job}
where should i study {subject}
can you help me study for a {subject} exam
what is the best {subject} textbook
what are the benefits of studying {subject}
when do {subject} classes start
can you help me with my {subject} homework
who is the father of modern {subject}
how many students study {subject}
what jobs can i get with a {subject} degree
how do i ask my boss for a raise
how do i quit my job
what should i wear to work
how do i deal with a difficult coworker
how do i start my own business
how do i start a podcast
how do i get more followers
what is the best social media platform
how can i get involved in marketing
what is the biggest company in {country}
how do i take a screenshot
how much battery is left
how do i change my wallpaper
how do i connect to the wifi
what is the wifi password
how much storage is left on my phone
how do i back up my photos
what is the best phone to buy
what's the average battery life of a phone
how do i block a number
how do i make my computer faster
how do i delete my browsing history
what laptop should i get
how do i unlock my phone
take a picture
open the camera app
send an email to {name}
read my emails
check my voicemail
show me pictures of {animal}s
search the web for {science}
turn on subtitles
record a voice memo
download {show}
how do i grow tomatoes
when should i plant roses
how often should i water a cactus
how do i train a puppy
what do i feed a {animal}
how do i take care of a {animal}
what breed of dog is best for kids
how do i get my cat to use the litter box
what should i get my {relative} for a birthday
how do i tie a tie
how do i wrap a present
how do i iron a shirt
what should i wear to a wedding
what colors go with navy blue
how do i lose weight
how many push ups should i do
what is the best exercise for abs
how do i run faster
how do i meet new people
should i text my ex
how do i apologize to my {relative}
my {relative} is angry with me, what do i do
i feel sad today
i am so bored
i had a terrible day at work
i just got engaged
my {relative} is coming to visit next week
i think i am falling in love
why are people so rude
what is your favorite color
do you believe in ghosts
can you keep a secret
do you dream
are you smarter than me
what is the best city to live in
what are you wearing
who would win, a {animal} or a {animal2}
what does my star sign mean
what does it mean to dream about a {animal}
what is the best personality type
who should i vote for
when is the next election
how do i register to vote
who won the election
what are the laws on {society}
is it legal to own a {animal}
how do i sue my landlord
how do i write a will
can my landlord raise the rent
how do i adopt a child
what is the best age to retire
how long is winter
what trees change color in autumn
do people prefer summer over fall
how many days are in a leap year
what is the longest day of the year
where does {name} live
what is {name}'s favourite food
where can i buy {thing}
how much does a {thing} cost
who invented the {thing}
how does a {thing} work
what is a {thing} made of
when was the {thing} invented
which {thing} is the best
how do i fix a broken {thing}
is there a cheaper {thing}
how heavy is a {thing}
how do i clean a {thing}
""")

GENERATE = lines("""
Write a poem about {theme}.
Write a poem about {theme}
write me a haiku about {theme}
Write a short story about {theme}.
Write a story about {theme} and {theme2}.
Tell me a story about {theme}
Write a song about {theme}
Write the first paragraph of a novel about {theme}.
Compose a limerick about {theme}.
Write a sonnet about {theme} in the style of {person}.
Write an essay about {society}.
Write a 500 word essay on {history}.
write a speech about {society}
Write a blog post about {tech}.
Write an article on {science} for a school magazine.
Write a letter to {person}.
Write a cover letter for a job as a {job}.
Write an email to my boss asking for a day off.
Write a polite email to {name} about the {thing}.
Draft a reply to this message: {text}
write a tweet about {tech}
Write a product description for a {thing}.
Write a review of {show}.
Write a dialogue between {person} and {person2}.
Create a slogan for a company that sells {thing}s.
Suggest ten names for a {animal}.
Brainstorm names for a startup about {tech}.
Come up with ideas for a party with the theme {theme}.
Give me ideas for a {subject} project.
Give me five tips for learning {subject}.
Make a study plan for {subject}.
Plan a seven day trip through {country}.
Plan my week.
Create a detailed itinerary for {city}, day by day.
Create a workout plan for a {job}.
Make a meal plan for the whole week.
Plan a birthday party for my {relative}.
Design a lesson about {science}.
Make a quiz about {history}.
Create a presentation outline about {tech}.
Write a business plan for a shop that sells {thing}s.
Draft a contract between {name} and a {job}.
Write a resume for a {job}.
Pretend you are {person} and answer my questions.
Act as a {job} and give me advice.
Let's play a game: you are {theme}.
Continue this story: {name} opened the door and saw {theme}.
Imagine a world without {science}. Describe it.
Write a function to {verb} {things}.
Write a {language} function to {verb} {things}.
Write a {language} program that will {verb} {things}
Write {language} code to {verb} {things}.
write code that can {verb} {things} in {language}
How do I {verb} {things} in {language}?
how to {verb} {things} in {language}
Implement a {things} in {language}.
Give me an example of {tech} in {language}.
Fix this {language} code: {code}
Why does this code not work? {code}
Explain this code:\\n{code}
What does this {language} code do?\\n{code}
Optimise this function:\\n{code}
Write unit tests for this:\\n{code}
Translate this {language} code to {language2}: {code}
Write a regular expression that matches {things}.
Write a SQL query to {verb} {things}.
Write a shell script to {verb} {things}.
Complete the code:\\n{code}
Debug: {code}
{code}
Should I learn {language} or {language2}?
How do I install {language}?
What is the best framework for {language}?
""")

TEXT_WORK = lines("""
Summarize this: {text}
Summarise the following text in one sentence.\\n\\n{text}
Summarize: {text}
TL;DR {text}
Give me a summary of this message:\\n{text}
{text}\\n\\nSummarize the text above.
Translate to {tongue}: {text}
Translate the following text into {tongue}.\\n\\n{text}
Translate this message to {tongue}: "{text}"
{text}\\nTranslate the text into {tongue}.
Rewrite this more politely: {text}
Rewrite this in a formal tone: {text}
Paraphrase: {text}
Paraphrase this sentence: {text}
Make this shorter: {text}
Improve this text: {text}
Correct the grammar: {text}
Fix the spelling mistakes in this text: {text}
Proofread this: {text}
Classify the topic of this text: {text}
Is this spam? {text}
What is the tone of this message? {text}
Who wrote this? {text}
Extract the keywords from: {text}
List all the nouns in: {text}
How many words are in this text? {text}
How would you reply to this? {text}
Answer this message: {text}
What should I answer? {text}
Explain this: {text}
Explain this message to me: {text}
What happens next? {text}
Is this true? {text}
Fact check: {text}
Ask three questions about this text.\\n{text}
Answer the question using the text.\\nText: {text}\\nQuestion: why?
Turn this into a poem: {text}
Expand this into a paragraph: {text}
Write a title for this text: {text}
Convert this to pirate speech: {text}
Make this funnier: {text}
Generate a headline for: {text}
Count the letters in: {text}
Reverse this: {text}
Encode this in base64: {text}
""")

MATHS = lines("""
Solve for x: {a}x + {b} = {c}
Solve {a}x^2 + {b}x + {c} = 0
solve the equation {a}x - {b} = {c}x
What is the derivative of x^{a} + {b}x?
Integrate {a}x^{b} dx
Find the prime factors of {c}.
Is {c} a prime number?
What is the greatest common divisor of {b} and {c}?
Prove that the square root of {a} is irrational.
Prove that there are infinitely many primes.
Simplify ({a}x + {b})({c}x - {a}).
A train travels {b} km in {a} hours. What is its average speed?
If {name} has {a} apples and gives {b} to {name2}, how many are left?
{name} is {a} years older than {name2}. Together they are {c}. How old is {name}?
A shop sells {thing}s for ${a} each. How much do {b} cost with a {a}% discount?
What is the probability of drawing {a} red balls from a bag of {b} red and {c} blue balls?
Find the area of a triangle with base {a} and height {b}.
What comes next: {a}, {b}, {c}?
Find the next number in the sequence {a}, {b}, {c}
What is the sum of the first {c} natural numbers?
How many ways can {a} people sit in {b} chairs?
Convert {c} to binary.
What is {c} in hexadecimal?
Find the inverse of the matrix [[{a}, {b}], [{c}, {a}]].
Evaluate the limit of ({a}x + {b})/x as x goes to infinity.
If all {animal}s can fly and {name} is a {animal}, can {name} fly?
{name} put the {thing} in the box and left. {name2} moved it. Where will {name} look for the {thing}?
Which word does not belong: {animal}, {animal2}, {thing}?
why are exponents performed before multiplication in the order of operations
can you solve algebra equations
Is 0 an even number?
what is pi
""")

CODE = lines("""
def f(x): return x + 1
for (int i = 0; i < n; i++) sum += a[i];
SELECT * FROM users WHERE id = 3;
console.log('hello');
print("hello world")
while True: pass
int main(void) { return 0; }
public static void main(String[] args) {}
let mut v = Vec::new();
if x == None: return
x = [i for i in range(10)]
fmt.Println(err)
#include <stdio.h>
import numpy as np
git rebase -i HEAD~3
std::cout << x << std::endl;
const f = (a) => a * 2;
def g(s): return s[::-1]
free(p); return p->next;
docker run -it ubuntu
SELECT name, COUNT(*) FROM orders GROUP BY name;
""")

FOREIGN = lines("""
Wie geht es dir heute?
Was ist die Hauptstadt von Frankreich?
Kannst du mir bitte helfen?
Wann fährt der nächste Zug nach Berlin?
Ich möchte ein Zimmer für zwei Nächte buchen.
Schreibe ein Gedicht über den Herbst.
Wie viel kostet das?
Comment allez-vous ?
Quelle est la capitale de l'Espagne ?
Je voudrais réserver une table pour deux personnes.
Où se trouve la gare ?
Écris une histoire courte sur un chat.
Pourquoi le ciel est-il bleu ?
¿Cómo estás hoy?
¿Cuál es la capital de Italia?
Necesito ayuda con mi tarea.
¿Dónde está la biblioteca?
Escribe un poema sobre el mar.
Quiero cambiar mi contraseña.
Come stai oggi?
Qual è la capitale della Germania?
Vorrei prenotare un tavolo.
Dove si trova la stazione?
Como você está?
Qual é a capital do Brasil?
Preciso de ajuda com o meu computador.
Hoe gaat het met je?
Wat is de hoofdstad van België?
Jak się masz?
Jaka jest stolica Polski?
Как дела?
Какая столица России?
Расскажи мне о космосе.
你好吗?
法国的首都是哪里?
请帮我写一首诗。
今天天气怎么样?
お元気ですか?
日本の首都はどこですか?
手伝ってください。
오늘 날씨 어때요?
한국의 수도는 어디입니까?
كيف حالك؟
ما هي عاصمة مصر؟
आप कैसे हैं?
भारत की राजधानी क्या है?
Nasılsın?
Türkiye'nin başkenti neresidir?
Hur mår du?
Vad heter huvudstaden i Norge?
Τι κάνεις;
Bạn khỏe không?
Ce mai faci?
""")
