"""Sentences in which names stand, of many sorts: chat prompts, letters, forms, tickets, notes,
news, records, reviews, code.

Slots: {p} a person as it may be written, {pf} a given name, {pl} a surname, {tp} title and name,
{c} city or town, {n} country or region, {pa} any place, {o} organisation, {st} street with number,
{w} work or product (named, but nobody), {job}, {nat} a nationality, {d} a date, {k} a number, {m}
month, {day} weekday."""


def _lines(text):
    return [line for line in text.strip().splitlines() if line.strip()]


PROMPTS = _lines("""
Write a cover letter for {p} applying to {o} as a {job}.
Help me write an email to {p} about the late delivery.
Please rewrite this so that it sounds polite: {pf} never answers my messages.
Can you draft a birthday message for my colleague {pf}?
Write a short bio for {p}, {job} at {o}.
Summarise this: {p} joined {o} in {k} and moved to {c} two years later.
I need a resume. My name is {p}, I am a {job} from {c}.
Translate into {nat}: {pf} lives in {c} with her mother.
My boss {p} wants a report on sales in {n} by {day}.
Make a travel plan from {c} to {c} for five days.
What are the best restaurants in {c}?
What should I see in {n} in {m}?
How far is {c} from {c}?
Is it safe to travel to {n} at the moment?
What's the weather like in {c} today?
what is the capital of {n}
I live in {c} and want to move to {n}.
I'm from {c}, {n}.
i am {p} and i live in {c}
my name is {p}
My name is {p} and I work for {o}.
Hi, I'm {pf}. Can you help me with my homework?
hi this is {p} from {o}, how are you
Hello, {pf} here. I have a question about my order.
i'm {pf}, nice to meet you
You can call me {pf}.
People know me as {p}.
This is {p} speaking.
Who is {p}?
Who founded {o}?
Tell me about {p} and what they did for {n}.
What does {o} do?
Compare {o} and {o} for a small company.
How do I apply for a job at {o}?
Has {o} announced earnings yet?
Write a story about a girl called {pf} who lives near {c}.
Write a poem for {pf} and {pf}, who marry in {m}.
Write a dialogue between {pf} and {pf} about the weather.
In my novel {p} meets {p} in {c}. Continue the scene.
Continue: {pf} opened the door and saw {pf} standing in the rain.
Here is my essay about {w}. Please correct it.
Explain the ending of {w}.
Who wrote {w}?
I loved {w} but {w} was boring.
Generate a linkedin post for {p}, {job}, {o}, {c}.
Write a recommendation letter for {p}, who worked under me at {o} from {k} to {k}.
Write a complaint to {o} because my flight to {c} was cancelled.
Draft a tenancy agreement between {p} (landlord) and {p} (tenant) for {st}, {c}.
Act as {p}, a {job} from {c}.
Correct the grammar: {pf} and me was going to {c}.
paraphrase: according to {p} ({k}), prices in {n} rose sharply
Fix this code: user = get_user("{pf}")
Rate the following answer from student {p}:
{p} owes me money, what can I do?
My husband {pf} and I are planning a trip to {n} with our kids {pf} and {pf}.
My daughter {pf} starts school in {c} next {m}.
my son {pf} has a fever, should i call the doctor
My friend {p} recommended your service.
My grandmother {pf} was born in {c}.
My ex {pf} keeps calling me.
""")

LETTERS = _lines("""
{st}
{st}, {c}
{st}\\n{c}
{st}\\n{c}, {n}
{p}\\n\\n{st}\\n{c}\\n\\n{n}
Address: {st}
Address: {st}, {c}, {n}
Street: {st}\\nCity: {c}
I moved to {st} last {m}.
She lives at {st}, just behind the school.
The shop is on {st}, next to the bank.
We meet at {st} at nine.
Send the invoice to {st}, {c}.
Change my address from {st} to {st}, {c}.
The accident happened near {st} in {c}.
{pf} gave me this address: {st}, {c}.
Pick-up: {st}. Drop-off: {st}.
Parking at {st} costs {k} a day.
Dear {p},
Dear {tp},
Dear {pf},\\n\\nThank you for your letter of {d}.
Hi {pf},
Hey {pf}, are we still on for {day}?
Hello {p},\\n\\nI am writing to you on behalf of {o}.
Best regards,\\n{p}
Kind regards,\\n{p}\\n{job}\\n{o}
Sincerely,\\n\\n{p}
Yours faithfully,\\n{p}, {o}
Thanks,\\n{pf}
Cheers, {pf}
Love,\\n{pf}
- {pf}
Please forward this to {p} and {p} in {c}.
Cc: {p}, {p}, {p}
From: {p}\\nTo: {p}\\nSubject: Meeting on {day}
From: {p} <mail@example.com>
On {d}, {p} wrote:
{pf},\\n\\nplease find attached the minutes.
I met {p} at a conference in {c} last {m}.
We would be glad to welcome {p} and {p} at our office in {c}.
Give my regards to {pf} and the children.
It was nice to see you and {pf} in {c}.
{tp} will see you on {day} at ten.
I would like to introduce {tp}, who joins us from {o}.
Please contact {p} at {o} if you have any questions.
Ask for {tp} at the reception.
Attn: {p}\\n{o}\\n{st}\\n{c}
{p}\\n{st}\\n{c}\\n{n}
{p}\\n{o}\\n{st}\\n{c}, {n}
{o}\\n{st}, {c}
Ship to: {p}, {st}, {c}, {n}
Deliver it to {st}, {c}.
Our new address is {st}, {c}.
My home is at {st} in {c}.
The office moved from {st} to {st}.
You find us in {c}, {st}.
""")

FORMS = _lines("""
{ad}\\n{ph}
{p}\\n{ad}\\nTel. {ph}
{p}, {o}, {ph}
{st}, {c}\\nPhone {ph}\\nFax {ph}
{o}\\n{ad}\\n{ph}
{pf} {ph}
{c} {ph}
Call {ph} or visit us at {ad}.
{n}: {ph}
order {k}{k}, {c}
Room {k}, {k} guests, {c}
{p}\\n{ad}
{p}\\n\\n{ad}
{p}\\n{o}\\n{ad}
{o}\\n{ad}
{ad}
Address: {ad}
Home address: {ad}
Billing: {ad}
Send it to {ad}.
Our office is at {ad}.
I have moved to {ad}.
Ship to {p}, {ad}
My parents live at {ad}.
Is {ad} the right address?
Old address: {ad}\\nNew address: {ad}
Postal code: {k}, town: {c}
Name: {p}
Name: {p}\\nCity: {c}\\nCountry: {n}
Full name: {p}, date of birth {d}
First name: {pf}\\nLast name: {pl}
Last name {pl}, first name {pf}
Surname: {pl}
{pl}, {pf}
Patient: {p}\\nDOB: {d}\\nPhysician: {tp}
Patient name: {p}; ward {k}; allergies: none
Customer: {p} | Company: {o} | City: {c}
Employer: {o}
Employer: {o}\\nSupervisor: {p}
Company: {o}\\nContact person: {p}
Account holder: {p}
Cardholder name: {p}
Emergency contact: {p} (mother)
Place of birth: {c}
Born in {c}, {n}
Birthplace: {c}, {n}
Nationality: {nat}
Destination: {c}
Origin: {c}, destination: {c}
Location: {pa}
Department: Sales, {c} office
University: {o}
Signature: {p}
Witness: {p}
Reported by: {p}\\nAssigned to: {p}\\nStatus: open
assignee: {pf}
{{"name": "{p}", "city": "{c}"}}
{{"first_name": "{pf}", "last_name": "{pl}", "company": "{o}"}}
name={p};city={c};country={n}
{k},{p},{c},{o}
{p}\\t{c}\\t{n}\\t{k}
| {p} | {o} | {c} |
* {p}, {job}
1. {p}\\n2. {p}\\n3. {p}
Attendees: {p}, {p} and {p}
Team: {pf}, {pf}, {pf}
Speaker: {tp}, {o}
Billing name {p}, shipping to {st}, {c}
Mother's maiden name: {pl}
Who is calling? {p}
Which city? {c}
Which company? {o}
Nom: {pl}\\nPrénom: {pf}\\nVille: {c}
Nachname: {pl}\\nVorname: {pf}\\nOrt: {c}
Nombre: {p}\\nCiudad: {c}
Imię i nazwisko: {p}, miasto: {c}
""")

TICKETS = _lines("""
{gr}, call me at {ph} or write to me.
{gr}, {ph}
{gr}, can you help me?
{gr}! I have a question.
{gr} and thanks
{gr} {pf}, can you help me?
{gr} {pf}!
{gr} {p},\\n\\nplease call me back at {ph}.
{gr}, {pf}
{gr},\\n{p}
{gr}, this is {p}.
Customer {p} called about an invoice from {m}.
{p} cannot log in since {day}; please reset the password.
Spoke with {pf} in accounting, she will look into it.
The order for {p} was sent to {c} instead of {c}.
Please change the name on the account from {p} to {p}.
Refund {p} for the broken charger.
{tp} asked to be called back before noon.
Agent {pf} closed the ticket.
Escalated to {p} in the {c} office.
{pf} says the printer on floor {k} is broken again.
please give access to {p}, new {job} in the {c} team
User {p} ({o}) reports that exports fail.
{o} cancelled its contract.
The contract with {o} ends in {m}.
We received a payment from {o}.
I ordered from {o} and nothing arrived.
why does {o} charge me twice?
I bought it at {o} in {c}.
My account is under the name {p}.
the name on my account is {p}
my surname is {pl} not {pl}
it's spelled {pl}
Could you transfer me to {pf}?
Is {pf} available?
May I speak with {tp}?
can you ask {pf} to call me back
I want to add {p} to my insurance.
The card belongs to my wife {p}.
Please remove {p} from the mailing list.
I spoke to {p} yesterday, and she promised a refund.
{p}, my neighbour, saw the parcel in front of {st}.
I lost my bag at {pa}.
The train to {c} is delayed.
I need a taxi from {st} to {pa}.
""")

NOTES = _lines("""
Meeting with {p} and {p} about the budget.
{pf}: finish the slides. {pf}: book the room.
{pf} will send the numbers to {pf} by {day}.
Lunch with {pf} at noon
call {p} re contract
remind {pf} to buy milk
pick up {pf} from school
{p} - {job} - {c}
Todo: write to {p}, pay {o}
{p} moved from {c} to {c} after the divorce.
{pf}'s birthday is on {d}.
{p}'s car was towed.
{pf} and {pf} got engaged in {c}!
Dinner at {pf}'s place on {day}.
{pf} loves {w}.
{pl} agreed, {pl} did not.
Neighbours: the {pl} family at {st}.
The {pl}s are coming for dinner.
Ms. {pl} teaches maths, Mr. {pl} teaches sport.
Interview notes: {p}, {k} years at {o}, good references.
""")

NEWS = _lines("""
Our contact at {o} is {p}.
{o} and {o} are partners.
{o} recorded a loss in {k}.
{o} became part of {o} in {k}.
{p} from {o} will call you.
{o} is a {nat} bank.
{o} is a {nat} maker of {N}.
the {o} team met at {pa}
the {o} office in {c} is closed on {day}
{o} employees at {st} went home.
A {o} spokesperson called {pl}.
{o} lawyer {p} denied it.
{o} engineer {p} found the fault.
As a customer of {o} since {k} I am disappointed.
{o} support never called back.
Do {o} and {o} share data?
{o}: {k} jobs in {c}
{p}, {o}\\n{ph}
{p}\\n{job}\\n{o}\\n{st}\\n{c}
{o}\\n\\n{ad}
From: {p}\\nCompany: {o}\\nPhone: {ph}
{o} has an app for that.
My {o} account was locked.
my {o} bill is wrong
The biggest in {c} are {o} and {o}.
{o} is a startup with {k} people.
{o} opened a second office in {c}.
The {o} building in {c} was sold.
{o} headquarters moved to {c}.
The offices of {o} are at {st}.
{o}\\n{st}\\n{c}
Visit {o} at {st}, {c}.
{p}\\n{o}\\n{ph}
{o} makes software for dentists.
{o} was started by {pl}, {pl} and {pl}.
{pl}, {pl} and {pl} started {o} in {k}.
She left {o} and now runs {o}.
I have an interview at {o} on {day}.
My badge from {o} does not work.
{o} still owes me for {m}.
An engineer from {o} fixed it.
{o} raised its prices.
Last year {o} hired {p} as a {job}.
{p}, who runs {o}, lives in {c}.
The shares of {o} fell, those of {o} rose.
We compared {o}, {o} and {o}.
{p} comes from {c}.
{p} grew up in {c} and moved to {c}.
I was born in {c}.
We stopped in {c} for lunch.
{c} is lovely in spring.
{c} is a quiet place with {k} houses.
Trains to {c} are late.
They flew to {c} on {day}.
The bus to {c} leaves at ten.
The road from {c} to {c} is long.
Is {c} far from {c}?
My cousin {pf} has a farm near {c}.
Nobody in {c} knew {pl}.
The mayor of {c} spoke.
How do I get from {c} to {pa}?
{o} launched a new phone in {m}.
{o} has raised {k} million dollars.
{o} and {o} agreed to merge.
{o} was founded in {c} by two students.
{o} provides loans to small firms.
{o} is a company that builds boats.
{o} sells tools and paint.
{o} invested in a factory near {c}.
{o} grew by a third in {k}.
{o} is looking for a {job}.
{o}, a maker of chips, will cut jobs.
{o}, formerly {o}, closed its last shop.
{o} partners with {o} to teach {job}s.
{o} fined for late payments
{o} to buy {o} for {k} million
{o} sued by former staff
A product by {o} was recalled.
Customers of {o} lost their data.
The CEO of {o} resigned.
The chairman of {o}, {p}, left on {day}.
Employees of {o} went on strike.
He left {o} to join {o}.
She was a {job} at {o} for {k} years before joining {o}.
{pf} interns at {o}.
{p} works for {o} as a {job}.
{p} worked at {o} and {o}.
{p} is head of design at {o}.
{p} ({o}) spoke first.
{p} of {o} spoke first.
{p}, formerly with {o}, now runs {o}.
I work at {o} in {c}.
I used to work for {o}.
I applied to {o} and {o}.
my company {o} is hiring
our client {o} pays late
we buy our parts from {o}
the report was written by {o} for {o}
A subsidiary of {o}, {o} operates in {n}.
Thanks to our sponsor {o}.
The deal between {o} and {o} was signed in {c}.
The app of {o} crashes.
Call {o} about the policy.
Is {o} a good employer?
{p}, the {job} of {o}, said on {day} that profits had doubled.
{o} said it would open a plant in {c}.
{o} has appointed {p} as chief executive.
{o} shares fell {k} percent after the news from {n}.
Shares of {o} rose while {o} lost ground.
{p} was elected mayor of {c}.
Police in {c} arrested {p}, {k}, on {day}.
The {nat} government denied the report.
The {nat} minister {p} will visit {n} in {m}.
{n} and {n} signed a trade agreement in {c}.
Thousands marched through {c} on {day}.
An earthquake struck southern {n} early on {day}.
{p} scored twice as {o} beat {o}.
{p} won the race ahead of {p} of {n}.
"We are very happy," said {p}, who grew up in {c}.
"I have no comment," {pl} told reporters.
According to {p}, a professor at {o}, the risk is small.
{p}, who teaches history at {o}, disagrees.
{p} was born in {c} in {k} and studied at {o}.
{p} died at his home in {c}, his daughter {pf} said.
{pl} joined {o} in {k}.
In {k} {pl} moved to {c}, where she founded {o}.
{pl} began to paint at the age of six.
After the war {pl} returned to {n}.
The film, directed by {p}, stars {p} and {p}.
The album by {p} was recorded in {c}.
The museum in {c} shows works by {p}.
The {pl} case shocked {n}.
Judge {pl} ordered {o} to pay.
{p} v. {o}, decided {d}
Researchers at {o} and {o} published the study.
{c}, {m} {k} - Rain is expected in {n}.
{c} ({o}) -- Oil prices rose.
The company, based in {c}, employs {k} people in {n}.
{o}, headquartered in {c}, makes pumps.
A spokesman for {o} declined to comment.
{o}'s lawyers met {p} in {c}.
Flights from {c} to {c} were cancelled.
The road between {c} and {c} is closed.
The river flows through {c} and {c} before it reaches {n}.
Winters in {c} are cold.
{pa} attracts many visitors.
The festival takes place at {pa} every {m}.
""")

SOCIAL = _lines("""
omg {pf} is so funny
just saw {p} at {pa}!!
RT @user: {p} live in {c} tonight
{p} is the best thing about {w}
can't wait for {p}'s new album
{pf} u there?
thanks {pf} !! see u in {c}
So proud of {p}, first {nat} to win it.
Never fly with {o} again
Stuck at {pa}, thanks {o}
{o} wifi is down again lol
Watching {w} with {pf}
{pf} and I are off to {c} this weekend
Goodnight from {c}
who is going to {pa} on {day}
lol {pf} {pl} really said that
I miss {c} so much
happy birthday {pf}
Thank you {p} for following!
wearing {o} to the gym
{p} > {p}
Big game tonight, {o} vs {o}
my dad met {p} in the 80s
did {pf} tell you about {c}
""")

RECORDS = _lines("""
{pf} laughed, but {pf} stayed silent.
Later that evening {pf} told {pf} everything.
"Come in," whispered {pl}.
{p} and {p} wrote the chapter on methods.
The book by {p} is out of print.
{w}, painted by {p} in {k}, hangs in {c}.
The role of the queen is played by {p}.
As {pl} shows, the effect is small ({pl} and {pl}, {k}; {pl} et al., {k}).
{o}, which {p} founded in {k}, trains nurses in {n}.
{o} was bought by {o}, and {o} by {o}.
Competitors such as {o} and {o} make the same part.
Sponsors: {o}, {o}, {o}
We switched from {o} to {o} last year.
Invoice from {o} for {k} chairs
The partners of {o} vote on {day}.
The lawsuit against {o} failed.
Job offer at {o}: {job}
{o} hires a {job} in {c}.
{pl} is very good at this. {pl} never fails.
{pl}, {pl} and {pl} each wrote a chapter.
{tp} examined the patient {p} on {d}.
Mr. {pl}, aged {k}, complains of chest pain.
Mrs. {pl} lives alone in {c} and takes aspirin.
{p} is a {k}-year-old {job} who presented with fever.
The patient, {p}, was referred by {tp} of {o}.
Pt {pl} seen today, stable.
{p} was admitted to {o} after a fall at {st}.
The defendant {p} resides at {st}, {c}.
This agreement is made between {o} and {p}.
{p} (the "Seller") and {p} (the "Buyer") agree as follows.
I, {p}, of {st}, {c}, declare that this is my last will.
The plaintiff, {o}, filed suit in {c}.
Executor: {p}, {c}
{p}, {job}, {o}, {c}, {n}
Worked as a {job} at {o}, {c} ({k} - {k})
{o}, {c} - {job}
B.Sc. in physics, {o}, {k}
Intern at {o} in {c}
Member of {o} since {k}
Student {p} missed class on {day}.
{pf} is a quiet pupil; her parents {pf} and {pf} live in {c}.
Guest: {p}, room {k}, from {n}
Passenger {pl}/{pf} flight to {c}
Participants came from {n}, {n} and {n}.
We hire in {c}, {c} and {c}.
Offices: {c}, {c}, {c}
{pf} has lived in {c} since {k}, before that in {n}.
{pf} gave {pf} {k} apples and kept the rest.
{pf} bought {k} pencils. {pf} has twice as many.
If {pf} is older than {pf} and {pf} is older than {pf}, who is the youngest?
{pf} sells {k} cakes in {c} every {day}.
""")

OTHER_LANGUAGES = _lines("""
Mein Name ist {p} und ich wohne in {c}.
Ich heiße {p} und arbeite bei {o}.
Sehr geehrte Frau {pl},\\nvielen Dank für Ihre Nachricht.
Sehr geehrter Herr {pl},
Mit freundlichen Grüßen\\n{p}
{p} wohnt in der {st} in {c}.
Der Vertrag mit {o} endet im Mai.
Je m'appelle {p} et j'habite à {c}.
Bonjour {pf}, je travaille chez {o}.
Cordialement,\\n{p}
Madame {pl} habite {st}, {c}.
Me llamo {p} y vivo en {c}.
Hola {pf}, trabajo en {o}.
El señor {pl} viaja a {n}.
Atentamente,\\n{p}
Mi chiamo {p} e abito a {c}.
La signora {pl} lavora per {o}.
Cordiali saluti,\\n{p}
Meu nome é {p} e moro em {c}.
Olá {pf}, tudo bem?
Mijn naam is {p} en ik woon in {c}.
Met vriendelijke groet,\\n{p}
Jag heter {p} och bor i {c}.
Med vänlig hälsning\\n{p}
Jeg hedder {p} og bor i {c}.
Nimeni on {p} ja asun kaupungissa {c}.
Nazywam się {p} i mieszkam w {c}.
Pan {pl} pracuje w {o}.
Jmenuji se {p} a bydlím v {c}.
Benim adım {p}, {c} şehrinde yaşıyorum.
""")

NATIVE = {
    "russian": _lines("""
Меня зовут {p}, я живу в Москве.
Здравствуйте, {p}!
Директор {p} подписал договор.
Вчера {pf} звонил маме.
С уважением, {p}
Пациент: {p}
Передайте {pl} документы.
"""),
    "greek": _lines("""
Με λένε {p} και μένω στην Αθήνα.
Αγαπητέ {p},
Ο {p} υπέγραψε το συμβόλαιο.
Όνομα: {p}
Με εκτίμηση, {p}
"""),
}
