import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { all } from "./all.ts";

test("the default plugins are upstream's, in its order and with its weights", () => {
  deepEqual(
    all.map(({ factory: { name }, weight }) => (weight === undefined ? name : `${name} ${weight}`)),
    [
      "SchedulingGates",
      "PrioritySort",
      "NodeUnschedulable",
      "NodeName",
      "TaintToleration 3",
      "NodeAffinity 2",
      "NodePorts",
      "NodeResourcesFit 1",
      "VolumeRestrictions",
      "NodeVolumeLimits",
      "VolumeBinding",
      "VolumeZone",
      "PodTopologySpread 2",
      "InterPodAffinity 2",
      "DynamicResources 2",
      "DefaultPreemption",
      "NodeResourcesBalancedAllocation 1",
      "ImageLocality 1",
      "DefaultBinder",
      "NodeDeclaredFeatures",
    ],
  );
});
