"""Ordinary words and sentences of other languages than English: how letters begin and end, little words, what everybody says.
None of them is a name. A language's greetings stand before names more often than any other word, so they are named one by one."""


def _split(text):
    return text.split()


# How one begins and ends a letter or a talk, word by word; a name may follow.
GREETING = {
    "german": _split("""hallo hi hey moin servus grüezi grüß grüße grüßen grüsse gruß gruss guten morgen tag abend nacht liebe lieber liebes
    werte werter sehr geehrte geehrter geehrtes verehrte herzliche herzlichen herzlichst freundliche freundlichen freundlichem beste besten
    schöne schönen viele vielen dank danke bitte tschüss tschüs ciao hochachtungsvoll alles gute willkommen entschuldigung prost"""),
    "french": _split("""bonjour bonsoir salut coucou allô cher chère chers chères madame monsieur mesdames messieurs mademoiselle cordialement
    salutations distinguées amicalement bisous bises merci beaucoup bienvenue félicitations adieu bientôt sincèrement respectueusement veuillez agréer
    bien bonne journée soirée nuit svp pardon désolé désolée enchanté enchantée"""),
    "spanish": _split("""hola buenos buenas días dias tardes noches estimado estimada estimados estimadas querido querida queridos queridas saludos
    saludo cordiales cordial atentamente atento atenta abrazo abrazos besos gracias muchas adiós adios bienvenido bienvenida bienvenidos felicidades
    enhorabuena perdón disculpe hasta luego pronto mañana apreciado apreciada distinguido distinguida"""),
    "italian": _split("""ciao buongiorno buonasera buonanotte salve caro cara cari care gentile gentili egregio egregia spettabile cordiali saluti
    saluto distinti grazie mille prego arrivederci benvenuto benvenuta benvenuti auguri scusa scusi cordialmente abbraccio baci piacere"""),
    "portuguese": _split("""olá oi bom boa dia tarde noite prezado prezada prezados prezadas caro cara caros caras querido querida atenciosamente
    cordialmente cumprimentos abraço abraços beijos obrigado obrigada tchau adeus saudações respeitosamente parabéns desculpe tudo bem-vindo bem-vinda"""),
    "dutch": _split("""hallo hoi dag goedemorgen goedemiddag goedenavond beste geachte lieve waarde groet groeten groetjes vriendelijke hartelijke
    hoogachtend dank dankjewel bedankt alsjeblieft alstublieft doei welkom gefeliciteerd sorry tot ziens morgen prettige"""),
    "swedish": _split("""hej hejsan tjena hallå god morgon kväll kära käre bästa hälsning hälsningar vänlig vänliga vänligen mvh tack kram kramar
    välkommen välkomna grattis förlåt ursäkta adjö trevlig"""),
    "danish_norwegian": _split("""hej hei hallo goddag godmorgen godaften god morgen aften kveld kære kjære hilsen hilsner hilsninger venlig venlige
    vennlig venligst vennligst mvh tak takk velkommen tillykke gratulerer undskyld unnskyld farvel mange knus klem bedste beste"""),
    "finnish": _split("""hei moi terve moikka huomenta päivää iltaa hyvä hyvää arvoisa rakas parhain terveisin ystävällisin terveiset kiitos kiitoksia
    tervetuloa anteeksi onnea näkemiin kunnioittavasti"""),
    "polish": _split("""cześć hej witam witaj witajcie dzień dobry dobranoc wieczór drogi droga drodzy szanowny szanowna szanowni państwo serdecznie
    serdeczne pozdrawiam pozdrowienia poważaniem wyrazami szacunku dziękuję dzięki proszę przepraszam gratulacje miło uprzejmie zapraszam"""),
    "czech_slovak": _split("""ahoj čau dobrý dobrá den dobré ráno dobrou noc večer vážený vážená vážení milý milá milí zdravím pozdravem pozdravom pozdrav
    srdečně srdečné úctou děkuji děkuju díky ďakujem prosím promiňte vítejte vitajte gratuluji nashledanou přátelským"""),
    "hungarian": _split("""szia sziasztok helló üdv üdvözlöm üdvözlettel tisztelt kedves tisztelettel köszönöm köszönettel kérem jó napot reggelt
    estét viszlát viszontlátásra gratulálok bocsánat szívesen"""),
    "romanian": _split("""bună salut salutare ziua dimineața seara stimate stimată stimați dragă dragi stimă respect cordial mulțumesc mulțumim rog
    revedere felicitări scuze bine venit îmbrățișări"""),
    "turkish": _split("""merhaba selam selamlar günaydın iyi günler akşamlar geceler sayın sevgili değerli saygılar saygılarımla sevgiler teşekkür
    teşekkürler lütfen hoşça kal görüşürüz tebrikler özür dilerim hoş geldiniz"""),
    "south_slavic": _split("""zdravo bok pozdrav pozdravljeni dobar dan dobro jutro večer veče poštovani poštovana dragi draga lijep lijepi srdačan
    srdačno hvala molim doviđenja čestitam izvinite oprostite živjo spoštovani spoštovana lep lepo"""),
    "baltic": _split("""labas sveiki laba diena gerbiamas gerbiama mielas miela pagarbiai ačiū prašau sveikinimai čau labdien cienījamais cienījamā
    mīļais mīļā cieņā paldies lūdzu tere tervist lugupeetud kallis tervitades aitäh palun"""),
    "russian_ukrainian": _split("""привет здравствуйте здравствуй добрый доброе утро день вечер уважаемый уважаемая уважаемые дорогой дорогая дорогие
    уважением спасибо пожалуйста извините прости поздравляю доброго дня привіт вітаю шановний шановна шановні дякую будь ласка повагою"""),
    "greek": _split("""γεια σας σου καλημέρα καλησπέρα καληνύχτα αγαπητέ αγαπητή αγαπητοί αξιότιμε εκτίμηση ευχαριστώ παρακαλώ φιλικά χαιρετισμούς
    χαίρετε συγχαρητήρια συγγνώμη"""),
    "english": _split(
        """greetings regards hiya howdy goodbye bye farewell welcome congratulations congrats cheers sorry ta ttyl folks"""
    ),
    "others": _split("""namaste namaskar salam salaam assalamu alaikum shalom jambo habari asante karibu sawubona aloha mahalo sawasdee xin chào
    cảm ơn selamat pagi siang malam terima kasih kumusta salamat konnichiwa arigato annyeong"""),
}

# Little words: articles, pronouns, joints, forms of "be" and "have", negations, question words.
LITTLE = {
    "german": _split("""der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber denn sondern doch nicht nur noch
    schon sehr auch wenn weil dass ob als wie wo wer was wann warum welche welcher welches ich du er sie es wir ihr mich dich ihn uns euch ihm ihnen
    mein meine meinen meinem meiner dein deine sein seine seinen ihre ihren ihrem unser unsere euer eure bin bist ist sind seid war waren wird werden wurde wurden habe hast
    hat haben hatte hatten kann können konnte muss müssen soll sollte will wollen darf möchte mit von zu zum zur bei nach aus vor seit bis durch für
    gegen ohne um unter über zwischen hinter neben auf in im ins an am hier dort da heute morgen gestern immer nie jetzt dann mehr viel alle
    jeder jede dieser diese dieses sich man etwas nichts bitte ja nein"""),
    "french": _split("""le la les un une des du de au aux et ou mais donc or ni car ne pas plus moins très trop que qui quoi dont où quand comment
    pourquoi combien quel quelle quels quelles je tu il elle on nous vous ils elles me te se lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos
    ce cet cette ces est sont suis es sommes êtes était étaient sera seront ai as avons avez ont avait avaient peut peux doit fait faire
    dans sur sous avec sans pour par chez vers entre depuis pendant avant après contre aussi toujours jamais ici là oui non si tout tous toute
    toutes rien quelque bien"""),
    "spanish": _split("""el la los las un una unos unas de del al y e o u pero sino porque aunque si no ni que quien quién cual cuál cuándo cuando
    cómo como dónde donde qué cuánto yo tú usted ustedes él ella ellos ellas nosotros nos os me te se le les lo mi mis tu tus su sus nuestro nuestra
    este esta estos estas ese esa eso aquel aquella es son soy eres somos era eran fue fueron ser estar está están estoy estaba he ha han hemos
    había hay tiene tienen tengo puede pueden puedo en con sin por para sobre entre hasta desde hacia según durante muy más menos también
    siempre nunca aquí allí ya todo todos toda todas nada algo sí"""),
    "italian": _split("""il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla in nel nella nei con
    su sul sulla per tra fra e ed o ma però perché anche se non né che chi cui quale quando come dove quanto io tu lui lei noi voi loro mi ti ci
    vi si mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro questo questa questi queste quello quella è sono sei siamo siete era
    erano ho hai ha abbiamo avete hanno aveva può posso deve molto più meno sempre mai qui già tutto tutti tutta niente sì"""),
    "portuguese": _split("""o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela para com sem sobre entre até
    desde e ou mas porque se não nem que quem qual quando como onde quanto eu tu você vocês ele ela eles elas nós me te lhe meu minha meus minhas
    teu seu sua seus suas nosso nossa este esta isto esse essa isso aquele é são sou era eram foi foram ser estar está estão estou tem têm tenho
    há pode podem posso muito mais menos também sempre nunca aqui ali já tudo todos toda nada sim"""),
    "dutch": _split("""de het een en of maar want dus niet geen wel ook nog al als dat die dit deze wie wat waar wanneer waarom hoe welke ik jij je u
    hij zij ze wij we jullie hen hun mij me jou hem haar ons mijn jouw zijn onze ben bent is was waren wordt worden werd heb hebt heeft hebben had
    kan kunnen moet moeten mag zal zullen wil in op aan van voor met bij naar uit om door over onder tussen zonder tegen tot sinds hier daar nu
    toen altijd nooit meer veel alle iets niets ja nee te er"""),
    "swedish": _split("""en ett den det de och eller men för så inte ingen inget att som om när var vad vem vilken hur varför jag du han hon vi ni dem
    mig dig honom henne oss er min mitt mina din ditt sin sitt vår är var vara blir blev har hade kan kunde ska skall skulle vill måste på i av
    till från med utan under över mellan efter före hos här där nu alltid aldrig mycket mer alla något ingenting ja nej också"""),
    "danish_norwegian": _split("""en et ei den det de og eller men for så ikke ingen at som om når hvor hva hvad hvem hvilken hvordan hvorfor jeg du
    han hun vi dere dem meg mig deg dig ham henne hende oss os min mit mitt mine din sin sit vår er var være blir bliver ble blev har hadde havde
    kan kunne skal skulle vil må på i av af til fra med uten uden under over mellom mellem etter efter før hos her der nå nu alltid altid
    aldri aldrig meget mye mer alle noe noget ja nei nej også"""),
    "finnish": _split("""ja tai mutta sekä että jos kun koska vaikka niin ei en et emme ette eivät on ovat olen olet olemme oli olivat ole minä sinä hän me
    te he se ne tämä tuo nämä nuo mikä kuka missä milloin miksi miten minun sinun hänen meidän teidän heidän kanssa ilman ennen jälkeen
    nyt sitten aina myös vain hyvin enemmän kaikki mitään kyllä tässä siellä täällä"""),
    "polish": _split("""i oraz lub albo ale więc bo że żeby jeśli gdy kiedy gdzie jak dlaczego kto co który która które nie tak ja ty on ona ono my
    wy oni one mnie mi ciebie jego jej jemu nas nam was ich mój moja moje twój swój nasz wasz ten ta to te tamten jest są jestem był była było
    byli będzie mam masz ma mają może mogę musi w we na z ze do od po za pod nad przed przez dla bez o u przy między tu tam teraz zawsze nigdy
    bardzo więcej wszystko wszyscy nic coś już jeszcze tylko też się"""),
    "czech_slovak": _split("""a i nebo ale protože že aby jestli když kde jak proč kdo co který která které ne ano já ty on ona ono my vy oni mě
    mi tebe jeho její jim nás nám vás můj moje tvůj svůj náš váš ten ta to tento je jsou jsem byl byla bylo byli bude mám máš má mají může
    musí v ve na z ze do od po za pod nad před přes pro bez o u při mezi tady tam teď vždy nikdy velmi více všechno všichni nic něco už ještě jen
    také se si som sú nie aj alebo keď pri ako čo"""),
    "hungarian": _split("""a az egy és vagy de hogy ha mert nem igen is csak már még nagyon én te ő mi ti ők engem téged őt minket ez azt ezt ki mit
    hol mikor miért hogyan melyik van vannak vagyok volt voltak lesz lehet kell kellett itt ott most mindig soha több minden semmi valami
    után előtt alatt között nélkül szerint"""),
    "romanian": _split("""un o și sau dar că dacă când unde cum ce cine care nu da eu tu el ea noi voi ei ele mă te îl îi ne vă meu mea tău său lui
    acest această acesta este sunt ești suntem era erau fost va vor am ai are avem au poate trebuie în din de la cu fără pe prin pentru despre
    între până după înainte aici acolo acum mereu niciodată mult mai toate tot nimic ceva foarte"""),
    "turkish": _split("""ve veya ama fakat çünkü eğer ki de da mi mu ne kim nerede nasıl neden hangi bu şu o bir iki değil evet hayır ben sen biz siz
    onlar benim senin onun bizim sizin var yok için ile gibi kadar sonra önce daha çok her hiç şimdi burada orada olan olarak oldu"""),
    "south_slavic": _split("""i ili ali jer da ako kad kada gdje kako zašto tko ko što koji koja koje ne ja ti on ona ono mi vi oni mene tebe njega
    njoj nas vas moj moja tvoj svoj naš vaš ovaj ova ovo taj je su sam si smo ste bio bila bilo će može mora u na s sa iz do od po za pod nad
    pred bez o kod između ovdje tamo sada uvijek nikad vrlo više sve svi ništa nešto već još samo in ali kje zakaj kdo kaj zelo"""),
    "russian_ukrainian": _split("""и или но а если когда где как почему кто что который которая которые не да нет я ты он она оно мы вы они меня
    тебя его её нас вас их мой моя моё твой свой наш ваш этот эта это тот есть был была было были будет может должен в во на с со из до от
    по за под над перед для без о об у при между здесь там сейчас всегда никогда очень больше всё все ничего уже ещё только також та і що як це
    ми ви вони є був була"""),
    "greek": _split("""ο η το οι τα του της των τον την τους τις ένας μία ένα και ή αλλά γιατί αν όταν πού πώς ποιος ποια τι που δεν μη ναι όχι
    εγώ εσύ αυτός αυτή αυτό εμείς εσείς αυτοί μου μας είναι είμαι ήταν έχω έχει έχουν θα να με σε από για στο στη στην στον χωρίς μετά πριν εδώ
    εκεί τώρα πάντα ποτέ πολύ όλα τίποτα"""),
}

# Common nouns that German writes with a capital.
GERMAN_NOUNS = _split("""Abend Abfahrt Adresse Angebot Angebote Angst Anfang Anfrage Anlage Anmeldung Anruf Antrag Antwort Anwalt Apfel Arbeit Arbeiten
Arzt Ärztin Aufgabe Aufgaben Auftrag Auge Augen Ausgabe Auskunft Ausland Auto Autos Bahn Bahnhof Baum Bäume Bedeutung Beispiel Bericht Beruf Bescheid
Besprechung Besuch Betrag Bett Bezahlung Bild Bilder Bitte Blatt Blume Blumen Boden Brief Briefe Brot Bruder Brücke Buch Bücher Büro Bus Chef
Computer Dach Datei Dateien Datum Dauer Dienst Ding Dinge Dorf Drucker Ecke Ei Eier Eingang Einkauf Einladung Ende Entscheidung Entwicklung Erde
Erfahrung Erfolg Ergebnis Erklärung Essen Fahrer Fahrt Fall Familie Farbe Fehler Feld Fenster Ferien Feuer Film Firma Fisch Flasche Fleisch Flug
Frage Fragen Frau Frauen Freizeit Freude Freund Freunde Freundin Frist Frühstück Fuß Gabel Garten Gast Gebäude Gebühr Geburtstag Gefahr Gefühl
Geld Gemüse Gericht Geschäft Geschenk Geschichte Gesellschaft Gesetz Gespräch Gesundheit Gewicht Glas Glück Grund Gruppe Haare Hand Handy Haus
Häuser Heizung Hemd Herz Hilfe Himmel Hinweis Hotel Hund Hunde Idee Information Informationen Interesse Jahr Jahre Jahren Jugend Junge Kaffee Kalender Karte
Kasse Katze Kaufvertrag Keller Kind Kinder Kindern Kirche Klasse Kleid Koffer Kollege Kollegen Kollegin Konto Kontrolle Kopf Kosten Kraft Krankheit Küche
Kunde Kunden Kündigung Kurs Lage Lager Land Länder Leben Lehrer Lehrerin Leistung Leute Licht Liebe Liste Lösung Luft Lust Mädchen Mal Mann Männer
Markt Maschine Mehrheit Meinung Menge Mensch Menschen Messer Miete Milch Minute Minuten Mitarbeiter Mitarbeiterin Mittag Mitte Mittel Möglichkeit Monat Monate
Morgen Mutter Nachbar Nachbarin Nachmittag Nachricht Nacht Name Namen Natur Nummer Obst Ordnung Ort Papier Partner Pause Person Personen Pferd Pflanze Plan
Platz Politik Polizei Post Preis Preise Problem Probleme Produkt Programm Projekt Prüfung Punkt Rabatt Rat Raum Recht Rechnung Rechnungen Regel Regen
Reise Reisen Restaurant Rest Rezept Richtung Rolle Rückgabe Sache Sachen Satz Schaden Schiff Schlüssel Schluss Schritt Schuh Schuhe Schule Schüler Schutz
Schwester See Seite Seiten Sekunde Sicherheit Sinn Sohn Sommer Sonne Spaß Spiel Spiele Sprache Sprachen Staat Stadt Stelle Stellung Steuer Stimme Stoff
Straße Strom Stück Student Studentin Stuhl Stunde Stunden Suche Suppe System Tag Tage Tagen Tasche Tasse Teil Teile Telefon Teller Termin Termine Text
Theater Thema Tier Tiere Tisch Tochter Tod Ton Tür Überweisung Übung Uhr Umgebung Umwelt Unfall Unterlagen Unternehmen Unterricht Unterschied Unterschrift
Untersuchung Urlaub Urteil Vater Verbindung Verein Vergleich Verkauf Verkehr Verlust Versicherung Versuch Vertrag Verwaltung Vogel Volk Vorschlag
Vorteil Wagen Wahl Wahrheit Wald Wand Ware Wasser Weg Wein Welt Werk Werkstatt Wert Wetter Wind Winter Wirtschaft Wissen Woche Wochen Wochenende
Wohnung Wort Worte Wunsch Zahl Zahlen Zahlung Zahn Zeichen Zeit Zeiten Zeitung Zentrum Ziel Zimmer Zucker Zug Zukunft Zusammenarbeit Zustand Zutaten
Arbeitgeber Arbeitnehmer Auswertung Bearbeitung Bestellung Bestätigung Bewerbung Beschwerde Datenbank Datenschutz Einstellung Empfänger Führerschein Gehalt
Geschäftsführer Geschäftsführerin Grundstück Haftung Herausgeber Hersteller Inhalt Kaution Kennwort Krankenkasse Krankenhaus Lebenslauf Lieferung Mahnung
Mietvertrag Nebenkosten Öffnungszeiten Patient Patientin Quittung Rücksendung Sachbearbeiter Sitzung Stornierung Teilnehmer Übersetzung Veranstaltung Vermieter
Vollmacht Vorsitzender Widerspruch Zugang Zusammenfassung
Abenteuer Abfall Abgabe Ablauf Absatz Abschied Abschluss Absender Absicht Abstand Abteilung Achtung Ader Affe Akku Akte Aktie Aktion Alltag Alter Ameise Ampel
Amt Anbieter Andenken Angabe Angestellter Anhang Ankunft Anleitung Annahme Anschluss Ansicht Anspruch Anteil Anzahl Anzeige Anzug Apotheke Arm Armut Art Artikel
Ast Atem Aufenthalt Auflage Aufmerksamkeit Aufnahme Aufstieg Auftritt Aufzug Ausbildung Ausdruck Ausflug Ausgang Ausnahme Ausrede Aussage Ausschuss Aussicht
Ausstellung Auswahl Ausweis Axt Bach Backofen Bad Balkon Ball Band Bank Bart Bauch Bauern Baustelle Beamte Becher Bedarf Bedingung Bedürfnis Beere Beginn Begriff
Begründung Behandlung Behörde Bein Beitrag Bekannte Belastung Beleg Bemerkung Benutzer Benzin Berg Berge Berufung Beschluss Beschreibung Besen Besitz Besteck Besucher
Betrieb Bettdecke Beute Bevölkerung Bewegung Beweis Bewohner Beziehung Bier Birne Bitte Blase Blei Bleistift Blick Blitz Block Blut Blüte Bohne Bohrer Boot Braten
Bremse Brett Brille Brust Bude Bügel Bühne Bündel Bürger Bürste Busch Butter Dampf Daten Decke Denkmal Diagnose Dichter Dieb Diskussion Donner Dose Draht Dreck Druck
Duft Dunkelheit Durchschnitt Durst Dusche Ehe Ehre Eid Eifer Eigenschaft Eile Eimer Einblick Eindruck Einfluss Einheit Einkommen Einrichtung Einsatz Einwohner Eis Eisen
Elefant Eltern Empfang Enkel Ente Entfernung Entwurf Erbe Ereignis Erinnerung Erkältung Erlaubnis Ernte Ersatz Erwachsene Esel Essig Etage Eule Fach Faden Fahne Fähre
Fahrplan Falle Farn Fass Faust Feder Feier Feind Fell Felsen Fest Fett Fichte Fieber Figur Finger Flamme Fleck Fliege Flucht Fluss Flut Folge Forderung Form Formular
Forscher Fortschritt Freiheit Frieden Frosch Frucht Fuchs Führung Funke Futter Gang Gans Garage Gas Gebiet Gedanke Gedicht Geduld Gefängnis Gegend Gegenstand Gegenteil
Gegner Geheimnis Gehirn Geist Gelegenheit Gemeinde Generation Genuss Gerät Geräte Gerüst Gesang Geschirr Geschmack Geschwindigkeit Gesicht Gespenst Gestell Gewalt Gewitter
Gewohnheit Gewürz Gift Gipfel Gitter Glaube Gleis Glocke Gold Gras Grenze Griff Grippe Größe Grundlage Gurke Gürtel Hafen Hagel Hahn Hälfte Halle Hals Haltung Hammer
Handel Handtuch Hase Hass Haufen Haut Hecke Heft Heimat Held Hemmung Herbst Herd Herde Herkunft Heu Hitze Hof Höhe Höhle Holz Honig Horizont Hose Hügel Huhn Humor
Hunger Hut Hütte Igel Insel Irrtum Jacke Jagd Jahrhundert Jubel Käfer Käfig Kalb Kälte Kamin Kamm Kampf Kanal Kante Kartoffel Käse Kastanie Kaufhaus Kehle Kern Kerze
Kette Kiefer Kies Kirsche Kissen Kiste Klang Klavier Klinge Knie Knochen Knopf Knoten Koch Kohl Kohle Komma Konflikt Konzert Korb Korn Körper Kraut Kreis Kreuz Krieg
Krone Kröte Krug Kuchen Kugel Kuh Kunst Kupfer Kurve Kuss Küste Lachs Laden Lampe Landschaft Lappen Lärm Last Laub Lauf Laune Leder Lehre Leiter Leitung Licht Lied
Linie Lippe Loch Löffel Lohn Löwe Lücke Macht Magen Mais Mangel Mantel Märchen Mauer Maus Meer Mehl Meister Messe Metall Metzger Mischung Mitglied Mitleid Mode Moment
Mond Moos Mord Motor Möwe Mücke Mühe Mühle Müll Mund Münze Muschel Musik Muskel Muster Mut Mütze Nadel Nagel Nähe Nase Nebel Neffe Neid Nerven Nest Netz Nichte Niederlage
Niere Norden Not Notiz Nudel Nuss Ofen Ohr Öl Oma Onkel Opa Opfer Osten Paket Panne Papst Parkplatz Pech Pfanne Pfarrer Pfeffer Pfeil Pflaster Pflicht Pfütze Pilz Pinsel
Plakat Pokal Praxis Prinz Probe Produktion Publikum Pulver Pumpe Puppe Qual Qualität Quelle Rad Rand Rasen Ratte Räuber Rauch Raupe Rechnung Rede Regal Regierung Reh Reich
Reifen Reihe Reis Rennen Rentner Revolution Rind Ring Riss Ritter Rock Rohr Rose Rost Rücken Rücksicht Ruder Ruf Ruhe Ruhm Ruine Runde Saal Sack Saft Säge Sahne Salat Salz
Same Sammlung Sand Sarg Sau Säule Schach Schachtel Schaf Schal Schale Schall Schatten Schatz Schaum Scheibe Schein Schere Scherz Schicht Schicksal Schild Schimmel Schinken
Schirm Schlacht Schlaf Schlag Schlamm Schlange Schloss Schmerz Schmetterling Schmuck Schnabel Schnecke Schnee Schnitt Schnur Schokolade Schrank Schraube Schrecken Schrei
Schrift Schublade Schuld Schulter Schüssel Schwamm Schwan Schwanz Schwein Schweiß Schwelle Schwert Schwierigkeit Segel Seele Sehnsucht Seide Seife Seil Sekt Senf Sessel
Sieg Silber Sitte Sitz Sohle Spalte Spannung Speck Speise Sperre Spiegel Spinne Spitze Sport Sprung Spur Staatsanwalt Stab Stadion Stahl Stall Stamm Stand Stapel Stärke
Staub Stein Stempel Stern Stich Stiefel Stier Stift Stille Stimmung Stirn Stock Stolz Strafe Strahl Strand Strauch Strecke Streich Streik Streit Strich Strumpf Studie Stufe
Sturm Sturz Stütze Süden Sumpf Sünde Tal Tanne Tante Tanz Tapete Tat Tau Taube Teich Teig Teppich Test Teufel Tiefe Tinte Tomate Topf Torte Tradition Träne Traube Traum
Treffen Treppe Tritt Trommel Trost Tuch Tulpe Turm Übergang Überraschung Ufer Umfrage Umschlag Umzug Unglück Unruhe Untergang Ursache Vertreter Verband Verbot Verbrechen
Verdacht Verfahren Vergangenheit Vergnügen Verhalten Verhältnis Verlag Verletzung Vermögen Vernunft Versammlung Verspätung Verstand Vertrauen Verwandte Vieh Vorhang
Vorrat Vorsicht Vorstellung Vortrag Vulkan Waage Wache Wachs Waffe Wal Walze Wange Wanne Wärme Watte Weber Wechsel Wecker Weide Weihnachten Weizen Welle Wende Werbung
Werkzeug Wespe Westen Wettbewerb Wiese Wille Wirkung Wirt Witz Wolf Wolke Wolle Wunde Wunder Wurst Wurzel Wüste Wut Zange Zauber Zaun Zehe Zelle Zelt Zettel Zeuge Ziege
Ziegel Zins Zoll Zopf Zorn Zufall Zunge Zusage Zweck Zweifel Zweig Zwerg Zwiebel Zwilling""")

# Nobody is named in these.
PLAIN = {
    "arabic": """الكتاب على الطاولة والقلم في الحقيبة.
أين تقع أقرب محطة للقطار من فضلك؟
نحتاج إلى خبز وحليب وبعض الفواكه الطازجة.
كان الجو حاراً جداً في الصيف الماضي.
يجب إرسال الفاتورة قبل نهاية الشهر.
لا أستطيع فتح هذا الملف على جهازي.
يعمل والدي طبيباً وأمي معلمة في المدرسة.
سوف نسافر بعد أسبوع إذا تحسن الطقس.
الباب مفتوح لكن لا يوجد أحد في البيت.
قرأت مقالاً طويلاً عن تاريخ الموسيقى.
كم سعر هذه الساعة وهل عليها ضمان؟
المياه مقطوعة منذ الصباح في الحي كله.""",
    "hebrew": """הספר נמצא על השולחן והעט בתיק.
איפה תחנת הרכבת הקרובה בבקשה?
אנחנו צריכים לחם וחלב וקצת פירות טריים.
בקיץ האחרון היה חם מאוד.
צריך לשלוח את החשבונית עד סוף החודש.
אני לא מצליח לפתוח את הקובץ הזה במחשב שלי.
הדלת פתוחה אבל אין אף אחד בבית.
קראתי מאמר ארוך על תולדות המוזיקה.""",
    "persian": """کتاب روی میز است و قلم در کیف.
نزدیک‌ترین ایستگاه قطار کجاست؟
ما به نان و شیر و کمی میوه تازه نیاز داریم.
تابستان گذشته هوا بسیار گرم بود.
باید صورتحساب را تا پایان ماه بفرستیم.
نمی‌توانم این پرونده را باز کنم.
در باز است اما کسی در خانه نیست.
مقاله‌ای طولانی درباره تاریخ موسیقی خواندم.""",
    "hindi": """किताब मेज पर है और कलम थैले में है।
सबसे नजदीकी रेलवे स्टेशन कहाँ है?
हमें रोटी, दूध और कुछ ताजे फल चाहिए।
पिछली गर्मियों में बहुत गर्मी थी।
महीने के अंत तक बिल भेजना जरूरी है।
मैं यह फाइल अपने कंप्यूटर पर नहीं खोल पा रहा हूँ।
दरवाजा खुला है लेकिन घर में कोई नहीं है।
मैंने संगीत के इतिहास पर एक लंबा लेख पढ़ा।
इस घड़ी की कीमत क्या है और क्या इस पर वारंटी है?""",
    "german": """Das Haus ist groß und der Garten ist schön.
Der Hund schläft unter dem Tisch in der Küche.
Grüße, bitte melden Sie sich unter der Nummer.
Viele Grüße aus dem Urlaub!
Guten Tag, ich habe eine Frage zu meiner Bestellung.
Guten Morgen zusammen,
Liebe Kolleginnen und Kollegen,
Sehr geehrte Damen und Herren,
Mit freundlichen Grüßen
Liebe Grüße
Vielen Dank im Voraus
Hallo zusammen, wann ist die nächste Besprechung?
Hallo, ich brauche Hilfe bei der Steuererklärung.
Danke, das war sehr hilfreich.
Entschuldigung, wo ist der Bahnhof?
Schöne Grüße und bis bald
Die Rechnung kommt mit der Post, das Geld auf das Konto.
Können Sie mir bitte eine Zusammenfassung der Besprechung schreiben?
Wie kündige ich meinen Mietvertrag vor Ablauf der Frist?
Schreibe eine Bewerbung für eine Stelle als Sachbearbeiter.
Ich möchte die Lieferung stornieren und das Geld zurück.
Kannst du mir ein Rezept für eine Suppe mit Kartoffeln geben?
Das Wetter war gestern kalt, heute scheint die Sonne.
Wer hat den Schlüssel zum Keller?
Erkläre mir den Unterschied zwischen Gehalt und Lohn.
Alle Angaben ohne Gewähr. Änderungen vorbehalten.
Die {gn} und der {gn} sind in der {gn}.
Das {gn} ist wichtig für die {gn}.
Für {gn} und {gn} brauchen wir mehr {gn}.
{gn} und {gn} gehören zusammen.
Mein {gn} hat eine neue {gn}.
Ohne {gn} keine {gn}.
Es gibt keine {gn} im {gn}, aber viele {gn}.
{gn}: siehe {gn}
{gn}, {gn}, {gn}
Bitte senden Sie die {gn} an die {gn}.
Wegen der {gn} wurde die {gn} verschoben.
Ich habe gestern die {gn} mit dem {gn} verwechselt.
Wir freuen uns auf Ihre {gn}!""",
    "french": """Bonjour, je voudrais réserver une table pour deux personnes.
Bonjour à tous,
Cordialement
Bien cordialement,
Madame, Monsieur,
Merci beaucoup pour votre aide.
Salut, comment ça va ?
Coucou, on se voit demain ?
Veuillez agréer nos salutations distinguées.
Le chat dort sur la table et le chien mange.
Pouvez-vous écrire un résumé de la réunion ?
Quelle est la différence entre un contrat et un accord ?
Écris une lettre pour demander un remboursement.
La facture est arrivée hier mais le colis est perdu.
Il pleut souvent au printemps, jamais en été.
Comment puis-je changer mon mot de passe ?
Les enfants jouent dans le jardin pendant que nous cuisinons.
L'école est fermée lundi. Aujourd'hui, il n'y a personne.
J'ai besoin d'un rendez-vous chez le dentiste.
Désolé, je ne comprends pas la question.
Bonne journée et à bientôt !""",
    "spanish": """Hola, necesito ayuda con mi pedido.
Hola a todos,
Buenos días, ¿a qué hora abre la tienda?
Saludos cordiales,
Estimados señores:
Atentamente,
Muchas gracias por su respuesta.
Un abrazo y hasta pronto
El perro duerme en la casa y el gato come.
¿Cuál es la diferencia entre los dos contratos?
Escribe un correo para pedir un aumento de sueldo.
Mañana tenemos una reunión sobre el presupuesto.
¿Puedes hacer un resumen del texto?
La factura llegó ayer pero falta una página.
Me duele la cabeza desde hace tres días.
¿Dónde puedo comprar un billete de tren?
Los niños juegan en el parque cuando hace sol.
Perdón, no entendí la pregunta.
Feliz cumpleaños y felices fiestas""",
    "italian": """Ciao a tutti, quando ci vediamo?
Buongiorno, vorrei prenotare una camera per due notti.
Gentile cliente,
Cordiali saluti
Distinti saluti,
Grazie mille per l'aiuto.
Salve, avrei una domanda sulla fattura.
Il cane dorme sotto il tavolo della cucina.
Scrivi una lettera per chiedere un rimborso.
Qual è la differenza tra le due offerte?
Domani c'è lo sciopero dei treni.
Puoi riassumere questo testo in dieci righe?
Ho bisogno di un appuntamento dal medico.
La pasta è pronta, il vino è in tavola.
Scusi, dov'è la stazione?
Buona giornata e a presto""",
    "portuguese": """Olá, preciso de ajuda com a minha encomenda.
Oi, tudo bem? Quando é a reunião?
Bom dia a todos,
Prezados senhores,
Atenciosamente,
Cumprimentos
Obrigado pela sua resposta.
O cachorro dorme na casa e o gato come.
Escreva um e-mail para pedir um reembolso.
Qual é a diferença entre os dois contratos?
Amanhã temos uma prova de matemática.
Você pode resumir este texto?
A fatura chegou ontem, mas falta uma página.
Desculpe, não entendi a pergunta.
Um abraço e até logo""",
    "dutch": """Hallo, ik heb een vraag over mijn bestelling.
Goedemorgen allemaal,
Geachte heer, mevrouw,
Met vriendelijke groet,
Groetjes en tot morgen
Bedankt voor je hulp.
De hond slaapt onder de tafel in de keuken.
Wat is het verschil tussen de twee contracten?
Schrijf een brief om mijn huur op te zeggen.
De rekening is gisteren gekomen, maar het pakje niet.
Kunt u dit samenvatten?
Het regent al drie dagen, morgen schijnt de zon.
Waar kan ik een kaartje kopen?
Fijne dag nog en tot ziens""",
    "swedish": """Hej, jag har en fråga om min beställning.
Hej alla,
God morgon allihopa!
Med vänlig hälsning
Vänliga hälsningar,
Tack så mycket för hjälpen.
Hunden sover under bordet i köket.
Vad är skillnaden mellan de två avtalen?
Skriv ett brev och säg upp mitt hyreskontrakt.
Kan du sammanfatta texten?
Imorgon är det möte om budgeten.
Trevlig helg!""",
    "danish_norwegian": """Hej, jeg har et spørgsmål om min ordre.
Hei alle sammen,
Med venlig hilsen
Vennlig hilsen
Mange tak for hjælpen.
Tusen takk for hjelpen.
Hunden sover under bordet i køkkenet.
Hva er forskjellen mellom de to avtalene?
Skriv et brev om at jeg vil have pengene tilbage.
Kan du oppsummere teksten?
I morgen er der møde om budgettet.
God helg!""",
    "finnish": """Hei, minulla on kysymys tilauksesta.
Hei kaikille,
Hyvää huomenta!
Ystävällisin terveisin
Kiitos paljon avusta.
Koira nukkuu pöydän alla keittiössä.
Mikä on ero näiden sopimusten välillä?
Kirjoita kirje, jossa irtisanon vuokrasopimuksen.
Voitko tiivistää tekstin?
Huomenna on kokous budjetista.
Hyvää viikonloppua!""",
    "polish": """Cześć, mam pytanie o zamówienie.
Dzień dobry, kiedy otwieracie sklep?
Szanowni Państwo,
Z poważaniem,
Pozdrawiam serdecznie
Dziękuję bardzo za pomoc.
Pies śpi pod stołem w kuchni.
Jaka jest różnica między tymi umowami?
Napisz list z prośbą o zwrot pieniędzy.
Czy możesz streścić ten tekst?
Jutro jest spotkanie w sprawie budżetu.
Przepraszam, nie rozumiem pytania.
Miłego dnia!""",
    "czech_slovak": """Dobrý den, mám otázku k objednávce.
Ahoj, kdy se sejdeme?
Vážení přátelé,
S pozdravem
Děkuji za pomoc.
Pes spí pod stolem v kuchyni.
Jaký je rozdíl mezi těmi smlouvami?
Napiš dopis, ve kterém žádám o vrácení peněz.
Můžeš shrnout ten text?
Ďakujem za odpoveď.
Pekný deň všetkým!""",
    "hungarian": """Szia, lenne egy kérdésem a rendelésről.
Tisztelt Hölgyem, Uram!
Üdvözlettel,
Köszönöm a segítséget.
A kutya az asztal alatt alszik a konyhában.
Mi a különbség a két szerződés között?
Írj egy levelet, amelyben visszakérem a pénzt.
Jó reggelt mindenkinek!""",
    "romanian": """Bună ziua, am o întrebare despre comandă.
Salut tuturor,
Stimată doamnă, stimate domn,
Cu stimă,
Mulțumesc pentru ajutor.
Câinele doarme sub masă în bucătărie.
Care este diferența dintre cele două contracte?
Scrie o scrisoare prin care cer banii înapoi.""",
    "turkish": """Merhaba, siparişim hakkında bir sorum var.
Günaydın arkadaşlar,
Sayın yetkili,
Saygılarımla,
Yardımınız için teşekkür ederim.
Köpek mutfakta masanın altında uyuyor.
İki sözleşme arasındaki fark nedir?
Para iadesi isteyen bir mektup yaz.
İyi günler dilerim.""",
    "south_slavic": """Dobar dan, imam pitanje o narudžbi.
Poštovani,
Lijep pozdrav
Srdačan pozdrav,
Hvala na pomoći.
Pas spava ispod stola u kuhinji.
Koja je razlika između ova dva ugovora?
Napiši pismo u kojem tražim povrat novca.
Pozdravljeni, kdaj je sestanek?""",
    "baltic": """Labas, turiu klausimą dėl užsakymo.
Gerbiamieji,
Pagarbiai
Labdien, man ir jautājums par pasūtījumu.
Ar cieņu
Tere, mul on küsimus tellimuse kohta.
Lugupidamisega
Aitäh abi eest!""",
    "russian_ukrainian": """Здравствуйте, у меня вопрос о заказе.
Добрый день, когда вы открываетесь?
Уважаемые коллеги,
С уважением,
Спасибо за помощь.
Собака спит под столом на кухне.
Какая разница между этими договорами?
Напиши письмо с просьбой вернуть деньги.
Привіт, коли буде зустріч?
Дякую за допомогу.""",
    "greek": """Γεια σας, έχω μια ερώτηση για την παραγγελία.
Καλημέρα σε όλους,
Αξιότιμοι κύριοι,
Με εκτίμηση,
Ευχαριστώ για τη βοήθεια.
Ο σκύλος κοιμάται κάτω από το τραπέζι.
Γράψε ένα γράμμα για επιστροφή χρημάτων.""",
    "english": """Greetings, I would like to ask about my order.
Greetings! How may I help you?
Regards, and thanks again
Cheers, see you tomorrow
Congrats! Well done everyone.
Welcome! Please take a seat.
Sorry, I missed your call.
Namaste, welcome to the class.
Shalom, all is well here.
Aloha! The shop is open.""",
}

# The same with names, as people write and sign.
NAMED = """Hallo {pf}, wie geht es dir?
Hallo {pf},\\ndanke für deine Nachricht.
Guten Tag Herr {pl}, wir haben Ihre Bestellung erhalten.
Guten Morgen Frau {pl},
Lieber {pf}, liebe {pf},
Liebe {pf},
Viele Grüße\\n{p}
Liebe Grüße, {pf}
Viele Grüße aus {c}
Grüße, {pf}
Schöne Grüße an {pf}!
Gruß {pf}
Danke {pf}!
Ist {pf} heute im Büro?
{pf} hat die {gn} gestern an {o} geschickt.
{p} ist {gn} bei {o} in {c}.
Die {gn} von {p} liegt in der {gn}.
Unser {gn} {p} wohnt in der {st}.
Bitte rufen Sie {p} an.
Frau {pl} aus {c} bittet um eine {gn}.
Der {gn} von {o} kommt aus {c}.
Am Montag fährt {pf} mit der Bahn nach {c}.
Ich war mit {pf} in {n} im Urlaub.
Bonjour {pf}, merci pour ton message.
Bonjour Madame {pl},
Salut {pf}, on se voit à {c} ?
Chère {pf},
Cher {pf}, chère {pf},
Merci {pf} !
Bises, {pf}
Monsieur {p} travaille à {c} depuis deux ans.
{pf} et {pf} sont partis en {n}.
J'ai parlé avec {p} de {o}.
Hola {pf}, ¿cómo estás?
Buenos días, señora {pl}:
Estimado {p}:
Querida {pf},
Saludos, {pf}
Un abrazo,\\n{pf}
Gracias {pf}
{p} trabaja en {o} desde hace dos años.
Mi amiga {pf} vive en {c}.
Ciao {pf}, come stai?
Buongiorno signor {pl},
Gentile {p},
Cara {pf},
Saluti, {pf}
Grazie {pf}!
{p} abita in {st}, {c}.
Ho parlato con {pf} di {o}.
Bom dia {pf}, tudo bem?
Prezado {p},
Abraços,\\n{pf}
Obrigado, {pf}
{p} trabalha na {o} em {c}.
Hoi {pf}, hoe gaat het?
Beste {pf},
Geachte mevrouw {pl},
Groetjes, {pf}
Bedankt {pf}!
{p} werkt bij {o} in {c}.
Hej {pf}, hur mår du?
Tack {pf}!
Hälsningar, {pf}
{p} arbetar på {o} i {c}.
Kære {pf},
Hilsen {pf}
Takk, {pf}
{p} jobber i {o} i {c}.
Hei {pf}, mitä kuuluu?
Terveisin {pf}
Kiitos {pf}!
Cześć {pf}, co słychać?
Szanowny Panie {pl},
Szanowna Pani {pl},
Pozdrawiam, {pf}
Dziękuję, {pf}
{p} pracuje w {o} w {c}.
Ahoj {pf}, jak se máš?
Vážený pane {pl},
S pozdravem {p}
Díky {pf}
{p} bydlí v {c}.
Szia {pf}, hogy vagy?
Kedves {pf}!
Üdvözlettel: {p}
Bună {pf}, ce mai faci?
Stimate domnule {pl},
Mulțumesc, {pf}
Merhaba {pf}, nasılsın?
Sayın {pl},
Teşekkürler {pf}
Saygılarımla,\\n{p}
Dragi {pf},
Poštovani gospodine {pl},
Hvala, {pf}
Labas {pf},
Tere {pf},
Greetings {pf},
Cheers {pf}
Welcome {pf}!
Congrats {pf}!
Namaste {pf}, how are you?
Salam {pf},""".splitlines()


def greetings():
    """Every greeting, alone and as it begins a line."""
    return sorted({word for words in GREETING.values() for word in words})


def little():
    return sorted({word for words in LITTLE.values() for word in words})


def plain():
    return [line for texts in PLAIN.values() for line in texts.splitlines()]
