/* The lists of words, by what they announce or are. A plus joins a word with the one that must stand
 * before it. A list of months or weekdays counts its places, so a place without a word is an x. */
#include "privacy/words/lexicon_words.h"

#include "privacy/words/lexicon.h"

/* clang-format off */
#define CONTEXT(kind, words) {0, kind, words}
#define ROLE(roles, words) {roles, CONTEXT_NONE, words}
#define BOTH(roles, kind, words) {roles, kind, words}

const struct lexicon_list lexicon_lists[] = {
    CONTEXT(PRIVACY_PHONE,
        "phone phones telephone telephon tel mobile cell cellphone fax call calling called whatsapp text hotline dial "
        "telefon telefonnummer handy handynummer mobil mobilnummer rufnummer t\xc3\xa9l\xc3\xa9phone portable "
        "tel\xc3\xa9" "fono telefono m\xc3\xb3vil celular cellulare telem\xc3\xb3vel telefone telefoon puhelin "
        "puhelinnumero telefonn\xc3\xad nummer+ring anruf sms ph landline contact+number voicemail pager reach+me "
        "my+number caller+id caller+said reached+at reached+on reach+on reachable nomor puh mob "
        "phonenumber mobilenumber cellphonenumber ring callback caller contact contacto contatto contato kontakt his+number her+number "
        "telefoonnummer mobiel mobiele gsm natel bel bellen tlf telefonnr telefonnumret mobilnumret "
        "telefonu telefonem llame ll\xc3\xa1mame llamar fijo il+numero al+numero chiami chiamare "
        "chiamami fisso appeler appelez joindre joignable ligue ligar zap zadzwo\xc5\x84 kom\xc3\xb3rka "
        "kom\xc3\xb3rkowy durchwahl erreichbar r\xc3\xbc" "ckruf anrufen"),
    CONTEXT(PRIVACY_EMAIL, "email emails e-mail mail mailto emailed mailed inbox correo courriel mel e-mailadresse mailadresse "
        "write+me contact+me"),
    CONTEXT(PRIVACY_CARD, "card cards creditcard kreditkarte kartennummer visa mastercard amex maestro carte tarjeta carta "
        "cart\xc3\xa3o"),
    CONTEXT(PRIVACY_US_SSN, "ssn ssns social+security soc+sec"),
    CONTEXT(PRIVACY_US_ITIN, "itin taxpayer+identification individual+taxpayer"),
    CONTEXT(PRIVACY_US_PASSPORT, "passport passports passeport pasaporte passaporto reisepass reisepassnummer paspoort "
        "passi paszport passaporte pasaport "
        "passportnumber passnummer passnr pass+nr pass+nummer paszportu paspoortnummer"),
    CONTEXT(PRIVACY_US_LICENSE, "driver's+license driver's+licence s+license s+licence drivers+license drivers+licence "
        "driver+license driver+licence driving+licence driving+license driving+permit dl dln license+no "
        "f\xc3\xbchrerschein f\xc3\xbchrerscheinnummer permis+de permiso+de carnet+de patente rijbewijs "
        "k\xc3\xb6rkort licencia+de "
        "driverlicense driverslicense driverlicence license+number licence+number licence+no "
        "rijbewijsnummer carta+de prawo+jazdy prawa+jazdy k\xc3\xb6rkortsnummer f\xc3\xb6rerkort "
        "ajokortti"),
    CONTEXT(PRIVACY_MEDICAL_RECORD, "mrn medical+record patient+id patient+number patient+no chart+number chart+no "
        "hospital+number patientennummer fallnummer patient+identifier "
        "umrn uhid ur+number ur+no hospital+no record+number record+no chart+id patientid health+record "
        "patientenid fall+nr aufnahmenummer patientnummer pati\xc3\xabntnummer pati\xc3\xabnt+nr "
        "journalnummer nhc historia+cl\xc3\xadnica de+dossier dossier+m\xc3\xa9" "dical "
        "num\xc3\xa9ro+patient cartella+clinica processo+cl\xc3\xadnico prontu\xc3\xa1rio de+utente "
        "numer+pacjenta"),
    CONTEXT(PRIVACY_PLATE, "plate plates license+plate number+plate licence+plate registration+plate kennzeichen "
        "autokennzeichen immatriculation matr\xc3\xad" "cula targa kenteken registration+number vehicle+registration "
        "reg+number registreringsnummer placa "
        "rego vrm registration+mark reg+no reg+plate car+registration registration+no vehicle+no "
        "vehicle+number license+tag licenseplate licenceplate nummernschild immatricul\xc3\xa9 "
        "immatricul\xc3\xa9" "e plaque targato placas rejestracyjny rejestracyjnym rejestracyjna "
        "regnummer regnr rendsz\xc3\xa1m kfz"),
    CONTEXT(PRIVACY_SWIFT, "swift bic swiftcode swift/bic"),
    CONTEXT(PRIVACY_BANK_ACCOUNT, "bank+account account+number account+no account+num acct account routing+number "
        "checking+account savings+account aba kontonummer debit+account "
        "accountnumber routingnumber accounts acc c+no c+number routing sort+code sortcode bsb ifsc "
        "transit+number transit+no konto konta kontonr bankleitzahl blz cuenta conto compte conta "
        "rekening rekeningnummer rachunek rachunku clabe bankgiro plusgiro"),
    CONTEXT(PRIVACY_CRYPTO, "wallet wallets solana phantom"),
    CONTEXT(PRIVACY_ZIP, "zip zipcode postcode postal+code post+code postleitzahl plz code+postal cap "
        "postinumero postnummer c\xc3\xb3" "digo+postal cep pincode pin+code"),
    CONTEXT(PRIVACY_ICD10, "icd icd10 icd-10"),
    CONTEXT(PRIVACY_US_MBI, "mbi medicare beneficiary"),
    CONTEXT(PRIVACY_US_NPI, "npi national+provider"),
    CONTEXT(PRIVACY_DEA, "dea"),
    CONTEXT(PRIVACY_COORDINATES, "coordinates coordinate gps latitude longitude lat lon lng koordinaten location+at "
        "coordonn\xc3\xa9" "es coordenadas coordinate+gps "
        "geotag geo geolocation"),
    CONTEXT(PRIVACY_UK_NHS, "nhs"),
    CONTEXT(PRIVACY_UK_NINO, "nino national+insurance ni+number insurance+number"),
    CONTEXT(PRIVACY_DE_TAX_ID, "steuer steuerid idnr identifikationsnummer steueridentifikationsnummer "
        "steuernummer tin"),
    CONTEXT(PRIVACY_FR_NIR, "nir insee s\xc3\xa9" "curit\xc3\xa9+sociale securite+sociale"),
    CONTEXT(PRIVACY_ES_NIF, "dni nif"),
    CONTEXT(PRIVACY_ES_NIE, "nie"),
    CONTEXT(PRIVACY_IT_FISCAL_CODE, "codice+fiscale cf"),
    CONTEXT(PRIVACY_NL_BSN, "bsn burgerservicenummer sofinummer sofi"),
    CONTEXT(PRIVACY_PL_PESEL, "pesel"),
    CONTEXT(PRIVACY_SE_PERSONNUMMER, "personnummer samordningsnummer"),
    CONTEXT(PRIVACY_FI_HETU, "hetu henkil\xc3\xb6tunnus henkilotunnus "
        "identity+code"),
    CONTEXT(PRIVACY_DK_CPR, "cpr"),
    CONTEXT(PRIVACY_NO_FNR, "f\xc3\xb8" "dselsnummer fodselsnummer personnummer d-nummer"),
    CONTEXT(PRIVACY_BE_NN, "rijksregisternummer rijksregister insz niss registre+national num\xc3\xa9ro+national"),
    CONTEXT(PRIVACY_PT_NIF, "nif contribuinte"),
    CONTEXT(PRIVACY_CH_AHV, "ahv avs ahv-nummer"),
    CONTEXT(PRIVACY_AT_SVNR, "svnr sozialversicherungsnummer versicherungsnummer"),
    CONTEXT(PRIVACY_IE_PPS, "pps ppsn"),
    CONTEXT(PRIVACY_CZ_RC, "rodn\xc3\xa9 rodne+cislo"),
    CONTEXT(PRIVACY_RO_CNP, "cnp"),
    CONTEXT(PRIVACY_BG_EGN, "egn"),
    CONTEXT(PRIVACY_HR_OIB, "oib"),
    CONTEXT(PRIVACY_EE_IK, "isikukood asmens+kodas"),
    CONTEXT(PRIVACY_GR_AMKA, "amka"),
    CONTEXT(PRIVACY_TR_TCKN, "tckn tc+kimlik kimlik"),
    CONTEXT(PRIVACY_BR_CPF, "cpf"),
    CONTEXT(PRIVACY_BR_CNPJ, "cnpj"),
    CONTEXT(PRIVACY_MX_CURP, "curp"),
    CONTEXT(PRIVACY_CL_RUT, "rut run"),
    CONTEXT(PRIVACY_AR_CUIT, "cuit cuil"),
    CONTEXT(PRIVACY_IN_AADHAAR, "aadhaar aadhar adhaar uidai uid"),
    CONTEXT(PRIVACY_IN_PAN, "pan permanent+account"),
    CONTEXT(PRIVACY_AU_TFN, "tfn tax+file"),
    CONTEXT(PRIVACY_AU_MEDICARE, "medicare"),
    CONTEXT(PRIVACY_AU_ABN, "abn business+number"),
    CONTEXT(PRIVACY_CA_SIN, "sin social+insurance nas assurance+sociale"),
    CONTEXT(PRIVACY_SG_NRIC, "nric fin"),
    CONTEXT(PRIVACY_KR_RRN, "rrn resident+registration jumin"),
    CONTEXT(PRIVACY_CN_ID, "resident+identity shenfenzheng chinese+id"),
    CONTEXT(PRIVACY_TW_ID, "taiwan+id taiwanese+id"),
    CONTEXT(PRIVACY_HK_ID, "hkid hong+kong kong+id"),
    CONTEXT(PRIVACY_JP_MY_NUMBER, "mynumber my+number individual+number"),
    CONTEXT(PRIVACY_TH_TNIN, "thai+id thai+national"),
    CONTEXT(PRIVACY_ZA_ID, "african+id rsa+id sa+id"),
    CONTEXT(PRIVACY_IL_ID, "teudat zehut israeli+id"),
    CONTEXT(PRIVACY_PIN, "pin pins pincode pinnummer geheimzahl"),
    CONTEXT(PRIVACY_CVV, "cvv cvc cvv2 cvc2 cid csc security+code kartenpr\xc3\xbc" "fnummer kartenpr\xc3\xbc" "fziffer"),
    CONTEXT(CONTEXT_PASSWORD, "password passwd passphrase passcode passwort kennwort de+passe contrase\xc3\xb1" "a contrasena senha "
        "palavra+passe parola parol\xc4\x83 wachtwoord l\xc3\xb6senord l\xc3\xb6senordet adgangskode adgangskoden kodeord "
        "passord passordet has\xc5\x82o haslo salasana heslo jelsz\xc3\xb3 lozinka"),
    CONTEXT(PRIVACY_RU_SNILS, "snils"),
    CONTEXT(PRIVACY_DE_KVNR, "kvnr krankenversichertennummer krankenversicherungsnummer versichertennummer versicherten+nr"),
    CONTEXT(PRIVACY_MX_CLABE, "clabe"),
    CONTEXT(PRIVACY_IMEI, "imei imeis"),
    CONTEXT(PRIVACY_VIN, "vin fin vehicle+identification chassis+number chassis+no fahrgestellnummer fahrgestell+nr "
        "fahrzeugidentifikationsnummer fahrzeug-identifizierungsnummer de+ch\xc3\xa2ssis de+chasis de+bastidor di+telaio "
        "numero+telaio chassinummer chassisnummer nummer+vin vin-nummer"),
    CONTEXT(CONTEXT_BIRTH, "born birth birthday birthdate dob birthplace geboren geburtsdatum geburtstag geb "
        "n\xc3\xa9 n\xc3\xa9" "e naissance nacido nacida nacimiento nato nata nascita nascido nascimento geboortedatum "
        "f\xc3\xb6" "dd syntynyt urodzony urodzona narozen "
        "dateofbirth o+b bday urodzin urodzenia f\xc3\xb6" "delsedatum f\xc3\xb8" "dselsdato "
        "f\xc3\xb8" "dt nascida"),
    CONTEXT(CONTEXT_HOME, "address addresses lives live lived living resides residence located delivered deliver ship "
        "shipping moved adresse wohnt wohnhaft anschrift direcci\xc3\xb3n "
        "indirizzo endere\xc3\xa7o adres domicile habite vive abita addressed"),
    CONTEXT(CONTEXT_HEALTH, "diagnosis diagnosed diagnoses diagnose patient disease disorder condition symptoms dx "
        "diagnostic diagnosi diagn\xc3\xb3stico illness chart billing+code "
        "assessment impression comorbidities syndrome diabetes hypertension pneumonia asthma copd "
        "carcinoma anemia anaemia depression anxiety migraine fracture infection arthritis deficiency "
        "cie cim rozpoznanie diagnoza diagnos diagnosen pati\xc3\xabnt paziente paciente pacjent doente "
        "patientin enfermedad malattia maladie"),
    CONTEXT(CONTEXT_IDENTITY, "national+id id+number id+no id+card identity+number identity+card national+identification "
        "identification+number tax+id tax+number tax+identification taxpayer+id personal+number personal+id "
        "personal+code identification+code personalausweis ausweisnummer identity "
        "citizen+id id+is national+number personal+identity"),

    ROLE(ROLE_MONTH, "january february march april may june july august september october november december"),
    ROLE(ROLE_MONTH, "januar februar m\xc3\xa4rz x x juni juli x x oktober x dezember"),
    ROLE(ROLE_MONTH, "janvier f\xc3\xa9vrier mars avril mai juin juillet ao\xc3\xbbt septembre octobre novembre d\xc3\xa9" "cembre"),
    ROLE(ROLE_MONTH, "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    ROLE(ROLE_MONTH, "gennaio febbraio x aprile maggio giugno luglio x settembre ottobre x dicembre"),
    ROLE(ROLE_MONTH, "janeiro fevereiro mar\xc3\xa7o x maio junho julho x setembro outubro novembro dezembro"),
    ROLE(ROLE_MONTH, "januari februari maart x mei x x augustus x x x x"),
    ROLE(ROLE_MONTH_SHORT, "jan feb mar apr x jun jul aug sep oct nov dec"),
    ROLE(ROLE_MONTH_SHORT, "x x mrz x x x x x sept okt x dez"),
    ROLE(ROLE_MONTH_SHORT,
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrze\xc5\x9bnia "
        "pa\xc5\xba" "dziernika listopada grudnia"),
    ROLE(ROLE_MONTH_SHORT,
        "x x marts x maj x x augusti x x x desember"),
    ROLE(ROLE_MONTH_SHORT,
        "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kes\xc3\xa4kuuta hein\xc3\xa4kuuta "
        "elokuuta syyskuuta lokakuuta marraskuuta joulukuuta"),
    ROLE(ROLE_MONTH_SHORT,
        "ledna \xc3\xbanora b\xc5\x99" "ezna dubna kv\xc4\x9btna \xc4\x8d" "ervna \xc4\x8d" "ervence "
        "srpna z\xc3\xa1\xc5\x99\xc3\xad \xc5\x99\xc3\xadjna listopadu prosince"),
    ROLE(ROLE_MONTH_SHORT,
        "ianuarie februarie martie aprilie x iunie iulie x septembrie octombrie noiembrie decembrie"),
    ROLE(ROLE_MONTH_SHORT,
        "janu\xc3\xa1r febru\xc3\xa1r m\xc3\xa1rcius \xc3\xa1prilis m\xc3\xa1jus j\xc3\xbanius "
        "j\xc3\xbalius augusztus szeptember okt\xc3\xb3" "ber x x"),
    ROLE(ROLE_MONTH_SHORT,
        "gener febrer mar\xc3\xa7 x maig juny juliol agost setembre x x desembre"),
    ROLE(ROLE_MONTH_SHORT,
        "\xd1\x8f\xd0\xbd\xd0\xb2\xd0\xb0\xd1\x80\xd1\x8f "
        "\xd1\x84\xd0\xb5\xd0\xb2\xd1\x80\xd0\xb0\xd0\xbb\xd1\x8f "
        "\xd0\xbc\xd0\xb0\xd1\x80\xd1\x82\xd0\xb0 \xd0\xb0\xd0\xbf\xd1\x80\xd0\xb5\xd0\xbb\xd1\x8f "
        "\xd0\xbc\xd0\xb0\xd1\x8f \xd0\xb8\xd1\x8e\xd0\xbd\xd1\x8f \xd0\xb8\xd1\x8e\xd0\xbb\xd1\x8f "
        "\xd0\xb0\xd0\xb2\xd0\xb3\xd1\x83\xd1\x81\xd1\x82\xd0\xb0 "
        "\xd1\x81\xd0\xb5\xd0\xbd\xd1\x82\xd1\x8f\xd0\xb1\xd1\x80\xd1\x8f "
        "\xd0\xbe\xd0\xba\xd1\x82\xd1\x8f\xd0\xb1\xd1\x80\xd1\x8f "
        "\xd0\xbd\xd0\xbe\xd1\x8f\xd0\xb1\xd1\x80\xd1\x8f "
        "\xd0\xb4\xd0\xb5\xd0\xba\xd0\xb0\xd0\xb1\xd1\x80\xd1\x8f"),
    ROLE(ROLE_MONTH_SHORT,
        "janv f\xc3\xa9vr mrt avr x giu juil x x ott x d\xc3\xa9" "c"),
    ROLE(ROLE_MONTH_SHORT,
        "ene fev x abr x x lug x x x x dic"),
    ROLE(ROLE_WEEKDAY, "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
        "fridays saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi "
        "vendredi samedi dimanche lunes martes mi\xc3\xa9rcoles jueves viernes s\xc3\xa1" "bado domingo maandag dinsdag "
        "woensdag donderdag vrijdag zaterdag zondag"),
    ROLE(ROLE_TITLE, "mr mrs ms miss mx dr prof professor rev reverend hon sir madam capt sgt lt col gen herr frau fr\xc3\xa4ulein "
        "mme mlle monsieur madame mademoiselle se\xc3\xb1or se\xc3\xb1ora se\xc3\xb1orita sr sra signor signora dott "
        "dottore dottoressa doktor mister fr sen rep gov pres dame lord lady"),

    ROLE(ROLE_STREET, "street st avenue ave road rd boulevard blvd lane ln drive dr court ct place pl square sq terrace ter "
        "parkway pkwy circle cir way trail trl highway hwy close crescent cres gardens gdns grove mews row walk plaza "
        "alley aly loop pike turnpike expressway freeway route rte crossing xing ridge run heights hts hill path pass "
        "cove quay wharf broadway esplanade promenade parade rise vale view green bend bypass causeway "
        "strasse stra\xc3\x9f" "e str weg gasse platz allee ring damm ufer straat laan plein gracht kade gatan v\xc3\xa4gen "
        "gata vei veien gade vej katu tie kuja ulica utca \xc3\xba" "t u t\xc3\xa9r sokak caddesi mah sq"),
    ROLE(ROLE_STREET_FIRST, "rue via viale vicolo piazza piazzale corso largo strada contrada calle avenida avda plaza paseo "
        "carrer camino carretera rua travessa alameda pra\xc3\xa7" "a rodovia estrada rue place quai impasse chemin "
        "all\xc3\xa9" "e avenue boulevard route cours ulica ul aleja al osiedle strasse ronda cuesta "
        "al os pl am an im bulevar n\xc3\xa1m\xc4\x9bst\xc3\xad calea strada bd jalan jl"),
    ROLE(ROLE_STREET_RARE, "annex arcade bayou beach bluff bottom branch bridge brook brooks burg camp canyon cape center"
        " centers circles cliff cliffs club common commons corner corners course courts coves creek crest"
        " crossroad curve dale dam divide drives estate estates extension extensions fall falls ferry field"
        " fields flat flats ford fords forest forge forges fork forks fort garden gateway glen glens greens"
        " groves harbor harbors haven hills hollow inlet island islands isle junction junctions key keys"
        " knoll knolls lake lakes land landing light lights loaf lock locks lodge mall manor manors meadow"
        " meadows mill mills mission motorway mount mountain mountains neck orchard oval overpass park parks"
        " parkways passage pine pines plain plains point points port ports prairie radial ramp ranch rapid"
        " rapids rest ridges river roads rue shoal shoals shore shores skyway spring springs spur squares"
        " station stravenue stream streets summit throughway trace track trafficway trailer tunnel underpass"
        " union unions valley valleys via viaduct views village villages ville vista walks wall ways well"
        " wells"),
    ROLE(ROLE_STREET_FIRST, "impasse cit\xc3\xa9 mont\xc3\xa9" "e sentier passage pasaje pasadizo callej\xc3\xb3n glorieta traves\xc3\xad" "a rotonda cerrada"
        " privada calzada r\xc3\xba" "a avinguda rodovia beco viela ladeira viaduto borgo salita lungomare localit\xc3\xa0"
        " plac prospekt pereulok jln av gang bulevardul bulvar n\xc3\xa1m\xc4\x9bstie leoforos odos plateia retorno circuito"
        " andador"),
    ROLE(ROLE_STREET_SURE, "rue bd avenue boulevard chemin impasse quai all\xc3\xa9" "e rua avenida travessa calle carrer piazza piazzale"
        " viale vicolo corso ulica aleja plac n\xc3\xa1m\xc4\x9bst\xc3\xad ulice calea strada bulevardul jalan jl prospekt paseo"
        " callej\xc3\xb3n glorieta r\xc3\xba" "a lungomare contrada"),
    ROLE(ROLE_UNIT, "apt apartment suite ste unit room rm floor fl flat bldg building house lot trailer dept no "
        "wohnung \xc3\xa9tage appartement piso interno interior appartamento apartamento apto depto bloque bloco studio bus scala esc puerta entresuelo"),
    ROLE(ROLE_BOX, "box psc postfach apartado cmr"),
    ROLE(ROLE_STATE, "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh "
        "ok or pa ri sc sd tn tx ut vt va wa wv wi wy dc pr aa ae ap ab bc mb nb nl ns nt nu on pe qc sk yt nsw vic qld tas"),
    ROLE(ROLE_STATE | ROLE_COUNTRY, "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia "
        "hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota "
        "mississippi missouri montana nebraska nevada hampshire jersey mexico york carolina dakota ohio oklahoma oregon "
        "pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming"),
    ROLE(ROLE_COUNTRY, "afghanistan albania algeria argentina armenia australia austria azerbaijan bahrain bangladesh belarus "
        "belgium belize bolivia bosnia botswana brazil bulgaria cambodia cameroon canada chile china colombia croatia cuba "
        "cyprus czechia denmark ecuador egypt estonia ethiopia finland france georgia germany ghana greece greenland "
        "guatemala haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan "
        "kazakhstan kenya kuwait latvia lebanon libya liechtenstein lithuania luxembourg malaysia malta mexico moldova "
        "monaco mongolia montenegro morocco nepal netherlands nicaragua nigeria norway oman pakistan panama paraguay peru "
        "philippines poland portugal qatar romania russia serbia singapore slovakia slovenia spain sudan sweden "
        "switzerland syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam "
        "yemen zambia zimbabwe usa uk deutschland \xc3\xb6sterreich schweiz italia espa\xc3\xb1" "a sverige suomi norge "
        "danmark polska nederland belgi\xc3\xab belgique suisse brasil united+kingdom united+states czech+republic "
        "south+africa new+zealand saudi+arabia"),
    ROLE(ROLE_NRP, "afghan afghans albanian albanians algerian american americans angolan argentine argentinian argentinean "
        "armenian australian australians austrian austrians azerbaijani bahraini bangladeshi belarusian belgian belgians "
        "belizean bolivian bosnian botswanan brazilian brazilians british brit brits bruneian bruneians briton britons bulgarian bulgarians burmese "
        "cambodian cambodians cameroonian canadian canadians catalan chadian chechen chechens chilean chileans chinese colombian colombians "
        "congolese croat croatian croatians croats cuban cubans cypriot cypriots czech czechs dane danes danish dominican "
        "dutch dutchman ecuadorian ecuadorians ecuadorean ecuadoreans egyptian egyptians emirati english englishman eritrean estonian estonians ethiopian "
        "ethiopians filipino filipina filipinos finn finnish finns flemish french frenchman frenchwoman georgian georgians "
        "german germans ghanaian greek greeks greenlander greenlandic guatemalan guyanese haitian honduran hungarian "
        "hungarians icelander icelandic indian indians indonesian indonesians iranian iranians iraqi iraqis irish irishman "
        "israeli israelis italian italians ivorian jamaican jamaicans japanese jordanian kazakh kenyan kenyans korean "
        "koreans kurd kurdish kurds kuwaiti kyrgyz lao laotian latvian latvians lebanese liberian libyan lithuanian "
        "lithuanians luxembourger macedonian malagasy malawian malaysian malaysians maltese mauritian mexican mexicans "
        "moldovan mongolian montenegrin moroccan moroccans mozambican namibian nepalese nepali nicaraguan nigerian "
        "nigerians norwegian norwegians omani pakistani pakistanis palestinian palestinians panamanian paraguayan peruvian "
        "peruvians pole poles polish portuguese qatari romanian romanians russian russians rwandan salvadoran saudi saudis "
        "scot scots scottish senegalese serb serbian serbians serbs singaporean slovak slovakian slovaks slovene slovenes "
        "slovenian slovenians somali somalis spaniard spaniards spanish sudanese surinamese swede swedes swedish swiss "
        "syrian syrians taiwanese tajik tanzanian thai thais tibetan togolese trinidadian tunisian tunisians turk turkish "
        "turkmen turks ugandan ukrainian ukrainians uruguayan uzbek venezuelan venezuelans vietnamese welsh welshman yemeni "
        "zambian zimbabwean african africans asian asians european europeans hispanic hispanics latino latina latinos "
        "arab arabs arabian scandinavian caucasian deutscher deutsche franzose italiener"),
    ROLE(ROLE_NRP, "christian christians catholic catholics protestant protestants orthodox+christian evangelical evangelicals "
        "baptist baptists methodist methodists lutheran lutherans anglican anglicans presbyterian mormon mormons quaker "
        "quakers muslim muslims islamic sunni sunnis shia shi'a shii shiite shiites jew jews jewish hindu hindus buddhist buddhists "
        "sikh sikhs jain bahai taoist atheist atheists agnostic zoroastrian pentecostal calvinist rastafarian "
        "democrat democrats republican republicans communist communists socialist socialists libertarian marxist "
        "conservatives tory tories labour+party"),
    ROLE(ROLE_NRP, "puerto+rican puerto+ricans south+african south+africans new+zealander new+zealanders costa+rican"
        " costa+ricans sri+lankan sri+lankans saudi+arabian north+korean north+koreans south+korean"
        " south+koreans papua+guinean sierra+leonean east+timorese afro-american african+american"
        " african+americans asian+american asian+americans native+american native+americans mexican+american"
        " italian+american irish+american burkinabe burundian beninese bhutanese andorran bahamian barbadian"
        " belizian comoran dominicans equatoguinean fijian gabonese gambian grenadian guinean guineans"
        " haitians hondurans ivorians jordanians kazakhs kosovar kosovars lesothan liberians libyans"
        " liechtensteiner luxembourgish macanese malians malian maldivian marshallese mauritanian micronesian"
        " monegasque mongolians montenegrins nauruan nigerien palauan rwandans samoan sanmarinese seychellois"
        " surinamer swazi tajiks tanzanians tongan turkmens tuvaluan ugandans uruguayans uzbeks vanuatuan"
        " yemenis zambians zimbabweans paraguayans nicaraguans salvadorans panamanians ghanaians gibraltarian"
        " basque basques catalans breton bretons corsican corsicans sicilian sicilians sardinian bavarian"
        " bavarians saxon flemings walloon walloons frisian galician galicians andalusian castilian sami"
        " inuit maori maoris aboriginal cherokee navajo sioux mohawk iroquois quechua aymara mayan guarani"
        " creole cajun hawaiian hawaiians texan texans californian californians londoner parisian berliner"
        " tamil tamils bengali bengalis punjabi punjabis gujarati gujaratis marathi sindhi pashtun pashtuns"
        " baloch kashmiri sinhalese rohingya hmong uyghur uyghurs tibetans manchu cantonese zulu zulus xhosa"
        " yoruba igbo hausa fulani ashanti kikuyu maasai tutsi hutu oromo amhara tigrayan berber berbers"
        " bedouin bedouins coptic copt copts assyrian assyrians yazidi druze alawite maronite bosniak"
        " bosniaks circassian tatar tatars crimean roma romani gypsy ashkenazi sephardic slavic nordic"
        " iberian levantine polynesian melanesian eurasian adventist adventists calvinists confucian"
        " confucianist deist episcopalian episcopalians hasidic ismaili jainist jehovah's+witness"
        " jehovah+witness mennonite mennonites amish nonbeliever pagan puritan salafi scientologist shinto"
        " sufi sufis taoists unitarian unitarians wahhabi wiccan zoroastrians sunnite shi'ite ahmadi"
        " ahmadiyya pentecostals presbyterians social+democrat social+democrats christian+democrat"
        " christian+democrats liberal+democrat liberal+democrats green+party anarchist anarchists fascist"
        " fascists trotskyist maoist leninist zionist zionists peronist libertarians marxists nationalists"
        " monarchist monarchists centrist populist"),
    ROLE(ROLE_JOB, "accountant actor actress actuary acupuncturist adjudicator adjuster administrator adviser advisor"
        " agronomist allergist analyst anesthesiologist animator anthropologist appraiser apprentice arborist"
        " archaeologist archeologist architect archivist artist artisan assembler assessor assistant"
        " associate astronaut astronomer athlete attendant attorney auctioneer audiologist auditor author"
        " aviator baker banker barber barista barrister bartender beautician bellhop biochemist biologist"
        " blacksmith blaster boilermaker bookkeeper bookbinder botanist brewer bricklayer broadcaster broker"
        " builder butcher butler buyer cabinetmaker camerawoman cameraman caregiver caretaker carpenter"
        " cartographer cartoonist cashier caterer ceo cfo chauffeur checker chef chemist chiropractor"
        " choreographer cinematographer cleaner clergyman clerk climatologist clinician coach cobbler"
        " collector columnist comedian commander commissioner composer concierge conductor conservator"
        " constable consultant contractor controller cook coordinator coroner correspondent cosmetologist"
        " counsel counselor counsellor courier cto curator custodian dancer dealer dean decorator dentist"
        " deputy dermatologist designer detective developer dietitian dietician director dishwasher"
        " dispatcher distributor diver doctor doorman dramatist dressmaker driver drummer echocardiographer"
        " ecologist economist editor educator electrician embalmer engineer engraver entertainer entomologist"
        " entrepreneur environmentalist epidemiologist estimator examiner executive exterminator fabricator"
        " farmer farrier filmmaker firefighter fireman fisherman florist foreman forester fumigator"
        " fundraiser furrier gardener genealogist geneticist geographer geologist geophysicist geriatrician"
        " glazier goldsmith golfer governess grader groundskeeper guard guide gunsmith gynecologist"
        " hairdresser hairstylist handyman herder historian housekeeper hunter hydrologist hygienist"
        " hypnotherapist illustrator immunologist importer inspector installer instructor interpreter"
        " interviewer inventor investigator ironworker janitor jeweler jeweller jockey joiner journalist"
        " judge juggler keeper laborer labourer landscaper laundress lawyer lecturer librarian lifeguard"
        " linguist"),
    ROLE(ROLE_JOB, "lobbyist locksmith logger lyricist machinist magician magistrate maid mailman manager"
        " manicurist marketer mason masseur masseuse mathematician mechanic mediator merchandiser merchant"
        " messenger metallurgist meteorologist microbiologist midwife miller milliner miner minister model"
        " modeler moderator molder mortician musician nanny naturalist naturopath navigator negotiator"
        " neonatologist neurologist neurosurgeon notary novelist nurse nutritionist obstetrician"
        " oceanographer officer oncologist operator ophthalmologist optician optometrist orderly organist"
        " orthodontist orthopedist osteopath packager packer paediatrician painter paleontologist paperhanger"
        " paralegal paramedic park+ranger pastor pathologist paver pedicurist pediatrician perfusionist"
        " pharmacist pharmacologist philosopher phlebotomist photographer photojournalist physician physicist"
        " physiologist physiotherapist pianist pilot pipefitter planner plasterer playwright plumber"
        " podiatrist poet police+officer policeman policewoman politician pollster porter postman postmaster"
        " potter presenter presser principal printer printmaker producer professor programmer projectionist"
        " proofreader prosecutor prosthetist prosthodontist psychiatrist psychoanalyst psychologist"
        " psychotherapist publicist publisher purchaser rabbi radiographer radiologist rancher ranger realtor"
        " receptionist recorder recruiter referee refinisher registrar repairer repairman reporter"
        " representative researcher restaurateur retailer rheumatologist rigger roofer roustabout runner"
        " sailor salesman salesperson saleswoman sawyer scheduler scientist screenwriter scriptwriter"
        " sculptor seamstress secretary senator sergeant serviceman setter sheriff shepherd shipbuilder"
        " shoemaker shopkeeper singer social+worker sociologist soldier solicitor songwriter sonographer"
        " sorter specialist stagehand statistician stenographer stevedore steward stewardess stockbroker"
        " stocker stonemason strategist stylist superintendent supervisor surgeon surveyor tailor tattooist"
        " taxidermist teacher technician technologist telemarketer teller therapist tiler toolmaker"
        " toxicologist trader trainer trainee transcriptionist translator treasurer tutor typesetter typist"
        " umpire undertaker undersecretary underwriter upholsterer urologist usher valet vendor veterinarian"
        " veterinary+surgeon vet videographer vintner violinist virologist volcanologist waiter waitress"
        " warden warehouseman watchmaker weaver weigher welder winemaker woodcarver care+worker"
        " factory+worker worker writer zookeeper zoologist lehrer lehrerin arzt \xc3\xa4rztin krankenschwester"
        " ingenieur ingenieurin verk\xc3\xa4ufer verk\xc3\xa4uferin b\xc3\xa4" "cker koch k\xc3\xb6" "chin anwalt anw\xc3\xa4ltin buchhalter"
        " buchhalterin infirmi\xc3\xa8re infirmier ing\xc3\xa9nieur avocat avocate m\xc3\xa9" "decin professeur vendeur vendeuse"
        " boulanger cuisinier comptable enfermera enfermero abogado abogada m\xc3\xa9" "dico ingeniero ingeniera"
        " maestra contador cocinero infermiera infermiere avvocato ingegnere medico insegnante cuoco"
        " professora engenheiro advogado m\xc3\xa9" "dica enfermeira cozinheiro"),
    ROLE(ROLE_PARTICLE, "de du des la le les l d do da dos das della delle di del dei von van der den zum zur am an im och "
        "y i u of the z"),
    ROLE(ROLE_OF, "of de del"),
    ROLE(ROLE_YEAR_BEFORE, "in since during until till circa year spring summer fall autumn winter early late mid class "
        "jahr seit ann\xc3\xa9" "e depuis a\xc3\xb1o desde anno dal im copyright christmas election"),
    ROLE(ROLE_YEAR_MAYBE, "of from to by before after around a an and between on for last next the"),
    ROLE(ROLE_COUNTED, "people users euros dollars eur usd gbp km m kg g mg ml bytes kb mb gb times words items units miles "
        "feet meters metres hours points steps rpm calories and or to pieces tons votes employees members students days "
        "years other"),
    ROLE(ROLE_DOSE, "mg mcg \xc2\xb5g ug g ml iu units milligrams milligram micrograms tablets tablet capsules puffs meq ui "
        "mikrogram mikrogramm microgramos microgrammes mgs miligramos milligrammes milligramm gocce "
        "drops gotas comprimidos comprim\xc3\xa9s tabletten"),
    ROLE(ROLE_AGE_BEFORE, "aged age alter \xc3\xa2ge edad et\xc3\xa0 idade leeftijd turned turning "
        "\xc3\xa5lder wiek aetatis"),
    ROLE(ROLE_VERB_BEING, "am is was are were be m s re"),
    ROLE(ROLE_YEARS, "year years yr yo yrs y jahre j\xc3\xa4hrige j\xc3\xa4hriger ans a\xc3\xb1os anni anos jaar "
        "lat \xc3\xa5r let"),
    ROLE(ROLE_STREET_LAST, "straat stra\xc3\x9f" "e strasse str gasse weg katu gata gate veien utca \xc3\xba" "t u "
        "t\xc3\xa9r ulica sokak tee rkp k\xc3\xb6rt trg cesta"),
    ROLE(ROLE_NUMBER_ALONE, "apt apartment suite ste unit flat bldg building apartado"),
    ROLE(ROLE_DOT, "dot punkt punto point ponto"),
    ROLE(ROLE_LITTLE, "a an the as is was am are be to at in on with from by i you he she it we they my your his her our "
                      "their this that who for or but if when me him them not and of"),
    ROLE(ROLE_COMPANY, "inc incorporated ltd limited llc plc llp gmbh corp corporation pty pvt sarl srl oyj aps kft zrt bv nv"),
    ROLE(ROLE_KEY, "bearer password passphrase secret secrets"),
    ROLE(ROLE_HALF_DAY, "am pm uhr h a p"),
    BOTH(ROLE_MEDICINE, CONTEXT_MEDICINE, "acetaminophen adalimumab albuterol allopurinol alprazolam amiodarone amitriptyline amlodipine amoxicillin "
        "apixaban aripiprazole aspirin atenolol atorvastatin azithromycin baclofen bisoprolol budesonide bupropion "
        "buspirone candesartan carbamazepine carvedilol cefalexin ceftriaxone celecoxib cephalexin cetirizine ciprofloxacin "
        "citalopram clindamycin clonazepam clonidine clopidogrel clozapine codeine colchicine cyclobenzaprine dapagliflozin "
        "dexamethasone diazepam diclofenac digoxin diltiazem donepezil doxycycline duloxetine dulaglutide empagliflozin "
        "enalapril enoxaparin escitalopram esomeprazole estradiol ezetimibe famotidine fentanyl finasteride fluconazole "
        "fluoxetine fluticasone furosemide gabapentin glimepiride glipizide haloperidol heparin hydrochlorothiazide "
        "hydrocodone hydroxychloroquine hydroxyzine ibuprofen insulin ipratropium irbesartan isosorbide ketorolac labetalol "
        "lamotrigine lansoprazole letrozole levetiracetam levofloxacin levothyroxine linagliptin lisinopril lithium "
        "loratadine lorazepam losartan lovastatin meloxicam metformin methadone methotrexate methylphenidate "
        "methylprednisolone metoclopramide metoprolol metronidazole mirtazapine montelukast morphine naloxone naltrexone "
        "naproxen nifedipine nitrofurantoin nitroglycerin nortriptyline olanzapine omeprazole ondansetron oxycodone "
        "oxycontin pantoprazole paracetamol paroxetine penicillin phenytoin pioglitazone potassium+chloride pravastatin "
        "prazosin prednisolone prednisone pregabalin propranolol quetiapine ramipril ranitidine risperidone rituximab "
        "rivaroxaban ropinirole rosuvastatin sacubitril salbutamol sertraline sildenafil simvastatin sitagliptin "
        "spironolactone sulfamethoxazole sumatriptan tacrolimus tadalafil tamoxifen tamsulosin telmisartan temazepam "
        "ticagrelor tizanidine topiramate torsemide tramadol trazodone triamcinolone valacyclovir valproate valsartan "
        "vancomycin venlafaxine verapamil warfarin zolpidem adderall advil ativan humira januvia klonopin lantus lasix "
        "lexapro lipitor lyrica nexium norvasc ozempic plavix prozac ritalin seroquel synthroid tylenol valium viagra "
        "vicodin xanax xarelto zoloft zyrtec semaglutide tirzepatide liraglutide "
        "eliquis pradaxa lixiana brilinta coumadin lovenox entresto forxiga farxiga jardiance trulicity "
        "mounjaro wegovy victoza saxenda rybelsus humalog novorapid novolog levemir toujeo tresiba "
        "glucophage amaryl invokana keppra lamictal depakine tegretol zyprexa risperdal abilify latuda "
        "cymbalta effexor wellbutrin remeron strattera concerta vyvanse suboxone subutex percocet norco "
        "dilaudid neurontin topamax imitrex zofran pepcid prilosec protonix singulair advair symbicort "
        "spiriva flovent flonase ventolin seretide allegra claritin benadryl sudafed mucinex motrin "
        "aleve excedrin calpol nurofen gaviscon cialis propecia keytruda opdivo herceptin enbrel "
        "remicade stelara dupixent cosentyx skyrizi rinvoq xeljanz plaquenil imuran cellcept prograf "
        "augmentin zithromax bactrim keflex flagyl diflucan valtrex tamiflu paxlovid cytomel euthyrox "
        "eutirox levothyrox levaxin thyrox toprol lopressor tenormin coreg diovan cozaar benicar "
        "micardis vasotec zestril prinivil altace crestor zocor pravachol zetia marcumar falithrom "
        "sintrom waran alvedon panodil ipren polocard acard doliprane dafalgan efferalgan spasfon "
        "tachipirina cardioaspirina cardioaspirin voltaren novalgin novaminsulfon metamizol metamizole "
        "nolotil enantyum aspirine aspirina acetylsalicylic levotiroxina paracetamolo valium temesta "
        "tavor trimipramin doxepin methylphenidat elvanse mirena pregnyl clexane fragmin innohep "
        "mydocalm arcoxia targin oxygesic tramal tilidin palexia"),
};
/* clang-format on */

const size_t lexicon_list_count = sizeof lexicon_lists / sizeof lexicon_lists[0];
