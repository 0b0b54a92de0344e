/**
 * Keeps virtual servers, sets, addresses and rules of one IP family as wanted. The kernel's servers have no owner: those at addresses of the
 * proxy's own link are its own, and those of node ports are those of the last state that this process wrote or the sets still name.
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { ProxyModel } from "../../model.ts";
import { checkRules, fixedRules, removeChains, unhookRules } from "./fixed-rules.ts";
import { ipvsState, type Family, type IpvsState } from "./ipvs-state.ts";
import {
  addressInput,
  addressOf,
  destroySetsInput,
  ipsetInput,
  ipvsadmInput,
  linkName,
  NO_STATE,
  ownPart,
  parseIpvsadm,
  setName,
  type KernelNames,
} from "./kernel-texts.ts";

export interface FamilyOptions {
  readonly owner: string;
  readonly family: Family;
  readonly scheduler: string;
  readonly masqueradesAll: boolean;
}

export class FamilyApplier {
  readonly #options: FamilyOptions;
  readonly #namespace: NetworkNamespace;
  #written: IpvsState = NO_STATE;
  #podCidrs: readonly string[] | undefined;
  #isSynced = false;

  constructor(options: FamilyOptions, namespace: NetworkNamespace) {
    this.#options = options;
    this.#namespace = namespace;
  }

  /** Number of servers, endpoints, addresses, entries and rules written. */
  async apply(model: ProxyModel): Promise<number> {
    const wanted = ipvsState(model, this.#options);
    const createsSets = !this.#isSynced;
    const before = createsSets ? await readState(this.#options, this.#namespace) : this.#written;
    this.#isSynced = false;
    let written = await this.#run(
      "ipset",
      ["restore"],
      ipsetInput(createsSets ? NO_STATE : before, wanted, this.#options, { createsSets }),
    );
    if (createsSets || this.#podCidrs !== model.podCidrs) written += await this.#writeRules(model, createsSets);
    written += await this.#run("ip", ["-batch", "-"], addressInput(before, wanted, this.#options.owner));
    written += await this.#run("ipvsadm", ["-R"], ipvsadmInput(before, wanted));
    this.#written = wanted;
    this.#podCidrs = model.podCidrs;
    this.#isSynced = true;
    return written;
  }

  async isIntact(): Promise<boolean> {
    if (!this.#isSynced) return false;
    const kernel = parseIpvsadm(await this.#namespace.run("ipvsadm", ["-S", "-n"]));
    const areServersThere = [...this.#written.servers.keys()].every((server) => kernel.servers.has(server));
    const areEndpointsThere = [...this.#written.destinations].every((one) => kernel.destinations.has(one));
    this.#isSynced = areServersThere && areEndpointsThere && (await succeeds(this.#restore(checkRules(this.#options.owner))));
    return this.#isSynced;
  }

  async #writeRules({ podCidrs }: ProxyModel, isFirst: boolean): Promise<number> {
    const hasHooks = !isFirst || (await succeeds(this.#restore(checkRules(this.#options.owner))));
    const text = fixedRules({ ...this.#options, podCidrs }, { hooks: hasHooks ? "keep" : "insert" });
    await this.#restore(text);
    return text.split("\n").length - 1;
  }

  async #restore(input: string): Promise<void> {
    await this.#namespace.run(restoreProgram(this.#options.family), ["--noflush"], input);
  }

  async #run(command: string, words: readonly string[], input: string): Promise<number> {
    if (input === "") return 0;
    await this.#namespace.run(command, words, input);
    return input.split("\n").length - 1;
  }
}

/** Removes everything of the owner in one family. Parts that do not exist are ignored. */
export async function removeFamily(names: KernelNames, namespace: NetworkNamespace): Promise<void> {
  const before = await readState(names, namespace);
  const input = ipvsadmInput(before, NO_STATE);
  if (input !== "") await namespace.run("ipvsadm", ["-R"], input);
  const restore = restoreProgram(names.family);
  if (await succeeds(namespace.run(restore, ["--noflush"], checkRules(names.owner))))
    await namespace.run(restore, ["--noflush"], unhookRules(names.owner));
  await succeeds(namespace.run(restore, ["--noflush"], removeChains(names.owner)));
  for (const words of destroySetsInput(names)) await succeeds(namespace.run("ipset", words));
}

/** What the kernel has of the owner. */
async function readState(names: KernelNames, namespace: NetworkNamespace): Promise<IpvsState> {
  const kernel = parseIpvsadm(await namespace.run("ipvsadm", ["-S", "-n"]));
  const shown = await namespace
    .run("ip", [`-${names.family}`, "-oneline", "address", "show", "dev", linkName(names.owner)])
    .catch(() => "");
  const addresses = new Set([...shown.matchAll(/ inet6? ([^/\s]+)\//g)].map(([, address]) => address ?? ""));
  const nodePorts = new Set<string>();
  for (const [set, option] of [
    ["np-tcp", "-t"],
    ["np-udp", "-u"],
  ] as const) {
    const saved = await namespace.run("ipset", ["save", setName(names, set)]).catch(() => "");
    for (const [, port] of saved.matchAll(/^add \S+ (\d+)$/gm)) nodePorts.add(`${option} :${port}`);
  }
  const isOwn = (server: string) => addresses.has(addressOf(server)) || nodePorts.has(server.replace(/ .*:(\d+)$/, " :$1"));
  return { ...ownPart(kernel, isOwn), addresses, entries: new Set() };
}

function restoreProgram(family: Family): string {
  return family === 4 ? "iptables-restore" : "ip6tables-restore";
}

/** False if a command ran and failed. */
async function succeeds(run: Promise<unknown>): Promise<boolean> {
  try {
    await run;
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.exitCode !== undefined) return false;
    throw error;
  }
}
