/** Validation of environment variables, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_SUBDOMAIN, NOT_A_QUALIFIED_NAME, NOT_A_LABEL, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "an environment variable requires a name and exactly one value",
    given: {
      container: {
        env: [
          { name: "" },
          { name: "a=b" },
          { name: "1 ok", value: "x" },
          { name: "é" },
          { name: "f", valueFrom: {} },
          { name: "g", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "h", valueFrom: { fieldRef: { fieldPath: "metadata.name" }, secretKeyRef: { name: "a", key: "b" } } },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].env[0].name: Required value",
      "spec.containers[0].env[1].name: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
      "spec.containers[0].env[3].name: Invalid value: \"é\": a valid environment variable name must consist only of printable ASCII characters other than '='",
      'spec.containers[0].env[4].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      'spec.containers[0].env[5].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      'spec.containers[0].env[6].valueFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
  },
  {
    title: "an unsupported fieldPath of an environment variable is rejected",
    given: {
      container: {
        env: [
          { name: "a", valueFrom: { fieldRef: { fieldPath: "" } } },
          { name: "b", valueFrom: { fieldRef: { fieldPath: "metadata.nope" } } },
          { name: "c", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } },
          { name: "d", valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
          { name: "e", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['A/B']" } } },
          { name: "f", valueFrom: { fieldRef: { fieldPath: "spec.nodeName['a']" } } },
          { name: "g", valueFrom: { fieldRef: { apiVersion: "v2", fieldPath: "spec.nodeName" } } },
          { name: "h", valueFrom: { fieldRef: { fieldPath: "spec.host" } } },
          { name: "i", valueFrom: { fieldRef: { fieldPath: "status.phase" } } },
          { name: "j", valueFrom: { fieldRef: { fieldPath: "metadata.labels['ok']" } } },
          { name: "k", valueFrom: { fieldRef: { fieldPath: "metadata.labels['']" } } },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value",
      'spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.nope": error converting fieldPath: field label not supported: metadata.nope',
      'spec.containers[0].env[2].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      `spec.containers[0].env[3].valueFrom.fieldRef: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.containers[0].env[5].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.nodeName['a']\": error converting fieldPath: field label does not support subscript: spec.nodeName['a']",
      'spec.containers[0].env[6].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nodeName": error converting fieldPath: unsupported pod version: v2',
      'spec.containers[0].env[8].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      'spec.containers[0].env[10].valueFrom.fieldRef: Invalid value: "": name part must be non-empty',
      `spec.containers[0].env[10].valueFrom.fieldRef: Invalid value: "": ${NOT_A_QUALIFIED_NAME}`,
    ],
  },
  {
    title: "the divisor of a resourceFieldRef must be a supported power",
    given: {
      container: {
        env: [
          { name: "a", valueFrom: { resourceFieldRef: { resource: "" } } },
          { name: "b", valueFrom: { resourceFieldRef: { resource: "limits.gpu" } } },
          { name: "c", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } },
          { name: "d", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "10M" } } },
          { name: "e", valueFrom: { resourceFieldRef: { resource: "requests.ephemeral-storage", divisor: "1m" } } },
          { name: "f", valueFrom: { resourceFieldRef: { resource: "requests.hugepages-2Mi", divisor: "3" } } },
          { name: "g", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Required value",
      'spec.containers[0].env[1].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      'spec.containers[0].env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      'spec.containers[0].env[3].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource',
      'spec.containers[0].env[4].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.ephemeral-storage": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource',
      'spec.containers[0].env[5].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource',
    ],
  },
  {
    title: "configMapKeyRef and secretKeyRef require a valid name and key",
    given: {
      container: {
        env: [
          { name: "a", valueFrom: { configMapKeyRef: { name: "", key: "" } } },
          { name: "b", valueFrom: { secretKeyRef: { name: "A_", key: "a/b" } } },
          { name: "c", valueFrom: { configMapKeyRef: { name: "ok", key: ".." } } },
        ],
      },
    },
    mistakes: [
      `spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
      "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value",
      `spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      "spec.containers[0].env[1].valueFrom.secretKeyRef.key: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      "spec.containers[0].env[2].valueFrom.configMapKeyRef.key: Invalid value: \"..\": must not be '..'",
    ],
  },
  {
    title: "fileKeyRef requires an emptyDir volume and a relative path",
    given: {
      spec: {
        volumes: [
          { name: "e", emptyDir: {} },
          { name: "s", secret: { secretName: "x" } },
        ],
      },
      container: {
        env: [
          { name: "a", valueFrom: { fileKeyRef: { key: "", path: "", volumeName: "" } } },
          { name: "b", valueFrom: { fileKeyRef: { key: "k", path: "../x", volumeName: "none" } } },
          { name: "c", valueFrom: { fileKeyRef: { key: "k", path: "x", volumeName: "s" } } },
          { name: "d", valueFrom: { fileKeyRef: { key: "k", path: "x", volumeName: "e" } } },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Required value",
      "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Required value",
      "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Required value",
      "spec.containers[0].env[1].valueFrom.fileKeyRef.path: Invalid value: \"../x\": must not contain '..'",
      'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
      'spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Not found: "none"',
      'spec.containers[0].env[2].valueFrom.fileKeyRef.volumeName: Invalid value: "s": referenced volume must be of type emptyDir',
    ],
  },
  {
    title: "an envFrom entry requires exactly one source",
    given: {
      container: {
        envFrom: [{}, { prefix: "a=", configMapRef: { name: "" }, secretRef: { name: "A" } }, { configMapRef: { name: "ok-" } }],
      },
    },
    mistakes: [
      'spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      "spec.containers[0].envFrom[1].prefix: Invalid value: \"a=\": a valid environment variable name must consist only of printable ASCII characters other than '='",
      "spec.containers[0].envFrom[1].configMapRef.name: Required value",
      `spec.containers[0].envFrom[1].secretRef.name: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      'spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
  },
  {
    title: "the source of an envFrom entry requires a valid name",
    given: {
      container: {
        envFrom: [{ configMapRef: { name: "A_" } }, { secretRef: { name: "A_" } }],
        env: [
          { name: "a", valueFrom: { secretKeyRef: { name: "x", key: "" } } },
          { name: "b", valueFrom: { fieldRef: { fieldPath: "spec.nodeName['a']" } } },
          { name: "c", valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } },
          { name: "d", valueFrom: { fileKeyRef: { key: "a=b", volumeName: "A", path: "p" } } },
          { name: "e", valueFrom: { fieldRef: { apiVersion: "", fieldPath: "metadata.name" } } },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value",
      "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.nodeName['a']\": error converting fieldPath: field label does not support subscript: spec.nodeName['a']",
      "spec.containers[0].env[2].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.name['a']\": error converting fieldPath: field label does not support subscript: metadata.name['a']",
      "spec.containers[0].env[3].valueFrom.fileKeyRef.key: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
      `spec.containers[0].env[3].valueFrom.fileKeyRef.volumeName: Invalid value: "A": ${NOT_A_LABEL}`,
      `spec.containers[0].envFrom[0].configMapRef.name: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `spec.containers[0].envFrom[1].secretRef.name: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      'spec.containers[0].env[3].valueFrom.fileKeyRef.volumeName: Not found: "A"',
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}
