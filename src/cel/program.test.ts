import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { compile } from "./compile.ts";
import type { Bindings, EvaluationOptions } from "./contract.ts";
import { createEnvironment } from "./environment.ts";
import { AUTHORIZER, authorizerValue, RESOURCE_CHECK, resourceCheckValue } from "./library/authorizer.ts";
import { typeNameProblems } from "./library/patch-objects.ts";
import { escapeName, unescapeName } from "./schema/escaping.ts";
import { show } from "./testing/show.ts";
import { declared, declareList, declareObject, type Declaration } from "./types/declaration.ts";
import { BOOL, DYN, type CelType } from "./types/type.ts";
import { dynValue, LazyMap, toJson } from "./values/json.ts";
import { schemaValue } from "./values/schema-value.ts";
import { CelError, type CelValue } from "./values/value.ts";

function programOf(expression: string, variables: Readonly<Record<string, CelType>>) {
  const compilation = compile(createEnvironment({ variables, patchTypes: true }), expression);
  if (!compilation.ok) throw new Error(compilation.message);
  return compilation.program;
}

function evaluate(expression: string, bindings: Bindings, options?: EvaluationOptions) {
  const variables = Object.fromEntries(Object.keys(bindings).map((name) => [name, DYN]));
  return programOf(expression, variables).evaluate(bindings, options);
}

test("only the fields that an expression reads are read", () => {
  const read: string[] = [];
  const json: Readonly<Record<string, unknown>> = { spec: { replicas: 3, other: {} }, status: {} };
  const object = new Proxy(json, {
    get: (target, name) => {
      read.push(String(name));
      return target[String(name)];
    },
  });

  const evaluation = evaluate("object.spec.replicas == 3", { object: dynValue(object) });

  equal(evaluation.ok && evaluation.value, true);
  deepEqual(read, ["spec"]);
});

describe("objects with fields that their schema does not have", () => {
  const schema = { type: "object", properties: { known: { type: "integer" } }, "x-kubernetes-preserve-unknown-fields": true };
  for (const [a, b, isEqual] of [
    [{ known: 1, more: { x: ["y"] } }, { known: 1, more: { x: ["y"] } }, true],
    [{ known: 1, more: { x: ["y"] } }, { known: 1, more: { x: ["z"] } }, false],
    [{ known: 1, more: "a" }, { known: 2, more: "a" }, false],
    [{ known: 1 }, { known: 1, more: "a" }, false],
  ] as const) {
    test(`${JSON.stringify(a)} ${isEqual ? "equals" : "differs from"} ${JSON.stringify(b)}`, () => {
      const evaluation = evaluate("a == b", { a: () => schemaValue(a, schema), b: () => schemaValue(b, schema) });

      equal(evaluation.ok && evaluation.value, isEqual);
    });
  }
});

test("the zero value of a timestamp is the beginning of the year 1", () => {
  const hasValue = (time: string) => evaluate(`optional.ofNonZeroValue(timestamp("${time}")).hasValue()`, {});

  const [first, epoch] = ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"].map(hasValue);

  equal(first?.ok && first.value, false);
  equal(epoch?.ok && epoch.value, true);
});

test("the text of a timestamp has the offset that it was read with", () => {
  const texts = {
    "timestamp('2011-08-18T19:03:37.01+01:00')": "2011-08-18T19:03:37.01+01:00",
    "timestamp('2011-08-18T00:03:37-05:30') - duration('1h')": "2011-08-17T23:03:37-05:30",
    "duration('1h') + timestamp('2011-08-18T19:03:37+00:00')": "2011-08-18T20:03:37Z",
  };
  for (const [expression, text] of Object.entries(texts)) {
    const evaluation = evaluate(`string(${expression})`, {});

    equal(evaluation.ok && evaluation.value, text);
  }
  const compared = evaluate("timestamp('2011-08-18T19:03:37+01:00') == timestamp('2011-08-18T18:03:37Z')", {});
  equal(compared.ok && compared.value, true);
});

test("a list of unknown type is flattened also if it contains no lists", () => {
  const evaluation = evaluate("dyn([1, 2]).flatten().size()", {});

  equal(evaluation.ok && evaluation.value, 2n);
});

test("a lazily bound variable is computed once, and only if it is read", () => {
  let calls = 0;
  const bindings = {
    used: () => {
      calls++;
      return 5n;
    },
    unused: () => new CelError("not to be called"),
  };

  const evaluation = evaluate("used + used + (true ? 0 : unused)", bindings);

  equal(evaluation.ok && evaluation.value, 10n);
  equal(calls, 1);
});

test("fields of a lazy map are computed when read, and their errors are those of the expression", () => {
  const variables = new LazyMap(
    new Map<string, () => CelValue | CelError>([
      ["good", () => "yes"],
      ["bad", () => new CelError("no such key: x")],
    ]),
  );

  deepEqual(
    ["variables.good", "variables.bad", "variables.none", "has(variables.bad)"].map((expression) => {
      const evaluation = evaluate(expression, { variables });
      return evaluation.ok ? show(evaluation.value) : evaluation.error.message;
    }),
    ['"yes"', "no such key: x", "no such key: none", "no such key: x"],
  );
});

test("an evaluation ends when its cost exceeds the limit", () => {
  const expression = "[1, 2, 3].map(i, i * 2).size() == 3";
  const full = evaluate(expression, {});
  const limited = evaluate(expression, {}, { costLimit: full.cost - 1 });

  equal(full.ok && full.value, true);
  equal(limited.ok ? "ended" : limited.reason, "cost");
  equal(evaluate(expression, {}, { costLimit: full.cost }).ok, true);
});

test("an evaluation is interrupted between iterations", () => {
  let checks = 0;
  const options = { isInterrupted: () => ++checks === 2 };

  const evaluation = evaluate("lists.range(1000).all(i, i >= 0)", {}, options);

  equal(evaluation.ok ? "ended" : evaluation.reason, "interrupted");
  equal(checks, 2);
});

test("an evaluation inside another has its own cost, and the steps that are left", () => {
  const inner = programOf("lists.range(100).sum()", {});

  const evaluation = evaluate("total + total", {
    total: () => {
      const result = inner.evaluate({});
      return result.ok ? result.value : result.error;
    },
  });

  equal(evaluation.ok && evaluation.value, 9900n);
  equal(evaluation.cost, 3);
});

test("a program names the variables and functions that it refers to", () => {
  const { references } = programOf("self.a == 1 || oldSelf.a.startsWith('x')", { self: DYN, oldSelf: DYN, unused: DYN });

  deepEqual(
    ["self", "oldSelf", "unused", "startsWith"].map((name) => references.has(name)),
    [true, true, false, true],
  );
});

test("recursive types are declared lazily", () => {
  const node: Declaration = declareObject(
    "node",
    () =>
      new Map([
        ["children", declareList(node)],
        ["name", declared.string],
      ]),
  );
  const environment = createEnvironment({ variables: { root: node.type }, declarations: [node] });

  const compilation = compile(environment, "root.children[0].children.all(c, c.name == 'x')");
  const wrong = compile(environment, "root.children[0].children.all(c, c.nope == 'x')");

  equal(compilation.ok && compilation.program.outputType, BOOL);
  equal(wrong.ok ? "" : wrong.issues[0]?.message, "undefined field 'nope'");
});

test("the authorizer is asked with what the expression describes", () => {
  const asked: unknown[] = [];
  const decide = (check: object) => {
    asked.push(check);
    return { allowed: true, reason: "" };
  };
  const expression =
    "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').name('web').check('get').allowed() && authorizer.requestResource.check('update').allowed()";
  const program = programOf(expression, { authorizer: AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK });

  const evaluation = program.evaluate({
    authorizer: authorizerValue(decide),
    "authorizer.requestResource": resourceCheckValue(decide, { group: "", resource: "pods", subresource: "", namespace: "ns", name: "p" }),
  });

  const none = { group: "", resource: "", subresource: "", namespace: "", name: "" };
  equal(evaluation.ok && evaluation.value, true);
  deepEqual(asked, [
    { ...none, serviceAccount: { namespace: "ns", name: "sa" }, group: "apps", resource: "deployments", name: "web", verb: "get" },
    { ...none, resource: "pods", namespace: "ns", name: "p", verb: "update" },
  ]);
});

test("an authorizer that cannot decide is an error of the expression", () => {
  const program = programOf("authorizer.path('/x').check('get').allowed()", { authorizer: AUTHORIZER });
  const decide = (): never => {
    throw new Error("not decided yet");
  };

  const evaluation = program.evaluate({ authorizer: authorizerValue(decide) });

  equal(evaluation.ok ? "" : evaluation.error.message, "not decided yet");
});

describe("values become JSON", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ["{'a': [dyn(1), dyn(2u), dyn(1.5), dyn('x'), dyn(true), dyn(null)]}", { a: [1, 2, 1.5, "x", true, null] }],
    ["9007199254740993", 9007199254740993n],
    ["b'hi'", "aGk="],
    ["duration('90m')", "1h30m0s"],
    ["timestamp('2024-01-02T03:04:05Z')", "2024-01-02T03:04:05Z"],
    ["optional.none()", null],
    ["quantity('1500m')", "1500m"],
    ["Object{spec: Object.spec{replicas: 3, labels: {'a': 'b'}}}", { spec: { replicas: 3, labels: { a: "b" } } }],
    ["JSONPatch{op: 'add', path: '/a', value: [1]}", { op: "add", path: "/a", value: [1] }],
  ];
  for (const [expression, json] of rows) {
    test(expression, () => {
      const evaluation = evaluate(`[dyn(${expression})][0]`, {});

      deepEqual(evaluation.ok && toJson(evaluation.value), json);
    });
  }
});

test("created objects are named after their path", () => {
  const problems = (expression: string): readonly string[] => {
    const evaluation = evaluate(expression, {});
    return evaluation.ok ? typeNameProblems(evaluation.value) : [evaluation.error.message];
  };

  deepEqual(problems("Object{spec: Object.spec{items: [Object.spec.items{a: 1}]}}"), []);
  deepEqual(problems("Object{spec: Object.status{a: 1}}"), [
    'unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type',
  ]);
});

describe("names of fields are escaped where CEL cannot write them", () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["plain", "plain"],
    ["a-b.c/d", "a__dash__b__dot__c__slash__d"],
    ["a__b", "a__underscores__b"],
    ["namespace", "__namespace__"],
    ["1a", undefined],
    ["ä", undefined],
    ["", undefined],
  ];
  for (const [name, escaped] of rows) {
    test(name, () => {
      equal(escapeName(name), escaped);
      if (escaped !== undefined) equal(unescapeName(escaped), name);
    });
  }
});

test("a sum of quantities can be compared with a quantity on its right only, as upstream", () => {
  const sum = 'quantity("1").add(1)';

  const results = [`${sum} == quantity("2")`, `quantity("2") == ${sum}`].map((expression) => evaluate(expression, {}));

  deepEqual(
    results.map((result) => (result.ok ? result.value : result.error.message)),
    [true, "no such overload"],
  );
});
