/* Templates, and how Jinja2 3.1.6 renders them with Hugging Face's settings. */
#ifndef TESTS_JINJA_CASES_H
#define TESTS_JINJA_CASES_H

static const char *const expression_cases[][2] = {
    {"{{ 1 + 2 * 3 - 4 }}", "3"},
    {"{{ 7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 / 2, 2 ** 10 }}", "(3, -4, 1, 2, 3.5, 1024)"},
    {"{{ 1.5 + 1, 1e3, 1e16, 0.1 + 0.2, 1.0, 123456789.125, 1e-5 }}",
     "(2.5, 1000.0, 1e+16, 0.30000000000000004, 1.0, 123456789.125, 1e-05)"},
    {"{{ 'a' 'b' ~ 1 ~ none ~ true ~ 1.5 }}", "ab1NoneTrue1.5"},
    {"{{ 'a' + 'b' * 3 }}", "abbb"},
    {"{{ not true or false and 1 == 1 }}", "False"},
    {"{{ 1 < 2 < 3, 1 < 2 > 3 }}", "(True, False)"},
    {"{{ 'b' in 'abc', 'z' not in 'abc', 1 in [1, 2], 'k' in {'k': 1} }}",
     "(True, True, True, True)"},
    {"{{ 'x' if false else 'y' }}", "y"},
    {"{{ 'x' if false }}", ""},
    {"{{ [1, 'two', none, true, 2.5, ['a']], (1,), (), {'a': 1, 'b': {'c': \"it's\"}} }}",
     "([1, 'two', None, True, 2.5, ['a']], (1,), (), {'a': 1, 'b': {'c': \"it's\"}})"},
    {"{{ [1, 2, 3][-1], 'abc'[1], '\303\244\303\266\303\274'[-1], [1, 2, 3][5] is defined }}",
     "(3, 'b', '\303\274', False)"},
    {"{{ [1, 2, 3, 4][1:], [1, 2, 3, 4][:-1], [1, 2, 3, 4][::2], [1, 2, 3, 4][::-1], [1, 2, "
     "3][-2:9] }}",
     "([2, 3, 4], [1, 2, 3], [1, 3], [4, 3, 2, 1], [2, 3])"},
    {"{{ '\303\244bcd\303\251'[1:3], '\303\244bc'[::-1], 'abc'[:-1], 'abc'[5:] }}",
     "('bc', 'cb\303\244', 'ab', '')"},
    {"{{ 'abcdef'[4:1:-1], [1,2,3][9:0:-2] }}", "('edc', [3])"},
    {"{{ messages[0].content, messages[0]['role'], messages[0].nothing is defined }}",
     "('Hi', 'user', False)"},
    {"{{ '  a b '|trim, ' x '.strip() ~ '|', 'xxaxx'.strip('x'), "
     "'\303\244a\303\244'.lstrip('\303\244'), 'abca'.rstrip('ac') }}",
     "('a b', 'x|', 'a', 'a\303\244', 'ab')"},
    {"{{ 'a,b,c'.split(','), 'a  b\\nc'.split(), 'a-b-c'.split('-', 1), 'abc'.split('x') }}",
     "(['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b-c'], ['abc'])"},
    {"{{ 'abc'.startswith('ab'), 'abc'.endswith(('x', 'c')), 'a.b'.replace('.', ' '), "
     "'aaa'.replace('a', 'b', 2) }}",
     "(True, True, 'a b', 'bba')"},
    {"{{ 'aBc dEf'.upper(), 'aBc'.lower(), 'hello wORLD'.title(), 'hELLO'.capitalize() }}",
     "('ABC DEF', 'abc', 'Hello World', 'Hello')"},
    {"{{ 'abcabc'.find('c'), 'abcabc'.rfind('c'), 'abc'.find('z'), 'aXbX'.count('X') }}",
     "(2, 5, -1, 2)"},
    {"{{ '12'.isdigit(), 'a1'.isdigit(), 'ab'.isalpha(), ' '.isspace(), 'a\\nb'.splitlines() }}",
     "(True, False, True, True, ['a', 'b'])"},
    {"{{ 'pre-x'.removeprefix('pre-'), 'x.y'.removesuffix('.y'), ', '.join(['a', 'b']) }}",
     "('x', 'x', 'a, b')"},
    {"{{ {'a': 1, 'b': 2}.items()|list, {'a': 1}.keys()|list, {'a': 1}.values()|list, {'a': "
     "1}.get('a'), {'a': 1}.get('z'), {'a': 1}.get('z', 5) }}",
     "([('a', 1), ('b', 2)], ['a'], [1], 1, None, 5)"},
    {"{{ 'a'|upper, 'A'|lower, 'a b'|title, 'ab'|capitalize, 'abc'|length, "
     "'\303\244\303\266'|length, [1, 2]|count, {'a': 1}|length }}",
     "('A', 'a', 'A B', 'Ab', 3, 2, 2, 1)"},
    {"{{ x|default('d'), ''|default('d'), ''|default('d', true), none|d('x'), y|default }}",
     "('d', '', 'd', None, '')"},
    {"{{ [1, 2]|first, [1, 2]|last, 'abc'|first, [1, 2, 3]|join('-'), [1, 2]|join, "
     "'abc'|join('.'), [3, 1]|sort, ['b', 'A']|sort }}",
     "(1, 2, 'a', '1-2-3', '12', 'a.b.c', [1, 3], ['A', 'b'])"},
    {"{{ messages|map(attribute='role')|list, ['a']|map('upper')|list, [1, 0]|select|list, [1, 2, "
     "3]|reject('equalto', 2)|list, [1, 2, 3]|select('odd')|list }}",
     "(['user'], ['A'], [1], [1, 3], [1, 3])"},
    {"{{ messages|selectattr('role', 'equalto', 'user')|list|length, messages|rejectattr('role', "
     "'==', 'user')|list, messages|selectattr('tool_calls')|list, messages|selectattr('x', "
     "'defined')|list }}",
     "(1, [], [], [])"},
    {"{{ {'b': 1, 'a': [1, 2.5, none, true], 'c': 'q\"\\n\\u00e9<>&\\''}|tojson }}",
     "{\"b\": 1, \"a\": [1, 2.5, null, true], \"c\": \"q\\\"\\n\303\251<>&'\"}"},
    {"{{ {'b': 1, 'a': [1, {}]}|tojson(indent=2) }}",
     "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    {}\n  ]\n}"},
    {"{{ {'b': 1, 'a': []}|tojson(indent=4, sort_keys=true), [1, {'a': 2}]|tojson(separators=(',', "
     "':')) }}",
     "('{\\n    \"a\": [],\\n    \"b\": 1\\n}', '[1,{\"a\":2}]')"},
    {"{{ []|tojson, {}|tojson, '\303\244\\x01\\x7f'|tojson, 1e20|tojson, 5|tojson }}",
     "('[]', '{}', '\"\303\244\\\\u0001\\x7f\"', '1e+20', '5')"},
    {"{{ '5'|int, '5.7'|int, 'x'|int, 5.7|int, '2.5'|float, 3|float, -3|abs, 2.567|round(1), "
     "3.5|round, true|int }}",
     "(5, 5, 0, 5, 2.5, 3.0, 3, 2.6, 4.0, 1)"},
    {"{{ [1, 2, 3]|reverse|list, 'abc'|reverse, [1, 1, 2]|unique|list, [1, 2]|sum, [1, 5, 2]|max, "
     "[4, 2]|min, {'b': 1, 'a': 2}|dictsort }}",
     "([3, 2, 1], 'cba', [1, 2], 3, 5, 2, [('a', 2), ('b', 1)])"},
    {"{{ '%s is %d%%'|format('a', 5), '%s' % 'z', 'a\\nb\\n\\nc'|indent(2), 'a\\nb'|indent(3, "
     "true) }}",
     "('a is 5%', 'z', 'a\\n  b\\n\\n  c', '   a\\n   b')"},
    {"{{ 1 is odd, 2 is even, 4 is divisibleby 2, 1 is number, 'a' is string, [] is iterable, {} "
     "is mapping, 'a' is mapping, none is none, x is undefined, true is boolean, 1 is boolean, 1 "
     "is integer, 1.0 is float, 'a' is sequence, range is callable, 'a' is eq 'a', 3 is gt 2, 'a' "
     "in ['a'], 1 is in [1], 1 is sameas 1, 'ab' is lower, 'AB' is upper, false is false, true is "
     "not false }}",
     "(True, True, True, True, True, True, True, False, True, True, True, False, True, True, True, "
     "True, True, True, True, True, True, True, True, True, True)"},
    {"{{ not 1 is defined, x is not defined and true, 'a' is string and 'b' is string }}",
     "(False, True, True)"},
    {"{{ range(3)|list, range(1, 7, 2)|list, range(3, 0, -1)|list }}",
     "([0, 1, 2], [1, 3, 5], [3, 2, 1])"},
    {"{{ strftime_now('%d %b %Y'), dict(a=1), namespace(a=2).a }}", "('26 Jul 2024', {'a': 1}, 2)"},
    {"{{ -1|abs, -2 ** 2, (1, 2) + (3,), [1] + [2], 1 == 1.0, true == 1, 'a' == 1, [1, [2]] == [1, "
     "[2]], {'a': 1} == {'a': 1}, none == x }}",
     "(1, 4, (1, 2, 3), [1, 2], True, True, False, True, True, False)"},
    {"{{ \"\\u00e9\\x41\\101\\n\\t\\\\\\q\\'\", 'it\\'s', \"a\\\"b\", 1_000 }}",
     "(\"\303\251AA\\n\\t\\\\\\\\q'\", \"it's\", 'a\"b', 1000)"},
    {"{{ 'a' < 'b', 'a' <= 'a', 2 >= 3, [1, 2] != [1], '\303\251' > 'z' }}",
     "(True, True, False, True, True)"},
    {"{{ 'a,b'.split(',')[-1]|upper, ('a' ~ 'b')|upper, 'a' ~ 'b'|upper, 1 + 2|string|length }}",
     "('B', 'AB', 'aB', 2)"},
    {"{{ loop is defined, messages is iterable and messages is not mapping }}", "(False, True)"},
    {"{{ {'a': {'b': [10, 20]}}.a.b[1], {'a': {'b': [10, 20]}}['a'].b.0 }}", "(20, 10)"},
    {"{{ 'None' if none else 'ok', x or 'y', '' or none, 1 and 2, 0 and 2, not '' }}",
     "('ok', 'y', None, 2, 0, True)"},
    {"{{ [[1, 2], [3]]|map('length')|list, [{'a': 1}, {'b': 2}]|map(attribute='a', "
     "default=0)|list, [{'a': {'b': 1}}]|map(attribute='a.b')|list }}",
     "([2, 1], [1, 0], [1])"},
    {"{{ [\"'\", '\"', '\\'\"', 'a\\\\b', '\\n'] }}", "[\"'\", '\"', '\\'\"', 'a\\\\b', '\\n']"},
};

static const char *const statement_cases[][2] = {
    {"{% for x in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ "
     "loop.length }}{{ loop.revindex }}{{ loop.revindex0 }},{% endfor %}",
     "10TrueFalse332,21FalseFalse321,32FalseTrue310,"},
    {"{% for x in [1, 2, 3] %}{{ loop.previtem }}-{{ loop.nextitem }} {{ loop.cycle('a', 'b') "
     "}};{% endfor %}",
     "-2 a;1-3 b;2- a;"},
    {"{% for x in [1, 2, 3, 4] if x % 2 == 0 %}{{ x }}/{{ loop.length }} {% endfor %}", "2/2 4/2 "},
    {"{% for x in [] %}a{% else %}empty{% endfor %}{% for x in y %}a{% else %}undefined{% endfor "
     "%}",
     "emptyundefined"},
    {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }}{% if not loop.last %}, {% endif "
     "%}{% endfor %}",
     "a=1, b=2"},
    {"{% for k, v in {'a': 1}|items %}{{ k }}{{ v }}{% endfor %}{% for k in {'a': 1} %}{{ k }}{% "
     "endfor %}{% for c in '\303\244b' %}{{ c }}.{% endfor %}",
     "a1a\303\244.b."},
    {"{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"},
    {"{% for x in [1, 2, 3] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}", "1"},
    {"{% for a in [1, 2] %}{% for b in [3, 4] %}{% if b == 4 %}{% break %}{% endif %}{{ a }}{{ b "
     "}}{{ loop.depth }} {% endfor %}{{ loop.index }}{% endfor %}",
     "131 1231 2"},
    {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}", "21"},
    {"{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}", "2"},
    {"{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ "
     "ns.x }}",
     "4"},
    {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}", "12(1, 2)"},
    {"{% set x %}a{{ 1 }}b{% endset %}{{ x }}{{ x|length }}{% set y | upper %}abc{% endset %}{{ y "
     "}}",
     "a1b3ABC"},
    {"{% if false %}a{% elif 0 %}b{% elif 1 %}c{% else %}d{% endif %}{% if x %}a{% else %}b{% "
     "endif %}",
     "cb"},
    {"{% macro m(a, b='x', c=none) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) "
     "}}{{ m(a=1, c=3) }}{{ m() }}",
     "[1xNone][12None][1x3][xNone]"},
    {"{% macro m(x) %}{% if x > 0 %}{{ x }}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
     "321"},
    {"{% set g = 5 %}{% macro m() %}{{ g }}{% endmacro %}{{ m() }}{% set r = m() %}{{ r|length }}",
     "51"},
    {"{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}in{% endcall %}", "<in>"},
    {"{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a + b }}{% endcall %}",
     "3"},
    {"{% filter upper %}a{{ 'b' }}{% endfilter %}{% filter trim|upper %} x {% endfilter %}|",
     "ABX|"},
    {"{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}", "12False"},
    {"{% raw %}{{ not }} {% this %}{% endraw %}!{%- raw -%}  x  {%- endraw -%}  y",
     "{{ not }} {% this %}!xy"},
    {"{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor "
     "%}{% if add_generation_prompt %}A{% endif %}",
     "<s>user: Hi</s>A"},
    {"{% if tools is none and documents is none %}none{% endif %}{% if tools %}x{% endif %}",
     "none"},
    {"{% for i in range(2) %}{% macro inner() %}{{ i }}{% endmacro %}{{ inner() }}{% endfor %}",
     "01"},
    {"{{ '}}' }}{{ {'a': {'b': 1}}['a']['b'] }}{{ \"%}\" }}{{ {'a':{}} }}", "}}1%}{'a': {}}"},
    {"{# comment {{ x }} #}a{#- b -#} c", "ac"},
    {"{%- set x = {'type': 'object', 'properties': {'a': {'type': 'string'}}} -%}{%- for k, v in "
     "x.properties|items %}{{ k }}:{{ v.type }}{% endfor -%}",
     "a:string"},
    {"{% set ns = namespace(a=[]) %}{% for i in [3,4] %}{% set ns.a = ns.a + [i] %}{% endfor %}{{ "
     "ns.a }}",
     "[3, 4]"},
    {"{% for x in [1,2,3] %}{{ x }}{% if loop.index == 2 %}{% break %}{% endif %}{% else %}none{% "
     "endfor %}",
     "12"},
    {"{% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}{% for m in messages[1:] %}x{% "
     "endfor %}",
     "1234"},
};

static const char *const space_cases[][2] = {
    {"a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc"},
    {"a\n  {%- if true -%}\n  b\n  {%- endif -%}\nc\n\n", "abc\n"},
    {"  {% if true %}x{% endif %}  \n", "x  "},
    {"  {%+ if true +%}\nx{% endif +%}\n y", "  \nx\n y"},
    {"  {{ 'a' }}\n{{ 'b' }}\n", "  a\nb"},
    {"{{ 'a' -}}   \n {{- 'b' }}  c", "ab  c"},
    {"a  \n {#- c #}\n b", "a b"},
    {"  {# c #}\n b\n", " b"},
    {"a {# c #}\n b", "a  b"},
    {"a\015\n{% if true %}\015\nb\015{% endif %}\015\nc", "a\nb\nc"},
    {"x{% for i in [1,2] %}\n  {{ i }}\n{% endfor %}\ny", "x  1\n  2\ny"},
    {"{% for i in [1,2] %}\n\n  {% set x = i %}\n\t{{ x }}\n  {% endfor %}\n", "\n\t1\n\n\t2\n"},
    {"  \n  {%- set a = 1 %}\n  \n b", "  \n b"},
    {"\n\n{% set a = 1 -%}\n\n b\n\n", "\n\nb\n"},
    {"a{% if true -%} b {%- endif %} c", "ab c"},
    {"text {% if true %}\n in {% endif %}\n out", "text  in  out"},
    {"{% if true %}{% endif %}\n", ""},
    {"  {% raw %}\n x\n  {% endraw %}\ny", "\n x\ny"},
    {"{{ 1 }}\n\n\n", "1\n\n"},
    {"{%- if true %}  {% if true %}\n  a{% endif %}{% endif %}", "    a"},
    {"{# a\nb #}  {% if true %} x{% endif %}", "   x"},
    {"a{{ 'b' }}\n  {% if 1 %}\n{% endif %}z", "ab\nz"},
    {"{ {a} {% if 1 %}{x{% endif %} }", "{ {a} {x }"},
};

static const struct {
    struct scene scene;
    const char *expected;
} tool_cases[] = {
    {{"{%- for t in tools %}{{ t|tojson(indent=2) }}\n{% endfor %}{% for m in messages %}{{ m.role "
      "}}{% if m.tool_calls is defined %}{% for c in m.tool_calls %}{{ c.function.name }}({% for "
      "k, v in c.function.arguments|items %}{{ k }}={{ v|tojson }}{% if not loop.last %}, {% endif "
      "%}{% endfor %}){% endfor %}{% else %}={{ m.content }}{% endif %};{% endfor %}",
      "[{\"role\": \"user\", \"content\": \"2+2?\"}, {\"role\": \"assistant\", \"tool_calls\": "
      "[{\"id\": \"abcdefghi\", \"type\": \"function\", \"function\": {\"name\": \"f\", "
      "\"arguments\": \"{\\\"x\\\": 1, \\\"y\\\": [true, null, \\\"<|im_end|>\\\"]}\"}}]}, "
      "{\"role\": \"tool\", \"tool_call_id\": \"abcdefghi\", \"content\": \"4\"}, {\"role\": "
      "\"assistant\", \"content\": \"It is 4.\"}, {\"role\": \"user\", \"content\": \"Thanks\"}]",
      "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": "
      "\"d<>\\\"\\u00e9\", \"parameters\": {\"type\": \"object\", \"properties\": {\"x\": "
      "{\"type\": \"integer\"}}, \"required\": [\"x\"]}}}]",
      NULL},
     "{\n  \"type\": \"function\",\n  \"function\": {\n    \"name\": \"f\",\n    \"description\": "
     "\"d<>\\\"\303\251\",\n    \"parameters\": {\n      \"type\": \"object\",\n      "
     "\"properties\": {\n        \"x\": {\n          \"type\": \"integer\"\n        }\n      },\n  "
     "    \"required\": [\n        \"x\"\n      ]\n    }\n  }\n}\nuser=2+2?;assistantf(x=1, "
     "y=[true, null, \"<|im_end|>\"]);tool=4;assistant=It is 4.;user=Thanks;"},
    {{"{% for m in messages %}{{ m.content is none }}{{ m.tool_calls is defined }}{% endfor %}{{ "
      "enable_thinking }}{{ n + 1 }}",
      "[{\"role\": \"user\", \"content\": \"2+2?\"}, {\"role\": \"assistant\", \"tool_calls\": "
      "[{\"id\": \"abcdefghi\", \"type\": \"function\", \"function\": {\"name\": \"f\", "
      "\"arguments\": \"{\\\"x\\\": 1, \\\"y\\\": [true, null, \\\"<|im_end|>\\\"]}\"}}]}, "
      "{\"role\": \"tool\", \"tool_call_id\": \"abcdefghi\", \"content\": \"4\"}, {\"role\": "
      "\"assistant\", \"content\": \"It is 4.\"}, {\"role\": \"user\", \"content\": \"Thanks\"}]",
      NULL, "{\"enable_thinking\": false, \"n\": 4}"},
     "FalseFalseTrueTrueFalseFalseFalseFalseFalseFalseFalse5"},
    {{"{% for t in tools %}{% for k, v in t.function.items() if k != 'parameters' %}{{ k }}:{{ v "
      "}},{% endfor %}{{ t.function.parameters.properties }}{% endfor %}",
      NULL,
      "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": "
      "\"d<>\\\"\\u00e9\", \"parameters\": {\"type\": \"object\", \"properties\": {\"x\": "
      "{\"type\": \"integer\"}}, \"required\": [\"x\"]}}}]",
      NULL},
     "name:f,description:d<>\"\303\251,{'x': {'type': 'integer'}}"},
};

#endif
