"""Organisations: well-known ones, and the patterns by which names of companies and institutions are made."""


def _split(text):
    return [w.replace("_", " ") for w in text.split()]


KNOWN = _split("""Google Microsoft Apple Amazon Facebook Meta Twitter Netflix Tesla IBM Intel Oracle Cisco Adobe Salesforce SAP Nvidia AMD
Qualcomm Dell HP Hewlett-Packard Lenovo Samsung Sony Panasonic Toshiba Hitachi Fujitsu Canon Nikon Nokia Ericsson Siemens Bosch Philips
BMW Mercedes-Benz Daimler Volkswagen Audi Porsche Toyota Honda Nissan Mazda Subaru Hyundai Kia Ford General_Motors Chrysler Fiat Ferrari
Renault Peugeot Citroën Volvo Boeing Airbus Lockheed_Martin Raytheon Northrop_Grumman General_Electric Honeywell 3M Caterpillar
ExxonMobil Chevron Shell BP Total Gazprom Walmart Target Costco Kroger Home_Depot Lowe's Best_Buy Macy's IKEA Carrefour Tesco
Sainsbury's Aldi Lidl McDonald's Starbucks Burger_King KFC Subway Domino's Pizza_Hut Coca-Cola Pepsi PepsiCo Nestlé Unilever Danone
Kraft_Heinz Procter_&_Gamble Johnson_&_Johnson Pfizer Moderna Novartis Roche Merck Bayer AstraZeneca GlaxoSmithKline Sanofi
JPMorgan_Chase Goldman_Sachs Morgan_Stanley Citigroup Citibank Bank_of_America Wells_Fargo HSBC Barclays Lloyds Santander BNP_Paribas
Deutsche_Bank Commerzbank UBS Credit_Suisse ING Rabobank Nordea Danske_Bank Visa Mastercard American_Express PayPal Stripe Square
Revolut Monzo Fidelity BlackRock Vanguard Berkshire_Hathaway Deloitte KPMG PwC EY Ernst_&_Young McKinsey Accenture Capgemini Infosys
Wipro Tata_Consultancy_Services Cognizant AT&T Verizon T-Mobile Sprint Comcast Vodafone Orange Telefónica Telekom BT O2 Disney
Warner_Bros Paramount Universal Pixar HBO CNN BBC NBC CBS ABC Fox_News New_York_Times Washington_Post The_Guardian Reuters Bloomberg
Associated_Press Al_Jazeera Le_Monde Der_Spiegel UPS FedEx DHL USPS Delta United_Airlines American_Airlines Lufthansa Air_France
British_Airways Emirates Qantas Ryanair EasyJet KLM Uber Lyft Airbnb Booking.com Expedia Spotify TikTok Snapchat Instagram WhatsApp
YouTube LinkedIn Reddit Pinterest Zoom Slack Dropbox Shopify eBay Alibaba Tencent Huawei Xiaomi ByteDance Baidu Foxconn TSMC LG
Nintendo Sega Electronic_Arts Activision Ubisoft Nike Adidas Puma Gucci Prada Chanel Dior Zara H&M Uniqlo Levi's NASA ESA FBI CIA
NSA IRS FDA CDC WHO NATO UN UNESCO UNICEF IMF World_Bank European_Union European_Commission European_Central_Bank Red_Cross
Greenpeace Amnesty_International Harvard Yale Princeton Stanford MIT Caltech Oxford_University Cambridge_University UCLA Berkeley
Columbia_University Cornell Sorbonne ETH_Zurich Manchester_United Real_Madrid FC_Barcelona Bayern_Munich Juventus Chelsea Arsenal
Liverpool_FC Lakers Celtics Yankees Red_Sox Cowboys Patriots Giants Dodgers Chicago_Bulls Golden_State_Warriors Congress Senate
Parliament House_of_Commons Supreme_Court Pentagon Department_of_Justice State_Department Home_Office Scotland_Yard Republican_Party
Democratic_Party Labour_Party Conservative_Party OpenAI Anthropic DeepMind Hugging_Face Mozilla Red_Hat Canonical GitHub GitLab
Tower_Records Circuit_City Blockbuster Borders Montgomery_Ward Woolworth's Woolworth KB_Toys Toys_R_Us Sears Kmart JCPenney RadioShack
CompUSA Payless Service_Merchandise Sam_Goody Zayre Gimbels Musicland Egghead Red_Robin Sizzler Howard_Johnson Burger_Chef Ponderosa
Eckerd Rite_Aid Walgreens CVS Safeway Albertsons Publix Whole_Foods Trader_Joe's Wegmans Piggly_Wiggly Food_Lion Winn-Dixie 7-Eleven
Circle_K Denny's IHOP Applebee's Chili's Olive_Garden Red_Lobster Outback_Steakhouse Taco_Bell Wendy's Arby's Chipotle Panera Dunkin
Krispy_Kreme Baskin-Robbins Dairy_Queen Papa_John's Little_Caesars Five_Guys In-N-Out Shake_Shack Gap Old_Navy Banana_Republic
Abercrombie_&_Fitch Nordstrom Bloomingdale's Saks Neiman_Marcus Kohl's Marshalls Staples Office_Depot OfficeMax Barnes_&_Noble PetSmart
Petco AutoZone Jiffy_Lube Hertz Avis Marriott Hilton Hyatt Sheraton Holiday_Inn Best_Western Ritz-Carlton Weight_Watchers H&R_Block
Century_21 RE/MAX Coldwell_Banker Zillow Trulia Redfin Yelp Foursquare Groupon OpenTable TripAdvisor Glassdoor Monster CareerBuilder
ZocDoc WebMD Healthgrades Esri Mapbox Garmin TomTom CoreLogic LexisNexis Dun_&_Bradstreet Experian Equifax TransUnion Morningstar
Moody's FactSet Thomson_Reuters Wolters_Kluwer Nielsen Acxiom Gartner Forrester McGraw-Hill Pearson Elsevier Booz_Allen_Hamilton
SAIC Leidos Bechtel Fluor Halliburton Schlumberger ConocoPhillips Occidental Duke_Energy Exelon Pfizer Lilly AbbVie Amgen Gilead Biogen
Kaiser_Permanente Aetna Cigna Humana Anthem UnitedHealth Blue_Cross State_Farm Allstate GEICO Progressive Nationwide Liberty_Mutual
Farmers MetLife Prudential AIG Aflac New_York_Life Charles_Schwab E*Trade Robinhood Coinbase LendingClub Kickstarter Etsy Wayfair
Chewy Zappos Overstock Instacart DoorDash Grubhub Deliveroo Lime Bird Waymo SpaceX Rivian Lucid Nikola BYD Geely Mahindra Reliance
Airtel Flipkart Paytm Zomato Swiggy Ola Grab Gojek Tokopedia Shopee Lazada Rakuten Softbank Docomo KDDI Mitsubishi Mitsui Sumitomo
Itochu Marubeni Nomura Mizuho Kirin Asahi Suntory Shiseido Uniqlo Muji Hanwha Posco Lotte Naver Kakao Hynix Petrobras Vale Itaú
Bradesco Embraer Cemex Bimbo Televisa Telcel Falabella Rappi Mercado_Libre Sberbank Yandex Lukoil Rosneft Aeroflot Turkcell Koç_Holding
Vestel Arçelik Saudi_Aramco Emaar Etihad Qatar_Airways MTN Safaricom Dangote Eskom Sasol Shoprite Naspers ABSA Woolworths Coles Telstra
Westpac Commonwealth_Bank ANZ Macquarie Rio_Tinto BHP Fonterra Air_New_Zealand Bombardier Shopify Tim_Hortons Loblaws Rogers Scotiabank
Maersk Lego Carlsberg Novo_Nordisk Vestas Equinor Telenor DNB Statkraft Kone Wärtsilä Fortum Neste Supercell Rovio Spotify Klarna H&M
Electrolux Scania Saab Atlas_Copco SKF Sandvik Skanska Ericsson ABB Nestlé Novartis Swatch Rolex Swisscom Zurich_Insurance Allianz Munich_Re
BASF Henkel Beiersdorf Continental Thyssenkrupp Lufthansa Metro Edeka Rewe Otto Zalando N26 Telefonica Iberia Repsol BBVA Inditex Mango
Eni Enel Generali UniCredit Intesa_Sanpaolo Barilla Lavazza Luxottica Pirelli Leonardo TotalEnergies Michelin Danone L'Oréal LVMH Hermès
Cartier Kering Sodexo Auchan Decathlon Bouygues Vinci Thales Dassault Safran Veolia Engie Heineken Philips ASML Booking Ahold Delhaize
Proximus KBC Solvay UCB AB_InBev CD_Projekt Orlen Allegro PKO_Bank Škoda ČEZ Avast MOL OTP_Bank Richter Gedeon Atlassian Cloudflare Fastly Akamai Palantir Snowflake Databricks MongoDB Elastic Splunk Twilio Zendesk HubSpot Mailchimp""")

SUFFIX = """Ltd,Ltd.,Limited,Inc,Inc.,Corp,Corp.,Corporation,LLC,PLC,LLP,Co.,& Co.,Group,Holdings,Partners,Associates,Company,and Sons,& Sons,
GmbH,GmbH & Co. KG,AG,KG,e.K.,e.V.,OG,SE,OHG,UG,S.A.,SA,SARL,SAS,S.p.A.,SPA,S.r.l.,SRL,e figli,S.L.,S.L.U.,S.L.L.,S.Coop.,S.Com.,y asociados,e associati,et Associés,& Partner,& Partners,& Co. OHG,v.o.s.,spol. s r.o.,k.s.,Hermanos,Ltda.,Lda.,B.V.,N.V.,AB,HB,A/S,ApS,AS,ASA,Oy,Oyj,
Ab,Sp. z o.o.,S.A.,s.r.o.,a.s.,Kft.,Zrt.,Bt.,d.o.o.,d.d.,EOOD,A.Ş.,Ltd. Şti.,Pvt. Ltd.,Pty Ltd,Sdn Bhd,K.K.,Pte. Ltd.,et Fils,Frères""".replace(
    "\n", ""
).split(",")
FIELD = """Foods Travel Security Energy Bank Logistics Systems Software Airlines Motors Labs Media Insurance Consulting Health Pharma Robotics
Studios Electronics Construction Technologies Solutions Industries Enterprises Services Capital Ventures Financial Investments Properties
Realty Design Marketing Advertising Communications Networks Interactive Digital Analytics Biotech Medical Dental Pharmaceuticals Chemicals
Steel Mining Oil Gas Power Solar Water Foundation Trust Institute International Global Worldwide Brothers Records Entertainment Pictures
Publishing Press Books Games Sports Fitness Apparel Furniture Homes Builders Architects Engineering Manufacturing Packaging Trading Imports
Exports Shipping Freight Transport Railways Airways Hotels Resorts Restaurants Catering Bakery Brewing Wines Coffee Farms Agriculture
Seeds Law Legal Staffing Recruiting Education Learning Academy Research Data Cloud Semiconductors Telecom Mobile Wireless""".split()
HEAD = """Acme Northwind Globex Initech Contoso Umbrella Green_Leaf Blue_Wave Oakwood Fast_Ship Sunrise Ironclad Bright_Side Silver_Line
Red_Stone Cloud_Nine Riverbank Skyline Bluebird Evergreen Summit Harbor Maple Pioneer Quantum Nova Vertex Apex Delta Orion Atlas Zenith
Falcon Granite Lighthouse Meadow Crystal Keystone Tiger Horizon Beacon Cobalt Ember Willow Phoenix Anchor Polar Coral Nimbus First
National Pacific Atlantic Western Eastern Northern Southern Central United Allied General Global Premier Royal Imperial Liberty Eagle
Golden Diamond Sterling Heritage Legacy Frontier Patriot Cascade Rainier Sierra Alpine Nordic Baltic Aurora Stellar Lunar Solaris Helix
Vector Matrix Cipher Pixel Nexus Fusion Catalyst Momentum Velocity Pulse Spark Ignite Echo Wave Prism Mosaic Canvas Compass Bridge""".replace(
    "\n", " "
).split()
HEAD = [w.replace("_", " ") for w in HEAD]
MADE_START = "Ac Ad Al Am Ar As Av Be Bio Ca Ce Co Cy Da De Di Ec El En Ep Eu Ex Fi Ge Hy In Iq Ju Ka Ki Le Lu Ma Me Mi Mo Ne No Ny Om Op Or Pa Pe Po Pro Qua Re Sa Se Si So Sy Te Tri Ul Ve Vi Xe Ya Ze Zy".split()
MADE_END = "ntis xis lis ra via tech soft data net ware gen nova dyn tron corp lytics wise point link path logic max plex tria nta vex zon rix sys mark scape nomics metrics vera cent rion tera flux ology ify ly io sense works hub stack lab".split()
INSTITUTION = """University of {C};{C} University;{C} State University;{C} College;{C} Institute of Technology;{C} High School;{C} Primary School;
{C} General Hospital;{C} Hospital;St. {F} Hospital;{C} Medical Center;{L} Memorial Hospital;{C} Clinic;Bank of {C};{C} Savings Bank;
Banco de {C};Universidad de {C};Université de {C};Universität {C};Technische Universität {C};Università di {C};{C} City Council;
City of {C};{C} Police Department;{C} Fire Department;{C} Public Library;{C} Museum of Art;Museum of {C};{C} Symphony Orchestra;
{C} Chamber of Commerce;Ministry of Health;Ministry of Finance;Ministry of Education;Department of Education;Department of Labor;
{C} Court of Appeals;{C} Times;The {C} Herald;The {C} Post;{C} Gazette;{C} FC;FC {C};{C} United;{C} City;{C} Rovers;{C} Athletic;
{C} Tigers;{C} Eagles;{C} Bulls;{C} Airlines;Air {C};{C} Airport Authority;{C} Housing Association;{C} Credit Union;{L} Foundation;
{L} Family Trust;The {L} Institute;{L} College;{L} School of Business;{C} Children's Hospital;Church of St. {F};{C} Cathedral School;
Institute for {W} Research;Center for {W} Studies;National {W} Association;American {W} Society;European {W} Agency;World {W} Organization;
International {W} Council;{W} Workers Union;Association of {W} Engineers;{C} Philharmonic;Royal {W} Society;{C} Zoo;{C} Transit Authority""".replace(
    "\n", ""
).split(";")
TOPIC = "Health Energy Climate Cancer Policy Space Security Trade Farming Labor Housing Science Education Heart Ocean Media Data Language History Economic Nuclear Marine Food Water Aviation Chemical Medical Legal Bar Music Film Football Cycling Chess".split()
PLAIN = "Legal Aid Society,Human Resources,Customer Service,Board of Directors".split(",")
