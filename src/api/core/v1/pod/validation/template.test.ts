import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodTemplateSpec } from "../../../../generated/core/v1.ts";
import { defaultPodTemplate } from "../defaults/pod.ts";
import { linesOf, NOT_A_LABEL_VALUE, sentPod, type PodParts } from "../testing/pods.ts";
import { validatePodTemplateSpec } from "./template.ts";
import { errorsOf } from "../../../../machinery/findings.ts";

const AT = "spec.template";

function templateOf(parts: PodParts): PodTemplateSpec {
  const { metadata, spec } = sentPod(parts);
  const { labels, annotations } = metadata;
  return defaultPodTemplate({ metadata: { ...(labels && { labels }), ...(annotations && { annotations }) }, ...(spec && { spec }) });
}

const ROWS: readonly (readonly [string, PodParts, readonly string[]])[] = [
  ["a plain one is in order", {}, []],
  [
    "labels and the spec are checked below it",
    { metadata: { labels: { a: " " } }, spec: { restartPolicy: "Odd" } },
    [
      `spec.template.labels: Invalid value: " ": ${NOT_A_LABEL_VALUE}`,
      'spec.template.spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never"',
    ],
  ],
  [
    "it has no ephemeral containers",
    { spec: { ephemeralContainers: [{ name: "d", image: "x" }] } },
    ["spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"],
  ],
  [
    "it may leave open what a pod must say",
    { spec: { hostNetwork: true, volumes: [{ name: "i", image: {} }] }, container: { image: " x", ports: [{ containerPort: 80 }] } },
    [],
  ],
  [
    "fields and annotations say the same",
    {
      metadata: { annotations: { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" } },
      spec: { securityContext: { seccompProfile: { type: "RuntimeDefault" } } },
    },
    ["spec.template.spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"],
  ],
];

for (const [title, parts, mistakes] of ROWS) {
  test(`a Pod template: ${title}`, () => {
    assert.deepEqual(linesOf(errorsOf((errors) => validatePodTemplateSpec(errors, templateOf(parts), AT))), mistakes);
  });
}

test("a Pod template without a spec has no containers", () => {
  assert.ok(
    linesOf(errorsOf((errors) => validatePodTemplateSpec(errors, {}, AT))).includes("spec.template.spec.containers: Required value"),
  );
});

test("an identical Pod template is not validated again", () => {
  const template = templateOf({ spec: { restartPolicy: "Odd" } });

  assert.deepEqual(linesOf(errorsOf((errors) => validatePodTemplateSpec(errors, template, AT, template))), []);
});
