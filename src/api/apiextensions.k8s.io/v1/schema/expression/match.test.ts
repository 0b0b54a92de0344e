import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Budget, BudgetError, STEPS_MAX } from "../budget.ts";
import { Patterns } from "./match.ts";

function matchesPattern(pattern: string, text: string): boolean {
  return new Patterns(new Budget()).matches(pattern, text);
}

function patternProblem(pattern: string): string | undefined {
  return new Patterns(new Budget()).problemOf(pattern);
}

/** The cost of a match. */
function stepsOf(pattern: string, text: string): number {
  const budget = new Budget();
  new Patterns(budget).matches(pattern, text);
  return STEPS_MAX - budget.left;
}

const rows: readonly (readonly [pattern: string, matching: readonly string[], others: readonly string[]])[] = [
  ["a.c", ["xabcx"], ["a\nc", "ac"]],
  ["(?s)a.c", ["a\nc"], []],
  ["^a", ["ab"], ["ba", "b\na"]],
  ["a$", ["ba"], ["ab", "a\n"]],
  ["(?m)^b$", ["a\nb\nc"], ["ab"]],
  ["(?i)AbC", ["aBc"], ["abd"]],
  ["(?i)[k]", ["K", "\u212a"], ["x"]],
  ["(?i)\\W", ["-", "é"], ["k", "K", "\u212a", "s", "\u017f"]],
  ["(?i)[[:^word:]]", ["-"], ["k", "\u212a"]],
  ["(?i)[^k]", ["a"], ["k", "K", "\u212a"]],
  ["^a(?i)b(?-i)c$", ["aBc"], ["aBC", "Abc"]],
  ["((?i)a)b", ["Ab"], ["AB"]],
  ["(?i:a)b", ["Ab"], ["AB"]],
  ["^\\d{2,3}$", ["12", "123"], ["1", "1234"]],
  ["^x{0}y{2,}$", ["yy", "yyy"], ["y", "xyy"]],
  ["^(a|b)*$", ["", "abab"], ["abc"]],
  ["^x*?y+?$", ["xxyy"], ["xx"]],
  ["a|b|", ["", "z"], []],
  ["a{,2}", ["a{,2}"], ["aa"]],
  ["[[:alpha:]]", ["a"], ["1"]],
  ["^[^[:alpha:]\\d]$", ["-"], ["a", "1"]],
  ["[[:^digit:]]", ["a"], ["1"]],
  ["^[]a-]+$", ["]a-"], ["b"]],
  ["[a\\-z]", ["-", "z"], ["b"]],
  ["\\p{Greek}", ["α"], ["a"]],
  ["\\pL", ["é"], ["1"]],
  ["\\P{L}", ["1"], ["é"]],
  ["\\p{^L}", ["1"], ["é"]],
  ["\\p{lu}", ["A"], ["a"]],
  ["\\p{Any}\\p{ASCII}\\p{Assigned}", ["aaa"], ["aé"]],
  ["\\bfoo\\b", ["a foo b"], ["afoo"]],
  ["\\Bfoo", ["afoo"], ["foo"]],
  ["\\Qa.b\\E", ["a.b"], ["axb"]],
  ["\\x41\\x{1F600}\\101", ["A😀A"], ["A😀"]],
  ["^\\t\\n\\r\\f\\v\\a$", ["\t\n\r\f\v\u0007"], []],
  ["\\A\\z", [""], ["a"]],
  ["(?P<n>a)(?<m>b)(?U)c+", ["abc"], ["ab"]],
  ["^\\w+\\s\\W\\S\\D$", ["a_1 - xx".replace("- x", "-x")], ["a"]],
  ["^.$", ["😀"], ["ab"]],
];
for (const [pattern, matching, others] of rows) {
  test(`the pattern ${JSON.stringify(pattern)} matches as in Go`, () => {
    const wrong = {
      missed: matching.filter((text) => !matchesPattern(pattern, text)),
      taken: others.filter((text) => matchesPattern(pattern, text)),
    };

    assert.deepEqual(wrong, { missed: [], taken: [] });
  });
}

const problems: readonly (readonly [pattern: string, problem: string])[] = [
  ["(", "missing closing ): `(`"],
  ["a)", "unexpected ): `a)`"],
  ["[a", "missing closing ]: `[a`"],
  ["[a-", "missing closing ]: `[a-`"],
  ["[b-a]", "invalid character class range: `b-a`"],
  ["[[:foo:]]", "invalid character class range: `[:foo:]`"],
  ["\\p{Foo}", "invalid character class range: `\\p{Foo}`"],
  ["\\p{", "invalid character class range: `\\p{`"],
  ["*", "missing argument to repetition operator: `*`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["a{3,1}", "invalid repeat count: `{3,1}`"],
  ["(a{500}){3}", "invalid repeat count: `{3}`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["(?<=a)", "invalid named capture: `(?<=a)`"],
  ["(?P<a b>)", "invalid named capture: `(?P<a b>`"],
  ["(?-)", "invalid or unsupported Perl syntax: `(?-)`"],
  ["\\", "trailing backslash at end of expression: ``"],
  ["\\8", "invalid escape sequence: `\\8`"],
  ["\\xg", "invalid escape sequence: `\\xg`"],
  ["\\x{110000}", "invalid escape sequence: `\\x{110000`"],
  ["\\C", "invalid escape sequence: `\\C`"],
];
for (const [pattern, problem] of problems) {
  test(`the pattern ${JSON.stringify(pattern)} is rejected with Go's message`, () => {
    assert.equal(patternProblem(pattern), `error parsing regexp: ${problem}`);
  });
}

test("a pattern that is too deep or too large is rejected", () => {
  const deep = `${"(".repeat(1_001)}${")".repeat(1_001)}`;
  const large = `(${"a".repeat(4_000)}){1000}`;

  assert.equal(patternProblem(deep), `error parsing regexp: expression nests too deeply: \`${deep}\``);
  assert.equal(patternProblem(large), `error parsing regexp: expression too large: \`${large}\``);
});

test("a pattern with exponential backtracking elsewhere is matched in linear time", () => {
  assert.equal(matchesPattern("^(?:(?:a+)+)+$", `${"a".repeat(20_000)}b`), false);
});

const branches = (count: number) => `^(${Array.from({ length: count }, (_, index) => `a*b${index}`).join("|")})$`;

test("the cost of a match grows with text and pattern, and does not depend on earlier matches", () => {
  const cost = stepsOf(branches(10), "a".repeat(100));

  assert.equal(stepsOf(branches(10), "a".repeat(100)), cost);
  assert.ok(stepsOf(branches(10), "a".repeat(1_000)) > 5 * cost);
  assert.ok(stepsOf(branches(100), "a".repeat(100)) > 5 * cost);
});

const costly: readonly (readonly [what: string, pattern: string, text: string])[] = [
  ["many branches and a long text", branches(2_000), "a".repeat(5_000)],
  ["a class of many ranges and a long text", `[${"b".repeat(10_000)}]c`, "a".repeat(5_000)],
  ["a pattern that is long", "a".repeat(2 * STEPS_MAX), ""],
  ["a pattern that is many times as long as it is written", "(?:a{1000}b)".repeat(1_500), ""],
];
for (const [what, pattern, text] of costly) {
  test(`a match that costs too much is aborted: ${what}`, () => {
    assert.throws(() => matchesPattern(pattern, text), BudgetError);
  });
}

test("patterns are charged once per validation, and together", () => {
  const budget = new Budget(10_000);
  const patterns = new Patterns(budget);
  for (let times = 0; times < 1_000; times++) patterns.problemOf("^a{100}$");

  assert.equal(budget.isSpent, false);
  assert.throws(() => Array.from({ length: 100 }, (_, index) => patterns.problemOf(`^a{100}${index}$`)), BudgetError);
  assert.equal(budget.isSpent, true);
});

test("a class with many possible set names is parsed in linear time", () => {
  assert.equal(patternProblem(`[${"[:".repeat(100_000)}x]`), undefined);
  assert.equal(matchesPattern(`[${"[:".repeat(10)}x]`, "x"), true);
});

test("simple patterns match as JavaScript's regular expressions do", () => {
  const part = fc.constantFrom("a", "b", "[ab]", "[^a]", "(a|b)", "(ab)", "\\d", "^", "$", ".", "\\b");
  const piece = fc
    .tuple(part, fc.constantFrom("", "*", "+", "?", "{2}", "{1,2}"))
    .map(([one, times]) => (/[\^$]|\\b/.test(one[0] ?? "") || one === "\\b" ? one : one + times));
  const patterns = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "1", "-"), maxLength: 8 });
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      assert.equal(matchesPattern(pattern, text), new RegExp(pattern, "u").test(text));
    }),
  );
});
