import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { describeFieldError } from "../field-error.ts";
import { checkedRequirement, SelectorError, type LabelRequirement } from "./label-requirement.ts";
import {
  EVERYTHING,
  formatLabelSelector,
  LabelSelector,
  labelSelectorFromLabels,
  labelSelectorFromObject,
  NOTHING,
  parseLabelSelector,
  validateLabelSelectorObject,
} from "./label-selector.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };
const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("a label selector parses to requirements sorted by key", () => {
  deepEqual(parseLabelSelector("i>5,e in (y,x,y),!f,g notin (h),a=b,c!=d,j==k,example.com/l").requirements, [
    { key: "a", operator: "=", values: ["b"] },
    { key: "c", operator: "!=", values: ["d"] },
    { key: "e", operator: "in", values: ["x", "y"] },
    { key: "example.com/l", operator: "exists", values: [] },
    { key: "f", operator: "!", values: [] },
    { key: "g", operator: "notin", values: ["h"] },
    { key: "i", operator: ">", values: ["5"] },
    { key: "j", operator: "==", values: ["k"] },
  ] satisfies LabelRequirement[]);
});

test("equivalent spellings of a label selector have one formatted text", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", ""],
    ["  ", ""],
    [" a = b ,\tc", "a=b,c"],
    ["a in(c,b)", "a in (b,c)"],
    ["a=", "a="],
    ["a in ()", "a in ()"],
    ["a in (,b)", "a in (,b)"],
    ["in in (in,notin)", "in in (in,notin)"],
    ["notin=in", "notin=in"],
    ["b,a,!a", "a,!a,b"],
  ];
  for (const [text, written] of rows) equal(parseLabelSelector(text).toString(), written, text);
});

test("malformed label selectors are rejected with upstream's messages", () => {
  const rows: readonly (readonly [string, string])[] = [
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a=b c", "found 'c', expected: ',' or 'end of string'"],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    ["a==(", "unable to parse requirement: found '(', expected: identifier"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"],
    ["a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ["a>b", `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`],
    ["a_=b", `unable to parse requirement: <nil>: Invalid value: "a_": ${NAME_RULE}`],
    ["a=b_", `unable to parse requirement: values[0][a]: Invalid value: "b_": ${VALUE_RULE}`],
    [
      "a>b_",
      `unable to parse requirement: [values[0]: Invalid value: "b_": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "b_": ${VALUE_RULE}]`,
    ],
  ];
  for (const [text, message] of rows) {
    throws(
      () => parseLabelSelector(text),
      (error) => error instanceof SelectorError && equal(error.message, message) === undefined,
      text,
    );
  }
});

test("requirements match labels as upstream does", () => {
  const labels = { a: "b", n: "5", empty: "" };
  const rows: readonly (readonly [string, boolean])[] = [
    ["", true],
    ["a=b", true],
    ["a=c", false],
    ["x=b", false],
    ["a!=b", false],
    ["x!=b", true],
    ["a in (b,c)", true],
    ["a notin (b,c)", false],
    ["x notin (b)", true],
    ["empty=", true],
    ["x=", false],
    ["a", true],
    ["!a", false],
    ["!x", true],
    ["constructor", false],
    ["n>4", true],
    ["n>5", false],
    ["n<6", true],
    ["a>4", false],
    ["x<4", false],
    ["n<9223372036854775807", true],
    ["a=b,n=6", false],
  ];
  for (const [text, expected] of rows) equal(parseLabelSelector(text).matches(labels), expected, text);
  equal(parseLabelSelector("!a").matches(undefined), true);
});

test("an absent LabelSelector selects nothing and an empty one everything", () => {
  equal(labelSelectorFromObject(undefined), NOTHING);
  equal(NOTHING.matches({}), false);
  equal(NOTHING.isEverything, false);
  equal(labelSelectorFromObject({}), EVERYTHING);
  equal(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] }).isEverything, true);
  equal(EVERYTHING.matches({ a: "b" }), true);
  equal(labelSelectorFromLabels(undefined), EVERYTHING);
});

test("a LabelSelector is formatted as text", () => {
  const selector = {
    matchLabels: { b: "1", a: "2" },
    matchExpressions: [
      { key: "c", operator: "In", values: ["y", "x"] },
      { key: "d", operator: "NotIn", values: ["z"] },
      { key: "e", operator: "Exists" },
      { key: "f", operator: "DoesNotExist" },
    ],
  };
  equal(formatLabelSelector(selector), "a=2,b=1,c in (x,y),d notin (z),e,!f");
  equal(formatLabelSelector({}), "<none>");
  equal(formatLabelSelector(undefined), "<none>");
  equal(formatLabelSelector({ matchExpressions: [{ key: "a", operator: "Near" }] }), "<error>");
  equal(labelSelectorFromLabels({ b: "1", a: "2" }).toString(), "a=2,b=1");
});

test("exactValue returns a value only if a single one is possible", () => {
  const selector = parseLabelSelector("a=1,b in (2),c in (3,4),d!=5,e");
  deepEqual(
    ["a", "b", "c", "d", "e", "f"].map((key) => selector.exactValue(key)),
    ["1", "2", undefined, undefined, undefined, undefined],
  );
});

test("a LabelSelector is validated with upstream's messages", () => {
  const selector = {
    matchLabels: { a_: "b" },
    matchExpressions: [
      { key: "a", operator: "In" },
      { key: "b", operator: "Exists", values: ["c"] },
      { key: "c", operator: "Near" },
      { key: "d", operator: "NotIn", values: ["e_"] },
    ],
  };
  deepEqual([...validateLabelSelectorObject(selector, "spec.selector")].map(describeFieldError), [
    `spec.selector.matchLabels: Invalid value: "a_": ${NAME_RULE}`,
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'spec.selector.matchExpressions[2].operator: Invalid value: "Near": not a valid selector operator',
    `spec.selector.matchExpressions[3].values[0]: Invalid value: "e_": ${VALUE_RULE}`,
  ]);
  const lenient = { allowInvalidValues: true, allowUnknownOperators: true };
  equal([...validateLabelSelectorObject({ matchExpressions: selector.matchExpressions.slice(2) }, "", lenient)].length, 0);
  deepEqual([...validateLabelSelectorObject(undefined, "")], []);
});

const key = fc.constantFrom("a", "b", "in", "notin", "example.com/c", "constructor", "x");
const value = fc.constantFrom("", "1", "2", "10", "in", "v-1.w_x");
const anyRequirement: fc.Arbitrary<LabelRequirement> = fc
  .oneof(
    fc.tuple(key, fc.constantFrom("=" as const, "==" as const, "!=" as const), fc.tuple(value)),
    fc.tuple(key, fc.constantFrom("in" as const, "notin" as const), fc.uniqueArray(value, { minLength: 1 })),
    fc.tuple(key, fc.constantFrom("exists" as const, "!" as const), fc.constant([])),
    fc.tuple(key, fc.constantFrom(">" as const, "<" as const), fc.tuple(fc.constantFrom("1", "2", "10"))),
  )
  .map(([name, operator, values]) => checkedRequirement(name, operator, values.toSorted()));
const anySelector = fc.array(anyRequirement, { maxLength: 5 }).map((requirements) => new LabelSelector(requirements));
const anyLabels = fc.dictionary(key, value);

test("a formatted label selector parses to an equal one", () => {
  fc.assert(
    fc.property(anySelector, (selector) => {
      deepEqual(parseLabelSelector(selector.toString()).requirements, selector.requirements);
    }),
    settings,
  );
});

test("matching agrees with a reference model", () => {
  function isMet({ key: name, operator, values }: LabelRequirement, labels: ReadonlyMap<string, string>): boolean {
    const own = labels.get(name);
    const negated = { "!=": "in", notin: "in", "!": "exists" } as const;
    if (operator === "!=" || operator === "notin" || operator === "!")
      return !isMet({ key: name, operator: negated[operator], values }, labels);
    if (own === undefined) return false;
    if (operator === "exists") return true;
    if (operator === ">") return own !== "" && Number(own) > Number(values[0]);
    if (operator === "<") return own !== "" && Number(own) < Number(values[0]);
    return values.some((candidate) => candidate === own);
  }
  fc.assert(
    fc.property(anySelector, anyLabels, (selector, labels) => {
      const model = new Map(Object.entries(labels));
      equal(
        selector.matches(labels),
        selector.requirements.every((requirement) => isMet(requirement, model)),
      );
    }),
    settings,
  );
});

test("parsing any text returns a selector or throws SelectorError", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "in", "notin", " ", "=", "!", "(", ")", ",", ">", "<", "\0", "é")), (parts) => {
      try {
        parseLabelSelector(parts.join(""));
      } catch (error) {
        if (!(error instanceof SelectorError)) throw error;
      }
    }),
    settings,
  );
});
