/* The kinds of private data: the name of each, the class that one value of it gives to a text, and
 * how much harm an exposed value does. A constant table; any thread. */
#ifndef PRIVACY_KIND_H
#define PRIVACY_KIND_H

#include "base/text/names.h"

#include <stdbool.h>

/* One row a kind: its value of the enum, its name, its class, its harm, and whether it is a
 * national number. The functions below say what these mean. */
/* clang-format off */
#define PRIVACY_KINDS(x) \
    x(PRIVACY_EMAIL, "EMAIL_ADDRESS", SENSITIVE, 0.9, NO)                                    \
    x(PRIVACY_PHONE, "PHONE_NUMBER", SENSITIVE, 0.9, NO)                                     \
    x(PRIVACY_CARD, "CREDIT_CARD", RESTRICTED, 0.95, NO)                                     \
    x(PRIVACY_IBAN, "IBAN_CODE", RESTRICTED, 0.9, NO)                                        \
    x(PRIVACY_US_SSN, "US_SSN", RESTRICTED, 1.0, NO)                                         \
    x(PRIVACY_IP, "IP_ADDRESS", SENSITIVE, 0.6, NO)                                          \
    x(PRIVACY_API_KEY, "API_KEY", RESTRICTED, 1.0, NO)                                       \
    x(PRIVACY_PRIVATE_KEY, "PRIVATE_KEY", RESTRICTED, 1.0, NO)                               \
    x(PRIVACY_MAC, "MAC_ADDRESS", SENSITIVE, 0.5, NO)                                        \
    x(PRIVACY_DOMAIN, "DOMAIN_NAME", PUBLIC, 0.3, NO)                                        \
    x(PRIVACY_CRYPTO, "CRYPTO", SENSITIVE, 0.8, NO)                                          \
    x(PRIVACY_SWIFT, "SWIFT_CODE", PUBLIC, 0.3, NO)                                          \
    x(PRIVACY_BANK_ACCOUNT, "US_BANK_NUMBER", RESTRICTED, 0.9, NO)                           \
    x(PRIVACY_PIN, "PIN", RESTRICTED, 0.9, NO)                                               \
    x(PRIVACY_CVV, "CARD_VERIFICATION", RESTRICTED, 0.9, NO)                                 \
    x(PRIVACY_DATE, "DATE_TIME", PUBLIC, 0.3, NO)                                            \
    x(PRIVACY_AGE, "AGE", PUBLIC, 0.3, NO)                                                   \
    x(PRIVACY_TITLE, "TITLE", PUBLIC, 0.1, NO)                                               \
    x(PRIVACY_NRP, "NRP", PUBLIC, 0.5, NO)                                                   \
    x(PRIVACY_ADDRESS, "STREET_ADDRESS", SENSITIVE, 0.8, NO)                                 \
    x(PRIVACY_ZIP, "ZIP_CODE", PUBLIC, 0.4, NO)                                              \
    x(PRIVACY_COORDINATES, "COORDINATES", SENSITIVE, 0.7, NO)                                \
    x(PRIVACY_PLATE, "LICENSE_PLATE", SENSITIVE, 0.7, NO)                                    \
    x(PRIVACY_US_PASSPORT, "US_PASSPORT", RESTRICTED, 0.95, NO)                              \
    x(PRIVACY_PASSPORT, "PASSPORT", RESTRICTED, 0.95, NO)                                    \
    x(PRIVACY_US_LICENSE, "US_DRIVER_LICENSE", RESTRICTED, 0.9, NO)                          \
    x(PRIVACY_LICENSE, "DRIVER_LICENSE", RESTRICTED, 0.9, NO)                                \
    x(PRIVACY_MEDICAL_RECORD, "MEDICAL_RECORD_NUMBER", RESTRICTED, 0.9, NO)                  \
    x(PRIVACY_ICD10, "ICD10_CODE", RESTRICTED, 0.8, NO)                                      \
    x(PRIVACY_MEDICATION, "MEDICATION", SENSITIVE, 0.7, NO)                                  \
    /* numbers of a country or a register, found by their form (detect/detect_national.c) */ \
    x(PRIVACY_US_MBI, "US_MBI", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_US_NPI, "US_NPI", SENSITIVE, 0.5, YES)                                         \
    x(PRIVACY_DEA, "MEDICAL_LICENSE", SENSITIVE, 0.6, YES)                                   \
    x(PRIVACY_US_ITIN, "US_ITIN", RESTRICTED, 1.0, YES)                                      \
    x(PRIVACY_UK_NHS, "UK_NHS", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_UK_NINO, "UK_NINO", RESTRICTED, 0.95, YES)                                     \
    x(PRIVACY_DE_TAX_ID, "DE_TAX_ID", RESTRICTED, 0.95, YES)                                 \
    x(PRIVACY_FR_NIR, "FR_NIR", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_ES_NIF, "ES_NIF", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_ES_NIE, "ES_NIE", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_IT_FISCAL_CODE, "IT_FISCAL_CODE", RESTRICTED, 0.95, YES)                       \
    x(PRIVACY_NL_BSN, "NL_BSN", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_PL_PESEL, "PL_PESEL", RESTRICTED, 0.95, YES)                                   \
    x(PRIVACY_SE_PERSONNUMMER, "SE_PERSONNUMMER", RESTRICTED, 0.95, YES)                     \
    x(PRIVACY_FI_HETU, "FI_PERSONAL_IDENTITY_CODE", RESTRICTED, 0.95, YES)                   \
    x(PRIVACY_DK_CPR, "DK_CPR", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_NO_FNR, "NO_FODSELSNUMMER", RESTRICTED, 0.95, YES)                             \
    x(PRIVACY_BE_NN, "BE_NATIONAL_NUMBER", RESTRICTED, 0.95, YES)                            \
    x(PRIVACY_PT_NIF, "PT_NIF", RESTRICTED, 0.9, YES)                                        \
    x(PRIVACY_CH_AHV, "CH_AHV", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_AT_SVNR, "AT_SVNR", RESTRICTED, 0.95, YES)                                     \
    x(PRIVACY_IE_PPS, "IE_PPS", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_CZ_RC, "CZ_BIRTH_NUMBER", RESTRICTED, 0.95, YES)                               \
    x(PRIVACY_RO_CNP, "RO_CNP", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_BG_EGN, "BG_EGN", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_HR_OIB, "HR_OIB", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_EE_IK, "EE_ISIKUKOOD", RESTRICTED, 0.95, YES)                                  \
    x(PRIVACY_GR_AMKA, "GR_AMKA", RESTRICTED, 0.95, YES)                                     \
    x(PRIVACY_TR_TCKN, "TR_NATIONAL_ID", RESTRICTED, 0.95, YES)                              \
    x(PRIVACY_BR_CPF, "BR_CPF", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_BR_CNPJ, "BR_CNPJ", SENSITIVE, 0.5, YES)                                       \
    x(PRIVACY_MX_CURP, "MX_CURP", RESTRICTED, 0.95, YES)                                     \
    x(PRIVACY_CL_RUT, "CL_RUT", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_AR_CUIT, "AR_CUIT", RESTRICTED, 0.9, YES)                                      \
    x(PRIVACY_IN_AADHAAR, "IN_AADHAAR", RESTRICTED, 0.95, YES)                               \
    x(PRIVACY_IN_PAN, "IN_PAN", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_AU_TFN, "AU_TFN", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_AU_MEDICARE, "AU_MEDICARE", RESTRICTED, 0.95, YES)                             \
    x(PRIVACY_AU_ABN, "AU_ABN", SENSITIVE, 0.4, YES)                                         \
    x(PRIVACY_CA_SIN, "CA_SIN", RESTRICTED, 1.0, YES)                                        \
    x(PRIVACY_SG_NRIC, "SG_NRIC_FIN", RESTRICTED, 0.95, YES)                                 \
    x(PRIVACY_KR_RRN, "KR_RRN", RESTRICTED, 0.95, YES)                                       \
    x(PRIVACY_CN_ID, "CN_ID", RESTRICTED, 0.95, YES)                                         \
    x(PRIVACY_TW_ID, "TW_ID", RESTRICTED, 0.95, YES)                                         \
    x(PRIVACY_HK_ID, "HK_ID", RESTRICTED, 0.95, YES)                                         \
    x(PRIVACY_JP_MY_NUMBER, "JP_MY_NUMBER", RESTRICTED, 0.95, YES)                           \
    x(PRIVACY_TH_TNIN, "TH_TNIN", RESTRICTED, 0.95, YES)                                     \
    x(PRIVACY_ZA_ID, "ZA_ID", RESTRICTED, 0.95, YES)                                         \
    x(PRIVACY_RU_SNILS, "RU_SNILS", RESTRICTED, 0.95, YES)                                   \
    x(PRIVACY_RU_INN, "RU_INN", RESTRICTED, 0.9, YES)                                        \
    x(PRIVACY_DE_KVNR, "DE_HEALTH_INSURANCE", RESTRICTED, 0.95, YES)                         \
    x(PRIVACY_MX_CLABE, "MX_CLABE", RESTRICTED, 0.9, YES)                                    \
    x(PRIVACY_IMEI, "IMEI", SENSITIVE, 0.7, YES)                                             \
    x(PRIVACY_VIN, "VIN", SENSITIVE, 0.7, YES)                                               \
    x(PRIVACY_IL_ID, "IL_ID", RESTRICTED, 0.95, YES)                                         \
    /* names, places, organisations: from a tagger, not from this pass */                    \
    x(PRIVACY_PERSON, "PERSON", PUBLIC, 0.9, NO)                                             \
    x(PRIVACY_PLACE, "GPE", PUBLIC, 0.4, NO)                                                 \
    x(PRIVACY_ORGANIZATION, "ORGANIZATION", PUBLIC, 0.5, NO)                                 \
    /* some number of somebody; only of a strict scan */                                     \
    x(PRIVACY_ID, "ID", SENSITIVE, 0.5, NO)                                                  \
    /* an operator's pattern or word list */                                                 \
    x(PRIVACY_CUSTOM, "CUSTOM", PUBLIC, 0.5, NO)
/* clang-format on */

#define PRIVACY_KIND_VALUE(kind, name, data_class, severity, national) kind,
enum privacy_kind { PRIVACY_KINDS(PRIVACY_KIND_VALUE) PRIVACY_KIND_COUNT };

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
