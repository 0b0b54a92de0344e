/** Rows of the traffic suite: a proxy that is killed, and many Services that come and go. */
import assert from "node:assert/strict";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { ServicePort } from "../model.ts";
import { listed, type TrafficRow } from "./traffic-row.ts";
import { aPort, onA, onB, onRemote, tcp, type Traffic } from "./traffic.ts";

/** Enough that an apply takes several commands. */
const SERVICES_OF_KILLED = 110;
const MANY_SERVICES = 1_000;
/** More steps than an apply has: a row that never ends would hide a mistake. */
const STEPS_MAX = 60;
/** Inputs of commands that change nothing are shorter: they test what the kernel supports. */
const CHANGE_LENGTH_MIN = 60;

export const faultRows: readonly TrafficRow[] = [
  {
    name: "a proxy that is killed at any step converges after its restart, and its clean-up leaves nothing",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      const { podA } = traffic.topology;
      const web = aPort("web", { clusterIp: traffic.newClusterIp(), port: 80, nodePort: traffic.newNodePort() }, [onB()]);
      const before = [web, ...services("old", "10.98.0")];
      const now = [web, ...services("new", "10.99.0")];
      await traffic.close();
      await traffic.mode.cleanUp(traffic.context);
      const clean = await listed(traffic.context.namespace, ruleset);
      await traffic.apply(now);
      const expected = await listed(traffic.context.namespace, ruleset);

      for (let step = 1; ; step++) {
        assert.ok(step <= STEPS_MAX, `Applying takes more than ${STEPS_MAX} steps`);
        await traffic.apply(before);
        if (!(await applyUntilKilled(traffic, now, step))) break;
        // The rules of whatever was written so far carry the traffic.
        assert.equal(await traffic.reach(podA, tcp(web.clusterIp, 80)), "b:8080", `After step ${step}`);
        await traffic.close();
        if (step % 2 === 0) {
          await traffic.mode.cleanUp(traffic.context);
          assert.equal(await listed(traffic.context.namespace, ruleset), clean, `Clean-up after step ${step}`);
        }
        await traffic.apply(now);
        assert.equal(await listed(traffic.context.namespace, ruleset), expected, `Restart after step ${step}`);
      }
    },
  },
  {
    name: "1,000 Services that are created and deleted leave no chain, rule, set or element",
    families: [4],
    usesRuleset: true,
    async run(traffic, _, ruleset) {
      const { podA } = traffic.topology;
      const web = aPort("web", { clusterIp: traffic.newClusterIp(), port: 80 }, [onB()]);
      await traffic.apply([web]);
      const expected = await listed(traffic.context.namespace, ruleset);
      const many = Array.from({ length: MANY_SERVICES }, (__, index) => {
        const clusterIp = `10.100.${Math.floor(index / 250)}.${(index % 250) + 1}`;
        const more = index % 10 === 0 ? { nodePort: 31_000 + index, affinitySeconds: 60, externalPolicy: "Local" as const } : {};
        return aPort(`many-${index}`, { clusterIp, port: 80, ...more }, index % 3 === 0 ? [] : [onA()]);
      });

      await traffic.apply([web, ...many]);
      assert.equal(await traffic.reach(podA, tcp("10.100.3.249", 80)), "a:8080");
      await traffic.apply([web]);

      assert.equal(await listed(traffic.context.namespace, ruleset), expected);
    },
  },
];

function services(name: string, network: string): readonly ServicePort[] {
  return Array.from({ length: SERVICES_OF_KILLED }, (_, index) =>
    aPort(`${name}-${index}`, { clusterIp: `${network}.${index + 1}`, port: 80 }, [onA(), onB(), onRemote()]),
  );
}

/**
 * A restarted proxy applies these, until it is killed at a step: a command that changes something is one, and so is each table of an
 * `iptables-restore`. False if it finished before.
 */
async function applyUntilKilled(traffic: Traffic, ports: readonly ServicePort[], step: number): Promise<boolean> {
  await traffic.close();
  const namespace = new KillingNamespace(traffic.context.namespace, step);
  try {
    const applier = await traffic.mode.open({ ...traffic.context, namespace });
    await applier.apply(traffic.model(ports));
    return false;
  } catch (error) {
    if (namespace.isKilled) return true;
    throw error;
  }
}

/** Runs nothing from a step on, as if the process had been killed before it. */
class KillingNamespace implements NetworkNamespace {
  readonly #inner: NetworkNamespace;
  #steps: number;

  constructor(inner: NetworkNamespace, steps: number) {
    this.#inner = inner;
    this.#steps = steps;
  }

  get name(): string {
    return this.#inner.name;
  }

  get isKilled(): boolean {
    return this.#steps <= 0;
  }

  async run(command: string, words: readonly string[], input?: string): Promise<string> {
    const tables = input?.match(/^\*[^]*?^COMMIT\n/gm) ?? [];
    if (tables.length > 1) {
      for (const table of tables) await this.run(command, words, table);
      return "";
    }
    const isChange = (input?.length ?? 0) >= CHANGE_LENGTH_MIN;
    if (this.isKilled || (isChange && --this.#steps <= 0)) throw new Error("Killed");
    return this.#inner.run(command, words, input);
  }
}
