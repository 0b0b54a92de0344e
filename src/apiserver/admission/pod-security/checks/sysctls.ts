/** Only safe sysctls are allowed: namespaced and isolated from other pods. The list grows with new kernels. */
import type { Check, CheckedPod, Violation } from "../check.ts";

const SINCE_1_0 = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];
const SINCE_1_27 = [...SINCE_1_0, "net.ipv4.ip_local_reserved_ports"];
const SINCE_1_29 = [
  ...SINCE_1_27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const SINCE_1_32 = [...SINCE_1_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

export const sysctls: Check = {
  id: "sysctls",
  level: "baseline",
  versions: [
    { since: 0, judge: (pod) => judge(pod, SINCE_1_0) },
    { since: 27, judge: (pod) => judge(pod, SINCE_1_27) },
    { since: 29, judge: (pod) => judge(pod, SINCE_1_29) },
    { since: 32, judge: (pod) => judge(pod, SINCE_1_32) },
  ],
};

function judge({ spec }: CheckedPod, allowed: readonly string[]): Violation | undefined {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name));
  return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
}
