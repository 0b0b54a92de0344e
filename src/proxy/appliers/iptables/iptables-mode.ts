/**
 * The proxy mode "iptables", the default: Services as chains of the tables nat and filter, structured like upstream's. docs/proxy.md describes it.
 * Not here: the engine that calls it, conntrack entries of removed UDP endpoints.
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import {
  UnsupportedModeError,
  type AppliedChange,
  type Applier,
  type ApplierContext,
  type IntactCheck,
  type ProxyMode,
} from "../applier.ts";
import type { ProxyModel } from "../../model.ts";
import { passBridgedPackets } from "./bridge-packets.ts";
import type { ChainChanges } from "./chain-index.ts";
import { ChainNames } from "./chain-names.ts";
import { FamilyApplier } from "./family-applier.ts";
import { recordedRouteLocalnet } from "./fixed-chains.ts";
import { LINES_MAX, restoreInputs } from "./restore-input.ts";
import { disableRouteLocalnet } from "./route-localnet.ts";
import type { Family } from "./rule-text.ts";
import type { SavedRules } from "./saved-rules.ts";
import { Xtables } from "./xtables.ts";

export const iptables: ProxyMode = {
  name: "iptables",
  open: openIptables,
  async cleanUp({ owner, namespace }) {
    for (const family of [4, 6] as const) await removeRules(family, owner, namespace);
  },
};

async function openIptables({ owner, namespace, podBridge, options, log }: ApplierContext): Promise<Applier> {
  const names = new ChainNames(owner);
  const familyOptions = { names, masqueradesAll: options.masqueradesAll, ...(podBridge === undefined ? {} : { podBridge }) };
  const ipv4 = await Xtables.open(4, namespace).catch((error: unknown) => {
    throw new UnsupportedModeError(`Cannot use the proxy mode iptables: ${reasonOf(error)}; install iptables and run as root`, {
      cause: error,
    });
  });
  const families = [new FamilyApplier({ ...familyOptions, family: 4 }, { namespace, xtables: ipv4 })];
  try {
    const ipv6 = await Xtables.open(6, namespace);
    families.push(new FamilyApplier({ ...familyOptions, family: 6 }, { namespace, xtables: ipv6 }));
  } catch (error) {
    log.info("Services of IPv6 are not proxied", { error });
  }
  if (podBridge !== undefined) await passBridgedPackets(namespace, log);
  return new IptablesApplier(families);
}

class IptablesApplier implements Applier {
  readonly #families: readonly FamilyApplier[];

  constructor(families: readonly FamilyApplier[]) {
    this.#families = families;
  }

  async apply(model: ProxyModel): Promise<AppliedChange> {
    let written = 0;
    for (const family of this.#families) written += await family.apply(model);
    return { written };
  }

  async isIntact(check: IntactCheck): Promise<boolean> {
    let isIntact = true;
    for (const family of this.#families) isIntact = (await family.isIntact(check)) && isIntact;
    return isIntact;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function removeRules(family: Family, owner: string, namespace: NetworkNamespace): Promise<void> {
  const names = new ChainNames(owner);
  let xtables: Xtables;
  let saved: SavedRules;
  try {
    xtables = await Xtables.find(family, namespace);
    saved = await xtables.save(names);
  } catch (error) {
    // Without the programs or the family, there are no rules of ours.
    if (error instanceof CommandError && (error.isMissing || family === 6)) return;
    throw error;
  }
  const { chains, hooks } = saved;
  const removed: ChainChanges = new Map([...chains.keys()].map((id) => [id, undefined]));
  const inputs = restoreInputs({ chains: removed, insert: [], delete: hooks }, { linesMax: LINES_MAX[xtables.variant] });
  for (const input of inputs) await xtables.restore(input);
  const before = [...chains.values()].flat().flatMap((rule) => recordedRouteLocalnet(rule) ?? [])[0];
  // Other clusters on this machine may still need it; the last one restores it.
  if (before === "0" && recordedRouteLocalnet(await xtables.saveText()) === undefined) await disableRouteLocalnet(namespace);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
