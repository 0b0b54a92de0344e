import assert from "node:assert/strict";
import { test } from "node:test";
import { tableText, type Redirect } from "./redirect-rules.ts";

const common = { family: 4, protocol: "tcp", port: 80 } as const;

test("redirects, rejections and drops are elements of sets, internal ones for the bridge and this machine only", () => {
  const redirects: readonly Redirect[] = [
    { ...common, address: "10.96.0.10", isInternal: true, action: { to: 40_001 } },
    { ...common, address: "192.0.2.7", isInternal: false, action: { to: 40_002 } },
    { ...common, address: "10.96.0.11", isInternal: true, action: "reject" },
    { ...common, family: 6, address: "fd00::1", isInternal: false, action: "drop" },
  ];

  const text = tableText({ owner: "a1b2", podBridge: "br0", redirects, droppedNodePorts: ["tcp . 30080"] });

  for (const line of [
    "table inet k8ts-a1b2-userspace\ndelete table inet k8ts-a1b2-userspace\ntable inet k8ts-a1b2-userspace {",
    "map redirect4-internal { type ipv4_addr . inet_proto . inet_service : inet_service; elements = { 10.96.0.10 . tcp . 80 : 40001 } }",
    "map redirect4-external { type ipv4_addr . inet_proto . inet_service : inet_service; elements = { 192.0.2.7 . tcp . 80 : 40002 } }",
    "map redirect6-internal { type ipv6_addr . inet_proto . inet_service : inet_service; }",
    "set reject4-internal { type ipv4_addr . inet_proto . inet_service; elements = { 10.96.0.11 . tcp . 80 } }",
    "set drop6-external { type ipv6_addr . inet_proto . inet_service; elements = { fd00::1 . tcp . 80 } }",
    "set own-ports { type inet_proto . inet_service; elements = { tcp . 40001, tcp . 40002 } }",
    "set dropped-node-ports { type inet_proto . inet_service; elements = { tcp . 30080 } }",
    'iifname "br0" meta nfproto ipv4 meta l4proto { tcp, udp } redirect to :ip daddr . meta l4proto . th dport map @redirect4-internal',
  ])
    assert.ok(text.includes(line), `${line}\n\nis not in\n\n${text}`);
});

test("without a bridge, cluster IPs are redirected from everywhere", () => {
  assert.doesNotMatch(tableText({ owner: "a", redirects: [], droppedNodePorts: [] }), /iifname/);
});
