import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod, PodStatus } from "../../api/generated/core/v1.ts";
import type { ResourceClaim, ResourceClaimStatus } from "../../api/generated/resource.k8s.io/v1.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceClaimTemplates } from "../../api/resource.k8s.io/v1/resource-claim-template.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { generatedClaimBase } from "./generated-claim.ts";
import { podClaimOf, surplusClaims, type PodClaim } from "./pod-claims.ts";
import { planRelease } from "./release-plan.ts";
import { resourceClaimController } from "./resource-claim-controller.ts";

const FINALIZER = "resource.kubernetes.io/delete-protection";
const SPEC = { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } };
const ALLOCATION = { devices: { results: [{ request: "gpu", driver: "gpu.example.com", pool: "node", device: "gpu-0" }] } };
const GONE = { resource: "pods", name: "gone", uid: "123e4567-e89b-12d3-a456-426614174000" };

const TEMPLATE = {
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaimTemplate",
  metadata: { name: "gpus", namespace: "default" },
  spec: { metadata: { labels: { of: "template" }, annotations: { note: "kept" } }, spec: SPEC },
} as const;

const pod = (name: string, more: Partial<Pod["spec"]> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: {
    containers: [{ name: "main", image: "web:1" }],
    resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }],
    ...more,
  },
});

const SHARED = { resourceClaims: [{ name: "gpu", resourceClaimName: "shared" }] };

const claim = (name: string, status: ResourceClaimStatus = {}, finalizers: readonly string[] = []): ResourceClaim => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name, namespace: "default", finalizers },
  spec: SPEC,
  status,
});

async function sole(cluster: Given): Promise<ResourceClaim> {
  const [found, ...others] = await cluster.list(resourceClaims);
  assert.deepEqual(others, []);
  assert.ok(found !== undefined);
  return found;
}

async function change(cluster: Pick<Given, "client">, name: string, status: PodStatus): Promise<void> {
  await cluster.client.patch(pods, { namespace: "default", name }, { type: "merge", value: { status } }, { subresource: "status" });
}

test("metrics count claims by allocation, admin access and source, and their creations", async () => {
  const admin = {
    ...claim("admin"),
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "c", adminAccess: true } }] } },
  };
  const namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "ops", labels: { "resource.kubernetes.io/admin-access": "true" } },
  };
  const extended = { "resource.kubernetes.io/extended-resource-claim": "true" };
  await using cluster = await given(
    ...[TEMPLATE, pod("web"), namespace, { ...admin, metadata: { name: "admin", namespace: "ops" } }],
    { ...claim("extended"), metadata: { name: "extended", namespace: "default", annotations: extended } },
    claim("used", { allocation: ALLOCATION, reservedFor: [{ resource: "jobs", name: "j", uid: "1" }] }, [FINALIZER]),
    claim("deleted"),
  );
  const running = await cluster.run(resourceClaimController);
  await cluster.client.delete(resourceClaims, { namespace: "default", name: "deleted" });
  await cluster.settled();

  const lines = prometheusText(running.metrics()).split("\n");
  assert.deepEqual(lines.filter((line) => line.startsWith("resourceclaim_controller_")).toSorted(), [
    'resourceclaim_controller_creates_total{status="success",admin_access="false"} 1',
    'resourceclaim_controller_resource_claims{allocated="false",admin_access="false",source="extended_resource"} 1',
    'resourceclaim_controller_resource_claims{allocated="false",admin_access="false",source="resource_claim_template"} 1',
    'resourceclaim_controller_resource_claims{allocated="false",admin_access="true",source=""} 1',
    'resourceclaim_controller_resource_claims{allocated="true",admin_access="false",source=""} 1',
  ]);
});

test("a Pod with a template gets a claim of its own, whose name is in its status", async () => {
  await using cluster = await given(TEMPLATE, pod("web"));

  await cluster.reconcile(resourceClaimController, "default/web");
  await cluster.reconcile(resourceClaimController, "default/web");

  const { metadata, spec } = await sole(cluster);
  const web = await cluster.client.get(pods, { namespace: "default", name: "web" });
  assert.match(metadata.name, /^web-gpu-.{5}$/);
  assert.deepEqual(metadata.labels, { of: "template" });
  assert.deepEqual(metadata.annotations, { note: "kept", "resource.kubernetes.io/pod-claim-name": "gpu" });
  assert.deepEqual(metadata.ownerReferences, [{ apiVersion: "v1", kind: "Pod", name: "web", uid: web.metadata.uid, controller: true }]);
  assert.equal(spec.devices?.requests?.[0]?.exactly?.deviceClassName, "gpu.example.com");
  assert.deepEqual(web.status?.resourceClaimStatuses, [{ name: "gpu", resourceClaimName: metadata.name }]);
  assert.equal(cluster.actions.length, 2);
});

test("a missing template is reported, and its creation triggers the Pods that wait for it", async () => {
  await using cluster = await given(pod("web"));
  await cluster.run(resourceClaimController);
  await cluster.settled();
  assert.deepEqual(await cluster.list(resourceClaims), []);

  await cluster.client.create(resourceClaimTemplates, TEMPLATE);
  await cluster.settled();

  assert.match((await sole(cluster)).metadata.name, /^web-gpu-/);
});

test("the event of a missing template names it", async () => {
  await using cluster = await given(pod("web"));

  await cluster.reconcile(resourceClaimController, "default/web");

  assert.deepEqual(cluster.events, [
    'Warning FailedResourceClaimCreation Pod/web PodResourceClaim gpu: resource claim template "gpus": resourceclaimtemplate.resource.k8s.io "gpus" not found',
  ]);
});

test("a deleted claim is created again, and the claim of a Pod that ended is deleted", async () => {
  await using cluster = await given(TEMPLATE, pod("web"));
  await cluster.run(resourceClaimController);
  await cluster.settled();
  const before = await sole(cluster);
  await cluster.client.delete(resourceClaims, { namespace: "default", name: before.metadata.name });
  await cluster.settled();
  const after = await sole(cluster);
  const web = await cluster.client.get(pods, { namespace: "default", name: "web" });
  assert.deepEqual(web.status?.resourceClaimStatuses, [{ name: "gpu", resourceClaimName: after.metadata.name }]);
  assert.notEqual(after.metadata.uid, before.metadata.uid);

  await change(cluster, "web", { phase: "Succeeded" });
  await cluster.settled();

  assert.deepEqual(await cluster.list(resourceClaims), []);
});

test("an allocated claim is reserved for a Pod with a node, and released with the devices when the Pod is deleted", async () => {
  await using cluster = await given(claim("shared", { allocation: ALLOCATION }, [FINALIZER]), pod("web", { ...SHARED, nodeName: "one" }));
  await cluster.run(resourceClaimController);
  await cluster.settled();
  const web = await cluster.client.get(pods, { namespace: "default", name: "web" });
  assert.deepEqual((await sole(cluster)).status?.reservedFor, [{ resource: "pods", name: "web", uid: web.metadata.uid }]);

  await cluster.client.delete(pods, { namespace: "default", name: "web" }, { gracePeriodSeconds: 0 });
  await cluster.settled();

  const { metadata, status } = await sole(cluster);
  assert.deepEqual([metadata.finalizers, status], [undefined, {}]);
});

test("a terminating claim with devices is removed once no Pod uses it", async () => {
  await using cluster = await given(claim("shared", { allocation: ALLOCATION, reservedFor: [GONE] }, [FINALIZER]));
  await cluster.client.delete(resourceClaims, { namespace: "default", name: "shared" });

  await cluster.reconcile(resourceClaimController, { kind: "resourceclaims.resource.k8s.io", namespace: "default", name: "shared" });

  assert.deepEqual(await cluster.list(resourceClaims), []);
});

const OTHER = { apiGroup: "example.com", resource: "jobs", name: "other", uid: "u" };
const terminating = (plain: ResourceClaim): ResourceClaim => ({
  ...plain,
  metadata: { ...plain.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});
const RELEASES: readonly [title: string, claim: ResourceClaim, remaining: readonly (typeof OTHER)[], ReturnType<typeof planRelease>][] = [
  ["that was never used", claim("c", { allocation: ALLOCATION }, [FINALIZER]), [], { removesFinalizer: false, isReserved: false }],
  [
    "that another consumer uses",
    claim("c", { allocation: ALLOCATION, reservedFor: [GONE, OTHER] }, [FINALIZER]),
    [OTHER],
    { status: { allocation: ALLOCATION, reservedFor: [OTHER] }, removesFinalizer: false, isReserved: true },
  ],
  [
    "whose last consumer ended",
    claim("c", { allocation: ALLOCATION, reservedFor: [GONE] }, [FINALIZER]),
    [],
    { status: {}, removesFinalizer: true, isReserved: false },
  ],
  [
    "that another driver allocated",
    claim("c", { allocation: ALLOCATION, reservedFor: [GONE] }),
    [],
    { status: { allocation: ALLOCATION }, removesFinalizer: false, isReserved: false },
  ],
  [
    "that is terminating and unused",
    terminating(claim("c", { allocation: ALLOCATION }, [FINALIZER])),
    [],
    { status: {}, removesFinalizer: true, isReserved: false },
  ],
  ["that is terminating without devices", terminating(claim("c", {}, [FINALIZER])), [], { removesFinalizer: true, isReserved: false }],
  [
    "that is terminating and used",
    terminating(claim("c", { allocation: ALLOCATION, reservedFor: [OTHER] }, [FINALIZER])),
    [OTHER],
    { removesFinalizer: false, isReserved: true },
  ],
];
for (const [title, before, remaining, expected] of RELEASES) {
  test(`the release of a claim ${title} is planned`, () => assert.deepEqual(planRelease(before, remaining), expected));
}

const owned = (name: string, entry: string): ResourceClaim => ({
  ...claim(name),
  metadata: { name, namespace: "default", annotations: { "resource.kubernetes.io/pod-claim-name": entry } },
});
const ENTRIES: readonly [title: string, status: PodStatus, claims: readonly ResourceClaim[], PodClaim][] = [
  ["without a claim", {}, [], { is: "missing", templateName: "gpus" }],
  ["whose claim is not in the status", {}, [owned("a", "nic"), owned("b", "gpu")], { is: "existing", claimName: "b" }],
  ["that needs none", { resourceClaimStatuses: [{ name: "gpu" }] }, [], { is: "given" }],
  [
    "whose claim was deleted",
    { resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "a" }] },
    [],
    { is: "missing", templateName: "gpus" },
  ],
  [
    "with its claim",
    { resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "b" }] },
    [owned("a", "gpu"), owned("b", "gpu")],
    { is: "existing", claimName: "b" },
  ],
];
for (const [title, status, claims, expected] of ENTRIES) {
  test(`an entry ${title} is ${expected.is}`, () => {
    const entry = { name: "gpu", resourceClaimTemplateName: "gpus" };
    assert.deepEqual(podClaimOf({ ...pod("web"), status }, entry, claims), expected);
  });
}

test("a claim that was created twice is deleted once the Pod has the other, unless it has devices", () => {
  const claims = [owned("a", "gpu"), owned("b", "gpu"), { ...owned("c", "gpu"), status: { allocation: ALLOCATION } }, owned("d", "nic")];

  const surplus = surplusClaims([{ name: "gpu", resourceClaimName: "b" }, { name: "nic" }], claims);

  assert.deepEqual(
    surplus.map(({ metadata }) => metadata.name),
    ["a"],
  );
});

test("long names of a Pod and of its claim are both shortened in the name of the generated claim", () => {
  assert.equal(generatedClaimBase("web", "gpu"), "web-gpu-");
  assert.equal(generatedClaimBase("p".repeat(100), "c".repeat(20)), `${"p".repeat(46)}-${"c".repeat(9)}`);
});

test("after a crash at any step the running Pod has one claim, and deleted claims that are no longer used are removed", () =>
  everyStepMayBeTheLast(
    {
      objects: [
        TEMPLATE,
        pod("web"),
        pod("placed", { ...SHARED, nodeName: "one" }),
        claim("shared", { allocation: ALLOCATION }, [FINALIZER]),
        claim("old", { allocation: ALLOCATION, reservedFor: [GONE] }, [FINALIZER]),
      ],
      controllers: () => [resourceClaimController],
      restMs: 20_000,
      steps: [
        (cluster) => change(cluster, "placed", { phase: "Failed" }),
        async ({ client }) => void (await client.delete(resourceClaims, { namespace: "default", name: "shared" })),
        async ({ client }) => void (await client.delete(resourceClaims, { namespace: "default", name: "old" })),
      ],
    },
    { deathsMax: rounds({ quick: 6, full: Infinity }), disturbedRuns: rounds({ quick: 2, full: 20 }) },
  ));
