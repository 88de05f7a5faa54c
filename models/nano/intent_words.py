"""Words that may stand for each other in a request, for task_intent.py and task_banking.py.

`SLOTS` are closed classes (cities, banks, dishes, ...): one member for another leaves the intent
as it is. `SYNONYMS` are groups of words or short phrases of one meaning, `OPENINGS` are ways to
begin the same request. All lists are written for this project; groups are kept narrow, since a
near synonym ("limit" for "balance") is another intent.
"""


def groups(text):
    """One group a line, entries separated by commas: a list of lists."""
    return [[x.strip() for x in line.split(",") if x.strip()] for line in text.strip().splitlines()]


SLOTS = groups("""
paris, london, tokyo, rome, berlin, madrid, chicago, boston, seattle, denver, dallas, houston, austin, miami, atlanta, orlando, portland, phoenix, detroit, cleveland, memphis, nashville, philadelphia, pittsburgh, baltimore, las vegas, los angeles, san diego, san francisco, new york, new orleans, salt lake city, tampa, tulsa, omaha, reno, tucson, honolulu, anchorage, sydney, melbourne, toronto, montreal, vancouver, dublin, amsterdam, vienna, prague, athens, lisbon, oslo, stockholm, helsinki, moscow, istanbul, cairo, dubai, mumbai, delhi, bangkok, singapore, seoul, beijing, shanghai, hong kong, manila, jakarta, lima, bogota, buenos aires, mexico city, barcelona, milan, venice, munich, zurich, brussels, warsaw, budapest, nairobi, lagos, cape town, albany, buffalo, charlotte, columbus, cincinnati, indianapolis, milwaukee, minneapolis, st louis, kansas city, sacramento, fresno, spokane, boise, fargo, san antonio, raleigh, richmond, louisville, oklahoma city
france, spain, italy, germany, england, scotland, ireland, wales, portugal, greece, turkey, egypt, morocco, kenya, nigeria, ghana, south africa, israel, iran, iraq, india, pakistan, china, japan, korea, south korea, vietnam, thailand, cambodia, malaysia, indonesia, the philippines, australia, new zealand, canada, mexico, cuba, jamaica, haiti, brazil, argentina, chile, peru, colombia, ecuador, bolivia, russia, ukraine, poland, romania, hungary, austria, switzerland, belgium, the netherlands, denmark, norway, sweden, finland, iceland, tibet, nepal, bangladesh, sri lanka, panama, costa rica, guatemala, belize, ethiopia, uganda, tanzania, sudan, somalia, algeria, tunisia, libya, syria, jordan, lebanon, saudi arabia, kuwait, qatar, croatia, serbia, bulgaria, malta, cyprus, the bahamas, puerto rico, the dominican republic
chase, bank of america, wells fargo, citibank, capital one, us bank, pnc, td bank, hsbc, ally, discover, usaa, santander, suntrust, regions, fifth third, key bank, m&t, bb&t, barclays, first national, navy federal, charles schwab, bmo, scotiabank, comerica, huntington, citizens, bank of the west, chase bank, td, boa
visa, mastercard, amex, american express, discover card, visa card
monday, tuesday, wednesday, thursday, friday, saturday, sunday
january, february, march, april, june, july, august, september, october, november, december
1st, 2nd, 3rd, 4th, 5th, 6th, 7th, 8th, 9th, 10th, 11th, 12th, 13th, 14th, 15th, 16th, 17th, 18th, 19th, 20th, 21st, 22nd, 23rd, 24th, 25th, 26th, 27th, 28th, 29th, 30th
two, three, four, five, six, seven, eight, nine, ten, eleven, twelve
delta, united, jetblue, southwest, american airlines, spirit, frontier, alaska airlines, british airways, lufthansa, emirates, air canada, virgin, united airlines, delta airlines, klm, air france, qantas
walmart, target, costco, safeway, kroger, whole foods, best buy, walgreens, cvs, macys, home depot, amazon, albertsons, publix, aldi, sears, kohls, ikea, trader joes, lowes, ross, staples, barnes and noble
red robin, olive garden, applebees, chilis, outback, taco bell, mcdonalds, burger king, wendys, dennys, ihop, red lobster, texas roadhouse, cheesecake factory, pf changs, panera, chipotle, subway, kfc, buffalo wild wings, carrabbas, longhorn, tgi fridays, ruth chris, dominos, pizza hut
pizza, spaghetti, lasagna, tacos, burritos, enchiladas, sushi, ramen, chili, meatloaf, pancakes, waffles, omelets, cheesecake, brownies, cookies, apple pie, macaroni and cheese, fried rice, pad thai, curry, gumbo, jambalaya, pot roast, roast beef, fried chicken, chicken soup, clam chowder, beef stew, meatballs, stir fry, guacamole, hummus, french fries, mashed potatoes, caesar salad, potato salad, coleslaw, cornbread, banana bread, egg rolls, dumplings, fajitas, quesadillas, ravioli, risotto, shepherds pie, tiramisu, a burger, a hamburger, a hot dog
butter, milk, cream, sugar, honey, flour, salt, pepper, eggs, oil, olive oil, vegetable oil, vinegar, lemon juice, lime juice, yogurt, sour cream, buttermilk, garlic, onion, basil, oregano, parsley, thyme, cinnamon, vanilla, baking soda, baking powder, brown sugar, maple syrup, soy sauce, tomato sauce, ketchup, mustard, mayonnaise, margarine, cornstarch, applesauce, coconut oil, cheese
apples, bananas, oranges, grapes, strawberries, blueberries, peaches, pears, avocados, tomatoes, potatoes, carrots, broccoli, spinach, lettuce, corn, beans, mushrooms, cucumbers, celery, cauliflower, asparagus
apple, banana, orange, avocado, tomato, potato, carrot, peach, pear, egg, bagel, donut, muffin, cookie, sandwich, burrito, cheeseburger
chicken, beef, pork, turkey, salmon, tuna, shrimp, steak, ham, bacon, lamb, fish, tofu, sausage, lobster, crab, duck, tilapia
chinese, italian, mexican, thai, indian, japanese, french, greek, korean, vietnamese, american, spanish, cuban, german, russian, ethiopian, mediterranean, turkish, lebanese
spanish, french, german, italian, portuguese, russian, chinese, japanese, korean, arabic, hindi, dutch, swedish, greek, turkish, polish, swahili, latin, hebrew, mandarin
dollars, euros, pounds, yen, pesos, rupees, yuan, francs, won, rubles, krona, lira, rand
inches, feet, yards, meters, centimeters, millimeters, miles, kilometers
ounces, pounds, grams, kilograms, kilos, tons, milligrams
cups, pints, quarts, gallons, liters, milliliters, tablespoons, teaspoons
john, mary, bob, tom, mike, sarah, david, jane, james, susan, mark, lisa, paul, karen, steve, nancy, kevin, laura, brian, emily, george, anna, eric, jessica, alex, rachel, sam, kate, joe, amy, dan, julie, matt, linda, carol, peter, jack, jill, tim, kim, carlos, maria, henry, frank, greg, tony, larry, jerry, harry, ben, adam, josh, luke, tracy, megan, heather, cindy, wendy, brenda, stacy
mom, dad, my brother, my sister, grandma, my wife, my husband, my boss, my friend, my cousin, my uncle, my aunt
electric, water, gas, cable, internet, phone, heating, electricity, power, utility, water and sewer, trash, rent, cell phone
laundry, dishes, vacuuming, cleaning the garage, mowing the lawn, grocery shopping, walking the dog, washing the car, homework, ironing, dusting, raking leaves, painting the fence, feeding the cat, sweeping, mopping
dentist appointment, doctor appointment, birthday party, team meeting, lunch with mom, anniversary dinner, soccer practice, job interview, haircut, yoga class, book club, piano lesson, study group, conference call
the moon, dogs, cats, dinosaurs, elephants, space, history, the ocean, sharks, whales, birds, the sun, mars, bees, penguins, horses, snakes, football, music, computers, movies, baseball, trees
rock, pop, jazz, country, rap, classical, hip hop, metal, blues, reggae, folk, techno, rnb, disco, punk
living room, kitchen, bedroom, bathroom, garage, basement, office, hallway, dining room
morning, afternoon, evening, night
breakfast, lunch, dinner, brunch
toyota, honda, ford, chevy, nissan, bmw, mercedes, audi, jeep, kia, hyundai, mazda, subaru, tesla, porsche, lexus, dodge
am, pm
eur, gbp, usd, aud, cad, chf, jpy, sek, pln, nok, dkk
""")

SYNONYMS = groups("""
purchase, buy
big, huge
quick, fast, rapid
quickly, fast, rapidly
slower, more slowly
faster, more quickly, quicker
begin, start
end, stop, finish
car, vehicle, auto, automobile
phone, cell phone, cellphone, mobile phone, mobile
luggage, bags, baggage, suitcase
bag, suitcase
flight, plane
ticket, plane ticket
restaurant, place, diner, eatery
reservation, booking
reservations, a reservation
reserve, book
find, locate, look up, get
find out, learn, discover, see
show, display, give, pull up, bring up
search for, look for, find
tell, inform, let know
explain, describe
change, modify, alter
switch, change
raise, increase, up
lower, decrease, reduce
turn up, raise
turn down, lower
erase, delete, clear, remove
delete, remove, take off, get rid of
add, put
put, place
create, make
make, prepare, cook, fix
cancel, call off, drop, scrap
stop, quit, halt
lost, misplaced
lost, missing
stolen, taken
broken, damaged, busted, cracked
block, freeze, lock, put a hold on
blocked, frozen, locked, on hold
declined, rejected, denied, refused, turned down
accepted, approved
help, assist
help me, assist me, give me a hand
fix, repair
issue, problem
problem, trouble
reason, cause
cost, price
fee, charge
fees, charges, costs
charged, billed
salary, income, wages
job, work
boss, employer, manager
vacation, time off, pto
vacation days, days off, pto days
holiday, vacation
trip, journey, vacation
travel, go
traveling, going
travelling, traveling
visit, go to
currently, right now, at the moment, presently, at this time
now, right now, immediately
soon, shortly
today, this day
quickest, fastest
closest, nearest
nearby, close by, around here, near me, in the area, close to me
near, close to, by, around
correct, right, accurate, true
incorrect, wrong, not right, false
yes, yeah, yep, yup, sure
no, nope, nah
thanks, thank you
hello, hi, hey
bye, goodbye
humorous, funny
joke, funny joke
tune, song, track, music
songs, music, tracks, tunes
talk, speak
repeat, say again
spend, use
money, cash, funds
amount, sum, total
account, bank account
checking, checking account
savings, savings account
card, credit card
credit score, credit rating
statement, bill
invoice, bill
due, owed
owe, have to pay
minimum, smallest, lowest, least
maximum, highest, largest
best, top, greatest
good, great, nice, decent
tasty, delicious, yummy
eat, have
meal, dish
food, something to eat
recipe, instructions
steps, process, procedure
way, method, means
directions, route, way
schedule, set up, arrange, plan
meeting, appointment
meeting room, conference room
calendar, schedule
event, appointment
reminder, note
todo list, to do list, task list
alarm, wake up alarm
timer, countdown
weather, forecast
rain, precipitation
temperature, temp
gasoline, gas, fuel
gas station, fuel station
tire, tyre
tires, tyres
mileage, mpg
maintenance, service
mechanic, garage, shop
oil, motor oil
battery, car battery
vaccination, shot, vaccine
vaccinations, shots, vaccines, immunizations
safe, secure
dangerous, unsafe
wait, waiting time
wait time, wait
busy, crowded, packed
transfer, move
send, transfer
deposit, put
withdraw, take out
withdrawal, cash withdrawal
top up, topup, top-up
top up, add money to
cheque, check
atm, cash machine, cashpoint
pin, pin number
passcode, password
identity, id
verify, confirm
check, verify, see
activate, turn on, enable
turn on, switch on
turn off, switch off, shut off
lights, lamps
volume, sound
name, title
refer to, call
birthplace, place of birth
created, made, built, developed
maker, creator
creator, developer, inventor
robot, bot, machine
human, person, real person
human, human being
years old, years of age
hobbies, interests, pastimes
pet, animal
pets, animals
meaning, definition
mean, stand for
spell, write
spelling, way to spell
translate, convert
convert, change
exchange rate, conversion rate
equal, equal to
calculate, compute, work out, figure out
randomly, at random
pick, choose, select
whisper, quiet
play, start
next, following
skip, jump
last, previous, most recent
again, once more, one more time
another, a different, a new
new, brand new
need, want, require
want, would like, wish
have to, must, need to, got to
maybe, perhaps, possibly
large, big
little, small
a lot of, many, lots of
kind, type, sort
kinds, types, sorts
location, spot
places, locations, spots
also, too, as well
because, since
until, till
approximately, roughly
how long, how much time
how long, how many days
take, require
arrive, come, get here, show up
delivered, sent, shipped
delivery, shipping
receive, get
received, gotten, got
sent, mailed
ordered, requested
recognize, recognise
did not, didn't
do not, don't
does not, doesn't
cannot, can't, can not
is not, isn't
was not, wasn't
will not, won't
have not, haven't
has not, hasn't
i am, i'm, im
i have, i've
i would, i'd
i will, i'll
what is, what's, whats
where is, where's, wheres
who is, who's
when is, when's
how is, how's
it is, it's, its
that is, that's
going to, gonna
want to, wanna
your, ur
you, u
please, pls, plz
favorite, favourite
color, colour
canceled, cancelled
check, look at
application, app
website, site
nutritional, nutrition
calories, number of calories
health, healthy
expire, run out
expires, runs out
expiration, expiry
application status, status of my application
interest rate, rate of interest, rate
rewards, points, reward points
credit limit, spending limit, limit
raised, increased
improve, better, boost, raise
pay, make a payment on, settle
paid, settled
direct deposit, direct deposits
taxes, tax
insurance, coverage
policy, plan
benefits, perks
retirement, 401k
rollover, roll over
routing number, routing code
""")

OPENINGS = groups("""
what is, what's, tell me, can you tell me, could you tell me, i want to know, i need to know, i'd like to know, please tell me, do you know, give me, find out, let me know, would you tell me, i wanna know, can i know, may i know, hey what is, so what is
how do i, how can i, how would i, how should i, what is the way to, what's the best way to, tell me how to, can you tell me how to, show me how to, explain how to, i need to know how to, i want to, i'd like to, i need to, help me, can you help me, please help me, what do i need to do to, what steps do i take to, is there a way to, i need help to, what are the steps to, i am trying to, could you help me
can you, could you, would you, will you, please, i need you to, i want you to, i would like you to, i'd like you to, can you please, could you please, hey can you, are you able to, go ahead and, would you mind to, you should, you need to
can i, could i, may i, is it possible to, am i able to, am i allowed to, would i be able to, do you know if i can, i was wondering if i can, is there any way i can
why is, why was, how come, tell me why, can you tell me why, i want to know why, please explain why, do you know why, what is the reason
where is, where's, where can i find, can you find, help me find, tell me where is, do you know where is, i can't find, can you tell me where is
when is, when's, tell me when is, what day is, what date is, do you know when is, when will be, can you tell me when is
how much is, how much, what is the amount of, tell me how much is, can you tell me how much is, i want to know how much is
is there, are there, do you have, is there any, tell me if there is, do you know if there is, can you check if there is, check if there is
i need, i want, i would like, i'd like, can i get, can i have, get me, could i get, may i have, i am looking for, i'm looking for, give me, please get me, i could use, help me get
set, please set, can you set, i need you to set, go ahead and set, could you set
find, please find, can you find, find me, help me find, look for, look up, search for, i need to find, i want to find
show, show me, please show me, can you show me, display, let me see, i want to see, pull up, bring up, i need to see, could i see
""")

PREFIX = [
    "please ",
    "hey ",
    "hi, ",
    "ok ",
    "okay, ",
    "um ",
    "so ",
    "well ",
    "excuse me, ",
    "hello, ",
    "hey there, ",
    "quick question, ",
    "i was wondering, ",
    "just wondering, ",
    "alright, ",
    "hi there ",
    "yo ",
    "oh ",
    "ai, ",
    "sorry, ",
    "good morning, ",
    "actually, ",
]
SUFFIX = [
    " please",
    " thanks",
    ", please",
    " for me",
    " right now",
    " ok",
    " if you can",
    " thank you",
    " today",
    " asap",
    " if possible",
    ", thanks",
    " real quick",
    " when you get a chance",
    " now",
]
