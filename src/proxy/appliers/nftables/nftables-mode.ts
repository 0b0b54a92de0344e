/**
 * Proxy mode nftables: a table per IP family with the owner's name, each change one transaction. The table of IPv6 exists only with
 * Services that have an IPv6 address, since the kernel may have no IPv6.
 */
import { NftWriter, nftProblem, removeTable } from "../../../host/network/nftables/nft-writer.ts";
import {
  UnsupportedModeError,
  type AppliedChange,
  type Applier,
  type ApplierContext,
  type IntactCheck,
  type ProxyMode,
} from "../applier.ts";
import type { ProxyModel } from "../../model.ts";
import { ProxyTables, tableName } from "./proxy-table.ts";
import { familyName } from "./service-rules.ts";

const FAMILIES = [4, 6] as const;

export const nftables: ProxyMode = {
  name: "nftables",
  async open(context) {
    const problem = await nftProblem(context.namespace);
    if (problem !== undefined)
      throw new UnsupportedModeError(`Cannot use proxy mode nftables: ${problem}; install nftables and run as root`);
    return new NftablesApplier(context);
  },
  async cleanUp({ owner, namespace }) {
    for (const family of FAMILIES) await removeTable(namespace, { family: familyName(family), name: tableName(owner) });
  },
};

class NftablesApplier implements Applier {
  readonly #context: ApplierContext;
  readonly #families: readonly FamilyTable[];
  /** Of the last successful apply, if nothing was found missing since. */
  #applied: ProxyModel | undefined;

  constructor(context: ApplierContext) {
    this.#context = context;
    const { owner, podBridge, options, namespace } = context;
    this.#families = FAMILIES.map((family) => ({
      family,
      tables: new ProxyTables(family, { owner, podBridge, masqueradesAll: options.masqueradesAll }),
      writer: new NftWriter(namespace),
      exists: undefined,
    }));
  }

  async apply(model: ProxyModel): Promise<AppliedChange> {
    if (model === this.#applied) return { written: 0 };
    this.#applied = undefined;
    let written = 0;
    for (const one of this.#families) written += await this.#applyFamily(one, model);
    this.#applied = model;
    return { written };
  }

  async isIntact(check: IntactCheck): Promise<boolean> {
    for (const { exists, writer } of this.#families) {
      if (exists !== true || (await writer.isIntact(check))) continue;
      this.#applied = undefined;
      return false;
    }
    return this.#applied !== undefined;
  }

  /** The kernel's state stays, so that traffic continues. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #applyFamily(one: FamilyTable, model: ProxyModel): Promise<number> {
    const isNeeded = one.family === 4 || [...model.servicePorts.values()].some(({ family }) => family === one.family);
    if (isNeeded) {
      one.exists = true;
      return one.writer.apply(one.tables.table(model));
    }
    const { owner, namespace } = this.#context;
    if (one.exists === false) return 0;
    // Of Services, now or of an earlier process, that had IPv6 addresses.
    await removeTable(namespace, { family: familyName(one.family), name: tableName(owner) });
    one.writer.forget();
    one.exists = false;
    return 0;
  }
}

interface FamilyTable {
  readonly family: 4 | 6;
  readonly tables: ProxyTables;
  readonly writer: NftWriter;
  /** Undefined: unknown, as after the start. */
  exists: boolean | undefined;
}
