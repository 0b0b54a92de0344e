/** The Pod network of a node in a network namespace of its own, while the API server is away. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../api/core/v1/node.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { createInformers } from "../client/informer/informers.ts";
import { namedNetworkNamespace, ownNetworkNamespace } from "../host/network/network-namespace.ts";
import { driven } from "../testing/driven.ts";
import { given } from "../testing/given.ts";
import { InterruptibleTransport } from "../testing/interruptible-transport.ts";
import { needs } from "../testing/needs.ts";
import { PodNetwork } from "./pod-network.ts";

const NAME = `k8ts-podnet-${process.pid}`;

function aNode(name: string, number: number) {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { podCIDR: `10.244.${number}.0/24` },
    status: { addresses: [{ type: "InternalIP", address: `192.0.2.${number}` }] },
  } as const;
}

// The finding of containerd includes the permission to create namespaces.
test("while the API server is away, routes stay and are restored; changes of Nodes follow", needs("iptables", "containerd"), async () => {
  await using owned = new Disposables();
  await ownNetworkNamespace.run("ip", ["netns", "add", NAME]);
  owned.defer(async () => void (await ownNetworkNamespace.run("ip", ["netns", "delete", NAME])));
  const namespace = namedNetworkNamespace(NAME);
  const lines = [
    "link add eth0 type veth peer name segment",
    "address add 192.0.2.1/24 dev eth0",
    "link set segment up",
    "link set eth0 up",
    "link add pods type bridge",
  ];
  await namespace.run("ip", ["-batch", "-"], `${lines.join("\n")}\n`);
  const routes = async (): Promise<readonly string[]> => {
    const text = await namespace.run("ip", ["route", "show", "proto", "158"]);
    return text.split("\n").flatMap((line) => /^(\S+) via (\S+)/.exec(line)?.slice(1, 3).join(" via ") ?? []);
  };

  const cluster = owned.use(await given(aNode("a", 1), aNode("b", 2)));
  const { clock, client } = cluster;
  const transport = new InterruptibleTransport(cluster.server.transport());
  const informers = owned.use(createInformers({ transport, clock, random: seededRandom(1), log: silentLogger }));
  const starting = PodNetwork.start({
    ...{ owner: "pt", namespace, nodeName: "a", address: "192.0.2.1", bridge: "pods", vxlanPort: 8_477, mode: "auto" },
    ...{ podCidr: "10.244.1.0/24", clusterCidr: "10.244.0.0/16", gateway: "10.244.1.1", informers, clock, log: silentLogger },
  });
  const network = await driven(clock, starting);
  owned.defer(() => driven(clock, Promise.resolve(network[Symbol.asyncDispose]())));
  deepEqual(await routes(), ["10.244.2.0/24 via 192.0.2.2"]);

  transport.goAway();
  await driven(clock, client.delete(nodes, { name: "b" }));
  const { status, ...c } = aNode("c", 3);
  await driven(clock, client.create(nodes, c));
  await driven(clock, client.patch(nodes, { name: "c" }, { type: "merge", value: { status } }, { subresource: "status" }));
  await namespace.run("ip", ["route", "flush", "proto", "158"]);
  await clock.advance(60_000);
  deepEqual(await routes(), ["10.244.2.0/24 via 192.0.2.2"]);

  transport.comeBack();
  await clock.advance(60_000);
  deepEqual(await routes(), ["10.244.3.0/24 via 192.0.2.3"]);
});
