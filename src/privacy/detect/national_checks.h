/* Check digits and other rules of national numbers. Each function takes the number without
 * separators, letters in capitals, NUL-terminated. detect_national.c has matched the number to its
 * form before, so its length is right. Pure; any thread. */
#ifndef PRIVACY_NATIONAL_CHECKS_H
#define PRIVACY_NATIONAL_CHECKS_H

#include <stdbool.h>

typedef bool national_check(const char *s);

national_check check_luhn, check_iso7064_11_10, check_uk_nhs, check_uk_nino, check_de_tax_id,
    check_fr_nir, check_es_nif, check_es_nie, check_it_fiscal_code, check_nl_bsn, check_pl_pesel,
    check_se_personnummer, check_fi_hetu, check_dk_cpr, check_no_fnr, check_be_nn, check_pt_nif,
    check_ch_ahv, check_at_svnr, check_ie_pps, check_cz_rc, check_ro_cnp, check_bg_egn, check_ee_ik,
    check_gr_amka, check_tr_tckn, check_br_cpf, check_br_cnpj, check_mx_curp, check_cl_rut,
    check_ar_cuit, check_in_aadhaar, check_in_pan, check_au_tfn, check_au_medicare, check_au_abn,
    check_ca_sin, check_sg_nric, check_kr_rrn, check_cn_id, check_tw_id, check_hk_id,
    check_jp_my_number, check_th_tnin, check_za_id, check_il_id, check_us_itin, check_us_mbi,
    check_us_npi, check_dea, check_ru_snils, check_ru_inn, check_de_kvnr, check_mx_clabe, check_vin;

#endif
