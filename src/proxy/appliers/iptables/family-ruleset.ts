/**
 * The wanted chains of one IP family, and what changes from model to model. Pure. Service ports that keep their identity are not translated
 * again: a change costs the rules of its service ports and of the buckets they are in.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ProxyModel, ServicePort } from "../../model.ts";
import { ChainIndex, INDEXES, type ChainChanges, type ChainId } from "./chain-index.ts";
import type { ChainNames } from "./chain-names.ts";
import { fixedChains } from "./fixed-chains.ts";
import { portRules, type PortRules } from "./port-rules.ts";
import type { Family } from "./rule-text.ts";

export interface RulesetOptions {
  readonly family: Family;
  readonly names: ChainNames;
  readonly podBridge?: string;
  readonly masqueradesAll: boolean;
}

type Settings = Pick<ProxyModel, "nodePortAddresses" | "podCidrs" | "nodeIps" | "healthChecks">;

/** Those that the rules of service ports depend on: a change of others, such as a health check, translates no service port again. */
function portSettingsOf({ podCidrs, nodeIps }: Settings): Pick<Settings, "podCidrs" | "nodeIps"> {
  return { podCidrs, nodeIps };
}

export class FamilyRuleset {
  readonly #options: RulesetOptions;
  readonly #chains = new Map<ChainId, readonly string[]>();
  readonly #ports = new Map<string, { readonly port: ServicePort; readonly rules: PortRules }>();
  #indexes: readonly ChainIndex[] = [];
  #settings: Settings | undefined;
  #routeLocalnetBefore = "0";

  constructor(options: RulesetOptions) {
    this.#options = options;
  }

  /** Wanted rules by chain. */
  get chains(): ReadonlyMap<ChainId, readonly string[]> {
    return this.#chains;
  }

  get servesNodePorts(): boolean {
    return [...this.#ports.values()].some(({ port }) => port.nodePort !== undefined);
  }

  /** To be called before the first `update`. */
  set routeLocalnetBefore(value: string) {
    this.#routeLocalnetBefore = value;
  }

  /** Makes the wanted chains those of `model`. Returns the difference. A family without service ports has no chains, except IPv4. */
  update(model: ProxyModel): ChainChanges {
    const changes: ChainChanges = new Map();
    const wanted = [...model.servicePorts.values()].filter(({ family }) => family === this.#options.family);
    const { nodePortAddresses, podCidrs, nodeIps, healthChecks } = model;
    const settings = { nodePortAddresses, podCidrs, nodeIps, healthChecks };
    if (wanted.length === 0 && this.#options.family === 6) this.#removeAll(changes);
    else this.#replace(wanted, settings, changes);
    for (const [id, rules] of changes) this.#store(id, rules, changes);
    return changes;
  }

  #removeAll(changes: ChainChanges): void {
    for (const id of this.#chains.keys()) changes.set(id, undefined);
    this.#ports.clear();
    this.#indexes = [];
    this.#settings = undefined;
  }

  #replace(wanted: readonly ServicePort[], settings: Settings, changes: ChainChanges): void {
    const isFirst = this.#settings === undefined;
    const areSettingsNew = !deepEqual(this.#settings, settings);
    const arePortSettingsNew = this.#settings === undefined || !deepEqual(portSettingsOf(this.#settings), portSettingsOf(settings));
    this.#settings = settings;
    if (isFirst) this.#indexes = INDEXES.map((one) => new ChainIndex(one, this.#options.names));
    if (areSettingsNew) {
      const fixed = fixedChains({ ...this.#options, ...settings, routeLocalnetBefore: this.#routeLocalnetBefore });
      for (const [id, rules] of fixed) changes.set(id, rules);
    }
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, { rules }] of this.#ports) if (!keys.has(key)) this.#remove(key, rules, changes);
    for (const port of wanted) {
      const known = this.#ports.get(port.key);
      if (known?.port === port && !arePortSettingsNew) continue;
      if (known !== undefined) this.#remove(port.key, known.rules, changes);
      this.#add(port, settings, changes);
    }
    for (const index of this.#indexes) index.collect(changes, { isFirst });
  }

  #remove(key: string, { chains, entries }: PortRules, changes: ChainChanges): void {
    for (const chain of chains.keys()) changes.set(`nat ${chain}`, undefined);
    for (const index of this.#indexes) index.remove(key, entries);
    this.#ports.delete(key);
  }

  #add(port: ServicePort, { podCidrs, nodeIps }: Settings, changes: ChainChanges): void {
    const rules = portRules(port, { ...this.#options, podCidrs, nodeIps });
    for (const [chain, text] of rules.chains) changes.set(`nat ${chain}`, text);
    for (const index of this.#indexes) index.add(port.key, rules.entries);
    this.#ports.set(port.key, { port, rules });
  }

  /** Removes it from the changes if it is none. */
  #store(id: ChainId, rules: readonly string[] | undefined, changes: ChainChanges): void {
    const before = this.#chains.get(id);
    if (deepEqual(before, rules)) changes.delete(id);
    if (rules === undefined) this.#chains.delete(id);
    else this.#chains.set(id, rules);
  }
}
