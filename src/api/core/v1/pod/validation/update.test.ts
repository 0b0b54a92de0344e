/** Mutable and immutable fields of a Pod. The messages are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../machinery/object.ts";
import { defaultPod } from "../defaults/pod.ts";
import { preparePodForUpdate } from "../prepare.ts";
import { linesOf, newPod, sentPod, type PodParts } from "../testing/pods.ts";
import { validatePod } from "./pod.ts";
import { validatePodUpdate } from "./update.ts";
import { errorsOf } from "../../../../machinery/findings.ts";

const OTHER_FIELDS =
  "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

/** Without the diff that follows: difference.test.ts covers it. */
function mistakesOfUpdate(before: PodParts, after: PodParts): readonly string[] {
  const previous = newPod(before);
  const next = preparePodForUpdate(defaultPod(sentPod(after)), previous);
  const lines = linesOf([
    ...errorsOf((errors) => validatePod(errors, next, previous)),
    ...errorsOf((errors) => validatePodUpdate(errors, next, previous)),
  ]);
  return lines.map((line) => line.split("\n")[0] ?? "");
}

function gated(spec: JsonObject = {}): PodParts {
  return { spec: { schedulingGates: [{ name: "a" }], ...spec } };
}

function onNodesWith(...terms: readonly JsonObject[][]): JsonObject {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

const A = { key: "a", operator: "In", values: ["b"] };
const C = { key: "c", operator: "In", values: ["d"] };
const TOLERATION = { key: "a", operator: "Exists", effect: "NoExecute" };
const REQUESTS = { requests: { cpu: "1", memory: "1Gi" } };

const ALLOWED: readonly (readonly [string, PodParts, PodParts])[] = [
  ["the image of a container", {}, { container: { image: "other", imagePullPolicy: "Always" } }],
  ["labels", {}, { metadata: { labels: { a: "b" } } }],
  ["a deadline that is set", {}, { spec: { activeDeadlineSeconds: 10 } }],
  ["a deadline that comes closer", { spec: { activeDeadlineSeconds: 5 } }, { spec: { activeDeadlineSeconds: 3 } }],
  ["one more toleration", { spec: { tolerations: [TOLERATION] } }, { spec: { tolerations: [TOLERATION, { operator: "Exists" }] } }],
  [
    "how long something is tolerated",
    { spec: { tolerations: [TOLERATION] } },
    { spec: { tolerations: [{ ...TOLERATION, tolerationSeconds: 5 }] } },
  ],
  [
    "the spelling of an amount",
    { container: { resources: REQUESTS } },
    { container: { resources: { requests: { cpu: "1000m", memory: "1024Mi" } } } },
  ],
  ["gates that go", gated(), {}],
  ["a first node selector behind a gate", gated(), gated({ nodeSelector: { z: "1" } })],
  ["one more label of nodes behind a gate", gated({ nodeSelector: { x: "y" } }), gated({ nodeSelector: { x: "y", z: "1" } })],
  ["a first node affinity behind a gate", gated(), gated(onNodesWith([A]))],
  ["one more requirement of nodes behind a gate", gated(onNodesWith([A])), gated(onNodesWith([A, C]))],
];

for (const [title, before, after] of ALLOWED) {
  test(`an update of a Pod may change ${title}`, () => {
    assert.deepEqual(mistakesOfUpdate(before, after), []);
  });
}

const REFUSED: readonly (readonly [string, PodParts, PodParts, readonly string[]])[] = [
  [
    "an image that goes",
    {},
    { container: { image: "", imagePullPolicy: "Always" } },
    ["spec.containers[0].image: Required value", "spec.containers[0].image: Required value"],
  ],
  [
    "another container",
    {},
    {
      spec: {
        containers: [
          { name: "web", image: "nginx" },
          { name: "b", image: "x" },
        ],
      },
    },
    ["spec.containers: Forbidden: pod updates may not add or remove containers"],
  ],
  ["a command", {}, { container: { command: ["x"] } }, [OTHER_FIELDS]],
  ["the grace period", {}, { spec: { terminationGracePeriodSeconds: 1 } }, [OTHER_FIELDS]],
  [
    "resources",
    { container: { resources: REQUESTS } },
    { container: { resources: { requests: { cpu: "2", memory: "1Gi" } } } },
    [OTHER_FIELDS],
  ],
  ["a node selector without a gate", {}, { spec: { nodeSelector: { z: "1" } } }, [OTHER_FIELDS]],
  ["ephemeral containers by this path", {}, { spec: { ephemeralContainers: [{ name: "d", image: "x" }] } }, [OTHER_FIELDS]],
  [
    "a deadline that moves away",
    { spec: { activeDeadlineSeconds: 5 } },
    { spec: { activeDeadlineSeconds: 10 } },
    ["spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value"],
  ],
  [
    "a deadline that goes",
    { spec: { activeDeadlineSeconds: 5 } },
    {},
    ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
  ],
  [
    "a toleration",
    { spec: { tolerations: [TOLERATION] } },
    { spec: { tolerations: [{ operator: "Exists" }] } },
    ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
  ],
  [
    "a toleration that is none, which is said twice",
    {},
    { spec: { tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 1 }] } },
    [
      "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
      "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ],
  ],
  [
    "an image that is none, which is said twice",
    {},
    { container: { image: "x ", imagePullPolicy: "Always" } },
    [
      'spec.containers[0].image: Invalid value: "x ": must not have leading or trailing whitespace',
      'spec.containers[0].image: Invalid value: "x ": must not have leading or trailing whitespace',
    ],
  ],
  [
    "gates that come",
    gated(),
    { spec: { schedulingGates: [{ name: "a" }, { name: "b" }] } },
    ["spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"],
  ],
  [
    "a node selector that is widened",
    gated({ nodeSelector: { x: "y" } }),
    gated({ nodeSelector: { z: "1" } }),
    ['spec.nodeSelector: Invalid value: {"z":"1"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)'],
  ],
  [
    "one more term of nodes",
    gated(onNodesWith([A])),
    gated(onNodesWith([A], [C])),
    [
      `${TERMS}: Invalid value: [{"MatchExpressions":[{"Key":"a","Operator":"In","Values":["b"]}],"MatchFields":null},{"MatchExpressions":[{"Key":"c","Operator":"In","Values":["d"]}],"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
    ],
  ],
  [
    "another requirement of nodes",
    gated(onNodesWith([A])),
    gated(onNodesWith([C])),
    [
      `${TERMS}[0]: Invalid value: {"MatchExpressions":[{"Key":"c","Operator":"In","Values":["d"]}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
    ],
  ],
  [
    "node affinity that goes",
    gated(onNodesWith([A])),
    gated(),
    [`${TERMS}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`],
  ],
  [
    "affinity to pods behind a gate",
    gated(),
    gated({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a", labelSelector: {} }] } } }),
    [OTHER_FIELDS],
  ],
  [
    "the kubelet's mark",
    { spec: { nodeName: "n" } },
    { spec: { nodeName: "n" }, metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } },
    ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation"],
  ],
  [
    "a profile of old",
    {
      metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "unconfined" } },
      container: { securityContext: { appArmorProfile: { type: "Unconfined" } } },
    },
    { container: { securityContext: { appArmorProfile: { type: "Unconfined" } } } },
    ["metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: Forbidden: may not remove or update AppArmor annotations"],
  ],
  [
    "annotations of AppArmor that come",
    {},
    { metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "unconfined" } } },
    ["metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: Forbidden: may not add AppArmor annotations"],
  ],
  [
    "annotations of AppArmor that go",
    { metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "unconfined" } } },
    {},
    [
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: Forbidden: may not remove or update AppArmor annotations",
      OTHER_FIELDS,
    ],
  ],
  [
    "that it mirrors a file",
    { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } }, spec: { nodeName: "n" } },
    { metadata: { annotations: { "kubernetes.io/config.mirror": "y" } }, spec: { nodeName: "n" } },
    ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation"],
  ],
  [
    "to mirror a file",
    { spec: { nodeName: "n" } },
    { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } }, spec: { nodeName: "n" } },
    ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation"],
  ],
  [
    "how many init containers there are",
    { spec: { initContainers: [{ name: "i", image: "x" }] }, container: {} },
    {},
    ["spec.initContainers: Forbidden: pod updates may not add or remove containers"],
  ],
  [
    "a deadline to one before now",
    {},
    { spec: { activeDeadlineSeconds: -1 } },
    [
      "spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive",
      "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ],
  ],
];

for (const [title, before, after, mistakes] of REFUSED) {
  test(`an update of a Pod is rejected: ${title}`, () => {
    assert.deepEqual(mistakesOfUpdate(before, after), mistakes);
  });
}

test("a change of immutable fields is reported with a diff", () => {
  const previous = newPod({});
  const next = newPod({ spec: { hostname: "x" } });

  const [line = ""] = linesOf(errorsOf((errors) => validatePodUpdate(errors, next, previous)));

  assert.match(line, /\n@@ -\d+,\d+ \+\d+,\d+ @@\n(?: .*\n)*\+ "hostname": "x",\n/);
});

test("an identical Pod spec is not validated again", () => {
  const previous = newPod({ spec: { restartPolicy: "Odd" } });

  const next = { ...previous, metadata: { ...previous.metadata, labels: { a: "b" } } };

  assert.deepEqual(
    [...errorsOf((errors) => validatePod(errors, next, previous)), ...errorsOf((errors) => validatePodUpdate(errors, next, previous))],
    [],
  );
});
