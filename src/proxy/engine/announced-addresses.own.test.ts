import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import { needs } from "../../testing/needs.ts";
import { iptables } from "../appliers/iptables/iptables-mode.ts";
import { aPort, onB, tcp, Traffic } from "../testing/traffic.ts";
import { AnnouncedAddresses, announcementLink, removeAnnouncedAddresses } from "./announced-addresses.ts";

const OWNER = "ktest";
/** On the segment of node and client. */
const [FIRST, SECOND] = ["192.168.50.200", "192.168.50.201"];

async function listed(namespace: NetworkNamespace): Promise<readonly string[]> {
  const shown = await namespace.run("ip", ["-4", "-oneline", "address"]);
  return shown.split("\n").flatMap((line) => (line.includes(announcementLink(OWNER)) ? (/ inet (\S+)/.exec(line)?.[1] ?? []) : []));
}

describe("addresses of a range by real traffic", { skip: needs("iptables").skip }, () => {
  let traffic: Traffic;
  before(async () => {
    traffic = await Traffic.open(iptables);
  });
  after(async () => traffic[Symbol.asyncDispose]());

  it("another machine of the segment reaches an announced address, also after a restart, until it is removed", async () => {
    const { client, node } = traffic.topology;
    const { namespace } = node;
    const open = () => new AnnouncedAddresses({ owner: OWNER, namespace, log: silentLogger });
    const clusterIp = traffic.newClusterIp();
    await traffic.apply([aPort("web", { clusterIp, port: 80, loadBalancerIps: [FIRST, SECOND] }, [onB()])]);
    await traffic.assertNotReached(client, tcp(FIRST, 80));

    await open().update([FIRST, SECOND]);
    assert.equal(await traffic.reach(client, tcp(FIRST, 80)), "b:8080");
    assert.equal(await traffic.reach(client, tcp(SECOND, 80)), "b:8080");

    const restarted = open();
    await restarted.update([SECOND, "2001:db8::9"]);
    assert.deepEqual(await listed(namespace), [`${SECOND}/32`]);
    assert.equal(await traffic.reach(client, tcp(SECOND, 80)), "b:8080");

    await namespace.run("ip", ["address", "flush", "dev", announcementLink(OWNER)]);
    await restarted.update([SECOND]);
    assert.deepEqual(await listed(namespace), [`${SECOND}/32`]);

    await restarted.update([]);
    assert.deepEqual(await listed(namespace), []);
    await open().update([FIRST]);
    await removeAnnouncedAddresses({ owner: OWNER, namespace });
    await removeAnnouncedAddresses({ owner: OWNER, namespace });
    assert.doesNotMatch(await namespace.run("ip", ["link"]), new RegExp(announcementLink(OWNER)));
  });
});
