/**
 * Keeps one nftables table equal to a value: complete the first time and after a failure, afterwards only what changed. Only this table is
 * ever read or written. The caller calls one method at a time.
 */
import { CommandError, type NetworkNamespace } from "../network-namespace.ts";
import { changeScript, replaceScript } from "./nft-script.ts";
import type { ExistingTable, NftTable } from "./nft-table.ts";

export class NftWriter {
  readonly #namespace: NetworkNamespace;
  /** What the kernel has; undefined: unknown. */
  #applied: NftTable | undefined;

  constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
  }

  /** Resolves with the number of rules and elements written, when they are in effect. */
  async apply(table: NftTable): Promise<number> {
    const before = this.#applied;
    const script = before === undefined ? replaceScript(table, await readTable(this.#namespace, table)) : changeScript(before, table);
    if (script.text !== "") {
      this.#applied = undefined;
      await this.#namespace.run("nft", ["-f", "-"], script.text);
    }
    this.#applied = table;
    return script.written;
  }

  /**
   * Whether the rules exist. A program that flushes or deletes the table also deletes the rule that jumps to the layout chain, which could
   * then be deleted: only checked, which reads no rules and costs little for any size of the table. A "thorough" check reads the whole table
   * and notices a single missing chain, rule, set, map or element. False: the next `apply` writes everything.
   */
  async isIntact(check: "quick" | "thorough" = "quick"): Promise<boolean> {
    if (this.#applied === undefined) return false;
    if (
      !(await this.#hasLayout(this.#applied)) ||
      (check === "thorough" && isReadable(this.#applied) && !(await this.#hasEverything(this.#applied)))
    ) {
      this.#applied = undefined;
      return false;
    }
    return true;
  }

  async #hasLayout({ family, name, layout }: NftTable): Promise<boolean> {
    try {
      await this.#namespace.run("nft", ["--check", "-f", "-"], `delete chain ${family} ${name} ${layout}\n`);
    } catch (error) {
      if (isFailure(error, "Device or resource busy")) return true;
      if (!isFailure(error, NOT_FOUND)) throw error;
    }
    return false;
  }

  async #hasEverything(table: NftTable): Promise<boolean> {
    try {
      return hasAll(table, await this.#namespace.run("nft", ["-j", "list", "table", table.family, table.name]));
    } catch (error) {
      if (isFailure(error, NOT_FOUND)) return false;
      throw error;
    }
  }

  /** The table may have changed: the next `apply` writes everything. */
  forget(): void {
    this.#applied = undefined;
  }
}

interface ListedObject {
  readonly chain?: { readonly name: string };
  readonly rule?: { readonly chain: string };
  readonly set?: ListedSet;
  readonly map?: ListedSet;
}

interface ListedSet {
  readonly name: string;
  readonly elem?: readonly unknown[];
}

/** Reading more chains and elements takes longer than half a second, for which changes would wait: then only a flush is noticed. */
const READABLE_MAX = 30_000;

function isReadable({ chains, sets }: NftTable): boolean {
  let count = chains.size;
  for (const { elements } of sets.values()) count += elements?.size ?? 0;
  return count <= READABLE_MAX;
}

/** Whether the output of `nft -j list table` has as many rules and elements as wanted: the kernel prints rules differently from their text. */
export function hasAll({ baseChains, chains, sets }: NftTable, json: string): boolean {
  const rules = new Map<string, number>();
  const elements = new Map<string, number>();
  for (const { chain, rule, set, map } of (JSON.parse(json) as { readonly nftables: readonly ListedObject[] }).nftables) {
    if (chain !== undefined) rules.set(chain.name, rules.get(chain.name) ?? 0);
    if (rule !== undefined) rules.set(rule.chain, (rules.get(rule.chain) ?? 0) + 1);
    const listed = set ?? map;
    if (listed !== undefined) elements.set(listed.name, listed.elem?.length ?? 0);
  }
  return (
    [...baseChains.keys()].every((name) => rules.has(name)) &&
    [...chains].every(([name, { length }]) => rules.get(name) === length) &&
    // Packets fill a set without known elements: any number is right.
    [...sets].every(([name, { elements: wanted }]) => elements.has(name) && (wanted === undefined || elements.get(name) === wanted.size))
  );
}

/** Names in an existing table. Undefined: it does not exist. Rules are not read: there may be tens of thousands. */
async function readTable(
  namespace: NetworkNamespace,
  { family, name }: Pick<NftTable, "family" | "name">,
): Promise<ExistingTable | undefined> {
  const list = (kind: string): Promise<string> => namespace.run("nft", ["-j", "-t", "list", kind, family]);
  const [chains, sets, maps] = [await list("chains"), await list("sets"), await list("maps")];
  const existing = parseNames([chains, sets, maps], name);
  return existing.chains.length === 0 ? undefined : existing;
}

interface ListedEntry {
  readonly table: string;
  readonly name: string;
}

/** Reads outputs of `nft -j list chains`, `sets` and `maps`, which have those of all tables of a family. */
export function parseNames(outputs: readonly string[], table: string): ExistingTable {
  const entries = outputs.flatMap(
    (json) => (JSON.parse(json) as { readonly nftables: readonly Readonly<Record<string, ListedEntry | undefined>>[] }).nftables,
  );
  const namesOf = (kind: string): readonly string[] => entries.flatMap(({ [kind]: found }) => (found?.table === table ? [found.name] : []));
  return {
    chains: namesOf("chain"),
    sets: (["set", "map"] as const).flatMap((kind) => namesOf(kind).map((name) => ({ kind, name }))),
  };
}

/** Removes the table with everything in it. Idempotent; a machine without nft has none. */
export async function removeTable(namespace: NetworkNamespace, { family, name }: Pick<NftTable, "family" | "name">): Promise<void> {
  try {
    // Created first if missing: deleting a missing table fails.
    await namespace.run("nft", ["-f", "-"], `add table ${family} ${name}\ndelete table ${family} ${name}\n`);
  } catch (error) {
    if (!(error instanceof CommandError && error.isMissing)) throw error;
  }
}

/** Whether nft exists and may be used here; otherwise why not. */
export async function nftProblem(namespace: NetworkNamespace): Promise<string | undefined> {
  try {
    await namespace.run("nft", ["--check", "-f", "-"], "add table inet k8ts\n");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const NOT_FOUND = "No such file or directory";

/** Whether nft ran and failed with this error of the kernel. */
function isFailure(error: unknown, text: string): boolean {
  return error instanceof CommandError && !error.isMissing && error.message.includes(text);
}
