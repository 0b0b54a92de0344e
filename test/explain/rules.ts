/** Broken situations of rules: which nodes and devices a Pod may have, what a namespace allows, roles, and webhooks that cannot answer. */
import { pods } from "../../src/api/core/v1/pod.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { CONTAINER, deployment, JANE, lastRefusal, pod, simulated, type Situation } from "./situations.ts";

const CLAIM = "apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: { name: gpu }";
const DEVICES = "resourceClaims: [{ name: gpu, resourceClaimName: gpu }]";
const RBAC = "rbac.authorization.k8s.io";
const READER = `{ apiVersion: ${RBAC}/v1, kind: Role, metadata: { name: pod-reader },
  rules: [{ apiGroups: [""], resources: [pods], verbs: [delete] }] }
---
{ apiVersion: ${RBAC}/v1, kind: RoleBinding, metadata: { name: jane }, roleRef: { apiGroup: ${RBAC}, kind: Role, name: pod-raeder },
  subjects: [{ apiGroup: ${RBAC}, kind: User, name: jane }] }
---
`;

function inNodes(key: string, value: string): string {
  const terms = `nodeSelectorTerms: [{ matchExpressions: [{ key: ${key}, operator: In, values: [${value}] }] }]`;
  return `affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { ${terms} } } }, ${CONTAINER}`;
}

function spread(topologyKey: string): string {
  const selector = "labelSelector: { matchLabels: { app: web } }";
  return `topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ${topologyKey}, whenUnsatisfiable: DoNotSchedule, ${selector} }], ${CONTAINER}`;
}

export const RULES: readonly Situation[] = [
  {
    it: "a Pod whose node affinity has a typo",
    manifests: pod("web", inNodes("kubernetes.io/hostname", "nod-0")),
    subject: "pods/web",
    roots: ["NodeAffinity"],
    isFixed: true,
  },
  {
    it: "a Pod whose node affinity demands a label that no node has, beside a nodeSelector that matches",
    manifests: pod("web", `nodeSelector: { kubernetes.io/os: linux }, ${inNodes("disk", "ssd")}`),
    subject: "pods/web",
    roots: ["NodeAffinity"],
    isFixed: true,
  },
  {
    it: "a Pod that must be beside Pods that do not exist",
    manifests: pod(
      "web",
      `affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: kubernetes.io/hostname,
        labelSelector: { matchLabels: { app: cache } } }] } }, ${CONTAINER}`,
    ),
    subject: "pods/web",
    roots: ["PodAffinity"],
    isFixed: false,
  },
  {
    it: "a Deployment that is spread by a label that no node has",
    manifests: deployment({ spec: spread("zone") }),
    subject: "deployments.apps/web",
    roots: ["TopologySpread"],
    isFixed: true,
  },
  {
    it: "a Pod with a device of a class that does not exist",
    manifests: `{ ${CLAIM}, spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.example.com } }] } } }
---
${pod("web", `${DEVICES}, ${CONTAINER}`)}`,
    subject: "pods/web",
    roots: ["MissingDeviceClass"],
    isFixed: false,
  },
  {
    it: "a Pod with a device in a cluster without devices",
    manifests: `{ ${CLAIM}, spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.example.com } }] } } }
---
{ apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: { name: gpu.example.com }, spec: {} }
---
${pod("web", `${DEVICES}, ${CONTAINER}`)}`,
    subject: "pods/web",
    roots: ["NoDevices"],
    isFixed: false,
  },
  {
    it: "a Pod with a ResourceClaim that does not exist",
    manifests: pod("web", `${DEVICES}, ${CONTAINER}`),
    subject: "pods/web",
    roots: ["MissingResourceClaim"],
    isFixed: false,
  },
  {
    it: "a Job that takes longer than its deadline",
    manifests: `{ apiVersion: batch/v1, kind: Job, metadata: { name: long }, spec: { activeDeadlineSeconds: 3, template: {
  metadata: { annotations: { simulated.k8ts.dev/run-for: 1h } }, spec: { restartPolicy: Never, ${CONTAINER} } } } }`,
    happens: (cluster) => cluster.advance("2m"),
    subject: "jobs.batch/long",
    roots: ["DeadlineExceeded"],
    isFixed: false,
  },
  {
    it: "a CronJob whose Job runs longer than its schedule allows",
    manifests: `{ apiVersion: batch/v1, kind: CronJob, metadata: { name: report }, spec: { schedule: "* * * * *", concurrencyPolicy: Forbid,
  jobTemplate: { spec: { template: { metadata: { ${simulated("simulated.k8ts.dev/run-for: 1h").slice(2)} }, spec: { restartPolicy: Never, ${CONTAINER} } } } } } }`,
    happens: (cluster) => cluster.advance("3m"),
    subject: "cronjobs.batch/report",
    roots: ["JobAlreadyActive"],
    isFixed: true,
  },
  {
    it: "a Deployment whose containers exceed a LimitRange",
    manifests: `{ apiVersion: v1, kind: LimitRange, metadata: { name: small }, spec: { limits: [{ type: Container, max: { memory: 64Mi } }] } }
---
${deployment({ spec: "containers: [{ name: c, image: web:1, resources: { limits: { memory: 1Gi } } }]" })}`,
    subject: "deployments.apps/web",
    roots: ["LimitRange"],
    isFixed: true,
  },
  {
    it: "a RoleBinding whose role has another name",
    manifests: READER,
    subject: "rolebindings.rbac.authorization.k8s.io/jane",
    roots: ["MissingRole"],
    isFixed: true,
  },
  {
    it: "a refused request of a user whose RoleBinding names a role that does not exist",
    manifests: READER,
    async happens(cluster) {
      const client = createClient(cluster.transport({ userAgent: "jane", identity: JANE }));
      await client.delete(pods, { namespace: "default", name: "web" }).catch(() => undefined);
      return lastRefusal(cluster, "jane");
    },
    subject: "requests",
    roots: ["Forbidden", "MissingRole"],
    isFixed: true,
  },
  {
    it: "a definition whose conversion webhook has no Service",
    manifests: `{ apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: { name: gears.example.com }, spec: { group: example.com,
  names: { kind: Gear, plural: gears }, scope: Namespaced, versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }],
  conversion: { strategy: Webhook, webhook: { conversionReviewVersions: [v1], clientConfig: { service: { namespace: default, name: converter } } } } } }`,
    subject: "customresourcedefinitions.apiextensions.k8s.io/gears.example.com",
    roots: ["WebhookUnavailable", "NotFound"],
    isFixed: false,
  },
];
