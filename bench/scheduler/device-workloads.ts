/**
 * The workloads of scheduler_perf with ResourceClaims (test/integration/scheduler_perf/dra, 1.36): 500 nodes with a slice of devices each,
 * which the Pods fill up completely. The floor is upstream's with queueing hints. Not here: its steady-state workloads, in which Pods are
 * deleted as fast as they are scheduled.
 */
import { deviceClasses } from "../../src/api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../../src/api/resource.k8s.io/v1/resource-claim.ts";
import { resourceClaimTemplates } from "../../src/api/resource.k8s.io/v1/resource-claim-template.ts";
import { resourceSlices } from "../../src/api/resource.k8s.io/v1/resource-slice.ts";
import type { ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "../../src/api/generated/resource.k8s.io/v1.ts";
import type { Draft } from "../../src/client/client.ts";
import type { PodTemplate } from "./objects.ts";
import type { Scene } from "./scene.ts";
import type { Size, Workload } from "./workloads.ts";

const TEMPLATE_FLOOR = 56;
const API = "resource.k8s.io/v1";
const DRIVER = "test-driver.cdi.k8s.io";
const CLASS = "test-class";
const TEMPLATE_NAME = "test-claim-template";
/** Pods that share one claim. */
const SHARING = 5;

const NODES = 500;
const SIZE = { name: "5000pods_500nodes", nodes: NODES, initPods: 2_500, measuredPods: 2_500 };

const usingClaim = (claim: { readonly resourceClaimTemplateName: string } | { readonly resourceClaimName: string }): PodTemplate => ({
  spec: {
    containers: [{ name: "pause", image: "pause:3.10", resources: { claims: [{ name: "resource" }] } }],
    resourceClaims: [{ name: "resource", ...claim }],
  },
});

export const deviceWorkloads: readonly Workload[] = [
  {
    name: "SchedulingWithResourceClaimTemplate",
    sizes: [{ ...SIZE, floor: TEMPLATE_FLOOR }],
    async run(scene, size) {
      await prepare(scene, size, 10);
      await scene.createObjects(resourceClaimTemplates, NAMESPACES.map(templateIn));
      const template = usingClaim({ resourceClaimTemplateName: TEMPLATE_NAME });
      await scene.schedulePods({ count: size.initPods, template, namespace: "init" });
      return scene.measurePods({ count: size.measuredPods, template, namespace: "test" });
    },
  },
  {
    name: "SchedulingWithResourceClaim",
    sizes: [SIZE],
    async run(scene, size) {
      await prepare(scene, size, 2);
      const claimsOf = (namespace: string) => Array.from({ length: size.initPods / SHARING }, (_, index) => claimIn(namespace, index));
      await scene.createObjects(resourceClaims, NAMESPACES.flatMap(claimsOf));
      const template = (index: number) => usingClaim({ resourceClaimName: `claim-${Math.floor(index / SHARING)}` });
      await scene.schedulePods({ count: size.initPods, template, namespace: "init" });
      return scene.measurePods({ count: size.measuredPods, template, namespace: "test" });
    },
  },
];

const NAMESPACES = ["init", "test"];
const CLAIM_SPEC = { devices: { requests: [{ name: "req-0", exactly: { deviceClassName: CLASS } }] } };

async function prepare(scene: Scene, { nodes }: Size, devicesPerNode: number): Promise<void> {
  await scene.createNodes(nodes);
  const selectors = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];
  await scene.createObjects(deviceClasses, [{ apiVersion: API, kind: "DeviceClass", metadata: { name: CLASS }, spec: { selectors } }]);
  const names = await scene.nodeNames();
  await scene.createObjects(
    resourceSlices,
    names.map((node) => sliceOf(node, devicesPerNode)),
  );
  for (const namespace of NAMESPACES) await scene.createNamespace(namespace);
}

function sliceOf(nodeName: string, devicesPerNode: number): Draft<ResourceSlice> {
  const devices = Array.from({ length: devicesPerNode }, (_, index) => ({ name: `instance-${index}` }));
  const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
  return { apiVersion: API, kind: "ResourceSlice", metadata: { name: nodeName }, spec: { driver: DRIVER, nodeName, pool, devices } };
}

function templateIn(namespace: string): Draft<ResourceClaimTemplate> {
  return { apiVersion: API, kind: "ResourceClaimTemplate", metadata: { namespace, name: TEMPLATE_NAME }, spec: { spec: CLAIM_SPEC } };
}

function claimIn(namespace: string, index: number): Draft<ResourceClaim> {
  return { apiVersion: API, kind: "ResourceClaim", metadata: { namespace, name: `claim-${index}` }, spec: CLAIM_SPEC };
}
