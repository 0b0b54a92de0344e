import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { compile, compileInStages } from "./compile.ts";
import { createEnvironment } from "./environment.ts";
import { completeNow } from "./program/evaluation-turns.ts";
import { DYN } from "./types/type.ts";
import { dynValue } from "./values/json.ts";
import { schemaValue } from "./values/schema-value.ts";

const LONG = "a".repeat(3_000_000);
const environment = createEnvironment({ variables: { text: DYN, list: DYN, words: DYN, query: DYN, map: DYN, set: DYN } });
const numbers = Array.from({ length: 10_000 }, (_, index) => index);
const words = Array.from({ length: 100_000 }, (_, index) => `word${index}`);
const bindings = {
  text: dynValue(LONG),
  list: dynValue(numbers),
  words: dynValue(words),
  query: dynValue(`/?${"a&".repeat(1_500_000)}`),
  map: dynValue(Object.fromEntries(words.map((word) => [word, 1]))),
  set: () => schemaValue(numbers, { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" }),
};

/** Nested macros: each doubles the work, the syntax or the type of the one before. */
function nested(levels: number, start: string, wrap: (inner: string) => string): string {
  let expression = start;
  for (let level = 0; level < levels; level++) expression = wrap(expression);
  return expression;
}

const EXCEEDED = "operation cancelled: actual cost limit exceeded";

describe("evaluations that would take long end by their cost or their steps", () => {
  const expressions: Readonly<Record<string, string>> = {
    "nested loops": nested(6, "true", (inner) => `list.all(i, ${inner})`),
    "the size of a long string, again and again": "list.all(i, list.all(j, size(text) > 0))",
    "a long string compared with itself": "list.all(i, text + 'b' != text + 'c')",
    "strings that double": nested(30, "text", (inner) => `[${inner}].map(s, s + s)[0]`),
    "lists that double": `${nested(40, "list", (inner) => `[${inner}].map(l, l + l)[0]`)}.all(i, i >= 0)`,
    "a pattern that backtracking engines choke on": "list.all(i, text.matches('(a+)+$'))",
    "a large pattern on a long text": "text.matches('(x?){900}(y?){900}z')",
    "a search that compares much at every place": "text.indexOf('b' + text.substring(0, 1500000)) < 0",
    "many matches": "list.all(i, text.findAll('a*?b?').size() > 0)",
    "a range of billions": "lists.range(9000000000).size() > 0",
    "a sorted long list": "lists.range(100000).map(i, -i).sort().size() > 0",
    "distinct elements": "lists.range(100000).distinct().size() > 0",
    "nested lists that are equal": "[list].map(a, [a, a]).map(b, [b, b]).map(c, list.all(i, c == c)).size() > 0",
    "a long text read as a number, again and again": "list.exists(i, double(text) == 1.0)",
    "a long text read as a duration, again and again": "list.exists(i, duration(text) == duration('1s'))",
    "a long text as a time zone, again and again": "list.exists(i, timestamp('2026-01-01T00:00:00Z').getHours(text + ':') == 1)",
    "a long text that is no URL, again and again": "list.exists(i, isURL(text))",
    "a long text that is no address, again and again": "list.exists(i, cidr('10.0.0.0/8').containsIP(dyn(text)))",
    "a URL with a million parameters of the same name": "url(query).getQuery().size() > 0",
    "the parts of a long URL, again and again": "[url('http://' + text)].exists(u, list.exists(i, u.getHostname() == ''))",
    "a version of a million identifiers": "isSemver('1.2.3-' + words.join('.') + words.join('.'))",
    "a long text in hexadecimal": "'%x'.format([text]) == ''",
    "a formatted map of many entries": "'%s'.format([map]) == ''",
    "the characters of a long text": "text.split('').size() == 0",
    "a search in a long list, again and again": "list.exists(i, 2 in words)",
    "the order of a long list, again and again": "list.exists(i, !words.isSorted() && words.min() == '')",
    "a set that is joined, again and again": "list.exists(i, (set + [i]).size() == 0)",
    "a set that is compared, again and again": "list.exists(i, set != set)",
    "a flattened list": `${nested(8, "list", (inner) => `[${inner}, ${inner}].flatten()`)}.size() > 0`,
  };
  for (const [name, expression] of Object.entries(expressions)) {
    test(name, () => {
      const compilation = compile(environment, expression);
      if (!compilation.ok) throw new Error(compilation.message);

      const evaluation = completeNow(compilation.program.start(bindings));

      equal(evaluation.ok ? "ended" : evaluation.error.message, EXCEEDED);
    });
  }
});

describe("expressions that would take long to compile are refused", () => {
  const expressions: Readonly<Record<string, readonly [string, RegExp]>> = {
    "too long": [`"${"x".repeat(100_001)}"`, /expression code point size exceeds limit: size: 100003, limit 100000/],
    "deep parentheses": ["(".repeat(10_000) + "1" + ")".repeat(10_000), /expression recursion limit exceeded: 250/],
    "a long chain of selections": [`text${".a".repeat(10_000)}`, /max recursion depth exceeded/],
    "a long chain of sums": [`1${" + 1".repeat(10_000)}`, /max recursion depth exceeded/],
    "copies that macros make": [nested(40, "optional.of(1)", (inner) => `${inner}.optMap(v, v)`), /expression node count exceeds limit/],
    "types that double": [nested(60, "[1]", (inner) => `${inner}.map(v, {v: v})`), /type of expression exceeds limit/],
    "more nodes than a compilation may have": [`[${"1,".repeat(10_000)}1].size() == 1`, /expression node count exceeds limit: 4000/],
    "many characters that are no tokens": ["#".repeat(90_000), /\n1 more errors were truncated$/],
    "many syntax errors": ["é && ".repeat(15_000), /\n1 more errors were truncated$/],
    "many unknown names": [Array.from({ length: 1_500 }, () => "x").join(" && "), /\n1400 more errors were truncated$/],
    "unbalanced brackets": ["[".repeat(249), /mismatched input '<EOF>'/],
    "a pattern that is too large": ["text.matches('(((x{1000}){1000}){1000})')", /invalid matches argument/],
  };
  for (const [name, [expression, message]] of Object.entries(expressions)) {
    test(name, () => {
      const compilation = compile(environment, expression);

      match(compilation.ok ? "compiled" : compilation.message, message);
    });
  }
});

test("a long compilation yields between its stages, and a short one does not", () => {
  const long = Array.from({ length: 1_500 }, () => "true").join(" && ");

  const yields = (expression: string): number => [...compileInStages(environment, expression)].length;

  deepEqual([yields(long), yields("text == 'a'")], [3, 0]);
});

test("the result of a compilation in stages is that of one without", () => {
  for (const expression of ["text == 'a'", "text ==", "nothing", "text.matches('(')", `[${"1,".repeat(10_000)}1]`]) {
    const stages = compileInStages(environment, expression);
    let stage = stages.next();
    while (stage.done !== true) stage = stages.next();

    const { value } = stage;

    const whole = compile(environment, expression);
    equal(value.ok ? value.program.source : value.message, whole.ok ? whole.program.source : whole.message);
  }
});

describe("extreme arguments are errors of the expression", () => {
  const expressions: Readonly<Record<string, readonly [string, string]>> = {
    "an offset beyond an int": [
      "timestamp('2026-01-01T00:00:00Z').getHours('99999999999999999999:00') == 1",
      'strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    "an offset beyond all dates": ["timestamp('2026-01-01T00:00:00Z').getHours('99999999999:00') == 1", "timestamp overflow"],
    "a number of a version beyond a uint": [
      "semver('1.2.3-18446744073709551616').major() == 1",
      'strconv.ParseUint: parsing "18446744073709551616": value out of range',
    ],
  };
  for (const [name, [expression, message]] of Object.entries(expressions)) {
    test(name, () => {
      const compilation = compile(environment, expression);
      if (!compilation.ok) throw new Error(compilation.message);

      const evaluation = compilation.program.evaluate(bindings);

      equal(evaluation.ok ? "ended" : evaluation.error.message, message);
    });
  }
});

test("a map with as many entries as its source is built in time that grows with their number only", () => {
  const compilation = compile(environment, "map.transformMap(key, value, value + 1).size()");
  if (!compilation.ok) throw new Error(compilation.message);

  const evaluation = completeNow(compilation.program.start(bindings));

  deepEqual(evaluation.ok ? evaluation.value : evaluation.error.message, 100_000n);
});

test("long chains of logical operators are balanced, so they are accepted", () => {
  const compilation = compile(environment, Array.from({ length: 1_500 }, () => "true").join(" && "));

  equal(compilation.ok, true);
});

test("many empty lists in one literal are checked in little time", () => {
  const compilation = compile(environment, `[${Array.from({ length: 2_500 }, () => "[]").join(",")}].size()`);

  equal(compilation.ok, true);
});
