/**
 * The programs of one IP family: iptables-save and iptables-restore, or those of ip6tables. They are the machine's own (Debian's
 * alternatives choose nf_tables or legacy), so that the rules are in the same place as those of other programs.
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { ChainNames } from "./chain-names.ts";
import { canariesOf, TABLES } from "./fixed-chains.ts";
import type { Table } from "./port-rules.ts";
import { parseSavedRules, type SavedRules } from "./saved-rules.ts";
import type { Family } from "./rule-text.ts";

/** For the lock that other programs hold while they change rules. */
const LOCK_TIMEOUT_SECONDS = 30;

/** Exit code for a missing chain; missing permissions and kernel modules have others. */
const NO_SUCH_CHAIN = 1;

const RESTORE_ARGUMENTS = ["--noflush", `--wait=${LOCK_TIMEOUT_SECONDS}`];

export type XtablesVariant = "nf_tables" | "legacy";

export class Xtables {
  readonly #namespace: NetworkNamespace;
  readonly #program: string;
  readonly variant: XtablesVariant;

  private constructor(namespace: NetworkNamespace, program: string, variant: XtablesVariant) {
    this.#namespace = namespace;
    this.#program = program;
    this.variant = variant;
  }

  /** Rejects with a CommandError if the program is missing. */
  static async find(family: Family, namespace: NetworkNamespace): Promise<Xtables> {
    const program = family === 4 ? "iptables" : "ip6tables";
    const version = await namespace.run(`${program}-restore`, ["--version"]);
    return new Xtables(namespace, program, version.includes("nf_tables") ? "nf_tables" : "legacy");
  }

  /** Also rejects if the kernel lacks the family or this process may not change rules. */
  static async open(family: Family, namespace: NetworkNamespace): Promise<Xtables> {
    const xtables = await Xtables.find(family, namespace);
    // A restore of nothing needs the same permissions and modules as any other.
    await xtables.restore(TABLES.map((table) => `*${table}\nCOMMIT\n`).join(""));
    return xtables;
  }

  async restore(input: string): Promise<void> {
    await this.#namespace.run(`${this.#program}-restore`, RESTORE_ARGUMENTS, input);
  }

  /** Whether a restore succeeds. Rejects if the program cannot run at all. */
  async succeeds(input: string): Promise<boolean> {
    try {
      await this.restore(input);
      return true;
    } catch (error) {
      if (error instanceof CommandError && error.exitCode !== undefined) return false;
      throw error;
    }
  }

  /** Chains of the owner and the rules that jump to them. Reading all rules is slow with thousands of them: only if there are any. */
  async save(names: ChainNames): Promise<SavedRules> {
    const { chain } = canariesOf(names)[0] ?? { chain: "" };
    const exists = await Promise.all(TABLES.map((table) => this.#hasChain(table, chain)));
    return exists.includes(true) ? parseSavedRules(await this.saveText(), names) : { chains: new Map(), hooks: [] };
  }

  async #hasChain(table: Table, chain: string): Promise<boolean> {
    try {
      await this.#namespace.run(this.#program, [`--wait=${LOCK_TIMEOUT_SECONDS}`, "-t", table, "-S", chain]);
      return true;
    } catch (error) {
      if (error instanceof CommandError && error.exitCode === NO_SUCH_CHAIN) return false;
      throw error;
    }
  }

  async saveText(): Promise<string> {
    const texts: string[] = [];
    for (const table of TABLES) texts.push(await this.#namespace.run(`${this.#program}-save`, ["-t", table]));
    return texts.join("");
  }
}
