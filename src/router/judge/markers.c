/* The words and phrases of each marker, hashed once into a table at the first use. They are lists
 * of our own for English, German, French and Spanish. */
#include "router/judge/markers.h"

#include "base/core/assertion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Phrases of up to three words, between bars, as the canonical form has them. */
static const char *const phrases[MARKER_NONE] = {
    [MARKER_STEPS] = "first|second|third|then|next|after that|finally|step by step|steps|step|in "
                     "order|followed by|once done|afterwards|"
                     "for each|one by one|part a|and then",
    [MARKER_REASONING] = "prove|prove that|proof|deduce|infer|conclude|explain why|why does|why "
                         "do|why is|reason|logically|logic|"
                         "valid|invalid|argument|premise|if and "
                         "only|implies|therefore|suppose|assume|contradiction|hypothesis|"
                         "justify|derive|puzzle|truth|lies|clue|clues|must be true",
    [MARKER_CODE] = "code|function|python|javascript|java|rust|golang|typescript|bash|sql|regex|"
                    "compile|compiler|bug|debug|class|method|api|"
                    "def|return|import|int|list|string|array|algorithm|script|unit "
                    "test|refactor|stack trace|exception|null|"
                    "implement|program|database|docker|git|html|css|json parser|recursion|big o|c "
                    "code|segfault|async|void|const",
    [MARKER_MATHS] =
        "calculate|compute|solve|equation|integral|derivative|probability|theorem|how many|how "
        "much|percent|total|sum|"
        "average|mean "
        "of|polynomial|matrix|eigenvalue|prime|divisible|fraction|ratio|triangle|angle|radius|"
        "area of|volume of|square root|twice|half|times as|per "
        "hour|remainder|maximum|minimum|modulo|vector|group|ring|"
        "subgroup|abelian|isomorphic|homomorphism|limit|converges|each",
    [MARKER_NEGATION] =
        "not|except|never|without|none|neither|least likely|incorrect|false|no longer|cannot",
    [MARKER_CONSTRAINT] = "at most|at least|exactly|no more than|no less than|fewer than|less "
                          "than|more than|must|only|without using|"
                          "in json|as json|words or less|maximum of|limit of|in one sentence|one "
                          "word|bullet points|do not|don't|"
                          "should not|must not|between",
    [MARKER_FRESH] = ("tonight|tomorrow|current|recent|this morning|last week|breaking|news|live|"
                      "up to date|as of|forecast|release date|released|upcoming|available now|"
                      "traffic|these days|so far|new version"),
    [MARKER_CREATIVE] = "poem|story|haiku|limerick|sonnet|song|lyrics|novel|fiction|fictional|"
                        "character|imagine|creative|slogan|tagline|"
                        "joke|screenplay|dialogue|rhyme|write a story|write a poem|blog "
                        "post|essay|metaphor|fairy tale|roleplay|"
                        "pretend|plot|villain|protagonist|verse|monologue|speech|persuasive|in the "
                        "style|once upon a",
    [MARKER_PLANNING] = "plan|planning|schedule|itinerary|roadmap|agenda|organize|organise|"
                        "strategy|milestones|milestone|budget for|"
                        "prepare for|week by week|day by day|meal plan|training plan|study "
                        "plan|project plan|timeline|prioritize|"
                        "prioritise|checklist|launch|migrate|rollout|go to market|logistics",
    [MARKER_SUMMARY] = "summarize|summarise|summary|tldr|key points|main points|main idea|in "
                       "brief|shorten|condense|gist|recap|abstract|"
                       "boil down|sum up|takeaways|executive summary|overview of",
    [MARKER_TRANSLATION] =
        "translate|translation|in spanish|in french|in german|in italian|to english|to french|to "
        "german|to spanish|"
        "into english|into french|into german|into spanish|into italian|into portuguese|into "
        "japanese|into chinese|"
        "into dutch|into polish|say in|how to say|how do you|translated|in japanese|in chinese",
    [MARKER_EXTRACTION] = "extract|list all|find all|pull out|identify all|names "
                          "mentioned|mentioned in|email addresses|phone numbers|"
                          "dates mentioned|entities|entity|invoice number|key value|return "
                          "the|which dates|which people|get the|"
                          "scrape|parse",
    [MARKER_FORMATTING] = "format|reformat|convert|as a table|as csv|to csv|markdown|bullet "
                          "list|capitalize|uppercase|lowercase|"
                          "sort|alphabetical|alphabetically|rewrite as|to json|to yaml|to "
                          "xml|numbered list|indent|title case|into json|"
                          "into yaml|as yaml|iso format|camel case|snake case|as "
                          "json|deduplicate|headings|columns|column",
    [MARKER_CLASSIFICATION] =
        "classify|categorize|categorise|sentiment|label|spam|positive or negative|category|which "
        "category|intent|topic of|"
        "positive negative|is this|toxic|urgent|priority of|tag|labels|categories|genre",
    [MARKER_COMPARISON] =
        "compare|contrast|versus|vs|difference between|differences|similarities|pros and "
        "cons|trade offs|tradeoffs|better than|"
        "across the|synthesize|synthesise|all documents|these documents|each "
        "document|contradict|contradictions|"
        "reconcile|sections|chapters|advantages|disadvantages",
    [MARKER_LEGAL] = "contract|law|legal|court|plaintiff|defendant|statute|liability|lawsuit|"
                     "clause|tort|constitutional|attorney|"
                     "negligence|jurisdiction|appeal|homicide|evidence|landlord|buyer|seller",
    [MARKER_MEDICAL] = "patient|symptoms|diagnosis|disease|treatment|dose|blood|clinical|therapy|"
                       "chronic|syndrome|artery|infection|"
                       "surgery|pain|examination shows|year old man|year old woman",
    [MARKER_JAILBREAK] = "ignore previous|ignore all|ignore the above|disregard|disregard "
                         "all|disregard previous|previous instructions|"
                         "jailbreak|developer mode|do anything now|no restrictions|without "
                         "restrictions|unfiltered|uncensored|no filter|"
                         "system prompt|your instructions|your guidelines|pretend you|act as "
                         "if|you are now|no longer bound|"
                         "bypass|override your|forget your|forget all|stay in "
                         "character|evil|amoral|unethical|without any warnings|"
                         "hypothetically|dan mode|god mode|safety filters|content policy|not "
                         "bound|no ethical|no moral|"
                         "all restrictions|your rules|opposite mode|reveal your|never "
                         "refuse|cannot refuse|answer everything",
    [MARKER_QUESTION] = "what|who|whom|whose|when|where|why|how|which|is|are|can|could|do|does|did|"
                        "will|would|should|what's|who's|"
                        "where's|how's|was|were",
    [MARKER_SMALLTALK] = "hi|hello|hey|thanks|thank you|good morning|good night|good evening|how "
                         "are you|bye|goodbye|lol|please|"
                         "nice to meet|what's up|your name|are you|do you like|tell me|you're "
                         "welcome|feeling|bored|how was",
    [MARKER_PERSON] = "i|my|me|i'm|i've|you|your|we|our",
    [MARKER_CHOICES] = "all of the|none of the|of the above|which of the|of the following|the "
                       "following is|statement 1|statement 2|i only|ii only|"
                       "i and ii|both a and|options",
    [MARKER_ENGLISH] = "the|of|and|to|in|a|that|for|it|with|on|this",
    [MARKER_GERMAN] = "der|die|das|und|ist|nicht|ein|eine|ich|mit|für|wie|auf|zu|den|von|fur",
    [MARKER_FRENCH] = "le|la|les|et|est|une|des|pour|que|dans|je|vous|avec|sur|pas",
    [MARKER_SPANISH] = "el|los|las|y|es|una|por|para|con|como|del|que es|un|en",
    [MARKER_FRESH_TOPIC] = ("weather|headlines|stock price|share price|exchange rate|score of|"
                            "who won|who is winning|in stock|opening hours|just announced|"
                            "trending|still alive"),
    [MARKER_FRESH_TIME] = ("today|yesterday|right now|currently|latest|newest|recently|this week|"
                           "this month|this year|last night"),
};

/* Open addressing; more than twice as large as there are phrases, so that a miss ends soon. */
#define SLOT_COUNT 2048u

struct slot {
    uint32_t hash; /* 0 = free */
    uint32_t marker;
};
static struct slot slots[SLOT_COUNT];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;
static atomic_bool slots_filled; /* asked for each word: cheaper than the call */

static void add_phrase(enum marker marker, uint32_t hash)
{
    uint32_t at = hash % SLOT_COUNT;
    while (slots[at].hash != 0 && slots[at].hash != hash)
        at = (at + 1) % SLOT_COUNT;
    if (slots[at].hash == 0) /* a phrase of two markers belongs to the first */
        slots[at] = (struct slot){hash, (uint32_t)marker};
}

/* Hashes the phrase up to the bar or the end. */
static const char *hash_phrase(const char *text, uint32_t *out)
{
    uint32_t phrase = 0;
    bool has_word = false;
    while (*text && *text != '|') {
        uint32_t word = MARKER_WORD_BASIS;
        while (*text && *text != '|' && *text != ' ')
            word = marker_byte(word, (unsigned char)*text++);
        phrase = has_word ? marker_phrase(phrase, word) : word;
        has_word = true;
        text += *text == ' ';
    }
    *out = phrase;
    return text;
}

static void fill_slots(void)
{
    for (int marker = 0; marker < MARKER_NONE; marker++) {
        ASSERT(phrases[marker]);
        for (const char *text = phrases[marker]; *text; text += *text == '|') {
            uint32_t hash;
            text = hash_phrase(text, &hash);
            add_phrase((enum marker)marker, hash);
        }
    }
    atomic_store_explicit(&slots_filled, true, memory_order_release);
}

enum marker marker_find(uint32_t hash)
{
    if (!atomic_load_explicit(&slots_filled, memory_order_acquire))
        pthread_once(&slots_once, fill_slots);
    for (uint32_t at = hash % SLOT_COUNT; slots[at].hash != 0; at = (at + 1) % SLOT_COUNT)
        if (slots[at].hash == hash)
            return (enum marker)slots[at].marker;
    return MARKER_NONE;
}
