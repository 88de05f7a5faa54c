/* A table of units; a quantity is brought to its dimension's first unit and from there to the one
 * that is asked for. What is ambiguous is left out: tons, German pounds, currencies, kibibytes. */
#include "instant/units.h"

#include <math.h>

enum dimension { LENGTH, MASS, VOLUME, TIME, SPEED, AREA, DATA, ENERGY, POWER, TEMPERATURE };
/* Within one system a conversion comes out exactly, between two it is rounded. */
enum system { METRIC, IMPERIAL };

struct unit {
    const char *names; /* phrases of words_eat, the longer ones first */
    const char *one, *many;
    enum dimension dimension;
    enum system system;
    double size, zero; /* in the dimension's base unit: size * (value - zero) */
};

static const struct unit units[] = {
    {"mm|millimeters|millimetres|millimeter|millimetre|milimetros|milímetros", "mm", "mm", LENGTH,
     METRIC, 0.001, 0},
    {"cm|cms|centimeters|centimetres|centimeter|centimetre|zentimeter|centimètres|"
     "centimetri|centímetros|centimetros",
     "cm", "cm", LENGTH, METRIC, 0.01, 0},
    {"km|kms|kilometers|kilometres|kilometer|kilometre|kilometern|kilomètres|"
     "kilómetros|kilometros|quilômetros|chilometri",
     "km", "km", LENGTH, METRIC, 1000, 0},
    {"m|meters|metres|meter|metre|metern|mètres|metros|metri", "m", "m", LENGTH, METRIC, 1, 0},
    {"inches|inch|in|zoll|pouces|pulgadas|pollici|polegadas|\"", "in", "in", LENGTH, IMPERIAL,
     0.0254, 0},
    {"feet|foot|ft|fuß|fuss|pieds|pies|piedi|pés", "ft", "ft", LENGTH, IMPERIAL, 0.3048, 0},
    {"yards|yard|yds|yd", "yd", "yd", LENGTH, IMPERIAL, 0.9144, 0},
    {"mph|miles per hour|miles an hour|mi / h|meilen pro stunde", "mph", "mph", SPEED, IMPERIAL,
     0.44704, 0},
    {"nautical miles|nautical mile|nmi|seemeilen", "nmi", "nmi", LENGTH, IMPERIAL, 1852, 0},
    {"miles|mile|mi|meilen|meile|millas|milla|miglia|milhas", "mi", "mi", LENGTH, IMPERIAL,
     1609.344, 0},

    {"mg|milligrams|milligram|milligramm|miligramos", "mg", "mg", MASS, METRIC, 1e-6, 0},
    {"kg|kgs|kilograms|kilogram|kilogramm|kilogrammes|kilogramos|kilos|kilo|chili|quilos", "kg",
     "kg", MASS, METRIC, 1, 0},
    {"g|grams|gram|gramm|grammes|gramos|grammi|gramas", "g", "g", MASS, METRIC, 1e-3, 0},
    {"tonnes|tonne|metric tons|metric ton", "t", "t", MASS, METRIC, 1000, 0},
    {"lbs|lb|pounds|pound|libras|libbre", "lb", "lb", MASS, IMPERIAL, 0.45359237, 0},
    {"fluid ounces|fluid ounce|fl oz", "fl oz", "fl oz", VOLUME, IMPERIAL, 0.0295735295625, 0},
    {"ounces|ounce|oz|unzen|onces|onzas", "oz", "oz", MASS, IMPERIAL, 0.028349523125, 0},
    {"stones|stone|st", "st", "st", MASS, IMPERIAL, 6.35029318, 0},

    {"ml|milliliters|millilitres|milliliter|millilitre|mililitros", "ml", "ml", VOLUME, METRIC,
     0.001, 0},
    {"cl|centiliters|centilitres", "cl", "cl", VOLUME, METRIC, 0.01, 0},
    {"liters|litres|liter|litre|l|litern|litros|litri", "l", "l", VOLUME, METRIC, 1, 0},
    {"us gallons|us gallon|gallons|gallon|gal|gallonen|galones|galloni", "gal", "gal", VOLUME,
     IMPERIAL, 3.785411784, 0},
    {"quarts|quart|qt", "qt", "qt", VOLUME, IMPERIAL, 0.946352946, 0},
    {"cups|cup", "cup", "cups", VOLUME, IMPERIAL, 0.2365882365, 0},
    {"tablespoons|tablespoon|tbsp", "tbsp", "tbsp", VOLUME, IMPERIAL, 0.01478676478125, 0},
    {"teaspoons|teaspoon|tsp", "tsp", "tsp", VOLUME, IMPERIAL, 0.00492892159375, 0},

    {"milliseconds|millisecond|ms|millisekunden", "millisecond", "milliseconds", TIME, METRIC,
     0.001, 0},
    {"seconds|second|secs|sec|s|sekunden|sekunde|secondes|segundos|secondi", "second", "seconds",
     TIME, METRIC, 1, 0},
    {"minutes|minute|mins|min|minuten|minutos|minuti", "minute", "minutes", TIME, METRIC, 60, 0},
    {"hours|hour|hrs|hr|h|stunden|stunde|heures|heure|horas|hora|ore|uren", "hour", "hours", TIME,
     METRIC, 3600, 0},
    {"days|day|tage|tag|tagen|jours|jour|días|dias|día|giorni|dagen", "day", "days", TIME, METRIC,
     86400, 0},
    {"weeks|week|wochen|woche|semaines|semaine|semanas|semana|settimane|weken", "week", "weeks",
     TIME, METRIC, 604800, 0},

    {"kph|kmh|km / h|kilometers per hour|kilometres per hour|kilometers an hour|km per hour",
     "km/h", "km/h", SPEED, METRIC, 1 / 3.6, 0},
    {"m / s|meters per second|metres per second", "m/s", "m/s", SPEED, METRIC, 1, 0},
    {"knots|knot|kn|knoten", "kn", "kn", SPEED, IMPERIAL, 1852.0 / 3600, 0},

    {"square meters|square metres|square meter|square metre|sq m|m²|quadratmeter", "m²", "m²", AREA,
     METRIC, 1, 0},
    {"square feet|square foot|sq ft|sqft|ft²", "sq ft", "sq ft", AREA, IMPERIAL, 0.09290304, 0},
    {"square kilometers|square kilometres|km²|quadratkilometer", "km²", "km²", AREA, METRIC, 1e6,
     0},
    {"square miles|square mile|sq mi", "sq mi", "sq mi", AREA, IMPERIAL, 2589988.110336, 0},
    {"hectares|hectare|ha|hektar", "ha", "ha", AREA, METRIC, 1e4, 0},
    {"acres|acre", "acre", "acres", AREA, IMPERIAL, 4046.8564224, 0},

    {"kilobytes|kilobyte|kb", "kB", "kB", DATA, METRIC, 1e3, 0},
    {"megabytes|megabyte|mb", "MB", "MB", DATA, METRIC, 1e6, 0},
    {"gigabytes|gigabyte|gb", "GB", "GB", DATA, METRIC, 1e9, 0},
    {"terabytes|terabyte|tb", "TB", "TB", DATA, METRIC, 1e12, 0},

    {"kw|kilowatts|kilowatt", "kW", "kW", POWER, METRIC, 1000, 0},
    {"watts|watt", "W", "W", POWER, METRIC, 1, 0},

    {"kcal|kilocalories", "kcal", "kcal", ENERGY, IMPERIAL, 4.184, 0},
    {"kj|kilojoules|kilojoule", "kJ", "kJ", ENERGY, METRIC, 1, 0},

    {"degrees celsius|degree celsius|degrees c|degrees centigrade|grad celsius|degrés celsius|"
     "grados celsius|gradi celsius|° c|°c|celsius|centigrade|c",
     "°C", "°C", TEMPERATURE, METRIC, 1, 0},
    {"degrees fahrenheit|degree fahrenheit|degrees f|grad fahrenheit|degrés fahrenheit|"
     "grados fahrenheit|gradi fahrenheit|° f|°f|fahrenheit|f",
     "°F", "°F", TEMPERATURE, IMPERIAL, 5.0 / 9, 32},
    {"kelvin|k", "K", "K", TEMPERATURE, METRIC, 1, 273.15},
};
#define UNIT_COUNT (sizeof units / sizeof *units)

static const struct unit *unit_named(const char *symbol)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i].one, symbol) == 0)
            return &units[i];
    return NULL;
}

struct quantity {
    double base; /* in the dimension's base unit */
    const struct unit *unit;
};

/* Eats the longest name of a unit; NULL when none comes. "(lb)" of "Pfund (lb)" says what is meant.
 */
static const struct unit *eat_unit(struct words *words)
{
    size_t begin = words->next, longest = begin;
    const struct unit *found = NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        words->next = begin;
        if (words_eat(words, units[i].names) && words->next > longest) {
            longest = words->next;
            found = &units[i];
        }
    }
    words->next = begin;
    if (!found && !words_eat(words, "pfund|livres"))
        return NULL;
    if (found)
        words->next = longest;
    size_t before = words->next;
    if (words_eat(words, "(")) {
        const struct unit *meant = eat_unit(words);
        if (meant && words_eat(words, ")"))
            return meant;
        words->next = before;
    }
    return found;
}

static double base_of(double value, const struct unit *unit)
{
    return unit->size * (value - unit->zero);
}

static bool eat_count(struct words *words, double *out)
{
    bool negative = words_eat(words, "-|minus");
    if (words_eat_number(words, out)) {
        if (negative)
            *out = -*out;
        return true;
    }
    *out = 1;
    return !negative && words_eat(words, "an|a|one|einem|einer|einen|eine|ein|une|un|una|uno|een");
}

/* What stands around a quantity and the unit that is asked for. Which of the two comes first does
 * not matter: "5 km in miles", "how many miles are 5 km", "Target unit: miles. Quantity: 5 km". */
#define AROUND                                                                                     \
    "can you|could "                                                                               \
    "you|convert|convrt|covert|converted|conversion|change|turn|translate|express|expressed|give|" \
    "write|rewrite|normalise|normalize|return|tell|show|put|need|want|get|from|"                   \
    "what is|what's|whats|what are|how much is|how much are|how far is|how heavy is|how hot is|"   \
    "how cold is|how long is|how tall is|how big is|how fast is|how many|how much|equal|equals|"   \
    "make|makes|are there|do i have|is|are|i|it says|it is|it|this|that|these|the|value|quantity|" \
    "amount|measure|measurement|target|wanted|unit|units|input|output|me|us|of|in|into|to|as|for|" \
    "by|please|now|was ist|was sind|wie viel sind|wie viel ist|wieviel sind|wieviel ist|"          \
    "wie warm sind|wie viele|wieviele|wie viel|wieviel|rechne|sind|ist|hat|haben|um|umrechnen|"    \
    "nach|zu|combien font|combien fait|combien de|combien d|convertis|convertir|font|fait|sont|"   \
    "y a - t - il|il y a|dans|en|convierte|cuánto son|cuanto son|cuánto es|cuántos|cuántas|"   \
    "cuantos|cuantas|son|hay|tiene|tienen|a|converti|quanto fa|quanto fanno|quanti|quante|"        \
    "sono|ci sono|quanto são|quantos|quantas|converte|são|em|para|hoeveel is|hoeveel|zijn|"      \
    "zet|om|naar|hur mycket är|hur många|är|i|till|ile to jest|ile|w|kaç|=|?|:|.|,|>|- >"

/* The inches of "5 ft 11 in": the last word may be the one that joins, as in "5 ft 11 in cm". */
static void eat_inches(struct words *words, struct quantity *feet)
{
    double inches;
    size_t before = words->next;
    if (!words_eat_number(words, &inches) || inches >= 12) {
        words->next = before;
        return;
    }
    feet->base += inches * 0.0254;
    if (words_eat(words, "inches|inch|\""))
        return;
    before = words->next;
    if (words_eat(words, "in")) {
        size_t after = words->next;
        words->next = words_eat(words, "in|to|into|as|=|>|- >") ? after : before;
    }
}

/* "5 miles", "-5 C", "an hour", "5 ft 11 in", 5'11" */
static bool eat_quantity(struct words *words, struct quantity *out)
{
    double value;
    if (!eat_count(words, &value))
        return false;
    out->unit = words_eat(words, "'") ? unit_named("ft") : eat_unit(words);
    if (!out->unit)
        return false;
    out->base = base_of(value, out->unit);
    if (out->unit == unit_named("ft"))
        eat_inches(words, out);
    return true;
}

#define ABSOLUTE_ZERO (-273.15) /* degrees Celsius, which is what temperatures are based on */
#define HAIR 1e-9               /* what the arithmetic of a double may add to nothing */

static bool write(const struct quantity *from, const struct unit *to, struct buf *out)
{
    if (from->unit->dimension != to->dimension || from->unit == to)
        return false;
    double least = to->dimension == TEMPERATURE ? ABSOLUTE_ZERO : 0;
    if (from->base < least - HAIR)
        return false;
    double value = from->base / to->size + to->zero;
    if (to->dimension == TEMPERATURE && fabs(value) < HAIR)
        value = 0;
    double size = fabs(value), millionths = size * 1e6;
    bool even = fabs(millionths - round(millionths)) < 1e-3;
    int decimals = from->unit->system == to->system && even ? 6 : 2;
    if (size < 1 && decimals < 6)
        decimals++; /* a small number keeps its first digits */
    size_t begin = out->len;
    if (!words_write_number(out, value, decimals))
        return false;
    bool one = str_equal(str_slice(buf_view(out), begin, out->len), STR("1"));
    buf_printf(out, " %s", one ? to->one : to->many);
    return true;
}

/* The 20 minutes of "3 hours and 20 minutes", the ounces of "2 lb 3 oz". */
static bool add_rest(struct quantity *to, const struct quantity *rest)
{
    bool fits = rest->unit->dimension == to->unit->dimension &&
                rest->unit->dimension != TEMPERATURE && rest->unit->system == to->unit->system &&
                rest->base >= 0 && to->base >= 0 && rest->base < to->unit->size;
    to->base += rest->base;
    return fits;
}

bool units_answer(struct words *words, struct buf *out)
{
    struct quantity from, found = {0};
    const struct unit *to = NULL;
    while (!words_ended(words)) {
        size_t begin = words->next;
        bool last = begin + 1 == words->count;
        if (found.unit)
            words_eat(words, "and");
        if (eat_quantity(words, &from)) {
            if (found.unit && !add_rest(&found, &from))
                return false;
            if (!found.unit)
                found = from;
            continue;
        }
        words->next = begin;
        if (!(last && !to) && words_eat(words, AROUND)) /* "in" is inches only at the end */
            continue;
        const struct unit *unit = eat_unit(words);
        if (!unit || to)
            return last && to && words_eat(words, AROUND) && found.unit && write(&found, to, out);
        to = unit;
    }
    return found.unit && to && write(&found, to, out);
}
