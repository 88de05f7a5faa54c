/* What is found and what is not, a row each. Brackets in `text` mark the expected span; a text
 * without them must give nothing at all. */
#include "marked_rows.h"

#define NONE PRIVACY_KIND_COUNT
#define E PRIVACY_EMAIL
#define P PRIVACY_PHONE
#define C PRIVACY_CARD
#define I PRIVACY_IBAN
#define S PRIVACY_US_SSN
#define A PRIVACY_IP
#define K PRIVACY_API_KEY
#define PEM PRIVACY_PRIVATE_KEY

static const struct marked_row rows[] = {
    /* e-mail */
    {E, "write to " X("john.doe@acmeltd.com") "."},
    {E, X("john.doe+tag@mail.example.co.uk")},
    {E, "<" X("o'brien_99@acmeltd.org") ">"},
    {E, "mailto:" X("a@b.io") "?subject=x"},
    {E, "'" X("quote@acmeltd.com") "'"},
    {E, "to=" X("user%dom@acmeltd.net") ";"},
    {E, "see..." X("tail@acmeltd.com") "..."},
    {E, X("j\xc3\xb3zsef@p\xc3\xa9lda.hu") " wrote"},
    {E, X("\"john doe\"@acmeltd.com")},
    {E, X("user@xn--bcher-kva.example")},
    {E, X("user@example.xn--p1ai")},
    {E, X("USER@ACMELTD.COM")},
    {E, "\xe8\xaf\xb7\xe5\x8f\x91\xe5\x88\xb0" X("foo@acmeltd.com") "\xe3\x80\x82"},
    {E, X("user\xef\xbc\xa0"
          "example\xef\xbc\x8e"
          "com")},
    {E, X("us\xe2\x80\x8b"
          "er@exam\xc2\xadple.com")},
    {E, X("first@acmeltd.com") "-second"},
    /* Nobody reads them, or nobody can have them (RFC 2606). */
    {NONE, "Co-Authored-By: A Program <noreply@vendor.com>, No-Reply@lists.vendor.com"},
    {NONE, "john.doe@example.com, a@example.org, b@EXAMPLE.NET, c@mail.example.com"},
    {NONE, "see https://www.example.com/path?q=1, shop.example.org or http://example.net"},
    {E, X("noreply.ann@vendor.com")},
    {E, X("reply@vendor.com")},
    {E, X("ann@anexample.com")},
    {E, X("ann@example.com.evil.org")},
    {E, X("ann@example.edu")},
    {NONE, "user@localhost"},
    {NONE, "@decorator.property"},
    {NONE, "me @ home.com"},
    {NONE, "a@b.c"},
    {NONE, "foo.@acmeltd.com"},
    {NONE, "icon@2x.png and sprite@3x.jpg"},
    {NONE, "git@github.com:owner/repository.git"},
    {NONE, "5 apples @ 2.50 each"},
    {NONE, "foo@-acmeltd.com"},
    {NONE, "foo@example.123"},
    {NONE, "@@@ @ @a @b.com"},
    /* hidden by spelling or encoding */
    {E, "write to " X("john at example dot com") " please"},
    {E, X("john dot smith at mail dot example dot org") "!"},
    {E, X("john [at] example [dot] com")},
    {E, X("j.smith(at)acmeltd.com") ", or"},
    {E, X("mary (at) uni-example (dot) de")},
    {E, "q=" X("john%40acmeltd.com") "&x=1"},
    {P, "tel=" X("%2B1%20415%20555%202671")},
    {C, "to " X("NDExMSAxMTExIDExMTEgMTExMQ") "=="},
    {E, "b64 bXkgbWFpbCBpcy" X("BqYW5lQGFjbWVsdGQuY29t") " ok"},
    {NONE, "after the dot com bubble"},
    {NONE, "look at this dot product, at one point in time"},
    {NONE, "at the office. After 5 days the house keeps 3 German Shepherds"},
    {NONE, "100%25 and %20%20 of it"},
    {NONE, "aGVsbG8gd29ybGQsIG5vdGhpbmcgaGVyZQ=="},
    /* phone */
    {P, "call " X("+14155552671") " now"},
    {P, X("+1 (415) 555-2671")},
    {P, X("+44 20 7946 0958") ","},
    {P, "tel:" X("+49-30-901820")},
    {P, X("+46 (0)8 928 571 38")},
    {P, X("+33 1 23 45 67 89")},
    {P, X("+358 9 1234567")},
    {P, X("+1-903-140-4508x769")},
    {P, X("+1 903 440 4508 ext. 76") " please"},
    {P, X("0049 30 901820")},
    {P, X("001-518-640-0854")},
    {P, X("+41\xc2\xa0"
          "44\xc2\xa0"
          "668\xc2\xa0"
          "18\xc2\xa0"
          "00")},
    {P, X("\xef\xbc\x8b"
          "14155552671")},
    {P, X("+1\xe2\x80\x91"
          "415\xe2\x80\x91"
          "555\xe2\x80\x91"
          "2671")},
    {P, X("+4930901820") " 2024-05-01"},
    {P, X("+4930901820") " 12 people"},
    {P, "my number is " X("415-555-2671") "."},
    {P, X("(415) 555-2671")},
    {P, X("1-800-555-0199")},
    {P, "Phone: " X("030 901820")},
    {P, "mobile " X("07700 900 123")},
    {NONE, "2+2 = 4, C++11, +5"},
    {NONE, "x = 1.5, +3523645.6"},
    {NONE, "+1234567"},
    {NONE, "+1234567890123456"},
    {NONE, "+999999999999999999"},
    {NONE, "00000000000000"},
    {NONE, "0.0033123456789"},
    {NONE, "call 2024-05-01 the meeting"},
    {NONE, "phone costs 299.99 EUR"},
    {NONE, "order 415-555-26712"},
    {NONE, "115-555-2671 units"},
    {NONE, "555.1234"},
    {NONE, "hotel 12345678"},
    /* payment card */
    {C, "card " X("4111111111111111") "."},
    {C, X("4111 1111 1111 1111") " 12/27"},
    {C, X("4111-1111-1111-1111")},
    {C, X("378282246310005")},
    {C, X("3782 822463 10005")},
    {C, X("5555555555554444")},
    {C, X("2223003122003222")},
    {C, X("6011111111111117")},
    {C, X("30569309025904")},
    {C, X("3530111333300000")},
    {C, X("6200000000000005")},
    {C, X("4222222222222")},
    {C, X("4111\xc2\xa0"
          "1111\xc2\xa0"
          "1111\xc2\xa0"
          "1111")},
    {C, X("4111\xe2\x80\x8b"
          "1111\xe2\x80\x8b"
          "1111\xe2\x80\x8b"
          "1111")},
    {C, X("\xef\xbc\x94\xef\xbc\x91\xef\xbc\x91\xef\xbc\x91"
          "111111111111")},
    {C, X("\xd9\xa4\xd9\xa1\xd9\xa1\xd9\xa1"
          "111111111111")},
    {C, "card_number:" X("4111111111111111")},
    {C, "\xe5\x8d\xa1" X("4111111111111111") "\xe5\x8f\xb7"},
    {C, X("4111 1111 1111 1111") " 737"},
    {NONE, "4111111111111112"},
    {NONE, "41111111111111111"},
    {NONE, "1234567890123452"},
    {NONE, "9999 9999 9999 9995"},
    {C, X("4111 1111-1111 1111")}, /* one sign each, though not the same */
    {NONE, "0.4111111111111111"},
    {C, "a" X("4111111111111111")},
    {C, X("4111111111111111") "b"},
    {NONE, "45 67 23 89 12 34 56 79"},
    {NONE, "order 1700000000000"},
    {NONE, "tweet 1234567890123456789"},
    /* IBAN */
    {I, X("GB29NWBK60161331926819")},
    {I, "IBAN: " X("GB29 NWBK 6016 1331 9268 19") " please"},
    {I, X("de89370400440532013000")},
    {I, X("DE89 3704 0044 0532 0130 00") "."},
    {I, X("FR1420041010050500013M02606")},
    {I, X("NO9386011117947")},
    {I, X("MT84MALT011000012345MTLCAST001S")},
    {I, X("LC55HEMM000100010012001200023015")},
    {I, X("CH93-0076-2011-6238-5295-7")},
    {I, X("DE89\xe2\x80\xaf"
          "3704\xe2\x80\xaf"
          "0044\xe2\x80\xaf"
          "0532\xe2\x80\xaf"
          "0130\xe2\x80\xaf"
          "00")},
    {I, X("\xef\xbc\xa4\xef\xbc\xa5"
          "89370400440532013000")},
    {NONE, "GB29NWBK60161331926818"},
    {NONE, "GB29NWBK6016133192681"},
    {NONE, "GB29NWBK601613319268190"},
    {NONE, "XX29NWBK60161331926819"},
    {I, "Z" X("GB29NWBK60161331926819")},
    {NONE, "IN20 ORDER 1234 5678 9012 34"},
    /* US SSN */
    {S, "SSN " X("123-45-6789") "."},
    {S, X("078-05-1120")},
    {S, X("899-99-9999") " and more"},
    {S, X("123 45 6789")},
    {S, "my social security number is " X("123456789")},
    {S, "SSN: " X("123456789")},
    {S, "SSN: " X("123.45.6789")},
    {S, X("123456789") " is my SSN"},
    {S, X("123\xe2\x80\x93"
          "45\xe2\x80\x93"
          "6789")},
    {NONE, "000-12-3456"},
    {NONE, "666-12-3456"},
    {NONE, "900-12-3456"},
    {NONE, "123-00-4567"},
    {NONE, "123-45-0000"},
    {NONE, "123456789"},
    {NONE, "invoice 123456789 of May"},
    {NONE, "2024-123-45-6789"},
    {NONE, "123-45-67890"},
    {NONE, "123-45 6789"},
    {NONE, "classn 123456789"},
    {NONE, "{\"account_uuid\":\"\",\"session_id\":\"19385366-4451-453c-8eef-92eb644476bd\"}"},
    {NONE, "account 9d649d37-4511-4531-8221-926644476123"},
    /* IP */
    {A, "host " X("195.168.0.1") ":8080"},
    {A, X("8.8.8.8") "."},
    {A, X("11.0.0.0") "/8"},
    {A, "http://" X("203.1.113.7") "/path"},
    {A, X("2001:db9::1")},
    {A, "[" X("2001:0db9:85a3:0000:0000:8a2e:0370:7334") "]:443"},
    {A, X("fd6::1ff:fe23:4567:890a") "%eth0"},
    {A, X("::ffff:192.1.2.128")},
    {A, X("6e40:4041:c617:e898:c11:40d2:c669:2eb4")},
    {A, X("2001:db9::") "/32"},
    {A, X("172.15.255.255")},
    {A, X("172.32.0.0")},
    {A, X("192.0.3.1") " and not 172.16.0.1"},
    /* nobody's: of networks inside a house, and of manuals (RFC 1918, 4193, 5737, 3849) */
    {NONE, "10.0.0.5, 172.16.0.1, 172.31.255.254, 192.168.1.7 and 169.254.169.254"},
    {NONE, "192.0.2.1, 198.51.100.200 and 203.0.113.7 or http://192.168.0.1:8080/x"},
    {NONE, "2001:db8::1, 2001:0DB8:85a3:0000:0000:8a2e:0370:7334, fe80::1ff:fe23:4567, "
           "fd12:3456:789a::1"},
    {NONE, "256.1.1.1"},
    {NONE, "1.2.3.4.5"},
    {NONE, "1.2.3"},
    {NONE, "version 1.2.3.4"},
    {NONE, "v1.2.3.4"},
    {NONE, "lib-1.2.3.4.tar.gz"},
    {NONE, "1.2.3.4-rc1"},
    {NONE, "127.0.0.1 and 0.0.0.0 and 255.255.255.0"},
    {NONE, "::1 and ::"},
    {NONE, "12:30:45"},
    {PRIVACY_MAC, X("00:1a:2b:3c:4d:5e")},
    {NONE, "std::vector<int> ace::bad a[1::2] x::y"},
    {NONE, "2001:db8:1:2:3:4:5:6:7"},
    {NONE, "1::2::3::4::5555"},
    /* keys and tokens */
    {K, X("sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL")},
    {K, "key=" X("sk-proj-Ab1_cdefghijklmnopqrstuv-wxyz")},
    {K, X("sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345-AA") "."},
    {K, X("ghp_abcdefghijklmnopqrstuvwxyz0123456789")},
    {K, X("gho_16C7e42F292c6912E7710c838347Ae178B4a")},
    {K, X("github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZ")},
    {K, "id " X("AKIAIOSFODNN7EXAMPLE") ","},
    {K, X("ASIAIOSFODNN7EXAMPLE")},
    {K, "aws_secret_access_key = " X("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")},
    {K, "the AWS secret is " X("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE") ","},
    {K, X("AIzaSyA1234567890abcdefghijklmnopqrstuv")},
    {K, X("xoxb-123456789012-abcdefGHIJKL")},
    {K, X("sk_live_4eC39HqLyjWDarjtT1zdp7dc")},
    {K, X("pk_live_4eC39HqLyjWDarjtT1zdp7dc")},
    {K, X("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH")},
    {K, X("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_"
          "XgL0n3I9P")},
    {K, "Authorization: Bearer " X("mF_9.B5f-4.1JqMabcdef0123")},
    {K, "bearer " X("0123456789abcdef0123456789abcdef")},
    {K, "api_key = \"" X("a8f5f167f44f4964e6c998dee827110c") "\""},
    {K, "OPENAI_API_KEY=" X("Zx9kQw7rTy2bNm4L")},
    {K, "\"password\": \"" X("hunter2!") "\""},
    {K, "password: " X("Tr0ub4dor&3") "\n"},
    {K, "DB_PASSWORD=" X("s3cr3t-Pa55")},
    {K, "my password is " X("P@ssw0rd1") "."},
    {K, "postgres://admin:" X("s3cr3tpw") "@db.example.com/x"},
    {K, "Authorization: Basic " X("QWxhZGRpbjpvcGVuIHNlc2FtZTE=")},
    {K, X("ghp_\xe2\x80\x8b"
          "abcdefghijklmnopqrstuvwxyz0123456789")},
    {NONE, "sk-learn-is-a-machine-learning-library"},
    {NONE, "sk-short1"},
    {NONE, "task_live_and_other_words"},
    {NONE, "AKIAIOSFODNN7"},
    {NONE, "AKIAIOSFODNN7EXAMPLEXX"},
    {NONE, "password: ********"},
    {NONE, "password = os.environ['DB_PASSWORD1']"},
    {NONE, "token = next_token(stream1, position2)"},
    {NONE, "api_key = <your-api-key-1>"},
    {NONE, "api_key: ${API_KEY_2}"},
    {NONE, "the token: a unit of text"},
    {NONE, "max_tokens: 4096"},
    {NONE, "Forgot your password? Password: click here!"},
    {NONE, "The password is stored as a hash"},
    {NONE, "the bearer of bad news arrived yesterday at 10:30"},
    {NONE, "secret: nobody knows"},
    {NONE, "eyJhb.not.jwt"},
    {NONE, "https://example.com:8080/a@b"},
    /* private keys */
    {PEM,
     "key:\n" X("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----") "\nend"},
    {PEM, X("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn")},
    {PEM, X("-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----") "\\n"},
    {PEM, "-" X("-----BEGIN EC PRIVATE KEY-----\nx\n-----END CERTIFICATE-----\n4111111111111111")},
    {NONE, "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgI\n-----END CERTIFICATE-----"},
    {NONE, "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----"},
    {NONE, "----- BEGIN -----"},
    /* ordinary text */
    {NONE, ""},
    {NONE, "The meeting is on 2024-05-01 at 10:30, room 12.04, price 1,299.00 EUR (20% off)."},
    {NONE, "On 01.05.2024 and 5/1/2024 we shipped 1000000 units; 12 345 678 remain."},
    {NONE, "Order #20240501-000123, invoice INV-2024-00042, tracking 1Z999AA10123456784."},
    {NONE, "550e8400-e29b-41d4-a716-446655440000"},
    {NONE, "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {NONE, "commit 9fceb02d0ae598e95dc970b74767f19372d61af8"},
    {NONE, "Python 3.11.2, Linux 6.1.0-18-amd64, gcc 12.2.0-14+deb12u1"},
    {NONE, "pi = 3.14159265358979, e = 2.718281828459045"},
    {NONE, "ratio 52.520008, factor 13.40; 1e10 and 0x1f"},
    {NONE, "ISBN 978-3-16-148410-0, EAN 4006381333931"},
    {NONE, "for (i = 0; i < n; i++) { a[i] = b[i] ? c : d; }"},
    {NONE, "x = {'key': 'value', \"n\": 12345}; y: dict[str, int] = {}"},
    {NONE, "Population: 83 200 000; GDP 4 456 081 million; 1990 2000 2010 2020"},
    {NONE, "| 1200 | 3400 | 5600 | 7800 |\n| 1.5 | 2.5 | 3.5 | 4.5 |"},
    {NONE, "12:00-13:30, 7-9 pm, rooms 101-204, pp. 1200-1300"},
    {NONE, "timestamp 2026-11-21T09:30:00.123Z, epoch 1795253400, ms 1795253400123"},
};

/* Findings of the public class (dates, ages, host names) have rows of their own in test_kinds.c. */
static size_t scan_private(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct privacy_span all[32];
    size_t found = privacy_scan(plain_scanner(), text, all, 32), count = 0;
    for (size_t i = 0; i < found && i < 32; i++)
        if (all[i].data_class != TD_CLASS_PUBLIC && count < capacity)
            spans[count++] = all[i];
    return count;
}

static void test_every_row_gives_exactly_what_it_says(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct marked_text marked;
        struct td_str text = marked_read(rows[r].text, &marked);
        struct privacy_span spans[8];
        size_t count = scan_private(text, spans, 8);
        bool right = rows[r].kind == NONE
                         ? count == 0
                         : count == 1 && spans[0].kind == rows[r].kind &&
                               spans[0].begin == marked.begin && spans[0].end == marked.end;
        CHECK(right);
        if (!right)
            marked_report(rows[r].kind, text, spans, count);
    }
}

static void test_scores_are_probabilities(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct privacy_span spans[8];
        size_t count = privacy_scan(plain_scanner(),
                                    (struct td_str){rows[r].text, strlen(rows[r].text)}, spans, 8);
        for (size_t i = 0; i < count && i < 8; i++)
            CHECK(spans[i].score > 0 && spans[i].score <= 1);
    }
}

int main(void)
{
    RUN(test_every_row_gives_exactly_what_it_says);
    RUN(test_scores_are_probabilities);
    return test_finish();
}
