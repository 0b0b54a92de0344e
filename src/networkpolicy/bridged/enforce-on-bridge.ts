/**
 * An enforcer whose rules also see the packets between Pods of one bridge. Another program can undo that, by a flush or a sysctl, so it is
 * checked and repaired like the rules themselves.
 */
import type { Enforcer } from "../enforcers/enforcer.ts";
import { bridgedPacketsWays } from "./all.ts";
import type { BridgeContext, BridgedPackets, BridgedPacketsWay } from "./bridged-packets.ts";

export interface BridgeEnforcer extends Enforcer {
  /** Name of the way in use; undefined: none yet. */
  readonly way: string | undefined;
}

/** Its `apply` resolves when the rules are in effect for bridged packets, too, and rejects if that is not possible. */
export function enforceOnBridge(enforcer: Enforcer, context: BridgeContext, ways = bridgedPacketsWays): BridgeEnforcer {
  let used: { readonly name: string; readonly packets: BridgedPackets } | undefined;
  return {
    get way() {
      return used?.name;
    },
    async apply(model) {
      used ??= await firstPossible(context, ways);
      return enforcer.apply(model);
    },
    async isIntact() {
      if (used !== undefined && (await used.packets.isIntact())) return enforcer.isIntact();
      used = undefined;
      return false;
    },
  };
}

async function firstPossible(context: BridgeContext, ways: readonly BridgedPacketsWay[]) {
  const problems: string[] = [];
  for (const { name, open } of ways) {
    const packets = open(context);
    try {
      await packets.ensure();
      return { name, packets };
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(
    `Cannot enforce network policies between Pods of bridge ${context.bridge}: ${problems.join("; ")}; load the kernel module br_netfilter`,
  );
}
