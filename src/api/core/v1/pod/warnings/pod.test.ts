/** Warnings about Pods. The messages are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodTemplateSpec } from "../../../../generated/core/v1.ts";
import { newPod, sentPod, type PodParts } from "../testing/pods.ts";
import { podTemplateWarnings, podWarnings } from "./pod.ts";
import { warningsOf } from "../../../../machinery/findings.ts";

const ROWS: readonly (readonly [string, PodParts, readonly string[]])[] = [
  ["nothing of a plain pod", {}, []],
  [
    "a name with dots",
    { metadata: { name: "web.a" } },
    [
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ],
  ],
  [
    "labels of nodes and annotations of long ago",
    {
      metadata: { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "" } },
      spec: { nodeSelector: { "beta.kubernetes.io/os": "linux" } },
    },
    [
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    ],
  ],
  [
    "profiles in annotations",
    {
      metadata: {
        annotations: {
          "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
          "container.seccomp.security.alpha.kubernetes.io/web": "unconfined",
          "container.apparmor.security.beta.kubernetes.io/web": "runtime/default",
        },
      },
    },
    [
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
      'metadata.annotations[container.seccomp.security.alpha.kubernetes.io/web]: non-functional in v1.27+; use the "seccompProfile" field instead',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ],
  ],
  [
    "no profile of Linux in a pod of Windows",
    { metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "odd" } }, spec: { os: { name: "windows" } } },
    [],
  ],
  [
    "volumes of the past",
    {
      spec: {
        volumes: [
          { name: "a", gitRepo: { repository: "x" } },
          { name: "b", storageos: { volumeName: "x" } },
        ],
      },
    },
    [
      "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
      "spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+",
    ],
  ],
  [
    "files that are written twice",
    {
      spec: {
        volumes: [
          {
            name: "c",
            configMap: {
              name: "x",
              items: [
                { key: "a", path: "a" },
                { key: "b", path: "a/b" },
              ],
            },
          },
          {
            name: "p",
            projected: {
              sources: [
                { configMap: { name: "m", items: [{ key: "a", path: "q/" }] } },
                { secret: { name: "n", items: [{ key: "a", path: "q" }] } },
                {},
              ],
            },
          },
        ],
      },
    },
    [
      'volume "c" (ConfigMap "x"): overlapping paths: "a/b" with "a"',
      'volume "p" (Projected) has no sources provided',
      'volume "p" (Projected): overlapping paths: "q" (Secret "n") with "q" (ConfigMap "m")',
    ],
  ],
  [
    "what is given twice or empty",
    { spec: { imagePullSecrets: [{ name: "a" }, { name: "a" }, {}], hostAliases: [{ ip: "1.1.1.1" }, { ip: "1.1.1.1" }] } },
    [
      'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
      'spec.imagePullSecrets[1].name: duplicate name "a"',
      'spec.imagePullSecrets[2].name: invalid empty name ""',
    ],
  ],
  [
    "variables that hide others, unless they build on them",
    {
      container: {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
          { name: "A", value: "$(A):3" },
          { name: "A", value: "$(A)" },
        ],
      },
    },
    [
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
      'spec.containers[0].env[3]: hides previous definition of "A", which may be dropped when using apply',
    ],
  ],
  [
    "ports that meet",
    {
      container: {
        ports: [
          { containerPort: 80, name: "a" },
          { containerPort: 80, hostPort: 80, hostIP: "1.2.3.4" },
          { containerPort: 80, hostPort: 80 },
          { containerPort: 81, hostIP: "1.2.3.4" },
        ],
      },
    },
    [
      "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
      "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]",
      "spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[1]",
      "spec.containers[0].ports[3]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:81 Protocol:TCP HostIP:1.2.3.4}",
    ],
  ],
  [
    "names of ports that two containers use",
    {
      spec: { initContainers: [{ name: "i", image: "x", ports: [{ containerPort: 1, name: "a" }] }] },
      container: { ports: [{ containerPort: 2, name: "a" }] },
    },
    [
      'spec.containers[0].ports[0]: duplicate port name "a" with spec.initContainers[0].ports[0], services and probes that select ports by name will use spec.initContainers[0].ports[0]',
    ],
  ],
  [
    "parts of bytes",
    { container: { resources: { limits: { memory: "1500m" } } }, spec: { overhead: { memory: "100m" } } },
    [
      'spec.overhead[memory]: fractional byte value "100m" is invalid, must be an integer',
      'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
      'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer',
    ],
  ],
  [
    "selectors that select nothing, and wishes that no node fulfils",
    {
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "failure-domain.beta.kubernetes.io/zone", operator: "Exists" }] } },
            ],
          },
          podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "z" } }] },
        },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
      },
    },
    [
      'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
      "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
      "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
    ],
  ],
  [
    "addresses that are written oddly",
    { spec: { dnsConfig: { nameservers: ["1:0::1"] } } },
    ['spec.dnsConfig.nameservers[0]: IPv6 address "1:0::1" should be in RFC 5952 canonical format ("1::1")'],
  ],
];

for (const [title, parts, warnings] of ROWS) {
  test(`a Pod produces a warning: ${title}`, () => {
    assert.deepEqual([...warningsOf((warnings) => podWarnings(warnings, newPod(parts)))], warnings);
  });
}

test("warnings about a Pod are emitted on create only", () => {
  const pod = newPod({ metadata: { name: "web.a" } });

  assert.deepEqual([...warningsOf((warnings) => podWarnings(warnings, pod, pod))], []);
});

test("warnings about a template have the template's path", () => {
  const { metadata, spec } = sentPod({
    metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "runtime/default" } },
    spec: { terminationGracePeriodSeconds: -1 },
  });

  assert.deepEqual(
    [...warningsOf((warnings) => podTemplateWarnings(warnings, { metadata, spec } as PodTemplateSpec, "spec.template"))],
    [
      'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: deprecated since v1.30; use the "appArmorProfile" field instead',
      "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
    ],
  );
});
