import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { ClusterView, type Seen, type Subject } from "./cluster-view.ts";
import { rootsOf, why } from "./why.ts";
import { whyLines } from "./why-text.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");

/** Objects by resource. */
function viewOf(objects: Readonly<Record<string, readonly Seen[]>>): ClusterView {
  const all = new Map(Object.entries(objects).map(([resource, list]) => [resource, list as readonly KubeObject[]]));
  return new ClusterView({ objects: all, causes: [], decisions: new Map(), nowMs: NOW });
}

const POD: Subject = { resource: "pods", namespace: "default", name: "web" };
const NODE = { metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "True" }] } };

function podWith(status: Seen, { spec = {}, metadata = {} }: { readonly spec?: Seen; readonly metadata?: Seen } = {}): Seen {
  return {
    metadata: { namespace: "default", name: "web", uid: "u", ...metadata },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }], ...spec },
    status: { phase: "Pending", ...status },
  };
}

function waiting(reason: string, message?: string): Seen {
  return { containerStatuses: [{ name: "c", image: "i", ready: false, restartCount: 2, state: { waiting: { reason, message } } }] };
}

function rootsAndRemedy(view: ClusterView, subject: Subject): readonly unknown[] {
  const result = why(view, subject);
  if (result.is !== "explained") return [result.is];
  return [...rootsOf(result.explanation), ...result.explanation.remedies.slice(0, 1).flatMap(({ changes }) => changes)];
}

test("why: a ConfigMap that a container needs does not exist, and creating it with the needed key is the remedy", () => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "settings", key: "a" } } }];
  const pod = podWith(waiting("CreateContainerConfigError", 'configmap "settings" not found'), {
    spec: { containers: [{ name: "c", env }] },
  });

  deepEqual(rootsAndRemedy(viewOf({ pods: [pod], nodes: [NODE] }), POD), [
    "MissingConfigMap",
    {
      type: "create",
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "settings" }, data: { a: "changeme" } },
    },
  ]);
});

test("why: a Secret lacks a key, and adding it is the remedy", () => {
  const pod = podWith(waiting("CreateContainerConfigError", "couldn't find key token in Secret default/keys"));

  deepEqual(rootsAndRemedy(viewOf({ pods: [pod], nodes: [NODE] }), POD), [
    "MissingSecretKey",
    { type: "patch", target: { resource: "secrets", namespace: "default", name: "keys" }, patch: { stringData: { token: "changeme" } } },
  ]);
});

for (const { it, status, roots } of [
  { it: "an image that cannot be pulled", status: waiting("ImagePullBackOff", "not found"), roots: ["ImagePull"] },
  { it: "an image that is not present and never pulled", status: waiting("ErrImageNeverPull"), roots: ["ImagePull"] },
  { it: "a start error of the runtime", status: waiting("RunContainerError", "no such file"), roots: ["RunContainerError"] },
  { it: "an evicted Pod", status: { phase: "Failed", reason: "Evicted", message: "low on memory" }, roots: ["Evicted"] },
  { it: "a Pod that has succeeded", status: { phase: "Succeeded" }, roots: ["healthy"] },
  { it: "a ready Pod", status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }, roots: ["healthy"] },
]) {
  test(`why: ${it}`, () => deepEqual(rootsAndRemedy(viewOf({ pods: [podWith(status)], nodes: [NODE] }), POD), roots));
}

test("why: a volume of a ConfigMap that does not exist is found by the event of the kubelet", () => {
  const event = {
    metadata: { namespace: "default", name: "e", creationTimestamp: "2026-01-01T00:00:00Z" },
    involvedObject: { uid: "u" },
    reason: "FailedMount",
    message: 'MountVolume.SetUp failed for volume "v" : configmap "settings" not found',
  };
  const view = viewOf({ pods: [podWith(waiting("ContainerCreating"))], nodes: [NODE], events: [event] });

  equal(rootsAndRemedy(view, POD)[0], "MissingConfigMap");
});

test("why: a key that a volume's items name and the ConfigMap lacks is added to the ConfigMap", () => {
  const event = {
    metadata: { namespace: "default", name: "e", creationTimestamp: "2026-01-01T00:00:00Z" },
    involvedObject: { uid: "u" },
    reason: "FailedMount",
    message: 'MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: a.conf',
  };
  const volumes = [{ name: "v", configMap: { name: "settings", items: [{ key: "a.conf", path: "a" }] } }];
  const view = viewOf({ pods: [podWith(waiting("ContainerCreating"), { spec: { volumes } })], nodes: [NODE], events: [event] });

  deepEqual(rootsAndRemedy(view, POD), [
    "MissingConfigMapKey",
    {
      type: "patch",
      target: { resource: "configmaps", namespace: "default", name: "settings" },
      patch: { data: { "a.conf": "changeme" } },
    },
  ]);
});

for (const { name, text } of [
  { name: "wbe", text: "service default/wbe does not exist; a similar name exists: web" },
  { name: "web-api", text: "service default/web-api does not exist" },
  { name: "db", text: "service default/db does not exist; that name exists in another namespace: db.data" },
  { name: "web-0.wbe.default.svc.cluster.local", text: "service default/wbe does not exist; a similar name exists: web" },
  { name: "web-1.web.default.svc", text: "no Pod has the host name web-1 and the subdomain web; there are web-0" },
])
  test(`why: the name ${name} in DNS`, () => {
    const services = [
      { metadata: { namespace: "default", name: "web" }, spec: { clusterIP: "None" } },
      { metadata: { namespace: "data", name: "db" }, spec: { clusterIP: "10.0.0.1" } },
    ];
    const pod = { metadata: { namespace: "default", name: "web-0" }, spec: { subdomain: "web", hostname: "web-0" } };

    const result = why(viewOf({ services, pods: [pod] }), { resource: "dns", namespace: "default", name });

    deepEqual(result.is === "explained" && result.explanation.finding.because?.map(({ text: shown }) => shown), [text]);
  });

test("why: an object that does not exist is missing", () => {
  deepEqual(why(viewOf({}), POD), { is: "missing" });
});

test("why: references in a circle end", () => {
  const ingress = {
    metadata: { namespace: "default", name: "i" },
    spec: { ingressClassName: "k8ts", rules: [{ http: { paths: [{ backend: { service: { name: "web", port: { number: 80 } } } }] } }] },
  };
  const ingressClass = { metadata: { name: "k8ts" } };
  const service = { metadata: { namespace: "default", name: "web" }, spec: { ports: [{ port: 80 }], selector: { app: "web" } } };
  const view = viewOf({
    ...{ "ingresses.networking.k8s.io": [ingress], "ingressclasses.networking.k8s.io": [ingressClass] },
    services: [service],
  });

  deepEqual(rootsAndRemedy(view, { resource: "ingresses.networking.k8s.io", namespace: "default", name: "i" }), ["SelectorMismatch"]);
});

describe("why: what could not be read is unknown, and never taken for missing", () => {
  const forbidden = (resource: string, exceptNamespace?: string) => ({
    ...{ resource, message: `${resource} is forbidden`, isForbidden: true },
    ...(exceptNamespace === undefined ? {} : { exceptNamespace }),
  });
  const view = (unread: readonly ReturnType<typeof forbidden>[], pods: readonly Seen[]) =>
    new ClusterView({ objects: new Map([["pods", pods]]), causes: [], decisions: new Map(), nowMs: 0, unread });
  const message = "0/3 nodes are available: 3 Insufficient cpu.";
  const pending = {
    metadata: { name: "web", namespace: "default" },
    spec: { containers: [{ name: "c" }], schedulerName: "default-scheduler" },
    status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] },
  };

  test("a Pending Pod whose nodes may not be read", () => {
    const result = why(view([forbidden("pods", "default"), forbidden("nodes")], [pending]), POD);

    deepEqual(result.is === "explained" && result.explanation, {
      finding: {
        text: "pod default/web cannot be explained wholly",
        because: [
          { text: `it reports PodScheduled False: Unschedulable: ${message}` },
          { text: "nodes could not be read: nodes is forbidden", isUnknown: true },
        ],
      },
      remedies: [],
    });
  });

  test("a Pod whose image cannot be pulled, without the permission to read nodes and Secrets", () => {
    const pod = podWith(waiting("ImagePullBackOff", "unauthorized"), { spec: { imagePullSecrets: [{ name: "registry" }] } });
    const result = why(view([forbidden("nodes"), forbidden("secrets")], [pod]), POD);

    deepEqual(result.is === "explained" && rootsOf(result.explanation), ["ImagePull"]);
  });

  test("an object of a kind that may not be listed", () => {
    deepEqual(why(view([forbidden("pods")], []), POD), { is: "unread", message: "pods is forbidden" });
    deepEqual(why(view([forbidden("pods", "other")], []), POD), { is: "unread", message: "pods is forbidden" });
  });

  test("a request without the permission to read causes", () => {
    const result = why(view([forbidden("causes")], []), { resource: "requests", namespace: "", name: "id-1" });

    deepEqual(result.is === "explained" && result.explanation.finding.because, [
      { text: "causes could not be read: causes is forbidden", isUnknown: true },
    ]);
  });
});

test("the text of why is a tree with the verified command, and says what is unknown", () => {
  const finding = {
    text: "pod default/web does not run",
    because: [
      { text: "its program exited", because: [{ text: "the log is not known here", isUnknown: true as const }] },
      { text: "another" },
    ],
  };

  deepEqual(
    whyLines({
      finding,
      remedy: { is: "verified", text: "Do this", commands: ["kubectl a", "kubectl b"] },
      unread: ["secrets: forbidden"],
    }),
    [
      "pod default/web does not run",
      "├─ its program exited",
      "│  └─ unknown: the log is not known here",
      "└─ another",
      "",
      "Do this (tried on a copy of the cluster: it works):",
      "  kubectl a",
      "  kubectl b",
      "",
      "Not known, because it could not be read:",
      "  secrets: forbidden",
    ],
  );
});

test("why: text of containers and users is escaped for the terminal", () => {
  const pod = podWith(waiting("ImagePullBackOff", "\u001b[2Jno\u009b1m such image"));
  const result = why(viewOf({ pods: [pod], nodes: [NODE] }), POD);
  const finding = result.is === "explained" ? result.explanation.finding : { text: "" };
  const origin = {
    id: 1,
    time: "2026-01-01T00:00:00Z",
    verb: "create",
    resource: "pods",
    user: "eve\u202e",
    userAgent: "\u001b]0;x\u0007",
  };

  const text = whyLines({ finding, origin, remedy: { is: "none" }, unread: ["pods: \u001bc"] }).join("");

  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  equal(/[\u0000-\u001f\u007f-\u009f\u202e]/.test(text), false);
  for (const shown of ["\\u001b[2Jno\\u009b1m such image", "eve\\u202e", "\\u001b]0;x\\u0007", "\\u001bc"])
    equal(text.includes(shown), true, shown);
});

test("why: finalizers that the cluster manages itself are not removed from the contents of a stuck namespace", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const claim = (name: string, finalizers: readonly string[]): Seen => ({
    metadata: { namespace: "old", name, deletionTimestamp, finalizers },
  });
  const protection = "kubernetes.io/pvc-protection";
  const view = viewOf({
    namespaces: [{ metadata: { name: "old", deletionTimestamp } }],
    persistentvolumeclaims: [claim("used", [protection]), claim("held", [protection, "example.com/backup"])],
  });

  deepEqual(rootsAndRemedy(view, { resource: "namespaces", namespace: "", name: "old" }), [
    "Finalizer",
    {
      type: "patch",
      target: { resource: "persistentvolumeclaims", namespace: "old", name: "held" },
      patch: { metadata: { finalizers: [protection] } },
    },
  ]);
});

const SIGNING = { resource: "certificatesigningrequests.certificates.k8s.io", namespace: "", name: "jane" };

for (const { it, signerName = "kubernetes.io/kube-apiserver-client", status, roots } of [
  { it: "that was neither approved nor denied", status: {}, roots: ["NotApproved"] },
  { it: "that was denied", status: { conditions: [{ type: "Denied", status: "True", reason: "No" }] }, roots: ["Denied"] },
  {
    it: "that the signer rejected",
    status: { conditions: [...approvedAnd({ type: "Failed", status: "True", message: "invalid usage" })] },
    roots: ["SigningFailed"],
  },
  {
    it: "whose signer is not part of Kubernetes",
    signerName: "example.com/own",
    status: { conditions: approvedAnd() },
    roots: ["NotSigned"],
  },
  { it: "that waits for its signer", status: { conditions: approvedAnd() }, roots: [] },
  { it: "with a certificate", status: { conditions: approvedAnd(), certificate: "eA==" }, roots: ["healthy"] },
]) {
  test(`why: a CertificateSigningRequest ${it}`, () => {
    const view = viewOf({ [SIGNING.resource]: [{ metadata: { name: "jane" }, spec: { signerName }, status }] });

    deepEqual(rootsAndRemedy(view, SIGNING), roots);
  });
}

function approvedAnd(...others: readonly Seen[]): readonly Seen[] {
  return [{ type: "Approved", status: "True" }, ...others];
}

for (const [name, text, isUnknown] of [
  ["example.com", "whether example.com resolves is not known", true],
  ["web.default.svc.example.org", "whether web.default.svc.example.org resolves is not known", true],
  ["web.shpo", "web.shpo does not resolve", false],
  ["web.gone.svc", "web.gone.svc does not resolve", false],
] as const) {
  test(`why: ${name} ${isUnknown ? "may be a name of upstream servers, which is not known" : "is a name of the cluster that does not exist"}`, () => {
    const services = [{ metadata: { namespace: "shop", name: "web" }, spec: {} }];
    const view = viewOf({ services, namespaces: [{ metadata: { name: "shop" } }] });

    const result = why(view, { resource: "dns", namespace: "default", name });

    equal(result.is, "explained");
    if (result.is !== "explained") return;
    const { finding } = result.explanation;
    deepEqual([finding.text, finding.because?.[0]?.isUnknown ?? false], [text, isUnknown]);
  });
}
