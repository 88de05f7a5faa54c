"""Cities, countries, regions and streets, from general knowledge; towns that nobody has listed are made from the parts
that names of towns have."""


def _split(text):
    return [w.replace("_", " ") for w in text.split()]


CITIES = _split("""London Paris Berlin Madrid Rome Boston Chicago Denver Seattle Austin Toronto Sydney Tokyo Osaka Lagos Nairobi
Cairo Mumbai Delhi Lima Oslo Vienna Prague Warsaw Dublin Lisbon Zurich Geneva Milan Athens New_York Los_Angeles San_Francisco
San_Diego San_Antonio San_Jose Houston Phoenix Philadelphia Dallas Jacksonville Columbus Charlotte Indianapolis Detroit Memphis
Nashville Portland Oklahoma_City Las_Vegas Louisville Baltimore Milwaukee Albuquerque Tucson Fresno Sacramento Kansas_City Mesa
Atlanta Omaha Colorado_Springs Raleigh Miami Oakland Minneapolis Tulsa Cleveland Wichita Arlington New_Orleans Bakersfield Tampa
Honolulu Aurora Anaheim Santa_Ana St._Louis Riverside Corpus_Christi Pittsburgh Lexington Anchorage Stockton Cincinnati
Saint_Paul Toledo Newark Greensboro Plano Lincoln Buffalo Fort_Wayne Jersey_City Chula_Vista Orlando Norfolk Chandler Laredo
Madison Durham Lubbock Winston-Salem Garland Glendale Hialeah Reno Baton_Rouge Irvine Chesapeake Scottsdale Fremont Gilbert
Boise Rochester Richmond Spokane Des_Moines Montgomery Modesto Fayetteville Tacoma Shreveport Akron Aurora Yonkers Augusta
Mobile Little_Rock Amarillo Huntsville Grand_Rapids Salt_Lake_City Tallahassee Worcester Knoxville Providence Brownsville
Santa_Clarita Chattanooga Fort_Lauderdale Tempe Cape_Coral Eugene Peoria Salem Cary Springfield Fort_Collins Jackson Hayward
Lakewood Pomona Escondido Pasadena Naperville Bellevue Joliet Bridgeport Savannah Killeen Syracuse Dayton Hollywood Waco
Birmingham Manchester Leeds Liverpool Bristol Sheffield Cardiff Glasgow Edinburgh Belfast York Bath Oxford Cambridge Norwich
Exeter Derby Hull Swansea Leicester Coventry Nottingham Newcastle Sunderland Brighton Plymouth Southampton Portsmouth Reading
Wolverhampton Stoke-on-Trent Aberdeen Dundee Inverness Canterbury Winchester Lincoln Chester Durham Carlisle Lancaster
Ipswich Luton Swindon Bournemouth Middlesbrough Blackpool Bolton Stockport Croydon Wimbledon Camden Hackney Cork Galway Limerick
Waterford Kilkenny Sligo Montreal Vancouver Calgary Ottawa Edmonton Winnipeg Quebec Hamilton Halifax Victoria Saskatoon Regina
Mississauga Kitchener Moncton Fredericton Melbourne Brisbane Perth Adelaide Hobart Darwin Canberra Cairns Geelong Ballarat
Newcastle Wollongong Auckland Wellington Christchurch Dunedin Rotorua Tauranga Hamilton Hamburg Munich München Cologne Köln
Frankfurt Stuttgart Leipzig Dresden Bremen Kiel Mainz Ulm Erfurt Bonn Düsseldorf Dortmund Essen Hannover Nuremberg Nürnberg
Duisburg Bochum Wuppertal Bielefeld Münster Karlsruhe Mannheim Augsburg Wiesbaden Aachen Freiburg Lübeck Rostock Kassel
Potsdam Göttingen Heidelberg Regensburg Würzburg Jena Trier Konstanz Basel Bern Lausanne Lucerne Luzern Winterthur St._Gallen
Lugano Salzburg Graz Linz Innsbruck Klagenfurt Bregenz Lyon Nantes Lille Bordeaux Nice Toulouse Rennes Dijon Grenoble Brest
Tours Marseille Strasbourg Montpellier Reims Le_Havre Toulon Angers Nîmes Aix-en-Provence Clermont-Ferrand Saint-Étienne Le_Mans
Amiens Limoges Metz Nancy Besançon Orléans Rouen Mulhouse Caen Perpignan Avignon Cannes Antibes La_Rochelle Poitiers Pau
Barcelona Sevilla Seville Valencia Bilbao Málaga Zaragoza Vigo Granada Murcia Toledo Palma Alicante Córdoba Valladolid Gijón
Vitoria La_Coruña Elche Oviedo Cartagena Pamplona Almería San_Sebastián Santander Burgos Salamanca Huelva Cádiz León Tarragona
Roma Milano Torino Turin Napoli Naples Bologna Firenze Florence Genova Genoa Verona Trieste Pisa Palermo Catania Bari Venice
Venezia Messina Padova Padua Brescia Parma Modena Reggio_Emilia Perugia Livorno Ravenna Cagliari Foggia Rimini Salerno Ferrara
Siena Bergamo Vicenza Trento Bolzano Lecce Como Amsterdam Utrecht Rotterdam Eindhoven Groningen Breda Delft Leiden Zwolle
The_Hague Den_Haag Haarlem Arnhem Nijmegen Tilburg Maastricht Almere Enschede Alkmaar Brussels Bruxelles Antwerp Antwerpen
Ghent Gent Bruges Liège Namur Leuven Mechelen Luxembourg Stockholm Malmö Uppsala Lund Göteborg Gothenburg Umeå Örebro Kalmar
Västerås Linköping Helsingborg Jönköping Norrköping Gävle Sundsvall Copenhagen Aarhus Odense Aalborg Esbjerg Randers Kolding
Horsens Vejle Roskilde Bergen Trondheim Stavanger Tromsø Drammen Kristiansand Bodø Ålesund Helsinki Espoo Tampere Vantaa Oulu
Turku Jyväskylä Lahti Kuopio Pori Joensuu Lappeenranta Vaasa Rovaniemi Reykjavik Akureyri Kópavogur Warszawa Kraków Krakow
Gdańsk Gdansk Poznań Łódź Lodz Wrocław Wroclaw Lublin Toruń Szczecin Bydgoszcz Katowice Białystok Gdynia Częstochowa Radom
Kielce Rzeszów Opole Olsztyn Zakopane Praha Brno Ostrava Plzeň Liberec Olomouc Pardubice Zlín Bratislava Košice Prešov Žilina
Nitra Trnava Budapest Debrecen Szeged Miskolc Pécs Győr Nyíregyháza Kecskemét Székesfehérvár Szombathely Eger Sopron Bucharest
București Cluj-Napoca Timișoara Iași Constanța Craiova Brașov Sibiu Oradea Sofia Plovdiv Varna Burgas Ruse Belgrade Beograd
Novi_Sad Niš Zagreb Split Rijeka Osijek Zadar Dubrovnik Ljubljana Maribor Celje Sarajevo Mostar Banja_Luka Tuzla Skopje Bitola
Tirana Durrës Pristina Podgorica Thessaloniki Patras Heraklion Larissa Volos Rhodes Nicosia Limassol Larnaca Valletta Moscow
Saint_Petersburg Novosibirsk Yekaterinburg Kazan Samara Omsk Rostov Ufa Krasnoyarsk Voronezh Perm Volgograd Sochi Vladivostok
Irkutsk Kaliningrad Murmansk Kyiv Kiev Kharkiv Odesa Odessa Dnipro Lviv Zaporizhzhia Poltava Chernihiv Kherson Mykolaiv Minsk
Gomel Brest Vilnius Kaunas Klaipėda Riga Daugavpils Tallinn Tartu Narva Pärnu Chisinau Tbilisi Batumi Kutaisi Yerevan Gyumri Baku
Istanbul Ankara Izmir Bursa Antalya Konya Adana Gaziantep Trabzon Kayseri Eskişehir Bodrum Jerusalem Tel_Aviv Haifa Beersheba
Ramallah Gaza Beirut Tripoli Damascus Aleppo Homs Amman Irbid Baghdad Basra Mosul Erbil Kuwait_City Riyadh Jeddah Mecca Medina
Dammam Doha Manama Abu_Dhabi Dubai Sharjah Muscat Sanaa Aden Tehran Isfahan Shiraz Mashhad Tabriz Qom Kabul Kandahar Herat
Karachi Lahore Islamabad Rawalpindi Faisalabad Multan Peshawar Quetta Bangalore Bengaluru Hyderabad Ahmedabad Chennai Kolkata
Surat Pune Jaipur Lucknow Kanpur Nagpur Indore Thane Bhopal Visakhapatnam Patna Vadodara Ghaziabad Ludhiana Agra Nashik
Faridabad Rajkot Varanasi Srinagar Amritsar Ranchi Coimbatore Kochi Mysore Chandigarh Guwahati Noida Gurgaon Goa Dhaka
Chittagong Sylhet Khulna Colombo Kandy Galle Kathmandu Pokhara Thimphu Malé Yangon Mandalay Bangkok Chiang_Mai Phuket Pattaya
Vientiane Luang_Prabang Phnom_Penh Siem_Reap Hanoi Ho_Chi_Minh_City Saigon Da_Nang Hue Haiphong Kuala_Lumpur Penang Johor_Bahru
Ipoh Malacca Jakarta Surabaya Bandung Medan Semarang Makassar Yogyakarta Denpasar Bali Manila Cebu Davao Quezon_City Baguio
Beijing Shanghai Guangzhou Shenzhen Chengdu Wuhan Xi'an Nanjing Qingdao Hong_Kong Hangzhou Chongqing Tianjin Suzhou Harbin
Dalian Shenyang Xiamen Kunming Changsha Zhengzhou Jinan Fuzhou Macau Taipei Kaohsiung Taichung Tainan Hsinchu Seoul Busan
Incheon Daegu Daejeon Gwangju Suwon Ulsan Jeju Pyongyang Yokohama Nagoya Sapporo Kobe Kyoto Fukuoka Kawasaki Saitama Hiroshima
Sendai Chiba Kitakyushu Sakai Niigata Hamamatsu Kumamoto Okayama Kagoshima Nara Nagasaki Kanazawa Matsuyama Naha Ulaanbaatar
Astana Almaty Tashkent Samarkand Bukhara Bishkek Dushanbe Ashgabat Alexandria Giza Luxor Aswan Casablanca Rabat Marrakesh Fes
Tangier Agadir Algiers Oran Constantine Tunis Sfax Sousse Benghazi Khartoum Omdurman Addis_Ababa Mombasa Kisumu Kampala Entebbe
Dar_es_Salaam Dodoma Arusha Zanzibar Kigali Bujumbura Kinshasa Lubumbashi Brazzaville Luanda Lusaka Harare Bulawayo Lilongwe
Blantyre Maputo Antananarivo Windhoek Gaborone Johannesburg Cape_Town Durban Pretoria Port_Elizabeth Bloemfontein Soweto Abuja
Kano Ibadan Port_Harcourt Benin_City Accra Kumasi Abidjan Dakar Bamako Ouagadougou Niamey Conakry Freetown Monrovia Lomé Cotonou
Yaoundé Douala Libreville N'Djamena Mogadishu Hargeisa Djibouti Asmara Mexico_City Guadalajara Monterrey Puebla Tijuana
Cancún Mérida Oaxaca Querétaro Acapulco Veracruz Chihuahua Guatemala_City Tegucigalpa San_Salvador Managua San_José
Panama_City Havana La_Habana Santiago Kingston Port-au-Prince Santo_Domingo San_Juan Bridgetown Nassau Bogotá Medellín Cali
Barranquilla Cartagena Caracas Maracaibo Quito Guayaquil Cuenca Arequipa Cusco Trujillo La_Paz Santa_Cruz Cochabamba Sucre Asunción
Montevideo Buenos_Aires Rosario Mendoza La_Plata Tucumán Mar_del_Plata Salta Valparaíso Concepción Antofagasta São_Paulo
Rio_de_Janeiro Salvador Brasília Fortaleza Belo_Horizonte Manaus Curitiba Recife Porto_Alegre Belém Goiânia Campinas Natal
Florianópolis Porto Braga Coimbra Faro Aveiro Funchal Évora Setúbal Suva Apia Port_Moresby Honiara Nuku'alofa Ushuaia Brooklyn
Queens Manhattan Bronx Harlem Malibu Beverly_Hills Santa_Monica Palo_Alto Mountain_View Cupertino Berkeley Silicon_Valley""")

# towns by parts: (before, stem, after); an empty part may be drawn
TOWN_PREFIX = [
    "",
    "",
    "",
    "",
    "",
    "",
    "New ",
    "North ",
    "South ",
    "East ",
    "West ",
    "Lake ",
    "Port ",
    "Fort ",
    "Saint ",
    "St. ",
    "Mount ",
    "San ",
    "Santa ",
    "Bad ",
    "Los ",
    "El ",
    "Grand ",
    "Upper ",
    "Lower ",
    "Great ",
    "Little ",
    "Old ",
    "Cape ",
    "Villa ",
    "La ",
    "Le ",
    "Nova ",
    "Novy ",
    "Nowy ",
    "Nagy",
    "Kis",
    "Stara ",
    "Ober",
    "Unter",
    "Nieder",
    "Gross",
    "Monte ",
    "Castel ",
    "Punta ",
]
TOWN_STEM = _split("""Ash Barr Bel Birch Brad Bridge Brook Burn Carl Cedar Clare Cliff Crest Dal Dun Elm Fair Falk Glen Graf Green
Hart Haver Holm Karl Kirch Lang Lind Mar Mill Mont Nord Oak Oster Penn Pine Ray Reck Riv Rock Rosen Sand Schön Shel Silver Stein
Storm Sund Thorn Tor Ulle Val Vest Wald Weiss Welling Whit Wind Zell Ås Öst Kouv Haa Kem Lapp Rau Sav Vaas Jär Tapol Szent Balat
Gyön Kecske Vár Haj Bor Kras Lip Mal Nov Pod Rud Sob Tar Ustr Zab Žel Kam Hrad Pla Beau Cham Font Mar Pont Roch Vern Ville Alb
Cas Ferr Mont Pal Roc Tor Vill Agu Cab Gran Her Llan Aber Caer Kil Bally Inver Dom Kar Bog Ayd Kır Yeni Ras Ain Oum Sidi Beni
Kawa Ishi Naka Hon Naga Chi Guang Jiang Wu Ban Chai Nakhon Kuala Batu Ujung Mbe Kasa Owe Iba Ado Nai Tsh Kwa Um Wai Roto Tau Para""")
TOWN_SUFFIX = _split("""ton ville burg berg ford field wood land dale port mouth stead ham wich by thorpe worth bury minster haven view
heim hausen dorf stadt furt bach au ingen felden rode see stedt torp vik ås holm sund bo hult köping näs ey sø rup lev borg strup
järvi koski mäki la lampi niemi salo vaara saari valla szeg vár háza hely falu kút ic ice ov ová any owo owice ów sk sko gród no
nica vice court mont val lieu ac ay elles court ella ello ara ina ona eto ano osa ejo illa era edo ales oyo eda eira inha ões
rød løse lund bjerg sted vang holt bæk borre skov lev ager fjord nes berget mo dal stad sjø vatn bygd kyrka sala köping tuna
ach berg brunn kirchen zell feld markt wang ried bichl ikon dorf wil iswil kon nach stein egg ingen ikofen rath scheid beuren stetten leben
itz ow in litz nitz roda walde kuppe au hausen weiler enberg tal münde gny ny sur-Loire -sur-Mer igny ac ez an osc uy oux euil ières ay on
ago ano asco ate engo igo one ota olo ella ino ugno ezza aro ente etti osto ate ete umo ejos uela osa uelos acín ueña ite uecos
kilis dere tepe pınar ören bad abad pur nagar garh patnam ganj halli wara mura yama saki hara zawa shima gawa buri thani dong won ju jin shan
zhou hai cheng du tan long phong an kota rejo sari jaya nga bu kwe ra toa nui pai mea""")

COUNTRIES = _split("""Afghanistan Albania Algeria Andorra Angola Argentina Armenia Australia Austria Azerbaijan Bahamas Bahrain Bangladesh
Barbados Belarus Belgium Belize Benin Bhutan Bolivia Bosnia Botswana Brazil Brunei Bulgaria Burundi Cambodia Cameroon Canada
Chad Chile China Colombia Comoros Congo Croatia Cuba Cyprus Czechia Denmark Djibouti Dominica Ecuador Egypt Eritrea Estonia
Eswatini Ethiopia Fiji Finland France Gabon Gambia Georgia Germany Ghana Greece Grenada Guatemala Guinea Guyana Haiti Honduras
Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Jamaica Japan Jordan Kazakhstan Kenya Kiribati Kosovo Kuwait
Kyrgyzstan Laos Latvia Lebanon Lesotho Liberia Libya Liechtenstein Lithuania Luxembourg Madagascar Malawi Malaysia Maldives Mali
Malta Mauritania Mauritius Mexico Micronesia Moldova Monaco Mongolia Montenegro Morocco Mozambique Myanmar Namibia Nauru Nepal
Netherlands New_Zealand Nicaragua Niger Nigeria North_Korea North_Macedonia Norway Oman Pakistan Palau Palestine Panama
Papua_New_Guinea Paraguay Peru Philippines Poland Portugal Qatar Romania Russia Rwanda Samoa San_Marino Saudi_Arabia Senegal
Serbia Seychelles Sierra_Leone Singapore Slovakia Slovenia Solomon_Islands Somalia South_Africa South_Korea South_Sudan Spain
Sri_Lanka Sudan Suriname Sweden Switzerland Syria Taiwan Tajikistan Tanzania Thailand Togo Tonga Trinidad_and_Tobago Tunisia
Turkey Turkmenistan Tuvalu Uganda Ukraine United_Arab_Emirates United_Kingdom United_States Uruguay Uzbekistan Vanuatu
Vatican_City Venezuela Vietnam Yemen Zambia Zimbabwe England Scotland Wales Northern_Ireland Britain Great_Britain USA UK U.S. US
U.S.A. UAE America Holland Burma Korea Côte_d'Ivoire Ivory_Coast Burkina_Faso Cabo_Verde Cape_Verde Costa_Rica El_Salvador
Dominican_Republic Czech_Republic Central_African_Republic Equatorial_Guinea Guinea-Bissau Timor-Leste Puerto_Rico Greenland
Faroe_Islands Gibraltar Bermuda Aruba Curaçao Martinique Guadeloupe Réunion Hong_Kong Macau Saint_Lucia Saint_Kitts_and_Nevis
Antigua_and_Barbuda Bosnia_and_Herzegovina São_Tomé_and_Príncipe Marshall_Islands American_Samoa Cayman_Islands Isle_of_Man
Jersey Guernsey French_Polynesia New_Caledonia Deutschland Österreich Schweiz Suisse España Italia Brasil México Polska Suomi
Sverige Norge Danmark Nederland België Belgique Türkiye Україна Россия Ελλάδα""")
REGIONS = _split("""Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Georgia Hawaii Idaho Illinois Indiana Iowa
Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada
New_Hampshire New_Jersey New_Mexico New_York North_Carolina North_Dakota Ohio Oklahoma Oregon Pennsylvania Rhode_Island
South_Carolina South_Dakota Tennessee Texas Utah Vermont Virginia Washington West_Virginia Wisconsin Wyoming Washington_D.C.
Ontario Quebec British_Columbia Alberta Manitoba Saskatchewan Nova_Scotia New_Brunswick Newfoundland Yukon Nunavut Queensland
Victoria New_South_Wales Tasmania Northern_Territory Western_Australia South_Australia Bavaria Bayern Saxony Hesse Thuringia
Brandenburg Rhineland Westphalia Catalonia Andalusia Galicia Basque_Country Tuscany Sicily Lombardy Sardinia Piedmont Calabria
Provence Brittany Normandy Alsace Burgundy Corsica Aquitaine Flanders Wallonia Zeeland Friesland Brabant Lapland Skåne Jutland
Silesia Mazovia Bohemia Moravia Transylvania Dalmatia Crimea Donbas Siberia Chechnya Dagestan Kashmir Punjab Kerala Gujarat
Maharashtra Karnataka Tamil_Nadu Rajasthan Bihar Assam Odisha Bengal Uttar_Pradesh Sindh Balochistan Guangdong Sichuan Yunnan
Xinjiang Tibet Hokkaido Okinawa Kansai Sumatra Java Borneo Sulawesi Luzon Mindanao Kurdistan Anatolia Cappadocia Jalisco Yucatán
Chiapas Patagonia Bahia Minas_Gerais Antioquia Kent Essex Sussex Surrey Devon Cornwall Yorkshire Lancashire Cheshire Norfolk
Suffolk Somerset Dorset Cumbria Northumberland Hampshire Oxfordshire Leinster Munster Connacht Ulster Highlands Gauteng KwaZulu-Natal
Europe Asia Africa South_America North_America Latin_America Middle_East Scandinavia Balkans Caucasus Caribbean Southeast_Asia
West_Africa East_Africa Oceania Mediterranean Silicon_Valley Midwest New_England West_Bank Gaza_Strip""")
STATE_CODES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY BC ON QC NSW VIC QLD".split()

NATURE = [
    s.strip()
    for s in """the {X} River, {X} Lake, Lake {X}, Mount {X}, the {X} Valley, {X} Bay, {X} Island, {X} Beach, {X} County,
{X} Park, {X} National Park, {X} Airport, {X} Station, {X} Bridge, {X} Stadium, {X} Square, {X} Hills, {X} Heights, {X} Castle,
{X} Cathedral, the {X} Museum, {X} Harbour, {X} Forest, {X} Falls, {X} Canyon, {X} Desert, {X} Peninsula, Port {X}, Fort {X}, Cape {X}""".replace(
        "\n", " "
    ).split(",")
]
LANDMARKS = _split("""Times_Square Central_Park Wall_Street Golden_Gate_Bridge Eiffel_Tower Big_Ben Buckingham_Palace Hyde_Park Trafalgar_Square
Heathrow Gatwick JFK LAX Champs-Élysées Louvre Notre-Dame Colosseum Vatican Red_Square Kremlin Taj_Mahal Mount_Everest Kilimanjaro
Grand_Canyon Yellowstone Yosemite Niagara_Falls Amazon Sahara Alps Andes Himalayas Rocky_Mountains Rhine Danube Thames Seine Nile
Mississippi Hudson Pacific Atlantic Mediterranean_Sea Baltic_Sea North_Sea Black_Sea Lake_Michigan Loch_Ness Bondi_Beach
Copacabana Waikiki Hollywood_Boulevard Sunset_Strip Alcatraz Ellis_Island White_House Pentagon Capitol_Hill Downing_Street
Disneyland Disney_World Universal_Studios Six_Flags Legoland Epcot Magic_Kingdom Sea_World Knott's_Berry_Farm Busch_Gardens Coney_Island
Madison_Square_Garden Wembley_Stadium Wembley Old_Trafford Anfield Camp_Nou Allianz_Arena Maracanã Fenway_Park Wrigley_Field Yankee_Stadium
Staples_Center Lambeau_Field Twickenham Wimbledon Lord's Silverstone Monza Augusta_National Radio_City_Music_Hall Carnegie_Hall Broadway
West_End Covent_Garden Soho Piccadilly_Circus Oxford_Street Notting_Hill Shoreditch Brixton Canary_Wharf Tower_Bridge London_Bridge
Westminster Westminster_Abbey Stonehenge Windsor_Castle Balmoral Loch_Lomond Ben_Nevis Snowdonia Lake_District Peak_District Giant's_Causeway
Empire_State_Building Statue_of_Liberty Rockefeller_Center One_World_Trade_Center Twin_Towers Ground_Zero Grand_Central Penn_Station
Union_Station Union_Square Herald_Square Fifth_Avenue Madison_Avenue Greenwich_Village Lower_East_Side Upper_West_Side Staten_Island
Long_Island Brooklyn_Bridge Lincoln_Center Lincoln_Memorial Arlington_Cemetery Camp_David Guantanamo Area_51 Mount_Rushmore Mount_Rainier
Mount_St._Helens Hoover_Dam Death_Valley Monument_Valley Zion Joshua_Tree Glacier_National_Park Everglades Key_West Martha's_Vineyard
Cape_Cod Napa_Valley Big_Sur Venice_Beach Santa_Monica_Pier Rodeo_Drive Beverly_Hills Bel_Air Bay_Area Golden_Gate Fisherman's_Wharf
Great_Lakes Lake_Superior Lake_Erie Lake_Tahoe Great_Salt_Lake Colorado_River Rio_Grande Missouri_River Ohio_River Potomac
Brandenburg_Gate Checkpoint_Charlie Reichstag Alexanderplatz Black_Forest Neuschwanstein Zugspitze Matterhorn Mont_Blanc Jungfrau
Lake_Geneva Lake_Como Lake_Garda Bodensee Dolomites Vesuvius Etna Pompeii Ponte_Vecchio Trevi_Fountain St._Peter's_Square Sistine_Chapel
La_Scala Uffizi Versailles Arc_de_Triomphe Montmartre Sacré-Cœur Centre_Pompidou Gare_du_Nord Charles_de_Gaulle Orly Côte_d'Azur
Sagrada_Família Alhambra Prado Plaza_Mayor Las_Ramblas Camino_de_Santiago Pyrenees Tagus Douro Ebro Guadalquivir Po Tiber Arno Rhône
Loire Garonne Elbe Oder Weser Main Neckar Mosel Spree Vistula Volga Dnieper Don Ural Urals Lake_Baikal Bosphorus Hagia_Sophia
Topkapı_Palace Acropolis Parthenon Mount_Olympus Dead_Sea Red_Sea Sinai Temple_Mount Western_Wall Mecca Kaaba Pyramids_of_Giza Suez_Canal
Persian_Gulf Strait_of_Hormuz Burj_Khalifa Euphrates Tigris Indus Ganges Brahmaputra Himalaya K2 Annapurna Angkor_Wat Mekong Yangtze
Yellow_River Great_Wall Great_Wall_of_China Forbidden_City Tiananmen_Square Mount_Fuji Shibuya Akihabara Ginza Shinjuku Marina_Bay_Sands
Great_Barrier_Reef Uluru Ayers_Rock Sydney_Opera_House Harbour_Bridge Milford_Sound Lake_Victoria Victoria_Falls Serengeti Kruger_Park
Table_Mountain Cape_of_Good_Hope Robben_Island Sahel Kalahari Zambezi Congo_River Machu_Picchu Amazon_River Atacama Galápagos
Easter_Island Tierra_del_Fuego Christ_the_Redeemer Iguazu_Falls Panama_Canal Chichén_Itzá Popocatépetl Atlantic_Ocean Pacific_Ocean
Indian_Ocean Arctic Antarctica Arctic_Ocean Gulf_of_Mexico English_Channel Irish_Sea Bering_Strait South_China_Sea Bay_of_Bengal""")
# As people say and write them in posts.
INFORMAL = _split("""NYC LA SF DC Philly Vegas Nola ATL Chi-Town Cali SoCal NorCal Jersey Compton Bronx Queens Harlem Brooklyn Manhattan Earth Mars Hollywood Bollywood
the_States the_UK the_US the_USA the_Bay the_Valley the_South Down_Under Frisco Beantown Big_Apple Sin_City Motown Tinseltown Windy_City West_Coast
East_Coast Deep_South Far_East Near_East Third_World Eurozone Rust_Belt Bible_Belt Gulf_Coast Wild_West North_Pole South_Pole Mancunia Brum Auld_Reekie Joburg
Cape Oz Aussie_land KL HK CDMX BA Rio Sampa Bombay Madras Calcutta Bangalore Saigon Peking Constantinople Persia Siam Ceylon Rhodesia Yugoslavia USSR
Soviet_Union Czechoslovakia East_Germany West_Germany Prussia Bohemia Mesopotamia Gotham Wakanda Narnia Westeros Hogwarts Atlantis Springfield""")

# The words for a street that the United States Postal Service knows (Publication 28, appendix C1).
USPS = """Alley Annex Arcade Avenue Bayou Beach Bend Bluff Bottom Boulevard Branch Bridge Brook Brooks Burg Bypass Camp Canyon Cape
Causeway Center Centers Circle Circles Cliff Cliffs Club Common Commons Corner Corners Course Court Courts Cove Coves Creek Crescent Crest
Crossing Crossroad Curve Dale Dam Divide Drive Drives Estate Estates Expressway Extension Extensions Fall Falls Ferry Field Fields Flat
Flats Ford Fords Forest Forge Forges Fork Forks Fort Freeway Garden Gardens Gateway Glen Glens Green Greens Grove Groves Harbor Harbors
Haven Heights Highway Hill Hills Hollow Inlet Island Islands Isle Junction Junctions Key Keys Knoll Knolls Lake Lakes Land Landing Lane
Light Lights Loaf Lock Locks Lodge Loop Mall Manor Manors Meadow Meadows Mews Mill Mills Mission Motorway Mount Mountain Mountains Neck
Orchard Oval Overpass Park Parks Parkway Parkways Pass Passage Path Pike Pine Pines Place Plain Plains Plaza Point Points Port Ports
Prairie Radial Ramp Ranch Rapid Rapids Rest Ridge Ridges River Road Roads Route Row Rue Run Shoal Shoals Shore Shores Skyway Spring
Springs Spur Square Squares Station Stravenue Stream Street Streets Summit Terrace Throughway Trace Track Trafficway Trail Trailer Tunnel
Turnpike Underpass Union Unions Valley Valleys Via Viaduct View Views Village Villages Ville Vista Walk Walks Wall Way Ways Well
Wells""".split()

STREET = {  # {X}: a name
    "english": [
        "{X} Street",
        "{X} St",
        "{X} St.",
        "{X} Road",
        "{X} Rd",
        "{X} Avenue",
        "{X} Ave",
        "{X} Lane",
        "{X} Drive",
        "{X} Dr",
        "{X} Boulevard",
        "{X} Blvd",
        "{X} Court",
        "{X} Way",
        "{X} Place",
        "{X} Close",
        "{X} Crescent",
        "{X} Terrace",
        "{X} Square",
    ],
    "usps": ["{X} " + word for word in USPS]
    + ["Old {X} Road", "North {X} Street", "{X} Avenue West", "S {X} St", "County Road {X}"],
    "german": [
        "{X}straße",
        "{X}strasse",
        "{X}weg",
        "{X}gasse",
        "{X}platz",
        "{X}allee",
        "Am {X}",
        "An der {X}",
        "{X}str.",
        "{X}ring",
        "{X} Gürtel",
        "{X}ufer",
        "{X}damm",
        "{X}steig",
        "{X}hof",
        "{X}zeile",
        "Auf der {X}",
        "Im {X}",
        "Zum {X}",
        "{X}er Straße",
        "{X}er Weg",
        "{X}graben",
    ],
    "french": [
        "rue {X}",
        "rue de {X}",
        "impasse {X}",
        "Impasse des {X}",
        "cours {X}",
        "Montée {X}",
        "route de {X}",
        "sentier {X}",
        "passage {X}",
        "Cité {X}",
        "avenue {X}",
        "boulevard {X}",
        "place {X}",
        "chemin de {X}",
        "allée {X}",
        "Rue {X}",
        "Quai {X}",
    ],
    "spanish": [
        "Calle {X}",
        "Avenida {X}",
        "Plaza {X}",
        "Paseo {X}",
        "C/ {X}",
        "Ronda {X}",
        "Camino {X}",
        "Carrera {X}",
        "Carretera de {X}",
        "Callejón {X}",
        "Pasaje {X}",
        "Pasadizo {X}",
        "Glorieta {X}",
        "Travesía {X}",
        "Rotonda de {X}",
        "Cerrada {X}",
        "Privada {X}",
        "Calzada {X}",
        "Rúa {X}",
        "Rúa do {X}",
        "Carrer {X}",
        "Carrer de {X}",
        "Avinguda {X}",
        "Calle de los {X}",
        "Calle {X}",
        "Av. {X}",
        "Rambla {X}",
    ],
    "portuguese": [
        "Rua {X}",
        "Avenida {X}",
        "Travessa {X}",
        "Praça {X}",
        "Largo {X}",
        "Alameda {X}",
        "Beco {X}",
        "Rodovia {X}",
        "Estrada {X}",
        "Viaduto {X}",
        "Viela {X}",
        "Ladeira {X}",
        "Av. {X}",
        "R. {X}",
        "Rua das {X}",
        "Rua do {X}",
    ],
    "italian": [
        "Via {X}",
        "Viale {X}",
        "Corso {X}",
        "Piazza {X}",
        "Largo {X}",
        "via {X}",
        "Via della {X}",
        "Strada {X}",
        "Contrada {X}",
        "Vicolo {X}",
        "Piazzale {X}",
        "Rotonda {X}",
        "Borgo {X}",
        "Salita {X}",
        "Lungomare {X}",
        "Calle {X}",
        "Località {X}",
    ],
    "dutch": [
        "{X}straat",
        "{X}laan",
        "{X}weg",
        "{X}gracht",
        "{X}plein",
        "{X}kade",
        "{X}hof",
        "{X}singel",
        "{X}dijk",
        "{X}pad",
        "{X}steeg",
        "{X}dreef",
        "{X}wegel",
        "{X}lei",
        "{X}baan",
        "{X}hof",
        "{X}markt",
        "Korte {X}straat",
        "{X} Dreef",
    ],
    "swedish": ["{X}gatan", "{X}vägen", "{X}gränd", "{X} väg"],
    "danish": ["{X}vej", "{X}gade", "{X} Allé", "{X}vænget", "{X}stræde"],
    "norwegian": [
        "{X}veien",
        "{X}gata",
        "{X} gate",
        "{X} vei",
        "{X}haugen",
        "{X}bakken",
        "{X}lia",
        "{X}svingen",
        "{X} allé",
        "{X}jordet",
    ],
    "finnish": ["{X}katu", "{X}tie", "{X}kuja", "{X}polku", "{X}nkatu"],
    "polish": [
        "ul. {X}",
        "al. {X}",
        "pl. {X}",
        "Ulica {X}",
        "os. {X}",
        "ulica {X}",
        "aleja {X}",
        "plac {X}",
    ],
    "czech": [
        "{X}",
        "ulice {X}",
        "náměstí {X}",
        "{X} ulice",
        "U {X}",
        "Pod {X}em",
        "Nad {X}em",
        "Na {X}",
        "K {X}",
        "V {X}",
        "Za {X}",
        "Ke {X}u",
        "{X}ova",
        "{X}ská",
    ],
    "hungarian": [
        "{X} utca",
        "{X} út",
        "{X} u.",
        "{X} tér",
        "{X} krt.",
        "{X} útja",
        "{X} köz",
        "{X} rkp.",
        "{X} kapu",
        "{X} körút",
        "{X} fasor",
        "{X} lejtő",
        "{X}i út",
        "{X} sor",
        "{X} sétány",
        "{X} dűlő",
    ],
    "turkish": ["{X} Sokak", "{X} Caddesi", "{X} Bulvarı", "{X} Sk."],
    "russian": ["ul. {X}", "prospekt {X}", "{X} Street", "pereulok {X}"],
    "indian": [
        "{X} Nagar",
        "{X} Marg",
        "{X} Road",
        "{X} Colony",
        "{X} Chowk",
        "{X} Circle",
        "{X} Zila",
        "{X} Ganj",
        "{X} Path",
    ],
    "indonesian": ["Jalan {X}", "Jl. {X}", "Jln. {X}", "Gang {X}", "Gg. {X}"],
    "vietnamese": ["{X} Street", "đường {X}", "phố {X}"],
    "greek": ["{X} St", "Odos {X}", "{X}ou", "Leoforos {X}", "{X} Avenue", "Plateia {X}"],
    "baltic_caucasian": [
        "{X} tee",
        "{X} puiestee",
        "{X} pr.",
        "{X} al.",
        "{X} iela",
        "{X} g.",
        "{X} tn",
        "{X} mnt",
        "{X} pst",
        "{X} Street",
        "{X} gatvė",
    ],
    "arabic": ["Rue {X}", "{X} Street", "Sharia {X}", "Avenue {X}", "Boulevard {X}"],
    "romanian": ["Strada {X}", "Str. {X}", "Bulevardul {X}"],
    "chinese": ["{X} Road", "{X} Lu", "{X} Jie", "{X} Avenue"],
    "japanese": ["{X}-dori", "{X}-cho", "{X}-machi", "{X}"],
    "west_african": ["{X} Street", "{X} Close", "{X} Crescent"],
    "icelandic": ["{X}gata", "{X}vegur", "{X}braut"],
    "south_slavic": ["ul. {X}", "ulica {X}", "trg {X}", "{X}a"],
}
STREET_NAMES = {
    "english": "Main High Oak Maple Elm Cedar Pine Park Church Station Mill Victoria Queen King Chestnut Walnut Willow Lake River Hill School Washington Lincoln Jefferson Franklin Spruce Birch Highland Sunset Spring Meadow Orchard Manor Abbey Castle".split(),
    "german": "Haupt Bahnhof Garten Schul Linden Dorf Berg Goethe Schiller Kirch Wald Mozart Beethoven Bismarck Feld Blumen Rosen Post Markt Brunnen Sonnen Industrie".split(),
    "french": "Victor Hugo,Pasteur,la République,la Paix,Voltaire,Gambetta,la Gare,l'Église,Jean Jaurès,Verdun,la Liberté,Foch,Moulin,Lilas".split(
        ","
    ),
    "spanish": "Mayor,Real,del Sol,de la Constitución,San Juan,Cervantes,Goya,Libertad,Bolívar,San Martín,Reforma,Hidalgo,Juárez,Nueva".split(
        ","
    ),
}
