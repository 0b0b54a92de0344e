/**
 * The workloads of scheduler_perf with persistent volumes (test/integration/scheduler_perf/volumes, 1.36): every Pod has a claim that is
 * bound to a volume of its own. The floors are the project's own, above those of upstream's CI: 90, 35 and 48 Pods per second.
 */
import { DEFAULT_POD, HIGH_PRIORITY_POD, LOW_PRIORITY_POD, type NodeTemplate, type VolumeTemplate } from "./objects.ts";
import type { Measured, Scene } from "./scene.ts";
import type { Size, Workload } from "./workloads.ts";

const IN_TREE_FLOOR = 290;
const CSI_FLOOR = 100;

const DRIVER = "ebs.csi.aws.com";
const inTree: VolumeTemplate = (name) => ({ awsElasticBlockStore: { volumeID: name } });
const csi: VolumeTemplate = (name) => ({ csi: { driver: DRIVER, volumeHandle: name } });
/** Upstream's limit of volumes per node. */
const LIMITED = { driver: DRIVER, count: 39 };

export const volumeWorkloads: readonly Workload[] = [
  {
    name: "SchedulingInTreePVs",
    sizes: [{ name: "5000Nodes_2000Pods", nodes: 5_000, initPods: 1_000, measuredPods: 2_000, floor: IN_TREE_FLOOR }],
    run: (scene, size) => alike(scene, size, inTree),
  },
  {
    name: "SchedulingMigratedInTreePVs",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: CSI_FLOOR }],
    run: (scene, size) => alike(scene, size, inTree, { csi: { ...LIMITED, migratedPlugins: "kubernetes.io/aws-ebs" } }),
  },
  {
    name: "SchedulingCSIPVs",
    sizes: [{ name: "5000Nodes_5000Pods", nodes: 5_000, initPods: 5_000, measuredPods: 5_000, floor: CSI_FLOOR }],
    run: (scene, size) => alike(scene, size, csi, { csi: LIMITED }),
  },
  {
    name: "PreemptionPVs",
    sizes: [{ name: "1000Nodes", nodes: 1_000, initPods: 4_000, measuredPods: 1_000 }],
    async run(scene, { nodes, initPods, measuredPods }) {
      await scene.createNodes(nodes);
      await scene.schedulePods({ count: initPods, template: LOW_PRIORITY_POD });
      return scene.measurePods({ count: measuredPods, template: HIGH_PRIORITY_POD, volume: inTree });
    },
  },
];

async function alike(
  scene: Scene,
  { nodes, initPods, measuredPods }: Size,
  volume: VolumeTemplate,
  template: NodeTemplate = {},
): Promise<Measured> {
  await scene.createNodes(nodes, template);
  await scene.schedulePods({ count: initPods, template: DEFAULT_POD, volume });
  return scene.measurePods({ count: measuredPods, template: DEFAULT_POD, volume });
}
