import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import { dotted, forbiddenSysctl, sysctlsOf } from "./sysctls.ts";
import { aPod } from "./testing/views.ts";

function podWith(names: readonly string[], spec: Partial<PodSpec> = {}) {
  return aPod({ securityContext: { sysctls: names.map((name) => ({ name, value: "1" })) }, ...spec });
}

const rows: readonly (readonly [names: readonly string[], spec: Partial<PodSpec>, message: string | undefined])[] = [
  [[], {}, undefined],
  [["kernel.shm_rmid_forced", "net.ipv4.tcp_rmem"], {}, undefined],
  [["net/ipv4/ip_local_port_range"], {}, undefined],
  [["kernel.msgmax"], {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
  [["kernel.shm_rmid_forced", "vm.swappiness"], {}, 'forbidden sysctl: "vm.swappiness" not allowlisted'],
  [["net/ipv4/tcp_syncookies"], { hostNetwork: true }, 'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled'],
  [["kernel.shm_rmid_forced"], { hostIPC: true }, 'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host ipc enabled'],
];

for (const [names, spec, message] of rows) {
  test(`sysctls [${names.join(" ")}] of ${JSON.stringify(spec)}: ${message ?? "allowed"}`, () => {
    assert.equal(forbiddenSysctl(podWith(names, spec)), message);
  });
}

test("unsafe sysctls can be allowed by name or by prefix", () => {
  const pod = podWith(["kernel.msgmax", "net.core.somaxconn"]);
  assert.equal(forbiddenSysctl(pod, ["kernel.msg*", "net/core/somaxconn"]), undefined);
  assert.equal(forbiddenSysctl(pod, ["kernel.msg"]), 'forbidden sysctl: "kernel.msgmax" not allowlisted');
});

test("sysctl names with slashes are converted to dots, unless a dot is the first separator", () => {
  assert.deepEqual(["net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter", "plain", ""].map(dotted), [
    "net.ipv4.conf.eth0/100.rp_filter",
    "net.ipv4.conf.eth0/100.rp_filter",
    "plain",
    "",
  ]);
  assert.deepEqual(sysctlsOf(podWith(["kernel/shm_rmid_forced"])), { "kernel.shm_rmid_forced": "1" });
});
