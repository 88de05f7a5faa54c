"""What stands before and behind names: any left side goes with any right side, so that the words next to a name vary more than
whole sentences do. A left side ends, and a right side begins, where the name stands; slots are those of templates.py."""


def _sides(text):
    return [
        side.strip()
        for line in text.strip().splitlines()
        for side in line.split("|")
        if side.strip()
    ]


ORG_LEFT = _sides("""
She works at | He worked for | I work for | I used to work at | They are employed by | my internship at | a job offer from | an offer from
a position at | a career at | the CEO of | the chief executive of | the founder of | co-founder of | the board of | the chairman of | a director at
vice president of | a spokesman for | a spokeswoman for | an analyst at | a partner at | a researcher at | a professor at | a lecturer at | a student at
a graduate of | she graduated from | he dropped out of | a degree from | her PhD at | enrolled at | admitted to | the dean of | the campus of | the faculty of
a member of | members of | he joined | she left | hired by | fired by | laid off by | recruited by | acquired by | bought by | owned by | run by | funded by
sponsored by | founded by | published by | produced by | made by | manufactured by | distributed by | supplied by | a subsidiary of | a division of
a unit of | a branch of | the headquarters of | the offices of | employees of | workers at | staff at | shareholders of | shares of | shares in | stock in
investors in | a stake in | customers of | clients of | a customer of | an account with | my account at | a loan from | a mortgage with | a policy with
a contract with | a deal with | an agreement with | a partnership with | a merger with | a dispute with | a lawsuit against | a complaint against
he sued | regulators fined | prosecutors charged | the takeover of | the bankruptcy of | the collapse of | the sale of | competitors like | companies like
companies such as | firms like | brands like | stores like | agencies like | teams like | bands like | unions like | charities such as | banks such as
a bill from | an invoice from | an email from | a letter from | a call from | a package from | a text from | a refund from | a statement from
according to | a report by | a study by | a survey by | a poll by | research by | data from | figures from | a grant from | a donation to | donate to
volunteers with | volunteering for | the treatment at | surgery at | a nurse at | treated at | rushed to | transferred to | admitted at | an appointment at
plays for | played for | signed with | a fan of | fans of | the coach of | the captain of | a striker for | traded to | drafted by | tickets for | a game against
lost to | a win over | beat | cheering for | a concert by | the new album by | the drummer of | the singer of | listening to | an article in | writes for
reported by | broadcast on | as seen on | I watch | an interview with | the editor of | a subscription to | a column in | shop at | I bought this at
ordered from | I ordered it from | bought shoes at | groceries at | a coupon for | a gift card for | flying with | I flew with | a flight on | booked through
delivered by | shipped via | switched to | switching from | my subscription with | customer service at | tech support at | insured with | banking with
a lawyer at | an accountant with | an engineer with | a manager at | head of sales at | a consultant for | previously at | formerly of | now at | soon at
a startup called | a company called | a firm named | a band called | a club called | a nonprofit called | a group called | an agency called | a bank called
my employer | our client | our supplier | our competitor | our sponsor | our partner | the company | the firm | chipmaker | carmaker | automaker | retailer
drugmaker | the airline | the bank | insurer | the broker | the publisher | the charity | the union | telecoms group | energy giant | software company
rival | its parent | parent company | startup | law firm | investment bank | tech giant | the newspaper | the band | the rebel group | the party
Employer: | Company: | Organisation: | Organization: | Vendor: | Supplier: | Client: | Publisher: | Hospital: | School: | University: | Bank:
Insurance: | Provider: | Sponsor: | Affiliation: | Business name: | Institution: | Payee: | Merchant: | Issued by | Certified by | Accredited by | Approved by
""")

ORG_RIGHT = _sides("""
announced that | announced a | said on Monday that | said it | says it will | reported a | reported that | posted a loss | posted record profits | expects to
plans to | plans a | agreed to buy | has agreed to | has acquired | acquired a | bought the rest | sold its | is selling | launched a | launches new | released its
unveiled its | introduced a | rolled out | will open | opened its first | closed its | is closing | shut down | filed for bankruptcy | filed a lawsuit
filed an | sued the | settled the | was fined | was sued by | was founded in | was founded by | was established in | was created | is based in | is headquartered in
has offices in | employs about | employs | hired a | is hiring | is recruiting | laid off | cut jobs | fired its | appointed a | named a new | promoted its
raised prices | raised money | raised {k} million | is worth | is valued at | shares fell | shares rose | stock jumped | stock is | earnings call | revenue grew
profits fell | employees voted | employees are | workers went on strike | customers complained | customers will | users can | executives met | lawyers argued
officials said | spokesman said | spokesperson declined | representatives were | denied the claim | declined to comment | did not respond | refused to pay
owes me | charged me | charged my card | overcharged us | cancelled my | never answered | never replied | sent me a | emailed me | called me about | refunded
delivers on | delivered the | makes the best | makes | manufactures | produces | sells | offers free | offers a | provides | supplies | operates in | operates a
runs the | owns the | controls | invested in | invests in | funds the | published a | publishes | wrote in its report | conducted a | studied the | found that
won the match | won the league | lost again | lost the final | beat the | plays tonight | play on | drew with | signed a new | scored in | fans are | fans sang | coach said
players | are playing | is the best team | released an album | toured | broke up | are my favourite band | split up in | performed | was on stage
headquarters | head office | branch | store in | store on | shop on | office in | factory | plant in | warehouse | campus | website | app | account | card
credit card | gift card | employee | customer service | tech support | support | engineer | manager | CEO | chief executive | founder | board | shareholders
building | tower | stadium | branch manager | team | staff | intern | recruiter | products | product line | software | servers | phone | laptop | trucks | drivers
doctors | nurses | students | graduates | alumni | professor | researchers | scientists | faculty | is a company | is a startup | is a nonprofit | is a bank
is a school | is a hospital | is a club | is a charity | is the largest | is one of the biggest | which makes | which owns | which employs | whose chief
whose shares | and its subsidiaries | and its partners | and other companies | and similar firms | and their lawyers | has been accused | has been criticised
has a monopoly | went public | went bust | goes public | is down again | is terrible | is a scam | is great | rocks | sucks | has the best | is too expensive
for {k} years | since {k} | in {k} | as a {job} | as an intern | from {k} to {k} | until last {m} | on {day} | last week | for help | about my order | about the bill
""")

PERSON_LEFT = _sides("""
I met | I know | I saw | I spoke with | I talked to | she married | he married | engaged to | divorced from | dating | in love with | my friend | her friend
my husband | my wife | my brother | her sister | his cousin | my uncle | aunt | grandma | my boss | my colleague | coworker | my roommate | my neighbour
my teacher | my doctor | our nanny | my lawyer | my therapist | the actor | the actress | the singer | rapper | the author | novelist | the poet | composer
painter | the director | comedian | the journalist | reporter | anchor | presenter | the chef | the architect | the scientist | physicist | the philosopher
economist | historian | the inventor | the explorer | astronaut | the coach | goalkeeper | striker | quarterback | pitcher | golfer | the boxer | driver
tennis player | swimmer | President | Senator | Governor | Mayor | Congressman | Councillor | Minister | Judge | Justice | Attorney | Detective | Officer
Sergeant | Captain | General | Pope | Queen | King | Prince | Saint | Coach | Nurse | Pastor | the late | the great | young | poor | old | little | dear
Dear | Hi | Hello | Hey | hey | hi | thanks | Thank you | thank you | Congrats | congratulations | Happy birthday | happy bday | RIP | good luck | love you
miss you | get well soon | come on | go | call | Call | ask | Ask | tell | Tell | email | text | remind | contact | invite | help | let | make | watch | hug
signed by | written by | directed by | painted by | played by | sung by | composed by | photographed by | told by | quoted by | coached by | represented by
examined by | seen by | referred by | approved by | prepared by | reviewed by | submitted by | reported by | arrested | police arrested | they charged
the suspect | the victim | the defendant | the plaintiff | a witness | patient | the patient | the deceased | the tenant | the landlord | the driver
the applicant | the candidate | Contestant | Winner: | Name: | Full name: | Patient: | Customer: | Contact: | Owner: | Author: | Attendees: | Signed: | From:
To: | Cc: | Assigned to: | Emergency contact: | Next of kin: | Interviewer: | Speaker: | Guest: | with | by | and | for | from | about | like | than | to
a letter to | a poem for | a gift for | an email to | the birthday of | the death of | the wife of | the son of | the daughter of | the story of | the life of
the biography of | the works of | the music of | a song by | a book by | a film by | a portrait of | the trial of | the arrest of | the murder of | a photo of
a crush on | a message from | a present from | a visit from | thoughts on | my son | our daughter | my baby | my dog | their kids | the twins | babysitter
he thinks | she says | apparently | why is | why does | did | is | has | when | because | where is | who is | how old is | what did | does | can | will | so
""")

PERSON_RIGHT = _sides("""
said | says | told me | told reporters | asked | replied | answered | whispered | shouted | laughed | smiled | nodded | cried | wept | sighed | thought | knew
wants to | wanted to | likes | loves | hates | prefers | needs a | has a | had been | is my | was my | is a {job} | was a {job} | is {k} years old | was {k} | turned {k}
was born | was born in | died in | died at | passed away | grew up | grew up in | lives in | lived with | lives with | moved to | married | is married to | divorced
and his wife | and her husband | and her brother | and his son | and their kids | and I | and me | studied | studied law | graduated | teaches | taught | works as
works for | worked at | joined | left the room | left early | quit his job | retired | resigned | was fired | was hired | was promoted | won the race | won gold
won the | scored | scored twice | plays the piano | plays guitar | plays for | sings | sang | wrote | wrote to | writes | painted | directed | starred in | stars as | acted in
composed | invented | discovered | proved | argued | argued that | believes | claims | denied it | admitted | confessed | was arrested | was charged | was sentenced
was killed | was injured | was elected | was appointed | ran for | voted | called | called me | called back | phoned | emailed | wrote back | sent me | gave me
gave the | bought a | bought | sold his | borrowed | owes me | paid | drove | walked | ran | slept | woke up | ate | cooked | baked | went to | went home | came back
came to | arrived | arrived late | stayed | waited | sat down | stood up | opened the door | looked at | saw | heard | found | lost | forgot | remembered | got sick
has cancer | has diabetes | has a fever | complained of | was admitted | was discharged | was seen by | takes | is allergic to | is taking | is pregnant | is here
is late | is away | is on holiday | is on leave | will be there | will call | can't come | cannot attend | is available | is sick today | is so cute | is hilarious
is the best | is my hero | is an idiot | you are awesome | you rock | your video | your channel | i love you | please | pls | lol | haha | omg | ! | !! | ? | :) | <3
u there | what do you think | can you | could you | do you | are you | where are you | thanks for | thank you for | here | speaking | 's house | 's mother
's car | 's birthday | 's phone | 's new song | 's death | 's book | 's wedding | 's lawyer | (born {k}) | ({k}) | , {k} | , who | , whose | , a {job} | , my | , the {job}
, age {k} | , aged {k} | , her | , please | , thanks | , you | , can you | , I | , do you | , have you | , what | , and | , but | et al. | Jr. | and co-workers
""")

PLACE_LEFT = _sides("""
in | In | at | from | to | near | outside | around | across | through | over | beyond | towards | between | into | within | throughout | inside | downtown
I live in | I lived in | we live near | she lives in | based in | born in | raised in | died in | buried in | grew up in | moved to | moved from | moving to
a flight to | flights to | flew to | flying to | drove to | a train to | the bus to | a trip to | trips to | our trip to | traveling to | traveled to | travelled to
a holiday in | vacation in | a weekend in | visiting | we visited | a visit to | the way to | the road to | the road from | directions to | stuck in | landed in
arrived in | leaving | left for | the people of | the government of | the president of | the prime minister of | the mayor of | the governor of | the king of
the capital of | the city of | the town of | the village of | the state of | the province of | the island of | the republic of | the coast of | the map of
the history of | the north of | the south of | southern | northern | eastern | western | central | rural | upstate | the streets of | the outskirts of | the port of
the embassy of | citizens of | refugees from | immigrants from | imported from | exports to | made in | made in | a war in | the war in | the election in | protests in
an earthquake in | floods in | a fire in | the weather in | it rains in | snow in | hotels in | restaurants in | the best pizza in | an apartment in | a house in
rent in | real estate in | the office in | our branch in | a factory in | a store in | a school in | a hospital in | a conference in | the Olympics in | a concert in
the airport in | deployed to | troops in | soldiers in | invaded | a visa for | a passport from | the border with | ties with | trade with | sanctions on | allies like
countries like | countries such as | cities like | places like | regions such as | towns like | Greetings from | hello from | Hello from | love from | live from | back in
here in | over in | up in | down in | out in | somewhere in | anywhere in | everyone in | people in | kids in | women in | police in | farmers in | a resident of
a native of | a town near | miles from | {k} km from | Location: | City: | Country: | State: | Place of birth: | Destination: | Origin: | Address: | Venue: | Region: | Nationality:
the river in | climbed | hiking in | skiing in | camping at | the beach at | surfing in | swam in | the lake near | I miss | I love | welcome to | Welcome to | going to | visit
""")

PLACE_RIGHT = _sides("""
is a city | is a town | is a village | is a country | is the capital | is beautiful | is lovely | is cold | is far | is too expensive | is so hot | is on the coast | is in the north
has a population | has {k} inhabitants | has great food | has nice beaches | has a | was founded | was bombed | was destroyed | was flooded | was colonised | gained independence
lies on | lies in | borders | declared war | invaded | signed the treaty | joined the | left the union | elected a | voted for | voted to | exports | imports | produces oil
hosted the | will host | hosts a | and the surrounding area | and back | and then to | and nearby towns | or somewhere warm | by train | by bus | by car | by plane
for a week | for the weekend | for work | for vacation | for the summer | for {k} years | last year | last summer | next week | next {m} | in {m} | in {k} | in the spring | on {day}
tomorrow | tonight | this weekend | today | right now | since {k} | after the war | during the war | with my family | with friends | with her parents | alone
airport | hotel | hotels | weather | traffic | police | residents | officials | time | area | region | city centre | suburbs | skyline | beach | border | harbour | bridge
people | government | parliament | embassy | ambassador | economy | stock exchange | office | branch | native | locals | streets | marathon | half marathon | film festival
, where | , which | , a city | , a town | , the capital | , and | , but | , {n} | , it | , I | ! | ? | ; | : | (see map) | (pop. {k}) | - {k} km | to {c} | and {c} | or {c} | via {c}
""")

# In the same places, what is no name: things, works, products, titles, groups of people.
NONE_LEFT = _sides("""
I bought a | I like | I love | She reads | He plays | We watched | They use | my new | the new | the old | our | a | the | about | with | for | from | of | in | at | by | and
Learn | Buy | Try | Use | Open | Click | Download | Install | Join the | Read the | See | Watch | Play | Check | No | More | Best | Free | New | Great | Good | Nice
Dear | Hi | Hello | Welcome to | Thanks to | Happy | Merry | the word | the term | called | named | titled | the book | the movie | the song | the game | the course
the theory of | a degree in | an introduction to | the importance of | the role of | a lack of | head of | department of | director of | vice president of | a bachelor of
""")

NONE_RIGHT = _sides("""
is | was | are | were | has | had | will be | is a | is the best | is free | is open | is closed | is great | is terrible | works | does not work | said | says | for | of | and | or | in
on | with | by | to | from | at | about | lol | ! | ? | : | ; | , but | , and | is my favourite | is coming | is overrated | is important | team | class | course | button
""")
