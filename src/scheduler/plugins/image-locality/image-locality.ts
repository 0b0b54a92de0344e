/**
 * ImageLocality: prefers nodes that already have the Pod's images, since it starts there sooner. An image counts by its size times the
 * share of nodes that have it: one on a single node would otherwise attract all Pods to that node.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX, type Plugin, type PluginFactory, type PreScoreAnswer } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";

const MIB_BYTES = 1024 * 1024;
/** Smaller images are pulled quickly anyway. */
const SUM_MIN_BYTES = 23 * MIB_BYTES;
/** More than this per container does not improve a node. */
const PER_CONTAINER_MAX_BYTES = 1000 * MIB_BYTES;

interface ScoreState {
  /** An image that is used twice counts twice. */
  readonly images: readonly string[];
  readonly sumMaxBytes: number;
  /** Of the whole cluster. */
  readonly nodes: number;
}

const plugin: Plugin<undefined, ScoreState> = {
  name: "ImageLocality",

  preScore({ pod }: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): PreScoreAnswer<ScoreState> {
    // If nodes do not report images, as in simulations, all are equal.
    if (!nodes.some(({ images }) => images.size > 0)) return { is: "skip" };
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const sumMaxBytes = PER_CONTAINER_MAX_BYTES * (containers.length + initContainers.length);
    return { is: "ready", state: { images: imagesOf(pod), sumMaxBytes, nodes: snapshot.nodes.length } };
  },

  score({ images, sumMaxBytes, nodes }: ScoreState, _pod: PodInfo, node: NodeInfo): number {
    let sum = 0;
    for (const image of images) {
      const state = node.images.get(image);
      if (state !== undefined) sum += Math.trunc(state.sizeBytes * (state.nodes / nodes));
    }
    const counted = Math.min(Math.max(sum, SUM_MIN_BYTES), sumMaxBytes);
    return Math.trunc((SCORE_MAX * (counted - SUM_MIN_BYTES)) / (sumMaxBytes - SUM_MIN_BYTES));
  },
};

export const imageLocality: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};

/** Of containers, and of volumes that are images. */
function imagesOf({ spec }: Pod): readonly string[] {
  const { initContainers = [], containers = [], volumes = [] } = spec ?? {};
  const images = [...initContainers, ...containers].map(({ image = "" }) => image);
  for (const { image } of volumes) if (image !== undefined) images.push(image.reference ?? "");
  return images.map(withTag);
}

/** Nodes report images with tags. A colon before the last slash is that of a port. */
function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}
