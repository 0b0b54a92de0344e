import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { hostnameOf } from "./hostname.ts";
import { aPod } from "./testing/views.ts";

const DOMAIN = "web.shop.svc.cluster.local";
const LONG = `${"a".repeat(62)}-${"b".repeat(10)}`;

const rows: readonly (readonly [claim: string, spec: Partial<PodSpec>, name: string, expected: readonly [string, string, string]])[] = [
  ["a Pod is called by its name", {}, "web-0", ["web-0", "", "web-0"]],
  ["or by its hostname", { hostname: "other" }, "web-0", ["other", "", "other"]],
  ["a subdomain gives it a domain", { subdomain: "web" }, "web-0", ["web-0", DOMAIN, "web-0"]],
  ["which the kernel is told if wanted", { subdomain: "web", setHostnameAsFQDN: true }, "web-0", ["web-0", DOMAIN, `web-0.${DOMAIN}`]],
  ["without a subdomain there is nothing to tell", { setHostnameAsFQDN: true }, "web-0", ["web-0", "", "web-0"]],
  ["an override counts before all", { hostname: "x", subdomain: "web", hostnameOverride: "a.b" }, "web-0", ["a.b", "", "a.b"]],
  ["a long name is cut, and not after a dash", {}, LONG, ["a".repeat(62), "", "a".repeat(62)]],
  ["a dot in the name stays", {}, "web.0", ["web.0", "", "web.0"]],
  ["in the node's own network the kernel is told nothing", { hostNetwork: true, subdomain: "web" }, "web-0", ["web-0", DOMAIN, ""]],
];

for (const [claim, spec, name, [hostname, domain, ofKernel]] of rows) {
  test(`hostname: ${claim}`, () => {
    assert.deepEqual(hostnameOf(aPod(spec, { name }), "cluster.local"), { hostname, domain, ofKernel });
  });
}

test("a whole name that the kernel cannot hold is refused in upstream's words", () => {
  const pod = aPod({ subdomain: "web", setHostnameAsFQDN: true, hostname: "h".repeat(40) });
  const full = `${"h".repeat(40)}.${DOMAIN}`;
  const message = `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, ${full.length} characters requested)`;
  assert.throws(() => hostnameOf(pod, "cluster.local"), new ContainerConfigError(message));
});

test("what is no name is refused", () => {
  assert.throws(() => hostnameOf(aPod({ hostname: "A_b" }), "c"), /^ContainerConfigError: pod Hostname "A_b" is not a valid DNS label: /);
  assert.throws(() => hostnameOf(aPod({ subdomain: "a.b" }), "c"), /^ContainerConfigError: pod Subdomain "a.b" is not a valid DNS label: /);
});
