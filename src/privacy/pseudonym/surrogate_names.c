/* Chooses names that replace names, and owns their lists.
 *
 * A reader, and a model, should not stumble over a surrogate: it has the name's script, and the
 * language and gender that its spelling suggests. These are guesses from letters, endings and the
 * commonest given names; a wrong guess only makes a less natural text. */
#include "privacy/pseudonym/surrogate_names.h"

#include "base/assertion.h"
#include "base/str.h"
#include "base/utf8.h"
#include "privacy/pseudonym/word_list.h"
#include "privacy/text/spell.h"

/* clang-format off */
static const char *const lists[NAMES_GROUP_COUNT][NAME_PART_COUNT] = {
[NAMES_ENGLISH] = {
"Adela Agatha Annabel Beatrix Bettina Camilla Cecily Clarissa Cordelia Davina Delphine Dorothea Edwina Eleonora Elspeth Eloise "
"Ernestine Evangeline Fenella Geraldine Guinevere Gwendolyn Henrietta Imelda Isadora Isolde Josephine Kirsten Leonora Lorna "
"Lucinda Marcella Marguerite Matilda Mirabel Nadine Octavia Ophelia Philippa Rosalind Rowena Selma Sybil Tabitha "
"Theodora Ursula Valerie Wilhelmina Winifred Zelda",
"Adrian Alistair Barnaby Bertram Cedric Clifford Conrad Cuthbert Damian Desmond Duncan Edgar Edmund Everett Fergus Gareth "
"Gilbert Godfrey Hector Horace Humphrey Ignatius Ivor Julian Kendrick Lambert Leopold Lionel Magnus Malcolm Maurice Montgomery "
"Norris Orson Percival Quentin Reginald Roderick Roland Rufus Rupert Sheldon Sylvester Thaddeus Tobias Ulric Vernon Wendell "
"Wilfred Winston Zachariah",
"Abernathy Ainsworth Aldridge Ashworth Atherton Babcock Bancroft Beckwith Bickford Bradshaw Brantley Calloway Carmichael "
"Chadwick Claypool Colburn Crenshaw Culpepper Dalrymple Davenport Denholm Dinsmore Eastwick Ellsworth Fairfax Fitzroy Galbraith "
"Garrick Gillespie Greenhalgh Hathaway Haverford Hollister Huxley Ingram Jarrett Kettering Kilgore Kirkland Langford Lockwood "
"Loxley Mandeville Merriweather Middleton Netherby Northcott Oakhurst Ormsby Pemberton Penhallow Quimby Radcliffe Ravenscroft "
"Rutherford Selwyn Somerville Standish Stanhope Templeton Thackeray Thornbury Tillman Underhill Vandermeer Wadsworth Wetherby "
"Whitcomb Winslow Wolcott Yardley"},
[NAMES_GERMAN] = {
"Adelheid Annegret Brunhilde Christel Dorothee Edeltraud Elfriede Friederike Gerlinde Gisela Gundula Hannelore Hedwig Heidrun "
"Hildegard Ingeborg Irmgard Kunigunde Liselotte Mechthild Ottilie Roswitha Sieglinde Ulrike Waltraud Wiebke",
"Albrecht Alfons Bernhard Burkhard Dietmar Eberhard Eckehard Egon Erwin Friedhelm Gernot Gottfried Gunther Hartmut Helmut "
"Heribert Ingolf Joachim Konrad Lothar Ludger Manfred Norbert Ottmar Reinhold Rudolf Siegfried Thilo Ulrich Volkmar Waldemar "
"Winfried",
"Achternbusch Ahlers Baumgarten Bergmeister Brandstetter Brinkmann Dornbach Eichhorst Falkenberg Feddersen Grabowski Hagedorn "
"Hallstein Heimbach Hohenfeld Immendorf Jahnke Kaltenbach Kirchhoff Kluthe Landmesser Lindenau Mehringer Nordhoff Oberhauser "
"Osterkamp Petersdorf Quandt Reifenberg Rosenthal Schallenberg Sonnleitner Steinbrecher Tannhauser Uhlenbrock Vogelsang "
"Wackernagel Weidenfeld Wiesengrund Zangerl Zumthor"},
[NAMES_FRENCH] = {
"Adeline Apolline Bernadette Capucine Celestine Clementine Delphine Eglantine Ernestine Eugenie Fernande Georgette Ghislaine "
"Hortense Huguette Josiane Leontine Lucette Marceline Mireille Odette Paulette Sidonie Solange Suzette Yolande",
"Achille Adrien Alphonse Ambroise Anatole Armand Aurelien Baptiste Barnabe Basile Cyprien Edmond Fernand Firmin Gaspard "
"Ghislain Gontran Honore Isidore Leandre Leopold Marcelin Octave Philibert Raoul Sylvain Thibault Urbain Valentin",
"Archambault Beaumanoir Bellefontaine Bonnefoy Chastaing Clairvaux Delacourt Delmas Desrochers Duchesne Escoffier "
"Fauconnier Fontenay Grandmaison Hautecoeur Jolivet Lachaise Lamoureux Lavergne Maisonneuve Malherbe Montagnier Morvan Peltier "
"Quesnel Rochefort Rousselot Saintonge Tavernier Thibodeau Vaillancourt Verdier Villeneuve"},
[NAMES_SPANISH] = {
"Adelaida Aurelia Casilda Casimira Encarna Eulalia Fernanda Genoveva Graciela Guillermina Hermenegilda Hortensia Jacinta "
"Leocadia Leonor Macarena Rosalia Saturnina Ximena Yolanda",
"Abelardo Adolfo Agustin Baldomero Bartolome Casimiro Celestino Cristobal Eleuterio Emiliano Esteban Evaristo Facundo Feliciano "
"Fermin Gonzalo Heriberto Hilario Ildefonso Joaquin Leandro Macario Nicanor Osvaldo Primitivo Rigoberto Salustiano Teodoro "
"Valeriano",
"Albarracin Alcaraz Arguelles Balmaseda Barrientos Benavides Calatrava Carranza Cifuentes Echeverria Escalante "
"Fuentealba Gallardo Guadarrama Huidobro Iturbide Jaramillo Ledesma Lizarraga Madariaga Mondragon Montalban Navarrete Olivares "
"Palomares Quintanilla Rebolledo Saavedra Salvatierra Tordesillas Urrutia Valdivieso Villalobos Zamorano Zubizarreta"},
[NAMES_ITALIAN] = {
"Adelina Agnese Albertina Benedetta Brunella Carmela Celestina Clementina Donatella Eleonora Ersilia Filomena Fiorella Gelsomina "
"Ginevra Immacolata Lavinia Leonilda Lucrezia Mafalda Ornella Palmira Raffaella Serafina Tosca Vittoria",
"Achille Adelmo Agostino Baldassare Bartolomeo Calogero Carmine Cosimo Domenico Egidio Ercole Ermanno Fabrizio Ferruccio "
"Gaetano Gennaro Girolamo Ignazio Leopoldo Massimiliano Nazzareno Oreste Pasquale Quirino Raimondo Saverio Tarcisio Ubaldo "
"Vincenzo",
"Acciaioli Bartolini Bevilacqua Boccadoro Brancaleone Campofregoso Castellani Cornaro Dandolo Donadoni Fioravanti "
"Frescobaldi Gambacorta Garibaldo Giustiniani Grimaldi Lanfranchi Malatesta Mancinelli Montefeltro Ordelaffi Palavicini "
"Passalacqua Quattrocchi Rondinelli Santacroce Serbelloni Tornabuoni Ubaldini Valmarana Zaccaria"},
[NAMES_SLAVIC] = {
"Bogumila Bronislava Cecylia Danuta Dobromira Felicja Genowefa Halina Helena Irena Jadwiga Kazimiera Ludmila Malgorzata "
"Milena Natalia Otylia Radoslava Regina Stanislava Teodora Urszula Wanda Wieslawa Zdenka Zofia",
"Bogdan Boguslav Bronislav Czeslaw Dobromir Ferdynand Grzegorz Henryk Igor Jaromir Kazimierz Leszek Lubomir Miroslav Przemyslav "
"Radomir Rostislav Seweryn Slawomir Tadeusz Wincenty Wladyslaw Zbigniew Zdenek Zygmunt",
"Bartoszewski Bielawski Chmielarz Czarnota Dabrowiecki Gajewicz Grodzinski Hajduk Jablonowski Janiszek Kalinowicz Kopeczek "
"Kostelnik Krasnodebski Lipinowski Malinowicz Nowotarski Olszanski Piekarczyk Podhorski Radziwonik Rogowicz Sadowniczak "
"Sikorowski Stachurek Tomaszewicz Urbaniec Wasilczuk Wolanin Zawadowicz Zielonka"},
[NAMES_NORDIC] = {
"Agneta Annika Asta Birgitta Dagmar Ebba Elin Frida Gudrun Gunilla Hedda Helga Hjordis Ingegerd Jorunn Karin Kerstin Liv "
"Maren Ragnhild Sigrid Solveig Svanhild Thora Torunn Turid Vigdis",
"Anders Arvid Asbjorn Bengt Birger Bjarne Eilert Einar Eskil Folke Gunnar Gustav Halvard Hjalmar Ingvar Jorgen Kjell Leif "
"Magnus Njal Oddvar Ragnar Rasmus Sigurd Sverre Torbjorn Trygve Ulf Vidar",
"Aakermann Bergstrand Bjorklund Brandvold Dalgaard Ekelund Enevoldsen Fagerholm Forsberg Granquist Haglund Hallberg Hedegaard "
"Holmgren Ingebrigtsen Kjellberg Kvistgaard Lagerkvist Lindqvist Lundgren Mortensen Norrgard Ostergaard Rasmussen Rosendahl "
"Sandstrom Skovgaard Soderblom Thorvaldsen Tveit Vestergaard Wahlstrom Westerlund Ytterberg"},
[NAMES_TURKISH] = {
"Ayfer Aysel Bahar Belgin Canan Dilara Emine Feride Gonca Hande Leyla Meltem Nalan Nermin Pinar Sevgi Sibel Tulay Yasemin Zerrin",
"Adnan Alper Bedri Burak Cemal Ercan Ferit Haldun Hikmet Ilhan Kadir Levent Mahir Nevzat Orhan Rasim Selim Tarik Turgut Zeki",
"Akbulut Aksoy Altintas Bayraktar Bozkurt Candemir Cetinkaya Demirbas Dogruyol Erdemir Gokalp Gunduz Karabulut Kiziltan "
"Kocaman Ozdogan Sarikaya Tanriverdi Topcu Uysal Yalcinkaya Yurdakul Zorlu"},
[NAMES_CYRILLIC] = {
"Агафья Аглая Антонина Валерия Варвара Василиса Виолетта Галина Дарина Евдокия Жанна Зинаида Инга Капитолина Клавдия Лариса "
"Лидия Майя Нонна Олеся Пелагея Раиса Серафима Таисия Ульяна Фаина Эльвира",
"Анатолий Арсений Афанасий Богдан Вадим Валентин Вениамин Вячеслав Герман Глеб Демьян Ефим Захар Игнат Иннокентий Казимир "
"Клим Лаврентий Лев Макар Назар Платон Прохор Ростислав Святослав Тарас Федот Эдуард Яков",
"Абрикосов Белозеров Богатырёв Вересаев Воскресенский Голенищев Громыхалов Дорогомилов Журавлёв Заболоцкий Звягинцев "
"Измайлов Каменский Кольцов Лиховцев Лопатин Мещеряков Набоков Одинцов Перепёлкин Пустовалов Разумовский Сабуров Салтыков "
"Тихомиров Ушаков Хлебников Черемисов Шереметев Юсупов Ярославцев"},
[NAMES_GREEK] = {
"Αγγελική Αθηνά Ανθή Αρετή Γεωργία Ευαγγελία Ευδοκία Ζωή Θεοδώρα Ιφιγένεια Καλλιόπη Μαργαρίτα Ναυσικά Ουρανία Πηνελόπη Φωτεινή",
"Αλέξανδρος Αναστάσιος Αριστείδης Βασίλειος Γεράσιμος Δημοσθένης Ευάγγελος Θεόδωρος Λεωνίδας Μιλτιάδης Νικηφόρος Περικλής "
"Σωτήρης Φίλιππος Χαράλαμπος",
"Αγγελόπουλος Βαρδαλάκης Γεωργακάκης Δημητρακόπουλος Ζαχαριάδης Θεοδωρίδης Καλογερόπουλος Λαμπράκης Μαυρομιχάλης Νικολαΐδης "
"Ξενάκης Παπαδιαμάντης Ραπτόπουλος Σταματόπουλος Τσακίρης Φραγκούλης Χατζηδάκης"},
[NAMES_CHINESE] = {
"雪梅 秀英 丽华 淑芬 玉兰 晓燕 美玲 佳怡 春桃 慧敏 婉清 若兰", "建国 志强 文博 浩然 俊杰 国栋 宏伟 永康 子轩 明远 思源 振华",
"欧阳 司徒 上官 诸葛 慕容 东方 司马 夏侯 尉迟 皇甫 宇文 长孙"},
[NAMES_KANA] = {
"アヤメ カスミ サツキ ツバキ ヒナタ マドカ ヨシノ", "アキラ カツオ シゲル タケシ ノボル マサル ヨシオ",
"アオヤマ イシカワ カワバタ サイトウ タカハシ ナカムラ ハヤシダ マツモト"},
[NAMES_KOREAN] = {
"하윤 서아 나래 보람 은별 다솜 예린", "도윤 시우 건우 태준 현석 재훈 민혁", "남궁 황보 제갈 선우 독고 사공 서문"},
[NAMES_ARABIC] = {
"أميرة بثينة جميلة رقية سعاد شيماء نجلاء هالة", "باسم حمزة رشيد سليمان طارق عدنان فيصل مروان",
"البغدادي الحكيم الخوري الدمشقي الزيات الشامي القباني النحاس"},
[NAMES_HEBREW] = {
"אביגיל דבורה חנה יעל נעמי רבקה שולמית", "אהרון בנימין גדעון יהושע מנחם שלמה", "אברמוביץ ברקוביץ גולדשטיין פרידמן רוזנברג שפירא"},
[NAMES_DEVANAGARI] = {
"अनुराधा कावेरी दमयंती मंजुला यशोदा सुलोचना", "आदित्य देवेंद्र महेश राजेश विक्रम सुरेश", "अग्निहोत्री चतुर्वेदी दीक्षित भारद्वाज मिश्रा शुक्ला"},
};

/* The commonest given names, to tell whose a name is and that it is a given one. */
static const char common_female[] =
    " mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly "
    "emily donna michelle carol amanda melissa deborah stephanie dorothy rebecca sharon laura cynthia amy kathleen angela "
    "shirley brenda emma anna pamela nicole samantha katherine christine helen debra rachel carolyn janet maria catherine "
    "heather diane olivia julie joyce victoria ruth virginia lauren kelly christina joan evelyn judith andrea hannah megan "
    "cheryl jacqueline martha madison teresa gloria sara janice ann kathryn abigail sophia frances jean alice judy isabella "
    "julia denise amber danielle theresa beverly charlotte marie natalie diana brittany doris kayla alexis lori jane kate anne "
    "eva sophie lena lea mia clara klara leonie ursula monika petra sabine renate heike katrin claudia birgit susanne nina "
    "camille chloe manon juliette isabelle nathalie sylvie lucie elena carmen lucia marta pilar rosa ana isabel paula sofia "
    "giulia chiara francesca martina alessia valentina federica katarzyna agnieszka malgorzata joanna ewa magdalena zofia "
    "olga irina natasha tatiana svetlana ekaterina anastasia ingrid astrid fatima aisha layla mariam priya anita мария анна "
    "елена ольга наталья ирина татьяна светлана екатерина анастасия юлия ";
static const char common_male[] =
    " james john robert michael david william richard joseph thomas charles christopher daniel matthew anthony donald steven "
    "paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary nicholas eric jonathan "
    "stephen larry justin scott brandon benjamin samuel gregory alexander frank patrick raymond jack dennis jerry tyler aaron "
    "jose adam nathan henry douglas zachary peter kyle ethan walter noah jeremy christian keith roger terry harry ralph sean "
    "jesse roy louis billy bruce eugene jordan albert dylan alan philip russell juan harold liam mason oliver lucas simon "
    "martin max paul leon lukas jonas felix hans klaus jurgen wolfgang stefan andreas markus matthias sebastian tobias florian "
    "pierre jean michel philippe nicolas julien antoine luis carlos miguel antonio manuel javier pedro pablo diego jorge "
    "marco luca giuseppe giovanni francesco andrea alessandro matteo lorenzo piotr krzysztof tomasz pawel marcin jakub ivan "
    "dmitri sergei vladimir alexei nikolai mikhail lars erik nils olaf sven mohammed muhammad ahmed ali omar hassan ibrahim raj "
    "arjun wei иван александр сергей дмитрий андрей алексей михаил николай владимир евгений ";
static const char particles[] =
    " von van der den de del della di da dos das du la le los las el al bin ibn ben bint abu zu zur vom and und y e et i og "
    "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev fr sr sra srta don dona herr frau fraulein monsieur "
    "madame mademoiselle signor signora signorina mme mlle pan pani jr sr ii iii iv phd md esq st saint o mc mac ";
/* clang-format on */

bool surrogate_names_is_particle(struct td_str word)
{
    return word_list_has(particles, word);
}

static bool ends_with_any(struct td_str folded, const char *const *endings)
{
    for (; *endings; endings++)
        if (str_ends_with(folded, str_from(*endings)))
            return true;
    return false;
}

/* Latin spellings that tell a language: by a letter beyond ASCII, or by the phrase's ending. The
 * first row that fits counts. */
static const struct spelling {
    enum name_group group;
    const char *letters;
    const char *endings[12]; /* the last is NULL */
} spellings[] = {
    {NAMES_SLAVIC,
     "ąćčďęěłńňřśšťůźżžđ",
     {"ski", "ska", "cki", "cka", "wicz", "czyk", "ova", "ovic", "enko", "vic"}},
    {NAMES_TURKISH, "ğış", {NULL}},
    {NAMES_NORDIC, "åæø", {"sson", "ssen", "nsen", "rsen", "gaard", "strom", "qvist"}},
    {NAMES_GERMAN,
     "äöüß",
     {"mann", "stein", "berger", "bauer", "huber", "schmidt", "müller", "meier", "meyer", "maier"}},
    {NAMES_SPANISH, "ñãõíóáú", {"ez", "eira", "ção", "illo"}},
    {NAMES_ITALIAN, "", {"ini", "elli", "etti", "ucci", "ione", "aldi", "ossi"}},
    {NAMES_FRENCH, "èéêëçâôîï", {"eau", "eaux", "ier", "oux", "ois"}},
};

static bool has_any_letter(struct td_str folded, const char *letters)
{
    struct td_str text = str_from(letters);
    for (size_t at = 0; at < text.len;) {
        size_t begin = at;
        (void)utf8_next(text, &at);
        if (str_find(folded, str_slice(text, begin, at), 0) != SIZE_MAX)
            return true;
    }
    return false;
}

static enum name_group latin_group(struct td_str folded)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (has_any_letter(folded, spellings[i].letters) ||
            ends_with_any(folded, spellings[i].endings))
            return spellings[i].group;
    return NAMES_ENGLISH;
}

/* NAMES_GROUP_COUNT: Latin, or no script of ours. */
static enum name_group script_group(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        enum name_group group;
    } scripts[] = {
        {0x370, 0x3FF, NAMES_GREEK},       {0x400, 0x52F, NAMES_CYRILLIC},
        {0x5D0, 0x5FF, NAMES_HEBREW},      {0x620, 0x6FF, NAMES_ARABIC},
        {0x900, 0x97F, NAMES_DEVANAGARI},  {0x3041, 0x30FF, NAMES_KANA},
        {0xAC00, 0xD7AF, NAMES_KOREAN},    {0x3400, 0x9FFF, NAMES_CHINESE},
        {0x20000, 0x3134F, NAMES_CHINESE},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c >= scripts[i].first && c <= scripts[i].last)
            return scripts[i].group;
    return NAMES_GROUP_COUNT;
}

enum name_group surrogate_names_group_of(struct td_str phrase)
{
    enum name_group group = NAMES_GROUP_COUNT;
    for (struct sign sign = spell_at(phrase, 0, false);
         sign.kind != SIGN_END && group == NAMES_GROUP_COUNT;
         sign = spell_at(phrase, sign.end, false))
        if (sign.kind == SIGN_LETTER)
            group = script_group(sign.c);
    if (group != NAMES_GROUP_COUNT)
        return group;
    struct buf folded;
    buf_init(&folded, phrase.len * 4 + 16);
    spell_fold(phrase, &folded);
    group = latin_group(buf_view(&folded));
    buf_deinit(&folded);
    return group;
}

enum name_part surrogate_names_part_of(struct td_str word)
{
    return word_list_has(common_female, word) ? NAME_FEMALE
           : word_list_has(common_male, word) ? NAME_MALE
                                              : NAME_FAMILY;
}

enum name_part surrogate_names_gender_of(struct td_str word)
{
    enum name_part known = surrogate_names_part_of(word);
    if (known != NAME_FAMILY)
        return known;
    struct buf folded;
    buf_init(&folded, 256);
    spell_fold(word, &folded);
    static const char *const female[] = {"a", "elle", "ine", "ette", "а", "я", "α", "η", NULL};
    bool is_female = ends_with_any(buf_view(&folded), female);
    buf_deinit(&folded);
    return is_female ? NAME_FEMALE : NAME_MALE;
}

size_t surrogate_names_count(enum name_group group, enum name_part part)
{
    ASSERT((unsigned)group < NAMES_GROUP_COUNT && (unsigned)part < NAME_PART_COUNT);
    size_t count = 0;
    struct td_str rest = str_from(lists[group][part]), word;
    while (str_next(&rest, ' ', &word))
        count++;
    return count;
}

struct td_str surrogate_names_at(enum name_group group, enum name_part part, size_t index)
{
    ASSERT((unsigned)group < NAMES_GROUP_COUNT && (unsigned)part < NAME_PART_COUNT);
    struct td_str rest = str_from(lists[group][part]), word = {NULL, 0};
    for (size_t i = 0; i <= index; i++)
        if (!str_next(&rest, ' ', &word))
            return (struct td_str){NULL, 0};
    return word;
}

void surrogate_names_invent(uint64_t number, struct buf *out)
{
    static const char *const onsets[] = {"B", "Br", "D", "Dr", "F", "G", "Gr", "H",
                                         "K", "Kl", "L", "M",  "N", "P", "Pr", "R",
                                         "S", "Sk", "T", "Tr", "V", "W", "Z",  "Qu"};
    static const char *const vowels[] = {"a", "e", "i", "o", "u", "ae", "oa"};
    static const char *const middles[] = {"ld", "lm", "lv", "mb", "nd", "ndr", "nv", "rb",
                                          "rk", "rl", "rm", "rv", "sk", "st",  "vr", "zd"};
    static const char *const endings[] = {"an", "aris", "ek", "el",  "eris", "ik",  "ira",
                                          "is", "on",   "or", "oso", "um",   "une", "ys"};
#define PICK(list)                                                                    \
    (buf_append_str(out, str_from((list)[number % (sizeof(list) / sizeof *(list))])), \
     number /= sizeof(list) / sizeof *(list))
    PICK(onsets);
    PICK(vowels);
    PICK(middles);
    PICK(vowels);
    PICK(middles);
    PICK(endings);
#undef PICK
}
