/** Broken situations after incidents of real clusters, in two parts for two test files: what Pods and workloads lack, and what the cluster refuses or keeps. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { CONTAINER, deployment, lastRefusal, pod, service, simulated, type Situation } from "./situations.ts";

const AUTOSCALER = "apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: { name: web }";
const METRICS = "metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }]";
const BUDGET = `{ apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: { name: web },
  spec: { minAvailable: 2, selector: { matchLabels: { app: web } } } }`;
const CLAIM = "apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: data }";
const VOLUME = "apiVersion: v1, kind: PersistentVolume, metadata: { name: disk }";
const WIDGETS = `{ apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: { name: widgets.example.com },
  spec: { group: example.com, names: { kind: Widget, plural: widgets }, scope: Namespaced, versions: [{ name: v1, served: true, storage: true,
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }] } }`;

function autoscaler(target: string): string {
  return `{ ${AUTOSCALER}, spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${target} }, maxReplicas: 5, ${METRICS} } }\n---\n`;
}

function mounting(name: string): string {
  return pod(name, `volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }], ${CONTAINER}`);
}

function cronJob(spec: string, annotations = ""): string {
  return `{ apiVersion: batch/v1, kind: CronJob, metadata: { name: report }, spec: { schedule: "* * * * *", ${spec}, jobTemplate: { spec: {
    backoffLimit: 0, template: { metadata: { annotations: { ${annotations} } }, spec: { restartPolicy: Never, ${CONTAINER} } } } } } }`;
}

/** Reports of a program in place of the kubelet: simulated Pods have no probes. */
function reported(name: string, reason: string, message: string): string {
  return `{ apiVersion: v1, kind: Event, metadata: { name: ${name} }, reason: ${reason}, message: "${message}", type: Warning,
  involvedObject: { kind: Pod, namespace: default, name: web, uid: UID }, count: 1, lastTimestamp: "2026-01-01T00:02:00Z" }\n---\n`;
}

async function reportEvents(cluster: Cluster, events: string): Promise<void> {
  await cluster.advance("2m");
  const { uid } = (await cluster.get("pod/web")).metadata;
  await cluster.apply(events.replaceAll("UID", String(uid)));
}

export const INCIDENTS_OF_PODS: readonly Situation[] = [
  {
    it: "an image that is pulled with a Secret that does not exist",
    manifests: pod(
      "web",
      `imagePullSecrets: [{ name: registry }], ${CONTAINER}`,
      simulated('simulated.k8ts.dev/image-pull: "fail: unauthorized"'),
    ),
    subject: "pods/web",
    roots: ["ImagePull", "MissingImagePullSecret"],
    isFixed: false,
  },
  {
    it: "an image that is pulled with a Secret of another type",
    manifests: `{ apiVersion: v1, kind: Secret, metadata: { name: registry }, stringData: { password: x } }
---
${pod("web", `imagePullSecrets: [{ name: registry }], ${CONTAINER}`, simulated('simulated.k8ts.dev/image-pull: "fail: unauthorized"'))}`,
    subject: "pods/web",
    roots: ["ImagePull", "ImagePullSecretType"],
    isFixed: false,
  },
  {
    it: "an init container that fails",
    manifests: pod(
      "web",
      `initContainers: [{ name: migrate, image: migrate:1 }], ${CONTAINER}`,
      simulated("simulated.k8ts.dev/run-for.migrate: 1s, simulated.k8ts.dev/exit-code.migrate: '3'"),
    ),
    happens: (cluster) => cluster.advance("3m"),
    subject: "pods/web",
    roots: ["ProgramExit"],
    isFixed: false,
  },
  {
    it: "a container that the kubelet restarts for its liveness probe",
    manifests: pod("web", CONTAINER, simulated("simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: '137'")),
    happens: (cluster) =>
      reportEvents(
        cluster,
        reported("a", "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 404") +
          reported("b", "Killing", "Container c failed liveness probe, will be restarted"),
      ),
    subject: "pods/web",
    roots: ["LivenessProbe"],
    isFixed: false,
  },
  {
    it: "a readiness probe of a port on which nothing listens",
    manifests: pod(
      "web",
      "containers: [{ name: c, image: web:1, readinessProbe: { httpGet: { port: 8081 } } }]",
      simulated("simulated.k8ts.dev/unready: '0s-'"),
    ),
    happens: (cluster) =>
      reportEvents(cluster, reported("a", "Unhealthy", "Readiness probe failed: dial tcp: connect: connection refused")),
    subject: "pods/web",
    roots: ["ReadinessProbe"],
    isFixed: false,
  },
  {
    it: "a Pod of a node that does not exist",
    manifests: pod("web", `nodeName: nowhere, ${CONTAINER}`),
    happens: (cluster) => cluster.advance("5s"),
    subject: "pods/web",
    roots: ["NodeMissing"],
    isFixed: false,
  },
  {
    it: "a Pod of a node that has fallen silent",
    manifests: pod("web", CONTAINER),
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.nodes.stop("node-0");
      await cluster.advance("2m");
    },
    subject: "pods/web",
    roots: ["KubeletSilent"],
    isFixed: false,
  },
  {
    it: "a new Pod in a cluster whose only node has fallen silent",
    manifests: "{ apiVersion: v1, kind: ConfigMap, metadata: { name: any } }",
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.nodes.stop("node-0");
      await cluster.advance("2m");
      await cluster.apply(pod("web", CONTAINER));
      await cluster.advance("1m");
    },
    subject: "pods/web",
    roots: ["KubeletSilent"],
    isFixed: false,
  },
  {
    it: "a Pod that mounts a claim that does not exist",
    manifests: mounting("db"),
    subject: "pods/db",
    roots: ["MissingClaim"],
    isFixed: true,
  },
  {
    it: "a volume in a zone without nodes",
    manifests: `{ ${VOLUME}, spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], storageClassName: manual, hostPath: { path: /data },
  claimRef: { name: data, namespace: default }, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [
    { key: topology.kubernetes.io/zone, operator: In, values: [b] }] }] } } } }
---
{ ${CLAIM}, spec: { storageClassName: manual, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }
---
${mounting("db")}`,
    subject: "pods/db",
    roots: ["VolumeNodeAffinity"],
    isFixed: false,
  },
  {
    it: "a claim that is larger than the volumes of its class",
    manifests: `{ ${VOLUME}, spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], storageClassName: manual, hostPath: { path: /data } } }
---
{ ${CLAIM}, spec: { storageClassName: manual, accessModes: [ReadWriteOnce], resources: { requests: { storage: 5Gi } } } }`,
    subject: "persistentvolumeclaims/data",
    roots: ["NoMatchingVolume"],
    isFixed: false,
  },
  {
    it: "a volume whose claim was deleted",
    manifests: `{ ${VOLUME}, spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], storageClassName: manual, hostPath: { path: /data } } }
---
{ ${CLAIM}, spec: { storageClassName: manual, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }`,
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.delete("pvc/data");
      await cluster.advance("1m");
    },
    subject: "persistentvolumes/disk",
    roots: ["Released"],
    isFixed: false,
  },
  {
    it: "a Deployment without requests in a namespace whose quota counts them",
    manifests: `{ apiVersion: v1, kind: ResourceQuota, metadata: { name: team }, spec: { hard: { limits.cpu: 4, requests.memory: 1Gi } } }
---
${deployment()}`,
    subject: "deployments.apps/web",
    roots: ["QuotaRequiresResources"],
    isFixed: true,
  },
  {
    it: "a Deployment of a RuntimeClass that does not exist",
    manifests: deployment({ spec: `runtimeClassName: gvisor, ${CONTAINER}` }),
    subject: "deployments.apps/web",
    roots: ["MissingRuntimeClass"],
    isFixed: true,
  },
  {
    it: "a Deployment of a PriorityClass that does not exist",
    manifests: deployment({ spec: `priorityClassName: high, ${CONTAINER}` }),
    subject: "deployments.apps/web",
    roots: ["MissingPriorityClass"],
    isFixed: true,
  },
  {
    it: "a DaemonSet that does not tolerate the taint of the nodes",
    manifests: `{ apiVersion: v1, kind: Node, metadata: { name: node-0 }, spec: { taints: [{ key: team, value: a, effect: NoSchedule }] } }
---
{ apiVersion: apps/v1, kind: DaemonSet, metadata: { name: agent }, spec: { selector: { matchLabels: { app: agent } }, template: {
  metadata: { labels: { app: agent } }, spec: { ${CONTAINER} } } } }`,
    subject: "daemonsets.apps/agent",
    roots: ["UntoleratedTaint"],
    isFixed: true,
  },
];

export const INCIDENTS_OF_CLUSTERS: readonly Situation[] = [
  {
    it: "a webhook that must answer and whose Service does not exist",
    manifests: `{ apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: { name: policy }, webhooks: [{
  name: pods.policy.example.com, clientConfig: { service: { name: policy, namespace: default } }, failurePolicy: Fail, sideEffects: None,
  admissionReviewVersions: [v1], timeoutSeconds: 1, rules: [{ apiGroups: [""], apiVersions: ["*"], operations: [CREATE], resources: [pods] }] }] }
---
${deployment()}`,
    subject: "deployments.apps/web",
    roots: ["WebhookUnavailable", "NotFound"],
    isFixed: false,
  },
  {
    it: "a HorizontalPodAutoscaler of utilization whose target has no requests",
    manifests: deployment() + autoscaler("web"),
    subject: "horizontalpodautoscalers.autoscaling/web",
    roots: ["MissingRequests"],
    isFixed: false,
  },
  {
    it: "a HorizontalPodAutoscaler whose target does not exist",
    manifests: autoscaler("wbe"),
    subject: "horizontalpodautoscalers.autoscaling/web",
    roots: ["MissingTarget"],
    isFixed: false,
  },
  {
    it: "a PodDisruptionBudget that allows no eviction",
    manifests: deployment({ replicas: 2 }) + BUDGET,
    subject: "poddisruptionbudgets.policy/web",
    roots: ["NoDisruptionAllowed"],
    isFixed: true,
  },
  {
    it: "an eviction that a PodDisruptionBudget refuses",
    manifests: deployment({ replicas: 2 }) + BUDGET,
    async happens(cluster) {
      await cluster.advance("1m");
      const [evicted] = (await cluster.client.list(pods, { namespace: "default" })).items;
      const name = evicted?.metadata.name ?? "";
      const of = { group: "", version: "v1", plural: "pods", namespace: "default", name, subresource: "eviction" };
      const object = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
      await cluster
        .transport({ userAgent: "kubectl" })
        .request({ verb: "create", ...of, object })
        .catch(() => undefined);
      return lastRefusal(cluster, "kubernetes-admin");
    },
    subject: "requests",
    roots: ["NoDisruptionAllowed"],
    isFixed: true,
  },
  {
    it: "a cordoned node whose drain a PodDisruptionBudget blocks",
    manifests: deployment({ replicas: 2 }) + BUDGET,
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.apply("{ apiVersion: v1, kind: Node, metadata: { name: node-0 }, spec: { unschedulable: true } }");
      await cluster.advance("1m");
    },
    subject: "nodes/node-0",
    roots: ["NodeCordoned"],
    isFixed: true,
  },
  {
    it: "a definition that is deleted while a custom object has a finalizer",
    manifests: WIDGETS,
    happens: async (cluster) => {
      await cluster.advance("10s");
      await cluster.apply("{ apiVersion: example.com/v1, kind: Widget, metadata: { name: a, finalizers: [example.com/hold] } }");
      await cluster.delete("crd/widgets.example.com");
      await cluster.advance("1m");
    },
    subject: "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com",
    roots: ["Finalizer"],
    isFixed: true,
  },
  {
    it: "a custom object that its controller reports as not Ready",
    manifests: WIDGETS,
    happens: async (cluster) => {
      await cluster.advance("10s");
      await cluster.apply(`{ apiVersion: example.com/v1, kind: Widget, metadata: { name: a }, status: { conditions: [
        { type: Ready, status: "False", reason: NoIssuer, message: the issuer does not exist }] } }`);
    },
    subject: "widgets.example.com/a",
    roots: ["NoIssuer"],
    isFixed: false,
  },
  {
    it: "a foreground deletion that waits for a Pod with a finalizer",
    manifests: deployment({ podMetadata: ", finalizers: [example.com/hold]" }),
    happens: async (cluster) => {
      await cluster.advance("1m");
      await cluster.client.delete(deployments, { namespace: "default", name: "web" }, { propagationPolicy: "Foreground" });
      await cluster.advance("2m");
    },
    subject: "deployments.apps/web",
    roots: ["Finalizer"],
    isFixed: true,
  },
  {
    it: "an APIService whose Service does not exist",
    manifests: `{ apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: { name: v1.metrics.example.com }, spec: { group: metrics.example.com,
  version: v1, groupPriorityMinimum: 100, versionPriority: 10, service: { name: metrics, namespace: default }, insecureSkipTLSVerify: true } }`,
    subject: "apiservices.apiregistration.k8s.io/v1.metrics.example.com",
    roots: ["NotFound"],
    isFixed: false,
  },
  {
    it: "a Service of type LoadBalancer in a cluster without load balancers",
    manifests: deployment() + service("app: web", "{ port: 80 }", ", type: LoadBalancer"),
    subject: "services/web",
    roots: ["NoLoadBalancer"],
    isFixed: true,
  },
  {
    it: "a NetworkPolicy that allows sending, but not to DNS",
    manifests: `${deployment()}${service("app: web")}{ apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: { name: strict }, spec: {
  podSelector: {}, policyTypes: [Egress], egress: [{ to: [{ podSelector: {} }], ports: [{ port: 80 }] }] } }`,
    subject: "dns/web",
    roots: ["NetworkPolicy"],
    isFixed: true,
  },
  {
    it: "a name in DNS of a Pod that a StatefulSet does not have",
    manifests: `${service("app: web", "{ port: 80 }", ", clusterIP: None")}{ apiVersion: apps/v1, kind: StatefulSet, metadata: { name: web }, spec: {
  serviceName: web, selector: { matchLabels: { app: web } }, template: { metadata: { labels: { app: web } }, spec: { ${CONTAINER} } } } }`,
    subject: "dns/web-1.web.default.svc.cluster.local",
    roots: ["MissingPod"],
    isFixed: false,
  },
  {
    it: "an Ingress without a class in a cluster without a default one",
    manifests: `${deployment()}${service("app: web")}{ apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: { name: k8ts }, spec: { controller: k8ts.dev/ingress } }
---
{ apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: { name: web }, spec: { defaultBackend: { service: { name: web, port: { number: 80 } } } } }`,
    subject: "ingresses.networking.k8s.io/web",
    roots: ["NoIngressClass"],
    isFixed: true,
  },
  {
    it: "an Ingress whose certificate does not exist",
    manifests: `${deployment()}${service("app: web")}{ apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: { name: k8ts }, spec: { controller: k8ts.dev/ingress } }
---
{ apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: { name: web }, spec: { ingressClassName: k8ts, tls: [{ hosts: [shop.example.com], secretName: shop }],
  defaultBackend: { service: { name: web, port: { number: 80 } } } } }`,
    subject: "ingresses.networking.k8s.io/web",
    roots: ["MissingSecret"],
    isFixed: false,
  },
  {
    it: "a suspended CronJob",
    manifests: cronJob("suspend: true"),
    subject: "cronjobs.batch/report",
    roots: ["Suspended"],
    isFixed: true,
  },
  {
    it: "a CronJob whose Jobs fail",
    manifests: cronJob("suspend: false", 'simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: "7"'),
    happens: (cluster) => cluster.advance("5m"),
    subject: "cronjobs.batch/report",
    roots: ["BackoffLimitExceeded", "ProgramExit"],
    isFixed: false,
  },
  {
    it: "a Job whose Pods a quota refuses",
    manifests: `{ apiVersion: v1, kind: ResourceQuota, metadata: { name: none }, spec: { hard: { pods: 0 } } }
---
{ apiVersion: batch/v1, kind: Job, metadata: { name: work }, spec: { template: { metadata: { annotations: { simulated.k8ts.dev/run-for: 1s } },
  spec: { restartPolicy: Never, ${CONTAINER} } } } }`,
    subject: "jobs.batch/work",
    roots: ["ExceededQuota"],
    isFixed: true,
  },
  {
    it: "a Job without parallelism",
    manifests: `{ apiVersion: batch/v1, kind: Job, metadata: { name: work }, spec: { parallelism: 0, template: { metadata: { annotations: {
  simulated.k8ts.dev/run-for: 1s } }, spec: { restartPolicy: Never, ${CONTAINER} } } } }`,
    subject: "jobs.batch/work",
    roots: ["NoParallelism"],
    isFixed: true,
  },
];
