/**
 * The workloads of scheduler_perf with ResourceClaims (test/integration/scheduler_perf/dra, 1.36) that upstream measures: 500 nodes with a slice
 * of devices each, which the Pods fill up completely; or, in the steady states, whose devices are free, half in use, or all but ten in use, while
 * ten Pods at a time are scheduled and deleted. Floors are upstream's with queueing hints. Not here: workloads that upstream only uses as tests.
 */
import { deviceClasses } from "../../src/api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../../src/api/resource.k8s.io/v1/resource-claim.ts";
import { resourceClaimTemplates } from "../../src/api/resource.k8s.io/v1/resource-claim-template.ts";
import { resourceSlices } from "../../src/api/resource.k8s.io/v1/resource-slice.ts";
import type { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "../../src/api/generated/resource.k8s.io/v1.ts";
import type { Draft } from "../../src/client/client.ts";
import type { PodTemplate } from "./objects.ts";
import type { Scene } from "./scene.ts";
import type { Size, Workload } from "./workloads.ts";

const TEMPLATE_FLOOR = 56;
const EMPTY_FLOOR = 64;
const HALF_FLOOR = 60;
const FULL_FLOOR = 60;
const API = "resource.k8s.io/v1";
const DRIVER = "test-driver.cdi.k8s.io";
const CLASS = "test-class";
const TEMPLATE_NAME = "test-claim-template";
/** Pods that share one claim. */
const SHARING = 5;

/** Pods of a steady state at a time. */
const CONCURRENT = 10;
/** Of upstream's 10 s, at about its usual speed. */
const STEADY_PODS = 1_000;
const DEVICES_PER_NODE = 10;
const EXTENDED_CLASSES = 25;

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
      await prepare(scene, size, DEVICES_PER_NODE);
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
  {
    name: "SteadyStateClusterResourceClaimTemplate",
    // The claims that are allocated before take the place of Pods.
    sizes: [
      { name: "empty_500nodes", nodes: NODES, initPods: 0, measuredPods: STEADY_PODS, floor: EMPTY_FLOOR },
      { name: "half_500nodes", nodes: NODES, initPods: 2_500, measuredPods: STEADY_PODS, floor: HALF_FLOOR },
      { name: "full_500nodes", nodes: NODES, initPods: 4_990, measuredPods: STEADY_PODS, floor: FULL_FLOOR },
    ],
    async run(scene, size) {
      await prepare(scene, size, DEVICES_PER_NODE);
      const names = await scene.nodeNames();
      const claims = Array.from({ length: size.initPods }, (_, index) => allocatedClaim(index, names));
      await scene.createWithStatus(resourceClaims, claims);
      await scene.createObjects(resourceClaimTemplates, NAMESPACES.map(templateIn));
      const template = usingClaim({ resourceClaimTemplateName: TEMPLATE_NAME });
      return scene.measureSteadily({ count: size.measuredPods, template, namespace: "test" }, CONCURRENT);
    },
  },
  {
    name: `ExtendedResource_${EXTENDED_CLASSES}Classes`,
    sizes: [SIZE],
    async run(scene, size) {
      await prepare(scene, size, DEVICES_PER_NODE, extendedClasses());
      await scene.schedulePods({ count: size.initPods, template: usingExtended, namespace: "init" });
      return scene.measurePods({ count: size.measuredPods, template: usingExtended, namespace: "test" });
    },
  },
];

const NAMESPACES = ["init", "test"];
const CLAIM_SPEC = { devices: { requests: [{ name: "req-0", exactly: { deviceClassName: CLASS } }] } };

const SELECTORS = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];

async function prepare(
  scene: Scene,
  { nodes }: Size,
  devicesPerNode: number,
  classes: readonly Draft<DeviceClass>[] = [classOf(CLASS)],
): Promise<void> {
  await scene.createNodes(nodes);
  await scene.createObjects(deviceClasses, classes);
  const names = await scene.nodeNames();
  await scene.createObjects(
    resourceSlices,
    names.map((node) => sliceOf(node, devicesPerNode)),
  );
  for (const namespace of NAMESPACES) await scene.createNamespace(namespace);
}

function classOf(name: string, extendedResourceName?: string): Draft<DeviceClass> {
  const spec = { selectors: SELECTORS, ...(extendedResourceName === undefined ? {} : { extendedResourceName }) };
  return { apiVersion: API, kind: "DeviceClass", metadata: { name }, spec };
}

function extendedClasses(): readonly Draft<DeviceClass>[] {
  return Array.from({ length: EXTENDED_CLASSES }, (_, index) => classOf(`test-class-${index}`, extendedResource(index)));
}

function extendedResource(index: number): string {
  return `example.com/gpu-${index % EXTENDED_CLASSES}`;
}

function usingExtended(index: number): PodTemplate {
  const amounts = { [extendedResource(index)]: "1" };
  return { spec: { containers: [{ name: "pause", image: "pause:3.10", resources: { requests: amounts, limits: amounts } }] } };
}

/** The devices of a claim that is in use, one after the other on all nodes. */
function allocatedClaim(index: number, nodeNames: readonly string[]): Draft<ResourceClaim> {
  const pool = nodeNames[index % nodeNames.length] ?? "";
  const device = `instance-${Math.floor(index / nodeNames.length)}`;
  const nodeSelector = {
    nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [pool] }] }],
  };
  const allocation = { devices: { results: [{ request: "req-0", driver: DRIVER, pool, device }] }, nodeSelector };
  return { ...claimIn("init", index), status: { allocation } };
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
