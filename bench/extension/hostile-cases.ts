/** Hostile expressions, and the objects in which clients send them. */
import type { JsonObject } from "../../src/api/machinery/object.ts";

/** Path of a collection, and an object to create there. */
export interface Sent {
  readonly path: string;
  readonly object: JsonObject;
}

const ADMISSION = "admissionregistration.k8s.io/v1";
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const POLICIES = `/apis/${ADMISSION}/validatingadmissionpolicies`;
export const BINDINGS = `/apis/${ADMISSION}/validatingadmissionpolicybindings`;
const MUTATING_POLICIES = `/apis/${ADMISSION}/mutatingadmissionpolicies`;
const WEBHOOKS = `/apis/${ADMISSION}/validatingwebhookconfigurations`;
const DEVICE_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses";
const CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
export const THINGS = "/apis/example.com/v1/namespaces/default/things";

/** About 1.2 MB each; more is not stored. */
export const SPECS: Readonly<Record<string, JsonObject>> = {
  text: { text: "a".repeat(1_200_000) },
  numbers: { numbers: Array.from({ length: 150_000 }, (_, index) => index) },
  words: { words: Array.from({ length: 100_000 }, (_, index) => `word${index}`) },
};

export const EVALUATED: readonly (readonly [spec: string, expression: string])[] = [
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

/** Without variables, so that every environment compiles them. */
export const COMPILED: readonly string[] = [
  repeated(1_600, "true", " && "),
  `[${repeated(2_600, "[]", ",")}].size() > 0`,
  repeated(210, "[1].all(x, x > 0)", " && "),
  repeated(1_900, "unknown", " && "),
  "#".repeat(99_000),
  `${nested(10, "optional.of(1)", (inner) => `${inner}.optMap(v, v)`)}.hasValue()`,
  `${nested(12, "[1]", (inner) => `${inner}.map(v, {v: v})`)}.size() > 0`,
  repeated(1_000, "'a'.matches('(x?){90}(y?){90}z')", " && "),
];

/** Maximum that upstream accepts. */
const CONDITIONS = 64;
/** Ten expressions of 2,000 bytes or more each. */
const EXPRESSIONS = 10;

function several<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** One expression in every kind of object that clients can send one in. The number of copies is bounded by the size of a request. */
export const PLACES: Readonly<Record<string, (expression: string) => Sent>> = {
  "validating policy": (expression) =>
    policy(
      "compiled",
      several(EXPRESSIONS, () => expression),
    ),
  "match conditions of a policy": (expression) => {
    const { path, object } = policy("compiled", ["true"]);
    return { path, object: { ...object, spec: { ...(object["spec"] as JsonObject), matchConditions: conditions(expression) } } };
  },
  "mutating policy": (expression) => ({
    path: MUTATING_POLICIES,
    object: {
      apiVersion: ADMISSION,
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "compiled" },
      spec: {
        reinvocationPolicy: "Never",
        matchConstraints: { resourceRules: [RULE] },
        mutations: [
          { patchType: "ApplyConfiguration", applyConfiguration: { expression: `(${expression}) ? Object{} : Object{}` } },
          { patchType: "JSONPatch", jsonPatch: { expression: `(${expression}) ? [JSONPatch{op: "test", path: "/spec"}] : []` } },
        ],
      },
    },
  }),
  "match conditions of a webhook": (expression) => ({
    path: WEBHOOKS,
    object: {
      apiVersion: ADMISSION,
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "compiled" },
      webhooks: [
        {
          ...{ name: "compiled.example.com", sideEffects: "None", admissionReviewVersions: ["v1"], rules: [RULE] },
          clientConfig: { url: "https://127.0.0.1:1/" },
          matchConditions: conditions(expression),
        },
      ],
    },
  }),
  "rules of a definition": (expression) =>
    definition(
      "compileds",
      several(EXPRESSIONS, () => ({ rule: expression })),
    ),
  "selectors of a device class": (expression) => ({
    path: DEVICE_CLASSES,
    object: {
      apiVersion: "resource.k8s.io/v1",
      kind: "DeviceClass",
      metadata: { name: "compiled" },
      spec: { selectors: several(EXPRESSIONS, () => ({ cel: { expression: expression.slice(0, SELECTOR_LENGTH_MAX) } })) },
    },
  }),
  "selectors of a claim": (expression) => ({
    path: CLAIMS,
    object: {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name: "compiled" },
      spec: {
        devices: {
          requests: [
            {
              name: "one",
              exactly: { deviceClassName: "one", selectors: [{ cel: { expression: expression.slice(0, SELECTOR_LENGTH_MAX) } }] },
            },
          ],
        },
      },
    },
  }),
};

/** Upstream's limit; a longer one is refused before it is compiled. */
const SELECTOR_LENGTH_MAX = 10 * 1024;
const RULE = { apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["things"], operations: ["CREATE"] };

function conditions(expression: string): JsonObject[] {
  return several(CONDITIONS, (index) => ({ name: `condition-${index}`, expression: expression.slice(0, CONDITION_LENGTH) }));
}

/** So that all conditions fit into one request. */
const CONDITION_LENGTH = 15_000;

export function definition(plural: string, rules: JsonObject[]): Sent {
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec }, "x-kubernetes-validations": rules } };
  const version = { name: "v1", served: true, storage: true, schema };
  const singular = plural.slice(0, -1);
  const names = { plural, singular, kind: `${singular.charAt(0).toUpperCase()}${singular.slice(1)}` };
  return {
    path: DEFINITIONS,
    object: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.example.com` },
      spec: { group: "example.com", scope: "Namespaced", names, versions: [version] },
    },
  };
}

/** For objects with the label `case` of this name. */
export function policy(name: string, expressions: readonly string[]): Sent {
  const matchConstraints = { objectSelector: { matchLabels: { case: name } }, resourceRules: [RULE] };
  const head = { apiVersion: ADMISSION, kind: "ValidatingAdmissionPolicy", metadata: { name } };
  const validations = expressions.map((expression) => ({ expression }));
  return { path: POLICIES, object: { ...head, spec: { matchConstraints, validations } } };
}

export function binding(name: string): Sent {
  const head = { apiVersion: ADMISSION, kind: "ValidatingAdmissionPolicyBinding", metadata: { name } };
  return { path: BINDINGS, object: { ...head, spec: { policyName: name, validationActions: ["Audit"] } } };
}
