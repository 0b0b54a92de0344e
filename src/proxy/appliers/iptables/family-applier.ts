/**
 * Keeps the kernel's rules of one IP family as wanted. The kernel is read at the start and after failures; otherwise only changes are
 * written. Not here: what is wanted (family-ruleset.ts), how it is written (restore-input.ts).
 */
import type { NetworkNamespace } from "../../../host/network/network-namespace.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { ProxyModel } from "../../model.ts";
import type { IntactCheck } from "../applier.ts";
import type { ChainChanges } from "./chain-index.ts";
import { FamilyRuleset, type RulesetOptions } from "./family-ruleset.ts";
import { canariesOf, hooksOf, recordedRouteLocalnet, servesLoopback, type Hook } from "./fixed-chains.ts";
import { LINES_MAX, checkInput, countChanges, restoreInputs, type RestoreChanges } from "./restore-input.ts";
import { enableRouteLocalnet, readRouteLocalnet } from "./route-localnet.ts";
import type { SavedRules } from "./saved-rules.ts";
import type { Xtables } from "./xtables.ts";

/** Reading more chains back takes longer than half a second, for which changes would wait: then only a flush is noticed. */
const THOROUGH_CHAINS_MAX = 4_000;

export class FamilyApplier {
  readonly #options: RulesetOptions;
  readonly #namespace: NetworkNamespace;
  readonly #xtables: Xtables;
  #ruleset: FamilyRuleset;
  /** False until everything was written: at the start, after failures, and if rules are missing. */
  #isSynced = false;
  #hasRouteLocalnet = false;
  /** Its value before this owner's first rule. Kept here too: a flush of the rules removes the record in them. */
  #routeLocalnetBefore: string | undefined;

  constructor(options: RulesetOptions, { namespace, xtables }: { readonly namespace: NetworkNamespace; readonly xtables: Xtables }) {
    this.#options = options;
    this.#namespace = namespace;
    this.#xtables = xtables;
    this.#ruleset = new FamilyRuleset(options);
  }

  /** Number of rules and chains written. */
  async apply(model: ProxyModel): Promise<number> {
    const changes = this.#isSynced ? this.#changesTo(model) : await this.#changesFromKernel(model);
    this.#isSynced = false;
    await this.#prepareLoopback(model);
    for (const input of restoreInputs(changes, { linesMax: LINES_MAX[this.#xtables.variant] })) await this.#xtables.restore(input);
    this.#isSynced = true;
    return countChanges(changes);
  }

  async isIntact(check: IntactCheck): Promise<boolean> {
    if (!this.#isSynced) return false;
    if (this.#ruleset.chains.size === 0) return true;
    const { names } = this.#options;
    this.#isSynced = await this.#xtables.succeeds(checkInput([...hooksOf(names), ...canariesOf(names)]));
    const isThorough = check === "thorough" && this.#ruleset.chains.size <= THOROUGH_CHAINS_MAX;
    if (this.#isSynced && isThorough) this.#isSynced = hasAllRules(await this.#xtables.save(names), this.#ruleset.chains);
    return this.#isSynced;
  }

  #changesTo(model: ProxyModel): RestoreChanges {
    const hadChains = this.#ruleset.chains.size > 0;
    const chains = this.#ruleset.update(model);
    const hasChains = this.#ruleset.chains.size > 0;
    const hooks = hooksOf(this.#options.names);
    return { chains, insert: hasChains && !hadChains ? hooks : [], delete: hadChains && !hasChains ? hooks : [] };
  }

  async #changesFromKernel(model: ProxyModel): Promise<RestoreChanges> {
    const saved = await this.#xtables.save(this.#options.names);
    this.#ruleset = new FamilyRuleset(this.#options);
    if (this.#options.family === 4) {
      this.#hasRouteLocalnet = false;
      const recorded = [...saved.chains.values()].flat().flatMap((rule) => recordedRouteLocalnet(rule) ?? [])[0];
      this.#routeLocalnetBefore ??= recorded ?? (await readRouteLocalnet(this.#namespace));
      this.#ruleset.routeLocalnetBefore = this.#routeLocalnetBefore;
    }
    this.#ruleset.update(model);
    const wantedHooks = this.#ruleset.chains.size > 0 ? hooksOf(this.#options.names) : [];
    return {
      chains: difference(saved, this.#ruleset.chains),
      insert: wantedHooks.filter((hook) => !saved.hooks.some((one) => deepEqual(one, hook))),
      delete: saved.hooks.filter((hook, index) => !wantedHooks.some((one) => deepEqual(one, hook)) || isRepeated(saved.hooks, index)),
    };
  }

  /** Before the rules: a translated packet from a loopback address is dropped without it. */
  async #prepareLoopback({ nodePortAddresses }: ProxyModel): Promise<void> {
    if (this.#options.family !== 4 || this.#hasRouteLocalnet) return;
    if (!servesLoopback(nodePortAddresses) || !this.#ruleset.servesNodePorts) return;
    await enableRouteLocalnet(this.#namespace);
    this.#hasRouteLocalnet = true;
  }
}

/** What must be written so that the saved chains become the wanted ones. */
function difference(saved: SavedRules, wanted: FamilyRuleset["chains"]): ChainChanges {
  const changes: ChainChanges = new Map();
  for (const [id, rules] of wanted) if (!deepEqual(saved.chains.get(id), rules)) changes.set(id, rules);
  for (const id of saved.chains.keys()) if (!wanted.has(id)) changes.set(id, undefined);
  return changes;
}

/** By the number of rules of each chain: the kernel may print a rule differently from how it was written. */
export function hasAllRules({ chains }: SavedRules, wanted: FamilyRuleset["chains"]): boolean {
  return [...wanted].every(([id, rules]) => chains.get(id)?.length === rules.length);
}

function isRepeated(hooks: readonly Hook[], index: number): boolean {
  return hooks.findIndex((hook) => deepEqual(hook, hooks[index])) < index;
}
