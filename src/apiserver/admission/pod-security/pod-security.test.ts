import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { DEFAULT_ADMISSION_CONFIG, type PodSecurityConfig } from "../../framework/admission-config.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/n/pods";
const MERGE = { "content-type": "application/merge-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

const GOOD_CONTAINER = {
  name: "c",
  image: "i",
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  },
};
/** Violates only "restricted". */
const PLAIN = { containers: [{ name: "c", image: "i" }] };
const ON_HOST = { hostPID: true, containers: [GOOD_CONTAINER] };

const PLAIN_DETAIL =
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';

function labels(members: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]));
}

/** Starts a server with the namespace "n" with these labels. */
async function withNamespace(
  members: Readonly<Record<string, string>>,
  podSecurity: Partial<PodSecurityConfig> = {},
): Promise<StartedServer> {
  const disabledPlugins = ["ServiceAccount", "DefaultTolerationSeconds", "TaintNodesByCondition", "Priority"];
  const admission = {
    ...DEFAULT_ADMISSION_CONFIG,
    disabledPlugins,
    podSecurity: { ...DEFAULT_ADMISSION_CONFIG.podSecurity, ...podSecurity },
  };
  const server = await startServer({ config: { admission } });
  assert.equal((await server.call("POST", "/api/v1/namespaces", { metadata: { name: "n", labels: labels(members) } })).code, 201);
  return server;
}

function inShort({ code, body, headers: { warning = [] } }: CallAnswer): readonly unknown[] {
  return [code, body.message, typeof warning === "string" ? [warning] : warning];
}

function warning(sentence: string): string {
  return `299 - ${JSON.stringify(sentence)}`;
}

test('PodSecurity "enforce" rejects a violating pod with all violations and no warning', async () => {
  await using server = await withNamespace({ enforce: "restricted" });

  const answer = await server.call("POST", PODS, { metadata: { name: "p" }, spec: PLAIN });

  assert.deepEqual(inShort(answer), [403, `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${PLAIN_DETAIL}`, []]);
  assert.deepEqual(answer.body.details, { name: "p", kind: "pods" });
});

test("PodSecurity admits a compliant pod without warnings", async () => {
  await using server = await withNamespace({ enforce: "restricted" });

  const answer = await server.call("POST", PODS, { metadata: { name: "p" }, spec: { containers: [GOOD_CONTAINER] } });

  assert.deepEqual(inShort(answer), [201, undefined, []]);
});

test('PodSecurity "warn" admits a violating pod with a warning that lists the violations', async () => {
  await using server = await withNamespace({ enforce: "baseline", warn: "restricted", "warn-version": "v1.30" });

  const answer = await server.call("POST", PODS, { metadata: { name: "p" }, spec: PLAIN });

  assert.deepEqual(inShort(answer), [201, undefined, [warning(`would violate PodSecurity "restricted:v1.30": ${PLAIN_DETAIL}`)]]);
});

test("PodSecurity admits everything in a namespace without labels", async () => {
  await using server = await withNamespace({});

  assert.deepEqual(inShort(await server.call("POST", PODS, { metadata: { name: "p" }, spec: ON_HOST })), [201, undefined, []]);
});

const TEMPLATE = { metadata: { labels: { a: "b" } }, spec: ON_HOST };
const HOST_WARNING = warning('would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)');

for (const [path, object] of [
  ["/apis/apps/v1/namespaces/n/deployments", { spec: { selector: { matchLabels: { a: "b" } }, template: TEMPLATE } }],
  ["/apis/apps/v1/namespaces/n/daemonsets", { spec: { selector: { matchLabels: { a: "b" } }, template: TEMPLATE } }],
  ["/apis/apps/v1/namespaces/n/replicasets", { spec: { selector: { matchLabels: { a: "b" } }, template: TEMPLATE } }],
  ["/apis/apps/v1/namespaces/n/statefulsets", { spec: { serviceName: "s", selector: { matchLabels: { a: "b" } }, template: TEMPLATE } }],
  ["/apis/batch/v1/namespaces/n/jobs", { spec: { template: { spec: { ...ON_HOST, restartPolicy: "Never" } } } }],
  [
    "/apis/batch/v1/namespaces/n/cronjobs",
    { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: { spec: { ...ON_HOST, restartPolicy: "Never" } } } } } },
  ],
  ["/api/v1/namespaces/n/replicationcontrollers", { spec: { selector: { a: "b" }, template: TEMPLATE } }],
  ["/api/v1/namespaces/n/podtemplates", { template: TEMPLATE }],
] as const) {
  test(`PodSecurity warns about violating pod templates of ${path.split("/").at(-1)} but never rejects them`, async () => {
    await using server = await withNamespace({ enforce: "baseline" });

    assert.deepEqual(inShort(await server.call("POST", path, { metadata: { name: "x" }, ...object })), [201, undefined, [HOST_WARNING]]);
  });
}

test("PodSecurity rejects invalid labels on a namespace unless they existed before", async () => {
  await using server = await withNamespace({});
  const message = `Namespace "m" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "high": must be one of privileged, baseline, restricted`;

  const created = await server.call("POST", "/api/v1/namespaces", { metadata: { name: "m", labels: labels({ enforce: "high" }) } });
  const updated = await server.call("PATCH", "/api/v1/namespaces/n", { metadata: { labels: labels({ enforce: "high" }) } }, MERGE);

  assert.deepEqual(inShort(created), [422, message, []]);
  assert.deepEqual(inShort(updated), [422, message.replace(`"m"`, `"n"`), []]);
});

test("PodSecurity warns about existing pods that violate a stricter namespace policy, grouped by violation", async () => {
  await using server = await withNamespace({});
  for (const name of ["b", "a", "c"]) await server.call("POST", PODS, { metadata: { name }, spec: PLAIN });
  await server.call("POST", PODS, { metadata: { name: "host" }, spec: { ...ON_HOST } });
  const relabel = (members: Readonly<Record<string, string>>) =>
    server.call("PATCH", "/api/v1/namespaces/n", { metadata: { labels: labels(members) } }, MERGE);

  assert.deepEqual(inShort(await relabel({ enforce: "restricted" })), [
    200,
    undefined,
    [
      warning('existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest"'),
      warning("a (and 2 other pods): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile"),
      warning("host: host namespaces"),
    ],
  ]);
  assert.deepEqual(inShort(await relabel({ enforce: "baseline" })), [200, undefined, []], "milder");
  assert.deepEqual(inShort(await relabel({ "enforce-version": "v1.20" })), [
    200,
    undefined,
    [
      warning('existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:v1.20"'),
      warning("host: host namespaces"),
    ],
  ]);
});

test("PodSecurity allows irrelevant updates of a violating pod but not a new image", async () => {
  await using server = await withNamespace({});
  await server.call("POST", PODS, { metadata: { name: "p" }, spec: ON_HOST });
  await server.call("PATCH", "/api/v1/namespaces/n", { metadata: { labels: labels({ enforce: "baseline" }) } }, MERGE);
  const patch = async (body: JsonObject, subresource = "") => (await server.call("PATCH", `${PODS}/p${subresource}`, body, STRATEGIC)).code;

  assert.equal(await patch({ metadata: { labels: { x: "y" } } }), 200);
  assert.equal(await patch({ status: { phase: "Running" } }, "/status"), 200);
  assert.equal(await patch({ spec: { containers: [{ name: "c", image: "other" }] } }), 403);
  assert.equal(await patch({ spec: { ephemeralContainers: [{ name: "debug", image: "i" }] } }, "/ephemeralcontainers"), 403);
});

for (const [what, exemptions, user] of [
  ["namespace", { namespaces: ["n"] }, "jane"],
  ["user", { usernames: ["deployer"] }, "deployer"],
  ["runtime class", { runtimeClasses: ["sandboxed"] }, "jane"],
] as const) {
  test(`PodSecurity neither rejects nor warns for requests exempt by ${what}`, async () => {
    const none = { namespaces: [], usernames: [], runtimeClasses: [] };
    await using server = await withNamespace({ enforce: "restricted" }, { exemptions: { ...none, ...exemptions } });
    await server.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "sandboxed" }, handler: "h" });
    const spec = { ...ON_HOST, runtimeClassName: "sandboxed" };

    const asked = server.as({ name: user, groups: ["system:masters"] });
    const answer = await asked.call("POST", PODS, { metadata: { name: "p" }, spec });

    assert.deepEqual(inShort(answer), [201, undefined, []]);
  });
}

test("PodSecurity uses the configured defaults where labels are missing", async () => {
  const { defaults } = DEFAULT_ADMISSION_CONFIG.podSecurity;
  await using server = await withNamespace({}, { defaults: { ...defaults, enforce: "baseline", enforceVersion: "v1.5" } });

  const { code, body } = await server.call("POST", PODS, { metadata: { name: "p" }, spec: ON_HOST });

  assert.deepEqual(
    [code, body.message],
    [403, 'pods "p" is forbidden: violates PodSecurity "baseline:v1.5": host namespaces (hostPID=true)'],
  );
});
