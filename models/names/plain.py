"""Sentences without names, with the slots of templates.py."""

# Nothing in these is a name; {w} and {h} are named things, {N} capitalised common nouns.
PLAIN = [
    line
    for line in """
apples, pears and plums
We sell bread, cheese and wine.
She likes singers, painters and dancers.
red, green & blue
Parents, Teachers and Students
Reading, Writing and Arithmetic
Research & Development
Terms & Conditions
Mergers and acquisitions, bonds, stocks and shares
I read {w} last week, and the chapter about the war was good.
The song {w} is on the album {w}.
Have you seen {w}? It is a film about the sea.
The play {w} opens on {day}.
An article called {w} says the opposite.
The course is called {w}.
His new book, {w}, is a bestseller.
We sing {w} at the end.
It appeared in {w} under the heading {w}.
We have a program named {w} for beginners.
The {N} Club meets on {day}.
The prize for {N} goes to nobody this year.
She won the {N} Award and the {N} Medal.
The {N} Act of {k} forbids it.
My degree is in {N} and {N}.
He is Head of {N} and Vice President for {N}.
{N}: {k}\\n{N}: {k}\\n{N}: n/a
Mobile: {k}\\nOffice: {k}\\nFax: {k}
{N}. {N}. {N}!
{N} rules. {N} is dead.
Great {N}! Nice {N}! Love this {N}
lol {N} is life
OMG this is so {N}
YES!!! FINALLY {N}
Q: What is {N}? A: {N}.
How do I install {w} on my computer?
I use {w} and {w} every day.
Explain {w} in simple terms.
{h}
{h}\\n{h}\\n{h}
# {h}
## {h}: {h}
**{h}:** to be filled in
{h}: see below
The {N} Report shows that {N} and {N} matter.
{N} Is Important
Why {N} Beats {N}
THE {N} IS CLOSED
CAN YOU HELP ME WITH MY {N}
I can't find my {N}. WHERE IS IT?
Dear Customer, your {N} is ready.
Dear Sir or Madam,
Hi there,
Hello everyone,
Good morning team,
Dear Hiring Manager,
Thank you, Support Team
Regards, Your {N} Team
To the {N} Department
We celebrate {w} every year.
The {nat} word for it is long.
I like {nat} food and {nat} wine.
Translate this from {nat} to {nat}.
{nat} people love football.
She speaks {nat}, {nat} and a little {nat}.
On {day}, {m} {k}, we met.
In {m} it rains a lot. In {m} it does not.
See you on {day}!
Monday Tuesday Wednesday Thursday Friday
import os\\nfrom collections import Counter
def main(args): return Counter(args)
class {N}Manager(Base{N}): pass
SELECT name FROM users WHERE id = {k};
const {N} = new Map(); console.log({N});
public static void main(String[] args)
Error: {N}NotFound in module Core.{N}
Traceback (most recent call last): ValueError
TODO: rename {N} to {N}
npm install react --save
Write a Python function that sorts a list.
Write a SQL query that joins Orders and Customers.
What is the difference between TCP and UDP?
What does the CEO of a company do?
My GPA is 3.{k} and I have an MBA.
The USB port and the HDMI cable are broken.
Make a table with the columns Name, Age and City.
Act as a Linux terminal.
You are an expert in {w}.
Act as a {N} Expert and Copywriter.
Please write in the style of a {N} {N}.
As an AI Language Model I cannot do that.
Chapter {k}: The {N}
Step {k}: Open the {N} and press OK.
Question {k}: What is {N}?
Answer: {N}
A) {N}  B) {N}  C) {N}  D) None of the Above
Add {k} cups of Flour, Sugar and Butter.
{N}, {N} and {N} are on sale.
The {N} was cold. The {N} was warm.
Yes, {N} is fine.
She said: "{N} first!"
God bless you. Oh my God!
Happy New Year and Merry Christmas!
I am a Software Engineer and Team Lead.
Looking for a Senior Product Manager (Remote).
Bachelor of Science in Computer Science
Mom and Dad are here.
my mom and dad are here with grandma
Is it OK if I pay with VISA?
Free Wi-Fi, TV and Parking
The King and the Queen met the President.
The Doctor said no.
He was the Director of Sales and Marketing.
The Board of Directors meets on {day}.
The Sun and the Moon, the Earth and Mars
Can you explain the {N} of {N}?
may i have a mark on the bill
will you sue for the damages, or grant me more time?
the rose in the garden and the hunter in the forest
i will frank the letter and pat the dog
mark the date and bill me later
the chase began at dawn and hope was gone
art and grace are rich gifts in summer
turkey with rice, chile sauce and china plates
the reading list is on the mobile phone
drew a line, jack of all trades
how do you say hello in {nat}
translate this into {nat}
what does it mean in {nat}
I am learning {nat} and my brother speaks {nat}.
the {nat} restaurant on the corner, best {nat} food in town
a {nat} movie with {nat} subtitles
my Visa card was declined
can i pay by mastercard or visa
i lost my american express card
Card type: Visa\\nCard number: {k}
do you accept Mastercard, Visa and Maestro?
a Visa debit card and a Mastercard credit card
my {N} is broken, call the {N} people
The {N} of the {N} is {N}.
The {N} and the {N} of {nat} {N}
{N}, {N}, and {N}
What is the {N} of a {N}?
the {N} test came back negative
""".strip().splitlines()
    if line.strip()
]
