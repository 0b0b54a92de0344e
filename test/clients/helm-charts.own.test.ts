/**
 * Ten charts in the style of popular ones (test/charts), each taken through its whole lifecycle by the real Helm: linted, installed,
 * upgraded, rolled back, uninstalled. There is no kubelet: where Helm waits for a Pod or a Job, the test writes the status that a kubelet
 * or a controller would.
 */
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { after, describe, test } from "node:test";
import { DEFAULT_ADMISSION_CONFIG } from "../../src/apiserver/framework/admission-config.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { chartDirectory, Kinds, objectsOf, partLike } from "./released-chart.ts";

// No controller runs that would remove the protection finalizers of claims, so they are not added either.
const admission = { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins: ["StorageObjectInUseProtection"] };
const server = await startTestApiServer({ api: { admission } });
after(() => server.close());
const kinds = await Kinds.of(server);

/** Objects by kind and name, with the fields that the test checks; undefined: does not exist. */
type Expected = Readonly<Record<string, object | undefined>>;

interface Plan {
  readonly chart: string;
  /** Arguments added to `helm upgrade`. */
  readonly upgrade: string;
  readonly notes: RegExp;
  /** Expected after the install, and after the rollback to it. */
  readonly installed: Expected;
  readonly upgraded: Expected;
  /** Objects that the chart must not write again although their first content is random. */
  readonly keeps?: readonly string[];
  /** Changes by other clients while Helm upgrades. */
  readonly duringUpgrade?: (kubectl: ClientProgram) => Promise<void>;
  /** Objects that intentionally remain after the uninstall. */
  readonly stays?: (kubectl: ClientProgram) => Promise<void>;
}

const container = (object: object) => ({ spec: { template: { spec: { containers: [object] } } } });

const PLANS: readonly Plan[] = [
  {
    chart: "web-app",
    upgrade: "--set replicas=4,image.tag=2.0,service.type=NodePort",
    notes: /^life serves on port 80 of life-web-app\.web-app\.$/m,
    installed: {
      "ConfigMap/life-web-app": { data: { greeting: "Hello from life", "server.conf": "listen 8080\nworkers 4\n" } },
      "Secret/life-web-app": { type: "Opaque", data: { "session-key": "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==" } },
      "Service/life-web-app": { spec: { type: "ClusterIP", ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: "http" }] } },
      "Deployment/life-web-app": {
        spec: {
          replicas: 2,
          progressDeadlineSeconds: 600,
          strategy: { type: "RollingUpdate" },
          ...container({ image: "example.org/shop/web:1.4.2" }).spec,
        },
      },
    },
    upgraded: {
      "ConfigMap/life-web-app": { data: { "server.conf": "listen 8080\nworkers 8\n" } },
      "Service/life-web-app": { spec: { type: "NodePort", externalTrafficPolicy: "Cluster" } },
      "Deployment/life-web-app": { spec: { replicas: 4, ...container({ image: "example.org/shop/web:2.0" }).spec } },
    },
  },
  {
    chart: "database",
    upgrade: "--set replicas=3,backup.enabled=false,settings.max_connections=200",
    notes: /^The password of app is in the Secret life-database\.$/m,
    installed: {
      "Secret/life-database": { data: { username: "YXBw" } },
      "Service/life-database-pods": { spec: { clusterIP: "None", publishNotReadyAddresses: true } },
      "Service/life-database": { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } } },
      "PersistentVolumeClaim/life-database-backup": { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } },
      "StatefulSet/life-database": {
        spec: {
          replicas: 1,
          persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
          volumeClaimTemplates: [
            { kind: "PersistentVolumeClaim", spec: { resources: { requests: { storage: "8Gi" } } }, status: { phase: "Pending" } },
          ],
        },
      },
    },
    upgraded: {
      "ConfigMap/life-database": { data: { "database.conf": "max_connections = 200\nshared_buffers = 128MB\n" } },
      "PersistentVolumeClaim/life-database-backup": undefined,
      "StatefulSet/life-database": { spec: { replicas: 3 } },
    },
    keeps: ["Secret/life-database"],
  },
  {
    chart: "ingress",
    upgrade: "--set external.docs=docs.example.net,fallback.nodePort=30404,hosts.blog\\.example\\.org=null",
    notes: /^http:\/\/blog\.example\.org\nhttps:\/\/shop\.example\.org$/m,
    installed: {
      "IngressClass/life-public": { spec: { controller: "example.org/ingress-controller" } },
      "Ingress/shop-example-org": {
        spec: {
          ingressClassName: "life-public",
          tls: [{ hosts: ["shop.example.org"] }],
          rules: [
            {
              http: {
                paths: [
                  { path: "/", pathType: "Prefix" },
                  { pathType: "Exact", backend: { service: { port: { name: "http" } } } },
                ],
              },
            },
          ],
        },
      },
      "Ingress/blog-example-org": { spec: { rules: [{ host: "blog.example.org" }] } },
      "Service/blog": { spec: { type: "ExternalName", externalName: "blog.example.net", clusterIP: undefined } },
      "Service/life-ingress-fallback": { spec: { type: "ClusterIP", ports: [{ nodePort: undefined }] } },
    },
    upgraded: {
      "Ingress/blog-example-org": undefined,
      "Service/docs": { spec: { externalName: "docs.example.net" } },
      "Service/life-ingress-fallback": { spec: { type: "NodePort", ports: [{ nodePort: 30_404 }] } },
    },
  },
  {
    chart: "cron-jobs",
    upgrade: "--set jobs.cleanup.suspend=true,environment.LOG_LEVEL=debug",
    notes: /^2 jobs by the clock: cleanup, report$/m,
    installed: {
      "ConfigMap/life-cron-jobs": { data: { LOG_LEVEL: "info" } },
      "CronJob/life-cron-jobs-report": { spec: { timeZone: "Europe/Berlin", successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 } },
      "CronJob/life-cron-jobs-cleanup": {
        spec: {
          suspend: false,
          concurrencyPolicy: "Forbid",
          jobTemplate: { spec: { template: { spec: { restartPolicy: "OnFailure" } } } },
        },
      },
    },
    upgraded: {
      "ConfigMap/life-cron-jobs": { data: { LOG_LEVEL: "debug" } },
      "CronJob/life-cron-jobs-cleanup": { spec: { suspend: true } },
    },
    duringUpgrade: (kubectl) => finish(kubectl, "job", JOB_IS_DONE),
  },
  {
    chart: "operator",
    upgrade: "--set logLevel=4,rbac.aggregate=false,firstBackup.keep=14",
    notes: /^Backups can be asked for in shop and blog\.$/m,
    installed: {
      "ClusterRole/life-operator-manager": { rules: [{ apiGroups: ["storage.example.org"] }, {}, { verbs: ["*"] }] },
      "ClusterRole/life-operator-view": { metadata: { labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } } },
      "ClusterRoleBinding/life-operator-manager": { subjects: [{ kind: "ServiceAccount", name: "life-operator", namespace: "operator" }] },
      "RoleBinding/life-operator-leader": { roleRef: { kind: "Role", name: "life-operator-leader" } },
      "Lease/life-operator": { spec: { leaseDurationSeconds: 15 } },
      // Of the kind in crds/, with the default of its schema.
      "Backup/life-operator-first": { spec: { volume: "data", keep: 7 } },
      "Deployment/life-operator": container({
        args: ["--leader-elect", "--v=2", "--namespaces=shop,blog", "--metrics-bind-address=:8443"],
      }),
    },
    upgraded: {
      "Backup/life-operator-first": { spec: { volume: "data", keep: 14 } },
      "ClusterRole/life-operator-view": undefined,
      "Deployment/life-operator": container({
        args: ["--leader-elect", "--v=4", "--namespaces=shop,blog", "--metrics-bind-address=:8443"],
      }),
    },
    // Helm never deletes what is in crds/, since that would delete all objects of the kind.
    stays: async (kubectl) => {
      equal(await kubectl("get crd backups.storage.example.org -o jsonpath={.spec.names.listKind}"), "BackupList");
      equal(await kubectl("get backups --all-namespaces -o name"), "");
      await kubectl("delete crd backups.storage.example.org");
    },
  },
  {
    chart: "node-agent",
    upgrade: "--set paths={/var/log},maxUnavailable=2",
    notes: /^Every node sends to collector\.node-agent\.svc:4317\.$/m,
    installed: {
      "ConfigMap/life-node-agent": { binaryData: { start: "c3RhcnQgc2xvd2x5Cg==" } },
      "PriorityClass/life-node-agent": { value: 900_000, preemptionPolicy: "Never" },
      "DaemonSet/life-node-agent": {
        spec: {
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "10%" } },
          template: { spec: { hostNetwork: true, volumes: [{}, { hostPath: { path: "/var/log/pods", type: "" } }, {}] } },
        },
      },
    },
    upgraded: {
      "ConfigMap/life-node-agent": { data: { "agent.conf": "[read]\npath = /var/log\n\n[send]\nto = collector.node-agent.svc:4317\n" } },
      "DaemonSet/life-node-agent": {
        spec: {
          updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
          template: { spec: { volumes: [{}, { hostPath: { path: "/var/log" } }] } },
        },
      },
    },
  },
  {
    chart: "autoscaling",
    upgrade: "--set autoscaling.maxReplicas=20,autoscaling.memory=80,autoscaling.requestsPerSecond=1500m,quota.pods=40",
    notes: /^Between 2 and 10 replicas\.$/m,
    installed: {
      "HorizontalPodAutoscaler/life-autoscaling": {
        spec: {
          maxReplicas: 10,
          metrics: [{ resource: { name: "cpu" } }],
          behavior: { scaleUp: { selectPolicy: "Max" }, scaleDown: { policies: [{ value: 25 }] } },
        },
      },
      "ResourceQuota/life-autoscaling": { spec: { hard: { pods: "20", "requests.cpu": "10" } } },
      "LimitRange/life-autoscaling": { spec: { limits: [{ default: { cpu: "2", memory: "1Gi" }, defaultRequest: { cpu: "100m" } }] } },
      "Deployment/life-autoscaling": { spec: { replicas: 1, strategy: { rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } } } },
      "Service/life-autoscaling": { spec: { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Local" } },
    },
    upgraded: {
      "HorizontalPodAutoscaler/life-autoscaling": {
        spec: { maxReplicas: 20, metrics: [{}, { resource: { name: "memory" } }, { pods: { target: { averageValue: "1500m" } } }] },
      },
      "ResourceQuota/life-autoscaling": { spec: { hard: { pods: "40" } } },
    },
  },
  {
    chart: "network-policies",
    upgrade: "--set allowDns=false,tiers.api.ports={9001},tiers.cache.from={api},tiers.cache.ports={6379}",
    notes: /^api -> database$/m,
    installed: {
      "NetworkPolicy/life-network-policies-deny-all": { spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] } },
      "NetworkPolicy/life-network-policies-allow-dns": {
        spec: { egress: [{ ports: [{ protocol: "UDP" }, { port: 53, protocol: "TCP" }] }] },
      },
      "NetworkPolicy/life-network-policies-api": {
        spec: {
          ingress: [{ ports: [{ port: 9_000, protocol: "TCP" }, { port: "metrics" }] }],
          egress: [{ to: [{ ipBlock: { except: ["203.0.113.128/25"] } }], ports: [{ endPort: 8_100 }] }],
          policyTypes: ["Ingress", "Egress"],
        },
      },
      "NetworkPolicy/life-network-policies-web": { spec: { policyTypes: ["Ingress"] } },
    },
    upgraded: {
      "NetworkPolicy/life-network-policies-allow-dns": undefined,
      "NetworkPolicy/life-network-policies-api": { spec: { ingress: [{ ports: [{ port: 9_001 }] }] } },
      "NetworkPolicy/life-network-policies-cache": { spec: { ingress: [{ ports: [{ port: 6_379 }] }] } },
    },
  },
  {
    chart: "disruption-budgets",
    upgrade: "--set components.worker.replicas=10,components.worker.budget.minAvailable=80%,components.frontend.budget=null",
    notes: /^batch: 1\nfrontend: 3, protected\nworker: 5, protected$/m,
    installed: {
      "PodDisruptionBudget/life-disruption-budgets-frontend": { spec: { maxUnavailable: 1, minAvailable: undefined } },
      "PodDisruptionBudget/life-disruption-budgets-worker": { spec: { minAvailable: "60%", unhealthyPodEvictionPolicy: "AlwaysAllow" } },
      "PriorityClass/life-low": { value: -100, preemptionPolicy: "PreemptLowerPriority" },
      "Deployment/life-disruption-budgets-worker": {
        spec: { replicas: 5, template: { spec: { priorityClassName: "life-high", topologySpreadConstraints: [{ maxSkew: 1 }] } } },
      },
    },
    upgraded: {
      "PodDisruptionBudget/life-disruption-budgets-frontend": undefined,
      "PodDisruptionBudget/life-disruption-budgets-worker": { spec: { minAvailable: "80%" } },
      "Deployment/life-disruption-budgets-worker": { spec: { replicas: 10 } },
    },
  },
  {
    chart: "webhooks",
    upgrade: "--set failurePolicy=Fail,mutate=false",
    notes: /^2 webhooks check objects/m,
    installed: {
      "Secret/life-webhooks": { type: "kubernetes.io/tls" },
      "ValidatingWebhookConfiguration/life-webhooks": {
        webhooks: [
          {
            name: "images.policy.example.org",
            failurePolicy: "Ignore",
            matchPolicy: "Equivalent",
            clientConfig: { service: { port: 443 } },
            rules: [{ scope: "*" }],
          },
          { name: "names.policy.example.org", objectSelector: {} },
        ],
      },
      "MutatingWebhookConfiguration/life-webhooks": { webhooks: [{ reinvocationPolicy: "Never", timeoutSeconds: 10 }] },
    },
    upgraded: {
      "ValidatingWebhookConfiguration/life-webhooks": { webhooks: [{ failurePolicy: "Fail" }, { failurePolicy: "Fail" }] },
      "MutatingWebhookConfiguration/life-webhooks": undefined,
    },
    keeps: ["Secret/life-webhooks"],
  },
];

const TIMESTAMP = "2026-01-01T00:00:00Z";
const JOB_IS_DONE = {
  startTime: TIMESTAMP,
  completionTime: TIMESTAMP,
  succeeded: 1,
  conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime: TIMESTAMP })),
};

/** Marks the next object of a kind as finished as soon as it exists. */
async function finish(kubectl: ClientProgram, kind: string, status: object): Promise<void> {
  await using made = kubectl.start(`get ${kind} --watch -o name`);
  await kubectl(`patch ${await made.line()} --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
}

class Release {
  readonly #plan: Plan;
  readonly #helm: ClientProgram;
  readonly kubectl: ClientProgram;

  private constructor(plan: Plan, kubectl: ClientProgram) {
    this.#plan = plan;
    this.kubectl = kubectl;
    this.#helm = server.helm.with(`--namespace=${plan.chart}`);
  }

  /** In a namespace named after the chart. */
  static async of(plan: Plan): Promise<Release> {
    return new Release(plan, await server.inNamespace(plan.chart));
  }

  helm(line: string): Promise<string> {
    return this.#helm(line);
  }

  /** Every object of the release's manifest, as stored by the server. */
  async objects(): Promise<ReadonlyMap<string, { readonly manifest: string; readonly found: object; readonly version: string }>> {
    const manifest = objectsOf(await this.#helm("get manifest life"));
    const found = [...manifest].map(async ([name, object]) => {
      const there = await kinds.find(object, this.#plan.chart);
      if (there === undefined) throw new Error(`${name} is in the manifest but not on the server`);
      return [name, { manifest: JSON.stringify(object), found: there, version: there.metadata.resourceVersion ?? "" }] as const;
    });
    return new Map(await Promise.all(found));
  }

  async history(): Promise<readonly string[]> {
    const revisions = JSON.parse(await this.#helm("history life -o json")) as { revision: number; status: string }[];
    return revisions.map(({ revision, status }) => `${revision} ${status}`);
  }
}

type Objects = Awaited<ReturnType<Release["objects"]>>;

function expectObjects(objects: Objects, expected: Expected): void {
  const actual = Object.entries(expected).map(([name, part]) => [name, partLike(objects.get(name)?.found, part)]);
  deepEqual(Object.fromEntries(actual), expected);
}

/** Unchanged manifests are not written; all others are. */
function expectOnlyChangesWritten(before: Objects, after: Objects): void {
  for (const [name, { manifest, version }] of after) {
    const previous = before.get(name);
    if (previous === undefined) continue;
    if (previous.manifest === manifest) equal(version, previous.version, `${name} was written although it did not change`);
    else notEqual(version, previous.version, `${name} was not written although it changed`);
  }
}

async function live(plan: Plan): Promise<void> {
  const { chart, upgrade, notes, installed, upgraded, keeps = [], duringUpgrade, stays } = plan;
  const release = await Release.of(plan);
  const directory = chartDirectory(chart);
  match(await release.helm(`lint --strict ${directory}`), /1 chart\(s\) linted, 0 chart\(s\) failed/);

  match(await release.helm(`install life ${directory}`), notes);
  const first = await release.objects();
  expectObjects(first, installed);
  const status = JSON.parse(await release.helm("status life -o json")) as { version: number; info: { status: string } };
  deepEqual([status.version, status.info.status], [1, "deployed"]);

  await Promise.all([release.helm(`upgrade life ${directory} ${upgrade}`), duringUpgrade?.(release.kubectl)]);
  const second = await release.objects();
  expectObjects(second, upgraded);
  expectOnlyChangesWritten(first, second);
  for (const name of keeps) equal(second.get(name)?.version, first.get(name)?.version, `${name} was written again`);

  await release.helm("rollback life 1");
  const third = await release.objects();
  expectObjects(third, installed);
  deepEqual(
    [...third].map(([name, { manifest }]) => [name, manifest]),
    [...first].map(([name, { manifest }]) => [name, manifest]),
  );
  expectOnlyChangesWritten(second, third);
  deepEqual(await release.history(), ["1 superseded", "2 superseded", "3 deployed"]);
  const left = await kinds.leftIn(chart);
  deepEqual(
    [...second.keys()].filter((name) => !first.has(name) && left.includes(name)),
    [],
  );

  await release.helm("uninstall life");
  deepEqual(await kinds.leftIn(chart), []);
  await stays?.(release.kubectl);
}

/** Helm is CPU-bound, so more processes than processors would only wait. */
const CONCURRENCY = 3;

describe(
  "the real Helm lints, installs, upgrades, rolls back and uninstalls a chart",
  { concurrency: CONCURRENCY, ...needs("helm", "kubectl") },
  () => {
    for (const plan of PLANS) test(plan.chart, () => live(plan));
  },
);

test("helm test waits for its Pod and reports the result", needs("helm", "kubectl"), async () => {
  const kubectl = await server.inNamespace("tested");
  const helm = server.helm.with("--namespace=tested");
  await helm(`install life ${chartDirectory("web-app")}`);

  const [text] = await Promise.all([helm("test life"), finish(kubectl, "pod", { phase: "Succeeded" })]);
  match(text, /^TEST SUITE:\s+life-web-app-test\n[^]*^Phase:\s+Succeeded$/m);

  const [error] = await Promise.all([helm.fails("test life"), finish(kubectl, "pod", { phase: "Failed" })]);
  match(error, /pod life-web-app-test failed/i);
});

test("Helm rejects values that violate the chart's schema before it creates anything", needs("helm"), async () => {
  await server.makeNamespace("refused");

  const error = await server.helm.fails(`install life ${chartDirectory("web-app")} --namespace=refused --set replicas=-1,service.port=0`);

  match(error, /replicas'?: minimum: got -1, want 0/);
  match(error, /port'?: minimum: got 0, want 1/);
  deepEqual(await kinds.leftIn("refused"), []);
});
