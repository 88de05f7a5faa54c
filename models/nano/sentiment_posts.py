"""Whole posts with a sentiment, written for task_sentiment.py: "[a|b]" is one of two, "{topic}" a slot."""

import re

from pools import lines

_CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")


def expand(rng, text):
    """A post with one of each choice."""
    return _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), text)


POSITIVE = lines("""
[Finally|At last] [got|bought|booked] my tickets for {topic} on {day}[!|!!| yay]
[Can't wait|So ready|Counting the hours] [to see|for] {other} [on {day}|tomorrow|in {city}|this weekend]
[Happy birthday|Happy 21st|Happy anniversary] to [my best friend|the one and only {other}|my lovely sister|{other}]
[Watching|Rewatching] {topic} with [my mom|the kids|my best friend] tonight [:)|❤️|and I could not ask for more]
{other} [killed it|nailed it|smashed it|was on fire] [tonight|on {day}|in {city}|at {topic}]
[Thank you|Thanks] {other} for [coming to {city}|a night to remember|making my {day}|standing up for us|everything]
[What a|What an unreal|What a perfect] [win|goal|comeback|night|show|catch|save] [by {other}|in {city}|on {day}]!
We [won|did it|made it|are through to the final|are going up]! [Proud of every one of them|What a team|Unbelievable scenes]
[Good luck|All the best|Go get them] to {other} [on {day}|tomorrow|in the final|tonight][!|, we believe in you]
{topic} [may be|might be|has to be|is easily] the best [thing|show|day|album] of the [year|month|week|decade]
[Meeting|Just met] {other} [was|is] [the highlight of my year|a dream come true|everything I hoped for]
[The sun is out|It's finally {day}|Two days off], [life is good|the coffee is hot|feeling great], off to {city}
I'm [so|really|super] [glad|happy|thankful|blessed|lucky] that {other} [is back|won|came to {city}|got the job|is my friend]
[Respect|Huge respect|Hats off] to {other} for [speaking the truth|giving it all on {day}|helping people in {city}]
{other} is [such a legend|my hero|a class act|a true leader|a genius|the GOAT|so underrated|too cute]
[This|That] [interview|speech|video|song] by {other} [made me smile|gave me goosebumps|is so inspiring|made my {day}]
[Best|Loveliest|Funniest] [{day}|evening|weekend|concert] [in ages|of my life|so far]: {topic} [and {other}|in {city}|with friends]
[Listening to|Dancing to] {other} [all day|on repeat|in the kitchen] and [loving it|I regret nothing|feeling alive]
[Dinner|Brunch|Drinks] in {city} [was delicious|with great people|was a treat], [we'll be back|5 stars|thanks @user]
{other} [deserves|earned] [every bit of this|the award|that win|all the love] [and more||!]
[Yes|Woo|Yesss]! {topic} is [back|on tonight|coming to {city}|confirmed for {month}]!
[Love|Loved|Loving] [the new|that|this] [look|trailer|season|single] of {other}[ so much|!|, can't stop watching]
I [passed|got the job|got in|finished my thesis], [drinks on me on {day}|so relieved|best news ever]
[Sweet dreams|Good night|Good morning|Have a great {day}] [everyone|my lovelies|twitter|world] [xx|:)|❤️|, you are wonderful]
{other} for president[!|, the only honest one|, finally some hope]
[So proud|Very proud] [of {other}|to be part of {topic}|of my team|of our city] [today|on {day}|after last night]
[Great|Fantastic|Brilliant] [news|to hear|work|stuff] from {city}: [jobs are up|the hospital is saved|the kids are safe|we have a deal]
it's [almost|nearly] {day} and [I get to see {other}|{topic} is waiting|my favourite show is back] [:D|!!|yay]
[May|Let] {day} [be full of joy|bring you peace|be a good one] [friends|for all of you|, god bless]
{city} [is beautiful|you were amazing|never disappoints|has my heart] [in {month}|tonight|again]
[Finally|At last] [someone|a politician|a player] who [tells it like it is|cares about people|keeps a promise], [well said|bravo] {other}
[Welcome|Welcome back] {other}, [we missed you|so happy to have you|the league is better with you]
{topic} [made my whole week|cheered me up|was worth every cent|exceeded all expectations|is pure joy]
[Congrats|Congratulations|Big congrats] {other} on [the win|the award|your baby|a well earned victory|{topic}]
""")

NEGATIVE = lines("""
[Another|One more|Yet another] [attack|shooting|bombing|murder] in {city}, [when will it stop|so many dead|my heart breaks|sickening]
{other} [is a liar|is a disgrace|is a fraud|is a joke|is a coward|is a criminal|is clueless|has blood on his hands]
[How|Why] [can|does|do] [anyone|people|you] [still support|believe|vote for|defend] {other}[?|?? |after {topic}?]
[Disgusted|Appalled|Ashamed|Sick of|Fed up] [by|at|with] {other} and [his lies|the whole party|the fake news|{topic}]
{other} [lost|got beaten|choked|collapsed] [again|in {city}|on {day}], [what a pathetic display|so embarrassing|worst team ever]
[I have|I've got] [work|an exam|a dentist appointment] on {day} [and I want to cry|so no {topic} for me :(|ugh|, kill me now]
[Can't believe|I can't believe] [{day} is over already|{other} is leaving|they cancelled {topic}|he got away with it|I missed {topic}] [:(|😭||so sad]
[My flight|My order|My train|The delivery] [is late again|got cancelled|never arrived], [worst service|no apology|no refund|thanks for nothing] @user
@user [your app|your service|your website|your support] [is broken|is useless|keeps crashing|doesn't work] [since {day}|again|, fix it]
[Still|Been] [waiting|on hold] for [{n} days|{n} hours|an hour|weeks] [with no answer|and nobody cares|, ridiculous] @user
[People are dying|Children are starving|Families are fleeing] in {city} and [the world does nothing|{other} plays golf|nobody talks about it]
{n} [killed|dead|injured|missing|arrested] [after|in] [a blast|an attack|a crash|riots|the floods] in {city}
[Police|The army|Militants] [shot|killed|beat|attacked] [protesters|civilians|a teenager|{n} people] in {city} [on {day}|last night|]
{other} [accused of|charged with|under fire over|jailed for|sued for] [fraud|corruption|rape|abuse|lying to congress|racist remarks]
[Stop|Just stop] [blaming|lying about|attacking|insulting] [immigrants|women|the poor|refugees|muslims|the press], {other}
[We don't|Nobody] [need|needs|want|wants|asked for] [another war|a wall|{topic}|more of {other}|your excuses]
{topic} [will ruin|is destroying|is killing|is tearing apart] [this country|small business|our schools|the middle class]
[Worst|Most boring|Most overrated] [{day}|episode|album|season|debate|game] [ever|in years|so far]: {topic}
[Wish|I wish] I [could go to {topic}|was in {city}|didn't have to work on {day}] [but I'm broke|:(|, so jealous|, hate this]
I [miss|really miss] [my dog|home|{other}|the old days|him] so [much|bad] [tonight|on days like this|it hurts] [:(|💔||]
[Feeling|I feel] [sick|lonely|awful|stressed|worthless|so down] [today|again|on a {day}|, can't sleep]
{other} [doesn't care|never cared|couldn't care less] about [the poor|the fans|us|veterans|the truth]
[This|That] [referee|coach|judge|minister|reporter] is [a total idiot|incompetent|a disgrace|corrupt|blind], [shame|unreal|sack him]
[No|There is no] [excuse|justification|place] for [this violence|such hate|what {other} said|racism] [in {city}|, period|anywhere]
so {other} [lied|cheated|failed|quit] [again|about {topic}|and nobody is surprised|], [typical|what a joke|smh|hypocrite]
[Don't|Do not|Never] [buy|watch|trust|fly with|vote for] {other}, [total scam|worst ever|they rob you|you'll regret it]
[RIP|Rest in peace|So sad to hear about] {other}, [gone too soon|terrible news|heartbroken|we lost a great one]
{other} [out for the season|injured again|suspended|sold], [our season is over|gutted|there goes the title|devastating]
[Isis|The terrorists|The regime] [burned|executed|beheaded|bombed] [hostages|a village|prisoners|a school] near {city}
[Boycott|Shame on|Screw|To hell with] {other} [for|and] [supporting {topic}|their racist ads|stealing from workers|all they stand for]
[Why|Of course] [is|does] {topic} [always|have to] [go wrong|on {day} when I work|be so depressing|end in a mess]
[Global warming|The drought|The crisis|The virus] is [getting worse|a disaster|killing us] and {other} [denies it|ignores it|makes it worse]
[Unfair|So unfair|Robbed]! {other} [should have won|was clearly offside|got no credit|deserved better]
{other} may [lose|go to jail|be fired|never play again] [on {day}|after {topic}|, good grief]
[Too many|All these] [ads|bugs|liars|racists|trolls|commercials] on [here|tv|{topic}], [I'm done|it's unbearable|ugh]
""")

NEUTRAL = lines("""
{other} [may|might|could|will|is set to|is expected to] [sign with|play|meet|join|visit] {other} [on {day}|tomorrow|in {month}|next week]
[Who|Anyone] [is going|going] to [{topic}|see {other}] in {city} on [{day}|the {n}th|Saturday night]?
{other} [says|said|told reporters] [that the talks continue on {day}|he will decide in {month}|the plan is on the table|"we'll see"]
[Watch|Read|Listen]: {other} [on|talks about|explains] {topic} [http|via @user|- full interview here]
[What time|When|Where] [does|is] {topic} [start|on|open] [tomorrow|on {day}|in {city}]?
{other} vs {other}, {day} [{hour}|at noon], [Channel 5|live stream|radio coverage] [http|]
[On|In] {month} {n}th [{other} opened|the first {topic} took place|{other} was founded|the treaty was signed] in {city}
[Just|I] [read|saw|heard] that {other} [is in {city}|will be on {topic}|moves to {city} in {month}|is {n} today]
[The 1st|The 2nd|The third] [part|episode|season|debate] of {topic} [airs|is|will be shown] [on {day}|at {hour}|tomorrow night]
[Senate|Parliament|The council|The court] [to vote|votes|debates|hears arguments] on {topic} [on {day}|tomorrow|in {month}]
[Poll|New poll|Survey]: {other} at {n} percent, {other} at {n} [before {day}|in {city}|among voters under 30]
[I may|I think I'll|I might|I'm going to] [watch {topic}|wear my blue coat|go to {city}|work from home] [on {day}|tomorrow|later]
[Tomorrow|On {day}|Next week] [I have|we have|there is] [a meeting in {city}|class until {hour}|{topic} and then the gym|an interview with {other}]
[Did|Has] {other} [say|said|play|played|post|posted] [anything about {topic}|in {city} before|on {day}]?
[Now playing|#nowplaying]: {other} - [Sunday Morning|Red October|Stay|Second Street] [http|]
[Job|Hiring]: [nurse|driver|software engineer|sales assistant] in {city}, apply [by {day}|before {month} {n}|http]
[Weather|Forecast] for {city}: [cloudy|sunny spells|light rain], high of {n}, wind [north|west] [http|]
{other} [arrives|lands|is seen] in {city} [ahead of|before|for] {topic} [on {day}|http|photo: @user]
[Photo|Photos|Video]: {other} [at {topic}|in {city}|with {other}] [on {day}|http|, {month} {n}]
[If|When] {other} [plays|comes] on {day}, [will you go|who starts in goal|I may drive to {city}|it's the {n}th time]?
[The difference between|The story behind|Five facts about|A guide to] {topic} [and {other}|http|, part {n}]
[My|Our] [sister|dad|teacher|neighbour] [is watching|listens to|went to|talks about] {topic} [on {day}|right now|every {day}]
[Q|Question]: [which|what] {topic} [did you see first|do you follow|was on in {month}]? [A: {other}|#askaround|]
{other} [wears|drives|uses|orders] [a blue jacket|the old one|number {n}|tea] [in the new video|on {day}|at {topic}]
[According to|Reports from] {city}[,|:] {other} [signed|resigned|met {other}|is on the way] [on {day}|this morning|at {hour}]
[Look at|Check] [page {n}|the schedule|the list|the map] [for|of] {topic}, it [starts|changes|ends] on {day}
[Trump|Obama|Clinton|Merkel|Putin|The president|The pope] [speaks|to speak|arrives|meets {other}] in {city} [on {day}|tomorrow|http]
[iPhone|Android|Xbox|PlayStation|Tesla|Amazon] [update|event|release] [planned for|on|due] {month} {n}[ http|]
[Nike|Apple|Google|Netflix|Sony] [announces|to release|to open|confirms] {topic} [in {month}|in {city}|on {day}] [http|]
I [wonder|don't know] [if|whether] {other} [is on {topic}|goes to {city}|has an account here] [on {day}||tbh]
[Sitting in|Standing outside|Waiting at|Walking through] [the library|the station|{topic}|{city}] [with {other}|at {hour}|until {hour}]
[Half time|Full time|End of the 1st]: {other} {n}, {other} {n} [http|#live|]
@user [it's on {day}|I think it was {other}|he played there in {month}|ask {other}|the one in {city}|on page {n}]
@user @user [yes, at {hour}|no, the other one|see the link|that is from {month}|both, I think]
""")
BY_LABEL = {"positive": POSITIVE, "neutral": NEUTRAL, "negative": NEGATIVE}
