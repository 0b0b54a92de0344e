/**
 * The workloads of upstream's scheduler_perf by name (test/integration/scheduler_perf, 1.36), with the sizes of its performance runs and
 * the floors of its CI. The steps are upstream's: initial objects, background churn, and the measured Pods.
 *
 * Not here: workloads with persistent volumes (volume-workloads.ts).
 */
import * as objects from "./objects.ts";
import { DEFAULT_POD, NAMED, NAMED_NODE, SELECTED, TEAM, type PodTemplate } from "./objects.ts";
import type { Measured, PodStep, Scene } from "./scene.ts";

export interface Size {
  /** Upstream's name of the size. */
  readonly name: string;
  /** 0: only the named one. */
  readonly nodes: number;
  /** Bound before the measurement. */
  readonly initPods: number;
  readonly measuredPods: number;
  /** Pods that stay pending, or are deleted meanwhile. */
  readonly otherPods?: number;
  /** Pods per second that upstream's CI requires. */
  readonly floor?: number;
  /** Target as a multiple of the floor. Default: MARGIN. */
  readonly margin?: number;
}

export interface Workload {
  readonly name: string;
  readonly sizes: readonly Size[];
  /** Resolves with the cost of scheduling the measured Pods. */
  run(scene: Scene, size: Size): Promise<Measured>;
}

/** The project's own target, as a multiple of upstream's floor; for Pods without special rules it is higher. */
export const MARGIN = 1.5;
const BASIC_MARGIN = 2;
const BASIC_FLOOR = 680;
const BASIC_50000_FLOOR = 790;
/** Upstream's floors of the variants with a namespace selector range from 140 to 190: the highest applies to all. */
const SELECTOR_FLOOR = 190;
/** Likewise, from 590 to 600. */
const UNSCHEDULABLE_FLOOR = 600;

const ZONE_1 = ["zone1"];
const THREE_ZONES = ["moon-1", "moon-2", "moon-3"];
const INIT_NAMESPACES = 100;

export const workloads: readonly Workload[] = [
  {
    name: "SchedulingBasic",
    sizes: [
      { name: "5000Nodes_10000Pods", nodes: 5_000, initPods: 1_000, measuredPods: 10_000, floor: BASIC_FLOOR, margin: BASIC_MARGIN },
      { name: "5000Nodes_50000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 50_000, floor: BASIC_50000_FLOOR, margin: BASIC_MARGIN },
    ],
    run: (scene, size) => alike(scene, size, DEFAULT_POD),
  },
  {
    name: "SchedulingDaemonset",
    sizes: [{ name: "15000Nodes", nodes: 15_000, initPods: 0, measuredPods: 30_000, floor: 1_100 }],
    async run(scene, { nodes, measuredPods }) {
      await scene.createNodes(1, { name: NAMED_NODE, pods: "90000" });
      await scene.createNodes(nodes);
      return scene.measurePods({ count: measuredPods, template: objects.DAEMON_POD });
    },
  },
  {
    name: "SchedulingWithMixedChurn",
    sizes: [{ name: "5000Nodes_10000Pods", nodes: 5_000, initPods: 0, measuredPods: 10_000, floor: 710 }],
    async run(scene, { nodes, measuredPods }) {
      await scene.createNodes(nodes);
      await scene.recreateMixed(objects.TOO_LARGE_POD, 1_000);
      return scene.measurePods({ count: measuredPods, template: DEFAULT_POD });
    },
  },
  {
    name: "SchedulingWhileGated",
    sizes: [{ name: "1Node_10000GatedPods", nodes: 0, initPods: 20_000, measuredPods: 20_000, otherPods: 10_000, floor: 910 }],
    async run(scene, { initPods, measuredPods, otherPods = 0 }) {
      await scene.createNodes(1, { name: NAMED_NODE, pods: "90000" });
      await scene.createPods({ count: otherPods, template: objects.GATED_POD });
      const deleted = await scene.schedulePods({ count: initPods, template: objects.LIGHT_POD });
      await scene.deletePods(deleted, 50);
      return scene.measurePods({ count: measuredPods, template: objects.LIGHT_POD });
    },
  },
  {
    name: "SchedulingGatedPodsWithPodAffinityImpactForThroughput",
    sizes: [{ name: "1Node_10000GatedPods", nodes: 0, initPods: 0, measuredPods: 20_000, otherPods: 10_000 }],
    async run(scene, { measuredPods, otherPods = 0 }) {
      await scene.createNodes(1, { name: NAMED_NODE, pods: "90000" });
      await scene.createPods({ count: otherPods, template: objects.GATED_POD_WITH_AFFINITY });
      return scene.measurePods({ count: measuredPods, template: objects.LABELLED_POD });
    },
  },
  {
    name: "SchedulingSecrets",
    sizes: [{ name: "5000Nodes_10000Pods", nodes: 5_000, initPods: 1_000, measuredPods: 10_000, floor: 790 }],
    run: (scene, size) => alike(scene, size, objects.SECRET_POD),
  },
  {
    name: "SchedulingDeletedPodsWithFinalizers",
    sizes: [{ name: "5000Node_5000DeletingPods", nodes: 5_000, initPods: 0, measuredPods: 5_000, otherPods: 5_000, floor: 830 }],
    async run(scene, { nodes, measuredPods, otherPods = 0 }) {
      await scene.createNodes(nodes);
      const deleted = await scene.createPods({ count: otherPods, template: objects.POD_WITH_FINALIZER });
      await scene.deletePods(deleted, 100);
      return scene.measurePods({ count: measuredPods, template: objects.LIGHT_POD });
    },
  },
  {
    name: "SchedulingNodeAffinity",
    sizes: [{ name: "5000Nodes_10000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 10_000, floor: 540 }],
    run: (scene, size) => alike(scene, size, objects.NODE_AFFINITY_POD, ZONE_1),
  },
  {
    name: "SchedulingPodAntiAffinity",
    sizes: [{ name: "5000Nodes_2000Pods", nodes: 5_000, initPods: 1_000, measuredPods: 2_000, floor: 180 }],
    run: (scene, size) => inTwoNamespaces(scene, size, { before: NAMED.apart, measured: NAMED.apart }),
  },
  {
    name: "SchedulingPodMatchingAntiAffinity",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 1_000, measuredPods: 5_000, floor: 540 }],
    run: (scene, size) => inTwoNamespaces(scene, size, { before: NAMED.apart, measured: objects.GREEN_POD }),
  },
  {
    name: "SchedulingPodAffinity",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: 70 }],
    run: (scene, size) => inTwoNamespaces(scene, size, { before: NAMED.together, measured: NAMED.together, zones: ZONE_1 }),
  },
  {
    name: "SchedulingPreferredPodAffinity",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: 160 }],
    run: (scene, size) => inTwoNamespaces(scene, size, { before: NAMED.ratherTogether, measured: NAMED.ratherTogether }),
  },
  {
    name: "SchedulingPreferredPodAntiAffinity",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: 190 }],
    run: (scene, size) => inTwoNamespaces(scene, size, { before: NAMED.ratherApart, measured: NAMED.ratherApart }),
  },
  {
    name: "SchedulingRequiredPodAntiAffinityWithNSSelector",
    // Upstream's name says 5,000 nodes: every Pod needs its own.
    sizes: [{ name: "5000Nodes_2000Pods", nodes: 6_000, initPods: 4_000, measuredPods: 2_000, floor: SELECTOR_FLOOR }],
    run: (scene, size) => inSelectedNamespaces(scene, size, SELECTED.apart),
  },
  {
    name: "SchedulingPreferredAntiAffinityWithNSSelector",
    sizes: [{ name: "5000Nodes_2000Pods", nodes: 5_000, initPods: 4_000, measuredPods: 2_000, floor: SELECTOR_FLOOR }],
    run: (scene, size) => inSelectedNamespaces(scene, size, SELECTED.ratherApart),
  },
  {
    name: "SchedulingRequiredPodAffinityWithNSSelector",
    sizes: [{ name: "5000Nodes_2000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 2_000, floor: SELECTOR_FLOOR }],
    run: (scene, size) => inSelectedNamespaces(scene, size, SELECTED.together, ZONE_1),
  },
  {
    name: "SchedulingPreferredAffinityWithNSSelector",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: SELECTOR_FLOOR }],
    run: (scene, size) => inSelectedNamespaces(scene, size, SELECTED.ratherTogether),
  },
  {
    name: "TopologySpreading",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: 460 }],
    run: (scene, size) => afterDefaultPods(scene, size, { template: objects.SPREAD_POD }),
  },
  {
    name: "PreferredTopologySpreading",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: 340 }],
    run: (scene, size) => afterDefaultPods(scene, size, { template: objects.RATHER_SPREAD_POD }),
  },
  {
    name: "DefaultTopologySpreading",
    sizes: [
      { name: "5000Nodes_10000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 10_000, floor: 160 },
      { name: "5000Nodes_50000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 50_000, floor: 160 },
    ],
    async run(scene, size) {
      await scene.createNamespace("service-ns");
      await scene.createService("service-ns", { app: "scheduler-perf" });
      return afterDefaultPods(scene, size, { template: objects.LABELLED_POD, namespace: "service-ns" });
    },
  },
  {
    name: "SchedulingWithNodeInclusionPolicy",
    sizes: [{ name: "5000Nodes", nodes: 4_000, initPods: 0, measuredPods: 4_000 }],
    async run(scene, { nodes, measuredPods }) {
      await scene.createNodes(nodes);
      await scene.createNodes(nodes / 4, { taints: [{ key: "foo", effect: "NoSchedule" }] });
      return scene.measurePods({ count: measuredPods, template: objects.INCLUSION_POLICY_POD });
    },
  },
  {
    name: "PreemptionBasic",
    sizes: [{ name: "1000Nodes", nodes: 1_000, initPods: 4_000, measuredPods: 1_000 }],
    async run(scene, { nodes, initPods, measuredPods }) {
      await scene.createNodes(nodes);
      await scene.schedulePods({ count: initPods, template: objects.LOW_PRIORITY_POD });
      return scene.measurePods({ count: measuredPods, template: objects.HIGH_PRIORITY_POD });
    },
  },
  {
    name: "PreemptionAsync",
    sizes: [{ name: "5000Nodes", nodes: 5_000, initPods: 20_000, measuredPods: 5_000, floor: 570 }],
    run: (scene, size) => whilePodsCome(scene, size, { before: objects.LOW_PRIORITY_POD, beside: objects.HIGH_PRIORITY_POD }),
  },
  {
    name: "Unschedulable",
    sizes: [
      { name: "5kNodes_100Init_10kPods", nodes: 5_000, initPods: 100, measuredPods: 10_000, floor: UNSCHEDULABLE_FLOOR },
      { name: "5kNodes_20kInit_10kPods", nodes: 5_000, initPods: 20_000, measuredPods: 10_000, floor: UNSCHEDULABLE_FLOOR },
    ],
    run: (scene, size) => whilePodsCome(scene, size, { before: DEFAULT_POD, beside: objects.TOO_LARGE_POD }),
  },
  {
    name: "MixedSchedulingBasePod",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 2_000, measuredPods: 5_000, floor: 540 }],
    async run(scene, { nodes, initPods, measuredPods }) {
      await scene.createNodes(nodes, { zones: ZONE_1 });
      await scene.createNamespace("sched-0");
      for (const template of [DEFAULT_POD, NAMED.together, NAMED.apart, NAMED.ratherTogether, NAMED.ratherApart])
        await scene.schedulePods({ count: initPods, template, namespace: "sched-0" });
      return scene.measurePods({ count: measuredPods, template: DEFAULT_POD });
    },
  },
];

/** A small version for the warm-up round, with the same relative capacity. */
export function shrunk(size: Size, factor: number): Size {
  const less = (count: number): number => Math.ceil(count / factor);
  return {
    ...size,
    nodes: less(size.nodes),
    initPods: less(size.initPods),
    measuredPods: less(size.measuredPods),
    ...(size.otherPods === undefined ? {} : { otherPods: less(size.otherPods) }),
  };
}

async function alike(
  scene: Scene,
  { nodes, initPods, measuredPods }: Size,
  template: PodTemplate,
  zones: readonly string[] = [],
): Promise<Measured> {
  await scene.createNodes(nodes, { zones });
  await scene.schedulePods({ count: initPods, template });
  return scene.measurePods({ count: measuredPods, template });
}

async function inTwoNamespaces(
  scene: Scene,
  { nodes, initPods, measuredPods }: Size,
  { before, measured, zones = [] }: { readonly before: PodTemplate; readonly measured: PodTemplate; readonly zones?: readonly string[] },
): Promise<Measured> {
  await scene.createNodes(nodes, { zones });
  for (const name of ["sched-0", "sched-1"]) await scene.createNamespace(name);
  await scene.schedulePods({ count: initPods, template: before, namespace: "sched-0" });
  return scene.measurePods({ count: measuredPods, template: measured, namespace: "sched-1" });
}

async function inSelectedNamespaces(
  scene: Scene,
  { nodes, initPods, measuredPods }: Size,
  template: PodTemplate,
  zones: readonly string[] = [],
): Promise<Measured> {
  await scene.createNodes(nodes, { zones });
  for (let index = 0; index < INIT_NAMESPACES; index++) {
    const namespace = `init-ns-${index}`;
    await scene.createNamespace(namespace, TEAM);
    await scene.schedulePods({ count: Math.round(initPods / INIT_NAMESPACES), template, namespace });
  }
  await scene.createNamespace("measure-ns-0", TEAM);
  return scene.measurePods({ count: measuredPods, template, namespace: "measure-ns-0" });
}

async function afterDefaultPods(scene: Scene, size: Size, measured: Omit<PodStep, "count">): Promise<Measured> {
  await scene.createNodes(size.nodes, { zones: THREE_ZONES });
  await scene.schedulePods({ count: size.initPods, template: DEFAULT_POD });
  return scene.measurePods({ ...measured, count: size.measuredPods });
}

/** Five Pods per second of another kind are created beside the measured ones. */
async function whilePodsCome(
  scene: Scene,
  { nodes, initPods, measuredPods }: Size,
  { before, beside }: { readonly before: PodTemplate; readonly beside: PodTemplate },
): Promise<Measured> {
  await scene.createNodes(nodes);
  await scene.schedulePods({ count: initPods, template: before });
  await scene.churnPods(beside, 200);
  return scene.measurePods({ count: measuredPods, template: DEFAULT_POD });
}
