"""Records for task_schema.py: domains, their fields, and sentences that say each field.

A field is written `keys | type | sentences`: keys that mean it, what values.py (or `MAKERS`) makes,
and sentences with {v}, divided by " / ". For `bool` the sentences for true and for false are divided by
" // ". A domain's first line names it; "~" lines are sentences that say nothing of any field.
"""

from names import JOB
from pools import words

ITEM = words("""apples, bread, milk, eggs, rice, coffee, tea, paper, pens, chairs, lamps, screws, nails,
paint, glue, cables, batteries, plates, cups, towels, soap, candles, boxes, gloves, ropes, filters, keys,
salt, sugar, butter, onions, carrots, lemons, flour, pasta, cheese, tiles, bricks, seeds, bulbs""")
PRODUCT = words("""desk lamp, office chair, laptop stand, water bottle, garden hose, coffee machine, tent,
mountain bike, toaster, headphones, keyboard, monitor, rain jacket, running shoes, backpack, camera, blender,
electric drill, air fryer, vacuum cleaner, guitar, microwave, printer, router, tablet, wall clock, mirror""")
COLOR = words(
    "red, blue, green, black, white, silver, grey, yellow, orange, purple, brown, pink, gold"
)
FOOD = words("""tomato soup, mushroom pizza, lentil curry, apple pie, fish tacos, bean stew, onion tart,
carrot cake, potato salad, chicken noodles, rice pudding, vegetable lasagna, cheese omelette, pumpkin bread""")
ROLE = JOB
TOPIC = words("""budget, hiring, marketing, roadmap, security, training, sales, website, new office, launch,
travel policy, suppliers, quality, customer survey, holiday plan, audit, release, insurance, pricing""")
TITLE = words("""The Long Winter, Blue Garden, Night Train, A Quiet Place to Rest, The Last Lighthouse, Salt and
Stone, Seven Rivers, The Clockmaker, Paper Moon, Under the Bridge, The Glass House, North Wind, Silent Harbor,
The Red Notebook, Summer Letters, The Orchard, Broken Compass, City of Rain, The Second Map, Green Hills""")
GENRE = words(
    "crime, fantasy, romance, history, travel, poetry, science, drama, comedy, adventure, horror"
)
SYMPTOM = words("""headache, fever, cough, sore throat, back pain, dizziness, nausea, rash, earache, chest pain,
runny nose, stomach ache, tiredness, blurred vision""")
DEVICE = words("""router, laptop, printer, phone, tablet, server, camera, monitor, scanner, keyboard, speaker,
thermostat, watch, television""")

DOMAINS = """
person
name full_name person_name customer_name contact_name | person | My name is {v}. / I am {v}. / This is {v}. / The customer is {v}. / The contact person is called {v}. / Signed, {v}
email email_address mail contact_email | email | My email is {v}. / Please write to {v}. / You can mail me at {v}. / The email address is {v}.
phone phone_number telephone mobile | phone | My phone number is {v}. / Call me on {v}. / The telephone number is {v}. / Phone {v}.
age age_years | age | I am {v} years old. / The customer is {v} years old. / Age {v}.
city town home_city | city | I live in {v}. / I moved to {v} last year. / The home town is {v}.
address street_address postal_address | address | My address is {v}. / Please send it to {v}. / The address is {v}.
birth_date date_of_birth born_on | date | I was born on {v}. / The date of birth is {v}. / Born {v}.
job occupation profession job_title | role | I work as a {v}. / The occupation is {v}. / By profession I am a {v}.
employer company_name company | company | I work for {v}. / The employer is {v}. / The company is called {v}.
newsletter wants_newsletter subscribed | bool | I want the newsletter. / Please subscribe me to the newsletter. // I do not want the newsletter. / No newsletter please.
~ Thank you for your help.
~ Please let me know if you need more.
~ I hope this is all you need.

invoice
invoice_number invoice_id invoice_no number | code | Invoice number {v}. / This is invoice {v}. / The invoice number is {v}.
total amount total_amount amount_due | amount | The total is {v}. / The amount due is {v}. / Please pay {v}. / It comes to {v} in total.
due_date payment_due pay_by | date | It is due on {v}. / Please pay by {v}. / The payment is due on {v}.
issue_date invoice_date date issued_on | date | The invoice was issued on {v}. / Invoice date {v}.
vendor seller supplier issued_by | company | The seller is {v}. / It was issued by {v}. / The supplier is {v}.
customer buyer bill_to client | person | It is billed to {v}. / The customer is {v}. / The buyer is {v}.
iban account bank_account | iban | Transfer the money to {v}. / Our account is {v}. / The IBAN is {v}.
tax_percent vat tax_rate | small | The tax is {v} percent. / VAT is {v} percent.
paid is_paid settled | bool | It has already been paid. / The invoice is paid. // It has not been paid yet. / The invoice is still unpaid.
items products positions goods | items | The items are {v}. / It covers {v}. / It is for {v}.
~ Thank you for your business.
~ Questions are answered on weekdays.

order
order_id order_number order_no id | code | Order {v}. / My order number is {v}. / The order id is {v}.
product item product_name article | product | I ordered a {v}. / The product is a {v}. / It is about the {v}.
quantity count number_of_units units | small | I need {v} of them. / The quantity is {v}. / Please send {v} units.
color colour | color | The color is {v}. / I chose it in {v}. / In {v}, please.
price unit_price cost | price | The price is {v} dollars. / One costs {v} dollars. / It costs {v} dollars.
customer customer_name buyer name | person | The customer is {v}. / It was ordered by {v}. / The name is {v}.
delivery_date delivery delivered_on arrival | date | It should be delivered on {v}. / Delivery on {v}. / It arrives on {v}.
address delivery_address ship_to shipping_address | address | Ship it to {v}. / The delivery address is {v}. / Please deliver to {v}.
express is_express express_shipping | bool | Please use express shipping. / It is an express order. // Standard shipping is enough. / No express shipping.
~ Please confirm.
~ It is for our office.

event
title event event_name name | event | The {v} takes place soon. / You are invited to the {v}. / The event is the {v}.
date day event_date when | date | It is on {v}. / The date is {v}. / It takes place on {v}.
time start_time starts_at begins | clock | It starts at {v}. / The start is at {v}. / Doors open at {v}.
location venue place city | city | It will be in {v}. / We meet in {v}. / The venue is in {v}.
organizer organiser host organized_by | person | It is organized by {v}. / {v} is the host. / The organizer is {v}.
attendees participants guests guest_count | number | {v} people will come. / We expect {v} guests. / There are {v} participants.
price ticket_price fee | amount | A ticket costs {v}. / The fee is {v}. / The price is {v}.
topics agenda subjects | topics | The topics are {v}. / On the agenda are {v}. / We talk about {v}.
online is_online remote virtual | bool | It is held online. / You can join online. // It is not online. / There is no online session.
~ We look forward to seeing you.
~ Please bring a friend.

booking
booking_id confirmation_number reservation_number reference | code | Your booking number is {v}. / The reference is {v}. / Confirmation {v}.
guest guest_name name traveler | person | The guest is {v}. / The booking is for {v}. / It is in the name of {v}.
hotel hotel_name property | hotel | You booked the {v}. / The hotel is the {v}. / You stay at the {v}.
city destination location | city | The hotel is in {v}. / The destination is {v}. / You travel to {v}.
check_in arrival_date arrival from | date | Check-in is on {v}. / You arrive on {v}. / Arrival {v}.
check_out departure_date departure until | date | Check-out is on {v}. / You leave on {v}. / Departure {v}.
nights number_of_nights night_count | small | You stay {v} nights. / It is for {v} nights. / The stay is {v} nights.
guests persons number_of_guests people | small | There are {v} guests. / It is for {v} persons. / The room is for {v} people.
room room_number | number | Your room is {v}. / Room {v}. / The room number is {v}.
breakfast breakfast_included | bool | Breakfast is included. / The price includes breakfast. // Breakfast is not included. / Without breakfast.
~ We wish you a pleasant stay.
~ The front desk is open all night.

shipment
tracking_number tracking_id tracking_code parcel_number | code | The tracking number is {v}. / Track it with {v}. / Parcel {v}.
carrier shipper shipping_company | company | It is carried by {v}. / The carrier is {v}. / It was handed to {v}.
sender sent_by from | person | The sender is {v}. / It was sent by {v}. / It comes from {v}.
recipient receiver addressee to | person | The recipient is {v}. / It is addressed to {v}. / It goes to {v}.
origin from_city origin_city | city | It left {v}. / It was picked up in {v}. / It starts in {v}.
destination to_city destination_city | city | It is on the way to {v}. / The destination is {v}. / It will reach {v}.
weight weight_kg kilograms | decimal | It weighs {v} kg. / The weight is {v} kg. / Weight: {v} kg.
shipped_on ship_date sent_on | date | It was shipped on {v}. / Shipping date {v}. / It left the warehouse on {v}.
fragile is_fragile handle_with_care | bool | It is fragile. / The content is fragile. // It is not fragile. / Nothing in it is fragile.
~ Keep this message for your records.
~ The driver will ring the bell.

job
title job_title position role | role | We are looking for a {v}. / The position is {v}. / We want to hire a {v}.
company employer organization | company | {v} is hiring. / The employer is {v}. / The company is {v}.
city location workplace | city | The office is in {v}. / You will work in {v}. / The workplace is {v}.
salary pay yearly_salary wage | amount | The salary is {v}. / We pay {v} a year. / The yearly pay is {v}.
start_date start begins_on | date | The job starts on {v}. / You begin on {v}. / Start date {v}.
hours weekly_hours hours_per_week | small | You work {v} hours a week. / The job has {v} hours a week.
contact contact_person recruiter | person | Your contact is {v}. / Ask for {v}. / The recruiter is {v}.
email contact_email apply_to | email | Apply to {v}. / Send your papers to {v}. / The address for applications is {v}.
remote is_remote work_from_home | bool | You can work from home. / The job is remote. // The job is not remote. / You cannot work from home.
skills required_skills requirements | topics | You know {v}. / The skills needed are {v}. / You have worked in {v}.
~ We are a friendly team.
~ Coffee is free.

ticket
ticket_id case_number ticket_number case | code | Ticket {v}. / The case number is {v}. / Your ticket number is {v}.
device product equipment | device | The {v} does not work. / The problem is with the {v}. / My {v} is broken.
priority urgency level | enum low,medium,high,critical | The priority is {v}. / It has {v} priority. / Please set the priority to {v}.
status state | enum open,closed,pending,resolved | The status is {v}. / The ticket is {v}. / It is {v} now.
reported_by user reporter customer | person | It was reported by {v}. / The user is {v}. / {v} opened it.
created_on opened date reported_on | date | It was opened on {v}. / Reported on {v}. / It was created on {v}.
ip_address ip host_ip | ip | The address of the machine is {v}. / Its IP is {v}. / The host has the IP {v}.
error_code code error | number | The error code is {v}. / It shows error {v}. / Error {v} is displayed.
department team unit | department | It belongs to the {v} department. / The {v} team takes care of it.
warranty under_warranty has_warranty | bool | It is under warranty. / The warranty is still valid. // It is not under warranty. / The warranty has ended.
~ Please help soon.
~ I tried to restart it twice.

book
title book_title name | title | The book is "{v}". / I borrowed "{v}". / It is called "{v}".
author writer written_by | person | It was written by {v}. / The author is {v}. / {v} wrote it.
year published publication_year | year | It was published in {v}. / It came out in {v}. / The year is {v}.
pages page_count number_of_pages | number | It has {v} pages. / The book has {v} pages.
publisher published_by | company | It was published by {v}. / The publisher is {v}.
genre category kind | genre | It is a {v} book. / The genre is {v}. / You find it under {v}.
language written_in | language | It is written in {v}. / The language is {v}. / I read it in {v}.
price cost | price | It costs {v} dollars. / The price is {v} dollars.
rating stars score | stars | I give it {v} stars. / It got {v} stars. / The rating is {v} stars.
~ I could not put it down.
~ The library has two copies.

patient
patient patient_name name | person | The patient is {v}. / {v} came in today. / Patient: {v}
age patient_age | age | The patient is {v} years old. / Age {v}.
symptoms complaints problems | symptoms | The symptoms are {v}. / The patient has {v}. / There are complaints of {v}.
doctor physician seen_by | person | The doctor is {v}. / Seen by {v}. / {v} is the physician.
appointment next_visit follow_up | date | The next visit is on {v}. / Come back on {v}. / The follow-up is on {v}.
temperature body_temperature fever | decimal | The temperature is {v} degrees. / We measured {v} degrees.
insurance insurer insurance_company | company | The insurer is {v}. / Insured with {v}.
record_number file_number record | code | The file number is {v}. / Record {v}. / See file {v}.
smoker smokes | bool | The patient smokes. / A smoker. // The patient does not smoke. / A non-smoker.
~ No other findings.
~ Rest was advised.

property
address location street_address | address | The flat is at {v}. / The address is {v}. / It is located at {v}.
rent monthly_rent price | amount | The rent is {v}. / It costs {v} a month. / The monthly rent is {v}.
rooms number_of_rooms room_count | small | It has {v} rooms. / There are {v} rooms. / A flat with {v} rooms.
size area square_meters size_sqm | number | It has {v} square meters. / The size is {v} square meters. / {v} square meters in all.
floor storey level | small | It is on floor {v}. / The floor is {v}. / You find it on floor {v}.
available_from free_from move_in | date | It is free from {v}. / You can move in on {v}. / Available from {v}.
landlord owner contact | person | The landlord is {v}. / The owner is {v}. / Call {v} to see it.
phone contact_phone phone_number | phone | The phone number is {v}. / Ring {v}. / To see it call {v}.
furnished is_furnished | bool | It is furnished. / The flat comes with furniture. // It is not furnished. / The flat is empty.
pets pets_allowed | bool | Pets are allowed. / You may bring a dog. // Pets are not allowed. / No pets.
~ The area is quiet.
~ The bus stops at the door.

payment
payer from sender paid_by | person | The money came from {v}. / {v} paid. / The payer is {v}.
payee to recipient receiver | company | It was paid to {v}. / The recipient is {v}. / The money went to {v}.
amount sum value | amount | The amount is {v}. / {v} was transferred. / It was a payment of {v}.
date paid_on booking_date | date | It was booked on {v}. / The date is {v}. / It was paid on {v}.
card card_number credit_card | card | The card number is {v}. / It was paid with card {v}.
iban account account_number | iban | The account is {v}. / From the account {v}. / The IBAN is {v}.
reference purpose reference_number | code | The reference is {v}. / Purpose: {v}. / Please quote {v}.
method payment_method | enum cash,card,transfer,cheque | The method is {v}. / It was paid by {v}. / Payment by {v}.
refunded is_refunded | bool | It was refunded. / The money was given back. // It was not refunded. / There was no refund.
~ This is an automatic message.
~ Please check your statement.

meal
dish meal name recipe | food | Tonight we make {v}. / The dish is {v}. / It is a recipe for {v}.
servings persons portions | small | It serves {v} people. / It is enough for {v} persons. / The recipe gives {v} portions.
minutes cooking_time time_minutes duration | small | It takes {v} minutes. / Cook it for {v} minutes. / It is ready in {v} minutes.
ingredients needed shopping_list | items | You need {v}. / The ingredients are {v}. / Buy {v}.
cook chef author | person | The cook is {v}. / {v} gave us the recipe. / The chef is {v}.
calories kcal | number | It has {v} calories. / One portion has {v} calories.
difficulty level | enum easy,medium,hard | It is {v} to make. / The difficulty is {v}.
vegetarian is_vegetarian | bool | It is vegetarian. / There is no meat in it. // It is not vegetarian. / It contains meat.
~ Serve it warm.
~ Enjoy your meal.

car
brand make manufacturer | brand | The car is a {v}. / It is made by {v}. / I drive a {v}.
color colour paint | color | It is {v}. / The color is {v}. / A {v} car.
year built model_year | year | It was built in {v}. / It is from {v}. / The model year is {v}.
mileage kilometers km | number | It has run {v} kilometers. / The mileage is {v} kilometers. / {v} km on the clock.
price asking_price | amount | The price is {v}. / I want {v} for it. / It costs {v}.
plate license_plate registration | plate | The plate is {v}. / Its registration is {v}. / Licence plate {v}.
owner seller sold_by | person | The owner is {v}. / It belongs to {v}. / The seller is {v}.
seats seat_count number_of_seats | small | It has {v} seats. / There are {v} seats.
electric is_electric | bool | It is electric. / It has an electric motor. // It is not electric. / It runs on petrol.
~ It has never had an accident.
~ You can see it on Saturday.
"""
