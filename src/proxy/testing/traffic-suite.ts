/**
 * Tests that every proxy mode must pass, by real traffic between network namespaces. Needs root, `ip` and `nsenter`, and what the mode
 * needs. A row that a mode cannot do is skipped with the reason that the caller declares.
 *
 *     trafficSuite(iptables, { skip: needs("iptables").skip, ruleset: { … } });
 */
import { after, before, describe, it } from "node:test";
import type { ProxyMode } from "../appliers/applier.ts";
import { addressRows } from "./traffic-rows-addresses.ts";
import { faultRows } from "./traffic-rows-faults.ts";
import { lifecycleRows } from "./traffic-rows-lifecycle.ts";
import { policyRows } from "./traffic-rows-policies.ts";
import type { RulesetCommands, TrafficRow, TrafficSuiteOptions } from "./traffic-row.ts";
import { Traffic } from "./traffic.ts";

const NO_RULESET: RulesetCommands = { list: [], addForeign: [], flush: [], damages: [] };

const ROWS: readonly TrafficRow[] = [...addressRows, ...policyRows, ...faultRows, ...lifecycleRows];

export function trafficSuite(mode: ProxyMode, options: TrafficSuiteOptions = {}): void {
  const { cannot = {}, skip = false, ruleset } = options;
  for (const name of Object.keys(cannot))
    if (!ROWS.some((row) => row.name === name)) throw new RangeError(`Cannot skip the traffic row "${name}": there is no such row`);

  describe(`proxy mode ${mode.name} by real traffic`, { skip: skip === false ? needsRoot() : skip }, () => {
    let traffic: Traffic | undefined;
    before(async () => {
      traffic = await Traffic.open(mode);
    });
    after(async () => traffic?.[Symbol.asyncDispose]());

    for (const row of ROWS)
      for (const family of row.families)
        it(`${row.name} (IPv${family})`, { skip: skipOf(row, options) }, async (context) => {
          if (traffic === undefined) throw new Error("The topology did not start");
          if (family === 6 && !traffic.topology.hasIpv6) return context.skip("this kernel has no IPv6");
          await row.run(traffic, family, ruleset ?? NO_RULESET);
        });
  });
}

function skipOf({ name, usesRuleset }: TrafficRow, { cannot = {}, ruleset }: TrafficSuiteOptions): string | false {
  if (usesRuleset === true && ruleset === undefined) return "this mode keeps no rules in the kernel";
  return cannot[name] ?? false;
}

function needsRoot(): string | false {
  if (process.platform !== "linux") return "needs Linux";
  return process.getuid?.() === 0 ? false : "needs root for network namespaces";
}
