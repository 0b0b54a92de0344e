/** Validation of containers, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../machinery/object.ts";
import { mistakesOf, NOT_A_LABEL, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

function exitRule(codes: number): JsonObject {
  return { action: "Restart", exitCodes: { operator: "In", values: Array.from({ length: codes }, (_, code) => code) } };
}

const ROWS: readonly Row[] = [
  { title: "a Pod requires at least one container", given: { spec: { containers: [] } }, mistakes: ["spec.containers: Required value"] },
  {
    title: "container names must be unique, and images must not have surrounding spaces",
    given: {
      spec: {
        containers: [
          { name: "", image: "" },
          { name: "A.b", image: "x" },
          { name: "a.b", image: "x" },
          { name: "ok", image: " x" },
          { name: "ok", image: "x" },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].name: Required value",
      "spec.containers[0].image: Required value",
      `spec.containers[1].name: Invalid value: "A.b": ${NOT_A_LABEL}`,
      'spec.containers[2].name: Invalid value: "a.b": must not contain dots',
      'spec.containers[4].name: Duplicate value: "ok"',
      'spec.containers[3].image: Invalid value: " x": must not have leading or trailing whitespace',
    ],
  },
  {
    title: "unsupported container policies are rejected",
    given: { container: { imagePullPolicy: "Sometimes", terminationMessagePolicy: "Maybe" } },
    mistakes: [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "Maybe": supported values: "File", "FallbackToLogsOnError"',
      'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
    ],
  },
  {
    title: "container ports require a number, and port names and host ports must be unique",
    given: {
      container: {
        ports: [
          { containerPort: 0 },
          { containerPort: 70000, name: "UPPER" },
          { containerPort: 80, name: "http", protocol: "IP" },
          { containerPort: 80, name: "http", hostPort: -1 },
          { containerPort: 80, name: "http--x-toolongname" },
          { containerPort: 81, name: "1234", hostPort: 8080 },
          { containerPort: 82, hostPort: 8080 },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].ports[0].containerPort: Required value",
      'spec.containers[0].ports[1].name: Invalid value: "UPPER": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.containers[0].ports[1].name: Invalid value: "UPPER": must contain at least one letter (a-z)',
      "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
      'spec.containers[0].ports[2].protocol: Unsupported value: "IP": supported values: "SCTP", "TCP", "UDP"',
      'spec.containers[0].ports[3].name: Duplicate value: "http"',
      "spec.containers[0].ports[3].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
      'spec.containers[0].ports[4].name: Invalid value: "http--x-toolongname": must be no more than 15 characters',
      'spec.containers[0].ports[4].name: Invalid value: "http--x-toolongname": must not contain consecutive hyphens',
      'spec.containers[0].ports[5].name: Invalid value: "1234": must contain at least one letter (a-z)',
      'spec.containers[0].ports[6].hostPort: Duplicate value: "TCP//8080"',
    ],
  },
  {
    title: "volume mounts must refer to existing volumes and have unique paths",
    given: {
      spec: { volumes: [{ name: "v" }, { name: "p", persistentVolumeClaim: { claimName: "c" } }] },
      container: {
        volumeMounts: [
          { name: "", mountPath: "" },
          { name: "none", mountPath: "/a" },
          { name: "v", mountPath: "/a", subPath: "../x" },
          { name: "v", mountPath: "/b", subPath: "/x", subPathExpr: "../y" },
          { name: "v", mountPath: "/c", mountPropagation: "Bidirectional" },
          { name: "v", mountPath: "/d", mountPropagation: "Odd" },
          { name: "v", mountPath: "/e", recursiveReadOnly: "Enabled", mountPropagation: "HostToContainer" },
          { name: "v", mountPath: "/f", recursiveReadOnly: "Odd" },
          { name: "p", mountPath: "/dev/p" },
        ],
        volumeDevices: [
          { name: "", devicePath: "" },
          { name: "p", devicePath: "/dev/p" },
          { name: "p", devicePath: "/dev/../q" },
          { name: "v", devicePath: "/dev/p" },
          { name: "zz", devicePath: "/dev/z" },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].volumeMounts[0].name: Required value",
      'spec.containers[0].volumeMounts[0].name: Not found: ""',
      "spec.containers[0].volumeMounts[0].mountPath: Required value",
      'spec.containers[0].volumeMounts[0].name: Invalid value: "": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "": must not already exist as a path in volumeDevices',
      'spec.containers[0].volumeMounts[1].name: Not found: "none"',
      'spec.containers[0].volumeMounts[2].mountPath: Invalid value: "/a": must be unique',
      'spec.containers[0].volumeMounts[2].name: Invalid value: "v": must not already exist in volumeDevices',
      "spec.containers[0].volumeMounts.subPath: Invalid value: \"../x\": must not contain '..'",
      'spec.containers[0].volumeMounts[3].name: Invalid value: "v": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts.subPath: Invalid value: "/x": must be a relative path',
      'spec.containers[0].volumeMounts[3].subPathExpr: Invalid value: "../y": subPathExpr and subPath are mutually exclusive',
      "spec.containers[0].volumeMounts.subPathExpr: Invalid value: \"../y\": must not contain '..'",
      'spec.containers[0].volumeMounts[4].name: Invalid value: "v": must not already exist in volumeDevices',
      "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
      'spec.containers[0].volumeMounts[5].name: Invalid value: "v": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "Odd": supported values: "Bidirectional", "HostToContainer", "None"',
      'spec.containers[0].volumeMounts[6].name: Invalid value: "v": must not already exist in volumeDevices',
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
      'spec.containers[0].volumeMounts[7].name: Invalid value: "v": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: "Odd": supported values: "Disabled", "Enabled", "IfPossible"',
      'spec.containers[0].volumeMounts[8].name: Invalid value: "p": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts[8].mountPath: Invalid value: "/dev/p": must not already exist as a path in volumeDevices',
      "spec.containers[0].volumeDevices[0].name: Required value",
      'spec.containers[0].volumeDevices[0].name: Not found: ""',
      "spec.containers[0].volumeDevices[0].devicePath: Required value",
      'spec.containers[0].volumeDevices[0].name: Invalid value: "": must not already exist in volumeMounts',
      'spec.containers[0].volumeDevices[0].devicePath: Invalid value: "": must not already exist as a path in volumeMounts',
      'spec.containers[0].volumeDevices[1].name: Invalid value: "p": must not already exist in volumeMounts',
      'spec.containers[0].volumeDevices[1].devicePath: Invalid value: "/dev/p": must not already exist as a path in volumeMounts',
      'spec.containers[0].volumeDevices[2].name: Invalid value: "p": must be unique',
      "spec.containers[0].volumeDevices[2].devicePath: Invalid value: \"/dev/../q\": can not contain backsteps ('..')",
      'spec.containers[0].volumeDevices[2].name: Invalid value: "p": must not already exist in volumeMounts',
      'spec.containers[0].volumeDevices[3].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      'spec.containers[0].volumeDevices[3].devicePath: Invalid value: "/dev/p": must be unique',
      'spec.containers[0].volumeDevices[3].name: Invalid value: "v": must not already exist in volumeMounts',
      'spec.containers[0].volumeDevices[3].devicePath: Invalid value: "/dev/p": must not already exist as a path in volumeMounts',
      'spec.containers[0].volumeDevices[4].name: Not found: "zz"',
    ],
  },
  {
    title: "a probe requires exactly one handler",
    given: {
      container: {
        livenessProbe: {},
        readinessProbe: { exec: { command: [] }, httpGet: { port: 80 }, terminationGracePeriodSeconds: 5 },
        startupProbe: {
          tcpSocket: { port: "UP" },
          successThreshold: 2,
          periodSeconds: -1,
          failureThreshold: -1,
          initialDelaySeconds: -1,
          timeoutSeconds: -3,
          terminationGracePeriodSeconds: 0,
        },
      },
    },
    mistakes: [
      "spec.containers[0].livenessProbe: Required value: must specify a handler type",
      "spec.containers[0].readinessProbe.exec.command: Required value",
      "spec.containers[0].readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
      "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
      'spec.containers[0].startupProbe.tcpSocket.port: Invalid value: "UP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.containers[0].startupProbe.tcpSocket.port: Invalid value: "UP": must contain at least one letter (a-z)',
      "spec.containers[0].startupProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.containers[0].startupProbe.timeoutSeconds: Invalid value: -3: must be greater than or equal to 0",
      "spec.containers[0].startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.containers[0].startupProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0",
      "spec.containers[0].startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
      "spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1",
    ],
  },
  {
    title: "the port of a probe must be in range",
    given: {
      container: {
        livenessProbe: { httpGet: { port: 0, scheme: "FTP", httpHeaders: [{ name: "a b", value: "" }] } },
        readinessProbe: { grpc: { port: 70000 } },
      },
    },
    mistakes: [
      "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
      'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      "spec.containers[0].readinessProbe.grpc.port: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ],
  },
  {
    title: "a lifecycle handler requires exactly one action, and a sleep within the grace period",
    given: { container: { lifecycle: { postStart: {}, preStop: { sleep: { seconds: 40 } } } } },
    mistakes: [
      "spec.containers[0].lifecycle.postStart: Required value: must specify a handler type",
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 40: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ],
  },
  {
    title: "a negative sleep of a lifecycle handler is rejected",
    given: { container: { lifecycle: { preStop: { sleep: { seconds: -1 } }, postStart: { httpGet: { port: 1 } } } } },
    mistakes: [
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ],
  },
  {
    title: "the resize policy RestartContainer is rejected if the Pod's restart policy is Never",
    given: {
      spec: { restartPolicy: "Never" },
      container: {
        resizePolicy: [
          { resourceName: "cpu", restartPolicy: "RestartContainer" },
          { resourceName: "cpu", restartPolicy: "Odd" },
          { resourceName: "disk", restartPolicy: "" },
          { resourceName: "", restartPolicy: "NotRequired" },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      'spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"',
      'spec.containers[0].resizePolicy: Unsupported value: "Odd": supported values: "NotRequired", "RestartContainer"',
      "spec.containers[0].resizePolicy: Invalid value: \"Odd\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      'spec.containers[0].resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"',
      "spec.containers[0].resizePolicy: Required value",
      "spec.containers[0].resizePolicy: Invalid value: \"\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      "spec.containers[0].resizePolicy: Required value",
    ],
  },
  {
    title: "restart policy rules require a container restart policy, an action and exit codes",
    given: { container: { restartPolicyRules: [{ action: "Odd" }, { action: "Restart", exitCodes: { operator: "Odd", values: [1] } }] } },
    mistakes: [
      "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Odd": supported values: "Restart", "RestartAllContainers"',
      "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
      'spec.containers[0].restartPolicyRules[1].exitCodes.operator: Unsupported value: "Odd": supported values: "In", "NotIn"',
    ],
  },
  {
    title: "an unsupported restart policy of a container is rejected",
    given: { container: { restartPolicy: "Odd" } },
    mistakes: ['spec.containers[0].restartPolicy: Unsupported value: "Odd": supported values: "Always", "Never", "OnFailure"'],
  },
  {
    title: "init containers that are not sidecars must not have probes or lifecycle handlers",
    given: {
      spec: {
        initContainers: [
          {
            name: "web",
            image: "x",
            livenessProbe: { exec: { command: ["a"] } },
            lifecycle: {},
            readinessProbe: {},
            startupProbe: {},
            resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
          },
          { name: "i", image: "" },
          { name: "i", image: "x", restartPolicy: "Always", livenessProbe: {} },
          { name: "j", image: "x", restartPolicy: "Odd" },
          {
            name: "k",
            image: "x",
            ports: [
              { containerPort: 1, hostPort: 1 },
              { containerPort: 2, hostPort: 1 },
            ],
          },
        ],
      },
    },
    mistakes: [
      'spec.initContainers[0].name: Duplicate value: "web"',
      "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
      "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
      "spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
      "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers",
      "spec.initContainers[1].image: Required value",
      'spec.initContainers[2].name: Duplicate value: "i"',
      "spec.initContainers[2].livenessProbe: Required value: must specify a handler type",
      'spec.initContainers[3].restartPolicy: Unsupported value: "Odd": supported values: "Always", "Never", "OnFailure"',
      'spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//1"',
    ],
  },
  {
    title: "ephemeral containers must not set ports, probes, lifecycle handlers or resources",
    given: {
      spec: {
        ephemeralContainers: [
          {
            name: "web",
            image: " x",
            ports: [{ containerPort: 1 }],
            targetContainerName: "none",
            livenessProbe: { exec: { command: ["a"] } },
            resources: { limits: { cpu: 1 } },
            lifecycle: {},
            volumeMounts: [{ name: "v", mountPath: "/x", subPath: "a", subPathExpr: "b" }],
          },
          { name: "d", image: "x" },
        ],
      },
    },
    mistakes: [
      'spec.ephemeralContainers[0].volumeMounts[0].name: Not found: "v"',
      'spec.ephemeralContainers[0].volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive',
      'spec.ephemeralContainers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
      'spec.ephemeralContainers[0].name: Duplicate value: "web"',
      'spec.ephemeralContainers[0].targetContainerName: Not found: "none"',
      "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers[0].volumeMounts[0].subPathExpr: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ],
  },
  {
    title: "each handler of a probe after the first is rejected",
    given: {
      container: {
        livenessProbe: { exec: { command: ["a"] }, tcpSocket: { port: 1 }, grpc: { port: 1 } },
        lifecycle: { preStop: { exec: { command: ["a"] }, sleep: { seconds: 1 }, tcpSocket: { port: 1 } } },
      },
    },
    mistakes: [
      "spec.containers[0].lifecycle.preStop.tcpSocket: Forbidden: may not specify more than 1 handler type",
      "spec.containers[0].lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type",
      "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
      "spec.containers[0].livenessProbe.grpc: Forbidden: may not specify more than 1 handler type",
    ],
  },
  {
    title: "probes and lifecycle handlers without a handler type are rejected",
    given: { container: { readinessProbe: {}, startupProbe: {}, lifecycle: { preStop: {} } } },
    mistakes: [
      "spec.containers[0].lifecycle.preStop: Required value: must specify a handler type",
      "spec.containers[0].readinessProbe: Required value: must specify a handler type",
      "spec.containers[0].startupProbe: Required value: must specify a handler type",
    ],
  },
  {
    title: "successThreshold of a liveness probe must be 1, and no probe setting may be negative",
    given: {
      container: {
        livenessProbe: { exec: { command: ["a"] }, successThreshold: 2 },
        readinessProbe: { exec: { command: ["a"] }, successThreshold: -1 },
      },
    },
    mistakes: [
      "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
      "spec.containers[0].readinessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    title: "a named port must be a valid port name",
    given: {
      container: {
        livenessProbe: { httpGet: { port: "-http-" } },
        readinessProbe: { tcpSocket: { port: 0 } },
        startupProbe: { httpGet: { port: 1, path: "" } },
      },
    },
    mistakes: [
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "-http-": must not begin or end with a hyphen',
      "spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive",
    ],
  },
  {
    title: "probes and lifecycle handlers of a sidecar are validated like those of a container",
    given: {
      spec: {
        initContainers: [
          { name: "s", image: "x", restartPolicy: "Always", readinessProbe: {}, startupProbe: {}, lifecycle: { preStop: {} } },
          { name: "r", image: "x", restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }] },
          { name: "q", image: "x", restartPolicyRules: [{ action: "Odd" }] },
          { name: "t", image: "x", restartPolicy: "Never", restartPolicyRules: [{ action: "Odd" }] },
        ],
      },
    },
    mistakes: [
      "spec.initContainers[0].lifecycle.preStop: Required value: must specify a handler type",
      "spec.initContainers[0].readinessProbe: Required value: must specify a handler type",
      "spec.initContainers[0].startupProbe: Required value: must specify a handler type",
      "spec.initContainers[1].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
      "spec.initContainers[2].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
      'spec.initContainers[3].restartPolicyRules[0].action: Unsupported value: "Odd": supported values: "Restart", "RestartAllContainers"',
      "spec.initContainers[3].restartPolicyRules[0].exitCodes: Required value: must be specified",
    ],
  },
  {
    title: "restart policy rules and their exit codes are limited in number",
    given: { container: { restartPolicy: "Never", restartPolicyRules: [exitRule(256), ...Array.from({ length: 20 }, () => exitRule(1))] } },
    mistakes: [
      "spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items",
      "spec.containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
    ],
  },
  {
    title: "subPathExpr must be a relative path within the volume",
    given: {
      spec: { volumes: [{ name: "v" }] },
      container: {
        volumeMounts: [
          { name: "v", mountPath: "/a", subPathExpr: "/b" },
          { name: "v", mountPath: "/b", subPathExpr: "../b" },
        ],
      },
    },
    mistakes: [
      'spec.containers[0].volumeMounts.subPathExpr: Invalid value: "/b": must be a relative path',
      "spec.containers[0].volumeMounts.subPathExpr: Invalid value: \"../b\": must not contain '..'",
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}
