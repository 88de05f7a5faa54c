"""Greetings, thanks, goodbye, and what this model is and can do, in ten languages.

Only clear forms are answered as talk, and an instruction to classify always gets the label. The
answer is a fixed sentence of the language of the message.
"""

from pools import sentence_case

# language: what it can do; greeting; who it is; welcome; goodbye
ANSWERS = {
    "English": (
        "I can convert units and dates, do small sums, pull values out of a text, reformat text,"
        " name a language, label a text with the labels that you give, and call your app's tools."
        " Other questions go to a larger model.",
        "Hello!",
        "I am Tandem's small on-device model.",
        "You're welcome!",
        "Goodbye!",
    ),
    "German": (
        "Ich kann Einheiten und Daten umrechnen, kleine Rechnungen lösen, Werte aus einem Text"
        " holen, Text umformen, eine Sprache nennen, Texte mit deinen Labels versehen und Tools"
        " deiner App aufrufen. Andere Fragen gehen an ein größeres Modell.",
        "Hallo!",
        "Ich bin das kleine Modell von Tandem auf diesem Gerät.",
        "Gern geschehen!",
        "Auf Wiedersehen!",
    ),
    "French": (
        "Je peux convertir des unités et des dates, faire de petits calculs, extraire des valeurs"
        " d'un texte, reformater un texte, nommer une langue, classer un texte selon vos"
        " étiquettes et appeler les outils de votre application. Les autres questions vont à un"
        " modèle plus grand.",
        "Bonjour !",
        "Je suis le petit modèle local de Tandem.",
        "De rien !",
        "Au revoir !",
    ),
    "Spanish": (
        "Puedo convertir unidades y fechas, hacer cuentas pequeñas, extraer valores de un texto,"
        " cambiar el formato de un texto, decir en qué idioma está, clasificarlo con tus etiquetas"
        " y llamar a las herramientas de tu aplicación. Otras preguntas van a un modelo más"
        " grande.",
        "¡Hola!",
        "Soy el pequeño modelo local de Tandem.",
        "¡De nada!",
        "¡Adiós!",
    ),
    "Italian": (
        "Posso convertire unità e date, fare piccoli calcoli, estrarre valori da un testo,"
        " riformattarlo, dirne la lingua, classificarlo con le tue etichette e chiamare gli"
        " strumenti della tua app. Le altre domande vanno a un modello più grande.",
        "Ciao!",
        "Sono il piccolo modello locale di Tandem.",
        "Prego!",
        "Arrivederci!",
    ),
    "Portuguese": (
        "Posso converter unidades e datas, fazer pequenas contas, extrair valores de um texto,"
        " reformatá-lo, dizer o idioma, classificá-lo com os seus rótulos e chamar as ferramentas"
        " da sua aplicação. Outras perguntas vão para um modelo maior.",
        "Olá!",
        "Sou o pequeno modelo local do Tandem.",
        "De nada!",
        "Adeus!",
    ),
    "Dutch": (
        "Ik kan eenheden en datums omrekenen, kleine sommen maken, waarden uit een tekst halen,"
        " tekst omvormen, een taal noemen, een tekst labelen met jouw labels en tools van je app"
        " aanroepen. Andere vragen gaan naar een groter model.",
        "Hallo!",
        "Ik ben het kleine lokale model van Tandem.",
        "Graag gedaan!",
        "Tot ziens!",
    ),
    "Swedish": (
        "Jag kan omvandla enheter och datum, göra små beräkningar, hämta värden ur en text,"
        " formatera om text, säga vilket språk det är, märka en text med dina etiketter och anropa"
        " appens verktyg. Andra frågor går till en större modell.",
        "Hej!",
        "Jag är Tandems lilla lokala modell.",
        "Varsågod!",
        "Hej då!",
    ),
    "Polish": (
        "Potrafię przeliczać jednostki i daty, robić małe obliczenia, wyciągać wartości z tekstu,"
        " zmieniać jego formę, nazwać język, oznaczyć tekst twoimi etykietami i wywołać narzędzia"
        " aplikacji. Inne pytania trafiają do większego modelu.",
        "Cześć!",
        "Jestem małym lokalnym modelem Tandem.",
        "Nie ma za co!",
        "Do widzenia!",
    ),
    "Turkish": (
        "Birimleri ve tarihleri dönüştürebilir, küçük hesaplar yapabilir, metinden değer"
        " çıkarabilir, metni biçimlendirebilir, dilini söyleyebilir, verdiğiniz etiketlerle"
        " etiketleyebilir ve uygulamanızın araçlarını çağırabilirim. Diğer sorular daha büyük bir"
        " modele gider.",
        "Merhaba!",
        "Ben Tandem'in cihazdaki küçük modeliyim.",
        "Rica ederim!",
        "Hoşça kalın!",
    ),
}
CAN, GREETING, _, WELCOME, BYE = ANSWERS["English"]
HELLO = f"{GREETING} {CAN}"

# language: greetings | thanks | goodbye | what can you do | who are you
FORMS = {
    "English": (
        "hi; hello; hey; hi there; hello there; hey there; good morning; good afternoon; good evening; greetings; hello tandem; hi tandem; howdy; hey tandem; hi, tandem; hello, nice to meet you; hiya; heya; good day; hello hello; hey, how are you; hi how are you; yo; morning; evening; hello friend; hey buddy; hi everyone; hello again; hey again",
        "thanks; thank you; thanks a lot; thank you very much; many thanks; thx; thank you so much; great, thanks; ok thanks; perfect, thank you; ty; thanks, tandem; cool, thanks; thank you tandem; thanks so much; awesome thanks; nice, thank you; that helped, thanks; cheers; much appreciated; tysm; thanks for your help; thank you for helping me; great thank you; good job, thanks; thanks again; perfect thanks",
        "bye; goodbye; bye bye; good night; see you; see you later; good bye; bye tandem; see you tomorrow; ok bye; see ya; cya; talk to you later; ttyl; take care; have a nice day; farewell; goodnight; bye for now; until next time; later; so long",
        "what can you do; what can you do for me; what can you help me with; help; how can you help me; what do you do; what are you able to do; what are your capabilities; what tasks can you do; what are you good at; list your capabilities; what can i use you for; what can i ask you; what can i ask; what should i ask you; what kind of things can you do; show me what you can do; how does this work; what are you for; what else can you do; tell me what you can do; what do you know how to do; what are your skills; what features do you have; which jobs can you do; help me get started; how do i use you; what could you do for me; what is it that you do; what are some things you can do; give me examples of what you can do; can you tell me what you can do; what questions can you answer; which questions can i ask; menu; commands; show commands; options; usage; /help; --help; what are you capable of; what r u able to do; wat can you do",
        "who are you; what are you; tell me about yourself; introduce yourself; what model are you; which model are you; what is tandem; are you gpt-4; who is tandem; describe yourself; which language model are you; what ai are you; are you a bot; are you an ai; are you a robot; are you human; are you a person; am i talking to a human; is this a bot; what is your name; what's your name; whats your name; do you have a name; who made you; who built you; who created you; what kind of ai are you; are you claude; are you llama; are you openai; are you siri; are you alexa; what are you called; how big are you; do you run locally; are you running on my device; are you a language model; which company made you; what version are you; who am i talking to; what am i talking to; what is this; what is this thing; who is this",
    ),
    "German": (
        "hallo tandem; guten tag; guten abend; servus; moin; grüß gott; hallo du; hallo zusammen; hi du; tag; grüezi; hallöchen; einen schönen guten tag",
        "danke; vielen dank; danke schön; dankeschön; danke dir; super, danke; besten dank; ok danke; danke sehr; herzlichen dank; danke für die hilfe",
        "tschüss; auf wiedersehen; bis bald; bis später; gute nacht; ciao; bis morgen; mach's gut; tschau",
        "was kannst du alles; was kannst du für mich tun; wobei kannst du helfen; hilfe; wie kannst du mir helfen; was machst du; welche aufgaben kannst du; was kann ich dich fragen; wozu bist du da; was können sie; zeig mir was du kannst; was sind deine fähigkeiten",
        "wer bist du; was bist du; wie heißt du; bist du ein mensch; bist du eine ki; bist du ein roboter; stell dich vor; welches modell bist du; wer hat dich gemacht; was ist tandem; bist du chatgpt; wer sind sie; erzähl mir von dir",
    ),
    "French": (
        "bonjour; salut; bonsoir; coucou; bonjour tandem; salut toi; bonjour à tous; allô; bien le bonjour; salut tandem",
        "merci; merci bien; un grand merci; super merci; merci à toi; ok merci; merci pour ton aide; mille mercis; parfait, merci",
        "au revoir; à bientôt; bonne nuit; à plus; à demain; bonne journée; salut à bientôt; adieu",
        "que peux-tu faire; que sais-tu faire; qu'est-ce que tu peux faire; aide; aide-moi; comment peux-tu m'aider; à quoi sers-tu; que pouvez-vous faire; que puis-je te demander; quelles sont tes capacités; tu sais faire quoi",
        "qui es tu; tu es qui; qui êtes-vous; comment tu t'appelles; quel est ton nom; es-tu un robot; es-tu humain; présente-toi; quel modèle es-tu; qui t'a créé; qu'est-ce que tandem; tu es une ia",
    ),
    "Spanish": (
        "hola; buenos días; buenas tardes; buenas noches; hola tandem; hola qué tal; muy buenas; buenas; hola amigo; saludos",
        "gracias; muchas gracias; mil gracias; gracias por tu ayuda; ok gracias; vale, gracias; perfecto, gracias; genial gracias; muy amable",
        "adiós; hasta luego; hasta mañana; chao; nos vemos; hasta pronto; que tengas un buen día; hasta la vista",
        "qué sabes hacer; qué puedes hacer por mí; ayuda; en qué me puedes ayudar; cómo puedes ayudarme; para qué sirves; qué haces; qué te puedo preguntar; cuáles son tus funciones; qué cosas puedes hacer; muéstrame lo que puedes hacer",
        "quién eres; qué eres; cómo te llamas; cuál es tu nombre; eres un robot; eres humano; eres una ia; preséntate; qué modelo eres; quién te creó; qué es tandem; háblame de ti",
    ),
    "Italian": (
        "ciao; buongiorno; buonasera; salve; ciao tandem; ehi; buon pomeriggio; ciao a tutti",
        "grazie; grazie mille; molte grazie; ti ringrazio; ok grazie; perfetto, grazie; grazie per l'aiuto",
        "arrivederci; a presto; buonanotte; ci vediamo; a domani; addio; buona giornata",
        "cosa sai fare; cosa puoi fare; che cosa puoi fare per me; aiuto; come puoi aiutarmi; a cosa servi; cosa posso chiederti; quali sono le tue capacità",
        "chi sei; cosa sei; come ti chiami; sei un robot; sei umano; presentati; che modello sei; chi ti ha creato; cos'è tandem; sei un'intelligenza artificiale",
    ),
    "Portuguese": (
        "olá; oi; bom dia; boa tarde; boa noite; olá tandem; oi tudo bem; e aí; olá a todos",
        "obrigado; obrigada; muito obrigado; valeu; ok obrigado; perfeito, obrigado; obrigado pela ajuda",
        "tchau; até logo; até amanhã; adeus; até mais; até breve; bom descanso",
        "o que você pode fazer; o que sabes fazer; o que podes fazer; ajuda; como você pode me ajudar; para que você serve; o que posso perguntar; quais são as suas funções",
        "quem é você; quem és tu; o que é você; qual é o seu nome; como você se chama; você é um robô; você é humano; apresente-se; que modelo é você; quem criou você; o que é o tandem",
    ),
    "Dutch": (
        "hoi; goedemorgen; goedemiddag; goedenavond; dag; hoi tandem; hallo daar; hé; goedendag",
        "dank je; dank je wel; bedankt; dankjewel; hartelijk dank; ok bedankt; super, bedankt; bedankt voor je hulp",
        "doei; tot ziens; tot later; tot morgen; welterusten; dag hoor; tot snel",
        "wat kun je; wat kan je doen; wat kun je voor me doen; help mij; hoe kun je me helpen; waar ben je goed in; wat kan ik je vragen; wat zijn je mogelijkheden",
        "wie ben je; wat ben jij; wat ben je; hoe heet je; ben je een robot; ben je een mens; stel jezelf voor; welk model ben je; wie heeft je gemaakt; wat is tandem precies",
    ),
    "Swedish": (
        "hej; hejsan; god morgon; god kväll; tjena; hallå; hej tandem; god dag; tja",
        "tack; tack så mycket; stort tack; tusen tack; ok tack; perfekt, tack; tack för hjälpen",
        "hej då; adjö; vi ses; god natt; vi hörs; ha det bra; hejdå",
        "vad kan du göra; vad kan du; hjälp; vad kan du hjälpa mig med; hur kan du hjälpa mig; vad är du bra på; vad kan jag fråga dig",
        "vem är du; vad är du; vad heter du; är du en robot; är du en människa; presentera dig; vilken modell är du; vem har skapat dig; vad är tandem",
    ),
    "Polish": (
        "cześć; dzień dobry; dobry wieczór; witaj; hejka; cześć tandem; witam; siema",
        "dziękuję; dzięki; dziękuję bardzo; wielkie dzięki; ok dzięki; super, dzięki; dziękuję za pomoc",
        "do widzenia; pa; do zobaczenia; dobranoc; na razie; do jutra; cześć, pa",
        "co potrafisz; co umiesz; co możesz zrobić; pomoc; pomóż mi; jak możesz mi pomóc; do czego służysz; o co mogę cię zapytać",
        "kim jesteś; czym jesteś; jak się nazywasz; jak masz na imię; jesteś robotem; jesteś człowiekiem; przedstaw się; jakim modelem jesteś; kto cię stworzył; co to jest tandem",
    ),
    "Turkish": (
        "merhaba; selam; günaydın; iyi akşamlar; iyi günler; merhaba tandem; selamlar; tünaydın",
        "teşekkürler; teşekkür ederim; çok teşekkürler; sağ ol; sağolun; eyvallah; yardımın için teşekkürler",
        "hoşça kal; görüşürüz; iyi geceler; güle güle; sonra görüşürüz; bay bay; kendine iyi bak",
        "ne yapabilirsin; neler yapabilirsin; yardım; bana nasıl yardım edebilirsin; ne işe yararsın; sana ne sorabilirim; yeteneklerin neler",
        "sen kimsin; kimsin; sen nesin; adın ne; robot musun; insan mısın; kendini tanıt; hangi modelsin; seni kim yaptı; tandem nedir",
    ),
}


def answers(language):
    """The answers to the five kinds of FORMS."""
    can, hello, who, welcome, bye = ANSWERS[language]
    return f"{hello} {can}", welcome, bye, can, f"{who} {can}"


TALK = {
    language: list(zip(answers(language), [[x.strip() for x in f.split(";")] for f in forms]))
    for language, forms in FORMS.items()
}
CLEAR = {form.strip(" ?!.¿¡") for pairs in TALK.values() for _, forms in pairs for form in forms}
ENGLISH_SHARE = 0.55


def is_talk(utterance):
    """True for the forms that are answered as talk when they stand alone."""
    return utterance.lower().strip(" ?!.¿¡") in CLEAR


def example(rng, split="train"):
    """(messages, answer)"""
    language = "English" if rng.random() < ENGLISH_SHARE else rng.choice(list(TALK))
    kind = rng.randrange(5)
    answer, forms = TALK[language][kind]
    text = rng.choice(forms)
    style = rng.random()
    if style < 0.5:
        text = sentence_case(text)
    elif style < 0.55:
        text = text.upper()
    question = kind > 2 and " " in text
    if rng.random() < 0.6 and text[-1] not in "!?.":
        text += "?" if question else rng.choice(["!", ".", "!", ""])
        if language == "Spanish" and text[-1] in "?!" and rng.random() < 0.6:
            text = ("¿" if text[-1] == "?" else "¡") + text
        elif language == "French" and text[-1] in "?!" and rng.random() < 0.5:
            text = f"{text[:-1]} {text[-1]}"
    return [("user", text)], answer
