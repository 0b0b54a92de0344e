import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { hostnameOf } from "./hostname.ts";
import { aPod } from "./testing/views.ts";

const DOMAIN = "web.shop.svc.cluster.local";
const LONG = `${"a".repeat(62)}-${"b".repeat(10)}`;

const rows: readonly (readonly [claim: string, spec: Partial<PodSpec>, name: string, expected: readonly [string, string, string]])[] = [
  ["the default is the Pod's name", {}, "web-0", ["web-0", "", "web-0"]],
  ["spec.hostname takes precedence over the name", { hostname: "other" }, "web-0", ["other", "", "other"]],
  ["a subdomain sets the domain", { subdomain: "web" }, "web-0", ["web-0", DOMAIN, "web-0"]],
  [
    "setHostnameAsFQDN sets the FQDN as kernel hostname",
    { subdomain: "web", setHostnameAsFQDN: true },
    "web-0",
    ["web-0", DOMAIN, `web-0.${DOMAIN}`],
  ],
  ["setHostnameAsFQDN without a subdomain keeps the short name", { setHostnameAsFQDN: true }, "web-0", ["web-0", "", "web-0"]],
  ["hostnameOverride takes precedence over all", { hostname: "x", subdomain: "web", hostnameOverride: "a.b" }, "web-0", ["a.b", "", "a.b"]],
  ["a long name is truncated, and not after a dash", {}, LONG, ["a".repeat(62), "", "a".repeat(62)]],
  ["a dot in the name is kept", {}, "web.0", ["web.0", "", "web.0"]],
  ["with hostNetwork the kernel hostname is not set", { hostNetwork: true, subdomain: "web" }, "web-0", ["web-0", DOMAIN, ""]],
];

for (const [claim, spec, name, [hostname, domain, ofKernel]] of rows) {
  test(`hostname: ${claim}`, () => {
    assert.deepEqual(hostnameOf(aPod(spec, { name }), "cluster.local"), { hostname, domain, ofKernel });
  });
}

test("setHostnameAsFQDN with an FQDN over 64 characters is rejected with upstream's message", () => {
  const pod = aPod({ subdomain: "web", setHostnameAsFQDN: true, hostname: "h".repeat(40) });
  const full = `${"h".repeat(40)}.${DOMAIN}`;
  const message = `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, ${full.length} characters requested)`;
  assert.throws(() => hostnameOf(pod, "cluster.local"), new ContainerConfigError(message));
});

test("an invalid hostname or subdomain is rejected", () => {
  assert.throws(() => hostnameOf(aPod({ hostname: "A_b" }), "c"), /^ContainerConfigError: pod Hostname "A_b" is not a valid DNS label: /);
  assert.throws(() => hostnameOf(aPod({ subdomain: "a.b" }), "c"), /^ContainerConfigError: pod Subdomain "a.b" is not a valid DNS label: /);
});
