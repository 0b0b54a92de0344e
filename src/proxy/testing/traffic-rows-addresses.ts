/** Rows of the traffic suite: the addresses of a Service, from Pods, the node and another machine. */
import assert from "node:assert/strict";
import { listed, type TrafficRow } from "./traffic-row.ts";
import { NODE, NODE_BRIDGE, NODE_SECOND, REMOTE_POD } from "./traffic-topology.ts";
import { aPort, onA, onB, onRemote, tcp, udp, type Family } from "./traffic.ts";

export const addressRows: readonly TrafficRow[] = [
  {
    name: "cluster IP, TCP and UDP, from a Pod and the node",
    families: [4, 6],
    async run(traffic, family) {
      const { podA, node } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      await traffic.apply([
        aPort("web", { clusterIp, port: 80 }, [onB(family)]),
        aPort("web", { clusterIp, port: 80, protocol: "UDP" }, [onRemote(family)]),
      ]);

      for (const place of [podA, node]) {
        assert.equal(await traffic.reach(place, tcp(clusterIp, 80)), "b:8080");
        assert.equal(await traffic.reach(place, udp(clusterIp, 80)), "remote:8080");
      }
    },
  },
  {
    name: "several endpoints of each protocol, written together and one after the other",
    families: [4, 6],
    async run(traffic, family) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      const endpoints = [onA(family), onB(family), onRemote(family)];
      const dns = aPort("dns", { clusterIp, port: 80, protocol: "UDP" }, endpoints);
      const web = aPort("web", { clusterIp, port: 80 }, endpoints);
      const names = ["a:8080", "b:8080", "remote:8080"];

      // The first is written as a whole, the others as changes.
      await traffic.close();
      for (const ports of [[dns], [dns, web], [web], [web, dns]]) {
        await traffic.apply(ports);
        for (const { protocol } of ports)
          assert.ok(names.includes(await traffic.reach(podA, protocol === "UDP" ? udp(clusterIp, 80) : tcp(clusterIp, 80))));
      }
    },
  },
  {
    name: "nothing leaves the node to a cluster IP without a Service",
    families: [4, 6],
    async run(traffic, family) {
      const { podA, node } = traffic.topology;
      const web = aPort("web", { clusterIp: traffic.newClusterIp(family), port: 80 }, [onB(family)]);
      // Another machine has an address of the range, and would answer.
      const elsewhere = tcp(REMOTE_POD[family], 8080);

      await traffic.apply([web]);
      for (const place of [podA, node]) assert.equal(await traffic.reach(place, elsewhere), "remote:8080");
      await traffic.apply([web], { serviceCidrs: [`${REMOTE_POD[family]}/${family === 4 ? 32 : 128}`] });
      for (const place of [podA, node]) {
        await traffic.assertDropped(place, elsewhere);
        assert.equal(await traffic.reach(place, tcp(web.clusterIp, 80)), "b:8080");
      }
    },
  },
  {
    name: "other ports and protocols of a cluster IP are rejected",
    families: [4, 6],
    async run(traffic, family) {
      const { podA, node } = traffic.topology;
      const [served, empty] = [traffic.newClusterIp(family), traffic.newClusterIp(family)];
      await traffic.apply([
        aPort("web", { clusterIp: served, port: 80, protocol: "UDP", portName: "udp" }, [onB(family)]),
        aPort("web", { clusterIp: served, port: 81, portName: "tcp" }, [onB(family)]),
        aPort("empty", { clusterIp: empty, port: 80 }),
      ]);

      for (const place of [podA, node]) {
        assert.equal(await traffic.reach(place, udp(served, 80)), "b:8080");
        for (const target of [tcp(served, 80), tcp(served, 82), tcp(empty, 81)]) await traffic.assertRefused(place, target);
      }
      // The kernel reports a rejected datagram of the node itself as EPERM, not as a refusal.
      for (const target of [udp(served, 81), udp(empty, 80)]) await traffic.assertRefused(podA, target);
    },
  },
  {
    // Without traffic: Node has no sockets of SCTP.
    name: "rules of SCTP are accepted by the kernel, beside those of other protocols",
    families: [4, 6],
    usesRuleset: true,
    async run(traffic, family, ruleset) {
      const clusterIp = traffic.newClusterIp(family);
      const fields = { clusterIp, port: 80, nodePort: traffic.newNodePort(), loadBalancerIps: [traffic.newExternalIp(family)] };
      await traffic.apply([
        aPort("web", { ...fields, protocol: "SCTP", affinitySeconds: 60 }, [onA(family), onB(family)]),
        aPort("web", { ...fields, protocol: "TCP" }, [onB(family)]),
        aPort("several", { clusterIp: traffic.newClusterIp(family), port: 80, protocol: "SCTP" }, [onA(family), onB(family)]),
        aPort("empty", { ...fields, clusterIp: traffic.newClusterIp(family), port: 81, nodePort: traffic.newNodePort(), protocol: "SCTP" }),
      ]);

      assert.match(await listed(traffic.context.namespace, ruleset), /sctp/);
      assert.equal(await (await traffic.applier()).isIntact("thorough"), true);
      assert.equal(await traffic.reach(traffic.topology.podA, tcp(clusterIp, 80)), "b:8080");
    },
  },
  {
    name: "several ports of a Service, the same port with both protocols",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp();
      await traffic.apply([
        aPort("dns", { clusterIp, port: 53, portName: "dns", protocol: "UDP" }, [onB(4, 8080)]),
        aPort("dns", { clusterIp, port: 53, portName: "dns-tcp" }, [onB(4, 8081)]),
        aPort("dns", { clusterIp, port: 9153, portName: "metrics" }, [onB(4, 8082)]),
      ]);

      assert.equal(await traffic.reach(podA, udp(clusterIp, 53)), "b:8080");
      assert.equal(await traffic.reach(podA, tcp(clusterIp, 53)), "b:8081");
      assert.equal(await traffic.reach(podA, tcp(clusterIp, 9153)), "b:8082");
    },
  },
  {
    name: "node port on every address of the node",
    families: [4, 6],
    async run(traffic, family) {
      const { client, node, podA } = traffic.topology;
      const [nodePort, udpPort] = [traffic.newNodePort(), traffic.newNodePort()];
      const clusterIp = traffic.newClusterIp(family);
      await traffic.apply([
        aPort("web", { clusterIp, port: 80, nodePort }, [onB(family)]),
        aPort("web", { clusterIp, port: 80, nodePort: udpPort, protocol: "UDP" }, [onRemote(family)]),
      ]);

      for (const place of [client, node, podA])
        for (const address of [NODE[family], NODE_SECOND[family], NODE_BRIDGE[family]])
          assert.equal(await traffic.reach(place, tcp(address, nodePort)), "b:8080");
      assert.equal(await traffic.reach(client, udp(NODE[family], udpPort)), "remote:8080");
      assert.equal(await traffic.reach(podA, udp(NODE[family], udpPort)), "remote:8080");
    },
  },
  {
    name: "node port on loopback",
    families: [4],
    async run(traffic) {
      const { node } = traffic.topology;
      const nodePort = traffic.newNodePort();
      const clusterIp = traffic.newClusterIp();
      await traffic.apply([
        aPort("web", { clusterIp, port: 80, nodePort }, [onB()]),
        aPort("web", { clusterIp, port: 80, nodePort, protocol: "UDP" }, [onRemote()]),
      ]);

      assert.equal(await traffic.reach(node, tcp("127.0.0.1", nodePort)), "b:8080");
      assert.equal(await traffic.reach(node, udp("127.0.0.1", nodePort)), "remote:8080");
    },
  },
  {
    name: "node port on selected addresses only",
    families: [4],
    async run(traffic) {
      const { client } = traffic.topology;
      const nodePort = traffic.newNodePort();
      await traffic.apply([aPort("web", { clusterIp: traffic.newClusterIp(), port: 80, nodePort }, [onB()])], {
        nodePortAddresses: [`${NODE[4]}/32`],
      });

      assert.equal(await traffic.reach(client, tcp(NODE[4], nodePort)), "b:8080");
      await traffic.assertRefused(client, tcp(NODE_SECOND[4], nodePort));
    },
  },
  {
    name: "load balancer address and external IP, from another machine, a Pod and the node",
    families: [4, 6],
    async run(traffic, family) {
      const { client, node, podA } = traffic.topology;
      const [loadBalancerIp, externalIp] = [traffic.newExternalIp(family), traffic.newExternalIp(family)];
      await traffic.apply([
        aPort("web", { clusterIp: traffic.newClusterIp(family), port: 80, loadBalancerIps: [loadBalancerIp], externalIps: [externalIp] }, [
          onB(family),
        ]),
      ]);

      for (const place of [client, podA, node])
        for (const address of [loadBalancerIp, externalIp]) assert.equal(await traffic.reach(place, tcp(address, 80)), "b:8080");
    },
  },
  {
    name: "load balancer address that is the node's own",
    families: [4],
    async run(traffic) {
      const { client, node, podA } = traffic.topology;
      await traffic.apply([aPort("web", { clusterIp: traffic.newClusterIp(), port: 80, loadBalancerIps: [NODE_SECOND[4]] }, [onB()])]);

      for (const place of [client, podA, node]) assert.equal(await traffic.reach(place, tcp(NODE_SECOND[4], 80)), "b:8080");
      await traffic.assertRefused(client, tcp(NODE[4], 80));
    },
  },
  {
    name: "a Pod reaches itself through its Service",
    families: [4, 6],
    async run(traffic, family: Family) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      await traffic.apply([
        aPort("web", { clusterIp, port: 80 }, [onA(family)]),
        aPort("web", { clusterIp, port: 80, protocol: "UDP" }, [onA(family)]),
      ]);

      assert.equal(await traffic.reach(podA, tcp(clusterIp, 80)), "a:8080");
      assert.equal(await traffic.reach(podA, udp(clusterIp, 80)), "a:8080");
    },
  },
];
