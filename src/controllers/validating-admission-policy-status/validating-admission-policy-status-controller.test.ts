import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { validatingAdmissionPolicies } from "../../api/admissionregistration.k8s.io/v1/validating-admission-policy.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { startControlledServer, type ControlledServer } from "../../testing/servers/controlled-server.ts";
import { resourcesOf } from "./checked-types.ts";
import { validatingAdmissionPolicyStatusController } from "./validating-admission-policy-status-controller.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const DEPLOYMENTS = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] };

async function statusOf(server: ControlledServer, spec: JsonObject): Promise<JsonObject> {
  const policy = { metadata: { name: "p" }, spec: { matchConstraints: { resourceRules: [DEPLOYMENTS] }, ...spec } };
  const { code, text } = await server.call("POST", POLICIES, policy);
  equal(code, 201, text);
  // Documents yield to other work while they are built.
  await server.clock.advance(1_000);
  return (await server.call("GET", `${POLICIES}/p`)).body.status;
}

test("a policy whose expressions fit the types has no warnings, and its generation is observed", async () => {
  await using server = await startControlledServer(["validatingadmissionpolicy-status-controller"]);
  const expressions = [
    "object.spec.replicas > 1",
    "object.metadata.labels['a'] == object.spec.template.spec.containers[0].name",
    "object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort > 0))",
    "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
    "variables.doubled > 2",
  ];

  const status = await statusOf(server, {
    variables: [{ name: "doubled", expression: "object.spec.replicas * 2" }],
    validations: expressions.map((expression) => ({ expression })),
  });

  deepEqual(status, { observedGeneration: 1, typeChecking: {} });
});

test("type errors are warnings in the status with upstream's text and field", async () => {
  await using server = await startControlledServer(["validatingadmissionpolicy-status-controller"]);

  const { typeChecking } = (await statusOf(server, {
    validations: [
      { expression: "object.spec.replicas > '1'" },
      { expression: "true", messageExpression: "string(object.spec.maxRetries)" },
    ],
  })) as { typeChecking: { expressionWarnings: readonly { fieldRef: string; warning: string }[] } };

  const [first, second] = typeChecking.expressionWarnings;
  equal(first?.fieldRef, "spec.validations[0].expression");
  match(
    first?.warning ?? "",
    /^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '\(int, string\)'/,
  );
  equal(second?.fieldRef, "spec.validations[1].messageExpression");
  match(second?.warning ?? "", /undefined field 'maxRetries'/);
});

test("rules with wildcards and subresources are not checked", () => {
  const rule = (more: JsonObject) => ({ ...DEPLOYMENTS, ...more });
  deepEqual(resourcesOf({ resourceRules: [rule({ apiGroups: ["*"] }), rule({ apiVersions: ["*"] })] as never }), []);
  deepEqual(resourcesOf({ resourceRules: [rule({ resources: ["deployments/*", "statefulsets", "deployments"] })] as never }), [
    { group: "apps", version: "v1", plural: "deployments" },
    { group: "apps", version: "v1", plural: "statefulsets" },
  ]);
});

test("after a crash at any step the warnings are those of the policy's last generation", () => {
  const policyOf = (expression: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1" as const,
    kind: "ValidatingAdmissionPolicy" as const,
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: [DEPLOYMENTS] }, validations: [{ expression }] },
  });
  return everyStepMayBeTheLast(
    {
      objects: [policyOf("object.spec.replicas > '1'")],
      controllers: () => [validatingAdmissionPolicyStatusController],
      restMs: 20_000,
      steps: [
        async ({ client }) => {
          const { spec } = policyOf("object.spec.replicas > 1");
          await client.patch(validatingAdmissionPolicies, { name: "p" }, { type: "merge", value: { spec } });
        },
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 20 }) },
  );
});
