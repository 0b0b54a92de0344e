/** Validation of a Pod's status. The messages are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../machinery/object.ts";
import { prepareStatusUpdate } from "../prepare.ts";
import { linesOf, newPod, NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN, sentPod, NOT_A_LABEL, type PodParts } from "../testing/pods.ts";
import { validateStatusUpdate } from "./status.ts";
import { errorsOf } from "../../../../machinery/findings.ts";

interface Report {
  readonly before: JsonObject;
  readonly reported: JsonObject;
  /** Sent with the status. */
  readonly metadata?: JsonObject;
}

function mistakesOfReport(parts: PodParts, { before, reported, metadata }: Report): readonly string[] {
  const made = newPod(parts);
  const previous = { ...made, status: { ...made.status, ...before } };
  const sent = { ...parts, metadata: { ...parts.metadata, ...metadata }, status: { ...previous.status, ...reported } as JsonObject };
  const next = prepareStatusUpdate(sentPod(sent), previous);
  return linesOf(errorsOf((errors) => validateStatusUpdate(errors, next, previous)));
}

function ended(name: string, exitCode: number): JsonObject {
  return { name, state: { terminated: { exitCode } } };
}

function running(name: string): JsonObject {
  return { name, state: { running: {} } };
}

const NEVER = { spec: { restartPolicy: "Never" } };
const ON_FAILURE = { spec: { restartPolicy: "OnFailure" } };
const SIDECARS = {
  spec: {
    restartPolicy: "Never",
    initContainers: [
      { name: "i", image: "x" },
      { name: "s", image: "x", restartPolicy: "Always" },
    ],
  },
};
const RULE = { action: "Restart", exitCodes: { operator: "In", values: [5] } };

interface Row {
  readonly title: string;
  readonly pod?: PodParts;
  readonly before?: JsonObject;
  readonly reported: JsonObject;
  readonly metadata?: JsonObject;
  readonly mistakes?: readonly string[];
}

const NOT_AGAIN = "state: Forbidden: may not be transitioned to non-terminated state";

const ROWS: readonly Row[] = [
  {
    title: "the status of a running Pod is accepted",
    reported: {
      phase: "Running",
      podIPs: [{ ip: "10.0.0.1" }],
      hostIP: "1.2.3.4",
      hostIPs: [{ ip: "1.2.3.4" }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  },
  { title: "a Pod status may have one IP address per family", reported: { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } },
  {
    title: "IP addresses, observedGeneration, container names and the QoS class of a status are validated",
    reported: {
      observedGeneration: -1,
      qosClass: "Guaranteed",
      podIPs: [{ ip: "x" }, { ip: "10.0.0.1" }],
      hostIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }],
      conditions: [{ type: "a b", status: "True", observedGeneration: -1 }],
      nominatedNodeName: "A",
      resourceClaimStatuses: [{ name: "x", resourceClaimName: "A" }, { name: "x" }],
    },
    mistakes: [
      "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer",
      `status.conditions[0].Type: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `status.nominatedNodeName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      "status.observedGeneration: Invalid value: -1: must be a non-negative integer",
      'status.qosClass: Invalid value: "Guaranteed": field is immutable',
      'status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
      `status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      'status.resourceClaimStatuses[1].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
      'status.resourceClaimStatuses[1].name: Duplicate value: "x"',
      'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      "status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[0]: x",
      'status.podIPs: Invalid value: [{"IP":"x"},{"IP":"10.0.0.1"}]: may specify no more than one IP for each IP family',
      'status.hostIPs[0].ip: Invalid value: "1.2.3.4": must be equal to `hostIP`',
      'status.hostIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may specify no more than one IP for each IP family',
    ],
  },
  {
    title: "nominatedNodeName is rejected for a bound Pod",
    pod: { spec: { nodeName: "n" } },
    reported: { nominatedNodeName: "m" },
    mistakes: ["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"],
  },
  {
    title: "a terminated container must not return to running with restart policy Never",
    pod: NEVER,
    before: { containerStatuses: [ended("web", 1)] },
    reported: { containerStatuses: [running("web")] },
    mistakes: [`status.containerStatuses[0].${NOT_AGAIN}`],
  },
  {
    title: "a missing container status does not count as a restart",
    pod: NEVER,
    before: { containerStatuses: [ended("web", 1)] },
    reported: { containerStatuses: [] },
  },
  {
    title: "a terminated container may be reported again unchanged",
    pod: NEVER,
    before: { containerStatuses: [ended("web", 1)] },
    reported: { containerStatuses: [ended("web", 1)] },
  },
  {
    title: "a succeeded container must not return to running with restart policy OnFailure",
    pod: ON_FAILURE,
    before: { containerStatuses: [ended("web", 0)] },
    reported: { containerStatuses: [running("web")] },
    mistakes: [`status.containerStatuses[0].${NOT_AGAIN}`],
  },
  {
    title: "a failed container may be restarted with restart policy OnFailure",
    pod: ON_FAILURE,
    before: { containerStatuses: [ended("web", 2)] },
    reported: { containerStatuses: [running("web")] },
  },
  {
    title: "a container may be restarted by a restart policy rule",
    pod: { ...NEVER, container: { restartPolicy: "Never", restartPolicyRules: [RULE] } },
    before: { containerStatuses: [ended("web", 5)] },
    reported: { containerStatuses: [running("web")] },
  },
  {
    title: "a terminated init container must not be restarted, a sidecar may be",
    pod: SIDECARS,
    before: { initContainerStatuses: [ended("i", 0), ended("s", 0)] },
    reported: { initContainerStatuses: [running("i"), running("s")] },
    mistakes: [`status.initContainerStatuses[0].${NOT_AGAIN}`],
  },
  {
    title: "users and allocated devices of a container status are validated",
    reported: {
      containerStatuses: [
        {
          name: "web",
          user: { linux: { uid: -1, gid: -1, supplementalGroups: [-1] } },
          allocatedResourcesStatus: [
            {
              name: "claim:x",
              resources: [
                { resourceID: "a", health: "Odd", message: "" },
                { resourceID: "a", health: "Healthy" },
              ],
            },
            { name: "cpu" },
          ],
        },
      ],
      ephemeralContainerStatuses: [{ name: "q", allocatedResourcesStatus: [{ name: "x" }] }],
    },
    mistakes: [
      "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "status.containerStatuses[0].user.linux.gid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "status.containerStatuses[0].user.linux.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: \"claim:x\": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
      'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Odd": supported values: "Healthy", "Unhealthy", "Unknown"',
      "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message: Required value: must be non-empty if specified",
      'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "a"',
      'status.containerStatuses[0].allocatedResourcesStatus[1].name: Invalid value: "cpu": must match one of the container\'s resource requests',
      "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status",
    ],
  },
  {
    title: "a terminated ephemeral container must not be restarted",
    before: { ephemeralContainerStatuses: [{ name: "d", state: { terminated: { exitCode: 0 } } }] },
    reported: { ephemeralContainerStatuses: [{ name: "d", state: { running: {} } }] },
    mistakes: ["status.ephemeralContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
  },
  {
    title: "the Linux user of a container status is rejected for a Windows Pod",
    pod: { spec: { os: { name: "windows" } } },
    reported: { containerStatuses: [{ name: "web", user: { linux: { uid: 1, gid: 1 } } }] },
    mistakes: ["status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod"],
  },
  {
    title: "IP addresses of a status must be valid",
    reported: { hostIP: "x", hostIPs: [{ ip: "x" }], podIPs: [{ ip: "010.0.0.1" }] },
    mistakes: [
      'status.podIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
      'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  },
  {
    title: "IP addresses of a status must be canonical",
    reported: { hostIP: "010.0.0.1", hostIPs: [{ ip: "010.0.0.1" }], podIPs: [{ ip: "::ffff:1.2.3.4" }] },
    mistakes: [
      'status.podIPs[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
      'status.hostIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
    ],
  },
  {
    title: "an IPv4-mapped IPv6 address is rejected as host IP",
    reported: { hostIP: "::ffff:1.2.3.4", hostIPs: [{ ip: "::ffff:1.2.3.4" }] },
    mistakes: ['status.hostIPs[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address'],
  },
  {
    title: "the message of a device's health is limited in length",
    pod: { container: { resources: { requests: { "example.com/x": 1 }, limits: { "example.com/x": 1 } } } },
    reported: {
      containerStatuses: [
        {
          name: "web",
          allocatedResourcesStatus: [
            { name: "example.com/x", resources: [{ resourceID: "a", health: "Healthy", message: `${"a".repeat(1025)}` }] },
          ],
        },
      ],
    },
    mistakes: ["status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message: Too long: may not be more than 1024 bytes"],
  },
  {
    title: "request mappings of extendedResourceClaimStatus must be unique and refer to containers and their extended resources",
    pod: { container: { resources: { requests: { "example.com/x": 1 }, limits: { "example.com/x": 1 } } } },
    reported: {
      extendedResourceClaimStatus: {
        resourceClaimName: "A_",
        requestMappings: [
          { containerName: "none", resourceName: "example.com/x", requestName: "r" },
          { containerName: "web", resourceName: "example.com/y", requestName: "A_" },
          { containerName: "web", resourceName: "example.com/x", requestName: "r" },
          { containerName: "web", resourceName: "example.com/x", requestName: "r" },
        ],
      },
    },
    mistakes: [
      'status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "none": must match the name of an entry in spec.initContainers.name or spec.containers.name',
      'status.extendedResourceClaimStatus.requestMappings[1].resourceName: Invalid value: "example.com/y": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
      `status.extendedResourceClaimStatus.requestName: Invalid value: "A_": ${NOT_A_LABEL}`,
      'status.extendedResourceClaimStatus.requestMappings[3].containerName: Duplicate value: "web"',
      'status.extendedResourceClaimStatus.requestMappings[3].resourceName: Duplicate value: "example.com/x"',
      'status.extendedResourceClaimStatus.requestMappings[3].requestName: Duplicate value: "r"',
      `status.extendedResourceClaimStatus.resourceClaimName: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
    ],
  },
  {
    title: "extendedResourceClaimStatus requires a claim name and a request mapping",
    reported: { extendedResourceClaimStatus: { resourceClaimName: "", requestMappings: [] } },
    mistakes: [
      "status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required",
      "status.extendedResourceClaimStatus.resourceClaimName: Required value",
    ],
  },
  {
    title: "a status update must not add AppArmor annotations",
    metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "unconfined" } },
    reported: {},
    mistakes: ["metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: Forbidden: may not add AppArmor annotations"],
  },
  {
    title: "a status update must not change the mirror annotation",
    pod: { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } }, spec: { nodeName: "n" } },
    metadata: { annotations: {} },
    reported: {},
    mistakes: ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation"],
  },
  {
    title: "an IPv4-mapped IPv6 address counts as IPv4",
    reported: { podIPs: [{ ip: "1.2.3.4" }, { ip: "::ffff:1.2.3.5" }] },
    mistakes: [
      'status.podIPs[1]: Invalid value: "::ffff:1.2.3.5": must not be an IPv4-mapped IPv6 address',
      'status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"::ffff:1.2.3.5"}]: may specify no more than one IP for each IP family',
    ],
  },
];

for (const { title, pod = {}, before = {}, reported, metadata = {}, mistakes = [] } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOfReport(pod, { before, reported, metadata }), mistakes);
  });
}
