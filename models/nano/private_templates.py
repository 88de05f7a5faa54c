"""Sentences for task_private.py. {slots} are private entities of the type of that name."""

from pools import lines

SENTENCES = lines("""
My name is {person} and I live at {address}.
Hi, this is {person} from {organization}.
{person} works for {organization} in {location}.
Please call {person} on {phone}.
You can reach me at {email} or {phone}.
My email is {email}.
Send it to {email}, please.
i lost my card {credit_card}, please block it
My credit card number is {credit_card}.
Please charge {credit_card}, it belongs to {person}.
The card ending soon is {credit_card}, issued to {person}.
Transfer the money to {iban}.
My IBAN is {iban} and the account holder is {person}.
{person}, account {iban}, wants a refund.
My social security number is {national_id}.
The tax number of {person} is {national_id}.
ID: {national_id}
His passport number is {passport}.
{person} travels with passport {passport}.
Passport no. {passport}, name {person}
She was born on {date_of_birth}.
{person} was born on {date_of_birth} in {location}.
Date of birth: {date_of_birth}
{person} is {age} years old and lives in {location}.
I am {age} and work at {organization}.
The server at {ip_address} was reached from {location}.
Login from {ip_address} by user {username}.
My user name is {username} and my password is {password}.
The password for {username} is {password}.
Use the key {api_key} for the API.
export API_KEY={api_key}
My token is {api_key}, do not share it.
Look at {url} for my profile.
{person}'s website is {url}.
My car has the plate {license_plate}.
The driver of {license_plate} is {person}.
{organization}, {address}
Ship the parcel to {person}, {address}.
My new address is {address}.
I moved from {location} to {location}.
we moved to {address} last week
{person} and {person} will meet in {location}.
Dear {person}, your order was sent to {address}.
Dear Ms. {person}, thank you for your letter.
Dr. {person} will see you at {organization}.
The patient {person}, born {date_of_birth}, has a fever.
Patient: {person}, insurance number {national_id}
Contact: {person}, {phone}, {email}
{person} <{email}> wrote:
From: {email}
To: {email}
Name: {person}
Phone: {phone}
Address: {address}
Email: {email}
Company: {organization}
Age: {age}
my number is {phone} text me
call me maybe at {phone}
is {phone} the number of {organization}?
Could you tell {person} that I am waiting at {address}?
{person} from {location} has applied for the job.
The landlord, {person}, can be reached under {phone}.
Emergency contact: {person} ({phone})
I bank with {organization} and my account is {iban}.
The invoice goes to {organization}, {address}.
User {username} ({email}) has a new login from {ip_address}.
My girlfriend {person} is {age}.
My son {person} goes to school in {location}.
I met {person} at {organization} yesterday.
Please remove {person} from the list and add {person}.
{person} has changed the phone number to {phone}.
We were in {location} with {person} when it happened.
Reset the password of {username}, the new one is {password}.
{person} signed the contract with {organization}.
Can you check if {email} is registered?
Best regards, {person}
Yours, {person}, {organization}
Kind regards\\n{person}\\n{phone}
Do you know {person}? He drives {license_plate}.
{"name": "{person}", "email": "{email}"}
name={person}; phone={phone}
{person},{email},{phone}
The witness, {person}, {age}, of {location}, saw everything.
The account of {person} at {organization} has the number {iban}.
Her card {credit_card} was used in {location}.
Pay with {credit_card} or transfer to {iban}.
I forgot my password, it was {password} I think.
ssh {username}@{ip_address}
My profile is {url} and my mail is {email}.
The appointment of {person} on Tuesday is cancelled.
She told {person} to come to {address} at noon.
According to {person}, {organization} will close its office in {location}.
I want to change my address from {address} to {address}.
Is {person} still working at {organization}?
Book a table for {person}, phone {phone}.
The key {api_key} belongs to {person}.
{location} is where {person} grew up.
{person} called again, this time from {phone}.
""")

NOTHING = lines("""
The meeting starts at nine and ends at noon.
Please water the plants while I am away.
What is the balance of my account?
The weather was lovely all week.
I would like to change my order.
There are three cats in the garden.
The report has forty pages.
I forgot to lock the door.
Could you send me the form again?
The total was 45 dollars and 20 cents.
Order 48213 has been shipped.
The train was ten minutes late.
We need more paper for the printer.
The new version is faster than the old one.
Room 12 is free from Monday.
How do I reset the device?
The soup needs more salt.
Everything works as it should.
My internet has been slow since yesterday.
Thank you for the quick answer.
The box weighs 12 kilos.
It costs less than I expected.
The children are at school.
I read the first 200 pages of the book.
Version 3.2 fixes the error.
""")
