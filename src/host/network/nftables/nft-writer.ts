/**
 * Keeps one nftables table equal to a value: complete the first time and after a failure, afterwards only what changed. Only this table is
 * ever read or written. The caller calls one method at a time.
 */
import { assert } from "../../../base/assert.ts";
import { CommandError, type NetworkNamespace } from "../network-namespace.ts";
import { changeScript, replaceScript, type NftScript } from "./nft-script.ts";
import type { ExistingTable, NftTable } from "./nft-table.ts";

export interface NftWriterOptions {
  readonly namespace: NetworkNamespace;
  /** Name of an empty chain that marks the layout: tables without it are recreated. "layout-1" */
  readonly layout: string;
}

export class NftWriter {
  readonly #options: NftWriterOptions;
  /** What the kernel has; undefined: unknown. */
  #applied: NftTable | undefined;
  /** The first base chain as nft prints it after the last write of it. */
  #probeText: string | undefined;

  constructor(options: NftWriterOptions) {
    this.#options = options;
  }

  /** Resolves with the number of rules and elements written, when they are in effect. */
  async apply(table: NftTable): Promise<number> {
    const before = this.#applied;
    const script = before === undefined ? await this.#replacement(table) : changeScript(before, table);
    if (script.text !== "") {
      this.#applied = undefined;
      await this.#options.namespace.run("nft", ["-f", "-"], script.text);
    }
    const probe = probeOf(table);
    if (before === undefined || before.chains.get(probe) !== table.chains.get(probe)) this.#probeText = await this.#readProbe(table);
    this.#applied = table;
    return script.written;
  }

  /**
   * Compares the first base chain only, which costs the same for any size of the table: a program that flushes or deletes the table empties it,
   * too. False: the next `apply` writes everything.
   */
  async isIntact(): Promise<boolean> {
    if (this.#applied === undefined) return false;
    const found = await this.#readProbe(this.#applied).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (found === this.#probeText) return true;
    this.#applied = undefined;
    return false;
  }

  /** The table may have changed: the next `apply` writes everything. */
  forget(): void {
    this.#applied = undefined;
  }

  async #replacement(table: NftTable): Promise<NftScript> {
    const { namespace, layout } = this.#options;
    return replaceScript(table, await readTable(namespace, table), layout);
  }

  /** Without set elements, counters and handles. */
  #readProbe(table: NftTable): Promise<string> {
    return this.#options.namespace.run("nft", ["-s", "-t", "list", "chain", table.family, table.name, probeOf(table)]);
  }
}

function probeOf({ baseChains }: NftTable): string {
  const [first] = baseChains.keys();
  assert(first !== undefined, "a table has a base chain");
  return first;
}

/** Names in an existing table. Undefined: it does not exist. */
async function readTable(
  namespace: NetworkNamespace,
  { family, name }: Pick<NftTable, "family" | "name">,
): Promise<ExistingTable | undefined> {
  try {
    return parseTable(await namespace.run("nft", ["-j", "-t", "list", "table", family, name]));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Reads the output of `nft -j list table`. */
export function parseTable(json: string): ExistingTable {
  const { nftables } = JSON.parse(json) as {
    readonly nftables: readonly Readonly<Record<string, { readonly name?: string } | undefined>>[];
  };
  const namesOf = (kind: string): readonly string[] => nftables.flatMap((entry) => entry[kind]?.name ?? []);
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
    await namespace.run("nft", ["list", "tables"]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof CommandError && error.message.includes("No such file or directory") && !error.isMissing;
}
