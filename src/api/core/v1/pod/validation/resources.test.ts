/** Validation of resource amounts, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_LABEL, NOT_A_SUBDOMAIN, NOT_A_QUALIFIED_NAME, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "requests must not exceed limits",
    given: { container: { resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1500m", memory: "2Gi" } } } },
    mistakes: [
      'spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
      'spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
    ],
  },
  {
    title: "huge pages require cpu or memory",
    given: { container: { resources: { limits: { "hugepages-2Mi": "4Mi" } } } },
    mistakes: ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
  },
  {
    title: "resource claims of a container must be unique and declared by the Pod",
    given: {
      spec: {
        resourceClaims: [
          { name: "" },
          { name: "a", resourceClaimName: "x", resourceClaimTemplateName: "y" },
          { name: "a", resourceClaimName: "X_" },
          { name: "B", resourceClaimTemplateName: "X_" },
        ],
      },
      container: {
        resources: {
          claims: [
            { name: "" },
            { name: "a" },
            { name: "a" },
            { name: "b", request: "r" },
            { name: "b", request: "r" },
            { name: "b" },
            { name: "c", request: "R" },
          ],
        },
      },
    },
    mistakes: [
      "spec.resourceClaims[0].name: Required value",
      'spec.resourceClaims[0]: Invalid value: {"Name":"","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'spec.resourceClaims[1]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      'spec.resourceClaims[2].name: Duplicate value: "a"',
      `spec.resourceClaims[2].resourceClaimName: Invalid value: "X_": ${NOT_A_SUBDOMAIN}`,
      `spec.resourceClaims[3].name: Invalid value: "B": ${NOT_A_LABEL}`,
      `spec.resourceClaims[3].resourceClaimTemplateName: Invalid value: "X_": ${NOT_A_SUBDOMAIN}`,
      "spec.containers[0].resources.claims[0]: Required value",
      'spec.containers[0].resources.claims[2]: Duplicate value: "a"',
      'spec.containers[0].resources.claims[3]: Not found: "b": must be one of the names in pod.spec.resourceClaims: B, a',
      'spec.containers[0].resources.claims[4]: Duplicate value: "b/r"',
      'spec.containers[0].resources.claims[4]: Not found: "b": must be one of the names in pod.spec.resourceClaims: B, a',
      'spec.containers[0].resources.claims[5]: Duplicate value: "b"',
      'spec.containers[0].resources.claims[5]: Not found: "b": must be one of the names in pod.spec.resourceClaims: B, a',
      `spec.containers[0].resources.claims[6].request: Invalid value: "R": ${NOT_A_LABEL}`,
      'spec.containers[0].resources.claims[6]: Not found: "c": must be one of the names in pod.spec.resourceClaims: B, a',
    ],
  },
  {
    title: "a resource claim that the Pod does not declare is reported as not found",
    given: { container: { resources: { claims: [{ name: "x" }] } } },
    mistakes: [
      'spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  },
  {
    title: "the overhead must consist of container resources",
    given: { spec: { overhead: { cpu: "-1", memory: "1500m", foo: "1" } } },
    mistakes: [
      'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.overhead.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.overhead.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
    ],
  },
  {
    title: "Pod-level resources must not have claims",
    given: { spec: { resources: { claims: [{ name: "x" }] } } },
    mistakes: [
      "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
      'spec.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  },
  {
    title: "the sum of the containers' requests must not exceed the Pod-level requests",
    given: {
      spec: { resources: { limits: { cpu: "1", foo: "1", "ephemeral-storage": "1" }, requests: { cpu: "2" } } },
      container: { resources: { requests: { cpu: "3", memory: "1Gi" }, limits: { cpu: "4" } } },
    },
    mistakes: [
      'spec.resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
      'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      'spec.resources.requests[cpu]: Invalid value: "2": must be greater than or equal to aggregate container requests of 3',
      'spec.resources.containers[0][cpu].limits: Invalid value: "4": must be less than or equal to pod limits of 1',
    ],
  },
  {
    title: "huge page limits of the containers must not exceed the Pod-level limits",
    given: {
      spec: { resources: { limits: { cpu: "4", "hugepages-2Mi": "2Mi" } } },
      container: { resources: { limits: { "hugepages-2Mi": "4Mi", cpu: "5" } } },
    },
    mistakes: [
      'spec.resources.requests: Invalid value: "5": must be less than or equal to cpu limit of 4',
      'spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi',
      'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi',
      'spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi',
      'spec.resources.containers[0][cpu].limits: Invalid value: "5": must be less than or equal to pod limits of 4',
    ],
  },
  {
    title: "limits of a container require valid names and quantities",
    given: {
      container: {
        resources: {
          limits: {
            "a b": "1",
            "requests.example.com/x": "1",
            "example.com/y": "1500m",
            "hugepages-2Mi": "3Mi",
            disk: "1",
            cpu: "1",
            "kubernetes.io/odd": "1",
            "example.com/-": "1",
          },
        },
      },
    },
    mistakes: [
      `spec.containers[0].resources.limits[a b]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.containers[0].resources.limits[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.containers[0].resources.limits[requests.example.com/x]: Invalid value: "requests.example.com/x": doesn\'t follow extended resource name standard',
      'spec.containers[0].resources.limits[example.com/y]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.limits[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[disk]: Invalid value: "disk": must be a standard resource for containers',
      `spec.containers[0].resources.limits[example.com/-]: Invalid value: "example.com/-": ${NOT_A_QUALIFIED_NAME}`,
      'spec.containers[0].resources.limits[example.com/-]: Invalid value: "example.com/-": doesn\'t follow extended resource name standard',
      `spec.containers[0].resources.requests[a b]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.containers[0].resources.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.containers[0].resources.requests[requests.example.com/x]: Invalid value: "requests.example.com/x": doesn\'t follow extended resource name standard',
      'spec.containers[0].resources.requests[example.com/y]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard resource for containers',
      `spec.containers[0].resources.requests[example.com/-]: Invalid value: "example.com/-": ${NOT_A_QUALIFIED_NAME}`,
      'spec.containers[0].resources.requests[example.com/-]: Invalid value: "example.com/-": doesn\'t follow extended resource name standard',
    ],
  },
  {
    title: "requests of a container require valid names and quantities",
    given: {
      container: {
        resources: {
          limits: { "example.com/z": "2" },
          requests: {
            "a b": "1",
            "requests.example.com/x": "1",
            "example.com/y": "1500m",
            "hugepages-2Mi": "3Mi",
            disk: "1",
            cpu: "-1",
            "kubernetes.io/odd": "1",
            "example.com/z": "1",
          },
        },
      },
    },
    mistakes: [
      `spec.containers[0].resources.requests[a b]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.containers[0].resources.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.containers[0].resources.requests[requests.example.com/x]: Invalid value: "requests.example.com/x": doesn\'t follow extended resource name standard',
      "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
      'spec.containers[0].resources.requests[example.com/y]: Invalid value: "1500m": must be an integer',
      "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
      "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard resource for containers',
      'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/z limit of 2',
    ],
  },
  {
    title: "unsupported Pod-level resources are rejected, and huge pages require cpu or memory",
    given: { spec: { resources: { limits: { "hugepages-2Mi": "2Mi" }, requests: { "hugepages-2Mi": "2Mi", "example.com/x": "1" } } } },
    mistakes: [
      'spec.resources.requests[example.com/x]: Unsupported value: "example.com/x": supported values: "cpu", "hugepages-", "memory"',
      "spec.resources.limits: Required value: Limit must be set for non overcommitable resources",
      "spec.resources: Forbidden: HugePages require cpu or memory",
    ],
  },
  {
    title: "an overhead of huge pages requires cpu or memory",
    given: { spec: { overhead: { "hugepages-2Mi": "2Mi" } } },
    mistakes: ["spec.overhead: Forbidden: HugePages require cpu or memory"],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}
