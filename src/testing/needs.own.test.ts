import { deepEqual, equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { needs, skipUnless, toolPath, type Findings } from "./needs.ts";

describe("needs skips a test with the reason of every missing tool", () => {
  const findings: Findings = { etcd: { path: "/usr/bin/etcd" }, tmpfs: { missing: "only root may mount it" } };
  for (const { tools, skip } of [
    { tools: [], skip: false },
    { tools: ["etcd"], skip: false },
    { tools: ["etcd", "tmpfs"], skip: "needs tmpfs: only root may mount it" },
    { tools: ["tmpfs", "helm"], skip: "needs tmpfs: only root may mount it; needs helm: the set-up has not looked for it; run npm test" },
  ] as const) {
    test(tools.join(", ") || "nothing", () => deepEqual(skipUnless(tools, findings), { skip }));
  }
});

for (const { tool, args, says } of [
  { tool: "kubectl", args: ["version", "--client"], says: /Client Version: v1\.36\./ },
  { tool: "helm", args: ["version", "--short"], says: /^v4\./ },
  { tool: "vitest", args: ["--version"], says: /^vitest\/4\./ },
  { tool: "jest", args: ["--version"], says: /^30\./ },
  { tool: "etcd", args: ["--version"], says: /etcd Version: 3\./ },
  { tool: "openssl", args: ["version"], says: /^OpenSSL / },
  { tool: "strace", args: ["--version"], says: /^strace -- version / },
  { tool: "containerd", args: ["--version"], says: /containerd/ },
  { tool: "cni", args: [], says: /CNI bridge plugin|^$/ },
  { tool: "iptables", args: ["--version"], says: /^iptables v/ },
  { tool: "busybox", args: ["echo", "hello"], says: /^hello/ },
  { tool: "registry", args: ["--version"], says: /docker-registry/ },
  { tool: "tmpfs", args: ["--version"], says: /mount/ },
] as const) {
  test(`the ${tool} that the setup found is ${tool}`, { ...needs(tool) }, () => {
    const { status, stdout } = spawnSync(toolPath(tool), args, { encoding: "utf8" });
    equal(status, 0);
    match(stdout, says);
  });
}
