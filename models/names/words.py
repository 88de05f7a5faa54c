"""Words that say what stands beside them, and capitalised things that are no names of people, places or organisations."""


def _split(text):
    return [w.replace("_", " ") for w in text.split()]


FUNCTION = _split("""the a an and or but if then else of to in on at by for with from into onto over under about after before between through
during without within along across behind beyond is are was were be been being am do does did done doing have has had having will would
shall should can could may might must not no nor so as than that this these those there here what which who whom whose when where why
how all any both each few more most other some such only own same too very just i me my mine myself you your yours yourself he him his
himself she her hers herself it its itself we us our ours ourselves they them their theirs themselves dont doesnt didnt isnt arent
wasnt werent wont wouldnt cant couldnt shouldnt havent hasnt hadnt aint yes ok okay please thanks thank hello hi hey well also again
still yet ever never always often because while although though since until unless however therefore thus hence let lets get got
der die das und oder ist nicht ein eine einen dem den des mit von zu auf für im am als auch sich wir ich sie er es ihr
le la les un une des et ou est pas ne je tu il elle nous vous ils que qui dans sur pour avec par au aux du ce cette
el los las una y o es no que en por para con su se lo al mi tu
il lo gli una che non per con di da nel della sono
o os as um uma e não em por com para seu sua no na do da
het een en van is niet op te dat voor met zijn
och att det som en på är av för med till den har
og det at en den til er som på de med av for ikke
ja on ei se että oli mutta kun ovat""")
PARTICLE = _split(
    "de del della di da dos das do du des van von der den ten ter zu zum zur bin ibn bint al el la le lo las los y e af av of the and st saint mac mc o d abu ben e' dela delas la"
)
TITLE = _split("""mr mrs ms miss mister dr doctor prof professor sir madam mme mlle monsieur madame herr frau señor señora sr sra don doña signor
signora hon rev reverend father sister brother captain capt colonel col major maj general gen lieutenant lt sergeant sgt officer judge
justice senator sen president minister chancellor king queen prince princess lord lady duke sheikh imam rabbi pastor pan pani pán paní
dhr mevr ing dipl jr sr esq phd md""")
CUE = _split("""name named names called call known dear hi hello hey regards sincerely cheers best love thanks from by with says said asked told
asks tells signed author written directed starring singer actor actress writer poet artist president ceo cto cfo manager director founder
employee patient client customer colleague friend wife husband mother father mom mum dad son daughter brother sister uncle aunt cousin
grandma grandpa niece nephew boss partner neighbour neighbor student teacher nurse lawyer attorney contact attn attention cc bcc to meet
met and maiden alias aka signature applicant tenant landlord spouse beneficiary guardian witness name: first last surname nombre nom
vorname nachname prénom apellido cognome imię nazwisko jméno nimi navn namn naam ich heiße bin je suis soy sono chiamo llamo appelle""")
CUE_PLACE = _split("""in at from near to city town village live lives lived living born visit visited visiting travel travelled traveling trip flight
fly flew moved moving move based located headquartered office capital country state province region district county across around
leaving outside downtown north south east west northern southern eastern western between via address destination arrived arrive mayor
weather airport hotel hotels restaurants ort stadt wohne wohnt lebt ville habite ciudad vive vivo città abito miasto bydlím""")
ORG = _split("""inc corp corporation co company ltd limited llc plc llp gmbh ag kg se sa sas sarl spa srl sl nv bv ab as asa oy oyj sro kft zrt doo
group holdings holding partners associates bank university college school institute academy hospital clinic foundation trust association
society union council committee commission agency department ministry bureau office court police museum library church club league
federation organization organisation party airlines airways motors industries enterprises systems technologies solutions services
consulting insurance capital ventures labs laboratories studios pictures records press media news times post herald gazette journal
tribune international global fc united city rovers athletic universidad universität université università politecnico hochschule
klinikum krankenhaus banco banque banca sparkasse verlag stadtwerke hermanos figli frères fils söhne sons brothers pty pvt sdn bhd""")
STREET = _split("""street st road rd avenue ave lane ln drive dr boulevard blvd court ct way place pl close crescent terrace square highway hwy
apt suite unit floor straße strasse str weg gasse platz allee rue avenue chemin quai calle avenida plaza paseo via viale corso
piazza rua travessa praça straat laan gracht plein gatan vägen vej gade gata veien katu tie ul al os utca út tér sokak caddesi ulica
ulice trg nagar marg po box""")
PLACE_PART = _split("""north south east west northern southern eastern western new old upper lower great little saint san santa santo sankt bad
port fort mount lake river valley island islands beach bay park hills heights springs falls creek county province state kingdom republic
airport station bridge stadium castle canyon desert peninsula cape gulf sea ocean villa nova ville""")
TIME = _split("""january february march april may june july august september october november december monday tuesday wednesday thursday friday
saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun christmas easter ramadan diwali hanukkah
thanksgiving halloween am pm est pst utc gmt cet q1 q2 q3 q4""")
PEOPLES = _split("""american british english scottish welsh irish french german spanish italian portuguese dutch belgian swiss austrian polish
czech slovak hungarian romanian bulgarian greek turkish russian ukrainian swedish norwegian danish finnish icelandic estonian latvian
lithuanian serbian croatian bosnian slovenian albanian arab arabic egyptian moroccan algerian tunisian libyan syrian lebanese jordanian
iraqi iranian persian israeli palestinian saudi yemeni afghan pakistani indian bengali nepali chinese japanese korean vietnamese thai
indonesian malaysian filipino australian canadian mexican brazilian argentine chilean peruvian colombian venezuelan cuban haitian jamaican
nigerian ghanaian kenyan ethiopian somali sudanese african asian european latin hispanic caucasian jewish muslim christian catholic
protestant hindu buddhist sikh orthodox islamic mormon democrat republican socialist communist liberal conservative hebrew mandarin
cantonese hindi urdu tamil swahili zulu latino roman victorian byzantine ottoman soviet nazi marxist americans germans russians""")
PRODUCT = _split("""iphone ipad macbook android windows linux macos ios ubuntu debian python java javascript typescript rust golang ruby php perl
kotlin swift scala haskell html css sql mysql postgres postgresql sqlite mongodb redis kafka docker kubernetes terraform ansible jenkins
git github react angular vue django flask spring node npm nginx apache excel word powerpoint outlook teams photoshop illustrator
autocad matlab tensorflow pytorch numpy pandas scikit jupyter vscode vim emacs eclipse chrome firefox safari edge alexa siri cortana
chatgpt gpt gemini claude copilot llama bert playstation xbox switch wii galaxy pixel kindle roomba prius corolla civic camry mustang
corvette f150 beetle golf passat boeing airbus bitcoin ethereum dogecoin usb hdmi wifi bluetooth gps cpu gpu ram ssd pdf json xml yaml
csv api http https tcp udp dns ssl tls ssh ftp smtp url uri oauth jwt aws gcp azure lambda s3 ec2 minecraft fortnite tetris pokemon""")
# Short for things, not for organisations.
ACRONYMS = _split("""DNA RNA PCR HIV AIDS MRI CT ECG EKG ICU ER BMI BP HR IQ ADHD PTSD OCD COPD LDL HDL ATM PIN APR IRA ETF IPO GDP VAT ROI KPI SLA B2B CRM ERP SEO PR
CEO CFO CTO COO VP MD PhD MBA GPA SAT GRE GMAT TOEFL IELTS ID SSN DOB FAQ FYI ASAP RSVP TBD TBA ETA DIY VIP AKA RIP LOL OMG WTF BTW IMO TV PC CD DVD CDs DVDs TVs PCs
LED LCD USB HDMI RAM SSD CPU GPU UPS GPS LTE SIM SMS MMS IP TCP UDP DNS VPN LAN WAN URL HTML CSS XML JSON PDF API SDK IDE GUI CLI OS SQL NLP AI ML LLM IoT AR VR SUV RV
ATV 4WD AC DC HP MPG MPH RPM PSI BTU UV IR RGB pH HCl NaCl H2O CO2 NaOH EU UFO FAQs PPE CPR EMT NGO TA PI QA UX UI HRM KYC AML GAAP EBITDA Q1 Q2 Q3 Q4 AM PM EST PST GMT""")
# Titles of works and products of several words: named, but nobody.
WORKS = [
    s.strip()
    for s in """The Great Gatsby, Pride and Prejudice, War and Peace, Moby Dick, The Lord of the Rings, Game of Thrones, Breaking Bad,
The Godfather, Star Wars, Stranger Things, The Simpsons, Friends, The Office, Hamlet, Macbeth, Romeo and Juliet, Don Quixote, The Odyssey,
Crime and Punishment, Brave New World, Animal Farm, Lord of the Flies, The Catcher in the Rye, To Kill a Mockingbird, Jurassic Park, Titanic,
The Matrix, Inception, Pulp Fiction, Fight Club, Forrest Gump, Toy Story, Finding Nemo, Frozen, Black Panther, Iron Man, Wonder Woman,
Bohemian Rhapsody, Stairway to Heaven, Imagine, Yesterday, Hey Jude, Purple Rain, Thriller, Hotel California, Smells Like Teen Spirit,
The Dark Side of the Moon, Abbey Road, Rumours, Grand Theft Auto, Call of Duty, World of Warcraft, The Legend of Zelda, Super Mario, Mona Lisa,
The Starry Night, Guernica, The Thinker, Galaxy S21, iPhone 13 Pro, Model S, MacBook Pro, Windows 11, Office 365, Android Studio,
PlayStation 5, Xbox Series X, Nintendo Switch, Google Maps, Apple Music, Amazon Prime, Adobe Photoshop, Visual Studio Code,
Guitar World, Best Album of the Year, Employee of the Month, The Daily Show, Good Morning America, Nobel Prize, Academy Award, Grammy,
Pulitzer Prize, World Cup, Champions League, Super Bowl, Olympic Games, Tour de France, Black Friday, Cyber Monday, Labor Day, Memorial Day,
Thanksgiving, Valentine's Day, Civil War, World War II, Cold War, French Revolution, Industrial Revolution, Great Depression, Renaissance,
Middle Ages, Treaty of Versailles, Bill of Rights, Magna Carta, General Data Protection Regulation, Affordable Care Act, Article 5, Section 230,
Amendment, Big Data, Machine Learning, Artificial Intelligence, Deep Learning, Natural Language Processing, Internet of Things, Project Manager,
Software Engineer, Chief Executive Officer, Vice President, Senior Analyst, Human Resources, Terms of Service, Privacy Policy, Frequently Asked
Questions, Table of Contents, Executive Summary, Curriculum Vitae, Bachelor of Science, Master of Business Administration, Doctor of Philosophy,
Computer Science, Mechanical Engineering, Business Administration, Public Health, New Year, Mother's Day, Spring Festival, Golden Retriever,
German Shepherd, Labrador, Siamese, Persian Cat, Caesar Salad, French Toast, Danish Pastry, Swiss Cheese, Earl Grey, Granny Smith apples,
Bloody Mary, Old Fashioned, Long Island Iced Tea, Parkinson, Alzheimer, Crohn's disease, Down syndrome, Achilles tendon, Fahrenheit, Celsius,
Python, Java, Docker, React, Excel, PowerPoint, Linux, Bitcoin, Bluetooth, Wi-Fi, Newton's Laws, Pythagorean Theorem, Fourier Transform, Bayes,
Monte Carlo, Gaussian, Euclidean, Turing Test, Markov Chain, Scrum Master, Sprint Planning, Kanban""".replace(
        "\n", " "
    ).split(",")
]
HEADINGS = [
    s.strip()
    for s in """Introduction, Summary, Background, Work Experience, Education, Skills, References, Contact, Objective, Certifications,
Projects, Languages, Hobbies, Conclusion, Abstract, Methods, Results, Discussion, Instructions, Requirements, Ingredients, Directions, Notes,
Agenda, Minutes, Action Items, Next Steps, Overview, Features, Pricing, Installation, Usage, License, Changelog, Warning, Error, Note, Important,
Question, Answer, Context, Output, Input, Example, Task, Title, Subject, Date, Location, Description, Priority, Status, Assigned To, Order Number,
Invoice, Total, Subtotal, Shipping, Billing, Payment, Delivery, Quantity, Chapter One, Act II, Scene 3, Part Two, Appendix A, Figure 1, Table 2,
Monday Meeting, Weekly Report, Quarterly Review, Annual Report, Press Release, Cover Letter, Job Description, Dear Sir or Madam,
To Whom It May Concern, Best Regards, Kind Regards, Yours Sincerely, Thank You, Terms and Conditions, Happy Birthday, Good Morning""".replace(
        "\n", " "
    ).split(",")
]
