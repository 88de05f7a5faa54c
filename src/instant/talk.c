/* A message is talk when every word of it is one of those below, in one language. What asks for
 * more counts before what greets: "hi, what can you do?" asks. */
#include "instant/talk.h"

enum talk { TALK_HI, TALK_BYE, TALK_THANKS, TALK_WHO, TALK_CAN, TALK_COUNT };

static const struct {
    const char *asks[TALK_COUNT]; /* phrases of words_eat */
    const char *around;           /* what may stand beside them */
    const char *says[TALK_COUNT]; /* a greeting also says what can be done */
} languages[] = {
    {{"hi|hello|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|morning",
      "goodbye|good bye|good night|goodnight|bye|see you|see ya|take care|have a nice day|farewell",
      "thank you|thanks|thx|ty|cheers|much appreciated",
      "who are you|what are you|who made you|who built you|what is your name|what's your name|"
      "whats your name|tell me about yourself|introduce yourself|are you a bot|are you a robot|"
      "are you an ai|are you human|which model are you|what model are you|what is tandem",
      "what can you do|what can u do|what can you help me with|how can you help me|what do you do|"
      "what are you able to do|what are your capabilities|what can i ask you|what can i ask|"
      "what questions can you answer|what kind of things can you do|tell me what you can do|"
      "show me what you can do|how do i use you|how does this work|what are you for|"
      "what are you good at|help me|help"},
     "there|tandem|again|everyone|everybody|friend|buddy|mate|my|all|how are you|how is it going|"
     "how's it going|a lot|so much|very much|for your help|for me|for now|for today|for helping me|"
     "later|tomorrow|ok|okay|great|cool|nice|perfect|awesome|so|and|well|then|now|please|exactly|"
     "really|to meet you|that's|thats|it|!|?|.|,",
     {"Hello!", "Goodbye!", "You're welcome!", "I am Tandem's small on-device model.",
      "I can convert units and dates, do sums, pull values out of a text, rewrite it, name its "
      "language, and label it with labels that you give. Other questions need a larger model."}},
    {{"hallo|hi|guten tag|guten morgen|guten abend|servus|moin|grüß gott",
      "auf wiedersehen|tschüss|tschau|bis bald|bis später|bis morgen|gute nacht|mach's gut",
      "vielen dank|besten dank|herzlichen dank|danke schön|danke sehr|dankeschön|danke",
      "wer bist du|was bist du|wie heißt du|bist du ein mensch|bist du eine ki|"
      "bist du ein roboter|welches modell bist du|wer hat dich gemacht|was ist tandem",
      "was kannst du|wobei kannst du helfen|wie kannst du mir helfen|was machst du|"
      "welche aufgaben kannst du|was kann ich dich fragen|zeig mir was du kannst|hilfe"},
     "tandem|du|dir|ihr|zusammen|alles|für mich tun|für die hilfe|für deine hilfe|und|so|denn|ok|"
     "super|eigentlich|genau|bitte|!|?|.|,",
     {"Hallo!", "Auf Wiedersehen!", "Gern geschehen!",
      "Ich bin das kleine Modell von Tandem auf diesem Gerät.",
      "Ich kann Einheiten und Daten umrechnen, Rechnungen lösen, Werte aus einem Text holen, ihn "
      "umformen, seine Sprache nennen und ihn mit deinen Labels versehen. Andere Fragen brauchen "
      "ein größeres Modell."}},
    {{"bonjour|salut|bonsoir|coucou",
      "au revoir|à bientôt|bonne nuit|à plus|à demain|bonne journée",
      "merci beaucoup|merci bien|mille mercis|merci",
      "qui es - tu|qui es tu|tu es qui|qui êtes - vous|comment tu t'appelles|es - tu un robot|"
      "es - tu humain|quel modèle es - tu",
      "que peux - tu faire|que sais - tu faire|comment peux - tu m'aider|à quoi sers - tu|"
      "que pouvez - vous faire|aide - moi|aide"},
     "tandem|toi|à tous|pour ton aide|pour votre aide|et|alors|ok|super|parfait|exactement|!|?|.|,",
     {"Bonjour !", "Au revoir !", "De rien !", "Je suis le petit modèle local de Tandem.",
      "Je peux convertir des unités et des dates, calculer, extraire des valeurs d'un texte, le "
      "reformater, en nommer la langue et le classer selon vos étiquettes. Les autres questions "
      "demandent un modèle plus grand."}},
    {{"hola|buenos días|buenas tardes|buenas", "adiós|hasta luego|hasta mañana|hasta pronto|chao",
      "muchas gracias|mil gracias|gracias",
      "quién eres|qué eres|cómo te llamas|cuál es tu nombre|eres un robot|eres humano",
      "qué sabes hacer|qué puedes hacer|en qué me puedes ayudar|cómo puedes ayudarme|"
      "para qué sirves|ayuda"},
     "tandem|amigo|qué tal|por tu ayuda|por mí|y|ok|vale|perfecto|genial|!|?|.|,",
     {"¡Hola!", "¡Adiós!", "¡De nada!", "Soy el pequeño modelo local de Tandem.",
      "Puedo convertir unidades y fechas, hacer cuentas, extraer valores de un texto, cambiar su "
      "formato, decir su idioma y clasificarlo con tus etiquetas. Otras preguntas necesitan un "
      "modelo más grande."}},
    {{"ciao|buongiorno|buonasera|salve", "arrivederci|a presto|buonanotte|a domani",
      "grazie mille|molte grazie|grazie", "chi sei|cosa sei|come ti chiami|sei un robot",
      "cosa sai fare|cosa puoi fare|che cosa puoi fare|come puoi aiutarmi|aiuto"},
     "tandem|a tutti|per l'aiuto|e|ok|perfetto|!|?|.|,",
     {"Ciao!", "Arrivederci!", "Prego!", "Sono il piccolo modello locale di Tandem.",
      "Posso convertire unità e date, fare calcoli, estrarre valori da un testo, riformattarlo, "
      "dirne la lingua e classificarlo con le tue etichette. Le altre domande richiedono un "
      "modello più grande."}},
};

/* False when a word is none of the language's. */
static bool find_talk(const struct words *words, size_t language, enum talk *found)
{
    struct words rest = *words;
    bool any = false;
    *found = TALK_HI;
    while (!words_ended(&rest)) {
        size_t before = rest.next;
        for (int i = TALK_COUNT - 1; i >= 0 && rest.next == before; i--)
            if (words_eat(&rest, languages[language].asks[i])) {
                *found = any && *found > (enum talk)i ? *found : (enum talk)i;
                any = true;
            }
        if (rest.next == before && !words_eat(&rest, languages[language].around))
            return false;
    }
    return any;
}

bool talk_answer(struct words *words, struct buf *out)
{
    enum talk found;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (!find_talk(words, i, &found))
            continue;
        buf_append_str(out, str_from(languages[i].says[found]));
        if (found == TALK_HI)
            buf_printf(out, " %s", languages[i].says[TALK_CAN]);
        return true;
    }
    return false;
}
