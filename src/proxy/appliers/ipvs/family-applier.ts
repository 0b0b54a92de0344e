/**
 * Keeps virtual servers, sets, addresses and rules of one IP family as wanted. The kernel's servers have no owner: those at addresses of the
 * proxy's own link are its own, and so are those at the node's addresses that a set records. Both are written before the servers and removed
 * after them, so that a proxy that is killed at any step finds all of its servers again.
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { ProxyModel } from "../../model.ts";
import type { IntactCheck } from "../applier.ts";
import { checkRules, fixedRules, removeChains, unhookRules } from "./fixed-rules.ts";
import { ipvsState, RECORD, SETS, type Family, type IpvsState, type SetName } from "./ipvs-state.ts";
import {
  addressOf,
  destroySetsInput,
  forgetInput,
  ipsetInput,
  ipvsadmInput,
  linkName,
  newAddressInput,
  NO_STATE,
  oldAddressInput,
  ownPart,
  parseIpvsadm,
  parseRecord,
  recordedServer,
  setName,
  type KernelNames,
} from "./kernel-texts.ts";

/** Continues after a failure and reports each: one address that cannot be written must not keep all others away. */
const BATCH = ["-force", "-batch", "-"];

const SET_NAMES = Object.keys(SETS) as SetName[];

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
    const { owner } = this.#options;
    let written = await this.#run("ipset", ["restore"], ipsetInput(before, wanted, this.#options, { createsSets }));
    if (createsSets || this.#podCidrs !== model.podCidrs) written += await this.#writeRules(model, createsSets);
    written += await this.#run("ip", BATCH, newAddressInput(before, wanted, owner));
    written += await this.#run("ipvsadm", ["-R"], ipvsadmInput(before, wanted));
    written += await this.#run("ip", BATCH, oldAddressInput(before, wanted, owner));
    written += await this.#run("ipset", ["restore"], forgetInput(before, wanted, this.#options));
    this.#written = wanted;
    this.#podCidrs = model.podCidrs;
    this.#isSynced = true;
    return written;
  }

  async isIntact(check: IntactCheck): Promise<boolean> {
    if (!this.#isSynced) return false;
    this.#isSynced =
      (await this.#hasServers()) &&
      (await succeeds(this.#restore(checkRules(this.#options.owner)))) &&
      (check === "quick" || ((await this.#hasAddresses()) && (await this.#hasEntries())));
    return this.#isSynced;
  }

  async #hasServers(): Promise<boolean> {
    const kernel = parseIpvsadm(await this.#namespace.run("ipvsadm", ["-S", "-n"]));
    const areServersThere = [...this.#written.servers.keys()].every((server) => kernel.servers.has(server));
    return areServersThere && [...this.#written.destinations].every((one) => kernel.destinations.has(one));
  }

  async #hasAddresses(): Promise<boolean> {
    const addresses = await readAddresses(this.#options, this.#namespace);
    return [...this.#written.addresses].every((address) => addresses.has(address));
  }

  /** By their number: the kernel may print an entry differently. */
  async #hasEntries(): Promise<boolean> {
    let count = 0;
    for (const set of SET_NAMES) count += (await readSet(this.#options, set, this.#namespace)).match(/^add /gm)?.length ?? 0;
    return count >= this.#written.entries.size;
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
  const addresses = await readAddresses(names, namespace);
  const recorded = parseRecord(await readSet(names, RECORD, namespace));
  const servers = new Set(recorded.map(recordedServer));
  const isOwn = (server: string) => addresses.has(addressOf(server)) || servers.has(server);
  return { ...ownPart(kernel, isOwn), addresses, entries: new Set(recorded) };
}

/** Addresses of the proxy's own link; none if it does not exist. */
async function readAddresses({ owner, family }: KernelNames, namespace: NetworkNamespace): Promise<ReadonlySet<string>> {
  const shown = await namespace.run("ip", [`-${family}`, "-oneline", "address", "show", "dev", linkName(owner)]).catch(() => "");
  return new Set([...shown.matchAll(/ inet6? ([^/\s]+)\//g)].map(([, address]) => address ?? ""));
}

/** What `ipset save` prints of a set; nothing if it does not exist. */
function readSet(names: KernelNames, set: SetName, namespace: NetworkNamespace): Promise<string> {
  return namespace.run("ipset", ["save", setName(names, set)]).catch(() => "");
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
