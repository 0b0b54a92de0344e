/**
 * Hand-written strategic merges, for comparison with kubectl: for each kind a few objects, and patches that are applied to all of them. An
 * object that has what a patch touches is beside one that has it differently and one that lacks it.
 */
import type { JsonObject } from "../machinery/object.ts";

export interface MergeCases {
  readonly schema: string;
  readonly documents: readonly JsonObject[];
  readonly patches: Readonly<Record<string, JsonObject>>;
}

const podFields = { apiVersion: "v1", kind: "Pod" };

const pods: MergeCases = {
  schema: "io.k8s.api.core.v1.Pod",
  documents: [
    { ...podFields, metadata: { name: "bare" }, spec: { containers: [{ name: "a", image: "a:1" }] } },
    {
      ...podFields,
      metadata: {
        name: "full",
        labels: { app: "x", tier: "web", "a/b": "c" },
        finalizers: ["one", "two", "three"],
        ownerReferences: [
          { apiVersion: "v1", kind: "A", name: "a", uid: "u1" },
          { apiVersion: "v1", kind: "B", name: "b", uid: "u2", controller: true },
        ],
      },
      spec: {
        containers: [
          {
            name: "a",
            image: "a:1",
            args: ["x", "y"],
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
              { name: "C", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
            ],
            ports: [
              { containerPort: 53, protocol: "TCP" },
              { containerPort: 80, name: "http" },
              { containerPort: 53, protocol: "UDP" },
            ],
            volumeMounts: [
              { name: "v", mountPath: "/v" },
              { name: "w", mountPath: "/w" },
            ],
            resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1" } },
          },
          { name: "b", image: "b:1" },
          { name: "c", image: "c:1" },
        ],
        volumes: [
          { name: "v", emptyDir: { medium: "Memory" } },
          { name: "w", configMap: { name: "m", items: [{ key: "k", path: "p" }] } },
        ],
        tolerations: [{ key: "k", operator: "Exists" }],
        imagePullSecrets: [{ name: "x" }, { name: "y" }],
        hostAliases: [{ ip: "1.1.1.1", hostnames: ["one"] }],
        topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
        nodeSelector: { disk: "ssd" },
        securityContext: { runAsUser: 1, sysctls: [{ name: "a", value: "b" }] },
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] } },
      },
      status: {
        phase: "Running",
        conditions: [
          { type: "Ready", status: "True" },
          { type: "Initialized", status: "True" },
        ],
        podIPs: [{ ip: "10.0.0.1" }],
      },
    },
    {
      ...podFields,
      metadata: { name: "empty", labels: {}, finalizers: [], ownerReferences: [], annotations: null },
      spec: { containers: [], volumes: [], tolerations: [], imagePullSecrets: [], nodeSelector: {}, hostNetwork: true },
      status: { conditions: [] },
    },
  ],
  patches: {
    "an empty patch": {},
    "a scalar": { spec: { hostNetwork: false, terminationGracePeriodSeconds: 5 } },
    "a null scalar": { spec: { hostNetwork: null, missing: null } },
    "labels merged and one removed": { metadata: { labels: { app: "y", new: "z", tier: null } } },
    "a whole map removed": { metadata: { labels: null }, spec: { nodeSelector: null } },
    "a map replaced": { metadata: { labels: { $patch: "replace", only: "this" } } },
    "a map deleted by directive": { metadata: { labels: { $patch: "delete" } }, spec: { securityContext: { $patch: "delete" } } },
    "a struct replaced": { spec: { securityContext: { $patch: "replace", runAsGroup: 3 } } },
    "a replacement with nulls and directives inside": {
      spec: { securityContext: { $patch: "replace", runAsUser: null, x: { $patch: "delete" } } },
    },
    "an unknown directive": { metadata: { labels: { $patch: "mix", a: "b" } } },
    "a merge directive on a map": { metadata: { labels: { $patch: "merge", a: "b" } } },
    "a directive that is null": { metadata: { labels: { $patch: null } } },
    "a directive that is a number": { metadata: { labels: { $patch: 5 } } },
    "the whole object replaced": { $patch: "replace", apiVersion: "v1", kind: "Pod", metadata: { name: "full" } },
    "a container changed": { spec: { containers: [{ name: "a", image: "a:2" }] } },
    "a container added": { spec: { containers: [{ name: "new", image: "n" }] } },
    "a container added after one that exists": { spec: { containers: [{ name: "b" }, { name: "new", image: "n" }] } },
    "containers in another order": { spec: { containers: [{ name: "c" }, { name: "a" }] } },
    "a container deleted": { spec: { containers: [{ name: "b", $patch: "delete" }] } },
    "a missing container deleted": { spec: { containers: [{ name: "zzz", $patch: "delete" }] } },
    "one deleted and one added": {
      spec: {
        containers: [
          { name: "a", $patch: "delete" },
          { name: "new", image: "n" },
        ],
      },
    },
    "one container twice in a patch": {
      spec: {
        containers: [
          { name: "n", image: "1" },
          { name: "n", args: ["2"] },
          { name: "a", image: "3" },
        ],
      },
    },
    "containers replaced": { spec: { containers: [{ $patch: "replace" }, { name: "z", image: "z" }, { name: "y", image: "y" }] } },
    "containers replaced by none": { spec: { containers: [{ $patch: "replace" }] } },
    "a container without a name": { spec: { containers: [{ image: "a:2" }] } },
    "a deletion without a name": { spec: { containers: [{ $patch: "delete" }] } },
    "a merge directive in a list": { spec: { containers: [{ $patch: "merge" }] } },
    "an unknown directive in a list": { spec: { containers: [{ $patch: "mix", name: "a" }] } },
    "containers as strings": { spec: { containers: ["a"] } },
    "containers as lists": { spec: { containers: [["a"]] } },
    "containers as an object": { spec: { containers: { name: "a" } } },
    "containers as null": { spec: { containers: null } },
    "a container with nulls and directives that is new": {
      spec: { containers: [{ name: "n", image: null, env: [{ name: "A", $patch: "delete" }] }] },
    },
    "environment in a container": {
      spec: {
        containers: [
          {
            name: "a",
            env: [
              { name: "B", value: "3" },
              { name: "N", value: "4" },
            ],
          },
        ],
      },
    },
    "a value instead of a source": { spec: { containers: [{ name: "a", env: [{ name: "C", value: "4", valueFrom: null }] }] } },
    "a variable deleted": { spec: { containers: [{ name: "a", env: [{ name: "A", $patch: "delete" }] }] } },
    "arguments replaced": { spec: { containers: [{ name: "a", args: ["z"] }] } },
    "a port that two have": { spec: { containers: [{ name: "a", ports: [{ containerPort: 53, name: "dns" }] }] } },
    "a port that two have deleted": { spec: { containers: [{ name: "a", ports: [{ containerPort: 53, $patch: "delete" }] }] } },
    "ports by number and by text": { spec: { containers: [{ name: "a", ports: [{ containerPort: "80", name: "other" }] }] } },
    "mounts by path": {
      spec: {
        containers: [
          {
            name: "a",
            volumeMounts: [
              { mountPath: "/w", readOnly: true },
              { mountPath: "/n", name: "v" },
            ],
          },
        ],
      },
    },
    "resources nested": {
      spec: { containers: [{ name: "a", resources: { limits: { cpu: "2", memory: null }, requests: { memory: "1" } } }] },
    },
    "a volume of another source, keys retained": {
      spec: { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] },
    },
    "a volume with retained keys that is new": {
      spec: { volumes: [{ name: "n", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] },
    },
    "a volume of two sources": { spec: { volumes: [{ name: "v", hostPath: { path: "/x" } }] } },
    "a member that is not retained": { spec: { volumes: [{ name: "v", $retainKeys: ["name"], hostPath: { path: "/x" } }] } },
    "retained keys with nulls": {
      spec: { volumes: [{ name: "w", $retainKeys: ["name", "configMap"], emptyDir: null, configMap: { name: "n" } }] },
    },
    "retained keys that are no list": { metadata: { $retainKeys: "name" } },
    "retained keys of a struct": { metadata: { $retainKeys: ["name", "labels"], labels: { a: "b" } } },
    "tolerations replaced": { spec: { tolerations: [{ key: "other", effect: "NoSchedule" }] } },
    "tolerations emptied": { spec: { tolerations: [] } },
    "pull secrets by name": { spec: { imagePullSecrets: [{ name: "y" }, { name: "z" }] } },
    "host aliases by address": { spec: { hostAliases: [{ ip: "1.1.1.1", hostnames: ["two"] }, { ip: "2.2.2.2" }] } },
    "spread constraints by topology": {
      spec: { topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 2 }, { topologyKey: "host" }] },
    },
    "a list deep in affinity": {
      spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 2 }] } } },
    },
    "owners by uid": {
      metadata: {
        ownerReferences: [
          { uid: "u2", controller: false },
          { uid: "u3", apiVersion: "v1", kind: "C", name: "c" },
        ],
      },
    },
    "an owner deleted": { metadata: { ownerReferences: [{ uid: "u1", $patch: "delete" }] } },
    "a finalizer added": { metadata: { finalizers: ["four"] } },
    "finalizers in another order": { metadata: { finalizers: ["three", "four", "one"] } },
    "finalizers twice": { metadata: { finalizers: ["four", "four", "one", "one"] } },
    "a finalizer deleted": { metadata: { "$deleteFromPrimitiveList/finalizers": ["two", "zzz"] } },
    "one finalizer deleted and one added": { metadata: { "$deleteFromPrimitiveList/finalizers": ["one"], finalizers: ["four"] } },
    "all finalizers deleted by null": { metadata: { "$deleteFromPrimitiveList/finalizers": null } },
    "a deletion that is no list": { metadata: { "$deleteFromPrimitiveList/finalizers": "two" } },
    "a deletion without a list": { metadata: { $deleteFromPrimitiveList: ["two"] } },
    "a deletion directive with a suffix": { metadata: { "$deleteFromPrimitiveListX/finalizers": ["two"] } },
    "finalizers of mixed types": { metadata: { finalizers: ["four", 5] } },
    "finalizers as objects": { metadata: { finalizers: [{ name: "x" }] } },
    "finalizers set in order": { metadata: { "$setElementOrder/finalizers": ["three", "one"] } },
    "finalizers set in order, one new": { metadata: { "$setElementOrder/finalizers": ["three", "new", "one"], finalizers: ["new"] } },
    "finalizers ordered, deleted and added": {
      metadata: { "$setElementOrder/finalizers": ["new", "one"], "$deleteFromPrimitiveList/finalizers": ["two"], finalizers: ["new"] },
    },
    "containers set in order": { spec: { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] } },
    "containers set in order, one changed": {
      spec: { "$setElementOrder/containers": [{ name: "c" }, { name: "b" }, { name: "a" }], containers: [{ name: "b", image: "b:2" }] },
    },
    "containers set in order, one new": {
      spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "n" }, { name: "a" }], containers: [{ name: "n", image: "n" }] },
    },
    "containers set in order, one deleted and one new": {
      spec: {
        "$setElementOrder/containers": [{ name: "b" }, { name: "n" }],
        containers: [
          { name: "n", image: "n" },
          { name: "a", $patch: "delete" },
        ],
      },
    },
    "containers set in order, one deleted and two new": {
      spec: {
        "$setElementOrder/containers": [{ name: "b" }, { name: "n" }, { name: "m" }],
        containers: [
          { name: "n", image: "n" },
          { name: "m", image: "m" },
          { name: "a", $patch: "delete" },
        ],
      },
    },
    "containers replaced in an order": {
      spec: {
        "$setElementOrder/containers": [{ name: "y" }, { name: "z" }],
        containers: [{ $patch: "replace" }, { name: "z", image: "z" }],
      },
    },
    "an order that the patch breaks": {
      spec: { "$setElementOrder/containers": [{ name: "a" }, { name: "b" }], containers: [{ name: "b" }, { name: "a", image: "a:2" }] },
    },
    "an order that lacks an item of the patch": {
      spec: { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "n", image: "n" }] },
    },
    "an order without keys": { spec: { "$setElementOrder/containers": [{ image: "a" }] } },
    "an order that is no list": { spec: { "$setElementOrder/containers": "a" } },
    "an order for no list": { spec: { $setElementOrder: [{ name: "a" }] } },
    "an order for a list that is null": { spec: { "$setElementOrder/containers": [{ name: "a" }], containers: null } },
    "an order for an unknown list": { spec: { "$setElementOrder/unknown": [{ name: "a" }] } },
    "an order for an object": { spec: { "$setElementOrder/nodeSelector": ["a"] } },
    "an order inside of an item": {
      spec: {
        "$setElementOrder/containers": [{ name: "a" }],
        containers: [
          {
            name: "a",
            "$setElementOrder/env": [{ name: "C" }, { name: "N" }, { name: "A" }],
            env: [
              { name: "N", value: "5" },
              { name: "B", $patch: "delete" },
            ],
          },
        ],
      },
    },
    "conditions by type": {
      status: {
        conditions: [
          { type: "Ready", status: "False" },
          { type: "New", status: "True" },
        ],
        phase: "Failed",
      },
    },
    "addresses by ip": { status: { podIPs: [{ ip: "10.0.0.2" }] } },
    "an unknown field": { spec: { unknown: { deep: [1, { a: null }] }, other: [null, 1] } },
    "names of JavaScript": { metadata: { labels: JSON.parse('{"__proto__":"p","constructor":"c","toString":null}') as JsonObject } },
    "numbers of both kinds": { spec: { priority: 1.5, activeDeadlineSeconds: 9007199254740991 } },
  },
};

const deployments: MergeCases = {
  schema: "io.k8s.api.apps.v1.Deployment",
  documents: [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "rolling" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "x" }, matchExpressions: [{ key: "k", operator: "Exists" }] },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } },
        template: {
          metadata: { labels: { app: "x" } },
          spec: { containers: [{ name: "a", image: "a:1" }], initContainers: [{ name: "i" }] },
        },
      },
    },
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "recreate" }, spec: { strategy: { type: "Recreate" }, template: {} } },
  ],
  patches: {
    "recreate, keys retained": { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
    "recreate, by null": { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
    "a strategy replaced": { spec: { strategy: { $patch: "replace", type: "Recreate" } } },
    "a surge": { spec: { strategy: { rollingUpdate: { maxSurge: "50%" } } } },
    "expressions of a selector": { spec: { selector: { matchExpressions: [{ key: "other", operator: "DoesNotExist" }] } } },
    "an image in the template": { spec: { template: { spec: { containers: [{ name: "a", image: "a:2" }] } } } },
    "a side car": {
      spec: {
        template: {
          spec: { "$setElementOrder/containers": [{ name: "a" }, { name: "side" }], containers: [{ name: "side", image: "s" }] },
        },
      },
    },
    "an init container deleted": { spec: { template: { spec: { initContainers: [{ name: "i", $patch: "delete" }] } } } },
    "conditions of a status": { status: { conditions: [{ type: "Available", status: "True" }] } },
  },
};

const services: MergeCases = {
  schema: "io.k8s.api.core.v1.Service",
  documents: [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "dns" },
      spec: {
        selector: { app: "dns" },
        ports: [
          { name: "dns", port: 53, protocol: "UDP" },
          { name: "dns-tcp", port: 53, protocol: "TCP" },
          { name: "metrics", port: 9153 },
        ],
        clusterIPs: ["10.0.0.10"],
        externalIPs: ["1.2.3.4"],
      },
    },
    { apiVersion: "v1", kind: "Service", metadata: { name: "plain" }, spec: { ports: [{ port: 80, targetPort: "http" }] } },
    { apiVersion: "v1", kind: "Service", metadata: { name: "broken" }, spec: { ports: [{ name: "without a number" }] } },
  ],
  patches: {
    "a port changed": { spec: { ports: [{ port: 53, targetPort: 5353 }] } },
    "a port added": { spec: { ports: [{ port: 8080 }] } },
    "a port deleted": { spec: { ports: [{ port: 80, $patch: "delete" }] } },
    "ports in order": { spec: { "$setElementOrder/ports": [{ port: 9153 }, { port: 53 }] } },
    "ports replaced": { spec: { ports: [{ $patch: "replace" }, { port: 1 }] } },
    "lists that are replaced": { spec: { clusterIPs: ["10.0.0.11"], externalIPs: [] } },
    "a list that is replaced, with a deletion": { spec: { "$deleteFromPrimitiveList/externalIPs": ["1.2.3.4"] } },
    "a selector replaced": { spec: { selector: { $patch: "replace", a: "b" } } },
    "load balancer addresses": { status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }] } } },
  },
};

const nodes: MergeCases = {
  schema: "io.k8s.api.core.v1.Node",
  documents: [
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "one", labels: { zone: "a" } },
      spec: { taints: [{ key: "t", effect: "NoSchedule" }], podCIDRs: ["10.0.0.0/24"] },
      status: {
        conditions: [
          { type: "Ready", status: "True", reason: "KubeletReady" },
          { type: "DiskPressure", status: "False" },
        ],
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "fd00::1" },
          { type: "Hostname", address: "one" },
        ],
        capacity: { cpu: "4", pods: "110" },
        images: [{ names: ["a", "b"], sizeBytes: 5 }],
      },
    },
    { apiVersion: "v1", kind: "Node", metadata: { name: "two" }, spec: {}, status: {} },
  ],
  patches: {
    "a condition changed": { status: { conditions: [{ type: "Ready", status: "False" }] } },
    "conditions in order": {
      status: {
        "$setElementOrder/conditions": [{ type: "DiskPressure" }, { type: "Ready" }],
        conditions: [{ type: "Ready", status: "Unknown" }],
      },
    },
    "taints replaced": { spec: { taints: [{ key: "u", effect: "NoExecute" }] } },
    "an address family added": { spec: { podCIDRs: ["fd00::/64"] } },
    "addresses by type": {
      status: {
        addresses: [
          { type: "InternalIP", address: "10.0.0.2" },
          { type: "Hostname", address: "one" },
        ],
      },
    },
    "addresses replaced": { status: { addresses: [{ $patch: "replace" }, { type: "Hostname", address: "x" }] } },
    "an extended resource": { status: { capacity: { "example.com/x": "3", pods: null } } },
    "images replaced": { status: { images: [] } },
  },
};

const others: readonly MergeCases[] = [
  {
    schema: "io.k8s.api.core.v1.ConfigMap",
    documents: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { a: "1", b: "2" } }],
    patches: {
      "a key changed, one new, one gone": { data: { a: "3", b: null, c: "4" } },
      "all data replaced": { data: { $patch: "replace", c: "4" }, immutable: true },
      "data of another type": { data: "text" },
    },
  },
  {
    schema: "io.k8s.api.core.v1.ServiceAccount",
    documents: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "s" }, secrets: [{ name: "a" }], imagePullSecrets: [{ name: "p" }] },
    ],
    patches: { "secrets by name": { secrets: [{ name: "b" }], imagePullSecrets: [{ name: "p", $patch: "delete" }] } },
  },
  {
    schema: "io.k8s.api.apps.v1.ControllerRevision",
    documents: [
      { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name: "r" }, data: { spec: { a: 1 }, text: "x" }, revision: 1 },
    ],
    patches: {
      "inside of raw data": { data: { text: "y", more: { b: 2 } } },
      "deeper inside of raw data": { data: { spec: { a: 2 } } },
    },
  },
  {
    schema: "io.k8s.api.certificates.v1.CertificateSigningRequest",
    documents: [
      {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: "c" },
        spec: { extra: { a: ["1"] }, usages: ["client auth"], request: "eA==" },
      },
    ],
    patches: {
      "a list in a map": { spec: { extra: { b: ["2"] } } },
      "a list in a map that is there": { spec: { extra: { a: ["2"] } } },
    },
  },
  {
    schema: "io.k8s.api.rbac.v1.ClusterRole",
    documents: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "c" }, rules: [{ verbs: ["get"] }] }],
    patches: { "rules replaced": { rules: [{ verbs: ["list"] }] } },
  },
];

export const mergeCases: readonly MergeCases[] = [pods, deployments, services, nodes, ...others];
