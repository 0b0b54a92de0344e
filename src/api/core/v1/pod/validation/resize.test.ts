/** Validation of `/resize` and `/ephemeralcontainers`. The messages are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../../generated/core/v1.ts";
import type { JsonObject } from "../../../../machinery/object.ts";
import { defaultPod } from "../defaults/pod.ts";
import { prepareEphemeralContainersUpdate, prepareResize } from "../prepare.ts";
import { linesOf, newPod, sentPod, type PodParts } from "../testing/pods.ts";
import { validateEphemeralContainersUpdate, validateResize } from "./resize.ts";
import { errorsOf } from "../../../../machinery/findings.ts";

function sized(requests: JsonObject, limits?: JsonObject, more: JsonObject = {}): PodParts {
  return { container: { resources: limits === undefined ? { requests } : { requests, limits } }, ...more };
}

function podSized(requests: JsonObject): PodParts {
  return { ...BEFORE, spec: { resources: { requests } } };
}

const SIZE = { cpu: "1", memory: "1Gi" };
const LARGER = { cpu: "2", memory: "1Gi" };
const BEFORE = sized(SIZE);

function resized(before: Pod, after: PodParts): Pod {
  return prepareResize(defaultPod(sentPod(after)), before);
}

const ROWS: readonly (readonly [string, PodParts, PodParts, readonly string[]])[] = [
  ["cpu and memory may change", BEFORE, sized(LARGER), []],
  [
    "the class may not change",
    BEFORE,
    sized(LARGER, LARGER),
    ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
  ],
  ["requests stay", BEFORE, sized({ cpu: "2" }), ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"]],
  [
    "nothing but cpu and memory may change",
    BEFORE,
    sized({ ...SIZE, "ephemeral-storage": "1Gi" }),
    ["spec: Forbidden: only cpu and memory resources are mutable"],
  ],
  [
    "how a container is resized may not change",
    BEFORE,
    { container: { resources: { requests: SIZE }, resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] } },
    ["spec: Forbidden: only cpu and memory resources are mutable"],
  ],
  [
    "containers keep their names",
    BEFORE,
    { container: { name: "x", resources: { requests: SIZE } } },
    ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"],
  ],
  [
    "containers stay as many as they are",
    BEFORE,
    {
      spec: {
        containers: [
          { name: "web", image: "nginx", resources: { requests: SIZE } },
          { name: "x", image: "x" },
        ],
      },
    },
    ["spec.containers: Forbidden: containers may not be added or removed on resize"],
  ],
  ["a pod may be resized as a whole", podSized({ cpu: "2" }), podSized({ cpu: "3" }), []],
  [
    "requests of the pod stay",
    podSized({ cpu: "2", memory: "2Gi" }),
    podSized({ cpu: "3" }),
    ["spec.resources.requests: Forbidden: pod-level resource requests cannot be removed"],
  ],
  [
    "resources of the pod stay",
    podSized({ cpu: "2", memory: "2Gi" }),
    BEFORE,
    ["spec.resources: Forbidden: pod-level resources cannot be removed"],
  ],
  [
    "a pod of Windows is not resized",
    sized(SIZE, undefined, { spec: { os: { name: "windows" } } }),
    sized(LARGER, undefined, { spec: { os: { name: "windows" } } }),
    ["[]: Forbidden: windows pods cannot be resized"],
  ],
  [
    "a static pod is not resized",
    sized(SIZE, undefined, { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } }, spec: { nodeName: "n" } }),
    sized(LARGER),
    ["[]: Forbidden: static pods cannot be resized"],
  ],
  [
    "init containers stay as many as they are",
    { spec: { initContainers: [{ name: "i", image: "x", resources: { requests: SIZE } }] }, container: {} },
    {},
    [
      'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
      "spec.initContainers: Forbidden: initContainers may not be added or removed on resize",
    ],
  ],
  [
    "init containers keep their names",
    { spec: { initContainers: [{ name: "i", image: "x", restartPolicy: "Always", resources: { requests: SIZE } }] }, container: {} },
    { spec: { initContainers: [{ name: "j", image: "x", restartPolicy: "Always", resources: { requests: SIZE } }] }, container: {} },
    ["spec.initContainers[0].name: Forbidden: initContainers may not be renamed or reordered on resize"],
  ],
  [
    "an init container that restarts to be resized cannot be",
    { spec: { initContainers: [{ name: "i", image: "x", resources: { requests: SIZE } }] }, container: {} },
    {
      spec: {
        initContainers: [
          {
            name: "i",
            image: "x",
            resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
            resources: { requests: LARGER },
          },
        ],
      },
      container: {},
    },
    [
      "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers",
      "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
      "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    ],
  ],
  [
    "nothing but cpu and memory of a sidecar may change",
    { spec: { initContainers: [{ name: "i", image: "x", restartPolicy: "Always", resources: { requests: SIZE } }] }, container: {} },
    {
      spec: {
        initContainers: [
          {
            name: "i",
            image: "x",
            restartPolicy: "Always",
            resources: { requests: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" } },
          },
        ],
      },
      container: {},
    },
    ["spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"],
  ],
  [
    "limits stay",
    { container: { resources: { requests: { cpu: "1" }, limits: LARGER } } },
    { container: { resources: { requests: SIZE, limits: { cpu: "2" } } } },
    ["spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"],
  ],
  [
    "limits of the pod stay",
    { spec: { resources: { requests: SIZE, limits: { cpu: "2", memory: "2Gi" } } } },
    { spec: { resources: { requests: SIZE, limits: { cpu: "2" } } } },
    ["spec.resources.limits: Forbidden: pod-level resource limits cannot be removed"],
  ],
  [
    "nothing but cpu and memory of the pod may change",
    { spec: { resources: { requests: { cpu: "1", "hugepages-2Mi": "2Mi" }, limits: { cpu: "1", "hugepages-2Mi": "2Mi" } } } },
    { spec: { resources: { requests: { cpu: "1", "hugepages-2Mi": "4Mi" }, limits: { cpu: "1", "hugepages-2Mi": "4Mi" } } } },
    ["spec: Forbidden: only cpu and memory resources are mutable at pod-level"],
  ],
];

for (const [title, before, after, mistakes] of ROWS) {
  test(title, () => {
    const previous = newPod(before);

    const next = resized(previous, after);

    assert.deepEqual(linesOf(errorsOf((errors) => validateResize(errors, next, previous))), mistakes);
  });
}

test("a resize changes nothing but resources", () => {
  const previous = newPod(BEFORE);

  const next = resized(previous, {
    metadata: { labels: { a: "b" } },
    container: { image: "other", resources: { requests: LARGER } },
    spec: { hostname: "x" },
    status: { phase: "Failed" },
  });

  assert.deepEqual(next.spec?.containers, newPod(sized(LARGER)).spec?.containers);
  assert.deepEqual({ ...next, spec: { ...next.spec, containers: [] } }, { ...previous, spec: { ...previous.spec, containers: [] } });
});

test("a resize is rejected on a node that does not report container resources", () => {
  const made = newPod(BEFORE);
  const status = { ...made.status, containerStatuses: [{ name: "web", state: { running: {} } }] } as Pod["status"] & object;
  const previous = { ...made, status };

  const next = resized(previous, sized(LARGER));

  assert.deepEqual(linesOf(errorsOf((errors) => validateResize(errors, next, previous))), [
    "spec: Forbidden: Pod running on node without support for resize",
  ]);
});

function withEphemeral(...ephemeralContainers: readonly JsonObject[]): PodParts {
  return { spec: { ephemeralContainers } };
}

const DEBUGGER = { name: "debug", image: "busybox" };

test("ephemeral containers can be added, and the request changes nothing else", () => {
  const previous = newPod({});
  const sent = defaultPod(sentPod({ ...withEphemeral(DEBUGGER), container: { image: "other" }, metadata: { labels: { a: "b" } } }));

  const next = prepareEphemeralContainersUpdate(sent, previous);

  assert.deepEqual(linesOf(errorsOf((errors) => validateEphemeralContainersUpdate(errors, next, previous))), []);
  assert.deepEqual(next, { ...previous, spec: { ...previous.spec, ephemeralContainers: sent.spec?.ephemeralContainers } });
});

test("existing ephemeral containers cannot be removed or changed", () => {
  const previous = newPod(withEphemeral(DEBUGGER, { name: "gone", image: "x" }));
  const sent = defaultPod(sentPod(withEphemeral({ ...DEBUGGER, image: "other", imagePullPolicy: "Always" })));

  const lines = linesOf(
    errorsOf((errors) => validateEphemeralContainersUpdate(errors, prepareEphemeralContainersUpdate(sent, previous), previous)),
  );

  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? "", /^spec\.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n@@ /);
  assert.match(lines[0] ?? "", /\n- "image": "busybox",\n\+ "image": "other",\n/);
  assert.equal(lines[1], 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "gone" may not be removed\n');
});

test("ephemeral containers are rejected for a mirror Pod", () => {
  const mirror = { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } };
  const previous = newPod({ ...mirror, spec: { nodeName: "n" } });
  const next = defaultPod(sentPod({ ...mirror, spec: { nodeName: "n", ephemeralContainers: [DEBUGGER] } }));

  assert.deepEqual(
    linesOf(errorsOf((errors) => validateEphemeralContainersUpdate(errors, prepareEphemeralContainersUpdate(next, previous), previous))),
    ["[]: Forbidden: static pods do not support ephemeral containers"],
  );
});
