/* The kinds beyond those of test_detect.c: a row each with a true case, and near misses. Brackets
 * mark the expected span of the kind; a near miss must not give that kind. National numbers are
 * made up; their check digits hold. */
#include "privacy/detect/detectors.h"

#include "marked_rows.h"

static const struct marked_row rows[] = {
    {PRIVACY_MAC, "device " X("00:1A:2B:3C:4D:5E") " is up"},
    {PRIVACY_MAC, X("00-1a-2b-3c-4d-5e")},
    {PRIVACY_MAC, "at " X("001a.2b3c.4d5e") ","},
    {PRIVACY_DOMAIN, "see " X("https://www.acmeltd.com/path?q=1") "."},
    {PRIVACY_DOMAIN, "visit " X("shop.acmeltd.org") " today"},
    {PRIVACY_DOMAIN, "on " X("www.example.is") ", yes"},
    {PRIVACY_CRYPTO, "pay to " X("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2") " now"},
    {PRIVACY_CRYPTO, X("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")},
    {PRIVACY_CRYPTO, "eth " X("0x742d35Cc6634C0532925a3b844Bc454e4438f44e")},
    {PRIVACY_SWIFT, "BIC: " X("DEUTDEFF500")},
    {PRIVACY_SWIFT, "swift code " X("BNPAFRPP")},
    {PRIVACY_BANK_ACCOUNT, "my account number is " X("945456787654") "."},
    {PRIVACY_PIN, "my PIN is " X("4821") "."},
    {PRIVACY_PIN, "PIN: " X("482193")},
    {PRIVACY_PIN, "Die Geheimzahl lautet " X("4821")},
    {PRIVACY_PIN, "pin code: " X("4821")},
    {PRIVACY_PIN, "ПИН-код: " X("4821")},
    {PRIVACY_CVV, "CVV: " X("123") ","},
    {PRIVACY_CVV, "\"cvc\": \"" X("123") "\""},
    {PRIVACY_CVV, "Amex card, CID: " X("1234")},
    {PRIVACY_API_KEY, "my password is " X("hunter2")},
    {PRIVACY_API_KEY, "mot de passe : " X("soleil7") "."},
    {PRIVACY_API_KEY, "Das Passwort lautet " X("Sommer24") "."},
    {PRIVACY_API_KEY, "la contraseña es " X("luna_99x")},
    {PRIVACY_API_KEY, "wachtwoord is " X("fiets!weg") ","},
    {PRIVACY_API_KEY, "hasło: " X("kotek12")},
    {PRIVACY_API_KEY, "пароль: " X("solnce77")},
    {PRIVACY_API_KEY, "the password is: " X("123456") "."},
    {PRIVACY_DATE, "on " X("2024-05-01") " we met"},
    {PRIVACY_DATE, X("1985-11-18 22:50:23")},
    {PRIVACY_DATE, "due " X("5/1/2024")},
    {PRIVACY_DATE, "am " X("01.05.2024") " in Bonn"},
    {PRIVACY_DATE, "on " X("May 5, 1977") " it"},
    {PRIVACY_DATE, "on the " X("3rd of May 1977")},
    {PRIVACY_DATE, "le " X("14 juillet 1989")},
    {PRIVACY_DATE, "founded in " X("1977") "."},
    {PRIVACY_DATE, "see you " X("Tuesday")},
    {PRIVACY_DATE, "at " X("10:30 pm") " sharp"},
    {PRIVACY_AGE, "a " X("79") " year old man"},
    {PRIVACY_AGE, "a " X("62") "-year-old male"},
    {PRIVACY_AGE, "I'm " X("31") " y/o"},
    {PRIVACY_AGE, "she was " X("23") "."},
    {PRIVACY_AGE, "he just turned " X("40")},
    {PRIVACY_AGE, "Sie ist " X("44") " Jahre alt"},
    {PRIVACY_TITLE, X("Dr.") " Smith"},
    {PRIVACY_TITLE, "to " X("Mrs") " Jones"},
    {PRIVACY_NRP, "the " X("Norwegian") " team"},
    {PRIVACY_NRP, "he is " X("Catholic")},
    {PRIVACY_ADDRESS, "I live at " X("12 Oak Street") "."},
    {PRIVACY_ADDRESS, X("1600 Pennsylvania Avenue NW, Washington, DC 20500")},
    {PRIVACY_ADDRESS, "in der " X("Hauptstra\xc3\x9f"
                                  "e 5") " wohnen"},
    {PRIVACY_ADDRESS, X("Rua do Arenque 1634")},
    {PRIVACY_ADDRESS, X("36 rue de Pologne")},
    {PRIVACY_ADDRESS, "send to " X("P.O. Box 211")},
    {PRIVACY_ADDRESS, "Wohnhaft " X("Hauptstr. 5") " in der Stadt"},
    {PRIVACY_ADDRESS, X("Bahnhofstr.12")},
    {PRIVACY_ADDRESS, "im " X("Lindenweg 7a")},
    {PRIVACY_ADDRESS, X("5 bis avenue Victor Hugo")},
    {PRIVACY_ADDRESS, X("12 rue de Rivoli")},
    {PRIVACY_ADDRESS, X("12, bd. Saint-Germain")},
    {PRIVACY_ADDRESS, X("3, place de la R\xc3\xa9"
                        "publique")},
    {PRIVACY_ADDRESS, X("8 av. de l'Op\xc3\xa9ra")},
    {PRIVACY_ADDRESS, X("Av. Diagonal 640")},
    {PRIVACY_ADDRESS, "vivo en " X("Calle Mayor 3")},
    {PRIVACY_ADDRESS, X("C/ Mayor 3")},
    {PRIVACY_ADDRESS, X("Calle de Serrano, n\xc2\xba 21")},
    {PRIVACY_ADDRESS, "abito in " X("Via Roma 10")},
    {PRIVACY_ADDRESS, X("Viale dei Mille 4/b")},
    {PRIVACY_ADDRESS, X("Via XX Settembre 8")},
    {PRIVACY_ADDRESS, X("V.le Monza 20")},
    {PRIVACY_ADDRESS, X("P.zza Navona 3")},
    {PRIVACY_ADDRESS, X("PSC 0413, Box 8144\nAPO AA 42323")},
    {PRIVACY_ADDRESS, X("24 Clarke Avenue\n Suite 279\n Springfield, IL 62704")},
    {PRIVACY_ZIP, "zip code: " X("53650")},
    {PRIVACY_ZIP, "in London " X("SW1A 1AA") " today"},
    {PRIVACY_ZIP, "Ontario " X("K1A 0B1")},
    {PRIVACY_COORDINATES, "at " X("48.8584, 2.2945") " in Paris"},
    {PRIVACY_COORDINATES, X("40\xc2\xb0"
                            "26'46\"N 79\xc2\xb0"
                            "58'56\"W")},
    {PRIVACY_PLATE, "license plate " X("7ABC123")},
    {PRIVACY_PLATE, "Kennzeichen " X("M-AB 1234")},
    {PRIVACY_US_PASSPORT, "passport number: " X("123456789")},
    {PRIVACY_PASSPORT, "Reisepass " X("C01X00T47")},
    {PRIVACY_US_LICENSE, "My driver's license number is " X("U62928788557186")},
    {PRIVACY_LICENSE, "driving licence " X("MORGA657054SM9IJ")},
    {PRIVACY_MEDICAL_RECORD, "MRN: " X("00482913")},
    {PRIVACY_ICD10, "diagnosis " X("E11.9") " since"},
    {PRIVACY_ICD10, "ICD-10 " X("I10")},
    {PRIVACY_MEDICATION, "takes " X("metformin 500 mg") " daily"},
    {PRIVACY_MEDICATION, X("20mg of Lisinopril")},
    {PRIVACY_US_MBI, "card " X("1EG4-TE5-MK73")},
    {PRIVACY_US_NPI, "NPI " X("1234567893")},
    {PRIVACY_DEA, "DEA number " X("AB1234563")},
    {PRIVACY_US_ITIN, X("912-74-1234")},
    {PRIVACY_UK_NHS, "NHS number " X("943 476 5919")},
    {PRIVACY_UK_NHS, "NHS number " X("943 476 591 9")},
    {PRIVACY_UK_NHS, "NHS number " X("943 476 5919") " 42 years old"},
    {PRIVACY_UK_NHS, "NHS number " X("943 476 5919") " 2024-01-02"},
    {PRIVACY_DE_TAX_ID, "Steuer-ID " X("86 095 742 719") " 30 Jahre"},
    {PRIVACY_PL_PESEL, "my PESEL is " X("440 514 01359")},
    {PRIVACY_ES_NIF, "DNI " X("12 345 678 Z")},
    {PRIVACY_UK_NINO, "NINO " X("AB12 3456C")},
    {PRIVACY_UK_NINO, X("AB 12 34 56 C")},
    {PRIVACY_UK_NINO, "NI number " X("AB123456C")},
    {PRIVACY_DE_TAX_ID, "Steuer-ID " X("86095742719")},
    {PRIVACY_FR_NIR, X("1 84 12 76 451 089 46")},
    {PRIVACY_FR_NIR, X("185032A00412324")},
    {PRIVACY_ES_NIF, "DNI " X("12345678Z")},
    {PRIVACY_ES_NIE, X("X1234567L")},
    {PRIVACY_IT_FISCAL_CODE, X("RSSMRA85T10A562S")},
    {PRIVACY_NL_BSN, "BSN " X("111222333")},
    {PRIVACY_PL_PESEL, "PESEL " X("44051401359")},
    {PRIVACY_SE_PERSONNUMMER, X("811218-9876")},
    {PRIVACY_FI_HETU, X("131052-308T")},
    {PRIVACY_FI_HETU, X("131052+308T")},
    {PRIVACY_DK_CPR, "CPR " X("211062-5629")},
    {PRIVACY_NO_FNR, "personnummer " X("29029900157")},
    {PRIVACY_BE_NN, X("85.07.30-033.28")},
    {PRIVACY_PT_NIF, "NIF " X("123456789")},
    {PRIVACY_CH_AHV, X("756.9217.0769.85")},
    {PRIVACY_AT_SVNR, "SVNR " X("1237 010180")},
    {PRIVACY_IE_PPS, "PPS number " X("1234567FA")},
    {PRIVACY_CZ_RC, X("736028/5163")},
    {PRIVACY_RO_CNP, "CNP " X("1800101221144")},
    {PRIVACY_BG_EGN, "EGN " X("7523169263")},
    {PRIVACY_HR_OIB, "OIB " X("33392005961")},
    {PRIVACY_EE_IK, "isikukood " X("37605030299")},
    {PRIVACY_GR_AMKA, "AMKA " X("01013099997")},
    {PRIVACY_TR_TCKN, "TC kimlik no " X("10000000146")},
    {PRIVACY_BR_CPF, X("111.444.777-35")},
    {PRIVACY_BR_CNPJ, X("11.222.333/0001-81")},
    {PRIVACY_MX_CURP, X("HEGG560427MVZRRL04")},
    {PRIVACY_CL_RUT, X("12.345.678-5")},
    {PRIVACY_AR_CUIT, X("20-12345678-6")},
    {PRIVACY_IN_AADHAAR, X("2341 2341 2346")},
    {PRIVACY_IN_PAN, X("ABCPE1234F")},
    {PRIVACY_AU_TFN, "TFN " X("123 456 782")},
    {PRIVACY_AU_MEDICARE, "Medicare " X("2123 45670 1")},
    {PRIVACY_AU_ABN, X("51 824 753 556")},
    {PRIVACY_CA_SIN, "SIN " X("046 454 286")},
    {PRIVACY_SG_NRIC, X("S1234567D")},
    {PRIVACY_KR_RRN, X("900101-1234567")},
    {PRIVACY_CN_ID, X("11010519491231002X")},
    {PRIVACY_TW_ID, X("A123456789")},
    {PRIVACY_HK_ID, X("A123456(3)")},
    {PRIVACY_JP_MY_NUMBER, "my number " X("1234 5678 9018")},
    {PRIVACY_TH_TNIN, X("1-1017-00230-70-8")},
    {PRIVACY_ZA_ID, "SA ID " X("8001015009087")},
    {PRIVACY_IL_ID, "teudat zehut " X("123456782")},
    {PRIVACY_RU_SNILS, X("112-233-445 95") " x"},
    {PRIVACY_RU_SNILS, "SNILS " X("11223344595")},
    {PRIVACY_RU_INN, "ИНН " X("500100732259")},
    {PRIVACY_RU_INN, "ИНН: " X("7707083893") ","},
    {PRIVACY_DE_KVNR, "Krankenversichertennummer: " X("A123456780")},
    {PRIVACY_MX_CLABE, "CLABE " X("032180000118359719")},
    {PRIVACY_MX_CLABE, "CLABE: " X("032 180 00011835971 9")},
    {PRIVACY_IMEI, "IMEI: " X("490154203237518")},
    {PRIVACY_IMEI, X("49-015420-323751-8")},
    {PRIVACY_VIN, X("1M8GDM9AXKP042788") " on the road"},
    {PRIVACY_VIN, "Fahrgestellnummer " X("WVWZZZ1JZXW000001")},
    {PRIVACY_PASSPORT, "паспорт " X("4509 123456") ","},
    {PRIVACY_PASSPORT, "паспорт: серия " X("45 09 № 123456") "."},
    {PRIVACY_PLATE, "KFZ " X("B-AB 1234")},
    {PRIVACY_PLATE, "Kennzeichen: " X("M-XY 123")},
    {PRIVACY_PHONE, X("01 84 17 61 18")},
    {PRIVACY_PHONE, "oder " X("0171/1234567")},
    {PRIVACY_PHONE, "(Bxl) " X("0490 39 07 81")},
    {PRIVACY_PHONE, X("07700 063 966")},
    {PRIVACY_PHONE, X("(08) 8747 6301")},
    {PRIVACY_PHONE, X("060-2345 678") " x"},
    {PRIVACY_PHONE, "mob. " X("98765 43210")},
    {PRIVACY_PHONE, X("138 0013 8000")},
    {PRIVACY_PHONE, X("090-1234-5678")},
    {PRIVACY_PHONE, X("55 1234 5678")},
    {PRIVACY_PHONE, X("612 345 678")},
    {PRIVACY_PHONE, X("60-56-85-91")},
    {PRIVACY_PHONE, "+1 is " X("555-867-5309") "."},
    {PRIVACY_API_KEY, "x " X("q9Zk2LmX7vBt4RwY8nPc3HsD6fGj1KaE5uTo0iVz") " y"},
};

/* kind must not be among what is found. */
static const struct marked_row misses[] = {
    {PRIVACY_ADDRESS, "be here at exactly 9 am. It is late"},
    {PRIVACY_IBAN, "goes to sleep at 10 p.m. and wakes up at 6 a.m."},
    {PRIVACY_CARD, "4532 1234 5678\n9012 4532 1234\n"},
    {PRIVACY_COORDINATES, "weights [0.1234, -0.5678]"},
    {PRIVACY_COORDINATES, "scored (0.9134, 0.8812)"},
    {PRIVACY_COORDINATES, "x = [52.5200, 13.4050]"},
    {PRIVACY_API_KEY, "call getUserAccountBalanceFromDatabaseWithRetryAndTimeout100"},
    {PRIVACY_EMAIL, "Only at this point do we stop"},
    {PRIVACY_MAC, "ff:ff:ff:ff:ff:ff"},
    {PRIVACY_MAC, "12-34-56-78-90-12"},
    {PRIVACY_MAC, "00:1a:2b:3c:4d"},
    {PRIVACY_DOMAIN, "the end.In the beginning"},
    {PRIVACY_DOMAIN, "call foo.bar() or e.g. this"},
    {PRIVACY_DOMAIN, "main.c and index.html"},
    {PRIVACY_CRYPTO, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"},
    {PRIVACY_CRYPTO, "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx"},
    {PRIVACY_SWIFT, "the word MARKETEN is none"},
    {PRIVACY_DATE, "May I march with you"},
    {PRIVACY_DATE, "2000 people came"},
    {PRIVACY_DATE, "version 3.2.1 of 45/67/8901"},
    {PRIVACY_AGE, "the answer is 42 percent"},
    {PRIVACY_AGE, "31 years ago"},
    {PRIVACY_ADDRESS, "5 apples and 3 pears"},
    {PRIVACY_ADDRESS, "see section 12 Results"},
    {PRIVACY_ADDRESS, "Im Jahr 2020 war es so"},
    {PRIVACY_ADDRESS, "chapter str. 5 was removed"},
    {PRIVACY_ADDRESS, "12 av Stockholms fem broar"},
    {PRIVACY_ADDRESS, "the via 3 connects two layers"},
    {PRIVACY_ADDRESS, "In 1893, place names changed"},
    {PRIVACY_ZIP, "12345 items"},
    {PRIVACY_COORDINATES, "ratio 48.85, 2.29"},
    {PRIVACY_US_PASSPORT, "invoice 123456789"},
    {PRIVACY_ICD10, "the A10 motorway and E11.9 parts"},
    {PRIVACY_MEDICATION, "500 mg of sugar"},
    {PRIVACY_US_ITIN, "912-69-1234"},
    {PRIVACY_UK_NHS, "NHS number 943 476 5918"},
    {PRIVACY_UK_NINO, "BG 12 34 56 C"},
    {PRIVACY_DE_TAX_ID, "Steuer-ID 86095742718"},
    {PRIVACY_FR_NIR, "1 84 12 76 451 089 47"},
    {PRIVACY_ES_NIF, "DNI 12345678A"},
    {PRIVACY_IT_FISCAL_CODE, "RSSMRA85T10A562T"},
    {PRIVACY_NL_BSN, "BSN 111222334"},
    {PRIVACY_PL_PESEL, "PESEL 44051401358"},
    {PRIVACY_SE_PERSONNUMMER, "811218-9877"},
    {PRIVACY_FI_HETU, "131052-308U"},
    {PRIVACY_BE_NN, "85.07.30-033.29"},
    {PRIVACY_CH_AHV, "756.9217.0769.84"},
    {PRIVACY_BR_CPF, "111.444.777-36"},
    {PRIVACY_BR_CNPJ, "11.222.333/0001-82"},
    {PRIVACY_IN_AADHAAR, "2341 2341 2347"},
    {PRIVACY_CA_SIN, "SIN 046 454 287"},
    {PRIVACY_SG_NRIC, "S1234567A"},
    {PRIVACY_CN_ID, "110105194912310021"},
    {PRIVACY_TR_TCKN, "TC kimlik no 10000000147"},
    {PRIVACY_PIN, "connect pin 1024 to ground"},
    {PRIVACY_PIN, "PIN code: 560001"},
    {PRIVACY_PIN, "PIN: 3.1415"},
    {PRIVACY_PIN, "the PIN is valid for 4821 days"},
    {PRIVACY_CVV, "CID: 1234 of the campaign"},
    {PRIVACY_CVV, "the CVC has 123 members"},
    {PRIVACY_API_KEY, "a password is required"},
    {PRIVACY_API_KEY, "password is required!"},
    {PRIVACY_API_KEY, "the password is SHA-256 hashed"},
    {PRIVACY_API_KEY, "the password is 12-character"},
    {PRIVACY_API_KEY, "password is 123456 bits"},
    {PRIVACY_API_KEY, "la parola è difficile"},
    {PRIVACY_API_KEY, "the password is case-sensitive"},
    {PRIVACY_RU_SNILS, "112-233-445 96"},
    {PRIVACY_RU_INN, "ИНН 500100732258"},
    {PRIVACY_RU_INN, "the firm 7707083893"},
    {PRIVACY_DE_KVNR, "Krankenversichertennummer A123456781"},
    {PRIVACY_MX_CLABE, "CLABE 032180000118359718"},
    {PRIVACY_IMEI, "IMEI 490154203237519"},
    {PRIVACY_IMEI, "order 490154203237518"},
    {PRIVACY_VIN, "1M8GDM9AXKP042789"},
    {PRIVACY_VIN, "hash WVWZZZ1JZXW000001"},
    {PRIVACY_PASSPORT, "серия 4509 вышла в 2024"},
    {PRIVACY_API_KEY, "sha512-q9Zk2LmX7vBt4RwY8nPc3HsD6fGj1KaE5uTo0iVz"},
    {PRIVACY_API_KEY, "3f786850e387550fdab836ed7e6dc881de23001b"},
    {PRIVACY_API_KEY, "ThisIsAVeryLongIdentifierNameInSomeCode"},
    {PRIVACY_PHONE, "12 345 678 units"},
    {PRIVACY_PHONE, "700 000 000 people"},
    {PRIVACY_PHONE, "10 20 30 40 50"},
};

static void test_every_kind_is_found_where_it_stands(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        check_marked(&rows[r]);
}

static void test_near_misses_are_not_found(void)
{
    for (size_t r = 0; r < sizeof misses / sizeof *misses; r++)
        check_miss(&misses[r]);
}

static void test_every_kind_has_a_name_of_its_own_and_a_row(void)
{
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        CHECK(privacy_kind_name((enum privacy_kind)kind) != NULL);
        CHECK(privacy_kind_severity((enum privacy_kind)kind) > 0);
        for (int other = 0; other < kind; other++)
            CHECK(strcmp(privacy_kind_name((enum privacy_kind)kind),
                         privacy_kind_name((enum privacy_kind)other)) != 0);
        bool has_row = kind <= PRIVACY_PRIVATE_KEY || kind >= PRIVACY_PERSON;
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            has_row |= (int)rows[r].kind == kind;
        CHECK(has_row);
        if (!has_row)
            fprintf(stderr, "  %s has no row\n", privacy_kind_name((enum privacy_kind)kind));
    }
}

static void test_a_date_of_birth_is_sensitive_and_another_date_is_not(void)
{
    static const struct {
        const char *text;
        enum td_data_class data_class;
    } dates[] = {{"She was born on 2/8/1935 in Oslo", TD_CLASS_SENSITIVE},
                 {"Date of birth: 1985-11-18", TD_CLASS_SENSITIVE},
                 {"geboren am 3. Mai 1977", TD_CLASS_SENSITIVE},
                 {"the meeting on 2/8/2035", TD_CLASS_PUBLIC}};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct privacy_span span;
        REQUIRE(privacy_scan(plain_scanner(), (struct td_str){dates[i].text, strlen(dates[i].text)},
                             &span, 1) == 1);
        CHECK(span.kind == PRIVACY_DATE && span.data_class == dates[i].data_class);
    }
}

/* A kind that no detector's row names would never be found, and the pass would not say so. */
static void test_every_kind_is_in_the_table_of_detectors(void)
{
    detectors_init();
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        size_t found_by = 0;
        for (const struct detector *const *row = detectors_all; *row != NULL; row++)
            found_by += detector_has_kind(*row, (enum privacy_kind)kind);
        bool from_elsewhere = kind == PRIVACY_PERSON || kind == PRIVACY_PLACE ||
                              kind == PRIVACY_ID || kind == PRIVACY_CUSTOM;
        CHECK(from_elsewhere ? found_by == 0 : found_by > 0);
    }
    CHECK(privacy_kind_is_national(PRIVACY_NL_BSN) && !privacy_kind_is_national(PRIVACY_CARD));
    CHECK(!privacy_kind_is_national(PRIVACY_KIND_COUNT) && !privacy_kind_is_national(-1));
}

int main(void)
{
    RUN(test_every_kind_is_found_where_it_stands);
    RUN(test_near_misses_are_not_found);
    RUN(test_every_kind_has_a_name_of_its_own_and_a_row);
    RUN(test_a_date_of_birth_is_sensitive_and_another_date_is_not);
    RUN(test_every_kind_is_in_the_table_of_detectors);
    return test_finish();
}
