/* What words announce, in the languages and the dress of forms, tables and code that they come in,
 * and where an announcement ends: at the next one, at a date, at a word that says that the number
 * counts something else. Brackets mark the expected span of the kind; a near miss must not give
 * that kind. Everything is made up. */
#include "marked_rows.h"

static const struct marked_row rows[] = {
    /* the nearest word speaks */
    {PRIVACY_DATE, "MRN: 22975119   DOB: " X("10/19/1993")},
    {PRIVACY_DATE, "Patient ID: 27807981. Born " X("28 August 1935")},
    {PRIVACY_DATE, "License: S4521162 (CA). Issued " X("20.08.2024")},
    {PRIVACY_DATE, "License plate: 889-ZWO. Seen on " X("05-APR-20")},
    {PRIVACY_PLATE, "Driver license no.: 221228999, vehicle plate: " X("7ETF384")},
    {PRIVACY_CA_SIN, "driver's licence S8761-05945-13859, SIN " X("130692544")},
    {PRIVACY_US_LICENSE,
     "{\"license_plate\": \"290-PGS\", \"driver_license\": \"" X("B4829694") "\"}"},
    {PRIVACY_MEDICAL_RECORD, "MRN: " X("12-05-56")},
    {PRIVACY_ICD10, "Fallnummer 978392. Diagnose: " X("I48.91")},
    {PRIVACY_PHONE, "ID number on file, cell " X("011 968 2508")},
    {PRIVACY_FI_HETU, "personal identity code is " X("060892-3168")},
    /* keys of JSON and of code */
    {PRIVACY_BANK_ACCOUNT, "\"account_number\": \"" X("9454567876") "\""},
    {PRIVACY_BANK_ACCOUNT, "my bank account number is " X("4829104756") " and it is new"},
    {PRIVACY_BANK_ACCOUNT, "routingNumber: " X("021000021")},
    {PRIVACY_BANK_ACCOUNT, "my bank account number is " X("4820117365") " and that is so"},
    {PRIVACY_PASSPORT, "passport_number=" X("YA1234567")},
    {PRIVACY_PHONE, "phoneNumber: " X("5147380388")},
    /* columns */
    {PRIVACY_PHONE, "Ann Lee,ann@acmeltd.com," X("404-259-3670") ",x"},
    {PRIVACY_BR_CPF, "Ana Reis," X("529.982.247-25")},
    {PRIVACY_DATE, "17," X("05/03/2024") ",x"},
    /* over the end of a line, as mail is wrapped */
    {PRIVACY_CARD, "my card is " X("4111 1111\n1111 1111") " and"},
    {PRIVACY_CARD, "> pay by " X("5555 5555 5555\r\n> 4444") "."},
    {PRIVACY_IBAN, "to " X("DE89 3704 0044\n0532 0130 00") " please"},
    /* telephones */
    {PRIVACY_PHONE, "tel\xc3\xa9"
                    "fono " X("677890558")},
    {PRIVACY_PHONE, "chiami il numero " X("3331588809")},
    {PRIVACY_PHONE, "numer telefonu " X("601234567")},
    {PRIVACY_PHONE, "Ring " X("07874249727") " after six"},
    {PRIVACY_PHONE, "Stockholm " X("08-756 464 26")},
    {PRIVACY_PHONE, "G\xc3\xb6teborg " X("031-13 25 98")},
    {PRIVACY_PHONE, "Milano " X("02/6845045")},
    {PRIVACY_PHONE, "on " X("1300 735 049")},
    {PRIVACY_PHONE, "at " X("(303) 722-3109, ext. 27")},
    {PRIVACY_PHONE, "at " X("(503) 711-9098 extension 1624")},
    {PRIVACY_PHONE, "Tel. " X("030 901820 Durchwahl 12")},
    {PRIVACY_PHONE, "\xe9\x9b\xbb\xe8\xa9\xb1 " X("55 123 4567")},
    /* other scripts */
    {PRIVACY_GR_AMKA, "\xce\x91\xce\x9c\xce\x9a\xce\x91: " X("16074478914")},
    {PRIVACY_JP_MY_NUMBER,
     "\xe3\x83\x9e\xe3\x82\xa4\xe3\x83\x8a\xe3\x83\xb3\xe3\x83\x90\xe3\x83\xbc:" X(
         "7353-3024-9919")},
    /* in groups of any size */
    {PRIVACY_UK_NHS, "NHS number " X("94 34 76 59 19") "."},
    {PRIVACY_IN_AADHAAR, "Aadhaar " X("2 3 4 1 2 3 4 1 2 3 4 6")},
    {PRIVACY_FR_NIR, "NIR : " X("241 031 864 677 989")},
    {PRIVACY_PT_NIF, "NIF " X("12-34-56-78-9") ","},
    {PRIVACY_PHONE, "call " X("0 7 8 7 4 2 4 9 7 2 7") " now"},
    {PRIVACY_PHONE, "phone: " X("+ 4 4 2 0 7 9 4 6 0 9 5 8")},
    {PRIVACY_US_SSN, "SSN: " X("536,90,4399")},
    {PRIVACY_US_SSN, "SSN: " X("536/90/4399") ", new"},
    {PRIVACY_US_SSN, "SSN: " X("536|904|399") " 7"},
    {PRIVACY_IN_AADHAAR, "Aadhaar: " X("234123/412346")},
    {PRIVACY_US_SSN, "customerSsn" X("536904399")},
    /* documents of more countries */
    {PRIVACY_PASSPORT, "Reisepass Nr. " X("J5Y7MMKJJ")},
    {PRIVACY_PASSPORT, "passport number " X("S 4921756") ", shall pay"},
    {PRIVACY_LICENSE, "driving licence " X("MH-82 20119316413")},
    {PRIVACY_LICENSE, "patente n. " X("U1MF1JBRYU")},
    {PRIVACY_US_LICENSE, "My licence number is " X("235823773")},
    {PRIVACY_MEDICAL_RECORD, "UHID: " X("94-43-98")},
    {PRIVACY_MEDICAL_RECORD, "UR number " X("898314")},
    {PRIVACY_BANK_ACCOUNT, "sort code " X("62-43-44")},
    {PRIVACY_BANK_ACCOUNT, "IFSC: " X("HDFC0545686")},
    {PRIVACY_FR_NIR, "NIR : " X("2410318646779 89")},
    {PRIVACY_ICD10, "type 2 diabetes (" X("E11.9") ")"},
    /* plates */
    {PRIVACY_PLATE, "number plate " X("YR19 HAG") "."},
    {PRIVACY_PLATE, "targa " X("HF 485 ZY") ", patente"},
    {PRIVACY_PLATE, "vehicle no. " X("MH12 LG 8799") ","},
    {PRIVACY_PLATE, "my car's rego is " X("KGM 683") "."},
    {PRIVACY_PLATE, "V\xc3\xa9hicule immatricul\xc3\xa9 " X("KT-454-CX") ","},
    /* dates */
    {PRIVACY_DATE, "bis zum " X("5. Dezember 2025") " auf"},
    {PRIVACY_DATE, "z dnia " X("3 wrze\xc5\x9bnia 2018") "."},
    {PRIVACY_DATE, "den " X("12 maj 2024")},
    {PRIVACY_DATE, "on " X("17-MAY-15")},
    {PRIVACY_DATE, "[" X("25/Oct/2024:11:57:06 +0000") "]"},
    {PRIVACY_AGE, "My daughter is " X("33") " and takes"},
    {PRIVACY_AGE, "Age/Sex: " X("82") "/F"},
    {PRIVACY_AGE, "patient " X("90") " \xc3\xa5r"},
    /* medicines */
    {PRIVACY_MEDICATION, "takes " X("gabapentin 100 \xc2\xb5g")},
    {PRIVACY_MEDICATION, X("bisoprololo 2,5 mg") " la sera"},
    {PRIVACY_MEDICATION, X("sinvastatina 20 mg")},
    {PRIVACY_MEDICATION, X("L-Thyroxin 75 \xc2\xb5g")},
    {PRIVACY_MEDICATION, X("eliquis 2.5 mg")},
    /* streets */
    {PRIVACY_ADDRESS, "wohne in der " X("Feldstrasse 152 b") ", links"},
    {PRIVACY_ADDRESS, X("Viale Vittorio Emanuele II n. 9") ", Roma"},
    {PRIVACY_ADDRESS, X("Travessa Dom Pedro V n.\xc2\xba 10")},
    /* keys and wallets */
    {PRIVACY_API_KEY, "new Twilio('" X("SKd46fd4ceb32b39da581cfbaafcadf624") "')"},
    {PRIVACY_API_KEY, X("shpat_0123456789abcdef0123456789abcdef")},
    {PRIVACY_API_KEY, X("dapi0123456789abcdef0123456789abcdef")},
    {PRIVACY_API_KEY, "deploy --password " X("S0WIPwXlFjmeMf00") " -q"},
    {PRIVACY_CRYPTO, "XRP " X("rG1QQv2nh2gr7RCZ1P8YYcBUKCCN633jCn")},
    {PRIVACY_CRYPTO, "my Solana wallet: " X("DDqvNoiVJJRpWpamtrWCRuAxDVZLWTML6PomvaoK4V1p")},
};

/* kind must not be among what is found. */
static const struct marked_row misses[] = {
    {PRIVACY_US_SSN, "SSN: 5369,04399"},
    {PRIVACY_US_SSN, "SSN: 536,90,439"},
    {PRIVACY_US_SSN, "SSN: 536,90/4399"},
    {PRIVACY_US_SSN, "customerSsn53690439"},
    {PRIVACY_US_SSN, "customerSsn5369043990"},
    {PRIVACY_PHONE, "contact us about order 12345678"},
    {PRIVACY_PHONE, "{\"type\": \"text_editor_20250124\"}"},
    {PRIVACY_PHONE, "in all 12,345,678 calls"},
    {PRIVACY_BANK_ACCOUNT, "the account had 150000 euros"},
    {PRIVACY_COORDINATES, "v = [0.18131, -0.41982, 0.27291]"},
    {PRIVACY_ZIP, "sku = 'AB-72493-XL'"},
    {PRIVACY_MEDICAL_RECORD, "Patient ID on file since December 19, 1973"},
    {PRIVACY_PLATE, "number plates of 2023 models"},
    {PRIVACY_MEDICATION, "a table of 5 g and a napkin 10 g"},
    {PRIVACY_API_KEY, "dapifer skeleton key-value pulse"},
};

static void test_what_a_word_announces_is_found_where_it_stands(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        check_marked(&rows[r]);
}

static void test_what_another_word_explains_is_not_found(void)
{
    for (size_t r = 0; r < sizeof misses / sizeof *misses; r++)
        check_miss(&misses[r]);
}

int main(void)
{
    RUN(test_what_a_word_announces_is_found_where_it_stands);
    RUN(test_what_another_word_explains_is_not_found);
    return test_finish();
}
