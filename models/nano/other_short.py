"""Short everyday questions for task_other.py that are near the way intents are asked, but of no intent:
things to do and things to know, combined with the ways of asking."""

from pools import lines, words

DO = words("""paint a fence, build a treehouse, prune an apple tree, tune a violin, knit a scarf, catch a trout,
groom a poodle, frame a picture, sharpen a knife, patch a bicycle tube, sew a button, plant a hedge, breed rabbits,
fly a kite, carve a pumpkin, fold a paper crane, read a compass, pitch a tent, light a campfire, wax a surfboard,
shear a sheep, milk a cow, train a parrot, feed a hedgehog, clean an aquarium, repair a zipper, polish silver,
whiten my teeth, braid hair, shave with a razor, grow a beard, pierce an ear, draw a horse, sketch a portrait,
mix oil paint, develop film, edit a video, record a podcast, stream a game, build a gaming pc, overclock a cpu,
install linux, set up a printer, flash a rom, crack a code, encrypt a disk, host a server, design a logo,
register a trademark, file a patent, sue a company, write a will, adopt a cat, foster a dog, win an election,
become a senator, join the navy, enlist in the army, get a pilot license, sail a yacht, row a boat, ride a horse,
skate backwards, do a handstand, throw a curveball, hit a backhand, dribble a basketball, score a goal,
lift heavier weights, run a marathon, meditate, breathe under stress, stop smoking, fall asleep faster, cure hiccups,
remove a splinter, treat a burn, bandage a wrist, stop a nosebleed, lower my blood pressure, build muscle,
gain weight, whistle with fingers, juggle, do a card trick, hypnotise someone, learn sign language, memorise a poem,
speed read, take better notes, publish a novel, find an agent, write lyrics, play the drums, string a guitar,
conduct a choir, organise a wedding, plan a funeral, throw a party, decorate a tree, dye eggs, hide a present,
trace my ancestors, find a lost friend, ask someone out, write a love letter, break up nicely, save a marriage,
discipline a toddler, change a diaper, potty train a child, pick a school, homeschool a child, pass algebra,
dissect a frog, grow crystals, launch a rocket, find a meteor, photograph the moon, name a star, measure wind,
predict an eclipse, dig a well, lay bricks, pour concrete, tile a bathroom, unclog a sink, hang a door, wire a lamp,
insulate an attic, fix a leaky roof, get rid of ants, keep bees, compost leaves, mow a lawn, weld steel, solder a wire""")

ASK_DO = lines("""
how do i {do}
how do you {do}
how can i {do}
what do i need to {do}
is it hard to {do}
how long does it take to {do}
can you {do} for me
who can {do} for me
what is the best way to {do}
what's the easiest way to {do}
i want to {do}
i would like to {do}, any tips
should i {do}
when should i {do}
show me how to {do}
teach me to {do}
what does it cost to {do}
is it safe to {do}
where can i learn to {do}
can a child {do}
why would anyone {do}
what tools do i need to {do}
is there an app to {do}
explain how to {do}
do i need a license to {do}
how did people {do} in the past
what is the law if i {do}
give me step by step instructions to {do}
which book tells me how to {do}
what happens if i {do} wrong
""")

THING = words("""a violin, a glacier, a lighthouse, a telescope, a submarine, a windmill, a hot air balloon, a pyramid,
a castle, a cathedral, a desert, a rainforest, a coral reef, a volcano, a comet, a black hole, a vaccine, a robot,
a drone, a chess clock, a sewing machine, a typewriter, a steam engine, a space station, a satellite, a battery cell,
a light bulb, a transistor, a laser, a microscope, a dinosaur, a mammoth, a unicorn, a dragon, a vampire, a samurai,
a viking, a knight, a pharaoh, a gladiator, a ninja, a constitution, a parliament, a republic, a monarchy, a tsunami,
a tornado, an avalanche, a rainbow, a snowflake, a diamond, an emerald, a pearl, amber, silk, wool, cotton, rubber,
plastic, concrete, steel, bronze, gunpowder, penicillin, aspirin, caffeine, insulin, chlorophyll, gravity, a symphony,
an opera, a ballet, a sonnet, a haiku, a novel, a comic, a cartoon, an anime, a musical, a documentary, a mural,
a sculpture, a mosaic, a tattoo, a kimono, a kilt, a sari, high heels, a top hat, a wig, a mustache, a beehive,
an anthill, a spider web, a cocoon, a fossil, a mushroom, a cactus, bamboo, an orchid, a redwood, a tulip, a sunflower,
a penguin, an octopus, a kangaroo, a sloth, a hummingbird, a platypus, a jellyfish, a blue whale, a great white shark""")

ASK_THING = lines("""
how big is {thing}
how old can {thing} get
how much does {thing} weigh
what color is {thing}
what is {thing} made of
who made the first {thing}
where does {thing} come from
where can i see {thing}
why do people like {thing}
how is {thing} made
how does {thing} work
what is the history of {thing}
what is the biggest {thing} in the world
is {thing} dangerous
is {thing} rare
what is the opposite of {thing}
can you describe {thing}
what do you know about {thing}
i saw {thing} yesterday, what could it mean
tell me something about {thing}
what is special about {thing}
who owns the most famous {thing}
how many kinds of {thing} are there
what is the difference between {thing} and {thing2}
which is older, {thing} or {thing2}
is {thing} heavier than {thing2}
what would happen without {thing}
what does {thing} cost
show me a picture of {thing}
draw {thing}
what rhymes with {thing}
how was {thing} discovered
""")

# Questions on a story of several sentences: one given sentence with yes or no is task_yesno's.
STORY = lines("""
Who did what on which day?
Where was the {relative} when it happened?
When did they meet, and why?
What did the others do in the meantime?
Who is the oldest?
Which of them had the most to do that week?
Who could not have been there?
Where did each of them go afterwards?
How do these people know each other?
What time was it when they were done?
What does the first person want?
Why did nobody notice?
How much money did they spend altogether?
Which event came first?
What should they have done instead?
Tell the story from the view of the second person.
What is likely to happen next?
What happened between the first and the last event?
Who was alone, and for how long?
Write down a question that the text does not answer.
What is the mood of this story, and which words create it?
Which statement contradicts another one? Explain.
How long did it take them in total?
Put the events in order.
Explain who owes something to whom.
Compare the two people.
""")

# What sounds like one of our tasks and is none: other questions about one text, other work on a list.
NEARLY = lines("""
Is the following sentence grammatical? {text}
Is this sentence formal or informal? {text}
Which tense is this sentence in? {text}
What is the subject of this sentence? {text}
Is this text sarcastic? {text}
Is the following text polite? {text}
Does this message sound honest? {text}
Is this a question, an order or a statement? {text}
Is the following text active or passive? {text}
How hard is this text to read? {text}
What emotion does the writer hide? {text}
Which age is the writer of this text? {text}
Is this text written by a machine? {text}
What does "it" refer to in this sentence? {text}
Label each word with its part of speech: {text}
Parse this sentence into a tree: {text}
Split this text into syllables: {text}
Count the vowels in this text: {text}
Which word occurs most often? {text}
Find the rhyme in this text: {text}
What is the most important word here? {text}
Give this text a rating for creativity: {text}
What is the stance of the author? {text}
Detect bias in the following text. {text}
Is the following claim supported by science? {text}
Which dialect of the language is this? {text}
Where was this text published? {text}
What is the second sentence of this text about? {text}
Replace every adjective by its opposite: {text}
Rewrite the following sentence in the past tense: {text}
Turn this sentence into a question: {text}
Insert the missing commas: {text}
Reverse the order of this list: {items}
Remove the duplicates from this list: {items}
How many items are in this list? {items}
Which of these words is the longest? {items}
Shuffle these words: {items}
Group these words by meaning: {items}
Which of these can you eat? {items}
Write a sentence with these words: {items}
Add three more items to this list: {items}
Rank these by price: {items}
Which two belong together? {items}
Make a story out of this list: {items}
Which of these did I mention first, and why does it matter? {items}
Translate this list into {tongue}: {items}
Define each of these words: {items}
How do these things differ? {items}
Find the odd one out and explain: {items}
Take every second word of this list: {items}
""")
