"""Parameters of tools: names, what their values are, how schemas describe and people say them.

A line of PARAMS: key | names | values | descriptions | phrases. Values:
  int LOW TOP, num LOW TOP           numbers; a step may follow
  pick A, B, ...                     one of these strings, as it stands in the text
  enum A=said/said, B, ...           one of these strings, which the schema lists
  flag                               true when the phrase is said
  many MAKER                         an array of 1 to 4 strings
  MAKER                              a function of tool_values.py
Names, descriptions and phrases stand apart by semicolons. A phrase with "+" continues "with ..."
("with a base of 5 and a height of 3").
"""

PARAMS = """
minutes | minutes; duration; duration_minutes; length_minutes; mins; time_in_minutes | int 1 90 | Length in minutes; The duration in minutes.; minutes to wait; Number of minutes | for {v} minutes; of {v} minutes; for {v} min
hours | hours; num_hours; duration_hours; hrs | int 1 24 | Number of hours; The duration in hours. | for {v} hours
days | days; num_days; number_of_days; forecast_days; period_days | int 2 14 | Number of days; How many days; The number of days to cover. | for {v} days; for the next {v} days
nights | nights; num_nights; number_of_nights | int 1 14 | Number of nights; Length of the stay in nights | for {v} nights
clock | time; at; at_time; start_time; when; clock_time | clock | The time, HH:MM in 24-hour format; Time in 24-hour format (HH:MM); The time.; what time | at {v}
date | date; day; on_date; target_date; event_date | date | The date as YYYY-MM-DD; Date in ISO format (YYYY-MM-DD); Date in the format YYYY-MM-DD; The date. | on {v}; for {v}
start_date | start_date; from_date; begin; startDate; check_in | date | First day, YYYY-MM-DD; Start date in the format YYYY-MM-DD; The start date. | from {v}; starting {v}; starting on {v}
end_date | end_date; to_date; until; endDate; check_out | date | Last day, YYYY-MM-DD; End date in the format YYYY-MM-DD; The end date. | until {v}; to {v}; ending on {v}
weekday | weekday; day; day_of_week; on | pick Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday | Day of the week; The weekday, such as Monday | on {v}; for {v}
label | label; name; title; note | words | A name for it; Label to show; The label. | called {v}; labelled {v}; named {v}; with the label {v}
text | text; message; body; content; msg | phrase | The text; What to write; The message body.; Content of the message | saying {v}; that says {v}; with the text {v}: {v}
task | task; text; title; what; description; reminder_text | chore | What to be reminded of; The task; Text of the reminder. | to {v}
city | city; location; place; town; city_name | city | The city; Name of the city, e.g. Paris; The location to look up.; City | in {v}; for {v}
origin | origin; from; departure_city; from_city; source; start | city | City of departure; Where the journey starts; Origin city. | from {v}; leaving from {v}; departing {v}
destination | destination; to; arrival_city; to_city; target | city | City of arrival; Where to go; Destination city. | to {v}; going to {v}
country | country; nation; country_name; region | country | The country; Name of the country. | in {v}; for {v}
address | address; location; street_address; destination; to | address | The address; Street and number. | to {v}; at {v}
person | name; contact; person; contact_name; recipient; to | first | Name of the person; The contact.; Whom; Contact name as in the address book | to {v}; for {v}
full_name | name; full_name; customer_name; person; user_name | full | Full name; First and last name; The name of the customer. | for {v}; named {v}; by the name of {v}
people | people; attendees; participants; guests; invitees | many first | Names of the people; Who takes part; List of attendees | with {v}
party | people; party_size; guests; num_guests; number_of_people; seats | int 1 12 | Number of people; How many people; Size of the party | for {v} people; for {v}; for a party of {v}
adults | adults; passengers; num_adults; travelers | int 1 6 | Number of adults; How many passengers | for {v} adults; for {v} passengers
email | email; to; email_address; recipient; address | mail | The e-mail address; Recipient's email | to {v}; at {v}
phone | phone; number; phone_number; tel | phone | The phone number; Number to dial. | at {v}; on {v}
subject | subject; title; topic | words | Subject line; The subject of the message | with the subject {v}; about {v}; titled {v}
room | room; area; zone; location; room_name | pick kitchen, bedroom, living room, bathroom, office, hallway, garage, basement, dining room, nursery, attic, guest room, study | The room; Which room; Name of the room. | in the {v}
device | device; device_name; appliance; target | pick lamp, heater, fan, TV, speaker, coffee machine, dishwasher, washing machine, vacuum, air conditioner, garage door, projector, router, printer, humidifier, oven | The device; Name of the device; Which appliance to control. | {v}
switch | state; action; power; status; mode | enum on=on/turned on, off=off/turned off | on or off; The new state. | {v}
brightness | brightness; level; percent; intensity; value | int 5 100 5 | Brightness in percent; 0 to 100; The level in percent. | to {v} percent; at {v}%; to {v}%
temperature | temperature; degrees; target_temperature; temp; target | num 15 27 0.5 | Temperature in degrees; Target temperature in Celsius; degrees | to {v} degrees; at {v} degrees; to {v}
color | color; colour; light_color | pick red, blue, green, yellow, purple, orange, white, pink, warm white, turquoise | The colour; Name of the color. | in {v}; to {v}
volume | volume; level; percentage; volume_level | int 5 100 5 | Volume, 0 to 100; The volume in percent. | to {v}; to {v} percent; at {v}%
song | song; title; track; song_title; name | title | Title of the song; The track to play. | {v}
artist | artist; band; musician; by; artist_name | band | Name of the artist; The band or musician. | by {v}; from {v}
playlist | playlist; playlist_name; list; collection | words | Name of the playlist; The playlist. | from my playlist {v}; from the playlist {v}; in my {v} playlist
genre | genre; style; category; kind | pick jazz, rock, pop, classical, hip hop, folk, blues, techno, soul, reggae, metal, country, indie, ambient, disco, funk | The genre; Style of music. | in the style of {v}; of genre {v}; - {v}
film_genre | genre; category; type | pick comedy, horror, drama, thriller, documentary, romance, western, animation, crime, fantasy, mystery, adventure | The genre; Kind of film. | in the genre {v}; that are {v}; of type {v}
title | title; name; book_title; movie; item_title | title | The title; Title of the work. | {v}; called {v}; titled {v}
author | author; writer; by; author_name | full | Name of the author; Who wrote it | by {v}; written by {v}
item | item; product; article; thing; item_name; name | item | The item; Name of the product; What to add. | {v}
items | items; products; entries; things; articles | many item | The items; List of things; Names of the products to add | {v}
quantity | quantity; count; amount; number; qty; how_many | int 1 20 | How many; The quantity; Number of pieces. | {v} times; - quantity {v}; in a quantity of {v}
limit | limit; max_results; count; top; num_results; n | int 1 20 | Most results to give; Maximum number of results; How many results | limited to {v}; at most {v}; and show only {v} results; top {v}
dish | dish; food; meal; item; menu_item | pick mushroom pizza, pad thai, chicken curry, veggie burger, lasagne, ramen, falafel wrap, tomato soup, caesar salad, fish and chips, burrito, lentil soup, sushi set, goulash, paella, dumplings | The dish; Food to order. | {v}
cuisine | cuisine; food_type; kitchen; type; category | pick Italian, Thai, Indian, Mexican, Japanese, French, Greek, Chinese, Turkish, Vietnamese, Korean, Lebanese, Spanish, Ethiopian | Kind of food; The cuisine, such as Italian. | with {v} food; serving {v} food; {v} cuisine
size | size; portion; dimension | enum small, medium=medium/mid-size, large=large/big | The size; small, medium or large | in {v}; size {v}
restaurant | restaurant; place; venue; restaurant_name; from | place | Name of the restaurant; Where | at {v}; from {v}
hotel | hotel; hotel_name; property; place | place | Name of the hotel; The hotel. | at {v}; at the hotel {v}
stars | stars; min_stars; rating; min_rating | int 2 5 | Least number of stars; Minimum rating (1-5) | with at least {v} stars; rated {v} or better
price_max | max_price; budget; price_limit; max_amount; up_to | num 20 900 10 | Highest price; The budget; Maximum price in dollars | under {v} dollars; for at most ${v}; up to {v} euros; with a budget of {v}
amount | amount; sum; value; total; money | num 5 2000 | The amount; How much money; Amount to transfer | of {v} dollars; of ${v}; over {v} euros; - {v} dollars
currency | currency; currency_code; unit | enum USD=in US dollars/in USD, EUR=in euros/in EUR, GBP=in pounds/in GBP, JPY=in yen/in JPY, CHF=in Swiss francs/in CHF | The currency; ISO code of the currency | {v}
from_currency | from_currency; source_currency; base; from | pick USD, EUR, GBP, JPY, CHF, CAD, AUD, PLN, SEK, INR | Currency to convert from; ISO code of the source currency | from {v}
to_currency | to_currency; target_currency; quote; to | pick USD, EUR, GBP, JPY, CHF, CAD, AUD, PLN, SEK, INR | Currency to convert to; ISO code of the target currency | to {v}; into {v}
account | account; account_type; from_account; source_account | enum checking=checking/current, savings=savings/saving, credit=credit/credit card | Which account; Type of the account | from my {v} account; in my {v} account; on the {v} account
order_id | order_id; order; order_number; id; reference | code | The order's number; Order ID; The id of the order. | {v}; number {v}; with the number {v}; with id {v}
ticket_id | ticket_id; ticket; issue_id; id; case_number | code | The ticket's number; ID of the issue. | {v}; number {v}; with id {v}
user_id | user_id; user; customer_id; id; account_id; client_id | number_id | ID of the user; The user's identifier; Unique ID of the customer | {v}; with id {v}; with ID {v}; number {v}; user {v}
priority | priority; severity; urgency; level | enum low=low/not urgent, medium=medium/normal, high=high/urgent | The priority; How urgent it is; low, medium or high | with {v} priority; - priority {v}; and mark it as {v}
status | status; state; new_status; filter | enum open=open, in_progress=in progress, closed=closed/done, pending=pending/waiting | The status; New state of the entry | as {v}; with status {v}; that are {v}
reason | reason; cause; why; comment | pick it arrived damaged, wrong size, changed my mind, it is too late, duplicate entry, the color is wrong, it does not fit, found it cheaper, a part is missing | The reason; Why. | because {v}; - reason: {v}; with the reason {v}
file | file; filename; path; file_name; document; file_path | file | Name of the file; Path of the file; The file to work on. | {v}; called {v}; named {v}
folder | folder; directory; target; destination; path; dir | folder | The folder; Path of the directory. | to {v}; into {v}; in the folder {v}
query | query; q; search_term; keywords; term; text | topic | What to search for; Search words; The query string. | for {v}; about {v}; on {v}
topic | topic; subject; category; theme | topic | The topic; Subject to look up | about {v}; on {v}
language | language; target_language; lang; to | pick French, German, Spanish, Italian, Japanese, Polish, Turkish, Korean, Arabic, Dutch, Hindi, Greek | The language; Name of the target language. | to {v}; into {v}; in {v}
phrase | text; phrase; sentence; content; input | phrase | The text; Text to work on; The sentence. | {v}; the sentence {v}
transport | mode; transport; travel_mode; by; vehicle | enum driving=by car/driving, walking=on foot/walking, cycling=by bike/cycling, transit=by public transport/by bus | Means of transport; How to travel | {v}
avoid_tolls | avoid_tolls; no_tolls; toll_free | flag | Whether to avoid toll roads; true to avoid tolls | without tolls; avoiding toll roads; and avoid tolls
open_now | open_now; only_open; is_open | flag | Only places that are open now; Whether it has to be open | that are open now; open right now
urgent | urgent; is_urgent; important; high_priority | flag | Whether it is urgent; True if urgent. | urgently; - it's urgent; and mark it as important
repeat | repeat; recurring; daily; every_day | flag | Whether it repeats every day; true for every day | every day; daily
nonstop | nonstop; direct; direct_only; no_stops | flag | Direct flights only; Whether to leave out connections | nonstop; without stops; direct flights only
shuffle | shuffle; random; shuffle_mode | flag | Whether to play in random order | on shuffle; in random order; shuffled
cabin | cabin; travel_class; seat_class; class | enum economy=in economy/in economy class, business=in business class/business class, first=in first class/first class | The class of travel; Cabin class | {v}
temp_unit | unit; units; scale; temperature_unit | enum celsius=in celsius/in °C, fahrenheit=in fahrenheit/in °F | Unit of the temperature; celsius or fahrenheit | {v}
length_unit | unit; units; length_unit; measurement_unit | enum cm=in cm/in centimeters, m=in meters/in metres, inches=in inches, feet=in feet | Unit of the lengths; The unit of measurement (optional) | {v}
sort | sort_by; sort; order; ordering | enum price=sorted by price/cheapest first, rating=sorted by rating/best rated first, distance=sorted by distance/nearest first, date=sorted by date/newest first | How to sort; Order of the results | {v}
symbol | symbol; ticker; stock; stock_symbol | pick AAPL, MSFT, TSLA, AMZN, GOOG, NVDA, IBM, INTC, NFLX, SAP, ORCL, AMD, META, UBER, SHOP | The ticker symbol; Stock symbol, e.g. AAPL. | of {v}; for {v}
company | company; company_name; firm; business; organization | company | Name of the company; The company. | of {v}; for {v}; at {v}
coin | coin; crypto; cryptocurrency; token; asset | pick bitcoin, ethereum, solana, litecoin, dogecoin, cardano, monero | The coin; Name of the cryptocurrency | of {v}; for {v}
metric | metric; indicator; field; measure; kpi | enum revenue=revenue/sales, profit=profit/earnings, users=users/number of users, churn=churn/churn rate, traffic=traffic/visits | What to report; The figure. | - {v}; for {v}
year | year; in_year; target_year; fiscal_year | int 1950 2030 | The year; Four-digit year. | in {v}; for {v}; of {v}
month | month; month_name; in_month | pick January, February, March, April, May, June, July, August, September, October, November, December | The month; Name of the month | in {v}; for {v}
age | age; age_years; years_old; years | int 18 80 | Age in years; The age. | +age {v}; +an age of {v}; +age of {v}
weight | weight; weight_kg; body_weight; mass | num 45 120 | Weight in kilograms; The weight in kg. | +a weight of {v} kg; +weight {v} kg; +weight {v}
body_height | height; height_cm; body_height | int 150 205 | Height in centimeters; The height in cm. | +a height of {v} cm; +height {v} cm
gender | gender; sex | enum male=for a man/for a male, female=for a woman/for a female | male or female; The gender. | {v}
calories | calories; kcal; energy | int 50 900 10 | Energy in kcal; Calories of the meal | with {v} calories; of {v} kcal
steps | steps; step_count; goal | int 1000 15000 500 | Number of steps; The goal in steps. | of {v} steps; with {v} steps
distance | distance; distance_km; km; length | num 1 200 | Distance in km; The distance in kilometers. | of {v} km; over {v} kilometers
medicine | medicine; medication; drug; name | pick ibuprofen, aspirin, vitamin D, paracetamol, insulin, antibiotics, magnesium, antihistamine, iron tablets | The medicine; Name of the drug. | {v}
dose | dose; amount_mg; dosage; mg | int 50 800 50 | Dose in mg; Milligrams. | at {v} mg; - {v} mg; a dose of {v} mg
doctor | doctor; specialist; type; specialty | pick dentist, dermatologist, cardiologist, pediatrician, optician, physiotherapist, orthopedist | Kind of doctor; The specialty. | with a {v}; with the {v}
symptom | symptom; complaint; issue | pick headache, sore throat, back pain, fever, dizziness, cough, nausea, toothache | The symptom; What is wrong. | {v}
sport | sport; activity; exercise; discipline; workout_type | pick running, cycling, swimming, yoga, rowing, hiking, boxing, tennis, climbing, pilates | Kind of sport; The activity. | {v}; of {v}
team | team; team_name; club; side | team | Name of the team; The club. | of {v}; for {v}
league | league; competition; tournament | pick Premier League, NBA, Bundesliga, La Liga, NFL, Serie A, NHL, Champions League, MLB | The league; Competition. | in the {v}; of the {v}
sensor | sensor; sensor_id; device_id; probe; node | code | ID of the sensor; The sensor's name. | {v}; from sensor {v}; of sensor {v}
table | table; table_name; from_table; dataset; collection | pick users, orders, invoices, products, employees, customers, sessions, payments, events, suppliers, shipments, reviews | Name of the table; The table. | in the table {v}; from the {v} table; in {v}
column | column; field; attribute; group_by; key | pick name, price, country, created_at, status, age, salary, department, category, score | The column; Name of the field. | by {v}; by the column {v}; on {v}
database | database; db; database_name; schema | pick sales, crm, warehouse, hr, analytics, billing, inventory, prod, staging | The database; Name of the database | in the {v} database; of the database {v}
host | host; hostname; server; machine; address | host | The host; Name of the server. | on {v}; for {v}; of {v}
port | port; port_number; tcp_port | int 80 9000 | Port number; TCP port. | on port {v}; at port {v}
branch | branch; branch_name; ref; git_branch | pick main, develop, feature/login, release-2.1, hotfix/cache, staging, bugfix/typo, experiment | The branch; Name of the branch. | on {v}; on the branch {v}; of {v}
repo | repo; repository; project; repo_name | slug | The repository; Name of the project. | in {v}; of {v}; in the repository {v}
url | url; link; website; page; uri | url | The address; URL of the page. | {v}; from {v}; at {v}
format | format; output_format; type; file_type; export_format | enum pdf=as a PDF/as pdf, csv=as CSV/as a csv file, json=as JSON, xlsx=as an Excel file/as xlsx | The format; File format of the output | {v}
plate | plate; license_plate; registration; car | plate | The number plate; Registration of the car. | {v}; with the plate {v}
flight | flight; flight_number; flight_no; number | flight | The flight number; e.g. LH123 | {v}; for flight {v}; of flight {v}
station | station; stop; from_station; platform; station_name | city | Name of the station; The stop. | from {v}; at {v}
line | line; route; bus_line; train; route_number | pick U2, S7, 42, M10, 118, Red Line, Northern line, RE5, X90, Tram 4 | The line; Number of the route | on line {v}; with the {v}; for line {v}
parcel | tracking_number; parcel; tracking_id; shipment; code | tracking | The tracking number; Number of the parcel. | {v}; number {v}; with the tracking number {v}
job | job; position; role; job_title; title | pick nurse, baker, data analyst, electrician, teacher, driver, accountant, designer, cook, welder, plumber, librarian | The job; Job title. | as a {v}; for {v}; - {v}
salary | salary; annual_income; income; gross_salary; yearly_income | int 18000 150000 500 | Yearly income; The salary before tax. | +an income of {v}; +a salary of {v}; +annual income {v}
rate | interest_rate; rate; annual_rate; annual_interest_rate; apr | num 1 12 0.25 | Yearly rate in percent; Annual interest rate (in percent) | +an interest rate of {v}%; +a rate of {v} percent; +{v}% interest
principal | principal; initial_investment; loan_amount; capital; amount; present_value | int 1000 300000 500 | The amount at the start; Principal amount; The initial investment. | +a principal of {v}; +an initial amount of {v}; +a principal of ${v}
term | years; time; term; period; num_years; loan_term | int 1 30 | Time in years; Number of years; The term in years. | over {v} years; for {v} years; +a term of {v} years
compound | compounding; frequency; compound_frequency | enum yearly=compounded yearly/compounded annually, monthly=compounded monthly, daily=compounded daily | How often interest is added; Compounding frequency | {v}
base | base; b; base_length; base_side | num 2 60 | Length of the base; The base of the triangle. | +a base of {v}; +base {v}; +a base of {v} units; +a base length of {v}
height | height; h; altitude; triangle_height | num 2 60 | The height; Height of the shape. | +a height of {v}; +a height of {v} units; +height of {v} units; +height {v}
width | width; w; breadth; side_b | num 2 60 | The width; Width of the shape. | +a width of {v}; +width {v}
length | length; l; side_a; depth | num 2 60 | The length; Length of the shape. | +a length of {v}; +length {v}
radius | radius; r; circle_radius | num 1 40 | The radius; Radius of the circle. | +a radius of {v}; +radius {v}; of radius {v}
side | side; side_length; edge; a | num 1 40 | Length of a side; The edge. | +a side of {v}; +side length {v}; +an edge of {v}
number | number; n; x; value; num | int 2 500 | The number; An integer.; The input value | of {v}; for {v}; of the number {v}
second | second; b; other; number2; y | int 2 500 | The other number; Second integer. | and {v}
first_number | first; a; number1; x | int 2 500 | The first number; First integer. | of {v}; for {v}
numbers | numbers; values; data; list; array; nums | numbers | The numbers; List of values; Array of numbers. | of {v}; for the numbers {v}; of these numbers: {v}
speed | speed; velocity; initial_velocity; v0; v | num 2 300 | Speed in m/s; The velocity.; Initial velocity in m/s | +a speed of {v} m/s; +a velocity of {v} m/s; +velocity {v}
mass | mass; m; mass_kg; object_mass | num 1 90 | Mass in kg; The mass of the object. | +a mass of {v} kg; +mass {v} kg; +a mass of {v}
accel | acceleration; a; accel; g | num 1 20 | Acceleration in m/s^2; The acceleration. | +an acceleration of {v} m/s^2; +acceleration {v}
time_s | time; t; duration; elapsed_time; seconds | num 1 60 | Time in seconds; The time that passes. | after {v} seconds; in {v} seconds; +a time of {v} seconds
voltage | voltage; volts; v; u | num 1 240 | Voltage in volts; The voltage. | +a voltage of {v} V; +{v} volts; +voltage {v}
resistance | resistance; ohms; r | num 1 400 | Resistance in ohms; The resistance. | +a resistance of {v} ohms; +{v} ohm; +resistance {v}
substance | substance; chemical; compound; element; material | pick water, iron, copper, ethanol, oxygen, gold, helium, sodium chloride, methane, ammonia, lead, aluminium | The substance; Name of the material. | of {v}; for {v}
precision | precision; decimals; digits; round_to; decimal_places | int 1 8 | Decimal places; Digits to round to. | rounded to {v} decimals; to {v} decimal places; with {v} digits
species | species; animal; name; organism | pick red fox, honey bee, snow leopard, blue whale, barn owl, green turtle, grey wolf, monarch butterfly, giant squid | The species; Name of the animal. | of the {v}; for the {v}
place_name | place; landmark; site; attraction; name | pick Eiffel Tower, Machu Picchu, Big Ben, Taj Mahal, Golden Gate Bridge, Acropolis, Petra, Stonehenge, Louvre, Colosseum | The place; Name of the landmark. | of the {v}; at the {v}; for the {v}
person_known | name; person; figure; who; historical_figure | pick Marie Curie, Isaac Newton, Ada Lovelace, Charles Darwin, Nelson Mandela, Frida Kahlo, Alan Turing, Cleopatra, Leonardo da Vinci | Name of the person; Who. | of {v}; about {v}; for {v}
event | event; event_name; show; name; occasion | pick Jazz Night, Book Fair, Spring Concert, Food Festival, Startup Meetup, Art Opening, City Marathon, Film Week, Harvest Market | The event; Name of the event. | for {v}; for the {v}
meeting | title; subject; event; name; summary; topic | pick budget review, team lunch, project kickoff, parent evening, design sync, yoga class, interview, retro, board meeting, haircut | Title of the event; What it is. | called {v}; for the {v}; titled {v}
recipe | dish; recipe; meal; food; name | pick banana bread, lasagne, pumpkin soup, pancakes, chili, risotto, apple pie, shakshuka, ratatouille, meatballs, gnocchi | The dish; What to cook. | for {v}; of {v}
ingredients | ingredients; with; contains; available | many food | The ingredients; What is at hand | with {v}; using {v}
diet | diet; dietary_restriction; preference | enum vegan=vegan/that is vegan, vegetarian=vegetarian/that is vegetarian, gluten_free=gluten free/without gluten, keto=keto | The diet; Dietary restriction (optional) | {v}
difficulty | difficulty; level; skill | enum easy=easy/simple, medium=medium, hard=hard/difficult | How hard it may be; The difficulty. | - {v}; of {v} difficulty; on level {v}
car_type | car_type; category; vehicle; class | enum economy=an economy car/a small car, suv=an SUV, van=a van/a minivan, convertible=a convertible | Kind of car; Vehicle class | - {v}; and I want {v}; preferably {v}
pet | pet; animal; name; pet_name | first | Name of the pet; The animal. | {v}; for {v}
plant | plant; species; name; flower | pick basil, orchid, tomatoes, cactus, roses, fern, mint, lavender, monstera, ivy | The plant; Name of the plant. | {v}; for the {v}
channel | channel; room; group; chat; to | pick general, random, design, support, backend, team-lunch, announcements, sales, ops | The channel; Name of the channel. | in {v}; to {v}; in the channel {v}; to #{v}
version | version; release; tag; to_version | version | The version; Version number. | {v}; version {v}; to version {v}
service | service; service_name; app; component; name | pick nginx, postgres, redis, billing-api, auth, search, mailer, scheduler, gateway, worker | The service; Name of the service. | {v}; the service {v}
environment | environment; env; stage; target | enum production=to production/in production, staging=to staging/in staging, development=to development/in dev | The environment; Where to deploy | {v}
""".strip()
