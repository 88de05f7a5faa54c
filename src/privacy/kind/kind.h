/* The kinds of private data: the name of each, the class that one value of it gives to a text, and
 * how much harm an exposed value does. A constant table; any thread. */
#ifndef PRIVACY_KIND_H
#define PRIVACY_KIND_H

#include "base/names.h"

#include <stdbool.h>

/* Every kind has one row in kind.c, in this order. */
enum privacy_kind {
    PRIVACY_EMAIL,
    PRIVACY_PHONE,
    PRIVACY_CARD,
    PRIVACY_IBAN,
    PRIVACY_US_SSN,
    PRIVACY_IP,
    PRIVACY_API_KEY,
    PRIVACY_PRIVATE_KEY,
    PRIVACY_MAC,
    PRIVACY_DOMAIN,
    PRIVACY_CRYPTO,
    PRIVACY_SWIFT,
    PRIVACY_BANK_ACCOUNT,
    PRIVACY_PIN,
    PRIVACY_CVV,
    PRIVACY_DATE,
    PRIVACY_AGE,
    PRIVACY_TITLE,
    PRIVACY_NRP,
    PRIVACY_ADDRESS,
    PRIVACY_ZIP,
    PRIVACY_COORDINATES,
    PRIVACY_PLATE,
    PRIVACY_US_PASSPORT,
    PRIVACY_PASSPORT,
    PRIVACY_US_LICENSE,
    PRIVACY_LICENSE,
    PRIVACY_MEDICAL_RECORD,
    PRIVACY_ICD10,
    PRIVACY_MEDICATION,
    PRIVACY_US_MBI,
    PRIVACY_US_NPI,
    PRIVACY_DEA,
    PRIVACY_US_ITIN,
    PRIVACY_UK_NHS,
    PRIVACY_UK_NINO,
    PRIVACY_DE_TAX_ID,
    PRIVACY_FR_NIR,
    PRIVACY_ES_NIF,
    PRIVACY_ES_NIE,
    PRIVACY_IT_FISCAL_CODE,
    PRIVACY_NL_BSN,
    PRIVACY_PL_PESEL,
    PRIVACY_SE_PERSONNUMMER,
    PRIVACY_FI_HETU,
    PRIVACY_DK_CPR,
    PRIVACY_NO_FNR,
    PRIVACY_BE_NN,
    PRIVACY_PT_NIF,
    PRIVACY_CH_AHV,
    PRIVACY_AT_SVNR,
    PRIVACY_IE_PPS,
    PRIVACY_CZ_RC,
    PRIVACY_RO_CNP,
    PRIVACY_BG_EGN,
    PRIVACY_HR_OIB,
    PRIVACY_EE_IK,
    PRIVACY_GR_AMKA,
    PRIVACY_TR_TCKN,
    PRIVACY_BR_CPF,
    PRIVACY_BR_CNPJ,
    PRIVACY_MX_CURP,
    PRIVACY_CL_RUT,
    PRIVACY_AR_CUIT,
    PRIVACY_IN_AADHAAR,
    PRIVACY_IN_PAN,
    PRIVACY_AU_TFN,
    PRIVACY_AU_MEDICARE,
    PRIVACY_AU_ABN,
    PRIVACY_CA_SIN,
    PRIVACY_SG_NRIC,
    PRIVACY_KR_RRN,
    PRIVACY_CN_ID,
    PRIVACY_TW_ID,
    PRIVACY_HK_ID,
    PRIVACY_JP_MY_NUMBER,
    PRIVACY_TH_TNIN,
    PRIVACY_ZA_ID,
    PRIVACY_RU_SNILS,
    PRIVACY_RU_INN,
    PRIVACY_DE_KVNR,
    PRIVACY_MX_CLABE,
    PRIVACY_IMEI,
    PRIVACY_VIN,
    PRIVACY_IL_ID,
    PRIVACY_PERSON, /* names, places, organisations: from a tagger, not from this pass */
    PRIVACY_PLACE,
    PRIVACY_ORGANIZATION,
    PRIVACY_ID,     /* some number of somebody; only of a strict scan */
    PRIVACY_CUSTOM, /* an operator's pattern or word list */
    PRIVACY_KIND_COUNT
};

/* Presidio's name where it has one (EMAIL_ADDRESS, US_SSN, ...), else one in its manner. */
const char *privacy_kind_name(enum privacy_kind kind);
/* The class that one finding of this kind gives when nothing says more. An unknown kind is
 * restricted. Kinds that only say something together with others (a date, an age, a title, a
 * nationality, a ZIP code, a public host) are public. */
enum td_data_class privacy_kind_class(enum privacy_kind kind);
/* How much harm one exposed value does, 0..1; for adding up and for reports. */
double privacy_kind_severity(enum privacy_kind kind);
/* A number of a person, firm or thing in a country's or the world's register, known by its form
 * (detect/detect_national.c). False when no kind has this name. */
bool privacy_kind_is_national(int kind);

#endif
