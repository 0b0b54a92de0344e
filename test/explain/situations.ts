/** Broken situations: what is applied and what happens, which object is explained, and the root causes that must be named. */
import { pods } from "../../src/api/core/v1/pod.ts";
import type { IdentityName } from "../../src/api/identities.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";

export interface Situation {
  readonly it: string;
  /** YAML that is applied first. */
  readonly manifests: string;
  /** What happens then. Default: a minute passes. Returns the id of a request, if one is explained. */
  happens?(cluster: Cluster): Promise<string | void>;
  /** "pods/web", "dns/web"; "requests" for the request of `happens`. In the namespace default. */
  readonly subject: string;
  readonly roots: readonly string[];
  /** True if a remedy exists. */
  readonly isFixed: boolean;
}

export const CONTAINER = "containers: [{ name: c, image: web:1 }]";

export function pod(name: string, spec: string, metadata = ""): string {
  return `{ apiVersion: v1, kind: Pod, metadata: { name: ${name}${metadata} }, spec: { ${spec} } }\n---\n`;
}

interface DeploymentParts {
  readonly replicas?: number;
  readonly spec?: string;
  readonly podMetadata?: string;
  readonly more?: string;
  readonly name?: string;
}

export function deployment({ replicas = 1, spec = CONTAINER, podMetadata = "", more = "", name = "web" }: DeploymentParts = {}): string {
  return `{ apiVersion: apps/v1, kind: Deployment, metadata: { name: ${name} }, spec: { replicas: ${replicas}${more},
    selector: { matchLabels: { app: ${name} } }, template: { metadata: { labels: { app: ${name} }${podMetadata} }, spec: { ${spec} } } } }
---
`;
}

export function service(selector: string, port = "{ port: 80 }", more = ""): string {
  return `{ apiVersion: v1, kind: Service, metadata: { name: web }, spec: { selector: { ${selector} }, ports: [${port}]${more} } }\n---\n`;
}

function ingress(backend: string, className = "k8ts"): string {
  return `{ apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: { name: web }, spec: { ingressClassName: ${className},
    rules: [{ http: { paths: [{ path: /, pathType: Prefix, backend: { service: ${backend} } }] } }] } }
---
{ apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: { name: k8ts }, spec: { controller: k8ts.dev/ingress } }
---
`;
}

/** Annotations of simulated Pods. */
export function simulated(settings: string): string {
  return `, annotations: { ${settings} }`;
}

async function rolledOut(cluster: Cluster, broken: string): Promise<void> {
  await cluster.advance("1m");
  await cluster.apply(broken);
  await cluster.advance("2m");
}

export const JANE: IdentityName = { name: "jane", groups: [] };

export const SITUATIONS: readonly Situation[] = [
  {
    it: "a Pod that requests more CPU than any node has",
    manifests: pod("big", "containers: [{ name: c, image: web:1, resources: { requests: { cpu: 100 } } }]"),
    subject: "pods/big",
    roots: ["InsufficientResources"],
    isFixed: true,
  },
  {
    it: "a Deployment whose Pods request more memory than any node has",
    manifests: deployment({ spec: "containers: [{ name: c, image: web:1, resources: { requests: { memory: 1Ti } } }]" }),
    subject: "deployments.apps/web",
    roots: ["InsufficientResources"],
    isFixed: true,
  },
  {
    it: "a Pod whose nodeSelector matches no node",
    manifests: pod("disk", `nodeSelector: { disk: ssd }, ${CONTAINER}`),
    subject: "pods/disk",
    roots: ["NodeSelector"],
    isFixed: true,
  },
  {
    it: "a Pod in a cluster whose node is cordoned",
    manifests: "{ apiVersion: v1, kind: Node, metadata: { name: node-0 }, spec: { unschedulable: true } }",
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.apply(pod("late", CONTAINER));
      await cluster.advance("1m");
    },
    subject: "pods/late",
    roots: ["NodeCordoned"],
    isFixed: true,
  },
  {
    it: "a Pod that does not tolerate a taint",
    manifests:
      "{ apiVersion: v1, kind: Node, metadata: { name: node-0 }, spec: { taints: [{ key: team, value: a, effect: NoSchedule }] } }",
    happens: async (cluster) => {
      await cluster.apply(pod("plain", CONTAINER));
      await cluster.advance("1m");
    },
    subject: "pods/plain",
    roots: ["UntoleratedTaint"],
    isFixed: true,
  },
  {
    it: "a Pod with a scheduling gate",
    manifests: pod("gated", `schedulingGates: [{ name: example.com/wait }], ${CONTAINER}`),
    subject: "pods/gated",
    roots: ["SchedulingGated"],
    isFixed: true,
  },
  {
    it: "a Deployment for a scheduler that does not exist",
    manifests: deployment({ spec: `schedulerName: mine, ${CONTAINER}` }),
    subject: "deployments.apps/web",
    roots: ["UnknownScheduler"],
    isFixed: true,
  },
  {
    it: "a Pod whose host port is in use",
    manifests: ["a", "b"]
      .map((name) => pod(name, "containers: [{ name: c, image: web:1, ports: [{ containerPort: 80, hostPort: 80 }] }]"))
      .join(""),
    subject: "pods/b",
    roots: ["HostPortInUse"],
    isFixed: true,
  },
  {
    it: "a Deployment with more replicas than nodes and anti-affinity",
    manifests: deployment({
      replicas: 2,
      spec: `affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: kubernetes.io/hostname,
        labelSelector: { matchLabels: { app: web } } }] } }, ${CONTAINER}`,
    }),
    subject: "deployments.apps/web",
    roots: ["PodAntiAffinity"],
    isFixed: false,
  },
  {
    it: "a claim of a StorageClass that does not exist",
    manifests: `{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: data }, spec: { storageClassName: fast,
      accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }
---
${pod("db", `volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }], ${CONTAINER}`)}`,
    subject: "pods/db",
    roots: ["MissingStorageClass"],
    isFixed: true,
  },
  {
    it: "a claim that waits for its first consumer",
    manifests: `{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: data }, spec: { storageClassName: standard,
      accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }`,
    subject: "persistentvolumeclaims/data",
    roots: ["NoConsumer"],
    isFixed: false,
  },
  {
    it: "a rollout to an image that cannot be pulled",
    manifests: deployment(),
    happens: (cluster) =>
      rolledOut(
        cluster,
        deployment({
          spec: "containers: [{ name: c, image: wbe:2 }]",
          podMetadata: simulated('simulated.k8ts.dev/image-pull: "fail: not found"'),
        }),
      ),
    subject: "deployments.apps/web",
    roots: ["ImagePull"],
    isFixed: true,
  },
  {
    it: "a Pod whose program exits",
    manifests: pod("crash", CONTAINER, simulated("simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: '3'")),
    happens: (cluster) => cluster.advance("3m"),
    subject: "pods/crash",
    roots: ["ProgramExit"],
    isFixed: false,
  },
  {
    it: "a Pod that uses more memory than its limit",
    manifests: pod("oom", CONTAINER, simulated("simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-reason: OOMKilled")),
    happens: (cluster) => cluster.advance("3m"),
    subject: "pods/oom",
    roots: ["OOMKilled"],
    isFixed: false,
  },
  {
    it: "a rollout to a program that crashes",
    manifests: deployment(),
    happens: (cluster) =>
      rolledOut(cluster, deployment({ podMetadata: simulated("simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: '1'") })),
    subject: "deployments.apps/web",
    roots: ["ProgramExit"],
    isFixed: true,
  },
  {
    it: "a rollout to a program that does not become ready",
    manifests: deployment(),
    happens: (cluster) => rolledOut(cluster, deployment({ podMetadata: simulated("simulated.k8ts.dev/unready: '0s-'") })),
    subject: "deployments.apps/web",
    roots: ["NotReady"],
    isFixed: true,
  },
  {
    it: "a Pod with a readiness gate that no controller sets",
    manifests: pod("gate", `readinessGates: [{ conditionType: example.com/lb }], ${CONTAINER}`),
    subject: "pods/gate",
    roots: ["ReadinessGate"],
    isFixed: false,
  },
  {
    it: "a deleted Pod with a finalizer",
    manifests: pod("held", CONTAINER, ", finalizers: [example.com/hold]"),
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.delete("pod/held");
      await cluster.advance("2m");
    },
    subject: "pods/held",
    roots: ["Finalizer"],
    isFixed: true,
  },
  {
    it: "a deleted Pod on a node that has disappeared",
    manifests: pod("lost", CONTAINER),
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.nodes.stop("node-0");
      await cluster.advance("2m");
      await cluster.delete("pod/lost");
      await cluster.advance("2m");
    },
    subject: "pods/lost",
    roots: ["NodeLost"],
    isFixed: true,
  },
  {
    it: "a Deployment whose Pods exceed a quota",
    manifests: `{ apiVersion: v1, kind: ResourceQuota, metadata: { name: small }, spec: { hard: { pods: 1 } } }
---
${deployment({ replicas: 3 })}`,
    subject: "deployments.apps/web",
    roots: ["ExceededQuota"],
    isFixed: true,
  },
  {
    it: "a Deployment with a service account that does not exist",
    manifests: deployment({ spec: `serviceAccountName: robot, ${CONTAINER}` }),
    subject: "deployments.apps/web",
    roots: ["MissingServiceAccount"],
    isFixed: true,
  },
  {
    it: "a Deployment that Pod Security forbids",
    manifests: `{ apiVersion: v1, kind: Namespace, metadata: { name: default, labels: { pod-security.kubernetes.io/enforce: baseline } } }
---
${deployment({ spec: `hostNetwork: true, ${CONTAINER}` })}`,
    subject: "deployments.apps/web",
    roots: ["PodSecurity"],
    isFixed: true,
  },
  {
    it: "a paused rollout",
    manifests: deployment(),
    happens: (cluster) => rolledOut(cluster, deployment({ more: ", paused: true", spec: "containers: [{ name: c, image: web:2 }]" })),
    subject: "deployments.apps/web",
    roots: ["Paused"],
    isFixed: true,
  },
  {
    it: "a Service whose selector has a typo",
    manifests: deployment() + service("app: wbe"),
    subject: "services/web",
    roots: ["SelectorMismatch"],
    isFixed: true,
  },
  {
    it: "a Service of a Deployment that is scaled to 0",
    manifests: deployment({ replicas: 0 }) + service("app: web"),
    subject: "services/web",
    roots: ["ScaledToZero"],
    isFixed: true,
  },
  {
    it: "a Service whose targetPort names no container port",
    manifests:
      deployment({ spec: "containers: [{ name: c, image: web:1, ports: [{ name: http, containerPort: 80 }] }]" }) +
      service("app: web", "{ port: 80, targetPort: web }"),
    subject: "services/web",
    roots: ["TargetPort"],
    isFixed: true,
  },
  {
    it: "a Job whose Pods fail",
    manifests: `{ apiVersion: batch/v1, kind: Job, metadata: { name: work }, spec: { backoffLimit: 1, template: { metadata: {
      annotations: { simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: "5" } }, spec: { restartPolicy: Never, ${CONTAINER} } } } }`,
    happens: (cluster) => cluster.advance("5m"),
    subject: "jobs.batch/work",
    roots: ["BackoffLimitExceeded", "ProgramExit"],
    isFixed: false,
  },
  {
    it: "a suspended Job",
    manifests: `{ apiVersion: batch/v1, kind: Job, metadata: { name: work }, spec: { suspend: true, template: { metadata: {
      annotations: { simulated.k8ts.dev/run-for: 1s } }, spec: { restartPolicy: Never, ${CONTAINER} } } } }`,
    subject: "jobs.batch/work",
    roots: ["Suspended"],
    isFixed: true,
  },
  {
    it: "a namespace with an object whose finalizer stays",
    manifests: `{ apiVersion: v1, kind: Namespace, metadata: { name: old } }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: held, namespace: old, finalizers: [example.com/hold] } }`,
    happens: async (cluster) => {
      await cluster.delete("namespace/old");
      await cluster.advance("2m");
    },
    subject: "namespaces/old",
    roots: ["Finalizer"],
    isFixed: true,
  },
  {
    it: "a node whose kubelet does not report",
    manifests: pod("there", CONTAINER),
    happens: async (cluster) => {
      await cluster.nodes.stop("node-0");
      await cluster.advance("2m");
    },
    subject: "nodes/node-0",
    roots: ["KubeletSilent"],
    isFixed: false,
  },
  {
    it: "an Ingress whose Service does not exist",
    manifests: ingress("{ name: nothing, port: { number: 80 } }"),
    subject: "ingresses.networking.k8s.io/web",
    roots: ["MissingService"],
    isFixed: false,
  },
  {
    it: "an Ingress with a port that its Service does not have",
    manifests: deployment() + service("app: web") + ingress("{ name: web, port: { number: 8080 } }"),
    subject: "ingresses.networking.k8s.io/web",
    roots: ["ServicePort"],
    isFixed: true,
  },
  {
    it: "an Ingress of a class that does not exist",
    manifests: deployment() + service("app: web") + ingress("{ name: web, port: { number: 80 } }", "nginx"),
    subject: "ingresses.networking.k8s.io/web",
    roots: ["MissingIngressClass"],
    isFixed: true,
  },
  {
    it: "a name in DNS of a Service that does not exist",
    manifests: service("app: web"),
    subject: "dns/wbe.default.svc.cluster.local",
    roots: ["MissingService"],
    isFixed: false,
  },
  {
    it: "a name in DNS of a headless Service whose Pods are scaled to 0",
    manifests: deployment({ replicas: 0 }) + service("app: web", "{ port: 80 }", ", clusterIP: None"),
    subject: "dns/web.default",
    roots: ["ScaledToZero"],
    isFixed: true,
  },
  {
    it: "a request that no role allows",
    manifests: pod("there", CONTAINER),
    async happens(cluster) {
      const client = createClient(cluster.transport({ userAgent: "jane", identity: JANE }));
      await client.delete(pods, { namespace: "default", name: "there" }).catch(() => undefined);
      return lastRefusal(cluster, "jane");
    },
    subject: "requests",
    roots: ["Forbidden"],
    isFixed: true,
  },
  {
    it: "a request that a quota refuses",
    manifests: `{ apiVersion: v1, kind: ResourceQuota, metadata: { name: none }, spec: { hard: { pods: 0 } } }`,
    async happens(cluster) {
      await cluster.advance("1m");
      await cluster.apply(pod("more", CONTAINER)).catch(() => undefined);
      return lastRefusal(cluster, "kubernetes-admin");
    },
    subject: "requests",
    roots: ["ResourceQuota"],
    isFixed: false,
  },
];

export async function lastRefusal({ client }: Cluster, user: string): Promise<string> {
  const { items } = await client.document(`/debug/k8ts/causes?outcome=refused&user=${user}`);
  return (items as readonly { readonly requestID: string }[]).at(-1)?.requestID ?? "";
}
