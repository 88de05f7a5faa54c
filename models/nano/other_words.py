"""Topics for task_other.py: what people ask about. Lists of words, one pool each."""

from pools import words

COUNTRY = words("""
France, Germany, Spain, Italy, Portugal, Brazil, Argentina, Chile, Peru, Mexico, Canada, Japan,
China, India, Pakistan, Bangladesh, Indonesia, Thailand, Vietnam, Nigeria, Kenya, Egypt, Morocco,
Ghana, Ethiopia, Sweden, Norway, Finland, Denmark, Poland, Greece, Turkey, Iran, Iraq, Australia,
New Zealand, Mongolia, Nepal, Cuba, Iceland, Ireland, Ukraine, Austria, Hungary, Switzerland,
Belgium, Colombia, Ecuador, Bolivia, Uruguay, South Korea, Taiwan, Madagascar, Texas, California,
Florida, Ohio, Alaska, Nevada, Oregon, Georgia, Montana, Vermont, Arizona
""")

PERSON = words("""
Albert Einstein, Isaac Newton, Marie Curie, Charles Darwin, Nikola Tesla, Leonardo da Vinci,
Michelangelo, Picasso, Van Gogh, Mozart, Beethoven, Bach, Shakespeare, Homer, Plato, Aristotle,
Socrates, Napoleon, Julius Caesar, Cleopatra, Alexander the Great, Gandhi, Nelson Mandela, Abraham
Lincoln, George Washington, Benjamin Franklin, Thomas Jefferson, Winston Churchill, Queen
Victoria, Martin Luther King, Rosa Parks, Neil Armstrong, Galileo, Copernicus, Ada Lovelace, Alan
Turing, Stephen Hawking, Freud, Nietzsche, Kant, Karl Marx, Mark Twain, Charles Dickens, Jane
Austen, Hemingway, Tolstoy, Dostoevsky, Kafka, Agatha Christie, Michael Jordan, Serena Williams,
Roger Federer, Tom Brady, Usain Bolt, Muhammad Ali, Pele, Messi, Ronaldo, Steph Curry, Kevin
Durant, Babe Ruth, Taylor Swift, Beyonce, Elvis Presley, Bob Dylan, Madonna, Prince, Drake,
Rihanna, Adele, Freddie Mercury, Jimi Hendrix, Johnny Cash, Tom Hanks, Brad Pitt, Meryl Streep,
Will Smith, Leonardo DiCaprio, Steven Spielberg, Alfred Hitchcock, Walt Disney, Steve Jobs, Bill
Gates, Elon Musk, Jeff Bezos, Warren Buffett, Oprah Winfrey, Barack Obama, the president, the
prime minister, the pope, the king, the mayor, the governor
""")

SCIENCE = words("""
quantum entanglement, photosynthesis, black holes, gravity, evolution, DNA, the water cycle, plate
tectonics, electricity, magnetism, relativity, thermodynamics, entropy, the big bang, natural
selection, mitosis, osmosis, the nitrogen cycle, nuclear fusion, antibiotics, the immune system,
the human heart, the liver, the brain, neurons, memory, sleep, dreams, tides, volcanoes,
earthquakes, hurricanes, tornadoes, lightning, rainbows, clouds, climate change, global warming,
the ozone layer, the greenhouse effect, dark matter, neutron stars, supernovas, the solar system,
Mars, Jupiter, Saturn, the moon, comets, asteroids, the sun, atoms, molecules, chemical bonds,
acids and bases, the periodic table, oxygen, carbon, hydrogen, iron, semiconductors, lasers, radio
waves, sound waves, light, friction, momentum, inertia, pressure, bacteria, viruses, fungi,
photons, electrons, quarks, string theory, genetics, stem cells, CRISPR, enzymes, proteins,
hormones, blood types, allergies, fossils, dinosaurs, coral reefs, rain forests, biodiversity,
pollination, food chains, symbiosis, hibernation, migration, camouflage, superconductivity
""")

TECH = words("""
machine learning, neural networks, blockchain, bitcoin, cloud computing, edge computing, operating
systems, compilers, databases, SQL indexes, TCP, DNS, HTTPS, encryption, public key cryptography,
recursion, big O notation, hash tables, binary search, quicksort, garbage collection, pointers,
threads, deadlocks, virtual memory, containers, Kubernetes, Docker, Git, REST, GraphQL,
microservices, transformers, large language models, overfitting, gradient descent, reinforcement
learning, computer vision, 5G, GPS, Bluetooth, SSDs, GPUs, quantum computers, 3D printing, solar
panels, electric motors, jet engines, nuclear reactors, wind turbines, batteries, barcodes, touch
screens, microwaves, refrigerators, fiber optics, the internet, search engines
""")

HISTORY = words("""
World War I, World War II, the French Revolution, the American Civil War, the Cold War, the Roman
Empire, the fall of Rome, the Renaissance, the Industrial Revolution, the Black Death, the
Crusades, the Ottoman Empire, the Mongol Empire, the Great Depression, the Vietnam War, the Korean
War, the Berlin Wall, the moon landing, the Boston Tea Party, the Magna Carta, the Enlightenment,
the Reformation, feudalism, the Silk Road, ancient Egypt, ancient Greece, the Maya, the Aztecs,
the Incas, the Vikings, the samurai, the Ming dynasty, apartheid, the Gold Rush, the Spanish
Armada, the Russian Revolution, the Suez crisis, the Hundred Years' War, the Titanic, the Great
Fire of London, women's suffrage, the civil rights movement, the printing press
""")

SOCIETY = words("""
inflation, democracy, capitalism, socialism, the stock market, supply and demand, recession,
globalisation, human rights, free speech, the electoral college, the supreme court, the
constitution, Brexit, the European Union, the United Nations, NATO, tariffs, unemployment,
poverty, education reform, homeschooling, nuclear power, renewable energy, veganism, animal
testing, social media, privacy, artificial intelligence, universal basic income, immigration,
space travel, gun control, school uniforms, remote work, online dating, marriage, parenting,
friendship, stoicism, existentialism, utilitarianism, Buddhism, Christianity, Islam, Hinduism,
Judaism, meditation, yoga, feminism, minimalism, consumerism, ethics, justice, free will,
consciousness, happiness, leadership
""")

ANIMAL = words("""
lion, tiger, elephant, giraffe, whale, dolphin, shark, octopus, penguin, eagle, owl, parrot,
snake, crocodile, frog, turtle, spider, ant, bee, butterfly, mosquito, bat, bear, wolf, fox, deer,
rabbit, squirrel, horse, cow, pig, sheep, goat, chicken, duck, kangaroo, koala, panda, gorilla,
chimpanzee, hamster, goldfish, cheetah, hippo, camel, polar bear, jellyfish, lobster, salmon, crow
""")

THEME = words("""
the sea, autumn, love, friendship, a lonely robot, a dragon, the moon, a lost dog, winter, hope,
time, the city at night, a lighthouse, an old house, a detective, a pirate, a knight, a haunted
castle, two brothers, a train journey, a garden, the stars, the rain, coffee, a cat, my
grandmother, a brave mouse, a wizard, a spaceship, the last day of school, a broken clock, war,
peace, nature, spring, summer, freedom, silence, a forest, the desert, mountains, a river,
loneliness, courage, a time traveller, a secret door, an astronaut, a baker, a violin, dreams, a
snow storm
""")

THINGS = words("""
binary tree, linked list, prime numbers, Fibonacci numbers, a string, a list of integers, a CSV
file, a JSON file, a web page, a matrix, two sorted arrays, a dictionary, a queue, a stack, a
graph, a date string, an image, a log file, a text file, a number, duplicate values, a palindrome,
vowels, words in a sentence, a password, an email address with a regex, a REST API, a SQL table, a
chess board, a sudoku, a to-do app, a chat server, a calculator app, a timer app, a login form, a
shopping cart, a parser, a tokenizer, anagrams, the longest common prefix
""")

VERB = words("""
reverse, sort, parse, validate, print, count, merge, search, traverse, filter, find, remove,
compute, generate, read, convert, split, check, balance, compress, encrypt, download, plot
""")

LANGUAGE = words("""
Python, Java, C, C++, JavaScript, TypeScript, Go, Rust, SQL, Bash, Ruby, PHP, Haskell, Kotlin,
Swift, R, Perl, Scala, Lua, assembly
""")

TONGUE = words("""
French, German, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese, Korean,
Arabic, Hindi, Turkish, Swedish, Greek, Latin, English, Vietnamese, Thai
""")

TEAM = words("""
chicago bulls, utah jazz, lakers, celtics, warriors, knicks, miami heat, yankees, red sox,
dodgers, cubs, patriots, cowboys, packers, steelers, eagles, giants, broncos, seahawks, manchester
united, liverpool, arsenal, real madrid, barcelona, bayern munich, juventus, rangers, maple leafs,
penguins, bruins, buckeyes, longhorns, wolverines, duke, notre dame, raptors, bears
""")

SPORT = words("""
football, soccer, basketball, baseball, hockey, tennis, golf, cricket, rugby, boxing, swimming,
volleyball, chess, wrestling, badminton, table tennis, surfing, skiing, formula 1, nascar,
gymnastics, cycling, rowing, archery, the olympics, the super bowl, the world cup, the nba, the
nfl
""")

SHOW = words("""
star wars, titanic, the godfather, the matrix, avatar, jurassic park, harry potter, the lord of
the rings, game of thrones, breaking bad, the office, friends, the simpsons, star trek, the
avengers, batman, superman, spider-man, frozen, toy story, the lion king, casablanca, psycho,
jaws, rocky, alien, terminator, gladiator, inception, forrest gump, pulp fiction, seinfeld, lost,
stranger things, the wire, the crown, sherlock, doctor who, south park, black panther, minecraft,
fortnite, zelda, super mario, pokemon, tetris, call of duty, pac-man, halo, the sims, skyrim
""")

BOOK = words("""
hamlet, macbeth, moby dick, the great gatsby, war and peace, 1984, brave new world, the odyssey,
the iliad, don quixote, pride and prejudice, frankenstein, dracula, the hobbit, dune, to kill a
mockingbird, the catcher in the rye, lord of the flies, animal farm, jane eyre, ulysses
""")

FIRM = words("""
apple, google, microsoft, amazon, tesla, toyota, ford, walmart, target, nike, adidas, coca cola,
pepsi, disney, netflix, intel, nvidia, samsung, sony, nintendo, boeing, starbucks, ibm, facebook,
twitter, general electric, honda, bmw, ikea, lego, mcdonald's, oracle, salesforce
""")

SUBJECT = words("""
history, biology, chemistry, physics, algebra, geometry, calculus, statistics, economics,
geography, philosophy, psychology, sociology, law, medicine, engineering, art, music, literature,
linguistics, computer science, accounting, marketing, nursing, architecture, astronomy
""")

INSTRUMENT = words("""
piano, guitar, violin, drums, flute, saxophone, trumpet, cello, clarinet, harp, banjo, ukulele,
bass, harmonica, accordion, bagpipes, organ, oboe, trombone, synthesizer
""")

JOB = words("""
doctor, nurse, teacher, lawyer, pilot, engineer, chef, plumber, electrician, actor, firefighter,
police officer, scientist, astronaut, programmer, architect, accountant, carpenter, journalist,
photographer, designer, dentist, vet, pharmacist, farmer, mechanic, economist, judge
""")

HOUSE = words("""
a leaky faucet, a coffee stain, a clogged drain, a squeaky door, mold in the bathroom, a broken
window, a wasp nest, weeds, a dead lawn, a scratched table, a dirty oven, a burnt pan, a noisy
fan, a wobbly chair, a stuck zipper, a rusty bike, a cracked wall, ants in the kitchen, a running
toilet, a jammed printer, a wet book, wine on the carpet, a flat pillow, a smelly sink
""")

HEALTH = words("""
a headache, back pain, the flu, a cold, diabetes, asthma, high blood pressure, insomnia, anxiety,
depression, a sprained ankle, acne, a fever, a sore throat, arthritis, anemia, migraines,
heartburn, eczema, a broken arm, sunburn, food poisoning, dehydration, a toothache
""")

GENRE = words("""
jazz, rock, blues, classical, country, hip hop, techno, reggae, folk, opera, pop, metal, punk,
soul, funk, bluegrass, disco, salsa, indie, gospel
""")

MUSEUM = words("""
louvre, british museum, eiffel tower, colosseum, statue of liberty, taj mahal, empire state
building, golden gate bridge, white house, metropolitan museum, zoo, aquarium, guggenheim,
planetarium, science museum, art gallery, sagrada familia, big ben, space needle, acropolis
""")

RELATIVE = words("""
mother, father, sister, brother, wife, husband, son, daughter, friend, boss, aunt, uncle,
grandmother, neighbor, girlfriend, boyfriend, cousin, teacher
""")

OBJECT = words("""
telephone, bicycle, piano, toaster, umbrella, mirror, sofa, lamp, carpet, drone, telescope,
microscope, clock, ladder, hammer, backpack, tent, kayak, skateboard, camera, blender, vacuum
cleaner, washing machine, light bulb, thermometer, compass, zipper, pencil, stapler, helmet,
keyboard, monitor, router, headset, violin, canoe, mattress, curtain, candle, shovel, robot
""")
