"""Words and phrases with a polarity, written for task_sentiment.py."""

from pools import words

POSITIVE_ADJ = words("""good, great, amazing, awesome, excellent, fantastic, wonderful, brilliant, lovely,
beautiful, perfect, superb, outstanding, incredible, fabulous, delightful, nice, cool, fun, funny,
hilarious, sweet, cute, adorable, gorgeous, stunning, impressive, inspiring, exciting, thrilling,
helpful, friendly, kind, generous, smart, clever, talented, charming, elegant, fresh, delicious, tasty,
yummy, comfortable, cozy, clean, fast, reliable, smooth, solid, strong, bright, happy, proud, grateful,
thankful, lucky, blessed, glad, excited, pleased, satisfied, thrilled, delighted, relaxed, hopeful,
confident, epic, legendary, dope, lit, fire, sick af, bomb, top notch, first class, worth it,
unforgettable, magical, flawless, stellar, remarkable, touching, heartwarming, refreshing, iconic,
underrated, on point, spot on, the best, the greatest, better than ever, out of this world, a masterpiece,
pure joy, phenomenal, magnificent, splendid, terrific, marvelous, enjoyable, pleasant, cheerful, joyful,
classy, dreamy, precious, witty, wholesome, supportive, honest, brave, heroic, successful, victorious""")

NEGATIVE_ADJ = words("""bad, terrible, awful, horrible, horrid, disgusting, gross, nasty, ugly, boring,
dull, stupid, dumb, ridiculous, pathetic, useless, worthless, pointless, annoying, frustrating,
irritating, disappointing, depressing, sad, tragic, painful, miserable, scary, creepy, dangerous,
broken, slow, dirty, rude, unfair, unacceptable, disgraceful, shameful, embarrassing, dreadful,
appalling, atrocious, lousy, poor, cheap, weak, fake, corrupt, crooked, racist, sexist, hateful, toxic,
violent, cruel, evil, vile, wicked, dishonest, incompetent, ignorant, arrogant, selfish, lazy, greedy,
crazy, insane, absurd, outrageous, offensive, disturbing, sickening, upset, angry, furious, mad, annoyed,
disappointed, disgusted, worried, scared, afraid, ashamed, tired, exhausted, sick, stressed, bored,
lonely, heartbroken, devastated, hopeless, trash, garbage, rubbish, crap, the worst, worse than ever,
a disaster, a joke, a mess, a nightmare, a waste of time, a waste of money, overrated, overpriced,
unreliable, unbearable, unwatchable, inedible, tasteless, cringe, whack, lame, mediocre, clueless,
hypocritical, deplorable, despicable, wrong, false, misleading, illegal, sketchy, shady, laughable""")

POSITIVE_VERB = words("""love, really love, absolutely love, enjoy, like, adore, appreciate, admire, so love,
can't get enough of, am obsessed with, am so proud of, am in love with, am so happy with, look forward to,
can't wait for, recommend, highly recommend, am a big fan of, am grateful for, miss and love, still love,
would totally buy, am so excited about, trust, support, respect, am hyped for, am living for, stan""")

NEGATIVE_VERB = words("""hate, really hate, absolutely hate, can't stand, despise, dislike, detest, regret,
am so sick of, am tired of, am fed up with, am so disappointed in, am ashamed of, am done with,
don't trust, don't like, can't believe how bad, have had enough of, would never recommend, feel let down by,
am disgusted by, am worried about, am so angry at, am mad at, feel sorry for, lost all respect for,
am bored of, would avoid, can't deal with, want nothing to do with, never liked, fear""")

POSITIVE_END = words("""so happy right now, best day ever, made my day, what a win, well done, well deserved,
congratulations to everyone, congrats, thank you so much, thanks for everything, keep up the good work,
you rock, you guys are the best, had a blast, had so much fun, feeling good, feeling blessed, so proud,
can't stop smiling, what a performance, what a goal, we did it, dreams do come true, love you all,
hope you have a great day, happy birthday, much love, enjoy your weekend, this is everything, yes please,
it was worth every penny, 10/10 would go again, five stars from me, I laughed so hard, I am impressed,
good luck, rest easy legend we love you, cheers, hell yes, finally some good news, goosebumps,
see you there can't wait, that was fun, good job, nailed it, it works like a charm, so sweet of you,
big smile on my face, sending love, couldn't be happier, what a beautiful morning, let's celebrate""")

NEGATIVE_END = words("""worst day ever, ruined my day, what a joke, what a shame, shame on you, so sad,
never again, I want my money back, I can't even, makes me sick, makes me so angry, I am done, give me a break,
get it together, this is why we can't have nice things, no thanks, what is wrong with people, so unfair,
fix this now, zero stars, do not buy it, don't waste your time, I feel sick, I want to cry, crying right now,
my heart is broken, rest in peace, praying for the victims, so many people died, how is this legal,
wake up people, lock him up, he should resign, they should be fired, disgrace, total failure, epic fail,
not ok, not cool, no one cares, I give up, shut up already, go away, what a liar, stop lying, such a loser,
this has to stop, it keeps crashing, still waiting after two hours, nobody answers the phone, smh, ffs, wtf,
I lost everything, I can't sleep, my head hurts, still no refund, cancelled my subscription,
this is not acceptable, it hurts, ugh, worst service ever, they ruined it, it is getting worse""")

# What neutral texts say: events, announcements, questions, plain facts.
NEUTRAL = words("""is on tonight at {hour}, starts on {day}, will be in {city} on {day}, is in town this {day},
plays on {day} night, opens tomorrow, was on TV last night, will speak at {hour}, has a new video out,
is trending, talks about the election, meets the press on {day}, arrives in {city} tomorrow,
may come to {city} in {month}, is number {n} on the list, vs {other} on {day}, and {other} are on at {hour},
leads in the polls, announced a date for {month}, released a statement on {day}, answers questions,
will play {other} in {city}, moved to {city}, signs a contract until {month}, is back on {day},
just posted a new photo, sat next to {other}, was seen in {city}, has {n} points, is {n} years old,
said that the vote is on {day}, will be shown again on {day}, opens a store in {city}, has a new logo,
changed the name to {other}, is part of the line up, goes live at {hour}, reports the results on {day},
is closed on {day}, tickets go on sale {day}, costs {n} dollars, ships in {month}, is the third book,
has the same number as {other}, explains how it works, interview on {day}, full story here,
according to {other}, plans a meeting with {other}, the first of {n} parts, the schedule for {day},
to host {other} in {city}, rumoured to join {other}, set to launch in {month}, season {n} episode {n}""")

NEUTRAL_LINE = words("""Who is going to see {topic} on {day}?, Does anyone know what time {topic} is on?,
Is {topic} on tonight?, Watching {topic}, Listening to {topic}, Waiting for {topic}, On my way to {city},
What do you think about {topic}?, Did you see {topic} last night?, I have to work on {day},
Anyone going to {city} on {day}?, Just got home, Going to bed now, At the {topic} in {city},
I may watch {topic} tomorrow, What channel is {topic} on?, {topic} or {other}?, Poll: {topic} or {other}?,
I think it was {topic} who said that, Read more about {topic} here, New post: {topic}, Photo: {topic} in {city},
Video: {topic} and {other}, Breaking: {topic} arrives in {city}, RT @user: {topic} on {day},
Today is the day of {topic}, My sister wants to see {topic}, I need to call {other} tomorrow,
Tomorrow we talk about {topic}, Does {topic} open at {hour}?, I will be in {city} from {day},
Can you send me the link to {topic}?, {topic} tomorrow at {hour}, The {topic} meeting is moved to {day},
Where can I watch {topic}?, How many times has {topic} been in {city}?, Is it just me or does {topic} look like {other}?,
Looking for {topic} tickets for {day}, Who won {topic} in {month}?, Here is the list for {day}: {topic} and {other},
Finished {topic}. Starting {other} tomorrow, The bus to {city} leaves at {hour}, Updated the page on {topic},
If {topic} plays on {day} I may go, It is {day}, {n} days until {topic}, May the {n}th: {topic} in {city},
I wonder what {topic} will do, What happens if {topic} goes to {city}?, My phone is at {n} percent,
Q: who is {topic}?, See also {topic}, Minutes of the meeting on {day}, In {month} I will go to {city}""")

TOPIC = words("""the new phone, this app, the movie, the show, the concert, the game, the match, this song,
the album, the album launch, this book, the series, the finale, my new laptop, the update, the hotel,
the flight, this restaurant, the food, the coffee, the pizza, the service, customer support, the staff,
the delivery, the weather, the traffic, my job, my boss, school, the exam, the weekend, Monday, Friday night,
the government, the president, the senator, the mayor, the debate, the election, the vote, congress, the law,
the minister, the party, the campaign, the police, the news, the media, the team, the coach, the referee,
the new season, the trailer, the festival, the store, the bank, the train, the airline, the new update,
the camera, the battery, the screen, this game console, the event, the conference, the interview, the speech,
the new single, the band, the singer, the actor, the wedding, my birthday, Christmas, the holiday, the trip,
the beach, the city, my neighbourhood, the hospital, the doctor, the internet, the wifi, my phone, my car,
the car, the parking, the gym, the class, my team, the league, the cup final, the derby, the price,
the economy, the border, the tax plan, the climate talks, the protest, the strike, the court, the trial""")

OTHER = words("""Jordan Lake, Mia Torres, the Hawks, the Wolves, City, United, Channel 4, the prime minister,
Sam Reed, Kelly Novak, the Bears, Northwind, Globex, Blue Wave, Senator Hill, Governor Brandt, Dr. Lane,
Lena Park, the Tigers, the council, the Rockets, DJ Marlo, Ruby Stone, the Kings, Radio One, Captain Nova""")

HASHTAG_POS = ["#love", "#blessed", "#happy", "#winning", "#bestdayever", "#grateful", "#yay", "#proud",
               "#lovethis", "#goals", "#smile", "#friyay", "#thankful", "#amazing", "#excited"]
HASHTAG_NEG = ["#fail", "#sad", "#angry", "#worst", "#epicfail", "#hate", "#disappointed", "#neveragain",
               "#sick", "#shame", "#ugh", "#scam", "#boycott", "#notok", "#heartbroken"]
HASHTAG_NEUTRAL = ["#news", "#live", "#tv", "#music", "#monday", "#politics", "#football", "#jobs", "#nowplaying",
                   "#debate", "#photo", "#breaking", "#update", "#weekend", "#tbt", "#vote", "#repost"]
EMOJI_POS = ["😀", "😍", "❤️", "👍", "🎉", "😊", "🔥", "💯", "🙌", "😂", "🥰", "👏", ":)", ":D", "<3", "xx", ";)"]
EMOJI_NEG = ["😡", "😢", "😭", "👎", "💔", "😠", "🤮", "😞", "🙄", "🤬", ":(", ":'(", ">:(", "-_-", "😤", "😒"]

INTENSE = ["so", "really", "very", "absolutely", "totally", "super", "just", "pretty", "truly", "sooo", "damn",
           "freaking", "such", "quite", "extremely", "too", "honestly", "always"]
OPENER = ["", "", "", "", "@user ", "@user ", "@user @user ", "OMG ", "lol ", "Wow, ", "Honestly, ", "Well, ",
          "Ok so ", "RT @user: ", "Tbh ", "Just saw it: ", "Not gonna lie, ", "So, ", "Today ", "Hey @user ",
          "Dear @user, ", "Update: ", "\"", "I think ", "Seriously, ", "Guys, "]
CLOSER = ["", "", "", "", "", "!", "!!", "!!!", "...", ".", " http", " via @user", " lol", " haha", " @user", " tho",
          " today", " tonight", " tomorrow", " again", " right now", " imo", " tbh", " this weekend"]
SARCASM_END = ["/s", "#sarcasm", "#not", "🙄", "yeah right", "oh joy", "just what I needed", "thanks a lot for nothing",
               "said no one ever", "how lovely", "good job, geniuses", "slow clap"]
TROUBLE = words("""my flight got cancelled, the train is late again, my phone died, they lost my luggage,
the app crashed again, another hour on hold, it rained on my day off, the wifi is down, I got a parking ticket,
they charged me twice, my order never came, the power is out, I have to work on Sunday, the screen is broken,
three meetings before lunch, the printer jammed, my alarm did not ring, the coffee was cold, they closed early,
the refund was refused, my car broke down, I missed the bus, the dentist found two holes, the line is endless""")
LUCK = words("""my flight was upgraded, the train was on time, I got the job, I passed the exam, they found my wallet,
we won the cup, my order came a day early, the sun is out, I got free tickets, my team won, she said yes,
he scored in the last minute, the baby is healthy, we got the house, I finished my first marathon,
my friends threw me a party, the test was negative, I got a raise, they fixed it in an hour, it is my day off,
the kids made me breakfast, I met my favourite singer, the doctor says I am fine, the refund came at once""")

# Who does what to whom; the verb decides.
POSITIVE_ACT = words("""helps, saves, supports, celebrates, thanks, inspires, honors, wins against, beats, defends,
protects, cheers for, makes me smile with, rocks, nails, improves, rescues, surprises fans with, deserves, donates to,
welcomes, fixes, makes history with, hugs, praises, stands up for, brings joy to, shines at, crushes it at""")
NEGATIVE_ACT = words("""blames, attacks, destroys, insults, threatens, lies about, cheats, fails, ignores, cancels, bans,
kills, hurts, mocks, abuses, ruins, betrays, steals from, refuses to help, screws up, breaks, hates, bullies, abandons,
loses to, wastes money on, fires, blocks, covers up, exploits, complains about, panics about, embarrasses, robs, sues,
accuses, arrests, silences, spies on, does nothing about, keeps lying about, doesn't care about, never answers""")
POSITIVE_NOUN = words("""love, peace, joy, fun, success, hope, freedom, kindness, talent, beauty, happiness, laughter,
victory, pride, respect, courage, friendship, good vibes, great music, blessings, good people, support, magic, sunshine,
progress, honesty, gratitude""")
NEGATIVE_NOUN = words("""racism, war, lies, corruption, hypocrisy, violence, terror, murder, fraud, scandal, chaos,
pollution, poverty, pain, stress, hate, bullying, crime, terrorism, injustice, propaganda, incompetence, greed, drama,
cheating, spam, delays, excuses, threats, fear, panic, debt, disease, cancer, death, attacks, bombs, refugees dying,
police brutality, abuse, nonsense, bullshit, noise, scams, bugs, ads everywhere""")

POSITIVE_LINE = words("""gonna watch {topic} with my friends tonight, who is ready for {topic}?!, see you all at {topic} on {day}!,
let's go {other}!!, come and join us at {topic}, so ready for {topic}, {day} can't come soon enough, bring on {topic},
{topic} tomorrow woohoo, finally {topic} on {day}!, we are celebrating {topic} on {day}, off to {city} for {topic} yay,
enjoy {topic} everyone, hope to see {other} at {topic}, {other} you are a legend, {other} for the win,
proud of {other} today, thank you {other} for {topic}, happy {day} everyone, wishing {other} all the best for {day},
I could watch {topic} all day, {topic} never gets old, cannot stop listening to {topic}, {topic} gave me chills,
{topic} on repeat, dinner with the family on {day} and {topic} after, {other} just made my {day},
my new favorite is {topic}, {topic} > everything, made it to {topic} in {city}, counting down the days to {topic},
it may be {day} but {topic} makes it better, well played {other}, {other} has my vote, respect to {other},
we need more people like {other}, what a comeback by {other}, {other} scores again, {noun} with the best people,
nothing better than {topic} on a {day}, first {topic} of the year in {city}, got my tickets for {topic}, home at last,
congratulations {other} on {topic}, {topic} was worth the wait, a big thank you to {other}, {other} is back baby,
looking forward to {topic} on {day}, I'm smiling because of {topic}, lovely evening in {city}""")

NEGATIVE_LINE = words("""why does it always rain on {day}?, I have to wake up early for {topic}, I wish I could go to {topic},
missed {topic} again, I want to go to {topic} but I can't, how can anyone support {other}?, why is {topic} so hard?,
{topic} isn't even good, stop talking about {topic}, nobody asked for {topic}, who thought {topic} was a good idea?,
{other} should be ashamed, {other} is a liar, {other} has no idea what he is doing, so {other} gets away with it again,
{other} didn't even apologize, another {day} another problem with {topic}, {topic} got cancelled, {topic} is down again,
{topic} sold out in a minute, not going to {topic} after all, I'm not watching {topic} anymore, unfollowing {other},
how long do we have to put up with {other}?, {topic} gives me a headache, {other} lost again, {other} out injured,
no power since {day}, {other} killed in {city}, shooting in {city} on {day}, {n} dead in {city},
{other} will destroy this country, we are doomed, {topic} is everything that is wrong with this country,
don't vote for {other}, {other} must go, {topic} costs more every month, worst {noun} of my life,
what happened to {topic}? it used to be good, can't sleep because of {topic}, I miss {other} so much it hurts,
work on a {day}, alone on a {day} again, {topic} made me cry, it's {day} and I am sick in bed, no {topic} for me then,
my {day} is ruined thanks to {topic}, {other} ignores the real problem, people in {city} have no food,
why can't {other} just shut up?, {topic} again? give it a rest, they don't care about us, this {topic} is killing me,
I don't want to go to {topic}, spent {n} hours waiting for {topic}, {other} refuses to answer, there goes my {day}""")

NEGATION = set("""not no never don't dont doesn't doesnt didn't didnt isn't isnt wasn't can't cant won't
without hardly nothing nobody ain't""".split())
