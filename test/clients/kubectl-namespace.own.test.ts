/** The real kubectl deletes namespaces: all their contents are deleted, and remaining content is reported. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aList, aPod, aService } from "../../src/testing/clients/manifests.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

const server = await startTestApiServer({ controllers: ["*"] });
const kubelet = await startStandInKubelet(server);
after(async () => {
  await kubelet[Symbol.asyncDispose]();
  await server.close();
});

const LABELS = { app: "x" };
const CONTAINERS = [{ name: "main", image: "example/app:1" }];
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } };
const JOB_TEMPLATE = { spec: { ...TEMPLATE.spec, restartPolicy: "Never" } };
const SELECTOR = { matchLabels: LABELS };
const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const ROLE = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" };
const SUBJECT = { kind: "ServiceAccount", name: "x" };
const MODES = { accessModes: ["ReadWriteOnce"] };
const SIZE = { storage: "1Gi" };

/** One of each kind that users create in a namespace. */
const ONE_OF_EACH: readonly JsonObject[] = [
  aConfigMap("x"),
  of("v1", "Secret", {}),
  of("v1", "ServiceAccount", {}),
  aPod("x", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "x" } }] }),
  of("v1", "PersistentVolumeClaim", { spec: { ...MODES, resources: { requests: SIZE } } }),
  of("v1", "PodTemplate", { template: TEMPLATE }),
  of("v1", "ReplicationController", { spec: { replicas: 1, selector: { app: "rc" }, template: withLabels("rc") } }),
  aService("x"),
  of("v1", "LimitRange", { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } }),
  of("v1", "ResourceQuota", { spec: { hard: { pods: "100" } } }),
  aDeployment("web", { replicas: 2 }),
  of("apps/v1", "ReplicaSet", { spec: { replicas: 1, selector: { matchLabels: { app: "rs" } }, template: withLabels("rs") } }),
  of("apps/v1", "StatefulSet", { spec: { serviceName: "x", selector: SELECTOR, template: TEMPLATE } }),
  of("apps/v1", "DaemonSet", { spec: { selector: SELECTOR, template: TEMPLATE } }),
  of("apps/v1", "ControllerRevision", { revision: 1, data: {} }),
  of("batch/v1", "Job", { spec: { template: JOB_TEMPLATE } }),
  of("batch/v1", "CronJob", { spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template: JOB_TEMPLATE } } } }),
  of("autoscaling/v2", "HorizontalPodAutoscaler", { spec: { scaleTargetRef: TARGET, maxReplicas: 3 } }),
  of("networking.k8s.io/v1", "Ingress", { spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } } }),
  of("networking.k8s.io/v1", "NetworkPolicy", { spec: { podSelector: {} } }),
  of("policy/v1", "PodDisruptionBudget", { spec: { selector: SELECTOR, maxUnavailable: 1 } }),
  of("rbac.authorization.k8s.io/v1", "Role", { rules: [] }),
  of("rbac.authorization.k8s.io/v1", "RoleBinding", { roleRef: ROLE, subjects: [SUBJECT] }),
  of("coordination.k8s.io/v1", "Lease", { spec: {} }),
];

function of(apiVersion: string, kind: string, fields: JsonObject): JsonObject {
  return { apiVersion, kind, metadata: { name: "x" }, ...fields };
}

function withLabels(app: string): JsonObject {
  return { ...TEMPLATE, metadata: { labels: { app } } };
}

test("a namespace with all its contents is deleted when kubectl delete returns", needs("kubectl"), async (t) => {
  const kubectl = await server.inNamespace("full");
  await kubectl("create -f -", { input: aList(...ONE_OF_EACH) });
  await kubectl("rollout status deployment/web");
  await kubectl("wait replicaset/x replicationcontroller/x --for=jsonpath={.status.readyReplicas}=1");
  const kinds = new Set((await everythingIn("full")).map((name) => name.slice(0, name.indexOf("/"))));
  ok(kinds.size >= 20, [...kinds].join(", "));

  const began = performance.now();
  equal(await server.kubectl("delete namespace full"), `namespace "full" deleted\n`);
  t.diagnostic(`a namespace with objects of ${kinds.size} kinds: ${Math.round(performance.now() - began)} ms with kubectl`);

  equal(await server.kubectl.fails("get namespace full"), `Error from server (NotFound): namespaces "full" not found\n`);
  equal((await everythingIn("full")).join("\n"), "");
});

async function conditionsOf(namespace: string): Promise<readonly (readonly string[])[]> {
  const { conditions } = JSON.parse(await server.kubectl(`get namespace ${namespace} -o jsonpath={.status}`)) as Status;
  return conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
}

interface Status {
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

/** The names of all objects of all kinds that can be listed. */
async function everythingIn(namespace: string): Promise<readonly string[]> {
  const kinds = (await server.kubectl("api-resources --namespaced --verbs=list,delete -o name")).trimEnd().split("\n");
  const text = await server.kubectl(`get ${kinds.join(",")} --namespace=${namespace} -o name --ignore-not-found`);
  return text.split("\n").filter((line) => line !== "");
}

test(
  "conditions of a terminating namespace report what blocks its deletion, and it is deleted when unblocked",
  needs("kubectl"),
  async () => {
    const kubectl = await server.inNamespace("held");
    await kubectl("create -f -", { input: aConfigMap("held", {}, { finalizers: ["example.com/hold"] }) });
    await kubectl("create -f -", { input: aConfigMap("other") });

    await using deletion = server.kubectl.start("delete namespace held");
    equal(await deletion.line(), `namespace "held" deleted`);
    await server.kubectl("wait namespace/held --for=condition=NamespaceContentRemaining");
    await server.kubectl("wait namespace/held --for=condition=NamespaceFinalizersRemaining");

    match(await server.kubectl("get namespace held -o yaml"), /^  phase: Terminating$/m);
    deepEqual(await conditionsOf("held"), [
      ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
      ["NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
      ["NamespaceDeletionContentFailure", "False", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"],
      ["NamespaceContentRemaining", "True", "SomeResourcesRemain", "Some resources are remaining: configmaps. has 1 resource instances"],
      [
        "NamespaceFinalizersRemaining",
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      ],
    ]);
    equal(await kubectl("get configmaps -o name"), "configmap/held\n");
    await kubectl(`patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'`);

    equal((await deletion.rest()).join("\n"), "");
    equal(await server.kubectl("get namespace held --ignore-not-found"), "");
  },
);

test("unused claims, volumes and volume attributes classes are deleted when kubectl delete returns", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("storage");
  const objects = [
    of("v1", "PersistentVolumeClaim", { spec: { ...MODES, resources: { requests: SIZE } } }),
    of("v1", "PersistentVolume", { spec: { ...MODES, capacity: SIZE, hostPath: { path: "/x" } } }),
    of("storage.k8s.io/v1", "VolumeAttributesClass", { driverName: "example.com", parameters: { speed: "high" } }),
  ];
  await kubectl("create -f -", { input: aList(...objects) });

  match(await kubectl("delete pvc/x pv/x vac/x"), /^persistentvolumeclaim "x" deleted.*\npersistentvolume "x" deleted.*\nvol/);
  equal(await kubectl("get pvc,pv,vac -o name"), "");
});

test("pods of a terminating namespace are deleted before its other contents", needs("kubectl"), async () => {
  kubelet.allow({ gone: () => false });
  const kubectl = await server.inNamespace("ordered");
  await kubectl("create -f -", { input: aList(aPod("x"), aConfigMap("x")) });
  await kubectl("wait pod/x --for=condition=Ready");

  await using deletion = server.kubectl.start("delete namespace ordered");
  equal(await deletion.line(), `namespace "ordered" deleted`);
  await kubectl("wait pod/x --for=jsonpath={.metadata.deletionGracePeriodSeconds}=30");
  await server.kubectl("wait namespace/ordered --for=condition=NamespaceDeletionContentFailure=False");
  equal(await kubectl("get configmap x -o name"), "configmap/x\n");
  kubelet.allow({});

  equal((await deletion.rest()).join("\n"), "");
});

test("a new namespace gets its default service account and the root CA ConfigMap", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("fresh");

  for (const made of ["serviceaccount/default", "configmap/kube-root-ca.crt"]) await kubectl(`wait ${made} --for=create`);
  match(await kubectl("get configmap kube-root-ca.crt -o jsonpath={.data.ca\\.crt}"), /^-----BEGIN CERTIFICATE-----/);
  await kubectl("delete serviceaccount default --wait=false");
  await kubectl("delete configmap kube-root-ca.crt --wait=false");
  for (const made of ["serviceaccount/default", "configmap/kube-root-ca.crt"]) await kubectl(`wait ${made} --for=create`);
});
