import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_ADMISSION_CONFIG } from "../../framework/admission-config.ts";
import { defaultPolicy, describe, exemptWarning, policyOf, type NamespacePolicy } from "./policy.ts";

const DEFAULTS = defaultPolicy(DEFAULT_ADMISSION_CONFIG.podSecurity);

function labels(members: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]));
}

function inShort({ enforce, audit, warn }: NamespacePolicy): readonly string[] {
  return [enforce, audit, warn].map(describe);
}

for (const [what, members, expected] of [
  ["nothing", {}, ["privileged:latest", "privileged:latest", "privileged:latest"]],
  [
    "all modes",
    { enforce: "baseline", "enforce-version": "v1.20", audit: "restricted", warn: "restricted", "warn-version": "v1.21" },
    ["baseline:v1.20", "restricted:latest", "restricted:v1.21"],
  ],
  [
    "only enforce, which also sets warn",
    { enforce: "restricted", "enforce-version": "v1.20" },
    ["restricted:v1.20", "privileged:latest", "restricted:v1.20"],
  ],
  ["only the version of warn", { enforce: "baseline", "warn-version": "v1.1" }, ["baseline:latest", "privileged:latest", "baseline:v1.1"]],
  ["no warnings", { enforce: "restricted", warn: "privileged" }, ["restricted:latest", "privileged:latest", "privileged:latest"]],
  ["only versions", { "enforce-version": "v1.1" }, ["privileged:v1.1", "privileged:latest", "privileged:latest"]],
] as const) {
  test(`namespace labels with ${what} yield the policy ${expected.join(", ")}`, () => {
    const { policy, errors } = policyOf({ ...labels(members), other: "x" }, DEFAULTS);

    assert.deepEqual([inShort(policy), errors], [expected, []]);
  });
}

const LEVEL = "must be one of privileged, baseline, restricted";
const VERSION = 'must be "latest" or "v1.x"';

for (const [key, value, detail, expected] of [
  ["enforce", "Baseline", LEVEL, ["restricted:latest", "privileged:latest", "privileged:latest"]],
  ["audit", "", LEVEL, ["privileged:latest", "privileged:latest", "privileged:latest"]],
  ["warn", "all", LEVEL, ["privileged:latest", "privileged:latest", "privileged:latest"]],
  ["enforce-version", "1.20", VERSION, ["privileged:latest", "privileged:latest", "privileged:latest"]],
  ["audit-version", "v1.01", VERSION, ["privileged:latest", "privileged:latest", "privileged:latest"]],
  ["warn-version", "v1.9223372036854775808", VERSION, ["privileged:latest", "privileged:latest", "privileged:latest"]],
] as const) {
  test(`the invalid label ${key}=${JSON.stringify(value)} is reported and enforces the strictest level`, () => {
    const { policy, errors } = policyOf(labels({ [key]: value }), DEFAULTS);

    assert.deepEqual(inShort(policy), expected);
    assert.deepEqual(errors, [
      {
        type: "FieldValueInvalid",
        field: `metadata.labels[pod-security.kubernetes.io/${key}]`,
        body: `Invalid value: "${value}": ${detail}`,
      },
    ]);
  });
}

test("invalid Pod Security defaults are rejected at start", () => {
  const { podSecurity } = DEFAULT_ADMISSION_CONFIG;

  assert.throws(
    () => defaultPolicy({ ...podSecurity, defaults: { ...podSecurity.defaults, warnVersion: "newest" } }),
    /warn-version\]: Invalid value: "newest"/,
  );
});

test("labels on an exempt namespace cause a warning only if they would have an effect", () => {
  const warningFor = (members: Readonly<Record<string, string>>) =>
    exemptWarning("n", policyOf(labels(members), DEFAULTS).policy, labels(members), DEFAULTS);

  assert.equal(warningFor({ enforce: "privileged", "enforce-version": "v1.1" }), undefined);
  assert.equal(
    warningFor({ enforce: "baseline", "audit-version": "v1.2", warn: "restricted" }),
    'namespace "n" is exempt from Pod Security, and the policy (enforce=baseline:latest, warn=restricted:latest) will be ignored',
  );
});
