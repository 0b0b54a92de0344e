/** Validation of well-known annotations, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_QUALIFIED_NAME, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "annotations of a Pod must have valid values",
    given: {
      metadata: {
        annotations: {
          "kubernetes.io/config.mirror": "x",
          "controller.kubernetes.io/pod-deletion-cost": "+7",
          "seccomp.security.alpha.kubernetes.io/pod": "odd",
          "container.seccomp.security.alpha.kubernetes.io/web": "localhost//x",
          "container.apparmor.security.beta.kubernetes.io/none": "odd",
          "scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a b"}]',
        },
      },
    },
    mistakes: [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      `metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].key: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+7": must be a 32bit integer',
      'metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "odd": must be a valid seccomp profile',
      'metadata.annotations.container.seccomp.security.alpha.kubernetes.io/web: Invalid value: "/x": must be a relative path',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/none]: Invalid value: "none": container not found',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/none]: Invalid value: "odd": invalid AppArmor profile name: "odd"',
    ],
  },
  {
    title: "seccomp and AppArmor annotations must match the fields",
    given: {
      metadata: {
        annotations: {
          "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
          "container.apparmor.security.beta.kubernetes.io/web": "localhost/x",
          "container.seccomp.security.alpha.kubernetes.io/web": "localhost/y",
        },
      },
      spec: { securityContext: { seccompProfile: { type: "Unconfined" } } },
      container: {
        securityContext: {
          appArmorProfile: { type: "Localhost", localhostProfile: "z" },
          seccompProfile: { type: "Localhost", localhostProfile: "z" },
        },
      },
    },
    mistakes: [
      "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match",
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match",
      "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match",
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}

test("the tolerations annotation must be a list of tolerations", () => {
  for (const text of ["x", "{}", "[null]", "[1]", '[{"key":5}]']) {
    const annotations = { "scheduler.alpha.kubernetes.io/tolerations": text };
    assert.deepEqual(mistakesOf({ metadata: { annotations } }), [
      'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": must be a list of tolerations in JSON',
    ]);
  }
});
