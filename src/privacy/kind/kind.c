/* One table: what a kind is called, which class it gives, how much harm an exposed value does, and
 * what sort of number it is.
 *
 * The severities follow the order of PRISM's type weights (arXiv 2511.22788): what identifies or
 * opens an account 0.9 and more, contact 0.7 to 0.9, what narrows down 0.2 to 0.5. */
#include "privacy/kind/kind.h"

#define P TD_CLASS_PUBLIC
#define S TD_CLASS_SENSITIVE
#define R TD_CLASS_RESTRICTED
#define N true /* national: a number of a country or a register, found by its form */
#define O false

static const struct {
    const char *name;
    enum td_data_class data_class;
    double severity;
    bool national;
} kinds[PRIVACY_KIND_COUNT] = {
    [PRIVACY_EMAIL] = {"EMAIL_ADDRESS", S, 0.9, O},
    [PRIVACY_PHONE] = {"PHONE_NUMBER", S, 0.9, O},
    [PRIVACY_CARD] = {"CREDIT_CARD", R, 0.95, O},
    [PRIVACY_IBAN] = {"IBAN_CODE", R, 0.9, O},
    [PRIVACY_US_SSN] = {"US_SSN", R, 1.0, O},
    [PRIVACY_IP] = {"IP_ADDRESS", S, 0.6, O},
    [PRIVACY_API_KEY] = {"API_KEY", R, 1.0, O},
    [PRIVACY_PRIVATE_KEY] = {"PRIVATE_KEY", R, 1.0, O},
    [PRIVACY_MAC] = {"MAC_ADDRESS", S, 0.5, O},
    [PRIVACY_DOMAIN] = {"DOMAIN_NAME", P, 0.3, O},
    [PRIVACY_CRYPTO] = {"CRYPTO", S, 0.8, O},
    [PRIVACY_SWIFT] = {"SWIFT_CODE", P, 0.3, O},
    [PRIVACY_BANK_ACCOUNT] = {"US_BANK_NUMBER", R, 0.9, O},
    [PRIVACY_PIN] = {"PIN", R, 0.9, O},
    [PRIVACY_CVV] = {"CARD_VERIFICATION", R, 0.9, O},
    [PRIVACY_DATE] = {"DATE_TIME", P, 0.3, O},
    [PRIVACY_AGE] = {"AGE", P, 0.3, O},
    [PRIVACY_TITLE] = {"TITLE", P, 0.1, O},
    [PRIVACY_NRP] = {"NRP", P, 0.5, O},
    [PRIVACY_ADDRESS] = {"STREET_ADDRESS", S, 0.8, O},
    [PRIVACY_ZIP] = {"ZIP_CODE", P, 0.4, O},
    [PRIVACY_COORDINATES] = {"COORDINATES", S, 0.7, O},
    [PRIVACY_PLATE] = {"LICENSE_PLATE", S, 0.7, O},
    [PRIVACY_US_PASSPORT] = {"US_PASSPORT", R, 0.95, O},
    [PRIVACY_PASSPORT] = {"PASSPORT", R, 0.95, O},
    [PRIVACY_US_LICENSE] = {"US_DRIVER_LICENSE", R, 0.9, O},
    [PRIVACY_LICENSE] = {"DRIVER_LICENSE", R, 0.9, O},
    [PRIVACY_MEDICAL_RECORD] = {"MEDICAL_RECORD_NUMBER", R, 0.9, O},
    [PRIVACY_ICD10] = {"ICD10_CODE", R, 0.8, O},
    [PRIVACY_MEDICATION] = {"MEDICATION", S, 0.7, O},
    [PRIVACY_US_MBI] = {"US_MBI", R, 0.95, N},
    [PRIVACY_US_NPI] = {"US_NPI", S, 0.5, N},
    [PRIVACY_DEA] = {"MEDICAL_LICENSE", S, 0.6, N},
    [PRIVACY_US_ITIN] = {"US_ITIN", R, 1.0, N},
    [PRIVACY_UK_NHS] = {"UK_NHS", R, 0.95, N},
    [PRIVACY_UK_NINO] = {"UK_NINO", R, 0.95, N},
    [PRIVACY_DE_TAX_ID] = {"DE_TAX_ID", R, 0.95, N},
    [PRIVACY_FR_NIR] = {"FR_NIR", R, 0.95, N},
    [PRIVACY_ES_NIF] = {"ES_NIF", R, 0.95, N},
    [PRIVACY_ES_NIE] = {"ES_NIE", R, 0.95, N},
    [PRIVACY_IT_FISCAL_CODE] = {"IT_FISCAL_CODE", R, 0.95, N},
    [PRIVACY_NL_BSN] = {"NL_BSN", R, 0.95, N},
    [PRIVACY_PL_PESEL] = {"PL_PESEL", R, 0.95, N},
    [PRIVACY_SE_PERSONNUMMER] = {"SE_PERSONNUMMER", R, 0.95, N},
    [PRIVACY_FI_HETU] = {"FI_PERSONAL_IDENTITY_CODE", R, 0.95, N},
    [PRIVACY_DK_CPR] = {"DK_CPR", R, 0.95, N},
    [PRIVACY_NO_FNR] = {"NO_FODSELSNUMMER", R, 0.95, N},
    [PRIVACY_BE_NN] = {"BE_NATIONAL_NUMBER", R, 0.95, N},
    [PRIVACY_PT_NIF] = {"PT_NIF", R, 0.9, N},
    [PRIVACY_CH_AHV] = {"CH_AHV", R, 0.95, N},
    [PRIVACY_AT_SVNR] = {"AT_SVNR", R, 0.95, N},
    [PRIVACY_IE_PPS] = {"IE_PPS", R, 0.95, N},
    [PRIVACY_CZ_RC] = {"CZ_BIRTH_NUMBER", R, 0.95, N},
    [PRIVACY_RO_CNP] = {"RO_CNP", R, 0.95, N},
    [PRIVACY_BG_EGN] = {"BG_EGN", R, 0.95, N},
    [PRIVACY_HR_OIB] = {"HR_OIB", R, 0.95, N},
    [PRIVACY_EE_IK] = {"EE_ISIKUKOOD", R, 0.95, N},
    [PRIVACY_GR_AMKA] = {"GR_AMKA", R, 0.95, N},
    [PRIVACY_TR_TCKN] = {"TR_NATIONAL_ID", R, 0.95, N},
    [PRIVACY_BR_CPF] = {"BR_CPF", R, 0.95, N},
    [PRIVACY_BR_CNPJ] = {"BR_CNPJ", S, 0.5, N},
    [PRIVACY_MX_CURP] = {"MX_CURP", R, 0.95, N},
    [PRIVACY_CL_RUT] = {"CL_RUT", R, 0.95, N},
    [PRIVACY_AR_CUIT] = {"AR_CUIT", R, 0.9, N},
    [PRIVACY_IN_AADHAAR] = {"IN_AADHAAR", R, 0.95, N},
    [PRIVACY_IN_PAN] = {"IN_PAN", R, 0.95, N},
    [PRIVACY_AU_TFN] = {"AU_TFN", R, 0.95, N},
    [PRIVACY_AU_MEDICARE] = {"AU_MEDICARE", R, 0.95, N},
    [PRIVACY_AU_ABN] = {"AU_ABN", S, 0.4, N},
    [PRIVACY_CA_SIN] = {"CA_SIN", R, 1.0, N},
    [PRIVACY_SG_NRIC] = {"SG_NRIC_FIN", R, 0.95, N},
    [PRIVACY_KR_RRN] = {"KR_RRN", R, 0.95, N},
    [PRIVACY_CN_ID] = {"CN_ID", R, 0.95, N},
    [PRIVACY_TW_ID] = {"TW_ID", R, 0.95, N},
    [PRIVACY_HK_ID] = {"HK_ID", R, 0.95, N},
    [PRIVACY_JP_MY_NUMBER] = {"JP_MY_NUMBER", R, 0.95, N},
    [PRIVACY_TH_TNIN] = {"TH_TNIN", R, 0.95, N},
    [PRIVACY_ZA_ID] = {"ZA_ID", R, 0.95, N},
    [PRIVACY_RU_SNILS] = {"RU_SNILS", R, 0.95, N},
    [PRIVACY_RU_INN] = {"RU_INN", R, 0.9, N},
    [PRIVACY_DE_KVNR] = {"DE_HEALTH_INSURANCE", R, 0.95, N},
    [PRIVACY_MX_CLABE] = {"MX_CLABE", R, 0.9, N},
    [PRIVACY_IMEI] = {"IMEI", S, 0.7, N},
    [PRIVACY_VIN] = {"VIN", S, 0.7, N},
    [PRIVACY_IL_ID] = {"IL_ID", R, 0.95, N},
    [PRIVACY_PERSON] = {"PERSON", P, 0.9, O},
    [PRIVACY_PLACE] = {"GPE", P, 0.4, O},
    [PRIVACY_ORGANIZATION] = {"ORGANIZATION", P, 0.5, O},
    [PRIVACY_ID] = {"ID", S, 0.5, O},
    [PRIVACY_CUSTOM] = {"CUSTOM", P, 0.5, O},
};

const char *privacy_kind_name(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].name : "UNKNOWN";
}

enum td_data_class privacy_kind_class(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].data_class : TD_CLASS_RESTRICTED;
}

double privacy_kind_severity(enum privacy_kind kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT ? kinds[kind].severity : 1.0;
}

bool privacy_kind_is_national(int kind)
{
    return (unsigned)kind < PRIVACY_KIND_COUNT && kinds[kind].national;
}
