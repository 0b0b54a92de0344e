/** Rows of the traffic suite: changes, adoption of existing state, repair, clean-up. The last rows: `cleanUp` removes everything. */
import assert from "node:assert/strict";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { ServicePort } from "../model.ts";
import { listed, type CommandLine, type TrafficRow } from "./traffic-row.ts";
import { aPort, onA, onB, onRemote, tcp } from "./traffic.ts";

const MANY_SERVICES = 200;

export const lifecycleRows: readonly TrafficRow[] = [
  {
    name: "endpoints and Services that are removed are no longer reached",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const [kept, removed] = [traffic.newClusterIp(), traffic.newClusterIp()];
      const web = (...endpoints: readonly ReturnType<typeof onB>[]) => aPort("web", { clusterIp: kept, port: 80 }, endpoints);
      await traffic.apply([web(onA(), onB()), aPort("gone", { clusterIp: removed, port: 80 }, [onB()])]);
      assert.equal(await traffic.reach(podA, tcp(removed, 80)), "b:8080");

      await traffic.apply([web(onB())]);

      assert.deepEqual(await traffic.spread(podA, tcp(kept, 80)), ["b:8080"]);
      await traffic.assertNotReached(podA, tcp(removed, 80));
    },
  },
  {
    name: "a Service that changes its port, cluster IP and endpoints is reached by the new ones only",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const [before, now] = [traffic.newClusterIp(), traffic.newClusterIp()];
      await traffic.apply([aPort("web", { clusterIp: before, port: 80 }, [onA()])]);
      await traffic.apply([aPort("web", { clusterIp: now, port: 81 }, [onB()])]);

      assert.equal(await traffic.reach(podA, tcp(now, 81)), "b:8080");
      await traffic.assertNotReached(podA, tcp(before, 80));
    },
  },
  {
    name: "an unchanged model writes nothing, a change of one of many Services writes little",
    families: [4],
    async run(traffic) {
      const { podA } = traffic.topology;
      const clusterIp = traffic.newClusterIp();
      const many = Array.from({ length: MANY_SERVICES }, (_, index) =>
        aPort(`many-${index}`, { clusterIp: `10.97.0.${index + 1}`, port: 80 }, [onA(), onB(), onRemote()]),
      );
      const model = (port: ServicePort) => [...many, port];
      const first = await traffic.apply(model(aPort("web", { clusterIp, port: 80 }, [onA()])));
      const unchanged = await traffic.apply(model(aPort("web", { clusterIp, port: 80 }, [onA()])));
      const changed = await traffic.apply(model(aPort("web", { clusterIp, port: 80 }, [onB()])));

      assert.ok(first.written >= MANY_SERVICES, `The first apply wrote ${first.written}`);
      assert.equal(unchanged.written, 0);
      assert.ok(changed.written > 0 && changed.written <= MANY_SERVICES / 4, `A change of one Service wrote ${changed.written}`);
      assert.equal(await traffic.reach(podA, tcp(clusterIp, 80)), "b:8080");
      assert.deepEqual(await traffic.spread(podA, tcp("10.97.0.200", 80)), ["a:8080", "b:8080", "remote:8080"]);
    },
  },
  {
    name: "state of an earlier process serves traffic until the mode is opened again, which adopts it and removes what is stale",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      const { podA } = traffic.topology;
      const [kept, stale] = [traffic.newClusterIp(), traffic.newClusterIp()];
      const port = aPort("web", { clusterIp: kept, port: 80 }, [onB()]);
      await traffic.apply([port]);
      const expected = await listed(traffic.context.namespace, ruleset);
      await traffic.apply([port, aPort("stale", { clusterIp: stale, port: 80, nodePort: traffic.newNodePort() }, [onB()])]);

      await traffic.close();
      assert.equal(await traffic.reach(podA, tcp(stale, 80)), "b:8080");
      await traffic.apply([port]);

      assert.equal(await traffic.reach(podA, tcp(kept, 80)), "b:8080");
      await traffic.assertNotReached(podA, tcp(stale, 80));
      assert.equal(await listed(traffic.context.namespace, ruleset), expected);
    },
  },
  {
    name: "removed rules are noticed and written again",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      const { podA } = traffic.topology;
      const port = aPort("web", { clusterIp: traffic.newClusterIp(), port: 80 }, [onB()]);
      await traffic.apply([port]);
      const expected = await listed(traffic.context.namespace, ruleset);
      assert.equal(await (await traffic.applier()).isIntact("thorough"), true);

      await runAll(traffic.context.namespace, ruleset.flush);
      assert.equal(await (await traffic.applier()).isIntact("quick"), false);
      await traffic.assertNotReached(podA, tcp(port.clusterIp, 80));
      await traffic.apply([port]);

      assert.equal(await (await traffic.applier()).isIntact("thorough"), true);
      assert.equal(await traffic.reach(podA, tcp(port.clusterIp, 80)), "b:8080");
      assert.equal(await listed(traffic.context.namespace, ruleset), expected);
    },
  },
  {
    name: "a single removed chain, rule, set or element is noticed and written again",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      const { podA } = traffic.topology;
      const fields = { port: 80, nodePort: traffic.newNodePort(), affinitySeconds: 60 };
      const port = aPort("web", { ...fields, clusterIp: traffic.newClusterIp() }, [onB()]);
      const ports = [port, aPort("empty", { clusterIp: traffic.newClusterIp(), port: 80 })];
      await traffic.apply(ports);
      const expected = await listed(traffic.context.namespace, ruleset);
      for (const damage of ruleset.damages) {
        await traffic.context.namespace.run("sh", ["-ec", damage]);
        assert.notEqual(await listed(traffic.context.namespace, ruleset), expected, `Nothing changed by: ${damage}`);
        assert.equal(await (await traffic.applier()).isIntact("thorough"), false, `Not noticed: ${damage}`);
        await traffic.apply(ports);
        assert.equal(await listed(traffic.context.namespace, ruleset), expected, `Not repaired: ${damage}`);
        assert.equal(await (await traffic.applier()).isIntact("thorough"), true);
      }
      assert.equal(await traffic.reach(podA, tcp(port.clusterIp, 80)), "b:8080");
    },
  },
  {
    name: "clean-up leaves exactly the rules of others, and may be repeated",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      await traffic.close();
      await traffic.mode.cleanUp(traffic.context);
      await runAll(traffic.context.namespace, ruleset.addForeign);
      const foreign = await listed(traffic.context.namespace, ruleset);
      const fields = { port: 80, nodePort: traffic.newNodePort(), sourceRanges: ["192.168.50.0/24"], affinitySeconds: 60 };
      await traffic.apply([
        aPort("web", { ...fields, clusterIp: traffic.newClusterIp(), loadBalancerIps: [traffic.newExternalIp()] }, [onB(), onA()]),
        aPort("empty", { clusterIp: traffic.newClusterIp(), port: 80 }),
      ]);
      assert.notEqual(await listed(traffic.context.namespace, ruleset), foreign);

      await traffic.close();
      await traffic.mode.cleanUp(traffic.context);
      assert.equal(await listed(traffic.context.namespace, ruleset), foreign);
      await traffic.mode.cleanUp(traffic.context);
      assert.equal(await listed(traffic.context.namespace, ruleset), foreign);
    },
  },
];

async function runAll(namespace: NetworkNamespace, commands: readonly CommandLine[]): Promise<void> {
  for (const [command, ...words] of commands) await namespace.run(command, words);
}
