"""What tools do, for generated calls: a line a function, under the name of its domain.

names | what people ask for | required parameters | optional ones (keys of tool_params.py)

The first phrase is an order; it also describes the tool. A phrase may have {key} of a required
parameter; the others follow in phrases of their own. Domains that begin with "*" belong to
developers rather than to people.
"""

FUNCTIONS = """
# clock
set_timer; start_timer; create_timer; timer_start | set a timer; start a timer; start a countdown; I need a timer; put a timer on; give me a timer | minutes | label
set_alarm; create_alarm; add_alarm; alarm_set | set an alarm; wake me up; create an alarm; I need an alarm | clock | weekday, label
cancel_timer; stop_timer; delete_timer; end_timer | cancel the timer; stop the timer; delete the timer | | label
get_time; current_time; get_current_time; time_now | tell me the time; what time is it; give me the current time; what's the time | city |
start_stopwatch; stopwatch_start; begin_stopwatch | start the stopwatch; start a stopwatch; begin timing | | label
snooze_alarm; alarm_snooze; delay_alarm | snooze the alarm; let me sleep a bit longer; push the alarm back | minutes |
convert_timezone; time_zone_convert; convert_time | convert the time; what is the time difference; turn a time into another time zone | clock, origin, destination |
# reminders
set_reminder; create_reminder; add_reminder; remind; reminder_create | remind me; set a reminder; create a reminder; I want to be reminded; don't let me forget | task | date, clock, repeat, urgent
add_task; create_task; create_todo; add_todo; task_add | add a task; create a to-do; put it on my to-do list; add a to-do | task | date, priority
complete_task; mark_done; finish_task; close_todo | mark the task as done; tick off the task; check off the to-do | task |
list_tasks; get_tasks; show_todos; fetch_tasks | list my tasks; show my to-dos; what is on my to-do list; what do I have to do | | date, status, limit
# calendar
create_event; add_event; schedule_meeting; add_calendar_event; create_calendar_event; book_meeting | create an event; schedule an appointment; put an entry in my calendar; add a meeting; schedule a meeting | meeting, date | clock, people, label
list_events; get_events; show_calendar; get_calendar; fetch_agenda | show my calendar; what is on my calendar; what are my appointments; list my events | date | limit
cancel_event; delete_event; remove_meeting; cancel_appointment | cancel the appointment; delete the event; call off the meeting | meeting | date
move_event; reschedule_meeting; reschedule; update_event | move the appointment; reschedule the meeting; shift the event | meeting, date | clock
check_availability; find_free_time; is_free; get_free_slots | check the calendar for free time; do I have time; am I free | date | people
# lights
set_light; control_light; set_lights; switch_light; light_control | turn {switch} the light; switch {switch} the lights; turn the lights {switch} | room, switch | brightness
set_brightness; dim_lights; adjust_brightness; change_brightness | dim the lights; set the brightness of the lights; change the light level | room, brightness |
set_light_color; change_light_color; light_color; set_color | change the color of the light; make the light; set the lights | room, color | brightness
# home
set_thermostat; set_temperature; adjust_thermostat; set_heating | set the thermostat; set the heating; turn the heating; make it warm | temperature | room
switch_device; control_device; device_power; toggle_device; turn_device | turn {switch} the {device}; switch {switch} the {device}; turn the {device} {switch} | device, switch | room
get_room_temperature; read_thermostat; room_temperature; check_temperature | check the temperature; how warm is it; what's the temperature; tell me how warm it is | room | temp_unit
lock_door; lock; secure_door; lock_up | lock the door; lock the front door; lock up the house | | clock
start_vacuum; clean_room; vacuum; run_vacuum | start the vacuum; clean the floor; vacuum the floor; let the robot clean | room |
close_blinds; set_blinds; lower_blinds; shut_blinds | close the blinds; lower the blinds; shut the blinds; let down the blinds | room |
water_plants; start_watering; irrigate; start_sprinkler | water the {plant}; start watering the {plant}; give the {plant} some water | plant | minutes
brew_coffee; make_coffee; start_coffee_machine | make coffee; brew some coffee; start the coffee machine; I want coffee | | quantity, size
# music
play_song; play_music; play_track; music_play | play {song}; put on {song}; I want to hear {song}; play the song {song} | song | artist, shuffle
play_artist; play_band; start_artist_radio | play something; play music; put on some songs | artist | shuffle, volume
play_genre; play_radio; start_genre | play some {genre}; put on {genre} music; I want to listen to {genre}; play {genre} | genre | volume, room
set_volume; change_volume; adjust_volume; volume_set | set the volume; turn the volume; change the volume | volume | device
play_playlist; start_playlist; play_my_playlist | play music; start some music; play the songs | playlist | shuffle
add_to_playlist; playlist_add; save_song | add {song}; save {song}; put {song} | song, playlist | artist
get_lyrics; find_lyrics; lyrics_search; fetch_lyrics | get the lyrics of {song}; find the lyrics of {song}; what are the lyrics of {song} | song | artist
# phone
call_contact; make_call; phone_call; call; start_call | call {person}; phone {person}; give {person} a call; ring {person}; make a call to {person} | person |
dial_number; call_number; dial; phone_number_call | dial a number; call the number; make a call | phone |
send_message; send_text; text_message; send_sms; message_send | send a message; send a text; write a message; text | person, text |
send_email; email_send; compose_email; mail | send an email; write an email; send a mail; email | email, subject | text, urgent
read_messages; get_messages; list_messages; show_messages | read my messages; show my messages; what messages did I get; read the new texts | | person, limit
block_number; block_caller; block_contact | block the number; block a caller; block calls | phone |
search_contacts; find_contact; lookup_contact; get_contact | look up a contact; find the number; search my contacts | person |
# weather
get_weather; current_weather; weather; get_current_weather; fetch_weather; weather_lookup | tell me the weather; what's the weather like; what is the weather; how is the weather; show the weather | city | temp_unit
get_forecast; weather_forecast; forecast; fetch_forecast | get the forecast; what will the weather be; show the weather forecast; give me the forecast | city | days, date, temp_unit
get_air_quality; air_quality; check_air | check the air quality; how is the air; what's the air quality | city | date
get_sunrise; sunrise_time; sun_times; get_sun | tell me when the sun rises; when is sunrise; what time does the sun come up | city | date
get_pollen; pollen_count; pollen_forecast | get the pollen count; how high is the pollen; is there much pollen | city | date
# navigation
get_directions; navigate; navigate_to; route; find_route; plan_route | navigate; show the way; give me directions; find a route; how do I get | address | transport, avoid_tolls
get_travel_time; travel_time; estimate_travel_time; drive_time | tell me the travel time; how long does it take; how long is the drive | origin, destination | transport
find_distance; get_distance; distance_between; calculate_distance | get the distance; how far is it; what is the distance | origin, destination | length_unit
find_nearby; search_nearby; places_nearby; nearby_places | find a pharmacy; search for a gas station; where is a supermarket; find a cash machine | city | open_now, sort, limit
get_traffic; traffic_info; check_traffic; traffic_report | check the traffic; how is the traffic; is there a traffic jam | city |
find_parking; parking_search; search_parking | find parking; where can I park; look for a parking space | address | hours, price_max
# shopping
add_to_list; add_shopping_item; shopping_list_add; add_item; list_add | add {item} to the shopping list; put {item} on my shopping list; add {item} to my list; we need {item} | item | quantity
add_items; add_to_cart; cart_add; shopping_add_all | put {items} on the shopping list; add {items} to the list; add {items} to my groceries | items |
remove_from_list; remove_item; list_remove; delete_item | take {item} off the list; remove {item} from the shopping list; delete {item} from my list | item |
search_products; find_product; product_search; shop_search | search for {item}; find {item}; look for {item}; I'm looking for {item} | item | price_max, color, sort
order_product; buy; place_order; purchase_item; buy_item | order {item}; buy {item}; purchase {item}; I want to buy {item} | item | quantity, address
track_order; order_status; get_order_status; where_is_order | track the order; where is my order; what is the status of my order; check the order | order_id |
return_item; request_return; start_return; create_return | return the order; send the order back; start a return for the order | order_id | reason
cancel_order; order_cancel; stop_order | cancel the order; stop my order; call off the order | order_id | reason
# parcels
track_parcel; track_package; get_shipment; parcel_status; track_shipment | track the parcel; where is my package; follow the shipment; find the parcel | parcel |
schedule_pickup; pickup_request; book_courier | schedule a pickup; book a courier; have a parcel picked up | address, date | clock
estimate_shipping; shipping_cost; get_shipping_rate; postage | estimate the shipping cost; how much is shipping; what does it cost to ship a parcel | origin, destination | weight, urgent
# notes
create_note; add_note; take_note; save_note; note_create | take a note; make a note; write down a note; create a note | text | label
search_notes; find_note; notes_search; lookup_notes | search my notes; look through my notes; find the note | query | limit
delete_note; remove_note; note_delete | delete the note; remove the note; throw away the note | label |
# search
web_search; search; search_web; google; internet_search | search the web; look up information; search the internet; find information; google | query | limit, language
search_news; get_news; news_search; latest_news; news_headlines | search the news; get the latest news; what is in the news; show me headlines; find news | topic | limit, country, sort
search_images; image_search; find_images; find_pictures | search for pictures; find images; show me photos | query | color, limit
get_definition; define_word; dictionary_lookup; lookup_word | define the word; look up the meaning of the word; what does the word mean | query | language
wikipedia_summary; encyclopedia_lookup; get_article; wiki | get the article; show me the encyclopedia entry; look up the article | topic | language
# translation
translate; translate_text; translation; text_translate | translate {phrase}; put {phrase}; give me the translation of {phrase} | phrase, language |
detect_language; identify_language; language_detect; guess_language | detect the language of {phrase}; find out the language of {phrase}; which language is {phrase} | phrase |
check_spelling; spell_check; correct_text; proofread | check the spelling of {phrase}; proofread {phrase}; correct {phrase} | phrase | language
# bank
transfer_money; bank_transfer; send_money; make_transfer; wire_transfer; pay_person | transfer money; send money; make a transfer; wire an amount | amount, person | account, currency
get_balance; account_balance; check_balance; balance | check the balance; what is my balance; how much money do I have; show my balance | account |
list_transactions; get_transactions; transaction_history; recent_transactions | list the transactions; show my transactions; what did I spend; show the payments | account | start_date, end_date, limit
pay_bill; bill_payment; settle_bill | pay the bill; pay a bill; settle the bill | company, amount | account, date
freeze_card; block_card; lock_card; card_freeze | freeze the card; block my card; lock my bank card; freeze my credit card | | reason
convert_currency; currency_convert; exchange; currency_exchange; exchange_money | convert {amount}; exchange {amount}; how much is {amount}; change {amount} | amount, from_currency, to_currency |
get_exchange_rate; exchange_rate; currency_rate; fx_rate | get the exchange rate; what is the exchange rate; tell me the rate | from_currency, to_currency | date
# stocks
get_stock_price; stock_price; stock_quote; get_quote; fetch_stock_price | get the stock price; what is the share price; what's the stock price; how much is a share | symbol | date
get_crypto_price; crypto_price; coin_price; crypto_quote | get the price; what is the price; how much is one coin | coin | currency
buy_stock; place_stock_order; stock_buy; buy_shares | buy shares; place an order for shares; purchase stock | symbol, quantity | price_max
get_company_report; company_financials; fetch_financials; earnings_report | get the financial report; show the figures; what are the results | company | year, metric
# travel
search_flights; find_flights; flight_search; get_flights; flights_find | find flights; search for flights; I need a flight; look for a flight; show me flights | origin, destination | date, cabin, nonstop, adults
book_flight; flight_booking; reserve_flight; buy_flight | book a flight; reserve a flight; get me on a flight | origin, destination, date | cabin, adults
flight_status; get_flight_status; check_flight; flight_info | check the flight; is the flight on time; what is the status of the flight; when does it land: flight | flight | date
find_hotels; search_hotels; hotel_search; hotels_find; get_hotels | find hotels; search for a hotel; I need a hotel; look for a room | city | start_date, nights, stars, price_max, sort
book_hotel; hotel_booking; reserve_room; book_room; reserve_hotel | book a room; reserve a hotel room; book a stay | hotel, start_date, nights | adults
rent_car; car_rental; book_rental_car; hire_car | rent a car; book a rental car; hire a car; I need a rental car | city, start_date | days, car_type
get_visa_info; visa_requirements; check_visa | check the visa rules; do I need a visa; what are the visa requirements | country | nights
# transit
next_departure; get_departures; departures; next_train; train_times | get the next departures; when does the next train leave; when is the next bus; show the departures | station | line, limit
buy_ticket; book_train; train_ticket; purchase_ticket | buy a train ticket; book a train; get me a ticket | origin, destination | date, clock, adults
get_delays; line_status; transit_alerts; check_delays | check for delays; are there delays; is there a disruption | line |
call_taxi; order_taxi; book_ride; request_ride; get_ride | call a taxi; order a cab; book a ride; get me a car | address | clock, party
# restaurants
book_table; reserve_table; make_reservation; restaurant_booking; table_reservation | book a table; reserve a table; make a reservation; I need a table | restaurant, party | date, clock
find_restaurants; search_restaurants; restaurant_search; restaurants_find; find_restaurant | find restaurants; search for a restaurant; where can I eat; find a place to eat; look for a restaurant | city | cuisine, price_max, open_now, sort
order_food; food_order; order_meal; place_food_order | order {quantity} {dish}; get {quantity} {dish}; I'd like {quantity} {dish}; order me {quantity} {dish} | dish, quantity | restaurant, size, address
get_menu; show_menu; fetch_menu; restaurant_menu | show the menu; what is on the menu; get the menu | restaurant | diet
# cooking
find_recipe; get_recipe; recipe_search; search_recipes; recipe_find | find a recipe; get a recipe; I need a recipe; show me how to cook: a recipe | recipe | diet, difficulty
recipes_by_ingredients; what_to_cook; cook_with; suggest_recipe | suggest a recipe; what can I cook; find something to cook | ingredients | diet, minutes
get_calories; nutrition_info; food_calories; nutrition_facts; calorie_lookup | get the nutrition facts; how many calories are there; what are the nutrition values | recipe | size
# health
log_meal; add_meal; track_meal; record_food; food_log | log a meal; record that I ate {dish}; I ate {dish}; add {dish} to my food diary | dish | calories
log_workout; add_workout; record_exercise; track_workout; workout_log | log a workout; record my training; I did a workout; add an exercise | sport, minutes | distance, calories
log_weight; record_weight; add_weight; track_weight | log my weight; record my weight; note my weight; save my weight | weight | date
log_water; add_water; drink_water | log a glass of water; I drank water; record some water | quantity |
book_doctor; doctor_appointment; make_appointment; schedule_doctor | book an appointment; make an appointment; I need an appointment | doctor | date, clock
medication_reminder; add_medication; remind_medicine; schedule_medicine | remind me to take {medicine}; add a reminder for {medicine}; schedule {medicine} | medicine, clock | dose, repeat
check_symptom; symptom_info; symptom_checker | look up {symptom}; check the symptom {symptom}; what helps against {symptom} | symptom | age
set_step_goal; step_goal; daily_goal | set a step goal; set my daily goal; change my goal | steps |
calculate_bmi; bmi; get_bmi; body_mass_index; compute_bmi | calculate the body mass index; compute the BMI; what is the BMI; work out my BMI | weight, body_height | gender
calculate_calorie_need; daily_calories; calorie_calculator; bmr | calculate the daily calorie need; how many calories does one need; compute the basal metabolic rate | weight, body_height, age | gender
# films
find_movie; search_movies; movie_search; find_films; movies_find | find a movie; search for films; I want to watch a movie; look for a movie | film_genre | year, sort, limit
movie_times; get_showtimes; showtimes; cinema_program | get the showtimes for {title}; when does {title} play; where is {title} on | title, city | date
movie_details; get_movie; movie_info; film_details | get the details of the movie {title}; tell me about the film {title}; show information on {title} | title | year
play_video; watch; start_movie; stream | play the video {title}; start the movie {title}; stream {title} | title | device
# books
find_book; search_books; book_search; library_search; books_find | find the book {title}; search the library for {title}; look for the book {title} | title | author
reserve_book; borrow_book; hold_book; library_hold | reserve the book {title}; borrow {title}; put a hold on {title} | title | full_name
books_by_author; get_books; author_books; list_books | list the books; which books are there; show the novels | author | limit, sort
# sports
get_score; match_score; live_score; latest_score; game_result | get the score; what was the score; what is the result; how did they play: the score | team | date, league
get_standings; league_table; standings; ranking_table | get the standings; show the table; who leads | league | year
team_schedule; next_match; fixtures; get_fixtures | get the next match; when is the next game; show the fixtures | team | limit, league
# tickets
buy_event_ticket; book_event; event_tickets; purchase_event_ticket | buy tickets; book seats; get tickets; I want tickets | event, quantity | date
find_events; event_search; search_events; events_nearby | find events; what is on; search for concerts; what can I do | city | date, price_max, limit
create_ticket; open_ticket; report_issue; create_issue; file_bug | open a ticket; report a problem; create an issue; file a ticket | subject | priority, text
update_ticket; set_ticket_status; change_issue_status; ticket_update | set the status of the ticket; update the ticket; change the issue | ticket_id, status | priority
assign_ticket; assign_issue; ticket_assign; give_ticket | assign the ticket; hand over the issue; give the ticket | ticket_id, person |
get_ticket; show_ticket; ticket_details; lookup_issue | show the ticket; get the details of the ticket; look up the issue | ticket_id |
# files
delete_file; remove_file; file_delete; rm | delete the file; remove the file; erase the file | file |
move_file; file_move; mv; relocate_file | move the file; relocate the file; put the file | file, folder |
copy_file; file_copy; cp; duplicate_file | copy the file; duplicate the file; make a copy of the file | file, folder |
read_file; open_file; cat; show_file; file_read | open the file; read the file; show the content of the file | file |
list_files; list_directory; ls; get_files; dir | list the files; show the files; what is stored | folder | sort, limit
create_folder; make_directory; mkdir; new_folder | create a folder; make a new directory; add a folder | folder |
share_file; send_file; file_share; share_document | share the file; send the file; give access to the file | file, email |
convert_file; export_file; file_convert; export_document | convert the file; export the file; save the file | file, format |
compress_files; zip; create_archive; make_zip | compress the folder; zip the files; make an archive | folder |
# garden and pets
log_feeding; feed_pet; pet_feed; record_feeding | record that {pet} was fed; I fed {pet}; log the feeding of {pet} | pet | clock
book_vet; vet_appointment; schedule_vet | book the vet; make a vet appointment; I need a vet | pet, date | clock, reason
plant_care; plant_info; get_plant_care; care_guide | tell me how to care for plants; get care tips; how often do I water | plant |
# cars
check_fuel; fuel_level; get_fuel; car_status | check the fuel; how much fuel is left; what is the state of the car | plate |
find_charger; charging_stations; ev_chargers; charger_search | find a charger; where can I charge the car; look for a charging station | city | price_max, open_now
book_service; car_service; schedule_maintenance; garage_appointment | book a service; schedule maintenance; make a garage appointment | plate, date | reason
pay_parking; parking_payment; extend_parking | pay for parking; start parking; extend the parking time | plate, hours | amount
# jobs
search_jobs; find_jobs; job_search; list_jobs; jobs_find | search for jobs; find work; look for a job; what jobs are there | job, city | salary, limit
apply_job; submit_application; job_apply; send_application | apply; send my application; submit an application | company, job |
get_salary; average_salary; salary_info; pay_range | get the average salary; what does one earn; how much is the pay | job | country, city
# chat at work
post_message; send_channel_message; slack_message; post_to_channel; channel_post | post a message; send a message; write | channel, text | urgent
create_channel; new_channel; open_channel; channel_create | create a channel; open a new channel; make a channel | channel | people
set_status; update_status; presence; set_presence | set my status; change my status; update my status | text | minutes
# *customers
get_user; fetch_user; lookup_customer; get_customer; user_details; get_user_info | get the user; look up the customer; retrieve the details of the user; fetch the account; show the customer | user_id | format
create_user; add_customer; register_user; new_customer; user_create | create a user; register a customer; add a new account | full_name, email | age, phone
update_email; change_email; set_user_email; update_contact | change the email address of the user; update the contact of the customer; set the mail of the user | user_id, email |
delete_user; remove_customer; deactivate_account; user_delete | delete the user; remove the customer; deactivate the account | user_id | reason
get_invoice; fetch_invoice; invoice_details; show_invoice; retrieve_invoice | get the invoice; show the bill; retrieve the invoice | order_id | format
issue_refund; refund; refund_order; create_refund | refund the order; issue a refund for the order; give the money back for the order | order_id | amount, reason
check_stock; inventory_lookup; stock_level; get_inventory; in_stock | check the stock of {item}; how many {item} are left; is {item} in stock | item | city
get_discount; discount; apply_discount; compute_discount | compute the discount; apply a discount; what is the discount | amount | user_id
# *database
query_table; select_rows; run_query; fetch_rows; db_query; database_select | get the rows; select the entries; show the records; fetch the data | table | database, sort, limit
count_rows; row_count; count_records; table_count; get_count | count the rows; how many rows are there; count the entries | table | database
group_by; aggregate; summarize_table; pivot | group the rows; aggregate the data; summarize the entries | table, column | metric
create_index; add_index; index_column; build_index | create an index; add an index; index the data | table, column |
backup_database; db_backup; dump_database; make_backup | back up the data; make a backup; dump everything | database | folder
drop_table; delete_table; remove_table; truncate_table | drop everything; delete the data; remove the rows | table | database
# *servers
ping; ping_host; check_host; is_up; host_status | ping the server; check the server; is the machine up | host | port
restart_service; service_restart; reboot_service; restart | restart {service}; reboot {service}; bounce {service} | service | host
deploy; deploy_service; release_service; rollout; ship | deploy {service}; roll out {service}; release {service} | service, environment | version
get_logs; fetch_logs; tail_logs; read_logs; show_logs | show the logs; get the logs; read the last log lines | service | limit, host
scale_service; set_replicas; scale; autoscale | scale {service}; change the replicas of {service}; resize {service} | service, quantity |
get_metric; read_metric; cpu_usage; server_load; host_metrics | get the load; how busy is the machine; show the usage | host | minutes
open_port; allow_port; firewall_allow; add_firewall_rule | open the port; allow traffic; add a firewall rule | port, host |
# *code
create_branch; git_branch_create; new_branch; branch | create a branch; make a new branch; start a branch | branch, repo |
list_commits; get_commits; commit_history; git_log | list the commits; show the history; what was committed | repo | branch, limit
open_pull_request; create_pr; pull_request; merge_request | open a pull request; create a merge request; make a PR | repo, branch | subject
run_tests; start_ci; trigger_build; run_pipeline; ci_run | run the tests; start the build; trigger the pipeline | repo | branch
fetch_url; download; http_get; get_page; scrape | download the page; fetch the site; get the page | url | folder
shorten_url; short_link; make_short_url; url_shorten | shorten the link; make a short link; shorten the address | url |
format_code; lint; prettify; code_format | format the code; tidy up the code; lint the code | file | language
# *sensors
read_sensor; get_sensor; sensor_value; get_reading; sensor_read | read the sensor; get the value; what does the sensor say; show the reading | sensor | temp_unit
sensor_history; get_measurements; sensor_log; reading_history | get the history; show past readings; list the measurements | sensor | start_date, end_date, limit
set_threshold; alert_threshold; set_limit; sensor_alarm | set an alert; set the threshold; warn me | sensor, number |
calibrate_sensor; sensor_calibrate; recalibrate | calibrate the device; recalibrate the probe; adjust the sensor | sensor |
# *geometry
calculate_triangle_area; triangle_area; area_of_triangle; compute_triangle_area; get_triangle_area | calculate the area of a triangle; find the area of a triangle; what is the area of a triangle; compute the area of the triangle | base, height | length_unit
rectangle_area; calculate_rectangle_area; area_rectangle; rect_area | calculate the area of a rectangle; find the area of a rectangle; what's the area of a rectangle | length, width | length_unit
circle_area; calculate_circle_area; area_of_circle; circle_get_area | calculate the area of a circle; find the area of a circle; what is the area of a circle | radius | length_unit, precision
circumference; calculate_circumference; circle_perimeter; get_circumference | calculate the circumference of a circle; find the perimeter of a circle; what's the circumference of a circle | radius | length_unit
sphere_volume; calculate_sphere_volume; volume_of_sphere; sphere_get_volume | calculate the volume of a sphere; find the volume of a ball; what is the volume of a sphere | radius | precision
cylinder_volume; volume_cylinder; calculate_cylinder_volume | calculate the volume of a cylinder; find the volume of a cylinder; how much fits into a cylinder | radius, height | length_unit
cube_volume; calculate_cube_volume; volume_of_cube | calculate the volume of a cube; find the volume of a cube; what is the volume of a cube | side | length_unit
hypotenuse; calculate_hypotenuse; right_triangle_hypotenuse; pythagoras | calculate the hypotenuse; find the longest side of a right triangle; what is the hypotenuse | base, height |
rectangle_perimeter; perimeter; calculate_perimeter; get_perimeter | calculate the perimeter of a rectangle; find the perimeter of a field; what is the perimeter | length, width | length_unit
box_surface; surface_area; box_surface_area; cuboid_surface | calculate the surface of a box; find the surface area of a box; what is the surface of a box | length, width, height |
# *maths
factorial; calculate_factorial; math_factorial; compute_factorial; get_factorial | calculate the factorial; find the factorial; what is the factorial; compute the factorial | number |
is_prime; check_prime; prime_check; math_is_prime | check whether it is a prime; is it a prime; test for primality | number |
greatest_common_divisor; gcd; math_gcd; find_gcd; calculate_gcd | calculate the greatest common divisor; find the GCD; what is the highest common factor | first_number, second |
least_common_multiple; lcm; math_lcm; find_lcm | calculate the least common multiple; find the LCM; what is the smallest common multiple | first_number, second |
mean; calculate_mean; average; get_average; compute_average | calculate the average; find the mean; what is the average; compute the mean | numbers | precision
median; calculate_median; find_median; stats_median | calculate the median; find the median; what is the median | numbers |
standard_deviation; std_dev; calculate_std; stats_std | calculate the standard deviation; find the spread; what is the standard deviation | numbers | precision
sort_numbers; sort_list; order_numbers; list_sort | sort the list; put the numbers in order; order the values | numbers |
square_root; sqrt; math_sqrt; calculate_square_root | calculate the square root; find the square root; what's the square root | number | precision
fibonacci; get_fibonacci; fibonacci_sequence; nth_fibonacci | calculate the Fibonacci number; get the Fibonacci sequence; what is the Fibonacci value | number |
random_number; generate_random; get_random; random_integer | generate a random number; give me a random number; pick a number | number |
# *physics
final_velocity; calculate_final_velocity; velocity; compute_velocity | calculate the final velocity; find the final speed; how fast is it | speed, accel, time_s |
kinetic_energy; calculate_kinetic_energy; compute_kinetic_energy; energy_kinetic | calculate the kinetic energy; find the kinetic energy; what is the kinetic energy | mass, speed |
calculate_force; force; newton_force; compute_force | calculate the force; find the force; what force is needed | mass, accel |
electric_current; calculate_current; ohms_law; current | calculate the current; find the current; what current flows | voltage, resistance |
power_consumption; calculate_power; electric_power | calculate the power; find the power; how much power is used | voltage, resistance |
displacement; calculate_displacement; distance_travelled; travelled_distance | calculate the displacement; find the distance; how far does it go | speed, time_s | accel
momentum; calculate_momentum; compute_momentum; get_momentum | calculate the momentum; find the momentum; what is the momentum | mass, speed |
density_lookup; get_density; material_density; substance_density | look up the density; get the density; what is the density | substance | temp_unit
boiling_point; get_boiling_point; melting_point; substance_properties | get the boiling point; what is the boiling point; look up the boiling temperature | substance | temp_unit
molar_mass; molecular_weight; calculate_molar_mass; get_molar_mass | get the molar mass; what is the molecular weight; calculate the molar mass | substance | precision
# *finance
compound_interest; calculate_compound_interest; future_value; investment_growth | calculate the compound interest; find the future value; what will the investment be worth; how much will I have | principal, rate, term | compound
simple_interest; calculate_simple_interest; interest; get_interest | calculate the simple interest; find the interest; what is the interest | principal, rate, term |
loan_payment; mortgage_payment; monthly_payment; calculate_mortgage; calculate_loan | calculate the monthly payment; what is the monthly rate of the loan; find the mortgage payment; how much do I pay a month | principal, rate, term |
income_tax; calculate_tax; tax_calculator; compute_tax | calculate the income tax; how much tax is due; find the tax | salary | country, year
tip; calculate_tip; tip_calculator; split_bill | calculate the tip; how much should I tip; split the bill | amount | party
retirement_savings; pension; calculate_pension; savings_plan | calculate the savings; how much will be saved; plan the pension | principal, term | rate
# *knowledge
get_capital; country_capital; capital_city; capital_of | get the capital; what is the capital city; tell me the capital | country |
get_population; population; country_population; population_count | get the population; how many people live there; what is the population | country | year
get_gdp; gdp; country_gdp; economic_output | get the economic output; what is the GDP; show the gross domestic product | country | year
historical_event; get_event_date; history_lookup; events_in_year | list the historical events; what happened; tell me about the history | year | country, limit
get_biography; biography; person_info; lookup_person; historical_figure | get the biography; who was it: the biography; tell me about the life | person_known | limit
species_info; animal_facts; get_species; animal_lookup | get facts; tell me about the animal; look up the habitat | species | country
landmark_info; landmark; attraction_info; opening_hours; ticket_price | get information; what are the opening hours; how much is the ticket | place_name | date
""".strip()

# The same in other languages: language | function's first name | sentence with {parameters}
FOREIGN = """
German | set_timer | stell einen Timer auf {minutes} Minuten; Timer {minutes} Minuten bitte; Starte einen Timer für {minutes} Minuten
German | set_alarm | weck mich um {clock}; Stell den Wecker auf {clock}; Wecker auf {clock}
German | get_weather | wie ist das Wetter in {city}; Wie wird das Wetter in {city}?; Zeig mir das Wetter in {city}
German | call_contact | ruf {person} an; Bitte ruf {person} an; Ich möchte {person} anrufen
German | set_brightness | stell das Licht auf {brightness} Prozent, {room}; Dimme das Licht auf {brightness} %: {room}
German | set_volume | Lautstärke auf {volume} Prozent; stell die Lautstärke auf {volume}
German | find_hotels | such ein Hotel in {city}; Ich brauche ein Hotel in {city}; Hotels in {city} bitte
German | search_flights | Flüge von {origin} nach {destination}; Such mir einen Flug von {origin} nach {destination}
German | set_thermostat | stell die Heizung auf {temperature} Grad; Heizung auf {temperature} Grad
German | track_parcel | Wo ist mein Paket {parcel}?; Verfolge die Sendung {parcel}
German | get_stock_price | Wie steht die Aktie {symbol}?; Kurs von {symbol}
German | calculate_triangle_area | Berechne die Fläche eines Dreiecks mit Grundseite {base} und Höhe {height}
French | set_timer | mets un minuteur de {minutes} minutes; Lance un minuteur de {minutes} minutes
French | set_alarm | réveille-moi à {clock}; Mets une alarme à {clock}
French | get_weather | quel temps fait-il à {city}; Quelle est la météo à {city} ?
French | call_contact | appelle {person}; Peux-tu appeler {person} ?
French | set_volume | mets le volume à {volume}; Règle le volume sur {volume} pour cent
French | find_hotels | trouve un hôtel à {city}; Je cherche un hôtel à {city}
French | search_flights | cherche un vol de {origin} à {destination}; Je voudrais un vol de {origin} à {destination}
French | set_thermostat | mets le chauffage à {temperature} degrés; Règle le chauffage sur {temperature} degrés
French | track_parcel | Où est mon colis {parcel} ?; suis le colis {parcel}
French | calculate_triangle_area | Calcule l'aire d'un triangle de base {base} et de hauteur {height}
Spanish | set_timer | pon un temporizador de {minutes} minutos; Temporizador de {minutes} minutos
Spanish | set_alarm | pon una alarma a las {clock}; Despiértame a las {clock}
Spanish | get_weather | qué tiempo hace en {city}; ¿Qué tiempo hará en {city}?
Spanish | call_contact | llama a {person}; ¿Puedes llamar a {person}?
Spanish | set_volume | pon el volumen al {volume} por ciento; Volumen a {volume}
Spanish | find_hotels | busca un hotel en {city}; Necesito un hotel en {city}
Spanish | search_flights | busca vuelos de {origin} a {destination}; Quiero un vuelo de {origin} a {destination}
Spanish | set_thermostat | pon la calefacción a {temperature} grados; Sube la calefacción a {temperature} grados
Spanish | track_parcel | ¿Dónde está mi paquete {parcel}?; rastrea el paquete {parcel}
Spanish | calculate_triangle_area | Calcula el área de un triángulo con base {base} y altura {height}
Italian | set_timer | imposta un timer di {minutes} minuti; Timer di {minutes} minuti
Italian | get_weather | che tempo fa a {city}; Che tempo farà a {city}?
Italian | call_contact | chiama {person}; Puoi chiamare {person}?
Italian | find_hotels | trova un hotel a {city}; Cerco un albergo a {city}
Italian | search_flights | cerca voli da {origin} a {destination}
Portuguese | set_timer | coloca um temporizador de {minutes} minutos; Temporizador de {minutes} minutos
Portuguese | get_weather | como está o tempo em {city}; Qual é a previsão do tempo em {city}?
Portuguese | call_contact | liga para {person}; Podes ligar para {person}?
Portuguese | find_hotels | procura um hotel em {city}; Preciso de um hotel em {city}
Portuguese | search_flights | procura voos de {origin} para {destination}
Dutch | set_timer | zet een timer van {minutes} minuten; Timer op {minutes} minuten
Dutch | get_weather | wat voor weer is het in {city}; Hoe is het weer in {city}?
Dutch | call_contact | bel {person}; Kun je {person} bellen?
Dutch | find_hotels | zoek een hotel in {city}; Ik zoek een hotel in {city}
Dutch | search_flights | zoek vluchten van {origin} naar {destination}
Swedish | set_timer | sätt en timer på {minutes} minuter; Starta en timer på {minutes} minuter
Swedish | get_weather | hur är vädret i {city}; Vad blir det för väder i {city}?
Swedish | call_contact | ring {person}; Kan du ringa {person}?
Polish | set_timer | ustaw minutnik na {minutes} minut; Minutnik {minutes} minut
Polish | get_weather | jaka jest pogoda: {city}; Pogoda {city}
Polish | call_contact | zadzwoń: {person}; Proszę zadzwonić: {person}
Turkish | set_timer | {minutes} dakikalık zamanlayıcı kur; {minutes} dakika için sayaç başlat
Turkish | get_weather | hava nasıl: {city}; {city} hava durumu
Turkish | call_contact | {person} ara lütfen; ara: {person}
""".strip()
