/** PrioritySort: orders the queue by priority, then by waiting time. */
import type { Plugin, PluginFactory, QueuedPod } from "../../framework/plugin.ts";

const plugin: Plugin = {
  name: "PrioritySort",

  compare(a: QueuedPod, b: QueuedPod): number {
    return b.info.priority - a.info.priority || a.queuedAtMs - b.queuedAtMs;
  },
};

export const prioritySort: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};
