import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { CAUSES_PATH, type CauseItem } from "../../../explain/explain-api.ts";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";

interface World extends AsyncDisposable, Pick<StartedServer, "call" | "as"> {
  /** A policy "p" for creates and updates of ConfigMaps, with a binding "b" that denies. */
  bind(spec: JsonObject, binding?: JsonObject): Promise<void>;
  /** A second policy that denies, and its binding. */
  bindAgain(name: string, spec: JsonObject): Promise<void>;
}

const RULE = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE", "UPDATE"] };

async function given(): Promise<World> {
  const server = await startServer({ config: { admission: onlyPlugins("ValidatingAdmissionPolicy") } });
  const create = async (plural: string, body: JsonObject): Promise<void> => {
    const { code, text } = await server.call("POST", `${GROUP}/${plural}`, body);
    equal(code, 201, text);
  };
  const bind = async (policy: string, name: string, spec: JsonObject, binding: JsonObject = {}): Promise<void> => {
    const whole = { matchConstraints: { resourceRules: [RULE] }, ...spec };
    await create("validatingadmissionpolicies", { metadata: { name: policy }, spec: whole });
    const bound = { policyName: policy, validationActions: ["Deny"], ...binding };
    await create("validatingadmissionpolicybindings", { metadata: { name }, spec: bound });
  };
  return {
    ...server,
    bind: (spec, binding) => bind("p", "b", spec, binding),
    bindAgain: (name, spec) => bind(name, name, spec),
  };
}

function map(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: "m", ...metadata }, data };
}

function messageOf({ code, body }: CallAnswer): string {
  return code < 300 ? "allowed" : String(body.message).replace(/^configmaps "m" is forbidden: /, "");
}

const DENIED = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";

interface Row {
  readonly title: string;
  readonly spec: JsonObject;
  readonly data?: JsonObject;
  readonly says: string;
}

function validated(expression: string, more: JsonObject = {}): JsonObject {
  return { validations: [{ expression, ...more }] };
}

const rows: readonly Row[] = [
  { title: "a true expression", spec: validated("object.data.a == '1'"), says: "allowed" },
  { title: "a false expression", spec: validated("object.data.a == '2'"), says: `${DENIED}failed expression: object.data.a == '2'` },
  { title: "a false expression with a message", spec: validated("false", { message: "no " }), says: `${DENIED}no` },
  {
    title: "a messageExpression",
    spec: validated("false", { message: "no", messageExpression: "'a is ' + object.data.a" }),
    says: `${DENIED}a is 1`,
  },
  {
    title: "a messageExpression that fails",
    spec: validated("false", { message: "no", messageExpression: "string(object.data.missing)" }),
    says: `${DENIED}no`,
  },
  {
    title: "an expression that fails",
    spec: validated("object.data.missing == '1'"),
    says: `${DENIED}expression 'object.data.missing == '1'' resulted in error: no such key: missing`,
  },
  {
    title: "an expression that fails open",
    spec: { ...validated("object.data.missing == '1'"), failurePolicy: "Ignore" },
    says: "allowed",
  },
  {
    title: "variables",
    spec: {
      variables: [
        { name: "keys", expression: "object.data.map(key, key)" },
        { name: "count", expression: "size(variables.keys)" },
      ],
      ...validated("variables.count > 1"),
    },
    says: `${DENIED}failed expression: variables.count > 1`,
  },
  {
    title: "a variable that is not used",
    spec: { variables: [{ name: "bad", expression: "object.data.missing" }], ...validated("true") },
    says: "allowed",
  },
  {
    title: "the request",
    spec: validated(
      "request.operation == 'CREATE' && request.name == 'm' && request.namespace == 'default' && request.userInfo.username == 'kubernetes-admin' && !request.dryRun",
    ),
    says: "allowed",
  },
  { title: "the namespace", spec: validated("namespaceObject.metadata.name == 'default'"), says: "allowed" },
  {
    title: "managedFields of the object",
    spec: validated("object.metadata.managedFields.exists(one, one.operation == 'Update' && has(one.fieldsV1))"),
    says: "allowed",
  },
  { title: "no old object", spec: validated("oldObject == null"), says: "allowed" },
  {
    title: "a match condition that is false",
    spec: { ...validated("false"), matchConditions: [{ name: "c", expression: "false" }] },
    says: "allowed",
  },
  {
    title: "a match condition that fails",
    spec: { ...validated("true"), matchConditions: [{ name: "c", expression: "object.data.missing == ''" }] },
    says: `${DENIED}expression 'object.data.missing == ''' resulted in error: no such key: missing`,
  },
  {
    title: "an excluded resource",
    spec: {
      ...validated("false"),
      matchConstraints: { resourceRules: [{ ...RULE, resources: ["*"] }], excludeResourceRules: [RULE] },
    },
    says: "allowed",
  },
  {
    title: "another name",
    spec: { ...validated("false"), matchConstraints: { resourceRules: [{ ...RULE, resourceNames: ["other"] }] } },
    says: "allowed",
  },
  {
    title: "an objectSelector that does not match",
    spec: { ...validated("false"), matchConstraints: { resourceRules: [RULE], objectSelector: { matchLabels: { a: "b" } } } },
    says: "allowed",
  },
  { title: "the user's permissions", spec: validated("authorizer.group('').resource('pods').check('create').allowed()"), says: "allowed" },
];

for (const { title, spec, data = { a: "1" }, says } of rows) {
  test(`a validating policy with ${title}: ${says.replace(DENIED, "denied, ")}`, async () => {
    await using world = await given();
    await world.bind(spec);
    equal(messageOf(await world.call("POST", MAPS, map(data))), says);
  });
}

test("a denial has the reason of the validation, and its code", async () => {
  await using world = await given();
  await world.bind(validated("false", { message: "no", reason: "Forbidden" }));

  const { code, body } = await world.call("POST", MAPS, map({}));

  const message = `${DENIED}no`;
  equal(code, 403);
  equal(body.reason, "Forbidden");
  deepEqual(body.details, { name: "m", kind: "configmaps", causes: [{ message }] });
});

test("without a reason a denial is 422 Invalid", async () => {
  await using world = await given();
  await world.bind(validated("false"));
  const { code, body } = await world.call("POST", MAPS, map({}));
  deepEqual([code, body.reason], [422, "Invalid"]);
});

test("updates are validated with both objects, deletes of other resources not at all", async () => {
  await using world = await given();
  await world.bind(validated("oldObject == null || object.data.a >= oldObject.data.a", { message: "only upwards" }));
  const update = (a: string) => world.call("PUT", `${MAPS}/m`, map({ a }));

  equal((await world.call("POST", MAPS, map({ a: "5" }))).code, 201);
  equal((await update("6")).code, 200);
  equal(messageOf(await update("5")), `${DENIED}only upwards`);
  equal((await world.call("DELETE", `${MAPS}/m`)).code, 200);
});

test("a binding that warns lets the request pass with a warning", async () => {
  await using world = await given();
  await world.bind(validated("false", { message: "no" }), { validationActions: ["Warn", "Audit"] });

  const { code, headers } = await world.call("POST", MAPS, map({}));

  equal(code, 201);
  deepEqual(headers["warning"], [`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"`]);
  const { text } = await world.call("GET", "/metrics");
  match(
    text,
    /apiserver_validating_admission_policy_check_total\{policy="p",policy_binding="b",error_type="invalid_error",enforcement_action="warn"\} 1/,
  );
});

test("the action Audit and audit annotations are in the record of the request, also of one that is denied", async () => {
  await using world = await given();
  const auditAnnotations = [
    { key: "a", valueExpression: "'a is ' + object.data.a" },
    { key: "absent", valueExpression: "null" },
  ];
  const validations = [
    { expression: "object.data.a != '1'", message: "not 1" },
    { expression: "object.data.a != '2'", message: "not 2" },
  ];
  await world.bind({ auditAnnotations, validations }, { validationActions: ["Audit"] });
  await world.bindAgain("denies", validated("object.data.a != '2'"));
  const annotationsOf = async (data: JsonObject) => {
    const { headers } = await world.call("POST", MAPS, map(data));
    const { body } = await world.call("GET", `${CAUSES_PATH}?requestID=${String(headers["audit-id"])}`);
    const [item] = (body as { items: readonly CauseItem[] }).items;
    return [item?.refusal?.code, item?.stages?.admission?.auditAnnotations];
  };
  const failure = (message: string, expressionIndex: number) => ({
    "validation.policy.admission.k8s.io/validation_failure": JSON.stringify([
      { message, policy: "p", binding: "b", expressionIndex, validationActions: ["Audit"] },
    ]),
  });

  deepEqual(await annotationsOf({ a: "2" }), [422, { ...failure("not 2", 1), "p/a": "a is 2" }]);
  deepEqual(await annotationsOf({ a: "1" }), [undefined, { ...failure("not 1", 0), "p/a": "a is 1" }]);
});

const PARAMS = { paramKind: { apiVersion: "v1", kind: "Secret" }, ...validated("object.data.a == params.metadata.name") };

for (const { title, paramRef, isAllowed } of [
  { title: "by name", paramRef: { name: "1", parameterNotFoundAction: "Deny" }, isAllowed: true },
  {
    title: "by name, in another namespace",
    paramRef: { name: "1", namespace: "kube-system", parameterNotFoundAction: "Deny" },
    isAllowed: false,
  },
  { title: "that do not exist and are ignored", paramRef: { name: "none", parameterNotFoundAction: "Allow" }, isAllowed: true },
  { title: "by label, all of which must pass", paramRef: { selector: {}, parameterNotFoundAction: "Deny" }, isAllowed: false },
  { title: "by label", paramRef: { selector: { matchLabels: { use: "a" } }, parameterNotFoundAction: "Deny" }, isAllowed: true },
]) {
  test(`parameters of a policy ${title}: ${isAllowed ? "allowed" : "denied"}`, async () => {
    await using world = await given();
    const secret = (name: string, labels: JsonObject) =>
      world.call("POST", "/api/v1/namespaces/default/secrets", { metadata: { name, labels } });
    equal((await secret("1", { use: "a" })).code, 201);
    equal((await secret("2", { use: "b" })).code, 201);
    await world.bind(PARAMS, { paramRef });

    equal(messageOf(await world.call("POST", MAPS, map({ a: "1" }))) === "allowed", isAllowed);
  });
}

test("missing parameters deny with upstream's message", async () => {
  await using world = await given();
  await world.bind(PARAMS, { paramRef: { name: "none", parameterNotFoundAction: "Deny" } });
  const why = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
  equal(messageOf(await world.call("POST", MAPS, map({ a: "1" }))), `${DENIED}${why}`);
});

test("an unknown kind of parameters denies with upstream's message", async () => {
  await using world = await given();
  await world.bind(
    { paramKind: { apiVersion: "example.com/v1", kind: "Limit" }, ...validated("true") },
    { paramRef: { name: "x", parameterNotFoundAction: "Deny" } },
  );
  const why = "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'";
  equal(messageOf(await world.call("POST", MAPS, map({}))), `ValidatingAdmissionPolicy 'p' denied request: ${why}`);
});

test("a policy that denies everything can be removed", async () => {
  await using world = await given();
  const everything = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] };
  await world.bind({ ...validated("false"), matchConstraints: { resourceRules: [everything] } });

  equal((await world.call("POST", MAPS, map({}))).code, 422);
  equal((await world.call("DELETE", `${GROUP}/validatingadmissionpolicies/p`)).code, 200);
  equal((await world.call("POST", MAPS, map({}))).code, 201);
});

for (const { title, spec, field, message } of [
  {
    title: "does not compile",
    spec: validated("object.data +"),
    field: "spec.validations[0].expression",
    message: /^Invalid value: "object\.data \+": compilation failed: ERROR: <input>:1:14: Syntax error: /,
  },
  {
    title: "has the wrong type",
    spec: validated("'text'"),
    field: "spec.validations[0].expression",
    message: /^Invalid value: "'text'": must evaluate to bool but got string$/,
  },
  {
    title: "uses an unknown variable",
    spec: validated("variables.x"),
    field: "spec.validations[0].expression",
    message: /undeclared reference to 'variables' \(in container ''\)/,
  },
  {
    title: "uses parameters that the policy does not have",
    spec: validated("params.x"),
    field: "spec.validations[0].expression",
    message: /undeclared reference to 'params' \(in container ''\)/,
  },
  {
    title: "is a variable that uses a later one",
    spec: {
      variables: [
        { name: "a", expression: "variables.b" },
        { name: "b", expression: "1" },
      ],
      ...validated("true"),
    },
    field: "spec.variables[0].expression",
    message: /undefined field 'b'/,
  },
]) {
  test(`a policy is refused if an expression ${title}`, async () => {
    await using world = await given();
    const policy = { metadata: { name: "p" }, spec: { matchConstraints: { resourceRules: [RULE] }, ...spec } };

    const { code, body } = await world.call("POST", `${GROUP}/validatingadmissionpolicies`, policy);

    equal(code, 422);
    const [cause] = body.details.causes;
    equal(cause.field, field);
    match(cause.message, message);
  });
}
