/**
 * The objects of scheduler_perf's workloads: the same requests, labels and rules, so that the figures are comparable. Priorities are given
 * by class, since default admission is enabled and rejects numbers.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec, Pod } from "../../src/api/generated/core/v1.ts";
import type { CSINode } from "../../src/api/generated/storage.k8s.io/v1.ts";
import type { Draft } from "../../src/client/client.ts";

export type PodSpec = NonNullable<Pod["spec"]>;

/** Properties of the Pods of one step. */
export interface PodTemplate {
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<PodSpec>;
}

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";

export const HIGH_PRIORITY_CLASS = { name: "high", value: 10 };

/** The single node of workloads whose Pods all fit on one, and its name in their rules. */
export const NAMED_NODE = "scheduler-perf-node";

/** `zones`: assigned to the nodes round-robin. */
export interface NodeTemplate {
  readonly name?: string;
  readonly zones?: readonly string[];
  readonly pods?: string;
  readonly taints?: NonNullable<Node["spec"]>["taints"];
  /** Each node gets a CSINode. */
  readonly csi?: CsiNodeTemplate;
}

export interface CsiNodeTemplate {
  readonly driver: string;
  /** Maximum number of its volumes. */
  readonly count: number;
  /** In-tree plugins whose volumes the driver handles. */
  readonly migratedPlugins?: string;
}

export function csiNodeOf({ driver, count, migratedPlugins }: CsiNodeTemplate, name: string): Draft<CSINode> {
  const annotations = migratedPlugins === undefined ? {} : { "storage.alpha.kubernetes.io/migrated-plugins": migratedPlugins };
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name, annotations },
    spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [], allocatable: { count } }] },
  };
}

/** The source of the volume with this name. */
export type VolumeTemplate = (name: string) => Pick<PersistentVolumeSpec, "awsElasticBlockStore" | "csi">;

/** A volume and its claim, completely bound to each other, as scheduler_perf creates them. */
export function boundVolumeOf(
  template: VolumeTemplate,
  namespace: string,
  name: string,
): { readonly volume: Draft<PersistentVolume>; readonly claim: Draft<PersistentVolumeClaim> } {
  const accessModes = ["ReadOnlyMany" as const];
  const storage = { storage: "1Gi" };
  return {
    volume: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        accessModes,
        capacity: storage,
        persistentVolumeReclaimPolicy: "Retain",
        claimRef: { kind: "PersistentVolumeClaim", namespace, name },
        ...template(name),
      },
    },
    claim: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace, name, annotations: { "pv.kubernetes.io/bind-completed": "true" } },
      spec: { accessModes, resources: { requests: storage }, volumeName: name, storageClassName: "" },
    },
  };
}

/** The Pod with this claim. */
export function withClaim(pod: Draft<Pod>, claimName: string): Draft<Pod> {
  const spec = pod.spec ?? { containers: [] };
  return { ...pod, spec: { ...spec, volumes: [{ name: "volume", persistentVolumeClaim: { claimName } }] } };
}

export function nodeOf({ name, zones = [], pods = "110" }: NodeTemplate, index: number): Draft<Node> {
  const ownName = name ?? `node-${index}`;
  const zone = zones[index % zones.length];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: ownName, labels: { [HOSTNAME]: ownName, ...(zone === undefined ? {} : { [ZONE]: zone }) } },
    status: { capacity: { pods, cpu: "4", memory: "32Gi" }, conditions: [{ type: "Ready", status: "True" }] },
  };
}

export function podOf({ labels, finalizers, spec }: PodTemplate, namespace: string, name: string): Draft<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, ...(labels === undefined ? {} : { labels }), ...(finalizers === undefined ? {} : { finalizers }) },
    spec: { containers: [{ name: "pause", image: "pause:3.10" }], ...spec },
  };
}

function sized(cpu: string): Pick<PodSpec, "containers"> {
  const amounts = { cpu, memory: "500Mi" };
  const resources = { requests: amounts, limits: amounts };
  return { containers: [{ name: "pause", image: "pause:3.10", ports: [{ containerPort: 80 }], resources }] };
}

const DEFAULT_SPEC = sized("100m");

export const DEFAULT_POD: PodTemplate = { spec: DEFAULT_SPEC };
/** Deleted without a grace period: there is no kubelet to confirm it. */
export const LIGHT_POD: PodTemplate = { spec: { terminationGracePeriodSeconds: 0 } };
export const LABELLED_POD: PodTemplate = { labels: { app: "scheduler-perf" } };
export const POD_WITH_FINALIZER: PodTemplate = { finalizers: ["test.example.com/hold"] };
export const GATED_POD: PodTemplate = { spec: { schedulingGates: [{ name: "test.example.com/hold" }] } };
export const LOW_PRIORITY_POD: PodTemplate = { spec: { ...sized("900m"), terminationGracePeriodSeconds: 0 } };
export const HIGH_PRIORITY_POD: PodTemplate = { spec: { ...sized("3"), priorityClassName: HIGH_PRIORITY_CLASS.name } };
/** More than the allocatable resources of any node. */
export const TOO_LARGE_POD: PodTemplate = { spec: { ...sized("9"), priorityClassName: HIGH_PRIORITY_CLASS.name } };
export const SECRET_POD: PodTemplate = { spec: { ...DEFAULT_SPEC, volumes: [{ name: "secret", secret: { secretName: "secret" } }] } };

export const DAEMON_POD: PodTemplate = {
  spec: { affinity: { nodeAffinity: requiredNodes({ matchFields: [{ key: "metadata.name", operator: "In", values: [NAMED_NODE] }] }) } },
};
export const NODE_AFFINITY_POD: PodTemplate = {
  spec: {
    ...DEFAULT_SPEC,
    affinity: { nodeAffinity: requiredNodes({ matchExpressions: [{ key: ZONE, operator: "In", values: ["zone1", "zone2"] }] }) },
  },
};

type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>;
type RequiredNodes = NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>;

function requiredNodes(term: RequiredNodes["nodeSelectorTerms"][number]): NodeAffinity {
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
}

/** Selects the Pods that an affinity term applies to. */
const NAMED_NAMESPACES = { namespaces: ["sched-0", "sched-1"] };
export const TEAM = { team: "devops" };
const SELECTED_NAMESPACES = { namespaceSelector: { matchLabels: TEAM } };
type Whose = typeof NAMED_NAMESPACES | typeof SELECTED_NAMESPACES;

interface Rule {
  readonly color: string;
  readonly topologyKey: string;
  readonly whose: Whose;
}

function term({ color, topologyKey, whose }: Rule) {
  return { labelSelector: { matchLabels: { color } }, topologyKey, ...whose };
}

function required(rule: Rule) {
  return { requiredDuringSchedulingIgnoredDuringExecution: [term(rule)] };
}

function preferred(rule: Rule) {
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(rule) }] };
}

function together(color: string, podAffinity: ReturnType<typeof required> | ReturnType<typeof preferred>): PodTemplate {
  return { labels: { color }, spec: { ...DEFAULT_SPEC, affinity: { podAffinity } } };
}

function apart(color: string, podAntiAffinity: ReturnType<typeof required> | ReturnType<typeof preferred>): PodTemplate {
  return { labels: { color }, spec: { ...DEFAULT_SPEC, affinity: { podAntiAffinity } } };
}

/** The four kinds of inter-Pod affinity, with namespaces given by name and by selector. */
function rulesFor(whose: Whose) {
  return {
    apart: apart("green", required({ color: "green", topologyKey: HOSTNAME, whose })),
    together: together("blue", required({ color: "blue", topologyKey: ZONE, whose })),
    ratherTogether: together("red", preferred({ color: "red", topologyKey: HOSTNAME, whose })),
    ratherApart: apart("yellow", preferred({ color: "yellow", topologyKey: HOSTNAME, whose })),
  };
}

export const NAMED = rulesFor(NAMED_NAMESPACES);
export const SELECTED = rulesFor(SELECTED_NAMESPACES);
/** Has no affinity itself, but the anti-affinity of `NAMED.apart` selects it. */
export const GREEN_POD: PodTemplate = { labels: { color: "green" }, spec: DEFAULT_SPEC };

export const GATED_POD_WITH_AFFINITY: PodTemplate = {
  labels: { app: "scheduler-perf" },
  spec: {
    schedulingGates: [{ name: "test.example.com/hold" }],
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: "scheduler-perf" } }, topologyKey: HOSTNAME },
        ],
      },
    },
  },
};

export const SPREAD_POD = spread({ maxSkew: 5, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" });
export const RATHER_SPREAD_POD = spread({ maxSkew: 5, topologyKey: ZONE, whenUnsatisfiable: "ScheduleAnyway" });
export const INCLUSION_POLICY_POD = spread({
  ...{ maxSkew: 1, topologyKey: HOSTNAME, whenUnsatisfiable: "DoNotSchedule" },
  ...{ nodeAffinityPolicy: "Honor", nodeTaintsPolicy: "Honor" },
});

function spread(constraint: Omit<NonNullable<PodSpec["topologySpreadConstraints"]>[number], "labelSelector">): PodTemplate {
  const labels = { color: "blue" };
  return { labels, spec: { ...DEFAULT_SPEC, topologySpreadConstraints: [{ ...constraint, labelSelector: { matchLabels: labels } }] } };
}
