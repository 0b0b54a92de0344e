import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../../api/generated/core/v1.ts";
import { all } from "./checks/all.ts";
import { describeViolations, summarizeViolations, violationsOf } from "./evaluate.ts";
import type { Level } from "./policy.ts";

/** Violates every check of every version. */
const WORST: PodSpec = {
  hostNetwork: true,
  securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }], seccompProfile: { type: "Unconfined" } },
  volumes: [{ name: "v", hostPath: { path: "/" } }],
  containers: [
    {
      name: "a",
      ports: [{ containerPort: 1, hostPort: 1 }],
      livenessProbe: { tcpSocket: { port: 1, host: "h" } },
      securityContext: {
        privileged: true,
        runAsUser: 0,
        procMount: "Unmasked",
        capabilities: { add: ["BPF"] },
        seLinuxOptions: { user: "u" },
        appArmorProfile: { type: "Unconfined" },
        windowsOptions: { hostProcess: true },
      },
    },
  ],
};

function reasons(level: Level, version: string): string {
  const annotations = { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" };
  return summarizeViolations(violationsOf({ level, version }, { annotations, spec: WORST }));
}

const BASELINE_AT_FIRST =
  "forbidden AppArmor profile, non-default capabilities, host namespaces, hostPath volumes, hostPort, privileged, procMount, seLinuxOptions, seccompProfile, forbidden sysctls, hostProcess";
const BASELINE_NOW = BASELINE_AT_FIRST.replace("hostPort, ", "hostPort, probe or lifecycle host, ");

for (const [level, version, expected] of [
  ["privileged", "latest", ""],
  ["baseline", "v1.0", BASELINE_AT_FIRST],
  ["baseline", "v1.33", BASELINE_AT_FIRST],
  ["baseline", "v1.34", BASELINE_NOW],
  ["baseline", "v1.4711", BASELINE_NOW],
  ["baseline", "latest", BASELINE_NOW],
  ["restricted", "v1.0", `${BASELINE_AT_FIRST.replace("hostPath volumes, ", "")}, restricted volume types, runAsNonRoot != true`],
  [
    "restricted",
    "v1.19",
    `${BASELINE_AT_FIRST.replace("hostPath volumes, ", "").replace("seccompProfile, ", "")}, allowPrivilegeEscalation != false, restricted volume types, runAsNonRoot != true, seccompProfile`,
  ],
  [
    "restricted",
    "latest",
    "forbidden AppArmor profile, host namespaces, hostPort, probe or lifecycle host, privileged, seLinuxOptions, forbidden sysctls, hostProcess, allowPrivilegeEscalation != false, unrestricted capabilities, procMount, restricted volume types, runAsNonRoot != true, runAsUser=0, seccompProfile",
  ],
] as const) {
  test(`${level}:${version} reports exactly the violations of its level, baseline checks first, without duplicates`, () => {
    assert.equal(reasons(level, version), expected);
  });
}

test("a Pod Security violation names the containers and values that cause it", () => {
  assert.equal(
    describeViolations([
      { reason: "one", detail: "x" },
      { reason: "two", detail: "y" },
    ]),
    "one (x), two (y)",
  );
});

test("Pod Security checks have unique ids, ascending versions, and override only existing baseline checks", () => {
  const ids = all.map(({ id }) => id);
  const milder = all.filter(({ level }) => level === "baseline").map(({ id }) => id);

  assert.equal(new Set(ids).size, ids.length);
  for (const { id, level, versions } of all) {
    const since = versions.map((version) => version.since);
    assert.deepEqual(
      since,
      [...new Set(since)].toSorted((left, right) => left - right),
      id,
    );
    for (const { replaces } of versions) assert.ok(replaces === undefined || (level === "restricted" && milder.includes(replaces)), id);
  }
});
