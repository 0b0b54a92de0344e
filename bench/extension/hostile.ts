/**
 * The longest hold of the event loop while clients send hostile expressions over HTTPS to a running cluster: policies with expressions that
 * take long to compile, and custom resources for which they take long to evaluate. Beside it, the same objects without a policy.
 */
import { Agent, request } from "node:https";
import { Disposables } from "../../src/base/disposables.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { HostileTasks, Listening } from "./hostile-child.ts";

/** The goal. */
const HOLD_MS_MAX = 50;

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const THINGS = "/apis/example.com/v1/namespaces/default/things";

/** About 1.2 MB each; more is not stored. */
const SPECS: Readonly<Record<string, JsonObject>> = {
  text: { text: "a".repeat(1_200_000) },
  numbers: { numbers: Array.from({ length: 150_000 }, (_, index) => index) },
  words: { words: Array.from({ length: 100_000 }, (_, index) => `word${index}`) },
};

const EVALUATED: readonly (readonly [spec: string, expression: string])[] = [
  ["text", "object.spec.text.matches('(a+)+b')"],
  ["text", "object.spec.text.matches('(x?){900}(y?){900}z')"],
  ["text", "object.spec.text.findAll('a*?b?').size() == 0"],
  ["text", "object.spec.text.split('').size() == 0"],
  ["text", "[object.spec.text].map(t, t + t).map(t, t + t).map(t, t + t).map(t, t + t).exists(t, t == '')"],
  ["text", "isURL(object.spec.text) || isIP(object.spec.text) || isSemver(object.spec.text)"],
  ["numbers", "object.spec.numbers.all(a, object.spec.numbers.all(b, a + b >= 0))"],
  ["numbers", "object.spec.numbers.sort().size() == 0 || object.spec.numbers.distinct().size() == 0"],
  ["numbers", "sets.equivalent(object.spec.numbers, object.spec.numbers)"],
  ["words", "object.spec.words.join('').size() == 0 || '%s'.format([object.spec.words]) == ''"],
  ["words", "object.spec.words.exists(w, w.matches('(a+)+b'))"],
  ["words", "object.spec.words.filter(w, w in object.spec.words).size() == 0"],
];

function repeated(count: number, text: string, separator: string): string {
  return Array.from({ length: count }, () => text).join(separator);
}

function nested(levels: number, start: string, wrap: (inner: string) => string): string {
  return levels === 0 ? start : nested(levels - 1, wrap(start), wrap);
}

const COMPILED: readonly string[] = [
  repeated(1_900, "true", " && "),
  `[${repeated(2_600, "[]", ",")}].size() > 0`,
  repeated(210, "[1].all(x, x > 0)", " && "),
  repeated(1_900, "unknown", " && "),
  "#".repeat(99_000),
  `${nested(10, "optional.of(1)", (inner) => `${inner}.optMap(v, v)`)}.hasValue()`,
  `${nested(12, "[1]", (inner) => `${inner}.map(v, {v: v})`)}.size() > 0`,
  repeated(1_000, "'a'.matches('(x?){90}(y?){90}z')", " && "),
];

export const extensionHostile: Benchmark = {
  name: "extension/hostile",
  measures: "the longest hold of the event loop of a running cluster while hostile expressions are compiled and evaluated",
  async *run({ signal, rounds }) {
    await using children = new Disposables();
    const child = children.use(startChild<HostileTasks>(import.meta.url, "hostile-child", signal));
    const cluster = new HostileClient(child, await child.call("start", null));
    await cluster.prepare();
    const { plain, compiled, evaluated } = await rounds.measure({
      plain: () => cluster.longest(Object.keys(SPECS).map((spec) => () => cluster.create("plain", spec))),
      compiled: () => cluster.longest(COMPILED.map((expression) => () => cluster.dryRun(expression))),
      evaluated: () =>
        cluster.longest(
          EVALUATED.map(
            ([spec], index) =>
              () =>
                cluster.create(`case-${index}`, spec),
          ),
        ),
    });
    const budget = { atMost: HOLD_MS_MAX };
    yield figureOf({ name: "extension/hostile-no-expressions", unit: "ms", values: plain });
    yield figureOf({ name: "extension/hostile-compiled", unit: "ms", values: compiled, budget });
    yield figureOf({ name: "extension/hostile-evaluated", unit: "ms", values: evaluated, budget });
  },
};

class HostileClient {
  readonly #child: Child<HostileTasks>;
  readonly #port: number;
  readonly #agent: Agent;

  constructor(child: Child<HostileTasks>, { port, cert, key }: Listening) {
    this.#child = child;
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, cert, key, rejectUnauthorized: false });
  }

  /** A definition, and one policy for the objects of every case. */
  async prepare(): Promise<void> {
    const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } };
    const names = { plural: "things", singular: "thing", kind: "Thing" };
    const definition = {
      metadata: { name: "things.example.com" },
      spec: { group: "example.com", scope: "Namespaced", names, versions: [version] },
    };
    await this.#post(DEFINITIONS, { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...definition });
    for (const [index, [, expression]] of EVALUATED.entries()) {
      const name = `case-${index}`;
      await this.#post(POLICIES, policyOf(name, expression));
      const binding = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding", metadata: { name } };
      await this.#post(BINDINGS, { ...binding, spec: { policyName: name, validationActions: ["Audit"] } });
    }
    while ((await this.create("ready", "words")) !== 201);
  }

  create(name: string, spec: string): Promise<number> {
    const metadata = { name, labels: { case: name } };
    return this.#post(`${THINGS}?dryRun=All`, { apiVersion: "example.com/v1", kind: "Thing", metadata, spec: SPECS[spec] ?? {} });
  }

  dryRun(expression: string): Promise<number> {
    return this.#post(`${POLICIES}?dryRun=All`, policyOf("compiled", expression));
  }

  /** Milliseconds of the longest hold during any of these. */
  async longest(works: readonly (() => Promise<number>)[]): Promise<number> {
    let longest = 0;
    for (const work of works) {
      await this.#child.call("begin", null);
      await work();
      longest = Math.max(longest, await this.#child.call("end", null));
    }
    return longest;
  }

  /** The status code. */
  #post(path: string, body: JsonObject): Promise<number> {
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, host: "127.0.0.1", port: this.#port, method: "POST", path };
      const sent = request({ ...options, headers: { "content-type": "application/json" } }, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
      });
      sent.once("error", reject).end(JSON.stringify(body));
    });
  }
}

function policyOf(name: string, expression: string): JsonObject {
  const rule = { apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["things"], operations: ["CREATE"] };
  const matchConstraints = { objectSelector: { matchLabels: { case: name } }, resourceRules: [rule] };
  const head = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: { name } };
  return { ...head, spec: { matchConstraints, validations: [{ expression }] } };
}
