/** Rows of the traffic suite: traffic policies, masquerading, source ranges, session affinity, distribution, missing endpoints. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { computeService } from "../compute/service-ports.ts";
import { aService, aSlice, anEndpoint, TERMINATING } from "./objects.ts";
import type { TrafficRow } from "./traffic-row.ts";
import { CLIENT, CLIENT_SECOND, NODE, NODE_BRIDGE, NODE_SECOND, POD_A, POD_B } from "./traffic-topology.ts";
import { aPort, onA, onB, onRemote, tcp, udp } from "./traffic.ts";

/** Longer than an affinity of one second. */
const AFFINITY_EXPIRES_MS = 1_300;
/** With four endpoints, this many expired affinities select the same one once in 10^18 runs. */
const EXPIRIES_MAX = 30;

export const policyRows: readonly TrafficRow[] = [
  {
    name: "requests spread over all endpoints",
    families: [4, 6],
    async run(traffic, family) {
      const { podA, node } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      await traffic.apply([aPort("web", { clusterIp, port: 80 }, [onA(family), onB(family), onB(family, 8081), onRemote(family)])]);

      for (const place of [podA, node])
        assert.deepEqual(await traffic.spread(place, tcp(clusterIp, 80)), ["a:8080", "b:8080", "b:8081", "remote:8080"]);
    },
  },
  {
    name: "without endpoints, connections are refused at once on every address",
    families: [4, 6],
    async run(traffic, family) {
      const { client, node, podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      const external = traffic.newExternalIp(family);
      const nodePort = traffic.newNodePort();
      const fields = { clusterIp, port: 80, nodePort, externalIps: [external], loadBalancerIps: [NODE_SECOND[family]] };
      await traffic.apply([aPort("web", fields), aPort("web", { ...fields, protocol: "UDP" })]);

      for (const place of [podA, node]) await traffic.assertRefused(place, tcp(clusterIp, 80));
      await traffic.assertRefused(podA, udp(clusterIp, 80));
      for (const place of [client, podA]) {
        await traffic.assertRefused(place, tcp(external, 80));
        await traffic.assertRefused(place, tcp(NODE_SECOND[family], 80));
        await traffic.assertRefused(place, tcp(NODE[family], nodePort));
      }
    },
  },
  {
    name: "internal traffic policy Local reaches local endpoints only",
    families: [4],
    async run(traffic) {
      const { node, podA } = traffic.topology;
      const [here, elsewhere, nowhere] = [traffic.newClusterIp(), traffic.newClusterIp(), traffic.newClusterIp()];
      const local = { port: 80, internalPolicy: "Local", clusterEndpoints: [] } as const;
      await traffic.apply([
        aPort("here", { ...local, clusterIp: here }, [onB(), onRemote()]),
        aPort("elsewhere", { ...local, clusterIp: elsewhere }, [onRemote()]),
        aPort("nowhere", { ...local, clusterIp: nowhere }),
      ]);

      for (const place of [podA, node]) {
        assert.deepEqual(await traffic.spread(place, tcp(here, 80)), ["b:8080"]);
        await traffic.assertRefused(place, tcp(nowhere, 80));
      }
      await Promise.all([podA, node].map((place) => traffic.assertDropped(place, tcp(elsewhere, 80))));
    },
  },
  {
    name: "external traffic policy Local reaches local endpoints only and preserves the client's address",
    families: [4, 6],
    async run(traffic, family) {
      const { client } = traffic.topology;
      const external = traffic.newExternalIp(family);
      const nodePort = traffic.newNodePort();
      const fields = { port: 80, nodePort, loadBalancerIps: [external], externalPolicy: "Local" } as const;
      await traffic.apply([aPort("web", { ...fields, clusterIp: traffic.newClusterIp(family) }, [onB(family), onRemote(family)])]);

      for (const target of [tcp(external, 80), tcp(NODE[family], nodePort)]) {
        assert.deepEqual(await traffic.spread(client, target), ["b:8080"]);
        assert.equal(await traffic.seenAs(client, target, { from: CLIENT[family] }), CLIENT[family]);
      }
    },
  },
  {
    name: "external traffic policy Local without a local endpoint drops external traffic, but not that of the node and its Pods",
    families: [4],
    async run(traffic) {
      const { client, node, podA } = traffic.topology;
      const [clusterIp, external] = [traffic.newClusterIp(), traffic.newExternalIp()];
      const nodePort = traffic.newNodePort();
      await traffic.apply([
        aPort("web", { clusterIp, port: 80, nodePort, loadBalancerIps: [external], externalPolicy: "Local" }, [onRemote()]),
      ]);

      for (const place of [podA, node]) {
        assert.equal(await traffic.reach(place, tcp(clusterIp, 80)), "remote:8080");
        assert.equal(await traffic.reach(place, tcp(external, 80)), "remote:8080");
        assert.equal(await traffic.reach(place, tcp(NODE[4], nodePort)), "remote:8080");
      }
      await Promise.all([tcp(external, 80), tcp(NODE[4], nodePort)].map((target) => traffic.assertDropped(client, target)));
    },
  },
  {
    name: "Pods keep their address inside the cluster; clients outside are masqueraded",
    families: [4, 6],
    async run(traffic, family) {
      const { client, podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      const external = traffic.newExternalIp(family);
      await traffic.apply([aPort("web", { clusterIp, port: 80, externalIps: [external] }, [onB(family)])]);

      assert.equal(await traffic.seenAs(podA, tcp(clusterIp, 80)), POD_A[family]);
      assert.equal(await traffic.seenAs(client, tcp(external, 80)), NODE_BRIDGE[family]);
    },
  },
  {
    name: "masquerade all",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp();
      await traffic.close();
      const applier = await traffic.mode.open({ ...traffic.context, options: { ...traffic.context.options, masqueradesAll: true } });
      try {
        await applier.apply(traffic.model([aPort("web", { clusterIp, port: 80 }, [onB()])]));

        assert.equal(await traffic.seenAs(podA, tcp(clusterIp, 80)), NODE_BRIDGE[4]);
      } finally {
        await applier[Symbol.asyncDispose]();
      }
    },
  },
  {
    name: "load balancer source ranges admit their clients only",
    families: [4, 6],
    async run(traffic, family) {
      const { client } = traffic.topology;
      const [external, own] = [traffic.newExternalIp(family), NODE_SECOND[family]];
      const sourceRanges = [`${CLIENT[family]}/${family === 4 ? 32 : 128}`];
      const fields = { port: 81, loadBalancerIps: [external, own], sourceRanges, nodePort: traffic.newNodePort() };
      await traffic.apply([aPort("web", { ...fields, clusterIp: traffic.newClusterIp(family) }, [onB(family)])]);

      for (const address of [external, own]) {
        assert.equal(await traffic.reach(client, tcp(address, 81), { from: CLIENT[family] }), "b:8080");
        await traffic.assertDropped(client, tcp(address, 81), { from: CLIENT_SECOND[family] });
      }
      // Node ports are not restricted.
      const byNodePort = tcp(NODE[family], fields.nodePort);
      assert.equal(await traffic.reach(client, byNodePort, { from: CLIENT_SECOND[family] }), "b:8080");
    },
  },
  {
    name: "session affinity keeps a client at its endpoint, per protocol and address, until it is switched off",
    families: [4, 6],
    async run(traffic, family) {
      const { client, podA, node } = traffic.topology;
      const clusterIp = traffic.newClusterIp(family);
      const external = traffic.newExternalIp(family);
      const endpoints = [onB(family), onB(family, 8081), onB(family, 8082), onB(family, 8083)];
      const fields = { clusterIp, port: 80, externalIps: [external] };
      const sticky = { ...fields, affinitySeconds: 600 };
      await traffic.apply([aPort("web", sticky, endpoints), aPort("web", { ...sticky, protocol: "UDP" }, endpoints)]);

      await traffic.sticky(podA, tcp(clusterIp, 80));
      await traffic.sticky(podA, udp(clusterIp, 80));
      await traffic.sticky(node, tcp(clusterIp, 80));
      await traffic.sticky(client, tcp(external, 80));

      await traffic.apply([aPort("web", fields, endpoints)]);
      assert.deepEqual(await traffic.spread(podA, tcp(clusterIp, 80)), ["b:8080", "b:8081", "b:8082", "b:8083"]);
    },
  },
  {
    name: "session affinity moves a client when its endpoint is removed",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const fields = { clusterIp: traffic.newClusterIp(), port: 80, affinitySeconds: 600 };
      const endpoints = [onB(), onB(4, 8081)];
      await traffic.apply([aPort("web", fields, endpoints)]);
      const first = await traffic.sticky(podA, tcp(fields.clusterIp, 80));

      const rest = endpoints.filter(({ port }) => first !== `b:${port}`);
      await traffic.apply([aPort("web", fields, rest)]);

      assert.equal(await traffic.sticky(podA, tcp(fields.clusterIp, 80)), `b:${rest[0]?.port}`);
    },
  },
  {
    name: "session affinity expires",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp();
      const endpoints = [onB(), onB(4, 8081), onB(4, 8082), onB(4, 8083)];
      await traffic.apply([aPort("web", { clusterIp, port: 80, affinitySeconds: 1 }, endpoints)]);

      const first = await traffic.reach(podA, tcp(clusterIp, 80));
      for (let expiries = 0; expiries < EXPIRIES_MAX; expiries++) {
        await sleep(AFFINITY_EXPIRES_MS);
        if ((await traffic.reach(podA, tcp(clusterIp, 80))) !== first) return;
      }
      assert.fail("The client stayed at its endpoint");
    },
  },
  {
    name: "terminating endpoints serve while no other endpoint is ready",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp();
      const service = aService("web", { clusterIP: clusterIp });
      const terminating = anEndpoint(POD_A[4], { conditions: TERMINATING, nodeName: "here" });
      const ready = anEndpoint(POD_B[4], { nodeName: "here" });
      const computed = (...endpoints: Parameters<typeof aSlice>[0]) => computeService(service, [aSlice(endpoints)], { name: "here" }).ports;

      await traffic.apply(computed(terminating));
      assert.equal(await traffic.reach(podA, tcp(clusterIp, 80)), "a:8080");

      await traffic.apply(computed(terminating, ready));
      assert.deepEqual(await traffic.spread(podA, tcp(clusterIp, 80)), ["b:8080"]);
    },
  },
];
