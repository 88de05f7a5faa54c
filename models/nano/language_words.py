"""Sentences of ten languages for task_language.py, written for it. {n} is a small number, {name} a
first name, {city} a city: things that say nothing about the language."""

from pools import lines

SENTENCES = {
    "English": lines("""
The train to {city} leaves in {n} minutes.
I would like a cup of coffee without sugar.
Where did you put the keys to the car?
My sister works at a school near the river.
We are going to the market tomorrow morning.
It has been raining since yesterday evening.
Could you please open the window?
The children are playing in the garden.
He forgot his umbrella on the bus again.
There are {n} people waiting outside.
She has never been to {city} before.
This book is much better than the film.
What time does the shop close today?
They bought a new house last year.
I do not understand what you mean.
Please send me the report before Friday.
The doctor said that everything is fine.
Can I pay by card or only in cash?
Our neighbours have two dogs and a cat.
Thank you very much for your help.
{name} told me that the meeting was cancelled.
The soup is too hot, wait a little.
You should write your name on every page.
Nobody knows why the lights went out.
I will call you back when I get home.
Her birthday is in the middle of the summer.
Which of these bags is yours?
If the weather is good we will walk.
The bread smells wonderful this morning.
He learned to swim when he was {n} years old.
Do you want to eat with us tonight?
Turn left after the bridge, then go straight.
I have lost my ticket.
That was the best day of my life.
"""),
    "German": lines("""
Der Zug nach {city} fährt in {n} Minuten ab.
Ich hätte gern einen Kaffee ohne Zucker.
Wo hast du die Autoschlüssel hingelegt?
Meine Schwester arbeitet in einer Schule am Fluss.
Wir gehen morgen früh auf den Markt.
Es regnet schon seit gestern Abend.
Könnten Sie bitte das Fenster öffnen?
Die Kinder spielen im Garten.
Er hat seinen Schirm wieder im Bus vergessen.
Draußen warten {n} Leute.
Sie war noch nie in {city}.
Dieses Buch ist viel besser als der Film.
Wann macht der Laden heute zu?
Letztes Jahr haben sie ein neues Haus gekauft.
Ich verstehe nicht, was du meinst.
Bitte schicken Sie mir den Bericht vor Freitag.
Der Arzt hat gesagt, dass alles in Ordnung ist.
Kann ich mit Karte zahlen oder nur bar?
Unsere Nachbarn haben zwei Hunde und eine Katze.
Vielen Dank für Ihre Hilfe.
{name} sagte mir, dass das Treffen ausfällt.
Die Suppe ist zu heiß, warte ein bisschen.
Du solltest deinen Namen auf jede Seite schreiben.
Niemand weiß, warum das Licht ausging.
Ich rufe dich zurück, wenn ich zu Hause bin.
Ihr Geburtstag ist mitten im Sommer.
Welche von diesen Taschen gehört dir?
Wenn das Wetter gut ist, gehen wir zu Fuß.
Das Brot riecht heute Morgen wunderbar.
Er lernte schwimmen, als er {n} Jahre alt war.
Möchtest du heute Abend mit uns essen?
Nach der Brücke links und dann geradeaus.
Ich habe meine Fahrkarte verloren.
Das war der schönste Tag meines Lebens.
"""),
    "French": lines("""
Le train pour {city} part dans {n} minutes.
Je voudrais un café sans sucre.
Où as-tu mis les clés de la voiture ?
Ma sœur travaille dans une école près de la rivière.
Nous allons au marché demain matin.
Il pleut depuis hier soir.
Pourriez-vous ouvrir la fenêtre, s'il vous plaît ?
Les enfants jouent dans le jardin.
Il a encore oublié son parapluie dans le bus.
Il y a {n} personnes qui attendent dehors.
Elle n'est jamais allée à {city}.
Ce livre est bien meilleur que le film.
À quelle heure ferme le magasin aujourd'hui ?
Ils ont acheté une nouvelle maison l'année dernière.
Je ne comprends pas ce que tu veux dire.
Merci de m'envoyer le rapport avant vendredi.
Le médecin a dit que tout allait bien.
Je peux payer par carte ou seulement en espèces ?
Nos voisins ont deux chiens et un chat.
Merci beaucoup pour votre aide.
{name} m'a dit que la réunion était annulée.
La soupe est trop chaude, attends un peu.
Tu devrais écrire ton nom sur chaque page.
Personne ne sait pourquoi la lumière s'est éteinte.
Je te rappelle quand je serai chez moi.
Son anniversaire est au milieu de l'été.
Lequel de ces sacs est à toi ?
S'il fait beau, nous irons à pied.
Le pain sent très bon ce matin.
Il a appris à nager à {n} ans.
Veux-tu manger avec nous ce soir ?
Tournez à gauche après le pont, puis tout droit.
J'ai perdu mon billet.
C'était le plus beau jour de ma vie.
"""),
    "Spanish": lines("""
El tren a {city} sale en {n} minutos.
Quisiera un café sin azúcar.
¿Dónde has puesto las llaves del coche?
Mi hermana trabaja en una escuela cerca del río.
Mañana por la mañana vamos al mercado.
Está lloviendo desde ayer por la noche.
¿Podría abrir la ventana, por favor?
Los niños juegan en el jardín.
Se olvidó otra vez el paraguas en el autobús.
Hay {n} personas esperando fuera.
Ella nunca ha estado en {city}.
Este libro es mucho mejor que la película.
¿A qué hora cierra la tienda hoy?
El año pasado compraron una casa nueva.
No entiendo lo que quieres decir.
Por favor, envíame el informe antes del viernes.
El médico dijo que todo está bien.
¿Puedo pagar con tarjeta o solo en efectivo?
Nuestros vecinos tienen dos perros y un gato.
Muchas gracias por su ayuda.
{name} me dijo que la reunión se canceló.
La sopa está muy caliente, espera un poco.
Deberías escribir tu nombre en cada página.
Nadie sabe por qué se apagó la luz.
Te llamo cuando llegue a casa.
Su cumpleaños es a mitad del verano.
¿Cuál de estas bolsas es la tuya?
Si hace buen tiempo, iremos andando.
El pan huele muy bien esta mañana.
Aprendió a nadar cuando tenía {n} años.
¿Quieres cenar con nosotros esta noche?
Gire a la izquierda después del puente y siga recto.
He perdido mi billete.
Fue el mejor día de mi vida.
"""),
    "Italian": lines("""
Il treno per {city} parte fra {n} minuti.
Vorrei un caffè senza zucchero.
Dove hai messo le chiavi della macchina?
Mia sorella lavora in una scuola vicino al fiume.
Domani mattina andiamo al mercato.
Piove da ieri sera.
Potrebbe aprire la finestra, per favore?
I bambini giocano in giardino.
Ha dimenticato di nuovo l'ombrello sull'autobus.
Ci sono {n} persone che aspettano fuori.
Lei non è mai stata a {city}.
Questo libro è molto meglio del film.
A che ora chiude il negozio oggi?
L'anno scorso hanno comprato una casa nuova.
Non capisco che cosa vuoi dire.
Per favore mandami la relazione prima di venerdì.
Il medico ha detto che va tutto bene.
Posso pagare con la carta o solo in contanti?
I nostri vicini hanno due cani e un gatto.
Grazie mille per il suo aiuto.
{name} mi ha detto che la riunione è stata annullata.
La zuppa è troppo calda, aspetta un po'.
Dovresti scrivere il tuo nome su ogni pagina.
Nessuno sa perché si è spenta la luce.
Ti richiamo quando arrivo a casa.
Il suo compleanno è in piena estate.
Quale di queste borse è la tua?
Se il tempo è bello andremo a piedi.
Il pane ha un buon profumo stamattina.
Ha imparato a nuotare quando aveva {n} anni.
Vuoi mangiare con noi stasera?
Giri a sinistra dopo il ponte e poi sempre dritto.
Ho perso il mio biglietto.
È stato il giorno più bello della mia vita.
"""),
    "Portuguese": lines("""
O comboio para {city} parte em {n} minutos.
Eu gostaria de um café sem açúcar.
Onde você colocou as chaves do carro?
A minha irmã trabalha numa escola perto do rio.
Amanhã de manhã vamos ao mercado.
Está a chover desde ontem à noite.
Poderia abrir a janela, por favor?
As crianças estão brincando no jardim.
Ele esqueceu outra vez o guarda-chuva no ônibus.
Há {n} pessoas esperando lá fora.
Ela nunca esteve em {city}.
Este livro é muito melhor do que o filme.
A que horas a loja fecha hoje?
Eles compraram uma casa nova no ano passado.
Não entendo o que você quer dizer.
Por favor, envie-me o relatório antes de sexta-feira.
O médico disse que está tudo bem.
Posso pagar com cartão ou só em dinheiro?
Os nossos vizinhos têm dois cães e um gato.
Muito obrigado pela sua ajuda.
{name} me disse que a reunião foi cancelada.
A sopa está muito quente, espere um pouco.
Você deveria escrever o seu nome em cada página.
Ninguém sabe por que a luz se apagou.
Eu te ligo quando chegar em casa.
O aniversário dela é no meio do verão.
Qual destas bolsas é a sua?
Se o tempo estiver bom, vamos a pé.
O pão cheira muito bem esta manhã.
Ele aprendeu a nadar quando tinha {n} anos.
Quer jantar conosco hoje à noite?
Vire à esquerda depois da ponte e siga em frente.
Perdi o meu bilhete.
Foi o melhor dia da minha vida.
"""),
    "Dutch": lines("""
De trein naar {city} vertrekt over {n} minuten.
Ik wil graag een koffie zonder suiker.
Waar heb je de autosleutels neergelegd?
Mijn zus werkt op een school bij de rivier.
Morgenochtend gaan we naar de markt.
Het regent al sinds gisteravond.
Kunt u alstublieft het raam openen?
De kinderen spelen in de tuin.
Hij is zijn paraplu weer vergeten in de bus.
Er staan {n} mensen buiten te wachten.
Zij is nog nooit in {city} geweest.
Dit boek is veel beter dan de film.
Hoe laat gaat de winkel vandaag dicht?
Ze hebben vorig jaar een nieuw huis gekocht.
Ik begrijp niet wat je bedoelt.
Stuur me alsjeblieft het verslag voor vrijdag.
De dokter zei dat alles in orde is.
Kan ik met een kaart betalen of alleen contant?
Onze buren hebben twee honden en een kat.
Hartelijk bedankt voor uw hulp.
{name} vertelde me dat de vergadering niet doorgaat.
De soep is te heet, wacht even.
Je moet je naam op elke bladzijde schrijven.
Niemand weet waarom het licht uitging.
Ik bel je terug als ik thuis ben.
Haar verjaardag is midden in de zomer.
Welke van deze tassen is van jou?
Als het mooi weer is, gaan we lopen.
Het brood ruikt heerlijk vanochtend.
Hij leerde zwemmen toen hij {n} jaar oud was.
Wil je vanavond met ons mee-eten?
Ga na de brug linksaf en dan rechtdoor.
Ik ben mijn kaartje kwijt.
Dat was de mooiste dag van mijn leven.
"""),
    "Swedish": lines("""
Tåget till {city} går om {n} minuter.
Jag skulle vilja ha en kaffe utan socker.
Var har du lagt bilnycklarna?
Min syster arbetar på en skola vid floden.
I morgon bitti går vi till torget.
Det har regnat sedan i går kväll.
Kan ni vara snäll och öppna fönstret?
Barnen leker i trädgården.
Han glömde sitt paraply på bussen igen.
Det är {n} personer som väntar utanför.
Hon har aldrig varit i {city}.
Den här boken är mycket bättre än filmen.
När stänger affären i dag?
De köpte ett nytt hus förra året.
Jag förstår inte vad du menar.
Skicka mig rapporten före fredag, tack.
Läkaren sade att allt är bra.
Kan jag betala med kort eller bara kontant?
Våra grannar har två hundar och en katt.
Tack så mycket för hjälpen.
{name} berättade att mötet är inställt.
Soppan är för varm, vänta lite.
Du borde skriva ditt namn på varje sida.
Ingen vet varför lyset slocknade.
Jag ringer dig när jag kommer hem.
Hennes födelsedag är mitt i sommaren.
Vilken av de här väskorna är din?
Om vädret är fint går vi till fots.
Brödet luktar underbart i morse.
Han lärde sig simma när han var {n} år.
Vill du äta med oss i kväll?
Sväng vänster efter bron och sedan rakt fram.
Jag har tappat bort min biljett.
Det var den bästa dagen i mitt liv.
"""),
    "Polish": lines("""
Pociąg do {city} odjeżdża za {n} minut.
Poproszę kawę bez cukru.
Gdzie położyłeś klucze do samochodu?
Moja siostra pracuje w szkole nad rzeką.
Jutro rano idziemy na targ.
Od wczoraj wieczorem pada deszcz.
Czy może pan otworzyć okno?
Dzieci bawią się w ogrodzie.
Znowu zapomniał parasola w autobusie.
Na zewnątrz czeka {n} osób.
Ona nigdy nie była w {city}.
Ta książka jest dużo lepsza niż film.
O której dziś zamykają sklep?
W zeszłym roku kupili nowy dom.
Nie rozumiem, co masz na myśli.
Proszę wysłać mi raport przed piątkiem.
Lekarz powiedział, że wszystko jest w porządku.
Czy mogę zapłacić kartą, czy tylko gotówką?
Nasi sąsiedzi mają dwa psy i kota.
Bardzo dziękuję za pomoc.
{name} powiedział mi, że spotkanie zostało odwołane.
Zupa jest za gorąca, poczekaj chwilę.
Powinieneś napisać swoje imię na każdej stronie.
Nikt nie wie, dlaczego zgasło światło.
Zadzwonię do ciebie, kiedy wrócę do domu.
Jej urodziny są w środku lata.
Która z tych toreb jest twoja?
Jeśli będzie ładna pogoda, pójdziemy pieszo.
Chleb pięknie pachnie dziś rano.
Nauczył się pływać, kiedy miał {n} lat.
Chcesz zjeść z nami dziś wieczorem?
Za mostem skręć w lewo, a potem prosto.
Zgubiłem swój bilet.
To był najlepszy dzień mojego życia.
"""),
    "Turkish": lines("""
{city} treni {n} dakika içinde kalkıyor.
Şekersiz bir kahve istiyorum.
Arabanın anahtarlarını nereye koydun?
Kız kardeşim nehrin yanındaki bir okulda çalışıyor.
Yarın sabah pazara gidiyoruz.
Dün akşamdan beri yağmur yağıyor.
Pencereyi açabilir misiniz lütfen?
Çocuklar bahçede oynuyor.
Şemsiyesini yine otobüste unuttu.
Dışarıda {n} kişi bekliyor.
O daha önce hiç {city} şehrine gitmedi.
Bu kitap filmden çok daha iyi.
Dükkan bugün saat kaçta kapanıyor?
Geçen yıl yeni bir ev aldılar.
Ne demek istediğini anlamıyorum.
Lütfen raporu cumadan önce bana gönderin.
Doktor her şeyin yolunda olduğunu söyledi.
Kartla ödeyebilir miyim yoksa sadece nakit mi?
Komşularımızın iki köpeği ve bir kedisi var.
Yardımınız için çok teşekkür ederim.
{name} bana toplantının iptal edildiğini söyledi.
Çorba çok sıcak, biraz bekle.
Adını her sayfaya yazmalısın.
Işıkların neden söndüğünü kimse bilmiyor.
Eve varınca seni ararım.
Onun doğum günü yazın ortasında.
Bu çantalardan hangisi senin?
Hava güzel olursa yürüyerek gideriz.
Ekmek bu sabah çok güzel kokuyor.
{n} yaşındayken yüzmeyi öğrendi.
Bu akşam bizimle yemek ister misin?
Köprüden sonra sola dön, sonra düz git.
Biletimi kaybettim.
Hayatımın en güzel günüydü.
"""),
}

# Frequent words: what gives a language away in any text.
FREQUENT = {
    name: text.split()
    for name, text in {
        "English": (
            """the of and to in is that it was for on are with they this have from not but what
        all were when your can said there each which their will about many then them would these
        some people could because after always never really house water money friend work"""
        ),
        "German": (
            """der die das und ist nicht mit ein eine auch auf für sich von dem dass wir ihr sind
        wird oder aber wie noch nach bei nur durch über immer nie wirklich weil wenn schon sehr mehr
        Haus Wasser Geld Freund Arbeit machen können müssen heute morgen"""
        ),
        "French": (
            """le la les des est une pour dans que qui sur avec pas plus nous vous sont mais cette
        tout comme ont fait être avoir aussi très toujours jamais vraiment parce quand maison eau
        argent ami travail aujourd'hui demain bien rien quelque chose"""
        ),
        "Spanish": (
            """el la los las una que por con para está como pero más este esta todo muy también
        hay cuando porque siempre nunca donde quien hacer tiene puede desde hasta nosotros casa agua
        dinero amigo trabajo hoy mañana nada algo bien"""
        ),
        "Italian": (
            """il lo gli che non una per con sono della del questo questa anche come più ma molto
        quando perché sempre mai dove chi fare essere hanno può tutto noi voi casa acqua soldi amico
        lavoro oggi domani niente qualcosa bene"""
        ),
        "Portuguese": (
            """que não uma para com os as dos das mais como mas foi muito também quando porque
        sempre nunca onde quem fazer tem pode está são você nós isso este casa água dinheiro amigo
        trabalho hoje amanhã nada coisa bem"""
        ),
        "Dutch": (
            """het een van dat niet zijn met voor hij die ook maar naar aan bij nog wel wat heeft
        kan worden omdat altijd nooit waar wie doen veel meer goed huis water geld vriend werk
        vandaag morgen niets iets onze deze"""
        ),
        "Swedish": (
            """och att det som för den inte med till har jag var ett han hon men om sig från kan
        när också eftersom alltid aldrig mycket mer bra göra vara hus vatten pengar vän arbete idag
        ingenting något våra dessa efter under"""
        ),
        "Polish": (
            """nie się jest na że to z do jak ale po co tak za od przez jego był są dla może kiedy
        też ponieważ zawsze nigdy gdzie kto robić mieć bardzo więcej dobrze dom woda pieniądze
        przyjaciel praca dziś jutro nic coś"""
        ),
        "Turkish": (
            """bir ve bu için da de ne çok daha gibi var yok ama en olarak kadar sonra ben sen
        biz onlar her zaman hiç nerede kim yapmak olmak çünkü değil iyi ev su para arkadaş iş bugün
        yarın hiçbir şey bazı önce"""
        ),
    }.items()
}
