import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../../testing/needs.ts";
import { iptables } from "../appliers/iptables/iptables-mode.ts";
import { Traffic } from "../testing/traffic.ts";
import { setConntrackTimeouts } from "./conntrack-timeouts.ts";

test("half-closed and idle connections are tracked as long as with upstream's proxy", { skip: needs("iptables").skip }, async () => {
  await using traffic = await Traffic.open(iptables);
  const { namespace } = traffic.topology.node;
  await traffic.apply([]);

  await setConntrackTimeouts(namespace);

  const read = (state: string) => namespace.run("cat", [`/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_${state}`]);
  assert.deepEqual([await read("close_wait"), await read("established")].map(Number), [3_600, 86_400]);
});
